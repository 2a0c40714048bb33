"""Figures of associations of persons with professions. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penchant.instruments.bec_pro.data import EVERY
from penchant.instruments.bec_pro.estimates import GAP, MEAN
from penchant.instruments.bec_pro.section import Named, genders, rows_of
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, Figure
from penchant.report.tables import models

_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def figures(results: Sequence[Result]) -> list[Figure]:
    """Contrasts by group, mean associations by gender and group, and contrasts by template."""
    first, second = genders(results)
    shown = [
        Figure(
            "contrasts",
            f"Contrast of {first} and {second} persons",
            f"For each group of professions and model the mean association of {first} persons minus that of {second} "
            "ones within a template and profession, with its interval; 0 is the dashed line.",
            _forest(results, first, second),
            "contrasts",
            picks="group",
        ),
        Figure(
            "means",
            "Mean associations by gender and group",
            "For each model, group of professions and gender of the persons the mean association with its interval.",
            _means(results, first, second),
            "means",
            picks="group gender",
        ),
    ]
    if any(row["template"] != EVERY for _, row in rows_of(results, GAP)):
        text = (
            "For each model and template the same contrast over all professions: marks far apart say that the wording "
            "makes the effect."
        )
        chart = _templates(results, first, second)
        shown.append(Figure("templates", "Contrast by template", text, chart, "templates", picks="template"))
    return shown


def _number(model: str, row: Named, **more: str) -> dict[str, Any]:
    values = {name: row[key] for name, key in (("value", "value"), ("from", "low"), ("to", "high"))}
    plain = {name: None if value != value else value for name, value in values.items()}
    return {"model": model, **plain, "n": row["n"], **more}


def _dots(rows: list[dict[str, Any]], y: str, by: str, order: list[str], title: str) -> alt.LayerChart:
    """Numbers with their intervals: a row for every `y`, a mark for every `by`."""
    names = list(dict.fromkeys(row[y] for row in rows))
    colours = alt.Scale(domain=order, range=[COLOURS[i % len(COLOURS)] for i in range(len(order))])
    shapes = alt.Scale(domain=order, range=[_SHAPES[i % len(_SHAPES)] for i in range(len(order))])
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y(f"{y}:N", sort=names, title=None, axis=alt.Axis(labelLimit=220)),
        yOffset=alt.YOffset(f"{by}:N", sort=order),
        color=alt.Color(f"{by}:N", sort=order, scale=colours),
    )
    rule = base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("from:Q", title=title), x2="to:Q")
    point = base.mark_point(filled=True, size=50, opacity=1).encode(
        x=alt.X("value:Q", title=title),
        shape=alt.Shape(f"{by}:N", sort=order, scale=shapes),
        tooltip=[f"{y}:N", f"{by}:N", alt.Tooltip("value:Q", format="+.3f"), "n:Q"],
    )
    line = alt.Chart(alt.InlineData([{"x": 0}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(x="x:Q")
    return alt.layer(line, rule, point).properties(width=320, height=alt.Step(16))


def _forest(results: Sequence[Result], first: str, second: str) -> alt.LayerChart:
    rows = [_number(model, row, group=row["group"]) for model, row in rows_of(results, GAP) if row["template"] == EVERY]
    return _dots(rows, "group", "model", models(results), f"association, {first} − {second}")


def _means(results: Sequence[Result], first: str, second: str) -> alt.ConcatChart:
    panels = []
    for name in models(results):
        rows = [
            _number(model, row, group=row["group"], gender=row["gender"])
            for model, row in rows_of(results, MEAN)
            if model == name
        ]
        panels.append(_dots(rows, "group", "gender", [first, second], "mean association").properties(title=name))
    return alt.concat(*panels, columns=2)


def _templates(results: Sequence[Result], first: str, second: str) -> alt.LayerChart:
    rows = [
        _number(model, row, template=row["template"])
        for model, row in rows_of(results, GAP)
        if row["template"] != EVERY
    ]
    return _dots(rows, "template", "model", models(results), f"association, {first} − {second}")
