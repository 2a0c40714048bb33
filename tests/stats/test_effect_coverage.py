"""Coverage of intervals of effect sizes for the d of very many words and attributes, as in docs/associations.md."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from pages import number, table_of
from penchant.instruments.associations.sampled_effects import (
    Sides,
    contrasts,
    effect_interval,
    effects,
    largest_effect,
    resampled_effects,
)
from word_sets import PLACES, effect, places, raw_words, sets_of_words

Array = NDArray[np.float64]
WORDS = "words in X, Y; A, B"
TABLE: Mapping[tuple[str, str], Mapping[str, str]] = {
    (row["attributes"], row[WORDS]): row for row in table_of("docs/associations.md", WORDS)
}
CELLS = [(attributes, words, d) for (attributes, words), row in TABLE.items() for d in PLACES if row[d]]


def interval(table: Array, columns: Sides, seed: int, resamples: int) -> tuple[float, float]:
    """The interval of cosines (samples, targets, attributes) of which the first half of the targets are X."""
    n = table.shape[1] // 2
    rows = Sides.of(range(n), range(n))
    value = float(effects(contrasts(table, columns), rows).mean())
    draws = resampled_effects(table, rows, columns, seed=seed, resamples=resamples)
    few = min(n, table.shape[2] // 2)
    return effect_interval(value, draws, few, 0.95, largest_effect(rows))


@pytest.mark.slow
@pytest.mark.parametrize(("attributes", "words", "d"), CELLS)
def test_coverage_over_words(attributes: str, words: str, d: str) -> None:
    """Of the 95 % intervals of 500 samples."""
    n, c = map(int, words.split(";"))
    where = places(attributes, PLACES[d])
    truth = effect(sets_of_words(np.random.default_rng(1), [200_000] * 4, where))
    columns, found = Sides.of(range(c), range(c)), np.empty((500, 2))
    for seed in range(500):
        x, y, a, b = sets_of_words(np.random.default_rng([2, seed]), (n, n, c, c), where)
        table = (np.concatenate([x, y]) @ np.concatenate([a, b]).T)[None]
        found[seed] = interval(table, columns, seed, 1000)
    held = 100 * float(((found[:, 0] <= truth) & (truth <= found[:, 1])).mean())
    width = float((found[:, 1] - found[:, 0]).mean())
    print(f"{attributes} {words}, d = {truth:.2f}: {held:.1f} %, width {width:.2f}")  # noqa: T201
    row = TABLE[attributes, words]
    assert held == pytest.approx(number(row[d]), abs=0.45)
    assert d != "1.0" or width == pytest.approx(number(row["mean width at d = 1"]), abs=0.015)


# CEAT: each word comes in sentences of its own, of which every sample draws one ------------------------------------

APART, NOISE, SAMPLES, SETS = 0.16, 1.0, 50, 250
"""How far X and Y lie to either side; the variance that sentences add, over that of words; samples; data sets."""


def sentences(rng: np.random.Generator, words: Array, each: int) -> Array:
    """Unit vectors of words in `each` sentences, shape (sentences, words, 50)."""
    found = words + rng.normal(0, (NOISE / 50) ** 0.5, (each, *words.shape))
    unit: Array = found / np.linalg.norm(found, axis=-1, keepdims=True)
    return unit


def data_set(seed: int, n: int, each: int, attributes: str) -> Array:
    """Cosines of every sample: (samples, targets, attributes)."""
    rng = np.random.default_rng([seed, n, each])
    words = np.concatenate(raw_words(rng, [n] * 4, places(attributes, APART)))
    pool = sentences(rng, words, each)
    drawn = pool[rng.integers(each, size=(SAMPLES, 4 * n)), np.arange(4 * n)]
    cosines: Array = np.einsum("krd,kcd->krc", drawn[:, : 2 * n], drawn[:, 2 * n :])
    return cosines


@pytest.mark.slow
@pytest.mark.parametrize("attributes", ["clear", "faint"])
@pytest.mark.parametrize("n", [8, 25])
@pytest.mark.parametrize("each", [1, 10, 200])
def test_coverage_over_words_and_sentences(attributes: str, n: int, each: int) -> None:
    rng = np.random.default_rng(1)
    d = effect([sentences(rng, own, 1)[0] for own in raw_words(rng, [100_000] * 4, places(attributes, APART))])
    columns, held = Sides.of(range(n), range(n)), 0
    for seed in range(SETS):
        low, high = interval(data_set(seed, n, each, attributes), columns, seed, 400)
        held += low <= d <= high
    print(f"{attributes}, {n} words, {each} sentences, d = {d:.2f}: {held / SETS:.3f}")  # noqa: T201
    rows = {(row["attributes"], row["words a set"]): row for row in table_of("docs/associations.md", "words a set")}
    share = number(rows[attributes, str(n)]["1 sentence" if each == 1 else f"{each} sentences"])
    assert 100 * held / SETS == pytest.approx(share, abs=0.85)
