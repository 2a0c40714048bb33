"""Report views of association tests; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.associations.claims import claims, list_labels, only_category
from penchant.instruments.associations.compare import DIFFERENCE
from penchant.instruments.associations.contextual_effects import KEPT
from penchant.instruments.associations.control_category import BEYOND
from penchant.instruments.associations.effect_charts import by_context, by_layer, by_samples
from penchant.instruments.associations.effect_forest import effects
from penchant.instruments.associations.estimates import BY_SENTENCE, TEXT
from penchant.instruments.associations.logprob_estimates import ASSOCIATION, SCORES
from penchant.instruments.associations.random_effects import FIRST, PUBLISHED
from penchant.instruments.associations.stimulus_charts import StimulusStrips, scores
from penchant.instruments.associations.tables import COMPARED, FEW, TABLES
from penchant.instruments.associations.view_rows import (
    FACTORS,
    SIGNIFICANT,
    families,
    headline,
    levels,
    ordered,
    stacked,
    where,
    with_factors,
)
from penchant.records import BaseResult, Signature
from penchant.views.interval_figures import Drawn
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip
from penchant.views.section import Views

_STATED = {
    "attributes": ASSOCIATION,
    "beyond": BEYOND,
    "first": FIRST,
    "sentences": BY_SENTENCE,
    "published": PUBLISHED,
}
"""Measures whose levels the texts may mention, by the name of the fact."""


def _facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    name = results[0].signature["probe"]
    summaries = [result.summary for result in results]
    measured = {measure for summary in summaries for measure in summary["measure"]}
    return {
        "some": _some,
        "cases": list(dict.fromkeys(result.signature.get("case", "") for result in results)),
        "control": BEYOND in measured,
        "few": FEW,
        "kept": KEPT,
        "lists": list_labels(results, only_category(results)),
        "significant": SIGNIFICANT,
        **{fact: _stated(name, stacked(results, measure)) for fact, measure in _STATED.items()},
        "items_at": _stated(name, with_factors(results[0].items)),
        **_stated(name, stacked(results, headline(name))),
    }


def _some(count: int, of: int, one: str) -> str:
    """Return a phrase such as " in 3 of 8 categories", or "" if `of` is 1.

    `one` is the ending of the verb, "s" for one model and "" for several, for which the noun is "cases".
    """
    return "" if of == 1 else f" in {count:,} of {of:,} {'categories' if one else 'cases'}"


def _of_differences(comparison: pl.DataFrame) -> dict[str, Any]:
    rows = comparison.filter(measure=DIFFERENCE)
    name = Signature.parse(rows["signature"][0])["probe"] if len(rows) else ""
    return {"significant": SIGNIFICANT, **_stated(name, ordered([("", rows)]))}


def _stated(name: str, frame: pl.DataFrame) -> dict[str, Any]:
    return {
        "family": families(frame, name) if len(frame) else "",
        "wide": len(frame) > 0 and len(levels(frame, "context")) > 1,
        "at": lambda *factors: "".join(f", {part}" for part in where(frame, name, *factors)),
    }


# Items

_NAMES, _MEANS, _WITH = "cosine_words", "cosine_means", "cosine_with"


def _placed_items(result: BaseResult) -> pl.DataFrame:
    label = pl.when(pl.col("label") != pl.col("category")).then("label").otherwise(pl.lit(""))
    named = pl.concat_str("category", label, separator=" ").str.strip_chars()
    items = with_factors(result.items).with_columns(named.alias("place"))
    if "leaks" not in items.columns:
        return items
    leaks = pl.when(pl.col("leaks")).then(pl.lit("leaks")).otherwise(pl.lit("–"))
    return items.with_columns(leaks.alias("elsewhere"))


def _with_cosines(result: BaseResult) -> pl.DataFrame:
    frame = _placed_items(result)
    words = TEXT.below("weat", "items", "said")
    names: list[list[str]] = [[] for _ in range(len(frame))]
    values: list[list[float]] = [[] for _ in range(len(frame))]
    others_of = [""] * len(frame)
    for _, items in frame.with_row_index("row").group_by("category", *FACTORS, maintain_order=True):
        targets, attributes = (items.filter(pl.col("side").is_in(sides)) for sides in (["X", "Y"], ["A", "B"]))
        table = np.array(targets["cosines"].to_list(), dtype=np.float64).reshape(len(targets), -1)
        for rows, others, cosines, said in (
            (targets, attributes, table, words.get("targets")),
            (attributes, targets, table.T, words.get("attributes")),
        ):
            own, means = _by_word(others, cosines)
            for row, mean in zip(rows["row"], means.tolist(), strict=True):
                names[row], values[row], others_of[row] = own, mean, said
    return frame.with_columns(
        pl.Series(_NAMES, names, pl.List(pl.String)),
        pl.Series(_MEANS, values, pl.List(pl.Float64)),
        pl.Series(_WITH, others_of, pl.String),
    )


def _by_word(others: pl.DataFrame, cosines: NDArray[np.float64]) -> tuple[list[str], NDArray[np.float64]]:
    columns: dict[tuple[str, str], list[int]] = {}
    for at, key in enumerate(others.select("side", "word").iter_rows()):
        columns.setdefault(key, []).append(at)
    means = np.stack([cosines[:, at].mean(axis=1) for at in columns.values()], axis=1)
    return [word for _, word in columns], means


def _with_scores(result: BaseResult) -> pl.DataFrame:
    return _placed_items(result).with_columns(
        pl.col(name).round(3).cast(pl.String).alias(f"{name}_shown") for name in SCORES
    )


def _repeated(*keys: str) -> Callable[[pl.DataFrame], list[str]]:
    return lambda items: [TEXT.get(*keys)] * len(items)


_FACTORS = tuple(ItemColumn(factor, "label", varies=True) for factor in FACTORS)
STIMULI = Items(
    columns=(
        *(ItemColumn("word", "id"), ItemColumn("text", varies=True), ItemColumn("place", "label")),
        *(ItemColumn("side", "label"), *_FACTORS),
    ),
    each=(ModelColumn("association", digits=4, signed=True), ModelColumn("without", digits=2, signed=True)),
    tokens=(TokenStrip("cosines", _NAMES, "", _MEANS, lambda items: items[_WITH].to_list(), marks=_MEANS),),
    rows=_with_cosines,
)
SENTENCES = Items(
    columns=(
        *(ItemColumn("attribute", "id"), ItemColumn("attribute_side", "label"), ItemColumn("target", "label")),
        *(ItemColumn("target_side", "label"), ItemColumn("sentence"), ItemColumn("place", "label")),
        *(ItemColumn("context", "label", varies=True), ItemColumn("elsewhere", "label", varies=True)),
    ),
    each=tuple(ModelColumn(score, digits=2, signed=score == "corrected") for score in SCORES),
    tokens=(
        TokenStrip("fill", "tokens", "target", "logprobs_fill", _repeated("logprob-bias", "items", "said", "fill")),
        TokenStrip("prior", "tokens", "target", "logprobs_prior", _repeated("logprob-bias", "items", "said", "prior")),
    ),
    rows=_with_scores,
)


VIEWS = Views(
    tables=TABLES,
    compared=COMPARED,
    figures=(
        Drawn("effects", effects, "category"),
        Drawn("context", by_context, "category segment structure", "effects"),
        Drawn("layers", by_layer, "category layer", "effects"),
        Drawn("samples", by_samples, "category", "first-samples"),
        Drawn("scores", scores),
        StimulusStrips(),
    ),
    items=STIMULI,
    claims=claims("targets"),
    facts=_facts,
    compared_facts=_of_differences,
)
LOGPROB_VIEWS = replace(VIEWS, items=SENTENCES, claims=claims("attributes"))
