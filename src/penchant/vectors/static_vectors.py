"""Reader of static word vectors: word2vec text and binary, GloVe text (all also gzipped), `.npy` with a vocabulary.

The format is detected from the content. Words are UTF-8 and kept unchanged: only a space ends a word and only a newline
ends a line, since published files have words with no-break spaces and other Unicode separators. A few words that are
not UTF-8 are omitted, since word2vec truncates long words in the middle of a character; many such words are an error.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, cast

import numpy as np
from numpy.typing import NDArray

from penchant.errors import DataError, ModelError
from penchant.plurals import counted, first_of, for_one
from penchant.text_io import guessed_encoding, is_file, opened, saved_as_utf8, words_read_as
from penchant.unicode_spellings import Spelled
from penchant.vectors.sniffing import LINE_HINT, NUMBER, beginning, is_number, numbers_of_a_word, vocabulary_file

Matrix = NDArray[np.float32]
Positions = NDArray[np.intp]

SUFFIXES = (".vec", ".txt", ".bin", ".npy", ".gz", ".glove", ".w2v")
_BLOCK = 1 << 23
_NOT_PLAIN = re.compile(rb"[^\x20-\x7e\t\r]")
_NEWLINE, _RETURN, _SPACE = b"\n\r "
_RARE = 10
"""Minimum ratio of valid to invalid UTF-8 words in a file that is accepted, if no encoding can be guessed."""
_SHOWN = 5
"""Maximum number of omitted words listed in a note."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StaticVectors:
    """Static word vectors, with one vector per word independent of context.

    `matrix[i]` (matrix: V × d, float32, read-only) is the vector of `words[i]`, and `index[words[i]]` is i.
    `fingerprint` is the SHA-256 hash of the file (for a matrix with a vocabulary, of the concatenated hashes of both).
    If a word appears more than once, the first vector is used; `duplicates` is the number of later vectors, which are
    ignored. `broken` lists the omitted words, which are not UTF-8, with their positions.
    """

    name: str
    words: tuple[str, ...]
    index: dict[str, int]
    matrix: Matrix
    fingerprint: str
    duplicates: int = 0
    kind: Literal["static"] = "static"
    broken: tuple[str, ...] = ()
    spec: str = ""
    spelling: Spelled = field(init=False)
    """Mapping from a word to its spelling in the file: the word itself, a canonically equivalent spelling, or None."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "spelling", Spelled(self.index))

    @property
    def cautions(self) -> tuple[str, ...]:
        """Cautions about the file: repeated words, and omitted words."""
        remarks = []
        if self.duplicates:
            repeated = f"{counted(self.duplicates, 'words')} {for_one(self.duplicates, 'are')} repeated"
            remarks.append(f"{repeated}; the first vector of each is used")
        if not self.broken:
            return tuple(remarks)
        left_out = f"{counted(len(self.broken), 'words')} {for_one(len(self.broken), 'are')} not UTF-8"
        shown = first_of(self.broken, _SHOWN)
        return (*remarks, f"{left_out} and {for_one(len(self.broken), 'were')} left out: {shown}")

    def vector(self, word: str) -> Matrix:
        """Return the vector of a word, of shape (d,). Raises ModelError if there is none."""
        if word not in self.index:
            raise ModelError(f"no vector for '{word}'", where=self.name)
        return cast(Matrix, self.matrix[self.index[word]])

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return (
            f"<word vectors {self.name}: {counted(len(self), 'words')}, {counted(self.matrix.shape[1], 'dimensions')}>"
        )


def looks_like_vectors(path: str | Path) -> bool:
    """Return True if the path is an existing file with an extension of word vectors."""
    file = Path(path)
    return file.suffix.lower() in SUFFIXES and is_file(file)


def read_vectors(path: str | Path, *, vocabulary: str | Path | None = None) -> StaticVectors:
    """Read a word-vector file. Raises ModelError, with the position of the error, if it is invalid.

    `vocabulary` is a file for `.npy` matrices, with one word per line in the order of the rows. By default, the file of
    the same name with the extension .vocab or .txt is read.
    """
    file = Path(path)
    try:
        with opened(file) as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            stream.seek(0)
            start = stream.read(6)
            stream.seek(0)
            if start == b"\x93NUMPY":
                collected, digest = _numpy(stream, file, vocabulary, digest)
            elif vocabulary is not None:
                message = "a vocabulary can be given only for a .npy file; this file contains its own words"
                raise ModelError(message, where=str(file))
            elif start.startswith(b"\x1f\x8b"):
                with gzip.open(stream) as unpacked:
                    collected = _with_words(cast(BinaryIO, unpacked), file)
            else:
                collected = _with_words(stream, file)
    except (EOFError, zlib.error) as error:
        raise ModelError(f"the gzip file is damaged or truncated: {error}", where=str(file)) from error
    except DataError as error:
        damaged = isinstance(error.__cause__, gzip.BadGzipFile)
        message = f"the gzip file is damaged or truncated: {error.__cause__}" if damaged else error.message
        raise ModelError(message, where=error.where, hint=error.hint) from error
    return collected.vectors(_cited(file, digest), digest)


def _cited(file: Path, digest: str) -> str:
    stem = file.stem if file.suffix.lower() == ".gz" else file.name
    return f"{Path(stem).stem if Path(stem).suffix.lower() in SUFFIXES else stem}@{digest[:7]}"


class _Collected:
    """Words and vectors collected block by block.

    `mend` returns the hint for words that are not UTF-8, given the name of their probable encoding.
    """

    def __init__(self, file: Path, mend: Callable[[str], str] = saved_as_utf8) -> None:
        self.file = file
        self.mend = mend
        self.broken: list[tuple[str, bytes]] = []
        self.index: dict[str, int] = {}
        self.blocks: list[Matrix] = []
        self.read = 0

    def add(self, words: Sequence[bytes], block: Matrix, first: int, unit: str = "line") -> None:
        """Add a block of rows.

        In error messages, its first row is `unit` ("line" or "word") number `first` of the file.
        """
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            word = words[row].decode("utf-8", "replace")
            raise self.error(f"the vector of '{word}' contains a value that is not finite", f"{unit} {first + row}")
        kept = []
        for row, raw in enumerate(words):
            try:
                word = raw.decode("utf-8")
            except UnicodeDecodeError:
                self.broken.append((f"{unit} {first + row}", raw))
                continue
            if word not in self.index:
                self.index[word] = len(self.index)
                kept.append(row)
        self.read += len(words)
        self.blocks.append(block if len(kept) == len(words) else block[kept])

    def error(self, message: str, place: str = "", hint: str = "") -> ModelError:
        return ModelError(message, where=f"{self.file}, {place}" if place else str(self.file), hint=hint)

    def _require_utf8(self) -> None:
        """Raise ModelError if more than one word, and the majority of non-ASCII words, are not UTF-8.

        Such words are accepted if they are rare (see `_RARE`) and their encoding cannot be guessed. A single such word
        is an error only if the file has no other words.
        """
        most = max(1, sum(not word.isascii() for word in self.index)) if self.index else 0
        guess = guessed_encoding(b" ".join(raw for _, raw in self.broken))
        if len(self.broken) <= most or (not guess and len(self.broken) * _RARE <= len(self.index)):
            return
        place, word = self.broken[0]
        likely = f": it looks like {guess}" if guess else ""
        message = f"{counted(len(self.broken), 'words')} {for_one(len(self.broken), 'are')} not UTF-8{likely}"
        raise self.error(f"{message}; the first is {word[:50]!r}", place, self.mend(guess))

    def vectors(self, name: str, fingerprint: str) -> StaticVectors:
        self._require_utf8()
        if not self.index:
            raise ModelError("contains no vectors", where=str(self.file))
        matrix = np.empty((len(self.index), self.blocks[0].shape[1]), np.float32)
        row = 0
        self.blocks.reverse()
        while self.blocks:  # each block is freed once copied, so that the matrix is not held in memory twice
            block = self.blocks.pop()
            matrix[row : row + len(block)] = block
            row += len(block)
        matrix.setflags(write=False)
        duplicates = self.read - len(self.index) - len(self.broken)
        broken = tuple(f"'{word[:50].decode('utf-8', 'replace')}' ({place})" for place, word in self.broken)
        return StaticVectors(name, tuple(self.index), self.index, matrix, fingerprint, duplicates, broken=broken)


# --- NumPy matrix with a vocabulary -------------------------------------------------------------------------------


def _numpy(stream: BinaryIO, file: Path, vocabulary: str | Path | None, digest: str) -> tuple[_Collected, str]:
    vocabulary_path = vocabulary_file(file, vocabulary)
    try:
        matrix = np.load(stream, allow_pickle=False)
    except (ValueError, EOFError, MemoryError) as error:
        raise ModelError(f"cannot be read as a NumPy array: {error}", where=str(file)) from error
    if matrix.ndim != 2 or not matrix.shape[1] or matrix.dtype.kind not in "fiu":
        shape = "×".join(map(str, matrix.shape)) or "none"
        raise ModelError(f"expected a matrix of numbers, found {matrix.dtype} of shape {shape}", where=str(file))
    with opened(vocabulary_path) as words_stream:
        raw = words_stream.read()
    lines = raw.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    words = [line.removesuffix(b"\r") for line in (lines[:-1] if lines[-1] == b"" else lines)]
    if len(words) != len(matrix):
        raise ModelError(
            f"contains {counted(len(words), 'words')}, but {file.name} has {counted(len(matrix), 'rows')}",
            where=str(vocabulary_path),
            hint="write one word per line",
        )
    collected = _Collected(vocabulary_path)
    with np.errstate(over="ignore"):  # values too large for float32 become infinite, which is an error
        collected.add(words, matrix.astype(np.float32), 1)
    both = digest + hashlib.sha256(raw).hexdigest()
    return collected, hashlib.sha256(both.encode()).hexdigest()


# --- word2vec and GloVe -------------------------------------------------------------------------------------------


def _with_words(stream: BinaryIO, file: Path) -> _Collected:
    rest, announced = beginning(stream, file)
    if announced is None:
        return _text(rest, stream, file, numbers_of_a_word(rest, file), first_line=1)
    count, dimension = announced
    if _is_binary(rest):
        return _binary(rest, stream, file, count, dimension)
    collected = _text(rest, stream, file, dimension, first_line=2)
    if collected.read != count:
        raise collected.error(
            f"the header declares {counted(count, 'words')}, but the file contains {collected.read}",
            "line 1",
            "the file may be truncated: download or copy it again",
        )
    return collected


def _is_binary(rest: bytes) -> bool:
    """Return True if binary numbers follow the header; in text, words are followed by plain ASCII characters only."""
    lines = [line.partition(b" ")[2] for line in rest.split(b"\n") if line]
    odd = sum(not numbers or _NOT_PLAIN.search(numbers) is not None for numbers in lines)
    return 2 * odd > len(lines)


def _binary(rest: bytes, stream: BinaryIO, file: Path, count: int, dimension: int) -> _Collected:
    """Read words, each followed by a space, little-endian float32 numbers and, from some programs, a newline."""
    collected = _Collected(file, words_read_as)
    size = 4 * dimension
    while collected.read < count:
        words: list[bytes] = []
        vectors: list[bytes] = []
        position = 0
        while collected.read + len(words) < count:
            begin = rest.find(b" ", position) + 1
            if not begin or begin + size > len(rest):
                break
            words.append(rest[position : begin - 1].lstrip(b"\n"))
            vectors.append(rest[begin : begin + size])
            position = begin + size
        if words:
            block = np.frombuffer(b"".join(vectors), "<f4").reshape(-1, dimension).astype(np.float32)
            collected.add(words, block, collected.read + 1, "word")
        more = stream.read(_BLOCK)
        if not words and not more:
            raise collected.error(f"the file ends after {collected.read} of the {count} words declared in its header")
        rest = rest[position:] + more
    if rest.strip(b"\n"):
        raise collected.error(f"there are data after the {count} words declared in the header", "line 1")
    return collected


def _text(start: bytes, stream: BinaryIO, file: Path, dimension: int, first_line: int) -> _Collected:
    collected = _Collected(file)
    for block in _blocks(start, stream):
        line = first_line + collected.read
        parsed = _parse(block, dimension)
        if parsed is None:
            raise _bad_line(block, collected, dimension, line)
        collected.add(*parsed, line)
    return collected


def _blocks(start: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """Yield blocks of whole lines, each ending with a newline, without blank lines at the end of the file."""
    more = start
    left = b""
    while more:
        cut = more.rstrip(b"\r\n").rfind(b"\n") + 1  # keeps the last line, in case only blank ones follow
        if cut:
            yield left + more[:cut]
            left = b""
        left += more[cut:]
        more = stream.read(_BLOCK)
    last = left.rstrip(b"\r\n")
    if last:
        yield last + b"\n"


def _parse(block: bytes, dimension: int) -> tuple[list[bytes], Matrix] | None:
    """Return the words and numbers of a block of lines, or None if any line is invalid.

    The numbers are the last `dimension` fields of a line.
    """
    text = np.frombuffer(block, np.uint8).copy()
    newlines = np.flatnonzero(text == _NEWLINE)
    starts = np.concatenate(([0], newlines[:-1] + 1))
    ends = _without_trailing_space(text, starts, newlines)
    spaces = np.flatnonzero(text == _SPACE)
    before = np.searchsorted(spaces, ends)  # the number of spaces before the end of each line
    if (before < dimension).any():
        return None
    cuts = spaces[before - dimension]  # where each word ends
    if (cuts < starts).any():
        return None
    words = [block[start:cut] for start, cut in zip(starts.tolist(), cuts.tolist(), strict=True)]
    if any(b" " in word and _ends_in_numbers(word) for word in words):
        return None
    blank = np.zeros(len(text), np.int8)
    for begin, end in ((starts, cuts), (ends, newlines)):
        blank[begin] += 1
        blank[end] -= 1
    text[np.cumsum(blank, dtype=np.int8) > 0] = _SPACE
    filled = (text != _SPACE) & (text != _NEWLINE)
    if filled[0] + np.count_nonzero(filled[1:] & ~filled[:-1]) != len(words) * dimension:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # from older versions of NumPy, instead of a ValueError
        try:
            numbers = np.fromstring(text.tobytes(), np.float32, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    if len(numbers) != len(words) * dimension:
        return None
    return words, numbers.reshape(len(words), dimension)


def _without_trailing_space(text: NDArray[np.uint8], starts: Positions, newlines: Positions) -> Positions:
    """Return the end of each line, excluding trailing spaces (from word2vec) and carriage returns (from Windows)."""
    ends = newlines.copy()
    while (loose := (ends > starts) & np.isin(text[ends - 1], (_SPACE, _RETURN))).any():
        ends[loose] -= 1
    return ends


def _ends_in_numbers(word: bytes) -> bool:
    """Return True if all fields of a word after the first are decimals, so that the line has too many numbers."""
    return all(NUMBER.match(piece) and b"." in piece for piece in word.split(b" ")[1:])


def _bad_line(block: bytes, collected: _Collected, dimension: int, line: int) -> ModelError:
    """Return the error for the first invalid line of a block that begins at line `line` of the file."""
    for number, raw in enumerate(block.split(b"\n")[:-1], line):
        fields = raw.rstrip(b" \r").split(b" ")
        word = b" ".join(fields[:-dimension])
        if len(fields) <= dimension or (b" " in word and _ends_in_numbers(word)):
            n_fields = len(fields) - 1
            return collected.error(
                f"{counted(n_fields, 'fields')} after the word, expected {dimension}", f"line {number}", hint=LINE_HINT
            )
        for piece in fields[-dimension:]:
            if not is_number(piece):
                shown = piece.decode("utf-8", "replace")
                return collected.error(f"'{shown}' is not a number", f"line {number}", hint=LINE_HINT)
    return collected.error("the numbers cannot be read", f"line {line} or later")
