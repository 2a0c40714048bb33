"""Association tests done plainly: sets written to files, vectors of one text at a time, numbers by loops."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from transformers import AutoModel, AutoTokenizer

import penchant as pc

Vectors = NDArray[np.float64]
Span = tuple[int, int]


# Sets ---------------------------------------------------------------------------------------------------------------


def write_set(
    folder: Path, lists: Mapping[str, object], categories: Mapping[str, str | dict[str, Any]], **more: Any
) -> str:
    """A directory with set.yaml (JSON is YAML). A list is its words, or all of its entry; a category in short is
    "flowers insects pleasant unpleasant"."""
    folder.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {
        "lists": {name: own if isinstance(own, dict) else {"words": own} for name, own in lists.items()},
        "categories": {
            name: dict(zip("XYAB", own.split(), strict=True)) if isinstance(own, str) else own
            for name, own in categories.items()
        },
        **more,
    }
    (folder / "set.yaml").write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    return str(folder)


def language_model(directory: Path) -> pc.LanguageModel:
    model = pc.load(directory)
    assert isinstance(model, pc.LanguageModel)
    return model


# Vectors ------------------------------------------------------------------------------------------------------------


@cache
def plain(directory: Path) -> tuple[Any, Any]:
    return AutoModel.from_pretrained(directory).eval(), AutoTokenizer.from_pretrained(directory)


@cache
def states(directory: Path, text: str, causal: bool = False) -> tuple[Vectors, list[Span], int]:
    """Of one text and one pass every layer at every position (positions, layers, d), the characters of each token of
    the text, and how many positions stand before it."""
    model, tokenizer = plain(directory)
    own = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    if causal:
        begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        ids = [begin, *own["input_ids"]]
    else:
        ids = tokenizer(text)["input_ids"]
    before = next(i for i in range(len(ids)) if ids[i : i + len(own["input_ids"])] == own["input_ids"])
    with torch.no_grad():
        found = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    return torch.stack(found, dim=2)[0].double().numpy(), own["offset_mapping"], before


def word_vector(directory: Path, text: str, span: Span, layer: int = -1, causal: bool = False) -> Vectors:
    """The mean over the tokens that hold a character of the span."""
    found, offsets, before = states(directory, text, causal)
    held = [before + i for i, (start, end) in enumerate(offsets) if start < span[1] and end > span[0]]
    mean: Vectors = np.mean([found[at, layer] for at in held], axis=0)
    return mean


# Numbers ------------------------------------------------------------------------------------------------------------


def cosine(a: ArrayLike, b: ArrayLike) -> float:
    one, two = (np.asarray(v, dtype=np.float64) for v in (a, b))
    return float(one @ two) / math.sqrt(float(one @ one) * float(two @ two))


def association(word: ArrayLike, a: Sequence[ArrayLike], b: Sequence[ArrayLike]) -> float:
    """s(w, A, B)."""
    return fmean(cosine(word, other) for other in a) - fmean(cosine(word, other) for other in b)


def sd(values: Sequence[float], ddof: int = 1) -> float:
    centre = fmean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - ddof))


def effect_size(x: Sequence[float], y: Sequence[float], ddof: int = 1) -> float:
    return (fmean(x) - fmean(y)) / sd([*x, *y], ddof)


def p_values(x: Sequence[float], y: Sequence[float], *, welch: bool = False) -> tuple[float, float]:
    """Two-sided and upper p of Σx − Σy, or of Welch's t, over all partitions into parts of the same sizes."""
    both = np.array([*x, *y])

    def statistic(chosen: Sequence[int]) -> float:
        one, other = both[list(chosen)], np.delete(both, list(chosen))
        if not welch:
            return float(one.sum() - other.sum())
        return float((one.mean() - other.mean()) / (one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other)) ** 0.5)

    values = np.array([statistic(chosen) for chosen in itertools.combinations(range(len(both)), len(x))])
    observed = statistic(range(len(x)))
    middle = 0.0 if welch else values.mean()
    far = np.abs(values - middle) >= abs(observed - middle) - 1e-9
    return float(far.mean()), float((values >= observed - 1e-9).mean())


def holm(p: Sequence[float]) -> list[float]:
    order = sorted(range(len(p)), key=lambda i: p[i])
    found, least = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, p[i] * (len(p) - rank)))
        found[i] = least
    return found


def rows(result: pc.Result, **chosen: str) -> list[dict[str, Any]]:
    return result.summary.filter(**chosen).to_dicts()


def row(result: pc.Result, **chosen: str) -> dict[str, Any]:
    (found,) = rows(result, **chosen)
    return found


def exchange_p(first: NDArray[np.float64], second: NDArray[np.float64], x: Sequence[str], y: Sequence[str]) -> float:
    """p of equal effect sizes over every pattern of stimuli exchanged between two models, (K, R) each."""
    names = [*((0, name) for name in x), *((1, name) for name in y)]
    units = list(dict.fromkeys(names))

    def scaled(row: NDArray[np.float64]) -> list[float]:
        values = row.tolist()
        mean, spread = sum(values) / len(values), sd(values)
        return [(value - mean) / spread for value in values]

    pairs = [(scaled(a), scaled(b)) for a, b in zip(first, second, strict=True)]
    differences = []
    for pattern in itertools.product((False, True), repeat=len(units)):
        moved = {unit for unit, move in zip(units, pattern, strict=True) if move}
        each = []
        for a, b in pairs:
            one = [w if name in moved else v for name, v, w in zip(names, a, b, strict=True)]
            other = [v if name in moved else w for name, v, w in zip(names, a, b, strict=True)]
            n = len(x)
            each.append(effect_size(one[:n], one[n:]) - effect_size(other[:n], other[n:]))
        differences.append(abs(sum(each) / len(each)))
    return sum(d >= differences[0] - 1e-9 for d in differences) / len(differences)
