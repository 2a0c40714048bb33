"""One table reads to the same rows from every kind of file, and errors name the cell of each."""

from __future__ import annotations

import csv
import io
import json
import pickle
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pandas
import polars as pl
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from builders import error_of, write
from penchant.errors import DataError, MethodError
from penchant.tables import workbooks
from penchant.tables.data_lookup import find_data
from penchant.tables.rows import columns, read_labelled, read_models, read_rows

NAMES = ("a", "b", "c d")
# What every kind of file can hold: no workbook has control characters, and XML makes one of the ends of lines.
CELL = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff\ufeff"))
ROWS = st.lists(
    st.tuples(CELL, CELL, CELL).filter(lambda row: any(cell.strip() for cell in row)), min_size=1, max_size=4
)


def delimited(rows: list[tuple[str, ...]], delimiter: str, mark: bool, declared: bool) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([NAMES, *rows])
    return ("\ufeff" * mark + f"sep={delimiter}\r\n" * declared + buffer.getvalue()).encode()


def workbook(
    path: Path, rows: Sequence[tuple[object, ...]], sheet: str = "Table", names: tuple[str, ...] = NAMES
) -> Path:
    book = openpyxl.load_workbook(path) if path.exists() else openpyxl.Workbook()
    page = book.create_sheet(sheet) if path.exists() else book.active
    page.title = sheet
    for number, row in enumerate([names, *rows], 1):
        for column, value in enumerate(row, 1):
            cell = page.cell(number, column)
            cell.value = value
            if isinstance(value, str):
                cell.data_type = "s"  # a text, also where it begins with "="
    book.save(path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kinds")


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, mark=st.booleans(), declared=st.booleans())
def test_one_table_in_every_kind_of_file(folder: Path, rows: list[tuple[str, ...]], mark: bool, declared: bool) -> None:
    expected = [dict(zip(NAMES, row, strict=True)) for row in rows]
    path = folder / "table"
    for delimiter in ",;\t":
        path.write_bytes(delimited(rows, delimiter, mark, declared))
        assert [row.values for row in read_rows(path)] == expected
        assert columns(path) == list(NAMES)
        assert [row.line for row in read_rows(path)] == list(range(2 + declared, 2 + declared + len(rows)))
    path.write_text("\ufeff" * mark + "\n".join(json.dumps(row) for row in expected), "utf-8")
    assert [row.values for row in read_rows(path)] == expected
    pl.DataFrame(expected).write_parquet(path)
    assert [row.values for row in read_rows(path)] == expected
    book = folder / "table.xlsx"
    book.unlink(missing_ok=True)
    assert [row.values for row in read_rows(workbook(book, list(rows)))] == expected


@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.integers(-9, 9), min_size=1, max_size=5))
def test_numbers_of_statistics_programs_and_workbooks_are_those_of_csv(folder: Path, values: list[int]) -> None:
    frame = pandas.DataFrame({"q": values, "r": [value / 2 for value in values]})
    pyreadstat.write_sav(frame, folder / "t.sav")
    pyreadstat.write_dta(frame, folder / "t.dta")
    pyreadstat.write_dta(frame, folder / "old.dta", version=8)
    (folder / "t.xlsx").unlink(missing_ok=True)
    workbook(folder / "t.xlsx", [(value, value / 2) for value in values], names=("q", "r"))
    for name in ("t.sav", "t.dta", "old.dta", "t.xlsx"):
        rows = read_rows(folder / name)
        assert [row.values["q"] for row in rows] == values
        assert [row.values["r"] for row in rows] == [value / 2 for value in values]


