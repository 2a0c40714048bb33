"""Sets of value statements and surveys are read as they were written, and what is wrong is told with its place."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import answers
from penchant.data.survey import Survey, read_survey, synthetic_survey
from penchant.data.values import Template, ValuesSet, read_values
from penchant.errors import DataError, MethodError

Write = Callable[[str, str], Path]

quick = settings(max_examples=60, deadline=None)

PLAIN = {"agree": "She [agrees] that {statement}.", "disagree": "She [disagrees] that {statement}."}
STATEMENTS = "id,text,value\nb1,taxes rise,equity\nb2,schools close,order\n"
NEUTRAL = "id,text\nn1,the bus was late\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return write_


def write_set(
    write: Write, templates: object = None, statements: str = STATEMENTS, neutral: str = NEUTRAL, **more: object
) -> Path:
    """A set with these templates (default: one) and tables; the path of its set.yaml."""
    write("set/statements.csv", statements)
    write("set/calibration.csv", neutral)
    content = {"templates": [{"group": "f", **PLAIN}] if templates is None else templates, **more}
    return write("set/set.yaml", yaml.safe_dump(content, allow_unicode=True, sort_keys=False))


def refused(read: Callable[[], object], place: str, *parts: str) -> None:
    """One line that begins with the place and says every part."""
    with pytest.raises(DataError) as caught:
        read()
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{place}: "), message
    for part in parts:
        assert part in message, message


# Sets -------------------------------------------------------------------------------------------------------------


def test_a_set_is_read_as_it_was_written(write: Write) -> None:
    statements = (
        "id,text,value,reversed,negation,source\n"
        'b1,"taxes, and rents, rise",equity,,taxes fall,Bath\n'
        "b2, s\u030ckoly zavrou ,order,yes,,Ely\n"
    )
    templates = [{"group": "f", **PLAIN}, {"group": "m", "variant": "main", **PLAIN}]
    file = write_set(write, templates, statements, NEUTRAL + "b1,it rained\n", language="cs")
    found = read_values(file)
    assert found == read_values(file.parent)
    assert (found.name, found.language) == ("set", "cs")
    first, second = found.statements
    assert (first.id, first.text, first.value, first.reversed) == ("b1", "taxes, and rents, rise", "equity", False)
    assert (second.id, second.text, second.value, second.reversed) == ("b2", "školy zavrou", "order", True)
    assert first.place == f"{file.parent / 'statements.csv'}, line 2"
    (negation,) = found.negations
    assert (negation.id, negation.text, negation.kind, negation.value) == ("b1", "taxes fall", "negation", "equity")
    assert [(c.id, c.text, c.kind) for c in found.clauses()][:2] == [
        ("n1", "the bus was late", "calibration"),
        ("b1", "it rained", "calibration"),  # the same id as a statement's: another table
    ]
    assert [c.kind for c in found.clauses()] == ["calibration"] * 2 + ["statement"] * 2 + ["negation"]
    assert [(t.variant, t.group, t.agree) for t in found.templates] == [
        ("main", "f", PLAIN["agree"]),
        ("main", "m", PLAIN["agree"]),
    ]
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in found.files]
    assert [path.name for path in found.files] == ["set.yaml", "statements.csv", "calibration.csv"]
    assert found.sha256 == hashlib.sha256("".join(hashes).encode()).hexdigest()


def test_set_yaml_names_its_tables_relative_to_itself(write: Write) -> None:
    write("tables/s.jsonl", '{"id": 1, "text": "taxes rise", "value": "v", "reversed": true}\n')
    write("tables/c.tsv", "id\ttext\nn1\tthe bus was late\n")
    found = read_values(write_set(write, statements="../tables/s.jsonl", calibration="../tables/c.tsv", name="mine"))
    (statement,) = found.statements
    assert (found.name, statement.id, statement.reversed, found.calibration[0].id) == ("mine", "1", True, "n1")


@pytest.mark.parametrize(
    ("written", "expected"),
    [("yes", True), ("Yes ", True), ("TRUE", True), ("1", True), ("no", False), ("False", False), ("0", False)],
)
def test_reversed_as_people_and_spreadsheets_write_it(write: Write, written: str, expected: bool) -> None:
    file = write_set(write, statements=f"id,text,value,reversed\na,taxes rise,v,{written}\n")
    assert read_values(file).statements[0].reversed is expected


def sides(agree: str, disagree: str | None = None, **more: str) -> list[dict[str, str]]:
    return [{"group": "f", "agree": agree, "disagree": disagree or agree.replace("agrees", "disagrees"), **more}]


BAD_TEMPLATES: dict[str, tuple[object, str, str]] = {
    "no bracket": (sides("She agrees that {statement}."), ".0.agree", "once in [brackets]"),
    "two brackets": (sides("[She] [agrees] that {statement}."), ".0.agree", "once in [brackets]"),
    "bracket inside": (sides("She [[agrees]] that {statement}."), ".0.agree", "once in [brackets]"),
    "open bracket": (sides("She [agrees that {statement}."), ".0.agree", "once in [brackets]"),
    "empty bracket": (sides("She [ ] that {statement}."), ".0.agree", "once in [brackets]"),
    "bad second side": (sides(PLAIN["agree"], "She disagrees that {statement}."), ".0.disagree", "once in [brackets]"),
    "slot in the bracket": (sides("She [agrees {statement}] that."), ".0.agree", "outside the brackets"),
    "no slot": (sides("She [agrees] that it rains."), ".0.agree", "one place, {statement}"),
    "two slots": (sides("She [agrees] that {statement}, {statement}."), ".0.agree", "one place, {statement}"),
    "different outside": (sides(PLAIN["agree"], "He [disagrees] that {statement}."), ".0", "differ outside"),
    "different order": (sides(PLAIN["agree"], "She that [disagrees] {statement}."), ".0", "differ outside"),
    "no group": ([PLAIN], ".0.group", "is missing"),
    "group called all": ([{"group": "all", **PLAIN}], ".0.group", "nothing can be called 'all'"),
    "variant called all": (sides(PLAIN["agree"], variant="all"), ".0.variant", "nothing can be called 'all'"),
    "unknown key": (sides(PLAIN["agree"], speaker="x"), ".0.speaker", "unknown key"),
    "twice": ([{"group": "f", **PLAIN}] * 2, "", "two templates of variant 'main' and group 'f'"),
    "group missing in a variant": (
        [{"group": "f", **PLAIN}, {"group": "m", **PLAIN}, {"group": "m", "variant": "short", **PLAIN}],
        "",
        "variant 'short' has no template of group 'f'",
    ),
    "none": ([], "", "at least 1 item"),
}


@pytest.mark.parametrize("case", BAD_TEMPLATES)
def test_bad_templates(write: Write, case: str) -> None:
    templates, place, part = BAD_TEMPLATES[case]
    file = write_set(write, templates)
    refused(lambda: read_values(file), f"{file}, templates{place}", part)


@pytest.mark.xfail(strict=True, reason="the same stance on both sides is taken")
def test_equal_stances(write: Write) -> None:
    file = write_set(write, sides(PLAIN["agree"], PLAIN["agree"]))
    refused(lambda: read_values(file), f"{file}, templates.0")


HEAD = "id,text,value,reversed,negation\n"
BAD_STATEMENTS = {
    "bad reversed": (HEAD + "a,taxes rise,v,maybe,\n", ", line 2, field 'reversed'", ["yes or no", "'maybe'"]),
    "same id": (HEAD + "a,x y,v,,\nb,z,v,,\na,w,v,,\n", ", line 4, field 'id'", ["'a'", "first on line 2"]),
    "same text": (HEAD + "a,x y,v,,\nb,x y,w,,\n", ", line 3, field 'text'", ["'x y'", "first on line 2"]),
    "same text in NFD": (HEAD + "a,é,v,,\nb, e\u0301,v,,\n", ", line 3, field 'text'", ["first on line 2"]),
    "blank text": (HEAD + "a,\u00a0,v,,\n", ", line 2, field 'text'", ["blank"]),
    "no text": (HEAD + "a,,v,,\n", ", line 2, field 'text'", ["is missing"]),
    "blank negation": (HEAD + "a,x,v,, \n", ", line 2, field 'negation'", ["blank"]),
    "id called all": (HEAD + "all,x,v,,\n", ", line 2, field 'id'", ["'all'"]),
    "value called all": (HEAD + "a,x,v,,\nb,y, all ,,\n", ", line 3, field 'value'", ["'all'"]),
    "no value": ("id,text\na,x\n", ", line 2, field 'value'", ["is missing", "the columns are id, text"]),
    "no rows": (HEAD, "", ["no rows"]),
    "list for a text": ('{"id": "a", "text": ["x"], "value": "v"}\n', ", line 1, field 'text'", ["a text is wanted"]),
}


@pytest.mark.parametrize("case", BAD_STATEMENTS)
def test_bad_statements(write: Write, case: str) -> None:
    text, place, parts = BAD_STATEMENTS[case]
    file = write_set(write, statements=text)
    refused(lambda: read_values(file), f"{file.parent / 'statements.csv'}{place}", *parts)


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        ("id,text\nn,x\nn,y\n", ", line 3, field 'id'", "first on line 2"),
        ("id,text\nn,x\nm,x\n", ", line 3, field 'text'", "first on line 2"),
        ("id,text\nall,x\n", ", line 2, field 'id'", "'all'"),
        ("id,text\n", "", "no rows"),
    ],
)
def test_bad_calibration(write: Write, text: str, place: str, part: str) -> None:
    file = write_set(write, neutral=text)
    refused(lambda: read_values(file), f"{file.parent / 'calibration.csv'}{place}", part)


def test_bad_set_files(write: Write, tmp_path: Path) -> None:
    file = write_set(write, statments="s.csv")
    refused(lambda: read_values(file), f"{file}, statments", "unknown key")
    file = write_set(write, name=2024)
    refused(lambda: read_values(file), f"{file}, name", "valid string")
    file = write_set(write, statements_="x")
    refused(lambda: read_values(write("set/set.yaml", "a: b: c\n")), f"{file}, line 1", "is not YAML")
    refused(lambda: read_values(write("set/set.yaml", "- a\n")), str(file), "holds keys such as")
    refused(lambda: read_values(tmp_path), str(tmp_path), "holds no set.yaml")
    refused(lambda: read_values(tmp_path / "no.yaml"), str(tmp_path / "no.yaml"), "No such file")
    file = write("set/set.yaml", yaml.safe_dump({"templates": sides(PLAIN["agree"]), "calibration": "no.csv"}))
    refused(lambda: read_values(file), str(file.parent / "no.csv"), "no such file")
    file.write_bytes(b"name: caf\xe9\n")
    refused(lambda: read_values(file), str(file), "is not YAML")


@pytest.mark.xfail(strict=True, raises=ValueError, reason="a date that does not exist ends in a traceback")
def test_a_date_that_is_none(write: Write) -> None:
    file = write("set/set.yaml", "name: 2024-13-45\n")
    refused(lambda: read_values(file), str(file), "is not YAML")


# Sentences --------------------------------------------------------------------------------------------------------

clauses = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.text(st.sampled_from("[]{}statement žŘ কৃষক'\"\\,\n"), min_size=1, max_size=30),
    st.sampled_from(["{statement}", "[agrees] {statement}", "žák řekl", "\\1 \\g<0>", "কৃষক ভাত খায়।", "ßa", "%s {0}"]),
)
parts = st.text(st.sampled_from("ab Žক{}.,\\"), max_size=8)


@quick
@given(clauses, parts, parts, st.sampled_from(["agrees", "vůbec ne", "একমত {"]), st.booleans())
def test_the_span_cuts_out_the_stance_whatever_the_clause(
    clause: str, before: str, after: str, word: str, slot_first: bool
) -> None:
    slot = "{statement}"
    text = f"{before}{slot}, [{word}]{after}" if slot_first else f"{before}[{word}]{after}, {slot}"
    template = Template(group="f", agree=text, disagree=text.replace(word, word + "x"))
    for stance, own in (("agree", word), ("disagree", word + "x")):
        sentence, (start, end) = template.sentence(stance, clause)
        assert sentence[start:end] == own
        head, tail = unicodedata.normalize("NFC", before).lstrip(), unicodedata.normalize("NFC", after).rstrip()
        if slot_first:
            shown = clause[0].upper() + clause[1:] if not head else clause
            assert (sentence[:start], sentence[end:]) == (f"{head}{shown}, ", tail)
        else:
            assert (sentence[:start], sentence[end:]) == (head, f"{after}, {clause}")


@settings(max_examples=30, deadline=None)
@given(st.lists(clauses, min_size=1, max_size=4), st.sampled_from(["csv", "jsonl"]))
def test_any_clause_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str], suffix: str) -> None:
    wanted = list(dict.fromkeys(t for t in (unicodedata.normalize("NFC", text).strip() for text in texts) if t))
    folder = tmp_path_factory.mktemp("set")
    rows: list[dict[str, Any]] = [{"id": f"s{i}", "text": text} for i, text in enumerate(wanted)]
    if not rows:
        return
    with (folder / f"t.{suffix}").open("w", newline="", encoding="utf-8") as file:
        if suffix == "csv":
            writer = csv.DictWriter(file, ["id", "text", "value"], quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows([{**row, "value": "v"} for row in rows])
        else:
            file.writelines(json.dumps({**row, "value": "v", "negation": row["text"]}) + "\n" for row in rows)
    about = {"templates": [{"group": "f", **PLAIN}], "statements": f"t.{suffix}", "calibration": f"t.{suffix}"}
    (folder / "set.yaml").write_text(yaml.safe_dump(about))
    found = read_values(folder)
    assert [s.text for s in found.statements] == [s.text for s in found.calibration] == wanted
    assert [s.text for s in found.negations] == (wanted if suffix == "jsonl" else [])


# Surveys ----------------------------------------------------------------------------------------------------------

IDS = ("b1", "b2")


def survey(write: Write, table: str, ids: Sequence[str] = IDS, name: str = "a.csv", **about: object) -> Survey:
    write(f"survey/{name}", table)
    return read_survey(write("survey/s.yaml", yaml.safe_dump({"file": name, **about}, sort_keys=False)), ids)


def given_answers(found: Survey) -> list[tuple[object, ...]]:
    return [*found.answers.rows()]


PEOPLE = "sex,age,q1,q2,b2\n2,30,1,4,5\n1,40,2,NA,5\n1.0,50,,5,5\n3,60,5,5,5\n2,70,3,3,5\n"


def test_columns_filter_groups_and_missing_answers(write: Write) -> None:
    found = survey(
        write,
        PEOPLE,
        columns={"b1": "q1", "b2": "q2"},
        groups={"column": "sex", "levels": {"masculine": 1, "feminine": "2"}},
        filter={"age": [30, "40", 50, 60]},
    )
    # Row 4 is of neither sex, row 5 fails the filter.
    assert found.answers.columns == ["group", "b1", "b2"]
    assert given_answers(found) == [("feminine", 1.0, 4.0), ("masculine", 2.0, None), ("masculine", None, 5.0)]
    assert (found.read, found.kept, found.absent, found.name, found.synthetic) == (5, 3, (), "s", False)
    assert found.of("masculine").rows() == [(2.0, None), (None, 5.0)]
    assert found.of("nobody").rows() == []


def test_without_groups_everybody_stands_beside_every_group(write: Write) -> None:
    found = survey(write, "b2,b1,b9\n1,2,x\n3,4,x\n", [*IDS, "b3"], name="plain.csv")
    assert found.answers.columns == ["group", "b1", "b2"]
    assert found.of("feminine").rows() == found.of("x").rows() == [(2.0, 1.0), (4.0, 3.0)]
    assert found.absent == ("b3",)


@pytest.mark.parametrize(
    ("scale", "expected"),
    # 1, 2, 4 and 7 of 1–7 are 0, 1/6, 1/2 and 1 of the way from 1 to 5.
    [([1, 7], [1, 1 + 4 / 6, 3, 5]), ([7, 1], [5, 5 - 4 / 6, 3, 1]), ([-2, 14], [1.75, 2, 2.5, 3.25])],
)
def test_other_scales(write: Write, scale: list[int], expected: list[float]) -> None:
    found = survey(write, "b1,b2\n1,1\n2,2\n4,4\n7,7\n", scale=scale)
    assert found.answers["b1"].to_list() == pytest.approx(expected)


def test_reversed_scale_from_one_to_five(write: Write) -> None:
    found = survey(write, "b1,b2\n1,5\n2,3\n", scale=[5, 1])
    assert given_answers(found) == [("", 5.0, 1.0), ("", 4.0, 3.0)]


def test_codes_for_no_answer_and_tables_with_types(write: Write, tmp_path: Path) -> None:
    found = survey(write, "b1,b2\n9,NA\n 9.0 , 98\n-1,3\n", missing=[9, "98", -1, "NA"])
    assert given_answers(found) == [("", None, None), ("", None, None), ("", None, 3.0)]
    frame = pl.DataFrame({"sex": ["m", None], "b1": [1, None], "b2": [4.5, 2.0]})
    write("survey/s.yaml", "file: p.parquet\nfilter: {sex: m}\n")
    frame.write_parquet(tmp_path / "survey" / "p.parquet")
    assert given_answers(read_survey(tmp_path / "survey" / "s.yaml", IDS)) == [("", 1.0, 4.5)]


BAD_SURVEYS: dict[str, tuple[str, dict[str, object], str, list[str]]] = {
    "too high": ("b1,b2\n1,1\n1,6\n", {}, "a.csv, line 3, field 'b2'", ["between 1 and 5", "'6'", "missing"]),
    "too low": ("x,b2\n0,1\n", {"columns": {"b1": "x"}}, "a.csv, line 2, field 'x'", ["'0'"]),
    "off a reversed scale": ("b1\n8\n", {"scale": [7, 1]}, "a.csv, line 2, field 'b1'", ["'8'"]),
    "word": ("b1\nagree\n", {}, "a.csv, line 2, field 'b1'", ["'agree'"]),
    "nan": ("b1\nnan\n", {}, "a.csv, line 2, field 'b1'", ["'nan'"]),
    "unknown column": ("b1\n1\n", {"columns": {"b2": "q2"}}, "a.csv", ["no column 'q2'", "the columns are b1"]),
    "unknown filter": ("b1\n1\n", {"filter": {"sex": 1}}, "a.csv", ["no column 'sex'"]),
    "unknown group": ("b1\n1\n", {"groups": {"column": "sex", "levels": {"f": 1}}}, "a.csv", ["no column 'sex'"]),
    "unknown statement": ("q\n1\n", {"columns": {"b9": "q"}}, "s.yaml, columns", ["no statement 'b9'"]),
    "no statement at all": ("q1,q2\n1,1\n", {}, "a.csv", ["no column is named like a statement"]),
    "nobody passes": ("b1,x\n1,1\n", {"filter": {"x": 2}}, "a.csv", ["no respondent is left"]),
    "nobody in a group": (
        "b1,x\n1,1\n",
        {"groups": {"column": "x", "levels": {"f": 3}}},
        "a.csv",
        ["no respondent is left"],
    ),
    "no levels": ("b1\n1\n", {"groups": {"column": "b1", "levels": {}}}, "s.yaml, groups.levels", ["at least 1"]),
    "unknown key": ("b1\n1\n", {"colums": {}}, "s.yaml, colums", ["unknown key"]),
    "three ends": ("b1\n1\n", {"scale": [1, 2, 3]}, "s.yaml, scale", ["at most 2"]),
    "no rows": ("b1\n", {}, "a.csv", ["no rows"]),
}


@pytest.mark.parametrize("case", BAD_SURVEYS)
def test_bad_surveys(write: Write, tmp_path: Path, case: str) -> None:
    table, about, place, parts = BAD_SURVEYS[case]
    refused(lambda: survey(write, table, **about), f"{tmp_path / 'survey'}/{place}", *parts)


@pytest.mark.xfail(strict=True, raises=ZeroDivisionError, reason="a scale of no length ends in a traceback")
def test_a_scale_of_no_length(write: Write, tmp_path: Path) -> None:
    refused(lambda: survey(write, "b1\n3\n", scale=[3, 3]), f"{tmp_path / 'survey'}/s.yaml, scale")


@pytest.mark.xfail(strict=True, reason="levels are compared by six digits only")
def test_long_numbers_are_different_levels(write: Write) -> None:
    found = survey(write, "region,b1\n1234567,1\n1234568,4\n", filter={"region": 1234567})
    assert found.answers["b1"].to_list() == [1.0]


@pytest.mark.xfail(strict=True, reason="answers are rounded to six digits")
def test_answers_are_not_rounded(write: Write) -> None:
    assert survey(write, "b1\n66.6666667\n", scale=[0, 100]).answers["b1"].item() == 1 + 4 * 66.6666667 / 100


@pytest.mark.xfail(strict=True, reason="the first row alone says which columns there are")
def test_rows_of_json_may_leave_out_what_was_not_answered(write: Write) -> None:
    found = survey(write, '{"b1": 3}\n{"b1": 4, "b2": 5}\n', name="a.jsonl")
    assert (given_answers(found), found.absent) == ([("", 3.0, None), ("", 4.0, 5.0)], ())


@pytest.mark.xfail(strict=True, raises=pl.exceptions.PolarsError, reason="a statement called group takes its column")
def test_a_statement_called_group(write: Write) -> None:
    groups = {"column": "sex", "levels": {"f": 1}}
    found = survey(write, "sex,group\n1,4\n", ["group"], groups=groups)
    assert found.of("f").rows() == [(4.0,)]


@pytest.mark.xfail(strict=True, reason="only the table is hashed, and the signature of a result cites this hash")
def test_the_hash_covers_how_the_table_is_read(write: Write) -> None:
    hashes = {survey(write, "b1\n2\n", name="t.csv", scale=scale).sha256 for scale in ([1, 5], [5, 1])}
    assert len(hashes) == 2


# Made-up surveys --------------------------------------------------------------------------------------------------

MADE = {"b1": ("equity", False), "b2": ("equity", True), "b3": ("order", False)}
MEANS = {"f": {"equity": 3.7, "order": 2.1}, "m": {"equity": 2.9, "order": 4.6}}
SDS = {"f": {"equity": 0.5, "order": 0.3}, "m": {"equity": 0.0, "order": 1.1}}


def made(n: int = 3000, seed: int = 4, **more: Any) -> pl.DataFrame:
    return synthetic_survey(MEANS, SDS, {"f": n, "m": 2 * n}, statements=MADE, seed=seed, **more)


def shares(mean: float, sd: float) -> list[float]:
    """How often a normal number falls on 1 … 5 when it is rounded and held to the scale."""
    bounds = [stats.norm.cdf((edge - mean) / sd) for edge in (1.5, 2.5, 3.5, 4.5)]
    return [b - a for a, b in zip([0.0, *bounds], [*bounds, 1.0], strict=True)]


def test_made_up_answers_have_the_means_asked_for() -> None:
    table = made()
    assert table.columns == ["synthetic", "group", *MADE]
    for group, n in (("f", 3000), ("m", 6000)):
        own = table.filter(pl.col("group") == group)
        assert len(own) == n
        for id_, (value, turned) in MADE.items():
            mean = 6 - MEANS[group][value] if turned else MEANS[group][value]
            expected = np.array(shares(mean, math.hypot(SDS[group][value], 0.8)))
            found = np.array([(own[id_] == answer).mean() for answer in range(1, 6)])
            assert np.all(np.abs(found - expected) < 4.5 * np.sqrt(expected * (1 - expected) / n) + 1e-9), (group, id_)
    f, m = (table.filter(pl.col("group") == g) for g in "fm")
    # One leaning for both statements, turned round for the second: variance .5² of .5² + .8² and the rounding's 1/12.
    assert np.corrcoef(f["b1"], f["b2"])[0, 1] == pytest.approx(-(0.25 / (0.25 + 0.64 + 1 / 12)), abs=0.06)
    assert abs(np.corrcoef(m["b1"], m["b2"])[0, 1]) < 0.06
    assert set(made(200, spread=0.0).filter(pl.col("group") == "m")["b1"]) == {3}


def test_made_up_answers_are_seeded_and_marked(write: Write, tmp_path: Path) -> None:
    assert made(50).equals(made(50))
    assert not made(50).equals(made(50, seed=5))
    table = made(50)
    assert set(table["synthetic"]) == {"yes"}
    for about in ({}, {"synthetic": False}):
        found = survey(
            write, table.write_csv(), list(MADE), groups={"column": "group", "levels": {"x": "f", "y": "m"}}, **about
        )
        assert found.synthetic
        assert (
            found.of("y").rows() == table.filter(pl.col("group") == "m").select(pl.col(list(MADE)).cast(float)).rows()
        )
    assert survey(write, "b1\n1\n", synthetic=True).synthetic
    assert not survey(write, "b1\n1\n").synthetic


@pytest.mark.parametrize("table", ["means", "sds"])
def test_made_up_answers_need_every_number(table: str) -> None:
    tables: dict[str, Any] = {"means": MEANS, "sds": SDS, table: {"f": MEANS["f"], "m": {"equity": 3.0}}}
    with pytest.raises(MethodError, match=f"{table} has no number for 'order' in group 'm'"):
        synthetic_survey(**tables, groups={"f": 1, "m": 1}, statements=MADE)


# The program ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "text", "told"),
    [
        ("set/set.yaml", "templates: [{group: f, agree: x, disagree: y}]", ["set.yaml, templates.0.agree", "brackets"]),
        ("set/set.yaml", "statments: s.csv", ["set.yaml, templates: is missing"]),
        ("set/statements.csv", HEAD + "a,taxes rise,v,maybe,\n", ["statements.csv, line 2, field 'reversed'"]),
        ("set/calibration.csv", "id,text\nn,x\nn,y\n", ["calibration.csv, line 3, field 'id'", "first on line 2"]),
        ("a.csv", "b1\n7\n", ["a.csv, line 2, field 'b1'", "between 1 and 5"]),
        ("s.yaml", "file: a.csv\nscales: [1, 7]", ["s.yaml, scales: unknown key"]),
        ("study.yaml", "study: s\nmodels: [m]\nprobes: [{values: {data: sett}}]", ["sett", "did you mean set?"]),
        ("study.yaml", "study: s\nmodels: [m]\nprobes: [{values: {data: set, survey: t.yaml}}]", ["t.yaml"]),
        ("study.yaml", "study: s\nmodels: [m]\nprobes: [{values: {data: set, method: pll}}]", ["method", "'span'"]),
        ("study.yaml", "study: s\nmodels: [m]\nprobes: [{values: {data: set, templates: 1}}]", ["unknown key"]),
    ],
)
def test_what_is_wrong_is_one_line(
    penchant: Callable[..., answers.Answer], write: Write, where: str, text: str, told: Iterable[str]
) -> None:
    write_set(write)
    write("s.yaml", "file: a.csv")
    write("a.csv", "b1\n3\n")
    write("study.yaml", "study: s\nmodels: [nowhere]\nprobes: [{values: {data: set, survey: s.yaml}}]")
    write(where, text)
    answers.refused(penchant("run", "study.yaml", "-o", "out"), *told)


def test_the_same_set_again_is_the_same(write: Write) -> None:
    file = write_set(write)
    first: ValuesSet = read_values(file)
    write("set/calibration.csv", NEUTRAL + "n2,it rained\n")
    second = read_values(file)
    assert (first.name, first.statements) == (second.name, second.statements)
    assert first.sha256 != second.sha256
