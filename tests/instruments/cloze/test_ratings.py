"""From predictions to human ratings and back, by the command line: nothing is lost, nothing half done."""

from __future__ import annotations

import csv
import json
import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import polars as pl
import pytest

import penchant as pc
from answers import Answer, refused
from builders import write_study
from penchant.errors import DataError
from penchant.instruments.cloze.estimates import measured
from penchant.instruments.cloze.five_point_scale import POINTS
from penchant.instruments.cloze.probe import Cloze
from penchant.instruments.cloze.rating_formats import Rating, read_ratings
from penchant.instruments.cloze.ratings import agreement, cloze_results, merge, unrated, write_ratings
from penchant.instruments.result import Result
from penchant.records import Signature
from penchant.tables.formula_escape import unguarded

Zoo = Callable[[str], Path]
Program = Callable[..., Answer]
Predicted = tuple[str, float, str]

COLUMNS = ["sentence", "text", "word", "filled", "scale", "rater", "rating"]
TEXTS = {"s1": "The old [MASK] slept.", "s2": "[MASK] saw, and left."}
PREDICTIONS: dict[str, list[Predicted]] = {
    "s1": [("dog", 0.4, "none"), ("hound", 0.25, "ratings"), ("##eth", 0.1, "piece"), ("thou", 0.05, "none")],
    "s2": [(",", 0.5, "none"), ("She", 0.125, "set lexicon"), ("They", 0.0625, "corpora")],
}


def result(
    model: str = "tiny",
    predictions: Mapping[str, Sequence[Predicted]] = PREDICTIONS,
    data: str = "mine#123456",
    texts: Mapping[str, str] = TEXTS,
) -> Result:
    """The result of the cloze probe for these predictions."""
    columns: dict[str, list[Any]] = {
        "id": list(predictions),
        "text": [texts[id_] for id_ in predictions],
        "expected": [0.0] * len(predictions),
        "group": ["g"] * len(predictions),
        "words": [[word for word, _, _ in row] for row in predictions.values()],
        "probs": [[p for _, p, _ in row] for row in predictions.values()],
        "valences": [[None if s in ("none", "piece") else 0.5 for _, _, s in row] for row in predictions.values()],
        "sources": [[source for _, _, source in row] for row in predictions.values()],
    }
    items = measured(pl.DataFrame(columns, schema_overrides={"valences": pl.List(pl.Float64)}), rated_only=False)
    numbers = {"level": 0.95, "resamples": 100, "seed": 0, "moved-share": 0.1, "draws": 2, "rated_only": "no"}
    numbers["scale"] = "old < new"
    probe = Cloze(data="mine", moved_share=0.1, draws=2, resamples=100)
    return probe.result(pc.Measured(items), Signature.of("cloze", model=model, data=data, **numbers))


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A directory with one cloze result, as penchant run leaves it."""
    result().save(tmp_path / "first" / "cloze" / "tiny")
    return tmp_path / "first"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def nfc(word: str) -> str:
    return unicodedata.normalize("NFC", word)


def fill(path: Path, rated: Sequence[Mapping[str, str]]) -> None:
    """The sheet of a rater: the exported rows with the column `rating` filled, saved by a spreadsheet."""
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, list(rated[0]))
        writer.writeheader()
        writer.writerows(rated)


# --- the whole way ------------------------------------------------------------------------------------------------

SENTENCES = """\
id,text,expected,group
e1,The old [MASK] saw the dog.,-1,early
e2,"The young nurse bought the [MASK], but the teacher saw a white horse.",-0.5,early
m1,The keys to the cabinet are on the [MASK].,1,modern
"""
# What the two raters say in turn. Ben writes −½ as his spreadsheet does, and leaves every fifth row empty.
ANNA = ["-1", "-0.5", "0", "0.5", "1"]
BEN = ["−1", "-0,5", "0,5", "1", ""]


@pytest.fixture
def study(zoo: Zoo, tmp_path: Path) -> Callable[..., Path]:
    """Write a study of a small test set with one tiny model, and with these parameters."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "set.yaml").write_text("language: en\nscale: {low: early, high: modern}\n")
    (tmp_path / "mine" / "sentences.csv").write_text(SENTENCES)

    def write(**parameters: Any) -> Path:
        cloze = {"data": "mine", "k": 12, "resamples": 100, "draws": 10, **parameters}
        return write_study(tmp_path / "study.yaml", [zoo("bert")], {"cloze": cloze})

    return write


def one_unit(out: Path) -> tuple[dict[str, int], pl.DataFrame]:
    """Return the number of calls of the model, and the items."""
    (unit,) = json.loads((out / "manifest.json").read_text())["units"]
    return unit["counts"], pl.read_parquet(out / unit["directory"] / "items.parquet")


