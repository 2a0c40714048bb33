"""Files of tokens as numbers, and what training on them gives.

A token file is UTF-8 with one sentence a line and white space between tokens, which hold none themselves.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penchant.errors import DataError, MethodError

Integers = NDArray[np.int32]

_MORE = "give more text or a lower min_count"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """A token file: the vocabulary, by falling count, ties by code point, and where its words stand.

    `words[i]` occurs `counts[i]` times. `ids` are the tokens in the vocabulary, sentence after sentence, as positions
    in `words`; `lengths` says how many of them each sentence has. `tokens` counts all tokens, `sentences` all lines
    with any.
    """

    words: tuple[str, ...] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    ids: Integers = field(repr=False)
    lengths: Integers = field(repr=False)
    tokens: int
    sentences: int


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """Vectors that were trained: `matrix[i]` (V × d, float32) is that of `words[i]`, which occurs `counts[i]` times.

    `losses` has the mean cost of each epoch where the method knows it. `tokens` counts all tokens that were read,
    `kept` those in the vocabulary, `sentences` the lines with any token.
    """

    words: tuple[str, ...] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    matrix: NDArray[np.float32] = field(repr=False)
    losses: tuple[float, ...]
    tokens: int
    kept: int
    sentences: int

    @classmethod
    def on(cls, corpus: Corpus, matrix: NDArray[np.float32], losses: tuple[float, ...] = ()) -> Trained:
        """The vectors of a corpus."""
        return cls(corpus.words, corpus.counts, matrix, losses, corpus.tokens, len(corpus.ids), corpus.sentences)


def read_tokens(path: str | Path, min_count: int = 1) -> Corpus:
    """Read a token file; the vocabulary is what occurs `min_count` times.

    Holds four bytes a token and the distinct tokens, never the text. Raises DataError with the place, and where no
    sentence has two words that are left.
    """
    file = Path(path)
    found: defaultdict[str, int] = defaultdict()
    found.default_factory = found.__len__  # each new token gets the next number
    ids, lengths = array("i"), array("i")
    try:
        with file.open("rb") as stream:
            for line, raw in enumerate(stream, start=1):
                own = (raw.removeprefix(_BOM) if line == 1 else raw).decode("utf-8").split()
                if own:
                    ids.extend(map(found.__getitem__, own))
                    lengths.append(len(own))
    except UnicodeDecodeError as error:
        raise DataError("is not UTF-8", file=file, line=line, hint="save the file as UTF-8") from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=file) from error
    return _corpus(file, list(found), np.frombuffer(ids, np.int32), np.frombuffer(lengths, np.int32), min_count)


def _corpus(file: Path, found: list[str], ids: Integers, lengths: Integers, min_count: int) -> Corpus:
    counts = np.bincount(ids, minlength=len(found))
    order = sorted(np.flatnonzero(counts >= min_count).tolist(), key=lambda number: (-counts[number], found[number]))
    if len(order) < 2:
        often = f"occurs {min_count} times" if len(order) == 0 else f"but '{found[order[0]]}' occurs {min_count} times"
        raise DataError(
            f"no word {often}, and vectors need two words" if found else "holds no token",
            file=file,
            hint=_MORE if found else "one sentence a line, spaces between tokens",
        )
    renumbered = np.full(len(found), -1, np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    kept = renumbered[ids]
    inside = kept >= 0
    sentence = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)[inside]
    kept_lengths = np.bincount(sentence, minlength=len(lengths)).astype(np.int32)
    if kept_lengths.max() < 2:
        raise DataError("no sentence holds two words of the vocabulary", file=file, hint=_MORE)
    return Corpus(
        words=tuple(found[number] for number in order),
        counts=counts[order].astype(np.int64),
        ids=kept[inside],
        lengths=kept_lengths,
        tokens=len(ids),
        sentences=len(lengths),
    )


def refuse_below(lowest: float, **values: float) -> None:
    """Raise MethodError for a parameter that is not at least `lowest`, or no number."""
    for name, value in values.items():
        if not value >= lowest:
            raise MethodError(f"{name} is {value}", hint=f"it must be {lowest} or more")


def missing(package: str, error: ImportError) -> MethodError:
    """What is said when a package that training needs cannot be imported."""
    own = isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == package
    return MethodError(
        f"the package {package} {'is missing' if own else f'fails: {error}'}", hint="pip install 'penchant[vectors]'"
    )
