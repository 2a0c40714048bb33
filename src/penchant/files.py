"""Writing files atomically, and hashing them.

Each writer fills a temporary file beside its target and then renames it, so that a reader never sees a partial file,
and an interruption at any moment leaves the previous one intact.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from penchant.errors import DataError, OutputError

if TYPE_CHECKING:
    import polars as pl

_HINTS = {
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some space, or write to another disk",
    errno.EACCES: "choose a directory you may write to",
    errno.EPERM: "choose a directory you may write to",
    errno.EROFS: "choose a directory you may write to",
    errno.ENOTDIR: "a part of the path is a file, not a directory",
    errno.EEXIST: "a part of the path is a file, not a directory",
    errno.EISDIR: "a directory of that name is in the way",
}


def write_bytes(data: bytes, path: str | Path) -> None:
    """Write `data`, creating parent directories. Raises OutputError and leaves no partial file behind."""
    with replacing(path) as stream:
        stream.write(data)


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a temporary file in the target's directory; on exit, sync it to disk and rename it to the target.

    Parent directories are created. Raises OutputError and leaves no partial file behind.
    """
    target = Path(path)
    try:
        # Follow a symbolic link, as open() does: the link stays and the file it points to is replaced.
        real = Path(os.path.realpath(target))
        real.parent.mkdir(parents=True, exist_ok=True)
        temporary = real.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            with temporary.open("xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(real)
        except BaseException:  # KeyboardInterrupt too
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(
            f"cannot be written: {reason}", where=str(target), hint=_HINTS.get(error.errno or 0, "")
        ) from error


@contextlib.contextmanager
def holding(folder: Path) -> Iterator[None]:
    """Hold a directory: while one process does, another gets BlockingIOError. Ends with the process, however that ends;
    without effect where the system or the file system has no such locks."""
    handle = _handle(folder)
    try:
        if handle is not None:
            _lock(handle)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _handle(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY)
    except OSError:  # not there, or not to be opened, as on Windows
        return None


def _lock(handle: int) -> None:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # the file system has no locks
        return


def write_text(text: str, path: str | Path) -> None:
    """Write `text` as UTF-8 with its line endings unchanged. Raises OutputError."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise OutputError(
            f"cannot be written: character {error.start + 1} is half of a surrogate pair", where=str(path)
        ) from error
    write_bytes(data, path)


def write_json(obj: object, path: str | Path) -> None:
    """Write `obj` as indented JSON with a final newline. Raises ValueError for NaN and infinities, which JSON lacks."""
    text = json.dumps(obj, ensure_ascii=False, indent=2, allow_nan=False)
    # A lone surrogate, as in a file name that is not UTF-8, is written as \udcxx, JSON's own escape.
    write_bytes((text + "\n").encode("utf-8", "backslashreplace"), path)


def write_parquet(
    frame: pl.DataFrame,
    path: str | Path,
    *,
    row_group_size: int | None = None,
    compression: Literal["zstd", "lz4"] = "zstd",
) -> None:
    """Write a table as Parquet in row groups of `row_group_size`. Use lz4 for temporary files. Raises OutputError."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, row_group_size=row_group_size, compression=compression)
    write_bytes(buffer.getvalue(), path)


def safe(name: str) -> str:
    """Make a name fit for a file: every character but letters, digits and _.@+- becomes _."""
    return re.sub(r"[^\w.@+-]", "_", name)


def sha256_file(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal. Raises DataError when it cannot be read."""
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=path) from error


def cited(paths: Sequence[Path]) -> str:
    """Name files in a signature: their stems and the first six digits of a hash over all of them."""
    if not paths:
        return "none"
    digest = hashlib.sha256("".join(sha256_file(path) for path in paths).encode()).hexdigest()
    return f"{'+'.join(path.stem for path in paths)}#{digest[:6]}"
