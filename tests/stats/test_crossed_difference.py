"""A mean rating held against people's mean: the formula written out, invariants, and coverage with a survey."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from pages import number, table_of
from penchant.instruments.values.cells import rated
from penchant.instruments.values.probe import Rated, Values
from penchant.instruments.values.representativeness import FROM_SURVEY, REPRESENTATIVE
from penchant.instruments.values.survey import Survey
from penchant.records import Estimate, Signature
from penchant.stats.crossed_mean import crossed_difference

Array = NDArray[np.float64]
SCALE = (1.0, 5.0)


def difference(ratings: Array, answers: Array, shared: float = 0.01) -> Estimate:
    return crossed_difference(ratings, answers, shared=shared, calibrated=100, level=0.95, scale=SCALE)


def test_the_three_parts_of_the_error_by_hand() -> None:
    # Gaps 4 − 2 = 2 and 5 − 4 = 1: their variance ½, over 2 statements ¼. People's means 2, 3, 4: variance 1, over 3 ⅓.
    own = difference(np.array([4.0, 5.0]), np.array([[1.0, 3], [2, 4], [3, 5]]))
    parts = [1 / 4, 1 / 3, 0.01]
    half = stats.t.ppf(0.975, 1) * math.sqrt(sum(parts))
    assert (own.value, own.n) == (1.5, 2)
    # People's mean 3 has the error √(1/3 + 2/2) (its statements' means 2 and 4 have variance 2): it may lie anywhere.
    assert half > 5.5 and 3 - stats.t.ppf(0.975, 1) * math.sqrt(1 / 3 + 1) < 1
    assert (own.low, own.high) == pytest.approx((-4, 4))
    assert own.p == pytest.approx(2 * stats.t.sf(1.5 / math.sqrt(sum(parts)), 1))
    assert "2 statements, 3 respondents and the calibration on 100 neutral" in own.how


def test_it_ends_where_the_scale_lies_from_the_surveys_interval() -> None:
    """Of many respondents who all but agree on 4: no mean rating is more than some 1 above it, or 3 below."""
    answers = 4 + np.random.default_rng(2).normal(0, 0.3, (200, 5))
    own = difference(np.array([1.0, 5, 1, 5, 5]), answers)
    low, high = 1 - answers.mean(), 5 - answers.mean()
    assert low > own.low > low - 0.2 and high < own.high < high + 0.2
    assert "leave the scale" in own.note
    near = difference(np.full(5, 4.1) + np.arange(5) / 50, answers)
    assert not near.note and low < near.low < near.high < high


@pytest.mark.parametrize(("end", "spread"), [(0.02, 0.4), (0.1, 0.05), (0.1, 0.4)])
def test_ratings_near_the_end_keep_their_level(end: float, spread: float) -> None:
    """Cut at the end's distance from the survey's mean itself, they would hold the truth in half of the cases."""
    rng, held = np.random.default_rng(5), []
    for _ in range(400):
        ratings = 5 - rng.exponential(end, 9)
        answers = 3.3 + rng.normal(0, spread, 9) + 0.7 * rng.normal(size=(60, 1)) + 0.8 * rng.normal(size=(60, 9))
        own = difference(ratings, answers, shared=0.0)
        held.append(own.low <= 5 - end - 3.3 <= own.high)
    assert np.mean(held) > 0.93


def test_without_a_calibration_it_is_welch_with_the_fewer_degrees_of_freedom() -> None:
    people = np.random.default_rng(1).normal(3, 1, 40)
    ratings = np.array([3.2, 4.1, 3.4])
    own = difference(ratings, np.column_stack([people] * 3), shared=0.0)  # everybody answers all alike
    welch = stats.ttest_ind(ratings, people, equal_var=False)
    assert own.p == pytest.approx(2 * stats.t.sf(abs(welch.statistic), 2))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.integers(2, 40), st.integers(0, 999), st.floats(0, 0.2))
def test_interval_and_test_agree(statements: int, people: int, seed: int, shared: float) -> None:
    rng = np.random.default_rng(seed)
    ratings, answers = rng.uniform(1, 5, statements), rng.integers(1, 6, (people, statements)).astype(float)
    own = difference(ratings, answers, shared)
    order = rng.permutation(statements)
    again = difference(ratings[order], answers[rng.permutation(people)][:, order], shared)
    assert (again.value, again.low, again.p) == pytest.approx((own.value, own.low, own.p))
    mirrored = difference(6 - ratings, 6 - answers, shared)
    assert (mirrored.value, mirrored.low, mirrored.high) == pytest.approx((-own.value, -own.high, -own.low))
    if not math.isnan(own.p):
        assert (own.p < 0.05) == (not own.low <= 0 <= own.high)
        assert own.low <= own.value <= own.high


def test_what_has_no_interval() -> None:
    one = difference(np.array([4.0]), np.ones((9, 1)))
    alone = difference(np.array([4.0, 3.0]), np.ones((1, 2)))
    same = difference(np.array([4.0, 4.0]), np.ones((9, 2)), shared=0.0)
    for own, why in ((one, "only one statement"), (alone, "only one respondent"), (same, "nothing varies")):
        assert np.isnan([own.low, own.high, own.p]).all() and why in own.note


PEOPLE, NOISE = 0.7, 0.8
"""The sd between respondents, and that of their answers to single statements."""
RESIDUALS = {
    "normal": lambda rng, n: 0.4 + 0.8 * rng.normal(size=n),
    "skewed": lambda rng, n: rng.exponential(1, n) - 1.2,
    "at the end of the scale": lambda rng, n: 1.2 + 0.5 * rng.normal(size=n),
}


WRITTEN = {FROM_SURVEY: "difference from the survey", REPRESENTATIVE: "representativeness of a value"}
"""What the guide's table calls them."""


