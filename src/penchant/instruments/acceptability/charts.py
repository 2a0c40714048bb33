"""Figures of acceptability. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penchant.instruments.acceptability.estimates import MORCELA, PEARSON, values_of
from penchant.instruments.acceptability.settings import AcceptabilitySettings
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, Figure
from penchant.report.tables import models


def figures(results: Sequence[Result]) -> list[Figure]:
    """Judgements against scores, and the correlation of every score."""
    return [
        Figure(
            "sentences",
            "Judgements and scores",
            "For each model two panels with a point for every sentence: its score (the first and the last of those "
            "reported) and the mean of what was judged of it.",
            _scatter(results),
            "correlations",
            picks="id",
        ),
        Figure(
            "correlations",
            "Correlation with judgements, by score",
            "For each score and model Pearson's r of the score with the mean judgement of a sentence, with its "
            "interval.",
            _correlations(results),
            "correlations",
        ),
    ]


def _scatter(results: Sequence[Result]) -> alt.ConcatChart:
    panels = []
    for model, result in zip(models(results), results, strict=True):
        settings = AcceptabilitySettings.of(result.settings)
        hows = settings.normalisations()
        for how in dict.fromkeys((hows[0], hows[-1])):
            values, _ = values_of(result.items, how, settings)
            rows = [
                {"id": name, "sentence": sentence, "rating": rating, "score": value}
                for (name, sentence, rating), value in zip(
                    result.items.select("id", "sentence", "rating").iter_rows(), values.tolist(), strict=True
                )
                if np.isfinite(value)
            ]
            fitted = ", out of fold" if how == MORCELA else ""
            scale = alt.Scale(zero=False)
            point = (
                alt.Chart(alt.InlineData(rows))
                .mark_point(filled=True, size=25, opacity=0.7, color=COLOURS[0])
                .encode(
                    x=alt.X("score:Q", title=f"score: {how}{fitted}", scale=scale),
                    y=alt.Y("rating:Q", title="mean judgement", scale=scale),
                    tooltip=["sentence:N", alt.Tooltip("score:Q", format=".3f"), alt.Tooltip("rating:Q", format=".2f")],
                )
            )
            panels.append(point.properties(width=300, height=240, title=model))
    return alt.concat(*panels, columns=2)


def _correlations(results: Sequence[Result]) -> alt.LayerChart:
    names = models(results)
    rows = [
        {"model": model, "score": row["score"], **{key: _known(row[of]) for key, of in _ENDS.items()}}
        for model, result in zip(names, results, strict=True)
        for row in result.summary.filter(measure=PEARSON).iter_rows(named=True)
    ]
    order = list(dict.fromkeys(row["score"] for row in rows))
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("score:N", sort=order, title=None),
        yOffset=alt.YOffset("model:N", sort=names),
        color=alt.Color("model:N", sort=names, scale=alt.Scale(domain=names, range=list(COLOURS))),
    )
    title = "Pearson's r with judgements"
    rule = base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("from:Q", title=title), x2="to:Q")
    point = base.mark_point(filled=True, size=50, opacity=1).encode(
        x=alt.X("value:Q", title=title),
        shape=alt.Shape("model:N", sort=names, scale=alt.Scale(domain=names)),
        tooltip=["model:N", "score:N", alt.Tooltip("value:Q", format="+.3f")],
    )
    zero = alt.Chart(alt.InlineData([{"x": 0}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(x="x:Q")
    return alt.layer(zero, rule, point).properties(width=420, height=alt.Step(18))


_ENDS = {"value": "value", "from": "low", "to": "high"}


def _known(value: float) -> float | None:
    return None if value != value else value
