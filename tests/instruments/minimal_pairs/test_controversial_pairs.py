"""Pairs on which two models disagree most: the choice against plain loops, and the way from a grammar to a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
from answers import Answer, refused
from penchant.errors import DataError
from penchant.instruments.minimal_pairs.controversial_pairs import chosen_pairs

Program = Callable[..., Answer]
Zoo = Callable[[str], Path]
FINITE = st.integers(-40, 40).map(lambda n: n / 4)


def pool(n: int) -> list[dict[str, Any]]:
    return [{"sentence_good": f"g{i}", "sentence_bad": f"b{i}", "UID": f"p{i % 3}"} for i in range(n)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=40), st.integers(1, 20))
def test_the_choice_is_that_of_plain_loops(both: list[tuple[float, float]], n: int) -> None:
    a, b = (np.array(part) for part in zip(*both, strict=True))
    apart = [i for i, (x, y) in enumerate(both) if x * y < 0]
    if not apart:
        with pytest.raises(DataError, match="one and two prefer the same sentence in all"):
            chosen_pairs(pool(len(both)), {"one": a, "two": b}, n)
        return

    def rank(values: list[float], value: float) -> float:
        size = [abs(v) for v in values]
        return (sum(v < abs(value) for v in size) + sum(v == abs(value) for v in size) / 2) / len(size)

    controversy = {
        i: min(rank([x for x, _ in both], both[i][0]), rank([y for _, y in both], both[i][1])) for i in apart
    }
    right = {model: [i for i in apart if both[i][model] > 0] for model in (0, 1)}
    found = chosen_pairs(pool(len(both)), {"one": a, "two": b}, n)
    chosen = [int(row["sentence_good"][1:]) for row in found.rows]
    assert len(chosen) == min(n, len(apart)) and chosen == sorted(chosen)
    for model in (0, 1):
        own = [i for i in chosen if i in right[model]]
        assert len(own) >= min(n // 2, len(right[model]))
        left = [controversy[i] for i in right[model] if i not in own]
        assert not left or min((controversy[i] for i in own), default=1) >= max(left)
    assert [row["controversy"] for row in found.rows] == pytest.approx([controversy[i] for i in chosen])
    table = found.table.filter(group="all") if len({row["UID"] for row in pool(len(both))}) > 1 else found.table
    (counts,) = table.iter_rows(named=True)
    assert (
        counts["pool"] == len(both) == sum(counts[k] for k in ("both right", "one only", "two only", "neither", "ties"))
    )
    assert counts["one only"] + counts["two only"] == len(apart)
    assert counts["chosen, one"] + counts["chosen, two"] == len(chosen)


def test_what_is_short_is_said() -> None:
    a, b = np.array([1.0, 2, 3, -1]), np.array([-1.0, -2, -3, 1])
    found = chosen_pairs(pool(4), {"one": a, "two": b}, 6)
    assert "the models prefer different sentences in only 4 pairs of the pool" in found.notes
    assert any(
        note.startswith("3 are right under one and 1 under two, since there were no others") for note in found.notes
    )
    assert any("accuracies on them say nothing about other pairs" in note for note in found.notes)


def test_from_a_grammar_to_a_rating_page(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    models = ("-m", zoo("gpt2"), "-m", zoo("roberta"))
    options = ("--paradigm", "causative", "--paradigm", "passive_2", "--pool", 6, "-n", 6, "-o", "c.jsonl")
    code, _, err = penchant("pairs", "controversial", "en", *models, *options)
    assert code == 0, err
    rows = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text("utf-8").splitlines()]
    assert 1 <= len(rows) <= 6 and "chosen because the models disagree" in err
    causal, masked = brute.load(zoo("gpt2"), causal=True), brute.load(zoo("roberta"))
    for row in rows:
        (_, of_causal), (_, of_masked) = row["differences"].items()
        good, bad = (sum(brute.lp(*causal, row[key])) for key in ("sentence_good", "sentence_bad"))
        assert of_causal == pytest.approx(good - bad, abs=1e-3)
        good, bad = (sum(brute.pll(*masked, row[key])) for key in ("sentence_good", "sentence_bad"))
        assert of_masked == pytest.approx(good - bad, abs=1e-3)
        assert of_causal * of_masked < 0 and row["n_tokens_good"] == row["n_tokens_bad"]
    assert penchant("rate", "c.jsonl", "-o", "said.sqlite", "--raters", "ann", "--html", "pages")[0] == 0
    assert rows[0]["sentence_good"] in (tmp_path / "pages" / "ann.html").read_text("utf-8")
    again = penchant("pairs", "controversial", "en", *models, *options[:-2])
    assert again[1] == (tmp_path / "c.jsonl").read_text("utf-8")


def test_bad_input_is_one_line(penchant: Program, zoo: Zoo) -> None:
    start = ("pairs", "controversial", "en")
    refused(penchant(*start, "-m", zoo("gpt2")), "controversial pairs need two models, got 1")
    refused(penchant(*start, "-m", zoo("gpt2"), "-m", zoo("gpt2")), "two tokenizers are called")
    refused(penchant(*start, "-m", "a", "-m", "b", "--paradigm", "nothing"), "nothing")
    refused(penchant("pairs", "controversial", "xx", "-m", "a", "-m", "b"), "xx")
