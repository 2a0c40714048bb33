"""Facts about results that the report text of value statements uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from penchant.instruments.values.against_survey import AGREEING, LEFT_OUT, RESPONDENTS, SURVEY_MEAN
from penchant.instruments.values.group_distance import GROUP_MEAN
from penchant.instruments.values.tables import FEWEST, FEWEST_OF_DISTANCES, is_weighted
from penchant.letter_case import WITH_RULES, capitalised
from penchant.records import BaseResult
from penchant.report.item_browser import every_item
from penchant.stats.bootstrap import FEWEST_BEYOND
from penchant.views.row_selection import At, Line, RowSource, sources
from penchant.wording.phrases import in_words, notes_of


def facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    """Return the facts about results that the texts can use, by name."""
    first, items = sources(results)[0], every_item(results)
    signatures = [result.signature for result in results]
    statements = items.filter(kind="statement").unique("id", maintain_order=True)
    unlike = {key: list(dict.fromkeys(each[key] for each in signatures)) for key in ("method", "calibration")}
    return {
        "ways": list(dict.fromkeys((each["method"], each["calibration"]) for each in signatures)),
        "unlike": {key: own for key, own in unlike.items() if len(own) > 1},
        "asked": items["options"].to_list()[0] if "options" in items.columns else None,
        "elicited": [dict(each) for each in signatures if each["calibration"] == "none"],
        "causal": any(each["method"] == "lp" for each in signatures),
        "survey": "" if signatures[0]["survey"] == "none" else signatures[0]["survey"],
        "synthetic": is_synthetic(results[0]),
        "measures": set(first.frame["measure"]),
        "weighted": is_weighted(first),
        "cases": "values" if len(results) == items["group"].n_unique() == 1 else "mean ratings",
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


def is_synthetic(result: BaseResult) -> bool:
    """Return whether the answers of the survey are made up."""
    return result.signature["survey"].startswith("synthetic ")


def _wordings(items: pl.DataFrame) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for cell in items.partition_by("variant", "group", maintain_order=True):
        row = cell.row(0, named=True)
        found.setdefault(row["variant"], []).append((row["group"], template(row)))
    return found


def _kept(source: RowSource) -> dict[str, str]:
    lines: list[Line] = source.only(At(measure=RESPONDENTS))[:1]
    notes = notes_of(lines[0].row) if lines else []
    agreeing = "".join(note.params["answer"] for note in notes if note.code == AGREEING)
    return {"kept": in_words(note for note in notes if note.code != AGREEING), "agreeing": agreeing}


def _left_out(source: RowSource) -> Iterator[tuple[str, str, int, int, float]]:
    """Yield group, value, number of respondents left out for missing answers, number of all, and share left out."""
    for line in source.only(At(measure=(SURVEY_MEAN, GROUP_MEAN))):
        for lost in (note.params for note in notes_of(line.row) if note.code == LEFT_OUT):
            yield line["item"] or line["group"], line["dimension"], lost["lost"], lost["of"], lost["share"]


def template(row: Mapping[str, str]) -> str:
    """Return the template of an item, with {statement} for its clause.

    Where the two sentences differ, both stances are given (agrees|disagrees); a question follows its system message.
    """
    if "question" in row:
        return " ".join(filter(None, [row["system"], row["question"].replace(row["text"], "{statement}")]))
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
