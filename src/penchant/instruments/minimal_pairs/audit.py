"""Token-length audit: the numbers of tokens of both sentences of minimal pairs, by tokenizer. No weights are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.minimal_pairs.data import PairSet
from penchant.instruments.minimal_pairs.estimates import ALL
from penchant.instruments.minimal_pairs.probe import collection
from penchant.models.tokenizer import Tokenizer
from penchant.stats.intervals import accuracy


def audit(pair_sets: Sequence[PairSet], tokenizers: Iterable[tuple[str, Tokenizer]]) -> pl.DataFrame:
    """Numbers of pairs with A=U, A>U and A<U, the tokens of the acceptable and the unacceptable sentence.

    Special tokens are left out. There is one row per model and paradigm, then one per data set (paradigm "all"): pairs,
    the three counts, the share of unequal pairs with its Wilson interval, and the mean of |A|−|U|. Source: Ueda et al.
    2024, "Datasets Split".
    """
    rows = []
    for name, tokenizer in tokenizers:
        for data_set, members in _by_collection(pair_sets).items():
            items = [item for pairs in members for item in pairs.items]
            a = np.array(tokenizer.count([item.texts["good"] for item in items]))
            u = np.array(tokenizer.count([item.texts["bad"] for item in items]))
            paradigms = np.array([item.labels["paradigm"] for item in items])
            for paradigm in dict.fromkeys(paradigms.tolist()):
                inside = paradigms == paradigm
                rows.append(_row(name, data_set, paradigm, (a - u)[inside]))
            rows.append(_row(name, data_set, ALL, a - u))
    return pl.DataFrame(rows)


def _by_collection(pair_sets: Sequence[PairSet]) -> dict[str, list[PairSet]]:
    collections: dict[str, list[PairSet]] = {}
    for pairs in pair_sets:
        collections.setdefault(collection(pairs), []).append(pairs)
    return collections


def _row(model: str, data_set: str, paradigm: str, difference: NDArray[np.int64]) -> dict[str, str | int | float]:
    unequal = accuracy((difference != 0).astype(np.float64))
    return {
        "model": model,
        "dataset": data_set,
        "paradigm": paradigm,
        "pairs": len(difference),
        "A=U": int((difference == 0).sum()),
        "A>U": int((difference > 0).sum()),
        "A<U": int((difference < 0).sum()),
        "unequal": unequal.value,
        "unequal_low": unequal.low,
        "unequal_high": unequal.high,
        "mean_difference": float(difference.mean()),
    }
