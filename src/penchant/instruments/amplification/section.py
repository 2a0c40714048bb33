"""Tables and items of amplification. Rendering only: every number comes from a result."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from penchant.instruments.amplification.compare import FURTHER, STEEPER
from penchant.instruments.amplification.data import EVERYTHING
from penchant.instruments.amplification.estimates import (
    AGAINST_0,
    BEYOND,
    CORRELATION,
    EXACT,
    RELIABILITY,
    SHIFT,
    SLOPE,
)
from penchant.instruments.amplification.frames import (
    MOST,
    WordRow,
    contrasts,
    controls,
    furthest,
    labels,
    lines,
    whole,
    words,
)
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Strip
from penchant.report.made import tested
from penchant.report.tables import Number, P, Row, Table, estimate, models
from penchant.stats.templates import SD, SHARE
from penchant.wording.phrases import notes_of

_NONE = {"value": math.nan, "low": math.nan, "high": math.nan, "n": 0, "p": math.nan, "p_holm": math.nan}


def tables(results: Sequence[Result]) -> list[Table]:
    """Slopes and correlations, the mean of m − c and the comparison with the control, the words that are furthest from
    their text, and in detail all words and the texts."""
    shown = [
        _slopes(results, kinds=False),
        _levels(results),
        _over_templates(results),
        _furthest(results),
        _texts(results),
        _slopes(results, kinds=True),
        _all_words(results),
    ]
    return [table for table in shown if table.rows]


def _slopes(results: Sequence[Result], *, kinds: bool) -> Table:
    """The slopes over all words, or those of every kind where there are several."""
    rows = []
    rare = [row for row in words(results) if row.rare]
    for contrast, kind, model, by in lines(results):
        if (kind == EVERYTHING) == kinds:
            continue
        slope = by[SLOPE]
        lost = sum((row.contrast, row.model) == (contrast, model) and kind in (EVERYTHING, row.kind) for row in rare)
        cells = (
            *((contrast, kind) if kinds else (contrast,)),
            model,
            int(slope["n"]),
            lost,
            estimate(slope),
            P(slope["p"]),
            P(slope["p_holm"]),
            P(by[AGAINST_0]["p_holm"]),
            estimate(by[EXACT]),
            estimate(by[CORRELATION]),
            estimate(by[RELIABILITY]),
        )
        rows.append(Row(cells, slope["signature"]))
    columns = (
        *(("contrast", "kind") if kinds else ("contrast",)),
        *("model", "words", "too rare", "slope", "p, slope ≠ 1", "p ≠ 1 (Holm)", "p ≠ 0 (Holm)"),
        *("slope, text exact", "correlation", "reliability of c"),
    )
    note = (
        "Above 1 the model says more than its text, between 0 and 1 less. Slope: both m and c have errors. Text "
        "exact: c is taken for known, so that its errors make the slope flatter; a model that has learned the very "
        "sentences of its text, chance and all, lies between the two. Reliability: the share of the variance of c "
        "between words that the sampling of the text does not explain. "
        f"Holm's correction over the {'contrasts and kinds' if kinds else 'contrasts'} of a model. Too rare: words "
        "with too few occurrences in the text, which are left out; the table of the texts names them."
    )
    first = ("slope", "p ≠ 1 (Holm)", "correlation", "words", "slope, text exact")
    name, title = ("slopes-by-kind", "by kind of attribute") if kinds else ("slopes", "all attributes")
    title = f"Slope of the model on its text, {title}"
    return Table(name, title, columns, tuple(rows), note, detail=kinds, first=first)


def _levels(results: Sequence[Result]) -> Table:
    rows = []
    for contrast, model, by in whole(results):
        shift, beyond = by[SHIFT], by.get(BEYOND, _NONE)
        cells = (
            *(contrast, model, int(shift["n"]), estimate(shift, "+.2f"), P(shift["p_holm"])),
            *(estimate(beyond, "+.2f"), P(beyond["p"]), P(beyond["p_holm"])),
        )
        rows.append(Row(cells, shift["signature"]))
    columns = ("contrast", "model", "words", "mean m − c", "p ≠ 0 (Holm)", "slope − control", "p", "p (Holm)")
    tests = tested(*(result.summary.filter(pl.col("measure").is_in([SHIFT, BEYOND])) for result in results))
    note = (
        "Mean m − c: how much further all words lean to the first group in the model than in its text. Slope − "
        "control: the slope minus that of the control, of which nobody expects a bias: what is left is not the way "
        f"that this model, asked in such sentences, says anything. {tests}"
    )
    return Table("levels", "Mean of m − c, and slopes beside the control", columns, tuple(rows), note)


def _over_templates(results: Sequence[Result]) -> Table:
    rows = tuple(
        Row(
            (contrast, kind, model, int(by[SD]["n"]), estimate(by[SD]), estimate(by[SHARE], ".0f", scale=100)),
            by[SD]["signature"],
        )
        for contrast, kind, model, by in lines(results)
        if SD in by
    )
    note = (
        "m in one template is the mean over words: its standard deviation over templates, and the share of the "
        "variance of m, one a word and template, that lies between the templates of a family. A template that moves m "
        "of all words alike moves the mean of m − c, and not the slope. Over all kinds: about the mean of each family, "
        "pooled."
    )
    columns = ("contrast", "kind", "model", "templates", SD, "of variance, %")
    return Table("over-templates", "m over templates", columns, rows, note)


def _word_cells(row: WordRow) -> tuple[str | int | Number | P, ...]:
    a, b = row.counts
    c = Number() if math.isnan(row.c["value"]) else estimate(row.c, "+.2f")
    return (a, b, estimate(row.m, "+.2f"), c, estimate(row.gap, "+.2f"), P(row.gap["p_holm"]))


_WORD = ("in A", "in B", "m", "c", "m − c", "p (Holm)")


def _furthest(results: Sequence[Result]) -> Table:
    rows = []
    every = words(results)
    for contrast in contrasts(results):
        if contrast in controls(results):
            continue
        sides = labels(results, contrast)
        for model in models(results):
            above, below = furthest([row for row in every if (row.contrast, row.model) == (contrast, model)])
            for side, part in zip(sides, (above, below), strict=True):
                for row in part:
                    cells = (contrast, model, f"to {side}", row.word, *_word_cells(row))
                    rows.append(Row(cells, row.gap["signature"]))
    columns = ("contrast", "model", "leans further", "word", *_WORD)
    note = (
        f"The {MOST} words of either sign that are furthest apart. In A and in B: occurrences in the sentences of the "
        "text that hold a word of the first or the second group. The largest of many differences are too large on "
        "average: they are picked because they are large. p tests m − c = 0; Holm's correction over all words of a "
        "contrast and model."
    )
    first = ("m − c", "p (Holm)", "m", "c")
    title = "Words that are furthest from their text"
    return Table("furthest", title, columns, tuple(rows), note, first=first)


def _all_words(results: Sequence[Result]) -> Table:
    rows = tuple(
        Row((row.contrast, row.kind, row.model, row.word, *_word_cells(row)), row.m["signature"])
        for row in words(results)
    )
    note = "m, c and m − c are natural logarithms, above 0 for the first group of a contrast."
    return Table("words", "Every word", ("contrast", "kind", "model", "word", *_WORD), rows, note, detail=True)


def _texts(results: Sequence[Result]) -> Table:
    rows = []
    every = words(results)
    for contrast in contrasts(results):
        for model, result in zip(models(results), results, strict=True):
            first = result.items.filter(contrast=contrast).row(0, named=True)
            rare = [row.word for row in every if (row.contrast, row.model) == (contrast, model) and row.rare]
            of_contrast = sum((row.contrast, row.model) == (contrast, model) for row in every)
            cells = (
                *(contrast, model, result.signature["text"], " / ".join(labels([result], contrast))),
                *(first["sentences_a"], first["sentences_b"], first["both"], first["words_a"], first["words_b"]),
                *(of_contrast - len(rare), len(rare), ", ".join(rare) or "none"),
            )
            rows.append(Row(cells, str(result.signature)))
    columns = (
        *(
            "contrast",
            "model",
            "text",
            "A / B",
            "sentences of A",
            "sentences of B",
            "of both",
            "words in A's",
            "words in B's",
        ),
        *("attributes used", "too rare", "which"),
    )
    least = results[0].signature["min-count"]
    note = (
        "Sentences that hold words of both groups count for neither. Attributes with fewer than "
        f"{least} occurrences in the sentences of both groups together are too rare, and left out of every estimate."
    )
    return Table("texts", "The texts", columns, tuple(rows), note, detail=True)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences of slopes, and of the mean of m − c, between every two models."""
    return [
        table
        for kinds in (False, True)
        if (table := _differences(comparison.filter((pl.col("kind") != EVERYTHING) == kinds), kinds=kinds)).rows
    ]


