"""Files and URLs of running text, given as paths, patterns and directories."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

from penchant.errors import DataError, MethodError, PenchantError, first_line, one_of
from penchant.hub.data_sets import is_hub, pinned_url

Kind = Literal["text", "jsonl", "parquet"]
Layout = Literal["paragraphs", "sentences", "wrapped"]
LAYOUTS: tuple[str, ...] = get_args(Layout)
"""Layouts of text: one paragraph per line, one sentence per line, or wrapped paragraphs between blank lines."""
COMPRESSED = (".gz", ".zst", ".xz", ".bz2")


def check_layout(name: str) -> Layout:
    """Return `name` if it is the name of a layout. Raises MethodError otherwise."""
    if name not in LAYOUTS:
        raise MethodError(f"unknown layout '{name}'", hint=one_of(name, LAYOUTS))
    return cast(Layout, name)


@dataclass(frozen=True, slots=True)
class TextFile:
    """File of running text: its path or URL, the name used in sentence ids, and the stored size in bytes."""

    place: str
    name: str
    size: int

    @property
    def kind(self) -> Kind:
        """The file's format, determined by its extension."""
        ending = plain_ending(self.name)
        if ending in (".jsonl", ".ndjson", ".json"):
            return "jsonl"
        return "parquet" if ending == ".parquet" else "text"

    def record(self, sha256: str) -> dict[str, Any]:
        """Return the file's name, size and hash for the extraction metadata."""
        return {"name": self.name, "size": self.size, "sha256": sha256}


class Block(NamedTuple):
    """Block of consecutive records (lines or table rows) of a file; `first` is the 1-based number of the first record.

    `data` has whole lines as stored, with `newlines` newlines, or the texts of rows (None for a missing text). `at` is
    the number of bytes of the stored file read up to the end of the block; for Parquet, it is estimated from the number
    of rows.
    """

    file: int
    first: int
    data: bytes | list[str | None]
    at: int
    newlines: int = 0


def plain_ending(name: str) -> str:
    """Return the file extension in lower case, ignoring a compression extension."""
    path = Path(name)
    return (path.with_suffix("") if path.suffix.lower() in COMPRESSED else path).suffix.lower()


# Finding ----------------------------------------------------------------------------------------------------------


def find_texts(names: Sequence[str | Path], base: Sequence[Path] = (Path(),)) -> list[TextFile]:
    """Return the text files for paths, glob patterns, directories, and URLs supported by fsspec.

    Relative paths are looked up in each directory of `base` in turn; directories are searched recursively, without
    hidden files. The order of `names` is kept; the files of a pattern or directory are sorted by name. Raises DataError
    if a name matches no file or a file is given twice.
    """
    if not names:
        raise DataError("no text is given", hint="give files, patterns, directories or URLs")
    sizes: dict[str, int] = {}
    seen: set[str] = set()
    for name in names:
        places = _expand(str(name), base)
        if not places:
            raise DataError("no files found", where=str(name))
        for place, size in places:
            real = place if "://" in place else os.path.realpath(place)
            if real in seen:
                raise DataError("the file is given twice", where=place, hint="give each file once")
            seen.add(real)
            sizes[place] = size
    short_names = _names(list(sizes))
    return [
        TextFile(place, short_name, size) for (place, size), short_name in zip(sizes.items(), short_names, strict=True)
    ]


def _expand(name: str, base: Sequence[Path]) -> list[tuple[str, int]]:
    if "://" not in name and (files := _plain_files(name, base)):
        return files
    import fsspec

    try:
        if "://" in name:
            name = pinned_url(name) if is_hub(name) else name
            fs, path = fsspec.core.url_to_fs(name)
            local = fs.protocol == "file" or "file" in fs.protocol
            return [
                (file if local else fs.unstrip_protocol(file), size) for file, size in _matching_files(fs, path, path)
            ]
        fs = fsspec.filesystem("file")
        for directory in base if name.strip() else ():
            pattern = f"{glob.escape(str(directory.absolute()))}/{name}" if not Path(name).is_absolute() else name
            places = _matching_files(fs, str((directory / name).absolute()), pattern)
            if places:
                return places
        return []
    except ImportError as error:
        raise MethodError(f"a package is missing: {error}", where=name, hint="install it with pip") from error
    except ValueError as error:
        raise DataError(f"is not a supported URL: {error}", where=name) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", where=name) from error
    except Exception as error:
        raise remote(error, name) from error


def remote(error: Exception, place: str) -> Exception:
    """Return a DataError in place of an error that occurred when a URL was read; return other errors unchanged."""
    if "://" not in place or isinstance(error, PenchantError):
        return error
    return DataError(f"cannot be read: {first_line(error)}", where=place)


def _plain_files(name: str, base: Sequence[Path]) -> list[tuple[str, int]]:
    """Return (path, size) of the file `name` or of each file in the directory `name`, or [] if fsspec is required."""
    for directory in base if name.strip() and os.sep == "/" else ():
        path = str((directory / name).absolute())
        if os.path.isfile(path):  # noqa: PTH113 (a name that no path can have is no file)
            return [(path, Path(path).stat().st_size)]
        if os.path.isdir(path):  # noqa: PTH112
            return _all_below(path)
    return []


def _all_below(path: str) -> list[tuple[str, int]]:
    files: list[tuple[str, int]] = []
    folders = [path]
    try:
        for folder in folders:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        files.append((entry.path, entry.stat().st_size))
                    else:
                        return []
    except OSError:
        return []
    return sorted(file for file in files if "/." not in file[0][len(path) :])


def _matching_files(fs: Any, path: str, pattern: str) -> list[tuple[str, int]]:
    """Return (path, size) of each file at or below `path` or, if `path` does not exist, of each match of `pattern`.

    The files are sorted by path. Hidden files are included only if the path names them.
    """
    if fs.isdir(path):
        files = [file for file in fs.find(path) if "/." not in file[len(path) :]]
    elif fs.exists(path):
        files = [path]
    else:
        fixed = len(re.split(r"[*?\[]", path)[0])
        files = [file for file in fs.glob(pattern) if not fs.isdir(file)] if fixed < len(path) else []
        files = [file for file in files if "/." not in file[max(fixed - 1, 0) :]]
    return [(file, int(fs.size(file) or 0)) for file in sorted(files)]


def _names(places: Sequence[str]) -> list[str]:
    """Return the paths and URLs relative to their deepest common directory."""
    folders = [os.path.dirname(place) for place in places]  # noqa: PTH120 (URLs too)
    try:
        common = os.path.commonpath(folders)
    except ValueError:
        return [_writable(place) for place in places]
    return [_writable(os.path.relpath(place, common).replace(os.sep, "/")) for place in places]


def _writable(name: str) -> str:
    """Return a name in which backslash escapes replace the bytes that are not UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()
