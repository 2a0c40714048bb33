"""Report views of amplification; the text is in `text.yaml`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import fmean
from typing import Any

import polars as pl

from penchant.instruments.amplification.claims import CLAIMS, asked
from penchant.instruments.amplification.data import EVERYTHING
from penchant.instruments.amplification.estimates import (
    AGAINST_0,
    BEYOND,
    CORRELATION,
    EXACT,
    GAP,
    RELIABILITY,
    SHIFT,
    SLOPE,
    C,
    M,
)
from penchant.instruments.comparison import difference
from penchant.records import BaseResult
from penchant.report.item_browser import every_item
from penchant.stats.templates import SD, SHARE
from penchant.views.interval_figures import Each, Forest
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip
from penchant.views.row_selection import At, Line, RowSource, but, sources
from penchant.views.scatter import Panel, Scatter, Straight
from penchant.views.section import Views
from penchant.views.tables import Column, TableSpec, adjusted, count, level, model, number, p, pair
from penchant.wording.phrases import in_words, notes_of

MOST = 6
"""Number of words listed for each sign of m − c."""
_KEYS = ("contrast", "word")
_COMPARED = {difference(measure): measure for measure in (SLOPE, SHIFT)}


# Rows --------------------------------------------------------------------------------------------------------------


def result_of(source: RowSource) -> BaseResult:
    """Return the result from which the rows of a source come."""
    assert source.result is not None
    return source.result


def labels(items: pl.DataFrame, contrast: str) -> tuple[str, str]:
    """Return the names of the two groups of a contrast."""
    first, second = items.filter(contrast=contrast).unique("side").sort("side")["label"]
    return first, second


@lru_cache(maxsize=4)
def in_text(source: RowSource) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """Return the counts in the text by contrast and word; the counts of a whole contrast are under the word ""."""
    firsts = list(result_of(source).items.unique(_KEYS, keep="first").iter_rows(named=True))
    return {(row["contrast"], word): row for row in firsts for word in (row["word"], "")}


def words(line: Line, *, rare: bool) -> list[str]:
    """Return the words of a line's contrast and kind: those too rare in the text, if `rare`, or the others.

    A word is too rare if the text has too few occurrences of it for a gap between model and text.
    """
    gaps = line.source.only(At(measure=GAP, contrast=line["contrast"]))
    return [
        gap["word"] for gap in gaps if line["kind"] in (EVERYTHING, gap["kind"]) and math.isnan(gap["value"]) == rare
    ]


def furthest(found: Sequence[RowSource]) -> list[RowSource]:
    """Keep, for each sign of m − c in each contrast but the control, the `MOST` words with the largest |m − c|."""
    return [replace(source, frame=_furthest(source.frame, asked([result_of(source)]))) for source in found]


def _furthest(frame: pl.DataFrame, contrasts: Sequence[str]) -> pl.DataFrame:
    gaps = frame.filter((pl.col("measure") == GAP) & pl.col("value").is_not_nan())
    parts = [
        gaps.filter(side, contrast=contrast).sort(pl.col("value").abs(), "word", descending=[True, False]).head(MOST)
        for contrast in contrasts
        for side in (pl.col("value") > 0, pl.col("value") < 0)
    ]
    return pl.concat([*parts, frame.filter(pl.col("measure") != GAP)])


def far(found: Sequence[RowSource]) -> list[RowSource]:
    """Select the m − c (model minus text) of the words that `furthest` selects for at least one model."""
    names = {line["word"] for source in furthest(found) for line in source.only(At(measure=GAP))}
    kept = pl.col("word").is_in(list(names)) & pl.col("value").is_not_nan()
    return [replace(source, frame=source.frame.filter(kept)) for source in found]


def by_word(result: BaseResult) -> pl.DataFrame:
    """Return a row per attribute word: m, c, m − c, its counts in the text, and its mean score with each group word.

    m is the model's association of the word with group A rather than B, and c the log-odds ratio of the word between
    the sentences of the text with words of A and those with words of B.
    """
    rows = result.summary.filter(pl.col("word") != "")
    gaps = rows.filter(measure=GAP)
    notes = pl.Series("notes", [in_words(notes_of(row)) for row in gaps.iter_rows(named=True)], dtype=pl.String)
    numbers = rows.pivot("measure", index=["kind", *_KEYS], values="value").fill_nan(None)
    for more in (gaps.select(_KEYS).with_columns(notes), _by_group_word(result.items)):
        numbers = numbers.join(more, on=_KEYS, how="left", maintain_order="left")
    return numbers.with_columns(pl.concat_str(_KEYS, separator="\0").alias("id"))


def _by_group_word(items: pl.DataFrame) -> pl.DataFrame:
    means = items.group_by(*_KEYS, "side", "group_word", maintain_order=True).agg(
        pl.col("corrected").sort().mean(), pl.col("label", "count_a", "count_b").first()
    )
    largest = means["corrected"].abs().max() or 1.0
    marked = means.with_columns(mark=pl.col("corrected") / largest).group_by(*_KEYS, maintain_order=True)
    once = pl.col("count_a", "count_b").first(), pl.col("label").unique(maintain_order=True)
    return marked.agg("group_word", "corrected", "mark", *once)


def _facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    items = every_item(results)
    return {"groups": {name: labels(items, name) for name in items["contrast"].unique()}, "most": MOST}


# Tables -------------------------------------------------------------------------------------------------------------


def _counted(name: str) -> Column:
    return Column(name, lambda line: int(in_text(line.source)[line["contrast"], line["word"]][name]))


def _groups(line: Line) -> tuple[str, str]:
    return labels(result_of(line.source).items, line["contrast"])


_RARE = Column("rare", lambda line: len(words(line, rare=True)))
_LINE = (
    *(model(), count(), _RARE, number("slope"), p(), adjusted(), adjusted("zero", measure=AGAINST_0)),
    *(number("exact", measure=EXACT), number("correlation", measure=CORRELATION)),
    number("reliability", measure=RELIABILITY),
)
_FIRST = ("slope", "holm", "correlation", "n", "exact")
_WORD = (
    *(level("word"), _counted("count_a"), _counted("count_b"), number("m", "+.2f", measure=M)),
    *(number("c", "+.2f", measure=C), number("gap", "+.2f"), adjusted()),
)
_TABLES = (
    TableSpec("slopes", At(measure=SLOPE, kind=EVERYTHING), (level("contrast"), *_LINE), first=_FIRST),
    TableSpec(
        "levels",
        At(measure=SHIFT, kind=EVERYTHING),
        (
            *(level("contrast"), model(), count(), number("shift", "+.2f"), adjusted("shift-holm")),
            *(number("beyond", "+.2f", measure=BEYOND), p(measure=BEYOND), adjusted(measure=BEYOND)),
        ),
    ),
    TableSpec(
        "over-templates",
        At(measure=SD),
        (
            *(level("contrast"), level("kind"), model(), count(), number("sd")),
            number("share", ".0f", scale=100, measure=SHARE),
        ),
    ),
    TableSpec(
        "furthest",
        At(measure=GAP),
        (level("contrast"), model(), Column("side", lambda line: _groups(line)[line["value"] < 0]), *_WORD),
        by_model=True,
        of=furthest,
        first=("gap", "holm", "m", "c"),
    ),
    TableSpec(
        "texts",
        At(measure=SHIFT, kind=EVERYTHING),
        (
            *(level("contrast"), model(), Column("text", lambda line: result_of(line.source).signature["text"])),
            Column("groups", lambda line: " / ".join(_groups(line))),
            *map(_counted, ("sentences_a", "sentences_b", "both", "words_a", "words_b")),
            *(Column("used", lambda line: len(words(line, rare=False))), _RARE),
            Column("which", lambda line: ", ".join(words(line, rare=True)) or "–"),
        ),
        detail=True,
    ),
    TableSpec(
        "slopes-by-kind",
        At(measure=SLOPE, kind=but(EVERYTHING)),
        (level("contrast"), level("kind"), *_LINE),
        first=_FIRST,
        detail=True,
    ),
    TableSpec(
        "words", At(measure=GAP), (level("contrast"), level("kind"), model(), *_WORD), by_model=True, detail=True
    ),
)
_OF = (pair(), Column("of", lambda line: _COMPARED[line["measure"]]), level("contrast"))
_DIFFERENCE = (count(), number("value", "+.2f"), p(), adjusted())
_DIFFERENCES = (
    TableSpec("differences", At(kind=EVERYTHING), (*_OF, *_DIFFERENCE)),
    TableSpec("differences-by-kind", At(kind=but(EVERYTHING)), (*_OF, level("kind"), *_DIFFERENCE), detail=True),
)


# Figures ------------------------------------------------------------------------------------------------------------


def _panels(results: Sequence[BaseResult]) -> Iterator[Panel]:
    for source in sources(results):
        gaps = [line for line in source.only(At(measure=GAP)) if not math.isnan(line["value"])]
        points = [_point(line) for line in gaps]
        lines = []
        for slope in source.only(At(measure=SLOPE, kind=EVERYTHING)) if points else ():
            centre = fmean(point["c"] for point in points), fmean(point["m"] for point in points)
            lines = [Straight(1, centre, dashed=True), Straight(slope["value"], centre, slope["low"], slope["high"])]
        yield Panel(source.model, points, lines)


def _point(gap: Line) -> dict[str, Any]:
    m, c = gap.at(measure=M), gap.at(measure=C)
    assert m is not None and c is not None
    counts = in_text(gap.source)[gap["contrast"], gap["word"]]
    return {
        **{name: gap[name] for name in ("word", "contrast", "kind")},
        "c": c["value"],
        "m": m["value"],
        "m − c": gap["value"],
        "in A": counts["count_a"],
        "in B": counts["count_b"],
    }


_SIGNED = "+.2f"
_FIGURES = (
    Each(
        "contrast",
        Scatter(
            "slopes",
            _panels,
            *("c", "m"),
            told={"word": "", "kind": "", "c": _SIGNED, "m": _SIGNED, "m − c": _SIGNED, "in A": ",", "in B": ","},
            names="word",
            picks="word contrast",
        ),
    ),
    Each(
        "contrast",
        Forest("furthest", At(measure=GAP), "word", form=_SIGNED, picks="word contrast", of=far, ranked=True),
    ),
)


VIEWS = Views(
    tables=_TABLES,
    compared=_DIFFERENCES,
    figures=_FIGURES,
    items=Items(
        columns=(ItemColumn("word", "id"), ItemColumn("contrast", "label"), ItemColumn("kind", "label")),
        each=tuple(ModelColumn(name, digits=2, signed=True) for name in (M, C, GAP)),
        tokens=(
            TokenStrip(
                *("after", "group_word", "word", "corrected"),
                said=lambda items: items["label"].list.join(" · ").to_list(),
                marks="mark",
            ),
        ),
        rows=by_word,
    ),
    claims=CLAIMS,
    facts=_facts,
)
