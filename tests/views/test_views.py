"""Declared tables and figures: rows are joined by their levels, and a model has one colour wherever it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from penchant.records import BaseResult, Estimate, Signature, summary_table
from penchant.report.tables import Number
from penchant.views.interval_figures import Each, Forest, Panels
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip
from penchant.views.row_selection import At, RowSource, compared, sources
from penchant.views.scatter import Panel, Scatter, Straight
from penchant.views.tables import Column, TableSpec, adjusted, count, level, model, number, p
from penchant.wording.templates import Text

TEXT = """
columns: {n: items}
tables:
  gaps: {title: "Gaps of {{ noun }}", note: "A note.", columns: {other: beside}}
figures:
  gaps: {title: "Gaps{{ ' of ' + level if level }}", text: Of each group., axis: gap, x: across, y: up}
items: {noun: words, unit: none, remark: ["{{ n ~ ' times' if n is defined }}", "{{ 'Half.' if score is defined }}"]}
"""


def result(name: str, values: dict[str, tuple[float, float]]) -> BaseResult:
    """Return a result with a gap and a spread of each group."""
    signature = Signature.of("x", model=name)
    rows = [
        Estimate(measure, value, 9, value - 1, value + 1, by={"group": group})
        for position, measure in enumerate(("gap", "spread"))
        for group, value in ((group, pair[position]) for group, pair in values.items())
    ]
    items = pl.DataFrame({"id": [*values], "group": [*values]})
    return BaseResult(signature, items, summary_table((row, signature) for row in rows))


def words(tmp_path: Path) -> Text:
    """Return the text, which knows a fact."""
    (tmp_path / "text.yaml").write_text(TEXT, "utf-8")
    return Text.of(tmp_path).given(noun="groups", level="")


RESULTS = [
    result("m", {"b": (2.0, 20.0)}),
    result("n", {"a": (1.0, 10.0), "b": (3.0, 30.0)}),
]


def test_numbers_stand_beside_those_of_their_levels(tmp_path: Path) -> None:
    columns = (level("group"), model(), count(), number("value"), number("other", measure="spread"))
    table = TableSpec("gaps", At(measure="gap"), columns).table(sources(RESULTS), words(tmp_path))
    assert table is not None
    assert (table.title, table.columns) == ("Gaps of groups", ("group", "model", "items", "value", "beside"))
    told = [(*row.cells[:2], *(cell.value for cell in row.cells[3:] if isinstance(cell, Number))) for row in table.rows]
    assert told == [("b", "m", 2.0, 20.0), ("b", "n", 3.0, 30.0), ("a", "n", 1.0, 10.0)]


def test_what_has_no_rows_is_not_shown(tmp_path: Path) -> None:
    assert TableSpec("gaps", At(measure="none"), (model(),)).table(sources(RESULTS), words(tmp_path)) is None
    assert Forest("gaps", At(measure="none"), "group").draw(RESULTS, words(tmp_path)) == []


def test_a_model_has_one_colour_in_every_panel(tmp_path: Path) -> None:
    (figure,) = Forest("gaps", At(measure="gap"), "group", panel="group").draw(RESULTS, words(tmp_path))
    panels = figure.spec()["concat"]
    domains = [panel["layer"][1]["encoding"]["color"]["scale"]["domain"] for panel in panels]
    assert domains == [["m", "n"]] * len(panels) and len(panels) == 2


def test_numbers_that_there_are_not_are_blank(tmp_path: Path) -> None:
    """A column that has none in any row is left out; of several levels the first counts that there is."""
    columns = (number("value", measure="none"), number("of-a", group="a"), p(measure="spread"), adjusted(group="a"))
    table = TableSpec("gaps", At(measure="gap"), columns).table(sources(RESULTS), words(tmp_path))
    assert table is not None and table.columns == ("of-a", "p", "p (Holm)")
    assert [str(row.cells[0])[:3] for row in table.rows] == ["–", "1.0", "1.0"]
    assert {tuple(map(str, row.cells[1:])) for row in table.rows} == {("–", "–")}
    either = number("either", measure=("none", "spread"))
    table = TableSpec("gaps", At(measure="gap"), [either]).table(sources(RESULTS), words(tmp_path))
    assert table is not None and [row.cells[0].value for row in table.rows if isinstance(row.cells[0], Number)] == [
        *(20.0, 30.0, 10.0)
    ]


def test_rows_may_stand_in_the_order_of_their_means(tmp_path: Path) -> None:
    found = [result("m", {"low": (1.0, 0.0), "high": (9.0, 0.0)}), result("n", {"middle": (5.0, 0.0)})]
    (figure,) = Forest("gaps", At(measure="gap"), "group", ranked=True).draw(found, words(tmp_path))
    assert figure.spec()["layer"][1]["encoding"]["y"]["sort"] == ["high", "middle", "low"]


def test_each_level_has_a_figure(tmp_path: Path) -> None:
    figures = Each("group", Forest("gaps", At(measure="gap"), "group")).draw(RESULTS, words(tmp_path))
    told = [(each.name, each.title, each.numbers) for each in figures]
    assert told == [("gaps-1", "Gaps of b", "gaps"), ("gaps-2", "Gaps of a", "gaps")]


def panels(results: Sequence[BaseResult]) -> list[Panel]:
    """Return two panels with points, and one without between them."""
    places = {"one": 0.0, "beside": 0.01, "two": 2.0}
    points = [{"of": name, "a": place, "b": 10 * place} for name, place in places.items()]
    lines = [Straight(1, dashed=True), Straight(2.0, (1.0, 1.0), 1.0, 4.0), Straight(float("nan"))]
    return [Panel("m", points, lines), Panel("none", ()), Panel("n", points[:1])]


def test_panels_of_a_scatter_have_the_same_axes(tmp_path: Path) -> None:
    (figure,) = Scatter("gaps", panels, "a", "b", {"of": "", "a": ".1f"}, names="of").draw(RESULTS, words(tmp_path))
    spec = figure.spec()
    plots = spec["concat"]
    assert [plot["title"] for plot in plots] == ["m", "n"]
    channels = [plot["layer"][-1]["encoding"] for plot in plots]
    assert channels[0] == channels[1] and channels[0]["x"]["title"] == "across"
    low, high = channels[0]["x"]["scale"]["domain"]
    assert low < 0 and high > 2
    identity, band, line, dots, _ = (spec["datasets"][layer["data"]["name"]] for layer in plots[0]["layer"])
    assert identity == [{"a": low, "b": low}, {"a": high, "b": high}]
    assert line == [{"a": end, "b": pytest.approx(1 + 2 * (end - 1))} for end in (low, high)]
    assert band[1] == {"a": 1.0, "b": 1.0, "to": 1.0}  # where all slopes meet
    assert [(point["of"], point["name"]) for point in dots] == [("one", "one"), ("beside", ""), ("two", "two")]
    assert Scatter("gaps", lambda results: [Panel("m", ())], "a", "b").draw(RESULTS, words(tmp_path)) == []


def test_items_may_be_other_rows_than_those_of_a_result(tmp_path: Path) -> None:
    def rows(result: BaseResult) -> pl.DataFrame:
        n = len(result.items)
        strips = {"words": [["v", "w"]] * n, "numbers": [[1.0, 2.0]] * n, "marks": [[0.5, 1.0]] * n}
        return pl.DataFrame({"id": result.items["id"], "n": range(1, n + 1), **strips})

    tokens = TokenStrip("strip", "words", "id", "numbers", lambda items: items["id"].to_list(), marks="marks")
    spec = Items((ItemColumn("id", "id"),), (ModelColumn("n"),), (tokens,), rows=rows)
    table = spec.table(RESULTS, words(tmp_path))
    assert [column.values.to_list() for column in table.columns] == [["a", "b"], [None, 1], [1, 2]]
    assert {model: remarks.to_list() for model, remarks in table.remarks.items()} == {
        "m": [None, "1 times"],
        "n": ["1 times", "2 times"],
    }
    (first, _) = table.strips
    assert first.marks is not None and first.marks.to_list() == [None, [0.5, 1.0]]


def test_rows_of_comparisons_are_told_apart_by_words_alone() -> None:
    signature = Signature.of("x", model="m − n")
    rows = [Estimate("gap", 1.0, 9, by={"first": "m", "second": "n", "group": group}) for group in ("a", "b")]
    frame = summary_table((row, signature) for row in rows).with_columns(detectable=pl.lit(float("nan")))
    (source,) = compared(frame)
    assert source.names == ("group", "measure")
    assert [line.at(group="b") for line in source.lines] == [source.lines[1]] * 2


def test_a_table_is_made_of_what_there_is(tmp_path: Path) -> None:
    """A column that is empty in every row is left out; numbers are those of other levels, with a star where found."""
    found = replace(RESULTS[1], summary=RESULTS[1].summary.with_columns(p_holm=pl.Series([0.01, 0.2, 0.3, 0.05])))
    columns = (Column("empty", lambda line: ""), number("b", measure="spread", group="b", star=True), number("value"))
    at = At(measure="gap", group="a")
    table = TableSpec("gaps", at, columns).table(sources([found]), words(tmp_path))
    assert table is not None and table.columns == ("b", "value")
    assert [(cell.value, cell.star) for cell in table.rows[0].cells if isinstance(cell, Number)] == [(30, "*"), (1, "")]
    assert TableSpec("gaps", At(absent="a"), columns).table(sources([found]), words(tmp_path)) is None


def test_rows_are_made_of_those_of_all_models(tmp_path: Path) -> None:
    def largest(found: Sequence[RowSource]) -> list[RowSource]:
        return [max(found, key=lambda source: source.only(At(measure="gap", group="b"))[0]["value"])]

    table = TableSpec("gaps", At(measure="gap"), (model(),), of=largest).table(sources(RESULTS), words(tmp_path))
    assert table is not None and {row.cells for row in table.rows} == {("n",)}
    (figure,) = Forest("gaps", At(measure="gap"), "group", of=largest).draw(RESULTS, words(tmp_path))
    spec = figure.spec()
    assert spec["layer"][1]["encoding"]["color"]["scale"]["domain"] == ["n"]
    assert [row["value"] for rows in spec["datasets"].values() for row in rows if "value" in row] == [1.0, 3.0]


def test_panels_stand_side_by_side_each_with_its_line(tmp_path: Path) -> None:
    parts = [Forest(name, At(measure=name), "group measure", null=null) for name, null in (("gap", 0), ("spread", 1))]
    (figure,) = Panels("gaps", [*parts, Forest("none", At(measure="none"), "group")], "rows").draw(
        RESULTS, words(tmp_path)
    )
    spec = figure.spec()
    assert figure.numbers == "rows" and len(spec["concat"]) == 2
    lines = [spec["datasets"][panel["layer"][0]["data"]["name"]] for panel in spec["concat"]]
    assert lines == [[{"x": 0}], [{"x": 1}]]
    assert spec["datasets"][spec["concat"][0]["layer"][1]["data"]["name"]][0]["row"] == "b gap"


def test_items_have_the_columns_and_remarks_that_there_are(tmp_path: Path) -> None:
    spec = Items((ItemColumn("id", "id"),), (ModelColumn("score"), ModelColumn("none")))
    results = [replace(result, items=pl.DataFrame({"id": ["a"], "score": [0.5]})) for result in RESULTS]
    table = spec.table(results, words(tmp_path))
    assert [(column.title, column.model) for column in table.columns] == [("id", ""), ("score", "m"), ("score", "n")]
    assert {model: list(said) for model, said in table.remarks.items()} == {"m": ["Half."], "n": ["Half."]}
