"""Running text in files and at URLs: found, opened whatever it is compressed with, and read in blocks of whole records.

A record is a line of plain text (or a paragraph of several lines, see `Layout`), the text field of a JSON line, or that
of a row of a Parquet file. The blocks of a corpus are the same on every run and do not depend on who reads them, so
that the work on them can be shared between processes and taken up again.
"""

from __future__ import annotations

import bz2
import glob
import hashlib
import io
import itertools
import json
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, Protocol, cast, get_args

import polars as pl

from penchant.data.normalisation import normalise
from penchant.errors import DataError, MethodError
from penchant.files import sha256_file

Kind = Literal["text", "jsonl", "parquet"]
Layout = Literal["paragraphs", "sentences", "wrapped"]
LAYOUTS: tuple[str, ...] = get_args(Layout)
"""What a line is: a paragraph; a sentence; a part of a paragraph, which ends with a blank line."""
COMPRESSED = (".gz", ".zst", ".xz", ".bz2")
BLOCK = 1 << 22
_LONGEST = 1 << 28
_PACKED = 1 << 16
"""Bytes of compressed text that are unpacked at a time, so that even what packs best takes little room."""
_BOM = b"\xef\xbb\xbf"
_ROWS = 1 << 14


def check_layout(name: str) -> Layout:
    """The layout of that name. Raises MethodError."""
    if name not in LAYOUTS:
        raise MethodError(f"unknown layout '{name}'", hint=f"use {', '.join(LAYOUTS)}")
    return cast(Layout, name)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of running text. `name` is what its sentences are known by, `size` its bytes as they are stored."""

    place: str
    name: str
    size: int

    @property
    def kind(self) -> Kind:
        """How its records are written, by its ending."""
        ending = _plain(self.name)
        if ending in (".jsonl", ".ndjson", ".json"):
            return "jsonl"
        return "parquet" if ending == ".parquet" else "text"

    def told(self, sha256: str) -> dict[str, Any]:
        """What is written down of it."""
        return {"name": self.name, "size": self.size, "sha256": sha256}


class Block(NamedTuple):
    """Some records of a file, from number `first` on (counted from 1; plain text counts lines).

    `data` holds whole lines as they are stored, or the texts of rows (None where there is none). `at` is how much of
    the file is read with it: bytes as stored, of Parquet rows as a share of those.
    """

    file: int
    first: int
    data: bytes | list[str | None]
    at: int


class Units(NamedTuple):
    """The lines of a block to look for sentences in: `text` holds them in NFC, one a line; numbers[i] is the record of
    line i. Of `records` in the block, `skipped` could not be read, the first of them number `bad`."""

    text: str
    numbers: Sequence[int]
    records: int
    skipped: int
    bad: int


def _plain(name: str) -> str:
    """The ending without that of the compression."""
    path = Path(name)
    return (path.with_suffix("") if path.suffix.lower() in COMPRESSED else path).suffix.lower()


# Finding ----------------------------------------------------------------------------------------------------------


def find_texts(given: Sequence[str | Path], base: Sequence[Path] = (Path(),)) -> list[TextFile]:
    """The files that paths, patterns with * ? [ ], directories (with all below them, hidden files left out) and URLs
    that fsspec knows stand for, in this order; those of a pattern or directory by name.

    Paths are looked up in the directories of `base`. Raises DataError for what stands for no file, and for a file that
    is named twice.
    """
    if not given:
        raise DataError("no text is named", hint="name files, patterns, directories or URLs")
    found: dict[str, int] = {}
    seen: set[str] = set()
    for one in given:
        places = _expanded(str(one), base)
        if not places:
            raise DataError("there is no such file, nor a directory or pattern with files", where=str(one))
        for place, size in places:
            real = place if "://" in place else os.path.realpath(place)
            if real in seen:
                raise DataError("the file is named twice", where=place, hint="its sentences would count twice")
            seen.add(real)
            found[place] = size
    names = _names(list(found))
    return [TextFile(place, name, size) for (place, size), name in zip(found.items(), names, strict=True)]


def _expanded(given: str, base: Sequence[Path]) -> list[tuple[str, int]]:
    """The files that what is given stands for, with their sizes."""
    import fsspec

    try:
        if "://" in given:
            fs, path = fsspec.core.url_to_fs(given)
            local = fs.protocol == "file" or "file" in fs.protocol
            return [(own if local else fs.unstrip_protocol(own), size) for own, size in _listed(fs, path, path)]
        fs = fsspec.filesystem("file")
        for directory in base if given.strip() else ():
            pattern = f"{glob.escape(str(directory.absolute()))}/{given}" if not Path(given).is_absolute() else given
            places = _listed(fs, str((directory / given).absolute()), pattern)
            if places:
                return places
        return []
    except ImportError as error:
        raise MethodError(f"a package is missing: {error}", where=given, hint="install it with pip") from error
    except ValueError as error:
        raise DataError(f"is no URL that can be read: {error}", where=given) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", where=given) from error


def _listed(fs: Any, path: str, pattern: str) -> list[tuple[str, int]]:
    """The files, by name, at a path or else of a pattern; of directories and patterns those that are not hidden."""
    if fs.isdir(path):
        found = [own for own in fs.find(path) if "/." not in own[len(path) :]]
    elif fs.exists(path):
        found = [path]
    else:
        fixed = len(re.split(r"[*?\[]", path)[0])
        found = [own for own in fs.glob(pattern) if not fs.isdir(own)] if fixed < len(path) else []
        found = [own for own in found if "/." not in own[max(fixed - 1, 0) :]]
    return [(own, int(fs.size(own) or 0)) for own in sorted(found)]


def _names(places: Sequence[str]) -> list[str]:
    """What is different of the places: the file's name, or its path below the directory that holds all."""
    folders = [os.path.dirname(place) for place in places]  # noqa: PTH120 (URLs too)
    try:
        common = os.path.commonpath(folders)
    except ValueError:
        return [_writable(place) for place in places]
    return [_writable(os.path.relpath(place, common).replace(os.sep, "/")) for place in places]


