"""penchant from Python: what is accepted where files and models are named, and that a wrong call is one line."""

from __future__ import annotations

import inspect
import pydoc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import penchant
from builders import Program, succeeded, write, write_study
from given_data import ANSWERS, COLUMNS, LISTS, PAIRS, STATEMENTS
from penchant.instruments.run_options import Run
from penchant.tables.in_memory import file_of, rows, texts
from penchant.tables.rows import read_rows

pc: Any = penchant  # calls that a type checker would refuse

NAMES = ["category", "set", "word"]


@pytest.fixture(scope="module")
def lm() -> Any:
    return pc.load("bundled:modern")


# Texts and models -------------------------------------------------------------------------------------------------


def test_one_text_is_one_text(lm: Any) -> None:
    alone = pc.score(lm, "The cats sleep.")
    assert_frame_equal(alone, pc.score(lm, ["The cats sleep."]))
    assert pc.embed(lm, "The cats sleep.").shape[0] == 1


@pytest.mark.parametrize("column", [tuple, pl.Series, pd.Series, np.array, iter], ids=str)
def test_columns_of_texts(lm: Any, column: Callable[[list[str]], Any]) -> None:
    given = ["The cats sleep.", "She sings."]
    assert_frame_equal(pc.score(lm, column(given)), pc.score(lm, given))
    assert np.array_equal(pc.embed(lm, column(given)), pc.embed(lm, given))


def test_a_name_is_loaded(lm: Any, tmp_path: Path) -> None:
    assert_frame_equal(pc.score("bundled:modern", "She sings."), pc.score(lm, "She sings."))
    assert_frame_equal(pc.fill("bundled:modern", "A [MASK].", 3), pc.fill(lm, "A [MASK].", 3))
    assert np.array_equal(pc.embed("bundled:modern", "She sings."), pc.embed(lm, "She sings."))
    assert pc.check("bundled:modern", "She sings.") == pc.check(lm, [("She sings.", "text 1")])
    probe = pc.MinimalPairs(PAIRS, resamples=100)
    assert_frame_equal(probe.run("bundled:modern").items, probe.run(lm).items)
    assert_frame_equal(pc.audit("bundled:modern", PAIRS), pc.audit([lm], PAIRS))


def test_a_column_of_a_table_is_embedded(tmp_path: Path, penchant: Program) -> None:
    write(tmp_path / "t.csv", "n;text\n1;The cats sleep.\n2;She sings.\n")
    write(tmp_path / "t.txt", "The cats sleep.\nShe sings.\n")
    plain = succeeded(penchant("embed", "-m", "bundled:modern", "t.txt"))
    assert succeeded(penchant("embed", "-m", "bundled:modern", "t.csv", "--column", "text")) == plain


# Tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        PAIRS,
        [list(pair) for pair in PAIRS],
        [{"good": good, "bad": bad} for good, bad in PAIRS],
        COLUMNS,
        pl.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS),
    ],
    ids=["tuples", "lists", "rows", "columns", "polars", "pandas"],
)
def test_pairs_in_any_form_are_those_of_a_file(lm: Any, table: Any, tmp_path: Path) -> None:
    file = tmp_path / "the data.jsonl"
    pl.DataFrame(COLUMNS).write_ndjson(file)
    of_file, of_table = (pc.MinimalPairs(data=data, resamples=100).run(lm) for data in (str(file), table))
    assert_frame_equal(of_table.items, of_file.items)
    assert_frame_equal(of_table.summary, of_file.summary)
    assert of_table.signature == of_file.signature  # the same content: the same name and hash


def test_words_in_lists(tmp_path: Path) -> None:
    vectors = tmp_path / "v.txt"
    rng = np.random.default_rng(0)
    words = [word for each in LISTS.values() for word in each]
    vectors.write_text("".join(f"{w} {' '.join(map(str, rng.normal(size=5).round(3)))}\n" for w in words), "utf-8")
    alone = pc.WEAT(data=LISTS).run(str(vectors))
    named = pc.WEAT(data={"flowers": LISTS}).run(vectors)
    table = tmp_path / "the data.csv"
    cells = [f"flowers,{label},{word}\n" for label, each in LISTS.items() for word in each]
    table.write_text("category,set,word\n" + "".join(cells), "utf-8")
    of_file = pc.WEAT(data=table).run(vectors)
    for found in (alone, named):
        assert found.summary["value"].to_list() == of_file.summary["value"].to_list()
    assert "flowers" in str(named.summary.rows())