@pytest.mark.whole
def test_from_predictions_to_ratings_and_back(penchant: Program, study: Callable[..., Path], tmp_path: Path) -> None:
    code, _, err = penchant("run", study(), "-o", "first")
    assert code == 0, err
    counts, before = one_unit(tmp_path / "first")
    assert counts["forward"] == 3
    flat = before.explode("words", "probs", "valences", "sources")
    assert set(flat["sources"]) <= {"none", "piece"}
    assert before["beta"].to_list() == [None, None, None]

    code, out, err = penchant("ratings", "export", "first", "-o", "rate.csv")
    assert (code, out) == (0, "")
    exported = rows(tmp_path / "rate.csv")
    # This model's vocabulary is in NFD (শোনে), tables of ratings are in NFC.
    unrated_words = [(id_, nfc(w)) for id_, w, s in flat.select("id", "words", "sources").iter_rows() if s == "none"]
    words = {(id_, word) for id_, word in unrated_words if any(map(str.isalnum, word))}
    marks = len(flat.filter(pl.col("sources") == "piece")) + len({*unrated_words} - words)
    told = [f"{len(exported)} words to rate, from −1 to 1 in steps of one half: rate.csv"]
    left_out = f"left out: {marks} predictions that are punctuation or pieces of words, which nobody can judge"
    assert err.splitlines() == told + [left_out] * (marks > 0)
    assert {(row["sentence"], row["word"]) for row in exported} == words
    assert len(exported) == len(words) >= 10

    anna = [{**row, "rating": ANNA[i % 5]} for i, row in enumerate(exported)]
    ben = [{**row, "rating": BEN[i % 5]} for i, row in enumerate(exported)]
    fill(tmp_path / "anna.csv", anna)
    fill(tmp_path / "ben.csv", ben)
    code, out, err = penchant("ratings", "import", "first", "anna.csv", "ben.csv", "--into", "ratings.csv")
    assert (code, out) == (0, "")
    empty = len(exported) // 5
    n = 2 * len(exported) - empty
    *per_file, merged, then = err.splitlines()
    assert per_file == [
        f"anna.csv: {len(exported)} rows, {len(exported)} rated, 0 left empty",
        f"ben.csv: {len(exported)} rows, {len(exported) - empty} rated, {empty} left empty",
    ]
    assert merged == f"ratings.csv: {n} ratings ({n} new, 0 already known, 0 replaced; {empty} rows left empty)"
    assert then.startswith("next: write ratings: ratings.csv under cloze in study.yaml, then penchant run study.yaml")

    said: dict[tuple[str, str], dict[str, float]] = {}
    for rater, returned in (("anna", anna), ("ben", ben)):
        for row in returned:
            if row["rating"]:
                point = float(row["rating"].replace("−", "-").replace(",", "."))
                said.setdefault((row["sentence"], row["word"]), {})[rater] = point
    kept = rows(tmp_path / "ratings.csv")
    assert {(r["sentence"], r["word"], r["rater"]): float(r["rating"]) for r in kept} == {
        (*key, rater): point for key, points in said.items() for rater, point in points.items()
    }
    order = [r["sentence"] for r in kept]
    assert order == sorted(order, key=["e1", "e2", "m1"].index)

    table = [[points.get(rater, math.nan) for points in said.values()] for rater in ("anna", "ben")]
    alpha = krippendorff.alpha(reliability_data=table, value_domain=POINTS, level_of_measurement="ordinal")
    found = agreement(read_ratings([tmp_path / "ratings.csv"]))
    assert found.alpha.value == pytest.approx(alpha, abs=1e-12)
    code, out, err = penchant("ratings", "agreement", "ratings.csv")
    assert code == 0, err
    assert f"{alpha:.4g}" in out
    assert "0 words whose ratings differ by 1 or more" in out

    code, _, err = penchant("run", study(ratings="ratings.csv"), "-o", "second")
    assert code == 0, err
    counts, after = one_unit(tmp_path / "second")
    assert (counts["forward"], counts["cached"]) == (0, 3)
    for old, new in zip(before.iter_rows(named=True), after.iter_rows(named=True), strict=True):
        assert (new["words"], new["probs"]) == (old["words"], old["probs"])
        assert new["sources"] == ["ratings" if source == "none" else source for source in old["sources"]]
        rated = {
            word: p
            for word, p, source in zip(new["words"], new["probs"], old["sources"], strict=True)
            if source == "none"
        }
        beta = sum(p * np.mean(list(said[new["id"], nfc(word)].values())) for word, p in rated.items())
        assert beta != 0
        assert new["beta"] == pytest.approx(beta, abs=1e-12)
        assert new["delta"] == pytest.approx(1 - abs(new["expected"] - beta) / 2, abs=1e-12)
        assert new["rated_share"] == pytest.approx(sum(rated.values()), abs=1e-12)
    code, out, err = penchant("ratings", "export", "second")
    assert out == ",".join(COLUMNS) + "\n"
    assert err.startswith("0 words to rate")


