"""Report views of fair and original minimal pairs; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.minimal_pairs.claims import FAIR_CLAIMS
from penchant.instruments.minimal_pairs.estimates import ACCURACY
from penchant.instruments.minimal_pairs.fair_versus_original import FAIR, GAIN, ORIGINAL, SHARED
from penchant.instruments.minimal_pairs.pair_credits import ALL
from penchant.instruments.minimal_pairs.result_facts import facts
from penchant.instruments.minimal_pairs.views import COMPARED, FIGURES, ITEMS, TABLES
from penchant.records import BaseResult
from penchant.report.figures import COLOURS
from penchant.report.lazy_altair import alt
from penchant.report.significance import told
from penchant.report.tables import Number, models
from penchant.stats.hypothesis_tests import holm
from penchant.views.interval_figures import Drawn
from penchant.views.row_selection import At, Line, RowSource, sources
from penchant.views.section import Views
from penchant.views.tables import Column, TableSpec, adjusted, level, model, number, p
from penchant.wording.templates import Text

_SETS = (ORIGINAL, FAIR)


def _of_set(name: str) -> Column:
    return number(name, ".1f", scale=100, counted=True, measure=ACCURACY, dataset=name)


def _rank(name: str) -> Column:
    return Column(f"rank-{name}", lambda line: int(line[f"rank_{name}"]))


def _overlap(line: Line) -> Number:
    shared = line.at(measure=SHARED)
    assert shared is not None
    return Number(100 * shared["value"], n=round(shared["value"] * shared["n"]), form=".1f")


def _ranked(found: Sequence[RowSource]) -> list[RowSource]:
    """Add columns to each source for the ranks of its model on the two sets, by accuracy; rank 1 is the best."""
    values: dict[tuple[str, str], list[float]] = {}
    for source in found:
        for line in source.only(At(measure=ACCURACY, scope="overall", split=ALL)):
            values.setdefault((line["normalise"], line["dataset"]), []).append(line["value"])
    ranked = []
    for source in found:
        own = {
            (line["normalise"], line["dataset"]): 1
            + sum(other > line["value"] for other in values[line["normalise"], line["dataset"]])
            for line in source.only(At(measure=ACCURACY, scope="overall", split=ALL))
        }
        hows = source.frame["normalise"]
        ranks = [pl.Series(f"rank_{name}", [own.get((how, name), 0) for how in hows]) for name in _SETS]
        ranked.append(replace(source, frame=source.frame.with_columns(ranks)))
    return ranked


def open_ranks(found: Sequence[RowSource]) -> list[RowSource]:
    """Return a list of one table: each model's best and worst rank on each set, given the significant differences.

    The list is empty if no model has differences from other models on both sets.
    """
    rows = found[0].frame.filter(scope="overall", split=ALL)
    beaten: dict[tuple[str, str], dict[str, list[int]]] = {}
    recipes: dict[tuple[str, str], str] = {}
    for (how, name), part in rows.group_by("normalise", "dataset", maintain_order=True):
        counts = beaten.setdefault((str(how), str(name)), {})
        for row in part.with_columns(p_holm=holm(part["p"].to_numpy())).iter_rows(named=True):
            for sign, each in ((1, row["first"]), (-1, row["second"])):
                recipes.setdefault((row["normalise"], each), row["signature"])  # the signature of its first difference
                ahead, behind = counts.setdefault(each, [0, 0])
                above = sign * row["value"] > 0
                counts[each] = [ahead + (told(row) and not above), behind + (told(row) and above)]
    ranges = {
        (how, each): {name: of_set[each] for name in _SETS if each in (of_set := beaten.get((how, name), {}))}
        for how, each in recipes
    }
    whole = [(how, each, of) for (how, each), of in ranges.items() if len(of) == len(_SETS)]
    frame = pl.DataFrame(
        [
            {"normalise": how, "named": each, "signature": recipes[how, each]}
            | {f"best_{name}": 1 + of[name][0] for name in _SETS}
            | {f"worst_{name}": len(beaten[how, name]) - of[name][1] for name in _SETS}
            for how, each, of in whole
        ],
        infer_schema_length=None,
    )
    return [replace(found[0], frame=frame)] if whole else []


def _range(name: str) -> Column:
    return Column(name, lambda line: Number(low=line[f"best_{name}"], high=line[f"worst_{name}"], form="d"))


def _lines(results: Sequence[BaseResult], text: Text) -> Any:
    """Return a chart that connects each model's accuracies on original and fair pairs, one panel per score."""
    rows = [
        {
            "model": source.model,
            "score": line["normalise"],
            "set": line["dataset"],
            **{key: None if line[key] != line[key] else 100 * line[key] for key in ("value", "low", "high")},
        }
        for source in sources(results)
        for line in source.only(At(measure=ACCURACY, scope="overall", split=ALL))
    ]
    names, axis = models(results), text.get("figures", "fair", "axis")
    base = alt.Chart(pl.DataFrame(rows, infer_schema_length=None)).encode(
        x=alt.X("set:N", sort=list(_SETS), title=None, axis=alt.Axis(labelAngle=0), scale=alt.Scale(padding=0.5)),
        color=alt.Color("model:N", sort=names, scale=alt.Scale(domain=names, range=list(COLOURS)), title="model"),
    )
    y = alt.Y("value:Q", title=axis, scale=alt.Scale(zero=False))
    line = base.mark_line(strokeWidth=2).encode(y=y)
    bars = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title=axis), y2=alt.Y2("high:Q"))
    tooltip = ["model:N", "set:N", *(alt.Tooltip(f"{key}:Q", format=".1f") for key in ("value", "low", "high"))]
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        y=y, shape=alt.Shape("model:N", sort=names, legend=None), tooltip=tooltip
    )
    layers = alt.layer(bars, line, points).properties(width=170, height=240)
    return layers.facet(column=alt.Column("score:N", title=None))


_GAIN = number("gain", "+.1f", scale=100)
_SHARED = Column("shared", _overlap)
_SCORED = (level("normalise", "score"), model())
VIEWS = Views(
    tables=(
        TableSpec(
            "fair-and-original",
            At(measure=GAIN, scope="overall"),
            (
                *(*_SCORED, _of_set(ORIGINAL), _rank(ORIGINAL), _of_set(FAIR), _rank(FAIR)),
                *(number("gain", "+.1f", scale=100, counted=True), p(), _SHARED),
            ),
            of=_ranked,
            first=("gain", "p", ORIGINAL, FAIR),
        ),
        TableSpec(
            "fair-by-paradigm",
            At(measure=GAIN, scope="group"),
            (level("group"), *_SCORED, _of_set(ORIGINAL), _of_set(FAIR), _GAIN, p(), adjusted(), _SHARED),
            by_model=True,
            detail=True,
        ),
        *(replace(spec, detail=True) for spec in TABLES),
    ),
    compared=(
        TableSpec(
            "open-ranks",
            At(),
            (level("normalise", "score"), level("named", "model"), *map(_range, _SETS)),
            of=open_ranks,
        ),
        *COMPARED,
    ),
    figures=(Drawn("fair", _lines, numbers="fair-and-original"), *FIGURES),
    items=ITEMS,
    claims=FAIR_CLAIMS,
    facts=facts,
)
