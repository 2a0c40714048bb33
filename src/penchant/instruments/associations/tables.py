"""The tables of association tests in a report; their texts are in `text.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import polars as pl

from penchant.instruments.associations.compare import DIFFERENCE
from penchant.instruments.associations.control_category import BEYOND
from penchant.instruments.associations.estimates import BY_SENTENCE, SIDES
from penchant.instruments.associations.influence import influences
from penchant.instruments.associations.logprob_estimates import ASSOCIATION, OF_TEMPLATE, SCORES, difference
from penchant.instruments.associations.random_effects import FIRST, FURTHER, I2, PUBLISHED, TAU
from penchant.instruments.associations.view_rows import (
    FACTORS,
    HEADLINE,
    Columns,
    context_title,
    heads,
    levels,
    only,
    probe_of,
    rows_of,
    several,
    shown_at,
    stacked_rows,
    varying,
)
from penchant.records import BaseResult
from penchant.report.tables import Cell, Number, P
from penchant.stats.templates import SD, SHARE
from penchant.views.row_selection import At, Line, RowSource
from penchant.views.tables import Column, TableSpec, beside, count, level, model, number, p, pair

FEW = 3
"""Number of most influential stimuli listed for each category and model."""
_SHOWN = 4
"""Number of words listed for each set."""


@lru_cache(maxsize=8)
def _by_place(source: RowSource) -> dict[tuple[str, ...], list[Line]]:
    places: dict[tuple[str, ...], list[Line]] = {}
    for line in source.only(At(measure=OF_TEMPLATE)):
        places.setdefault(_place(line), []).append(line)
    return {
        place: sorted(lines, key=lambda one: (one["value"] != one["value"], one["value"]))
        for place, lines in places.items()
    }


def _place(line: Line) -> tuple[str, ...]:
    return tuple(line[name] for name in line.source.names if name not in ("measure", "stimulus"))


def _templates(line: Line) -> list[Line]:
    return _by_place(line.source)[_place(line)]


def _template(key: str, place: int) -> Column:
    def cell(line: Line) -> Cell:
        one = _templates(line)[place]
        return f"{one['value']:.2f} '{one['stimulus']}'"

    return Column(key, cell)


def _varying(
    name: str,
    measure: str,
    *rest: Column,
    others: Sequence[str] = (),
    of: Callable[[Sequence[RowSource]], list[RowSource]] = stacked_rows,
    detail: bool = True,
) -> TableSpec:
    return TableSpec(name, At(measure=measure), varying(measure, *others, rest=rest, within=of), of=of, detail=detail)


def _alone(key: str, measure: str, form: str = ".2f", scale: float = 1) -> Column:
    return beside(key, {"measure": measure}, lambda line: Number(scale * line["value"], form=form), Number())


def _influence(found: Sequence[RowSource]) -> list[RowSource]:
    return [replace(source, frame=_influential(source.result)) for source in found if source.result is not None]


def _influential(result: BaseResult) -> pl.DataFrame:
    parts = [] if _of_sentences(result) else list(influences(result, *FACTORS))
    signature = pl.lit(str(result.signature)).alias("signature")
    label = pl.when(pl.col("label") != pl.col("category")).then("label").otherwise(pl.lit(""))
    return (
        pl.concat([part.head(FEW) for part in parts]).with_columns(signature, label=label) if parts else pl.DataFrame()
    )


def _of_sentences(result: BaseResult) -> bool:
    return result.signature["probe"] == "logprob-bias"


def _words_of_sets(found: Sequence[RowSource]) -> list[RowSource]:
    labels: dict[str, str] = {}
    sets: dict[str, dict[str, dict[str, None]]] = {}
    for source in found:
        assert source.result is not None
        pairs = [("target_side", "target"), ("attribute_side", "attribute")]
        for side, word in pairs if _of_sentences(source.result) else [("side", "word")]:
            rows = source.result.items.select("category", "label", side, word).unique(maintain_order=True)
            for category, label, name, stimulus in rows.iter_rows():
                labels[category] = label if label != category else ""
                sets.setdefault(category, {name: {} for name in SIDES})[name][stimulus] = None
    each = [
        {"category": category, "label": labels[category], "signature": ""}
        | {side: _listed([*words[side]]) for side in SIDES}
        for category, words in sets.items()
    ]
    return [RowSource("", pl.DataFrame(each))]


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:_SHOWN]) + (f" … ({len(words)} words)" if len(words) > _SHOWN else "")


_LABELLED = (level("category"), level("label", "stimuli"))
_SCORED = tuple(map(difference, SCORES))
_TESTED = (p(), Column("holm", lambda line: P(line["p_holm"])))
_SIDE = level("side", "set")


def _of(measures: Sequence[str], form: str, who: Column, *, all_: bool) -> Columns:
    def columns(found: Sequence[RowSource]) -> list[Column]:
        rows = rows_of(found if all_ else shown_at("sampling", "samples")(found), *measures)
        contexts = [] if all_ else levels(rows, "context")
        name = probe_of(found)
        if len(contexts) > 1:
            each = [number(context_title(name, each), form, star=True, context=each) for each in contexts]
            return [*heads(rows, name, who, "context"), *each]
        tested = _TESTED if rows["p"].is_not_nan().any() else ()
        return [*heads(rows, name, who), count(), number("d", form), *tested]

    return columns


_KEYS = (*SIDES, "measure", "category", "layer", "side", "stimulus")


def _leads(found: Sequence[RowSource]) -> list[RowSource]:
    selected = []
    for source in shown_at("sampling", "samples")(found):
        keys = [name for name in source.frame.columns if name in _KEYS]
        first = pl.col("context") == pl.col("context").first().over(keys)
        selected.append(replace(source, frame=source.frame.with_columns(leads=first)))
    return selected


def _is_first(line: Line) -> bool:
    return bool(line["leads"])


def _several_layers(found: Sequence[RowSource]) -> list[RowSource]:
    rows = rows_of(found, *HEADLINE, DIFFERENCE)
    compared = found[0].result is None
    shown = len(only(rows, "sampling", "samples")) < len(rows) if compared else bool(several(rows, "layer"))
    return stacked_rows(found) if shown else []


def _effects(measures: Sequence[str], form: str, who: Column, name: str) -> list[TableSpec]:
    at = At(measure=tuple(measures))
    return [
        TableSpec(name, at, _of(measures, form, who, all_=False), of=_leads, takes=_is_first),
        TableSpec(f"{name}-all", at, _of(measures, form, who, all_=True), of=_several_layers, detail=True),
    ]


_MAIN, _ALL = _effects(HEADLINE, ".2f", model(), "effects")
TABLES = (
    _MAIN,
    _varying("beyond-control", BEYOND, count(), number("beyond", "+.2f"), *_TESTED, detail=False),
    _varying(
        *("over-templates", SD),
        Column("templates", lambda line: len(_templates(line))),
        *(number("sd"), number("share", ".0f", scale=100, measure=SHARE)),
        *(_template("least", 0), _template("largest", -1)),
        others=(SHARE, OF_TEMPLATE),
        detail=False,
    ),
    TableSpec("sets", At(), (*_LABELLED, *map(level, SIDES)), of=_words_of_sets, detail=True),
    _ALL,
    _varying("by-sentence", BY_SENTENCE, count("sentences"), number("d"), *_TESTED),
    _varying(
        *("published", PUBLISHED),
        *(count("N"), number("CES"), *_TESTED, _alone("τ", TAU), _alone("I²", I2, ".0f", 100)),
        beside("further", {"measure": FURTHER}, lambda line: Number(low=line["low"], high=line["high"]), Number()),
        others=(TAU, I2, FURTHER),
    ),
    _varying("first-samples", FIRST, count(), number("CES"), p(), of=shown_at("sampling", "samples", measures=[FIRST])),
    TableSpec(
        "influence",
        At(),
        (
            *(*_LABELLED, model(), _SIDE, level("stimulus")),
            Column("association", lambda line: Number(line["association"], form="+.3f")),
            *(Column("d", lambda line: Number(line["d"])), Column("without", lambda line: Number(line["without"]))),
        ),
        by_model=True,
        of=_influence,
        detail=True,
    ),
    _varying(
        *("scores", _SCORED[0], _SIDE, count()),
        *(number(score, "+.2f", measure=measure) for score, measure in zip(SCORES, _SCORED, strict=True)),
        others=_SCORED[1:],
    ),
    _varying(
        *("attributes", ASSOCIATION, _SIDE, level("stimulus", "attribute"), number("association", "+.3f")),
        of=shown_at("context", measures=[ASSOCIATION]),
    ),
)
COMPARED = tuple(_effects([DIFFERENCE], "+.2f", pair(), "differences"))
