"""Reader of plain or compressed files of running text, in blocks of whole records."""

from __future__ import annotations

import bz2
import hashlib
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, cast

import polars as pl

from penchant.corpus.text_files import Block, Layout, TextFile, remote
from penchant.errors import DataError, missing_package
from penchant.files import sha256_file
from penchant.text_io import require_file

BLOCK = 1 << 22
_LONGEST = 1 << 28
_PACKED = 1 << 16
"""Number of bytes to decompress at a time, so that even highly compressible text takes little memory."""
_BOM = b"\xef\xbb\xbf"
_ROWS = 1 << 14


class Reader:
    """Reader of a text file in blocks; `sha256` is the hash of the stored file once all blocks have been read."""

    def __init__(self, file: TextFile, number: int, *, layout: Layout, field: str) -> None:
        self.file, self.number, self.layout, self.field = file, number, layout, field
        self.sha256 = ""

    def blocks(self, after: int = 0) -> Iterator[Block]:
        """Yield the blocks of the file except the first `after` blocks. Raises DataError if the file cannot be read."""
        with _readable(self.file.place):
            yield from self._rows(after) if self.file.kind == "parquet" else self._lines(after)

    def _lines(self, after: int) -> Iterator[Block]:
        with _open(self.file.place) as stored:
            raw = _Hashed(stored)
            first = 1
            parts = _unpacked(raw, self.file.place)
            wrapped = self.layout == "wrapped" and self.file.kind == "text"
            for number, (data, newlines) in enumerate(_whole(parts, self.file.place, wrapped=wrapped)):
                if number >= after:
                    whole = data.removeprefix(_BOM) if first == 1 else data
                    yield Block(self.number, first, whole, raw.taken, newlines)
                first += newlines
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
                named = [name for name, kind in columns.items() if kind == pl.String]
                hint = f"choose one with --field: {', '.join(named)}" if named else "the file has no text columns"
                raise DataError(f"has no text column '{self.field}'", file=place, hint=hint)
            rows = frame.select(pl.len()).collect().item()
            for number, start in enumerate(range(0, rows, _ROWS)):
                if number >= after:
                    texts = frame.select(self.field).slice(start, _ROWS).collect()[self.field].to_list()
                    yield Block(self.number, start + 1, texts, self.file.size * min(start + _ROWS, rows) // rows)
        except pl.exceptions.PolarsError as error:
            raise DataError(f"is not a Parquet file: {str(error).splitlines()[0]}", file=place) from error


class _Hashed:
    """Stream that computes the SHA-256 hash of the bytes read; `taken` is the number of bytes read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.hash = hashlib.sha256()
        self.taken = 0

    def read(self, size: int) -> bytes:
        """Read exactly `size` bytes, or fewer at the end of the stream."""
        data = self.stream.read(size)
        while len(data) < size and (more := self.stream.read(size - len(data))):
            data += more
        self.hash.update(data)
        self.taken += len(data)
        return data


def stored_parts(place: str) -> Iterator[bytes]:
    """Yield the stored bytes of a file or URL in chunks, still compressed. Raises DataError if they cannot be read."""
    with _readable(place), _open(place) as stored:
        yield from iter(lambda: stored.read(BLOCK), b"")


@contextmanager
def _readable(place: str) -> Iterator[None]:
    """Raise DataError in place of the exceptions that occur when a file or URL is read."""
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=place) from error
    except Exception as error:
        raise remote(error, place) from error


def _open(place: str) -> IO[bytes]:
    if "://" not in place:
        require_file(place)
        return Path(place).open("rb")
    import fsspec

    return cast(IO[bytes], fsspec.open(place, "rb").open())


class _Unpacker(Protocol):
    """Common interface of the standard library's decompressors."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def _unpacker(ending: str) -> tuple[Callable[[], _Unpacker], type[Exception]] | None:
    """Return a file extension's decompressor and its exception for damaged data, or None if there is no compression."""
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
                raise missing_package("backports.zstd", "corpus") from error
            widest: dict[int, int] = {
                zstd.DecompressionParameter.window_log_max: 31
            }  # also reads what zstd --long writes
            return lambda: zstd.ZstdDecompressor(options=widest), zstd.ZstdError
    return None


def _unpacked(raw: _Hashed, place: str) -> Iterator[bytes]:
    """Yield the decompressed data of a file, which may have several concatenated streams.

    The file extension determines the format. Raises DataError if the data are damaged or truncated.
    """
    known = _unpacker(Path(place).suffix.lower())
    if known is None:
        yield from iter(lambda: raw.read(BLOCK), b"")
        return
    make, damaged = known
    unpacker: _Unpacker | None = None
    data = raw.read(_PACKED)
    if not data:
        raise DataError("the file is empty", file=place)
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
        raise DataError("the file is truncated", file=place)


def _whole(parts: Iterable[bytes], place: str, *, wrapped: bool) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of whole lines, or of whole paragraphs if `wrapped` is true, each with its number of newlines."""
    rest: list[bytes] = []
    size, enough, line = 0, BLOCK, 1
    for part in parts:
        rest.append(part)
        size += len(part)
        if size < enough:
            continue
        data = b"".join(rest)
        end = _last_blank(data) if wrapped else data.rfind(b"\n") + 1
        if end:
            newlines = data.count(b"\n", 0, end)
            line += newlines
            yield data[:end], newlines
        rest, size = [data[end:]], len(data) - end
        enough = size + BLOCK
        if size > _LONGEST:
            raise DataError(f"contains a line or paragraph longer than {_LONGEST >> 20} MiB", file=place, line=line)
    if size:
        data = b"".join(rest)
        yield data, data.count(b"\n")


def _last_blank(data: bytes) -> int:
    """Return the byte offset after the last blank line, or 0 if there is none."""
    at = len(data)
    while (at := data.rfind(b"\n", 0, at)) > 0:
        before = data.rfind(b"\n", 0, at)
        if before >= 0 and not data[before:at].strip():
            return at + 1
    return 0
