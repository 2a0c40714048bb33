"""Report views of people's judgements of minimal pairs; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from penchant.instruments.minimal_pairs.fixed_group_estimates import THESE, of_groups, over_groups
from penchant.instruments.minimal_pairs.human_estimates import (
    AGAINST_MAJORITY,
    ALPHAS,
    CEILING,
    CORRELATIONS,
    EQUAL_LENGTH,
    HUMAN_ACCURACY,
    JUDGED_ACCURACY,
    MINUS_PEOPLE,
    judgements,
    kind_of,
    mean_judgements,
)
from penchant.instruments.minimal_pairs.pair_credits import ALL, deltas
from penchant.records import BaseResult
from penchant.report.figures import COLOURS, FAINT
from penchant.report.lazy_altair import alt, inline
from penchant.report.tables import P
from penchant.views.interval_figures import SHAPES
from penchant.views.row_selection import At, Line, RowSource, sources
from penchant.views.tables import Column, TableSpec, count, level, model, number, p
from penchant.wording.templates import Text

PANELS = 12
"""Maximum number of paradigms drawn per data set."""
_MANY = 10
"""Number of paradigms above which the table by paradigm is shown as a detail."""
_WHERE = {"": "overall", "-by-paradigm": "group"}
"""Suffixes of table names, and the scopes of their rows."""


def _share(key: str, measure: str, **levels: str) -> list[Column]:
    own: dict[str, Any] = {**levels, "measure": measure}
    fixed = {**own, "measure": of_groups(measure), "scope": THESE}
    return [number(key, ".1f", scale=100, **own), number(f"{key}-fixed", ".1f", scale=100, **fixed)]


def _correlations(split: str, suffix: str = "") -> list[Column]:
    return [
        number(key + suffix, "+.2f", measure=over_groups(CORRELATIONS[ranks]), split=split)
        for key, ranks in (("r", False), ("rho", True))
    ]


def _many(lines: Sequence[Line]) -> bool:
    return len({(line["dataset"], line["group"]) for line in lines}) > _MANY


def _first(found: Sequence[RowSource]) -> Sequence[RowSource]:
    """Return only the first source, since the estimates about people are the same for all models."""
    return found[:1]


_SCORED = (level("normalise", "score"), model(), count("pairs"))
_FIXED: Mapping[str, Any] = {"measure": of_groups(MINUS_PEOPLE), "scope": THESE}


def _tables(suffix: str, scope: str) -> list[TableSpec]:
    """Declare three tables: differences between models and people, models against the majority of raters, raters alone.

    `suffix` is appended to the names of the tables; `scope` is the scope of their rows.
    """
    data = [level("dataset", "data"), *([level("group")] if scope == "group" else [])]
    adjusted = [Column("holm", lambda line: P(line["p_holm"]))] if scope == "group" else []
    equal = count("equal", measure=over_groups(CORRELATIONS[False]), split=EQUAL_LENGTH)
    lengths = [equal, *_correlations(EQUAL_LENGTH, "-equal")] if scope == "group" else []
    return [
        TableSpec(
            f"minus-people{suffix}",
            At(measure=MINUS_PEOPLE, scope=scope),
            (
                *(*data, *_SCORED, number("model-prefers", ".1f", scale=100, measure=JUDGED_ACCURACY)),
                number("people-prefer", ".1f", scale=100, measure=HUMAN_ACCURACY, normalise=""),
                *(number("apart", "+.1f", scale=100), p(), *adjusted),
                *(number("apart-fixed", "+.1f", scale=100, **_FIXED), p("p-fixed", **_FIXED)),
            ),
            detail=_many,
            first=("apart",),
        ),
        TableSpec(
            f"human{suffix}",
            At(measure=AGAINST_MAJORITY, scope=scope),
            (
                *(*data, *_SCORED, *_share("accuracy", AGAINST_MAJORITY), *_share("ceiling", CEILING, normalise="")),
                *(*_correlations(ALL), *lengths),
            ),
            detail=_many,
            first=("accuracy", "accuracy-fixed", "ceiling", "ceiling-fixed"),
        ),
        TableSpec(
            f"raters{suffix}",
            At(measure=HUMAN_ACCURACY, scope=scope),
            (
                *(*data, Column("raters", lambda line: int(line["raters"])), count("pairs")),
                *(*_share("majority", HUMAN_ACCURACY), *_share("others", CEILING)),
                number("alpha", "+.2f", measure=tuple(ALPHAS.values())),
            ),
            detail=_many,
            of=_first,
        ),
    ]


PEOPLE = [spec for suffix, scope in _WHERE.items() for spec in _tables(suffix, scope)]


def people_figure(results: Sequence[BaseResult], text: Text) -> Any:
    """Return charts of Δmodel against Δhuman, one panel per paradigm; None if there are no judgements.

    Δmodel is score(good) − score(bad) of a pair, Δhuman its mean judgement (see `mean_judgements`).
    """
    judged = [source for source in sources(results) if source.result and kind_of(source.result.items)]
    points = [
        {**row, "model": source.model}
        for source in judged
        if source.result is not None
        for row in _points(source.result.items, source.result.signature["normalise"].split(",")[0])
    ]
    paradigms = list(dict.fromkeys(row["group"] for row in points))
    reach = max((abs(row["human"]) for row in points), default=1.0) or 1.0
    names = [source.model for source in judged]
    panels = [
        _panel([row for row in points if row["group"] == each], names, each, 1.08 * reach)
        for each in paradigms[:PANELS]
    ]
    return alt.concat(*panels, columns=2) if panels else None


def _points(items: pl.DataFrame, how: str) -> list[dict[str, Any]]:
    heard = items.filter(pl.col("human_n") > 0)
    return (
        heard.select(pl.col("id").alias("pair"), "group", "good", pl.col("human_n").alias("raters"))
        .with_columns(
            pl.Series("human", mean_judgements(judgements(heard)), dtype=pl.Float64),
            pl.Series("delta", deltas(heard, how), dtype=pl.Float64),
        )
        .to_dicts()
    )


def _panel(rows: list[dict[str, Any]], names: list[str], title: str, reach: float) -> alt.LayerChart:
    scale = alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))])
    shapes = alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])
    legend = alt.Legend(title=None, orient="bottom", columns=1, labelLimit=320) if len(names) > 1 else None
    points = (
        alt.Chart(inline(rows))
        .mark_point(filled=True, size=40, opacity=0.7)
        .encode(
            x=alt.X("human:Q", title="Δhuman", scale=alt.Scale(domain=[-reach, reach], nice=False)),
            y=alt.Y("delta:Q", title="Δmodel", scale=alt.Scale(padding=8)),
            color=alt.Color("model:N", sort=names, scale=scale, legend=legend),
            shape=alt.Shape("model:N", sort=names, scale=shapes, legend=legend),
            tooltip=[
                alt.Tooltip("pair:N"),
                alt.Tooltip("good:N", title="sentence"),
                alt.Tooltip("model:N"),
                alt.Tooltip("human:Q", title="Δhuman", format="+.2f"),
                alt.Tooltip("delta:Q", title="Δmodel", format="+.2f"),
                alt.Tooltip("raters:Q"),
            ],
        )
    )
    none = alt.Chart(inline([{"zero": 0}]))
    lines = [
        none.mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(**{axis: "zero:Q"}) for axis in ("x", "y")
    ]
    return alt.layer(*lines, points).properties(width=320, height=200, title=title)