def _writable(name: str) -> str:
    """A name with escapes for bytes that are not UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()


# Reading ----------------------------------------------------------------------------------------------------------


class Reader:
    """The blocks of one file, in order. `sha256` is the hash of the file as stored once all blocks were read."""

    def __init__(self, file: TextFile, number: int, *, layout: Layout, field: str) -> None:
        self.file, self.number, self.layout, self.field = file, number, layout, field
        self.sha256 = ""

    def blocks(self, after: int = 0) -> Iterator[Block]:
        """The blocks but the first `after`. Raises DataError where the file cannot be read."""
        try:
            if self.file.kind == "parquet":
                yield from self._rows(after)
            else:
                yield from self._lines(after)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}", file=self.file.place) from error

    def _lines(self, after: int) -> Iterator[Block]:
        with _open(self.file.place) as stored:
            raw = _Hashed(stored)
            first = 1
            parts = _unpacked(raw, self.file.place)
            wrapped = self.layout == "wrapped" and self.file.kind == "text"
            for number, data in enumerate(_whole(parts, self.file.place, wrapped=wrapped)):
                lines = data.count(b"\n")
                if number >= after:
                    yield Block(self.number, first, data.removeprefix(_BOM) if first == 1 else data, raw.taken)
                first += lines
            self.sha256 = raw.hash.hexdigest()

    def _rows(self, after: int) -> Iterator[Block]:
        place = self.file.place
        try:
            if "://" in place:
                with _open(place) as stored:
                    whole = stored.read()
                self.sha256 = hashlib.sha256(whole).hexdigest()
                frame = pl.scan_parquet(io.BytesIO(whole))
            else:
                self.sha256 = sha256_file(place)
                frame = pl.scan_parquet(place, glob=False)
            columns = frame.collect_schema()
            if columns.get(self.field) != pl.String:
                hint = f"name one with --field: {', '.join(n for n, kind in columns.items() if kind == pl.String)}"
                raise DataError(f"has no column of text called '{self.field}'", file=place, hint=hint)
            rows = frame.select(pl.len()).collect().item()
            for number, start in enumerate(range(0, rows, _ROWS)):
                if number >= after:
                    texts = frame.select(self.field).slice(start, _ROWS).collect()[self.field].to_list()
                    yield Block(self.number, start + 1, texts, self.file.size * min(start + _ROWS, rows) // rows)
        except pl.exceptions.PolarsError as error:
            raise DataError(f"is not a Parquet file: {str(error).splitlines()[0]}", file=place) from error


class _Hashed:
    """A stream that is hashed as it is read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.hash = hashlib.sha256()
        self.taken = 0

    def read(self, size: int) -> bytes:
        """So many bytes, fewer only at the end: on these the blocks depend."""
        data = self.stream.read(size)
        while len(data) < size and (more := self.stream.read(size - len(data))):
            data += more
        self.hash.update(data)
        self.taken += len(data)
        return data


def _open(place: str) -> IO[bytes]:
    if "://" not in place:
        return Path(place).open("rb")
    import fsspec

    return cast(IO[bytes], fsspec.open(place, "rb").open())


class _Unpacker(Protocol):
    """What the standard library's decompressors of one stream have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def _unpacker(ending: str) -> tuple[Callable[[], _Unpacker], type[Exception]] | None:
    """How a stream is unpacked, and what a damaged one raises."""
    match ending:
        case ".gz":
            return lambda: zlib.decompressobj(wbits=31), zlib.error
        case ".xz":
            return lzma.LZMADecompressor, lzma.LZMAError
        case ".bz2":
            return bz2.BZ2Decompressor, OSError
        case ".zst":
            try:
                if sys.version_info >= (3, 14):
                    from compression import zstd
                else:
                    from backports import zstd
            except ImportError as error:
                raise missing("backports.zstd") from error
            widest: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 31}  # what zstd --long makes, too
            return lambda: zstd.ZstdDecompressor(options=widest), zstd.ZstdError
    return None


def _unpacked(raw: _Hashed, place: str) -> Iterator[bytes]:
    """The text itself, by the ending of the name, of as many streams as stand one behind the other. Raises DataError
    for one that is damaged or cut short, of which the standard library's file objects read what they can."""
    known = _unpacker(Path(place).suffix.lower())
    if known is None:
        yield from iter(lambda: raw.read(BLOCK), b"")
        return
    make, damaged = known
    unpacker: _Unpacker | None = None
    data = raw.read(_PACKED)
    if not data:
        raise DataError("is empty, not compressed text", file=place)
    while data:
        try:
            unpacker = make() if unpacker is None else unpacker
            yield unpacker.decompress(data)
        except damaged as error:
            raise DataError(f"the file is damaged: {error}", file=place) from error
        data = b""
        if unpacker.eof:
            data, unpacker = unpacker.unused_data.lstrip(b"\0"), None
        while not data and (more := raw.read(_PACKED)):
            data = more if unpacker else more.lstrip(b"\0")  # some formats allow padding between streams
    if unpacker is not None:
        raise DataError("the file is cut short", file=place)


