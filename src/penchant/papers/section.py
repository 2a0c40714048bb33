"""Section of a report with a paper's claims, tables and figures, in the layout of the paper."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from penchant.papers.claims import FAILS, HOLDS, UNCHECKED, UNCLEAR, CheckedClaim, checked
from penchant.papers.layout import AGREES, BARRED, DIFFERS, PaperCell, PaperTable, tables
from penchant.papers.paper import Key, Paper, PrintedNumber, TableLayout, paper, published
from penchant.report.figures import Figure
from penchant.report.references import common_references
from penchant.report.sections import Section, StudySection
from penchant.report.tables import Number, ReportRow, ReportTable, shown
from penchant.report.verdicts import Answer
from penchant.wording.templates import Text

PLACE = "paper"
"""The name of the section in files and links."""
_TEXT = Text.of(Path(__file__).parent)


def paper_section(name: str, sections: Sequence[StudySection], asked: Mapping[str, str]) -> StudySection:
    """Return the section of a paper, made from the other sections of a study's report.

    `asked` maps the names of models in the results to their names in the study.
    """
    described = paper(name)
    results = list({id(result): result for section in sections for result in section.results}.values())
    made = tables(described, published(name), results, asked)
    decided = checked(described, sections, asked)
    words = _TEXT.given(paper=described, **_facts(made, decided))
    own = Section(
        words.get("title"),
        words.get("question"),
        tables=lambda _: [
            *([_claims(decided, words)] if decided else []),
            *(_table(each, published(name)) for each in made),
            *_numbers(made, words),
        ],
        compared=lambda _: [],
        figures=lambda _: list(_figures(described, sections)),
        items=None,
        methods=lambda _: words.paragraphs("methods"),
        limits=lambda _: words.paragraphs("limits"),
        of_tables=True,
        answers=lambda _, __: [Answer("published", words.get("question"), words.paragraphs("answers"), ())],
    )
    return StudySection(PLACE, own.title, own, results, None, common_references())


def _facts(made: Sequence[PaperTable], decided: Sequence[CheckedClaim]) -> dict[str, Any]:
    compared = [cell for table in made for cell in table.compared()]
    verdicts, kinds = (Counter(each.verdict for each in found) for found in (compared, decided))
    return {
        "numbers": len(compared),
        "agreement": [_TEXT.get("agreement", kind, n=n) for kind in (AGREES, DIFFERS, BARRED) if (n := verdicts[kind])],
        "reasons": list(Counter(cell.why for cell in compared if cell.verdict == BARRED).items()),
        "checked": [each for each in decided if each.verdict != UNCHECKED],
        "outcomes": [_TEXT.get("outcomes", kind, n=n) for kind in (HOLDS, FAILS, UNCLEAR) if (n := kinds[kind])],
        "rules": {cell.entry.rule for cell in compared},
    }


def _claims(decided: Sequence[CheckedClaim], words: Text) -> ReportTable:
    own = words.below("claims")
    rows = [
        ReportRow((str(number), each.claim.text, each.claim.where, own.get("verdicts", each.verdict), each.found))
        for number, each in enumerate(decided, 1)
    ]
    heads = tuple(own.get("columns", key) for key in ("number", "claim", "where", "verdict", "found"))
    return ReportTable("claims", own.get("title"), heads, tuple(rows), own.get("note"))


def _table(made: PaperTable, printed_numbers: Mapping[Key, PrintedNumber]) -> ReportTable:
    """Return a table in the paper's layout.

    Printed numbers of measured models are in rows below the measured numbers, those of other models in extra columns.
    """
    layout = made.layout
    rows: dict[tuple[str, ...], list[PaperCell]] = {}
    for cell in made.cells:
        rows.setdefault(cell.row, []).append(cell)
    kept = {head: cells for head, cells in rows.items() if any(cell.line is not None for cell in cells)}
    printed = any(cell.printed for cells in kept.values() for cell in cells)
    columns = [" ".join(cell.column) for cell in next(iter(kept.values()))]
    heads = [""] * max(map(len, kept))
    lines = []
    for head, cells in kept.items():
        signature = next(str(cell.line["signature"]) for cell in cells if cell.line is not None)
        own = [*head, *([_TEXT.get("tables", "here")] if printed else [])]
        measured = (_number(cell, layout, counted=layout.counted) for cell in cells)
        keys = ((layout.item, " / ".join(head), cells[0].head, model) for model in layout.beside)
        others = (printed_numbers[key].text if key in printed_numbers else "" for key in keys)
        lines.append(ReportRow((*own, *measured, *others), signature))
        if any(cell.printed for cell in cells):
            texts = ("" if cell.printed is None else cell.printed.text for cell in cells)
            empty = [""] * len(layout.beside)
            lines.append(ReportRow((*head, _TEXT.get("tables", "printed"), *texts, *empty)))
    left = len(rows) - len(kept)
    note = _TEXT.get("tables", "note", own=layout.note, mark=layout.mark, sizes=layout.sizes, left=left)
    title = f"{layout.item}: {layout.title}"
    columns = [*heads, *([""] if printed else []), *columns, *layout.beside]
    return ReportTable(layout.name, title, tuple(columns), tuple(lines), note)


def _number(cell: PaperCell, layout: TableLayout, *, counted: bool) -> Number:
    if cell.line is None or cell.value != cell.value:
        return Number(form=cell.entry.form)
    star = layout.sized(cell.value)
    star += layout.mark.sign if layout.mark is not None and layout.mark.marks(cell.line["p"]) else ""
    n = int(cell.line["n"]) if counted else None
    low, high = (cell.scaled(side) for side in ("low", "high")) if cell.entry.shows == "value" else (math.nan, math.nan)
    return Number(cell.value, low, high, n, cell.entry.form, star=star)


def _numbers(made: Sequence[PaperTable], words: Text) -> list[ReportTable]:
    """Return a list with one table of verdicts on the measured numbers that the paper also prints, or [] if none is."""
    own = words.below("numbers")
    rows = []
    for table in made:
        for cell in table.compared():
            assert cell.printed is not None and cell.line is not None
            gap = "–" if cell.difference != cell.difference else shown(cell.difference, f"+{cell.entry.form}")
            place = (table.layout.item, " / ".join(cell.row), " / ".join(cell.column))
            numbers = (_number(cell, table.layout, counted=True), cell.printed.text, gap)
            said = ": ".join(filter(None, (cell.verdict, cell.why)))
            rows.append(ReportRow((*place, *numbers, said), str(cell.line["signature"])))
    heads = ("item", "row", "column", "here", "printed", "difference", "verdict")
    columns = tuple(own.get("columns", key) for key in heads)
    return (
        [ReportTable("numbers", own.get("title"), columns, tuple(rows), own.get("note"), detail=True)] if rows else []
    )


def _figures(described: Paper, sections: Sequence[StudySection]) -> list[Figure]:
    """Return the instruments' figures that correspond to figures of the paper, whose names are put in their titles."""
    found = []
    for layout in described.figures:
        inside = [s for s in sections if s.results and s.results[0].signature["probe"] == layout.probe]
        figures = [figure for section in inside for figure in section.figures()]
        shown_here = [f for f in figures if f.name == layout.figure or f.name.startswith(f"{layout.figure}-")]
        for figure in shown_here:
            found.append(replace(figure, title=f"{layout.item}: {figure.title}", numbers="", picks=""))
    return found
