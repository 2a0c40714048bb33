"""Declarative scatter plots: a point for each row, a panel for each model, and lines through the points."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, TypeAlias

from penchant.records import BaseResult
from penchant.report.figures import COLOURS, FAINT, INK, Figure
from penchant.report.lazy_altair import alt, inline
from penchant.views.interval_figures import figure
from penchant.wording.templates import Text

Point: TypeAlias = Mapping[str, Any]
Ends: TypeAlias = tuple[float, float]
"""The limits of an axis."""
_LETTER, _LINE, _MARGIN = 5.5, 10, 30
"""Label metrics in pixels: letter width, line height, and permitted overhang beyond the plot."""
_ROOM = 0.04
"""The fraction of an axis that is left free at either end."""


@dataclass(frozen=True, slots=True)
class Straight:
    """A straight line through a point, with a band if the interval of its slope is given."""

    slope: float
    through: tuple[float, float] = (0.0, 0.0)
    low: float = math.nan
    high: float = math.nan
    dashed: bool = False

    def at(self, x: float, slope: float) -> float:
        """Return the value at x of the line with the given slope through the same point."""
        return self.through[1] + slope * (x - self.through[0])


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel with its title, its points, and the lines behind them in drawing order."""

    title: str
    points: Sequence[Point]
    lines: Sequence[Straight] = ()


@dataclass(frozen=True, slots=True)
class Scatter:
    """Scatter plot of the fields `x` and `y`, with a colour per panel, and axes that panels share unless `apart`.

    The tooltip shows the fields in `told`, which maps them to number formats ("" for text). `side` is the width and
    height of a panel in pixels. `names` is the field that labels points if there is room; points far from the centre
    take precedence. `text.yaml` has the titles of the axes (`x` and `y`). `numbers` is the name of the table that lists
    the plotted values, by default `name`. `picks` is as in `Figure`.
    """

    name: str
    panels: Callable[[Sequence[BaseResult]], Iterable[Panel]]
    x: str
    y: str
    told: Mapping[str, str] = field(default_factory=dict)
    names: str = ""
    picks: str = ""
    side: int = 400
    numbers: str = ""
    apart: bool = False

    def draw(self, results: Sequence[BaseResult], text: Text) -> list[Figure]:
        """Return the figure in a list, which is empty if there is nothing to show."""
        panels = list(self.panels(results))
        every = [point for panel in panels for point in panel.points]
        if not every:
            return []
        own = text.below("figures", self.name)
        plots = []
        for number, panel in enumerate(panels):
            if panel.points:
                axes = self._axes(panel.points if self.apart else every, own)
                plot = self._plot(panel, axes, COLOURS[number % len(COLOURS)])
                plots.append(plot.properties(title=panel.title))
        return [figure(self.name, alt.concat(*plots, columns=2), text, self.picks, self.numbers or None)]

    def _axes(self, points: Sequence[Point], text: Text) -> list[_Axis]:
        return [_Axis(name, text.get(key), _ends(points, name)) for key, name in (("x", self.x), ("y", self.y))]

    def _plot(self, panel: Panel, axes: Sequence[_Axis], colour: str) -> Any:
        named = _with_room(panel.points, axes, self.names, self.side) if self.names else set()
        points = [{**point, "name": point[self.names] if i in named else ""} for i, point in enumerate(panel.points)]
        base = alt.Chart(inline(points)).encode(**_encoded(axes))
        tooltips = [alt.Tooltip(f"{key}:Q", format=form) if form else f"{key}:N" for key, form in self.told.items()]
        dots = base.mark_point(filled=True, size=30, opacity=0.9, color=colour).encode(tooltip=tooltips)
        names = base.mark_text(fontSize=10, align="left", dx=5, dy=-3, color=INK, aria=False).encode(
            text=alt.Text("name:N")
        )
        lines = [layer for line in panel.lines for layer in _drawn(line, axes, colour)]
        return alt.layer(*lines, dots, *([names] if self.names else [])).properties(width=self.side, height=self.side)


@dataclass(frozen=True, slots=True)
class _Axis:
    name: str
    title: str
    ends: Ends

    def encoded(self, encode: Any) -> Any:
        scale = alt.Scale(domain=list(self.ends), nice=False, zero=False)
        return encode(f"{self.name}:Q", scale=scale, title=self.title)

    def place(self, point: Point, side: int) -> float:
        """Return the position of a point along this axis, in pixels of a plot with the given side."""
        low, high = self.ends
        return float((point[self.name] - low) / (high - low) * side)


def _ends(points: Sequence[Point], name: str) -> Ends:
    """Return the limits of an axis that covers all points, with free room at either end."""
    values = [point[name] for point in points]
    room = _ROOM * (max(values) - min(values)) or 1.0
    return min(values) - room, max(values) + room


def _with_room(points: Sequence[Point], axes: Sequence[_Axis], names: str, side: int) -> set[int]:
    """Return the indices of the points whose labels (field `names`) fit; points far from the centre take precedence."""
    at = [tuple(axis.place(point, side) for axis in axes) for point in points]
    middle = [fmean(column) for column in zip(*at, strict=True)]
    placed: list[tuple[float, float, float]] = []
    named = set()
    for i in sorted(range(len(points)), key=lambda i: (-math.dist(at[i], middle), points[i][names])):
        (x, y), width = at[i], _LETTER * len(points[i][names])
        free = all(abs(y - other) > _LINE or x + width < left or x > right for left, right, other in placed)
        if free and x + width < side + _MARGIN:
            placed.append((x, x + width, y))
            named.add(i)
    return named


def _drawn(line: Straight, axes: Sequence[_Axis], colour: str) -> list[Any]:
    """Return the layers of a line across the plot and of its band, which is narrowest at the point `through`."""
    if math.isnan(line.slope):
        return []
    encoded, (x, y), ends = _encoded(axes), (axis.name for axis in axes), axes[0].ends
    mark = {"strokeDash": [4, 4], "color": FAINT} if line.dashed else {"strokeWidth": 2, "color": colour}
    along = [{x: end, y: line.at(end, line.slope)} for end in ends]
    drawn = alt.Chart(inline(along)).mark_line(**mark, clip=True, aria=False).encode(**encoded)
    if not math.isfinite(line.low):
        return [drawn]
    across = (ends[0], line.through[0], ends[1])
    band = [{x: at, y: line.at(at, line.low), "to": line.at(at, line.high)} for at in across]
    area = alt.Chart(inline(band)).mark_area(opacity=0.15, color=colour, clip=True, aria=False)
    return [area.encode(**encoded, y2=alt.Y2("to:Q")), drawn]


def _encoded(axes: Sequence[_Axis]) -> dict[str, Any]:
    return {key: axis.encoded(encode) for key, axis, encode in zip("xy", axes, (alt.X, alt.Y), strict=True)}
