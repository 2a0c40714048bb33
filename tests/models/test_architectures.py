"""Scores and vectors of every architecture, in any batch, against plain forward passes on one text at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
import yaml
from numpy.typing import NDArray

import penchant as pc
from architectures import CAUSAL, MASKED, NOT_CAUSAL, TEXTS, save, tokenizer
from penchant.engine.scorer import Scorer, numbered
from penchant.errors import ModelError
from penchant.models.file_hashes import Digests
from penchant.models.load import LanguageModel, read_model
from penchant.models.torch_network import Network
from penchant.study.model_check import check

MIXING = {"mobilebert", "convbert", "fnet", "yoso", "nystromformer", "funnel"}
"""Types whose numbers padding moves, at these sizes."""
OFF = 2e-4
"""The most that a score of some ten tokens may be off by rounding, with weights as large as these."""


def _encoded(text: str, *, causal: bool) -> list[int]:
    ids: list[int] = tokenizer().encode(text, add_special_tokens=not causal).ids
    return [2, *ids] if causal else ids


@torch.no_grad()
def _alone(model: Any, text: str, *, causal: bool) -> float:
    """The pseudo-log-likelihood or log-likelihood of one text, from plain forward passes."""
    ids = _encoded(text, causal=causal)
    if causal:
        logprobs = model(input_ids=torch.tensor([ids])).logits[0].double().log_softmax(-1)
        return float(sum(logprobs[at - 1, ids[at]] for at in range(1, len(ids))))
    total = 0.0
    for at in range(1, len(ids) - 1):
        masked = torch.tensor([[*ids[:at], 4, *ids[at + 1 :]]])
        total += float(model(input_ids=masked).logits[0, at].double().log_softmax(-1)[ids[at]])
    return total


@torch.no_grad()
def _vector(model: Any, text: str, layer: int, *, causal: bool) -> NDArray[np.float32]:
    ids = _encoded(text, causal=causal)
    states = model.base_model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0]
    vector: NDArray[np.float32] = (states[1:] if causal else states[1:-1]).mean(0).numpy()
    return vector


def _read(home: Path, **options: Any) -> LanguageModel:
    model = read_model(home, **options)
    assert isinstance(model, LanguageModel)
    return model


def _agrees(lm: LanguageModel, *, causal: bool) -> None:
    """Assert that scores and vectors in large and small batches are those of one text at a time."""
    plain: Any = _plain(lm, causal=causal)
    right = [_alone(plain, text, causal=causal) for text in TEXTS]
    for budget in (1, 24, 4096):
        scorer = Scorer(lm, batch_tokens=budget)
        assert [s.score for s in scorer.score(numbered(TEXTS))] == pytest.approx(right, abs=OFF, rel=1e-5)
    for layer in {0, lm.network.readable[-1]}:
        vectors = Scorer(lm).embed(TEXTS, layer=layer)
        expected = np.stack([_vector(plain, text, layer, causal=causal) for text in TEXTS])
        assert np.abs(vectors - expected).max() <= 1e-4 * max(1.0, float(np.abs(expected).max()))


def _plain(lm: LanguageModel, *, causal: bool) -> Any:
    """The same checkpoint as transformers alone loads it."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    loader: Any = AutoModelForCausalLM if causal else AutoModelForMaskedLM
    return loader.from_pretrained(lm.network.config._name_or_path).eval()


@pytest.mark.slow
@pytest.mark.parametrize("kind", MASKED)
def test_a_masked_model_answers_as_it_does_alone(kind: str, tmp_path: Path) -> None:
    lm = _read(save(kind, tmp_path, causal=False))
    assert lm.kind == "masked"
    assert (lm.network.batching == "padded") == (kind not in MIXING)
    _agrees(lm, causal=False)
    assert all(finding.verdict != "fail" for finding in check(lm, TEXTS))


@pytest.mark.slow
@pytest.mark.parametrize("kind", CAUSAL)
def test_a_causal_model_answers_as_it_does_alone(kind: str, tmp_path: Path) -> None:
    lm = _read(save(kind, tmp_path, causal=True))
    assert lm.kind == "causal"
    _agrees(lm, causal=True)
    assert all(finding.verdict != "fail" for finding in check(lm, TEXTS))