def test_words_that_pandas_lacks_are_no_words() -> None:
    frame = pd.DataFrame([(1, key, word) for key, words in LISTS.items() for word in words], columns=NAMES)
    assert pc.read_stimuli(frame).categories[0].id == "1"
    for lacking, told in ((np.nan, "NaN"), (pd.NA, "None"), (None, "None")):
        for column, where in (("word", "the data, row 5 ('word')"), ("category", "the data, row 5 ('category')")):
            holed = frame.astype(object)
            holed.loc[4, column] = lacking
            for call in (pc.read_stimuli, pc.WEAT, pc.SEAT):
                with pytest.raises(pc.DataError) as error:
                    call(holed)
                assert str(error.value).startswith(f"{where}: is missing ({told})")
    labelled = frame.assign(label=["flowers"] + [np.nan] * (len(frame) - 1))
    assert [part.label for part in pc.read_stimuli(labelled).categories[0].lists()][:2] == ["flowers", "Y"]


def test_a_cloze_set_and_its_ratings_in_frames(lm: Any) -> None:
    sentences = pl.DataFrame(
        {"id": ["a", "b"], "text": ["The [MASK] sings.", "A [MASK] sleeps."], "expected": [1, 1], "group": ["g", "g"]}
    )
    word = pc.fill(lm, "The [MASK] sings.", 1)["word"].item()
    ratings = [("a", word, "anna", 0.5)]
    row = pc.Cloze(data=sentences, ratings=ratings, k=1, resamples=100).run(lm).items.row(0, named=True)
    assert row["words"] == [word] and row["valences"] == [0.5]


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "a": st.text(st.characters(codec="utf-8"), max_size=5),
                "b": st.none() | st.integers(-5, 5) | st.booleans(),
            }
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_table_comes_back(table: list[dict[str, object]]) -> None:
    assert rows(pl.DataFrame(table)) == table
    if not any("\0" in str(row["a"]) for row in table):
        assert [row.values for row in read_rows(file_of(table))] == table


def test_what_pandas_lacks_is_missing() -> None:
    frame = pd.DataFrame({"n": [1.0, float("nan")], "t": ["x", None]})
    assert [row.values for row in read_rows(file_of(frame))] == [{"n": 1.0, "t": "x"}, {"n": None, "t": None}]


SETS = {"like": "political-values-en"}


def test_value_statements_and_a_survey_in_any_form(lm: Any, tmp_path: Path) -> None:
    """They are what the same tables are in files."""
    once = Run(cache=tmp_path / "cache.sqlite", base=[tmp_path])
    pl.DataFrame(STATEMENTS).write_csv(tmp_path / "statements.csv")
    pl.DataFrame(ANSWERS).write_csv(tmp_path / "answers.csv")
    (tmp_path / "set.yaml").write_text("like: political-values-en\n", "utf-8")
    groups = "groups: {column: sex, levels: {feminine: F, masculine: M}}\n"
    (tmp_path / "survey.yaml").write_text(f"file: answers.csv\n{groups}", "utf-8")
    named = pc.Values(tmp_path, survey=tmp_path / "survey.yaml", resamples=100).run_as(lm, once)
    placed = ["signature", "how", "method"]  # they name the file
    forms: list[Callable[[Any], Any]] = [pd.DataFrame, lambda table: pl.DataFrame(table).to_dicts()]
    for form in forms:
        survey = {"file": form(ANSWERS), "groups": {"column": "sex", "levels": {"feminine": "F", "masculine": "M"}}}
        given = pc.Values({"statements": form(STATEMENTS), **SETS}, survey=survey, resamples=100).run_as(lm, once)
        assert_frame_equal(given.items, named.items)
        assert_frame_equal(given.summary.drop(placed), named.summary.drop(placed))
        assert given.signature["data"].startswith("the data#") and given.signature["survey"].startswith("survey#")
    alone = pc.Values({"statements": STATEMENTS, **SETS}, survey=pl.DataFrame(ANSWERS), resamples=100).run_as(lm, once)
    of_file = pc.Values(tmp_path, survey=tmp_path / "answers.csv", resamples=100).run_as(lm, once)
    assert_frame_equal(alone.summary.drop(placed), of_file.summary.drop(placed))


