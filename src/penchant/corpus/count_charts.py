"""Charts of word counts in a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from penchant.corpus.occurrence_lookup import By, counts
from penchant.errors import MethodError
from penchant.files import head, refuse_other, write_text
from penchant.plurals import counted
from penchant.report.figures import COLOURS, FAINT, Figure
from penchant.report.lazy_altair import alt, inline
from penchant.report.page import chart_page

_WIDTH = 460
_ROW = 15
_TITLES = {
    "word": "Occurrences of each stimulus",
    "form": "Forms of each stimulus",
    "segment": "Occurrences by the number of words in the sentence",
}


def figure(record: Mapping[str, Any], by: By) -> Figure:
    """Return a figure of an extraction's counts by word, form or segment. Raises MethodError if it cannot be drawn."""
    table = counts(record, by)
    draw = {"word": _words, "form": _forms, "segment": _segments}[by]
    text = (
        f"{_TITLES[by]}: {counted(int(table['occurrences'].sum()), 'occurrences')} of "
        f"{counted(len(record['recipe']['forms']), 'stimuli')} in "
        f"{', '.join(source['name'] for source in record['texts'][:3])}{' …' if len(record['texts']) > 3 else ''}."
    )
    return Figure(f"corpus-{by}", _TITLES[by], text, draw(table).properties(title=_TITLES[by]))


def write_chart(record: Mapping[str, Any], by: By, path: Path) -> None:
    """Write a chart of an extraction's counts in the format that the file extension names, SVG or HTML.

    Raises MethodError or OutputError if the chart cannot be written.
    """
    drawn = figure(record, by)
    match path.suffix.lower():
        case ".svg":
            refuse_other(path, "a chart", lambda file: b"<svg" in head(file) and b'class="marks"' in head(file))
            write_text(drawn.svg(), path)
        case ".html":
            refuse_other(path, "a chart by penchant", lambda file: b'content="penchant-chart ' in head(file))
            write_text(chart_page(drawn), path)
        case ending:
            hint = "give a file name that ends in .svg or .html"
            raise MethodError(f"a chart cannot be written as '{ending}'", hint=hint)


def _x(field: str, title: str, **more: Any) -> alt.X:
    return alt.X(field, title=title, axis=alt.Axis(format=",d", tickCount=6, orient="top"), **more)


def _y(field: str, order: Sequence[str]) -> alt.Y:
    return alt.Y(field, title=None, sort=list(order), axis=alt.Axis(labelLimit=200))


def _coloured(field: str, kinds: Sequence[str]) -> alt.Color:
    return alt.Color(field, title=None, scale=alt.Scale(domain=kinds, range=COLOURS[: len(kinds)]))


def _words(table: pl.DataFrame) -> alt.LayerChart:
    kinds = ["occurrences", "kept"]
    long = table.unpivot(kinds, index="word", variable_name="count", value_name="n")
    base = alt.Chart(inline(long.to_dicts()))
    x = _x("n:Q", "occurrences", scale=alt.Scale(type="symlog", constant=1))
    y = _y("word:N", table["word"].to_list())
    shapes = alt.Shape("count:N", title=None, scale=alt.Scale(domain=kinds, range=["circle", "square"]))
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(
        x,
        y,
        color=_coloured("count:N", kinds),
        shape=shapes,
        tooltip=[alt.Tooltip("word:N"), alt.Tooltip("count:N"), alt.Tooltip("n:Q", format=",d")],
    )
    line = base.mark_line(color=FAINT).encode(x, y, detail=alt.Detail("word:N"))
    return alt.layer(line, dots).properties(width=_WIDTH, height=_ROW * len(table))


def _forms(table: pl.DataFrame) -> alt.Chart:
    """Draw the forms of each stimulus as a stacked bar; stimuli without occurrences are omitted."""
    is_stimulus = (pl.col("word") == pl.col("form")) | (pl.col("word") == pl.col("form").str.to_lowercase())
    kind = pl.when(is_stimulus).then(pl.lit("the stimulus itself")).otherwise(pl.lit("with suffix"))
    order = pl.when(is_stimulus).then(0).otherwise(1 / pl.col("occurrences"))
    shown = table.filter(pl.col("occurrences") > 0).select("word", "form", "occurrences", kind=kind, order=order)
    return (
        alt.Chart(inline(shown.to_dicts()))
        .mark_bar(stroke="white", strokeWidth=1)
        .encode(
            _x("occurrences:Q", "occurrences"),
            _y("word:N", shown["word"].unique(maintain_order=True).to_list()),
            color=_coloured("kind:N", ["the stimulus itself", "with suffix"]),
            order=alt.Order("order:Q"),
            detail=alt.Detail("form:N"),
            tooltip=[alt.Tooltip("word:N"), alt.Tooltip("form:N"), alt.Tooltip("occurrences:Q", format=",d")],
        )
        .properties(width=_WIDTH, height=_ROW * max(shown["word"].n_unique(), 1))
    )


def _segments(table: pl.DataFrame) -> alt.Chart:
    kinds = ["occurrences", "distinct", "kept"]
    long = table.unpivot(kinds, index="segment", variable_name="count", value_name="n")
    return (
        alt.Chart(inline(long.to_dicts()))
        .mark_bar()
        .encode(
            _x("n:Q", "occurrences"),
            _y("segment:N", table["segment"].to_list()),
            yOffset=alt.YOffset("count:N", sort=kinds),
            color=_coloured("count:N", kinds),
            tooltip=[alt.Tooltip("segment:N"), alt.Tooltip("count:N"), alt.Tooltip("n:Q", format=",d")],
        )
        .properties(width=_WIDTH, height=3 * _ROW * len(table))
    )
