"""Report text that describes how intervals and tests were computed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import polars as pl

from penchant.records import BaseResult, Signature
from penchant.report import no_difference_table
from penchant.report.references import POINT, Reference
from penchant.report.tables import models
from penchant.wording.phrases import Method, read_method, shape, spanning
from penchant.wording.templates import literal

_COLUMNS = ["measure", "level", "method", "test_method", "p_holm"]
OTHERS = "Intervals and tests of the other numbers"
"""The beginning of the paragraph on measures that no answer is based on."""
_HOLM = " Holm: p adjusted over the families named in the tables [@holm1979]."
_NO_DIFFERENCE = (
    "Smallest detectable differences: at a power of 80%, from the width of the interval, for a normal estimate or, "
    "where the interval allows for few items, a t-distributed one. A bound named in the study: two one-sided tests "
    "[@schuirmann1987]."
)


@dataclass(slots=True)
class _Kind:
    """Interval and test methods of a measure; methods that differ only in numbers are grouped together.

    `adjusted` is true if p-values of the measure are adjusted.
    """

    intervals: dict[object, list[Method]] = field(default_factory=dict)
    tests: dict[object, list[Method]] = field(default_factory=dict)
    adjusted: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """A key that is equal for measures with the same methods."""
        return (*self.intervals, None, *self.tests, self.adjusted)


def methods(
    results: Sequence[BaseResult],
    comparison: pl.DataFrame | None,
    references: Mapping[str, Reference],
    leading: Collection[str] = (),
) -> list[str]:
    """Return paragraphs on the models, the program, and the intervals and tests of estimates and differences.

    The measures in `leading` are listed in a paragraph of their own, before the other measures.
    """
    paragraphs = [_measured(results)] if results else []
    tables = [*(result.summary for result in results), *([] if comparison is None else [comparison])]
    rows = pl.concat([table.select(_COLUMNS) for table in tables], how="vertical_relaxed")
    levels = " and ".join(f"{level:.0%}" for level in rows["level"].unique(maintain_order=True))
    kinds, cited = _kinds(rows), set[str]()
    lead = f"Intervals at the level {levels}, and tests, two-sided unless stated otherwise."
    lead += _HOLM if any(kind.adjusted for kind in kinds.values()) else ""
    for own in (True, False):
        chosen = {name: kind for name, kind in kinds.items() if (name in leading) == own}
        if lines := list(_lines(chosen, references, cited)):
            paragraphs.append(POINT.join([lead, *lines]))
            lead = f"{OTHERS}:"
    if comparison is not None and no_difference_table.tables(comparison, no_difference_table.DifferenceScale()):
        paragraphs.append(_NO_DIFFERENCE)
    return paragraphs


def _measured(results: Sequence[BaseResult]) -> str:
    named = []
    for label, result in zip(models(results), results, strict=True):
        cited = Signature.parse(result.summary["signature"][0])["model"] if len(result.summary) else label
        named.append(literal(label if cited == label else f"{label} ({cited})"))
    version = results[0].signature["penchant"]
    return f"Models: {', '.join(dict.fromkeys(named))}; measured with penchant {version}."


def _kinds(rows: pl.DataFrame) -> dict[str, _Kind]:
    kinds: dict[str, _Kind] = {}
    for measure, how, test, adjusted in (
        rows.select("measure", "method", "test_method", pl.col("p_holm").is_not_nan())
        .unique(maintain_order=True)
        .iter_rows()
    ):
        kind = kinds.setdefault(measure, _Kind())
        kind.adjusted |= bool(adjusted)
        for text, found in ((how, kind.intervals), (test, kind.tests)):
            method = read_method(text)
            if method is not None and not method.makes_nothing:
                method = method.with_(two_sided=None)  # the report says it once for all tests
                found.setdefault(shape(method), []).append(method)
    return kinds


def _lines(kinds: Mapping[str, _Kind], references: Mapping[str, Reference], cited: set[str]) -> Iterator[str]:
    """Yield a line on each measure, or on several measures with the same methods; works in `cited` are not cited again.

    Methods that differ only in numbers are merged, with the numbers as ranges.
    """
    groups: dict[object, list[str]] = {}
    for measure, kind in kinds.items():
        if kind.intervals or kind.tests:
            groups.setdefault(kind.key, []).append(measure)
    for measures in groups.values():
        alike = [kinds[measure] for measure in measures]
        parts = []
        for each, before in (([kind.intervals for kind in alike], ""), ([kind.tests for kind in alike], "test: ")):
            told = [_told(list(chain(*(kind[form] for kind in each))), references, cited) for form in each[0]]
            parts += [before + ", or ".join(told)] if told else []
        parts += ["Holm"] if alike[0].adjusted else []
        yield f"{'; '.join(map(literal, measures))}: {'; '.join(parts)}"


def _told(methods: Sequence[Method], references: Mapping[str, Reference], cited: set[str]) -> str:
    keys = [key for key in methods[0].sources() if key in references and key not in cited]
    cited.update(keys)
    works = "; ".join(f"@{key}" for key in keys)
    return f"{literal(spanning(methods, ' to '))}{f' [{works}]' if works else ''}"
