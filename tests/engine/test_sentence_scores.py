"""Every score of every architecture against one-sentence-at-a-time reference passes, token by token."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import brute
import zoo as tiny
from builders import language_model
from penchant.engine.scorer import Scorer, numbered

Zoo = Callable[[str], Path]
METHODS = {
    "pll": brute.pll,
    "pll-word-l2r": brute.pll_word_l2r,
    "aul": brute.aul,
    "aula": brute.aula,
}
BUDGETS = (1, 37, 4096)


def agree(found: NDArray[np.float64], expected: list[float], what: str) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-4, rtol=0, err_msg=what)


@pytest.mark.parametrize("name", tiny.MASKED)
@pytest.mark.parametrize("method", METHODS)
def test_masked_scores_equal_reference(zoo: Zoo, name: str, method: str) -> None:
    lm = language_model(zoo(name))
    model, tokenizer = brute.load(zoo(name))
    assert lm.network.gathers
    wanted = [METHODS[method](model, tokenizer, text) for text in tiny.SENTENCES]
    for budget in BUDGETS:
        scores = list(Scorer(lm, batch_tokens=budget).score(numbered(tiny.SENTENCES), method))
        for score, text, expected in zip(scores, tiny.SENTENCES, wanted, strict=True):
            agree(score.token_logprobs, expected, f"{name} {method} {text}")
            total = np.mean(expected) if method in ("aul", "aula") else np.sum(expected)
            assert score.score == pytest.approx(total, abs=1e-4 * len(expected))


@pytest.mark.parametrize("name", tiny.CAUSAL)
def test_causal_scores_equal_reference(zoo: Zoo, name: str) -> None:
    lm = language_model(zoo(name))
    model, tokenizer = brute.load(zoo(name), causal=True)
    texts = [t for t in tiny.SENTENCES if lm.begin is not None or len(brute.lp(model, tokenizer, t)) > 1]
    assert lm.network.gathers
    assert lm.network.packs
    wanted = [brute.lp(model, tokenizer, text) for text in texts]
    for budget in BUDGETS:
        scores = Scorer(lm, batch_tokens=budget).score(numbered(texts), "lp")
        for score, text, expected in zip(scores, texts, wanted, strict=True):
            agree(score.token_logprobs, expected, f"{name} {text}")


@pytest.mark.parametrize("name", tiny.MASKED)
def test_shared_tokens_equal_reference(zoo: Zoo, name: str) -> None:
    lm = language_model(zoo(name))
    model, tokenizer = brute.load(zoo(name))
    triples = [(a, b, "") for a, b in tiny.PAIRS]
    for (a, b), pair in zip(tiny.PAIRS, Scorer(lm).score_pairs(triples, "pll-shared"), strict=True):
        for side, expected in zip(pair, brute.pll_shared(model, tokenizer, a, b), strict=True):
            agree(side.token_logprobs, expected, f"{name} {a} / {b}")
