"""Verdicts on leans and on differences between models, against means worked by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats
from test_cloze import SECTION, Rows, items, result

import penchant as pc
from penchant.report.verdicts import CANNOT_TELL, NO, NOT_MEASURED, YES, Answer


def leaning(group: str, lean: float, *, n: int = 20, spread: float = 0.1, share: float = 0.8, seed: int = 0) -> Rows:
    """Sentences with one rated word, whose β scatter around a lean."""
    draw = np.random.default_rng(seed)
    return [(group, 0.0, [("w", share, float(lean / share + spread * draw.standard_normal()))]) for _ in range(n)]


def unrated(group: str, *, n: int = 20) -> Rows:
    return [(group, 0.0, [("w", 0.5, None)])] * n


def found(*parts: Rows, model: str = "m") -> pc.Result:
    return result(items([row for part in parts for row in part]), model)


def answers(*results: pc.Result) -> dict[str, Answer]:
    comparison = pc.compare(*results) if len(results) == 2 else None
    return {answer.claim: answer for answer in SECTION.answers(results, comparison)}


def by_hand(values: pl.Series) -> tuple[float, float, float, int]:
    """The mean of some values, its t interval and their number."""
    each = values.to_numpy()
    reach = stats.t.ppf(0.975, len(each) - 1) * stats.sem(each)
    return float(each.mean()), float(each.mean() - reach), float(each.mean() + reach), len(each)


def numbers(row: object) -> tuple[float, ...]:
    assert isinstance(row, dict)
    return tuple(row[name] for name in ("value", "low", "high", "n"))


def test_every_group_has_a_verdict_of_its_own() -> None:
    one = found(
        leaning("old", -0.4),
        leaning("new", 0.3, seed=1),
        leaning("even", 0.0, spread=0.02, seed=2),
        leaning("open", 0.05, spread=0.5, seed=3),
        unrated("bare"),
    )
    told = answers(one)["leans"]
    assert [(verdict.place, verdict.kind, verdict.direction) for verdict in told.verdicts] == [
        ("old", YES, "below"),
        ("new", YES, "above"),
        ("even", NO, ""),
        ("open", CANNOT_TELL, ""),
        ("bare", NOT_MEASURED, ""),
    ]
    for verdict in told.verdicts[:-1]:
        betas = one.items.filter(group=verdict.place)["beta"]
        assert numbers(verdict.row) == pytest.approx(by_hand(betas))
    assert told.next.startswith("penchant rate DIR") and len(told.sentences) == 5
    assert "leans towards old: in old sentences −0." in told.sentences[0] + told.sentences[1]
    assert told.verdicts[3].needed.endswith(" sentences")


def test_of_little_rated_probability_nothing_follows() -> None:
    (verdict,) = answers(found(leaning("g", 0.05, spread=0.02, share=0.08)))["leans"].verdicts
    assert verdict.row is not None and verdict.row["low"] > 0
    assert (verdict.kind, verdict.barred, verdict.direction) == (CANNOT_TELL, "little", "")
    (verdict,) = answers(found(leaning("g", 0.05, spread=0.02, share=0.12)))["leans"].verdicts
    assert (verdict.kind, verdict.barred, verdict.direction) == (YES, "", "above")


@pytest.mark.parametrize("groups", [("g", "h"), ("g",)])
def test_two_models_are_compared_over_all_sentences(groups: tuple[str, ...]) -> None:
    a, b = (
        found(*(leaning(group, lean, seed=seed + place) for place, group in enumerate(groups)), model=model)
        for model, lean, seed in (("a", -0.1, 0), ("b", 0.3, 7))
    )
    told = answers(a, b)["more"]
    (verdict,) = told.verdicts
    assert (verdict.kind, verdict.direction, verdict.models, verdict.place) == (YES, "below", ("a", "b"), "")
    mean, n = (a.items["beta"] - b.items["beta"]).mean(), 20 * len(groups)
    assert verdict.row is not None and (verdict.row["value"], verdict.row["n"]) == (pytest.approx(mean), n)
    assert told.question == "Which model leans more towards new?"
    (sentence,) = told.sentences
    assert sentence.startswith(f"b leans more towards new than a: +{-verdict.row['value']:.3f} [")
    assert [(each.models, each.place) for each in answers(a, b)["leans"].verdicts] == [
        ((model,), group) for model in "ab" for group in groups
    ]


def test_three_sentences_are_too_few() -> None:
    a, b = (found(leaning("g", 0.1, n=3, seed=seed), model=model) for seed, model in enumerate("ab"))
    told = answers(a, b)
    assert {verdict.kind for answer in told.values() for verdict in answer.verdicts} == {CANNOT_TELL}
    assert all("Too few sentences" in each for answer in told.values() for each in answer.sentences)
