"""Words typical of one corpus rather than another: log-odds ratios with an informative Dirichlet prior.

Source: Monroe, Colaresi & Quinn 2008, Political Analysis 16:372–403.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from penchant.errors import DataError, MethodError
from penchant.plurals import counted, of_all
from penchant.stats.inputs import Array, Counts, as_counts, check_lengths

SIGNIFICANT = 1.96  # |z|: two-sided 5 %, for each word by itself
WEAK = float(np.log(2))  # |delta|: the odds differ by a factor of two
STRONG = float(np.log(10))  # |delta|: the odds differ by a factor of ten


@dataclass(frozen=True, slots=True)
class LogOdds:
    """One entry per word: log-odds ratio (positive: more typical of b), its variance, and z = delta/√variance."""

    delta: Array
    variance: Array
    z: Array


def log_odds(counts_a: ArrayLike, counts_b: ArrayLike, prior_counts: ArrayLike, *, prior_size: float) -> LogOdds:
    """Return the log-odds of every word in corpus b minus those in a, both shrunk to a prior (eqs. 15–18, 19–22).

    `counts_a`, `counts_b`, `prior_counts`: one integer per word of the vocabulary; the prior's may be the sum of the
    other two, or come from a larger corpus. `prior_size` is α₀, the number of words that the prior counts for in each
    corpus: α_w = α₀ · prior_counts_w / Σ prior_counts. With y_w the count of the word and n that of all words,

        delta = log((y_w + α_w) / (n + α₀ − y_w − α_w)) in b − the same in a,
        variance = 1/(y_w + α_w) in b + the same in a.

    The variance keeps the paper's leading terms: it is too small for a word that is a large share of its corpus. Raises
    DataError for unequal lengths, counts that are not integers of 0 or more, fewer than two words or a word that the
    prior lacks; MethodError when `prior_size` is not a positive number.
    """
    if not 0 < prior_size < np.inf:
        raise MethodError(f"the size of a prior is a positive number, got {prior_size:g}")
    a, b = as_counts(counts_a, where="counts_a"), as_counts(counts_b, where="counts_b")
    prior = as_counts(prior_counts, where="prior_counts")
    check_lengths(a, b, where="counts_a, counts_b")
    check_lengths(a, prior, where="counts_a, prior_counts")
    if len(prior) < 2:
        raise DataError(f"a vocabulary of {counted(len(prior), 'words')} is too small to compare", where="log-odds")
    lacking = int(np.count_nonzero(prior == 0))
    if lacking:
        raise DataError(
            f"the prior lacks {of_all(lacking, len(prior), 'words')}",
            where="prior_counts",
            hint="add the counts of both corpora to it, or drop those words",
        )
    (word_a, rest_a), (word_b, rest_b) = (_smoothed(counts, prior, prior_size) for counts in (a, b))
    delta = np.log(word_b / rest_b) - np.log(word_a / rest_a)
    variance = 1 / word_a + 1 / word_b
    return LogOdds(delta, variance, delta / np.sqrt(variance))


def _smoothed(counts: Counts, prior: Counts, prior_size: float) -> tuple[Array, Array]:
    """Return y_w + α_w, and the same for all other words together.

    Counts are subtracted before the prior is scaled, so that no precision is lost when one word is nearly all.
    """
    smoothed = counts + prior_size * (prior / prior.sum())
    rest = (counts.sum() - counts) + prior_size * ((prior.sum() - prior) / prior.sum())
    return smoothed, rest


def valence_bins(
    result: LogOdds, *, significant: float = SIGNIFICANT, weak: float = WEAK, strong: float = STRONG
) -> Array:
    """Place every word on the points −1, −½, 0, ½, 1, from typical of a to typical of b.

    0 where |z| < `significant` or |delta| < `weak`; else ±½ where |delta| < `strong`, and ±1 from there on. The
    defaults are a convention of this package. Raises MethodError for a threshold below 0 or NaN.
    """
    if not (significant >= 0 and weak >= 0 and strong >= 0):
        raise MethodError(
            f"a threshold is 0 or more, got significant={significant:g}, weak={weak:g}, strong={strong:g}"
        )
    size = np.abs(result.delta)
    steps = np.where(size < strong, 0.5, 1.0) * np.sign(result.delta)
    return np.where((np.abs(result.z) < significant) | (size < weak), 0.0, steps)
