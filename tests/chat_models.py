"""Tiny chat models: models of the zoo with a chat template."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

TEMPLATE = (
    "{% for message in messages %}[{{ message.role }}]\n{{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]\n{% endif %}"
)
NO_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + TEMPLATE
)


def chat_model(model: Path, folder: Path, template: str = TEMPLATE) -> Path:
    """A copy of a model with a chat template; one with rotary positions has room for long prompts."""
    shutil.copytree(model, folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    if "rope_parameters" in config or "rope_theta" in config:
        (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 1_024}), "utf-8")
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    file = folder / "tokenizer_config.json"
    changed = {"chat_template": template, "model_max_length": 1_024}
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changed), "utf-8")
    return folder


def answering_model(model: Path, folder: Path, endings: Sequence[str], replies: Sequence[str]) -> Path:
    """A chat model trained for a moment to give one of the replies, and to end there, after messages so ending."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    made = chat_model(model, folder)
    tokenizer, network = AutoTokenizer.from_pretrained(made), AutoModelForCausalLM.from_pretrained(made).train()
    ids, labels = [], []
    for ending in endings:
        before = tokenizer(f"[user]\n{ending}\n[assistant]\n", add_special_tokens=False)["input_ids"]
        for reply in replies:
            whole = tokenizer(f"[user]\n{ending}\n[assistant]\n{reply}", add_special_tokens=False)["input_ids"]
            ids.append(torch.tensor([*whole, tokenizer.eos_token_id]))
            labels.append(torch.tensor([-100] * len(before) + [*whole[len(before) :], tokenizer.eos_token_id]))
    torch.manual_seed(0)
    steps = torch.optim.Adam(network.parameters(), lr=3e-3)
    rows = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True)  # at the right, where no token before it looks
    wanted = torch.nn.utils.rnn.pad_sequence(labels, batch_first=True, padding_value=-100)[:, 1:]
    for _ in range(40):
        steps.zero_grad()
        losses = torch.nn.functional.cross_entropy(network(rows).logits[:, :-1].mT, wanted, reduction="none")
        (losses.sum(1) / (wanted != -100).sum(1)).mean().backward()  # type: ignore[no-untyped-call]
        steps.step()
    network.eval().save_pretrained(made)
    return made
