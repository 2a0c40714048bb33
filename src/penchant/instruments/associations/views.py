"""What a report shows of association tests; the words are in `text.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.associations.charts import by_context, by_layer, by_samples
from penchant.instruments.associations.combination import FIRST, PUBLISHED
from penchant.instruments.associations.compare import DIFFERENCE
from penchant.instruments.associations.contextual_effects import KEPT
from penchant.instruments.associations.control import BEYOND
from penchant.instruments.associations.details import DETAILS, FEW, LABELLED, TESTED, template, templates, words_of_sets
from penchant.instruments.associations.estimates import BY_SENTENCE, SIDES
from penchant.instruments.associations.frames import (
    FACTORS,
    SIGNIFICANT,
    context_title,
    families,
    headline,
    levels,
    only,
    ordered,
    several,
    stacked,
    where,
    with_factors,
)
from penchant.instruments.associations.logprob_estimates import ASSOCIATION, OF_TEMPLATE
from penchant.instruments.associations.rows import (
    HEADLINE,
    Columns,
    heads,
    probe_of,
    rows_of,
    shown_at,
    stacked_rows,
    varying,
)
from penchant.instruments.associations.stimuli import SENTENCES, STIMULI
from penchant.instruments.associations.stimulus_charts import Words, scores
from penchant.records import Result, Signature
from penchant.report.finding import Shown, across
from penchant.report.tables import P
from penchant.stats.templates import SD, SHARE
from penchant.views.figures import Drawn, Forest
from penchant.views.finding import Said
from penchant.views.rows import At, Line, Source, sources
from penchant.views.section import Views
from penchant.views.tables import Column, TableSpec, count, level, model, number, p, pair
from penchant.wording.templates import Text

_KEYS = ("comparison", "measure", "category", "layer", "side", "stimulus")


def _facts(results: Sequence[Result]) -> dict[str, Any]:
    name = results[0].signature["probe"]
    summaries = [result.summary for result in results]
    measured = {measure for summary in summaries for measure in summary["measure"]}
    return {
        "cases": list(dict.fromkeys(result.signature.get("case", "") for result in results)),
        "control": BEYOND in measured,
        "few": FEW,
        "kept": KEPT,
        "significant": SIGNIFICANT,
        "attributes": _stated(name, stacked(results, ASSOCIATION)),
        "beyond": _stated(name, stacked(results, BEYOND)),
        "first": _stated(name, stacked(results, FIRST)),
        "sentences": _stated(name, stacked(results, BY_SENTENCE)),
        "published": _stated(name, stacked(results, PUBLISHED)),
        "items_at": _stated(name, with_factors(results[0].items)),
        **_stated(name, stacked(results, headline(name))),
    }


def _of_differences(comparison: pl.DataFrame) -> dict[str, Any]:
    rows = comparison.filter(measure=DIFFERENCE)
    name = Signature.parse(rows["signature"][0])["probe"] if len(rows) else ""
    return {"significant": SIGNIFICANT, **_stated(name, ordered([("", rows)]))}


def _stated(name: str, frame: pl.DataFrame) -> dict[str, Any]:
    """Return what Holm's adjustment is over, which contexts there are, and what names the levels that are shown."""
    return {
        "family": families(frame, name) if len(frame) else "",
        "wide": len(frame) > 0 and len(levels(frame, "context")) > 1,
        "at": lambda *factors: "".join(f", {part}" for part in where(frame, name, *factors)),
    }


# Effect sizes --------------------------------------------------------------------------------------------------------


def _of(measures: Sequence[str], form: str, who: Column, *, all_: bool) -> Columns:
    """Return what makes the columns of effect sizes or their differences: a column for each context where there are
    several, or a row for each (`all_`)."""

    def columns(found: Sequence[Source]) -> list[Column]:
        rows = rows_of(found if all_ else shown_at("sampling", "samples")(found), *measures)
        contexts = [] if all_ else levels(rows, "context")
        name = probe_of(found)
        if len(contexts) > 1:
            each = [number(context_title(name, each), form, star=True, context=each) for each in contexts]
            return [*heads(rows, name, who, "context"), *each]
        tested = [p(), Column("holm", lambda line: P(line["p_holm"]))] if rows["p"].is_not_nan().any() else []
        return [*heads(rows, name, who), count(), number("d", form), *tested]

    return columns


def _leads(found: Sequence[Source]) -> list[Source]:
    """Return the rows at the sampling that is shown, those of the first context of each marked."""
    made = []
    for source in shown_at("sampling", "samples")(found):
        keys = [
            name
            for name in source.frame.columns
            if name in ("comparison", "measure", "category", "layer", "side", "stimulus")
        ]
        first = pl.col("context") == pl.col("context").first().over(keys)
        made.append(replace(source, frame=source.frame.with_columns(leads=first)))
    return made


