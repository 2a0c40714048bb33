"""The mean over raters: by hand, against a plain t interval, and coverage."""

from __future__ import annotations

import numpy as np
import pytest
from bench.simulations.means import rated, suits
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from pages import numbers, table_of
from penchant.errors import DataError
from penchant.stats.rated_mean import mean_over_raters, with_others, worth

Array = NDArray[np.float64]


def left_out(table: Array) -> Array:
    """The values of items without each rater: (items, raters) → (raters, items)."""
    raters = table.shape[1]
    without: Array = (table.sum(axis=1) - table.T) / (raters - 1)
    return without


def test_raters_that_agree_leave_the_t_interval_over_items() -> None:
    values = np.array([0.1, 0.4, -0.2, 0.3, 0.0])
    found = mean_over_raters(values, np.tile(values, (4, 1)), level=0.9)
    expected = stats.t.interval(0.9, 4, values.mean(), stats.sem(values))
    assert (found.low, found.high) == pytest.approx(expected)
    # Items that do not differ leave the t interval over raters.
    own = np.array([0.1, 0.5, 0.3])
    table = np.tile(own, (6, 1))
    found = mean_over_raters(table.mean(axis=1), left_out(table))
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 2, own.mean(), stats.sem(own)))
    assert (
        found.note == "approximate: only 3 raters (5 recommended); 92 to 97 of 100 such intervals cover the true value"
    )


def test_what_has_no_interval() -> None:
    for values, without, why in (
        ([], np.empty((2, 0)), "no items"),
        ([0.5], [[0.5], [0.4]], "only one sentence"),
        ([0.5, 0.2], np.empty((0, 2)), "fewer than two raters"),
        ([0.5, 0.5], [[0.5, 0.5]] * 2, "neither sentences nor raters differ"),
    ):
        found = mean_over_raters(values, without)
        assert np.isnan(found.low) and why in found.note
    for bad in ([[np.nan, 1]], [[1.0]], [1.0, 2.0]):
        with pytest.raises(DataError):
            mean_over_raters([1.0, 2.0], bad)


def test_raters_who_judged_little_add_no_degrees_of_freedom() -> None:
    """Two who judged nothing that counts leave the interval of the three others nearly as it is."""
    own = np.array([0.1, 0.5, 0.3])
    table = np.tile(own, (6, 1))
    alone = mean_over_raters(table.mean(axis=1), left_out(table))
    more = np.concatenate([left_out(table), np.full((2, 6), own.mean())])
    found = mean_over_raters(table.mean(axis=1), more, judged=[1, 1, 1, 1e-9, 1e-9])
    # Their jackknife has the factor (5 − 1)/5 in place of (3 − 1)/3, and the degrees of freedom of three.
    wanted = stats.t.interval(0.95, 2, own.mean(), stats.sem(own) * (4 / 5 / (2 / 3)) ** 0.5)
    assert (found.low, found.high) == pytest.approx(wanted)
    assert found.low < alone.low and "5 raters, effective number 3.0 (5 who" in found.note
    plain = mean_over_raters(table.mean(axis=1), more)
    assert plain.high < alone.high and not plain.note
    assert worth([2, 2, 2, 2]) == 4 and worth([1, 0.5]) == pytest.approx(1.8) and worth([0, 0]) == 0


def test_one_rater_against_the_others() -> None:
    rng = np.random.default_rng(5)
    own = rng.integers(-2, 3, 40) / 2
    others = -own + rng.normal(0, 0.6, 40)
    found = with_others(own, others)
    rho = stats.spearmanr(own, others).statistic
    z, half = np.arctanh(rho), 1.959964 * np.sqrt(1.06 / 37)
    assert found.value == pytest.approx(rho) and found.n == 40
    assert (found.low, found.high) == pytest.approx((np.tanh(z - half), np.tanh(z + half)))
    assert found.high < 0 and with_others(own, -others).low > 0
    for few in (with_others(own[:9], others[:9]), with_others(np.zeros(40), others)):
        assert np.isnan(few.value) and np.isnan(few.high) and few.note
    assert with_others(own, -own).high == pytest.approx(-1)


def test_the_interval_with_others_holds_the_truth() -> None:
    """Normal numbers of Pearson's ρ −.3 have Spearman's 6/π·asin(ρ/2)."""
    rng, truth = np.random.default_rng(2), 6 / np.pi * np.arcsin(-0.15)
    held = []
    for _ in range(800):
        x = rng.normal(size=60)
        found = with_others(x, -0.3 * x + np.sqrt(0.91) * rng.normal(size=60))
        held.append(found.low <= truth <= found.high)
    assert 0.93 <= np.mean(held) <= 0.97


