"""Resolution of data names: paths, bundled sets, and data sets on the Hugging Face hub."""

from __future__ import annotations

import contextlib
import difflib
import glob
import re
from collections.abc import Sequence
from pathlib import Path

from penchant.errors import DataError
from penchant.hub.data_sets import address, fetched, is_hub
from penchant.text_io import exists, is_file

PACKAGE = Path(__file__).parent.parent
"""Directory of the installed package, whose subdirectories contain the bundled data."""
SET_FILE = "set.yaml"
"""Name of the file that marks a directory as a set of stimuli."""


_WILD = re.compile(r"[*?\[]")


def listed(names: str | Sequence[str] | None) -> list[str]:
    """Return one or more names as a list, or an empty list for None."""
    return [names] if isinstance(names, str) else list(names or ())


def bundled(home: Path, file: str) -> list[str]:
    """Return the sorted names of the directories in `home` that contain a file called `file`."""
    return sorted(place.parent.name for place in home.glob(f"*/{file}"))


def find_data(name: str | Path, *, base: Sequence[str | Path] | None = None, sets: Path | Sequence[Path] = ()) -> Path:
    """Return the path of a file or directory with data.

    The path is searched for in the directories of `base` (default: the working directory), then among the bundled sets
    in the folders `sets`. Data on the hub (`penchant.hub.data_sets.FORM`) are downloaded. Raises DataError, with the
    directories searched and similar names, if nothing is found.
    """
    if not str(name).strip():
        raise DataError("the name of the data is empty", where="data", hint="give a file or a directory")
    if is_hub(name):
        return fetched_one(name)
    path = Path(name)
    directories = [Path()] if base is None else [Path(directory) for directory in base]
    places = [path] if path.is_absolute() else [directory / path for directory in directories]
    for place in places:
        if exists(place):
            return place
    homes = [sets] if isinstance(sets, Path) else sets
    known = {each: home / each for home in reversed(homes) for each in bundled(home, SET_FILE)}
    if str(name) in known:
        return known[str(name)]
    searched = ", ".join(dict.fromkeys(str(place.parent.absolute()) for place in places)) or "no directory"
    similar = _similar(path, list(known), [place.parent for place in places])
    hint = f"did you mean {', '.join(similar)}?" if similar else "check the name, or give the full path"
    raise DataError(f"no such file or directory (looked in {searched})", where=str(name), hint=hint)


def find_all(name: str | Path, *, base: Sequence[str | Path], sets: Path | Sequence[Path] = ()) -> list[Path]:
    """Return the path of a file or directory, or the sorted paths of the files that a pattern matches.

    A pattern contains * ? [ ] or **; it is matched on the hub or in the first directory of `base` with a match. Raises
    DataError if there is no match.
    """
    if is_hub(name):
        return fetched(name)
    for directory in base:
        if files := matching(Path(directory) / name):
            return files
    return [find_data(name, base=base, sets=sets)]


def fetched_one(name: str | Path) -> Path:
    """Download a file or directory from the hub, unless it is cached, and return the local path.

    Raises DataError if it cannot be downloaded or if `name` is a pattern that matches several files.
    """
    files = fetched(name)
    if len(files) > 1:
        message = f"the pattern matches {len(files)} files, but only one can be read"
        raise DataError(message, where=str(name), hint=f"give one, such as {address(files[0])}")
    return files[0]


def matching(pattern: Path) -> list[Path]:
    """Return the sorted files that match a pattern, or an empty list if it has no wildcard or is the name of a file.

    Hidden files match only if their names are given in full.
    """
    if not _WILD.search(str(pattern)) or exists(pattern):
        return []
    found = glob.glob(str(pattern), recursive=True)  # noqa: PTH207 (unlike that of Path it leaves out hidden files)
    return [Path(file) for file in sorted(found) if is_file(file)]


def _similar(path: Path, known: Sequence[str], folders: Sequence[Path]) -> list[str]:
    names = set(known)
    for folder in dict.fromkeys(folders):
        with contextlib.suppress(OSError):
            names |= {child.name for child in folder.iterdir()}
    originals: dict[str, str] = {}
    for name in sorted(names):
        originals.setdefault(name.casefold(), name)
        originals.setdefault(Path(name).stem.casefold(), name)
    close = difflib.get_close_matches(path.name.casefold(), list(originals), n=4, cutoff=0.7)
    close += difflib.get_close_matches(path.stem.casefold(), list(originals), n=4, cutoff=0.7)
    return list(dict.fromkeys(originals[match] for match in close))[:3]


def suggestion(name: str, present: Sequence[str]) -> str:
    """Return a hint about a missing column: the most similar column, if any, and a list of the columns present."""
    listing = f"the columns are {', '.join(present)}"
    folded = {column.casefold().strip(): column for column in reversed(present)}
    near = difflib.get_close_matches(name.casefold(), folded, n=1) or [
        c for c in folded if name.casefold() in c.split()
    ]
    return f"did you mean {folded[near[0]]}? {listing}" if near else listing
