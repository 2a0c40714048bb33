"""Test sets are read as they were written, bad rows are told with their place, and the bundled sets keep their word."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest
import regex
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import builders
from answers import Answer, without_line
from bengali_models import bengali_model
from builders import refusal
from paths import SHARED, bundled, needs_shared
from penchant.corpus.word_segmentation import count_words
from penchant.errors import DataError
from penchant.instruments.cloze.data import (
    GAP,
    RESERVED,
    ClozeSet,
    read_candidates,
    read_cloze,
    read_lexicon,
)
from penchant.instruments.cloze.five_point_scale import POINTS
from penchant.instruments.cloze.probe import Cloze
from penchant.instruments.cloze.rating_formats import Rating, read_ratings
from penchant.instruments.cloze.ratings import write_ratings
from penchant.instruments.cloze.valences import UNRATED, Lookup, Valences, by_sentence, from_corpora
from penchant.tables.data_lookup import bundled as bundled_names

HEAD = "id,text,expected,group\n"
GOOD = HEAD + "a,The [MASK] sleeps.,-1,early\nb,She saw [MASK].,1,modern\n"
RATINGS = "sentence,word,rater,rating\n"

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return lambda name, text: builders.write(tmp_path / name, text)


def refused(read: Callable[[], object], place: str, *parts: str) -> None:
    """One line that begins with the place and says every part."""
    message = refusal(read, DataError)
    assert message.startswith(f"{place}: ") or without_line(message).startswith(f"{place}: "), message
    for part in parts:
        assert part in message


def points(found: ClozeSet) -> list[float]:
    return [sentence.expected for sentence in found.sentences]


# --- reading ------------------------------------------------------------------------------------------------------


def test_a_directory_its_file_and_the_bare_table_hold_the_same_sentences(write: Write) -> None:
    table = write("tudor/sentences.csv", GOOD)
    file = write("tudor/set.yaml", "language: en\nscale: {low: early, high: modern}\n")
    found = read_cloze(table.parent)
    assert (found.name, found.language, found.scale.low, found.scale.high) == ("tudor", "en", "early", "modern")
    assert found == read_cloze(file)
    assert (found.path, found.sha256) == (table, hashlib.sha256(table.read_bytes()).hexdigest())
    first, second = found.sentences
    assert (first.item.id, first.text, first.expected) == ("a", "The [MASK] sleeps.", -1.0)
    assert first.item.labels == {"group": "early"}
    assert second.item.place == f"{table}, line 3"
    bare = read_cloze(table)
    assert bare.sentences == found.sentences
    assert (bare.name, bare.language, bare.scale.low, bare.scale.high) == ("sentences", "und", "−1", "+1")
    assert (bare.ratings, bare.lexicon, bare.candidates) == ((), (), None)


def test_set_yaml_names_its_tables_relative_to_itself(write: Write, tmp_path: Path) -> None:
    write("s/texts/mine.csv", GOOD)
    file = write(
        "s/set.yaml",
        "name: mine\nsentences: texts/mine.csv\nratings: [r.csv, q.csv]\nlexicon: [../l.csv]\ncandidates: c.csv\n",
    )
    found = read_cloze(file)
    folder = tmp_path / "s"
    assert found.name == "mine"
    assert found.ratings == (folder / "r.csv", folder / "q.csv")
    assert (found.lexicon, found.candidates) == ((folder / "../l.csv",), folder / "c.csv")
    assert found.files == [
        folder / "set.yaml",
        folder / "texts/mine.csv",
        *found.ratings,
        *found.lexicon,
        folder / "c.csv",
    ]


def test_the_name_of_the_working_directory(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("tudor/sentences.csv", GOOD)
    file = write("tudor/set.yaml", "language: en\n")
    monkeypatch.chdir(file.parent)
    assert read_cloze(".").name == "tudor"


def test_extra_columns_become_labels(write: Write) -> None:
    table = write("s.csv", "id,text,expected,group,register,year\na,The [MASK].,0,g,drama,1600\nb,A [MASK].,0,g,,\n")
    first, second = read_cloze(table).sentences
    assert first.item.labels == {"group": "g", "register": "drama", "year": "1600"}
    assert second.item.labels == {"group": "g"}


def test_ids_are_nfc_and_texts_as_they_are_written_without_space_around(write: Write) -> None:
    table = write("s.csv", HEAD + "e\u0301," + '" cafe\u0301  [MASK]’s \u09df. ",0,g\n')
    (sentence,) = read_cloze(table).sentences
    assert sentence.item.id == "é"
    assert sentence.text == "cafe\u0301  [MASK]’s \u09df."


@pytest.mark.parametrize(
    ("written", "point"),
    [
        ("-1", -1.0),
        ("−1", -1.0),
        ("-0,5", -0.5),
        ("−0,5", -0.5),
        ("-.5", -0.5),
        ("−½", -0.5),
        ("0", 0.0),
        ("-0", 0.0),
        ("0,0", 0.0),
        ("½", 0.5),
        ("0.50", 0.5),
        (" +1 ", 1.0),
        ("1,0", 1.0),
    ],
)
def test_points_as_people_and_spreadsheets_write_them(write: Write, written: str, point: float) -> None:
    (found,) = points(read_cloze(write("s.csv", HEAD + f'a,The [MASK].,"{written}",g\n')))
    assert (found, str(found)) == (point, str(point))
    (rating,) = read_ratings([write("r.csv", RATINGS + f'a,w,anna,"{written}"\n')])
    assert rating.value == point
    assert read_lexicon([write("l.csv", f'word,valence\nw,"{written}"\n')]) == {"w": point}


# --- bad sentences ------------------------------------------------------------------------------------------------

BAD_SENTENCES = {
    "no gap": (HEAD + "a,The old dog.,0,g\n", ", line 2, field 'text'", ["exactly one gap [MASK]", "has 0"]),
    "two gaps": (GOOD + "c,[MASK] and [MASK].,0,g\n", ", line 4, field 'text'", ["exactly one gap [MASK]", "has 2"]),
    "nothing but a gap": (HEAD + "a, [MASK] ,0,g\n", ", line 2, field 'text'", ["no text besides the gap"]),
    "gap of another model": (HEAD + "a,The <mask>.,0,g\n", ", line 2, field 'text'", ["[MASK]"]),
    "off the scale": (GOOD + "c,The [MASK].,0.7,g\n", ", line 4, field 'expected'", ["−1, −0.5, 0, 0.5 or 1", "'0.7'"]),
    "beyond the scale": (HEAD + "a,The [MASK].,-2,g\n", ", line 2, field 'expected'", ["'-2'"]),
    "not a number": (HEAD + "a,The [MASK].,nan,g\n", ", line 2, field 'expected'", ["'nan'"]),
    "a word for a point": (HEAD + "a,The [MASK].,early,g\n", ", line 2, field 'expected'", ["'early'"]),
    "empty point": (HEAD + "a,The [MASK].,,g\n", ", line 2, field 'expected'", ["is missing"]),
    "empty id": (HEAD + ",The [MASK].,0,g\n", ", line 2, field 'id'", ["is missing"]),
    "blank id": (HEAD + '" ",The [MASK].,0,g\n', ", line 2, field 'id'", ["blank"]),
    "blank group": (HEAD + "a,The [MASK].,0,\u00a0\n", ", line 2, field 'group'", ["blank"]),
    "same id": (GOOD + "a,A [MASK].,0,g\n", ", line 4, field 'id'", ["line 2", "'a'"]),
    "same id in NFD": (HEAD + "é,A [MASK].,0,g\ne\u0301,B [MASK].,0,g\n", ", line 3, field 'id'", ["line 2"]),
    "same id on one line": (
        json.dumps([{"id": 1, "text": "A [MASK].", "expected": 0, "group": "g"}] * 2),
        ", line 1, field 'id'",
        ["the same id", "'1'"],
    ),
    "missing column": (
        "id,sentence,expected,group\na,The [MASK].,0,g\n",
        ", line 2, field 'text'",
        ["is missing", "the columns are id, sentence, expected, group", "write columns: {text: COLUMN} in a study"],
    ),
    "column of the results": (
        "id,text,expected,group,beta\na,The [MASK].,0,g,1\n",
        ", line 2, field 'beta'",
        ["another name"],
    ),
    "list for a text": (
        '{"id": "a", "text": ["A [MASK]."], "expected": 0, "group": "g"}\n',
        ", line 1, field 'text'",
        ["expected a string"],
    ),
    "true for a point": (
        '{"id": "a", "text": "A [MASK].", "expected": true, "group": "g"}\n',
        ", line 1, field 'expected'",
        ["True"],
    ),
    "short row": (HEAD + "a,The [MASK].,0\n", ", line 2", ["3 fields"]),
    "header only": (HEAD, "", ["no rows"]),
    "empty": ("", "", ["empty"]),
}


@pytest.mark.parametrize("case", BAD_SENTENCES)
def test_bad_sentences(write: Write, case: str) -> None:
    text, place, parts = BAD_SENTENCES[case]
    table = write("set/sentences.csv", text)
    refused(lambda: read_cloze(table), f"{table}{place}", *parts)
    write("set/set.yaml", "language: en\n")
    refused(lambda: read_cloze(table.parent), f"{table}{place}", *parts)


def test_a_missing_cell_lists_no_columns(write: Write) -> None:
    table = write("s.csv", HEAD + ",The [MASK].,0,g\n")
    with pytest.raises(DataError) as caught:
        read_cloze(table)
    assert caught.value.hint == ""


@pytest.mark.parametrize(
    ("gap", "shown"),
    [("____", "___"), ("__", "___"), ("<mask>", "<mask>"), ("[Mask]", "[Mask]"), ("…", "…"), ("[ ]", "[ ]")],
)
def test_gaps_written_otherwise_are_one_line_that_says_how_to_write_them(write: Write, gap: str, shown: str) -> None:
    table = write("s.csv", HEAD + "".join(f"s{i},The old {gap} slept.,0,g\n" for i in range(30)))
    with pytest.raises(DataError) as caught:
        read_cloze(table)
    assert str(caught.value) == (
        f"{table}, line 2, field 'text': a sentence must have exactly one gap [MASK], but this one has 0: write [MASK] "
        f"for {shown} (… and 29 more like it)"
    )
    assert caught.value.__notes__ == [f"the same on 29 more lines: {', '.join(str(line) for line in range(3, 23))}, …"]


def test_columns_of_the_results_are_no_labels(write: Write) -> None:
    """A label must not meet a column that the probe adds to its items."""
    from penchant.instruments.cloze.estimates import measured

    made = measured(
        pl.DataFrame(
            {"expected": [0.0], "group": ["g"], "probs": [[1.0]], "valences": [[0.0]], "sources": [["lexicon"]]}
        ),
        rated_only=False,
    )
    assert {*made.columns, "words", "raters", "ratings"} - {"expected", "group"} == RESERVED


# --- bad set.yaml -------------------------------------------------------------------------------------------------

BAD_SETS = {
    "unknown key": ("language: en\nsentence: s.csv\n", ", sentence", ["unknown key", "penchant schema cloze"]),
    "unknown key inside": ("scale: {low: a, hihg: b}\n", ", scale.hihg", ["unknown key"]),
    "truth for a name": ("name: true\n", ", name", ["not a string"]),
    "no list of files": ("ratings: {a: r.csv}\n", ", ratings", ["valid list"]),
    "not YAML": ("language: en\nscale: {low: a\nname: b: c\n", ", line 3", ["is not valid YAML"]),
    "tab": ("language: en\n\tname: x\n", ", line 2", ["is not valid YAML"]),
    "empty": ("", "", ["mapping with keys such as"]),
    "list": ("- sentences.csv\n", "", ["mapping with keys such as"]),
}


@pytest.mark.parametrize("case", BAD_SETS)
def test_bad_set_files(write: Write, case: str) -> None:
    text, place, parts = BAD_SETS[case]
    write("s/sentences.csv", GOOD)
    file = write("s/set.yaml", text)
    refused(lambda: read_cloze(file.parent), f"{file}{place}", *parts)


def test_a_set_file_that_is_not_utf_8(write: Write) -> None:
    file = write("s/set.yaml", "")
    file.write_bytes(b"name: caf\xe9\n")
    refused(lambda: read_cloze(file), f"{file}, line 1", "UTF-8")


def test_missing_files(write: Write, tmp_path: Path) -> None:
    refused(lambda: read_cloze(tmp_path / "no.csv"), str(tmp_path / "no.csv"), "no such file")
    refused(lambda: read_cloze(tmp_path / "set.yaml"), str(tmp_path / "set.yaml"), "no such file")
    refused(lambda: read_cloze(tmp_path), str(tmp_path), "contains no set.yaml", "penchant schema cloze")
    file = write("s/set.yaml", "sentences: texts.csv\n")
    refused(lambda: read_cloze(file.parent), str(file.parent / "texts.csv"), "no such file")


@pytest.mark.parametrize("key", ["ratings: [gone.csv]", "lexicon: [gone.csv]", "candidates: gone.csv"])
def test_a_missing_table_named_by_set_yaml_stops_a_study_before_a_model_is_loaded(
    penchant: Callable[..., tuple[int, str, str]], write: Write, key: str
) -> None:
    write("s/sentences.csv", GOOD)
    write("s/set.yaml", key + "\n")
    write("study.yaml", "study: s\nmodels: [no/such-model]\nprobes: [{cloze: {data: s}}]\n")
    code, _, err = penchant("run", "study.yaml", "-o", "out", "--cache", "none")
    assert code == 2
    assert "gone.csv: no such file" in err
    assert "such-model" not in err


# --- ratings, lexicons, candidates --------------------------------------------------------------------------------


def test_ratings_are_read_with_their_place(write: Write) -> None:
    first = write("r.csv", 'sentence,word,rater,rating,why\na,thou,anna,-1,old\n\na,thou,ben,"-0,5",\n')
    second = write("q.tsv", "sentence\tword\trater\trating\nb\tcafe\u0301\tanna\t½\n")
    assert read_ratings([first, second], ["a", "b"]) == [
        Rating("a", "thou", "anna", -1.0, f"{first}, line 2"),
        Rating("a", "thou", "ben", -0.5, f"{first}, line 4"),
        Rating("b", "café", "anna", 0.5, f"{second}, line 2"),
    ]


def test_ratings_of_a_sentence_with_another_text_are_refused(write: Write) -> None:
    texts = {f"s{n}": f"A [MASK] of {n}." for n in range(8)}
    head = "sentence,text,word,rater,rating\n"
    lines = [f"{id_},{text},{word},anna,1\n" for id_, text in texts.items() for word in ("thou", "you")]
    table = write("r.csv", head + "".join(lines) + "s0,,he,anna,1\n")
    kept = [text for text in texts.values() for _ in range(2)]
    assert [rating.text for rating in read_ratings([table], texts)] == [*kept, None]
    refused(
        lambda: read_ratings([table], {**texts, "s3": "Two [MASK]."}),
        f"{table}, line 8, field 'text'",
        "1 sentence ",
        ": s3 — ",
    )
    other = {id_: text if id_ == "s1" else f"The {text}" for id_, text in texts.items()}
    refused(lambda: read_ratings([table], other), f"{table}, line 2, field 'text'", ": s0, s2, s3, s4, s5, … — ")
    assert len(read_ratings([table])) == len(read_ratings([table], [*texts])) == 17  # nothing to hold them against


def test_a_table_of_ratings_may_be_empty_but_for_its_header(write: Write) -> None:
    table = write("r.csv", RATINGS)
    assert read_ratings([table], ["a"]) == []
    write("sentences.csv", GOOD)
    folder = write("set.yaml", "ratings: [r.csv]\n").parent
    assert Cloze(data=str(folder)).valences().of("a", "thou") == (None, UNRATED)
    refused(lambda: read_ratings([write("e.csv", "")]), str(folder / "e.csv"), "empty")


def test_bad_ratings(write: Write) -> None:
    row = "a,thou,anna,-1\n"
    first = write("first.csv", RATINGS + row)
    unknown = write("r.csv", RATINGS + row + "z,thou,anna,-1\n")
    refused(
        lambda: read_ratings([unknown], ["a"]),
        f"{unknown}, line 3, field 'sentence'",
        "no sentence 'z'",
        "the ids of the test set",
    )
    assert len(read_ratings([unknown])) == 2
    twice = write("r.csv", RATINGS + row + "a,thou,ben,-1\n" + "a,thou,anna,0\n")
    refused(
        lambda: read_ratings([twice], ["a"]),
        f"{twice}, line 4",
        "anna has already judged 'thou'",
        "sentence a",
        f"{twice}, line 2",
    )
    refused(lambda: read_ratings([first, twice]), f"{twice}, line 2", "has already judged", f"{first}, line 2")
    refused(lambda: read_ratings([first, first]), f"{first}, line 2", "has already judged")
    one_line = write("r.json", json.dumps([{"sentence": "a", "word": "w", "rater": "anna", "rating": 1}] * 2))
    refused(lambda: read_ratings([one_line]), f"{one_line}, line 1", "has already judged")
    off = write("r.csv", RATINGS + "a,thou,anna,3\n")
    refused(lambda: read_ratings([off]), f"{off}, line 2, field 'rating'", "'3'")
    empty = write("r.csv", RATINGS + "a,thou,anna,\n")
    refused(lambda: read_ratings([empty]), str(empty), "has 1 row but no rating")
    nobody = write("r.csv", "sentence,word,rating\na,thou,1\n")
    refused(
        lambda: read_ratings([nobody]), f"{nobody}, line 2, field 'rater'", "the columns are sentence, word, rating"
    )


def test_lexicons(write: Write) -> None:
    first = write("l.csv", "word,valence,note\nthou,-1,old\nThou,0,\n")
    second = write("m.csv", "word,valence\nyou,1\n")
    assert read_lexicon([first, second]) == {"thou": -1.0, "Thou": 0.0, "you": 1.0}
    assert read_lexicon([]) == {}
    twice = write("m.csv", "word,valence\nyou,1\nthou,-1\n")
    refused(lambda: read_lexicon([first, twice]), f"{twice}, line 3", "'thou' occurs twice", f"{first}, line 2")
    nfd = write("m.csv", "word,valence\né,1\ne\u0301,1\n")
    refused(lambda: read_lexicon([nfd]), f"{nfd}, line 3", "occurs twice", f"{nfd}, line 2")
    one_line = write("l.json", '[{"word": "a", "valence": 1}, {"word": "a", "valence": 0}]')
    refused(lambda: read_lexicon([one_line]), f"{one_line}, line 1", "occurs twice")
    off = write("m.csv", "word,valence\nyou,10\n")
    refused(lambda: read_lexicon([off]), f"{off}, line 2, field 'valence'", "'10'")
    date = write("m.csv", "word,valence\nyou,01-Feb\n")
    refused(lambda: read_lexicon([date]), f"{date}, line 2, field 'valence'", "converted by a spreadsheet: write 0.5")


def test_candidates(write: Write) -> None:
    table = write("c.csv", "sentence,word\nb,x\na,y\na,x\na,y\n")
    assert read_candidates(table, ["a", "b", "c"]) == {"b": ["x"], "a": ["y", "x"]}
    refused(lambda: read_candidates(table, ["a"]), f"{table}, line 2, field 'sentence'", "no sentence 'b'")


text = (
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
    .map(lambda s: unicodedata.normalize("NFC", s).strip())
    .filter(bool)
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.tuples(text, text, text), st.sampled_from(POINTS), max_size=5))
def test_ratings_round_trip(
    tmp_path_factory: pytest.TempPathFactory, values: dict[tuple[str, str, str], float]
) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.csv"
    ratings = [Rating(*key, value, "") for key, value in values.items()]
    write_ratings(ratings, path)
    again = read_ratings([path])
    assert [(r.sentence, r.word, r.rater, r.value) for r in again] == [(*key, v) for key, v in values.items()]


# --- bundled sets -------------------------------------------------------------------------------------------------

CLAIMS: dict[str, tuple[dict[str, tuple[str, int]], dict[float, int]]] = {
    "early-modern-60": (
        {"early": ("e01–e20", -1), "modern": ("m01–m20", 1), "neutral": ("n01–n20", 0)},
        {-1: 17, -0.5: 3, 0: 20, 0.5: 2, 1: 18},
    ),
    "early-modern-240": (
        {"early": ("e001–e080", -1), "modern": ("m001–m080", 1), "neutral": ("n001–n080", 0)},
        {-1: 60, -0.5: 20, 0: 80, 0.5: 20, 1: 60},
    ),
    "czech-register-60": (
        {"colloquial": ("h01–h20", -1), "standard": ("s01–s20", 1), "neutral": ("n01–n20", 0)},
        {-1: 17, -0.5: 3, 0: 20, 0.5: 3, 1: 17},
    ),
    "early-new-high-german-60": (
        {"early": ("e01–e20", -1), "modern": ("m01–m20", 1), "neutral": ("n01–n20", 0)},
        {-1: 18, -0.5: 2, 0: 20, 0.5: 2, 1: 18},
    ),
}
"""What the data statements say: the ids of each group and its sign, and how many sentences stand at each point."""
REGISTERS = {"early-modern-240": 10, "czech-register-60": 4}

every_set = pytest.mark.parametrize("name", sorted(CLAIMS))


def bundled_set(name: str) -> ClozeSet:
    return read_cloze(bundled(name))


def statement(name: str) -> str:
    given = yaml.safe_load((bundled(name) / "set.yaml").read_text("utf-8"))
    return (bundled(name) / str(given["statement"])).read_text("utf-8")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_bundled_set_is_looked_at() -> None:
    assert bundled_names(Cloze.folder() / "sets", "set.yaml") == sorted(CLAIMS)


def test_bundled_names_are_found_after_files_of_that_name(tmp_path: Path) -> None:
    assert Cloze.find("early-modern-60", [tmp_path]) == bundled("early-modern-60")
    (tmp_path / "early-modern-60").mkdir()
    assert Cloze.find("early-modern-60", [tmp_path]) == tmp_path / "early-modern-60"
    with pytest.raises(DataError, match="did you mean early-modern-60"):
        Cloze.find("early-modern-6", [tmp_path / "elsewhere"])


@every_set
def test_bundled_sets_read_whole(name: str) -> None:
    found = bundled_set(name)
    assert found.name == name
    ids = [sentence.item.id for sentence in found.sentences]
    read_ratings(found.ratings, ids)
    assert read_lexicon(found.lexicon)
    if found.candidates:
        read_candidates(found.candidates, ids)
    Cloze(data=name).valences()


@every_set
def test_bundled_sentences(name: str) -> None:
    found = bundled_set(name)
    groups, values = CLAIMS[name]
    for sentence in found.sentences:
        assert sentence.text.count(GAP) == 1
        assert np.sign(sentence.expected) == groups[sentence.item.labels["group"]][1], sentence.item.place
        assert unicodedata.is_normalized("NFC", sentence.text)
        assert re.search(r"[.!?…\"”’)]$", sentence.text), sentence.item.place
        assert "  " not in sentence.text
    assert len({sentence.item.id for sentence in found.sentences}) == len(found.sentences)
    assert len({sentence.text for sentence in found.sentences}) == len(found.sentences)
    assert Counter(points(found)) == values


@every_set
def test_bundled_groups_are_those_of_the_data_statement(name: str) -> None:
    found = bundled_set(name)
    said = statement(name)
    groups, _ = CLAIMS[name]
    for group, (ids, _) in groups.items():
        assert f"`{group}`" in said
        assert ids in said
        first, last = ids.split("–")
        numbers = range(int(first[1:]), int(last[1:]) + 1)
        wanted = [f"{first[0]}{number:0{len(first) - 1}}" for number in numbers]
        assert [s.item.id for s in found.sentences if s.item.labels["group"] == group] == wanted
    assert f"{len(found.sentences)} " in said
    assert "Apache-2.0" in said
    for part in ("Curation rationale", "Language varieties", "Known limits", "Licence"):
        assert f"**{part}" in said


@pytest.mark.parametrize("name", REGISTERS)
def test_bundled_registers_are_balanced(name: str) -> None:
    counts = Counter((s.item.labels["group"], s.item.labels["register"]) for s in bundled_set(name).sentences)
    assert set(counts.values()) == {REGISTERS[name]}
    said = statement(name)
    for _, register in counts:
        assert register in said


def test_the_larger_set_is_as_its_statement_says() -> None:
    sentences = bundled_set("early-modern-240").sentences
    lengths: dict[str, list[int]] = {}
    for sentence in sentences:
        lengths.setdefault(sentence.item.labels["group"], []).append(len(sentence.text.split()))
    every = [n for group in lengths.values() for n in group]
    assert (min(every), max(every)) == (9, 22)
    means = {group: round(float(np.mean(n)), 1) for group, n in lengths.items()}
    assert means == {"early": 17.2, "modern": 14.0, "neutral": 15.0}
    assert sum(s.text.startswith(GAP) for s in sentences) == 2
    assert sum(bool(re.search(r"\[MASK\]\W*$", s.text)) for s in sentences) == 2


def test_the_two_english_sets_share_no_sentence() -> None:
    large, small = (
        set().union(*(runs(s.text) for s in bundled_set(name).sentences))
        for name in ("early-modern-240", "early-modern-60")
    )
    assert large
    assert small.isdisjoint(large)


WORD = regex.compile(r"[\p{L}\p{M}']+")


def runs(sentence: str, n: int = 6) -> set[tuple[str, ...]]:
    """The runs of n words in a text, its gap closed up."""
    words = WORD.findall(sentence.replace(GAP, " ").casefold().replace("’", "'"))
    return set(zip(*(words[i:] for i in range(n)), strict=False))


@pytest.mark.whole
@needs_shared
def test_no_bundled_sentence_is_taken_from_the_corpora() -> None:
    corpora = SHARED.parent / "corpora"
    if not corpora.is_dir():
        pytest.skip(f"no corpora in {corpora}")
    own = {run: s.item.place for name in CLAIMS for s in bundled_set(name).sentences for run in runs(s.text)}
    assert len(own) > 2000
    found: set[tuple[str, ...]] = set()
    control: set[tuple[str, ...]] = set()
    files = sorted(corpora.glob("*.txt"))
    assert len(files) == 2
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines()):
            there = runs(line)
            found |= own.keys() & there
            if number == 1000:
                control |= there
    assert control
    assert not found, [(own[run], run) for run in found]


@pytest.mark.parametrize("name", ["english-early-modern", "czech-register"])
def test_bundled_lexicons_are_as_their_statements_say(name: str) -> None:
    place = bundled("lexicons") / f"{name}.csv"
    said = place.with_suffix(".md").read_text("utf-8")
    words = [row["word"] for row in rows(place)]
    assert words == sorted(set(words))
    assert len(words) >= 800
    for word in words:
        assert word == word.lower() == unicodedata.normalize("NFC", word).strip()
    values = read_lexicon([place])
    assert list(values) == words
    assert set(values.values()) == set(POINTS)
    assert f"{len(words):,} lower-case word" in said
    table = re.findall(r"^\| (−?[\d.]+) \|.*\| (\d+) \|$", said, re.MULTILINE)
    assert {float(point.replace("−", "-")): int(n) for point, n in table} == Counter(values.values())


def test_the_german_lexicon_is_as_its_statement_says() -> None:
    """Nothing in the neutral sentences tells the time, nor is any word in the lexicon twice but for its case."""
    found, said = bundled_set("early-new-high-german-60"), statement("early-new-high-german-60")
    values = read_lexicon(found.lexicon)
    assert list(values) == sorted({word.lower() for word in values})
    assert f"valences of {len(values)} frequent words" in said
    table = re.findall(r"^\| (−?[\d.]+) \|.*\| (\d+) \|$", said, re.MULTILINE)
    assert {float(point.replace("−", "-")): int(n) for point, n in table} == Counter(values.values())
    for sentence in found.sentences:
        rated = [values.get(word.lower(), 0.0) for word in WORD.findall(sentence.text.replace(GAP, " "))]
        side = np.sign(sentence.expected)
        assert all(value * side > 0 for value in rated if value) if side else not any(rated), sentence.item.place
    assert "No native philologist" in said


def test_the_german_set_runs_and_is_rated(penchant: Callable[..., Answer], tmp_path: Path) -> None:
    """Three lines are a study; a tiny model knows the letters. Its words are rated by the lexicon or by nobody yet."""
    found = bundled_set("early-new-high-german-60")
    lines = [sentence.text.replace(GAP, " ") for sentence in found.sentences] + list(read_lexicon(found.lexicon)) * 3
    model = bengali_model("wordpiece", lines, tmp_path)
    study = f"study: periods\nmodels: [{model}]\nprobes: [cloze: {{data: {found.name}, draws: 10}}]\n"
    (tmp_path / "periods.yaml").write_text(study, "utf-8")
    code, _, err = penchant("run", "periods.yaml", "-o", "first")
    assert code == 0, err
    (place,) = (tmp_path / "first").glob("*/*/items.parquet")
    items = pl.read_parquet(place)
    assert len(items) == 60
    assert set(items["sources"].explode()) == {"none", "piece", "set lexicon"}
    code, out, err = penchant("ratings", "export", "first")
    assert code == 0, err
    row = next(csv.DictReader(out.removeprefix("\ufeff").splitlines()))
    assert row["scale"].startswith("Early New High German is -1, present-day German is 1")


def test_czech_candidates_are_all_rated() -> None:
    found = bundled_set("czech-register-60")
    assert found.candidates
    ids = [sentence.item.id for sentence in found.sentences]
    candidates = read_candidates(found.candidates, ids)
    ratings = read_ratings(found.ratings, ids)
    assert list(candidates) == ids
    assert {len(words) for words in candidates.values()} == {4, 5, 6, 7}
    pairs = [(sentence, word) for sentence, words in candidates.items() for word in words]
    assert sorted(pairs) == sorted((r.sentence, r.word) for r in ratings)
    assert len(pairs) == len(rows(found.candidates)) == 371
    assert Counter(r.value for r in ratings) == {-1: 83, -0.5: 32, 0: 131, 0.5: 87, 1: 38}
    assert {r.rater for r in ratings} == {"penchant"}
    lexicon = read_lexicon(found.lexicon)
    assert sum(lexicon[r.word] != r.value for r in ratings) == 27


# --- the schema ---------------------------------------------------------------------------------------------------


@pytest.fixture
def schemas(penchant: Callable[..., tuple[int, str, str]]) -> dict[str, Any]:
    code, out, err = penchant("schema", "cloze")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    assert list(found) == ["set.yaml", "sentences", "ratings", "lexicon", "candidates"]
    for schema in found.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    return found


def as_json(path: Path) -> list[dict[str, object]]:
    """The rows of a CSV table as they would stand in JSON lines."""
    numbers = ("expected", "rating", "valence")
    return [{k: float(v) if k in numbers else v for k, v in row.items() if v} for row in rows(path)]


@every_set
def test_the_schemas_admit_the_bundled_files(schemas: dict[str, Any], name: str) -> None:
    found = bundled_set(name)
    validators = {key: jsonschema.Draft202012Validator(schema) for key, schema in schemas.items()}
    assert validators["set.yaml"].is_valid(yaml.safe_load((bundled(name) / "set.yaml").read_text("utf-8")))
    tables: list[tuple[str, Iterable[Path]]] = [
        ("sentences", [found.path]),
        ("ratings", found.ratings),
        ("lexicon", found.lexicon),
        ("candidates", [found.candidates] if found.candidates else []),
    ]
    for key, paths in tables:
        for path in paths:
            for row in as_json(path):
                validators[key].validate(row)


@pytest.mark.parametrize(
    ("key", "good", "change"),
    [
        ("set.yaml", {"language": "en"}, {"sentense": "s.csv"}),
        ("set.yaml", {"scale": {"low": "a", "high": "b"}}, {"ratings": 3}),
        ("sentences", {"id": "a", "text": "A [MASK].", "expected": -0.5, "group": "g", "x": 1}, {"expected": 0.7}),
        ("sentences", {"id": "a", "text": "A [MASK].", "expected": 1, "group": "g"}, {"group": None}),
        ("ratings", {"sentence": "a", "word": "w", "rater": "anna", "rating": 0}, {"rating": 2}),
        ("ratings", {"sentence": "a", "word": "w", "rater": "anna", "rating": 0}, {"rater": None}),
        ("lexicon", {"word": "w", "valence": 0.5}, {"valence": "0.5?"}),
        ("candidates", {"sentence": "a", "word": "w"}, {"word": None}),
    ],
)
def test_the_schemas_reject_what_is_wrong(
    schemas: dict[str, Any], key: str, good: dict[str, Any], change: dict[str, Any]
) -> None:
    validator = jsonschema.Draft202012Validator(schemas[key])
    assert validator.is_valid(good)
    wrong = {name: value for name, value in {**good, **change}.items() if value is not None}
    assert not validator.is_valid(wrong)


def test_there_is_no_other_schema(penchant: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = penchant("schema", "clozes")
    assert (code, out) == (2, "")
    assert "'clozes'" in err
    assert "use one of study" in err and "cloze" in err


# --- words of running text ----------------------------------------------------------------------------------------


def test_words_in_any_script(write: Write) -> None:
    bangla = "কিছু কথা, কিছু না। ছেলেরা"
    assert count_words(write("t.txt", bangla)) == {"কিছু": 2, "কথা": 1, "না": 1, "ছেলেরা": 1}
    # Joiners stand inside words: Bangla র‍্যাব, Persian می‌روم.
    assert count_words(write("t.txt", "র\u200d্যাব می\u200cروم a\u200d b")) == {
        "র\u200d্যাব": 1,
        "می\u200cروم": 1,
        "a": 1,
        "b": 1,
    }
    assert count_words(write("t.txt", "नमस्ते சொல் 語 Ελλάς")) == {"नमस्ते": 1, "சொல்": 1, "語": 1, "ελλάσ": 1}


def test_words_are_nfc_and_case_folded(write: Write) -> None:
    assert count_words(write("t.txt", "Café cafe\u0301 CAFÉ\nStraße STRASSE")) == {"café": 3, "strasse": 2}
    assert count_words(write("t.txt", "\u09df \u09af\u09bc")) == {"\u09af\u09bc": 2}


def test_apostrophes_hyphens_and_digits_end_a_word(write: Write) -> None:
    text = "\ufeffDon't o’er well-known 3rd x_y 42"
    assert count_words(write("t.txt", text)) == Counter(["don", "t", "o", "er", "well", "known", "rd", "x", "y"])


def test_texts_that_cannot_be_read(write: Write, tmp_path: Path) -> None:
    path = write("t.txt", "")
    assert count_words(path) == {}
    path.write_bytes(b"fine\nfine\ncaf\xe9\n")
    refused(lambda: count_words(path), f"{path}, line 3", "is not UTF-8")
    refused(lambda: count_words(tmp_path / "no.txt"), str(tmp_path / "no.txt"), "no such file")


# --- what a word is worth -----------------------------------------------------------------------------------------

SOURCES = ("ratings", "set ratings", "lexicon", "set lexicon", "corpora")


@pytest.mark.parametrize("first", range(len(SOURCES) + 1))
def test_the_first_source_that_knows_the_word_decides(write: Write, tmp_path: Path, first: int) -> None:
    """With the sources before it gone, each gives its own value: −1, −½, 0, ½, 1."""
    write("set/sentences.csv", GOOD)
    write("r.csv", RATINGS + "a,thou,anna,-1\n")
    write("set/r.csv", RATINGS + "a,thou,anna,-0.5\n")
    write("l.csv", "word,valence\nthou,0\n")
    write("set/l.csv", "word,valence\nthou,0.5\n")
    write("low.txt", "the " * 200)
    write("high.txt", "the " * 200 + "thou " * 200)
    kept = SOURCES[first:]
    keys = [f"{key}: [{key[0]}.csv]" for key in ("ratings", "lexicon") if f"set {key}" in kept]
    write("set/set.yaml", "\n".join(["name: s", *keys]) + "\n")
    options: dict[str, Any] = {key: f"{key[0]}.csv" for key in ("ratings", "lexicon") if key in kept}
    if "corpora" in kept:
        options["corpora"] = {"low": "low.txt", "high": "high.txt", "prior_size": 1}
    found = Cloze(data="set", **options).valences([tmp_path])
    assert found.of("a", "thou") == ((POINTS[first], SOURCES[first]) if kept else (None, UNRATED))
    # Ratings are about one sentence, the other sources about all.
    elsewhere = max(first, 2)
    assert found.of("b", "thou") == ((POINTS[elsewhere], SOURCES[elsewhere]) if kept else (None, UNRATED))
    assert found.of("a", "thee") == (None, UNRATED)


def test_as_written_before_without_regard_to_case() -> None:
    lookup = Lookup.of({"May": 1.0, "may": -0.5, "Thou": -1.0, "straße": 0.5, "US": 0.5, "us": 0.5})
    assert (lookup.get("May"), lookup.get("may")) == (1.0, -0.5)
    assert lookup.get("MAY") is None  # month or verb: nothing says which
    assert (lookup.get("thou"), lookup.get("THOU")) == (-1.0, -1.0)
    assert lookup.get("STRASSE") == 0.5
    assert lookup.get("Us") == 0.5  # both spellings say the same
    assert lookup.get("thee") is None
    assert Lookup.of({"cafe\u0301": 0.0}).get("CAFÉ") == Lookup.of({"café": 0.0}).get("cafe\u0301") == 0.0


def test_an_ambiguous_form_is_left_to_the_next_source() -> None:
    first = {"s": Lookup.of({"May": 1.0, "may": -1.0, "Will": 0.0})}
    second = {"": Lookup.of({"MAY": 0.5, "will": 1.0})}
    found = Valences([("ratings", first), ("lexicon", second)])
    assert found.of("s", "MAY") == (0.5, "lexicon")
    assert found.of("s", "will") == (0.0, "ratings")  # known there in another case, and 0 is a value
    assert found.of("other", "will") == (1.0, "lexicon")


def test_several_raters_count_with_their_mean() -> None:
    given = [
        ("s", "thou", "anna", -1.0),
        ("s", "thou", "ben", -0.5),
        ("s", "thou", "eve", 0.0),
        ("t", "thou", "anna", 1.0),
    ]
    found = by_sentence(Rating(*row, "") for row in [*given, ("s", "you", "ben", 0.5)])
    assert found.keys() == {"s", "t"}
    assert (found["s"].get("Thou"), found["s"].get("you"), found["t"].get("thou")) == (-0.5, 0.5, 1.0)
    assert found["t"].get("you") is None


LOW = "the " * 500 + "thou " * 60 + "hath " * 30 + "rare " * 9
HIGH = "the " * 500 + "has " * 60 + "hath " * 10 + "Hath! " * 2 + "seldom " * 4
NUMBERS: dict[str, Any] = {
    "minimum": 10,
    "prior_size": 10,
    "significant": 1.96,
    "weak": float(np.log(2)),
    "strong": float(np.log(10)),
}


def test_two_texts_tell_their_words_apart(write: Write) -> None:
    low, high = write("low.txt", LOW), write("high.txt", HIGH)
    found = from_corpora(low, high, **NUMBERS)
    # 30 of 599 words against 12 of 576: odds 2.5 times as high, z = −2.6.
    assert found == {"the": 0.0, "thou": -1.0, "has": 1.0, "hath": -0.5}
    assert from_corpora(high, low, **NUMBERS) == {word: -value for word, value in found.items()}
    rarer = from_corpora(low, high, **{**NUMBERS, "minimum": 9})
    assert rarer == {**found, "rare": 0.0}  # 9 times against none: too seldom to be significant
    # 500 of 599 words against 500 of 576: odds 1.3 times as high, z = 4.1.
    assert from_corpora(low, high, **{**NUMBERS, "weak": 0})["the"] == 0.5
    for threshold, value in (("significant", 3), ("weak", 1)):
        assert from_corpora(low, high, **{**NUMBERS, threshold: value})["hath"] == 0.0
    assert from_corpora(low, high, **{**NUMBERS, "strong": 0.8})["hath"] == -1.0


def test_texts_without_words(write: Write) -> None:
    low, high = write("low.txt", LOW), write("high.txt", "1, 2, 3!\n")
    refused(lambda: from_corpora(low, high, **NUMBERS), str(high), "contains no words")


def test_a_group_that_calls_for_both_ends_is_a_caution(penchant: Callable[..., Answer], tmp_path: Path) -> None:
    """One wrong point in a column of a spreadsheet leaves a group without a mean δ to compare: it is named."""
    points = [("early", "-1"), ("early", "1"), ("early", "-0,5"), ("early", "0"), ("late", "1"), ("late", "0")]
    lines = [f"s{i};The [MASK] is old {i}.;{point};{group}" for i, (group, point) in enumerate(points)]
    (tmp_path / "mine.csv").write_text("\n".join(["id;text;Punkt;group", *lines]))
    probe = "cloze: {data: mine.csv, k: 2, columns: {expected: Punkt}}"
    (tmp_path / "s.yaml").write_text(f"study: s\nmodels: [bundled:modern]\nprobes: [{probe}]\n")
    code, out, err = penchant("run", "s.yaml", "-o", "out", "--full")
    assert code == 0, err
    assert (
        "the sentences of the group 'early' call for both ends of the scale: in the column 'Punkt' 2 sentences are "
        "below 0 and 1 above (above: s1)" in " ".join((out + err).split())
    )
    assert "'late' call" not in out + err
