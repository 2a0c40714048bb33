"""Normalisation `fitted`: log p / |S|^α, with α fitted on the other phenomena so that token length matters least."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.errors import MethodError

FITTED = "fitted"
EXPONENT = "exponent"
"""The column of the items with the exponent of each pair."""
GRID = tuple(round(0.05 * step, 2) for step in range(31))
"""The exponents that are tried, from 0 (the sum) to 1.5; 1 is the mean."""
Array = NDArray[np.float64]


def refuse_alone(paradigms: Iterable[str]) -> None:
    """Raise MethodError if there is only one paradigm, so that nothing is left to fit an exponent on."""
    names = set(paradigms)
    if len(names) < 2:
        message = f"normalisation '{FITTED}' needs pairs of two paradigms or more, but there is only {', '.join(names)}"
        raise MethodError(message, hint="choose another normalisation, or add pairs of other paradigms")


def with_exponents(items: pl.DataFrame) -> pl.DataFrame:
    """Add the exponent of each pair to scored pairs.

    It is fitted on the pairs of the other phenomena in the data set, or of the other paradigms if there is only
    one phenomenon.
    """
    parts = [
        part.with_columns(pl.Series(EXPONENT, _exponents(part), pl.Float64))
        for _, part in items.with_row_index("row").group_by("dataset", maintain_order=True)
    ]
    return pl.concat(parts).sort("row").drop("row")


def exponent_range(items: pl.DataFrame) -> str:
    """Return the range of the fitted exponents, such as "0.15 to 0.40"; "" if none was fitted."""
    found = sorted(items[EXPONENT].drop_nulls().unique()) if EXPONENT in items.columns else []
    return " to ".join(dict.fromkeys(f"{value:.2f}" for value in (*found[:1], *found[-1:])))


def _exponents(items: pl.DataFrame) -> Array:
    level = "phenomenon" if items["phenomenon"].n_unique() > 1 else "group"
    strata, of = np.unique(items["group"].to_numpy().astype(str), return_inverse=True)
    lengths = [items[f"n_tokens_{role}"].to_numpy().astype(np.float64) for role in ("good", "bad")]
    scores = [items[f"score_{role}"].to_numpy() for role in ("good", "bad")]
    sign = np.sign(lengths[0] - lengths[1])
    tables = []
    for alpha in GRID:
        good, bad = (score / n**alpha for score, n in zip(scores, lengths, strict=True))
        tables.append(split_sums((np.sign(good - bad) + 1) / 2, sign, of, len(strata)))
    folds = items[level].to_numpy().astype(str)
    fold_of = dict(zip(of.tolist(), folds.tolist(), strict=True))
    chosen = {}
    for fold in np.unique(folds):
        others = np.array([fold_of[stratum] != fold for stratum in range(len(strata))])
        chosen[fold] = GRID[int(np.argmin([length_bias(table[others]) for table in tables]))]
    return np.array([chosen[fold] for fold in folds])


def split_sums(credits: Array, sign: Array, strata: NDArray[np.intp], count: int) -> Array:
    """Return the number of pairs and their summed credit by stratum and sign of the length difference.

    The shape is (`count` strata, 3 signs, 2).
    """
    place = strata * 3 + sign.astype(np.intp) + 1
    sums = [np.bincount(place, weights, 3 * count).astype(np.float64) for weights in (np.ones(len(place)), credits)]
    return np.stack(sums, axis=1).reshape(count, 3, 2)


def length_bias(table: Array) -> float:
    """Return the sum of absolute accuracy gaps from A=U to A<U and to A>U, pooled over strata (Mantel–Haenszel).

    A and U are the token counts of the good and the bad sentence; `table` is an array returned by `split_sums`.
    """
    total = 0.0
    for split in (0, 2):
        n, equal = table[:, split, 0], table[:, 1, 0]
        both = (n > 0) & (equal > 0)
        weights = n[both] * equal[both] / (n[both] + equal[both])
        gaps = table[both, split, 1] / n[both] - table[both, 1, 1] / equal[both]
        total += abs(float((weights * gaps).sum() / weights.sum())) if both.any() else 0.0
    return total
