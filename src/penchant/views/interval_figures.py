"""Declarative figures of estimates with intervals: rows for levels of a factor, marks for models or another factor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Protocol

from penchant.plurals import counted
from penchant.records import BaseResult
from penchant.report.figures import COLOURS, FAINT, Figure
from penchant.report.item_browser import every_item
from penchant.report.lazy_altair import alt, inline
from penchant.report.tables import is_few
from penchant.views.row_selection import At, Line, RowSource, parted, sources, together
from penchant.wording.templates import Text

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
LONG = 20
"""The number of rows above which a plot is considered long."""
SHORT = 30
"""The maximum total number of characters in the entries of a legend on one line."""


class FigureSpec(Protocol):
    """Interface of the classes that declare figures."""

    def draw(self, results: Sequence[BaseResult], text: Text) -> list[Figure]:
        """Return the figures for the results, or an empty list if there is nothing to show."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure drawn by an instrument's own function `chart`, which returns None if there is nothing to show.

    The title and description of the figure are in `text.yaml`. `numbers` is the name of the table that lists the
    plotted values: by default the name of the figure, or "" for no table.
    """

    name: str
    chart: Callable[[Sequence[BaseResult], Text], Any]
    picks: str = ""
    numbers: str | None = None

    def draw(self, results: Sequence[BaseResult], text: Text) -> list[Figure]:
        """Return the figure in a list, which is empty if there is nothing to show."""
        chart = self.chart(results, text)
        return [] if chart is None else [figure(self.name, chart, text, self.picks, self.numbers)]


@dataclass(frozen=True, slots=True)
class Each:
    """A figure for each level of a column of items and summaries, such as a data set.

    If there are several levels, the figures are named `name-1`, `name-2` … Their texts can use the variables `level`
    and `several` (true if there are several levels).
    """

    column: str
    spec: FigureSpec

    def draw(self, results: Sequence[BaseResult], text: Text) -> list[Figure]:
        """Return the figures of all levels for which there is something to show."""
        levels = list(parted(results, self.column))
        several = len(levels) > 1
        return [
            replace(drawn, name=f"{drawn.name}-{number}" if several else drawn.name, part=level, n=drawn.n or n)
            for number, (level, alone) in enumerate(levels, 1)
            for n in [_counted(alone, text)]
            for drawn in self.spec.draw(alone, text.given(level=level, several=several))
        ]


@dataclass(frozen=True, slots=True)
class Forest:
    """Forest plot: estimates with intervals, with a row per level of `rows` and a mark per level of `marks`.

    `rows` names one or more columns, separated by spaces. A dashed line is drawn at `null`; the axis is logarithmic if
    `log`. If `panel` is given, each level of this column has its own chart. `picks` is as in `Figure`, and `of` as in
    `TableSpec`. The table that is also called `name` lists the plotted values. If `ranked`, rows are in descending
    order of their mean. If `dense`, rows of several marks are as close as in a plot of more than `LONG` rows. `levels`
    are the levels of `marks` in the order of their colours, by default the levels in the results.
    """

    name: str
    at: At
    rows: str
    marks: str = "model"
    form: str = "+.3f"
    panel: str = ""
    picks: str = ""
    width: int = 320
    null: float = 0
    of: Callable[[Sequence[RowSource]], Sequence[RowSource]] = lambda found: found
    ranked: bool = False
    dense: bool = False
    log: bool = False
    levels: Sequence[str] = ()

    def draw(self, results: Sequence[BaseResult], text: Text) -> list[Figure]:
        """Return the figure in a list, which is empty if there is nothing to show."""
        return [figure(self.name, chart, text, self.picks) for chart in self.charts(results, text)]

    def charts(self, results: Sequence[BaseResult], text: Text) -> list[Any]:
        """Return the chart in a list, which is empty if there is nothing to show."""
        shown = self.of(sources(results))
        lines = list(together(shown, self.at))
        if not lines:
            return []
        levels = self.levels or list(dict.fromkeys(_field(line, self.marks) for line in lines))
        names = [source.model for source in shown] if self.marks == "model" else levels
        drawn = {_field(line, self.marks) for line in lines if line["value"] == line["value"] and not is_few(line.row)}
        marks = {name: place for place, name in enumerate(names) if name in drawn}
        return [self._chart(lines, marks, text.get("figures", self.name, "axis"))]

    def _chart(self, lines: Sequence[Line], marks: Mapping[str, int], axis: str) -> Any:
        if not self.panel:
            return self._plot(lines, marks, axis)
        parts: dict[str, list[Line]] = {}
        for line in lines:
            parts.setdefault(_field(line, self.panel), []).append(line)
        plots = [self._plot(part, marks, axis).properties(title=level) for level, part in parts.items()]
        return alt.concat(*plots, columns=2).resolve_scale(x="shared")

    def _plot(self, lines: Sequence[Line], marks: Mapping[str, int], axis: str) -> Any:
        rows = [self._row(line) for line in lines]
        order = _ranked(rows) if self.ranked else list(dict.fromkeys(row["row"] for row in rows))
        layers = [reference(self.null, log=self.log), *interval_layers(rows, order, axis, self.marks, marks, self.form)]
        return alt.layer(*layers).properties(
            width=self.width, height=alt.Step(9 if (self.dense and len(marks) > 1) or len(order) > LONG else 16)
        )

    def _row(self, line: Line) -> dict[str, Any]:
        numbers = {key: None if line[key] != line[key] else line[key] for key in ("value", "low", "high")}
        if is_few(line.row):  # tables say "too few"
            numbers = dict.fromkeys(numbers)
        picked = {name: line[name] for name in self.picks.split()}
        row = " ".join(str(line[name]) for name in self.rows.split())
        marks = {"model": line.model, self.marks: _field(line, self.marks)}
        return {**picked, **marks, "row": row, **numbers, "n": line["n"]}


@dataclass(frozen=True, slots=True)
class Panels:
    """Several forest plots, each with its own title, in one figure with the given number of columns.

    `numbers` is the name of the table that lists the plotted values.
    """

    name: str
    parts: Sequence[Forest]
    numbers: str
    picks: str = ""
    columns: int = 2

    def draw(self, results: Sequence[BaseResult], text: Text) -> list[Figure]:
        """Return the figure in a list, which is empty if there is nothing to show."""
        charts = [
            chart.properties(title=text.get("figures", part.name, "title"))
            for part in self.parts
            for chart in part.charts(results, text)
        ]
        if not charts:
            return []
        return [figure(self.name, alt.concat(*charts, columns=self.columns), text, self.picks, self.numbers)]


def _ranked(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    values: dict[str, list[float]] = {}
    for row in rows:
        values.setdefault(row["row"], []).extend([row["value"]] if row["value"] is not None else [])
    return sorted(values, key=lambda row: (-fmean(values[row] or [-math.inf]), row))


def _field(line: Line, name: str) -> str:
    return line.model if name == "model" else str(line[name])


def interval_layers(
    rows: Sequence[dict[str, Any]],
    order: Sequence[str],
    axis: str,
    marks: str,
    levels: Mapping[str, int] | Sequence[str],
    form: str,
) -> list[Any]:
    """Return the chart layers of intervals and points, with a row per value of the field `row` and a mark per level.

    `marks` is the field that contains the `levels`, `order` the order of the rows, `axis` the title of the axis, and
    `form` the number format of tooltips. If `levels` is a mapping, it numbers the colours and shapes, which
    otherwise follow the order of `levels`. A single level other than a model has no legend. The axis of a long plot is
    at the top.
    """
    across = alt.Axis(orient="top" if len(order) > LONG else "bottom", labelFlush=False)
    names = list(levels)
    places = [levels[name] if isinstance(levels, Mapping) else i for i, name in enumerate(names)]
    colours = alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in places])
    shapes = alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in places])
    legend = alt.Legend(orient="bottom", columns=1 if sum(map(len, names)) > SHORT else len(names))
    alone = len(names) == 1 and marks != "model"
    base = alt.Chart(inline(list(rows))).encode(
        y=alt.Y("row:N", sort=list(order), title=None, axis=alt.Axis(labelLimit=320)),
        yOffset=alt.YOffset(f"{marks}:N", sort=names),
        color=alt.Color(f"{marks}:N", sort=names, scale=colours, legend=None if alone else legend),
    )
    rule = base.mark_rule(strokeWidth=1.5, aria=False).encode(
        x=alt.X("low:Q", title=axis, axis=across), x2=alt.X2("high:Q")
    )
    tooltips = [alt.Tooltip(f"{name}:Q", format=form, title=title) for name, title in _TOOLTIPS]
    point = base.mark_point(filled=True, size=50, opacity=1).encode(
        x=alt.X("value:Q", title=axis, axis=across),
        shape=alt.Shape(f"{marks}:N", sort=names, scale=shapes, legend=None if alone else legend),
        tooltip=[alt.Tooltip("row:N"), alt.Tooltip(f"{marks}:N"), *tooltips, alt.Tooltip("n:Q")],
    )
    return [rule, point]


_TOOLTIPS = (("value", "value"), ("low", "from"), ("high", "to"))


def reference(x: float, *, log: bool = False) -> Any:
    """Return a dashed vertical line at `x`; unless `x` is 0, its axis may omit 0 and is logarithmic if `log`."""
    scale = alt.Scale(type="log", nice=False) if log else alt.Scale(zero=False)
    place = alt.X("x:Q", scale=scale) if x else "x:Q"
    return alt.Chart(inline([{"x": x}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(x=place)


def figure(name: str, chart: Any, text: Text, picks: str, numbers: str | None = None) -> Figure:
    """Return a figure with the title and description in `text`.

    The table that lists the plotted values is named in `text.yaml` or by `numbers`; otherwise its name is `name`.
    `picks` is as in `Figure`.
    """
    own = text.below("figures", name)
    table = own.get("numbers") or (name if numbers is None else numbers)
    return Figure(name, own.get("title"), own.get("text"), chart, table, picks)


def figures(specs: Iterable[FigureSpec], results: Sequence[BaseResult], text: Text) -> list[Figure]:
    """Return the figures of all declarations for which there is something to show."""
    n = _counted(results, text)
    return [replace(drawn, n=drawn.n or n) for spec in specs for drawn in spec.draw(results, text)]


def _counted(results: Sequence[BaseResult], text: Text) -> str:
    return counted(len(every_item(results)), text.get("items", "noun"))
