"""Occurrences come from tables and from plain text with their places intact, and segments have the words they say."""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penchant.corpus.occurrence_columns import SCHEMA, Segment, cut, segments
from penchant.corpus.occurrences import OccurrenceRow, read_occurrences
from penchant.corpus.word_matching import count_words
from penchant.errors import DataError, MethodError

FORMS = {"নদী": ["নদী", "নদীর"], "rose": ["rose", "roses"], "New York": ["New York"]}
ROW = {"id": "s1", "word": "rose", "text": "a rose is a rose", "start": 2, "end": 6}

Write = Callable[[str, object], Path]


def jsonl(*rows: dict[str, object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def refused(path: Path | list[Path], message: str, file: Path, line: int | None = None) -> None:
    """One line with the place and a message that holds this."""
    with pytest.raises(DataError) as caught:
        read_occurrences(path, FORMS)
    assert message in caught.value.message and "\n" not in str(caught.value)
    assert (caught.value.file, caught.value.line) == (file, line)


# --- plain text ---------------------------------------------------------------------------------------------------


def test_plain_text(write: Write) -> None:
    text = "\ufeffRoses in New York, a rose.\r\n\n  \n\tযমুনা নদীর তীরে ।\nnothing here\n নদী"
    table = read_occurrences(write("corpus/a.txt", text), FORMS)
    assert dict(table.schema) == dict(SCHEMA)
    sentence = "Roses in New York, a rose."
    assert table.rows() == [
        ("a:1", "rose", sentence, 0, 5, "Roses", 6, "a.txt"),
        ("a:1", "New York", sentence, 9, 17, "New York", 6, "a.txt"),
        ("a:1", "rose", sentence, 21, 25, "rose", 6, "a.txt"),
        ("a:4", "নদী", "যমুনা নদীর তীরে ।", 6, 10, "নদীর", 3, "a.txt"),
        ("a:6", "নদী", "নদী", 0, 3, "নদী", 1, "a.txt"),
    ]


def test_a_sentence_is_used_once(write: Write) -> None:
    one = write("one.txt", "a rose\nno\nA rose\n a \u00a0 rose \nno\na rose\n")
    assert read_occurrences(one, FORMS)["id"].to_list() == ["one:1", "one:3"]
    two = write("two", "a rose\n")
    assert read_occurrences([one, two], FORMS)["id"].to_list() == ["one:1", "one:3", "two:1"]


def test_plain_text_is_searched_in_nfc_and_kept_as_it_is(write: Write) -> None:
    path = write("a.bn", "cafe\u0301 ব\u09df\u09c7\u09be রোজ\n")
    table = read_occurrences(path, {"রোজ": ["রোজ"], "বয়ো": ["ব\u09df\u09cb"]})
    assert table["text"].to_list() == ["cafe\u0301 ব\u09df\u09c7\u09be রোজ"] * 2
    assert table.select("start", "end", "matched").rows() == [(6, 10, "ব\u09df\u09c7\u09be"), (11, 14, "রোজ")]


@pytest.mark.parametrize(
    ("language", "form", "line", "matched"),
    [
        ("tr", "ilk", "İlk gün", "İlk"),
        ("tr", "ilk", "I\u0307lk gün", "I\u0307lk"),
        ("az-Latn", "ılıq", "Ilıq su", "Ilıq"),
        ("nl", "ijs", "IJs is koud", "IJs"),
        ("en", "ijs", "Ijs is koud", "Ijs"),
        ("und", "ilk", "Ilk", "Ilk"),
        ("tr", "ilk", "Ilk", None),
        ("nl", "ijs", "Ijs", None),
        ("ka", "ქართული", "ქართული ენა", "ქართული"),
        ("vi", "tiê\u0301ng", "tiếng nói", "tiếng"),
        ("ko", "한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8 말", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("he", "שלום", "\ufb2aלום", None),
        ("he", "ש\u05c1לום", "\ufb2aלום", "\ufb2aלום"),
    ],
)
def test_capitals_and_spellings_of_a_language(
    write: Write, language: str, form: str, line: str, matched: str | None
) -> None:
    table = read_occurrences(write("a.txt", f"{line}\n"), {form: [form]}, language)
    assert table["matched"].to_list() == ([] if matched is None else [matched])


def test_compressed_text(write: Write) -> None:
    path = write("a.txt.gz", gzip.compress("\ufeffa rose\n".encode()))
    assert read_occurrences(path, FORMS).rows() == [("a:1", "rose", "a rose", 2, 6, "rose", 2, "a.txt.gz")]
    refused(write("b.gz", b"no gzip"), "cannot be read", path.with_name("b.gz"))
    refused(write("c.gz", gzip.compress(b"a rose " * 100)[:-9]), "cannot be read", path.with_name("c.gz"))
    refused(write("t.csv.gz", b""), "is a compressed table", path.with_name("t.csv.gz"))


def test_bad_text(write: Write, tmp_path: Path) -> None:
    refused(write("a.txt", b"a rose\n\nb\xff\n"), "is not UTF-8", tmp_path / "a.txt", 3)
    refused(write("empty.txt", "\ufeff\n \n"), "contains no sentences", tmp_path / "empty.txt")
    refused(tmp_path / "none.txt", "no such file", tmp_path / "none.txt")
    refused(tmp_path, "is a directory", tmp_path)
    other = write("other/b.txt", "a rose\n")
    refused([write("b.txt.gz", gzip.compress(b"a rose")), other], "has the same name as", other)


def test_no_word_is_found(write: Write) -> None:
    table = read_occurrences(write("a.txt", "nothing\n"), FORMS)
    assert table.height == 0 and dict(table.schema) == dict(SCHEMA)
    assert cut(table, segments([3], "window")[0]).height == 0


# --- tables -------------------------------------------------------------------------------------------------------

WHOLE = ("s1", "rose", "a rose is a rose", 2, 6, "rose", 5)


@pytest.mark.parametrize("source", [None, "book"])
@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl", "t.json", "t.csv", "t.tsv", "t.CSV"])
def test_tables(tmp_path: Path, name: str, source: str | None) -> None:
    rows = [ROW, ROW | {"word": "lily"}, ROW | {"start": 12, "end": 16}]
    table = pl.DataFrame(rows if source is None else [row | {"source": source} for row in rows])
    path = tmp_path / name
    writers: dict[str, Callable[[], object]] = {
        ".parquet": lambda: table.write_parquet(path),
        ".jsonl": lambda: table.write_ndjson(path),
        ".json": lambda: table.write_json(path),
        ".csv": lambda: table.write_csv(path),
        ".tsv": lambda: table.write_csv(path, separator="\t"),
    }
    writers[path.suffix.lower()]()
    found = read_occurrences(path, FORMS)
    assert dict(found.schema) == dict(SCHEMA)
    assert found.rows() == [(*WHOLE, source or name), (*WHOLE[:3], 12, 16, "rose", 5, source or name)]


def test_what_was_read_is_read_again(write: Write, tmp_path: Path) -> None:
    table = read_occurrences(write("a.txt", "“Roses” in New York — a rose, নদীর\nনদী।\n"), FORMS)
    table.write_parquet(tmp_path / "table.parquet")
    table.write_ndjson(tmp_path / "table.jsonl")
    for name in ("table.parquet", "table.jsonl"):
        assert read_occurrences(str(tmp_path / name), FORMS).equals(table)


def test_files_in_their_order(write: Write) -> None:
    rows = [
        write("b.jsonl", jsonl(ROW)),
        write("a.txt", "a rose"),
        write("c.csv", "id,word,text,start,end\n7,নদী,নদী,0,3\n"),
    ]
    assert read_occurrences(rows, FORMS)["id"].to_list() == ["s1", "a:1", "7"]


def test_text_of_tables_is_kept(write: Write) -> None:
    text = "  a  rose "
    table = read_occurrences(write("a.jsonl", jsonl(ROW | {"text": text, "start": 5, "end": 9})), FORMS)
    assert table.row(0)[2:6] == (text, 5, 9, "rose")


def test_places_in_tables_are_those_of_the_text_as_it_is(write: Write) -> None:
    text = "cafe\u0301 ব\u09df এ\u0301 e\u0301te\u0301s rose\u0301"
    for word, start, end in (("ব\u09df", 6, 8), ("e\u0301te\u0301", 12, 18), ("rose", 19, 24)):
        row = ROW | {"word": word, "text": text, "start": start, "end": end}
        path = write("a.jsonl", jsonl(row))
        found = read_occurrences(path, {word: [word]}).row(0, named=True)
        assert (found["text"], found["word"], found["start"], found["end"]) == (text, word, start, end)
        assert found["matched"] == text[start:end]
    # Without its accent, the e would be another letter.
    refused(write("a.jsonl", jsonl(ROW | {"text": text, "start": 19, "end": 23})), "cut a letter off from", path, 1)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["e\u0301", "é", "e", "ড\u09bc", "\u09df", "ে\u09be", "া", " ", "\u0301"])), st.data())
