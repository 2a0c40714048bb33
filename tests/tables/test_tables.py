"""Tables come back as they were written, and whatever is wrong with one is told with its place."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import builders
from penchant.errors import DataError
from penchant.tables.rows import FileRow, columns, read_rows
from penchant.text_io import saved_as_utf8

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
ROWS = st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def write(folder: Path, content: str | bytes, name: str = "table") -> Path:
    return builders.write(folder / name, content if isinstance(content, bytes) else content.encode("utf-8"))


def delimited(rows: list[tuple[str, ...]], delimiter: str, end: str) -> str:
    buffer = io.StringIO(newline="")
    # Ending lines in "\n", Python's writer leaves a bare "\r" unquoted, and what it writes cannot be read back.
    if end == "\n":
        csv.writer(buffer, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    else:
        csv.writer(buffer, delimiter=delimiter, lineterminator=end).writerows(rows)
    return buffer.getvalue()


def refused(path: Path) -> DataError:
    error = builders.error_of(lambda: read_rows(path), DataError)
    assert str(path) in str(error)
    return error


# --- what is written comes back -----------------------------------------------------------------------------------


@given(rows=ROWS, delimiter=st.sampled_from(",\t"), end=st.sampled_from(["\n", "\r\n"]), bom=st.booleans())
def test_csv_round_trip(folder: Path, rows: list[tuple[str, ...]], delimiter: str, end: str, bom: bool) -> None:
    content = delimited([("a", "b", "c"), *rows], delimiter, end)
    path = write(folder, "\ufeff" * bom + content)
    assume(not any([cell.strip() for cell in row] == ["a", "b", "c"] for row in rows))  # a header that is repeated
    held = [row for row in rows if any(cell.strip() for cell in row)]  # spreadsheets leave blank rows below a table
    if held:
        assert [tuple(row.values.values()) for row in read_rows(path)] == held


@given(rows=ROWS, ascii_only=st.booleans(), bom=st.booleans(), end=st.sampled_from(["\n", "\r\n"]))
def test_json_lines_round_trip(
    folder: Path, rows: list[tuple[str, ...]], ascii_only: bool, bom: bool, end: str
) -> None:
    objects: list[dict[str, object]] = [dict(zip("abc", row, strict=True)) for row in rows]
    content = end.join(json.dumps(value, ensure_ascii=ascii_only) for value in objects)
    path = write(folder, "\ufeff" * bom + content)
    assert read_rows(path) == [FileRow(line, value) for line, value in enumerate(objects, 1)]


@given(rows=ROWS, indent=st.sampled_from([None, 0, 2]))
def test_json_array_round_trip(folder: Path, rows: list[tuple[str, ...]], indent: int | None) -> None:
    objects: list[dict[str, object]] = [dict(zip("abc", row, strict=True)) for row in rows]
    path = write(folder, json.dumps(objects, ensure_ascii=False, indent=indent))
    # Indented, an element is a line for each of its three values and one for each brace; else all are on line 1.
    lines = [2 + 5 * i if indent is not None else 1 for i in range(len(rows))]
    assert read_rows(path) == [FileRow(line, value) for line, value in zip(lines, objects, strict=True)]


@given(rows=ROWS)
def test_parquet_round_trip(folder: Path, rows: list[tuple[str, ...]]) -> None:
    path = folder / "table"
    pl.DataFrame(rows, schema=["a", "b", "c"], orient="row").write_parquet(path)
    assert read_rows(path) == [FileRow(i, dict(zip("abc", row, strict=True))) for i, row in enumerate(rows, 1)]


def test_values_keep_their_types(folder: Path) -> None:
    value = {"id": 3, "x": 0.5, "flag": True, "none": None, "list": [1, 2], "deep": {"k": "v"}}
    assert read_rows(write(folder, json.dumps(value)))[0].values == value
    path = folder / "typed"
    pl.DataFrame([value]).write_parquet(path)
    assert read_rows(path)[0].values == value
    assert read_rows(write(folder, "id,x\n3,\n"))[0].values == {"id": "3", "x": ""}


def test_whole_numbers_are_whole(folder: Path) -> None:
    """pandas writes 1.0 where a cell of the column is empty; as an id it is 1."""
    frame = pd.DataFrame({"id": [1, 2, None], "x": [0.5, 3.0, 1e300]})
    frame.to_json(folder / "a.jsonl", orient="records", lines=True)
    frame.to_parquet(folder / "a.parquet")
    for file in ("a.jsonl", "a.parquet"):
        values = [row.values for row in read_rows(folder / file)]
        assert [repr(row["id"]) for row in values] == ["1", "2", "None"]
        assert [row["x"] for row in values] == [0.5, 3, 1e300]


def test_items_and_answers_may_both_be_numbers(folder: Path) -> None:
    """The columns of a survey are its items 1 to 3, and so are its answers: no header that is repeated."""
    assert [row.values["2"] for row in read_rows(write(folder, "1,2,3\n1,2,3\n3,1,2\n"))] == ["2", "1"]
    assert refused(write(folder, "1,2,sex\n1,2,f\n1,2,SEX\n")).line == 3


# --- the format is found by content -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.json", "x.parquet", "x.txt", "x"])
def test_the_suffix_does_not_matter(folder: Path, name: str) -> None:
    for content in ("a,b\n1,2\n", "a\tb\n1\t2\n", '{"a":"1","b":"2"}\n', '\n [ {"a":"1","b":"2"} ]\n'):
        assert [row.values for row in read_rows(write(folder, content, name))] == [{"a": "1", "b": "2"}]
    pl.DataFrame({"a": ["1"], "b": ["2"]}).write_parquet(folder / name)
    assert [row.values for row in read_rows(folder / name)] == [{"a": "1", "b": "2"}]


def test_tab_or_comma_is_decided_by_the_header(folder: Path) -> None:
    assert read_rows(write(folder, "a\tb, c\nx,y\tz\n"))[0].values == {"a": "x,y", "b, c": "z"}
    assert read_rows(write(folder, "a,b\nx\ty,z\n"))[0].values == {"a": "x\ty", "b": "z"}
    assert read_rows(write(folder, '"a\tb",c\nx,y\n'))[0].values == {"a\tb": "x", "c": "y"}
    assert read_rows(write(folder, '"a,b"\t"c"\nx\ty\n'))[0].values == {"a,b": "x", "c": "y"}


def test_separators_of_unicode_end_no_line(folder: Path) -> None:
    text = "a\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029b"
    assert read_rows(write(folder, f"x,y\n{text},1\n{text},2\n")) == [
        FileRow(2, {"x": text, "y": "1"}),
        FileRow(3, {"x": text, "y": "2"}),
    ]
    raw = json.dumps({"x": "\x85\u2028\u2029"}, ensure_ascii=False)
    assert read_rows(write(folder, f"{raw}\n{raw}\n"))[1] == FileRow(2, {"x": "\x85\u2028\u2029"})


def test_white_space_and_control_characters_are_kept_but_for_nul(folder: Path) -> None:
    assert read_rows(write(folder, "a,b\n x\u00a0, \x01\n"))[0].values == {"a": " x\u00a0", "b": " \x01"}
    for content, line in (("a,b\n\n1, \x00\n", 3), ('{"a": "x"}\n{"a": "\\u0000"}\n', 2)):
        error = refused(write(folder, content))
        assert (error.message, error.line) == ("contains the character NUL", line)


# --- line numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_where_records_begin(folder: Path, end: str) -> None:
    lines = ["a,b", '"1', "still 1", 'and 1",x', "", "5,y", '"6', '",z', "8,w"]
    assert [row.line for row in read_rows(write(folder, end.join(lines) + end))] == [2, 6, 7, 9]


def test_lines_of_json_with_blank_lines(folder: Path) -> None:
    assert [row.line for row in read_rows(write(folder, '\n{"a":1}\n\n  \n{"a":2}\n\n'))] == [2, 5]
    assert [row.line for row in read_rows(write(folder, '\n[{"a":\n1},{"a":2},\n\n{"a":3}\n]\n'))] == [2, 3, 5]


# --- bad input ----------------------------------------------------------------------------------------------------


def test_missing_directory_unreadable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(folder / "none.csv").message == "no such file"
    assert refused(folder).message == "is a directory"
    with pytest.raises(DataError, match="cannot be read"):
        read_rows("a\0b")
    path = write(folder, "a\n1\n")

    def denied(self: Path, mode: str) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert refused(path).message == "cannot be read: Permission denied"


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-be"])
def test_utf16(folder: Path, codec: str) -> None:
    mark = b"" if codec == "utf-16" else b"\xfe\xff"
    error = refused(write(folder, mark + "a,b\né,y\n".encode(codec)))
    assert error.message.startswith("is not UTF-8") and error.message.endswith("it looks like UTF-16")
    assert (error.line, error.hint) == (1, saved_as_utf8("UTF-16"))


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", None, "the file is empty"),
        (b"\xef\xbb\xbf", None, "the file is empty"),
        (b" \r\n\t\n", None, "the file is empty"),
        (b"a,b\n", None, "contains no rows"),
        (b"a,b\n\n\n", None, "contains no rows"),
        (b" [ ] ", None, "contains no rows"),
        (b"a,b\nx,caf\xe9\n", 2, "is not UTF-8 (byte 0x"),
        (b"\xef\xbb\xbfa,b\nx,y\nx,\xff\n", 3, "is not UTF-8 (byte 0x"),
        (b'{"a": "\xe9"}', 1, "is not UTF-8 (byte 0x"),
        (b'{"a": 1}\n{"a": "\xed\xa0\x80"}', 2, "is not UTF-8 (byte 0x"),  # half of a surrogate pair
        (b"a,b\nx,\xe2\x82", 2, "is not UTF-8 (byte 0x"),  # cut short inside a character
        ("<!DOCTYPE html>\n<html><body>Not found</body></html>\n", None, "is a web page, not a table"),
        ("\n <HTML lang='en'><body>Not found</body></html>\n", None, "is a web page, not a table"),
        ("<html>,b\n1,2<body>Not found</body></html>\n", None, "is a web page, not a table"),
        ('{"a": 1}\n{"a": }\n', 2, "invalid JSON: Expecting value"),
        ('{"a": 1}\n\n{"a": 1\n', 3, "invalid JSON: Expecting ',' delimiter"),
        ('{\n  "a": 1\n}\n', 1, "invalid JSON: Expecting property name enclosed in double quotes"),
        ('{"a": 1} {"a": 2}\n', 1, "unexpected text after the object, at character 9"),
        ('{"a": 1},\n{"a": 2}\n', 1, "unexpected text after the object, at character 9"),
        ('{"a": "x\ty"}', 1, "invalid JSON: Invalid control character at"),
        ('{"a": 1}\n[1, 2]\n', 2, "expected an object, found an array"),
        ('{"a": 1}\n"text"\n', 2, "expected an object, found a string"),
        ('{"a": 1}\n3.5\n', 2, "expected an object, found a number"),
        ('{"a": 1}\nnull\n', 2, "expected an object, found null"),
        ('{"a": 1}\ntrue\n', 2, "expected an object, found true or false"),
        ('[{"a": 1},\n{"a" 2}]', 2, "invalid JSON: Expecting ':' delimiter"),
        ('[{"a": 1},\n{"a":\n2 3}]', 3, "invalid JSON: Expecting ',' delimiter"),
        ('[{"a": 1}\n\n{"a": 2}]', 3, "invalid JSON: ',' or ']' is missing here"),
        ('[{"a": 1},\n', 2, "invalid JSON: Expecting value"),
        ('[{"a": 1}', 1, "invalid JSON: ',' or ']' is missing here"),
        ('[{"a": 1},\n]', 2, "invalid JSON: Expecting value"),
        ("[", 1, "invalid JSON: Expecting value"),
        ('[{"a": 1},\n[2]]', 2, "expected an object, found an array"),
        ('[1]\n[{"a": 2}]', 1, "expected an object, found a number"),
        ('[{"a": 1}]\n[{"a": 2}]', 2, "unexpected text after the array"),
        ('[{"a": 1}]\nx', 2, "unexpected text after the array"),
        ('{"a": ' + "[" * 100_000, 1, "invalid JSON: maximum recursion depth exceeded"),
        ('{"a": 1}\n{"a": ' + "9" * 5_000 + "}", 2, "invalid JSON: Exceeds the limit"),
        ("a,b\n1,2\n1,2,3\n", 3, "3 fields, but the header has 2"),
        ("a,b\n1,2\n1\n", 3, "1 field, but the header has 2"),
        ("a\tb\n1\t2\t\n", 2, "3 fields, but the header has 2"),
        ('a,b\n"x\ny",2\n\n"x\n\ny"\n1,2\n', 5, "1 field, but the header has 2"),
        ("a,b\r\n1,2\r\n1\r\n", 3, "1 field, but the header has 2"),
        ('a,b\n1,2\n"open,2\n1,2\n', 3, "broken quoting"),
        ('a\tb\nx\ty\n"Go away," he said.\tz\n', 3, "broken quoting"),
        ("a;b\n1;2;3\n", 2, "3 fields, but the header has 2"),
        (",\n1,2\n", 1, "column 2 has no name"),
        ("a, ,c\n1,2,3\n", 1, "column 2 has no name"),
        ("a,b,\n1,2,3\n", 1, "column 3 has no name"),
        (" \n1\n", 1, "column 1 has no name"),
        ("a;b;;\n1;2;;\n3;4;;5\n", 1, "column 3 has no name"),
        ("a,b\n1,2\na,b\n3,4\n", 3, "repeats the header: were two tables concatenated?"),
        ("a;b;;\n1;2;;\n a;b;;\n", 3, "repeats the header"),
    ],
)
def test_what_is_no_table_has_its_line(folder: Path, content: str | bytes, line: int | None, message: str) -> None:
    error = refused(write(folder, content))
    assert error.message.startswith(message)
    assert error.line == line
    assert ("Raw" in error.hint) == ("web page" in message)


def test_a_name_that_occurs_twice(folder: Path) -> None:
    for content, line, field in (
        ('{"a": 1}\n{"a": 1, "b": 2, "a": 3}', 2, "a"),
        ('[{"a": 1},\n{"b": 1, "b": 1}]', 2, "b"),
        ("a,b,a\n1,2,3\n", 1, "a"),
        ("\ufeffb\tb\n1\t2\n", 1, "b"),
        ("\n\nb,b\n1,2\n", 3, "b"),
        ("a,b, a\n1,2,3\n", 1, "a"),
        ("a;a ;b;;\n1;2;3;;\n", 1, "a"),
    ):
        error = refused(write(folder, content))
        assert (error.line, error.field) == (line, field)
        assert "twice" in error.message or "same name" in error.message


def test_half_of_a_surrogate_pair(folder: Path) -> None:
    error = refused(write(folder, '{"a": "x"}\n{"a": "x", "b": ["\\uD83D"]}'))
    assert (error.message, error.line, error.field) == ("contains half of a surrogate pair", 2, "b")
    assert refused(write(folder, '[{"\\udc00": 1}]')).field == "\\udc00"
    assert read_rows(write(folder, '{"a": "\\ud83d\\ude00"}'))[0].values == {"a": "😀"}
    assert read_rows(write(folder, '{"a": "\\\\ud83d"}'))[0].values == {"a": "\\ud83d"}


@pytest.mark.parametrize(("separator", "blank"), [(";", ""), (",", " "), ("\t", "  ")])
def test_empty_columns_at_the_end_are_none(folder: Path, separator: str, blank: str) -> None:
    """As Excel leaves them; names lose the blanks around them, cells keep theirs."""
    lines = [("", " a", "b ", blank, blank), ("1", "x ", "y", "", " "), ("2", "", "z", "", "")]
    file = write(folder, "\n".join(separator.join(cells) for cells in lines) + "\n")
    assert [row.values for row in read_rows(file)] == [{"": "1", "a": "x ", "b": "y"}, {"": "2", "a": "", "b": "z"}]
    assert columns(file) == ["", "a", "b"]


def test_a_field_beyond_all_measure(folder: Path) -> None:
    error = refused(write(folder, 'a,b\n1,"' + "x" * 200_000 + '"\n'))
    assert error.line == 2 and "field larger than field limit" in error.message


def test_an_unnamed_first_column_is_a_row_index(folder: Path) -> None:
    assert read_rows(write(folder, ",a\n0,x\n1,y\n"))[1] == FileRow(3, {"": "1", "a": "y"})


def test_broken_parquet(folder: Path) -> None:
    path = folder / "whole"
    pl.DataFrame({"a": ["x"] * 100}).write_parquet(path)
    data = path.read_bytes()
    assert refused(write(folder, data[:-10])).message == "the Parquet file is truncated"
    assert refused(write(folder, b"PAR1")).message == "the Parquet file is truncated"
    spoiled = data[: len(data) // 2] + b"\xff" * (len(data) - len(data) // 2 - 8) + data[-8:]
    assert refused(write(folder, spoiled)).message.startswith("cannot be read as Parquet")
    pl.DataFrame({"a": []}, schema={"a": pl.String}).write_parquet(path)
    assert refused(path).message == "contains no rows"


# A quotation mark left open ---------------------------------------------------------------------------------------

RECORDS = [
    ["She sings, and he hums.", "She sing, and he hums.", "agreement", "1"],
    ["No dog ever barked.", "Some dog ever barked.", "polarity", "2"],
    ["He saw himself.", "He saw herself.", "reflexives", "3"],
    ["They left.", "They leaves.", "agreement", "4"],
]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(("opens", "closes"), [(0, 2), (0, 3), (1, 3), (1, 2)])
@pytest.mark.parametrize("column", range(4))
def test_a_quote_that_swallows_rows_is_refused(
    delimiter: str, opens: int, closes: int, column: int, folder: Path
) -> None:
    """A mark that stands before a cell, and another behind the cell of a later row in the same column, make one of all
    between them, and the table still has as many columns as its header names."""
    rows = [[cell.replace(",", "") if delimiter == "," else cell for cell in row] for row in RECORDS]
    rows[opens][column] = '"' + rows[opens][column]
    rows[closes][column] += '"'
    text = "\n".join(delimiter.join(row) for row in [["good", "bad", "group", "nr"], *rows])
    error = refused(write(folder, text + "\n"))
    assert error.message == f"a cell contains entire rows: the row continues to line {closes + 2}"
    assert (error.line, error.hint) == (opens + 2, "was a quotation mark left open? Close it, or remove it")


def test_a_quote_that_ends_elsewhere_says_how_far_it_goes(folder: Path) -> None:
    error = refused(write(folder, 'a;b;c\n"x;y;1\nx;y;2\nx;y";3\n'))
    assert error.message == "2 fields, but the header has 3: the row continues to line 4"
    assert "quotation mark left open" in error.hint


@pytest.mark.parametrize(
    "text",
    [
        'text,id\n"Go, and catch\na falling star",1\n',
        'id,text\n1,"Get with child\na mandrake root, and go"\n',
        'text;id\n"Tell me where\nall past years are";1\n',
        'id,text,by\n1,"one, two\nthree, four\nfive",Donne\n',
    ],
)
def test_a_text_of_several_lines_is_a_text(text: str, folder: Path) -> None:
    (row,) = read_rows(write(folder, text))
    assert any("\n" in str(cell) for cell in row.values.values())
