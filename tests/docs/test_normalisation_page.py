"""The page on normalisations is what its script writes, and its claims hold in its tables."""

from __future__ import annotations

import importlib.util
import json
from types import ModuleType

import polars as pl
import pytest

from paths import ROOT

TABLE = pl.read_csv(ROOT / "docs" / "normalisation.csv")
MODELS = ("SmolLM2-135M", "Gemma-3-270M")
FIXED = ("none", "mean", "pen", "slln", "slor", "lp − log u")
FITTED = ("slln, α fitted", "pen, α fitted", "MORCELA form, β and γ fitted")


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_normalisation", ROOT / "docs" / "make_normalisation.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def row(model: str, score: str, measure: str) -> dict[str, float]:
    return TABLE.filter(model=model, score=score, measure=measure).row(0, named=True)


def test_the_page_is_what_its_script_writes() -> None:
    assert (ROOT / "docs" / "normalisation.md").read_text("utf-8") == script().page()


@pytest.mark.parametrize("model", MODELS)
def test_fixed_scores_depend_on_length_and_fitted_ones_do_not_visibly(model: str) -> None:
    for score in FIXED:
        slope = row(model, score, "slope")
        assert slope["low"] > 0 or slope["high"] < 0, score
        assert (slope["value"] < 0) == (score == "none")
    for score in FITTED:
        slope = row(model, score, "slope")
        assert slope["low"] < 0 < slope["high"], score
    none, fitted = (row(model, score, "accuracy")["value"] for score in ("none", "slln, α fitted"))
    assert abs(none - fitted) < 0.005


@pytest.mark.parametrize("model", MODELS)
def test_only_the_order_of_equal_lengths_stays(model: str) -> None:
    scores = ("none", "mean", "pen", "slln", "slln, α fitted", "pen, α fitted")
    assert len({row(model, score, "accuracy A=U")["value"] for score in scores}) == 1
    for score in ("word", "character"):
        assert row(model, score, "accuracy")["value"] < row(model, "none", "accuracy")["value"]
        assert row(model, score, "accuracy A=U")["value"] < row(model, "none", "accuracy A=U")["value"]


def test_the_exponents_of_the_two_models_differ() -> None:
    values = {
        model: [alpha for (alpha,) in json.loads(str(row(model, FITTED[0], "accuracy")["fitted"])).values()]
        for model in MODELS
    }
    assert set(values[MODELS[0]]) == {0.4}
    assert (min(values[MODELS[1]]), max(values[MODELS[1]])) == (0.15, 0.3)


def test_the_difference_between_models_is_not_clearly_another_on_unequal_pairs() -> None:
    both = " − ".join(MODELS)
    for score in (*FIXED, *FITTED):
        moved = row(both, score, "unequal minus equal")
        assert moved["low"] < 0 < moved["high"], score


def test_slopes_of_the_bundled_models() -> None:
    own = pl.read_csv(ROOT / "docs" / "normalisation-own.csv").filter(measure="slope")
    covers = own.group_by("score").agg((pl.col("low") < 0).all() & (pl.col("high") > 0).all())
    found = dict(covers.iter_rows())
    assert {score for score in (*FIXED, "word", "character") if found[score]} == {"mean"}
    assert all(found[score] for score in FITTED)
