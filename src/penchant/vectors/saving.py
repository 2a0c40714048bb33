"""Save word vectors in word2vec's formats, which gensim and `static.read_vectors` read back bit by bit."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from penchant.errors import ModelError, OutputError
from penchant.files import replacing
from penchant.plurals import counted
from penchant.vectors.static import Matrix, StaticVectors
from penchant.vectors.token_file import Trained

ENDINGS = (".txt", ".vec", ".bin")
_AT_ONCE = 1 << 22
"""Numbers to format at once."""
_MISREAD = np.float32(float.fromhex("0x1.5c87fap-84"))
"""The only single-precision number (and its negative) that both readers would misread from its shortest decimal form.

They read in double precision and then round, which gives its neighbour.
"""


def save_vectors(vectors: Trained | StaticVectors, path: str | Path) -> str:
    """Write vectors as text (.txt, .vec) or binary (.bin), and return the SHA-256 of the file.

    Both begin with a line with the numbers of words and dimensions (which files of the original GloVe lack). Text has
    the shortest digits that read back as the same numbers; binary is little-endian single precision. The file is
    written in full or not at all. Raises ModelError for vectors that would not read back, and OutputError for a path
    that cannot be written.
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
    """Return the extension of a file of vectors, in lower case. Raises OutputError for any other extension."""
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise OutputError(
            f"'{file.suffix}' is not an extension of word vectors", where=str(file), hint=f"use {', '.join(ENDINGS)}"
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
            f"{counted(len(words), 'words')} cannot have vectors of shape {'×'.join(map(str, matrix.shape))}"
        )
    if len(set(words)) < len(words):
        raise ModelError("a word has two vectors")
    for word in words:
        if not word or b" " in word or b"\n" in word:
            raise ModelError(f"the word {word.decode()!r} is empty or holds a space, which ends a word in a file")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        raise ModelError(f"the vector of '{words[bad[0]].decode()}' holds a value that is not finite")


def _blocks(words: Sequence[bytes], matrix: Matrix, *, binary: bool) -> Iterator[bytes]:
    yield b"%d %d\n" % matrix.shape
    rows = max(1, _AT_ONCE // matrix.shape[1])
    for start in range(0, len(words), rows):
        block_words, block = words[start : start + rows], matrix[start : start + rows]
        yield _binary(block_words, block) if binary else _text(block_words, block)


def _binary(words: Sequence[bytes], matrix: Matrix) -> bytes:
    return b"".join(word + b" " + row.tobytes() for word, row in zip(words, matrix.astype("<f4"), strict=True))


def _text(words: Sequence[bytes], matrix: Matrix) -> bytes:
    """Format lines of a word and its numbers; polars does this in parallel."""
    import polars as pl

    numbers = io.BytesIO()
    pl.from_numpy(matrix, orient="row").write_csv(numbers, include_header=False, separator=" ", quote_style="never")
    lines = numbers.getvalue()
    if (np.abs(matrix) == _MISREAD).any():
        digits = [" ".join(repr(float(x)) if abs(x) == _MISREAD else str(x) for x in row) for row in matrix]
        lines = "\n".join([*digits, ""]).encode()
    return b"".join(word + b" " + line for word, line in zip(words, lines.splitlines(keepends=True), strict=True))
