"""Tables, figures and prose on the checkpoints of a training. Rendering only: every number comes from a curve."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from penchant.counting import counted
from penchant.instruments.minimal_pairs.curve import ACQUIRED, AFTER, BEFORE, NO_STEP
from penchant.instruments.minimal_pairs.estimates import ACCURACY
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, Figure
from penchant.report.finding import MOST, measured, sentences
from penchant.report.sections import Curves
from penchant.report.tables import Number, P, Row, Table, estimate
from penchant.wording.phrases import Note, notes_of, read_method

_BESIDE = 3
"""Panels beside each other."""
_WIDTH, _HEIGHT = 190, 120
_WIDE = 20
"""The ratio of the last step to the first from which on the axis is logarithmic."""
_BLUE, _RED = COLOURS[0], COLOURS[1]
_KEY = ["family", "dataset", "group", "normalise"]


def finding(curve: pl.DataFrame) -> list[str]:
    """Which paradigms each training acquires, at which step, and why the others have none; by the first score."""
    rows = curve.filter((pl.col("measure") == ACQUIRED) & (pl.col("normalise") == curve["normalise"][0]))
    several = rows["dataset"].n_unique() > 1
    found = []
    for (family, name), part in rows.group_by(["family", "dataset"], maintain_order=True):
        steps = [
            f"{row['group']} at step {Number(row['value'], row['low'], row['high'], form=',.0f')}, "
            f"n = {counted(row['n'], 'pairs')}"
            for row in measured(part.iter_rows(named=True))
        ]
        reasons = Counter(
            str(reason.with_(step=None)) for row in part.iter_rows(named=True) for reason in _reasons(row)
        )
        place = f" of {name}" if several else ""
        text = f"{family} acquires {len(steps)} of {counted(len(part), 'paradigms')}{place}"
        more = [f"{len(steps) - MOST} more in the table"] if len(steps) > MOST else []
        shown = f": {'; '.join([*steps[:MOST], *more])}" if steps else ""
        others = "; ".join(f"{reason} ({n})" for reason, n in reasons.most_common())
        found.append(f"{text}{shown}{f'. No step of acquisition: {others}' if others else ''}")
    return sentences(*found)


def _reasons(row: Mapping[str, Any]) -> list[Note]:
    """Why a paradigm has no step of acquisition; nothing where it has one."""
    return [note.params["reason"] for note in notes_of(row) if note.code == NO_STEP]


def tables(curve: pl.DataFrame) -> list[Table]:
    """Where each paradigm is acquired; and its accuracy at every step, of the first score reported."""
    return [_acquired(curve), _by_step(curve)]


def _acquired(curve: pl.DataFrame) -> Table:
    rows = []
    found = curve.filter(pl.col("measure").is_in([ACQUIRED, BEFORE, AFTER]))
    for key, part in found.group_by(_KEY, maintain_order=True):
        at = {row["measure"]: row for row in part.iter_rows(named=True)}
        step = at[ACQUIRED]
        sides = (estimate(at[side], ".1f", scale=100) for side in (BEFORE, AFTER))
        cells = (*map(str, key), estimate(step, ",.0f"), *sides, P(step["p"]), P(step["p_holm"]), step["n"])
        rows.append(Row(cells, step["signature"]))
    columns = ("training", "data", "paradigm", "score", "acquired", "before", "after", "p", "p (Holm)", "pairs")
    note = (
        "Acquired: the first checkpoint after the change of accuracy, with its [interval]; the change itself lies "
        "between it and the checkpoint before. Given where accuracy changes (p: of the same accuracy at all "
        "checkpoints; Holm's correction over the paradigms of a data set and score), rises, and is above one half "
        "from then on, at every checkpoint and, with its interval, in the mean, and is not before. Before, after: "
        "accuracy in percent over the checkpoints on the two sides of the point that parts them best, whether or not "
        "there is a change. The intervals are about other pairs like these in this training, not about another "
        "training."
    )
    title = "Step at which a paradigm is acquired"
    return Table("acquired", title, columns, tuple(rows), note, first=("acquired", "before", "after"))


def _by_step(curve: pl.DataFrame) -> Table:
    rows = [
        Row(
            (*(row[name] for name in _KEY), f"{row['step']:,}", row["n"], estimate(row, ".1f", scale=100)),
            row["signature"],
        )
        for row in _first_score(curve).iter_rows(named=True)
    ]
    columns = ("training", "data", "paradigm", "score", "step", "pairs", "accuracy")
    note = "All pairs. Of the first score reported; curve.parquet has the others."
    return Table("curve", "Accuracy in percent by step", columns, tuple(rows), note, detail=True)


def _first_score(curve: pl.DataFrame) -> pl.DataFrame:
    """The accuracies of the first score, one paradigm after the other, by step."""
    rows = curve.filter((pl.col("measure") == ACCURACY) & (pl.col("normalise") == curve["normalise"][0]))
    order = {key: n for n, key in enumerate(rows.select(_KEY).unique(maintain_order=True).iter_rows())}
    places = [order[key] for key in rows.select(_KEY).iter_rows()]
    return rows.with_columns(pl.Series("place", places)).sort("place", "step").drop("place")


def figures(curve: pl.DataFrame) -> list[Figure]:
    """For each training and data set, a panel for every paradigm."""
    shown = []
    several = curve.select("family", "dataset").n_unique() > 1
    for number, ((family, name), rows) in enumerate(
        _first_score(curve).group_by(["family", "dataset"], maintain_order=True), 1
    ):
        acquired = curve.filter(
            (pl.col("measure") == ACQUIRED)
            & (pl.col("family") == family)
            & (pl.col("dataset") == name)
            & (pl.col("normalise") == curve["normalise"][0])
        )
        steps = {row["group"]: row for row in acquired.iter_rows(named=True)}
        axis = _axis(rows["step"].unique().sort().to_list())
        panels = [
            _panel(str(paradigm), part, steps[paradigm], axis)
            for (paradigm,), part in rows.group_by("group", maintain_order=True)
        ]
        shown.append(
            Figure(
                f"curve-{number}" if several else "curve",
                f"{name}: accuracy over the training of {family}",
                f"For every paradigm of {name}, the accuracy of {counted(rows['step'].n_unique(), 'checkpoints')} of "
                f"{family} with its interval, by step. The vertical line is the checkpoint at which the paradigm is "
                f"acquired, the band beside it its interval; none where there is no such step. Dashed: one half.",
                alt.concat(*panels, columns=_BESIDE),
                "acquired",
                picks="paradigm",
            )
        )
    return shown


def _axis(steps: Sequence[int]) -> alt.X:
    """The axis of steps: logarithmic where they span orders of magnitude, near 0 linear where there is a step 0."""
    positive = [step for step in steps if step > 0]
    wide = max(positive) >= _WIDE * min(positive)
    kind: Any = ("symlog" if 0 in steps else "log") if wide else "linear"
    scale = alt.Scale(type=kind, domain=[steps[0], steps[-1]], nice=False)
    labels = alt.Axis(format="~s", labelOverlap=True, grid=False, **({"values": _ticks(steps)} if wide else {}))
    return alt.X("step:Q", title="step", scale=scale, axis=labels)


def _ticks(steps: Sequence[int]) -> list[int]:
    """0 and the powers of ten within the steps; where these are few, the steps themselves."""
    powers = [10**n for n in range(round(math.log10(steps[-1])) + 1) if steps[0] <= 10**n <= steps[-1]]
    return [*([0] if steps[0] == 0 else []), *powers] if len(powers) > 1 else list(steps)


def _panel(paradigm: str, rows: pl.DataFrame, step: dict[str, Any], x: alt.X) -> alt.LayerChart:
    """The curve of one paradigm."""
    points = rows.select(
        "step",
        "n",
        pl.lit(paradigm).alias("paradigm"),
        *((100 * pl.col(name)).alias(name) for name in ("value", "low", "high")),
    )
    base = alt.Chart(alt.InlineData(points.to_dicts())).encode(x=x)
    y = alt.Y(
        "value:Q", title="accuracy, %", scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(values=[0, 25, 50, 75, 100])
    )
    band = base.mark_area(opacity=0.25, color=_BLUE, aria=False).encode(
        y=alt.Y("low:Q", title="accuracy, %"), y2="high:Q"
    )
    line = base.mark_line(strokeWidth=1.5, color=_BLUE).encode(y=y)
    dots = base.mark_point(filled=True, size=28, opacity=1, color=_BLUE).encode(
        y=y,
        tooltip=[
            "paradigm:N",
            alt.Tooltip("step:Q", format=","),
            alt.Tooltip("value:Q", title="accuracy", format=".1f"),
            alt.Tooltip("low:Q", title="from", format=".1f"),
            alt.Tooltip("high:Q", title="to", format=".1f"),
            alt.Tooltip("n:Q", title="pairs"),
        ],
    )
    half = alt.Chart(alt.InlineData([{"y": 50}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(y="y:Q")
    layers = [half, *_mark(step, x), band, line, dots]
    told = f"at {Number(step['value'], step['low'], step['high'], form=',.0f')}"
    subtitle = str(Note(NO_STEP)) if math.isnan(step["value"]) else told
    title = alt.TitleParams(paradigm, subtitle=subtitle, anchor="start", fontSize=11, subtitleFontSize=10)
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, title=title)


def _mark(step: dict[str, Any], x: alt.X) -> list[alt.Chart]:
    """The step of acquisition with its interval; nothing where there is none."""
    if math.isnan(step["value"]):
        return []
    place = {"step": step["value"], "low": step["low"], "high": step["high"], "bottom": 0, "top": 100}
    base = alt.Chart(alt.InlineData([place])).encode(y=alt.Y("bottom:Q", title="accuracy, %"), y2="top:Q")
    start = x.copy()
    start.shorthand = "low:Q"
    return [
        base.mark_rect(opacity=0.18, color=_RED, aria=False).encode(x=start, x2="high:Q"),
        base.mark_rule(strokeWidth=1.5, color=_RED, aria=False).encode(x=x),
    ]


def _methods(curve: pl.DataFrame) -> list[str]:
    """How the step of acquisition was found."""
    rows = curve.filter(pl.col("measure") == ACQUIRED)
    method, test = (next(filter(None, map(read_method, rows[name])), None) for name in ("method", "test_method"))
    interval = f"Its interval: {method}. " if method else ""
    flipped = test.with_(two_sided=None) if test else ""
    return [
        "Training curves: accuracies by step are those of the checkpoints. A function with one step is fitted to the "
        "accuracies of a paradigm: of all ways to part the checkpoints in two, the one with the largest likelihood of "
        "the counts were they binomial. The paradigm is acquired at the first checkpoint of the second part, if "
        "accuracy changes at all, rises, the interval of its mean over the second part lies above one half and that "
        "over the first does not, and no checkpoint of the second part is at one half or below. "
        f"{interval}The test of no change at any checkpoint: {flipped}, two-sided; a pair "
        "keeps all its checkpoints together, since whether a model is right on it at one step tells much of the next."
    ]


def _limits(curve: pl.DataFrame) -> list[str]:
    """What a step of acquisition does not mean."""
    return [
        "A step of acquisition sums a curve up in one point, which does not say that the rise is sudden: look at the "
        "curve. Every checkpoint counts the same, so the point depends on which checkpoints there are, and a paradigm "
        "acquired before the first of them shows no change. Where all pairs of a paradigm set the same two words or "
        "forms against each other, learning which is more frequent is enough for a rise: look at the mirrored paradigm "
        "too. The interval is about other pairs of this kind. Another seed or order of the text would give another "
        "curve, of which one training says nothing."
    ]


CURVES = Curves(finding, tables, figures, _methods, _limits)
