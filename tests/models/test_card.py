"""On a GPU: a card computes what a CPU computes. `PENCHANT_TEST_CARD=1 pytest tests/models/test_card.py` runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import penchant as pc
import zoo as tiny
from builders import language_model
from penchant.engine.scorer import Scorer, numbered

Zoo = Callable[[str], Path]
MODELS = [*tiny.MASKED, *tiny.CAUSAL]
TEXTS = tiny.SENTENCES[1:]  # a single token has no score in a model without a beginning token
pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no GPU here, or PENCHANT_TEST_CARD is not set (tests/conftest.py)"
)


def logprobs(model: pc.LanguageModel, texts: list[str]) -> list[float]:
    return [value for score in Scorer(model).score(numbered(texts)) for value in score.token_logprobs]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("dtype", "bound"), [("float64", 1e-4), ("float32", 1e-3), ("bfloat16", 0.5)])
def test_scores_are_those_of_a_cpu(zoo: Zoo, name: str, dtype: str, bound: float) -> None:
    card, plain = (language_model(zoo(name), device=device, dtype=dtype) for device in ("cuda", "cpu"))
    scored = [logprobs(model, TEXTS) for model in (card, plain)]
    np.testing.assert_allclose(scored[0], scored[1], rtol=0, atol=bound)


@pytest.mark.parametrize("name", MODELS)
def test_a_sentence_scores_alone_as_in_a_batch(zoo: Zoo, name: str) -> None:
    model = language_model(zoo(name), device="cuda")
    alone = [value for text in TEXTS for value in logprobs(model, [text])]
    np.testing.assert_allclose(logprobs(model, TEXTS), alone, rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", [*MODELS, *tiny.HEADLESS])
def test_vectors_are_those_of_a_cpu(zoo: Zoo, name: str) -> None:
    texts = [text for text in TEXTS if len(text) > 20]
    card, plain = (pc.embed(pc.load(zoo(name), device=device), texts) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(card, plain, rtol=0, atol=1e-3)


def test_attention_plans_no_shape_of_a_batch_and_leaves_torch_as_it_was(zoo: Zoo) -> None:
    model = language_model(zoo("bert"), device="cuda", dtype="bfloat16")
    uses_cudnn: Callable[[], bool] = torch.backends.cuda.cudnn_sdp_enabled
    before, during = uses_cudnn(), set()
    model.network.trunk.register_forward_pre_hook(lambda *_: during.add(uses_cudnn()))
    logprobs(model, TEXTS)
    assert during == {False}
    assert uses_cudnn() == before
