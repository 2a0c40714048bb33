"""A group of a survey's respondents: their answers, their weights where there are any, and resamples of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from penchant.instruments.values.cells import Array
from penchant.instruments.values.data import HIGH, LOW
from penchant.stats.weighted import drawn_totals, effective_n, mean_variance, weighted_mean


@dataclass(frozen=True, eq=False)
class People:
    """Answers, (respondents, statements), NaN where there is none, with a weight for each respondent or None.

    `seed` and `resamples` are those of `drawn_means` and `drawn`, the draws of two groups being independent.
    """

    table: Array
    weights: Array | None
    seed: tuple[int, ...]
    resamples: int

    @property
    def counting(self) -> Array:
        """The weight of each respondent: 1 where there are none."""
        return np.ones(len(self.table)) if self.weights is None else self.weights

    @cached_property
    def means(self) -> Array:
        """The mean answer to each statement, over all who answered it; NaN where nobody did."""
        known = ~np.isnan(self.table)
        pairs = zip(self.table.T, known.T, strict=True)
        return np.array([weighted_mean(answers[of], self.counting[of]) for answers, of in pairs])

    @cached_property
    def noise(self) -> Array:
        """How far the mean answer to each statement lies from the truth by the choice of respondents, on average:
        √(2/π) of its standard error. NaN where fewer than two answered."""
        known = ~np.isnan(self.table)
        pairs = zip(self.table.T, known.T, strict=True)
        variances = [mean_variance(answers[of], self.counting[of]) for answers, of in pairs]
        expected: Array = np.sqrt(2 / np.pi * np.array(variances))
        return expected

    @cached_property
    def drawn(self) -> list[tuple[Array, Array]]:
        """For each statement the distinct answers, and the weight of each in every resample of the respondents."""
        rng = np.random.default_rng(self.seed)
        return drawn_totals(self.table, self.counting, resamples=self.resamples, rng=rng)

    @cached_property
    def drawn_means(self) -> Array:
        """The mean answers in every resample, (resamples, statements); NaN where no one who was drawn has one."""
        means = np.full((self.resamples, self.table.shape[1]), np.nan)
        for i, (values, totals) in enumerate(self.drawn):
            whole = totals.sum(axis=1)
            np.divide(totals @ values, whole, out=means[:, i], where=whole > 0)
        return means

    def complete(self, chosen: NDArray[np.bool_], is_reversed: NDArray[np.bool_]) -> tuple[Array, Array | None]:
        """The answers of those who answered all of some statements, reversed ones mirrored, and their weights."""
        answers = turned(self.table, chosen, is_reversed)
        whole = ~np.isnan(answers).any(axis=1)
        return answers[whole], None if self.weights is None else self.weights[whole]


def turned(table: Array, chosen: NDArray[np.bool_], is_reversed: NDArray[np.bool_]) -> Array:
    """The answers to some statements, reversed ones mirrored: (respondents, statements)."""
    answers = table[:, chosen]
    turned_answers: Array = np.where(is_reversed[chosen], LOW + HIGH - answers, answers)
    return turned_answers


def worth(n: int, weights: Array | None) -> float:
    """How many respondents n are worth: n itself, or Kish's effective number where they have weights."""
    return float(n) if weights is None else effective_n(weights)
