"""How intervals and tests were made, in words, from what every estimate says of itself (`how`, `test`): so a report
cannot name another method than was computed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from penchant.records import Result, Signature
from penchant.report import no_difference
from penchant.report.references import POINT, Reference
from penchant.report.tables import literal, models

_NUMBER = re.compile(r"\d(?:[\d,]*\d)?(?:\.\d+)?")
_TWO_SIDED = ", two-sided"
"""How a test says what the report says once for all of them."""
_SOURCES = (
    (r"\bexpanded\b", "hesterberg2015"),
    (r"(?<!expanded )\bpercentile bootstrap\b", "efron1993"),
    (r"\bbasic bootstrap\b", "davison1997"),
    (r"\bWilson\b", "wilson1927"),
    (r"\bstratified Wilson\b", "yan2010"),
    (r"\bNewcombe\b", "newcombe1998"),
    (r"\bGreenland\b", "greenland1985"),
    (r"\bBonett interval\b", "bonett2006"),
    (r"\blog sd pooled\b", "cochran1977"),
    (r"\bBonett-Price\b", "bonett2012"),
    (r"\bBonett–Wright\b", "bonett2000"),
    (r"\bFeldt\b", "feldt1965"),
    (r"\bSatterthwaite\b|\bt interval over .* groups\b", "satterthwaite1946"),
    (r"\bFirth\b", "firth1993"),
    (r"\bMOVER\b", "zou2008"),
    (r"\bprediction interval\b", "higgins2009"),
    (r"\bMcNemar\b", "mcnemar1947"),
    (r"\bMcNemar mid-p\b", "fagerland2013"),
    (r"\bFisher mid-p\b", "lydersen2009"),
    (r"\bbinomial mid-p\b", "lancaster1961"),
    (r"\bMantel-Haenszel\b", "mantel1959"),
    (r"\bsign-flip\b", "fisher1935"),
    (r"\bcluster-robust t\b", "mackinnon2023"),
)
"""The works on statistics that a method is cited with, by a word of its name."""


_NO_DIFFERENCE = (
    "Where no difference was found, the smallest detectable one is that of a normal estimate (of a t-distributed one, "
    "where the interval allows for few items) with an interval of the same width, at a power of 80% and at the "
    "level of the first step of Holm's correction where there is one. Where the study names a bound, two one-sided "
    "tests [@schuirmann1987] ask whether the difference is smaller."
)


def methods(
    results: Sequence[Result], comparison: pl.DataFrame | None, references: Mapping[str, Reference]
) -> list[str]:
    """Paragraphs on the models and the program, on the intervals and tests of some results, and of the differences
    between them."""
    paragraphs = [_measured(results)] if results else []
    paragraphs += list(_paragraphs("", [result.summary for result in results], references))
    if comparison is not None:
        paragraphs += _paragraphs(" of differences between models", [comparison], references)
        if no_difference.tables(comparison, no_difference.Scale()):
            paragraphs.append(_NO_DIFFERENCE)
    return paragraphs


def _measured(results: Sequence[Result]) -> str:
    """The models, under their names in the tables and, where that is another one, in signatures; and the program."""
    named = []
    for label, result in zip(models(results), results, strict=True):
        cited = Signature.parse(result.summary["signature"][0])["model"] if len(result.summary) else label
        named.append(literal(label if cited == label else f"{label} ({cited})"))
    version = results[0].signature["penchant"]
    return f"Models: {', '.join(dict.fromkeys(named))}; measured with penchant {version}."


def tested(*rows: pl.DataFrame) -> str:
    """The tests of some rows, for the note of their table; empty where there are none."""
    names = sorted({name.removesuffix(_TWO_SIDED) for frame in rows for name in frame["test"].unique() if name})
    return f"Two-sided tests: {', '.join(names)}." if names else ""


def _paragraphs(of: str, tables: Sequence[pl.DataFrame], references: Mapping[str, Reference]) -> Iterator[str]:
    columns = ["measure", "level", "how", "test", "p_holm"]
    rows = pl.concat([table.select(columns) for table in tables], how="vertical_relaxed")
    levels = " and ".join(f"{level:.0%}" for level in rows["level"].unique(maintain_order=True))
    intervals = list(_used(rows, "how", references))
    tests = list(_used(rows, "test", references))
    adjusted = rows.filter(pl.col("p_holm").is_not_nan())["measure"].unique(maintain_order=True).to_list()
    if intervals:
        yield POINT.join([f"Intervals{of}, of level {levels}:", *intervals])
    if tests:
        yield POINT.join([f"Tests{of}, two-sided unless they say otherwise:", *tests])
    if adjusted:
        yield f"Adjusted by Holm's method [@holm1979], over the families that the tables name: {_all(adjusted)}."


def _used(rows: pl.DataFrame, column: str, references: Mapping[str, Reference]) -> Iterator[str]:
    """The measures that a method in this column was used for, and the method with its source."""
    measures: dict[str, dict[str, None]] = {}
    numbers: dict[str, list[list[str]]] = {}
    for measure, text in rows.select("measure", column).unique(maintain_order=True).iter_rows():
        if not text or text.startswith("no interval"):
            continue
        text = text.removesuffix(_TWO_SIDED)
        shape = _NUMBER.sub("#", text)
        measures.setdefault(shape, {})[measure] = None
        numbers.setdefault(shape, []).append(_NUMBER.findall(text))
    for shape, names in measures.items():
        yield f"{_all(names)}: {_cited(_filled(shape, numbers[shape]), references)}"


def _filled(shape: str, numbers: Sequence[Sequence[str]]) -> str:
    """A method with its numbers, each as a range where rows have different ones."""
    parts = shape.split("#")
    ranges = []
    for values in zip(*numbers, strict=True):
        ordered = sorted(set(values), key=lambda value: float(value.replace(",", "")))
        ranges.append(ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}")
    return literal("".join(part + number for part, number in zip(parts, [*ranges, ""], strict=True)))


def _cited(text: str, references: Mapping[str, Reference]) -> str:
    keys = [key for pattern, key in _SOURCES if re.search(pattern, text) and key in references]
    return f"{text} [{'; '.join(f'@{key}' for key in keys)}]" if keys else text


def _all(names: Iterable[str]) -> str:
    return "; ".join(literal(name) for name in names)