# The separator --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b\n1,5;x\n", {"a": "1,5", "b": "x"}),
        ("a,b;c\n1,2\n", {"a": "1", "b;c": "2"}),
        ('"a;b",c\n1,2\n', {"a;b": "1", "c": "2"}),
        ("a;b, c;d\n1;2;3\n", {"a": "1", "b, c": "2", "d": "3"}),
        ("a;b\tc\n1\t2\n", {"a;b": "1", "c": "2"}),
        ("sep=;\na,b;c\n1;2\n", {"a,b": "1", "c": "2"}),
        ("SEP=,\r\na;b,c\r\n1,2\r\n", {"a;b": "1", "c": "2"}),
        ('"sep=\t"\na\tb\n1\t2\n', {"a": "1", "b": "2"}),
    ],
)
def test_the_separator_is_that_of_the_header(tmp_path: Path, text: str, expected: dict[str, str]) -> None:
    assert [row.values for row in read_rows(write(tmp_path / "t.csv", text.encode()))] == [expected]


class Measured(BaseModel):
    word: str
    x: float | None = None


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_decimal_commas_where_they_separate_nothing(tmp_path: Path, delimiter: str) -> None:
    cells = [("word", "x"), ("1,5", "3,5"), ("b", "-,25"), ("c", "1.0"), ("d", "")]
    path = write(tmp_path / "t.csv", "\n".join(map(delimiter.join, cells)))
    models = [model for _, model in read_models(path, Measured)]
    assert [model.x for model in models] == [3.5, -0.25, 1.0, None]
    assert models[0].word == "1,5"  # a text stays as it is


def test_a_decimal_comma_between_commas_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'word,x\na,"3,5"\n')
    error = error_of(lambda: read_models(path, Measured), DataError)
    assert (error.line, error.field) == (2, "x")


# All that is wrong ----------------------------------------------------------------------------------------------------


@given(bad=st.sets(st.integers(0, 39)))
@settings(max_examples=40, deadline=None)
def test_every_bad_cell_is_listed_up_to_twenty(folder: Path, bad: set[int]) -> None:
    path = folder / "t.csv"
    path.write_text("word,x\n" + "".join(f"w,{f'many{i}' if i in bad else i}\n" for i in range(40)), "utf-8")
    if not bad:
        assert len(read_models(path, Measured)) == 40
        return
    with pytest.raises(DataError) as caught:
        read_models(path, Measured)
    told = [str(caught.value), *getattr(caught.value, "__notes__", ())]
    assert told[0].endswith(f" (… and {len(bad) - 1} more like it)") == (len(bad) > 1)
    assert told[0].startswith(caught.value.alone()) and "more like it" not in caught.value._render_traceback_()[0]
    lines = sorted(i + 2 for i in bad)
    for line, text in zip(lines[:20], told, strict=False):
        assert text.startswith(f"{path}, line {line}, field 'x': ") and "\n" not in text
    assert len(told) == min(len(bad), 20) + (len(bad) > 20)
    assert len(bad) <= 20 or told[-1] == f"… and {len(bad) - 20} more"
    assert pickle.loads(pickle.dumps(caught.value)).__notes__ == told[1:] if len(told) > 1 else True


@given(bad=st.sets(st.integers(0, 39), min_size=1), other=st.integers(0, 39))
@settings(max_examples=40, deadline=None)
def test_errors_that_are_alike_are_one_line_with_their_count(folder: Path, bad: set[int], other: int) -> None:
    path = folder / "t.csv"
    cells = ["few" if i == other else "many" if i in bad else str(i) for i in range(40)]
    path.write_text("word,x\n" + "".join(f"w,{cell}\n" for cell in cells), "utf-8")
    alike, every = cells.count("many"), sorted({*bad, other})
    with pytest.raises(DataError) as caught:
        read_models(path, Measured)
    assert (caught.value.line, caught.value.more) == (every[0] + 2, len(every) - 1)
    told = [caught.value.alone(), *getattr(caught.value, "__notes__", ())]
    if alike <= 5:
        assert len(told) == len(every)
        return
    assert sum("'many'" in text for text in told) == sum("'few'" in text for text in told) == 1
    rest = [i + 2 for i in sorted(bad - {other})[1:]]
    lines = ", ".join(map(str, rest[:20])) + (", …" if len(rest) > 20 else "")
    (counted,) = (text for text in told if "the same on" in text)
    assert f"the same on {alike - 1} more lines: {lines}" in counted


