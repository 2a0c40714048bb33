"""No cell of a CSV file starts a formula in a spreadsheet, and every text comes back."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from penchant.tables.formula_escape import for_spreadsheets, guarded, unguarded
from penchant.tables.rows import checked_models

STARTS = ("=", "+", "-", "@", "\t", "\r")
CELLS = st.text(
    st.one_of(st.sampled_from("'=+-@\t\r\n0123.eE\",＝"), st.characters(codec="utf-8", exclude_characters="\0")),
    max_size=8,
)


class Cell(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=False)
    name: str
    cell: str | None = None


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("'=1", "''=1"),
        ("-0.3", "-0.3"),
        ("+1e-05", "+1e-05"),
        ("'tis", "'tis"),
        ("", ""),
        ("rose", "rose"),
        ("−1", "−1"),
    ],
)
def test_what_begins_like_a_formula_is_guarded(text: str, cell: str) -> None:
    assert guarded(text) == cell
    assert unguarded(cell) == text


@given(CELLS)
def test_no_cell_starts_a_formula_and_every_text_comes_back(text: str) -> None:
    cell = guarded(text)
    assert unguarded(cell) == text
    if cell.startswith(STARTS):
        assert float(cell) == float(text)  # a number stays one


@given(st.lists(CELLS, min_size=1, max_size=5))
def test_a_table_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = Path(tmp_path_factory.mktemp("csv", numbered=True)) / "x.csv"
    frame = pl.DataFrame({"name": [f"n{i}" for i in range(len(texts))], "cell": texts, "number": -0.3})
    shown = for_spreadsheets(frame)
    assert shown["number"].to_list() == [-0.3] * len(texts)
    path.write_text(shown.write_csv(quote_style="non_numeric"), "utf-8", newline="")
    assert [row.cell or "" for _, row in checked_models(path, Cell, guarded=True)[0]] == texts


def test_names_of_columns_are_guarded_too() -> None:
    assert for_spreadsheets(pl.DataFrame({"=a": [1], "b": ["@"], "c": [None]})).columns == ["'=a", "b", "c"]


def test_only_csv_is_guarded(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"name": "a", "cell": "\'=1"}\n')
    assert [row.cell for _, row in checked_models(tmp_path / "x.jsonl", Cell, guarded=True)[0]] == ["'=1"]
