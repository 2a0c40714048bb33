"""Encoder-decoders score a text as transformers does for labels, given a source; what reads no text is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

import penchant as pc
import zoo as tiny
from builders import language_model

Zoo = Callable[[str], Path]
SOURCES = ["", "The old dog saw the teacher."]


def named(directory: Path, source: str) -> str:
    return f"{directory}?source={source}" if source else str(directory)


def expected(directory: Path, source: str, text: str) -> list[float]:
    """log P(t_i | source, t_<i) of the text's tokens as the labels of a plain model, which shifts them itself."""
    model = AutoModelForSeq2SeqLM.from_pretrained(directory, dtype=torch.float64).eval()
    tokenizer = AutoTokenizer.from_pretrained(directory)
    labels, read = (torch.tensor([tokenizer(each)["input_ids"]]) for each in (text, source))
    with torch.inference_mode():
        logprobs = model(input_ids=read, labels=labels).logits[0].log_softmax(-1)
    special = set(tokenizer.all_special_ids)
    return [logprobs[i, token].item() for i, token in enumerate(labels[0].tolist()) if token not in special]


@pytest.mark.parametrize("name", tiny.ENCODER_DECODER)
@pytest.mark.parametrize("source", SOURCES)
def test_scores_are_those_of_labels(zoo: Zoo, name: str, source: str) -> None:
    model = language_model(named(zoo(name), source))
    assert model.kind == "causal" and model.network.packs == 0
    scores = pc.score(model, tiny.SENTENCES)
    for text, found in zip(tiny.SENTENCES, scores["logprobs"], strict=True):
        np.testing.assert_allclose(found, expected(zoo(name), source, text), atol=1e-4)


@pytest.mark.parametrize("name", tiny.ENCODER_DECODER)
def test_scores_do_not_move_with_company_or_order(zoo: Zoo, name: str) -> None:
    model = language_model(zoo(name), dtype="float64")
    together = pc.score(model, tiny.SENTENCES)["logprobs"].to_list()
    backwards = pc.score(model, tiny.SENTENCES[::-1])["logprobs"].to_list()[::-1]
    alone = [pc.score(model, [text])["logprobs"][0].to_list() for text in tiny.SENTENCES]
    for one, other, third in zip(together, backwards, alone, strict=True):
        np.testing.assert_allclose(other, one, atol=1e-9)
        np.testing.assert_allclose(third, one, atol=1e-9)


def test_a_source_is_another_model(zoo: Zoo) -> None:
    plain, given, other = (language_model(named(zoo("t5"), source)) for source in ("", "Rain", "Sun"))
    assert len({model.name for model in (plain, given, other)}) == 3
    assert len({model.fingerprint for model in (plain, given, other)}) == 3
    assert given.name.startswith(f"{plain.name}?source=")


@pytest.mark.parametrize("name", tiny.ENCODER_DECODER)
def test_a_study_checks_and_compares_sources(penchant: Any, zoo: Zoo, tmp_path: Path, name: str) -> None:
    models = [str(zoo(name)), named(zoo(name), "A sentence: ")]
    code, out, err = penchant("check", "-m", models[1])
    assert code == 0, out + err
    penchant("init", "minimal-pairs", tmp_path)
    options = [option for model in models for option in ("-m", model)]
    code, _, err = penchant("run", tmp_path / "minimal-pairs.yaml", *options, "-o", tmp_path / "out")
    assert code == 0, err
    assert len(pc.open(tmp_path / "out").results) == 2
    code, out, _ = penchant("verify", tmp_path / "out")
    assert code == 0 and "not checked" not in out
    code, out, err = penchant("surprisal", "-m", models[0], stdin="The old dog.\n")
    assert code == 0, err


def refusal(spec: object) -> str:
    with pytest.raises(pc.PenchantError) as error:
        pc.load(str(spec))
    return str(error.value)


def test_what_cannot_read_or_start_is_refused(zoo: Zoo, tmp_path: Path) -> None:
    assert "no encoder" in refusal(f"{zoo('gpt2')}?source=Rain")
    started = tiny.altered(zoo("t5"), tmp_path / "t5", decoder_start_token_id=None)
    (started / "generation_config.json").unlink(missing_ok=True)
    assert "decoder" in refusal(started)
    speech = tiny.altered(zoo("t5"), tmp_path / "speech", model_type="speech_to_text")
    assert json.loads((speech / "config.json").read_text("utf-8"))["model_type"] in refusal(speech)

    def lose(weights: dict[str, torch.Tensor]) -> None:
        weights.pop(next(name for name in weights if "decoder.block.1.layer.1" in name))

    assert "trained weights" in refusal(tiny.altered(zoo("t5"), tmp_path / "lost", weights=lose))