def test_a_set_of_its_own_calibration_and_templates() -> None:
    neutral = [(f"n{n}", f"box number {n} is round") for n in range(5)]
    templates = [
        {"group": "people", "agree": "They [agree] that {statement}.", "disagree": "They [deny] that {statement}."}
    ]
    found = pc.read_values({"statements": STATEMENTS, "calibration": iter(neutral), "templates": templates})
    assert repr(found) == "<value statements the data: 2 statements, 5 neutral, 1 template>"
    assert [clause.text for clause in found.calibration] == [text for _, text in neutral]
    like = pc.read_values({"statements": STATEMENTS, "templates": templates, **SETS})
    assert (len(like.calibration), len(like.templates), like.language) == (100, 1, "en")


@pytest.mark.parametrize("form", [list, tuple, iter, np.array, pd.DataFrame], ids=str)
def test_readers_take_what_probes_take(form: Callable[[Any], Any]) -> None:
    good, bad = (0, 1) if form is pd.DataFrame else ("good", "bad")
    table = form(PAIRS)
    table = table.rename(columns={good: "good", bad: "bad"}) if form is pd.DataFrame else table
    found = pc.read_pairs(table)
    assert [(item.texts["good"], item.texts["bad"]) for item in found.items] == PAIRS
    assert repr(found) == "<pairs the data: 3, plain>"


def test_other_readers_take_tables_and_bundled_names() -> None:
    assert repr(pc.read_cloze([("a", "The [MASK] sings.", 1, "g")])) == "<cloze set the data: 1 sentence>"
    assert len(pc.read_cloze("early-modern-60").sentences) == 60
    assert len(pc.read_values("political-values-en").statements) == 34
    words = pc.read_stimuli({label: np.array(each) for label, each in LISTS.items()})
    assert repr(words) == "<stimuli the data: 1 category, 12 words>"
    rows = pl.DataFrame({"id": ["1"], "word": ["rose"], "text": ["a rose"], "start": [2], "end": [6]})
    assert pc.read_occurrences(rows, {"rose": ["rose"]})["matched"].to_list() == ["rose"]
    assert repr(pc.read_survey(ANSWERS, "eq1")) == "<survey survey: answers of 40 respondents to 1 statement>"


def test_numbers_and_several_values_of_other_libraries(lm: Any) -> None:
    assert pc.fill(lm, "A [MASK].", k=np.int64(2)).height == 2
    assert pc.embed(lm, "A rose.", spans=(2, 6)).shape == pc.embed(lm, ["A rose."], spans=np.array([[2, 6]])).shape
    probe = pc.MinimalPairs(PAIRS, seed=np.int64(3), normalise=("none", "mean"))
    assert repr(probe) == "MinimalPairs(data='the data', normalise=['none', 'mean'], seed=3)"
    lexicon = pc.Cloze(data="early-modern-60", lexicon={"thou": -1.0, "you": 1.0}, limit=2, draws=5, resamples=100)
    assert lexicon.run(lm).items.height == 2


def test_what_is_missing_and_dates_in_frames() -> None:
    frame = pd.DataFrame({"d": [pd.Timestamp("2020-01-02"), pd.NaT], "n": pd.array([1, None], dtype="Int64")})
    assert [row.values for row in read_rows(file_of(frame))] == [
        {"d": "2020-01-02T00:00:00", "n": 1},
        {"d": None, "n": None},
    ]


