"""Ratings that slipped by a row are told, and those of honest raters are not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import spearmanr

from penchant.rating.row_shift import slipped

Array = NDArray[np.float64]


def judged(rng: np.random.Generator, truth: Array, noise: float) -> Array:
    """Return the ratings, on the scale of five, of a rater with this noise."""
    return np.clip(np.round(2 * (truth + rng.normal(0, noise, len(truth)))) / 2, -1, 1)


def of_sentences(rng: np.random.Generator, rows: int, within: float, zeros: float) -> Array:
    """The worth of words, twelve a sentence, which share a part of it; some are worth nothing."""
    sentence = rng.normal(0, 0.7 * within, rows // 12 + 1).repeat(12)[:rows]
    truth = sentence + rng.normal(0, 0.7 * (1 - within**2) ** 0.5, rows)
    truth[rng.random(rows) < zeros] = 0
    return truth


def given(values: Array) -> dict[int, float]:
    return {row: float(value) for row, value in enumerate(values) if not np.isnan(value)}


def alarms(sizes: Sequence[int], noises: Sequence[float], draws: int) -> tuple[int, int]:
    """Return the number of honest raters reported as slipped, and the number of all.

    Neighbours may be alike, most ratings 0, and some cells empty.
    """
    rng, told, tried = np.random.default_rng(7), 0, 0
    for rows, within, noise, zeros, _ in product(sizes, (0.0, 0.5, 0.95), noises, (0.0, 0.7), range(draws)):
        truth = of_sentences(rng, rows, within, zeros)
        own, others = judged(rng, truth, noise), judged(rng, truth, noise)
        own[rng.random(rows) < 0.03] = np.nan
        told += slipped(range(rows), given(own), given(others)) is not None
        tried += 1
    return told, tried


def test_no_alarm_for_honest_raters() -> None:
    told, tried = alarms((45, 150, 720), (0.1, 0.5, 3.0), 10)
    assert tried == 540 and told <= 1


@pytest.mark.slow
def test_hardly_an_alarm_in_many() -> None:
    """The numbers of docs/cloze.md."""
    told, tried = alarms((45, 80, 150, 400, 720), (0.1, 0.4, 1.0, 3.0), 60)
    assert tried == 7200 and told <= 2


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "zeros", "least", "most"), [(0.3, 0.7, 1, 1), (0.5, 0.0, 1, 1), (0.5, 0.7, 0, 0.5)])
def test_how_often_a_slip_is_found(noise: float, zeros: float, least: float, most: float) -> None:
    """The numbers of docs/cloze.md."""
    rng, told = np.random.default_rng(8), 0
    for _ in range(40):
        truth = of_sentences(rng, 720, 0.5, zeros)
        own, others = judged(rng, truth, noise), judged(rng, truth, noise)
        slid = np.concatenate([[np.nan], own[:-1]])
        told += slipped(range(720), given(slid), given(others)) is not None
    assert least <= told / 40 <= most


@pytest.mark.parametrize("down", [True, False])
@pytest.mark.parametrize("first", [0, 200])
def test_a_slip_is_told_with_its_rows(first: int, down: bool) -> None:
    rng = np.random.default_rng(first)
    truth = of_sentences(rng, 400, 0.5, 0.3)
    others, meant = judged(rng, truth, 0.15), judged(rng, truth, 0.15)
    own = meant.copy()
    if down:
        own[first + 1 :], own[first] = meant[first:-1], np.nan
    else:
        own[first:-1], own[-1] = meant[first + 1 :], np.nan
    slip = slipped(range(400), given(own), given(others))
    assert slip is not None and slip.down is down
    assert abs(slip.first - first) <= 12 and slip.last >= 390
    rows = np.arange(slip.first, slip.last + 1)
    beside = np.full(400, np.nan)
    beside[1:], beside[:-1] = (others[:-1], beside[:-1]) if down else (beside[1:], others[1:])
    known = rows[~np.isnan(own[rows] + beside[rows])]
    assert slip.moved.n == len(known)
    assert slip.here.value == pytest.approx(spearmanr(own[known], others[known]).statistic)
    assert slip.moved.value == pytest.approx(spearmanr(own[known], beside[known]).statistic)
    assert slipped(range(400), given(meant), given(others)) is None


def test_a_slip_of_a_few_rows_is_not_told() -> None:
    others = np.array([-1.0, 1.0, 0.0, 0.5, -0.5] * 7)
    assert slipped(range(35), given(np.roll(others, 1)), given(others)) is None
