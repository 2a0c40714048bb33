"""A model whose parts lie in several places scores as it does in one; what does not fit is said in one line."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import cpu_offload, dispatch_model
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

import penchant as pc
import zoo as animals
from builders import language_model as _load
from builders import refusal
from penchant.errors import MethodError, ModelError
from penchant.models import device_map
from penchant.models.device_map import Placing
from penchant.models.load import LanguageModel
from penchant.models.torch_network import Network
from penchant.study.manifest_records import ModelRecord

Zoo = Callable[[str], Path]
TEXTS = animals.SENTENCES[1:9]


def _loader(name: str) -> Any:
    return AutoModelForCausalLM if name in animals.CAUSAL else AutoModelForMaskedLM


def _scores(model: LanguageModel) -> list[list[float]]:
    return [[float("nan" if x is None else x) for x in row] for row in pc.score(model, TEXTS)["logprobs"]]


def _agree(model: LanguageModel, other: LanguageModel) -> None:
    for found, expected in zip(_scores(model), _scores(other), strict=True):
        assert found == pytest.approx(expected, abs=2e-5, nan_ok=True)


def _in_parts(model: Any) -> dict[str, str]:
    """The place of each part: every other layer, and the head or what it holds, is kept on the disk."""
    places: dict[str, str] = {}
    for name, module in model.named_modules():
        if any(name == done or name.startswith(f"{done}.") for done in places):
            continue
        layer = name.rpartition(".")[2].isdigit()
        if layer or not list(module.children()):
            places[name] = "disk" if layer and len(places) % 2 else "cpu"
    tensors = (key for key in model.state_dict() if not any(key.startswith(f"{part}.") for part in places))
    return {**places, **dict.fromkeys(tensors, "cpu")}


@pytest.mark.parametrize("name", [name for name in (*animals.MASKED, *animals.CAUSAL) if name != "deberta-v2"])
def test_a_model_behind_hooks_scores_the_same(zoo: Zoo, name: str) -> None:
    lm = _load(zoo(name))
    network = Network(
        cpu_offload(_loader(name).from_pretrained(zoo(name), dtype=torch.float32), torch.device("cpu")),
        scores=True,
        causal=name in animals.CAUSAL,
    )
    offloaded = replace(lm, network=network)
    assert network.device == torch.device("cpu")
    assert (network.gathers, network.packs) == (lm.network.gathers, lm.network.packs)
    _agree(offloaded, lm)
    spans = pc.embed(offloaded, TEXTS[2:3], spans=[(4, 12)], layer=1)
    np.testing.assert_allclose(spans, pc.embed(lm, TEXTS[2:3], spans=[(4, 12)], layer=1), atol=1e-5)


@pytest.mark.parametrize("name", ["bert", "roberta", "modernbert", "gpt2", "llama", "mistral"])
def test_a_model_in_parts_scores_the_same(zoo: Zoo, name: str, tmp_path: Path) -> None:
    lm = _load(zoo(name))
    plain = _loader(name).from_pretrained(zoo(name), dtype=torch.float32)
    places = _in_parts(plain)
    assert {"cpu", "disk"} == set(places.values())
    spread = dispatch_model(plain, places, main_device="cpu", offload_dir=tmp_path)
    network = Network(spread, scores=True, causal=name in animals.CAUSAL)
    assert network.gathers == lm.network.gathers
    assert network.packs == lm.network.packs
    _agree(replace(lm, network=network), lm)


def test_a_trunk_behind_a_hook_keeps_it(zoo: Zoo, tmp_path: Path) -> None:
    plain = AutoModelForCausalLM.from_pretrained(zoo("llama"), dtype=torch.float32)
    spread = dispatch_model(plain, {"model": "disk", "lm_head": "cpu"}, main_device="cpu", offload_dir=tmp_path)
    before = spread.base_model.forward
    network = Network(spread, scores=True, causal=True)
    assert network.gathers
    assert vars(spread.base_model)["forward"] is before
    lm = _load(zoo("llama"))
    _agree(replace(lm, network=network), lm)


@pytest.mark.parametrize("device", ["auto", "auto+cpu"])
def test_without_cards_auto_is_the_cpu(zoo: Zoo, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_map, "cards", dict)
    lm = _load(zoo("gpt2"), device=device)
    assert ModelRecord.of(lm).device == "cpu"
    assert _scores(lm) == _scores(_load(zoo("gpt2"), device="cpu"))


@pytest.mark.parametrize("name", ["modernbert", "llama"])
def test_a_model_is_loaded_in_parts(zoo: Zoo, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on cards, but that the second of them is the disk, where no part may lie otherwise."""
    places = _in_parts(_loader(name).from_pretrained(zoo(name)))
    options = {"device_map": places, "offload_folder": str(tmp_path)}
    monkeypatch.setattr(device_map, "cards", lambda: {0: 1000})
    monkeypatch.setattr(Placing, "options", lambda *_: options)
    for device in ("auto", "auto+cpu"):
        assert "can hold only 1e-06 GB" in refusal(partial(_load, zoo(name), device=device), ModelError)
    monkeypatch.setattr(Placing, "put", lambda _, model: model)
    lm = _load(zoo(name), device="auto")
    assert ModelRecord.of(lm).device == "cpu + disk"
    assert lm.network.gathers
    _agree(lm, _load(zoo(name), device="cpu"))