def test_a_column_that_is_missing_is_told_once_with_what_may_be_meant(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "Word;x\na;1\nb;2\n")
    error = error_of(lambda: read_models(path, Measured), DataError)
    assert str(error) == f"{path}, line 2, field 'word': is missing — did you mean Word? the columns are Word, x"
    assert not hasattr(error, "__notes__")


# Workbooks ------------------------------------------------------------------------------------------------------------


def test_a_sheet_is_the_first_or_the_one_that_is_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [("x", "y", 1)])
    workbook(path, [("1", "2", "3")], sheet="Second sheet")
    assert read_rows(path)[0].values == {"a": "x", "b": "y", "c d": 1}
    named = find_data("t.xlsx#Second sheet", base=[tmp_path])
    assert read_rows(named)[0].values == {"a": "1", "b": "2", "c d": "3"}
    with pytest.raises(DataError, match="there is no sheet 'second shet' — did you mean Second sheet"):
        read_rows(f"{path}#second shet")
    literal = write(tmp_path / "t.xlsx#Second sheet", "a,b\n5,6\n")
    assert read_rows(literal)[0].values == {"a": "5", "b": "6"}


def test_errors_name_the_cell(tmp_path: Path) -> None:
    cells = [("a", 1.0), (None, None), ("b", "many"), ("c", None)]
    path = workbook(tmp_path / "t.xlsx", cells, names=("word", "x"))
    error = error_of(lambda: read_models(path, Measured), DataError)
    assert str(error).startswith(f"{path}, cell B4, field 'x': ")
    assert error.line == 4
    again = pickle.loads(pickle.dumps(error))
    assert (again.line, str(again)) == (4, str(error))


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([("a", "=1+1")], "cell B2: contains a formula that was never calculated"),
        ([("a", "#N/A")], "cell B2: contains the error #N/A"),
        ([("a", 1, None, "x")], "cell D2: the column has no name"),
    ],
)
def test_cells_that_hold_no_value(tmp_path: Path, cells: list[tuple[object, ...]], told: str) -> None:
    book = openpyxl.Workbook()
    for row in [("word", "x"), *cells]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    error = error_of(lambda: read_rows(tmp_path / "t.xlsx"), DataError)
    assert str(error).startswith(f"{tmp_path / 't.xlsx'}, {told}")


def test_names_in_a_workbook_lose_the_blanks_around_them(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [("a", 1)], names=(" word", "x "))
    assert read_rows(path)[0].values == {"word": "a", "x": 1}
    with pytest.raises(DataError, match="two columns have the same name, 'x'"):
        read_rows(workbook(tmp_path / "u.xlsx", [("a", 1)], names=("x", "x ")))


def test_what_is_no_workbook(tmp_path: Path) -> None:
    for data, told in (
        (b"PK\x03\x04" + b"x" * 100, "cannot be read as an Excel workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a workbook in the old .xls format"),
        (b"$FL2(#) x", "cannot be read as SPSS data"),
        (b"<stata_dta>x", "cannot be read as Stata data"),
    ):
        path = write(tmp_path / "t.xlsx", data)
        assert told in str(error_of(lambda path=path: read_rows(path), DataError))  # type: ignore[misc]


@pytest.mark.parametrize(("package", "extra"), [("openpyxl", "tables"), ("pyreadstat", "survey")])
def test_a_missing_package_is_told_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, extra: str
) -> None:
    path = workbook(tmp_path / "t.xlsx", [("x", "y", "z")])
    if package == "pyreadstat":
        pyreadstat.write_sav(pandas.DataFrame({"q": [1]}), path)
    monkeypatch.setitem(sys.modules, package, None)
    assert error_of(lambda: read_rows(path), MethodError).hint == f"pip install 'penchant[{extra}]'"


def test_codes_and_labels_of_spss(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"q": [1.0, 9.0, None, 2.5], "s": ["x", "", "y", "z"]})
    labels = {"q": {1: "Agree", 9: "No answer"}}
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels=labels, missing_ranges={"q": [9]})
    rows, of_codes = read_labelled(tmp_path / "t.sav")
    assert [row.values for row in rows] == [
        {"q": 1, "s": "x"},
        {"q": "", "s": ""},
        {"q": "", "s": "y"},
        {"q": 2.5, "s": "z"},
    ]
    assert of_codes == {"q": {1: "Agree", 9: "No answer"}}


