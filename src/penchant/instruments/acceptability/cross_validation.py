"""How closely scores of MORCELA go with judgements of sentences that it was not fitted to.

Sentences are divided into folds; those of each are scored with β and γ fitted to the sentences of all other folds, and
the scores of all folds together are correlated with the judgements. The interval is the jackknife's: everything is done
anew without each sentence, so that it holds the uncertainty of β and γ, too. What it is of is the correlation that as
many other sentences, divided and fitted alike, would give on average.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from penchant.instruments.acceptability.morcela import fit, scores
from penchant.records import Estimate
from penchant.stats.bootstrap import CHUNK
from penchant.stats.crossed import PEARSON, SPEARMAN, midranks, weighted_pearson
from penchant.stats.hypothesis_tests import held_against
from penchant.stats.inputs import Array, Codes, as_values, check_lengths, check_level
from penchant.wording.phrases import Method, Note

WIDE = Note("wide")
"""What is said beside an interval (docs/validity.md)."""


@dataclass(frozen=True, slots=True)
class Folded:
    """Sentences that are scored out of fold. `scores` are theirs, NaN where `reason` says why there are none."""

    logprobs: Array
    unigrams: Array
    lengths: Array
    judged: Array
    folds: Codes
    scores: Array
    reason: Note | None

    @classmethod
    def of(
        cls,
        logprobs: ArrayLike,
        unigrams: ArrayLike,
        lengths: ArrayLike,
        judged: ArrayLike,
        folds: NDArray[np.integer],
    ) -> Folded:
        """Fit and score. Raises DataError for NaN or unequal lengths."""
        p, u, n, y = (as_values(side, where="MORCELA") for side in (logprobs, unigrams, lengths, judged))
        codes: Codes = np.unique(folds, return_inverse=True)[1].astype(np.intp)
        for side in (u, n, y, codes):
            check_lengths(p, side, where="MORCELA")
        made = np.full(len(y), np.nan)
        for fold in range(int(codes.max(initial=-1)) + 1):
            inside = codes == fold
            fitted = fit(p[~inside], u[~inside], n[~inside], y[~inside])
            if fitted.reason:
                return cls(p, u, n, y, codes, np.full(len(y), np.nan), fitted.reason)
            made[inside] = scores(p[inside], u[inside], n[inside], fitted.beta, fitted.gamma)
        return cls(p, u, n, y, codes, made, None)

    def left_out(self, start: int, stop: int) -> Array:
        """The scores of all sentences where each of those from `start` to `stop` is left out, (stop − start, n); that
        of the sentence left out means nothing."""
        x = np.stack([np.ones(len(self.judged)), *(side / self.lengths for side in (self.logprobs, self.unigrams))])
        x = np.concatenate([x, 1 / self.lengths[None]]).T
        each = np.einsum("ni,nj->nij", x, x), x * self.judged[:, None]
        several = range(int(self.folds.max()) + 1)
        whole = [np.stack([side[self.folds != fold].sum(axis=0) for fold in several]) for side in each]
        beta, gamma = np.empty((2, stop - start, len(several)))
        for row, left in enumerate(range(start, stop)):
            others = (self.folds[left] != np.arange(len(several))).astype(np.float64)
            moments = whole[0] - others[:, None, None] * each[0][left]
            products = whole[1] - others[:, None] * each[1][left]
            b = np.linalg.solve(moments, products[..., None])[..., 0]
            beta[row], gamma[row] = -b[:, 2] / b[:, 1], b[:, 3] / b[:, 1]
        made: Array = (self.logprobs - beta[:, self.folds] * self.unigrams + gamma[:, self.folds]) / self.lengths
        return made


def cross_validated(
    folded: Folded,
    *,
    ranks: bool = False,
    other: ArrayLike | Folded | None = None,
    level: float = 0.95,
    noun: str = "sentences",
) -> Estimate:
    """Pearson's r, or with `ranks` Spearman's ρ, of judgements and scores out of fold; with `other` scores of the same
    sentences, which may be out of fold, too, that minus their own.

    Interval: jackknife t, of a correlation on the scale of Fisher's z. Test: that there is none, by the same t. NaN
    where nothing could be fitted, or either side is the same for all. Raises DataError for unequal lengths.
    """
    check_level(level)
    name = SPEARMAN if ranks else PEARSON
    name = name if other is None else f"difference of {name}"
    n = len(folded.judged)
    bare = Estimate(name, np.nan, n, level=level)
    if folded.reason:
        return bare.noted(folded.reason)
    if isinstance(other, Folded) and other.reason:
        return bare.noted(other.reason)
    value, without = _with_and_without(folded, other, ranks=ranks)
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    if not (np.isfinite(value) and error > 0):
        return bare.noted(Note("numbers-alike", measure=name, noun=noun))
    back = np.tanh if other is None else lambda end: np.clip(end, -2.0, 2.0)
    half = float(scipy.stats.t.ppf((1 + level) / 2, n - 1)) * error
    p = float(2 * scipy.stats.t.sf(abs(value) / error, n - 1))
    low, high = (float(back(end)) for end in (value - half, value + half))
    method = Method("jackknife-t-z" if other is None else "jackknife-t", units=n, noun=noun, df=n - 1)
    found = replace(bare, value=float(back(value)), low=low, high=high, method=method, notes=(WIDE,))
    return held_against(found.tested(p, Method("jackknife-t-test", noun=noun, two_sided=True)), 0)


def _with_and_without(folded: Folded, other: ArrayLike | Folded | None, *, ranks: bool) -> tuple[float, Array]:
    """Fisher's z of the correlation, or the difference of two, with all sentences and without each, (n,)."""
    n = len(folded.judged)
    beside = other.scores if isinstance(other, Folded) else None if other is None else as_values(other, where="scores")
    if beside is not None:
        check_lengths(folded.judged, beside, where="MORCELA")

    def of(made: Array, against: Array | None, weights: Array) -> Array:
        value = _correlations(made, folded.judged, weights, ranks=ranks)
        if against is None:
            z: Array = np.arctanh(np.clip(value, -1 + 1e-12, 1 - 1e-12))
            return z
        gap: Array = value - _correlations(against, folded.judged, weights, ranks=ranks)
        return gap

    whole = of(folded.scores[None], None if beside is None else beside[None], np.ones((1, n)))
    parts, step = [], max(1, CHUNK // n)
    for start in range(0, n, step):
        stop = min(start + step, n)
        weights = np.ones((stop - start, n))
        weights[np.arange(stop - start), np.arange(start, stop)] = 0
        against = other.left_out(start, stop) if isinstance(other, Folded) else beside
        against = None if against is None else np.broadcast_to(against, weights.shape)
        parts.append(of(folded.left_out(start, stop), against, weights))
    return float(whole[0]), np.concatenate(parts)


def _correlations(made: Array, judged: Array, weights: Array, *, ranks: bool) -> Array:
    y = np.broadcast_to(judged, made.shape)
    if ranks:
        return weighted_pearson(midranks(made, weights), midranks(y, weights), weights)
    return weighted_pearson(made, y, weights)
