"""A comparison of the same categories under WEAT, SEAT, CEAT and the log-probability bias score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penchant.instruments.associations.view_rows import FACTORS, SIGNIFICANT, chosen, headline, named, stacked, where
from penchant.records import BaseResult
from penchant.report.figures import INK, Figure
from penchant.report.lazy_altair import alt, inline
from penchant.report.sections import Section
from penchant.report.significance import measured, sentences, told
from penchant.report.tables import Number, ReportRow, ReportTable, estimate
from penchant.report.verdicts import Answer
from penchant.stats.hypothesis_tests import holm
from penchant.views.interval_figures import figure
from penchant.wording.phrases import Note
from penchant.wording.templates import Text

NAMES = {"weat": "WEAT", "seat": "SEAT", "ceat": "CEAT", "logprob-bias": "log-probability"}
"""The names of the association measures in column heads."""
_ROOM = 110
"""Total length of the column heads beyond which models are numbered."""


@dataclass(frozen=True, slots=True)
class MeasureColumn:
    """One measure of one model: `rows` has a summary row per category, `shown` describes layer, context and so on."""

    head: str
    measure: str
    result: BaseResult
    shown: str
    rows: Mapping[str, Mapping[str, Any]]


def columns(results: Sequence[BaseResult]) -> list[MeasureColumn]:
    """Return one column per result, at the layer, context, sampling and number of samples that `chosen` returns."""
    shown_columns = []
    for head, result in zip(_heads(results), results, strict=True):
        name = result.signature["probe"]
        estimates = stacked([result], headline(name))
        level = chosen(estimates)
        rows = {
            row["category"]: row
            for row in estimates.iter_rows(named=True)
            if all(row[factor] == level[factor] for factor in FACTORS)
        }
        shown = ", ".join(where(estimates, name, *FACTORS)) or "–"
        shown_columns.append(MeasureColumn(head, NAMES[name], result, shown, rows))
    return _adjusted(shown_columns)


def _adjusted(shown_columns: Sequence[MeasureColumn]) -> list[MeasureColumn]:
    adjusted = holm([row["p"] for column in shown_columns for row in column.rows.values()]).tolist()
    family = {"tests": sum(p == p for p in adjusted), "test_family": "all measures and categories"}
    each = iter(adjusted)
    return [
        replace(column, rows={name: {**row, **family, "p_holm": next(each)} for name, row in column.rows.items()})
        for column in shown_columns
    ]


def _heads(results: Sequence[BaseResult]) -> list[str]:
    measures = [NAMES[result.signature["probe"]] for result in results]
    model_names = [result.signature["model"].rpartition("/")[2] for result in results]
    heads = [f"{measure} {model}" for measure, model in zip(measures, model_names, strict=True)]
    if sum(map(len, heads)) <= _ROOM and len(set(heads)) == len(heads):
        return heads
    counts: Counter[str] = Counter()
    numbered = []
    for measure in measures:
        counts[measure] += 1
        numbered.append(f"{measure} {counts[measure]}" if measures.count(measure) > 1 else measure)
    return numbered


def tables(results: Sequence[BaseResult], text: Text) -> list[ReportTable]:
    """Return two tables: effect sizes by category and column, and a description of each column."""
    shown_columns = columns(results)
    labels = _labels(shown_columns)
    rows = []
    for category, label in labels.items():
        cells = [_cell(column, category) for column in shown_columns]
        rows.append(ReportRow((category, *([label] if any(labels.values()) else []), *cells)))
    head = ("category", "stimuli") if any(labels.values()) else ("category",)
    heads = (*head, *(column.head for column in shown_columns))
    own = text.below("tables", "measures").given(upper=any(_one_sided(column) for column in shown_columns))
    return [ReportTable("measures", own.get("title"), heads, tuple(rows), own.get("note")), _about(shown_columns, text)]


def _one_sided(column: MeasureColumn) -> bool:
    return column.result.signature["alternative"] == "upper"


def _labels(shown_columns: Sequence[MeasureColumn]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for column in shown_columns:
        for category, row in column.rows.items():
            labels[category] = labels.get(category) or row["label"]
    return labels


def _cell(column: MeasureColumn, category: str) -> Number:
    row = column.rows.get(category)
    if row is None:
        return Number(notes=(Note("associations.not-asked"),))
    shown = replace(estimate(row), star="*" if row["p_holm"] < SIGNIFICANT else "")
    return Number(shown.value, notes=shown.notes if math.isnan(shown.value) else (), star=shown.star)


def _about(shown_columns: Sequence[MeasureColumn], text: Text) -> ReportTable:
    rows = tuple(
        ReportRow(
            (column.head, column.result.signature["model"], column.shown, column.result.signature["data"]),
            str(column.result.signature),
        )
        for column in shown_columns
    )
    own = text.below("tables", "columns")
    note = own.get("note", several=len({column.result.signature["data"] for column in shown_columns}) > 1)
    return ReportTable("columns", own.get("title"), ("column", "model", "shown", "stimuli"), rows, note)


def figures(results: Sequence[BaseResult], text: Text) -> list[Figure]:
    """Return a list with one figure: the effect sizes by category and column as a heat map."""
    shown_columns = columns(results)
    labels = _labels(shown_columns)
    rows = []
    for category, label in labels.items():
        for column in shown_columns:
            cell = _cell(column, category)
            value = None if math.isnan(cell.value) else cell.value
            said = "–" if value is None else f"{value:.2f}{cell.star}".replace("-", "−")
            name = f"{column.measure}, {column.result.signature['model']}"
            rows.append(
                {"category": named(category, label), "column": column.head, "of": name, "d": value, "text": said}
            )
    base = alt.Chart(inline(rows)).encode(
        x=alt.X(
            "column:N",
            sort=[column.head for column in shown_columns],
            title=None,
            axis=alt.Axis(orient="top", labelAngle=-30, labelLimit=300),
        ),
        y=alt.Y("category:N", sort=[named(*row) for row in labels.items()], title=None, axis=alt.Axis(labelLimit=420)),
    )
    shade = alt.Scale(domain=[-2, 0, 2], range=["#D55E00", "#f7f7f7", "#0072B2"])
    cells = base.mark_rect().encode(
        color=alt.Color("d:Q", title="d", scale=shade),
        tooltip=[alt.Tooltip("category:N"), alt.Tooltip("of:N"), alt.Tooltip("d:Q", format="+.2f")],
    )
    plain = alt.condition("abs(datum.d) > 1.4", alt.value("white"), alt.value("black"))
    numbers = [
        base.transform_filter(f"{'' if there else '!'}isValid(datum.d)")
        .mark_text(fontSize=11, aria=False)
        .encode(text=alt.Text("text:N"), color=plain if there else alt.value(INK))
        for there in (True, False)
    ]
    chart = alt.layer(cells, *numbers).properties(width=alt.Step(74), height=alt.Step(26))
    return [figure("measures", chart, text, "")]


def agreement(results: Sequence[BaseResult], text: Text) -> list[Answer]:
    """Return a list with an answer on the agreement of columns, or an empty list if no category has several columns.

    The answer counts the categories whose columns all agree in sign, and names those whose columns also differ from 0.
    """
    shown = columns(results)
    by_category = {
        category: [column.rows[category] for column in shown if category in column.rows] for category in _labels(shown)
    }
    several = {category: rows for category, every in by_category.items() if len(rows := measured(every)) > 1}
    if not several:
        return []
    signs = [category for category, rows in several.items() if len({row["value"] > 0 for row in rows}) == 1]
    clear = [category for category in signs if all(told(row) for row in several[category])]
    said = text.get("claims", "agreement", signs=len(signs), of=len(several), clear=clear)
    return [Answer("agreement", text.get("question"), sentences(said), ())]


def across(text: Text) -> Section:
    """Return the report section that compares the measures, with its wording from `text`."""
    text = text.given(significant=SIGNIFICANT)

    def methods(results: Sequence[BaseResult]) -> list[str]:
        shown = [f"{column.head}: {column.shown}" for column in columns(results) if column.shown != "–"]
        return text.given(shown=shown).paragraphs("prose", "methods")

    return Section(
        *(text.get("title"), text.get("question")),
        tables=lambda results: tables(results, text),
        compared=lambda comparison: [],
        figures=lambda results: figures(results, text),
        items=None,
        methods=methods,
        limits=lambda results: text.paragraphs("prose", "limits"),
        answers=lambda results, comparison: agreement(results, text),
    )
