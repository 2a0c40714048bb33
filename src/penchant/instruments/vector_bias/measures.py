"""The five measures of targets X and Y and attributes A and B, for many resamples of the words at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from penchant.errors import MethodError
from penchant.stats.association import unit
from penchant.stats.bootstrap import resample_counts
from penchant.stats.inputs import Array

Measure: TypeAlias = Literal["rnd", "rnsb", "mac", "ect", "ripa"]
Distance: TypeAlias = Literal["euclid", "cosine"]
FIRST, SECOND, UNION, AGAINST = "A", "B", "A and B", "B against A"
"""Sets of attributes: one set, both together, or the two classes that RNSB's classifier distinguishes."""
_ELEMENTS = 4_000_000
"""Largest number of array elements in memory at once."""
_STEPS = 100
_TOLERANCE = 1e-9
"""Largest entry of the gradient at which a fit has converged."""
Places: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class SetVectors:
    """The vectors of a category's words, shape (n, d) for each of the four sets.

    If `pairs`, X and Y have the two words of a pair at the same index. `trained` has the indices in A and in B of the
    attributes that RNSB's classifier is trained on, or is None if it is trained on all.
    """

    x: Array
    y: Array
    a: Array
    b: Array
    pairs: bool = False
    trained: tuple[Places, Places] | None = None

    @property
    def sets(self) -> tuple[Array, Array, Array, Array]:
        """The four sets X, Y, A and B."""
        return self.x, self.y, self.a, self.b

    @property
    def targets(self) -> Array:
        """The targets: X, then Y."""
        return np.concatenate([self.x, self.y])

    @property
    def attributes(self) -> Array:
        """The attributes: A, then B."""
        return np.concatenate([self.a, self.b])


