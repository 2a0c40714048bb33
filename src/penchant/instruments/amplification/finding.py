"""The finding of amplification in words. Every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from penchant.instruments.amplification.compare import STEEPER
from penchant.instruments.amplification.data import EVERYTHING
from penchant.instruments.amplification.estimates import AGAINST_0, BEYOND, EXACT, SLOPE
from penchant.instruments.amplification.frames import Row, contrasts, controls, whole
from penchant.records import Result
from penchant.report.finding import Shown, across, differences, measured, sentences, told

_HOW = Shown("+.2f", "words")
_SLOPE = Shown(".2f", "words", null=1)


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """Whether each model says more or less than its text, whether that differs from the control, and in which contrasts
    two models differ."""
    control = controls(results)
    texts = []
    rows = list(whole(results))
    for contrast in contrasts(results):
        if contrast in control:
            continue
        texts += [_level(model, contrast, by) for of, model, by in rows if of == contrast and measured([by[SLOPE]])]
        texts.append(_beyond((model, by[BEYOND]) for of, model, by in rows if of == contrast and BEYOND in by))
    if comparison is not None:
        texts += _between(comparison, control)
    return sentences(*texts)


def _level(model: str, contrast: str, by: dict[str, Row]) -> str:
    """The slope of one model, and whether it says more than its text; only where both slopes say so."""
    slope, exact, none = by[SLOPE], by[EXACT], by[AGAINST_0]
    number = f"{model}, {contrast}: slope of the model on its text {_SLOPE.number(slope)}"
    if not told(slope, 1):
        return f"{number}, which cannot be told apart from 1"
    if not told(none, 0):
        left_open = "whether it has taken up what its text says of them cannot be told"
        return f"{number}, which cannot be told apart from 0: {left_open}"
    if slope["value"] < 0:
        return f"{number}: of these words it says the opposite of its text"
    if told(exact, 1) and (exact["value"] > 1) == (slope["value"] > 1):
        says = "more" if slope["value"] > 1 else "less"
        return f"{number}: of these words it says {says} than its text"
    beside = f"taking the text for exact it is {_SLOPE.number(exact, n=False)}"
    return f"{number}; {beside}, so that it cannot be said whether it says more or less than its text"


def _beyond(rows: Iterable[tuple[str, Row]]) -> str:
    return across(rows, _HOW, "models", "Slope minus that of the control")


def _between(comparison: pl.DataFrame, control: set[str]) -> list[str]:
    texts = []
    rows = comparison.filter((pl.col("measure") == STEEPER) & (pl.col("kind") == EVERYTHING))
    for (contrast,), part in rows.group_by("contrast", maintain_order=True):
        if str(contrast) not in control:
            what = f"slopes, {contrast},"
            texts.append(differences(part.iter_rows(named=True), _HOW, "has a steeper slope than", what))
    return texts