def test_places_in_any_text(tmp_path_factory: pytest.TempPathFactory, parts: list[str], data: st.DataObject) -> None:
    text = "".join([*parts, "x"])
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    path = tmp_path_factory.getbasetemp() / "places.jsonl"
    path.write_text(jsonl(ROW | {"text": text, "start": start, "end": end}), "utf-8")
    parts = [unicodedata.normalize("NFC", part) for part in (text[:start], text[start:end], text[end:])]
    whole = unicodedata.normalize("NFC", text)
    if not text[start:end].strip() or "".join(parts) != whole:
        with pytest.raises(DataError, match=r"is not a word|cut a letter off from"):
            read_occurrences(path, FORMS)
        return
    row = read_occurrences(path, FORMS).row(0, named=True)
    assert (row["text"], row["matched"], row["start"], row["end"]) == (text, text[start:end], start, end)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": -1}, "start -1 and end 6 are not a span of the text, which has 16 characters"),
        ({"start": 6}, "start 6 and end 6 are not a span of the text"),
        ({"start": 12, "end": 17}, "start 12 and end 17 are not a span of the text"),
        ({"text": "a — b", "start": 1, "end": 4}, "the text from start 1 to end 4 is not a word"),
        ({"start": 2.5}, "valid integer"),
        ({"text": 3}, "valid string"),
        ({"text": None}, "is missing"),
        ({"id": " "}, "the field is blank"),
    ],
)
def test_bad_rows(write: Write, change: dict[str, object], message: str) -> None:
    path = write("t.jsonl", jsonl(ROW, ROW | {"id": "s2"} | change))
    refused(path, message, path, 2)