def test_unknown_names_are_what_python_expects(lm: Any) -> None:
    """`hasattr`, `getattr` with a default and copies work as they do elsewhere."""
    import copy
    import pickle

    result = pc.MinimalPairs(PAIRS, resamples=100).run(lm)
    for thing in (pc, lm, result, pc.MinimalPairs(PAIRS)):
        assert not hasattr(thing, "sumary") and getattr(thing, "_repr_png_", None) is None
    assert copy.deepcopy(result).signature == result.signature == pickle.loads(pickle.dumps(result)).signature
    assert copy.copy(pc.MinimalPairs(PAIRS)) == pickle.loads(pickle.dumps(pc.MinimalPairs(PAIRS)))


# Commands ---------------------------------------------------------------------------------------------------------


def test_commands_have_their_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "pairs.tsv", "good\tbad\n" + "".join(f"{a}\t{b}\n" for a, b in PAIRS))
    models = ["bundled:modern", "bundled:early-modern"]
    probe = {"minimal-pairs": {"data": "pairs.tsv", "resamples": 100}}
    study = {"study": "s", "models": models, "probes": [probe]}
    found = pc.run(study, "out")
    assert repr(found) == "<2 results: minimal-pairs with bundled:modern, minimal-pairs with bundled:early-modern>"
    assert (tmp_path / "out" / "report.html").exists()
    write_study(tmp_path / "s.yaml", models, probe)
    again = pc.run("s.yaml", "again")
    for key, result in found.results.items():
        assert_frame_equal(result.summary, again.results[key].summary)
    assert pc.run("s.yaml", "again", resume=True).results.keys() == again.results.keys()
    assert pc.report("out", out="page.html") == Path("page.html")
    assert (tmp_path / "page.html").read_bytes().startswith(b"<!")
    assert all(path.exists() for path in pc.export("out", "csv"))
    one, two = (pc.run(study, name, models=[name]) for name in models)
    between = pc.compare(*models)
    (a,), (b,) = one.results.values(), two.results.values()
    assert_frame_equal(between.drop("probe"), pc.compare(a, b))
    assert between["probe"].unique().to_list() == ["minimal-pairs"]


# Help -------------------------------------------------------------------------------------------------------------


def test_representations_are_a_line(lm: Any, tmp_path: Path) -> None:
    vectors = tmp_path / "v.txt"
    vectors.write_text("a 1 2\nb 3 4\n", "utf-8")
    assert re.fullmatch(r"<word vectors v@[0-9a-f]{7}: 2 words, 2 dimensions>", repr(pc.load_vectors(vectors)))
    assert repr(lm) == "<masked model bundled:modern: float32, up to 256 tokens>"
    probe = pc.MinimalPairs("p.tsv", level=0.9)
    assert str(probe) == repr(probe) == "MinimalPairs(data='p.tsv', level=0.9)"
    assert repr(pc.Signature.parse("probe:x|seed:0")) == "<probe:x|seed:0>"
    assert repr(pc.MinimalPairs(PAIRS, resamples=100).run(lm)).startswith("<minimal-pairs with bundled:modern: 3 it")


@pytest.mark.parametrize("name", [name for name in pc.__all__ if callable(getattr(pc, name))])
def test_signatures_can_be_read(name: str) -> None:
    named = getattr(pc, name)
    signature = str(inspect.signature(named))
    assert "Annotated" not in signature and "FieldInfo" not in signature
    assert not (inspect.isfunction(named) and re.search(r": '|-> '", signature))  # types as they are written


@pytest.mark.parametrize("probe", [pc.Cloze, pc.MinimalPairs, pc.FairPairs, pc.Values, pc.WEAT, pc.SEAT, pc.CEAT])
def test_help_explains_every_parameter(probe: Any) -> None:
    shown = pydoc.plain(pydoc.render_doc(probe))
    parameters = shown.partition("Parameters\n")[2].partition("Method resolution order")[0]
    first = next(iter(inspect.signature(probe).parameters))
    assert probe.model_fields[first].is_required()
    for name, field in probe.model_fields.items():
        assert f" {name} : " in parameters
        assert field.description
    assert " resamples : int, at least 100, at most 1000000, default " in parameters


def test_help_says_where_tables_are_taken() -> None:
    shown = pydoc.plain(pydoc.render_doc(pc.Values))
    assert " data : str | table, required" in shown
    assert " survey : str | table | None, default None" in shown
    assert all(name in pc.__doc__ for name in ("load", "score", "MinimalPairs", "compare", "read_survey"))


