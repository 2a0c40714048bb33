"""Report views of measures of bias in word vectors; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from penchant.instruments.comparison import difference
from penchant.instruments.vector_bias.cells import NUMBERS
from penchant.instruments.vector_bias.claims import CLAIMS
from penchant.instruments.vector_bias.estimates import NAMES, attributes_of
from penchant.instruments.vector_bias.exchange import EXACT
from penchant.instruments.vector_bias.measures import UNION, Measure
from penchant.instruments.vector_bias.ranks import mean_ranks, rankings
from penchant.instruments.vector_bias.settings import VectorBiasSettings
from penchant.records import BaseResult, Estimate, summary_table
from penchant.report.tables import Number
from penchant.views.interval_figures import Forest, Panels
from penchant.views.items import ItemColumn, Items, ModelColumn
from penchant.views.row_selection import At, RowSource, but
from penchant.views.section import Views
from penchant.views.tables import Column, TableSpec, adjusted, count, level, model, number, p, pair
from penchant.wording.phrases import notes_of

_NULL: Mapping[Measure, float] = {"rnd": 0, "rnsb": 0, "mac": 1, "ect": 1, "ripa": 0}
"""The value of each measure without bias."""
_SIGNED = ("rnd", "ripa")
"""Measures that can be negative."""
_STIMULI = Column("label", lambda line: "" if line["label"] == line["category"] else str(line["label"]))
_QUERY = (level("category"), _STIMULI)
_MEAN_RANK = Column("value", lambda line: Number(line["value"], line["low"], line["high"], notes=notes_of(line.row)))
"""A mean rank with its interval over words."""
_NUMBERS = (level("attributes"), count(), number("value", "+.4f"), p(), adjusted())


def _facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    settings = VectorBiasSettings.of(results[0].settings)
    long = {"ripa", *(["rnd"] if settings.distance == "euclid" else [])} & set(settings.measures)
    return {
        "settings": settings,
        "some": lambda count, of: "" if of == 1 else f" in {count:,} of {of:,} cases",
        "cases": list(dict.fromkeys(result.signature["case"] for result in results)),
        "long": [] if settings.normalise else [NAMES[measure] for measure in NAMES if measure in long],
        "exact": EXACT,
    }


def _is_number(value: object) -> bool:
    return value == value


# Tables -------------------------------------------------------------------------------------------------------------


def _by_attributes(measure: Measure, form: str, who: Column, kind: Callable[[str], str] = str) -> TableSpec:
    name = measure if kind is str else f"differences-{measure}"
    columns = [number(part, form, attributes=part, star=True) for part in attributes_of(measure)]
    at = At(measure=kind(NAMES[measure]), attributes=attributes_of(measure)[0])
    return TableSpec(name, at, (*_QUERY, who, *columns))


def _ranked(
    rows: Callable[[Sequence[BaseResult]], Iterable[list[Estimate]]],
) -> Callable[[Sequence[RowSource]], list[RowSource]]:
    def ranked(found: Sequence[RowSource]) -> list[RowSource]:
        results = [source.result for source in found if source.result is not None]
        signature = results[0].signature.with_(model=" and ".join(source.model for source in found))
        frames = (summary_table((row, signature) for row in own) for own in zip(*rows(results), strict=True))
        return [RowSource(source.model, frame) for source, frame in zip(found, frames, strict=False)]

    return ranked


def _means(results: Sequence[BaseResult]) -> Iterator[list[Estimate]]:
    for name, own in mean_ranks(results).items():
        yield [replace(estimate, by={"ranked": name}) for estimate in own]


def _in_queries(results: Sequence[BaseResult]) -> Iterator[list[Estimate]]:
    """Yield three lists for each measure and query, with one estimate per model in each list.

    The first has the models' ranks, the others the shares of resamples in which a model has the first or the last rank.
    """
    for ranking in rankings(results):
        for q, query in enumerate(ranking.queries):
            by = {"ranked": NAMES[ranking.measure], "category": query.category, "attributes": query.attributes}
            first, last = ranking.shares[:, q, 0], ranking.shares[:, q, -1]
            for name, values in (("rank", ranking.ranks[:, q]), ("first", first), ("last", last)):
                yield [Estimate(name, float(value), ranking.draws.shape[1], by=by) for value in values]


VIEWS = Views(
    tables=(
        *(_by_attributes(measure, "+.3f" if measure in _SIGNED else ".3f", model()) for measure in NAMES),
        TableSpec("ranks", At(), (level("ranked"), model(), count("queries"), _MEAN_RANK), of=_ranked(_means)),
        TableSpec(
            "ranks-queries",
            At(measure="rank"),
            (
                *(level("ranked"), level("category"), level("attributes"), model(), number("value", "g")),
                *(number(share, ".0f", scale=100, measure=share) for share in ("first", "last")),
            ),
            detail=True,
            of=_ranked(_in_queries),
        ),
        TableSpec("everything", At(), (level("measure"), *_QUERY, model(), *_NUMBERS), detail=True),
    ),
    compared=(
        *(_by_attributes(measure, "+.3f", pair(), difference) for measure in NAMES),
        TableSpec("differences-all", At(), (level("measure"), *_QUERY, pair(), *_NUMBERS), detail=True),
    ),
    figures=(
        Panels(
            "measures",
            [
                Forest(
                    measure,
                    At(measure=NAMES[measure], attributes=but(UNION), value=_is_number),
                    "category attributes",
                    picks="category",
                    width=145,
                    null=null,
                    dense=True,
                )
                for measure, null in _NULL.items()
            ],
            numbers="everything",
            picks="category",
            columns=3,
        ),
        Forest("ranks", At(), "ranked", form=".2f", width=420, null=1, of=_ranked(_means)),
    ),
    items=Items(
        columns=(
            *(ItemColumn("id", "id"), ItemColumn("category", "label"), ItemColumn("side", "label")),
            ItemColumn("word"),
        ),
        each=tuple(ModelColumn(name, signed=name in NUMBERS[:4]) for name in NUMBERS),
    ),
    claims=CLAIMS,
    facts=_facts,
)