def missing(package: str) -> MethodError:
    """What is said when a package of the extra is not there."""
    return MethodError(f"the package {package} is missing", hint="pip install 'penchant[corpus]'")


def _whole(parts: Iterable[bytes], place: str, *, wrapped: bool) -> Iterator[bytes]:
    """The text in blocks of whole lines, or of whole paragraphs where these are wrapped."""
    rest = bytearray()
    wanted = BLOCK
    for part in parts:
        rest += part
        if len(rest) < wanted:
            continue
        end = _last_blank(rest) if wrapped else rest.rfind(b"\n") + 1
        if end:
            yield bytes(rest[:end])
            del rest[:end]
        wanted = len(rest) + BLOCK
        if len(rest) > _LONGEST:
            raise DataError(f"holds a line or paragraph of more than {_LONGEST >> 20} MiB", file=place)
    if rest:
        yield bytes(rest)


def _last_blank(data: bytearray) -> int:
    """Where the last blank line ends that another line follows; 0 where there is none."""
    at = len(data)
    while (at := data.rfind(b"\n", 0, at)) > 0:
        before = data.rfind(b"\n", 0, at)
        if before >= 0 and not data[before:at].strip():
            return at + 1
    return 0


# Records ----------------------------------------------------------------------------------------------------------


def units(block: Block, kind: Kind, *, layout: Layout, field: str) -> Units:
    """The lines of a block in which sentences are looked for: whole paragraphs where these are wrapped."""
    if isinstance(block.data, bytes) and kind == "text":
        text, bad = _decoded(block.data)
        lines = block.data.count(b"\n")
        records = lines + (block.data[-1:] not in (b"", b"\n"))
        if layout == "wrapped":
            paragraphs = list(_paragraphs(text))
            text = "\n".join(paragraph for _, paragraph in paragraphs)
            numbers: Sequence[int] = [block.first + number for number, _ in paragraphs]
        else:
            numbers = range(block.first, block.first + lines + 1)
    else:
        texts = list(_json(block.data, field) if isinstance(block.data, bytes) else enumerate(block.data))
        records = len(texts)
        bad = [number for number, record in texts if record is None]
        parts = [
            (block.first + number, part)
            for number, record in texts
            if record
            for part in ((own for _, own in _paragraphs(record)) if layout == "wrapped" else record.split("\n"))
        ]
        text, numbers = "\n".join(part for _, part in parts), [number for number, _ in parts]
    return Units(normalise(text), numbers, records, len(bad), block.first + bad[0] if bad else 0)


def refuse_unreadable(first: int, bad: int, skipped: int, records: int, file: TextFile, field: str) -> None:
    """Raise DataError where the beginning of a file cannot be read: the first line of text, or no JSON line of the
    block that begins with record `first`. Later ones are left out and counted."""
    if first != 1 or not skipped:
        return
    if file.kind == "text" and bad == 1:
        raise DataError("is not UTF-8", file=file.place, line=1, hint="save it as UTF-8")
    if file.kind == "jsonl" and skipped == records:
        raise DataError(
            f"there is no text called '{field}'", file=file.place, line=1, hint="name what holds the text with --field"
        )


def _decoded(data: bytes) -> tuple[str, list[int]]:
    """The text, and which of its lines, counted from 0, are not UTF-8 and left empty."""
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        lines = [_utf8(line) for line in data.split(b"\n")]
        return "\n".join(line or "" for line in lines), [n for n, line in enumerate(lines) if line is None]


def _utf8(line: bytes) -> str | None:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Lines that no blank one parts, joined, and the number of the first of them, counted from 0."""
    lines = enumerate(text.split("\n"))
    for blank, group in itertools.groupby(lines, key=lambda line: not line[1].strip()):
        if not blank:
            own = list(group)
            yield own[0][0], " ".join(line.strip() for _, line in own)


def _json(data: bytes, field: str) -> Iterator[tuple[int, str | None]]:
    """Number, from 0, and text of each line that is not blank; None where there is no text that UTF-8 can hold."""
    for number, line in enumerate(data.split(b"\n")):
        if not line.strip():
            continue
        try:
            text = json.loads(line)[field]
            text.encode("utf-8")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            text = None
        yield number, text
