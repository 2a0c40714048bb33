"""The measure of batch invariance is that of a plain computation, alone and in a padded batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

import penchant as pc
import zoo as animals
from builders import Zoo
from penchant.models.load import LanguageModel
from penchant.study import batch_invariance as measured
from penchant.study.batch_invariance import invariance
from penchant.study.model_check import BATCH_TOLERANCE, Finding

TEXTS = animals.SENTENCES[:8]
PLACED = [(text, f"text {n}") for n, text in enumerate(TEXTS)]
NAMES = ("bert", "modernbert", "gpt2", "mistral")


def _load(spec: Path, dtype: str = "float32") -> LanguageModel:
    model = pc.load(spec, dtype=dtype)
    assert isinstance(model, LanguageModel)
    return model


def _plain(name: str, directory: Path, dtype: str) -> Any:
    loader = AutoModelForCausalLM if name in animals.CAUSAL else AutoModelForMaskedLM
    return loader.from_pretrained(directory, dtype=getattr(torch, dtype)).eval()


def _reads(name: str, directory: Path) -> list[tuple[list[int], list[int], list[int]]]:
    """Inputs, the positions read in each, and the tokens whose log-probability is asked for."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    reads: list[tuple[list[int], list[int], list[int]]] = []
    for text in TEXTS:
        ids = tokenizer(text, add_special_tokens=name in animals.MASKED)["input_ids"]
        if name in animals.CAUSAL:
            reads.append(([tokenizer.bos_token_id, *ids], list(range(len(ids))), ids))
            continue
        for at in range(1, len(ids) - 1):
            reads.append(([*ids[:at], tokenizer.mask_token_id, *ids[at + 1 :]], [at], [ids[at]]))
    return reads


@torch.inference_mode()
def _log_probs(model: Any, reads: list[tuple[list[int], list[int], list[int]]]) -> Tensor:
    """The log-probabilities of all reads, which are one padded batch."""
    longest = max(len(ids) for ids, _, _ in reads)
    tokens = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _, _ in reads])
    mask = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids, _, _ in reads])
    logits = model(input_ids=tokens, attention_mask=mask).logits.float().log_softmax(-1)
    return torch.cat([logits[row, at, asked] for row, (_, at, asked) in enumerate(reads)])


def _change(model: Any, reads: list[tuple[list[int], list[int], list[int]]]) -> float:
    alone = torch.cat([_log_probs(model, [read]) for read in reads])
    return float((alone - _log_probs(model, reads)).abs().max())


def _leaks(model: Any) -> None:
    """Let the number of rows in a batch change the first state of every row."""

    def push(_: object, __: object, states: Tensor) -> Tensor:
        return states + 2e-3 * (len(states) - 1) * torch.linspace(-1, 1, states.shape[-1], dtype=states.dtype)

    model.get_input_embeddings().register_forward_hook(push)


def _finding(model: LanguageModel) -> Finding:
    (finding,) = [f for f in pc.check(model, TEXTS) if f.name == "batch invariance"]
    return finding


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_rounding_is_as_large_as_in_a_plain_computation(zoo: Zoo, name: str, dtype: str) -> None:
    lm = _load(zoo(name), dtype)
    change = _change(_plain(name, zoo(name), dtype), _reads(name, zoo(name)))
    result = invariance(lm, PLACED)
    assert result is not None
    assert result.sentences == len(TEXTS)
    assert 0 < result.token <= BATCH_TOLERANCE[dtype]
    assert change / 10 < result.token < 10 * change
    assert result.sentence < 40 * result.token


@pytest.mark.parametrize("name", ["bert", "gpt2"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_model_that_lets_its_batch_through_is_measured(
    zoo: Zoo, name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "SAMPLE", ())  # so that the largest batch holds these texts and no others
    lm, plain = _load(zoo(name), dtype), _plain(name, zoo(name), dtype)
    _leaks(lm.network.model)
    _leaks(plain)
    change = _change(plain, _reads(name, zoo(name)))
    result = invariance(lm, PLACED)
    assert result is not None
    assert change > 10 * BATCH_TOLERANCE["float32"]
    assert result.token == pytest.approx(change, rel=1e-3 if dtype == "float32" else 0.5)


def test_the_finding_says_what_was_measured(zoo: Zoo) -> None:
    lm = _load(zoo("gpt2"))
    sound = _finding(lm)
    assert sound.verdict == "pass"
    assert sound.detail.startswith("a token's log-probability changes by up to ")
    assert sound.detail.endswith("e-06 between batches (float32, cpu, 8 sentences)")
    _leaks(lm.network.model)
    leaking, result = _finding(lm), invariance(lm, PLACED)
    assert result is not None
    assert leaking.verdict == "warn"
    assert f"{result.token:.2g} between batches (float32, cpu, 8 sentences), more than 0.0001;" in leaking.detail


def test_half_precision_says_which_differences_may_be_the_batchs(zoo: Zoo) -> None:
    lm = _load(zoo("bert"), "bfloat16")
    result, finding = invariance(lm, PLACED), _finding(lm)
    assert result is not None
    assert finding.verdict == "pass"
    assert finding.detail.endswith(f"up to {2 * result.sentence:.2g} between two sentences may be due to batching")


def test_of_many_texts_neighbours_from_all_parts_are_compared(zoo: Zoo) -> None:
    many = [(f"{n}", f"text {n}") for n in range(100)]
    chosen = [text for text, _ in measured._spread(many, 8)]
    assert chosen == ["0", "1", "32", "33", "65", "66", "98", "99"]
    assert measured._spread(many[:8], 8) == many[:8]


def test_texts_that_hold_something_unknown_are_not_needed(zoo: Zoo) -> None:
    lm = _load(zoo("bert"))
    findings = pc.check(lm, ["The 漢 dog.", *TEXTS], on_unknown="skip")
    (finding,) = [f for f in findings if f.name == "batch invariance"]
    assert "8 sentences" in finding.detail
    only = pc.check(lm, ["The 漢 dog."])
    assert not [f for f in only if f.name == "batch invariance"]  # a text fails, and nothing is read
