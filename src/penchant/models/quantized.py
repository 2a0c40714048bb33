"""What a checkpoint says of the precision that its weights were reduced to.

A quantized model is another model than the one it was made from, and a number format does not tell: its weights are
small whole numbers (or floats) with scales, and only what is computed with them has the format that was asked for. So
the method and its bits stand beside the format wherever that is cited: `bfloat16+int8-torchao`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def quantization(config: Any) -> str:
    """How the weights of a model with this configuration are quantized, such as "int8-torchao", "int4-gptq" or "fp8":
    "" where they are not."""
    said = getattr(config, "quantization_config", None)
    if not said:
        return ""
    settings: Mapping[str, Any] = said if isinstance(said, Mapping) else said.to_dict()
    method = settings.get("quant_method") or "unnamed"
    told = f"{_bits(settings)}-{getattr(method, 'value', method)}".strip("-").lower()
    return re.sub(r"[^a-z0-9._-]+", "-", told)


def _bits(settings: Mapping[str, Any]) -> str:
    """The type of the weights, and of the activations where they are quantized, too; "" where the method says it."""
    if settings.get("load_in_8bit"):
        return "int8"
    if settings.get("load_in_4bit"):
        return str(settings.get("bnb_4bit_quant_type") or "fp4")
    groups = settings.get("config_groups")
    if isinstance(groups, Mapping) and groups:
        return "-".join(sorted({_group(group) for group in groups.values() if isinstance(group, Mapping)}))
    if "quant_type" in settings:
        return _torchao(settings["quant_type"])
    inner = settings.get("quant_config")
    hqq = inner.get("weight_quant_params") if isinstance(inner, Mapping) else None
    bits = hqq.get("nbits") if isinstance(hqq, Mapping) else settings.get("bits")
    return f"int{bits}" if bits else str(settings.get("weights") or "")


def _group(group: Mapping[str, Any]) -> str:
    """Weights and activations of a group of layers of compressed-tensors: "int4", or "int8-a8"."""
    weights, activations = group.get("weights") or {}, group.get("input_activations") or {}
    told = f"{weights.get('type', 'int')}{weights.get('num_bits', '')}"
    return f"{told}-a{activations['num_bits']}" if "num_bits" in activations else told


def _torchao(kind: Any) -> str:
    """A type of torchao by its class or its name: "int8" where only weights are quantized, else all that is said."""
    while isinstance(kind, Mapping):
        kind = kind.get("_type") or kind.get("default") or ""
    words = re.findall(r"[A-Z]?[a-z]+\d*(?=[A-Z_]|$)", str(kind).removesuffix("Config"))
    words = [word.lower() for word in words]
    return words[0] if words[1:] == ["weight", "only"] else "-".join(words)
