"""Text of `penchant paper`: what a paper claims, what its study needs and shows, and its study file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from penchant.errors import OutputError
from penchant.files import occupied, write_bytes
from penchant.papers.paper import Paper, paper, papers
from penchant.report.terminal import columns, wrapped
from penchant.wording.templates import Text

_TEXT = Text.of(Path(__file__).parent).below("listing")


def listed() -> list[str]:
    """Return a line for each paper: its name, authors, title and venue."""
    every = [paper(name) for name in papers()]
    width = max(len(each.name) for each in every)
    return [f"{each.name:{width}}  {each.authors}: {each.title} ({each.venue})" for each in every]


def described(name: str) -> Iterator[str]:
    """Yield the lines that describe a paper. Raises MethodError for an unknown name."""
    own = paper(name)
    yield from wrapped(f"{own.authors}: {own.title} ({own.venue})", columns())
    yield own.url
    yield from _part("claims", [f"{claim.text} ({claim.where})" for claim in own.claims])
    yield from _part("shown", of_study(own))
    yield from _part("open", own.open)
    yield from _part("needs", own.needs)


def of_study(own: Paper) -> list[str]:
    """Return a line for each of the paper's tables and figures in a report, with the part that can be reproduced."""
    shown = [*((t.item, t.title, t.status) for t in own.tables), *((f.item, "", f.status) for f in own.figures)]
    return [f"{': '.join(filter(None, (item, title)))} ({status})" for item, title, status in shown]


def _part(key: str, points: Sequence[str]) -> Iterator[str]:
    if points:
        yield ""
        yield _TEXT.get(key)
    for point in points:
        yield from wrapped(point, columns(), "- ")


def write_study(name: str, directory: Path) -> Path:
    """Write a paper's study file into a directory, unless an identical file exists, and return its path.

    Raises OutputError if a different file of this name exists, or if the file cannot be written.
    """
    content, file = paper(name).study.read_bytes(), directory / f"{name}.yaml"
    if occupied(file):
        if file.is_file() and file.read_bytes() == content:
            return file
        raise OutputError("exists with other contents", where=str(file), hint="remove it or give another directory")
    write_bytes(content, file)
    return file
