"""Report views of the checkpoints of a training run; the text is in `text.yaml`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from penchant.instruments.minimal_pairs.estimates import ACCURACY
from penchant.instruments.minimal_pairs.length_charts import rule
from penchant.instruments.minimal_pairs.training_curve import ACQUIRED, AFTER, BEFORE, NO_STEP
from penchant.report.figures import COLOURS, Figure
from penchant.report.lazy_altair import alt, inline
from penchant.report.sections import Curves
from penchant.report.significance import measured, sentences
from penchant.report.tables import Number, ReportTable
from penchant.views import tables
from penchant.views.interval_figures import figure
from penchant.views.row_selection import FIRST, At, RowSource
from penchant.views.tables import Column, TableSpec, adjusted, count, level, number, p
from penchant.wording.phrases import Note, notes_of, read_method
from penchant.wording.templates import Text

_WORDS = Text.of(Path(__file__).parent).below("charts")
_BESIDE = 3
"""Number of panels per row."""
_WIDTH, _HEIGHT = 190, 120
_WIDE = 20
"""Minimum ratio of the last step to the first positive step for a logarithmic axis."""
_BLUE, _RED = COLOURS[0], COLOURS[1]
_KEY = (level("family", "training"), level("dataset", "data"), level("group"), level("normalise", "score"))
_TABLES = (
    TableSpec(
        "acquired",
        At(measure=ACQUIRED),
        (
            *(*_KEY, number("acquired", ",.0f"), number("before", ".1f", scale=100, measure=BEFORE)),
            *(number("after", ".1f", scale=100, measure=AFTER), p(), adjusted(), count("pairs")),
        ),
        first=("acquired", "before", "after"),
    ),
    TableSpec(
        "curve",
        At(measure=ACCURACY, normalise=FIRST),
        (
            *(*_KEY, Column("step", lambda line: f"{line['step']:,}"), count("pairs")),
            number("accuracy", ".1f", scale=100),
        ),
        detail=True,
    ),
)


def curves(text: Text) -> Curves:
    """Return the functions that make tables, figures and paragraphs about checkpoints, with the wording in `text`."""

    def shown(curve: pl.DataFrame) -> list[ReportTable]:
        return tables.tables(_TABLES, [RowSource("", curve)], text)

    def drawn(curve: pl.DataFrame) -> list[Figure]:
        return list(_figures(curve, text))

    def methods(curve: pl.DataFrame) -> list[str]:
        rows = curve.filter(measure=ACQUIRED)
        method, test = (next(filter(None, map(read_method, rows[name])), None) for name in ("method", "test_method"))
        return text.given(method=method, test=test and test.with_(two_sided=None)).paragraphs("prose", "methods")

    def limits(curve: pl.DataFrame) -> list[str]:
        return text.paragraphs("prose", "limits")

    return Curves(lambda curve: sentences(*_acquired(curve, text)), shown, drawn, methods, limits)


def _acquired(curve: pl.DataFrame, text: Text) -> Iterator[str]:
    """Yield sentences on the paradigms acquired in each training run, and on the reasons why others are not."""
    rows = curve.filter((pl.col("measure") == ACQUIRED) & (pl.col("normalise") == curve["normalise"][0]))
    several = rows["dataset"].n_unique() > 1
    for (family, name), part in rows.group_by(["family", "dataset"], maintain_order=True):
        steps = [
            {"group": row["group"], "n": row["n"], "step": Number(row["value"], row["low"], row["high"], form=",.0f")}
            for row in measured(part.iter_rows(named=True))
        ]
        reasons = Counter(
            str(reason.with_(step=None)) for row in part.iter_rows(named=True) for reason in _reasons(row)
        )
        facts = {"family": family, "name": name, "several": several, "steps": steps, "of": len(part)}
        yield text.get("prose", "acquired", **facts, reasons=reasons.most_common())


def _reasons(row: Mapping[str, Any]) -> list[Note]:
    return [note.params["reason"] for note in notes_of(row) if note.code == NO_STEP]


def _figures(curve: pl.DataFrame, text: Text) -> Iterator[Figure]:
    """Yield a figure for each training run and data set, with one panel per paradigm, for the first score."""
    first = curve.filter(pl.col("normalise") == curve["normalise"][0])
    parts = list(first.group_by(["family", "dataset"], maintain_order=True))
    for place, ((family, name), part) in enumerate(parts, 1):
        rows = part.filter(measure=ACCURACY)
        steps = {row["group"]: row for row in part.filter(measure=ACQUIRED).iter_rows(named=True)}
        axis = _axis(rows["step"].unique().sort().to_list())
        panels = [
            _panel(str(paradigm), of_one, steps[paradigm], axis)
            for (paradigm,), of_one in rows.group_by("group", maintain_order=True)
        ]
        own = text.given(family=family, name=name, checkpoints=rows["step"].n_unique())
        drawn = figure("curve", alt.concat(*panels, columns=_BESIDE), own, "group", "acquired")
        yield replace(drawn, name=f"curve-{place}") if len(parts) > 1 else drawn


def _axis(steps: Sequence[int]) -> alt.X:
    """Return the axis of steps: logarithmic if they span orders of magnitude (symmetric log if they include 0)."""
    positive = [step for step in steps if step > 0]
    wide = max(positive) >= _WIDE * min(positive)
    kind: Any = ("symlog" if 0 in steps else "log") if wide else "linear"
    scale = alt.Scale(type=kind, domain=[steps[0], steps[-1]], nice=False)
    labels = alt.Axis(format="~s", labelOverlap=True, grid=False, **({"values": _ticks(steps)} if wide else {}))
    return alt.X("step:Q", title="step", scale=scale, axis=labels)


def _ticks(steps: Sequence[int]) -> list[int]:
    powers = [10**n for n in range(round(math.log10(steps[-1])) + 1) if steps[0] <= 10**n <= steps[-1]]
    return [*([0] if steps[0] == 0 else []), *powers] if len(powers) > 1 else list(steps)


def _panel(paradigm: str, rows: pl.DataFrame, step: dict[str, Any], x: alt.X) -> alt.LayerChart:
    points = rows.select(
        "step",
        "n",
        pl.lit(paradigm).alias("group"),
        *((100 * pl.col(name)).alias(name) for name in ("value", "low", "high")),
    )
    base, title = alt.Chart(inline(points.to_dicts())).encode(x=x), _WORDS.get("accuracy")
    shares = alt.Axis(values=[0, 25, 50, 75, 100])
    y = alt.Y("value:Q", title=title, scale=alt.Scale(domain=[0, 100]), axis=shares)
    band = base.mark_area(opacity=0.25, color=_BLUE, aria=False).encode(
        y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q")
    )
    line = base.mark_line(strokeWidth=1.5, color=_BLUE).encode(y=y)
    dots = base.mark_point(filled=True, size=28, opacity=1, color=_BLUE).encode(
        y=y,
        tooltip=[
            alt.Tooltip("group:N"),
            alt.Tooltip("step:Q", format=","),
            alt.Tooltip("value:Q", title="accuracy", format=".1f"),
            alt.Tooltip("low:Q", title="from", format=".1f"),
            alt.Tooltip("high:Q", title="to", format=".1f"),
            alt.Tooltip("n:Q", title="pairs"),
        ],
    )
    layers = [rule("y", 50), *_mark(step, x), band, line, dots]
    at = Number(step["value"], step["low"], step["high"], form=",.0f")
    subtitle = str(Note(NO_STEP)) if math.isnan(step["value"]) else _WORDS.get("step", step=at)
    heading = alt.TitleParams(paradigm, subtitle=subtitle, anchor="start", fontSize=11, subtitleFontSize=10)
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, title=heading)


def _mark(step: dict[str, Any], x: alt.X) -> list[alt.Chart]:
    if math.isnan(step["value"]):
        return []
    place = {"step": step["value"], "low": step["low"], "high": step["high"], "bottom": 0, "top": 100}
    base = alt.Chart(inline([place])).encode(y=alt.Y("bottom:Q", title=_WORDS.get("accuracy")), y2=alt.Y2("top:Q"))
    start = x.copy()
    start.shorthand = "low:Q"
    return [
        base.mark_rect(opacity=0.18, color=_RED, aria=False).encode(x=start, x2=alt.X2("high:Q")),
        base.mark_rule(strokeWidth=1.5, color=_RED, aria=False).encode(x=x),
    ]
