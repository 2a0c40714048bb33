"""A result in a notebook: the same section as in the report, in still pictures, because notebooks run no script that
they do not trust."""

from __future__ import annotations

import base64
from typing import Any

from markupsafe import Markup

from penchant.records import Outcome, Result
from penchant.report.figures import Figure
from penchant.report.items import ItemTable
from penchant.report.sections import SECTIONS, placed
from penchant.report.views import Signatures, environment, section_view

FIRST = 10
"""Items that are shown."""


def charts(result: Result) -> dict[str, Any]:
    """The charts of a result by name, each an Altair chart."""
    return {figure.name: figure.chart for figure in SECTIONS[result.signature["probe"]].figures([result])}


def html(result: Result) -> str:
    """Tables, charts and the first items of a result, as one piece of HTML."""
    probe, model = result.signature["probe"], result.signature["model"]
    signatures = Signatures()
    (alone,) = placed(Outcome([], {(probe, model): result}))
    own = section_view("s0", alone, Outcome([]), signatures)
    for view in own["tables"]:
        view["cites"] = False
    for figure in own["figures"]:
        figure["picture"] = _picture(figure.pop("drawing"))
    own["first"] = _first(own.pop("table"))
    context = {"part": own, "model": model, "signatures": signatures.texts}
    return environment().get_template("notebook.html").render(context)


def _picture(figure: Figure) -> Markup:
    """The drawing as a data URL, so that no style of it leaks into the notebook and none of the notebook's into it."""
    return Markup("data:image/svg+xml;base64," + base64.b64encode(figure.svg().encode()).decode())


def _first(items: ItemTable) -> dict[str, Any]:
    """The first items, a row each, as text."""
    rows = []
    for row in range(min(FIRST, len(items.columns[0].values))):
        cells = []
        for column in items.columns:
            value = column.values[row]
            number = column.kind == "number"
            if value is None or value != value:
                text = "–"
            else:
                text = f"{value:{'+' if column.signed else ''}.{column.digits}f}" if number else str(value)
            cells.append({"text": text, "numeric": number})
        rows.append(cells)
    return {
        "noun": items.noun,
        "columns": [column.title for column in items.columns],
        "rows": rows,
        "total": len(items.columns[0].values),
    }
