"""Figures of Winogender. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np

from penchant.instruments.wino.gender_estimates import EFFECT, OCCUPATION, ONE, PARTICIPANT, SLOPE, women
from penchant.instruments.wino.gender_section import SIDES, by_score
from penchant.instruments.wino.scoring import ALL
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, INK, Figure
from penchant.report.tables import models

_PARTS = {ALL: "all sentences", OCCUPATION: "effect", PARTICIPANT: "control", EFFECT: "effect − control"}


def figures(results: Sequence[Result]) -> list[Figure]:
    """For each model occupations by their share of women and the preference for she, effect and control beside each
    other; and the slopes."""
    share = _first_share(results)
    return [
        Figure(
            "occupations",
            "Preference for she and the share of women",
            f"For each model two panels with a point for every occupation: its share of women ({share}) and "
            "score(she) − score(he), where the pronoun refers to the occupation and, as a control, where it refers to "
            "the other person; with the line of least squares. Names stand where there is room; a pointer shows the "
            "others.",
            _scatter(results, share),
            "occupations",
            picks="occupation",
        ),
        Figure(
            "slopes",
            "Slopes on the share of women",
            f"For each model the slope of score(she) − score(he) on the share of women ({share}), per 10 percentage "
            "points, with its interval: over all sentences, where the pronoun refers to the occupation (effect) or to "
            "the other person (control), and effect minus control.",
            _slopes(results, share),
            "women",
        ),
    ]


def _first_share(results: Sequence[Result]) -> str:
    """The name of the statistic that is drawn."""
    return next(name.removeprefix("women_") for name in results[0].items.columns if name.startswith("women_"))


def _scatter(results: Sequence[Result], share: str) -> alt.ConcatChart:
    panels = []
    for model, result in zip(models(results), results, strict=True):
        how, found = by_score(result)[0]
        known = women(result.items, share)
        y = alt.Y("preference:Q", title=f"score(she) − score(he) (score: {how})")
        for part in SIDES:
            rows = [
                {"occupation": name, "women": known[name], "preference": row["value"], "model": model}
                for (where, name, _, measure), row in found.items()
                if measure == ONE and where == part and name in known
            ]
            x = alt.X("women:Q", title=f"women in the occupation, % ({share})", scale=alt.Scale(domain=[0, 100]))
            base = alt.Chart(alt.InlineData(rows)).encode(x=x, y=y)
            tooltip = ["occupation:N", alt.Tooltip("women:Q", format=".1f"), alt.Tooltip("preference:Q", format="+.2f")]
            point = base.mark_point(filled=True, size=30, opacity=1, color=COLOURS[0]).encode(tooltip=tooltip)
            layers = [_zero(), point, *_names(rows, x, y), *([_line(rows)] if len(rows) > 1 else [])]
            panels.append(alt.layer(*layers).properties(width=400, height=380, title=f"{model}: {part}"))
    return alt.concat(*panels, columns=2)


_LETTER, _HEIGHT, _POINT = 1.15, 0.024, 0.8
"""The width of a letter and half that of a mark in units of the x axis, and the height of a name as a share of the y
axis."""


def _names(rows: Sequence[dict[str, Any]], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The names of occupations, to the right of their points, or to the left, where they lie on no other name or point
    and within the panel; those of the most and the least preferred first."""
    reach = max(row["preference"] for row in rows) - min(row["preference"] for row in rows) if rows else 0
    taken = [(row["women"] - _POINT, row["women"] + _POINT, row["preference"]) for row in rows]
    sides: dict[str, list[dict[str, Any]]] = {"left": [], "right": []}
    middle = fmean(row["preference"] for row in rows) if rows else 0
    for row in sorted(rows, key=lambda row: (-abs(row["preference"] - middle), row["occupation"])):
        at, width = row["women"], 1.5 + _LETTER * len(row["occupation"])
        boxes = {"left": (at + _POINT, at + width), "right": (at - width, at - _POINT)}
        for align, (start, end) in boxes.items():
            apart = all(
                start >= right or end <= left or abs(other - row["preference"]) >= _HEIGHT * reach
                for left, right, other in taken
            )
            if start >= 0 and end <= 100 and apart:
                taken.append((start, end, row["preference"]))
                sides[align].append(row)
                break
    return [
        alt.Chart(alt.InlineData(of))
        .mark_text(align=align, dx=5 if align == "left" else -5, fontSize=8, color=INK, aria=False)
        .encode(x=x, y=y, text="occupation:N")
        for align, of in sides.items()
        if of
    ]


def _line(rows: Sequence[dict[str, Any]]) -> alt.Chart:
    """The line of least squares, whose slope the table has."""
    x, y = (np.array([row[key] for row in rows], dtype=np.float64) for key in ("women", "preference"))
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread if spread else 0.0
    ends = [{"women": at, "preference": float(y.mean() + slope * (at - x.mean()))} for at in (x.min(), x.max())]
    mark = alt.Chart(alt.InlineData(ends)).mark_line(color=COLOURS[1], strokeWidth=1.5, aria=False)
    return mark.encode(x="women:Q", y="preference:Q")


def _zero() -> alt.Chart:
    rule = alt.Chart(alt.InlineData([{"preference": 0}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False)
    return rule.encode(y="preference:Q")


def _slopes(results: Sequence[Result], share: str) -> alt.LayerChart:
    rows = []
    for model, result in zip(models(results), results, strict=True):
        _, found = by_score(result)[0]
        for part, name in _PARTS.items():
            row = found[part, ALL, share, SLOPE]
            values = {key: None if row[of] != row[of] else row[of] for key, of in _ENDS.items()}
            rows.append({"model": model, "sentences": name, **values})
    names, order = models(results), list(_PARTS.values())
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("sentences:N", sort=order, title=None),
        yOffset=alt.YOffset("model:N", sort=names),
        color=alt.Color("model:N", sort=names, scale=alt.Scale(domain=names, range=list(COLOURS))),
    )
    title = "slope per 10 percentage points of women"
    rule = base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("from:Q", title=title), x2="to:Q")
    point = base.mark_point(filled=True, size=50, opacity=1).encode(
        x=alt.X("value:Q", title=title),
        shape=alt.Shape("model:N", sort=names, scale=alt.Scale(domain=names)),
        tooltip=["model:N", "sentences:N", alt.Tooltip("value:Q", format="+.3f")],
    )
    zero = alt.Chart(alt.InlineData([{"x": 0}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(x="x:Q")
    return alt.layer(zero, rule, point).properties(width=420, height=alt.Step(16))


_ENDS = {"value": "value", "from": "low", "to": "high"}
