"""Detection of word-vector files by their first bytes: format, header, and number of dimensions."""

from __future__ import annotations

import gzip
import itertools
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import BinaryIO, cast

from penchant.errors import DataError, ModelError
from penchant.plurals import counted
from penchant.text_io import opened

_SAMPLE = 1 << 20
NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
_NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)\Z", re.IGNORECASE)
_HEADER = re.compile(rb"(\d{1,12}) (\d{1,12}) *\r?\Z")
LINE_HINT = "each line is a word and its numbers, separated by single spaces"
_STRANGERS = (
    (
        b"PK\x03\x04",
        "is a zip archive or a PyTorch checkpoint",
        "unpack it and give the file in it, or give the directory of the checkpoint",
    ),
    (b"\x93NUMPY", "is a NumPy array inside gzip", "unpack it"),
    (
        b"\x80",
        "is a Python pickle, which is never loaded",
        "if gensim wrote it, save its vectors in gensim: {0}.load(FILE){1}.save_word2vec_format('vectors.txt')",
    ),
    (
        b"\xba\x16\x4f\x2f",
        "is in fastText's binary format",
        "use the .vec file that comes with it, or convert it in gensim: "
        "fasttext.load_facebook_vectors(FILE).save_word2vec_format('vectors.txt')",
    ),
)
_SENTENCEPIECE = re.compile(rb"\n.\n.[<\[]", re.DOTALL)
"""Pattern of the first bytes of a SentencePiece tokenizer: its first entry, such as <unk>."""


def begins_as_vectors(path: str | Path) -> None:
    """Raise ModelError if the first bytes of a file show that it does not contain word vectors."""
    file = Path(path)
    try:
        with opened(file) as stream:
            start = stream.read(6)
            stream.seek(0)
            if start == b"\x93NUMPY":
                vocabulary_file(file, None)
                return
            if start.startswith(b"\x1f\x8b"):
                with gzip.open(stream) as unpacked:
                    beginning(cast(BinaryIO, unpacked), file)
            else:
                beginning(stream, file)
    except (EOFError, OSError, zlib.error, DataError):
        return  # reading the whole file will report the fault


def vocabulary_file(file: Path, vocabulary: str | Path | None) -> Path:
    """Return the path of a `.npy` file's vocabulary, by default the .vocab or .txt file of the same name.

    Raises ModelError if there is no such file.
    """
    beside = [file.with_suffix(".vocab"), file.with_suffix(".txt")]
    places = beside if vocabulary is None else [Path(vocabulary)]
    for place in places:
        if place.is_file():
            return place
    names = " or ".join(str(place) for place in places)
    raise ModelError(
        f"there is no vocabulary file {names}", where=str(file), hint="give a text file with one word per line"
    )


def beginning(stream: BinaryIO, file: Path) -> tuple[bytes, tuple[int, int] | None]:
    """Return the first bytes of a file after its header, and the header's numbers of words and dimensions.

    The numbers are None if there is no header. Raises ModelError if the file contains neither text nor binary word
    vectors.
    """
    sample = stream.read(_SAMPLE)
    if not sample.strip():
        raise ModelError("the file is empty", where=str(file))
    refuse_stranger(sample, file)
    sample = sample.removeprefix(b"\xef\xbb\xbf")
    first, _, rest = sample.partition(b"\n")
    header = _HEADER.match(first)
    if header is None:
        numbers_of_a_word(sample, file)
        return sample, None
    count, dimension = int(header[1]), int(header[2])
    if not count or not dimension:
        message = (
            f"the header declares {counted(count, 'words')} of {counted(dimension, 'numbers')}, "
            "expected at least one of each"
        )
        raise ModelError(message, where=f"{file}, line 1")
    return rest, (count, dimension)


def refuse_stranger(start: bytes, file: Path) -> None:
    """Raise ModelError if a file begins with the signature of another format."""
    for magic, message, hint in _STRANGERS:
        if start.startswith(magic):
            of_gensim = ("Word2Vec", ".wv") if file.suffix == ".model" else ("KeyedVectors", "")
            raise ModelError(message, where=str(file), hint=hint.format(*of_gensim))
    if _SENTENCEPIECE.match(start):
        hint = "give the directory of the model to which it belongs"
        raise ModelError("is a SentencePiece tokenizer, not a model", where=str(file), hint=hint)


def numbers_of_a_word(sample: bytes, file: Path) -> int:
    """Return the number of dimensions: the most frequent count of numbers at the ends of the first lines.

    Words may contain spaces and end in a number. Raises ModelError if the most frequent count is 0.
    """
    lines = [line for raw in sample.split(b"\n") if (line := raw.rstrip(b" \r"))]
    counts: Counter[int] = Counter()
    for line in lines[: max(1, min(100, len(lines) - 1))]:  # the last may be truncated
        pieces = line.split(b" ")[1:]
        counts[sum(1 for _ in itertools.takewhile(is_number, reversed(pieces)))] += 1
    dimension = counts.most_common(1)[0][0]
    if not dimension:
        raise ModelError("is not a word-vector file: its lines do not end in numbers", where=str(file), hint=LINE_HINT)
    return dimension


def is_number(piece: bytes) -> bool:
    """Return True if a field of a line is a number, including nan and inf."""
    return NUMBER.match(piece) is not None or _NOT_FINITE.match(piece) is not None