def simulated(seed: int, shape: str, n: int, respondents: int, spread: float) -> pl.DataFrame:
    """The summary of 100 neutral statements and n of one value, and of a survey whose mean is 3.3. `spread` is the sd
    of the statements' means among people."""
    rng = np.random.default_rng([7, n, respondents, seed])
    residuals, x = np.concatenate([rng.normal(0, 1, 100), RESIDUALS[shape](rng, n)]), rng.normal(-8, 2, 100 + n)
    ids = [*(f"n{i}" for i in range(100)), *(f"s{i}" for i in range(n))]
    items = pl.DataFrame(
        {
            "id": ids,
            "kind": ["calibration"] * 100 + ["statement"] * n,
            "disagree": x,
            "agree": 0.9 * x + 0.6 * residuals,
        }
    ).with_columns(group=pl.lit("f"), variant=pl.lit("main"), value=pl.lit("v"), reversed=pl.lit(False))
    answers = 3.3 + rng.normal(0, spread, n) + PEOPLE * rng.normal(size=(respondents, 1))
    answers = answers + NOISE * rng.normal(size=(respondents, n))
    table = pl.DataFrame({"": ["f"] * respondents, **dict(zip(ids[100:], answers.T, strict=True))})
    survey = Survey("people", table, (), respondents, respondents, False, (), "0" * 64)
    numbers = {"level": 0.95, "resamples": 400, "seed": seed}
    signature = Signature.of("values", model="m", method="lp", calibration="origin", survey="people#0abc12", **numbers)
    probe = Values(data="d", method="lp", calibration="origin", resamples=400, seed=seed)
    return probe.result(Rated(rated(items, "origin"), survey=survey), signature).summary


@pytest.mark.slow
@pytest.mark.parametrize(("n", "respondents", "spread"), [(5, 100, 0.4), (9, 1000, 0), (20, 30, 0.4)])
@pytest.mark.parametrize("shape", RESIDUALS)
def test_coverage(shape: str, n: int, respondents: int, spread: float) -> None:
    """Statements, respondents and neutral statements are drawn anew each time."""
    mean = float((1 + 4 * stats.norm.cdf(RESIDUALS[shape](np.random.default_rng(0), 400_000))).mean())
    below = float(stats.norm.cdf((mean - 3.3) / math.sqrt(PEOPLE**2 + NOISE**2 / n)))
    truth = {FROM_SURVEY: mean - 3.3, REPRESENTATIVE: 2 * min(below, 1 - below)}
    held: dict[str, list[bool]] = {measure: [] for measure in truth}
    for seed in range(400):
        summary = simulated(seed, shape, n, respondents, spread).filter(group="f", dimension="v", item="")
        for measure, value in truth.items():
            ((low, high),) = summary.filter(measure=measure).select("low", "high").rows()
            held[measure].append(low <= value <= high)
    for measure, inside in held.items():
        print(f"{shape}, {n} statements, {respondents} respondents, {measure}: {np.mean(inside):.3f}")  # noqa: T201
        row = {"normal": f"{WRITTEN[measure]}: normal"}.get(shape, shape)
        column = {5: "5 statements, 100 respondents", 9: "9, 1,000", 20: "20, 30"}[n]
        rows = [r for r in table_of("docs/values.md", "20, 30") if r["ratings"] == row]
        written = number(rows[0 if measure == FROM_SURVEY else -1][column])
        assert 100 * np.mean(inside) == pytest.approx(written, abs=0.25), measure
