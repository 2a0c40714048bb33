"""Minimal pairs put to a chat model as questions, against plain transformers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import penchant as pc
from chat_models import answering_model, chat_model
from penchant.errors import MethodError, ModelError
from penchant.instruments.answer_steadiness import MISMATCH, OVER_ORDERS, TURNED
from penchant.instruments.elicit_settings import Phrases
from penchant.instruments.elicitation import phrases_of

PAIRS = [
    ("The dog is old.", "The dog are old."),
    ("The men see the house.", "The men sees the house."),
    ("The child is small.", "The child are small."),
    ("The trees are old.", "The trees is old."),
]


@pytest.fixture
def model(zoo: Callable[[str], Path], tmp_path: Path) -> Path:
    return chat_model(zoo("llama"), tmp_path / "chat")


def question(pair: tuple[str, str]) -> str:
    return f"Which of these two sentences is more acceptable?\nA. {pair[0]}\nB. {pair[1]}"


def good(model: pc.LanguageModel, pair: tuple[str, str], first: int) -> float:
    """P(the first sentence) where the sentence with this number is listed first, from a prompt written here."""
    hf, phrases = model.tokenizer.hf, phrases_of("en")
    assert phrases is not None
    said = f"{question((pair[first], pair[1 - first]))}\n{phrases.label}"
    (ids,) = hf([f"[user]\n{said}\n[assistant]\n"], add_special_tokens=False)["input_ids"]
    letters = [hf(f"\n{letter}", add_special_tokens=False)["input_ids"][-1] for letter in "AB"]
    with torch.inference_mode():
        values = model.network.model(input_ids=torch.tensor([ids])).logits[0, -1].double()[letters].numpy()
    shares = np.exp(values) / np.exp(values).sum()
    return float(shares[first])


def test_a_sentence_is_preferred_by_its_probability_over_both_orders(model: Path) -> None:
    loaded = pc.load(model)
    result = pc.MinimalPairs(PAIRS, elicit="chat", resamples=100).run(loaded, progress=False)
    by_hand = np.array([[good(loaded, pair, first) for first in (0, 1)] for pair in PAIRS])
    assert result.items["score_good"].to_numpy() == pytest.approx(by_hand.mean(axis=1), abs=1e-5)
    assert result.items["score_bad"].to_numpy() == pytest.approx(1 - by_hand.mean(axis=1), abs=1e-5)
    values = {row["measure"]: row["value"] for row in result.summary.filter(scope="overall", split="all").to_dicts()}
    assert values["accuracy"] == (by_hand.mean(axis=1) > 0.5).mean()
    assert values[OVER_ORDERS] == pytest.approx(by_hand.std(axis=1, ddof=1).mean(), abs=1e-5)
    assert values[TURNED] == ((by_hand > 0.5).sum(axis=1) == 1).mean()
    plain = pc.MinimalPairs(PAIRS, resamples=100).run(loaded, progress=False)
    assert plain.items["n_tokens_good"].equals(result.items["n_tokens_good"])
    with pytest.raises(pc.PenchantError):
        pc.compare(plain, result)


def test_replies_count_for_the_sentence_that_they_choose(zoo: Callable[[str], Path], tmp_path: Path) -> None:
    phrases = phrases_of("en")
    assert phrases is not None
    endings = [f"{question(pair)}\n{phrases.label}" for pair in (*PAIRS, *(pair[::-1] for pair in PAIRS))]
    model = answering_model(zoo("llama"), tmp_path / "chat", endings, ["A", "B", "(B) because", "it depends"])
    result = pc.MinimalPairs(PAIRS, elicit="answer", samples=25, resamples=100).run(model, progress=False)
    for row in result.items.iter_rows(named=True):
        letters = ["A" if reply == "A" else "B" if reply[:2] in ("B", "(B") else "" for reply in row["replies"]]
        chosen = ["AB".index(letter) ^ (number % 2) for number, letter in enumerate(letters) if letter]
        assert row["score_good"] == pytest.approx(chosen.count(0) / len(chosen)) and len(chosen) > 20
    assert "hedged" in {code for row in result.items["readings"].to_list() for code in row}
    assert MISMATCH in set(result.summary["measure"])


def test_the_instruction_may_be_of_any_language(model: Path) -> None:
    finnish = Phrases(label="Vastaa yhdellä kirjaimella.", text="Vastaa yhdellä vaihtoehdolla.")
    one, other = (
        pc.MinimalPairs(PAIRS, elicit="chat", language="fi", phrases=phrases, resamples=100).run(model, progress=False)
        for phrases in (finnish, phrases_of("en"))
    )
    assert one.signature["phrases"] != other.signature["phrases"]
    assert not one.items["score_good"].equals(other.items["score_good"])
    assert pc.MinimalPairs.of(one.settings).phrases == finnish


def test_what_cannot_be_asked_is_refused(model: Path, zoo: Callable[[str], Path]) -> None:
    with pytest.raises(ModelError):
        pc.MinimalPairs(PAIRS, elicit="chat").run(zoo("bert"), progress=False)
    for probe in (
        pc.MinimalPairs(PAIRS, elicit="chat", normalise="mean"),
        pc.MinimalPairs(PAIRS, elicit="chat", method="lp"),
        pc.MinimalPairs(PAIRS, elicit="chat", language="fi"),
    ):
        with pytest.raises(MethodError):
            probe.run(model, progress=False)
