"""Template variables for HTML reports and notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

import jinja2

from penchant.errors import undirected
from penchant.plurals import counted
from penchant.records import BaseResult
from penchant.report.figures import Figure
from penchant.report.item_browser import ItemTable
from penchant.report.method_text import OTHERS
from penchant.report.paper import answer_table, paragraph
from penchant.report.references import PENCHANT, POINT, Reference, cited, prose
from penchant.report.sections import StudySection
from penchant.report.tables import Cell, Number, P, ReportTable, with_minus
from penchant.report.verdicts import Answer

ASSETS = Path(__file__).parent / "assets"
BRIEF = 2
"""The maximum number of cautions displayed beside the answers."""
_ROOM = 620
"""The height in pixels of the answers and cautions beside the first figure, on a screen of 1280 × 800 pixels."""
_LETTERS = 56
"""The approximate number of letters on a line beside the first figure."""
_QUESTION, _SENTENCE, _CAUTION = (23, 16), (24, 5), (24, 0)
"""The height of a line and the space above the text, in pixels, of questions, sentences and cautions."""
_CAUTIONS = 35
"""The vertical space around the cautions, in pixels."""


def section_view(name: str, placed: StudySection, signatures: dict[str, int]) -> dict[str, Any]:
    """Return the template variables of a section whose HTML id is `name`.

    `signatures` maps each signature on the page to its number; new signatures are added in place.
    """
    section, results = placed.section, placed.results
    tables, between = placed.estimates(), placed.compared()
    basis = answer_table(placed)
    every = (*tables, *between, *([] if basis is None else [basis]))
    views = {table.name: _table_view(table, f"{name}-{table.name}", signatures) for table in every}
    items = section.items(results) if section.items else None
    methods, limits, said = placed.methods(), placed.limits(), paragraph(placed)
    known = {**placed.references, PENCHANT.key: PENCHANT}
    answers, brief = placed.answers(), cautions(results, brief=True)[:BRIEF] if items else []
    leading, later = _parted(answers, brief)
    shown = (row["signature"] for view in views.values() for row in view["rows"] if row["signature"] is not None)
    return {
        "id": name,
        "title": placed.title,
        "question": section.question,
        "answers": answers,
        "leading": leading,
        "later": later,
        "remaining": counted(sum(len(each.sentences) for each in later), "more answers"),
        "cautions": cautions(results) if items else [],
        "brief": brief,
        "basis": None if basis is None else views[basis.name],
        "shown": [views[table.name] for table in tables if section.of_tables],
        "tables": [views[table.name] for table in tables if not section.of_tables],
        "compared": [views[table.name] for table in between],
        "figures": [_figure(figure, name, items) for figure in placed.figures()],
        "table": items,
        "listing": items
        and {
            "id": f"items-{name.removeprefix('s')}",
            "noun": items.noun,
            "title": f"The {items.noun} ({len(items.columns[0].values):,})",
        },
        "cited": [each for each in cited([*methods, said, *limits], known) if each.key != PENCHANT.key],
        "limits": [_paragraph(paragraph, known)["text"] for paragraph in limits],
        "paper": _paragraph(said, known)["text"],
        "methods": [
            {**_paragraph(paragraph, placed.references), "closed": paragraph.startswith(OTHERS)}
            for paragraph in methods
        ],
        "signatures": sorted(set(shown)),
    }


def _parted(answers: Sequence[Answer], brief: Sequence[str]) -> tuple[list[Answer], list[Answer]]:
    """Split the answers into those that fit on the first screen, above the cautions in `brief`, and the rest.

    The sentences of an answer may be split: the first sentences of all answers take precedence over other sentences.
    The first screen has at least one sentence.
    """
    room = _ROOM - sum(_height(text, *_CAUTION) for text in brief) - (_CAUTIONS if brief else 0)
    shown: list[list[str]] = [[] for _ in answers]
    places = [(i, text) for i, each in enumerate(answers) for text in each.sentences[:1]]
    places += [(i, text) for i, each in enumerate(answers) for text in each.sentences[1:]]
    for i, text in places:
        height = _height(text, *_SENTENCE) + (0 if shown[i] else _height(answers[i].question, *_QUESTION))
        room -= height
        if room >= 0 or not any(shown):
            shown[i].append(text)
    left = [[text for text in each.sentences if text not in kept] for each, kept in zip(answers, shown, strict=True)]
    parts = ([replace(a, sentences=s) for a, s in zip(answers, each, strict=True) if s] for each in (shown, left))
    leading, later = parts
    return leading, later


def _height(text: str, line: int, above: int) -> int:
    return above + line * ceil(len(text) / _LETTERS) if text else 0


def cautions(results: Sequence[BaseResult], *, brief: bool = False) -> list[str]:
    """Return the distinct cautions of several results or, if `brief`, the distinct first sentences of the cautions.

    Cautions shared by all models come first. Each other caution is prefixed with the names of the models that have it.
    Cautions are ordered by their position in the first list that contains them; at the same position, cautions from
    longer lists come first.
    """
    models: dict[str, list[str]] = {}
    ranks: dict[str, tuple[int, int]] = {}
    for result in results:
        own = dict.fromkeys(_first_sentence(text) if brief else text for text in result.cautions)
        for position, caution in enumerate(own):
            models.setdefault(caution, []).append(result.signature["model"])
            ranks.setdefault(caution, (position, -len(own)))
    ordered = sorted(models.items(), key=lambda caution: (len(caution[1]) < len(results), ranks[caution[0]]))
    return [text if len(names) == len(results) else f"{', '.join(names)}: {text}" for text, names in ordered]


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[^\W_A-Z]|[)\]%])\. (?=[A-Z])", text, maxsplit=1)[0]


def _table_view(table: ReportTable, name: str, signatures: dict[str, int]) -> dict[str, Any]:
    numeric, marks = table.numeric, table.footnotes()
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
        number = signatures.setdefault(row.signature, len(signatures)) if row.signature else None
        rows.append({"cells": cells, "signature": number})
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
    return with_minus(text) if isinstance(cell, Number | P) else text


def _figure(figure: Figure, section: str, items: ItemTable | None) -> dict[str, Any]:
    known = {"item", *(name for column in items.columns for name in (column.name, column.title))} if items else set()
    return {
        "id": f"{section}-figure-{figure.name}",
        "title": figure.title,
        "text": figure.text,
        "finding": figure.finding,
        "alt": figure.alt,
        "numbers": figure.numbers and f"{section}-{figure.numbers}",
        "picks": " ".join(field for field in figure.picks.split() if field in known),
        "drawing": figure,
    }


def _paragraph(paragraph: str, references: Mapping[str, Reference]) -> dict[str, Any]:
    text, *points = (list(_prose(part, references)) for part in paragraph.split(POINT))
    return {"text": text, "points": points}


def _prose(paragraph: str, references: Mapping[str, Reference]) -> Iterator[dict[str, str]]:
    for text, code, keys in prose(paragraph):
        yield {"text": text}
        if code:
            yield {"text": code, "code": "yes"}
        for i, key in enumerate(keys):
            yield {"text": "; " if i else "("}
            yield {"text": references[key].short, "key": key}
        if keys:
            yield {"text": ")"}


@cache
def environment() -> jinja2.Environment:
    """Return the Jinja environment of the HTML templates, with autoescaping."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS), autoescape=True, undefined=jinja2.StrictUndefined, finalize=_undirected
    )


def _undirected(value: object) -> object:
    return type(value)(undirected(value)) if isinstance(value, str) else value
