"""The change point of credits over steps, its interval and its test, against brute force and by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from penchant.errors import DataError
from penchant.instruments.minimal_pairs.training_curve import best_part, change_point

Array = NDArray[np.float64]


def brute_part(table: Array) -> int:
    """Every way to part the steps, with the probability of the two counts as scipy has it; of equals the first. Counts
    of halves are doubled, which changes no order."""
    steps = table.shape[1]
    found = []
    for at in range(1, steps):
        fit = 0.0
        for part in (table[:, :at], table[:, at:]):
            right, of = round(2 * part.sum()), 2 * part.size
            share = right / of
            fit += sum(stats.bernoulli.logpmf(bit, share) * n for bit, n in ((1, right), (0, of - right)) if n)
        found.append(fit)
    return 1 + next(i for i, fit in enumerate(found) if fit >= max(found) - 1e-7)


@pytest.mark.parametrize("seed", range(40))
def test_the_best_part_is_that_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items, steps = int(rng.integers(1, 7)), int(rng.integers(2, 7))
    table = rng.choice([0.0, 0.5, 1.0], (items, steps))
    assert best_part(table.sum(0)[None], items)[0] == brute_part(table)


def test_by_hand() -> None:
    """Four items at three steps, right 2, 2 and 4 times. Parted after the second: 4 of 8, then 4 of 4: 8 log ½ = −5.55.
    After the first: 2 of 4, then 6 of 8: 4 log ½ + 6 log ¾ + 2 log ¼ = −7.27. So the third step is the first after the
    change, with .5 before and 1 from there on."""
    table = np.array([[1, 1, 1], [0, 1, 1], [1, 0, 1], [0, 0, 1]], dtype=float)
    change = change_point(table, resamples=2_000, seed=1)
    assert change.at == 2
    assert (change.before.value, change.after.value) == (0.5, 1.0)
    # One step has no spread after the change: Wilson's interval of 4 of 4 items, 1/(1 + z²/4) to 1.
    assert change.after.low == pytest.approx(1 / (1 + stats.norm.ppf(0.975) ** 2 / 4))
    assert change.after.high == 1.0


def exact_p(table: Array) -> float:
    """All patterns of signs, the statistic as it is written: the CUSUM S_k − k/K·S_K over √√(k/K·(1 − k/K))."""
    items, steps = table.shape

    def cusum(row: Array, at: int) -> float:
        share = at / steps
        return float((row[:at].sum() - share * row.sum()) / (share * (1 - share)) ** 0.25)

    gains = np.array([[cusum(row, at) for at in range(1, steps)] for row in table])

    def largest(moved: Array) -> float:
        return float(np.abs(moved.sum(0)).max())

    bound = largest(gains)
    patterns = [largest(gains * np.array(signs)[:, None]) for signs in product((1, -1), repeat=items)]
    return float(np.mean([value >= bound * (1 - 1e-9) for value in patterns]))


@pytest.mark.parametrize("seed", range(6))
def test_the_test_is_that_of_all_flips(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = (rng.random((9, 4)) < [0.4, 0.5, 0.6, 0.7]).astype(float)
    draws = 20_000
    exact = exact_p(table)
    p = change_point(table, resamples=draws, seed=seed).p
    assert abs(p - exact) <= 4.5 * np.sqrt(exact * (1 - exact) / draws) + 1 / draws


def test_two_steps_are_a_sign_test() -> None:
    """Of ten items that change, nine rise: 2 (1 + 10)/2¹⁰."""
    table = np.array([[0, 1]] * 9 + [[1, 0]] + [[1, 1]] * 30, dtype=float)
    assert change_point(table, resamples=50_000).p == pytest.approx(22 / 1024, abs=0.003)


def test_nothing_changes() -> None:
    change = change_point(np.repeat([[1.0], [0.0], [0.5]], 5, axis=1), resamples=200)
    assert change.p == 1.0 and (change.at, change.low, change.high) == (1, 1, 1)


def test_the_interval_resamples_items_with_all_their_steps() -> None:
    """Against a bootstrap item by item: the shares of the change points agree."""
    rng = np.random.default_rng(5)
    table = (rng.random((25, 6)) < [0.5, 0.5, 0.55, 0.65, 0.8, 0.8]).astype(float)
    drawn = [brute_part(table[rng.integers(0, 25, 25)]) for _ in range(400)]
    for level in (0.5, 0.8):
        change = change_point(table, level=level, resamples=4_000, seed=2)
        tail = (1 - level) / 2
        # The ends are quantiles of the same distribution: the shares beyond them are those of the level, up to chance.
        assert np.mean(np.array(drawn) < change.low) <= tail + 0.09
        assert np.mean(np.array(drawn) <= change.low) >= tail - 0.09
        assert np.mean(np.array(drawn) > change.high) <= tail + 0.09
        assert np.mean(np.array(drawn) >= change.high) >= tail - 0.09
    assert change.low <= change.at <= change.high


def test_the_order_of_items_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    table = rng.choice([0.0, 0.5, 1.0], (40, 5))
    assert change_point(table, resamples=300) == change_point(rng.permutation(table), resamples=300)


@pytest.mark.parametrize(
    ("table", "said"),
    [([[1.0]], "two steps"), (np.empty((0, 3)), "two steps"), ([1.0, 0.0], "two steps"), ([[0.3, 1.0]], "0, 0.5 or 1")],
)
def test_what_is_refused(table: object, said: str) -> None:
    with pytest.raises(DataError, match=said):
        change_point(table)  # type: ignore[arg-type]