def test_a_table_of_one_column_is_that_column() -> None:
    for table in ({"text": ["a", "b"]}, pl.DataFrame({"n": ["a", "b"]}), pd.DataFrame({0: ["a", "b"]})):
        assert texts(table) == ["a", "b"]
    assert texts("one") == ["one"]
    assert texts([]) == []


def test_a_lazy_frame_is_read(tmp_path: Path) -> None:
    frame = pl.DataFrame(COLUMNS)
    assert pc.read_pairs(frame.lazy()).sha256 == pc.read_pairs(frame).sha256
    assert pc.MinimalPairs(frame.lazy()).data == pc.MinimalPairs(frame).data
    assert texts(pl.LazyFrame({"text": ["a"]})) == ["a"]
    with pytest.raises(pc.DataError, match=r"^the data: the LazyFrame cannot be read: [^\n]+$"):
        pc.MinimalPairs(frame.lazy().select("god"))


def test_columns_of_one_name_and_groups_are_no_table(lm: Any) -> None:
    twice = pd.DataFrame([["The cats sleep.", "The cats sleeps.", "x"]], columns=["good", "bad", "bad"])
    for call in (pc.MinimalPairs, pc.read_pairs, pc.read_cloze, pc.WEAT):
        with pytest.raises(pc.DataError, match=r"^the data: two columns have the same name: bad — rename one of them"):
            call(twice)
    grouped = pd.DataFrame(COLUMNS).assign(group="g").groupby("group")
    wrong = "not a set of statements|no set|no file and no table|neither a file nor a table"
    for call in (pc.MinimalPairs, pc.read_pairs, pc.read_stimuli, pc.Cloze, pc.Values, pc.read_values):
        with pytest.raises(pc.DataError, match=rf"a DataFrameGroupBy is ({wrong}) — [^\n]+$"):
            call(grouped)
    for call in (pc.score, pc.check):
        with pytest.raises(pc.DataError, match=r"^text 1: a tuple is not a text"):
            call(lm, grouped)


def test_what_a_reader_gives_is_not_read_again() -> None:
    for data in (pc.read_pairs(PAIRS), pc.read_stimuli(LISTS), 3, pc.load):
        with pytest.raises(pc.DataError, match=r"^MinimalPairs, data: an? .* is neither a file nor a table — [^\n]+$"):
            pc.MinimalPairs(data)
    with pytest.raises(pc.DataError, match=r"pass the original file or table, .*columns="):
        pc.MinimalPairs(pc.read_pairs(PAIRS))


# Places -----------------------------------------------------------------------------------------------------------


def holed(**cells: list[Any]) -> list[Any]:
    """The same rows in every form that a table can be given in."""
    rows_ = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    return [cells, rows_, pl.DataFrame(cells), pd.DataFrame(cells)]


def test_errors_cite_the_data_the_row_and_the_column(lm: Any) -> None:
    """By what was given, in the order in which it was given: no file and no line is named."""
    for pairs in holed(id=["a", "b", "c"], good=["She sings.", "He sang.", ""], bad=["She sing.", "", "z"]):
        for call in (pc.read_pairs, lambda given: pc.MinimalPairs(given).run(lm), lambda given: pc.audit(lm, given)):
            with pytest.raises(pc.DataError) as error:
                call(pairs)
            assert str(error.value).startswith("the data, row 2 ('bad'): the field is ")
            (note,) = error.value.__notes__
            assert note.startswith("the data, row 3 ('good'): ")
    for pairs in holed(id=["a", "b", "a"], good=["a", "b", "c"], bad=["x", "y", "z"]):
        with pytest.raises(pc.DataError, match=r"^the data, row 3: .* row 1: 'a' — "):
            pc.read_pairs(pairs)
    same = {"good": ["a"] * 8 + ["x"], "bad": ["b"] * 9}
    with pytest.raises(pc.DataError) as error:
        pc.read_pairs({**same, "good": [""] * 8 + ["x"]})
    assert error.value.__notes__ == ["the same on 7 more rows: 2, 3, 4, 5, 6, 7, 8"]
    assert any("row 2 as row 1" in caution for caution in pc.read_pairs(same).cautions)
    for cloze in holed(id=["1", "2"], text=["A [MASK].", "no gap"], expected=[1, 1], group=["g", "g"]):
        with pytest.raises(pc.DataError, match=r"^the data, row 2 \('text'\): a sentence must have exactly one gap"):
            pc.read_cloze(cloze)
    for words in holed(category=["1", "1"], set=["X", "Z"], word=["a\nb", "b"]):  # a line break is no row
        with pytest.raises(pc.DataError, match=r"^the data, row 2 \('set'\): input should be 'X', 'Y', 'A' or 'B'"):
            pc.read_stimuli(words)
    for statements in holed(id=["a", "b"], text=["x", ""], value=["v", "v"]):
        with pytest.raises(pc.DataError, match=r"^statements, row 2 \('text'\): is missing"):
            pc.read_values({"statements": statements, **SETS})
    for answers in holed(a=[1, 2, 9]):
        for survey in (answers, {"file": answers}):
            with pytest.raises(pc.DataError, match=r"^survey, row 3 \('a'\): expected an answer between 1 and 5, got"):
                pc.read_survey(survey, "a")


