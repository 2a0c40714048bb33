"""Text of a report on how intervals and tests were computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from penchant.records import BaseResult, Signature
from penchant.report import no_difference_text
from penchant.report.references import POINT, Reference
from penchant.report.tables import models
from penchant.wording.phrases import Method, read_method, shape, spanning
from penchant.wording.templates import literal

_NO_DIFFERENCE = (
    "Where no difference was found, the smallest detectable difference is given, at a power of 80% and, with Holm's "
    "correction, at the level of its first step. It is computed from the width of the interval, for a normal estimate "
    "or, where the interval allows for few items, a t-distributed one. Where the study names a bound, two one-sided "
    "tests [@schuirmann1987] show if the difference is smaller."
)


def methods(
    results: Sequence[BaseResult], comparison: pl.DataFrame | None, references: Mapping[str, Reference]
) -> list[str]:
    """Return paragraphs on the models, the program, and the intervals and tests of estimates and differences."""
    paragraphs = [_measured(results)] if results else []
    paragraphs += list(_paragraphs("", [result.summary for result in results], references))
    if comparison is not None:
        paragraphs += _paragraphs(" of differences between models", [comparison], references)
        if no_difference_text.tables(comparison, no_difference_text.DifferenceScale()):
            paragraphs.append(_NO_DIFFERENCE)
    return paragraphs


def _measured(results: Sequence[BaseResult]) -> str:
    named = []
    for label, result in zip(models(results), results, strict=True):
        cited = Signature.parse(result.summary["signature"][0])["model"] if len(result.summary) else label
        named.append(literal(label if cited == label else f"{label} ({cited})"))
    version = results[0].signature["penchant"]
    return f"Models: {', '.join(dict.fromkeys(named))}; measured with penchant {version}."


def _paragraphs(of: str, tables: Sequence[pl.DataFrame], references: Mapping[str, Reference]) -> Iterator[str]:
    columns = ["measure", "level", "method", "test_method", "p_holm"]
    rows = pl.concat([table.select(columns) for table in tables], how="vertical_relaxed")
    levels = " and ".join(f"{level:.0%}" for level in rows["level"].unique(maintain_order=True))
    intervals = list(_used(rows, "method", references))
    tests = list(_used(rows, "test_method", references))
    adjusted = rows.filter(pl.col("p_holm").is_not_nan())["measure"].unique(maintain_order=True).to_list()
    if intervals:
        yield POINT.join([f"Intervals{of}, at the level {levels}:", *intervals])
    if tests:
        yield POINT.join([f"Tests{of}, two-sided unless stated otherwise:", *tests])
    if adjusted:
        yield f"p adjusted by Holm's method [@holm1979], over the families named in the tables: {_all(adjusted)}."


def _used(rows: pl.DataFrame, column: str, references: Mapping[str, Reference]) -> Iterator[str]:
    """Yield, for each method in a column, the measures that use it, its description and its sources.

    Methods that differ only in numbers are merged, with the numbers as ranges.
    """
    groups: dict[object, list[tuple[str, Method]]] = {}
    for measure, text in rows.select("measure", column).unique(maintain_order=True).iter_rows():
        method = read_method(text)
        if method is not None and not method.makes_nothing:
            method = method.with_(two_sided=None)  # the report says it once for all tests
            groups.setdefault(shape(method), []).append((measure, method))
    for alike in groups.values():
        measures, methods = zip(*alike, strict=True)
        keys = "; ".join(f"@{key}" for key in methods[0].sources() if key in references)
        words = literal(spanning(methods, " to "))
        yield f"{_all(dict.fromkeys(measures))}: {words}{f' [{keys}]' if keys else ''}"


def _all(names: Iterable[str]) -> str:
    return "; ".join(literal(name) for name in names)
