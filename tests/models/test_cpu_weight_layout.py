"""Packed linear layers multiply as before; a model on which they do not is left as it was."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM
from transformers.pytorch_utils import Conv1D

import penchant as pc
from builders import language_model
from penchant.models import cpu_weight_layout
from penchant.models.cpu_weight_layout import PackedLayers

Zoo = Callable[[str], Path]


class Small(torch.nn.Module):
    """Two linear layers of either kind, and one of a class of its own."""

    class Doubled(torch.nn.Linear):
        def forward(self, states: torch.Tensor) -> torch.Tensor:
            return 2 * super().forward(states)

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.one, self.two, self.own = torch.nn.Linear(8, 5), Conv1D(3, 5), self.Doubled(3, 3)
        torch.nn.init.normal_(self.two.bias)
        self.device, self.dtype = torch.device("cpu"), torch.float32

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.own(self.two(self.one(states)))
        return result


@pytest.fixture
def packable(monkeypatch: pytest.MonkeyPatch) -> Small:
    monkeypatch.setattr(cpu_weight_layout, "WIDE", 0)  # as on a processor with wider registers than AVX2's
    model = Small()
    if not PackedLayers(Small()).layers:
        pytest.skip("this build of torch has no oneDNN")
    return model


def test_products_stay_the_same_and_can_be_undone(packable: Small) -> None:
    states = torch.randn(2, 7, 8, dtype=torch.float64)
    exact = packable.double()(states).float()
    packable.float()
    with torch.inference_mode():
        before = packable(states.float())
        packed = PackedLayers(packable)
        assert packed.layers == [packable.one, packable.two]  # a subclass may compute something else
        torch.testing.assert_close(packable(states.float()), exact, atol=1e-5, rtol=0)
        packed.undo()
        assert torch.equal(packable(states.float()), before)


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_no_weight_is_in_memory_twice_and_undone_packing_has_all_again(
    zoo: Zoo, packable: Small, name: str, dtype: torch.dtype
) -> None:
    if cpu_weight_layout._widens(dtype):
        pytest.skip(f"this processor has no instructions for {dtype}, so nothing is packed in it")
    loader = AutoModelForMaskedLM if name == "bert" else AutoModelForCausalLM
    model = loader.from_pretrained(zoo(name), dtype=dtype)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    embedding = model.get_input_embeddings().weight
    linear = [m for m in model.modules() if type(m) in (torch.nn.Linear, Conv1D) and m.weight is not embedding]
    weights = [weakref.ref(module.weight) for module in linear]
    tied = model.get_output_embeddings().weight is embedding
    packed = PackedLayers(model)
    gc.collect()
    assert linear
    assert not [weight for weight in weights if weight() is not None]
    packed.undo()
    assert tied == (model.get_output_embeddings().weight is embedding)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


@pytest.mark.parametrize(("capability", "fewest"), [("AVX2", 5), ("AVX512", 3)])
def test_narrow_registers_pack_only_layers_with_many_outputs(
    packable: Small, monkeypatch: pytest.MonkeyPatch, capability: str, fewest: int
) -> None:
    monkeypatch.setattr(cpu_weight_layout, "WIDE", 4)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    layers = PackedLayers(packable).layers
    assert layers == [layer for layer in (packable.one, packable.two) if layer.bias.numel() >= fewest]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_without_instructions_a_product_is_rounded_once(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_weight_layout, "_widens", lambda _: True)
    monkeypatch.setattr(cpu_weight_layout, "_WIDENED", 16)  # two or three outputs at a time
    model = Small().to(dtype)
    model.dtype = dtype
    before = {key: value.clone() for key, value in model.state_dict().items()}
    states = torch.randn(2, 7, 8).to(dtype)
    with torch.inference_mode():
        exact = torch.nn.functional.linear(states.double(), model.one.weight.double(), model.one.bias.double())
        packed = PackedLayers(model)
        assert packed.layers == [model.one, model.two]
        # Half a unit in the last place, and a little for float32's own rounding.
        torch.testing.assert_close(model.one(states).double(), exact, atol=1e-6, rtol=0.501 * torch.finfo(dtype).eps)
        exact = model.one(states).double() @ model.two.weight.double() + model.two.bias.double()
        product = model.two(model.one(states)).double()
        torch.testing.assert_close(product, exact, atol=1e-6, rtol=0.501 * torch.finfo(dtype).eps)
    packed.undo()
    assert not any("forward" in vars(layer) for layer in model.children())
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


def test_float16_with_instructions_is_left_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_weight_layout, "_widens", lambda _: False)
    model = Small().half()
    model.dtype = torch.float16
    assert not PackedLayers(model).layers
    assert not any("forward" in vars(layer) for layer in model.children())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_scores_without_instructions_are_those_of_torch(zoo: Zoo, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_weight_layout, "_widens", lambda _: True)
    wide = language_model(zoo("gpt2"), dtype=dtype)
    assert any("forward" in vars(module) for module in wide.network.model.modules())
    monkeypatch.setenv("PENCHANT_PLAIN", "1")
    plain = pc.load(zoo("gpt2"), dtype=dtype)
    texts = ["The cats sleep.", "Rain"]
    expected = pc.score(plain, texts, method="lp")["score"]
    assert pc.score(wide, texts, method="lp")["score"].to_list() == pytest.approx(expected.to_list(), abs=0.1)


def test_packed_weights_cannot_be_used_by_mistake(packable: Small) -> None:
    with torch.inference_mode():
        PackedLayers(packable)
        before = packable(torch.ones(1, 8))
        assert torch.equal(packable(torch.ones(1, 8)), before)
        with pytest.raises(RuntimeError):
            torch.nn.functional.linear(torch.ones(1, 8), packable.one.weight)


def is_left_alone(zoo: Zoo, before: float) -> None:
    """Assert that nothing of the model is packed and that its score is the one before."""
    lm = language_model(zoo("bert"))
    assert not any("forward" in vars(module) for module in lm.network.model.modules())
    assert pc.score(lm, ["Rain"])["score"][0] == pytest.approx(before, abs=1e-4)


def test_a_model_that_reads_a_weight_itself_is_left_alone(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.models.bert.modeling_bert import BertIntermediate

    def reads(self, states):  # type: ignore[no-untyped-def]
        product = torch.nn.functional.linear(states, self.dense.weight, self.dense.bias)
        return self.intermediate_act_fn(product)

    before = pc.score(language_model(zoo("bert")), ["Rain"])["score"][0]
    monkeypatch.setattr(BertIntermediate, "forward", reads)
    is_left_alone(zoo, before)


def test_a_model_that_would_answer_otherwise_is_left_alone(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = cpu_weight_layout._packed
    before = pc.score(language_model(zoo("bert")), ["Rain"])["score"][0]

    def wrong(reordered: torch.Tensor, bias: torch.Tensor | None) -> Callable[[torch.Tensor], torch.Tensor]:
        forward = plain(reordered, bias)
        return lambda states: forward(states) * 1.01

    monkeypatch.setattr(cpu_weight_layout, "_packed", wrong)
    is_left_alone(zoo, before)
