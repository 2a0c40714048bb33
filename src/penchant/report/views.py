"""Sections as plain dictionaries for the templates of the page and of the notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from penchant.errors import undirected
from penchant.records import Result
from penchant.report.figures import Figure
from penchant.report.items import ItemTable
from penchant.report.references import POINT, Reference, cited
from penchant.report.sections import Placed
from penchant.report.tables import Cell, Number, P, Table

ASSETS = Path(__file__).parent / "assets"


class Signatures:
    """The distinct signatures of a page, which rows refer to by number."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int | None:
        if not text:
            return None
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


def section_view(name: str, placed: Placed, signatures: Signatures) -> dict[str, Any]:
    """The template variables of one section; `name` is its id in the page."""
    section, results = placed.section, placed.results
    tables, between = placed.estimates(), placed.compared()
    views = {table.name: _table_view(table, f"{name}-{table.name}", signatures) for table in (*tables, *between)}
    items = section.items(results) if section.items else None
    methods = placed.methods()
    shown = (row["signature"] for view in views.values() for row in view["rows"] if row["signature"] is not None)
    return {
        "id": name,
        "title": placed.title,
        "question": section.question,
        "finding": placed.finding(),
        "cautions": cautions(results) if items else [],
        "tables": [views[table.name] for table in tables],
        "compared": [views[table.name] for table in between],
        "figures": [_figure(figure, name, items) for figure in placed.figures()],
        "table": items,
        "listing": items
        and {
            "id": f"items-{name.removeprefix('s')}",
            "noun": items.noun,
            "title": f"The {items.noun} ({len(items.columns[0].values):,})",
        },
        "cited": cited(methods, placed.references),
        "limits": placed.limits(),
        "methods": [_paragraph(paragraph, placed.references) for paragraph in methods],
        "signatures": sorted(set(shown)),
    }


def cautions(results: Sequence[Result]) -> list[str]:
    """The cautions of several results, each once, preceded by the models it is about unless it is about all.
    Those about all come first."""
    models: dict[str, list[str]] = {}
    for result in results:
        for caution in dict.fromkeys(result.cautions):
            models.setdefault(caution, []).append(result.signature["model"])
    ordered = sorted(models.items(), key=lambda caution: len(caution[1]) < len(results))
    return [text if len(names) == len(results) else f"{', '.join(names)}: {text}" for text, names in ordered]


def _table_view(table: Table, name: str, signatures: Signatures) -> dict[str, Any]:
    numeric = [any(not isinstance(row.cells[i], str) for row in table.rows) for i in range(len(table.columns))]
    marks = table.footnotes()
    rows = []
    above: tuple[Cell, ...] = ()
    for row in table.rows:
        cells = []
        for i, cell in enumerate(row.cells):
            same = bool(above) and not numeric[i] and above[: i + 1] == row.cells[: i + 1]
            head, _, tail = (
                str(cell).partition(" ")
                if isinstance(cell, Number) and cell.value == cell.value and not cell.few
                else (str(cell), "", "")
            )
            mark = marks.get(cell.note, "") if isinstance(cell, Number) else ""
            shown = {"head": _signed(head, cell), "tail": _signed(tail, cell), "mark": mark}
            cells.append({**shown, "numeric": numeric[i], "same": same})
        rows.append({"cells": cells, "signature": signatures.number(row.signature)})
        above = row.cells
    return {
        "id": name,
        "title": table.title,
        "note": table.note,
        "footnotes": [{"mark": mark, "text": note} for mark, note in table.below()],
        "detail": table.detail,
        "columns": [{"title": title, "numeric": n} for title, n in zip(table.columns, numeric, strict=True)],
        "rows": rows,
    }


def _signed(text: str, cell: Cell) -> str:
    """The text with a minus sign instead of a hyphen before digits, if the cell is a number."""
    return re.sub(r"-(?=\d)", "−", text) if isinstance(cell, Number | P) else text


def _figure(figure: Figure, section: str, items: ItemTable | None) -> dict[str, Any]:
    known = {"item", *(column.title for column in items.columns)} if items else set()
    return {
        "id": f"{section}-figure-{figure.name}",
        "title": figure.title,
        "text": figure.text,
        "numbers": figure.numbers and f"{section}-{figure.numbers}",
        "picks": " ".join(field for field in figure.picks.split() if field in known),
        "drawing": figure,
    }


_MARKS = re.compile(r"\[(?P<keys>@[^\]]+)\]|`(?P<code>[^`]+)`")


def _paragraph(paragraph: str, references: Mapping[str, Reference]) -> dict[str, Any]:
    text, *points = (list(_prose(part, references)) for part in paragraph.split(POINT))
    return {"text": text, "points": points}


def _prose(paragraph: str, references: Mapping[str, Reference]) -> Iterator[dict[str, str]]:
    """Split a paragraph into text, code in backticks, and links to the references it cites."""
    at = 0
    for match in _MARKS.finditer(paragraph):
        yield {"text": paragraph[at : match.start()]}
        at = match.end()
        if match["code"]:
            yield {"text": match["code"], "code": "yes"}
            continue
        keys = [key.strip().removeprefix("@") for key in match["keys"].split(";")]
        for i, key in enumerate(keys):
            yield {"text": "; " if i else "("}
            yield {"text": references[key].short, "key": key}
        yield {"text": ")"}
    yield {"text": paragraph[at:]}


@cache
def environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS), autoescape=True, undefined=jinja2.StrictUndefined, finalize=_undirected
    )


def _undirected(value: object) -> object:
    return type(value)(undirected(value)) if isinstance(value, str) else value
