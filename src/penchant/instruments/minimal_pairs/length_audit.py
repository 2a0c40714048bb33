"""Token-length audit of minimal pairs: token counts of both sentences, by tokenizer. No model weights are loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.call_checks import asked, kind
from penchant.errors import DataError, MethodError, ModelError
from penchant.instruments.minimal_pairs.data import AS_NAMED, PairSet, whole
from penchant.instruments.minimal_pairs.pair_credits import ALL
from penchant.instruments.minimal_pairs.probe import MinimalPairs, collection
from penchant.instruments.unknown_tokens import unknown_part
from penchant.models.load import LanguageModel, Model, load_tokenizer
from penchant.models.tokenizer import Tokenizer
from penchant.stats.intervals import accuracy

MODELS = "give models or names of models; only their tokenizers are used"
COLUMNS = "pass columns= to read_pairs(), or pass the table itself to audit()"


@asked
def audit(
    models: Model | str | Path | Iterable[Model | str | Path | tuple[str, Tokenizer]],
    data: Sequence[PairSet] | str | Path | Any,
    columns: Mapping[Any, str] = AS_NAMED,
) -> pl.DataFrame:
    """Count the pairs with A=U, A>U and A<U, for token counts A of the acceptable and U of the unacceptable sentence.

    `models` are models or their names, of which only the tokenizers are used; `data` are pairs returned by
    `read_pairs`, or data as accepted by `MinimalPairs`. `columns` maps fields to the columns of a plain table, as in
    `read_pairs`. Special tokens are not counted. Returns one row per model and group, followed by one per data set
    (group "all"): number of pairs, the three counts, the proportion of unequal pairs with its Wilson interval, the mean
    of |A|−|U|, and the number of pairs with text `unknown` to the tokenizer, whose lengths are unreliable because a
    whole word may become one token. The `cautions` of a `PairSet` report defects of the pairs themselves. Source: Ueda
    et al. 2024, "Datasets Split".
    """
    rows = []
    sets = _pair_sets(data, columns)
    if not sets:
        raise DataError("no pairs were given", where="audit()", hint="give pairs or the names of their files")
    for name, tokenizer in _tokenizers(models):
        for data_set, members in _by_collection(sets).items():
            items = [item for pairs in members for item in pairs.items]
            a, good_unknown = _lengths(tokenizer, [whole(item, "good") for item in items])
            u, bad_unknown = _lengths(tokenizer, [whole(item, "bad") for item in items])
            unknown = good_unknown | bad_unknown
            paradigms = np.array([item.labels["group"] for item in items])
            for paradigm in dict.fromkeys(paradigms.tolist()):
                inside = paradigms == paradigm
                rows.append(_row(name, data_set, paradigm, (a - u)[inside], unknown[inside]))
            rows.append(_row(name, data_set, ALL, a - u, unknown))
    if not rows:
        raise ModelError("no tokenizer was given", where="audit()", hint=MODELS)
    return pl.DataFrame(rows)


def _pair_sets(pairs_or_data: Any, columns: Mapping[Any, str]) -> Sequence[PairSet]:
    several = [pairs_or_data] if isinstance(pairs_or_data, PairSet) else pairs_or_data
    if not (isinstance(several, Sequence) and all(isinstance(pairs, PairSet) for pairs in several)):
        return MinimalPairs(data=pairs_or_data, columns=columns).pair_sets()
    if columns:
        message = "columns does not apply to pairs from read_pairs"
        raise MethodError(message, where="audit(), columns", hint=COLUMNS)
    return several


def _tokenizers(models: Any) -> Iterator[tuple[str, Tokenizer]]:
    pair = isinstance(models, tuple) and len(models) == 2 and isinstance(models[1], Tokenizer)
    alone = pair or isinstance(models, LanguageModel | str | Path) or not isinstance(models, Iterable)
    for each in [models] if alone else models:
        if isinstance(each, LanguageModel):
            yield each.name, each.tokenizer
        elif isinstance(each, str | Path):
            yield load_tokenizer(each)
        elif isinstance(each, tuple) and len(each) == 2 and isinstance(each[1], Tokenizer):
            yield each
        else:
            raise ModelError(f"{kind(each)} is not a model", where="audit()", hint=MODELS)


def _by_collection(pair_sets: Sequence[PairSet]) -> dict[str, list[PairSet]]:
    collections: dict[str, list[PairSet]] = {}
    for pairs in pair_sets:
        collections.setdefault(collection(pairs), []).append(pairs)
    return collections


def _lengths(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the number of tokens of each text, and a mask of texts that are partly unknown to the tokenizer."""
    encodings = tokenizer.encode(texts)
    unknown = [bool(unknown_part(tokenizer, text, e)) for text, e in zip(texts, encodings, strict=True)]
    return np.array([len(encoding) for encoding in encodings]), np.array(unknown)


def _row(
    model: str, data_set: str, paradigm: str, difference: NDArray[np.int64], unknown: NDArray[np.bool_]
) -> dict[str, str | int | float]:
    unequal = accuracy((difference != 0).astype(np.float64))
    return {
        "model": model,
        "dataset": data_set,
        "group": paradigm,
        "pairs": len(difference),
        "A=U": int((difference == 0).sum()),
        "A>U": int((difference > 0).sum()),
        "A<U": int((difference < 0).sum()),
        "unequal": unequal.value,
        "unequal_low": unequal.low,
        "unequal_high": unequal.high,
        "mean_difference": float(difference.mean()),
        "unknown": int(unknown.sum()),
    }
