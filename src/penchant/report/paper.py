"""Content for a paper: a table of the answers, and one paragraph on how they were obtained."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import polars as pl

from penchant.plurals import counted
from penchant.records import BaseResult
from penchant.report.item_browser import KEYS
from penchant.report.references import PENCHANT
from penchant.report.sections import StudySection
from penchant.report.significance import deciding
from penchant.report.tables import Cell, Number, P, ReportRow, ReportTable, fewest, models
from penchant.report.verdicts import NOT_MEASURED, Answer, Verdict
from penchant.stats.inputs import FEWEST
from penchant.wording.phrases import Method, read_method, shape, spanning
from penchant.wording.templates import listed, literal, named

WORDS = 60
"""The maximum number of words of the instrument's description in a paragraph for a paper."""
_METHODS = 3
"""The maximum number of methods of intervals, and of tests, that are named."""
_LISTS = ("category", "list")
"""The columns of items that are words: the category, and the list in it."""
_GROUPS = 6
"""The maximum number of models, of groups and of bounds that are named."""


def answer_table(placed: StudySection) -> ReportTable | None:
    """Return a table of the estimates behind the answers, in at most six columns, or None if nothing was measured."""
    every = [(answer, verdict) for answer in placed.answers() for verdict in answer.verdicts]
    measured = [(answer, verdict) for answer, verdict in every if verdict.kind != NOT_MEASURED and verdict.row]
    found = [(answer, each) for answer, verdict in measured for each in (verdict, *_also(verdict))]
    if not found:
        return None
    columns: list[tuple[str, list[Cell]]] = [
        ("", [_measure(answer, verdict) for answer, verdict in found]),
        ("model", [" − ".join(verdict.models) for _, verdict in found]),
        ("of", [verdict.place for _, verdict in found]),
        ("estimate", [_number(answer, verdict) for answer, verdict in found]),
        ("n", [int((verdict.row or {})["n"]) for _, verdict in found]),
        ("p", [P(deciding(verdict.row or {})) for _, verdict in found]),
    ]
    shown = [(head, cells) for head, cells in columns if any(cell != "" for cell in cells)]
    cells = zip(*(each for _, each in shown), strict=True)
    rows = tuple(
        ReportRow(row, str((verdict.row or {})["signature"])) for row, (_, verdict) in zip(cells, found, strict=True)
    )
    level = next(f"{(verdict.row or {})['level']:.0%}" for _, verdict in found)
    note = (
        f"[{level} confidence intervals]. p: two-sided unless the methods say otherwise; adjusted by Holm's "
        "method in a family of several tests."
    )
    return ReportTable("answers", placed.title, tuple(head for head, _ in shown), rows, note)


def _also(verdict: Verdict) -> Iterator[Verdict]:
    """Yield a verdict for each group in the fact `also` of a verdict, with the estimate for that group."""
    for group, row in verdict.facts.get("also", {}).items():
        yield replace(verdict, place=", ".join(filter(None, [verdict.place, group])), row=row)


def _measure(answer: Answer, verdict: Verdict) -> str:
    unit = answer.shown.unit.strip() if answer.shown else ""
    measure = str((verdict.row or {})["measure"])
    return f"{measure}, {unit}" if unit and unit not in measure else measure


def _number(answer: Answer, verdict: Verdict) -> Number:
    row, how = verdict.row or {}, answer.shown
    assert how is not None
    few = fewest(row) if how.too_few(row) or fewest(row) < FEWEST else 0
    value, low, high = (how.scale * row[name] for name in ("value", "low", "high"))
    return Number(value, low, high, form=how.form, few=few)


def paragraph(placed: StudySection) -> str:
    """Return a paragraph on the instrument, models, data, omissions, intervals, tests and families of tests.

    The result is "" if no verdict has an estimate.
    """
    answers = placed.answers()
    verdicts = [verdict for answer in answers for verdict in answer.verdicts if verdict.row]
    if not verdicts:
        return ""
    asked = _beginning(placed.section.methods(placed.results))
    return " ".join(filter(None, [asked, *_measured(placed.results), *_inferred(verdicts), _absent(answers)]))


def _beginning(paragraphs: Sequence[str]) -> str:
    """Return the first sentence of an instrument's description, and the next sentences up to `WORDS` words in total."""
    kept: list[str] = []
    for sentence in re.split(r"(?<=[.)\]])\s+(?=[A-Z])", paragraphs[0] if paragraphs else ""):
        if kept and sum(len(each.split()) for each in [*kept, sentence]) > WORDS:
            break
        kept.append(sentence)
    return " ".join(kept)


