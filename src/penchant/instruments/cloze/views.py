"""Tables, figures and items of cloze valence in a report; the texts are in `text.yaml`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
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
from penchant.instruments.cloze.rater_agreement import ALPHA, RAW, SAMPLED, RatingCounts, by_word
from penchant.instruments.cloze.ratings import unrated
from penchant.instruments.cloze.variety_scale import ends_of
from penchant.instruments.comparison import difference
from penchant.records import BaseResult
from penchant.report.item_browser import every_item
from penchant.report.lazy_altair import alt
from penchant.report.significance import measured
from penchant.report.tables import Cell, Number, estimate, models
from penchant.views.figures import Drawn
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip
from penchant.views.rows import At, Line, RowSource, but, sources
from penchant.views.section import Views
from penchant.views.strips import Strips
from penchant.views.tables import Column, TableSpec, adjusted, count, level, model, number, p, pair
from penchant.wording.templates import Text, named

BETA, DELTA, MASS = MEASURES.values()
WORDS = Text.of(Path(__file__).parent)
"""The texts of the instrument."""
MOST = 120
"""Number of sentences above which the figure is left out; the table of items has them all."""
_COLOURS = {-1.0: "#b35806", -0.5: "#f1a340", 0.0: "#dddddd", 0.5: "#998ec3", 1.0: "#542788"}
"""Colours of the points of the scale; other valences are interpolated."""
_UNRATED = "#fff"
_QUARTERS = {0.0: "", 1.0: "¼", 2.0: "½", 3.0: "¾"}
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
    """Name the sentences left out of the means because no prediction is rated; empty if none or all are."""
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
    """Return a column for the first measure that exists among name patterns applied to the row's measure.

    It shows the interval only, or with `alone=False` also the value.
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


# The figure of all gaps --------------------------------------------------------------------------------------------


def gaps(results: Sequence[BaseResult], text: Text) -> Any:
    """Return a bar of the predicted words for every sentence and model, or None for too many sentences.

    Length is probability, colour is valence, white is unrated.
    """
    ids = every_item(results)["id"].to_list()
    if len(ids) > MOST:
        return None
    own = text.below("figures", "sentences")
    scale = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    valence = alt.Color("valence:Q", title=own.get("legend"), scale=scale)
    panels = []
    for name, result in zip(models(results), results, strict=True):
        base = alt.Chart(alt.InlineData(list(_words(result)))).encode(
            y=alt.Y("item:N", sort=ids, scale=alt.Scale(domain=ids), title=None),
            tooltip=["text:N", "word:N", alt.Tooltip("p:Q", format=".3f"), "worth:N"],
        )
        bars = base.mark_bar(stroke="#888", strokeWidth=0.4).encode(
            x=alt.X("from:Q", title=own.get("axis"), scale=alt.Scale(domain=[0, 1])),
            x2="to:Q",
            color=alt.condition("datum.valence === null", alt.value(_UNRATED), valence),
        )
        spelled = base.mark_text(fontSize=9).encode(
            x="middle:Q",
            text="label:N",
            color=alt.condition("datum.valence > 0.75", alt.value("white"), alt.value("black")),
        )
        panels.append((bars + spelled).properties(width=380, height=alt.Step(15), title=name))
    return alt.hconcat(*panels)


def _words(result: BaseResult) -> Iterator[dict[str, Any]]:
    columns = result.items.select("id", "text", "words", "probs", "valences").iter_rows()
    for (id_, text, words, probs, valences), worths in zip(columns, every_worth(result.items), strict=True):
        start = 0.0
        for word, share, value, said in zip(words, probs, valences, worths, strict=True):
            label = word if share * 30 > len(word) * 0.55 else ""
            place = {"from": start, "to": start + share, "middle": start + share / 2, "p": share}
            yield {"item": id_, "text": text, "word": word, "label": label, **place, "valence": value, "worth": said}
            start += share


def every_worth(items: pl.DataFrame) -> list[list[str]]:
    """Return the displayed valence of every predicted word of every sentence."""
    return [
        [worth(value, said) for value, said in zip(*row, strict=True)]
        for row in items.select("valences", "ratings").iter_rows()
    ]


def worth(value: float | None, ratings: Sequence[float] = ()) -> str:
    """Format a valence: multiples of ¼ as fractions, other numbers with decimals.

    If raters differ, their ratings follow.
    """
    if value is None:
        return WORDS.get("items", "unrated")
    said = f" ({', '.join(map(_number, ratings))})" if len(set(ratings)) > 1 else ""
    return _number(value) + said


def _number(value: float) -> str:
    whole, rest = divmod(round(abs(value) * 4, 9), 4)
    if rest not in _QUARTERS:
        return f"{value:.3g}".replace("-", "−")
    digits = f"{whole:.0f}" if whole or not rest else ""
    return f"{'−' if value < 0 else ''}{digits}{_QUARTERS[rest]}"


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
        Drawn("sentences", gaps, "item", numbers=""),
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
