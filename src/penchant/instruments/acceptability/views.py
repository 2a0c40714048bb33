"""Report views of acceptability; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from penchant.instruments.acceptability.claims import CLAIMS
from penchant.instruments.acceptability.estimates import (
    ALPHA,
    BETWEEN_SCORES,
    MORCELA,
    PARAMETERS,
    SPEARMAN,
    values_of,
)
from penchant.instruments.acceptability.settings import DIFFERENCE, PEARSON, AcceptabilitySettings
from penchant.plurals import counted
from penchant.records import BaseResult
from penchant.report.item_browser import every_item
from penchant.report.tables import shown
from penchant.stats.inputs import Array
from penchant.views.interval_figures import Forest
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip
from penchant.views.row_selection import At, sources
from penchant.views.scatter import Panel, Scatter
from penchant.views.section import Views
from penchant.views.tables import TableSpec, adjusted, count, level, model, number, p, pair
from penchant.wording.templates import Text

_SCORES = Text.of(Path(__file__).parent).below("scores")
_TESTED = (number("value", "+.3f"), p(), adjusted())


def _facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    items = every_item(results)
    hows = list(dict.fromkeys(how for result in results for how in result.signature["normalise"].split(",")))
    return {
        "ways": list(dict.fromkeys(result.signature["method"] for result in results)),
        "hows": hows,
        "scores": {how: _SCORES.get(how) for how in hows},
        "told": _main_score(_values(results[0])),
        "raters": items["raters"].explode().n_unique(),
        "ratings": items["ratings"].list.len(),
    }


def _values(result: BaseResult) -> dict[str, Array]:
    settings = AcceptabilitySettings.of(result.settings)
    return {how: values_of(result.items, how, settings)[0] for how in settings.normalisations()}


def _last(result: BaseResult) -> pl.Series:
    made = _values(result)
    return pl.Series(made[_main_score(made)], dtype=pl.Float64).fill_nan(None)


def _main_score(made: dict[str, Array]) -> str:
    return MORCELA if MORCELA in made else list(made)[-1]


def _remarks(result: BaseResult) -> list[str]:
    made = _values(result)
    rows = zip(*(values.tolist() for values in made.values()), strict=True)
    return [", ".join(f"{how} {shown(value, '.3f')}" for how, value in zip(made, row, strict=True)) for row in rows]


def _said(items: pl.DataFrame) -> list[str]:
    rows = items.select("score", "n_tokens").iter_rows()
    return [shown(score, ".3f") + ("" if n is None else f", {counted(n, 'tokens')}") for score, n in rows]


def _panels(results: Sequence[BaseResult]) -> Iterator[Panel]:
    """Yield panels of the sentences for each model: for the first score and, if there are several, for the last."""
    for source in sources(results):
        assert source.result is not None
        items, made = source.result.items, _values(source.result)
        for how in dict.fromkeys([*made][:: max(1, len(made) - 1)]):
            rows = items.select("id", "sentence", "rating").with_columns(pl.Series("score", made[how]))
            points = [row for row in rows.iter_rows(named=True) if np.isfinite(row["score"])]
            yield Panel(f"{source.model}, {how}", points)


def _judged(result: BaseResult) -> pl.DataFrame:
    return result.items.with_columns(pl.col("ratings").list.len().alias("judged"))


VIEWS = Views(
    tables=(
        TableSpec(
            "correlations",
            At(measure=PEARSON),
            (
                *(level("score"), model(), count(), number("r", "+.3f"), p("p-r")),
                *(number("rho", "+.3f", measure=SPEARMAN), p("p-rho", measure=SPEARMAN)),
            ),
        ),
        TableSpec(
            "parameters",
            At(measure=PARAMETERS[0]),
            (
                *(model(), count(), number("beta", ".3f"), p("p-beta")),
                *(number("gamma", "+.2f", measure=PARAMETERS[1]), p("p-gamma", measure=PARAMETERS[1])),
            ),
        ),
        TableSpec(
            "between-scores",
            At(measure=BETWEEN_SCORES),
            (level("score", "difference"), model(), count(), *_TESTED),
            by_model=True,
        ),
        TableSpec("agreement", At(measure=ALPHA), (count(), number("alpha", ".2f")), of=lambda found: found[:1]),
    ),
    compared=(
        TableSpec("differences", At(measure=DIFFERENCE), (level("score"), pair(), count(), *_TESTED), by_model=True),
    ),
    figures=(
        Scatter(
            *("sentences", _panels, "score", "rating"),
            told={"sentence": "", "score": ".3f", "rating": ".2f"},
            picks="id",
            side=300,
            numbers="correlations",
            apart=True,
        ),
        Forest("correlations", At(measure=PEARSON), "score"),
    ),
    items=Items(
        columns=(
            *(ItemColumn("id", "id"), ItemColumn("prefix", varies=True), ItemColumn("sentence")),
            *(ItemColumn("rating", "number", digits=2), ItemColumn("judged", "number")),
        ),
        each=(ModelColumn("last", _last, signed=True),),
        tokens=(TokenStrip("sentence", "tokens", "sentence", "logprobs", _said),),
        remark=_remarks,
        rows=_judged,
    ),
    claims=CLAIMS,
    facts=_facts,
)
