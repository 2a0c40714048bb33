"""Published weights against published numbers; skipped where the weights are not at hand.

PENCHANT_GOLDEN_MODELS names a directory that holds bert-base-uncased/, bert-base-cased/ and gpt2/, or some.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
from transformers import PreTrainedModel, PreTrainedTokenizerFast

import brute

TOLERANCE = 1e-3


def golden(name: str) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """The published model of that name, or a skip that says what is missing."""
    home = os.environ.get("PENCHANT_GOLDEN_MODELS")
    if not home:
        pytest.skip("PENCHANT_GOLDEN_MODELS names no directory of published weights")
    if not (Path(home) / name).is_dir():
        pytest.skip(f"no {name}/ in PENCHANT_GOLDEN_MODELS")
    return brute.load(Path(home) / name, causal=name == "gpt2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The traveler lost the souvenir.", -18.014726),
        ("The keys to the cabinet are on the table.", -13.962686),
        ("The keys to the cabinet is on the table.", -23.415111),
    ],
)
def test_pll_of_bert_base_uncased(text: str, expected: float) -> None:
    scores = brute.pll(*golden("bert-base-uncased"), text)
    assert math.fsum(scores) == pytest.approx(expected, abs=TOLERANCE)


def test_pll_word_l2r_of_bert_base_uncased() -> None:
    scores = brute.pll_word_l2r(*golden("bert-base-uncased"), "The traveler lost the souvenir.")
    assert math.fsum(scores) == pytest.approx(-32.779836, abs=TOLERANCE)


def test_pll_of_bert_base_cased() -> None:
    scores = brute.pll(*golden("bert-base-cased"), "Hello world!")
    assert scores == pytest.approx([-6.126739, -5.501766, -0.782497], abs=TOLERANCE)
    assert math.fsum(scores) == pytest.approx(-12.411025, abs=TOLERANCE)


def test_lp_of_gpt2() -> None:
    scores = brute.lp(*golden("gpt2"), "Hello world!")
    assert scores == pytest.approx([-8.293947, -6.387562, -1.313867], abs=TOLERANCE)
    assert math.fsum(scores) == pytest.approx(-15.995376, abs=TOLERANCE)