def _of_each(results: Sequence[BaseResult], key: str) -> str:
    """Return the value of the setting `key` or, if models differ, each value with the names of its models."""
    having: dict[str, list[str]] = {}
    for name, result in zip(models(results), results, strict=True):
        having.setdefault(result.signature[key], []).append(literal(name))
    if len(having) == 1:
        return f"`{next(iter(having))}`"
    return " and ".join(f"`{value}` ({listed(dict.fromkeys(names))})" for value, names in having.items())


def _measured(results: Sequence[BaseResult]) -> Iterator[str]:
    signature = results[0].signature
    cited = [
        f"{literal(name)} (computed in {each.signature['dtype']})"
        if each.signature.get("dtype", "unknown") != "unknown"
        else literal(name)
        for name, each in zip(models(results), results, strict=True)
    ]
    how = [
        f"{what} {_of_each(results, key)}"
        for key, what in (("method", "scores"), ("normalise", "normalisation"))
        if key in signature
    ]
    yield (
        f"We measured {named(list(dict.fromkeys(cited)), _GROUPS)} with penchant {signature['penchant']} "
        f"[@{PENCHANT.key}]{f' ({listed(how)})' if how else ''}."
    )
    keys = [key for key in (*KEYS, *_LISTS) if all(key in result.items.columns for result in results)]
    items = pl.concat([result.items.select(keys) for result in results], how="vertical_relaxed").unique(
        maintain_order=True
    )
    by = "list" if set(_LISTS) <= set(keys) and items["category"].n_unique() == 1 else "group"
    sizes = items.group_by(by, maintain_order=True).len().rows() if by in keys else []
    each = f" ({named([f'{n} {literal(str(group))}' for group, n in sizes], _GROUPS)})" if len(sizes) > 1 else ""
    yield f"We used {counted(len(items), 'items')} of {literal(signature.get('data', 'the table'))}{each}."
    yield omissions(results)


def omissions(results: Sequence[BaseResult]) -> str:
    """Return a sentence that lists the data left out, or says that nothing was left out."""
    told = dict.fromkeys(note.left_out for result in results for note in result.left_out)
    return f"Left out: {'; '.join(map(literal, told))}." if told else "No item was left out."


def _inferred(verdicts: Sequence[Verdict]) -> Iterator[str]:
    rows = [each.row or {} for verdict in verdicts for each in (verdict, *_also(verdict))]
    rows = [row for row in rows if fewest(row) >= FEWEST and row["value"] == row["value"]] or rows
    intervals, tests = (_named(read_method(row[name] or "") for row in rows) for name in ("method", "test_method"))
    if intervals:
        yield f"Intervals are at the level {rows[0]['level']:.0%}: {intervals}."
    families: dict[str, set[int]] = {}
    for row in rows:
        if row["tests"] > 1:
            families.setdefault(row["measure"].partition(", these ")[0], set()).add(int(row["tests"]))
    if tests:
        yield f"Tests are two-sided unless stated otherwise: {tests}."
    if families:
        sizes = {measure: dict.fromkeys((min(tests), max(tests))) for measure, tests in families.items()}
        each = [f"{' to '.join(map(str, ends))} tests of {measure}" for measure, ends in sizes.items()]
        yield f"p-values are adjusted by Holm's method [@holm1979] within families: {named(each, _GROUPS)}."
    elif tests:
        yield "No p-value of these answers is adjusted, since each family has one test."
    if any(len(verdict.models) > 1 for verdict in verdicts):
        yield "Models are compared on the same items."


def _absent(answers: Sequence[Answer]) -> str:
    margins: dict[str, dict[str, None]] = {}
    for answer in answers:
        for verdict in answer.verdicts:
            if answer.shown and verdict.row and not math.isnan(verdict.margin):
                measures = margins.setdefault(answer.shown.amount(verdict.margin), {})
                measures[verdict.row["measure"].partition(", these ")[0]] = None
    each = [f"±{margin} ({listed(of)})" for margin, of in margins.items()]
    bounds = f", {named(each, _GROUPS)}" if margins else ""
    return f"An effect is called absent only if its interval lies within the smallest effect of interest{bounds}."


def _named(methods: Iterator[Method | None]) -> str:
    """Name up to `_METHODS` methods with their sources; methods that differ only in numbers are merged into ranges."""
    groups: dict[object, list[Method]] = {}
    for method in methods:
        if method is not None and not method.makes_nothing:
            method = method.with_(two_sided=None)
            groups.setdefault(shape(method), []).append(method)
    told = []
    for alike in groups.values():
        keys = "; ".join(f"@{key}" for key in dict.fromkeys(chain(*(each.sources() for each in alike))))
        told.append(f"{literal(spanning(alike, ' to '))}{f' [{keys}]' if keys else ''}")
    return "; ".join(told[:_METHODS])