def test_other_tables_are_called_by_their_parameter(lm: Any) -> None:
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: pc.MinimalPairs(PAIRS, human=[("1", "anna", "best")]).run(lm), "human, row 1 ('choice')"),
        (lambda: pc.Cloze("early-modern-60", ratings=[("1", "w", "anna", 7)]).run(lm), "ratings, row 1 ('rating')"),
        (lambda: pc.Cloze("early-modern-60", lexicon={"thou": 7}).run(lm), "lexicon, row 1 ('valence')"),
        (lambda: pc.FairPairs(original=PAIRS, fair=[("a", "")]).run(lm), "fair, row 1 ('bad')"),
    ]
    for call, where in calls:
        with pytest.raises(pc.DataError) as error:
            call()
        assert str(error.value).startswith(f"{where}: ")


def test_a_place_is_that_of_the_data_in_a_models_refusal_and_in_tables(lm: Any) -> None:
    unknown = [("She sings.", "She sing."), ("漢字.", "漢.")]
    with pytest.raises(pc.DataError, match=r"^the data, row 2: the model's vocabulary lacks '漢"):
        pc.MinimalPairs(unknown).run(lm)
    result = pc.MinimalPairs(unknown, on_unknown="skip", resamples=100).run(lm)
    assert any("the data, row 2 ('漢" in caution for caution in result.cautions)
    assert set(result.items["file"]) == set(result.items["dataset"]) == {"the data"}
    assert set(result.summary["dataset"]) == {"the data"}
    assert re.fullmatch("the data#[0-9a-f]{6}", result.signature["data"])
    rows_ = {"id": ["1"], "word": ["rose"], "text": ["a rose"], "start": [2], "end": [6]}
    (source,) = pc.read_occurrences(rows_, {"rose": ["rose"]})["source"]
    assert re.fullmatch("the data#[0-9a-f]{6}", source)
    told = str(pc.read_survey(ANSWERS, ["eq1"]).source("all"))
    assert re.match("survey#[0-9a-f]{6}, ", told)


# Ids --------------------------------------------------------------------------------------------------------------


def test_columns_name_the_id(lm: Any) -> None:
    table = pl.DataFrame({"nr": ["x7", "x8", "x9"], "ok": COLUMNS["good"], "ko": COLUMNS["bad"], "id": ["no"] * 3})
    columns = {"id": "nr", "good": "ok", "bad": "ko"}
    assert [item.id for item in pc.read_pairs(table, columns).items] == ["x7", "x8", "x9"]
    result = pc.MinimalPairs(table, columns=columns, resamples=100).run(lm)
    assert table.join(result.items, left_on="nr", right_on="id").height == 3
    assert result.signature["columns"] == "good=ok+bad=ko+id=nr"
    audited = pc.audit(lm, table, columns=columns)
    assert_frame_equal(audited.drop("dataset", "group"), pc.audit(lm, PAIRS).drop("dataset", "group"))
    twice = table.with_columns(nr=pl.lit("x7"))
    with pytest.raises(pc.DataError, match=r"same id as the one on row 1: 'x7'"):
        pc.audit(lm, twice, columns)
    with pytest.raises(pc.DataError, match=r"^the data: there is no column 'nrr' — did you mean nr"):
        pc.read_pairs(table, {**columns, "id": "nrr"})
    with pytest.raises(pc.MethodError, match=r"^columns: unknown key 'ident' — use one of good, bad, group, id, "):
        pc.read_pairs(table, {"ident": "nr"})
    with pytest.raises(pc.MethodError, match=r"^audit\(\), columns: columns does not apply to pairs from read_pairs"):
        pc.audit(lm, pc.read_pairs(table, columns), columns)