def test_rows_that_do_not_go_together(write: Write, tmp_path: Path) -> None:
    path = write("t.jsonl", jsonl(ROW, ROW | {"start": 12, "end": 16}, ROW | {"end": 5}))
    refused(path, "the occurrence of 'rose' at character 2 of sentence 's1' appears twice", path, 3)
    path = write("t.jsonl", jsonl(ROW, ROW | {"text": "a rose", "word": "New York"}))
    refused(path, "the id 's1' already belongs to another sentence", path, 2)
    other = write("u.jsonl", jsonl(ROW))
    refused([write("t.jsonl", jsonl(ROW)), other], "twice", other, 1)


def test_words_are_compared_in_nfc(write: Write) -> None:
    path = write("t.jsonl", jsonl(ROW | {"word": "ro\u0301se"}))
    assert read_occurrences(path, {"r\u00f3se": []})["word"].to_list() == ["r\u00f3se"]


def test_the_schema_tells_the_columns() -> None:
    schema = OccurrenceRow.model_json_schema()
    assert list(schema["properties"]) == ["id", "word", "text", "start", "end", "source"]
    assert schema["required"] == ["id", "word", "text", "start", "end"]


# --- segments -----------------------------------------------------------------------------------------------------


def test_segments() -> None:
    assert segments([9, 25, ">75", "all"], "window") == (
        Segment("9", 9, 9, None),
        Segment("25", 25, 25, None),
        Segment(">75", None, 76, None),
        Segment("all", None, 1, None),
    )
    assert [segment.name for segment in segments([75, 9, "> 9"], "window")] == ["75", "9", ">9"]
    assert segments([1, 9, 25, ">25"], "bin") == (
        Segment("1", None, 1, 1),
        Segment("2–9", None, 2, 9),
        Segment("10–25", None, 10, 25),
        Segment(">25", None, 26, None),
    )
    assert segments([25, ">75"], "bin")[1] == Segment(">75", None, 76, None)
    assert segments([">75"], "bin") == (Segment(">75", None, 76, None),)


