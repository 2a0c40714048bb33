"""Display of results in notebooks, with static figures because notebooks do not run untrusted scripts."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from penchant.call_checks import Named
from penchant.plurals import for_one
from penchant.report.figures import Figure
from penchant.report.html_context import environment, section_view
from penchant.report.item_browser import ItemTable
from penchant.report.sections import StudySection

FIRST = 10
"""The maximum number of items displayed."""


class Charts(Named[str, Any]):
    """Mapping of names to Altair charts; a notebook displays all of them."""

    def __init__(self, figures: Sequence[Figure]) -> None:
        super().__init__("chart")
        self |= {figure.name: figure.chart for figure in figures}
        self._figures = figures

    def __repr__(self) -> str:
        return f"<charts: {', '.join(self) or 'none'}>"

    def _repr_html_(self) -> str:
        views = [{"title": figure.title, "alt": figure.alt, "picture": _picture(figure)} for figure in self._figures]
        return environment().get_template("charts.html").render(figures=views)


def html(placed: StudySection) -> str:
    """Return the section of a single result as HTML: answers, tables, charts and first items."""
    signatures: dict[str, int] = {}
    view = section_view("s0", placed, signatures)
    for figure in view["figures"]:
        figure["picture"] = _picture(figure.pop("drawing"))
    view["first"] = _first(view.pop("table"))
    context = {"part": view, "model": placed.results[0].signature["model"], "signatures": list(signatures)}
    return environment().get_template("notebook.html").render(context)


def _picture(figure: Figure) -> Markup:
    """Return a chart as a data URL, which isolates its styles from the notebook."""
    return Markup("data:image/svg+xml;base64," + base64.b64encode(figure.svg().encode()).decode())


def _first(items: ItemTable) -> dict[str, Any]:
    rows, total = [], len(items.columns[0].values)
    for row in range(min(FIRST, total)):
        cells = []
        for column in items.columns:
            value = column.values[row]
            numeric = column.kind == "number"
            form = f"{'+' if column.signed else ''}.{column.digits}f" if numeric else ""
            cells.append({"text": "–" if value is None or value != value else f"{value:{form}}", "numeric": numeric})
        rows.append(cells)
    return {
        "noun": for_one(total, items.noun),
        "columns": [column.title for column in items.columns],
        "rows": rows,
        "total": total,
    }
