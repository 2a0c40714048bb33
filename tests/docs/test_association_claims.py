"""Claims of docs/associations.md about its intervals, against its table; the slow tests of tests/stats simulate it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pages import number, said, table_of
from penchant.instruments.associations.estimates import RELIABLE
from penchant.instruments.associations.sampled_effects import Sides, reliability
from word_sets import PLACES, effect, places, sets_of_words

PAGE = "docs/associations.md"
CELLS = {
    (row["attributes"], row["words in X, Y; A, B"], d): number(row[d])
    for row in table_of(PAGE, "attributes", "d = 0")
    for d in PLACES
    if row[d]
}


def test_what_is_simulated() -> None:
    samples, _, point, clear, faint = said(
        PAGE,
        "({} samples, {} resamples, Monte Carlo error about {} point; attributes *clear* or *faint* as their means "
        "differ by {} or {} in unit vectors)",
    )
    assert round(100 * math.sqrt(0.95 * 0.05 / samples)) == point
    for name, far in (("clear", clear), ("faint", faint)):
        _, _, a, b = sets_of_words(np.random.default_rng(0), [1, 1, 40_000, 40_000], places(name, 0))
        assert float(np.linalg.norm(a.mean(axis=0) - b.mean(axis=0))) == pytest.approx(far, abs=0.01)


@pytest.mark.parametrize("d", PLACES)
def test_the_heads_of_the_columns(d: str) -> None:
    found = effect(sets_of_words(np.random.default_rng(1), [40_000] * 4, places("clear", PLACES[d])))
    assert found == pytest.approx(number(d), abs=0.03)


def test_intervals_that_hold_too_little_have_a_caution() -> None:
    """Chance shares of attributes, as the median of 40 samples of each cell."""
    (share,) = said(PAGE, "(Cronbach's α of s, one minus it); above {} % the number carries a caution")
    assert share == pytest.approx(100 * (1 - RELIABLE))
    (least,) = said(PAGE, "Below, the intervals of all cells covered d in {} % or more.")
    for (attributes, words, d), held in CELLS.items():
        n, c = map(int, words.split(";"))
        shares = []
        for seed in range(40):
            x, y, a, b = sets_of_words(np.random.default_rng([seed, n, c]), (n, n, c, c), places(attributes, PLACES[d]))
            table = (np.concatenate([x, y]) @ np.concatenate([a, b]).T)[None]
            shares.append(100 * (1 - reliability(table, Sides.of(range(c), range(c)))))
        assert held >= least or np.median(shares) > share, (attributes, words, d)
    assert min(CELLS.values()) < least


def test_eight_words_have_wide_intervals() -> None:
    (words,) = said(PAGE, "With {} words in a set it is wide, and rightly so.")
    widths = {
        row["words in X, Y; A, B"]: number(row["mean width at d = 1"]) for row in table_of(PAGE, "attributes", "d = 0")
    }
    assert widths[f"{words:.0f};{words:.0f}"] == max(widths.values())
