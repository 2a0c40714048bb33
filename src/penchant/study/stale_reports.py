"""Detection of reports and exports that were made from results that have since changed."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from pathlib import Path

from penchant.plurals import counted, first_of, for_one
from penchant.report.export import Made, exported
from penchant.report.page import report_made_of
from penchant.report.sections import Document
from penchant.text_io import is_directory

_NAMED = 3
"""Maximum number of files named in a caution."""


def outdated(directory: str | Path, document: Document, written: Collection[Path] = ()) -> Iterator[str]:
    """Yield a message for each report and export folder that was made from results that differ from `document`.

    Each message names the outdated files and the command that recreates them; for files in a folder that also contains
    files just exported (`written`), it says instead that they are no longer exported and can be removed. Only reports
    and export folders directly inside the result directory are considered.
    """
    folder = Path(directory)
    if not document.made_of or not is_directory(folder):
        return
    for page in sorted(folder.glob("*.html")):
        if report_made_of(page) not in ("", document.made_of):
            out = [] if page.name == "report.html" else ["-o", str(page)]
            command = shlex.join(["penchant", "report", str(folder), *out])
            yield f"{page.name} was made from results that have changed since: recreate it with {command}"
    just = {path.resolve().parent for path in written}
    for place in sorted(child for child in folder.iterdir() if child.is_dir()):
        old = {name: each for name, each in exported(place).items() if each.of not in ("", document.made_of)}
        if old:
            yield _line(folder, place, old, again=place.resolve() not in just)


def _line(folder: Path, place: Path, old: dict[str, Made], *, again: bool) -> str:
    shown = first_of([*old], _NAMED)
    were = "was" if len(old) == 1 else "were"
    start = f"{place.name}: {counted(len(old), 'files')} {were} made from results that have changed since ({shown})"
    if not again:
        return f"{start} and {for_one(len(old), 'are')} no longer exported: remove {for_one(len(old), 'them')}"
    commands = dict.fromkeys(each.by for each in old.values())
    out = {by: [] if by[1:2] == (place.name,) else ["-o", str(place)] for by in commands}
    again_by = " and ".join(shlex.join(["penchant", "export", str(folder), *by, *out[by]]) for by in commands)
    return f"{start}: recreate {for_one(len(old), 'them')} with {again_by}"
