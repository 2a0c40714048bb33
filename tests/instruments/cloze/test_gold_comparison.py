"""Ratings compared with a gold standard, by hand and by another implementation of α."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import krippendorff
import pytest

from answers import Answer, refused
from penchant.instruments.cloze.five_point_scale import POINTS
from penchant.instruments.cloze.gold_comparison import BIAS, ERROR, EXACT, GoldComparison, compare_with_gold
from penchant.instruments.cloze.rater_agreement import ALPHA
from penchant.stats.crossed_judgements import SPEARMAN

Program = Callable[..., Answer]
GOLD = {"dog": -1.0, "thou": -0.5, "hound": 0.0, "cat": 0.5, "she": 0.5, "he": 1.0}
OWN = {"dog": -1.0, "thou": -0.5, "hound": 0.5, "cat": 0.0, "she": 1.0, "he": 1.0}
"""The same words: rated as in the gold standard, or half a point above (twice) or below (once)."""


def table(file: Path, rated: Mapping[str, float], rater: str = "anna", sentence: str = "s1", text: str = "") -> Path:
    lines = [f'{sentence},"{text}",{word},{rater},{value}' for word, value in rated.items()]
    if text:
        file.write_text("\n".join(["sentence,text,word,rater,rating", *lines]) + "\n", "utf-8")
    else:
        file.write_text("\n".join(["sentence,word,rater,rating", *lines]).replace(',"",', ",") + "\n", "utf-8")
    return file


def value(found: GoldComparison, measure: str, column: str = "value", rater: str = "anna") -> float:
    (number,) = found.estimates.filter(measure=measure, rater=rater)[column].to_list()
    return float(number)


def test_every_number_by_hand(tmp_path: Path) -> None:
    own = table(tmp_path / "anna.csv", {**OWN, "extra": 1.0})
    gold = table(tmp_path / "gold.csv", {**GOLD, "absent": 0.0, "missing": 0.0}, "gold")
    found = compare_with_gold([own], gold, least=0.5)
    assert found.coverage.rows() == [("anna", 6, 1, 2)]
    assert value(found, EXACT) == pytest.approx(3 / 6)
    assert value(found, ERROR) == pytest.approx(3 * 0.5 / 6)
    assert value(found, BIAS) == pytest.approx(0.5 / 6)
    # Ranks of own, less 3.5: −2.5 −1.5 .5 −.5 2 2; of gold: −2.5 −1.5 −.5 1 1 2.5. Both have 17 as sum of squares.
    assert value(found, SPEARMAN) == pytest.approx((6.25 + 2.25 - 0.25 - 0.5 + 2 + 5) / 17)
    # t of 5 df is 2.5706. Errors: sd √(.375/5); differences: sum of squares .75 − 6·(.5/6)².
    half = 2.570582 * math.sqrt(0.375 / 5 / 6)
    assert (value(found, ERROR, "low"), value(found, ERROR, "high")) == pytest.approx((0.0, 0.25 + half), abs=1e-6)
    half = 2.570582 * math.sqrt((0.75 - 0.25 / 6) / 5 / 6)
    ends = (0.5 / 6 - half, 0.5 / 6 + half)
    assert (value(found, BIAS, "low"), value(found, BIAS, "high")) == pytest.approx(ends, abs=1e-6)
    both = [list(GOLD.values()), list(OWN.values())]
    expected = krippendorff.alpha(reliability_data=both, value_domain=POINTS, level_of_measurement="ordinal")
    assert value(found, ALPHA) == pytest.approx(expected, abs=1e-12)
    assert set(found.estimates["n"]) == {6}
    assert found.apart.rows() == [
        ("s1", "hound", "anna", 0.5, 0.0),
        ("s1", "cat", "anna", 0.0, 0.5),
        ("s1", "she", "anna", 1.0, 0.5),
    ]


def test_several_gold_ratings_count_with_their_mean(tmp_path: Path) -> None:
    """The means are −1, −.5 and .75; the last is no point, so that nothing can agree with it exactly."""
    gold = table(tmp_path / "gold.csv", {"dog": -1, "thou": -1, "he": 1}, "g1")
    rest = table(tmp_path / "rest.csv", {"dog": -1, "thou": 0, "he": 0.5}, "g2").read_text("utf-8").partition("\n")[2]
    gold.write_text(gold.read_text("utf-8") + rest, "utf-8")
    found = compare_with_gold([table(tmp_path / "anna.csv", {"dog": -1, "thou": -0.5, "he": 1})], gold)
    assert (value(found, EXACT), value(found, EXACT, "n"), value(found, ALPHA, "n")) == (1, 2, 2)
    assert value(found, ERROR) == pytest.approx(0.25 / 3)
    assert value(found, ERROR, "n") == 3
    assert found.notes[0].startswith("1 word of the gold standard has ratings")
    assert math.isnan(value(found, SPEARMAN))


def test_raters_are_compared_one_by_one(tmp_path: Path) -> None:
    reversed_ = table(tmp_path / "ben.csv", {word: -v for word, v in GOLD.items()}, "ben")
    files = [table(tmp_path / "anna.csv", OWN), reversed_]
    found = compare_with_gold(files, table(tmp_path / "gold.csv", GOLD, "gold"))
    assert found.coverage["rater"].to_list() == ["anna", "ben"]
    assert value(found, SPEARMAN, rater="ben") == pytest.approx(-1)
    assert value(found, BIAS, rater="ben") == pytest.approx(-2 * 0.5 / 6)
    assert value(found, EXACT, rater="ben") == pytest.approx(1 / 6)  # hound, at 0


def test_a_lexicon_is_compared_in_every_sentence(tmp_path: Path) -> None:
    """Of its words THOU is found without regard to case, in both sentences, and two words are not in the gold."""
    lexicon = tmp_path / "words.csv"
    lexicon.write_text("word,valence\nTHOU,-1\ndog,0\nhath,-1\nokay,1\n")
    gold = table(tmp_path / "gold.csv", {"thou": -1, "dog": 0, "he": 0})
    gold.write_text(gold.read_text() + "s2,thou,anna,-0.5\n")
    found = compare_with_gold([lexicon], gold)
    assert found.coverage.rows() == [("words.csv", 3, 2, 1)]
    assert value(found, BIAS, rater="words.csv") == pytest.approx(-0.5 / 3)


def test_by_the_command_line(penchant: Program, tmp_path: Path) -> None:
    table(tmp_path / "anna.csv", OWN)
    table(tmp_path / "gold.csv", GOLD, "gold")
    code, out, err = penchant("ratings", "agreement", "anna.csv", "--gold", "gold.csv", "--least", "0.5", "--seed", "3")
    assert code == 0, err
    first, second = out.split("\n\n")[:2]
    assert first.splitlines()[2].split() == ["anna", "6", "0", "0"]
    assert [line.split()[:3] for line in second.splitlines()[2:3]] == [["anna", "exact", "agreement"]]
    assert "seed 3" in second
    assert "3 ratings that differ from the gold standard by 0.5 or more" in out


def test_what_cannot_be_compared(penchant: Program, tmp_path: Path) -> None:
    table(tmp_path / "anna.csv", OWN)
    table(tmp_path / "other.csv", OWN, sentence="s2")
    command = ("ratings", "agreement", "anna.csv", "--gold")
    refused(penchant(*command, "other.csv"), "other.csv", "no word is rated both here and in the other tables")
    refused(penchant(*command, "gone.csv"), "gone.csv: no such file")
    table(tmp_path / "then.csv", OWN, text="A [MASK] ran.")
    table(tmp_path / "now.csv", OWN, text="The [MASK] ran.")
    refused(
        penchant("ratings", "agreement", "now.csv", "--gold", "then.csv"),
        "now.csv, line 2",
        "a different text in the gold standard",
    )