@dataclass(frozen=True, slots=True)
class DrawCounts:
    """Number of times each word is drawn in R resamples, shape (R, n) for each of the four sets."""

    x: Array
    y: Array
    a: Array
    b: Array

    @classmethod
    def once(cls, vectors: SetVectors) -> DrawCounts:
        """Return the counts that give the observed values: every word once."""
        return cls(*(np.ones((1, len(part))) for part in vectors.sets))

    @classmethod
    def drawn(cls, vectors: SetVectors, resamples: int, seeds: Sequence[Sequence[int]]) -> DrawCounts:
        """Resample words within each set with replacement, with a seed for each set; pairs are drawn whole."""
        x, y, a, b = (
            resample_counts(np.ones(len(part), dtype=np.intp), resamples, np.random.default_rng(seed)).astype(float)
            for part, seed in zip(vectors.sets, seeds, strict=True)
        )
        return cls(x, x if vectors.pairs else y, a, b)

    def blocks(self, elements: int) -> Iterator[DrawCounts]:
        """Yield the resamples in blocks that need little memory; a resample has `elements` array elements."""
        step = max(1, _ELEMENTS // elements)
        for start in range(0, len(self.x), step):
            yield DrawCounts(*(part[start : start + step] for part in (self.x, self.y, self.a, self.b)))


def _shares(counts: Array) -> Array:
    shares: Array = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _by_attributes(values: Array, counts: DrawCounts) -> dict[str, Array]:
    n = counts.a.shape[1]
    both = np.concatenate([counts.a, counts.b], axis=1)
    parts = {FIRST: (values[:, :n], counts.a), SECOND: (values[:, n:], counts.b), UNION: (values, both)}
    return {name: (part * _shares(weights)).sum(axis=1) for name, (part, weights) in parts.items()}


def joined(blocks: Iterable[Mapping[str, Array]]) -> dict[str, Array]:
    """Concatenate the values of blocks, by set of attributes."""
    parts = list(blocks)
    return {name: np.concatenate([part[name] for part in parts]) for name in (FIRST, SECOND, UNION)}


# RND ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Distances:
    """Distances of attributes to means of targets, from inner products.

    `among`, shape (t, t), has the products of targets with each other; `products`, shape (t, a), has those of targets
    with attributes. `squares`, shape (a,), has the squared lengths of attributes.
    """

    among: Array
    products: Array
    squares: Array

    @classmethod
    def of(cls, targets: Array, attributes: Array) -> Distances:
        """Compute the inner products from vectors."""
        return cls(targets @ targets.T, targets @ attributes.T, (attributes**2).sum(axis=1))

    def to_mean(self, shares: Array, distance: Distance) -> Array:
        """Return the distance of every attribute to R weighted means of targets, shape (R, a)."""
        products = shares @ self.products
        lengths = np.einsum("rt,rt->r", shares @ self.among, shares)[:, None]
        if distance == "euclid":
            apart: Array = np.sqrt(np.maximum(lengths + self.squares - 2 * products, 0))
            return apart
        with np.errstate(divide="ignore", invalid="ignore"):
            cosine: Array = 1 - products / np.sqrt(lengths * self.squares)
        return cosine

    def differences(self, x: Array, y: Array, distance: Distance) -> Array:
        """Return ‖mean X − a‖ − ‖mean Y − a‖ of every attribute, shape (R, a), from the targets' weights."""
        gap: Array = self.to_mean(x, distance) - self.to_mean(y, distance)
        return gap


def beside(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the weights of all targets in the means of X and of Y, from the counts of each word."""
    return np.column_stack([_shares(x), np.zeros_like(y)]), np.column_stack([np.zeros_like(x), _shares(y)])


def rnd(vectors: SetVectors, counts: DrawCounts, distance: Distance) -> dict[str, Array]:
    """Return the relative norm distance (Garg et al. 2018).

    This is the mean over attributes of ‖mean X − a‖ − ‖mean Y − a‖, or of the difference of the cosine distances. Below
    0, the attributes lie nearer to X.
    """
    distances = Distances.of(vectors.targets, vectors.attributes)

    def of_block(block: DrawCounts) -> dict[str, Array]:
        return _by_attributes(distances.differences(*beside(block.x, block.y), distance), block)

    return joined(map(of_block, counts.blocks(len(distances.squares))))


# MAC ----------------------------------------------------------------------------------------------------------------


def mac(vectors: SetVectors, counts: DrawCounts) -> dict[str, Array]:
    """Return the mean average cosine distance to attributes (Manzini et al. 2019).

    The value of both sets together is the mean of the values of A and B.
    """
    cosines = unit(vectors.targets) @ unit(vectors.attributes).T

    def of_block(block: DrawCounts) -> dict[str, Array]:
        return _by_attributes(1 - _shares(np.concatenate([block.x, block.y], axis=1)) @ cosines, block)

    values = joined(map(of_block, counts.blocks(cosines.shape[1])))
    return {**values, UNION: (values[FIRST] + values[SECOND]) / 2}


# ECT ----------------------------------------------------------------------------------------------------------------


def similarities(vectors: SetVectors) -> tuple[Array, Array]:
    """Return the cosines of all attributes with the mean of X and with the mean of Y; they are NaN for a mean of 0."""
    means, both = (part.mean(axis=0) for part in (vectors.x, vectors.y)), unit(vectors.attributes)
    with np.errstate(invalid="ignore"):
        x, y = (both @ (mean / np.linalg.norm(mean)) for mean in means)
    return x, y


def parts_of(values: Array, vectors: SetVectors) -> dict[str, Array]:
    """Return values for all attributes (A before B in the last axis) by set: A, B and their union."""
    n = len(vectors.a)
    return {FIRST: values[..., :n], SECOND: values[..., n:], UNION: values}


def spearman(first: Array, second: Array) -> Array:
    """Return Spearman's ρ along the last axis, with mean ranks for ties, or NaN if all values are tied."""
    ranks = [scipy.stats.rankdata(part, axis=-1) for part in (first, second)]
    one, other = (part - part.mean(axis=-1, keepdims=True) for part in ranks)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho: Array = (one * other).sum(axis=-1) / np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    return rho


def ect(vectors: SetVectors, counts: DrawCounts) -> dict[str, Array]:
    """Return the embedding coherence test (Dev & Phillips 2019).

    This is Spearman's ρ, over attributes, of their cosines with the mean of X and with the mean of Y. Targets are not
    resampled, whatever the counts.
    """
    both = np.concatenate([counts.a, counts.b], axis=1)
    weights = {FIRST: counts.a, SECOND: counts.b, UNION: both}
    x, y = (parts_of(part, vectors) for part in similarities(vectors))
    return {name: _resampled_spearman(x[name], y[name], weights[name]) for name in weights}


def _resampled_spearman(first: Array, second: Array, counts: Array) -> Array:
    """Return ρ in each of R resamples, in which each of the n entries occurs `counts` times, shape (R, n)."""
    parts = []
    step = max(1, _ELEMENTS // len(first))
    for start in range(0, len(counts), step):
        block = counts[start : start + step].astype(np.intp)
        places = np.repeat(np.tile(np.arange(len(first)), len(block)), block.ravel()).reshape(len(block), -1)
        parts.append(spearman(first[places], second[places]))
    return np.concatenate(parts)


# RIPA ---------------------------------------------------------------------------------------------------------------


def relations(vectors: SetVectors) -> Array:
    """Return (x − y)/‖x − y‖, or 0 if x = y: shape (n, d) for pairs, or (x, y, d) for every x with every y."""
    gaps = vectors.x - vectors.y if vectors.pairs else vectors.x[:, None] - vectors.y
    lengths = np.linalg.norm(gaps, axis=-1, keepdims=True)
    directions: Array = np.divide(gaps, lengths, out=np.zeros_like(gaps), where=lengths > 0)
    return directions


def ripa(vectors: SetVectors, counts: DrawCounts) -> dict[str, Array]:
    """Return the relational inner product association (Ethayarajh et al. 2019).

    This is the mean over pairs of targets and over attributes of ⟨a, (x − y)/‖x − y‖⟩. Above 0, the attributes lie on
    the side of X.
    """
    table = relations(vectors) @ vectors.attributes.T  # (n, a), or (x, y, a)

    def of_block(block: DrawCounts) -> dict[str, Array]:
        if vectors.pairs:
            return _by_attributes(_shares(block.x) @ table, block)
        return {name: _of_all(block, mean) for name, mean in _over_attributes(table, block)}

    return joined(map(of_block, counts.blocks(max(table.shape[-1], table[..., 0].size))))


def _over_attributes(table: Array, block: DrawCounts) -> Iterator[tuple[str, Array]]:
    n = block.a.shape[1]
    both = np.concatenate([block.a, block.b], axis=1)
    for name, part, weights in (
        (FIRST, table[..., :n], block.a),
        (SECOND, table[..., n:], block.b),
        (UNION, table, both),
    ):
        yield name, np.tensordot(_shares(weights), part, axes=(1, -1))


def _of_all(block: DrawCounts, means: Array) -> Array:
    of_all: Array = np.einsum("rx,rxy,ry->r", _shares(block.x), means, _shares(block.y), optimize=True)
    return of_all


# RNSB ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Space:
    """Training rows and rows to classify by an L2-penalised logistic regression.

    Both are expressed in the span of the training rows. A fit minimises ½(|w|² + b²) + Σᵢ cᵢ log(1 + exp(−yᵢ(w·xᵢ +
    b))), the objective of scikit-learn's liblinear solver with C = 1: the intercept b is penalised like the other
    weights.
    """

    learned: Array
    classified: Array

    @classmethod
    def of(cls, learned: Array, classified: Array) -> Space:
        """Build the space from vectors, shapes (n, d) and (m, d), each with the constant 1 as one more coordinate."""
        rows, others = (np.column_stack([part, np.ones(len(part))]) for part in (learned, classified))
        u, size, axes = np.linalg.svd(rows, full_matrices=False)
        return cls(u * size, others @ axes.T)

    def probabilities(self, labels: Array, counts: Array) -> Array:
        """Return P(second class) of every classified row, shape (R, m), after R fits to rows with `labels` 0 or 1.

        `counts` has the weights of the rows; like `labels`, it has shape (R, n). Raises MethodError for a fit that does
        not converge.
        """
        step = max(1, _ELEMENTS // (self.learned.shape[1] * sum(self.learned.shape)))
        parts = [
            _sigmoid(_fit(self.learned, labels[i : i + step], counts[i : i + step]) @ self.classified.T)
            for i in range(0, len(labels), step)
        ]
        return np.concatenate(parts)


def _sigmoid(values: Array) -> Array:
    probabilities: Array = 0.5 * (1 + np.tanh(values / 2))  # without overflow
    return probabilities


def _fit(rows: Array, labels: Array, counts: Array) -> Array:
    """Return the weights of R fits, shape (R, k), by Newton's method; steps are halved until the objective falls."""
    weights = np.zeros((len(labels), rows.shape[1]))
    loss = _loss(rows, labels, counts, weights)
    for _ in range(_STEPS):
        p = _sigmoid(weights @ rows.T)
        gradient = weights + (counts * (p - labels)) @ rows
        if np.abs(gradient).max() < _TOLERANCE:
            return weights
        spread = counts * p * (1 - p)
        curvature = np.matmul(rows.T * spread[:, None, :], rows) + np.eye(rows.shape[1])
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        falls = (gradient * step).sum(axis=1)
        size = np.ones(len(weights))
        for _ in range(_STEPS):
            tried = weights - size[:, None] * step
            new = _loss(rows, labels, counts, tried)
            much = new > loss - 1e-4 * size * falls + 1e-12 * np.abs(loss)
            if not much.any():
                break
            size[much] /= 2
        weights, loss = tried, new
    raise MethodError(
        "the classifier of RNSB does not converge", hint="check that the vectors are finite and not very large"
    )


def _loss(rows: Array, labels: Array, counts: Array, weights: Array) -> Array:
    margin = (2 * labels - 1) * (weights @ rows.T)
    loss: Array = (weights**2).sum(axis=1) / 2 + (counts * np.logaddexp(0, -margin)).sum(axis=1)
    return loss


def divergence(probabilities: Array, weights: Array) -> Array:
    """Return the Kullback–Leibler divergence, in nats, of probabilities from equal ones, in each of R resamples.

    `probabilities` are weighted by `weights`, shape (R, m) both, and scaled to sum to 1.
    """
    n = weights.sum(axis=1, keepdims=True)
    scaled = probabilities / (weights * probabilities).sum(axis=1, keepdims=True)
    kl: Array = (weights * scipy.special.xlogy(scaled, scaled * n)).sum(axis=1)
    return np.maximum(kl, 0)


def rnsb(vectors: SetVectors, counts: DrawCounts) -> Array:
    """Return the relative negative sentiment bias (Sweeney & Najafian 2019) in each of R resamples.

    A classifier learns to distinguish B from A. The bias is the Kullback–Leibler divergence of the targets' predicted
    P(B), scaled to sum to 1, from the uniform distribution.
    """
    chosen, labels, space = learning(vectors)
    drawn = np.concatenate([counts.a, counts.b], axis=1)[:, chosen]
    probabilities = space.probabilities(np.broadcast_to(labels, drawn.shape), drawn)
    return divergence(probabilities, np.concatenate([counts.x, counts.y], axis=1))


def learning(vectors: SetVectors) -> tuple[Places, Array, Space]:
    """Return the indices of the attributes to train on, their labels (0 for A, 1 for B), and the space of the fits."""
    n, m = len(vectors.a), len(vectors.b)
    first, second = (np.arange(n), np.arange(m)) if vectors.trained is None else vectors.trained
    chosen = np.concatenate([first, second + n])
    labels = np.repeat([0.0, 1.0], [len(first), len(second)])
    return chosen, labels, Space.of(vectors.attributes[chosen], vectors.targets)


def values(vectors: SetVectors, counts: DrawCounts, measure: Measure, distance: Distance) -> Mapping[str, Array]:
    """Return the value of a measure in each of R resamples, shape (R,), by set of attributes."""
    if measure == "rnsb":
        return {AGAINST: rnsb(vectors, counts)}
    if measure == "rnd":
        return rnd(vectors, counts, distance)
    return {"mac": mac, "ect": ect, "ripa": ripa}[measure](vectors, counts)