def _differences(comparison: pl.DataFrame, *, kinds: bool) -> Table:
    rows = tuple(
        Row(
            (
                *(row["comparison"], row["measure"].removeprefix("difference of "), row["contrast"]),
                *((row["kind"],) if kinds else ()),
                *(int(row["n"]), estimate(row, "+.2f"), P(row["p"]), P(row["p_holm"])),
            ),
            row["signature"],
        )
        for measure in (STEEPER, FURTHER)
        for row in comparison.filter(measure=measure).iter_rows(named=True)
    )
    columns = ("difference", "of", "contrast", *(("kind",) if kinds else ()), "words", "value", "p", "p (Holm)")
    note = (
        "Each model against the text that the study names for it. Slopes: each over the words that its text has often "
        "enough, resampled in both models at once. Means: over the words that both texts have often enough. "
        f"{tested(comparison)} Holm's correction over the {'contrasts and kinds' if kinds else 'contrasts'} of one "
        "quantity and pair of models."
    )
    name, title = ("differences-by-kind", ", by kind of attribute") if kinds else ("differences", "")
    return Table(name, f"Differences between models{title}", columns, rows, note, detail=kinds)


# Items --------------------------------------------------------------------------------------------------------------


def items(results: Sequence[Result]) -> ItemTable:
    """Every word with m, c and m − c under every model, and its corrected score after every group word."""
    every = words(results)
    keys = list(dict.fromkeys((row.contrast, row.kind, row.word) for row in every))
    columns = [
        Column("word", "id", pl.Series([word for _, _, word in keys])),
        Column("contrast", "label", pl.Series([contrast for contrast, _, _ in keys])),
        Column("kind", "label", pl.Series([kind for _, kind, _ in keys])),
    ]
    strips, remarks = [], {}
    for model, result in zip(models(results), results, strict=True):
        by = {(row.contrast, row.kind, row.word): row for row in every if row.model == model}
        shown = [by.get(key) for key in keys]
        for title in ("m", "c", "m − c"):
            columns.append(Column(title, "number", _numbers(shown, title), model, 2, signed=True))
        remarks[model] = pl.Series([_remark(row) for row in shown], dtype=pl.String)
        strips.append(_by_group_word(model, result, keys))
    unit = (
        "log-probability of the word after each group word minus that with the group word hidden, mean over templates"
    )
    return ItemTable("words", tuple(columns), tuple(strips), remarks, unit)


