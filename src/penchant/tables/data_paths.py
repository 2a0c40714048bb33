"""Locate the data that a user names: by absolute path, by path relative to some directories, or by bundled name."""

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
"""The directory of the installed package, whose subdirectories hold the bundled data."""
SET_FILE = "set.yaml"
"""The file that marks a directory as a set of stimuli."""


_WILD = re.compile(r"[*?\[]")


def listed(names: str | Sequence[str] | None) -> list[str]:
    """Return one name or several as a list; an empty list for None."""
    return [names] if isinstance(names, str) else list(names or ())


def bundled(home: Path, file: str) -> list[str]:
    """Return the sorted names of the directories in `home` that hold a file of that name."""
    return sorted(place.parent.name for place in home.glob(f"*/{file}"))


def find_data(name: str | Path, *, base: Sequence[str | Path] | None = None, sets: Path | Sequence[Path] = ()) -> Path:
    """Locate a file or directory. Raises DataError naming the places searched, and similar names there.

    It is the first match under the directories of `base` (default: the working directory), else the directory of that
    name in `sets`, one folder of bundled sets or several. A name of the hub (`penchant.hub.data_sets.FORM`) is fetched.
    """
    if not str(name).strip():
        raise DataError("the name of the data is empty", where="data", hint="name a file or a directory")
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
    hint = f"did you mean {', '.join(similar)}?" if similar else "check the name, or give the whole path"
    raise DataError(f"no such file or directory (looked in {searched})", where=str(name), hint=hint)


def find_all(name: str | Path, *, base: Sequence[str | Path], sets: Path | Sequence[Path] = ()) -> list[Path]:
    """Locate the file or directory of a name, or the sorted files that a pattern matches. Raises DataError.

    A pattern has * ? [ ] or **; its files are those in the first directory of `base` that has any, or on the hub.
    """
    if is_hub(name):
        return fetched(name)
    for directory in base:
        if files := matching(Path(directory) / name):
            return files
    return [find_data(name, base=base, sets=sets)]


def fetched_one(name: str | Path) -> Path:
    """Return the file or directory of a name of the hub. Raises DataError, also for a pattern that matches several."""
    files = fetched(name)
    if len(files) > 1:
        message = f"the pattern matches {len(files)} files where one is read"
        raise DataError(message, where=str(name), hint=f"name one, such as {address(files[0])}")
    return files[0]


def matching(pattern: Path) -> list[Path]:
    """Return the files that a pattern matches, sorted; none for a name that is no pattern or that exists.

    Hidden files match only if they are named in full.
    """
    if not _WILD.search(str(pattern)) or exists(pattern):
        return []
    found = glob.glob(str(pattern), recursive=True)  # noqa: PTH207 (unlike that of Path it leaves out hidden files)
    return [Path(file) for file in sorted(found) if is_file(file)]


def _similar(path: Path, known: Sequence[str], folders: Sequence[Path]) -> list[str]:
    """Return up to three names, known or in the folders, that are close to the path's, ignoring case and suffix."""
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
    """Return a hint about a column that is missing: the one that may be meant, and the columns there are."""
    listing = f"the columns are {', '.join(present)}"
    folded = {column.casefold().strip(): column for column in reversed(present)}
    near = difflib.get_close_matches(name.casefold(), folded, n=1) or [
        c for c in folded if name.casefold() in c.split()
    ]
    return f"did you mean {folded[near[0]]}? {listing}" if near else listing
