"""Declared figures: numbers with their intervals, a row for each level, marks by model or another factor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, Figure
from penchant.views.rows import At, Line, sources, together
from penchant.wording.templates import Text

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


class FigureSpec(Protocol):
    """A figure that is declared."""

    def draw(self, results: Sequence[Result], text: Text) -> list[Figure]:
        """Return the figures of some results, none where there is nothing to show."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure that an instrument draws itself; its words are in `text.yaml` as for all."""

    name: str
    chart: Callable[[Sequence[Result], Text], Any]
    numbers: str = ""
    picks: str = ""

    def draw(self, results: Sequence[Result], text: Text) -> list[Figure]:
        """Return the figure."""
        return [_figure(self.name, self.chart(results, text), text, self.numbers or self.name, self.picks)]


@dataclass(frozen=True, slots=True)
class Forest:
    """Numbers with their intervals: a row for every level of `rows` (a column, or what a line is called; None leaves it
    out), `top` above the others, marks by `marks`, and a dashed line at `null`. `panel` is a column with a chart for
    each level, `split` one with a figure for each. `numbers` is the table with the same numbers (default: of the same
    name), `picks` as in `Figure`; the numbers are multiplied by `scale` and lie within `ends`."""

    name: str
    at: At
    rows: str | Callable[[Line], str | None]
    marks: str = "model"
    null: float | None = 0
    form: str = "+.3f"
    scale: float = 1
    panel: str = ""
    split: str = ""
    top: str = ""
    ends: tuple[float, float] | None = None
    numbers: str = ""
    picks: str = ""
    width: int = 320

    def draw(self, results: Sequence[Result], text: Text) -> list[Figure]:
        """Return the figures of some results, none where there is nothing to show."""
        lines = list(together(sources(results), self.at))
        levels = list(dict.fromkeys(line[self.split] for line in lines)) if self.split else [""]
        made = []
        for level in levels:
            inside = [line for line in lines if not self.split or line[self.split] == level]
            if inside:
                several = len(levels) > 1
                own = text.given(level=level if several else "")
                name = f"{self.name}-{level}" if several else self.name
                chart = self._chart(inside, own.below("figures", self.name))
                made.append(_figure(name, chart, own, self.numbers or self.name, self.picks, entry=self.name))
        return made

    def _chart(self, lines: Sequence[Line], text: Text) -> Any:
        if not self.panel:
            return self._plot(lines, text.get("axis"))
        levels = list(dict.fromkeys(self._field(line, self.panel) for line in lines))
        plots = [
            self._plot(
                [line for line in lines if self._field(line, self.panel) == level],
                text.get("axis") or level,
            ).properties(title=level)
            for level in levels
        ]
        return alt.concat(*plots, columns=2)

    def _plot(self, lines: Sequence[Line], axis: str) -> Any:
        found = [row for line in lines if (row := self._row(line)) is not None]
        order = [self.top] if any(row["row"] == self.top for row in found) else []
        order = list(dict.fromkeys([*order, *(row["row"] for row in found)]))
        layers = interval_layers(found, order, axis, self.marks, self.form, self.ends)
        if self.null is not None:
            layers = [reference(self.null), *layers]
        return alt.layer(*layers).properties(width=self.width, height=alt.Step(16))

    def _row(self, line: Line) -> dict[str, Any] | None:
        called = self.rows(line) if callable(self.rows) else str(line[self.rows])
        if called is None:
            return None
        numbers = {key: self._scaled(line[key]) for key in ("value", "low", "high")}
        picked = {name.replace("_", " "): line[name] for name in self.picks.split() if name in line.row}
        return {**picked, self.marks: self._field(line, self.marks), "row": called, **numbers, "n": line["n"]}

    def _scaled(self, value: float) -> float | None:
        return None if value != value else self.scale * value

    @staticmethod
    def _field(line: Line, name: str) -> str:
        return line.model if name == "model" else str(line[name])


def interval_layers(
    rows: Sequence[dict[str, Any]],
    order: Sequence[str],
    axis: str,
    marks: str,
    form: str,
    ends: tuple[float, float] | None = None,
    levels: Sequence[str] = (),
) -> list[Any]:
    """Return the rules and points of numbers with intervals: a row for every `row`, a mark for every level of `marks`,
    whose colours go by the order of `levels`, by default that of the rows."""
    names = list(levels or dict.fromkeys(row[marks] for row in rows))
    colours = alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))])
    shapes = alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])
    base = alt.Chart(alt.InlineData(list(rows))).encode(
        y=alt.Y("row:N", sort=list(order), title=None, axis=alt.Axis(labelLimit=320)),
        yOffset=alt.YOffset(f"{marks}:N", sort=names),
        color=alt.Color(f"{marks}:N", sort=names, scale=colours, legend=alt.Legend(orient="bottom", columns=1)),
    )
    scale = alt.Scale(domain=list(ends)) if ends else alt.Scale()
    rule = base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("low:Q", title=axis, scale=scale), x2="high:Q")
    told = [alt.Tooltip(f"{name}:Q", format=form, title=title) for name, title in _TOLD]
    point = base.mark_point(filled=True, size=50, opacity=1).encode(
        x=alt.X("value:Q", title=axis, scale=scale),
        shape=alt.Shape(f"{marks}:N", sort=names, scale=shapes),
        tooltip=["row:N", f"{marks}:N", *told, "n:Q"],
    )
    return [rule, point]


_TOLD = (("value", "value"), ("low", "from"), ("high", "to"))


def reference(x: float) -> Any:
    """Return a dashed line at a number."""
    return alt.Chart(alt.InlineData([{"x": x}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(x="x:Q")


def _figure(name: str, chart: Any, text: Text, numbers: str, picks: str, entry: str = "") -> Figure:
    own = text.below("figures", entry or name)
    return Figure(name, own.get("title"), own.get("text"), chart, numbers, picks)


def figures(specs: Iterable[FigureSpec], results: Sequence[Result], text: Text) -> list[Figure]:
    """Return the figures that have something to show."""
    return [made for spec in specs for made in spec.draw(results, text)]
