"""The Python face where something goes wrong or is only looked at: what a call says, shows or refuses."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import penchant as pc
from builders import Zoo
from penchant.engine.scorer import language_model
from penchant.records import Signature
from penchant.study import api
from penchant.tables.cautions import name_cautions
from penchant.tables.missing import missing_cautions, missing_word

PAIRS = [("the cat sleeps", "the cat sleep"), ("the dog runs", "the dog run")]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: pc.Run(cach="x"), "Run(): unknown parameter 'cach'"),  # type: ignore[call-arg]
        (lambda: pc.Run(cache=3), "Run(): cache is str or Path or None, got 3"),  # type: ignore[arg-type]
        (lambda: pc.Run(batch_tokens="many"), "Run(): batch_tokens is int or None"),  # type: ignore[arg-type]
        (lambda: pc.Run(batch_tokens=-5), "Run(): batch_tokens is -5, and a batch has 1 to 16,777,216 tokens"),
        (lambda: pc.Run(batch_tokens=0), "Run(): batch_tokens is 0"),
        (lambda: Signature("x"), "signature: is made of pairs"),  # type: ignore[arg-type]
        (lambda: Signature((("a", "1"), ("a", "2"))), "signature: names each key once"),
        (lambda: Signature((("A b", "1"),)), "signature: a key is lower-case letters"),
    ],
)
def test_what_cannot_be_made_is_an_error_of_penchant(call: Callable[[], object], told: str) -> None:
    with pytest.raises(pc.PenchantError) as error:
        call()
    assert str(error.value).startswith(told)


def test_a_run_shows_what_was_chosen() -> None:
    assert repr(pc.Run()) == "Run()" and repr(pc.Run("a.sqlite", batch_tokens=7)) == (
        "Run(cache='a.sqlite', batch_tokens=7)"
    )
    shown = str(inspect.signature(pc.Run))
    assert "lambda" not in shown and "Counts" not in shown and "cache: str | Path | None = None" in shown
    assert pc.Run(cache="a.sqlite").cache == Path("a.sqlite")


def test_batches_of_no_tokens_are_refused_wherever_they_are_named(zoo: Zoo) -> None:
    lm = pc.load(zoo("bert"))
    for call in (pc.score, pc.surprisal):
        with pytest.raises(pc.MethodError, match="batch_tokens is -1"):
            call(lm, ["the cat sleeps"], batch_tokens=-1, method="pll")


def test_a_probe_is_printed_as_it_is_written() -> None:
    probe = pc.WEAT({"X": ["a", "b"], "Y": ["c", "d"], "A": ["e", "f"], "B": ["g", "h"]}, seed=3)
    assert str(probe) == repr(probe) == "WEAT(data='the data', seed=3)"


def test_characters_that_a_tokenizer_drops_are_refused(zoo: Zoo) -> None:
    masked, causal = language_model(pc.load(zoo("bert"))), language_model(pc.load(zoo("gpt2")))
    with pytest.raises(pc.DataError, match="holds the character NUL"):
        pc.score(masked, ["the c\x00at"])
    with pytest.raises(pc.DataError, match=r"text 2: the text holds the control character U\+0001, which the tokeni"):
        pc.score(masked, ["the cat", "the c\x01at"])
    assert len(masked.tokenizer.encode(["the\tcat\n"])[0]) == len(masked.tokenizer.encode(["the cat"])[0])
    assert pc.score(masked, ["the\tcat"])["tokens"].item() == pc.score(masked, ["the cat"])["tokens"].item()
    kept = causal.tokenizer.encode(["a\x01b", "ab"])
    assert kept[0].ids != kept[1].ids and len(pc.score(causal, ["a\x01b"])) == 1  # read as a token of its own


@pytest.mark.parametrize("word", ["nan", "NaN", "None", "NULL", "null", "#N/A", "<NA>", " nan "])
def test_words_for_a_missing_cell_are_known(word: str) -> None:
    assert missing_word(word)
    assert not any(missing_word(text) for text in (f"{word} left.", "Nan sleeps.", "Na", "", "nothing"))


def test_words_for_a_missing_cell_are_told_with_their_places(zoo: Zoo) -> None:
    (told,) = missing_cautions([("nan", f"row {n}") for n in range(5)] + [("a", "row 9")], "texts")
    assert told.startswith("5 texts are nothing but") and "row 0: 'nan'" in told and told.endswith("and 2 more)")
    lm = pc.load(zoo("bert"))
    with pytest.warns(UserWarning, match=r"1 text is nothing but .*\(text 2: 'None'\)"):
        pc.score(lm, ["the cat", "None"])
    with pytest.warns(UserWarning, match="1 text is nothing but"):
        pc.surprisal(lm, ["the cat", "nan"], method="pll")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pc.score(lm, ["the cat", "the nan"])
    result = pc.MinimalPairs([*PAIRS, ("the cat sleeps", "NaN")], resamples=100).run(lm)
    (caution,) = [each for each in result.cautions if "missing cell" in each]
    assert "bad 1 (the data, row 3)" in caution


def test_names_read_in_a_wrong_encoding_are_told() -> None:
    assert list(name_cautions(["NPI licensing", "Her"], "groups")) == []
    (told,) = name_cautions(["NPI â€“ licensing", "Her"], "groups")
    assert told == "1 group has a name that was read in a wrong encoding: 'NPI â€“ licensing'"
    read = pc.read_pairs([{"good": a, "bad": b, "group": "NPI â€“ licensing"} for a, b in PAIRS])
    assert any("wrong encoding" in caution for caution in read.cautions)


def study(zoo: Zoo, folder: Path) -> dict[str, object]:
    pl.DataFrame(PAIRS, schema=["good", "bad"], orient="row").write_csv(folder / "p.csv")
    settings = {"data": str(folder / "p.csv"), "resamples": 100}
    return {"study": "s", "models": [str(zoo("bert"))], "probes": [{"minimal-pairs": settings}]}


def test_a_study_in_a_notebook_shows_its_finding_and_where_the_report_is(zoo: Zoo, tmp_path: Path) -> None:
    found = pc.run(study(zoo, tmp_path), tmp_path / "out", cache="none", limit=1, progress=False)
    shown = found._repr_html_()
    assert "What was found" in shown and str(tmp_path / "out" / "report.html") in shown
    (result,) = found.results.values()
    assert len(result.items) == 1 and any("a pilot" in caution for caution in result.cautions)


def test_an_interrupted_study_says_how_to_go_on(zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "run_study", stop)
    with pytest.raises(KeyboardInterrupt) as error:
        pc.run(study(zoo, tmp_path), tmp_path / "out", cache="none", progress=False)
    assert error.value.__notes__ == ["finished work is kept: go on with the same call and resume=True"]
