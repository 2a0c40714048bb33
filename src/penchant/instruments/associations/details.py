"""The tables of association tests besides effect sizes; the words are in `text.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import polars as pl

from penchant.instruments.associations.combination import FIRST, FURTHER, I2, PUBLISHED, TAU
from penchant.instruments.associations.estimates import BY_SENTENCE, SIDES
from penchant.instruments.associations.frames import by_category
from penchant.instruments.associations.logprob_estimates import ASSOCIATION, OF_TEMPLATE, SCORES, difference
from penchant.instruments.associations.rows import shown_at, stacked_rows, varying
from penchant.records import Result
from penchant.report.tables import Cell, Number, P
from penchant.stats.association import effect_size
from penchant.views.rows import At, Line, Source
from penchant.views.tables import Column, TableSpec, count, level, model, number, p

FEW = 3
"""Number of most influential stimuli listed for each category and model."""
_SHOWN = 4
"""Number of words of a set that are listed."""


def templates(line: Line) -> list[Line]:
    """Return the effect sizes of each template that a row is over, the least first."""
    return _by_place(line.source)[_place(line)]


@lru_cache(maxsize=8)
def _by_place(source: Source) -> dict[tuple[str, ...], list[Line]]:
    places: dict[tuple[str, ...], list[Line]] = {}
    for line in source.only(At(measure=OF_TEMPLATE)):
        places.setdefault(_place(line), []).append(line)
    return {
        place: sorted(lines, key=lambda one: (one["value"] != one["value"], one["value"]))
        for place, lines in places.items()
    }


def _place(line: Line) -> tuple[str, ...]:
    return tuple(line[name] for name in line.source.names if name not in ("measure", "stimulus"))


def template(place: int) -> Callable[[Line], Cell]:
    def cell(line: Line) -> Cell:
        one = templates(line)[place]
        return f"{one['value']:.2f} '{one['stimulus']}'"

    return cell


def _further(line: Line) -> Cell:
    further = line.at(measure=FURTHER)
    return Number() if further is None else Number(low=further["low"], high=further["high"])


def _alone(key: str, measure: str, form: str = ".2f", scale: float = 1) -> Column:
    def cell(line: Line) -> Cell:
        found = line.at(measure=measure)
        return Number() if found is None else Number(scale * found["value"], form=form)

    return Column(key, cell)


def _influence(found: Sequence[Source]) -> list[Source]:
    """Return the stimuli whose removal changes the effect size most, of each category and model."""
    return [replace(source, frame=_influential(source.result)) for source in found if source.result is not None]


def _influential(result: Result) -> pl.DataFrame:
    parts = []
    name = "text" if result.signature.get("unit") == "sentence" else "word"
    for category, label, items in [] if _of_sentences(result) else by_category(result):
        x, y = (items.filter(side=side)["association"].to_numpy() for side in "XY")
        whole = effect_size(x, y, ddof=int(result.signature["ddof"]))
        each = (  # the sentences of a word are averaged where the word is the unit
            items.drop_nulls("without")
            .group_by("side", name, "without", maintain_order=True)
            .agg(pl.col("association").mean())
            .sort((pl.col("without") - whole).abs(), descending=True, maintain_order=True)
        )
        named = each.head(FEW).rename({name: "stimulus"}).with_columns(category=pl.lit(category), label=pl.lit(label))
        parts.append(named.with_columns(d=pl.lit(whole), signature=pl.lit(str(result.signature))))
    return pl.concat(parts) if parts else pl.DataFrame()


def _of_sentences(result: Result) -> bool:
    return result.signature["probe"] == "logprob-bias"


def words_of_sets(found: Sequence[Source]) -> list[Source]:
    """Return the words of the sets X, Y, A and B of each category, those that at least one model has."""
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
    return [Source("", pl.DataFrame(each))]


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:_SHOWN]) + (f" … ({len(words)} words)" if len(words) > _SHOWN else "")


LABELLED = (level("category"), level("label", "stimuli"))
_SCORED = tuple(map(difference, SCORES))
TESTED = (p(), Column("holm", lambda line: P(line["p_holm"])))
_SIDE, _ATTRIBUTE = level("side", "set"), level("stimulus", "attribute")
_FIRST = shown_at("sampling", "samples", measures=[FIRST])
_ONE_CONTEXT = shown_at("context", measures=[ASSOCIATION])
DETAILS = (
    TableSpec(
        "by-sentence",
        At(measure=BY_SENTENCE),
        varying(BY_SENTENCE, rest=(count("sentences"), number("d"), *TESTED)),
        of=stacked_rows,
        detail=True,
    ),
    TableSpec(
        "published",
        At(measure=PUBLISHED),
        varying(
            *(PUBLISHED, TAU, I2, FURTHER),
            rest=(
                *(count("N"), number("CES"), *TESTED, _alone("τ", TAU), _alone("I²", I2, ".0f", 100)),
                Column("further", _further),
            ),
        ),
        of=stacked_rows,
        detail=True,
    ),
    TableSpec(
        "first-samples",
        At(measure=FIRST),
        varying(FIRST, rest=(count(), number("CES"), p()), within=_FIRST),
        of=_FIRST,
        detail=True,
    ),
    TableSpec(
        "influence",
        At(),
        (
            *(*LABELLED, model(), _SIDE, level("stimulus")),
            Column("association", lambda line: Number(line["association"], form="+.3f")),
            *(Column("d", lambda line: Number(line["d"])), Column("without", lambda line: Number(line["without"]))),
        ),
        by_model=True,
        of=_influence,
        detail=True,
    ),
    TableSpec(
        "scores",
        At(measure=difference(SCORES[0])),
        varying(
            *_SCORED,
            rest=(_SIDE, count(), *(number(each, "+.2f", measure=difference(each)) for each in SCORES)),
        ),
        of=stacked_rows,
        detail=True,
    ),
    TableSpec(
        "attributes",
        At(measure=ASSOCIATION),
        varying(
            ASSOCIATION,
            rest=(_SIDE, _ATTRIBUTE, number("association", "+.3f")),
            within=_ONE_CONTEXT,
        ),
        of=_ONE_CONTEXT,
        detail=True,
    ),
)
