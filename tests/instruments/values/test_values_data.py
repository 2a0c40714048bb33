"""Sets of value statements and surveys are read as they were written, and what is wrong is told with its place."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars as pl
import pyreadstat
import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import answers
from answers import without_line
from builders import write as write_file
from penchant.errors import DataError, MethodError
from penchant.instruments.values.data import StanceTemplate, read_values
from penchant.instruments.values.survey import Survey, read_survey, synthetic_survey

Write = Callable[[str, str], Path]

quick = settings(max_examples=60, deadline=None)

AGREE, DISAGREE = "She [agrees] that {statement}.", "She [disagrees] that {statement}."
ONE = {"group": "f", "agree": AGREE, "disagree": DISAGREE}
STATEMENTS = "id,text,value\nb1,taxes rise,equity\nb2,schools close,order\n"
NEUTRAL = "id,text\nn1,the bus was late\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_(name: str, text: str) -> Path:
        return write_file(tmp_path / name, text)

    return write_


def write_set(write: Write, templates: object = (ONE,), statements: str = STATEMENTS, neutral: str = NEUTRAL) -> Path:
    """A set with these templates and tables; the path of its set.yaml."""
    write("set/statements.csv", statements)
    write("set/calibration.csv", neutral)
    return write("set/set.yaml", json.dumps({"templates": templates}))


def refused(read: Callable[[], object], start: str) -> None:
    """One line that begins like this."""
    with pytest.raises(DataError) as caught:
        read()
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(start) or without_line(message).startswith(start), message


# Sets -------------------------------------------------------------------------------------------------------------


def test_a_set_is_read_as_it_was_written(write: Write) -> None:
    statements = 'id,text,value,reversed,negation,source\nb1,"taxes, and rents, rise",equity,,taxes fall,Bath\n'
    statements += "b2, s\u030ckoly zavrou ,order,yes,,Ely\n"
    file = write_set(write, [ONE, {**ONE, "group": "m", "variant": "main"}], statements, NEUTRAL + "b1,it rained\n")
    found = read_values(file)
    assert found == read_values(file.parent)
    assert (found.name, found.language) == ("set", "und")
    first, second = found.statements
    assert (first.id, first.text, first.value, first.reversed) == ("b1", "taxes, and rents, rise", "equity", False)
    assert (second.id, second.text, second.value, second.reversed) == ("b2", "s\u030ckoly zavrou", "order", True)
    assert first.place == f"{file.parent / 'statements.csv'}, line 2"
    (negation,) = found.negations
    assert (negation.id, negation.text, negation.kind, negation.value) == ("b1", "taxes fall", "negation", "equity")
    # An id of one table may stand in the other.
    told = [("n1", "calibration"), ("b1", "calibration"), ("b1", "statement"), ("b2", "statement"), ("b1", "negation")]
    assert [(c.id, c.kind) for c in found.clauses()] == told
    assert [(t.variant, t.group, t.agree) for t in found.templates] == [("main", "f", AGREE), ("main", "m", AGREE)]
    assert [path.name for path in found.files] == ["set.yaml", "statements.csv", "calibration.csv"]
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in found.files]
    assert found.sha256 == hashlib.sha256("".join(hashes).encode()).hexdigest()


def test_set_yaml_names_its_tables_relative_to_itself(write: Write) -> None:
    write("tables/s.jsonl", '{"id": 1, "text": "taxes rise", "value": "v", "reversed": true}\n')
    write("tables/c.tsv", "id\ttext\nn1\tthe bus was late\n")
    about = {"templates": [ONE], "statements": "../tables/s.jsonl", "calibration": "../tables/c.tsv", "language": "cs"}
    found = read_values(write("census/set.yaml", json.dumps(about)))
    assert (found.name, found.language, found.calibration[0].id) == ("census", "cs", "n1")
    assert read_values(write("census/set.yaml", json.dumps({**about, "name": "mine"}))).name == "mine"
    assert [(s.id, s.reversed) for s in found.statements] == [("1", True)]


def test_reversed_as_people_and_spreadsheets_write_it(write: Write) -> None:
    written = ["yes", "Yes ", "TRUE", "1", "no", "False", "0", ""]
    rows = "".join(f"a{i},text {i},v,{flag}\n" for i, flag in enumerate(written))
    found = read_values(write_set(write, statements="id,text,value,reversed\n" + rows))
    assert [s.reversed for s in found.statements] == [True] * 4 + [False] * 4


BRACKETS, SLOT = (
    "expected the stance once in [brackets]",
    "expected the clause once as {statement}, outside the brackets",
)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"agree": "She agrees that {statement}."}, f".agree: {BRACKETS}"),
        ({"agree": "[She] [agrees] that {statement}."}, f".agree: {BRACKETS}"),
        ({"agree": "She [[agrees]] that {statement}."}, f".agree: {BRACKETS}"),
        ({"agree": "She [agrees that {statement}."}, f".agree: {BRACKETS}"),
        ({"agree": "She [ ] that {statement}."}, f".agree: {BRACKETS}"),
        ({"disagree": "She disagrees that {statement}."}, f".disagree: {BRACKETS}"),
        ({"agree": "She [agrees {statement}] that."}, f".agree: {SLOT}"),
        ({"agree": "She [agrees] that it rains."}, f".agree: {SLOT}"),
        ({"agree": "She [agrees] that {statement}, {statement}."}, f".agree: {SLOT}"),
        ({"disagree": "He [disagrees] that {statement}."}, ": the agreeing and the disagreeing sentence differ"),
        ({"disagree": "She that [disagrees] {statement}."}, ": the agreeing and the disagreeing sentence differ"),
        ({"group": None}, ".group: expected a string"),
        ({"group": "all"}, ".group: the name 'all' is reserved"),
        ({"variant": " all"}, ".variant: the name 'all' is reserved"),
        ({"speaker": "x"}, ".speaker: unknown key"),
        ({"disagree": AGREE}, ": the agreeing and the disagreeing sentence are the same"),
    ],
)
def test_bad_templates(write: Write, change: dict[str, object], told: str) -> None:
    file = write_set(write, [{**ONE, "group": "m"}, {**ONE, **change}])
    refused(lambda: read_values(file), f"{file}, templates.1{told}")


def test_columns_with_other_names_are_told_how_to_be_named(write: Write) -> None:
    file = write_set(write, statements="item,wording,value\nb1,taxes rise,v\n")
    with pytest.raises(DataError) as caught:
        read_values(file)
    told = "is missing — the columns are item, wording, value; if one has another name, write "
    assert f"field 'id': {told}columns: {{statements: {{id: COLUMN}}}} in set.yaml" in str(caught.value)
    (note,) = caught.value.__notes__
    assert f"field 'text': {told}columns: {{statements: {{text: COLUMN}}}} in set.yaml" in note
    about: dict[str, object] = {"templates": [ONE], "columns": {"id": "item", "text": "wording"}}
    write("set/set.yaml", json.dumps(about))
    belongs = "id belongs under statements, as in columns: {statements: {id: COLUMN}}"
    refused(lambda: read_values(file), f"{file}, columns: {belongs}")
    write("set/set.yaml", json.dumps({**about, "columns": {"statements": about["columns"]}}))
    assert [statement.id for statement in read_values(file).statements] == ["b1"]
    write("set/calibration.csv", "nr,text\nn1,it rains\n")
    with pytest.raises(DataError, match=r"columns: \{calibration: \{id: COLUMN\}\} in set.yaml"):
        read_values(file)


def test_every_variant_has_every_group_once(write: Write) -> None:
    file = write_set(write, [ONE, ONE])
    refused(lambda: read_values(file), f"{file}, templates: variant 'main' has two templates for group 'f'")
    file = write_set(write, [ONE, {**ONE, "group": "m"}, {**ONE, "group": "m", "variant": "short"}])
    refused(lambda: read_values(file), f"{file}, templates: variant 'short' has no template for group 'f'")


HEAD = "id,text,value,reversed,negation\n"


@pytest.mark.parametrize(
    ("table", "text", "told"),
    [
        ("statements", HEAD + "a,x,v,maybe,\n", ", line 2, field 'reversed': expected yes or no, got 'maybe'"),
        ("statements", HEAD + "a,x,v,,\nb,z,v,,\na,w,v,,\n", ", line 4, field 'id': 'a' occurs twice, first on line 2"),
        ("statements", HEAD + "a,x y,v,,\nb,x y,w,,\n", ", line 3, field 'text': 'x y' occurs twice, first on line 2"),
        ("statements", HEAD + "a,é,v,,\nb, e\u0301,v,,\n", ", line 3, field 'text': 'é' occurs twice, first on line 2"),
        ("statements", HEAD + "a,\u00a0,v,,\n", ", line 2, field 'text': the field is blank"),
        ("statements", HEAD + "a,,v,,\n", ", line 2, field 'text': is missing"),
        ("statements", HEAD + "a,x,v,, \n", ", line 2, field 'negation': the field is blank"),
        ("statements", HEAD + "all,x,v,,\n", ", line 2, field 'id': the name 'all' is reserved"),
        ("statements", HEAD + "a,x,v,,\nb,y, all ,,\n", ", line 3, field 'value': the name 'all' is reserved"),
        ("statements", "id,text\na,x\n", ", line 2, field 'value': is missing — the columns are id, text"),
        ("statements", HEAD, ": contains no rows"),
        ("statements", '{"id": "a", "text": ["x"], "value": "v"}\n', ", line 1, field 'text': expected a string"),
        ("calibration", "id,text\nn,x\nn,y\n", ", line 3, field 'id': 'n' occurs twice, first on line 2"),
        ("calibration", "id,text\nn,x\nm,x\n", ", line 3, field 'text': 'x' occurs twice, first on line 2"),
        ("calibration", "id,text\nall,x\n", ", line 2, field 'id': the name 'all' is reserved"),
        ("calibration", "id,text\n", ": contains no rows"),
    ],
)
def test_bad_tables(write: Write, table: str, text: str, told: str) -> None:
    file = write_set(write)
    write(f"set/{table}.csv", text)
    refused(lambda: read_values(file), f"{file.parent}/{table}.csv{told}")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("templates: []\n", ", templates: list should have at least 1 item"),
        ("language: cs\n", ", templates: is missing"),
        (json.dumps({"templates": [ONE], "statments": "s.csv"}), ", statments: unknown key"),
        (json.dumps({"templates": [ONE], "name": True}), ", name: is true, not a string"),
        ("a: b: c\n", ", line 1: is not valid YAML"),
        ("- a\n", ": is not a YAML mapping with keys such as"),
        (
            "name: !!timestamp 2024-13-45\n",
            ", line 1: contains '2024-13-45', which cannot be converted to its type: month",
        ),
    ],
)
def test_bad_set_files(write: Write, tmp_path: Path, content: str, told: str) -> None:
    file = write_set(write)
    write("set/set.yaml", content)
    refused(lambda: read_values(file), f"{file}{told}")
    refused(lambda: read_values(tmp_path), f"{tmp_path}: the directory contains no set.yaml")
    file.write_bytes(b"name: caf\xe9\n")
    refused(lambda: read_values(file.parent), f"{file}, line 1: is not UTF-8")


# Sentences --------------------------------------------------------------------------------------------------------

clauses = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30),
    st.text(st.sampled_from("[]{}statement žŘ কৃষক'\"\\,\n"), min_size=1, max_size=30),
    st.sampled_from(["{statement}", "[agrees] {statement}", "žák řekl", "\\1 \\g<0>", "কৃষক ভাত খায়।", "ßa", "%s {0}"]),
)
parts = st.text(st.sampled_from("ab Žк{}.,\\"), max_size=8).map(str.strip)


@quick
@given(clauses, parts, parts, st.sampled_from(["agrees", "vůbec ne", "একমত {"]), st.booleans())
def test_the_span_cuts_out_the_stance_whatever_the_clause(
    clause: str, before: str, after: str, word: str, first: bool
) -> None:
    text = f"{before}{{statement}}, [{word}]{after}" if first else f"{before}[{word}]{after}, {{statement}}"
    template = StanceTemplate(group="f", agree=text, disagree=text.replace(word, word + "x"))
    for stance, own in (("agree", word), ("disagree", word + "x")):
        sentence, (start, end) = template.sentence(stance, clause)
        shown = clause[0].title() + clause[1:] if first and not before else clause
        around = (f"{before}{shown}, ", after) if first else (before, f"{after}, {clause}")
        assert (sentence[:start], sentence[start:end], sentence[end:]) == (around[0], own, around[1])


@settings(max_examples=30, deadline=None)
@given(st.lists(clauses, min_size=1, max_size=4), st.sampled_from(["csv", "jsonl"]))
def test_any_clause_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str], suffix: str) -> None:
    assume(suffix != "csv" or not any("\n" in text and text.count(",") > 2 for text in texts))  # looks like open rows
    wanted = list(dict.fromkeys(t for t in (unicodedata.normalize("NFC", text).strip() for text in texts) if t))
    folder = tmp_path_factory.mktemp("set")
    rows = [{"id": f"s{i}", "text": text, "value": "v", "negation": text} for i, text in enumerate(wanted or ["x"])]
    with (folder / f"t.{suffix}").open("w", newline="", encoding="utf-8") as file:
        if suffix == "csv":
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([rows[0], *(row.values() for row in rows)])
        else:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    about = {"templates": [ONE], "statements": f"t.{suffix}", "calibration": f"t.{suffix}"}
    (folder / "set.yaml").write_text(json.dumps(about))
    found = read_values(folder)
    for kind in (found.statements, found.calibration, found.negations):
        assert [s.text for s in kind] == (wanted or ["x"])


# Surveys ----------------------------------------------------------------------------------------------------------


def survey(write: Write, table: str, about: dict[str, object], *ids: str) -> Survey:
    """A survey of these statements (default: b1 and b2)."""
    write("survey/a.csv", table)
    file = write("survey/s.yaml", yaml.safe_dump({"file": "a.csv", **about}, sort_keys=False))
    return read_survey(file, ids or ["b1", "b2"])


def test_columns_filter_groups_and_missing_answers(write: Write) -> None:
    table = "sex,age,q1,q2,b2\n2,30,1,4,5\n1,40,2,NA,5\n1.0,50,,5,5\n3,60,5,5,5\n2,70,3,3,5\n"
    groups = {"column": "sex", "levels": {"masculine": 1, "feminine": "2"}}
    about = {"columns": {"b1": "q1", "b2": "q2"}, "groups": groups, "filter": {"age": [30, "40", 50, 60]}}
    found = survey(write, table, about)
    # The fourth is of neither group, the fifth fails the filter.
    assert found.answers.columns == ["", "b1", "b2"]
    assert found.answers.rows() == [("feminine", 1.0, 4.0), ("masculine", 2.0, None), ("masculine", None, 5.0)]
    assert (found.read, found.kept, found.absent, found.name, found.synthetic) == (5, 3, (), "s", False)
    assert found.of("masculine").rows() == [(2.0, None), (None, 5.0)]
    assert found.of("nobody").rows() == []


def test_without_groups_everybody_stands_beside_every_group(write: Write) -> None:
    found = survey(write, "b2,b1,b9\n1,2,x\n3,4,x\n", {"name": "mine"}, "b1", "b2", "b3")
    assert found.of("feminine").rows() == found.of("x").rows() == [(2.0, 1.0), (4.0, 3.0)]
    assert (found.absent, found.name, found.kept) == (("b3",), "mine", 2)


def test_all_that_is_wrong_is_told_at_once(write: Write) -> None:
    with pytest.raises(DataError) as error:
        survey(write, "b1\n9\nsure\n", {"columns": {"b2": "q2"}})
    lines = [str(error.value), *error.value.__notes__]
    assert "there is no column 'q2'" in lines[0] and "may be left out of columns" in lines[0]
    assert "got '9'" in lines[1] and 'codes: {"sure": NUMBER}' in lines[2]


def test_columns_in_another_case_are_told(write: Write) -> None:
    found = survey(write, "b1,B2\n1,1\n", {})
    assert found.absent == ("b2",)
    assert found.cautions[0].endswith("If it should be: columns: {b2: B2}")


def test_answers_between_two_codes_can_be_missing(write: Write) -> None:
    assert survey(write, "b1\n2.5\n2\n", {"missing": [2.5]}).answers["b1"].to_list() == [None, 2]


@pytest.mark.parametrize(
    ("scale", "expected"),
    # 1, 2, 4 and 7 of 1–7 are 0, 1/6, 1/2 and 1 of the way from 1 to 5.
    [([1, 7], [1, 1 + 4 / 6, 3, 5]), ([7, 1], [5, 5 - 4 / 6, 3, 1]), ([-2, 14], [1.75, 2, 2.5, 3.25])],
)
def test_other_scales(write: Write, scale: list[int], expected: list[float]) -> None:
    found = survey(write, "b1,b2\n1,1\n2,2\n4,4\n7,7\n", {"scale": scale})
    assert found.answers["b1"].to_list() == pytest.approx(expected)
    assert survey(write, "b1\n1\n2\n5\n", {"scale": [5, 1]}).answers["b1"].to_list() == [5, 4, 1]


def test_codes_for_no_answer_and_tables_with_types(write: Write, tmp_path: Path) -> None:
    found = survey(write, "b1,b2\n9,NA\n 9.0 , 98\n-1,3\n", {"missing": [9, "98", -1, "NA"]})
    assert found.answers.rows() == [("", None, None), ("", None, None), ("", None, 3.0)]
    frame = pl.DataFrame({"sex": ["m", None], "b1": [1, None], "b2": [4.5, 2.0]})
    frame.write_parquet(tmp_path / "p.parquet")
    file = write("s.yaml", "file: p.parquet\nfilter: {sex: m}\n")
    assert read_survey(file, ["b1", "b2"]).answers.rows() == [("", 1.0, 4.5)]


@pytest.mark.parametrize(
    ("table", "about", "told"),
    [
        (
            "b1,b2\n1,1\n1,6\n",
            {},
            "a.csv, line 3, field 'b2': expected an answer between 1 and 5, got '6' — list values",
        ),
        ("x,b2\n0,1\n", {"columns": {"b1": "x"}}, "a.csv, line 2, field 'x': expected an answer between 1 and 5, got"),
        ("b1\n8\n", {"scale": [7, 1]}, "a.csv, line 2, field 'b1': expected an answer between 1 and 7, got '8'"),
        ("b1\nagree\n", {}, "a.csv, line 2, field 'b1': expected an answer between 1 and 5, got 'agree'"),
        ("b1\nnan\n", {}, "a.csv, line 2, field 'b1': expected an answer between 1 and 5, got 'nan'"),
        ("b1\n1\n", {"columns": {"b2": "q2"}}, "a.csv: there is no column 'q2' — the columns are b1; a statement that"),
        ("q\n1\n", {"columns": {"b1": "q", "b2": "q"}}, "s.yaml, columns: the column 'q' belongs to two statements"),
        ("B1,x\n1,1\n", {}, "a.csv: no column is named after a statement — a column whose name differs from a"),
        ("b1\n1\n", {"filter": {"sex": 1}}, "a.csv: there is no column 'sex'"),
        ("b1\n1\n", {"groups": {"column": "sex", "levels": {"f": 1}}}, "a.csv: there is no column 'sex'"),
        ("q\n1\n", {"columns": {"b9": "q"}}, "s.yaml, columns: there is no statement 'b9'"),
        ("q1,q2\n1,1\n", {}, "a.csv: no column is named after a statement"),
        ("b1,x\n1,1\n", {"filter": {"x": 2}}, "a.csv: no respondents remain after filter, groups and weights"),
        (
            "b1,x\n1,1\n",
            {"groups": {"column": "x", "levels": {"f": 3}}},
            "a.csv: no respondents remain after filter, groups and weights",
        ),
        ("b1\n1\n", {"groups": {"column": "b1", "levels": {}}}, "s.yaml, groups.levels: dictionary should have"),
        ("b1\n1\n", {"colums": {}}, "s.yaml, colums: unknown key"),
        ("b1\n1\n", {"scale": [1, 2, 3]}, "s.yaml, scale: tuple should have at most 2"),
        ("b1\n", {}, "a.csv: contains no rows"),
        ("b1\n3\n", {"scale": [3, 3]}, "s.yaml, scale: the ends of a scale must be two different numbers, got 3 and 3"),
        ("b1\n3\n", {"scale": [1, math.inf]}, "s.yaml, scale"),
        ("b1,x\n3,1\n", {"groups": {"column": "x", "levels": {"f": 1, "m": 1}}}, "s.yaml, groups.levels: 1 is the"),
    ],
)
def test_bad_surveys(write: Write, tmp_path: Path, table: str, about: dict[str, object], told: str) -> None:
    refused(lambda: survey(write, table, about), f"{tmp_path}/survey/{told}")


@pytest.mark.parametrize(
    ("table", "about", "expected"),
    [
        # Levels and answers keep all their digits, and a row of JSON may leave out what was not answered.
        ("x,b1,b2\n1234567,1,2\n1234568,4,4\n", {"filter": {"x": 1234567}}, [("", 1, 2)]),
        ("b1,b2\n66.6666667,0\n", {"scale": [0, 100]}, [("", 1 + 4 * 66.6666667 / 100, 1)]),
        ('{"b1": 3}\n{"b1": 4, "b2": 5}\n', {}, [("", 3, None), ("", 4, 5)]),
    ],
)
def test_nothing_is_lost(write: Write, table: str, about: dict[str, object], expected: list[tuple[object]]) -> None:
    found = survey(write, table, about)
    assert (found.answers.rows(), found.absent) == (expected, ())


def test_a_statement_called_group_and_the_hash(write: Write) -> None:
    about: dict[str, object] = {"groups": {"column": "sex", "levels": {"f": 1}}}
    one = survey(write, "sex,group\n1,4\n", about, "group")
    assert one.of("f").rows() == [(4.0,)]
    other = survey(write, "sex,group\n1,4\n", {**about, "scale": [5, 1]}, "group")
    assert (other.of("f").rows(), other.sha256 == one.sha256) == ([(2.0,)], False)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["1", "9", "x", "", "NA", "3"]), min_size=1, max_size=50))
def test_every_bad_answer_is_listed_or_counted(tmp_path_factory: pytest.TempPathFactory, cells: list[str]) -> None:
    folder = tmp_path_factory.mktemp("survey")
    (folder / "a.csv").write_text("b1,id\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    (folder / "s.yaml").write_text("file: a.csv\n")
    bad = [(line, cell) for line, cell in enumerate(cells, 2) if cell in ("9", "x")]
    if not bad and not {"1", "3"} & set(cells):
        with pytest.raises(DataError):
            read_survey(folder / "s.yaml", ["b1"])
        return
    if not bad:
        assert read_survey(folder / "s.yaml", ["b1"]).kept == len(cells)
        return
    with pytest.raises(DataError) as caught:
        read_survey(folder / "s.yaml", ["b1"])
    told = [str(caught.value), *getattr(caught.value, "__notes__", ())]
    more = [""] * len(bad)
    if len(bad) > 20:
        counts = Counter(cell for _, cell in bad)
        bad = [next(each for each in bad if each[1] == cell) for cell in counts]
        more = [f", and in {count - 1} more rows" if count > 1 else "" for count in counts.values()]
    else:  # more than five that are alike are one line
        often = {cell for cell in ("9", "x") if sum(cell == each for _, each in bad) > 5}
        bad = [each for i, each in enumerate(bad) if each[1] not in often or each[1] not in {c for _, c in bad[:i]}]
        told = [text for text in told if not text.startswith("the same on")]
    assert len(bad) == len(told)
    for (line, cell), others, text in zip(bad, more, told, strict=False):
        assert text.startswith(f"{folder}/a.csv, line {line}, field 'b1': ") and f"got '{cell}'{others} — " in text


def test_a_survey_of_spss_or_stata_by_code_and_by_label(tmp_path: Path) -> None:
    frame = pandas.DataFrame(
        {"sex": [1.0, 2, 2, 1], "wave": [1.0, 1, 1, 2], "b1": [4.0, 8, 9, 1], "b2": [1.0, 2, 3, 4]}
    )
    labels = {"sex": {1: "Male", 2: "Female"}, "wave": {1: "First", 2: "Second"}, "b1": {8: "Refused", 9: "Unsure"}}
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_value_labels=labels, missing_ranges={"b1": [9]})
    pyreadstat.write_dta(frame.replace({"b1": {9: None}}), tmp_path / "a.dta", variable_value_labels=labels)
    for suffix in ("sav", "dta"):
        for levels, wave, missing in (({"m": 1, "f": 2}, 1, 8), ({"m": "Male", "f": "Female"}, "First", "Refused")):
            about = {
                "file": f"a.{suffix}",
                "groups": {"column": "sex", "levels": levels},
                "filter": {"wave": wave},
                "missing": [missing],
            }
            (tmp_path / "s.yaml").write_text(yaml.safe_dump(about))
            found = read_survey(tmp_path / "s.yaml", ["b1", "b2"])
            assert found.answers.rows() == [("m", 4.0, 1.0), ("f", None, 2.0), ("f", None, 3.0)]
            assert (found.read, found.kept) == (4, 3)


def test_a_survey_with_decimal_commas(write: Write) -> None:
    found = survey(write, "sep=;\nx;b1;b2\n1,0;3,5;4\n2,0;1;1\n", {"filter": {"x": 1}})
    assert found.answers.rows() == [("", 3.5, 4.0)]
    refused(lambda: survey(write, 'b1\n"3,5"\n', {}), f"{write('survey/x', '').parent}/a.csv, line 2, field 'b1'")


# Made-up surveys --------------------------------------------------------------------------------------------------

MADE = {"b1": ("equity", False), "b2": ("equity", True), "b3": ("order", False)}
MEANS = {"f": {"equity": 3.7, "order": 2.1}, "m": {"equity": 2.9, "order": 4.6}}
SDS = {"f": {"equity": 0.5, "order": 0.3}, "m": {"equity": 0.0, "order": 1.1}}


def made(n: int, seed: int = 4, **more: Any) -> pl.DataFrame:
    return synthetic_survey(MEANS, SDS, {"f": n, "m": 2 * n}, statements=MADE, seed=seed, **more)


def test_made_up_answers_have_the_means_asked_for() -> None:
    table = made(3000)
    f, m = (table.filter(group=group) for group in "fm")
    assert (len(f), len(m), table.columns) == (3000, 6000, ["synthetic", "group", *MADE])
    for group, own in (("f", f), ("m", m)):
        for id_, (value, turned) in MADE.items():
            mean = 6 - MEANS[group][value] if turned else MEANS[group][value]
            sd = math.hypot(SDS[group][value], 0.8)
            # A normal number that is rounded and held to the scale falls on 1 … 5 as often as this.
            below = stats.norm.cdf((np.array([-np.inf, 1.5, 2.5, 3.5, 4.5, np.inf]) - mean) / sd)
            found = np.array([(own[id_] == answer).mean() for answer in range(1, 6)])
            expected = np.diff(below)
            assert np.all(np.abs(found - expected) < 4.5 * np.sqrt(expected * (1 - expected) / len(own))), (group, id_)
    # One leaning for both statements, turned round for the second: variance .5² of .5² + .8² and the rounding's 1/12.
    assert np.corrcoef(f["b1"], f["b2"])[0, 1] == pytest.approx(-(0.25 / (0.25 + 0.64 + 1 / 12)), abs=0.06)
    assert abs(np.corrcoef(m["b1"], m["b2"])[0, 1]) < 0.06
    assert set(made(200, spread=0.0).filter(group="m")["b1"]) == {3}


def test_made_up_answers_are_seeded_and_marked(write: Write) -> None:
    table = made(50)
    assert made(50).equals(table)
    assert not made(50, seed=5).equals(table)
    assert set(table["synthetic"]) == {"yes"}
    groups = {"column": "group", "levels": {"x": "f", "y": "m"}}
    found = survey(write, table.write_csv(), {"groups": groups, "synthetic": False}, *MADE)
    assert found.synthetic
    assert found.of("y").rows() == table.filter(group="m").select(pl.col(list(MADE)).cast(float)).rows()
    assert survey(write, "b1\n1\n", {"synthetic": True}).synthetic
    assert not survey(write, "b1\n1\n", {}).synthetic


@pytest.mark.parametrize("table", ["means", "sds"])
def test_made_up_answers_need_every_number(table: str) -> None:
    tables: dict[str, Any] = {"means": MEANS, "sds": SDS, table: {"f": MEANS["f"], "m": {"equity": 3.0}}}
    with pytest.raises(MethodError, match=f"{table} has no number for value 'order' in group 'm'"):
        synthetic_survey(**tables, groups={"f": 1, "m": 1}, statements=MADE)


# The program ------------------------------------------------------------------------------------------------------

STUDY = "study: s\nmodels: [nowhere]\nprobes: [{values: {data: set, survey: s.yaml}}]"


@pytest.mark.parametrize(
    ("where", "text", "told"),
    [
        ("set/set.yaml", "templates: [{group: f, agree: x, disagree: y}]", "templates.0.agree: expected the stance"),
        ("set/set.yaml", "statments: s.csv", "set.yaml, statments: unknown key"),
        ("set/statements.csv", HEAD + "a,taxes rise,v,maybe,\n", "csv, line 2, field 'reversed': expected yes or no"),
        ("set/calibration.csv", "id,text\nn,x\nn,y\n", "calibration.csv, line 3, field 'id': 'n' occurs twice"),
        ("a.csv", "b1\n7\n", "a.csv, line 2, field 'b1': expected an answer between 1 and 5"),
        ("s.yaml", "file: a.csv\nscales: [1, 7]", "s.yaml, scales: unknown key"),
        ("study.yaml", STUDY.replace("set", "sett"), "did you mean set?"),
        ("study.yaml", STUDY.replace("s.yaml", "t.yaml"), "t.yaml: no such file"),
        ("study.yaml", STUDY.replace("survey: s.yaml", "method: pll"), "probes.0.values.method: input should be"),
        ("study.yaml", STUDY.replace("survey", "people"), "probes.0.values.people: unknown key"),
    ],
)
def test_what_is_wrong_is_one_line(
    penchant: Callable[..., answers.Answer], write: Write, where: str, text: str, told: str
) -> None:
    write_set(write)
    write("s.yaml", "file: a.csv")
    write("a.csv", "b1\n3\n")
    write("study.yaml", STUDY)
    write(where, text)
    answers.refused(penchant("run", "study.yaml", "-o", "out"), told)


def test_a_statement_may_not_take_a_column_of_made_up_answers() -> None:
    for name in ("group", "synthetic"):
        with pytest.raises(MethodError, match=f"the id '{name}' is reserved"):
            synthetic_survey({"f": {"v": 3.0}}, {"f": {"v": 1.0}}, {"f": 3}, statements={name: ("v", False)})
