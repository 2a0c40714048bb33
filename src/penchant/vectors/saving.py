"""Writer of word vectors in word2vec formats, which gensim and `static_vectors.read_vectors` read without loss."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from penchant.errors import ModelError, OutputError
from penchant.files import replacing
from penchant.plurals import counted
from penchant.vectors.static_vectors import Matrix, StaticVectors
from penchant.vectors.token_file import Trained

ENDINGS = (".txt", ".vec", ".bin")
_AT_ONCE = 1 << 22
"""Number of values to format at once."""
_MISREAD = np.float32(float.fromhex("0x1.5c87fap-84"))
"""Single-precision number that, like its negative, readers would misread from its shortest decimal representation.

Readers parse numbers in double precision and then round, which gives an adjacent number. No other number is affected.
"""


def save_vectors(vectors: Trained | StaticVectors, path: str | Path) -> str:
    """Write vectors as text (.txt, .vec) or binary (.bin), and return the SHA-256 hash of the file.

    Both formats begin with a header line with the numbers of words and dimensions (unlike files of the original GloVe).
    Text has the shortest decimal representations that round-trip; binary is little-endian single precision. Writing is
    atomic. Raises ModelError if the vectors could not be read back, and OutputError if the path cannot be written.
    """
    file = Path(path)
    ending = checked_ending(file)
    words = [_as_bytes(word) for word in vectors.words]
    _refuse_unreadable(words, vectors.matrix)
    digest = hashlib.sha256()
    with replacing(file) as stream:
        for block in _blocks(words, vectors.matrix, binary=ending == ".bin"):
            digest.update(block)
            stream.write(block)
    return digest.hexdigest()


def checked_ending(file: Path) -> str:
    """Return the extension of a vector file in lower case. Raises OutputError if it is not one of `ENDINGS`."""
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise OutputError(
            f"'{file.suffix}' is not a file extension for word vectors",
            where=str(file),
            hint=f"use {', '.join(ENDINGS)}",
        )
    return ending


def _as_bytes(word: str) -> bytes:
    try:
        return word.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ModelError(f"the word {word!r} cannot be written as UTF-8") from error


def _refuse_unreadable(words: Sequence[bytes], matrix: Matrix) -> None:
    if matrix.shape != (len(words), matrix.shape[1]) or not matrix.size:
        raise ModelError(
            f"expected a non-empty matrix with one row per word, got the shape {'×'.join(map(str, matrix.shape))} "
            f"for {counted(len(words), 'words')}"
        )
    if len(set(words)) < len(words):
        repeated = next(word for word, n in Counter(words).items() if n > 1)
        raise ModelError(f"the vocabulary lists {repeated.decode()!r} twice")
    for word in words:
        if not word or b" " in word or b"\n" in word:
            raise ModelError(
                f"the word {word.decode()!r} cannot be saved: words must not be empty or contain spaces or newlines"
            )
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        raise ModelError(f"the vector of '{words[bad[0]].decode()}' contains a value that is not finite")


def _blocks(words: Sequence[bytes], matrix: Matrix, *, binary: bool) -> Iterator[bytes]:
    yield b"%d %d\n" % matrix.shape
    rows = max(1, _AT_ONCE // matrix.shape[1])
    for start in range(0, len(words), rows):
        block_words, block = words[start : start + rows], matrix[start : start + rows]
        yield _binary(block_words, block) if binary else _text(block_words, block)


def _binary(words: Sequence[bytes], matrix: Matrix) -> bytes:
    return b"".join(word + b" " + row.tobytes() for word, row in zip(words, matrix.astype("<f4"), strict=True))


def _text(words: Sequence[bytes], matrix: Matrix) -> bytes:
    import polars as pl

    numbers = io.BytesIO()
    pl.from_numpy(matrix, orient="row").write_csv(numbers, include_header=False, separator=" ", quote_style="never")
    lines = numbers.getvalue()
    if (np.abs(matrix) == _MISREAD).any():
        digits = [" ".join(repr(float(x)) if abs(x) == _MISREAD else str(x) for x in row) for row in matrix]
        lines = "\n".join([*digits, ""]).encode()
    return b"".join(word + b" " + line for word, line in zip(words, lines.splitlines(keepends=True), strict=True))
