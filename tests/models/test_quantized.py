"""A quantized checkpoint scores as its weights say, and its method stands wherever its number format does."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, PretrainedConfig, TorchAoConfig

import penchant as pc
import zoo as animals
from builders import language_model as _load
from builders import refusal
from penchant.errors import ModelError
from penchant.models.checkpoint_config import quantization
from penchant.models.model_outline import outline
from penchant.study.manifest_records import ModelRecord

Zoo = Callable[[str], Path]
TEXTS = animals.SENTENCES[1:7]

SAID: dict[str, Any] = yaml.safe_load("""
    int8-bitsandbytes: {quant_method: bitsandbytes, load_in_8bit: true}
    nf4-bitsandbytes: {quant_method: bitsandbytes, load_in_4bit: true, bnb_4bit_quant_type: nf4}
    int4-gptq: {quant_method: gptq, bits: 4, group_size: 128}
    int4-awq: {quant_method: awq, bits: 4, version: gemm}
    int8-quanto: {quant_method: quanto, weights: int8}
    fp8: {quant_method: fp8, weight_block_size: [128, 128]}
    mxfp4: {quant_method: mxfp4}
    int4-hqq: {quant_method: hqq, quant_config: {weight_quant_params: {nbits: 4}}}
    int8-torchao: {quant_method: torchao, quant_type: int8_weight_only}
    int4-torchao: {quant_method: torchao, quant_type: {default: {_type: Int4WeightOnlyConfig}}}
    float8-torchao: {quant_method: torchao, quant_type: {default: {_type: Float8WeightOnlyConfig}}}
    int8-dynamic-activation-int4-weight-torchao:
      {quant_method: torchao, quant_type: {default: {_type: Int8DynamicActivationInt4WeightConfig}}}
    int8-compressed-tensors:
      {quant_method: compressed-tensors, config_groups: {group_0: {weights: {num_bits: 8, type: int}}}}
    float8-a8-compressed-tensors:
      quant_method: compressed-tensors
      config_groups: {a: {weights: {num_bits: 8, type: float}, input_activations: {num_bits: 8}}}
    a-b-c-d: {quant_method: "a|b:c d"}
    int3-unnamed: {bits: 3}
    "": null
""")


@pytest.mark.parametrize("told", SAID)
def test_the_configuration_tells_the_method_and_the_bits(told: str) -> None:
    assert quantization(PretrainedConfig(quantization_config=SAID[told])) == told


@pytest.fixture(scope="module")
def int8(zoo: Zoo, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Models of the zoo with int8 weights, by torchao."""
    torchao = pytest.importorskip("torchao.quantization", reason="torchao is not installed")
    folder = tmp_path_factory.mktemp("int8")

    def made(name: str) -> Path:
        if not (folder / name).exists():
            model = _loader(name).from_pretrained(
                zoo(name), dtype=torch.float32, quantization_config=TorchAoConfig(torchao.Int8WeightOnlyConfig())
            )
            model.save_pretrained(folder / name)
            AutoTokenizer.from_pretrained(zoo(name)).save_pretrained(folder / name)
        return folder / name

    return made


def _loader(name: str) -> Any:
    return AutoModelForCausalLM if name in animals.CAUSAL else AutoModelForMaskedLM


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_int8_scores_are_those_of_the_rounded_weights(
    zoo: Zoo, int8: Callable[[str], Path], name: str, tmp_path: Path
) -> None:
    quantized = _loader(name).from_pretrained(int8(name), dtype=torch.float32)
    rounded = _loader(name).from_pretrained(zoo(name), dtype=torch.float32)
    moved = 0
    for key, module in quantized.named_modules():
        weight: Any = getattr(module, "weight", None)
        if type(weight).__name__ != "Int8Tensor":
            continue
        plain = rounded.get_submodule(key).weight.data
        step = plain.abs().amax(1, keepdim=True) / 127
        restored = weight.dequantize().float()
        assert ((restored - plain).abs() <= 0.51 * step).all()  # to the nearest of 255 steps a row
        plain.copy_(restored)
        moved += 1
    assert moved > 5
    rounded.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(zoo(name)).save_pretrained(tmp_path)
    lm = _load(int8(name))
    assert lm.unused == ()
    assert lm.network.gathers
    scores = pc.score(lm, TEXTS)["score"]
    assert scores.to_list() == pytest.approx(pc.score(_load(tmp_path), TEXTS)["score"].to_list(), abs=1e-3)
    assert scores.to_list() != pytest.approx(pc.score(_load(zoo(name)), TEXTS)["score"].to_list(), abs=1e-2)


def test_the_method_is_in_signature_record_and_finding(zoo: Zoo, int8: Callable[[str], Path]) -> None:
    lm = _load(int8("llama"), dtype="bfloat16")
    assert (lm.dtype, lm.quantized, lm.numbers) == ("bfloat16", "int8-torchao", "bfloat16+int8-torchao")
    assert ModelRecord.of(lm).dtype == "bfloat16+int8-torchao"
    pairs = [{"good": good, "bad": bad} for good, bad in animals.PAIRS[:3]]
    signature = pc.MinimalPairs(data=pairs).run(lm).signature
    assert "|dtype:bfloat16+int8-torchao|" in str(signature)
    assert type(signature).parse(str(signature)) == signature
    assert "|dtype:bfloat16|" in str(pc.MinimalPairs(data=pairs).run(_load(zoo("llama"), dtype="bfloat16")).signature)
    (finding,) = [f for f in pc.check(lm) if f.name == "batch invariance"]
    assert "(bfloat16+int8-torchao, cpu, 24 sentences)" in finding.detail
    seen = outline(str(int8("llama"))).model
    assert seen is not None
    assert seen.numbers == "float32+int8-torchao"


def test_two_quantizations_of_a_model_have_two_fingerprints(zoo: Zoo, int8: Callable[[str], Path]) -> None:
    assert _load(int8("llama")).fingerprint != _load(zoo("llama")).fingerprint


@pytest.mark.parametrize(("method", "told"), [("gptq", "int4-gptq"), ("nonesuch", "int4-nonesuch")])
def test_what_cannot_be_read_is_said_in_one_line(zoo: Zoo, tmp_path: Path, method: str, told: str) -> None:
    if method == "gptq" and find_spec("optimum"):
        pytest.skip("what reads GPTQ is installed")
    animals.altered(zoo("gpt2"), tmp_path / "q", quantization_config={"quant_method": method, "bits": 4})
    line = refusal(lambda: pc.load(tmp_path / "q"), ModelError)
    assert f"quantized ({told})" in line
    assert ("pip install" in line) == (method == "gptq")
