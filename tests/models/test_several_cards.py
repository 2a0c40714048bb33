"""A model spread over two invented cards: nothing meets what lies on the other, and the answers are the plain ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate.hooks import AlignDevicesHook, add_hook_to_module
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

import zoo as animals
from invented_cards import Cards, placed
from penchant.models import cpu_weight_layout, device_map
from penchant.models.prefix_trees import Trees
from penchant.models.torch_network import Network

Zoo = Callable[[str], Path]
ROWS, COLS = np.array([0, 0, 1]), np.array([1, 4, 2])
TOKENS, LENGTHS = np.arange(5, 19).reshape(2, 7), np.array([7, 5])
TREE = Trees(np.array([[0, 1, 2, 2, 3, 1, 2]]), np.array([[7, 5, 3, 5, 5, 7, 7]]))


def _answers(network: Network, *, trees: bool) -> list[Any]:
    """Return the answers of a network of each kind: logits of rows and of a tree, vectors, and attention."""
    rows = torch.cat([x for _, x in network.logits(TOKENS, LENGTHS, None, ROWS, COLS)])
    states = network.vectors(TOKENS, LENGTHS, ROWS, COLS, (0, 1, 2))
    logits, attention = network.logits_and_attention(TOKENS, LENGTHS, ROWS, COLS)
    answers = [np.array(rows.tolist()), states, np.array(logits.tolist()), attention]
    if trees:
        tree = [x for _, x in network.logits(TOKENS[:1], LENGTHS[:1], TREE, ROWS[:2], COLS[:2])]
        answers.append(np.array(torch.cat(tree).tolist()))
    return answers


def _spread(loader: Any, model: Any) -> None:
    """Lay the model on two cards as `--device auto` plans it, and hang accelerate's hooks on its parts."""
    room = int(0.8 * model.get_memory_footprint())
    places = device_map.spread(loader, model.config, {0: room, 1: room}, "float32", with_cpu=False, given={})
    assert set(places.values()) == {0, 1}
    for name, module in model.named_modules():
        for tensors in (module._parameters, module._buffers):
            for key, value in tensors.items():
                if value is not None:
                    whole = f"{name}.{key}"
                    place = next((n for part, n in places.items() if f"{whole}.".startswith(f"{part}.")), 0)
                    tensors[key] = placed(value, torch.device("cuda", int(place)))
    modules = dict(model.named_modules())
    for part, place in places.items():
        for module in modules[part].modules() if part in modules else ():
            add_hook_to_module(module, AlignDevicesHook(execution_device=torch.device("cuda", int(place))), append=True)
    add_hook_to_module(model, AlignDevicesHook(torch.device("cuda", 0), io_same_device=True), append=True)


@pytest.mark.parametrize("name", ["bert", "roberta", "modernbert", "deberta-v2", "gpt2", "llama", "mistral"])
def test_parts_on_two_cards_answer_as_one(zoo: Zoo, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_weight_layout, "_all_here", lambda _: False)
    causal = name in animals.CAUSAL
    loader = AutoModelForCausalLM if causal else AutoModelForMaskedLM
    plain = Network(loader.from_pretrained(zoo(name), dtype=torch.float32), scores=True, causal=causal)
    model = loader.from_pretrained(zoo(name), dtype=torch.float32)
    with Cards():
        _spread(loader, model)
        network = Network(model, scores=True, causal=causal)
        found = _answers(network, trees=causal)
    assert network.device == torch.device("cuda", 0)
    assert (network.gathers, network.shortens, network.packs) == (plain.gathers, plain.shortens, plain.packs)
    for answer, expected in zip(found, _answers(plain, trees=causal), strict=True):
        np.testing.assert_allclose(answer, expected, atol=1e-5)


def test_tensors_of_two_cards_do_not_meet() -> None:
    with Cards():
        a, b = torch.ones(2, device="cuda:0"), torch.ones(2).to("cuda:1")
        with pytest.raises(RuntimeError, match="add: tensors on cuda:0, cuda:1"):
            a + b
        assert (a + b.to(a.device)).tolist() == [2, 2]
        assert b[torch.tensor([0])].device == torch.device("cuda:1")
        with pytest.raises(RuntimeError, match="tensors on cpu, cuda:1"):
            torch.cat([torch.ones(2), b])