def _is_first(line: Line) -> bool:
    return bool(line["leads"])


def _several_layers(found: Sequence[Source]) -> list[Source]:
    """Return all rows, where there are several layers, or of differences several of anything that is chosen."""
    rows = rows_of(found, *HEADLINE, DIFFERENCE)
    compared = found[0].result is None
    shown = len(only(rows, "sampling", "samples")) < len(rows) if compared else bool(several(rows, "layer"))
    return stacked_rows(found) if shown else []


def _effects(measures: Sequence[str], form: str, who: Column, name: str) -> list[TableSpec]:
    """Return the table of effect sizes, or of their differences, at the sampling that is shown, and that of all."""
    at = At(measure=tuple(measures))
    return [
        TableSpec(name, at, _of(measures, form, who, all_=False), of=_leads, takes=_is_first),
        TableSpec(f"{name}-all", at, _of(measures, form, who, all_=True), of=_several_layers, detail=True),
    ]


_MAIN, _ALL = _effects(HEADLINE, ".2f", model(), "effects")
_TABLES = (
    _MAIN,
    TableSpec(
        "beyond-control",
        At(measure=BEYOND),
        varying(BEYOND, rest=(count(), number("beyond", "+.2f"), *TESTED)),
        of=stacked_rows,
    ),
    TableSpec(
        "over-templates",
        At(measure=SD),
        varying(
            *(SD, SHARE, OF_TEMPLATE),
            rest=(
                Column("templates", lambda line: len(templates(line))),
                *(number("sd"), number("share", ".0f", scale=100, measure=SHARE)),
                *(Column("least", template(0)), Column("largest", template(-1))),
            ),
        ),
        of=stacked_rows,
    ),
    TableSpec("sets", At(), (*LABELLED, *map(level, SIDES)), of=words_of_sets, detail=True),
    _ALL,
    *DETAILS,
)


# Figures and finding -------------------------------------------------------------------------------------------------


def _placed(found: Sequence[Source]) -> list[Source]:
    """Return the effect sizes with the place of each, and layers told apart in the same way as models."""
    made = []
    several_layers = len(levels(rows_of(found, *HEADLINE), "layer")) > 1
    for source in shown_at("context", "sampling", "samples")(found):
        place = pl.concat_str("category", "label", separator=" ").str.strip_chars()
        known = source.frame.filter(pl.col("value").is_not_nan()).with_columns(category=place)
        for (layer,), part in known.group_by("layer", maintain_order=True):
            name = f"{source.model}, layer {layer}" if several_layers else source.model
            made.append(replace(source, model=name, frame=part))
    return made


def _told(results: Sequence[Result], comparison: pl.DataFrame | None, text: Text) -> list[str]:
    """Return in which categories each model's effect size is told apart from 0, and in which two models differ; at the
    levels that are shown where only one can be."""
    words = text.below("prose", "finding")
    how = Shown("+.2f", words.get("noun"))
    parts = [
        ("effects", source.model, source.only(At(measure=HEADLINE))) for source in shown_at(*FACTORS)(sources(results))
    ]
    if comparison is not None:
        (whole,) = shown_at(*FACTORS)([Source("", comparison)])
        for pair_, part in whole.frame.filter(measure=DIFFERENCE).group_by("comparison", maintain_order=True):
            parts.append(("differences", str(pair_[0]), Source("", part).lines))
    return [
        across(
            [(f"{line['category']} {line['label']}".strip(), line.row) for line in lines],
            *(how, words.get("places"), words.get(part, name=name)),
        )
        for part, name, lines in parts
    ]


_DIFFERENCES, _ALL_DIFFERENCES = _effects([DIFFERENCE], "+.2f", pair(), "differences")
VIEWS = Views(
    tables=_TABLES,
    compared=(_DIFFERENCES, _ALL_DIFFERENCES),
    figures=(
        Forest("effects", At(measure=HEADLINE), "category", "model", "+.2f", "", "category", width=420, of=_placed),
        Drawn("context", by_context, "category segment structure", "effects"),
        Drawn("layers", by_layer, "category layer", "effects"),
        Drawn("samples", by_samples, "category", "first-samples"),
        Drawn("scores", scores),
        Words(),
    ),
    items=STIMULI,
    finding=(Said(lambda results, comparison, text: iter(_told(results, comparison, text))),),
    facts=_facts,
    compared_facts=_of_differences,
)
LOGPROB_VIEWS = replace(VIEWS, items=SENTENCES)