@pytest.mark.parametrize("kind", NOT_CAUSAL)
def test_a_model_that_reads_ahead_has_vectors_and_no_scores(kind: str, tmp_path: Path) -> None:
    lm = _read(save(kind, tmp_path, causal=True))
    assert lm.kind == "encoder"
    with pytest.raises(ModelError, match="attends to tokens after"):
        list(Scorer(lm).score(numbered(TEXTS)))
    plain: Any = _plain(lm, causal=True)
    vectors = Scorer(lm).embed(TEXTS)
    assert np.abs(vectors - [_vector(plain, text, -1, causal=False) for text in TEXTS]).max() < 1e-3


@pytest.mark.parametrize("kind", ["convbert", "fnet", "mobilebert"])
def test_padding_moves_no_number(kind: str, tmp_path: Path) -> None:
    lm = _read(save(kind, tmp_path, causal=False))
    assert lm.network.batching == "equal-length"
    _agrees(lm, causal=False)
    words = pc.surprisal(lm, TEXTS, method="pll")
    alone = [pc.surprisal(lm, text, method="pll")["surprisal"].to_list() for text in TEXTS]
    assert words["surprisal"].to_list() == pytest.approx([each for text in alone for each in text], abs=OFF)


def test_an_association_is_that_of_texts_read_alone(tmp_path: Path) -> None:
    lm = _read(save("mobilebert", tmp_path, causal=False))
    sets = {"x": TEXTS[:3], "y": TEXTS[3:], "a": ["the dog", "it rained in the garden"], "b": ["the table", "keys"]}
    described = {
        "language": "en",
        "lists": {name: {"words": texts, "templates": "whole"} for name, texts in sets.items()},
        "templates": {"whole": ["{word}"]},
        "categories": {"C": {"X": "x", "Y": "y", "A": "a", "B": "b"}},
    }
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "set.yaml").write_text(yaml.safe_dump(described))
    summary = pc.SEAT(data=str(tmp_path / "set")).run(lm).summary
    (d,) = summary.filter(pl.col("measure") == "effect size")["value"]
    plain = _plain(lm, causal=False)
    vectors = {
        name: [_vector(plain, text, -1, causal=False).astype(float) for text in texts] for name, texts in sets.items()
    }

    def cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
        return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))

    s = {
        name: [
            np.mean([cosine(w, a) for a in vectors["a"]]) - np.mean([cosine(w, b) for b in vectors["b"]])
            for w in vectors[name]
        ]
        for name in ("x", "y")
    }
    expected = (np.mean(s["x"]) - np.mean(s["y"])) / np.std([*s["x"], *s["y"]], ddof=1)
    assert d == pytest.approx(expected, abs=1e-4)


PROVED = Digests.proved
"""The method itself, which other tests do without."""


def test_proofs_are_remembered_by_the_hash_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Digests, "proved", PROVED)
    home, memory = save("mobilebert", tmp_path, causal=False), Digests(tmp_path / "cache.sqlite")
    first = _read(home, digests=memory)
    right = pc.score(first, TEXTS)["score"].to_list()
    with monkeypatch.context() as patched:
        patched.setattr(Network, "_proved", None)  # nothing is proved again
        second = _read(home, digests=memory)
        assert second.network.proofs == first.network.proofs
        assert pc.score(second, TEXTS)["score"].to_list() == right
        with pytest.raises(ModelError):
            read_model(home, dtype="float64", digests=memory)
    config = json.loads((home / "config.json").read_text())
    (home / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 1e-6}))
    third = read_model(home, digests=memory)
    assert third.fingerprint != first.fingerprint


def test_a_model_that_answers_differently_each_time_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.models.bert.modeling_bert import BertEmbeddings

    plain = BertEmbeddings.forward
    home = save("bert", tmp_path, causal=False)
    with monkeypatch.context() as patched:
        patched.setattr(BertEmbeddings, "forward", lambda *a, **k: (e := plain(*a, **k)) + torch.randn_like(e))
        with pytest.raises(ModelError, match="different outputs for the same text"):
            read_model(home)
    _read(home)


def test_a_model_whose_rows_mix_is_read_one_text_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.models.bert.modeling_bert import BertEmbeddings

    plain = BertEmbeddings.forward
    home = save("bert", tmp_path, causal=False)
    right = pc.score(read_model(home), TEXTS)["score"].to_list()
    mixed = lambda *a, **k: (e := plain(*a, **k)) + (e - e.mean(0, keepdim=True))  # noqa: E731  # 0 for a row alone
    monkeypatch.setattr(BertEmbeddings, "forward", mixed)
    lm = _read(home)
    assert lm.network.batching == "single"
    assert pc.score(lm, TEXTS)["score"].to_list() == pytest.approx(right, abs=OFF)
