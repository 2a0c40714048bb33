"""Report views of acceptability; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from penchant.instruments.acceptability.estimates import (
    ALPHA,
    BETWEEN_SCORES,
    MORCELA,
    PARAMETERS,
    SENTENCES,
    SPEARMAN,
    values_of,
)
from penchant.instruments.acceptability.settings import DIFFERENCE, PEARSON, AcceptabilitySettings
from penchant.plurals import counted
from penchant.records import BaseResult
from penchant.report.finding import Shown, differences, levels, told
from penchant.report.item_browser import every_item
from penchant.report.tables import shown
from penchant.stats.inputs import Array
from penchant.views.figures import Forest
from penchant.views.finding import FindingPart
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip
from penchant.views.rows import At, sources
from penchant.views.scatter import Panel, Scatter
from penchant.views.section import Views
from penchant.views.tables import TableSpec, adjusted, count, level, model, number, p, pair
from penchant.wording.templates import Text

_SHOWN = Shown("+.2f", SENTENCES)
_BETA = Shown(".2f", SENTENCES, null=1)
_TESTED = (number("value", "+.3f"), p(), adjusted())


def _facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    items = every_item(results)
    return {
        "ways": list(dict.fromkeys(result.signature["method"] for result in results)),
        "hows": _hows(results),
        "told": _main_score(_values(results[0])),
        "raters": items["raters"].explode().n_unique(),
        "ratings": items["ratings"].list.len(),
    }


def _hows(results: Sequence[BaseResult]) -> list[str]:
    return list(dict.fromkeys(how for result in results for how in result.signature["normalise"].split(",")))


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
    return [
        f"{shown(score, '.3f')}, {counted(n, 'tokens')}" for score, n in items.select("score", "n_tokens").iter_rows()
    ]


def _panels(results: Sequence[BaseResult]) -> Iterator[Panel]:
    """Yield panels of the sentences, for the first and the last score reported."""
    for source in sources(results):
        assert source.result is not None
        items, made = source.result.items, _values(source.result)
        for how in dict.fromkeys([*made][:: max(1, len(made) - 1)]):
            rows = items.select("id", "sentence", "rating").with_columns(pl.Series("score", made[how]))
            points = [row for row in rows.iter_rows(named=True) if np.isfinite(row["score"])]
            yield Panel(f"{source.model}, {how}", points)


def _correlations(results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
    """Yield sentences on the correlations of the first score and of MORCELA."""
    hows = _hows(results)
    for how in dict.fromkeys((hows[0], *(each for each in hows if each == MORCELA))):
        at = At(measure=PEARSON, score=how)
        rows = [(source.model, line.row) for source in sources(results) for line in source.only(at)]
        if each := levels(rows, _SHOWN, "0"):
            yield text.get("prose", "finding", "correlation", how=how, each=each)


def _fitted(results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
    """Yield sentences on MORCELA's gain over SLOR, and on the weight of frequency."""
    for source in sources(results):
        for line in source.only(At(measure=BETWEEN_SCORES, score=f"{MORCELA} − slor")):
            facts = {"model": source.model, "number": _SHOWN.number(line.row)}
            kind = ("above" if line["value"] > 0 else "below") if told(line.row) else "open"
            yield text.get("prose", "finding", "gain", kind, **facts)
        for line in source.only(At(measure=PARAMETERS[0])):
            if line["value"] == line["value"] and line["low"] == line["low"]:
                facts = {"model": source.model, "number": _BETA.number(line.row)}
                kind = ("above" if line["value"] > 1 else "below") if told(line.row, 1) else "open"
                yield text.get("prose", "finding", "beta", kind, **facts)


def _between(results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
    """Yield a sentence on the differences between models, by the last score that they have in common."""
    if comparison is not None:
        how = str(comparison["score"][-1])
        own = text.below("prose", "finding", "differences")
        yield differences(comparison.filter(score=how).to_dicts(), _SHOWN, own.get("higher"), own.get("what", how=how))


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
    finding=(FindingPart(_correlations), FindingPart(_fitted), FindingPart(_between)),
    facts=_facts,
)