def test_a_title_above_the_header(tmp_path: Path) -> None:
    """The first row has one cell, those below more: it is the first that is wrong."""
    path = tmp_path / "t.xlsx"
    workbook(path, [("q", "group"), ("1", "old")], names=("For the article, version 3",))
    with pytest.raises(DataError, match=r"cell A1: looks like a title.*is there a title above the header\?"):
        read_rows(path)
    for text in ("For the article, version 3;;\nq;group;n\n1;old;2\n", "For the article\nq,group\n1,old\n"):
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(DataError, match=r"t.csv, line 1: looks like a title.*is there a title above the header\?"):
            read_rows(tmp_path / "t.csv")
    # A stray cell beside a table, or an unquoted comma in a table of one column, is no title.
    stray = workbook(tmp_path / "s.xlsx", [("1", "old", "note")], names=("q", "group"))
    with pytest.raises(DataError, match="cell C2: the column has no name"):
        read_rows(stray)
    (tmp_path / "t.csv").write_text("text\nWell, no\n")
    with pytest.raises(DataError, match="2 fields, but the header has 1"):
        read_rows(tmp_path / "t.csv")


class Grouped(BaseModel):
    q: str
    group: str


@pytest.mark.parametrize(
    ("groups", "asked"),
    [(["old", "", "", "new", "", ""], True), (["old", "", "new", ""], False), (["", "", "old"], False)],
)
def test_merged_cells(tmp_path: Path, groups: list[str], asked: bool) -> None:
    """They leave their value in the first row alone; a cell missing here and there is none."""
    path = workbook(tmp_path / "t.xlsx", [(f"q{i}", group) for i, group in enumerate(groups)], names=("q", "group"))
    told = str(error_of(lambda: read_models(path, Grouped), DataError))
    assert f"cell B{groups.index('') + 2}, field 'group': is missing" in told
    assert ("are cells merged?" in told) is asked


# Numbers ----------------------------------------------------------------------------------------------------------

NO_NUMBERS = ["0_5", "1_0", "١٢", "１２", "inf", "-Infinity", "nan", "NaN", "1e400", "9" * 5_000]
NO_NUMBERS += ["0x1f", "1 000", "--1", "1e13"]


def table(tmp_path: Path, cell: object, kind: str) -> Path:
    path = tmp_path / f"t.{kind}"
    if kind == "xlsx":
        path.unlink(missing_ok=True)
        workbook(path, [("a", cell)], names=("word", "x"))
    elif kind == "parquet":
        pl.DataFrame({"word": ["a"], "x": [cell]}).write_parquet(path)
    elif kind == "jsonl":
        path.write_text(json.dumps({"word": "a", "x": cell}), "utf-8")
    else:
        separator = {"csv": ",", "tsv": "\t", "ssv": ";"}[kind]
        path.write_text(f"word{separator}x\na{separator}{cell}\n", "utf-8")
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "ssv", "jsonl", "xlsx", "parquet"])
def test_what_is_no_number_in_any_table(tmp_path: Path, kind: str) -> None:
    typed = {"jsonl": [True, float("inf"), float("nan"), 10**300], "parquet": [float("inf"), float("nan"), True]}
    for cell in [*NO_NUMBERS, *typed.get(kind, [])]:
        path = table(tmp_path, cell, kind)
        error = error_of(lambda path=path: read_models(path, Measured), DataError)  # type: ignore[misc]
        assert error.field == "x" and error.line in (1, 2) and not error.more, cell
    for good, value in (("-0", 0.0), ("+.5", 0.5), ("2.", 2.0), ("1e3", 1000.0), (" 7 ", 7.0)):
        ((_, read),) = read_models(table(tmp_path, good, kind), Measured)
        assert repr(read.x) == repr(value)


