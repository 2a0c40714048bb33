"""Influence of single stimuli on an effect size: what it would be without each of them."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from penchant.instruments.associations.estimates import SIDES
from penchant.instruments.associations.logprob_estimates import ASSOCIATION
from penchant.instruments.associations.view_rows import HEADLINE, only, probe, with_factors
from penchant.records import BaseResult
from penchant.stats.association import effect_size


def influences(result: BaseResult, *factors: str) -> Iterator[pl.DataFrame]:
    """Yield, for each effect size, a table of its stimuli, most influential first, at one level of each of `factors`.

    `only` selects the levels. The columns are category, label, layer, side, stimulus, association, d, and `without`: d
    without the stimulus. For CEAT, d is computed from mean associations. Effect sizes of the log-probability bias score
    are over attributes.
    """
    rows = with_factors(result.summary).filter(measure=ASSOCIATION) if _over_attributes(result) else result.items
    for _, part in only(with_factors(rows), *factors).group_by("category", "layer", maintain_order=True):
        if not _measured(part, result):
            continue
        each = _without_attributes(part, result) if _over_attributes(result) else _without_words(part, result)
        distance = (pl.col("without") - pl.col("d")).abs()
        yield each.drop_nulls("without").sort(distance, descending=True, maintain_order=True)


def _measured(part: pl.DataFrame, result: BaseResult) -> bool:
    """Return whether the category and layer of `part` have an effect size (none if too many words are missing)."""
    keys = ["category", "layer"]
    effects = with_factors(result.summary).filter(pl.col("measure").is_in(HEADLINE), pl.col("value").is_not_null())
    return len(effects.filter(pl.col("value").is_finite()).join(part.select(keys).unique(), on=keys, how="semi")) > 0


def _over_attributes(result: BaseResult) -> bool:
    return probe([result]) == "logprob-bias"


def _without_words(items: pl.DataFrame, result: BaseResult) -> pl.DataFrame:
    """Return a table of words, or of sentences if they are the unit, with association, `d`, and `without`.

    `without` is d without the word or sentence.
    """
    name = "text" if result.signature.get("unit") == "sentence" else "word"
    x, y = (items.filter(side=side)["association"].to_numpy() for side in "XY")
    whole = effect_size(x, y, ddof=int(result.signature["ddof"]))
    each = items.group_by("category", "label", "layer", "side", name, "without", maintain_order=True)
    return each.agg(pl.col("association").mean()).rename({name: "stimulus"}).with_columns(d=pl.lit(whole))


def _without_attributes(rows: pl.DataFrame, result: BaseResult) -> pl.DataFrame:
    first, ddof = min(rows["side"], key=SIDES.index), int(result.signature["ddof"])

    def effect(kept: pl.DataFrame) -> float:
        on_first = kept["side"] == first
        return effect_size(kept.filter(on_first)["value"], kept.filter(~on_first)["value"], ddof=ddof)

    without = [effect(rows.filter(pl.int_range(pl.len()) != i)) for i in range(len(rows))]
    named = rows.select("category", "label", "layer", "side", "stimulus", association="value")
    return named.with_columns(d=pl.lit(effect(rows)), without=pl.Series(without, dtype=pl.Float64).fill_nan(None))
