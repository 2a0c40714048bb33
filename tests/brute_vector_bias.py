"""RND, RNSB, MAC, ECT and RIPA by plain loops, without penchant's code."""

from __future__ import annotations

import math

import numpy as np
import scipy

from penchant.stats.inputs import Array


def cosine(u: Array, v: Array) -> float:
    return float(u @ v / math.sqrt(u @ u) / math.sqrt(v @ v))


def plain_rnd(x: Array, y: Array, a: Array) -> float:
    distances = [np.linalg.norm(x.mean(0) - w) - np.linalg.norm(y.mean(0) - w) for w in a]
    return float(np.mean(distances))


def plain_rnd_cosine(x: Array, y: Array, a: Array) -> float:
    return float(np.mean([cosine(y.mean(0), w) - cosine(x.mean(0), w) for w in a]))


def plain_mac(x: Array, y: Array, a: Array) -> float:
    return float(np.mean([[1 - cosine(t, w) for w in a] for t in [*x, *y]]))


def plain_ect(x: Array, y: Array, a: Array) -> float:
    return float(scipy.stats.spearmanr([cosine(x.mean(0), w) for w in a], [cosine(y.mean(0), w) for w in a])[0])


def plain_ripa(x: Array, y: Array, a: Array) -> float:
    return float(np.mean([w @ (t - u) / np.linalg.norm(t - u) for t in x for u in y for w in a]))


def plain_ripa_pairs(x: Array, y: Array, a: Array) -> float:
    return float(np.mean([w @ (t - u) / np.linalg.norm(t - u) for t, u in zip(x, y, strict=True) for w in a]))


def plain_rnsb(x: Array, y: Array, a: Array, b: Array) -> float:
    """The classifier by a general minimiser."""
    rows, signs = (
        np.column_stack([np.concatenate([a, b]), np.ones(len(a) + len(b))]),
        np.repeat([-1, 1], [len(a), len(b)]),
    )

    def loss(w: Array) -> float:
        return float(w @ w / 2 + np.logaddexp(0, -signs * (rows @ w)).sum())

    w = scipy.optimize.minimize(loss, np.zeros(rows.shape[1]), method="BFGS", options={"gtol": 1e-9}).x
    p = 1 / (1 + np.exp(-np.column_stack([np.concatenate([x, y]), np.ones(len(x) + len(y))]) @ w))
    return float(scipy.stats.entropy(p / p.sum(), np.full(len(p), 1 / len(p))))
