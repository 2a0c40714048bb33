"""Words typical of one of two corpora: log-odds ratios with an informative Dirichlet prior.

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
    """Log-odds ratios of words (positive: more typical of b), their variances, and z = delta/√variance.

    Each array has one entry per word.
    """

    delta: Array
    variance: Array
    z: Array


def log_odds(counts_a: ArrayLike, counts_b: ArrayLike, prior_counts: ArrayLike, *, prior_size: float) -> LogOdds:
    """Return log-odds ratios of words in corpus b against corpus a, shrunk towards a prior (eqs. 15–18, 19–22).

    `counts_a`, `counts_b` and `prior_counts` contain one integer per word of the vocabulary; the prior counts may be
    the sum of the other two, or come from a larger corpus. `prior_size` is α₀, the number of words that the prior
    contributes to each corpus: α_w = α₀ · prior_counts_w / Σ prior_counts. With y_w the count of the word and n the
    count of all words,

        delta = log((y_w + α_w) / (n + α₀ − y_w − α_w)) in b − the same in a,
        variance = 1/(y_w + α_w) in b + the same in a.

    The variance consists of the paper's leading terms: it is too small for a word that makes up a large part of its
    corpus. Raises DataError for unequal lengths, counts that are not non-negative integers, fewer than two words or a
    word with a prior count of 0; MethodError if `prior_size` is not a positive number.
    """
    if not 0 < prior_size < np.inf:
        raise MethodError(f"prior_size must be a positive number, got {prior_size:g}")
    a, b = as_counts(counts_a, where="counts_a"), as_counts(counts_b, where="counts_b")
    prior = as_counts(prior_counts, where="prior_counts")
    check_lengths(a, b, where="counts_a, counts_b")
    check_lengths(a, prior, where="counts_a, prior_counts")
    if len(prior) < 2:
        raise DataError(f"got a vocabulary of {counted(len(prior), 'words')}, expected at least two", where="log-odds")
    lacking = int(np.count_nonzero(prior == 0))
    if lacking:
        raise DataError(
            f"the prior lacks {of_all(lacking, len(prior), 'words')}",
            where="prior_counts",
            hint="add the counts of both corpora to the prior, or remove these words",
        )
    (word_a, rest_a), (word_b, rest_b) = (_smoothed(counts, prior, prior_size) for counts in (a, b))
    delta = np.log(word_b / rest_b) - np.log(word_a / rest_a)
    variance = 1 / word_a + 1 / word_b
    return LogOdds(delta, variance, delta / np.sqrt(variance))


def _smoothed(counts: Counts, prior: Counts, prior_size: float) -> tuple[Array, Array]:
    """Return y_w + α_w for each word, and the corresponding sum over all other words.

    Counts are subtracted before the prior is scaled, so that no precision is lost if one word makes up nearly the whole
    corpus.
    """
    smoothed = counts + prior_size * (prior / prior.sum())
    rest = (counts.sum() - counts) + prior_size * ((prior.sum() - prior) / prior.sum())
    return smoothed, rest


def valence_bins(
    result: LogOdds, *, significant: float = SIGNIFICANT, weak: float = WEAK, strong: float = STRONG
) -> Array:
    """Assign each word to −1, −½, 0, ½ or 1, from typical of a to typical of b.

    The value is 0 if |z| < `significant` or |delta| < `weak`, otherwise ±½ if |delta| < `strong`, and ±1 if not. The
    default thresholds are a convention of this package. Raises MethodError if a threshold is negative or NaN.
    """
    if not (significant >= 0 and weak >= 0 and strong >= 0):
        raise MethodError(
            f"thresholds must be 0 or more, got significant={significant:g}, weak={weak:g}, strong={strong:g}"
        )
    size = np.abs(result.delta)
    steps = np.where(size < strong, 0.5, 1.0) * np.sign(result.delta)
    return np.where((np.abs(result.z) < significant) | (size < weak), 0.0, steps)
