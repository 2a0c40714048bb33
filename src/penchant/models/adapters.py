"""Adapters: small trained changes of a model's weights (PEFT), merged into their base model."""

from __future__ import annotations

import json
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from penchant.errors import DataError, ModelError, first_line
from penchant.models.model_identity import ADAPTER, ModelSource
from penchant.text_io import is_file, read_text

WEIGHTS, PICKLED = "adapter_model.safetensors", "adapter_model.bin"


def require_fitting(source: ModelSource, quantized: str, *, pickled: bool) -> None:
    """Raise ModelError if the adapter of `source`, if any, does not fit; no weights are read.

    An adapter does not fit if it belongs to another base model (compared only if both base models are from the hub or
    both are local), if it has no safetensors weights (unless `pickled` is true), or if the base model is quantized
    (`quantized` is the name of its quantization, or "").
    """
    adapter = source.adapter
    if adapter is None:
        return
    folder = Path(adapter.target)
    if find_spec("peft") is None:
        raise ModelError("adapters need the package peft", where=source.given, hint="pip install 'penchant[adapters]'")
    if quantized:
        hint = "merge it into the unquantized base model"
        raise ModelError(
            f"an adapter cannot be merged into quantized weights ({quantized})", where=source.given, hint=hint
        )
    _require_base(source, folder)
    if adapter.local is not None and not is_file(folder / WEIGHTS) and not (pickled and is_file(folder / PICKLED)):
        hint = "save the adapter as safetensors, or use --allow-pickle if you trust its pickled weights"
        raise ModelError("the adapter has no safetensors weights", where=adapter.given, hint=hint)


def merged(model: Any, source: ModelSource, quantized: str, *, pickled: bool) -> Any:
    """Return a model with the adapter of `source`, if any, merged into its weights, which keep their number format.

    Raises ModelError if the adapter does not fit (see `require_fitting`), cannot be merged, or changes no weight.
    """
    if source.adapter is None:
        return model
    require_fitting(source, quantized, pickled=pickled)
    before = _sums(model)
    model = _merged(model, Path(source.adapter.target), source)
    if before == _sums(model):
        message = "the adapter changes no weight of its base model, so it would not affect any result"
        raise ModelError(message, where=source.given, hint="check that the adapter was trained and saved")
    return model.eval()


def _merged(model: Any, folder: Path, source: ModelSource) -> Any:
    from peft import PeftModel, get_peft_model_state_dict  # takes seconds
    from peft.utils import load_peft_weights

    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            adapted: Any = PeftModel.from_pretrained(model, str(folder))
        places = get_peft_model_state_dict(adapted, save_embedding_layers=True)  # "auto" would ask the hub
        unused = set(load_peft_weights(str(folder), device="cpu")) - set(places)
        if not hasattr(adapted.base_model, "merge_and_unload"):
            raise ValueError(f"{adapted.peft_type.value} adapters only add input vectors and have no weights to merge")
        missing = [str(each.message) for each in heard if "missing adapter keys" in str(each.message)]
        if unused or missing:
            raise ValueError(missing[0] if missing else f"the base model has no layer for {min(unused)}")
        return adapted.merge_and_unload(safe_merge=True)
    except Exception as error:
        hint = "check that it was trained on this base model"
        message = f"the adapter cannot be merged: {first_line(error)}"
        raise ModelError(message, where=source.given, hint=hint) from error


def _require_base(source: ModelSource, folder: Path) -> None:
    """Raise ModelError if the adapter names a base model other than that of `source`."""
    try:
        named = json.loads(read_text(folder / ADAPTER)).get("base_model_name_or_path") or ""
    except (DataError, ValueError, AttributeError) as error:
        raise ModelError(f"{ADAPTER} cannot be read", where=str(folder)) from error
    if source.local is None:
        other = not Path(named).is_absolute() and named != source.label
    else:
        here = source.local.resolve()
        other = Path(named).is_dir() and Path(named).resolve() not in (here, here.parent if here.is_file() else here)
    if named and other:
        assert source.adapter is not None
        hint = f"{named}+{source.adapter.given}"
        raise ModelError(f"the adapter belongs to another base model, {named}", where=source.given, hint=f"use {hint}")


def _sums(model: Any) -> dict[str, tuple[float, float]]:
    import torch

    double = torch.float64
    with torch.inference_mode():
        return {
            name: (float(weight.sum(dtype=double)), float(torch.linalg.vector_norm(weight, dtype=double)))
            for name, weight in model.named_parameters()
        }