def _numbers(rows: Sequence[WordRow | None], title: str) -> pl.Series:
    values = [None if row is None else {"m": row.m, "c": row.c, "m − c": row.gap}[title]["value"] for row in rows]
    return pl.Series(values, dtype=pl.Float64).fill_nan(None)


def _remark(row: WordRow | None) -> str | None:
    if row is None:
        return None
    a, b = row.counts
    told = f"in the text {a:,} times in sentences of the first group, {b:,} times in those of the second"
    return "; ".join([told, *map(str, notes_of(row.gap))])


def _by_group_word(model: str, result: Result, keys: Sequence[tuple[str, str, str]]) -> Strip:
    """The mean corrected score of every word after every group word."""
    means = result.items.group_by("contrast", "word", "side", "group_word", maintain_order=True).agg(
        pl.col("corrected").sort().mean()
    )
    by: dict[tuple[str, str], tuple[list[str], list[float]]] = {}
    for contrast, word, _, member, value in means.iter_rows():
        names, values = by.setdefault((contrast, word), ([], []))
        names.append(member)
        values.append(value)
    found = [by.get((contrast, word), ([], [])) for contrast, _, word in keys]
    largest = max((abs(value) for _, values in found for value in values), default=0.0) or 1.0
    marks = [(np.array(values) / largest).tolist() for _, values in found]
    return Strip(
        model,
        "after each group word",
        pl.Series([names for names, _ in found], dtype=pl.List(pl.String)),
        pl.Series([values for _, values in found], dtype=pl.List(pl.Float64)),
        pl.Series(["first group, then second"] * len(found), dtype=pl.String),
        pl.Series(marks, dtype=pl.List(pl.Float64)),
    )
