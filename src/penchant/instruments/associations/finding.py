"""The finding of association tests in words, of one measure and across several. Every number comes from a result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from penchant.counting import counted
from penchant.instruments.associations.across import columns
from penchant.instruments.associations.compare import DIFFERENCE
from penchant.instruments.associations.frames import FACTORS, headline, named, only, ordered, probe, stacked
from penchant.records import Result
from penchant.report.finding import Shown, across, listed, sentences, told

_UNITS = {"logprob-bias": "attributes"}


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """In which categories each model's effect size is told apart from 0, and in which two models differ; at the levels
    that are shown where only one can be."""
    name = probe(results)
    noun = _UNITS.get(name, "stimuli")
    texts = []
    for (model,), part in only(stacked(results, headline(name)), *FACTORS).group_by("who", maintain_order=True):
        texts.append(across(_placed(part), Shown("+.2f", noun), "categories", f"{model}, effect size d"))
    if comparison is not None:
        rows = comparison.filter(pl.col("measure") == DIFFERENCE)
        whole = ordered((str(pair[0]), part) for pair, part in rows.group_by("comparison", maintain_order=True))
        for (pair,), part in only(whole, *FACTORS).group_by("who", maintain_order=True):
            texts.append(across(_placed(part), Shown("+.2f", noun), "categories", f"Difference of d, {pair}"))
    return sentences(*texts)


def _placed(part: pl.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in part.iter_rows(named=True):
        yield named(row["category"], row["label"]), row


def finding_across(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """On which categories all columns of the table across measures agree: by the sign of d, and by being told apart
    from 0 in all of them."""
    shown = columns(results)
    categories = list(dict.fromkeys(category for column in shown for category in column.rows))
    by_category = {
        category: [column.rows[category] for column in shown if category in column.rows] for category in categories
    }
    several = {
        category: rows
        for category, all_rows in by_category.items()
        if len(rows := [row for row in all_rows if not math.isnan(row["value"])]) > 1
    }
    if not several:
        return []
    signs = [category for category, rows in several.items() if len({row["value"] > 0 for row in rows}) == 1]
    clear = [category for category in signs if all(told(row) for row in several[category])]
    named_ones = f" ({listed(clear[:3])}{' and others' if len(clear) > 3 else ''})" if clear else ""
    return sentences(
        f"By all measures d has the same sign in {len(signs)} of {counted(len(several), 'categories')} that at least "
        f"two measure; all tell it apart from 0 in {f'{len(clear)}{named_ones}' if clear else 'none'}"
    )