def test_the_commands_name_the_id(tmp_path: Path, penchant: Program) -> None:
    """A repeated id is refused only where it is the id: the option reaches every command that reads pairs."""
    cells = "".join(f"x,{n},{good},{bad}\n" for n, (good, bad) in enumerate(PAIRS))
    (tmp_path / "p.csv").write_text(f"id,nr,good,bad\n{cells}", "utf-8")
    for call in (["audit", "p.csv"], ["check", "p.csv"]):
        code, _, err = penchant(*call, "-m", "bundled:modern")
        assert code == 2 and "p.csv, line 3: the pair has the same id as the one on line 2: 'x'" in err
        assert penchant(*call, "-m", "bundled:modern", "--id", "nr")[0] == 0
    for command in ("filter", "repair"):
        assert penchant("pairs", command, "p.csv", "-t", "bundled:modern")[0] == 2
        succeeded(penchant("pairs", command, "p.csv", "-t", "bundled:modern", "--id", "nr"))
    pairs: dict[str, Any] = {"data": str(tmp_path / "p.csv"), "resamples": 100}
    study = {"study": "s", "models": ["bundled:modern"], "probes": [{"minimal-pairs": pairs}]}
    with pytest.raises(pc.DataError, match="same id"):
        pc.run(study, tmp_path / "out")
    pairs["columns"] = {"id": "nr"}
    (result,) = pc.run(study, tmp_path / "out").results.values()
    assert result.items["id"].to_list() == [0, 1, 2]


# Capitals ---------------------------------------------------------------------------------------------------------


def test_stimuli_with_capitals_are_told_where_vectors_have_none(tmp_path: Path) -> None:
    lists = {**LISTS, "X": ["Rose", "Lily", "tulip"], "Y": ["ant", "Flea", "Wasp"]}
    words = [word for each in LISTS.values() for word in each if word != "wasp"]
    rng = np.random.default_rng(0)
    lines = [f"{word} {' '.join(map(str, rng.normal(size=5).round(3)))}\n" for word in words]
    (tmp_path / "lower.txt").write_text("".join(lines), "utf-8")
    (tmp_path / "mixed.txt").write_text("".join([*lines, "Paris 1 2 3 4 5\n"]), "utf-8")
    lower = pc.WEAT(lists, max_missing=0.5).run(tmp_path / "lower.txt")
    told = [caution for caution in lower.cautions if "case:" in caution]
    assert len(told) == 1 and told[0].startswith("3 of 12 words") and "case: lower): Rose, Lily, Flea." in told[0]
    assert any(caution.startswith("1 stimulus is not in the vocabulary of lower@") for caution in lower.cautions)
    kept = pc.WEAT(lists, max_missing=0.9).run(tmp_path / "mixed.txt")
    told = [caution for caution in kept.cautions if "case:" in caution]
    assert len(told) == 1 and told[0].startswith("3 of 12 words") and "in lower case: Rose, Lily, Flea" in told[0]
    assert any(": Rose, Lily, Flea, Wasp" in caution for caution in kept.cautions)
    mended = pc.WEAT(lists, max_missing=0.5, case="lower").run(tmp_path / "mixed.txt")
    assert mended.summary["value"].to_list() == lower.summary["value"].to_list()
    for plain in (pc.WEAT(LISTS, max_missing=0.5).run(tmp_path / name) for name in ("lower.txt", "mixed.txt")):
        assert not any("case:" in caution for caution in plain.cautions)