@pytest.mark.parametrize(
    ("separator", "cells", "read"),
    [
        ("\t", ["1,000"], None),
        (";", ["1,000"], None),
        ("\t", ["1,000,000"], None),
        ("\t", ["-12,345", "7"], None),
        ("\t", ["1,125", "0,875"], [1.125, 0.875]),  # nobody writes thousands that begin with 0
        (";", ["2,375", "1,5"], [2.375, 1.5]),
        (";", ["1.000", "1,5"], None),
        ("\t", ["1.000", "1.5"], [1.0, 1.5]),
        (",", ["1.000", "2.345"], [1.0, 2.345]),
    ],
)
def test_a_number_with_two_readings(tmp_path: Path, separator: str, cells: list[str], read: list[float] | None) -> None:
    rows = [("word", "x"), *(("w", cell) for cell in cells)]
    path = write(tmp_path / "t.csv", "".join(f"{a}{separator}{b}\n" for a, b in rows))
    if read is None:
        error = error_of(lambda: read_models(path, Measured), DataError)
        assert (error.file, error.line, error.field) == (path, 2, "x")
    else:
        assert [model.x for _, model in read_models(path, Measured)] == read


# Places in a workbook ---------------------------------------------------------------------------------------------

CELL_XML = '<c r="{0}{1}" t="inlineStr"><is><t>{2}</t></is></c>'


def sheet_of(tmp_path: Path, body: str) -> Path:
    """A workbook whose sheet has these rows below a header."""
    made = workbook(tmp_path / "made.xlsx", [], names=("word", "x"))
    header = "".join(CELL_XML.format(column, 1, name) for column, name in (("A", "word"), ("B", "x")))
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(made) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for part in source.namelist():
            text = source.read(part)
            if part == "xl/worksheets/sheet1.xml":
                name = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
                data = f'<row r="1">{header}</row>{body}'
                text = f'<worksheet xmlns="{name}"><sheetData>{data}</sheetData></worksheet>'.encode()
            target.writestr(part, text)
    return path


def row_xml(number: object, word: str = "a", cell: object = None) -> str:
    number_of_cell = number if cell is None else cell
    return f'<row r="{number}">{CELL_XML.format("A", number_of_cell, word)}</row>'


@pytest.mark.parametrize(
    ("body", "row"),
    [
        (row_xml(2) + row_xml(2, "b"), 2),
        (row_xml(3) + row_xml(2, "b"), 2),
        (row_xml(-1), 1),
        (row_xml(0), 1),
        (row_xml("x"), 1),
        (row_xml("٢"), 1),
        (row_xml(2_000_000_000), 1),
        (row_xml(1_048_577), 1),
        (row_xml(2, cell=5), 2),
        (f'<row r="2">{CELL_XML.format("A", 2, "a")}{CELL_XML.format("A", 2, "b")}</row>', 2),
        (f'<row r="2">{CELL_XML.format("B", 2, "1")}{CELL_XML.format("A", 2, "b")}</row>', 2),
        (f'<row r="2">{CELL_XML.format("XFE", 2, "a")}</row>', 2),
        ("".join(f'<row r="{n}"><c r="XFD{n}"/></row>' for n in range(2, 5_000)), 4_097),
    ],
)
def test_rows_that_openpyxl_loses_or_makes_up(tmp_path: Path, body: str, row: int) -> None:
    path = sheet_of(tmp_path, body)
    assert error_of(lambda: read_rows(path), DataError).where == f"{path}, sheet 'Table', row {row}"


def test_a_sheet_without_end_is_refused_at_its_last_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "_ROWS", 1_000)
    path = sheet_of(tmp_path, row_xml(2) + "<row/>" * 1_100)
    assert error_of(lambda: read_rows(path), DataError).where == f"{path}, sheet 'Table', row 1000"


def test_rows_that_are_left_out_of_a_sheet_are_empty(tmp_path: Path) -> None:
    path = sheet_of(tmp_path, row_xml(4) + "<row/>" * 3 + row_xml(10, "b"))
    assert [(int(row.line), row.values["word"]) for row in read_rows(path)] == [(4, "a"), (10, "b")]
