"""The table of single stimuli and sentences of association tests. Rendering only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.associations.frames import FACTORS, context_name, named, probe, several, with_factors
from penchant.instruments.associations.logprob_estimates import SCORES
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Joined, Strip
from penchant.report.pieces import readable
from penchant.report.tables import models


def items(results: Sequence[Result]) -> ItemTable:
    """Stimuli with their associations under every model, or sentences with their scores."""
    return _sentences(results) if probe(results) == "logprob-bias" else _stimuli(results)


def _aligned(results: Sequence[Result], head: Sequence[str]) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """The columns `head` of all items that any model has, each item once, and the rows of every model in the same
    order, null where a model lacks the item."""
    frames = [with_factors(result.items) for result in results]
    joined = Joined.of(frames)
    return joined.items.select(head), joined.each(frames)


def _category(whole: pl.DataFrame) -> pl.Series:
    names = {row: named(*row) for row in whole.select("category", "label").unique().iter_rows()}
    return pl.Series([names[row] for row in whole.select("category", "label").iter_rows()], dtype=pl.String)


def _stimuli(results: Sequence[Result]) -> ItemTable:
    name = probe(results)
    whole, frames = _aligned(results, ["category", "label", *FACTORS, "side", "word", "text"])
    columns = [
        Column("stimulus", "id", whole["word"]),
        *([Column("sentence", "text", whole["text"])] if (whole["text"] != "").any() else []),
        Column("category", "label", _category(whole)),
        Column("set", "label", whole["side"]),
    ]
    for factor in several(whole):
        title = context_name(name) if factor == "context" else factor
        values = whole[factor]
        columns.append(Column(title, "label", values))
    strips = []
    remarks = {}
    for model, frame in zip(models(results), frames, strict=True):
        columns += [
            Column("association", "number", frame["association"], model, 4, signed=True),
            Column("d without it", "number", frame["without"], model, 2, signed=True),
        ]
        remarks[model] = _remarks(frame)
        strips.append(_cosines(model, frame))
    unit = "cosine of the stimulus with every stimulus of the two other sets, of a word with several sentences the mean"
    return ItemTable("stimuli", tuple(columns), tuple(strips), remarks, unit)


def _remarks(frame: pl.DataFrame) -> pl.Series:
    remarks: list[str | None] = []
    sentences = frame["sentences"].to_list() if "sentences" in frame.columns else [None] * len(frame)
    for side, value, without, n in zip(frame["side"], frame["association"], frame["without"], sentences, strict=True):
        if side is None:
            remarks.append(None)
            continue
        pair = "A than to B" if side in "XY" else "X than to Y"
        text = f"nearer to {pair} by {value:+.4f}"
        text += "" if without is None else f"; the effect size without it is {without:+.2f}"
        text += "" if n is None else f"; {n:,} different sentences"
        remarks.append(text.replace("-", "−"))
    return pl.Series(remarks, dtype=pl.String)


def _cosines(model: str, frame: pl.DataFrame) -> Strip:
    """The cosines of every stimulus: of targets with attributes, as in the items, and of attributes with targets."""
    tokens: list[list[str]] = [[] for _ in range(len(frame))]
    values: list[list[float]] = [[] for _ in range(len(frame))]
    notes = [""] * len(frame)
    numbered = frame.with_row_index("row").filter(pl.col("side").is_not_null())
    for _, items in numbered.group_by("category", *FACTORS, maintain_order=True):
        targets, attributes = (items.filter(pl.col("side").is_in(sides)) for sides in (["X", "Y"], ["A", "B"]))
        table = np.array(targets["cosines"].to_list(), dtype=np.float64).reshape(len(targets), -1)
        for rows, others, cosines, note in (
            (targets, attributes, table, "with A, then B"),
            (attributes, targets, table.T, "with X, then Y"),
        ):
            names, means = _by_word(others, cosines)
            for row, mean in zip(rows["row"], means.tolist(), strict=True):
                tokens[row], values[row], notes[row] = names, mean, note
    series = pl.Series(values, dtype=pl.List(pl.Float64))
    return Strip(
        model, "cosines", pl.Series(tokens, dtype=pl.List(pl.String)), series, pl.Series(notes, dtype=pl.String), series
    )


def _by_word(others: pl.DataFrame, cosines: NDArray[np.float64]) -> tuple[list[str], NDArray[np.float64]]:
    """The words of the columns, once per set, and the mean over the columns of each."""
    columns: dict[tuple[str, str], list[int]] = {}
    for at, key in enumerate(others.select("side", "word").iter_rows()):
        columns.setdefault(key, []).append(at)
    means = np.stack([cosines[:, at].mean(axis=1) for at in columns.values()], axis=1)
    return [word for _, word in columns], means


_SENTENCE_FIELDS = (
    "category",
    "label",
    "context",
    "target",
    "target_side",
    "attribute",
    "attribute_side",
    "sentence",
    "leaks",
)


def _sentences(results: Sequence[Result]) -> ItemTable:
    whole, frames = _aligned(results, _SENTENCE_FIELDS)
    columns = _sentence_columns(whole)
    strips = []
    remarks = {}
    for model, frame in zip(models(results), frames, strict=True):
        columns += [Column(score, "number", frame[score], model, 2, signed=score == "corrected") for score in SCORES]
        remarks[model] = _score_remarks(frame)
        strips += _target_strips(model, frame)
    unit = "log-probability of each token of the target, natural logarithm"
    return ItemTable("sentences", tuple(columns), tuple(strips), remarks, unit)


def _sentence_columns(whole: pl.DataFrame) -> list[Column]:
    """The columns that are the same for every model."""
    columns = [
        Column("attribute", "id", whole["attribute"]),
        Column("set", "label", whole["attribute_side"]),
        Column("target", "label", whole["target"]),
        Column("target set", "label", whole["target_side"]),
        Column("sentence", "text", whole["sentence"]),
        Column("category", "label", _category(whole)),
        *([Column("structure", "label", whole["context"])] if whole["context"].n_unique() > 1 else []),
    ]
    if whole["leaks"].any():
        marks = whole["leaks"].replace_strict({True: "leaks", False: "–"}, return_dtype=pl.String)
        columns.append(Column("attribute elsewhere", "label", marks))
    return columns


def _score_remarks(frame: pl.DataFrame) -> pl.Series:
    """How the corrected score of every sentence comes about."""
    scores = (pl.col(score).round(3).cast(pl.String).str.replace("-", "−") for score in SCORES)
    remark = (
        pl.when(pl.col("fill").is_null())
        .then(None)
        .otherwise(pl.format("fill − prior = corrected: {} − ({}) = {}", *scores))
    )
    return frame.select(remark.alias("remark"))["remark"]


def _target_strips(model: str, frame: pl.DataFrame) -> list[Strip]:
    """The log-probabilities of the target's tokens, with the attribute seen and masked."""
    frame = frame.with_columns(pl.col("pieces", "logprobs_fill", "logprobs_prior").fill_null([]))
    pieces = readable(frame["pieces"], frame["target"].fill_null(""))
    return [
        Strip(model, score, pieces, frame[f"logprobs_{score}"], pl.Series([masked] * len(frame)))
        for score, masked in (("fill", "target masked"), ("prior", "target and attribute masked"))
    ]
