"""Where the data a study names are: an absolute path, a path looked up in a list of directories, or a bundled name."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from penchant.errors import DataError

BUNDLED = Path(str(files("penchant"))) / "stimuli"
"""The data that ship with penchant, each in a directory of its own."""


def bundled_data() -> list[str]:
    """The names of the data sets that ship with penchant."""
    return sorted(place.parent.name for place in BUNDLED.glob("*/set.yaml"))


def find_data(name: str | Path, *, base: Sequence[str | Path] | None = None) -> Path:
    """The file or directory `name` stands for: the first found under the directories of `base`, in their order, or the
    bundled data set of that name.

    Without `base`, the working directory. Raises DataError naming the places looked in, and names like it there.
    """
    if not str(name).strip():
        raise DataError("the name of the data is empty", where="data", hint="name a file or a directory")
    wanted = Path(name)
    directories = [Path()] if base is None else [Path(directory) for directory in base]
    places = [wanted] if wanted.is_absolute() else [directory / wanted for directory in directories]
    for place in places:
        with contextlib.suppress(OSError):  # not ours to look into, or a name no file can have
            if place.exists():
                return place
    if str(name) in bundled_data():
        return BUNDLED / str(name)
    looked = ", ".join(dict.fromkeys(str(place.parent.absolute()) for place in places)) or "no directory"
    near = _near(wanted, [place.parent for place in places])
    hint = f"did you mean {', '.join(near)}?" if near else "check the name, or give the whole path"
    raise DataError(f"no such file or directory (looked in {looked})", where=str(name), hint=hint)


def _near(wanted: Path, folders: Sequence[Path]) -> list[str]:
    """Names in the folders that are close to the one wanted, without regard to case or suffix."""
    names = set(bundled_data())
    for folder in dict.fromkeys(folders):
        with contextlib.suppress(OSError):
            names |= {child.name for child in folder.iterdir()}
    spelled: dict[str, str] = {}
    for name in sorted(names):
        spelled.setdefault(name.casefold(), name)
        spelled.setdefault(Path(name).stem.casefold(), name)
    close = difflib.get_close_matches(wanted.name.casefold(), list(spelled), n=4, cutoff=0.7)
    close += difflib.get_close_matches(wanted.stem.casefold(), list(spelled), n=4, cutoff=0.7)
    return list(dict.fromkeys(spelled[match] for match in close))[:3]
