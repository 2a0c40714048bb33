"""Report views of cloze valence; the text is in `text.yaml`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from penchant.instruments.cloze.claims import CLAIMS
from penchant.instruments.cloze.estimates import (
    EVERYTHING,
    LEFT_OUT,
    MEASURES,
    MOVED,
    OVER_ALL,
    PER_RATED,
    SCALES,
    unrated_words,
    without_beta,
)
from penchant.instruments.cloze.five_point_scale import ends_of
from penchant.instruments.cloze.gap_word_figures import MOST, GapWords
from penchant.instruments.cloze.rater_agreement import ALPHA, RAW, SAMPLED, RatingCounts, by_word
from penchant.instruments.cloze.ratings import unrated
from penchant.instruments.cloze.valence_labels import every_worth
from penchant.instruments.comparison import difference
from penchant.records import BaseResult
from penchant.report.significance import measured
from penchant.report.tables import Cell, Number, estimate, models
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip
from penchant.views.row_selection import At, Line, RowSource, but, sources
from penchant.views.section import Views
from penchant.views.strips import Strips
from penchant.views.tables import Column, TableSpec, adjusted, count, level, model, number, p, pair
from penchant.wording.templates import Text, named

BETA, DELTA, MASS = MEASURES.values()
WORDS = Text.of(Path(__file__).parent)
"""The texts of the instrument."""
_COUNTED = (LEFT_OUT, "fewer-than-two-ratings")
_COMPARED = {difference(measure): measure for measure in (BETA, DELTA)}


def _facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    low, high = ends_of(results[0].signature)
    asked = {result.signature["method"]: result.signature for result in results}
    said = {key: them for result in results for key, them in by_word(result.items).items()}
    rows = [line.row for source in sources(results) for line in source.only(At(measure=ALPHA))]
    alphas = [row["value"] for row in measured(rows)]
    return {
        "low": low,
        "high": high,
        "left_out": _left_out(results),
        "to_rate": len(unrated(results)),
        "most": MOST,
        "asked": asked.values(),
        "judged": RatingCounts.of(said) if said else None,
        "alphas": list(dict.fromkeys(f"{value:.2f}" for value in (min(alphas), max(alphas)))) if alphas else [],
    }


def _left_out(results: Sequence[BaseResult]) -> str:
    """Name the sentences left out of the means because no prediction is rated; "" if no sentence, or every one, is."""
    empty = {name: without_beta(result.items) for name, result in zip(models(results), results, strict=True)}
    if all(len(ids) == len(result.items) for ids, result in zip(empty.values(), results, strict=True)):
        return ""
    if len(set(map(tuple, empty.values()))) == 1:
        return named(next(iter(empty.values())))
    return "; ".join(f"{named(ids)} ({name})" for name, ids in empty.items() if ids)


def _sentences(line: Line) -> Cell:
    whole = line.at(measure=MASS)
    n = int(line["n"])
    return n if whole is None or whole["n"] == n else Number(float(n), form=".0f", star=f" of {whole['n']}")


def _beside(key: str, form: str, *names: str, alone: bool = True) -> Column:
    """Return the column `key`, which shows the first related measure that exists for a row, in the format `form`.

    `names` are patterns of the related names, filled in with the name of the row's measure. The column shows only the
    interval, or with `alone=False` also the value.
    """

    def cell(line: Line) -> Cell:
        found = [each for name in names if (each := line.at(measure=name.format(line["measure"])))]
        shown = estimate(found[0].row, form) if found else Number()
        return replace(shown, value=math.nan) if alone else shown

    return Column(key, cell)


@lru_cache(maxsize=8)
def _judged(source: RowSource) -> RatingCounts | None:
    assert source.result is not None
    said = by_word(source.result.items)
    return RatingCounts.of(said) if said else None


def _rated(line: Line) -> bool:
    return line.at(group=EVERYTHING) in (None, line) and _judged(line.source) is not None


def _of_raters(key: str, cell: Callable[[RatingCounts], Cell]) -> Column:
    def of(line: Line) -> Cell:
        judged = _judged(line.source)
        return "" if judged is None else cell(judged)

    return Column(key, of)


def _unsaid(column: Column) -> Column:
    def cell(line: Line) -> Cell:
        found = column.cell(line)
        if not isinstance(found, Number):
            return found
        return replace(found, notes=tuple(note for note in found.notes if note.code not in _COUNTED))

    return Column(column.key, cell)


def _items(result: BaseResult) -> pl.DataFrame:
    items = result.items
    pairs = zip(items["words"], every_worth(items), strict=True)
    worths = [[f"{word} {worth}" for word, worth in zip(*each, strict=True)] for each in pairs]
    return items.with_columns(
        pl.col("words").list.join(" ").alias("spelled"),
        pl.Series("worths", worths, pl.List(pl.String)),
        unrated_words(items).alias("unrated_words"),
    )


def _sums(items: pl.DataFrame) -> list[str]:
    return [WORDS.get("items", "sum", mass=mass) for mass in items["top_share"]]


# Views --------------------------------------------------------------------------------------------------------------

_OTHERWISE = _unsaid(_beside("otherwise", "+.3f", PER_RATED, OVER_ALL, alone=False))
_NOT_SHORT = ("delta", "delta-sampled", "delta-moved", "otherwise")
_VALENCE = (
    *(level("group"), model(), Column("n", _sentences)),
    *(_unsaid(number("value", "+.3f")), _beside("sampled", "+.3f", SAMPLED), _OTHERWISE),
    _unsaid(number("delta", ".3f", measure=DELTA)),
    *(_beside("delta-sampled", ".3f", SAMPLED.format(DELTA)), _beside("delta-moved", ".3f", MOVED.format(DELTA))),
    number("mass", measure=MASS),
)
VIEWS = Views(
    tables=(
        TableSpec(
            "valence",
            At(measure=BETA),
            _VALENCE,
            first=("value", "delta", "n"),
            short=tuple(column.key for column in _VALENCE if column.key not in _NOT_SHORT),
        ),
        TableSpec(
            "raters",
            At(measure=MASS),
            (
                model(),
                _of_raters("raters", lambda judged: len(judged.each)),
                _of_raters("worth", lambda judged: Number(judged.worth, form=".1f")),
                _of_raters("rated", lambda judged: judged.words),
                _of_raters("twice", lambda judged: judged.twice),
                *(_unsaid(number("alpha", ".3f", measure=ALPHA)), _unsaid(number("raw", ".3f", measure=RAW))),
            ),
            takes=_rated,
        ),
    ),
    compared=(
        TableSpec(
            "differences",
            At(measure=tuple(_COMPARED)),
            (
                *(pair(), Column("of", lambda line: _COMPARED[line["measure"]]), level("group"), count()),
                *(number("value", "+.3f"), _beside("sampled", "+.3f", SAMPLED), _beside("moved", "+.3f", MOVED)),
                *(_OTHERWISE, p(), adjusted()),
            ),
        ),
    ),
    figures=(
        *(
            Strips(
                column,
                column,
                At(measure=MEASURES[column], group=but(EVERYTHING)),
                "group",
                SCALES[column],
                "valence",
                ("text",),
            )
            for column in ("beta", "delta")
        ),
        GapWords("sentences"),
    ),
    items=Items(
        columns=(
            *(ItemColumn("id", "id"), ItemColumn("group", "label"), ItemColumn("text")),
            ItemColumn("expected", "number", digits=1, signed=True),
        ),
        each=(
            *(ModelColumn("beta", signed=True), ModelColumn("delta"), ModelColumn("rated_share")),
            ModelColumn("spelled", kind="hidden"),
        ),
        tokens=(TokenStrip("words", "worths", "", "probs", _sums, marks="valences"),),
        rows=_items,
    ),
    claims=CLAIMS,
    facts=_facts,
)