def test_a_model_that_does_not_run_in_parts_is_said(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_map, "cards", lambda: {0: 1 << 30})
    monkeypatch.setattr(Placing, "options", lambda *_: {})
    monkeypatch.setattr(Placing, "put", lambda _, model: cpu_offload(model, torch.device("cpu")))
    with pytest.raises(ModelError, match=r"cannot run on several devices: Cannot copy .* — use one device"):
        _load(zoo("deberta-v2"), device="auto+cpu")  # it reads the weights of another module


def _spread(zoo: Zoo, name: str, *free: int, with_cpu: bool = False) -> dict[str, int | str]:
    config = AutoConfig.from_pretrained(zoo(name))
    rooms: dict[int | str, int] = dict(enumerate(free))
    return device_map.spread(_loader(name), config, rooms, "float32", with_cpu=with_cpu, given={})


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_parts_fit_their_cards_and_no_layer_is_split(zoo: Zoo, name: str) -> None:
    model = _loader(name).from_pretrained(zoo(name), dtype=torch.float32)
    size = sum(p.nbytes for p in model.parameters()) + sum(b.nbytes for b in model.buffers())
    free = int(0.8 * size)
    places = _spread(zoo, name, free, free)
    assert set(places.values()) == {0, 1}
    used: dict[int | str, dict[int, int]] = {0: {}, 1: {}}
    for key, value in model.named_parameters():
        (place,) = {places[part] for part in places if key == part or key.startswith(f"{part}.")}
        used[place][id(value)] = value.nbytes
    assert all(sum(sizes.values()) <= free for sizes in used.values())
    assert all(".".join(part.split(".")[:3]) == part for part in places if part.startswith("model.layers"))


def test_a_model_that_fits_one_card_is_on_one(zoo: Zoo) -> None:
    assert set(_spread(zoo, "gpt2", 1 << 30).values()) == {0}


def test_what_does_not_fit_is_said(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    model = AutoModelForCausalLM.from_pretrained(zoo("llama"), dtype=torch.float32)
    size = sum(p.nbytes for p in model.parameters())
    monkeypatch.setattr(device_map, "cards", lambda: {0: size // 4, 1: size // 4})
    monkeypatch.setattr(device_map, "SHARE", 1)
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", None)  # no weights are read to find that out
    line = refusal(lambda: _load(zoo("llama"), device="auto"), ModelError)
    parts = (f"{size / 1e9:.3g} GB", "float32", "2 GPUs", f"{2 * (size // 4) / 1e9:.3g} GB", "auto+cpu")
    assert all(part in line for part in parts), line
    assert "cpu" in _spread(zoo, "llama", size // 4, size // 4, with_cpu=True).values()


def test_spreading_needs_accelerate(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "accelerate":
            raise ModuleNotFoundError("No module named 'accelerate'", name="accelerate")
        return plain(name, *args, **kwargs)

    monkeypatch.setattr(device_map, "cards", lambda: {0: 1 << 30})
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MethodError, match=r"accelerate is missing — pip install 'penchant\[cards\]'"):
        _load(zoo("gpt2"), device="auto")


@pytest.mark.parametrize("device", ["meta", "cuda:99", "autos", "npu"])
def test_a_device_that_cannot_be_used_is_said_before_weights_are_read(
    zoo: Zoo, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", None)
    with pytest.raises(ModelError, match=f"device '{device}' cannot be used"):
        _load(zoo("gpt2"), device=device)


def test_a_device_that_knows_no_float64_is_said_before_weights_are_read(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Apple's, which raises another error than devices that are not there."""
    plain = torch.ones

    def ones(*size: int, **options: Any) -> torch.Tensor:
        if options.get("dtype") is torch.float64:
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype")
        return plain(*size, **options)

    monkeypatch.setattr(torch, "ones", ones)
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", None)
    with pytest.raises(ModelError, match="device 'cpu' cannot be used: Cannot convert a MPS Tensor to float64"):
        pc.load(zoo("gpt2"), device="cpu", dtype="float64")
