"""HTML report: a page that works offline and shows the results down to individual tokens.

All numbers come from results; none is computed here. Text from data, models or files is escaped, or packed into blocks
that the page inserts only as text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from penchant._version import __version__
from penchant.errors import OutputError, encodable
from penchant.files import head, refuse_other, write_text
from penchant.report.figures import INK, Figure, converter
from penchant.report.html_context import ASSETS, environment, section_view
from penchant.report.item_payload import ItemBlocks, block, pack
from penchant.report.references import PENCHANT, Reference
from penchant.report.sections import Document
from penchant.wording.templates import common

LIMIT = 4_900_000
"""The maximum size of a page in bytes, small enough for email."""

_GENERATOR = b'<meta name="generator" content="penchant '
"""Marker near the beginning of a file that identifies it as a report."""
_MADE_OF = re.compile(rb'<meta name="penchant-results" content="([0-9a-f]+)">')
_BLOCK = "penchantBlock("
"""The beginning of the content of item files, which are stored beside a report."""


def write_report(document: Document, path: str | Path) -> list[str]:
    """Write the report of a study and, to a folder beside it, token data that do not fit into the page.

    Each file is written atomically. Returns sentences about content omitted from the page or moved to the folder.
    Raises OutputError if a file cannot be written or if a file that would be replaced is not part of a penchant report.
    """
    target = Path(path)
    refuse_other(target, "a penchant report", lambda file: _GENERATOR in head(file))
    folder = f"{target.stem}-items"
    html, beside, remarks = page(document, folder)
    places = {name: target.parent / folder / f"{name}.js" for name in beside}
    for place in places.values():
        refuse_other(place, "part of a penchant report", _is_block)
    for name, text in beside.items():
        write_text(f'{_BLOCK}"{name}","{text}");\n', places[name])
    write_text(encodable(html), target)
    _remove_old_blocks(target.parent / folder, beside)
    return remarks


def report_made_of(path: Path) -> str:
    """Return the hash of the results recorded in a report (`Document.made_of`), or "" if there is none."""
    try:
        start = head(path)
    except OSError:
        return ""
    found = _MADE_OF.search(start) if _GENERATOR in start else None
    return found[1].decode() if found else ""


def _remove_old_blocks(folder: Path, kept: Mapping[str, str]) -> None:
    """Remove the item files of an earlier report, except those in `kept`, and then the folder if it is empty."""
    if not folder.is_dir():
        return
    try:
        for old in folder.glob("items-*.js"):
            if old.stem not in kept and _is_block(old):
                old.unlink()
        if not kept and not any(folder.iterdir()):
            folder.rmdir()
    except OSError as error:
        raise OutputError(f"cannot remove files of an earlier report: {error.strerror}", where=str(folder)) from error


def chart_page(figure: Figure) -> str:
    """Return a figure as an HTML page."""
    context = {"version": __version__, "title": figure.title, "text": figure.text, "spec": figure.spec()}
    return environment().get_template("chart.html").render(context, library=_library())


def _is_block(file: Path) -> bool:
    return file.is_file() and head(file).startswith(_BLOCK.encode())


def page(document: Document, folder: str) -> tuple[str, dict[str, str], list[str]]:
    """Return the HTML page, the item files for `folder` (by name), and sentences about omitted items."""
    signatures: dict[str, int] = {}
    numbers = itertools.count()
    parts = [
        section_view(placed.place if placed.section.items is None else f"s{next(numbers)}", placed, signatures)
        for placed in document.sections
    ]
    specs: list[dict[str, Any]] = []
    references: dict[str, Reference] = {}
    for part in parts:
        references |= {reference.key: reference for reference in part["cited"]}
        for figure in part["figures"]:
            figure["spec"] = len(specs)
            specs.append(_themed(figure.pop("drawing").spec()))
    blocks = {"specs": block(specs), "signatures": block(list(signatures))}
    context = {
        "version": __version__,
        "title": " and ".join(dict.fromkeys(run.title for run in document.runs)) or "Saved results",
        "questions": list(filter(None, dict.fromkeys(run.question for run in document.runs))),
        "unfinished": " ".join(filter(None, (run.unfinished for run in document.runs))),
        "made_of": document.made_of,
        "edited": [file for run in document.runs for file in run.edited],
        "models": document.models(),
        "sections": parts,
        "words": _words(parts),
        "signatures": list(signatures),
        "notes": document.notes,
        "references": [*references.values(), PENCHANT],
        "runs": document.runs,
        "css": _asset("page.css"),
        "script": _asset("narrow.js") + _asset("page.js"),
        "library": _library(),
        "weight": "Nothing is fetched from a network.",
    }
    beside, remarks = _distribute([part for part in parts if part["listing"]], blocks, context, folder)
    return environment().get_template("page.html").render(context, blocks=blocks.items()), beside, remarks


def _distribute(
    parts: list[dict[str, Any]], blocks: dict[str, str], context: dict[str, Any], folder: str
) -> tuple[dict[str, str], list[str]]:
    """Add packed item tables, then token data, to `blocks` until the page is full.

    Returns the token data that do not fit, by name, and sentences about omissions. Updates in place the template
    variables of the sections (`parts`) and of the page (`context`).
    """
    for part in parts:
        part["listing"].update(said="", beside="")
    bare = environment().get_template("page.html").render(context, blocks=blocks.items())
    room = LIMIT - len(bare.encode(errors="backslashreplace")) - 2000 * len(parts)
    by_name: dict[str, ItemBlocks] = {}
    # From the smallest table on, so that the larger ones share the room that the smaller ones leave.
    smallest = sorted(parts, key=lambda part: len(part["table"].columns[0].values))
    for left, part in zip(range(len(parts), 0, -1), smallest, strict=True):
        name = part["listing"]["id"]
        by_name[name] = pack(part["table"], name, max(1, room // left))
        room -= len(by_name[name].table)
    beside: dict[str, str] = {}
    remarks = []
    for part in parts:
        packed = by_name[part["listing"]["id"]]
        blocks[f"{packed.name}-table"] = packed.table
        size = sum(map(len, packed.details.values()))
        noun = part["listing"]["noun"]
        notes = []
        if packed.shown < packed.total:
            notes.append(
                f"To limit the size of the page, {packed.shown:,} of {packed.total:,} {noun} are shown, evenly spaced; "
                "items.parquet contains all of them."
            )
        if size <= room:
            blocks.update(packed.details)
            room -= size
        else:
            beside.update(packed.details)
            part["listing"]["beside"] = folder
            notes.append(
                f"The tokens of the {noun} ({size / 1e6:.1f} MB) are in the folder {folder} beside this page; keep the "
                "page and the folder together."
            )
        part["listing"]["said"] = " ".join(notes)
        remarks += notes
    if not beside:
        context["weight"] = "One file; nothing is fetched from a network."
    return beside, remarks


def _themed(part: Any) -> Any:
    if isinstance(part, Mapping):
        return {key: _themed(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_themed(value) for value in part]
    return "var(--ink)" if part == INK else part


def _words(parts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the glossary terms that occur in the sections, with their meanings."""
    text = "\n".join(string for part in parts for key in _SHOWN for string in _strings(part[key]))
    text += "signature" if any(part["signatures"] for part in parts) else ""
    return [(word, own["meaning"]) for word, own in common("glossary").items() if re.search(own["pattern"], text)]


_SHOWN = ("question", "cautions", "shown", "tables", "compared", "limits", "methods", "figures")
_UNSEEN = {"rows", "id", "drawing", "spec", "picks", "numbers", "mark"}
"""Keys not searched for glossary terms: names given by users, element ids, and drawings."""


def _strings(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping):
        for key, value in part.items():
            if key not in _UNSEEN:
                yield from _strings(value)
    elif isinstance(part, list | tuple):
        for each in part:
            yield from _strings(each)


def _asset(name: str) -> Markup:
    return Markup((ASSETS / name).read_text("utf-8"))


@cache
def _library() -> Markup:
    return Markup(converter().javascript_bundle())  # the whole library, since no snippet is given
