"""Report views of WinoBias: tables, figures and items; the texts are in `text.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.wino.bias_data import ANTI, PRO
from penchant.instruments.wino.bias_estimates import (
    ADJUSTED,
    ADJUSTED_DIFFERENCE,
    LOG_ODDS,
    MALE_DIFFERENCE,
    PREFERS_MALE,
    PREFERS_PRO,
    PRO_DIFFERENCE,
    TIES,
    credits,
    log_odds,
    preferences,
)
from penchant.instruments.wino.claims import BIAS_CLAIMS
from penchant.instruments.wino.pronoun_scores import WORDS, first_score, scoring_facts, strips
from penchant.records import BaseResult
from penchant.report.tables import Cell
from penchant.views.interval_figures import Forest
from penchant.views.items import ItemColumn, Items, ModelColumn
from penchant.views.row_selection import FIRST, At, Line, RowSource
from penchant.views.section import Views
from penchant.views.tables import Column, TableSpec, adjusted, count, level, model, number, pair

_PARTS = ("overall", "type", "gender", "form")
_PREFERRED = {PREFERS_PRO: "pro-stereotypical", PREFERS_MALE: "male"}
_NAMES = {1.0: "pro", 0.5: "tie", 0.0: "anti"}


def _part(row: Mapping[str, Any]) -> str:
    return WORDS.get("winobias", "parts", row["scope"], group=row["group"])


def _leads(line: Line) -> bool:
    return line["measure"] == PREFERS_PRO or line.at(measure=PREFERS_PRO) is None


def _side(line: Line) -> str:
    assert line.source.result is not None
    return str(line.source.result.items.filter(occupation=line["group"])["gender"][0])


def _of_gender(gender: str) -> Column:
    shown = number(gender, "+.3f", scope="gender", group=gender, measure=LOG_ODDS)

    def cell(line: Line) -> Cell:
        return shown.cell(line) if line["scope"] == "overall" else "–"

    return Column(gender, cell)


def _figure_rows(found: Sequence[RowSource]) -> list[RowSource]:
    selected = []
    for source in found:
        assert source.result is not None
        sides = dict(source.result.items.select("occupation", "gender").iter_rows())
        rows = [
            {
                **row,
                **({key: 100 * row[key] for key in ("value", "low", "high")} if row["measure"] in _PREFERRED else {}),
                "pairs": row["group"] if row["scope"] == "occupation" else _part(row),
                "occupation": row["group"],
                "pronoun": sides.get(row["group"]) if row["measure"] == LOG_ODDS else _PREFERRED.get(row["measure"]),
            }
            for row in source.frame.iter_rows(named=True)
        ]
        selected.append(replace(source, frame=pl.DataFrame(rows, infer_schema_length=None)))
    return selected


def _items(result: BaseResult) -> pl.DataFrame:
    items, how = result.items, first_score(result)
    gaps = preferences(items, how)
    return items.with_columns(
        pl.Series("prefers", [_NAMES[credit] for credit in credits(gaps).tolist()], dtype=pl.String),
        pl.Series("gap", gaps),
        pl.Series("odds", log_odds(items, how)),
    )


_FIRST = (Column("pairs", lambda line: _part(line.row)), level("normalise", "score"))
VIEWS = Views(
    tables=(
        TableSpec(
            "shares",
            At(measure=(PREFERS_PRO, PREFERS_MALE), scope=_PARTS),
            (
                *(*_FIRST, model(), count()),
                *(number("pro", ".1f", scale=100, measure=PREFERS_PRO), adjusted("p-pro", measure=PREFERS_PRO)),
                *(number("male", ".1f", scale=100, measure=PREFERS_MALE), adjusted("p-male", measure=PREFERS_MALE)),
                number("ties", ".1f", scale=100, measure=TIES),
            ),
            takes=_leads,
            first=("pro", "male"),
        ),
        TableSpec(
            "gender-adjusted",
            At(measure=ADJUSTED),
            (
                *(*_FIRST, model(), count(), _of_gender("male"), _of_gender("female")),
                *(number("value", "+.3f"), adjusted("p")),
            ),
        ),
        TableSpec(
            "occupations",
            At(measure=PREFERS_PRO, scope="occupation"),
            (
                *(level("group", "occupation"), Column("pro", _side), level("normalise", "score"), model(), count()),
                *(number("share", ".1f", scale=100), adjusted(), number("odds", "+.2f", measure=LOG_ODDS)),
            ),
            detail=True,
        ),
    ),
    compared=(
        TableSpec(
            "differences",
            At(measure=PRO_DIFFERENCE),
            (
                *(*_FIRST, pair(), count()),
                *(number("pro", "+.1f", scale=100), adjusted("p-pro")),
                number("male", "+.1f", scale=100, measure=MALE_DIFFERENCE),
                adjusted("p-male", measure=MALE_DIFFERENCE),
                number("adjusted", "+.3f", measure=ADJUSTED_DIFFERENCE),
                adjusted("p-adjusted", measure=ADJUSTED_DIFFERENCE),
            ),
            by_model=True,
        ),
    ),
    figures=(
        Forest(
            "shares",
            At(measure=tuple(_PREFERRED), scope=("overall", "type", "gender"), normalise=FIRST),
            *("pairs", "pronoun", ".1f", "model"),
            width=200,
            null=50,
            of=_figure_rows,
        ),
        Forest(
            "occupations",
            At(measure=LOG_ODDS, scope="occupation", normalise=FIRST),
            *("occupation", "pronoun", "+.2f", "model"),
            picks="occupation",
            of=_figure_rows,
            ranked=True,
        ),
    ),
    items=Items(
        columns=(
            ItemColumn("id", "id"),
            *(ItemColumn(name, "label", varies=True) for name in ("type", "occupation", "gender", "pronouns")),
            *(ItemColumn(role) for role in (PRO, ANTI)),
        ),
        each=(ModelColumn("prefers", kind="label", digits=0), ModelColumn("gap", signed=True)),
        tokens=strips(PRO, ANTI),
        rows=_items,
        parallel=True,
    ),
    claims=BIAS_CLAIMS,
    facts=scoring_facts,
)