@pytest.mark.parametrize(
    ("spec", "mode", "message"),
    [
        ([], "window", "no segment is given"),
        (["long"], "window", "'long' is not a valid segment"),
        (["9"], "window", "'9' is not a valid segment"),
        ([">-1"], "bin", "'>-1' is not a valid segment"),
        ([True], "window", "True is not a valid segment"),
        ([9.5], "window", "9.5 is not a valid segment"),
        (["all"], "bin", "'all' is not a valid segment"),
        ([0], "window", "0 is not a valid segment: "),
        ([-9], "bin", "-9 is not a valid segment: "),
        ([">0"], "window", "'>0' is not a valid segment: "),
        ([9, 25, 9], "window", "the segment '9' is given twice"),
        ([">9", "> 9"], "window", "the segment '> 9' is given twice"),
        (["all", "all"], "window", "the segment 'all' is given twice"),
        ([9, 9], "bin", "the bin 9 cannot follow 1–9"),
        ([25, 9], "bin", "the bin 9 cannot follow 1–25"),
        ([9, ">8"], "bin", "the bin >8 cannot follow 1–9"),
        ([">9", 25], "bin", "the bin 25 cannot follow >9"),
        ([">9", ">25"], "bin", "the bin >25 cannot follow >9"),
    ],
)
def test_bad_segments(spec: list[int | str], mode: str, message: str) -> None:
    with pytest.raises(MethodError, match=re.escape(message)):
        segments(spec, mode)  # type: ignore[arg-type]


def sentences(lengths: list[int], write: Write) -> pl.DataFrame:
    """Sentences of so many words, of which the middle one is a rose, with a dash between any two."""
    lines = (" — ".join(["rose" if i == n // 2 else f"w{k}{i}" for i in range(n)]) for k, n in enumerate(lengths))
    return read_occurrences(write("s.txt", "\n".join(lines)), FORMS)


@pytest.mark.parametrize("length", [1, 2, 8, 9, 24, 25])
def test_windows_have_exactly_their_words(write: Write, length: int) -> None:
    table = sentences([3, 24, 25, 26, 9, 8, 80], write)
    part = cut(table, segments([length], "window")[0])
    fit = table.filter(pl.col("words") >= length)
    assert part.schema == table.schema and part.height == fit.height
    assert part.drop("text", "start", "end").equals(fit.drop("text", "start", "end"))
    for row, whole in zip(part.iter_rows(named=True), fit.iter_rows(named=True), strict=True):
        assert len(row["text"].replace("—", "").split()) == count_words(row["text"]) == length  # not one less
        assert row["text"][row["start"] : row["end"]] == row["matched"] == "rose" and row["text"] in whole["text"]


def test_whole_sentences_by_their_length(write: Write) -> None:
    table = sentences([3, 9, 10, 25, 26, 80, 1], write)
    held = {s.name: cut(table, s)["words"].to_list() for s in segments([9, 25, ">25"], "bin")}
    assert held == {"1–9": [3, 9, 1], "10–25": [10, 25], ">25": [26, 80]}
    longer, everything = segments([">25", "all"], "window")
    assert cut(table, longer).equals(table.filter(pl.col("words") > 25))
    assert cut(table, everything).equals(table)


def test_a_form_longer_than_the_window_is_left_out(write: Write) -> None:
    table = read_occurrences(write("a.txt", "a rose in New York city\n"), FORMS)
    one, two = segments([1, 2], "window")
    assert cut(table, one)["matched"].to_list() == ["rose"]
    assert cut(table, two).select("text", "start", "end").rows() == [("a rose", 2, 6), ("New York", 0, 8)]
