"""Figures of WinoBias. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penchant.instruments.wino.bias_estimates import LOG_ODDS, PREFERS_MALE, PREFERS_PRO
from penchant.instruments.wino.bias_section import by_score, part_name
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, Figure
from penchant.report.tables import models

GENDER_MARKS = {"male": (COLOURS[0], "circle"), "female": (COLOURS[1], "triangle-up")}
_SIDE = "pro-stereotypical pronoun"
_SHARES = {PREFERS_PRO: "pro-stereotypical", PREFERS_MALE: "male"}
_LONG = 20


def figures(results: Sequence[Result]) -> list[Figure]:
    """The shares of preferred pronouns, and the log-odds of the male pronoun by occupation."""
    return [
        Figure(
            "shares",
            "Preferred pronouns",
            "For each model and part of the pairs, the percentage in which the pro-stereotypical pronoun and in which "
            "the male one is preferred, with intervals; 50 is the dashed line.",
            _shares(results),
            "shares",
        ),
        Figure(
            "occupations",
            "Log-odds of the male pronoun by occupation",
            "For each model a row for every occupation: the mean log-odds of the male pronoun with its interval, "
            "marked by which pronoun is the pro-stereotypical one. A preference for one gender moves all rows alike; "
            "a stereotype moves the two kinds of mark apart.",
            _occupations(results),
            "occupations",
            picks="occupation",
        ),
    ]


def _number(row: Mapping[str, Any], scale: float) -> dict[str, Any]:
    values = {name: scale * row[key] for name, key in (("value", "value"), ("from", "low"), ("to", "high"))}
    return {name: None if value != value else value for name, value in values.items()} | {"n": row["n"]}


def _shares(results: Sequence[Result]) -> alt.ConcatChart:
    panels = []
    for model, result in zip(models(results), results, strict=True):
        how, found = by_score(result)[0]
        rows = [
            {"pairs": part_name(scope, group), "pronoun": _SHARES[measure], "model": model, **_number(row, 100)}
            for (scope, group, measure), row in found.items()
            if measure in _SHARES and scope in ("overall", "type", "gender")
        ]
        order = list(dict.fromkeys(row["pairs"] for row in rows))
        colours = alt.Scale(domain=list(_SHARES.values()), range=[COLOURS[2], COLOURS[3]])
        shapes = alt.Scale(domain=list(_SHARES.values()))
        colour = alt.Color("pronoun:N", title="preferred pronoun", sort=list(_SHARES.values()), scale=colours)
        x = alt.X("value:Q", title=f"pairs, % (score: {how})", scale=alt.Scale(domain=[0, 100]))
        base = alt.Chart(alt.InlineData(rows)).encode(
            y=alt.Y("pairs:N", sort=order, title=None),
            yOffset=alt.YOffset("pronoun:N", sort=list(_SHARES.values())),
            color=colour,
        )
        rule = base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("from:Q"), x2="to:Q")
        point = base.mark_point(filled=True, size=50, opacity=1).encode(
            x=x,
            shape=alt.Shape("pronoun:N", title="preferred pronoun", sort=list(_SHARES.values()), scale=shapes),
            tooltip=["pairs:N", "pronoun:N", alt.Tooltip("value:Q", format=".1f"), "n:Q"],
        )
        panels.append(alt.layer(_at(50), rule, point).properties(width=320, height=alt.Step(14), title=model))
    return alt.concat(*panels, columns=2)


def _occupations(results: Sequence[Result]) -> alt.ConcatChart:
    panels: list[alt.LayerChart] = []
    order: list[str] = []
    for model, result in zip(models(results), results, strict=True):
        how, found = by_score(result)[0]
        sides = dict(result.items.select("occupation", "gender").iter_rows())
        rows = [
            {"occupation": group, _SIDE: sides[group], "model": model, **_number(row, 1)}
            for (scope, group, measure), row in found.items()
            if scope == "occupation" and measure == LOG_ODDS
        ]
        # The order of the first model holds for all, so that their rows line up.
        order = order or [row["occupation"] for row in sorted(rows, key=lambda row: row["value"])]
        axis = alt.Axis(orient="top") if len(order) > _LONG else alt.Axis()
        title = f"log-odds of the male pronoun (score: {how})"
        colours = alt.Scale(domain=list(GENDER_MARKS), range=[colour for colour, _ in GENDER_MARKS.values()])
        shapes = alt.Scale(domain=list(GENDER_MARKS), range=[shape for _, shape in GENDER_MARKS.values()])
        base = alt.Chart(alt.InlineData(rows)).encode(
            y=alt.Y("occupation:N", sort=order, title=None, axis=alt.Axis(labelLimit=200)),
            color=alt.Color(f"{_SIDE}:N", sort=list(GENDER_MARKS), scale=colours),
        )
        rule = base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("from:Q", title=title, axis=axis), x2="to:Q")
        point = base.mark_point(filled=True, size=50, opacity=1).encode(
            x=alt.X("value:Q", title=title, axis=axis),
            shape=alt.Shape(f"{_SIDE}:N", sort=list(GENDER_MARKS), scale=shapes),
            tooltip=[
                "occupation:N",
                f"{_SIDE}:N",
                alt.Tooltip("value:Q", format="+.2f"),
                alt.Tooltip("n:Q", title="pairs"),
            ],
        )
        panels.append(alt.layer(_at(0), rule, point).properties(width=320, height=alt.Step(14), title=model))
    return alt.concat(*panels, columns=2)


def _at(x: float) -> alt.Chart:
    return alt.Chart(alt.InlineData([{"x": x}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(x="x:Q")
