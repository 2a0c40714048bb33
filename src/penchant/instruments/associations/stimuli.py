"""The tables of single stimuli and sentences of association tests; the words are in `text.yaml`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.associations.frames import FACTORS, with_factors
from penchant.instruments.associations.logprob_estimates import SCORES
from penchant.records import Result
from penchant.views.items import ItemColumn, Items, ModelColumn, Tokens

_NAMES, _MEANS, _WITH = "cosine_words", "cosine_means", "cosine_with"


def _placed(result: Result) -> pl.DataFrame:
    """Return the items with their category in words, a column for every factor, and what leaks as readers call it."""
    label = pl.when(pl.col("label") != pl.col("category")).then("label").otherwise(pl.lit(""))
    named = pl.concat_str("category", label, separator=" ").str.strip_chars()
    items = with_factors(result.items).with_columns(named.alias("place"))
    if "leaks" not in items.columns:
        return items
    leaks = pl.when(pl.col("leaks")).then(pl.lit("leaks")).otherwise(pl.lit("–"))
    return items.with_columns(leaks.alias("elsewhere"))


def _with_cosines(result: Result) -> pl.DataFrame:
    """Return the stimuli with the cosines of each: of targets with attributes, as in the items, and of attributes with
    targets."""
    frame = _placed(result)
    names: list[list[str]] = [[] for _ in range(len(frame))]
    values: list[list[float]] = [[] for _ in range(len(frame))]
    others_of = [""] * len(frame)
    for _, items in frame.with_row_index("row").group_by("category", *FACTORS, maintain_order=True):
        targets, attributes = (items.filter(pl.col("side").is_in(sides)) for sides in (["X", "Y"], ["A", "B"]))
        table = np.array(targets["cosines"].to_list(), dtype=np.float64).reshape(len(targets), -1)
        for rows, others, cosines, said in (
            (targets, attributes, table, "with A, then B"),
            (attributes, targets, table.T, "with X, then Y"),
        ):
            own, means = _by_word(others, cosines)
            for row, mean in zip(rows["row"], means.tolist(), strict=True):
                names[row], values[row], others_of[row] = own, mean, said
    return frame.with_columns(
        pl.Series(_NAMES, names, pl.List(pl.String)),
        pl.Series(_MEANS, values, pl.List(pl.Float64)),
        pl.Series(_WITH, others_of, pl.String),
    )


def _by_word(others: pl.DataFrame, cosines: NDArray[np.float64]) -> tuple[list[str], NDArray[np.float64]]:
    """Return the words of the columns, once per set, and the mean over the columns of each."""
    columns: dict[tuple[str, str], list[int]] = {}
    for at, key in enumerate(others.select("side", "word").iter_rows()):
        columns.setdefault(key, []).append(at)
    means = np.stack([cosines[:, at].mean(axis=1) for at in columns.values()], axis=1)
    return [word for _, word in columns], means


def _remarks(result: Result) -> list[str]:
    items = result.items
    counts = items["sentences"].to_list() if "sentences" in items.columns else [None] * len(items)
    remarks = []
    for side, value, without, n in zip(items["side"], items["association"], items["without"], counts, strict=True):
        said = f"nearer to {'A than to B' if side in 'XY' else 'X than to Y'} by {value:+.4f}"
        said += "" if without is None else f"; the effect size without it is {without:+.2f}"
        said += "" if n is None else f"; {n:,} different sentences"
        remarks.append(said.replace("-", "−"))
    return remarks


def _corrected(result: Result) -> list[str]:
    """Return how the corrected score of every sentence comes about."""
    scores = (pl.col(score).round(3).cast(pl.String).str.replace("-", "−") for score in SCORES)
    remark = pl.format("fill − prior = corrected: {} − ({}) = {}", *scores).fill_null("")
    return result.items.select(remark.alias("remark"))["remark"].to_list()


def _column(name: str) -> Callable[[pl.DataFrame], list[str]]:
    return lambda items: items[name].to_list()


def _masked(said: str) -> Callable[[pl.DataFrame], list[str]]:
    return lambda items: [said] * len(items)


_FACTORS = tuple(ItemColumn(factor, "label", varies=True) for factor in FACTORS)
STIMULI = Items(
    columns=(
        *(ItemColumn("word", "id"), ItemColumn("text", varies=True), ItemColumn("place", "label")),
        *(ItemColumn("side", "label"), *_FACTORS),
    ),
    each=(ModelColumn("association", digits=4, signed=True), ModelColumn("without", digits=2, signed=True)),
    tokens=(Tokens("cosines", _NAMES, "", _MEANS, _column(_WITH), marks=_MEANS),),
    remark=_remarks,
    rows=_with_cosines,
)
SENTENCES = Items(
    columns=(
        *(ItemColumn("attribute", "id"), ItemColumn("attribute_side", "label"), ItemColumn("target", "label")),
        *(ItemColumn("target_side", "label"), ItemColumn("sentence"), ItemColumn("place", "label")),
        *(ItemColumn("context", "label", varies=True), ItemColumn("elsewhere", "label", varies=True)),
    ),
    each=tuple(ModelColumn(score, digits=2, signed=score == "corrected") for score in SCORES),
    tokens=(
        Tokens("fill", "pieces", "target", "logprobs_fill", _masked("target masked")),
        Tokens("prior", "pieces", "target", "logprobs_prior", _masked("target and attribute masked")),
    ),
    remark=_corrected,
    rows=_placed,
)
