"""Token files, read as integer ids, and the vectors trained on them.

A token file is UTF-8, with one sentence per line and white space between tokens.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penchant.errors import DataError, MethodError
from penchant.text_io import decoded, opened

Integers = NDArray[np.int32]

_MORE = "give more text or a lower min_count"


@dataclass(frozen=True, slots=True, eq=False)
class TokenFile:
    """Contents of a token file: the vocabulary, sorted by descending count and then by code point, and the token ids.

    `words[i]` occurs `counts[i]` times. `ids` are the in-vocabulary tokens of all sentences, in file order, as indices
    into `words`; `lengths` are the numbers of in-vocabulary tokens in each sentence. `tokens` is the number of all
    tokens, and `sentences` the number of lines with at least one token.
    """

    words: tuple[str, ...] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    ids: Integers = field(repr=False)
    lengths: Integers = field(repr=False)
    tokens: int
    sentences: int


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """Trained vectors: row i of `matrix` (V × d, float32) belongs to `words[i]`, which occurs `counts[i]` times.

    `losses` has the mean cost of each epoch if the method reports it. `tokens` is the number of all tokens read, `kept`
    the number of in-vocabulary tokens, and `sentences` the number of lines with at least one token.
    """

    words: tuple[str, ...] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    matrix: NDArray[np.float32] = field(repr=False)
    losses: tuple[float, ...]
    tokens: int
    kept: int
    sentences: int

    @classmethod
    def on(cls, corpus: TokenFile, matrix: NDArray[np.float32], losses: tuple[float, ...] = ()) -> Trained:
        """Combine the vectors in `matrix` with the vocabulary and counts of their training corpus."""
        return cls(corpus.words, corpus.counts, matrix, losses, corpus.tokens, len(corpus.ids), corpus.sentences)


def read_tokens(path: str | Path, min_count: int = 1) -> TokenFile:
    """Read a token file; the vocabulary has the words that occur at least `min_count` times.

    Memory use is four bytes per token plus the distinct tokens. Raises DataError if a line is not UTF-8, or if no
    sentence contains two words of the vocabulary.
    """
    file = Path(path)
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # each new token gets the next number
    ids, lengths = array("i"), array("i")
    with opened(file) as stream:
        for line, raw in enumerate(stream, start=1):  # a sentence may be of any length
            tokens = decoded(raw, file, line).split()
            if tokens:
                ids.extend(map(numbers.__getitem__, tokens))
                lengths.append(len(tokens))
    return _corpus(file, list(numbers), np.frombuffer(ids, np.int32), np.frombuffer(lengths, np.int32), min_count)


def _corpus(file: Path, words: list[str], ids: Integers, lengths: Integers, min_count: int) -> TokenFile:
    counts = np.bincount(ids, minlength=len(words))
    order = sorted(np.flatnonzero(counts >= min_count).tolist(), key=lambda number: (-counts[number], words[number]))
    if len(order) < 2:
        raise DataError(
            f"fewer than two words reach the minimum count of {min_count}" if words else "contains no tokens",
            file=file,
            hint=_MORE if words else "write one sentence per line, with spaces between tokens",
        )
    renumbered = np.full(len(words), -1, np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    kept = renumbered[ids]
    inside = kept >= 0
    sentence = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)[inside]
    kept_lengths = np.bincount(sentence, minlength=len(lengths)).astype(np.int32)
    if kept_lengths.max() < 2:
        raise DataError("no sentence contains two words of the vocabulary", file=file, hint=_MORE)
    return TokenFile(
        words=tuple(words[number] for number in order),
        counts=counts[order].astype(np.int64),
        ids=kept[inside],
        lengths=kept_lengths,
        tokens=len(ids),
        sentences=len(lengths),
    )


def refuse_below(lowest: float, **values: float) -> None:
    """Raise MethodError if a parameter is below `lowest` or NaN."""
    for name, value in values.items():
        if not value >= lowest:
            raise MethodError(f"{name} must be at least {lowest}, got {value}")
