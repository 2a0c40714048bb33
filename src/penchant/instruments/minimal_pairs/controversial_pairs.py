"""Controversial pairs: those of a grammar on which two models disagree most.

People's judgements cannot distinguish two models that both find the acceptable sentence more probable; they can on
pairs where the models disagree (Golan, Raju & Kriegeskorte 2020, PNAS 117:29330; Golan, Siegelman, Kriegeskorte &
Baldassano 2023, Nature Machine Intelligence 5:952). These studies search for sentences; here pairs are chosen from many
that a grammar generates, which defines the acceptable sentence.

Scores of two models are on different scales, so a difference counts by its rank r: the share of the pool with a smaller
|Δ| under the same model. A pair on which the models prefer different sentences has the controversy min(r₁, r₂). Half of
the chosen pairs are right under either model, as far as possible: otherwise the choice would favour one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from penchant.errors import DataError
from penchant.instruments.minimal_pairs.build_pairs import WORDS, FairSet
from penchant.instruments.minimal_pairs.pair_credits import ALL
from penchant.plurals import counted
from penchant.stats.inputs import Array


def chosen_pairs(pool: Sequence[Mapping[str, Any]], differences: Mapping[str, Array], n: int) -> FairSet:
    """Choose the `n` most controversial rows of a pool in BLiMP's format, half of them right under either model.

    `differences`: score(good) − score(bad) of every row, by the names of the two models. Rows gain `differences`, by
    model, and `controversy`, from 0 to 1. The table counts the pool by paradigm. Raises DataError if the models
    disagree on no pair.
    """
    (first, a), (second, b) = differences.items()
    apart = np.sign(a) * np.sign(b) < 0
    if not apart.any():
        raise DataError(
            f"{first} and {second} prefer the same sentence in all of {counted(len(pool), 'pairs')}",
            where="controversial pairs",
            hint="try a larger --pool, other paradigms, or models that are less alike",
        )
    controversy = np.where(apart, np.minimum(_ranks(a), _ranks(b)), 0.0)
    chosen = _balanced(controversy, apart & (a > 0), apart & (b > 0), n)
    rows = [
        {**pool[i], "differences": {first: float(a[i]), second: float(b[i])}, "controversy": float(controversy[i])}
        for i in chosen
    ]
    table = pl.DataFrame(list(_outcomes(pool, differences, chosen)))
    return FairSet(rows, table, tuple(_notes(rows, first, second, n)))


def _ranks(differences: Array) -> Array:
    """Return the rank of each |Δ|: the share of the pool with a smaller one, counting equal ones by half."""
    ranks: Array = (scipy.stats.rankdata(np.abs(differences)) - 0.5) / len(differences)
    return ranks


def _balanced(controversy: Array, under_first: NDArray[np.bool_], under_second: NDArray[np.bool_], n: int) -> list[int]:
    """Return the indices of the most controversial pairs, in order: half right under either model, if possible."""
    sides = [np.flatnonzero(side) for side in (under_first, under_second)]
    sides = [side[np.argsort(-controversy[side], kind="stable")] for side in sides]
    half = n // 2
    take = min(len(sides[0]), max(n - half, n - len(sides[1])))
    return sorted(np.concatenate([sides[0][:take], sides[1][: n - take]]).tolist())


def _outcomes(
    pool: Sequence[Mapping[str, Any]], differences: Mapping[str, Array], chosen: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Yield one row per paradigm, and one for all: the pool by the models that are right, and the chosen pairs."""
    (first, a), (second, b) = differences.items()
    paradigms = np.array([row["UID"] for row in pool])
    taken = np.isin(np.arange(len(pool)), chosen)
    groups = {
        "both right": (a > 0) & (b > 0),
        f"{first} only": (a > 0) & (b < 0),
        f"{second} only": (a < 0) & (b > 0),
        "neither": (a < 0) & (b < 0),
        "ties": (a == 0) | (b == 0),
    }
    names = list(dict.fromkeys(paradigms.tolist()))
    for name in (*names, *([ALL] if len(names) > 1 else [])):
        inside = (paradigms == name) | (name == ALL)
        counts = {label: int((inside & group).sum()) for label, group in groups.items()}
        both = {f"chosen, {model}": int((inside & taken & (d > 0)).sum()) for model, d in differences.items()}
        yield {"group": name, "pool": int(inside.sum()), **counts, **both}


def _notes(rows: Sequence[Mapping[str, Any]], first: str, second: str, n: int) -> Iterator[str]:
    right = sum(row["differences"][first] > 0 for row in rows)
    if len(rows) < n:
        yield WORDS.get("few-apart", n=len(rows))
    if abs(2 * right - len(rows)) > 1:
        counts = {first: right, second: len(rows) - right}
        more, fewer = sorted(counts, key=counts.__getitem__, reverse=True)
        yield WORDS.get("unbalanced", n=counts[more], rest=counts[fewer], more=more, fewer=fewer)
    yield WORDS.get("chosen")
