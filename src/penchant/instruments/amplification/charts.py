"""Figures of amplification. Rendering only: every number comes from a summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from penchant.instruments.amplification.estimates import SLOPE
from penchant.instruments.amplification.frames import Row, WordRow, contrasts, controls, furthest, labels, whole, words
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, INK, Figure
from penchant.report.tables import models, shown

SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
_SIDE = 400
"""Pixels of a side of a scatter plot."""
_LETTER, _LINE, _MARGIN = 5.5, 10, 30
"""Pixels of a letter of a name, between lines of names, and that a name may be beyond the plot."""


def figures(results: Sequence[Result]) -> list[Figure]:
    """For every contrast m against c, word by word, with the line of every model; and m − c of every word."""
    every = [row for row in words(results) if not row.rare]
    slopes = {(contrast, model): rows.get(SLOPE) for contrast, model, rows in whole(results)}
    drawn = []
    for number, contrast in enumerate(contrasts(results), 1):
        of = [row for row in every if row.contrast == contrast]
        if of:
            drawn.append(_scatter(results, contrast, number, of, slopes))
    for number, contrast in enumerate(contrasts(results), 1):
        if contrast not in controls(results) and (of := _far([row for row in every if row.contrast == contrast])):
            drawn.append(_forest(results, contrast, number, of))
    return drawn


def _far(rows: Sequence[WordRow]) -> list[WordRow]:
    """The rows of those words that are among the furthest from their text under some model."""
    far = {
        row.word
        for model in {row.model for row in rows}
        for part in furthest([row for row in rows if row.model == model])
        for row in part
    }
    return [row for row in rows if row.word in far]


Bounds = tuple[list[float], list[float]]
"""The ends of the axes of c and of m."""


def _bounds(rows: Sequence[WordRow]) -> Bounds:
    """Bounds of both axes, the same for all models, rounded outwards to quarters, with some room."""
    columns = [row.c["value"] for row in rows], [row.m["value"] for row in rows]
    first, second = ([math.floor(4 * min(v) - 0.5) / 4, math.ceil(4 * max(v) + 0.5) / 4] for v in columns)
    return first, second


def _named(rows: Sequence[WordRow], bounds: Bounds) -> set[str]:
    """The words whose names find room beside their points: those far from the middle first."""
    placed: list[tuple[float, float, float]] = []
    names = set()

    def at(row: WordRow) -> tuple[float, float]:
        ends = zip((row.c["value"], row.m["value"]), bounds, strict=True)
        x, y = ((value - low) / (high - low) * _SIDE for value, (low, high) in ends)
        return x, y

    middle = [fmean(column) for column in zip(*map(at, rows), strict=True)]
    for row in sorted(rows, key=lambda row: (-math.dist(at(row), middle), row.word)):
        (x, y), width = at(row), _LETTER * len(row.word)
        free = all(abs(y - other) > _LINE or x + width < left or x > right for left, right, other in placed)
        if free and x + width < _SIDE + _MARGIN:
            placed.append((x, x + width, y))
            names.add(row.word)
    return names


def _scatter(
    results: Sequence[Result],
    contrast: str,
    number: int,
    rows: Sequence[WordRow],
    slopes: dict[tuple[str, str], Row | None],
) -> Figure:
    first, second = labels(results, contrast)
    bounds = _bounds(rows)
    panels = []
    for at, model in enumerate(models(results)):
        own = [row for row in rows if row.model == model]
        slope = slopes.get((contrast, model))
        if own:
            panels.append(
                _panel(own, slope, bounds, COLOURS[at % len(COLOURS)], (first, second)).properties(title=model)
            )
    text = (
        f"A panel for each model, a point for each word: right it goes with {first} in the text (c), up with {first} "
        "in the model (m). The line has the slope with its interval, through the mean of the words; a slope of 1 is "
        "dashed. The axes have scales of their own. Names stand where there is room; a pointer shows the others. "
        f"{_told(contrast, slopes)}"
    )
    title = f"Model against text, {contrast}"
    return Figure(f"scatter-{number}", title, text, alt.concat(*panels, columns=2), "slopes", "word contrast")


def _told(contrast: str, slopes: dict[tuple[str, str], Row | None]) -> str:
    """The slopes in words."""
    parts = [
        f"{model} {shown(row['value'], '.2f')} [{shown(row['low'], '.2f')}, {shown(row['high'], '.2f')}]"
        for (of, model), row in slopes.items()
        if of == contrast and row is not None and math.isfinite(row["low"])
    ]
    return f"Slopes: {'; '.join(parts)}." if parts else ""


def _panel(
    rows: Sequence[WordRow], slope: Row | None, bounds: Bounds, colour: str, groups: tuple[str, str]
) -> alt.LayerChart:
    first, second = groups
    across, up = (alt.Scale(domain=ends, nice=False, zero=False) for ends in bounds)
    x = alt.X("c:Q", scale=across, title=f"c, text   (← {second} · {first} →)")
    y = alt.Y("m:Q", scale=up, title=f"m, model   (← {second} · {first} →)")
    named = _named(rows, bounds)
    points = [
        {"word": row.word, "contrast": row.contrast, "kind": row.kind, "c": row.c["value"], "m": row.m["value"]}
        | {"m − c": row.gap["value"], "in A": row.counts[0], "in B": row.counts[1]}
        | {"name": row.word if row.word in named else ""}
        for row in rows
    ]
    tooltip = ["word:N", "kind:N", *(alt.Tooltip(f"{name}:Q", format="+.2f") for name in ("c", "m", "m − c"))]
    base = alt.Chart(alt.InlineData(points)).encode(x=x, y=y)
    dots = base.mark_point(filled=True, size=30, opacity=0.9, color=colour).encode(
        tooltip=[*tooltip, "in A:Q", "in B:Q"]
    )
    names = base.mark_text(fontSize=9, align="left", dx=5, dy=-3, color=INK, aria=False).encode(text="name:N")
    layers = [*_lines(rows, slope, bounds, colour, x, y), dots, names]
    return alt.layer(*layers).properties(width=_SIDE, height=_SIDE)


def _lines(rows: Sequence[WordRow], slope: Row | None, bounds: Bounds, colour: str, x: Any, y: Any) -> list[alt.Chart]:
    """The line of slope 1, and that of the model with its interval, all through the mean of the words; clipped."""
    centre = fmean(row.c["value"] for row in rows), fmean(row.m["value"] for row in rows)

    def at(steep: float) -> list[dict[str, float]]:
        return [{"c": end, "m": centre[1] + steep * (end - centre[0])} for end in bounds[0]]

    drawn = [
        alt.Chart(alt.InlineData(at(1.0)))
        .mark_line(strokeDash=[4, 4], color=FAINT, clip=True, aria=False)
        .encode(x=x, y=y)
    ]
    if slope is None or math.isnan(slope["value"]):
        return drawn
    if math.isfinite(slope["low"]):
        ends = [
            {"c": low["c"], "m": low["m"], "to": high["m"]}
            for low, high in (
                (a, b) for a, b in zip(_three(at, slope["low"], centre), _three(at, slope["high"], centre), strict=True)
            )
        ]
        band = alt.Chart(alt.InlineData(ends)).mark_area(opacity=0.15, color=colour, clip=True, aria=False)
        drawn.append(band.encode(x=x, y=y, y2="to:Q"))
    line = alt.Chart(alt.InlineData(at(slope["value"]))).mark_line(strokeWidth=2, color=colour, clip=True, aria=False)
    return [*drawn, line.encode(x=x, y=y)]


def _three(at: Any, steep: float, centre: tuple[float, float]) -> list[dict[str, float]]:
    """A line from one end over the centre, where all lines meet, to the other."""
    left, right = at(steep)
    return [left, {"c": centre[0], "m": centre[1]}, right]


def _forest(results: Sequence[Result], contrast: str, number: int, rows: Sequence[WordRow]) -> Figure:
    """m − c of every word with its interval, under every model."""
    who = models(results)
    means = {word: fmean(row.gap["value"] for row in rows if row.word == word) for word in {row.word for row in rows}}
    order = sorted(means, key=lambda word: (-means[word], word))
    first, second = labels(results, contrast)
    data = [
        {"word": row.word, "contrast": row.contrast, "model": row.model, "kind": row.kind}
        | {"m − c": row.gap["value"], "low": row.gap["low"], "high": row.gap["high"]}
        for row in rows
    ]
    shades = alt.Scale(domain=who, range=[COLOURS[i % len(COLOURS)] for i in range(len(who))])
    shapes = [SHAPES[i % len(SHAPES)] for i in range(len(who))]
    legend = alt.Legend(orient="top", direction="vertical", labelLimit=420, title=None)
    base = alt.Chart(alt.InlineData(data)).encode(
        y=alt.Y("word:N", sort=order, title=None),
        yOffset=alt.YOffset("model:N", sort=who),
        color=alt.Color("model:N", sort=who, scale=shades, legend=legend),
    )
    title = f"m − c   (← further to {second} · further to {first} →)"
    spread = base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    tooltip = ["word:N", "model:N", "kind:N", *(alt.Tooltip(f"{n}:Q", format="+.2f") for n in ("m − c", "low", "high"))]
    dots = base.mark_point(filled=True, size=36, opacity=1).encode(
        x=alt.X("m − c:Q", title=title),
        shape=alt.Shape("model:N", sort=who, scale=alt.Scale(domain=who, range=shapes), legend=legend),
        tooltip=tooltip,
    )
    zero = alt.Chart(alt.InlineData([{"at": 0}])).mark_rule(color=FAINT, strokeDash=[4, 4], aria=False).encode(x="at:Q")
    chart = alt.layer(zero, spread, dots).properties(width=_SIDE, height=alt.Step(max(7, 16 // len(who))))
    text = (
        "For each word that is among the furthest from its text under a model, and each model, m − c with its "
        f"interval, in the order of its mean: right of the dashed line the model goes further towards {first} than its "
        "text."
    )
    return Figure(
        f"words-{number}", f"Words furthest from their text, {contrast}", text, chart, "furthest", "word contrast"
    )
