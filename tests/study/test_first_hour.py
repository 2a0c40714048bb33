"""Obstacles to people who tried penchant from Python for the first time."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import penchant as pc
from builders import Zoo
from penchant.engine.scorer import language_model
from penchant.models.answer_cache_file import default_path
from penchant.tables.data_cautions import name_cautions
from penchant.tables.missing_values import missing_cautions, missing_word
from penchant.wording.phrases import Note, read_notes

PAIRS = {"good": ["The cats sleep.", "She sings."], "bad": ["The cats sleeps.", "She sing."], "id": ["a", "b"]}
ROWS = [("the cat sleeps", "the cat sleep"), ("the dog runs", "the dog run")]
GAPS = pl.DataFrame(
    {"id": ["s1", "s2"], "text": ["The [MASK] is old.", "Thou [MASK] old."], "expected": [-1, 1], "group": ["e", "l"]}
)
RATED = {
    "sentence": ["s1", "s1", "s2"],
    "word": ["king", "man", "king"],
    "rater": ["anna"] * 3,
    "rating": [-1.0, 0.5, 1.0],
}
any_pc: Any = pc


@pytest.fixture(scope="module")
def lm() -> Any:
    return pc.load("bundled:modern")


# --- texts and files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("call", ["score", "surprisal", "embed"])
def test_the_name_of_a_file_is_no_text(
    lm: Any, call: str, as_list: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "pairs.csv"
    options = {"method": "pll"} if call == "surprisal" else {}
    asked = getattr(any_pc, call)
    assert len(asked(lm, text, **options)) == 1, "a text as long as there is no such file"
    Path(text).write_text("text\nThe cats sleep.\n", "utf-8")
    with pytest.raises(pc.PenchantError, match=r"'pairs.csv' is the name of a file, not a text — read the file"):
        asked(lm, [text] if as_list else text, **options)
    with pytest.raises(pc.PenchantError, match="is the name of a file"):
        asked(lm, Path(text), **options)
    assert len(asked(lm, ["The cats sleep.", text], **options)) >= 2, "one text of several is what it says"
    Path("sleep").write_text("", "utf-8")
    assert len(asked(lm, "sleep", **options)) == 1, "a word is a text, whatever a file without suffix is called"


def test_a_gap_is_filled_in_a_text(lm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("A [MASK].\n", "utf-8")
    with pytest.raises(pc.PenchantError, match=r"fill\(\), text: 'a.txt' is the name of a file"):
        pc.fill(lm, "a.txt")
    with pytest.raises(
        pc.PenchantError, match=r"text must be str, got \['A \[MASK\].'\] — call fill\(\) once for each element"
    ):
        any_pc.fill(lm, ["A [MASK]."])
    with pytest.raises(pc.PenchantError, match=r"k must be int, got 'a' — give a whole number, such as k=10"):
        any_pc.fill(lm, "A [MASK].", k="a")


def test_white_space_and_characters_that_a_tokenizer_keeps_are_read(zoo: Zoo) -> None:
    masked, causal = language_model(pc.load(zoo("bert"))), language_model(pc.load(zoo("gpt2")))
    assert len(masked.tokenizer.encode(["the\tcat\n"])[0]) == len(masked.tokenizer.encode(["the cat"])[0])
    assert pc.score(masked, ["the\tcat"])["n_tokens"].item() == pc.score(masked, ["the cat"])["n_tokens"].item()
    kept = causal.tokenizer.encode(["a\x01b", "ab"])
    assert kept[0].ids != kept[1].ids and len(pc.score(causal, ["a\x01b"])) == 1  # read as a token of its own


@pytest.mark.parametrize("word", ["nan", "NaN", "None", "NULL", "null", "#N/A", "<NA>", " nan "])
def test_words_for_a_missing_cell_are_known(word: str) -> None:
    assert missing_word(word)
    assert not any(missing_word(text) for text in (f"{word} left.", "Nan sleeps.", "Na", "", "nothing"))


def test_words_for_a_missing_cell_are_told_with_their_places(zoo: Zoo) -> None:
    (told,) = missing_cautions([("nan", f"row {n}") for n in range(5)] + [("a", "row 9")], "texts")
    assert told.startswith("5 texts are only a word") and "row 0: 'nan'" in told and told.endswith("and 2 more)")
    lm = pc.load(zoo("bert"))
    with pytest.warns(UserWarning, match=r"1 text is only a word .*\(text 2: 'None'\)"):
        pc.score(lm, ["the cat", "None"])
    with pytest.warns(UserWarning, match="1 text is only a word"):
        pc.surprisal(lm, ["the cat", "nan"], method="pll")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pc.score(lm, ["the cat", "the nan"])
    result = pc.MinimalPairs([*ROWS, ("the cat sleeps", "NaN")], resamples=100).run(lm)
    (caution,) = [each for each in result.cautions if "missing cell" in each]
    assert "bad 1 (the data, row 3)" in caution


def test_names_read_in_a_wrong_encoding_are_told() -> None:
    assert list(name_cautions(["NPI licensing", "Her"], "groups")) == []
    (told,) = name_cautions(["NPI â€“ licensing", "Her"], "groups")
    assert told == "1 group has a name that was read in a wrong encoding: 'NPI â€“ licensing'"
    read = pc.read_pairs([{"good": a, "bad": b, "group": "NPI â€“ licensing"} for a, b in ROWS])
    assert any("wrong encoding" in caution for caution in read.cautions)


# --- frames -------------------------------------------------------------------------------------------------------


def test_an_index_with_a_name_is_not_lost(lm: Any) -> None:
    frame = pd.DataFrame(PAIRS)
    for index in ("id", "good"):
        with pytest.raises(pc.PenchantError, match=rf"'{index}' is the index .* — give frame.reset_index\(\)"):
            any_pc.MinimalPairs(frame.set_index(index))
    with pytest.raises(pc.PenchantError, match=r"texts: 'good' is the index"):
        pc.score(lm, frame[["good"]].set_index("good"))
    kept = any_pc.MinimalPairs(frame.set_index("id").reset_index(), resamples=100).run(lm)
    assert kept.items["id"].to_list() == ["a", "b"]
    assert len(any_pc.MinimalPairs(frame.iloc[::-1], resamples=100).run(lm).items) == 2, (
        "an index without a name holds none"
    )


def weighed(lm: Any, **parameters: Any) -> pl.DataFrame:
    table: pl.DataFrame = any_pc.Cloze(GAPS, draws=10, resamples=100, **parameters).run(lm).items
    return table


def test_ratings_under_other_names_and_a_column_a_rater(lm: Any) -> None:
    long = pl.concat([pl.DataFrame(RATED), pl.DataFrame({**RATED, "rater": ["ben"] * 3, "rating": [0.0, None, 1.0]})])
    plain = weighed(lm, ratings=long)
    renamed = long.rename({"sentence": "satz", "word": "wort", "rater": "wer", "rating": "note"})
    columns = {"sentence": "satz", "word": "wort", "rater": "wer", "rating": "note"}
    assert weighed(lm, ratings=renamed, columns=columns).equals(plain)
    wide = pl.DataFrame(
        {"sentence": RATED["sentence"], "word": RATED["word"], "anna": [-1.0, 0.5, 1.0], "ben": [0.0, None, 1.0]}
    )
    result = any_pc.Cloze(GAPS, ratings=wide, columns={"rating": ["anna", "ben"]}, draws=10, resamples=100).run(lm)
    assert result.items.equals(plain)
    assert "1 of 6 ratings is empty and left out" in result.cautions
    assert "columns:rating=anna,rating=ben" in str(result.signature).replace("%2C", ",").replace("+", ",")
    with pytest.raises(
        pc.PenchantError, match=r"there is no column 'cleo' — the columns are sentence, word, anna, ben"
    ):
        weighed(lm, ratings=wide, columns={"rating": ["anna", "cleo"]})
    with pytest.raises(pc.PenchantError, match="group takes one column"):
        weighed(lm, columns={"group": ["a", "b"]})
    with pytest.raises(pc.PenchantError, match=r"rating.*columns="):
        weighed(lm, ratings=renamed.rename({"satz": "sentence", "wort": "word", "wer": "rater"}))


@pytest.mark.parametrize("given", ["frame", "file"])
def test_empty_ratings_are_left_out_and_counted(lm: Any, given: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({**RATED, "rating": [-1, float("nan"), 1]})
    frame.to_csv(tmp_path / "r.csv", index=False)
    ratings = frame if given == "frame" else str(tmp_path / "r.csv")
    result = any_pc.Cloze(GAPS, ratings=ratings, draws=10, resamples=100).run(lm)
    assert "1 of 3 ratings is empty and left out" in result.cautions
    assert result.items.equals(weighed(lm, ratings=frame.dropna()))
    nothing = pd.DataFrame({**RATED, "rating": [float("nan")] * 3})
    with pytest.raises(pc.PenchantError, match="ratings: has 3 rows but no rating"):
        weighed(lm, ratings=nothing)


def test_ends_without_names_are_named_where_they_are_given(lm: Any, tmp_path: Path) -> None:
    GAPS.write_csv(tmp_path / "gaps.csv")
    (tmp_path / "set.yaml").write_text("sentences: gaps.csv\n", "utf-8")
    wordings = {
        'in {"sentence': GAPS,
        '"scale": {"low": "early", "high": "modern"} in the test set': {"sentences": GAPS},
        "in a set.yaml that also names the table": str(tmp_path / "gaps.csv"),
        "name them in set.yaml, as in scale": str(tmp_path),
    }
    for part, data in wordings.items():
        (told,) = (each for each in any_pc.Cloze(data, resamples=100).run(lm).cautions if "ends of the scale" in each)
        assert part in told and ("set.yaml" in told) == isinstance(data, str)


# --- results and models -------------------------------------------------------------------------------------------


def test_a_saved_result_is_reported_exported_and_compared(lm: Any, tmp_path: Path) -> None:
    first = any_pc.MinimalPairs(PAIRS, resamples=100).run(lm)
    second = any_pc.MinimalPairs(PAIRS, resamples=100).run("bundled:early-modern")
    first.save(tmp_path / "a")
    second.save(tmp_path / "b")
    page = pc.report(tmp_path / "a").read_text("utf-8")
    assert "<title>Saved results" in page and "without a manifest: the machine used is unknown" in page
    assert {path.name for path in pc.export(tmp_path / "a", "csv")} >= {"minimal-pairs-accuracy.csv"}
    expected = pc.compare(first, second)
    assert pc.compare(tmp_path / "a", tmp_path / "b").drop("probe").equals(expected, null_equal=True)
    assert pc.compare(first, tmp_path / "b").equals(expected)
    assert pc.compare(tmp_path / "a", second).equals(expected)
    assert "bundled:early-modern" in pc.report(tmp_path / "a", tmp_path / "b", out=tmp_path / "c.html").read_text(
        "utf-8"
    )


def test_a_causal_and_a_masked_model_that_were_saved_are_compared(lm: Any, zoo: Zoo, tmp_path: Path) -> None:
    """As within a study: no method fits both. Two masked models by different methods could have had the same."""
    first = any_pc.MinimalPairs(PAIRS, resamples=100).run(lm)
    second = any_pc.MinimalPairs(PAIRS, resamples=100).run(str(zoo("gpt2")))
    other = any_pc.MinimalPairs(PAIRS, resamples=100, method="pll-word-l2r").run("bundled:early-modern")
    for name, result in (("a", first), ("b", second), ("c", other)):
        result.save(tmp_path / name)
    found = pc.compare(tmp_path / "a", tmp_path / "b")
    assert found.drop("probe").equals(pc.compare(first, second), null_equal=True)
    assert Note("scored-differently", first="pll", second="lp") in read_notes(found["notes"][0])
    with pytest.raises(pc.PenchantError, match="they differ in method"):
        pc.compare(tmp_path / "a", tmp_path / "c")


def test_results_that_differ_say_what_to_do(lm: Any) -> None:
    other = {**PAIRS, "good": ["The dogs sleep.", "She sings."]}
    results = [any_pc.MinimalPairs(data, resamples=100).run(lm) for data in (PAIRS, other)]
    with pytest.raises(pc.PenchantError, match=r"they differ in data \(.*\) — measure both with the same data$"):
        pc.compare(*results)


def test_a_directory_may_be_given_a_name(tmp_path: Path) -> None:
    folder = Path(pc.__file__).parent / "bundled" / "modern"
    shutil.copytree(folder, tmp_path / "model")
    plain, named = pc.load(tmp_path / "model"), pc.load(tmp_path / "model", name="ours, step 3")
    assert plain.name.startswith("model@") and named.name == plain.name.replace("model@", "ours, step 3@")
    assert isinstance(named, type(plain)) and named.fingerprint == plain.fingerprint
    result = any_pc.MinimalPairs(PAIRS, resamples=100).run(named)
    assert pc.Signature.parse(str(result.signature))["model"] == named.name
    for name in ("", " a", "a@b", "a − b", "a\nb"):
        with pytest.raises(pc.PenchantError, match="is not a valid model name"):
            pc.load(tmp_path / "model", name=name)
    with pytest.raises(pc.PenchantError, match="cannot be renamed"):
        pc.load("bundled:modern", name="ours")
    (tmp_path / "v.txt").write_text("2 2\na 1 0\nb 0 1\n", "utf-8")
    assert pc.load_vectors(tmp_path / "v.txt", name="small").name == "small"


# --- answers ------------------------------------------------------------------------------------------------------


def test_a_study_keeps_its_answers_as_the_command_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENCHANT_CACHE", str(tmp_path / "kept.sqlite"))
    pl.DataFrame(PAIRS).write_csv(tmp_path / "pairs.csv")
    study = {
        "study": "s",
        "models": ["bundled:modern"],
        "probes": [{"minimal-pairs": {"data": str(tmp_path / "pairs.csv"), "resamples": 100}}],
    }

    def computed(out: str, **options: Any) -> int:
        (unit,) = pc.run(study, tmp_path / out, progress=False, **options).manifests[0].units
        return int(unit.counts.forward)

    assert computed("none", cache="none") > 0 and not default_path().exists()
    assert computed("first") > 0 and default_path().exists()
    assert computed("second") == 0
    assert computed("other", cache=tmp_path / "other.sqlite") > 0 and (tmp_path / "other.sqlite").exists()
