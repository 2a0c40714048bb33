"""The finding of value statements in words. Every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from penchant.counting import counted, for_one
from penchant.instruments.values.data import EVERYTHING, MIDDLE
from penchant.instruments.values.estimates import MEAN, MIRROR_CORRELATION, UNCHECKED, WEAK
from penchant.instruments.values.nearer import NEARER
from penchant.instruments.values.paired import DIFFERENCE, WORDINGS
from penchant.instruments.values.represented import FROM_SURVEY, SOME
from penchant.instruments.values.section import first_variant
from penchant.records import Result
from penchant.report.finding import MOST, Estimated, Shown, across, deciding, levels, measured, sentences, told
from penchant.report.tables import P, models
from penchant.wording.phrases import in_words, notes_of

_RATING = Shown(".2f", "statements", null=MIDDLE)
_GAP = Shown("+.2f", "statements")
_DISTANCE = Shown(".2f", "statements")
_MIRROR = Shown("+.2f", "statements")
_MIDDLE = f"the middle ({MIDDLE})"
_CELLS = 4
"""The models and groups that one sentence names."""
_PAIRS = 6
"""The pairs of groups of people, by groups of the templates, that one sentence names."""


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """Where negated statements are not rated as the mirror image; the mean rating of each value by each model and group
    in the main wording, and where it differs from people's; then where models differ, where groups do, where wordings
    do, and in which values a model is nearer to one of several groups of people. To which it is nearer over all
    statements stands before the ratings."""
    main = first_variant(results[0])
    noun = "values and groups" if results[0].items["group"].n_unique() > 1 else "values"
    texts = [_unmirrored(results, main)]
    texts += [_nearer_overall(model, result, main) for model, result in zip(models(results), results, strict=True)]
    texts += [*_means(results, main), _beside_survey(results, main)]
    if comparison is not None:
        rows = comparison.filter(pl.col("variant") == main)
        texts += [across(_placed(part), _GAP, noun, f"Ratings of {pair[0]}") for pair, part in _by(rows, "comparison")]
    for model, result in zip(models(results), results, strict=True):
        rows = result.summary.filter((pl.col("measure") == DIFFERENCE) & (pl.col("variant") == main))
        texts += [
            across(_placed(part), _GAP, "values", f"{model}, ratings of {pair[0]}") for pair, part in _by(rows, "group")
        ]
        texts += [_of_wordings(model, result), _nearer_by_value(model, result, main)]
    return sentences(*texts)


def _unmirrored(results: Sequence[Result], main: str) -> str:
    """That no rating may be read as a value, where negated statements are not rated as the mirror image; or that this
    is not known, where there are none."""
    if all((result.items["kind"] != "negation").all() for result in results):
        return f"{UNCHECKED[0].upper()}{UNCHECKED[1:]}"
    astray = []
    for name, rows in _cells(results, main, MIRROR_CORRELATION):
        astray += [
            f"{name} {_MIRROR.number(row)}" for row in measured(rows.iter_rows(named=True)) if row["value"] < WEAK
        ]
    if not astray:
        return ""
    more = [f"{len(astray) - _CELLS} more in the table"] if len(astray) > _CELLS else []
    return (
        "No rating here may be read as a value: negated statements are not rated as the mirror image of the "
        f"statements (correlation, +1 where consistent: {', '.join([*astray[:_CELLS], *more])})"
    )


def _means(results: Sequence[Result], main: str) -> list[str]:
    """A sentence on the mean ratings; where there are several values, one of each value for every model and group."""
    cells = [
        (name, list(_placed(rows)))
        for name, rows in _cells(results, main, MEAN)
        if measured(rows.iter_rows(named=True))
    ]
    what = "Mean rating, from 1 (disagree) to 5 (agree)"
    if all(len(rows) == 1 for _, rows in cells):
        means = levels([(name, row) for name, ((_, row),) in cells], _RATING, _MIDDLE, most=_CELLS)
        return [f"{what}: {means}" if means else ""]
    texts = [f"{what}, {name}: {levels(rows, _RATING, _MIDDLE, most=_CELLS)}" for name, rows in cells[:_CELLS]]
    rest = len(cells) - _CELLS
    more = [f"Mean ratings of {rest} more {for_one(rest, 'models')} and {for_one(rest, 'groups')} are in the table"]
    return [*texts, *(more if len(cells) > _CELLS else [])]


def _cells(results: Sequence[Result], main: str, measure: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of a measure in the main wording, by model and group."""
    for model, result in zip(models(results), results, strict=True):
        rows = result.summary.filter((pl.col("measure") == measure) & (pl.col("variant") == main))
        for (group,), part in _by(rows, "group"):
            yield f"{model} ({group})", part


def _by(rows: pl.DataFrame, column: str) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    return iter(rows.group_by(column, maintain_order=True))


