"""What people judged of the pairs in a report: tables and a figure. Rendering only: every number comes from a result.
All are empty where nobody judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from penchant.counting import for_one
from penchant.instruments.minimal_pairs.estimates import ALL, deltas
from penchant.instruments.minimal_pairs.fixed import AS_THEY_ARE
from penchant.instruments.minimal_pairs.human_estimates import (
    AGAINST_MAJORITY,
    CEILING,
    CORRELATIONS,
    EQUAL_LENGTH,
    HUMAN_ACCURACY,
    JUDGED_ACCURACY,
    MINUS_PEOPLE,
    judgements,
    kind_of,
    mean_judgements,
)
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, Figure
from penchant.report.items import every_item
from penchant.report.tables import Number, P, Row, Table, estimate, models

_PANELS = 12
"""The most paradigms of a data set that are drawn."""
_MANY = 10
"""Number of paradigms above which their table is a detail."""
_BESIDE = 2
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
DELTA = {
    "choices": "the share of raters who chose the acceptable sentence minus the share who chose the other",
    "ratings": "the mean over raters of the rating of the acceptable sentence minus that of the other",
}

_SO_FEW = (
    " Over several paradigms intervals are about others like them, which a few hardly tell; as they are: with these "
    "very paradigms, where they are fewer than ten, over the pairs within them."
)


def judged(results: Sequence[Result]) -> Sequence[Result]:
    """The results that have judgements: all of a study or none."""
    return [result for result in results if kind_of(result.items)]


# Tables -------------------------------------------------------------------------------------------------------------


def tables(results: Sequence[Result]) -> list[Table]:
    """The models minus the raters, the models against them, then the raters alone; each overall, and by paradigm where
    there are several."""
    results = judged(results)
    shown = []
    for scope in ("overall", "paradigm") if results else ():
        if scope == "paradigm" and not any(_several(result.summary) for result in results):
            continue
        rows = [(result, rows_about(result.summary, scope)) for result in results]
        shown += [_minus_people(rows, scope), _of_models(rows, scope), _of_raters(results[0].summary, scope)]
    return [table for table in shown if table.rows]


def _several(summary: pl.DataFrame) -> bool:
    return int(rows_about(summary, "paradigm")["group"].n_unique()) > 1


def _few(summary: pl.DataFrame) -> bool:
    """Whether some estimates about judgements are also given for the paradigms as they are."""
    return len(rows_about(summary, AS_THEY_ARE)) > 0


def rows_about(summary: pl.DataFrame, scope: str) -> pl.DataFrame:
    """The estimates about judgements, which name their raters; none where nobody judged a pair that was scored."""
    if "raters" not in summary.columns:
        return summary.clear()
    every = summary.filter((pl.col("scope") == scope) & pl.col("raters").is_not_null())
    return every.filter(pl.col("split") == ALL)


def _of_equal_length(summary: pl.DataFrame) -> pl.DataFrame:
    """The correlations within paradigms over the pairs of equal length, where others have unequal ones."""
    if "raters" not in summary.columns:
        return summary.clear()
    return summary.filter(pl.col("raters").is_not_null() & (pl.col("split") == EQUAL_LENGTH))


def _named(scope: str) -> tuple[str, str, tuple[str, ...]]:
    """What the name and the title of a table end in, and its column of groups."""
    return ("-by-paradigm", " by paradigm", ("paradigm",)) if scope == "paradigm" else ("", "", ())


def _cells(part: pl.DataFrame, names: Sequence[str], form: str, scale: float = 1) -> list[Number]:
    """The numbers of the measures whose names contain these, each with its interval."""
    found = []
    for name in names:
        row = part.filter(pl.col("measure").str.contains(name, literal=True))
        found.append(estimate(row.row(0, named=True), form, scale=scale) if len(row) else Number())
    return found


def _of_models(results: Sequence[tuple[Result, pl.DataFrame]], scope: str) -> Table:
    """One row per data set, group, score and model: accuracy against the majority, its ceiling, and correlations."""
    suffix, title, group = _named(scope)
    rows: dict[tuple[str, ...], list[Row]] = {}
    keys = ["dataset", "group", "normalise"]
    few = not group and any(_few(result.summary) for result, _ in results)
    lengths = bool(group) and any(len(_of_equal_length(result.summary)) for result, _ in results)
    for result, frame in results:
        fixed = rows_about(result.summary, AS_THEY_ARE)
        people = dict(frame.group_by(keys[:2], maintain_order=True))
        for key, part in frame.filter(pl.col("normalise") != "").group_by(keys, maintain_order=True):
            data, paradigm, how = map(str, key)
            chosen = part.filter(pl.col("measure") == AGAINST_MAJORITY).row(0, named=True)
            these = fixed.filter(dataset=data)
            cells = (
                *((data, paradigm) if group else (data,)),
                how,
                result.signature["model"],
                int(chosen["n"]),
                estimate(chosen, ".1f", scale=100),
                *(_cells(these.filter(normalise=how), [AGAINST_MAJORITY], ".1f", 100) if few else ()),
                *_cells(people[data, paradigm], [CEILING], ".1f", 100),
                *(_cells(these.filter(normalise=""), [CEILING], ".1f", 100) if few else ()),
                *_cells(part, list(CORRELATIONS.values()), "+.2f"),
                *(_equal_cells(result, data, paradigm, how) if lengths else ()),
            )
            rows.setdefault((data, paradigm, how), []).append(Row(cells, chosen["signature"]))
    shares = _beside(("accuracy", "ceiling"), few)
    columns = ("data", *group, "score", "model", "pairs", *shares, "Pearson's r", "Spearman's ρ")
    columns = (*columns, *(("A=U", "r, A=U", "ρ, A=U") if lengths else ()))
    kind = kind_of(results[0][0].items) or "choices"
    over = "" if group else " Over several paradigms, the mean of the correlations within them."
    note = (
        "Accuracy in percent against the sentence that most raters prefer; pairs with a tied majority are left out, a "
        "tie of the model counts one half. Ceiling: each rater against the majority of the others, averaged over "
        f"raters. Correlations of Δmodel, the score of the acceptable sentence minus that of the other, and Δhuman: "
        f"{DELTA[kind]}.{over} Pairs that nobody judged are left out.{_SO_FEW if few else ''}"
    )
    ordered = tuple(row for several in rows.values() for row in several)
    heading = f"Model and human judgements{title}"
    detail = bool(group) and len({key[:2] for key in rows}) > _MANY
    return Table(f"human{suffix}", heading, columns, ordered, note, detail=detail, first=shares)


def _minus_people(results: Sequence[tuple[Result, pl.DataFrame]], scope: str) -> Table:
    """One row per data set, group, score and model: how often the model and most raters prefer the good sentence of
    the same pairs, and the difference."""
    suffix, title, group = _named(scope)
    few = not group and any(_few(result.summary) for result, _ in results)
    rows: dict[tuple[str, ...], list[Row]] = {}
    for result, frame in results:
        fixed = rows_about(result.summary, AS_THEY_ARE)
        people = dict(frame.filter(normalise="").group_by(["dataset", "group"], maintain_order=True))
        for row in frame.filter(measure=MINUS_PEOPLE).iter_rows(named=True):
            data, paradigm, how = row["dataset"], row["group"], row["normalise"]
            same = pl.col("dataset").eq(data) & pl.col("group").eq(paradigm) & pl.col("normalise").eq(how)
            these = fixed.filter(dataset=data, normalise=how).filter(pl.col("measure").str.starts_with(MINUS_PEOPLE))
            also = these.iter_rows(named=True) if few else ()
            cells = (
                *((data, paradigm) if group else (data,)),
                how,
                result.signature["model"],
                int(row["n"]),
                *_cells(frame.filter(same), [JUDGED_ACCURACY], ".1f", 100),
                *_cells(people[data, paradigm], [HUMAN_ACCURACY], ".1f", 100),
                estimate(row, "+.1f", scale=100),
                P(row["p"]),
                *((P(row["p_holm"]),) if group else ()),
                *(cell for each in also for cell in (estimate(each, "+.1f", scale=100), P(each["p"]))),
            )
            lacking = (Number(), P(math.nan)) if few and not len(these) else ()
            rows.setdefault((data, paradigm, how), []).append(Row((*cells, *lacking), row["signature"]))
    apart = "model − people"
    also_heads = (f"{apart}, {AS_THEY_ARE}", "p of that") if few else ()
    columns = ("data", *group, "score", "model", "pairs", "model prefers good", "people prefer good", apart, "p")
    columns = (*columns, *(("p (Holm)",) if group else ()), *also_heads)
    note = (
        "Percent of the judged pairs in which the model, and most raters, prefer the acceptable sentence, and the "
        "difference in percentage points, paired on these pairs; a tie and a tied majority count one half. Intervals "
        "are for other pairs and these raters. p: two-sided, of no difference"
        f"{', adjusted over the paradigms of a data set, score and model' if group else ''}.{_SO_FEW if few else ''}"
    )
    ordered = tuple(row for several in rows.values() for row in several)
    detail = bool(group) and len({key[:2] for key in rows}) > _MANY
    heading = f"Model minus people{title}"
    return Table(f"minus-people{suffix}", heading, columns, ordered, note, detail=detail, first=(apart,))


def _equal_cells(result: Result, data: str, paradigm: str, how: str) -> tuple[int | str | Number, ...]:
    """How many judged pairs of a paradigm have equal lengths, and their correlations; blank where all have."""
    part = _of_equal_length(result.summary).filter(dataset=data, group=paradigm, normalise=how)
    if not len(part):
        return "", Number(), Number()
    return int(part["n"][0]), *_cells(part, list(CORRELATIONS.values()), "+.2f")


def _beside(names: tuple[str, str], few: bool) -> tuple[str, ...]:
    """The columns of two shares, each with that of the paradigms as they are if there are `few`."""
    return tuple(head for name in names for head in (name, *((f"{name}, {AS_THEY_ARE}",) if few else ())))


def _of_raters(summary: pl.DataFrame, scope: str) -> Table:
    """One row per data set and group: what raters prefer, and how far they agree."""
    suffix, title, group = _named(scope)
    frame, fixed = rows_about(summary, scope), rows_about(summary, AS_THEY_ARE).filter(pl.col("normalise") == "")
    few = not group and _few(summary)
    rows = []
    about = frame.filter(pl.col("normalise") == "")
    for key, part in about.group_by(["dataset", "group"], maintain_order=True):
        first = part.filter(pl.col("measure") == HUMAN_ACCURACY).row(0, named=True)
        shares = _cells(part, [HUMAN_ACCURACY, CEILING], ".1f", 100)
        if few:
            these = _cells(fixed.filter(dataset=str(key[0])), [HUMAN_ACCURACY, CEILING], ".1f", 100)
            shares = [cell for both in zip(shares, these, strict=True) for cell in both]
        alpha = _cells(part, ["Krippendorff"], "+.2f")
        names = tuple(map(str, key)) if group else (str(key[0]),)
        rows.append(Row((*names, int(first["raters"]), int(first["n"]), *shares, *alpha), first["signature"]))
    heads = _beside(("majority", "rater against others"), few)
    columns = ("data", *group, "raters", "pairs", *heads, "Krippendorff's α")
    note = (
        "Majority: percent of pairs of which most raters prefer the acceptable sentence, a tied majority counting one "
        "half; the interval is for other pairs and these raters. α is near 0 where nearly all choose the same "
        "sentence, however much they agree; read it with the column before it."
        f"{_SO_FEW if few else ''}"
    )
    detail = bool(group) and len(rows) > _MANY
    return Table(f"raters{suffix}", f"Raters and their agreement{title}", columns, tuple(rows), note, detail=detail)


# Figure -------------------------------------------------------------------------------------------------------------


def figures(results: Sequence[Result]) -> list[Figure]:
    """For each data set, Δmodel against Δhuman: a panel for every paradigm, a mark for every pair and model."""
    results = judged(results)
    if not results:
        return []
    heard = every_item(results).filter(pl.col("human_n") > 0)
    names = heard["dataset"].unique(maintain_order=True).to_list()
    return [_scatter(name, f"-{name}" if len(names) > 1 else "", results) for name in names]


def _scatter(name: str, suffix: str, results: Sequence[Result]) -> Figure:
    how = results[0].signature["normalise"].split(",")[0]
    points = [
        {**row, "model": model}
        for model, result in zip(models(results), results, strict=True)
        for row in _points(result.items.filter(pl.col("dataset") == name), how)
    ]
    paradigms = list(dict.fromkeys(row["paradigm"] for row in points))
    several = len(paradigms) > 1
    drawn = paradigms[:_PANELS]
    reach = max((abs(row["human"]) for row in points), default=1.0) or 1.0
    panels = [
        _panel([row for row in points if row["paradigm"] == each], models(results), each, 1.08 * reach)
        for each in drawn
    ]
    kind = kind_of(results[0].items) or "choices"
    rest = len(paradigms) - len(drawn)
    left_out = (
        f" Drawn are the first {_PANELS} paradigms; {rest} more {for_one(rest, 'are')} in the table." if rest else ""
    )
    return Figure(
        f"human{suffix}",
        f"{name}: Δmodel against Δhuman",
        f"For each paradigm of {name} a mark for every pair and model. Across: Δhuman, {DELTA[kind]}. Up: Δmodel, the "
        f"score ({how}) of the acceptable sentence minus that of the other. Right of and above the lines, people and "
        f"the model prefer the acceptable sentence.{left_out}",
        alt.concat(*panels, columns=_BESIDE),
        "human-by-paradigm" if several else "human",
        picks="pair",
    )


def _points(items: pl.DataFrame, how: str) -> list[dict[str, Any]]:
    heard = items.filter(pl.col("human_n") > 0)
    return (
        heard.select(pl.col("id").alias("pair"), "paradigm", "good", pl.col("human_n").alias("raters"))
        .with_columns(
            pl.Series("human", mean_judgements(judgements(heard)), dtype=pl.Float64),
            pl.Series("delta", deltas(heard, how), dtype=pl.Float64),
        )
        .to_dicts()
    )


def _panel(rows: list[dict[str, Any]], names: list[str], title: str, reach: float) -> alt.LayerChart:
    """Δmodel against Δhuman in one paradigm; across, all panels go from −`reach` to `reach`."""
    scale = alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))])
    shapes = alt.Scale(domain=names, range=[_SHAPES[i % len(_SHAPES)] for i in range(len(names))])
    legend = alt.Legend(title=None, orient="bottom", columns=1, labelLimit=320) if len(names) > 1 else None
    points = (
        alt.Chart(alt.InlineData(rows))
        .mark_point(filled=True, size=40, opacity=0.7)
        .encode(
            x=alt.X("human:Q", title="Δhuman", scale=alt.Scale(domain=[-reach, reach], nice=False)),
            y=alt.Y("delta:Q", title="Δmodel", scale=alt.Scale(padding=8)),
            color=alt.Color("model:N", sort=names, scale=scale, legend=legend),
            shape=alt.Shape("model:N", sort=names, scale=shapes, legend=legend),
            tooltip=[
                "pair:N",
                alt.Tooltip("good:N", title="sentence"),
                "model:N",
                alt.Tooltip("human:Q", title="Δhuman", format="+.2f"),
                alt.Tooltip("delta:Q", title="Δmodel", format="+.2f"),
                "raters:Q",
            ],
        )
    )
    none = alt.Chart(alt.InlineData([{"zero": 0}]))
    lines = [
        none.mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(**{axis: "zero:Q"}) for axis in ("x", "y")
    ]
    return alt.layer(*lines, points).properties(width=320, height=200, title=title)
