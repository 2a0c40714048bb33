"""Permutation tests: exchange of targets between X and Y, and of labels between A and B."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from penchant.instruments.vector_bias.measures import (
    AGAINST,
    Distance,
    Distances,
    Measure,
    SetVectors,
    divergence,
    joined,
    learning,
    parts_of,
    relations,
    spearman,
)
from penchant.records import Test
from penchant.stats.hypothesis_tests import sign_flip
from penchant.stats.inputs import Array
from penchant.wording.phrases import Method

EXACT = 20_000
"""Largest number of partitions that are enumerated."""
_TOLERANCE = 1e-12
_ELEMENTS = 4_000_000


@dataclass(frozen=True, slots=True)
class Partitions:
    """P partitions of n + m words into sets of n and m: `first`, of shape (P, n + m), is 1 for words of the first set.

    `exact` is true if these are all the possible partitions, the observed one included.
    """

    first: Array
    exact: bool

    @classmethod
    def of(cls, n: int, m: int, *, draws: int, seed: int, exact: int = EXACT) -> Partitions:
        """Return all partitions if there are at most `exact`, else `draws` random ones."""
        total = math.comb(n + m, n)
        if total <= exact:
            chosen = np.array(list(combinations(range(n + m), n)))
        else:
            rng = np.random.default_rng([seed, 19])
            chosen = rng.random((draws, n + m)).argpartition(n - 1, axis=1)[:, :n]
        first = np.zeros((len(chosen), n + m))
        np.put_along_axis(first, chosen, 1.0, axis=1)
        return cls(first, total <= exact)

    def blocks(self, width: int) -> Iterator[Array]:
        """Yield the partitions in blocks of limited memory; `width` is the number of columns of the results."""
        step = max(1, _ELEMENTS // width)
        for start in range(0, len(self.first), step):
            yield self.first[start : start + step]

    def p(self, observed: float, permuted: Array, *, tail: str) -> float:
        """Return the share of partitions that are at least as extreme as the observed one.

        `tail` is `both` (distance from the mean), `low` or `high`. The observed partition is added to random ones
        (Phipson & Smyth 2010). NaN if a value is missing.
        """
        if math.isnan(observed) or np.isnan(permuted).any():
            return math.nan
        every = permuted if self.exact else np.append(permuted, observed)
        centre = every.mean()
        slack = _TOLERANCE * max(1.0, float(np.abs(every).max()))
        far, bound = {
            "both": (np.abs(every - centre), abs(observed - centre)),
            "low": (-every, -observed),
            "high": (every, observed),
        }[tail]
        return float((far >= bound - slack).mean())

    def method(self, noun: str, tail: str) -> Method:
        """Return the description of the test; `noun` is the plural of what is permuted, `tail` the tail giving p."""
        code = "vector_bias.permutation-exact" if self.exact else "vector_bias.permutation-random"
        side = {"two_sided": True} if tail == "both" else {"tail": tail}
        return Method(code, noun=noun, partitions=len(self.first), **side)


def exchanged(
    vectors: SetVectors,
    observed: Mapping[str, float],
    measure: Measure,
    distance: Distance,
    *,
    draws: int,
    refits: int,
    seed: int,
) -> dict[str, Test | None]:
    """Return the permutation test of a measure (None for MAC, which has no null hypothesis), by set of attributes.

    RND and RIPA exchange words between X and Y, RIPA only within pairs if the words are paired; both are two-sided. ECT
    exchanges the same words, with the lower tail, because its largest value, 1, means no bias. RNSB exchanges labels
    between A and B, with the upper tail, because its smallest value, 0, means no bias. If there are too many exchanges
    to try all, `draws` random ones are tried (for RNSB, `refits`).
    """
    if measure == "mac":
        return dict.fromkeys(observed)
    if measure == "rnsb":
        return {AGAINST: _labels(vectors, observed[AGAINST], refits, seed)}
    if measure == "ripa" and vectors.pairs:
        return _within_pairs(vectors, draws, seed)
    partitions = Partitions.of(len(vectors.x), len(vectors.y), draws=draws, seed=seed)
    tail = "low" if measure == "ect" else "both"
    permuted = {"rnd": _rnd, "ect": _ect, "ripa": _ripa}[measure](vectors, partitions, distance)
    method = partitions.method("targets", tail)
    return {part: Test(partitions.p(observed[part], permuted[part], tail=tail), method) for part in observed}


def _rnd(vectors: SetVectors, partitions: Partitions, distance: Distance) -> dict[str, Array]:
    distances = Distances.of(vectors.targets, vectors.attributes)
    return joined(
        {name: part.mean(axis=1) for name, part in parts_of(_gaps(distances, first, distance), vectors).items()}
        for first in partitions.blocks(len(distances.squares))
    )


def _gaps(distances: Distances, first: Array, distance: Distance) -> Array:
    n = first[0].sum()
    return distances.differences(first / n, (1 - first) / (first.shape[1] - n), distance)


def _ect(vectors: SetVectors, partitions: Partitions, distance: Distance) -> dict[str, Array]:
    """Return ρ of cosine distances, which equals ρ of cosines, in each partition; `distance` is unused."""
    distances = Distances.of(vectors.targets, vectors.attributes)
    blocks = []
    for first in partitions.blocks(len(distances.squares)):
        one, other = (parts_of(distances.to_mean(side, "cosine"), vectors) for side in (first, 1 - first))
        blocks.append({name: spearman(one[name], other[name]) for name in one})
    return joined(blocks)


def _ripa(vectors: SetVectors, partitions: Partitions, distance: Distance) -> dict[str, Array]:
    """Return RIPA, the mean over all pairs, in each partition; `distance` is unused.

    The relation of two words is antisymmetric, so that the sum over pairs of words of the two sets is the sum over
    pairs of a word of the first set and any other word.
    """
    both = vectors.targets
    every = relations(SetVectors(both, both, vectors.a, vectors.b)).sum(axis=1) @ vectors.attributes.T  # (t, a)
    pairs = len(vectors.x) * len(vectors.y)
    return {name: partitions.first @ part.mean(axis=1) / pairs for name, part in parts_of(every, vectors).items()}


def _within_pairs(vectors: SetVectors, draws: int, seed: int) -> dict[str, Test | None]:
    table = relations(vectors) @ vectors.attributes.T  # (n, a)
    method = Method("vector_bias.sign-flip", pairs=len(table))
    return {
        part: Test(sign_flip(columns.mean(axis=1), seed=seed, draws=draws), method)
        for part, columns in parts_of(table, vectors).items()
    }


def _labels(vectors: SetVectors, observed: float, refits: int, seed: int) -> Test:
    chosen, labels, space = learning(vectors)
    second = int(labels.sum())
    partitions = Partitions.of(len(labels) - second, second, draws=refits, seed=seed, exact=refits)
    probabilities = space.probabilities(1 - partitions.first, np.ones((len(partitions.first), len(chosen))))
    permuted = divergence(probabilities, np.ones_like(probabilities))
    return Test(partitions.p(observed, permuted, tail="high"), partitions.method("the labels of attributes", "high"))
