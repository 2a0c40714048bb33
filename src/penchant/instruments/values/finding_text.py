"""The finding of value statements, and the facts that its texts use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import polars as pl

from penchant.instruments.values.against_survey import AGREEING, LEFT_OUT, RESPONDENTS, SURVEY_MEAN
from penchant.instruments.values.cautions import WEAK
from penchant.instruments.values.data import EVERYTHING, MIDDLE
from penchant.instruments.values.estimates import DIFFERENCE, MEAN, MIRROR_CORRELATION, WORDINGS
from penchant.instruments.values.group_distance import GROUP_MEAN, NEARER
from penchant.instruments.values.representativeness import FROM_SURVEY, SOME
from penchant.instruments.values.tables import FEWEST, FEWEST_OF_DISTANCES, is_weighted
from penchant.letter_case import WITH_RULES, capitalised
from penchant.records import BaseResult
from penchant.report.finding import MOST, Estimated, Shown, across, deciding, levels, measured, told
from penchant.report.item_browser import every_item
from penchant.report.tables import P
from penchant.stats.bootstrap import FEWEST_BEYOND
from penchant.views.rows import FIRST, At, Line, RowSource, compared, sources
from penchant.wording.phrases import in_words, notes_of
from penchant.wording.templates import Text

_RATING = Shown(".2f", "statements", null=MIDDLE)
_GAP = Shown("+.2f", "statements")
_DISTANCE = Shown(".2f", "statements")
_CELLS = 4
"""Number of models and groups named in one sentence."""
_PAIRS = 6
"""Number of pairs of groups of people, by group of the templates, named in one sentence."""


def found(results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
    """Yield the finding of value statements.

    In order: negated statements that are not rated as the mirror image; the group of people that a model is nearer to;
    mean ratings by value, model and group in the main wording, and differences from people's means; differences between
    models, groups and wordings; and the values in which a model is nearer to one group of people.
    """
    words, models = text.below("prose", "finding"), sources(results)
    groups = results[0].items["group"].n_unique() > 1
    yield _unmirrored(models, words)
    yield from (_nearer_overall(source, words) for source in models)
    yield from _means(models, words)
    yield _beside_survey(models, words)
    for source in [] if comparison is None else compared(comparison):
        for pair, lines in _grouped(source.only(At(variant=FIRST)), lambda line: line.model).items():
            own = words.below("models").given(pair=pair, groups=groups)
            yield across(_placed(lines), _GAP, own.get("noun"), own.get("what"))
    for source in models:
        for pair, lines in _grouped(source.only(At(measure=DIFFERENCE, variant=_main(source))), _group).items():
            own = words.below("groups").given(model=source.model, pair=pair)
            yield across(_placed(lines), _GAP, own.get("noun"), own.get("what"))
        yield _of_wordings(source, words.below("wordings").given(model=source.model))
        yield _nearer_by_value(source, words.below("nearer-by-value").given(model=source.model))


def _main(source: RowSource) -> str:
    assert source.result is not None
    return str(source.result.items["variant"][0])


def _grouped(lines: Iterable[Line], key: Callable[[Line], str]) -> dict[str, list[Line]]:
    parts: dict[str, list[Line]] = {}
    for line in lines:
        parts.setdefault(key(line), []).append(line)
    return parts


_group = itemgetter("group")


def _cells(models: Sequence[RowSource], measure: str) -> Iterator[tuple[str, list[Line]]]:
    """Yield the rows of a measure in the main wording, by model and group."""
    for source in models:
        for group, lines in _grouped(source.only(At(measure=measure, variant=_main(source))), _group).items():
            yield f"{source.model} ({group})", lines


def _placed(lines: Sequence[Line]) -> Iterator[tuple[str, Estimated]]:
    """Yield the values of some differences, without the mean over all values if there are several."""
    several = [line for line in lines if line["dimension"] != EVERYTHING]
    groups = len({line["group"] for line in lines}) > 1
    for line in several or lines:
        yield f"{line['dimension']} ({line['group']})" if groups else line["dimension"], line.row


def _unmirrored(models: Sequence[RowSource], words: Text) -> str:
    """Return a warning if negated statements are not rated as the mirror image, or if there are none to check."""
    if all(source.result and (source.result.items["kind"] != "negation").all() for source in models):
        return words.get("unchecked")
    astray = [
        f"{name} {_GAP.number(line.row)}"
        for name, lines in _cells(models, MIRROR_CORRELATION)
        for line in lines
        if line["value"] < WEAK
    ]
    return words.get("unmirrored", astray=astray[:_CELLS], rest=len(astray) - _CELLS) if astray else ""


def _means(models: Sequence[RowSource], words: Text) -> Iterator[str]:
    """Yield a sentence on the mean ratings; with several values, one for every model and group."""
    cells = [
        (name, list(_placed(lines))) for name, lines in _cells(models, MEAN) if measured(line.row for line in lines)
    ]
    own = words.below("means")
    if all(len(rows) == 1 for _, rows in cells):
        each = levels([(name, row) for name, ((_, row),) in cells], _RATING, own.get("middle"), most=_CELLS)
        yield own.get("what", name="", each=each) if each else ""
        return
    for name, rows in cells[:_CELLS]:
        yield own.get("what", name=name, each=levels(rows, _RATING, own.get("middle"), most=_CELLS))
    yield own.get("more", rest=len(cells) - _CELLS) if len(cells) > _CELLS else ""


def _of_wordings(source: RowSource, words: Text) -> str:
    lines = source.only(At(measure=WORDINGS))
    several = [line for line in lines if line["dimension"] != EVERYTHING] or lines
    places = [(f"{line['dimension']}, {line['variant']}", line.row) for line in several]
    return across(places, _GAP, words.get("noun"), words.get("what"))


def _of_people(source: RowSource, *, overall: bool) -> list[Line]:
    """Return the differences of distances from groups of people in the main wording, overall or by value.

    With a single value, the differences for it count as overall.
    """
    lines = source.only(At(measure=NEARER, variant=_main(source)))
    one = len({line["dimension"] for line in lines}) == 1
    return [line for line in lines if (one or line["dimension"] == EVERYTHING) is overall]


def _nearer_overall(source: RowSource, words: Text) -> str:
    lines = _of_people(source, overall=True)
    if not lines:
        return ""
    own, several = words.below("nearer"), len({line["group"] for line in lines}) > 1
    clear = sorted((line for line in lines if told(line.row)), key=lambda line: -abs(line["value"]))
    shown = [*clear[:_PAIRS], *(line for line in lines if not told(line.row))][:_PAIRS]
    facts = {
        "model": source.model,
        "n": int(lines[0]["n"]),
        "tests": max(int(line["tests"]) for line in lines),
        "each": [_nearer_to(line, own.given(group=line["group"] if several else "")) for line in shown],
        "rest": len(lines) - len(shown),
    }
    return own.get("what", **facts)


def _nearer_to(line: Line, words: Text) -> str:
    row, p = line.row, str(P(deciding(line.row)))
    first, second = line["item"].split(" − ", 1)
    facts = {"first": first, "second": second, "item": line["item"], "p": p}
    if not measured([row]):
        return words.get("unknown", why=in_words(notes_of(row)), **facts)
    if not told(row):
        return words.get("alike", number=_GAP.number(row, n=False), **facts)
    if row["value"] > 0:
        facts |= {"first": second, "second": first}
    else:
        row = {**row, "value": -row["value"], "low": -row["high"], "high": -row["low"]}
    return words.get("apart", number=_DISTANCE.number(row, n=False), **facts)


def _nearer_by_value(source: RowSource, words: Text) -> str:
    """Return a sentence on the values in which the model is nearer to one of two groups of people, if there are any."""
    lines = _of_people(source, overall=False)
    templates = len({line["group"] for line in lines}) > 1
    own = words.given(templates=templates)
    places = [(own.get("place", **line.row), line.row) for line in lines]
    return across(places, _GAP, own.get("noun"), own.get("what"))


def _beside_survey(models: Sequence[RowSource], words: Text) -> str:
    """Return a sentence on the mean ratings that differ from the respondents' mean; empty without a survey."""
    places = [
        (f"{line['dimension']}, {name}", line.row)
        for name, lines in _cells(models, FROM_SURVEY)
        for line in lines
        if measured([line.row])
    ]
    if not places:
        return ""
    own = words.below("beside-survey")
    places.sort(key=lambda pair: -abs(pair[1]["value"]))
    clear = [pair for pair in places if told(pair[1])]
    each = []
    for place, row in clear[:MOST]:
        notes = notes_of(row)
        fewer = in_words(notes) if any(note.code == SOME for note in notes) else ""
        each.append(own.get("place", place=place, above=row["value"] > 0, number=_GAP.number(row), fewer=fewer))
    first, row = places[0]
    facts = {"clear": len(clear), "most": MOST, "of": len(places), "first": first, "number": _GAP.number(row)}
    return own.get("what", each=each, **facts)


def facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    """Return the facts that the texts about some results may use."""
    first, items = sources(results)[0], every_item(results)
    signatures = [result.signature for result in results]
    statements = items.filter(kind="statement").unique("id", maintain_order=True)
    unlike = {key: list(dict.fromkeys(each[key] for each in signatures)) for key in ("method", "calibration")}
    return {
        "ways": list(dict.fromkeys((each["method"], each["calibration"]) for each in signatures)),
        "unlike": {key: own for key, own in unlike.items() if len(own) > 1},
        "causal": any(each["method"] == "lp" for each in signatures),
        "survey": "" if signatures[0]["survey"] == "none" else signatures[0]["survey"],
        "synthetic": signatures[0]["survey"].startswith("synthetic "),
        "measures": set(first.frame["measure"]),
        "weighted": is_weighted(first),
        "fewest": FEWEST,
        "fewest_distances": FEWEST_OF_DISTANCES,
        "fewest_beyond": FEWEST_BEYOND,
        "statements": len(statements),
        "values": statements.group_by("value", maintain_order=True).len().rows(),
        "neutral": items.filter(kind="calibration")["id"].n_unique(),
        "wordings": _wordings(items),
        "respondents": [(line["group"], int(line["value"])) for line in first.only(At(measure=RESPONDENTS))],
        "left_out": list(dict.fromkeys(_left_out(first))),
        **_kept(first),
    }