def _placed(part: pl.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """The values of some differences; without the mean over all of them where there are several."""
    several = part.filter(pl.col("dimension") != EVERYTHING)
    groups = part["group"].n_unique() > 1
    for row in (several if len(several) else part).iter_rows(named=True):
        yield f"{row['dimension']} ({row['group']})" if groups else row["dimension"], row


def _of_wordings(model: str, result: Result) -> str:
    """In which values one wording gives other ratings than another. Empty where there is one wording."""
    rows = list(result.summary.filter(pl.col("measure") == WORDINGS).iter_rows(named=True))
    several = [row for row in rows if row["dimension"] != EVERYTHING] or rows
    places = [(f"{row['dimension']}, {row['variant']}", row) for row in several]
    return across(places, _GAP, "values and pairs of wordings", f"{model}, ratings of one wording minus another")


def _nearer_overall(model: str, result: Result, main: str) -> str:
    """To which of two groups of people the model is nearer, over all statements. Empty where there are none."""
    rows = list(_of_people(result, main, overall=True))
    if not rows:
        return ""
    clear = sorted((row for row in rows if told(row)), key=lambda row: -abs(row["value"]))
    unclear = [row for row in rows if not told(row)]
    parts = [_nearer_to(row, rows) for row in clear[:_PAIRS]]
    room = _PAIRS - len(parts)
    parts += [_nearer_to(row, rows) for row in unclear[:room]]
    rest = len(rows) - len(parts)
    parts += [f"{rest} more {for_one(rest, 'pairs')} in the table"] if rest else []
    tests = max(row.get("tests", 1) for row in rows)
    adjusted = f"; p adjusted over {tests} tests" if tests > 1 else ""
    over = f"by how much less its distance is (n = {counted(rows[0]['n'], 'statements')}{adjusted})"
    return f"To which group of people {model} is nearer, {over}: {'; '.join(parts)}"


def _nearer_to(row: Estimated, rows: Sequence[Estimated]) -> str:
    """The nearer of two groups by name, with how much nearer it is."""
    whom = f"as {row['group']}, " if len({each["group"] for each in rows}) > 1 else ""
    first, second = row["item"].split(" − ", 1)
    p = f"p = {P(deciding(row))}"
    if not measured([row]):
        return f"{whom}{first} or {second} is not known ({in_words(notes_of(row))})"
    if not told(row):
        return f"{whom}{first} and {second} cannot be told apart ({row['item']}: {_GAP.number(row, n=False)}, {p})"
    if row["value"] > 0:
        first, second = second, first
    else:
        row = {**row, "value": -row["value"], "low": -row["high"], "high": -row["low"]}
    return f"{whom}nearer to {first} than to {second}, by {_DISTANCE.number(row, n=False)}, {p}"


def _nearer_by_value(model: str, result: Result, main: str) -> str:
    """In which values the model is nearer to one of two groups of people than to the other. Empty where there are no
    groups, or one value."""
    rows = list(_of_people(result, main, overall=False))
    templates = len({row["group"] for row in rows}) > 1
    places = []
    for row in rows:
        as_whom = f" as {row['group']}" if templates else ""
        places.append((f"{row['dimension']}{as_whom}, {row['item']}", row))
    noun = f"values{', groups of the templates' if templates else ''} and pairs of groups of people"
    return across(places, _GAP, noun, f"{model}, distance from one group of people minus that from another")


def _of_people(result: Result, main: str, *, overall: bool) -> Iterator[Estimated]:
    """The differences of distances from groups of people in the main wording: over all statements, or in every value;
    where there is one value, over all statements alone."""
    rows = result.summary.filter((pl.col("measure") == NEARER) & (pl.col("variant") == main))
    one = rows["dimension"].n_unique() == 1
    everything = (rows["dimension"] == EVERYTHING) | one
    yield from rows.filter(everything if overall else ~everything).iter_rows(named=True)


def _beside_survey(results: Sequence[Result], main: str) -> str:
    """Where the mean rating is told apart from the respondents' mean, the farthest first, and in how many places it is
    not. Empty where there is no survey."""
    rows: list[tuple[str, Estimated]] = []
    for name, part in _cells(results, main, FROM_SURVEY):
        rows += [(f"{row['dimension']}, {name}", row) for row in measured(part.iter_rows(named=True))]
    if not rows:
        return ""
    cited = results[0].signature["survey"].rsplit("#", 1)[0].replace("synthetic ", "SYNTHETIC ", 1)
    rows.sort(key=lambda pair: -abs(pair[1]["value"]))
    clear = [pair for pair in rows if told(pair[1])]
    parts = []
    for place, row in clear[:MOST]:
        side = "above" if row["value"] > 0 else "below"
        notes = notes_of(row)
        fewer = f", {in_words(notes)}" if any(note.code == SOME for note in notes) else ""
        parts.append(f"{place}: {side} it by {_GAP.number(row)}{fewer}")
    parts += [f"{len(clear) - MOST} more in the table"] if len(clear) > MOST else []
    rest = len(rows) - len(clear)
    if rest:
        of = f"the other {rest} of {len(rows)}" if clear else f"all {len(rows)}" if rest > 1 else "the one"
        cases = "cases (a value, group and model each)" if len(rows) > 1 else "case"
        parts.append(f"in {of} {cases} the two cannot be told apart, which does not show that they are alike")
    if not clear:
        place, row = rows[0]
        parts.append(f"{'the largest difference: ' if len(rows) > 1 else ''}{place} {_GAP.number(row)}")
    return f"Survey {cited}, mean rating beside the respondents' mean over the same statements: {'; '.join(parts)}"
