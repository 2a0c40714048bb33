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
    texts = [f"[user]\n{ending}\n[assistant]\n" for ending in endings]
    rows = []
    for text in texts:
        before = tokenizer(text, add_special_tokens=False)["input_ids"]
        for reply in replies:
            whole = tokenizer(text + reply, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
            rows.append((torch.tensor([whole]), torch.tensor([[-100] * len(before) + whole[len(before) :]])))
    torch.manual_seed(0)
    steps = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(40):
        steps.zero_grad()
        torch.stack([network(input_ids=ids, labels=labels).loss for ids, labels in rows]).mean().backward()  # type: ignore[no-untyped-call]
        steps.step()
    network.eval().save_pretrained(made)
    return made