def _wordings(items: pl.DataFrame) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for cell in items.partition_by("variant", "group", maintain_order=True):
        row = cell.row(0, named=True)
        found.setdefault(row["variant"], []).append((row["group"], template(row)))
    return found


def _kept(source: RowSource) -> dict[str, str]:
    """Return the number of respondents and those left out, in words, and the answer that counts as agreeing."""
    lines: list[Line] = source.only(At(measure=RESPONDENTS))[:1]
    notes = notes_of(lines[0].row) if lines else []
    agreeing = "".join(note.params["answer"] for note in notes if note.code == AGREEING)
    return {"kept": in_words(note for note in notes if note.code != AGREEING), "agreeing": agreeing}


def _left_out(source: RowSource) -> Iterator[tuple[str, str, int, int, float]]:
    """Yield the group, value, number and share of respondents left out for a missing answer."""
    for line in source.only(At(measure=(SURVEY_MEAN, GROUP_MEAN))):
        for lost in (note.params for note in notes_of(line.row) if note.code == LEFT_OUT):
            yield line["item"] or line["group"], line["dimension"], lost["lost"], lost["of"], lost["share"]


def template(row: Mapping[str, str]) -> str:
    """Return the template of an item, with {statement} for its clause and agree|disagree where its sentences differ."""
    agree, disagree = (_without(row[f"sentence_{stance}"], row["text"]).split(" ") for stance in ("agree", "disagree"))
    same = min(len(agree), len(disagree))
    start = next((i for i in range(same) if agree[i] != disagree[i]), same)
    end = next((i for i in range(same - start) if agree[-1 - i] != disagree[-1 - i]), same - start)
    stances = "|".join(" ".join(words[start : len(words) - end]) for words in (agree, disagree))
    return " ".join([*agree[:start], stances, *agree[len(agree) - end :]])


def _without(sentence: str, clause: str) -> str:
    for text in (clause, *(capitalised(clause, language) for language in ("und", *WITH_RULES))):
        before, found, after = sentence.rpartition(text)
        if found:
            return f"{before}{{statement}}{after}"
    return sentence
