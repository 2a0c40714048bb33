"""The contents of a result directory for readers, as JSON, and comparison of two; for same_report and freeze.

Only what penchant prints and writes is read (its commands, the page, exports), so that this outlives changes inside it.
Left out is what differs by nature (times, versions, machines, paths, the work done) and the look of a page.
"""

import base64
import csv
import html
import json
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from difflib import SequenceMatcher
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest import mock

if "PYTHONPATH" not in os.environ:  # this checkout, not the one that is installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
Place = tuple[str, ...]
_VERSION = re.compile(r"(penchant[: ]|Computer program, version )\d+\.\d+[\w.+]*")
_BY_NATURE = {"begun", "finished", "attempts", "penchant", "software", "hardware", "cluster"}
"""The facts of a run that are left out."""
_TAGS = "title|section|h[1-3]|p|li|summary|figcaption|div|table|caption|tr|th|td|dt|dd|pre"
_ELEMENT = re.compile(rf"<({_TAGS})\b([^>]*)>(.*?)(?=</?(?:{_TAGS})\b|\Z)", re.DOTALL)
_BLOCK = re.compile(r'<script type="text/plain" id="([^"]*)">([^<]*)</script>')


def shown(place: Path) -> Any:
    """Read the output of a result directory, or the JSON made from it. Raises ValueError and OSError."""
    if place.is_file():
        return json.loads(place.read_text("utf-8"))
    if not place.is_dir():
        raise ValueError(f"{place}: no such result directory or file")
    target = place.resolve()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("DIR").symlink_to(target)
        found: dict[str, Any] = {"terminal": _printed("report", "DIR", "-o", "report.html")}
        found["terminal --full"] = _printed("report", "DIR", "-o", "report.html", "--full")
        for form in ("csv", "latex"):
            _printed("export", "DIR", "--to", form, "-o", form)
        found["csv"] = {
            file.name: list(csv.DictReader(_text(file).splitlines(keepends=True))) for file in Path("csv").glob("*.csv")
        }
        found["latex"] = {file.name: _text(file).splitlines() for file in Path("latex").glob("[!.]*")}
        found["page"] = _page(Path("report.html"))
    return found


def _printed(*words: str) -> dict[str, list[str]]:
    """Run a command of penchant; return the lines of its output, and its notes unwrapped. Raises ValueError."""
    from penchant.cli.app import main

    out, err = (TextIOWrapper(BytesIO(), "utf-8", newline="\n", write_through=True) for _ in range(2))
    code: object = 0
    with mock.patch.dict(os.environ, {"COLUMNS": "100"}), mock.patch.object(sys, "argv", ["penchant", *words]):
        try:
            with redirect_stdout(out), redirect_stderr(err):
                main()
        except SystemExit as end:
            code = end.code
    lines, notes = (_neutral(stream.buffer.getvalue().decode()) for stream in (out, err))
    if code:
        raise ValueError((notes.splitlines() or [f"penchant {words[0]} ended with {code}"])[-1])
    return {"lines": lines.splitlines(), "notes": re.sub(r"\n +", " ", notes).splitlines()}


def _neutral(text: str) -> str:
    return _VERSION.sub(r"\1VERSION", text)


def _text(file: Path) -> str:
    return _neutral(file.read_text("utf-8"))


def _page(file: Path) -> dict[str, Any]:
    """Return the texts of a report by section and heading, its tables and figures, and its items."""
    page = _text(file)
    packed = dict(_BLOCK.findall(page))
    for beside in Path(f"{file.stem}-items").glob("*.js"):
        packed |= re.findall(r'^penchantBlock\("([^"]*)","([^"]*)"\)', beside.read_text("utf-8"))
    blocks = {name: json.loads(zlib.decompress(base64.b64decode(text), -15)) for name, text in packed.items()}
    specs = [_numbered(spec) for spec in blocks.pop("specs")]
    texts: dict[str, list[str]] = {}
    tables: dict[str, list[dict[str, str]]] = {}
    figures: dict[str, Any] = {}
    section = heading = term = table = ""
    for tag, attributes, content in _ELEMENT.findall(re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)):
        given = {key: html.unescape(value) for key, value in re.findall(r'([\w-]+)="([^"]*)"', attributes)}
        text = " ".join(html.unescape(re.sub(r"<[^>]*>", "", content)).split())
        if tag == "section":
            section, heading = given["aria-labelledby"], ""
        elif tag == "table":
            table = given.get("id", "")
        elif tag == "tr":
            tables.setdefault(table, []).append({})
        elif tag in ("td", "th"):
            row = tables[table][-1]
            name = given.get("data-label", f"column {len(row)}")
            row[f"{name} ({len(row)})" if name in row else name] = text
        elif "data-spec" in given:
            picks = {"picks": given["data-picks"], "spec": specs[int(given["data-spec"])]}
            figures[given["aria-describedby"].split()[-1].removesuffix("-text")] = picks
        elif tag == "dt":
            term = text
        elif text and not (tag == "dd" and term in _BY_NATURE):
            heading = text if tag == "h3" else heading
            texts.setdefault(f"{section} {heading}".strip(), []).append(f"{term}: {text}" if tag == "dd" else text)
    tables.pop("", None)  # the work done
    return {"texts": texts, "tables": tables, "figures": figures, "items": dict(map(_items, blocks.items()))}


def _numbered(spec: dict[str, Any]) -> Any:
    """Return a figure whose data sets are named by number, not by a hash of their contents."""
    text = json.dumps(spec)
    for i, name in enumerate(spec.get("datasets", {})):
        text = text.replace(f'"{name}"', f'"data {i}"')
    return json.loads(text)


def _items(block: tuple[str, Any]) -> tuple[str, Any]:
    """Return a block of items, without the hash in its name, with its columns and strips by title and model."""
    name, part = block
    if isinstance(part, dict):
        part.pop("details", None)
        for key in {"columns", "strips"} & set(part):
            part[key] = {f"{i} {each['title']} {each['model']}".strip(): each for i, each in enumerate(part[key])}
    else:
        part = [_neutral(text) for text in part]
    return re.sub(r"-[0-9a-f]{10}(?=-\d+$)", "", name), part


def differences(before: Any, after: Any, at: Place = ()) -> Iterator[tuple[Place, str]]:
    """Compare two readings; yield the place of every difference, and its description."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            if key in before and key in after:
                yield from differences(before[key], after[key], (*at, key))
            else:
                there, part = ("before", before[key]) if key in before else ("after", after[key])
                yield (*at, key), f"is only {there}: {part!r}"
    elif isinstance(before, list) and isinstance(after, list):
        parts = [("replace", 0, len(before), 0, len(after))]
        if len(before) != len(after):
            one, other = ([json.dumps(each) for each in part] for part in (before, after))
            parts = [*SequenceMatcher(None, one, other, autojunk=False).get_opcodes()]
        for _, start, end, first, last in (part for part in parts if part[0] != "equal"):
            pieces = [
                {str(start + i): each for i, each in enumerate(part)} for part in (before[start:end], after[first:last])
            ]
            yield from differences(pieces[0], pieces[1], at)
    elif before != after:
        yield at, f"{before!r} became {after!r}"
