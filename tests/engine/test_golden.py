"""Published weights against published numbers; skipped where the weights are not at hand.

PENCHANT_GOLDEN_MODELS names a directory that holds bert-base-uncased/, bert-base-cased/ and gpt2/, or some.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

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
    ("name", "score", "text", "tokens", "total"),
    [
        ("bert-base-uncased", brute.pll, "The traveler lost the souvenir.", None, -18.014726),
        ("bert-base-uncased", brute.pll, "The keys to the cabinet are on the table.", None, -13.962686),
        ("bert-base-uncased", brute.pll, "The keys to the cabinet is on the table.", None, -23.415111),
        ("bert-base-uncased", brute.pll_word_l2r, "The traveler lost the souvenir.", None, -32.779836),
        ("bert-base-cased", brute.pll, "Hello world!", [-6.126739, -5.501766, -0.782497], -12.411025),
        ("gpt2", brute.lp, "Hello world!", [-8.293947, -6.387562, -1.313867], -15.995376),
    ],
)
def test_published_scores(name: str, score: Any, text: str, tokens: list[float] | None, total: float) -> None:
    scores = score(*golden(name), text)
    assert tokens is None or scores == pytest.approx(tokens, abs=TOLERANCE)
    assert math.fsum(scores) == pytest.approx(total, abs=TOLERANCE)