@pytest.mark.slow
def test_coverage_with_newcomers() -> None:
    """Two who judge all sentences and three who judge two: the interval holds more than one of five full raters."""
    population, lean = rated(np.random.default_rng(1), 4000, 400, 0.25)[1], 0.25
    held, rng = np.zeros((600, 2)), np.random.default_rng(7)
    for i in range(len(held)):
        betas = rated(rng, 60, 5, lean)[1]
        has = np.ones_like(betas, dtype=bool)
        for new in (2, 3, 4):
            has[:, new] = np.isin(np.arange(60), rng.choice(60, 2, replace=False))
        means = [np.average(betas, axis=1, weights=has & (np.arange(5) != left)) for left in range(5)]
        value = np.average(betas, axis=1, weights=has)
        for j, judged in enumerate((None, has.sum(axis=0))):
            found = mean_over_raters(value, means, judged=judged)
            held[i, j] = found.low <= population.mean() <= found.high
    assert held[:, 1].mean() >= 0.86 > held[:, 0].mean()


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 5), st.integers(0, 1000), st.floats(0.1, 9), st.floats(-3, 3))
def test_scale_shift_and_order(raters: int, seed: int, factor: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    table, groups = rng.normal(size=(8, raters)), np.array(list("aaabbbbb"))
    found = mean_over_raters(table.mean(axis=1), left_out(table), strata=groups.tolist())
    order = rng.permutation(8)
    again = factor * table[order] + shift
    other = mean_over_raters(again.mean(axis=1), left_out(again), strata=groups[order].tolist())
    assert (other.low, other.high) == pytest.approx((factor * found.low + shift, factor * found.high + shift), abs=1e-7)
    # Never narrower than it would be were the raters all there are.
    assert found.high - found.value >= stats.norm.ppf(0.975) * found_items(table, groups) - 1e-12


def found_items(table: Array, groups: NDArray[np.str_]) -> float:
    """The standard error of the stratified mean over items."""
    values = table.mean(axis=1)
    parts = [values[groups == group] for group in np.unique(groups)]
    return float(np.sqrt(sum(len(part) * part.var(ddof=1) for part in parts)) / len(values))


# Coverage ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("raters", [2, 3, 5])
@pytest.mark.parametrize("sentences", [20, 60])
@pytest.mark.parametrize("lean", [0.1, 0.25])
def test_coverage(raters: int, sentences: int, lean: float) -> None:
    """The truth is the mean over a population of raters and sentences."""
    rho, betas = rated(np.random.default_rng(1), 4000, 400, lean)
    truth = betas.mean(), suits(rho, betas.mean(axis=1)).mean()
    held, alone = np.zeros((1000, 2)), np.zeros((1000, 2))
    rng = np.random.default_rng([raters, sentences])
    reach = stats.t.ppf(0.975, sentences - 1) / sentences**0.5
    for i in range(len(held)):
        rho, betas = rated(rng, sentences, raters, lean)
        without, items = left_out(betas), (betas.mean(axis=1), suits(rho, betas.mean(axis=1)))
        for j, estimate in enumerate(
            (
                mean_over_raters(betas.mean(axis=1), without),
                mean_over_raters(suits(rho, betas.mean(axis=1)), suits(rho, without)),
            )
        ):
            held[i, j] = estimate.low <= truth[j] <= estimate.high
            alone[i, j] = abs(estimate.value - truth[j]) <= reach * items[j].std(ddof=1)
    beta, delta = held.mean(axis=0)
    print(f"{lean} {raters} raters, {sentences} sentences: β {beta:.3f}, δ {delta:.3f}")  # noqa: T201
    page = {row[""]: row for row in table_of("docs/cloze.md", "2 raters", "3 raters")}
    both = {name: numbers(row[f"{raters} raters"]) for name, row in page.items()}
    plain = {name: numbers(row["t over sentences alone, 2 / 3 / 5 raters"]) for name, row in page.items()}
    name = f"β, leanings of sd .{100 * lean:.0f}, {sentences} sentences"
    assert 100 * beta == pytest.approx(both[name][0], abs=0.25)
    assert 100 * alone[:, 0].mean() == pytest.approx(plain[name][(2, 3, 5).index(raters)], abs=0.75)
    for shares, (low, high) in ((held, both["δ, all of these"]), (alone, plain["δ, all of these"])):
        assert low - 0.75 <= 100 * shares[:, 1].mean() <= high + 0.75  # δ counts the noise of single words twice
    assert {2: 0.86, 3: 0.91, 5: 0.93}[raters] <= beta <= 0.98  # as the note says
