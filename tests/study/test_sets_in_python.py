"""Whole sets given in Python: the keys of a `set.yaml`, with tables where it names files."""

from __future__ import annotations

import json
import math
import pydoc
import re
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from polars.testing import assert_frame_equal

import penchant
from builders import succeeded
from given_data import LISTS

pc: Any = penchant

SENTENCES = [("s1", "The [MASK] is old.", -1, "a"), ("s2", "She [MASK] away.", 1, "b")]
SCALE = {"low": "early", "high": "modern"}
STIMULI: dict[str, Any] = {
    "lists": {name: {"words": words, "templates": "is"} for name, words in LISTS.items()},
    "templates": {"is": ["This is {word}.", "That was {word}."]},
    "contexts": {"c": [{"structure": "S1", "text": "{target} is {attribute}."}]},
    "categories": {"flowers": {"X": "X", "Y": "Y", "A": "A", "B": "B", "contexts": "c"}},
}


@pytest.fixture(scope="module")
def lm() -> Any:
    return pc.load("bundled:modern")


def test_a_cloze_set_with_its_scale(lm: Any, tmp_path: Path) -> None:
    """The same as of the set's files, and the ends of the scale have their names."""
    words = pc.Cloze(SENTENCES, k=3).run(lm).items["words"].to_list()
    rated = [("s1", words[0][0], "anna", 1), ("s2", words[1][1], "anna", -0.5)]
    lexicon = [(words[0][1], -1.0)]
    frame = pl.DataFrame(SENTENCES, schema=["id", "text", "expected", "group"], orient="row")
    given = {"sentences": frame, "scale": SCALE, "ratings": rated, "lexicon": lexicon, "language": "en"}
    found = pc.Cloze(given, k=3, resamples=100).run(lm)
    frame.write_csv(tmp_path / "sentences.csv")
    (tmp_path / "ratings.csv").write_text(
        "sentence,word,rater,rating\n" + "".join(f"{','.join(map(str, row))}\n" for row in rated)
    )
    (tmp_path / "lexicon.csv").write_text(f"word,valence\n{lexicon[0][0]},-1\n")
    described = {"scale": SCALE, "ratings": "ratings.csv", "lexicon": ["lexicon.csv"], "language": "en"}
    (tmp_path / "set.yaml").write_text(yaml.safe_dump(described), "utf-8")
    filed = pc.Cloze(tmp_path, k=3, resamples=100).run(lm)
    assert_frame_equal(found.items, filed.items)
    assert_frame_equal(found.summary.drop("signature"), filed.summary.drop("signature"))
    assert found.signature["scale"] == "early < modern"
    assert "ends of the scale" not in " ".join(found.cautions)
    assert str(pc.read_cloze(given).scale) == "early < modern"
    with pytest.raises(pc.PenchantError, match=r"the data \('scale\.hihg'\): unknown key"):
        pc.read_cloze({**given, "scale": {"low": "early", "hihg": "modern"}})
    with pytest.raises(pc.PenchantError, match=r"the data \('sentence'\): unknown key — did you mean sentences"):
        pc.read_cloze({"sentence": frame, "scale": SCALE})
    with pytest.raises(pc.PenchantError, match=r"sentences, row 1 \('text'\): a sentence must have exactly one gap"):
        pc.read_cloze({"sentences": [("s1", "The old.", -1, "a")]})


def test_stimuli_with_templates_and_contexts(lm: Any, tmp_path: Path) -> None:
    (tmp_path / "set.yaml").write_text(yaml.safe_dump(STIMULI), "utf-8")
    for probe in (pc.SEAT, pc.LogProbBias):
        found, filed = (probe(data, draws=100, resamples=100).run(lm) for data in (STIMULI, tmp_path))
        assert_frame_equal(found.items, filed.items)
        assert found.signature["data"].startswith("the data#")
    assert "This is rose." in pc.SEAT(STIMULI).run(lm).items["text"].to_list()
    with pytest.raises(pc.PenchantError, match=r"the data, categories\.flowers\.Y: there is no list 'Yy'"):
        pc.SEAT({**STIMULI, "categories": {"flowers": {"X": "X", "Y": "Yy", "A": "A", "B": "B"}}}).run(lm)


