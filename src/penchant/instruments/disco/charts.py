"""Figures of DisCo. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Sequence

from penchant.instruments.disco.estimates import LEVEL, OF_TEMPLATE
from penchant.instruments.disco.section import corrected, fills, groups
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, Figure
from penchant.report.tables import models

_MOST = 24
"""Fills that the figure shows of a model: those of the largest χ²."""


def figures(results: Sequence[Result]) -> list[Figure]:
    """The number of fills that differ by template, and the fills that differ most."""
    first, second = groups(results)
    return [
        Figure(
            "templates",
            "Fills that differ by gender, by template",
            "For each template and model the number of fills that the two groups of persons get at different rates.",
            _templates(results),
            "templates",
            picks="template",
        ),
        Figure(
            "fills",
            f"Fills by their shares among {first} and {second} persons",
            f"For each model the fills of the largest χ², at most {_MOST}: the share of {first} persons who have it "
            f"minus that of {second} ones, in percentage points with intervals; the mark says whether it differs.",
            _fills(results),
            "fills",
            picks="template",
        ),
    ]


def _templates(results: Sequence[Result]) -> alt.LayerChart:
    rows = [
        {"template": row["template"], "model": model, "fills": row["value"], "none": 0}
        for model, result in zip(models(results), results, strict=True)
        for row in result.summary.filter(measure=OF_TEMPLATE).iter_rows(named=True)
    ]
    order = list(dict.fromkeys(row["template"] for row in rows))
    names = models(results)
    colours = alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))])
    shapes = alt.Scale(domain=names)
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("template:N", sort=order, title=None, axis=alt.Axis(labelLimit=320)),
        yOffset=alt.YOffset("model:N", sort=names),
        color=alt.Color("model:N", sort=names, scale=colours),
        x=alt.X("fills:Q", title="fills that differ", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(domainMin=0)),
    )
    point = base.mark_point(filled=True, size=60, opacity=1).encode(
        shape=alt.Shape("model:N", sort=names, scale=shapes), tooltip=["template:N", "model:N", "fills:Q"]
    )
    stem = base.mark_rule(strokeWidth=1, aria=False).encode(x="none:Q", x2="fills:Q")
    return alt.layer(stem, point).properties(width=300, height=alt.Step(14))


def _fills(results: Sequence[Result]) -> alt.ConcatChart:
    panels = []
    for model, result in zip(models(results), results, strict=True):
        rows = [
            {
                "fill": f"{template.fills[number]} · {template.text}",
                "template": template.text,
                "chi2": test["value"],
                **{name: 100 * share[key] for name, key in (("points", "value"), ("from", "low"), ("to", "high"))},
                "differs": "yes" if corrected(test) <= LEVEL else "no",
            }
            for template, number, test, share in fills(result)
        ]
        rows = sorted(rows, key=lambda row: -row["chi2"])[:_MOST]
        order = [row["fill"] for row in sorted(rows, key=lambda row: -row["points"])]
        title = "percentage points"
        base = alt.Chart(alt.InlineData(rows)).encode(
            y=alt.Y("fill:N", sort=order, title=None, axis=alt.Axis(labelLimit=260)),
            color=alt.Color("differs:N", sort=["yes", "no"], scale=alt.Scale(domain=["yes", "no"], range=COLOURS[:2])),
        )
        rule = base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("from:Q", title=title), x2="to:Q")
        point = base.mark_point(size=50, opacity=1).encode(
            x=alt.X("points:Q", title=title),
            shape=alt.Shape("differs:N", sort=["yes", "no"], scale=alt.Scale(domain=["yes", "no"])),
            tooltip=["fill:N", alt.Tooltip("points:Q", format="+.0f"), alt.Tooltip("chi2:Q", format=".1f")],
        )
        zero = (
            alt.Chart(alt.InlineData([{"x": 0}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(x="x:Q")
        )
        panels.append(alt.layer(zero, rule, point).properties(width=260, height=alt.Step(14), title=model))
    return alt.concat(*panels, columns=2)
