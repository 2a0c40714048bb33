"""Rows below a table that sum it up or explain it are no data, and are told with their place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import penchant
from penchant.instruments.acceptability.data import AcceptabilityColumns, read_judged
from penchant.tables.footer_rows import footer
from penchant.tables.table_row import FileRow

pc: Any = penchant
Program = Callable[..., tuple[int, str, str]]
STATEMENTS = ("s1", "s2")
PEOPLE = "id,s1,s2\n" + "".join(f"R{i},{1 + i % 5},{1 + i % 3}\n" for i in range(8))


def of(*cells: tuple[object, ...]) -> list[FileRow]:
    people = [(f"R{i}", 1 + i % 5, 2) for i in range(8)]
    return [FileRow(n, dict(zip(("id", "s1", "s2"), row, strict=True))) for n, row in enumerate([*people, *cells], 2)]


@pytest.mark.parametrize(
    "row",
    [
        ("Total", 8, 8),
        ("Total:", "", ""),
        ("N = 8", None, None),
        ("n=8", None, None),
        ("Mean", 3.1, 2.0),
        ("Mittelwert", "3,1", "2,0"),
        ("Grand total", 24, 16),
        ("Std. deviation", 1.2, 0),
        ("Note: students of the first year", None, None),
        (None, "Source: our survey of May", None),
        ("Answers were collected in May", "", ""),
    ],
)
def test_a_row_that_is_no_respondent(row: tuple[object, ...]) -> None:
    error = footer(of(row), "people.csv")
    assert error is not None and "people.csv, line 10: looks like a footer" in str(error)
    error = footer(of(row, (None, None, None), ("Second note, too", None, None)), "people.csv")
    assert error is not None and "line 10" in str(error), "the first of them"


@pytest.mark.parametrize(
    "rows",
    [
        [("R8", None, None)],  # somebody who answered nothing
        [("Meaner", 3, 2)],
        [("Anna Total", 3, 2)],
        [(8, 3, 2)],
        [(None, None, None)],
        [(None, 3, None)],
        [("R8", "a comment of words", None)],
    ],
)
def test_respondents_are_kept(rows: list[tuple[object, ...]]) -> None:
    assert footer(of(*rows), "people.csv") is None


def test_a_first_cell_that_others_have_is_no_total() -> None:
    rows = [
        FileRow(n, {"mood": mood, "s1": 3})
        for n, mood in enumerate(["kind", "mean", "kind", "mean", "kind", "mean"] * 3)
    ]
    assert footer(rows, "people.csv") is None
    texts = [FileRow(n, {"comment": f"comment number {n}", "s1": None}) for n in range(9)]
    assert footer(texts, "people.csv") is None
    assert footer([FileRow(2, {"id": "Total", "s1": 3})], "people.csv") is None, (
        "a table of one row has nothing below it"
    )


@pytest.mark.parametrize("last", ["Mean,3,2", "Total,,", "N=8,,", "Note: made up,,"])
def test_a_survey_does_not_count_its_footer(last: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, "utf-8")
    assert pc.read_survey(tmp_path / "people.csv", STATEMENTS).read == 8
    (tmp_path / "people.csv").write_text(f"{PEOPLE}{last}\n", "utf-8")
    with pytest.raises(pc.PenchantError, match=r"people.csv, line 10: looks like a footer, .* — remove this row"):
        pc.read_survey(tmp_path / "people.csv", STATEMENTS)
    with pytest.raises(pc.PenchantError, match=r"survey, row 9: looks like"):
        pc.read_survey(pl.read_csv(tmp_path / "people.csv", infer_schema=False), STATEMENTS)


def test_a_footer_of_no_group_is_not_told_as_somebody_left_out(tmp_path: Path) -> None:
    rows = PEOPLE.replace("id,", "id,sex,").replace("R", "R").splitlines()
    table = [rows[0], *(line.replace(",", f",{'fm'[i % 2]},", 1) for i, line in enumerate(rows[1:])), "Mean,,3,2"]
    (tmp_path / "people.csv").write_text("\n".join(table) + "\n", "utf-8")
    described = {"file": str(tmp_path / "people.csv"), "groups": {"column": "sex", "levels": {"a": "f", "b": "m"}}}
    with pytest.raises(pc.PenchantError, match="line 10: looks like a footer"):
        pc.read_survey(described, STATEMENTS)


def test_judged_sentences_have_no_footer(tmp_path: Path) -> None:
    table = tmp_path / "judged.csv"
    table.write_text("sentence,rating\nThe cats sleep.,5\nShe sing.,2\nMean,3.5\n", "utf-8")
    with pytest.raises(pc.PenchantError, match=r"line 4: looks like a footer, not a row of the table: 'Mean'"):
        read_judged(table, AcceptabilityColumns())