def test_words_without_sentences_are_told(lm: Any, tmp_path: Path) -> None:
    """Not where templates place them, nor where the entries are sentences."""
    (told,) = pc.SEAT(LISTS, draws=100, resamples=100).run(lm).cautions
    assert told.startswith("the data: the words stand in no sentence") and "`templates`" in told
    assert not pc.SEAT(STIMULI, draws=100, resamples=100).run(lm).cautions
    keys = dict(zip(("targ1", "targ2", "attr1", "attr2"), LISTS, strict=True))
    sets = {
        key: {"category": of, "examples": [f"This is {word}." for word in LISTS[of]], "words": LISTS[of]}
        for key, of in keys.items()
    }
    (tmp_path / "sentences.jsonl").write_text(json.dumps(sets))
    assert not pc.SEAT(tmp_path / "sentences.jsonl", draws=100, resamples=100).run(lm).cautions


def test_surprisal_under_a_masked_model_is_warned_of(lm: Any) -> None:
    with pytest.warns(UserWarning, match="bundled:modern is a masked model: each token is masked") as told:
        one = pc.surprisal(lm, "She sings.")
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_frame_equal(one, pc.surprisal(lm, "She sings.", method="pll"))
    with pytest.warns(UserWarning, match="1 text longer than bundled:modern takes was read through windows, "):
        pc.surprisal(lm, "She sings. " * 90, method="pll")


def test_help_shows_what_is_penchants_own() -> None:
    shown = pydoc.plain(pydoc.render_doc(pc.Cloze))
    assert re.search(r"run\([\s|]*self,[\s|]*model", shown) and "rated_only : bool" in shown
    assert not any(name in shown for name in ("model_dump", "model_fields", "__pydantic", "parse_obj"))


def test_no_difference_that_cannot_be_is_detectable(lm: Any) -> None:
    """Of three pairs, a difference of accuracies would have to be above 1 in some rows; in others it is a number."""
    rows = [("The cats sleep.", "The cats sleeps."), ("She sings.", "She sing."), ("They saw us.", "Them saw us.")]
    results = [pc.MinimalPairs(rows, resamples=100).run(model) for model in (lm, "bundled:early-modern")]
    sizes = pc.compare(*results)["detectable"].to_list()
    assert math.inf in sizes and all(0 < size <= 1 or size == math.inf for size in sizes)


@pytest.mark.parametrize(
    "rows",
    [
        [("ok", "ko"), ("She sings.", "She sing.")],
        [("She sings.", "She sing."), ("KO", " ok")],  # of a table with the columns in another order
    ],
)
def test_a_header_among_the_rows_is_refused_wherever_it_stands(rows: list[tuple[str, str]], tmp_path: Path) -> None:
    frame = pl.DataFrame(rows, schema=["ok", "ko"], orient="row")
    frame.write_csv(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text((tmp_path / "a.csv").read_text().replace("KO", "\ufeffko"), "utf-8")
    for data in (frame, tmp_path / "a.csv", tmp_path / "b.csv"):
        with pytest.raises(pc.PenchantError, match="repeats the header: were two tables concatenated"):
            pc.read_pairs(data, columns={"good": "ok", "bad": "ko"})


def test_a_saved_result_gives_a_sheet(lm: Any, tmp_path: Path, penchant: Any) -> None:
    pc.Cloze(SENTENCES, k=3).run(lm).save(tmp_path / "saved")
    out, _ = succeeded(penchant("ratings", "export", tmp_path / "saved"))
    assert out.startswith("sentence,text,word,filled,scale,rater,rating")


def test_of_few_paradigms_a_note_says_how_few(lm: Any) -> None:
    sentences = [("The cats sleep.", "The cats sleeps.", "a"), ("She sings.", "She sing.", "b")] * 3
    rows = [{"good": good, "bad": bad, "group": group} for good, bad, group in sentences]
    probe = pc.MinimalPairs(rows, resamples=100)
    found = [probe.run(model) for model in (lm, "bundled:early-modern")]
    for frame in (found[0].summary.filter(measure="accuracy"), pc.compare(*found)):
        overall = frame.filter(scope="overall", split="all", normalise="none")
        (note,) = (each for each in json.loads(overall["notes"].item()) if each["code"] == "minimal_pairs.of-others")
        assert note["params"] == {"noun": "paradigms", "have": 2}
