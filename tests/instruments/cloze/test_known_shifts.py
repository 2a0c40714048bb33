"""The shipped check of cloze valence: its expectations against plain transformers, and failures that it must notice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import brute
import penchant as pc
import zoo as tiny
from answers import Answer, refused
from penchant.instruments.cloze.estimates import measured
from penchant.instruments.cloze.known_shifts import check_shifts
from penchant.models.reference_gap_predictions import plain_words

Zoo = Callable[[str], Path]
Program = Callable[..., Answer]


@pytest.mark.parametrize("name", tiny.MASKED)
def test_every_architecture_passes(zoo: Zoo, name: str) -> None:
    found = check_shifts(pc.load(zoo(name)))
    assert len(found) == 8
    assert set(found["verdict"]) == {"pass"}, found
    assert found["largest difference"].max() < 1e-6  # type: ignore[operator]


def test_expected_values_are_those_of_plain_transformers(zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo("bert"))
    words = plain_words(pc.load(zoo("bert")), "The old ", " sleeps.", 20)
    best = brute.topk_at_mask(model, tokenizer, f"The old {tokenizer.mask_token} sleeps.", 20)
    expected = {tokenizer.decode([token]): p for token, p in best}
    assert len(words) > 5
    assert [each.p for each in words] == pytest.approx([expected[each.word] for each in words], abs=1e-6)


def test_the_shifts_are_those_that_they_are_called() -> None:
    """By the definitions of β and δ alone, which are linear in each sentence while |β| < 1."""
    table = check_shifts(pc.load("bundled:modern"))
    beta, delta = (dict(zip(table["shift"], table[f"{sign} found"], strict=True)) for sign in "βδ")
    base = beta["none"]
    assert beta["sign of all ratings"] == pytest.approx(-base, abs=1e-6)
    up, down = beta["half of the ratings by +½"] - base, beta["half of the ratings by −½"] - base
    assert up == pytest.approx(-down, abs=1e-6)
    assert 0 < up < beta["all ratings to 1"] / 2 < 0.5
    assert delta["expected point to −1"] == pytest.approx(1 - (1 + base) / 2, abs=1e-6)
    assert delta["expected point to 1"] == pytest.approx(1 - (1 - base) / 2, abs=1e-6)
    assert {beta[f"expected point to {point}"] for point in ("−1", "0", "1")} == {base}


def test_another_beta_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divided by the rated share, as if nothing unrated had been predicted."""

    def per_rated(items: pl.DataFrame, **_: Any) -> pl.DataFrame:
        return measured(items, rated_only=True)

    monkeypatch.setattr("penchant.instruments.cloze.probe.measured", per_rated)
    found = check_shifts(pc.load("bundled:modern"))
    assert set(found["verdict"]) == {"fail"}


def test_by_the_command_line(penchant: Program, zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = penchant("check", "cloze", "--format", "jsonl")
    assert code == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["model"].partition("@")[0] for row in rows] == ["bundled:early-modern"] * 8 + ["bundled:modern"] * 8
    monkeypatch.setattr("penchant.instruments.cloze.known_shifts.TOLERANCE", 0.0)
    code, out, err = penchant("check", "cloze", "-m", zoo("bert"))
    assert code == 1
    assert "fail" in out and "shifts not as expected" in err


def test_what_it_does_not_take(penchant: Program, zoo: Zoo) -> None:
    refused(penchant("check", "cloze", "-m", zoo("gpt2")), "cloze requires a masked model")
    refused(penchant("check", "cloze", "--dtype", "float16"), "float16 is too coarse", "float32")
    refused(penchant("check", "cloze", "--marks", "strip"), "--marks applies only to minimal pairs")
    refused(penchant("check", "./cloze", "-m", zoo("bert")), "no such file")
    refused(penchant("check", "pairs.csv"), "check needs a model", "-m MODEL")
