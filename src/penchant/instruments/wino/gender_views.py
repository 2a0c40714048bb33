"""Report views of Winogender: tables, figures and items; the texts are in `text.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

import polars as pl

from penchant.instruments.wino.claims import GENDER_CLAIMS
from penchant.instruments.wino.gender_data import ROLES
from penchant.instruments.wino.gender_estimates import (
    EFFECT,
    MEAN,
    MEAN_DIFFERENCE,
    OCCUPATION,
    ONE,
    PARTICIPANT,
    PEARSON,
    PEARSON_DIFFERENCE,
    SLOPE,
    SLOPE_DIFFERENCE,
    SPEARMAN,
    TOPS,
    preferences,
    tops,
    women,
)
from penchant.instruments.wino.pronoun_scores import ALL, WORDS, first_score, scoring_facts, strips
from penchant.records import BaseResult
from penchant.report.tables import Cell
from penchant.stats.templates import SD, SHARE
from penchant.views.interval_figures import Forest
from penchant.views.items import ItemColumn, Items, ModelColumn
from penchant.views.row_selection import FIRST, At, Line, RowSource, sources
from penchant.views.scatter import Panel, Scatter, Straight
from penchant.views.section import Views
from penchant.views.tables import Column, TableSpec, adjusted, count, level, model, number, pair

_PARTS = {ALL: "all", OCCUPATION: "effect", PARTICIPANT: "control", EFFECT: "beyond"}
"""Subsets of the sentences in figures, and the keys of their names in `text.yaml`."""
_SCORE = level("normalise", "score")


def _shares(results: Sequence[BaseResult]) -> list[str]:
    return [name.removeprefix("women_") for name in results[0].items.columns if name.startswith("women_")]


def _facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    return {**scoring_facts(results), "shares": _shares(results), "effect": EFFECT}


def _sentences(line: Line) -> int:
    assert line.source.result is not None
    return len(line.source.result.items)


def _by_occupation(found: Sequence[RowSource]) -> list[Column]:
    assert found[0].result is not None
    known = {share: women(found[0].result.items, share) for share in _shares([found[0].result])}
    return [
        level("occupation"),
        *(Column(share, partial(_percent, of)) for share, of in known.items()),
        *(_SCORE, model(), count(), Column("value", partial(_value, ALL))),
        *(Column(part, partial(_value, part)) for part in (OCCUPATION, PARTICIPANT)),
    ]


def _percent(known: Mapping[str, float], line: Line) -> Cell:
    return f"{known[line['occupation']]:g}" if line["occupation"] in known else "–"


def _value(part: str, line: Line) -> Cell:
    found = line.at(part=part)
    return "–" if found is None else f"{found['value']:+.3f}"


def _first_share(found: Sequence[RowSource]) -> list[RowSource]:
    selected = []
    names = {part: WORDS.get("winogender", "parts", key) for part, key in _PARTS.items()}
    for source in found:
        assert source.result is not None
        share = _shares([source.result])[0]
        named = source.frame.filter(share=share).with_columns(pl.col("part").replace(names).alias("sentences"))
        selected.append(replace(source, frame=named))
    return selected


def _panels(results: Sequence[BaseResult]) -> Iterator[Panel]:
    share = _shares(results)[0]
    for source in sources(results):
        assert source.result is not None
        known = women(source.result.items, share)
        for part in (OCCUPATION, PARTICIPANT):
            points = [
                {"occupation": line["occupation"], "women": known[line["occupation"]], "preference": line["value"]}
                for line in source.only(At(measure=ONE, part=part, normalise=FIRST))
                if line["occupation"] in known
            ]
            yield Panel(f"{source.model}: {part}", points, [Straight(0, dashed=True), *_line(points)])


def _line(points: Sequence[dict[str, Any]]) -> list[Straight]:
    if len(points) < 2:
        return []
    x, y = (fmean(point[key] for point in points) for key in ("women", "preference"))
    spread = sum((point["women"] - x) ** 2 for point in points)
    shared = sum((point["women"] - x) * (point["preference"] - y) for point in points)
    return [Straight(shared / spread if spread else 0.0, (x, y))]


def _items(result: BaseResult) -> pl.DataFrame:
    items, how = result.items, first_score(result)
    credit = tops(items, how)
    best = [" and ".join(role for role in ROLES if credit[role][i] > 0) for i in range(len(items))]
    return items.with_columns(
        pl.Series("best", best, dtype=pl.String), pl.Series("gap", preferences(items, how), dtype=pl.Float64)
    )


VIEWS = Views(
    tables=(
        TableSpec(
            "women",
            At(measure=SLOPE),
            (
                *(level("share"), level("part"), _SCORE, model(), count()),
                *(number("r", "+.3f", measure=PEARSON), adjusted("p-r", measure=PEARSON)),
                *(number("rho", "+.3f", measure=SPEARMAN), adjusted("p-rho", measure=SPEARMAN)),
                *(number("slope", "+.3f"), adjusted("p-slope")),
            ),
        ),
        TableSpec(
            "means",
            At(measure=MEAN),
            (
                *(level("part"), _SCORE, model(), count(), number("value", "+.3f"), adjusted("p")),
                *(number("sd", measure=SD), number("variance", ".0f", scale=100, measure=SHARE)),
            ),
            first=("value", "p"),
        ),
        TableSpec(
            "most-probable",
            At(measure=TOPS[ROLES[0]]),
            (
                *(_SCORE, model(), Column("n", _sentences)),
                *(number(role, ".1f", scale=100, measure=TOPS[role]) for role in ROLES),
            ),
        ),
        TableSpec("occupations", At(measure=ONE, part=ALL), _by_occupation, detail=True),
    ),
    compared=(
        TableSpec(
            "differences",
            At(measure=PEARSON_DIFFERENCE),
            (
                *(level("share"), level("part"), _SCORE, pair(), count(), number("r", "+.3f"), adjusted("p-r")),
                *(number("slope", "+.3f", measure=SLOPE_DIFFERENCE), adjusted("p-slope", measure=SLOPE_DIFFERENCE)),
            ),
            by_model=True,
        ),
        TableSpec(
            "mean-differences",
            At(measure=MEAN_DIFFERENCE),
            (level("part"), _SCORE, pair(), count(), number("value", "+.3f"), adjusted("p")),
            by_model=True,
        ),
    ),
    figures=(
        Scatter(
            *("occupations", _panels, "women", "preference"),
            told={"occupation": "", "women": ".1f", "preference": "+.2f"},
            names="occupation",
            picks="occupation",
            side=180,
        ),
        Forest("women", At(measure=SLOPE, normalise=FIRST, part=tuple(_PARTS)), "sentences", of=_first_share),
    ),
    items=Items(
        columns=(
            ItemColumn("id", "id"),
            *(ItemColumn(name, "label", varies=True) for name in ("occupation", "refers", "kind", "pronouns")),
            *(ItemColumn(role) for role in ROLES),
        ),
        each=(ModelColumn("best", kind="label", digits=0), ModelColumn("gap", signed=True)),
        tokens=strips(*ROLES),
        rows=_items,
    ),
    claims=GENDER_CLAIMS,
    facts=_facts,
)
