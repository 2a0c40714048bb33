"""Declarative strip plots: a point for every item, and the mean with its interval, by model and level of a factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from penchant.records import BaseResult
from penchant.report.figures import COLOURS, INK, Figure
from penchant.report.lazy_altair import alt, inline
from penchant.report.tables import models
from penchant.views.interval_figures import figure
from penchant.views.row_selection import At, sources
from penchant.wording.templates import Text


@dataclass(frozen=True, slots=True)
class Strips:
    """A strip plot with a strip for each model and level of the column `panel`.

    Each point is an item, plotted by its value in the item column `column` on an axis with the limits `ends`; a click
    on it selects the item. A diamond with an interval marks the mean, from the rows that match `at`. The item columns
    `told` are shown in the tooltip. `numbers` is the name of the table that lists the means.
    """

    name: str
    column: str
    at: At
    panel: str
    ends: tuple[float, float]
    numbers: str
    told: tuple[str, ...] = ()

    def draw(self, results: Sequence[BaseResult], text: Text) -> list[Figure]:
        """Return the figure in a list, which is empty if no item has a value."""
        points = self._points(results)
        if not len(points):
            return []
        means = [
            {self.panel: line[self.panel], "model": line.model, "mean": line["value"]}
            | {key: None if line[key] != line[key] else line[key] for key in ("low", "high")}
            for source in sources(results)
            for line in source.only(self.at)
            if line["value"] == line["value"]
        ]
        axis = text.get("figures", self.name, "axis")
        chart = self._chart([*points.to_dicts(), *means], models(results), axis)
        panels = points[self.panel].unique(maintain_order=True).to_list()
        head = alt.Header(labelAngle=0, labelAlign="left")
        rows = alt.Row(f"{self.panel}:N", sort=panels, title=None, header=head)
        return [figure(self.name, chart.facet(row=rows), text, "item", self.numbers)]

    def _points(self, results: Sequence[BaseResult]) -> pl.DataFrame:
        """Return a row for each item with a value; the column `jitter` separates neighbouring points of a strip."""
        rows = pl.concat(
            result.items.select(
                pl.col("id").alias("item"),
                pl.col(*self.told, self.panel),
                pl.col(self.column).alias("value"),
                pl.lit(model).alias("model"),
            )
            for model, result in zip(models(results), results, strict=True)
        ).drop_nulls("value")
        jitter = (pl.int_range(pl.len()) * 7 % 11) / 10 - 0.5
        return rows.with_columns(jitter.over(self.panel, "model").alias("jitter"))

    def _chart(self, rows: list[dict[str, Any]], names: Sequence[str], axis: str) -> Any:
        """Return a layered chart of points and means on one data table, as faceting requires."""
        scale = alt.Scale(domain=list(names), range=list(COLOURS[: len(names)]))
        y = alt.Y("model:N", sort=list(names), title=None, axis=alt.Axis(labelLimit=260))
        base = alt.Chart().properties(width=460, height=alt.Step(34)).encode(y=y)
        strip = base.mark_point(filled=True, opacity=0.8, size=28).encode(
            x=alt.X("value:Q", title=axis, scale=alt.Scale(domain=list(self.ends))),
            color=alt.Color("model:N", sort=list(names), scale=scale, legend=None),
            yOffset=alt.YOffset("jitter:Q", scale=alt.Scale(domain=[-1.2, 1.2])),
            tooltip=[alt.Tooltip("item:N"), *(f"{name}:N" for name in self.told), alt.Tooltip("value:Q", format=".2f")],
        )
        spread = base.mark_rule(strokeWidth=2.5, color=INK, aria=False).encode(
            x=alt.X("low:Q", title=axis), x2=alt.X2("high:Q")
        )
        mean = base.mark_point(shape="diamond", filled=True, size=70, opacity=0.85).encode(
            x=alt.X("mean:Q", title=axis), color=alt.value(INK), tooltip=[alt.Tooltip("mean:Q", format=".2f")]
        )
        return alt.layer(strip, spread, mean, data=inline(rows))
