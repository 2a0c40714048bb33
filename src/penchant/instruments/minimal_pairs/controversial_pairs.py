"""Controversial pairs: those of a grammar on which two models disagree most.

Where two models both find the acceptable sentence more probable, people's judgements cannot tell them apart. Pairs on
which they disagree can (Golan, Raju & Kriegeskorte 2020, PNAS 117:29330; Golan, Siegelman, Kriegeskorte & Baldassano
2023, Nature Machine Intelligence 5:952). There sentences are searched for; here pairs are chosen from many that a
grammar generates, of which it says which sentence is acceptable, so that people can decide.

Scores of two models are on different scales. So a difference counts by its rank among those of its model: |Δ| of a pair
is larger than that of a share r of the pool, and a pair on which the models prefer different sentences is as
controversial as the less certain of them, min(r₁, r₂). Half of those chosen are right under either model, as far as
there are such pairs: otherwise the choice would favour one.
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
from penchant.instruments.minimal_pairs.credits import ALL
from penchant.plurals import counted
from penchant.stats.inputs import Array


def chosen_pairs(pool: Sequence[Mapping[str, Any]], differences: Mapping[str, Array], n: int) -> FairSet:
    """The `n` most controversial of a pool of rows in BLiMP's format, half of them right under either model.

    `differences`: of each of two models, by name, score(good) − score(bad) of every row. Rows gain `differences`, by
    model, and `controversy`, from 0 to 1. The table counts the pool by paradigm. Raises DataError where the models
    disagree on no pair.
    """
    (first, a), (second, b) = differences.items()
    apart = np.sign(a) * np.sign(b) < 0
    if not apart.any():
        raise DataError(
            f"{first} and {second} prefer the same sentence in all of {counted(len(pool), 'pairs')}",
            where="controversial pairs",
            hint="try more with --pool, other paradigms, or models that differ more",
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
    """The share of the pool whose difference is smaller, or as small for half of those, of each |Δ|."""
    ranks: Array = (scipy.stats.rankdata(np.abs(differences)) - 0.5) / len(differences)
    return ranks


def _balanced(controversy: Array, under_first: NDArray[np.bool_], under_second: NDArray[np.bool_], n: int) -> list[int]:
    """The numbers of the most controversial pairs, in their order: half right under either model, if possible."""
    sides = [np.flatnonzero(side) for side in (under_first, under_second)]
    sides = [side[np.argsort(-controversy[side], kind="stable")] for side in sides]
    half = n // 2
    take = min(len(sides[0]), max(n - half, n - len(sides[1])))
    return sorted(np.concatenate([sides[0][:take], sides[1][: n - take]]).tolist())


def _outcomes(
    pool: Sequence[Mapping[str, Any]], differences: Mapping[str, Array], chosen: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """One row a paradigm, and one of all: the pool by which model is right, and what was chosen."""
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
        yield {"paradigm": name, "pool": int(inside.sum()), **counts, **both}


def _notes(rows: Sequence[Mapping[str, Any]], first: str, second: str, n: int) -> Iterator[str]:
    right = sum(row["differences"][first] > 0 for row in rows)
    if len(rows) < n:
        yield WORDS.get("few-apart", n=len(rows))
    if abs(2 * right - len(rows)) > 1:
        counts = {first: right, second: len(rows) - right}
        more, fewer = sorted(counts, key=counts.__getitem__, reverse=True)
        yield WORDS.get("unbalanced", n=counts[more], rest=counts[fewer], more=more, fewer=fewer)
    yield WORDS.get("chosen")