@pytest.mark.whole
def test_sentences_with_numbers_as_ids(penchant: Program, study: Callable[..., Path], tmp_path: Path) -> None:
    path = study()
    (tmp_path / "mine" / "sentences.csv").write_text(
        SENTENCES.replace("e1", "1").replace("e2", "2").replace("m1", "10")
    )
    assert penchant("run", path, "-o", "first")[0] == 0
    assert one_unit(tmp_path / "first")[1]["id"].to_list() == [1, 2, 10]
    assert penchant("ratings", "export", "first", "-o", "rate.csv")[0] == 0
    sheet = [{**row, "rating": "1"} for row in rows(tmp_path / "rate.csv")]
    assert list(dict.fromkeys(row["sentence"] for row in sheet)) == ["1", "2", "10"]
    fill(tmp_path / "anna.csv", sheet)
    code, _, err = penchant("ratings", "import", "first", "anna.csv", "--into", "ratings.csv")
    assert code == 0, err
    assert len(rows(tmp_path / "ratings.csv")) == len(sheet)
    code, _, err = penchant("run", study(ratings="ratings.csv"), "-o", "second")
    assert code == 0, err
    assert one_unit(tmp_path / "second")[1]["beta"].null_count() == 0


@pytest.mark.whole
def test_words_that_only_a_lexicon_rates_are_exported_on_demand(
    penchant: Program, study: Callable[..., Path], tmp_path: Path
) -> None:
    assert penchant("run", study(), "-o", "first")[0] == 0
    _, plain, _ = penchant("ratings", "export", "first")
    word = pl.read_csv(plain.encode())["word"][0]
    with (tmp_path / "words.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["word", "valence"], [word, "0.5"]])
    assert penchant("run", study(lexicon="words.csv"), "-o", "second")[0] == 0
    code, out, _ = penchant("ratings", "export", "second")
    assert code == 0
    assert word not in pl.read_csv(out.encode())["word"].to_list()
    assert penchant("ratings", "export", "second", "--estimated")[1] == plain


# --- export -------------------------------------------------------------------------------------------------------


def test_export_is_every_unrated_word_in_its_sentence(penchant: Program, first: Path) -> None:
    code, out, err = penchant("ratings", "export", first)
    assert code == 0
    assert err == (
        "2 words to rate, from −1 to 1 in steps of one half\n"
        "left out: 2 predictions that are punctuation or pieces of words, which nobody can judge\n"
    )
    found = list(csv.DictReader(out.splitlines()))
    assert list(found[0]) == COLUMNS
    assert [(r["sentence"], r["word"], r["filled"]) for r in found] == [
        ("s1", "dog", "The old dog slept."),
        ("s1", "thou", "The old thou slept."),
    ]
    for row in found:
        assert row["text"] == TEXTS[row["sentence"]]
        assert (row["rater"], row["rating"]) == ("", "")


def test_export_with_estimated_words(first: Path) -> None:
    found = unrated(cloze_results(first), estimated=True)
    assert found["word"].to_list() == ["dog", "thou", "She", "They"]


def test_two_models_share_a_row(penchant: Program, first: Path, tmp_path: Path) -> None:
    other: dict[str, list[Predicted]] = {
        "s1": [("thou", 0.45, "none"), ("dog", 0.3, "none"), ("cat", 0.01, "none")],
        "s2": [("He", 0.7, "none")],
    }
    result("other", other).save(first / "cloze" / "other")
    assert penchant("ratings", "export", first, "-o", "rate.csv")[0] == 0
    found = [(r["sentence"], r["word"]) for r in rows(tmp_path / "rate.csv")]
    # In alphabetical order: neither the model nor how sure it is may be guessed by those who rate.
    assert found == [("s1", "cat"), ("s1", "dog"), ("s1", "thou"), ("s2", "He")]
    before = (tmp_path / "rate.csv").read_bytes()
    code, _, err = penchant("ratings", "export", first, "-o", "rate.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "already exists" in err
    assert (tmp_path / "rate.csv").read_bytes() == before


def test_a_word_that_one_model_predicts_twice_is_one_row(tmp_path: Path) -> None:
    """Byte-level vocabularies hold a word with and without a space; two spellings can be one word in NFC."""
    nfd = unicodedata.normalize("NFD", "café")
    twice: dict[str, list[Predicted]] = {
        "s1": [("dog", 0.2, "none"), ("dog", 0.3, "none"), (nfd, 0.1, "none"), ("café", 0.1, "none")]
    }
    result(predictions=twice).save(tmp_path / "out" / "cloze" / "tiny")
    result(predictions=twice).save(tmp_path / "out" / "cloze-2" / "tiny")
    found = unrated(cloze_results(tmp_path / "out"))
    assert found["word"].to_list() == ["café", "dog"]


def test_an_export_nobody_filled_comes_back(penchant: Program, tmp_path: Path) -> None:
    words = ["don't", "a b", "[SEP]", "क्या", "0", "None", "NaN", "true", "=1+1", "\t x", "'s", "it;s"]
    odd: dict[str, list[Predicted]] = {"s1": [(word, 0.01, "none") for word in [*words, ",", '"', "'", ";"]]}
    result(predictions=odd, texts={"s1": 'He said "a,b",\n[MASK].'}).save(tmp_path / "first" / "cloze" / "tiny")
    code, _, err = penchant("ratings", "export", "first", "-o", "rate.csv")
    assert (code, err.splitlines()[1][:25]) == (0, "left out: 4 predictions t")
    answer = penchant("ratings", "import", "first", "rate.csv", "--into", "ratings.csv")
    refused(answer, f"no rating to import: rate.csv: the column 'rating' is empty in all {len(words)} rows — fill in")
    assert not (tmp_path / "ratings.csv").exists()
    filled = [{**row, "rating": "1"} for row in rows(tmp_path / "rate.csv")]
    assert sorted(unguarded(row["word"]) for row in filled) == sorted(words)
    fill(tmp_path / "anna.csv", filled)
    assert penchant("ratings", "import", "first", "anna.csv", "--into", "ratings.csv")[0] == 0
    again = read_ratings([tmp_path / "ratings.csv"])
    assert {r.word for r in again} == {word.strip() for word in words}


def test_a_directory_may_be_that_of_one_probe(penchant: Program, first: Path) -> None:
    assert penchant("ratings", "export", first / "cloze") == penchant("ratings", "export", first)


def test_two_test_sets_are_refused(penchant: Program, first: Path) -> None:
    result(data="other#654321").save(first / "cloze-2" / "tiny")
    names = f"name one of {first / 'cloze'}, {first / 'cloze-2'}"
    for command in (("export", first), ("import", first, "anna.csv", "--into", "r.csv")):
        refused(penchant("ratings", *command), f"{first}: ", "different test sets", names)
    for name in ("cloze", "cloze-2"):
        assert penchant("ratings", "export", first / name)[0] == 0


def test_no_cloze_result_is_refused(penchant: Program, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    other = result()
    pairs = Signature.of("minimal-pairs", model="m", data="pairs#123456")
    Result(pairs, other.items, other.summary).save(tmp_path / "pairs" / "minimal-pairs" / "m")
    for name in ("empty", "nowhere", "pairs"):
        refused(penchant("ratings", "export", name), f"{name}: contains no cloze result", "penchant run")
    refused(penchant("ratings", "import", "empty", "anna.csv", "--into", "r.csv"), "contains no cloze result")


def test_other_probes_of_the_study_are_passed_over(penchant: Program, first: Path) -> None:
    alone = penchant("ratings", "export", first)
    other = result()
    pairs = Signature.of("minimal-pairs", model="m", data="pairs#123456")
    Result(pairs, other.items, other.summary).save(first / "minimal-pairs" / "m")
    assert penchant("ratings", "export", first) == alone


def test_a_broken_result_is_named(penchant: Program, first: Path) -> None:
    (first / "cloze" / "tiny" / "items.parquet").unlink()
    refused(penchant("ratings", "export", first), str(first / "cloze" / "tiny"), "contains no result")


# --- import -------------------------------------------------------------------------------------------------------

HEAD = "sentence,text,word,rating\n"
DOG = f"s1,{TEXTS['s1']},dog,"
BEFORE = "sentence,word,rater,rating\ns1,dog,anna,-0.5\ns1,dog,eve,1\n"

BAD_RETURNS: dict[str, tuple[str, list[str]]] = {
    "off the scale": (HEAD + f"{DOG}-0.5\ns1,,thou,-2\n", ["anna.csv, line 3, field 'rating'", "'-2'", "−1, −0.5, 0"]),
    "between two points": (HEAD + f'{DOG}"0,25"\n', ["anna.csv, line 2, field 'rating'", "'0,25'"]),
    "a word for a point": (HEAD + f"{DOG}old\n", ["anna.csv, line 2, field 'rating'", "'old'"]),
    "unknown sentence": (
        HEAD + "s1,,thou,1\n\ns9,,dog,1\n",
        ["anna.csv, line 4, field 'sentence'", "no sentence 's9'"],
    ),
    "unknown sentence, no rating": (HEAD + "s9,,dog,\n", ["anna.csv, line 2, field 'sentence'", "'s9'"]),
    "changed text": (
        HEAD + "s1,The odd [MASK] slept.,dog,1\n",
        ["anna.csv, line 2, field 'text'", "not the text of sentence s1"],
    ),
    "text of another sentence": (HEAD + f"s2,{TEXTS['s1']},dog,1\n", ["anna.csv, line 2, field 'text'", "sentence s2"]),
    "rated twice": (
        HEAD + "s1,,thou,1\n" + "s2,,He,1\n" + "s1,,thou,1\n",
        ["anna.csv, line 4", "anna has already judged 'thou'", "anna.csv, line 2"],
    ),
    "contradiction": (
        HEAD + "s1,,thou,1\n" + f"{DOG}0\n",
        ["anna.csv, line 3", "anna rated 'dog'", "-0.5 before", "ratings.csv, line 2", "--replace"],
    ),
    "no word": (HEAD + f"s1,{TEXTS['s1']},,1\n", ["anna.csv, line 2, field 'word'", "is missing"]),
    "no such column": (
        "sentence,filler,rating\ns1,dog,1\n",
        ["anna.csv, line 2, field 'word'", "the columns are sentence, filler, rating"],
    ),
    "empty": ("", ["anna.csv: ", "empty"]),
}


@pytest.mark.parametrize("case", BAD_RETURNS)
def test_what_cannot_be_imported_changes_nothing(penchant: Program, first: Path, tmp_path: Path, case: str) -> None:
    text, parts = BAD_RETURNS[case]
    (tmp_path / "anna.csv").write_text(text, "utf-8")
    (tmp_path / "ben.csv").write_text(HEAD + "s1,,thou,1\ns2,,He,0.5\n")
    target = tmp_path / "ratings.csv"
    for files in (["anna.csv"], ["ben.csv", "anna.csv"], ["anna.csv", "ben.csv"]):
        target.write_text(BEFORE)
        refused(penchant("ratings", "import", first, *files, "--into", "ratings.csv"), *parts)
        assert target.read_bytes() == BEFORE.encode()
        if case != "contradiction":
            target.unlink()
            refused(penchant("ratings", "import", first, *files, "--into", "ratings.csv"), *parts)
            assert not target.exists()


def test_several_files_all_or_nothing(penchant: Program, first: Path, tmp_path: Path) -> None:
    (tmp_path / "anna.csv").write_text(HEAD + f"{DOG}1\n")
    (tmp_path / "ben.csv").write_text(HEAD + f"{DOG}\n" + "s2,,He,1\n")
    code, _, err = penchant("ratings", "import", first, "anna.csv", "ben.csv", "--into", "new/ratings.csv")
    assert code == 0
    assert err.splitlines() == [
        "anna.csv: 1 row, 1 rated, 0 left empty",
        "ben.csv: 2 rows, 1 rated, 1 left empty",
        "note: no model predicted 'He' in s2: these ratings change no result",
        "new/ratings.csv: 2 ratings (2 new, 0 already known, 0 replaced; 1 row left empty)",
    ]
    kept = (tmp_path / "new/ratings.csv").read_text()
    assert kept == f"sentence,text,word,rater,rating\ns1,{TEXTS['s1']},dog,anna,1\ns2,,He,ben,1\n"
    again = penchant("ratings", "import", first, "anna.csv", "ben.csv", "--into", "new/ratings.csv")
    assert "2 ratings (0 new, 2 already known, 0 replaced; 1 row left empty)" in again[2]
    assert (tmp_path / "new/ratings.csv").read_text() == kept
    twice = penchant("ratings", "import", first, "anna.csv", "anna.csv", "--into", "new/ratings.csv")
    refused(twice, "anna.csv, line 2", "has already judged", "the first judgement is in anna.csv, line 2")
    refused(penchant("ratings", "import", first, "anna.csv", "gone.csv", "--into", "r.csv"), "gone.csv: no such file")
    assert not (tmp_path / "r.csv").exists()


def test_replace_changes_what_this_rater_said_before(penchant: Program, first: Path, tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text(BEFORE + "s2,He,anna,1\n")
    (tmp_path / "anna.csv").write_text(HEAD + f'{DOG}"0,5"\n' + "s2,,He,1\ns1,,thou,-1\n")
    command = ("ratings", "import", first, "anna.csv", "--into", "ratings.csv")
    refused(penchant(*command), "--replace")
    code, _, err = penchant(*command, "--replace")
    assert code == 0
    assert err.endswith("ratings.csv: 4 ratings (1 new, 1 already known, 1 replaced; 0 rows left empty)\n")
    kept = [(r.sentence, r.word, r.rater, r.value) for r in read_ratings([tmp_path / "ratings.csv"])]
    assert kept == [
        ("s1", "dog", "anna", 0.5),
        ("s1", "dog", "eve", 1.0),
        ("s1", "thou", "anna", -1.0),
        ("s2", "He", "anna", 1.0),
    ]
    # Even then no rater may contradict herself in what she returns.
    (tmp_path / "anna.csv").write_text(HEAD + f"{DOG}0\n{DOG}1\n")
    refused(penchant(*command, "--replace"), "anna.csv, line 3", "has already judged")


def test_an_emptied_rating_leaves_the_earlier_one(penchant: Program, first: Path, tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text(BEFORE)
    (tmp_path / "anna.csv").write_text(HEAD + f"{DOG}\ns1,,thou,1\n")
    code, _, err = penchant("ratings", "import", first, "anna.csv", "--into", "ratings.csv", "--replace")
    assert code == 0
    assert "3 ratings (1 new, 0 already known, 0 replaced; 1 row left empty)" in err
    assert (tmp_path / "ratings.csv").read_text() == BEFORE + "s1,thou,anna,1\n"


def test_who_rated(penchant: Program, first: Path, tmp_path: Path) -> None:
    (tmp_path / "rate (2).csv").write_text("sentence,word,rater,rating\ns1,dog,,1\ns1,thou,Cleo,1\n")
    command = ("ratings", "import", first, "rate (2).csv", "--into", "ratings.csv")
    assert penchant(*command)[0] == 0
    assert penchant(*command, "--rater", "dora ")[0] == 0
    kept = [(r.word, r.rater) for r in read_ratings([tmp_path / "ratings.csv"])]
    assert kept == [("dog", "dora"), ("dog", "rate (2)"), ("thou", "Cleo")]
    before = (tmp_path / "ratings.csv").read_bytes()
    refused(penchant(*command, "--rater", " "), "--rater: ", "blank")
    assert (tmp_path / "ratings.csv").read_bytes() == before


def test_a_file_name_in_nfd_is_the_same_rater(penchant: Program, first: Path, tmp_path: Path) -> None:
    """Some systems hand out file names in NFD, and tables are read in NFC."""
    file = tmp_path / unicodedata.normalize("NFD", "Zoë.csv")
    file.write_text(HEAD + f"{DOG}1\n")
    for known in (0, 1):
        code, _, err = penchant("ratings", "import", first, file, "--into", "ratings.csv")
        assert code == 0, err
        assert f"1 rating ({1 - known} new, {known} already known" in err
    assert [r.rater for r in read_ratings([tmp_path / "ratings.csv"])] == ["Zoë"]


def test_twice_on_one_line(tmp_path: Path) -> None:
    (tmp_path / "anna.json").write_text(json.dumps([{"sentence": "s1", "word": "dog", "rating": n} for n in (0, 1)]))
    with pytest.raises(DataError, match=r"anna\.json, line 1: anna has already judged 'dog' in sentence s1"):
        merge([result()], [tmp_path / "anna.json"], tmp_path / "ratings.csv")


def test_a_text_is_the_same_in_any_normal_form(penchant: Program, tmp_path: Path) -> None:
    texts = {"s1": "Žluťoučký [MASK] pěl."}
    result(predictions={"s1": [("kůň", 0.5, "none")]}, texts=texts).save(tmp_path / "first" / "cloze" / "tiny")
    returned = unicodedata.normalize("NFD", f"{HEAD}s1,{texts['s1']} ,kůň,1\n")
    (tmp_path / "anna.csv").write_text(returned, "utf-8")
    code, _, err = penchant("ratings", "import", "first", "anna.csv", "--into", "ratings.csv")
    assert code == 0, err
    assert (tmp_path / "ratings.csv").read_text("utf-8").splitlines()[1] == f"s1,{texts['s1']},kůň,anna,1"


def test_a_table_of_another_study_is_not_touched(penchant: Program, first: Path, tmp_path: Path) -> None:
    theirs = "sentence,word,rater,rating\nx7,dog,anna,1\n"
    (tmp_path / "ratings.csv").write_text(theirs)
    (tmp_path / "anna.csv").write_text(HEAD + f"{DOG}1\n")
    refused(
        penchant("ratings", "import", first, "anna.csv", "--into", "ratings.csv"),
        "ratings.csv, line 2, field 'sentence'",
        "no sentence 'x7'",
    )
    assert (tmp_path / "ratings.csv").read_text() == theirs


def test_a_target_that_cannot_be_written(penchant: Program, first: Path, tmp_path: Path) -> None:
    (tmp_path / "anna.csv").write_text(HEAD + f"{DOG}1\n")
    (tmp_path / "file").write_text("")
    refused(penchant("ratings", "import", first, "anna.csv", "--into", "file/ratings.csv"), "file", "cannot be written")
    refused(penchant("ratings", "import", first, "anna.csv", "--into", first), str(first), "is a directory")
    refused(penchant("ratings", "import", first, "anna.csv", "--into", "anna.csv"), "is one of the input files")


# --- agreement ----------------------------------------------------------------------------------------------------

RATED = {  # word: what anna, ben and eve say
    "dog": (-1, -1, -0.5),
    "hound": (-1, 0.5, None),
    "thou": (-1, -0.5, -1),
    "cat": (0, 0, 0),
    "He": (0.5, 1, None),
    "She": (1, 1, 0.5),
    "They": (0, None, 1),
    "It": (None, 1, None),
}


def ratings_of(table: Mapping[str, tuple[float | None, ...]]) -> list[Rating]:
    return [
        Rating("s1", word, rater, float(value), "")
        for word, values in table.items()
        for rater, value in zip(("anna", "ben", "eve"), values, strict=False)
        if value is not None
    ]


def test_alpha_is_that_of_another_implementation() -> None:
    found = agreement(ratings_of(RATED))
    table = [[math.nan if v is None else v for v in column] for column in zip(*RATED.values(), strict=True)]
    expected = krippendorff.alpha(reliability_data=table, value_domain=POINTS, level_of_measurement="ordinal")
    assert found.alpha.value == pytest.approx(expected, abs=1e-12)
    assert 0.3 < expected < 0.9
    assert found.alpha.low < expected < found.alpha.high
    assert found.alpha.n == 7
    assert found.raters.select("rater", "rated", "with others").rows() == [("anna", 7, 7), ("ben", 7, 6), ("eve", 5, 5)]


def test_how_far_a_rater_is_from_the_others() -> None:
    """By hand: of three words that eve rated, others rated two, at 0 and at 0 and 1."""
    table = {"a": (0.0, None, -1.0), "b": (0.0, 1.0, 1.0), "c": (None, None, 1.0)}
    found = {row["rater"]: row for row in agreement(ratings_of(table)).raters.iter_rows(named=True)}
    eve = {"rater": "eve", "rated": 3, "with others": 2, "from others": 0.75, "side": -0.25, "ρ with others": None}
    ben = {"rater": "ben", "rated": 1, "with others": 1, "from others": 0.5, "side": 0.5, "ρ with others": None}
    assert (found["eve"], found["ben"]) == (eve, ben)
    alone = agreement([Rating("s1", "dog", "anna", -1, ""), Rating("s2", "dog", "ben", 1, "")]).raters
    assert alone["from others"].to_list() == [None, None]


def test_the_disputed_words() -> None:
    found = agreement(ratings_of(RATED)).disputed
    assert found.rows() == [("s1", "hound", 1.5, "anna -1, ben 0.5"), ("s1", "They", 1.0, "anna 0, eve 1")]
    closer = agreement(ratings_of(RATED), least=0.5).disputed
    assert closer["word"].to_list() == ["hound", "They", "dog", "thou", "He", "She"]
    assert agreement(ratings_of(RATED), least=2).disputed.is_empty()


def test_many_disputes_stay_in_the_order_of_the_ratings() -> None:
    words = [f"w{i}" for i in range(500)]
    table: dict[str, tuple[float | None, ...]] = {word: (0, 1) if i % 3 else (-1, 1) for i, word in enumerate(words)}
    found = agreement(ratings_of(table), resamples=10).disputed["word"].to_list()
    assert found == words[::3] + [word for i, word in enumerate(words) if i % 3]


def test_one_word_in_two_sentences_is_two_questions() -> None:
    found = agreement([Rating("s1", "dog", "anna", -1, ""), Rating("s2", "dog", "ben", 1, "")])
    assert math.isnan(found.alpha.value)
    assert found.disputed.is_empty()


def test_agreement_by_the_command_line(penchant: Program, tmp_path: Path) -> None:
    every = ratings_of(RATED)
    for rater in ("anna", "ben", "eve"):
        write_ratings([r for r in every if r.rater == rater], tmp_path / f"{rater}.csv")
    code, out, err = penchant("ratings", "agreement", "anna.csv", "ben.csv", "eve.csv", "--least", "1.5", "--seed", "3")
    assert code == 0, err
    told = [line.split()[:3] for line in out.splitlines()[2:5]]
    assert told == [["anna", "7", "7"], ["ben", "7", "6"], ["eve", "5", "5"]]
    assert f"{agreement(every).alpha.value:.4g}" in out
    assert "seed 3" in out
    assert "1 word whose ratings differ by 1.5 or more" in out
    assert "hound" in out
    assert "They" not in out
    assert "1 of 8 units has fewer than two ratings" in err  # It


def test_agreement_that_cannot_be_told(penchant: Program, tmp_path: Path) -> None:
    (tmp_path / "anna.csv").write_text("sentence,word,rater,rating\ns1,dog,anna,1\n")
    (tmp_path / "none.csv").write_text("sentence,word,rater,rating\n")
    (tmp_path / "ben.csv").write_text("sentence,word,rater,rating\ns1,dog,ben,1\n")
    refused(penchant("ratings", "agreement", "anna.csv"), "agreement needs two raters, found one", "another")
    refused(penchant("ratings", "agreement", "anna.csv", "none.csv"), "found one")
    refused(penchant("ratings", "agreement", "none.csv"), "agreement needs two raters, found none")
    refused(penchant("ratings", "agreement", "anna.csv", "anna.csv"), "anna.csv, line 2", "has already judged")
    refused(penchant("ratings", "agreement", "anna.csv", "gone.csv"), "gone.csv: no such file")
    assert penchant("ratings", "agreement", "anna.csv", "ben.csv", "--level", "95")[0] == 2
    code, out, err = penchant("ratings", "agreement", "anna.csv", "ben.csv")
    assert code == 0
    assert "0 words whose ratings" in out
    assert "note: " in err
    assert "all ratings are equal" in err


def test_a_rater_who_turned_the_scale_round_is_noticed(penchant: Program, tmp_path: Path) -> None:
    for rater, sign in (("anna", 1), ("ben", -1)):
        rated = "".join(f"s{i},dog,{rater},{sign * rating}\n" for i, rating in enumerate((-1, -0.5, 0.5, 1)))
        (tmp_path / f"{rater}.csv").write_text("sentence,word,rater,rating\n" + rated)
    code, _, err = penchant("ratings", "agreement", "anna.csv", "ben.csv")
    assert code == 0
    assert "alpha is below 0: raters agree less than expected by chance; did one of them reverse the scale?" in err


def test_one_sheet_under_two_names_is_noticed(penchant: Program, tmp_path: Path) -> None:
    """Two raters who say the same of every one of 20 words; not where they differ once, nor where all they say is 0."""
    words = [f"w{i}" for i in range(20)]
    told = result(predictions={"s1": [(word, 0.01, "none") for word in words], "s2": []})
    told.save(tmp_path / "out" / "cloze" / "tiny")
    said = {
        "anna": [(i % 3) - 1 for i in range(20)],
        "anna (1)": [(i % 3) - 1 for i in range(20)],
        "ben": [(i % 3) - 1 for i in range(19)] + [-1],
        "carl": [0] * 20,
        "dora": [0] * 20,
    }
    for rater, ratings in said.items():
        lines = [f"s1,{word},{rater},{rating}\n" for word, rating in zip(words, ratings, strict=True)]
        (tmp_path / f"{rater}.csv").write_text("sentence,word,rater,rating\n" + "".join(lines))
    files = [f"{rater}.csv" for rater in said]
    code, _, err = penchant("ratings", "import", "out", *files, "--into", "ratings.csv")
    assert code == 0, err
    notes = [line for line in err.splitlines() if "one sheet imported twice?" in line]
    assert len(notes) == 1 and "'anna' and 'anna (1)' gave the same rating to all 20 words" in notes[0]


def test_a_sheet_opens_in_a_spreadsheet(penchant: Program, first: Path, tmp_path: Path) -> None:
    """Excel takes a file for Unicode by its byte-order mark only; what is printed has none, for other programs."""
    assert penchant("ratings", "export", first, "-o", "sheet.csv")[0] == 0
    printed = penchant("ratings", "export", first)[1]
    assert (tmp_path / "sheet.csv").read_text("utf-8") == "\ufeff" + printed
    refused(
        penchant("ratings", "export", first, "-o", "sheet.xlsx"),
        "sheet.xlsx: is not a CSV file",
        "give a name that ends in .csv",
    )
    assert not (tmp_path / "sheet.xlsx").exists()


def test_usage(penchant: Program) -> None:
    refused(penchant("ratings", "import", "first", "--into", "r.csv"), "--help")
    refused(penchant("ratings", "import", "first", "anna.csv"), "--into", "--help")
    refused(penchant("ratings", "agreement"), "--help")


def test_sentences_without_a_word_to_rate_are_told_in_time(penchant: Program, tmp_path: Path) -> None:
    """Nobody can judge a comma or a piece of a word; a sentence of such for one model only is told with the model."""
    none: list[Predicted] = [(",", 0.5, "none"), ("##ing", 0.25, "piece")]
    words: list[Predicted] = [("dog", 0.4, "none")]
    result("tiny", {"s1": none, "s2": none}).save(tmp_path / "first" / "cloze" / "tiny")
    result("small", {"s1": none, "s2": words}).save(tmp_path / "first" / "cloze" / "small")
    code, _, err = penchant("ratings", "export", "first", "-o", "rate.csv")
    assert code == 0
    assert [line for line in err.splitlines() if "to rate" in line and line.startswith("note")] == [
        "note: s1 has no word to rate: reword it, or it is left out of the means",
        "note: s2 has no word to rate among the predictions of tiny: reword it, or it is left out of the means",
    ]


def test_the_words_with_most_probability_over_all_models() -> None:
    """Of s1, dog has .4 + .1 and thou .05 + .3; of s2, They (.0625) is rated by two corpora."""
    other = {**PREDICTIONS, "s1": [("thou", 0.3, "none"), ("cat", 0.2, "none"), ("dog", 0.1, "none")]}
    both = [result(), result("other", other)]
    kept = [unrated(both, most=most)["word"].to_list() for most in (1, 2, 3, 0)]
    assert kept == [["dog"], ["dog", "thou"], ["cat", "dog", "thou"], ["cat", "dog", "thou"]]
