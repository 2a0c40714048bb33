"""Atomic writing of files, protection of existing files, and hashing.

Each writer fills a temporary file beside its target and then renames it, so that a reader never sees a partial file,
and an interruption at any moment leaves the previous file intact. Targets that are not regular files are refused. A
command whose target is given by the user also calls `refuse_inputs` and `refuse_other` before its work begins.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import itertools
import json
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal
from urllib.parse import unquote

from penchant.errors import OutputError, machine_error
from penchant.text_io import opened

if TYPE_CHECKING:
    import polars as pl

_HINTS = {
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some space, or write to another disk",
    errno.EACCES: "choose a directory you may write to",
    errno.EPERM: "choose a directory you may write to",
    errno.EROFS: "choose a directory you may write to",
    errno.ENOTDIR: "check the path: a part of it is a file, not a directory",
    errno.EEXIST: "check the path: a part of it is a file, not a directory",
    errno.EISDIR: "give the path of a file",
}


def write_bytes(data: bytes, path: str | Path) -> None:
    """Write `data` to a file atomically, creating parent directories.

    Raises OutputError if the file cannot be written.
    """
    with replacing(path) as stream:
        stream.write(data)


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a temporary file in the target's directory; on exit, flush it to disk and rename it to the target.

    Parent directories are created. Raises OutputError if the file cannot be written, or if the target is a directory, a
    device, a pipe or a socket; no partial file is left behind.
    """
    target = Path(path)
    try:
        _require_regular(target)
        real = _real(target)
        created = [folder for folder in real.parents if not folder.exists()]
        real.parent.mkdir(parents=True, exist_ok=True)
        temporary = real.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            with temporary.open("xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(real)
            for folder in (real.parent, *(folder.parent for folder in created)):
                _sync(folder)
        except BaseException:  # KeyboardInterrupt too
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except Exception as error:
        if not isinstance(of := machine_error(error), OSError):
            raise
        raise _unwritable(target, of) from error


def _sync(folder: Path) -> None:
    handle = _handle(folder)
    if handle is not None:
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _real(target: Path) -> Path:
    """Return the path to which `open` would write, with symbolic links resolved.

    A missing folder followed by `..` is dropped from the path, as if it existed, since missing folders are created.
    """
    return Path(os.path.realpath(target))


def _unwritable(target: Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error)
    return OutputError(f"cannot be written: {reason}", where=str(target), hint=_HINTS.get(error.errno or 0, ""))


def _require_regular(target: Path) -> int:
    """Return the size of the target, or 0 if it does not exist; raise OutputError if it is not a regular file."""
    try:
        status = _real(target).stat()
    except FileNotFoundError:
        return 0
    if stat.S_ISDIR(status.st_mode):
        raise OutputError("is a directory", where=str(target), hint=_HINTS[errno.EISDIR])
    if not stat.S_ISREG(status.st_mode):
        raise OutputError("is a device, a pipe or a socket", where=str(target), hint="give the path of a regular file")
    return status.st_size


def occupied(path: str | Path) -> bool:
    """Return whether anything exists at `path`, even a broken link; raise OutputError for an invalid path."""
    target = Path(path)
    try:
        return target.is_symlink() or bool(_real(target).lstat())
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _unwritable(target, error) from error


def refuse_inputs(out: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raise OutputError if `out` is one of the input files, even under another path or through a link."""
    for file in inputs:
        with contextlib.suppress(OSError):  # one of the files does not exist
            if _real(Path(out)).samefile(file):
                raise OutputError("is one of the input files", where=str(out), hint="give another output file")


def refuse_other(out: str | Path, kind: str, is_kind: Callable[[Path], bool]) -> None:
    """Raise OutputError if `out` exists and is not of the expected kind, so that only such files are replaced.

    `is_kind` tests whether a file is of that kind, and `kind` describes the kind in the message. An empty file may be
    replaced; a file that cannot be read may not.
    """
    target = Path(out)
    try:
        size = _require_regular(target)
    except OSError as error:
        raise _unwritable(target, error) from error
    with contextlib.suppress(OSError):
        if not size or is_kind(_real(target)):
            return
    raise OutputError(f"already exists and is not {kind}", where=str(target), hint="move it away, or give another file")


def head(path: Path, size: int = 4096) -> bytes:
    """Return the first `size` bytes of a regular file; raise OSError for other files, such as pipes and devices."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    with path.open("rb") as stream:
        return stream.read(size)


@contextlib.contextmanager
def holding(path: Path) -> Iterator[int | None]:
    """Lock a directory or file and yield its file descriptor.

    Raises BlockingIOError if another process holds the lock. The lock is also released if the process dies. On systems
    without file locks nothing is locked, and the descriptor may be None.
    """
    handle = _handle(path)
    try:
        if handle is not None:
            _lock(handle)
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _handle(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDONLY)
    except OSError:  # missing, or cannot be opened, as on Windows
        return None


def _lock(handle: int) -> None:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # the file system has no locks
        return


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write several files, or none of them if the disk is full. Raises OutputError if one cannot be written."""
    with contextlib.ExitStack() as stack:
        for path, data in files.items():
            stream = stack.enter_context(replacing(path))
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())


def write_text(text: str, path: str | Path) -> None:
    """Write `text` as UTF-8 with its line endings unchanged. Raises OutputError if the file cannot be written."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise OutputError(
            f"cannot be written: character {error.start + 1} is half of a surrogate pair", where=str(path)
        ) from error
    write_bytes(data, path)


def write_json(obj: object, path: str | Path) -> None:
    """Write `obj` as indented JSON with a final newline; raise ValueError for NaN and infinities."""
    write_bytes(as_json(obj), path)


def as_json(obj: object) -> bytes:
    """Return `obj` as indented JSON in UTF-8 with a final newline; raise ValueError for NaN and infinities."""
    text = json.dumps(obj, ensure_ascii=False, indent=2, allow_nan=False)
    # A lone surrogate, as in a file name that is not UTF-8, is written as \udcxx, JSON's own escape.
    return (text + "\n").encode("utf-8", "backslashreplace")


def write_parquet(
    frame: pl.DataFrame,
    path: str | Path,
    *,
    row_group_size: int | None = None,
    compression: Literal["zstd", "uncompressed"] = "zstd",
) -> None:
    """Write a table as Parquet, with `row_group_size` rows in each row group.

    Raises OutputError if the file cannot be written.
    """
    buffer = io.BytesIO()
    frame.write_parquet(buffer, row_group_size=row_group_size, compression=compression)
    write_bytes(buffer.getvalue(), path)


_LONGEST = 100
"""The maximum length in bytes of a name returned by `safe`, which leaves room for numbers and extensions."""
_RESERVED = re.compile(r"(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(\.|\Z)", re.IGNORECASE)
"""Device names on Windows, with or without an extension."""


def safe(name: str) -> str:
    """Return a file name, based on `name`, that is valid on every system and cannot refer to another directory.

    White space, control characters, ASCII punctuation other than _.@+- and dots at either end are replaced by _. Long
    names are truncated and end in a hash of the whole name.
    """
    clean = "".join(char if _fits(char) else "_" for char in name)
    clean = re.sub(r"\A\.+|\.+\Z", "_", clean)
    if not clean or _RESERVED.match(clean):
        clean = f"_{clean}"
    if len(clean.encode()) <= _LONGEST:
        return clean
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{clean.encode()[: _LONGEST - 9].decode(errors='ignore')}-{digest}"


def _fits(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char in "_.@+-"
    return unicodedata.category(char)[0] not in "CZ"


def distinct(name: str, taken: Iterable[str]) -> str:
    """Return `safe(name)`, followed by a number if it equals one of `taken`, ignoring case and Unicode form."""
    base = safe(name)
    folded = {_folded(other) for other in taken}
    numbered = (f"{base}-{i}" for i in itertools.count(2))
    return next(each for each in itertools.chain([base], numbered) if _folded(each) not in folded)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def sha256_file(path: str | Path) -> str:
    """Return the SHA-256 hash of a file's bytes in hexadecimal; raise DataError if the file cannot be read."""
    with opened(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def join_names(names: Iterable[str], separator: str = "+") -> str:
    """Join names into one value of a signature; the separator and `%` are percent-encoded for `split_names`."""
    escape = str.maketrans({mark: f"%{ord(mark):02X}" for mark in f"%{separator}"})
    return separator.join(name.translate(escape) for name in names)


def split_names(text: str, separator: str = "+") -> list[str]:
    """Split a value created by `join_names` into its names; there is at least one, which may be empty."""
    return [unquote(part) for part in text.split(separator)]


def cited(paths: Sequence[Path]) -> str:
    """Return the stems of files and six digits of their joint hash for a signature; "none" if there are no files."""
    if not paths:
        return "none"
    digest = hashlib.sha256("".join(sha256_file(path) for path in paths).encode()).hexdigest()
    return f"{join_names(path.stem for path in paths)}#{digest[:6]}"
