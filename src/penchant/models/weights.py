"""Loading of a checkpoint's weights with its trained head, and checks of the loaded model."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

from penchant.errors import ModelError, PenchantError, first_line
from penchant.models.checkpoint_config import Heard, ModelKind, claimed_kind, heads, reads_source
from penchant.models.device_map import Placing
from penchant.models.fingerprint import lacks_weights
from penchant.models.model_identity import ModelSource
from penchant.plurals import counted


def load_weights(
    source: ModelSource, config: Any, options: dict[str, Any], placing: Placing, heard: Heard, quantized: str
) -> tuple[Any, ModelKind, str, tuple[str, ...]]:
    """Load the weights, with a vocabulary head if the checkpoint has a trained one.

    Return the model, its kind, the reason why it has no scores or "", and the names of the unused weights.
    """
    import torch
    from transformers import AutoModel, AutoModelForSeq2SeqLM

    options = {**options, "dtype": getattr(torch, placing.dtype), "output_loading_info": True}
    reason = ""
    kind, _ = claimed_kind(config)
    loaders: list[tuple[ModelKind, Any]] = [(kind, heads().get(kind)), ("encoder", AutoModel)]
    for attempt, loader in [(kind, AutoModelForSeq2SeqLM)] if reads_source(config) else loaders:
        before = len(heard.messages)
        if loader is None:
            reason = reason or f"'{config.model_type}' has no word-probability head"
            continue
        try:
            model, info = loader.from_pretrained(source.target, **options, **placing.options(loader, config, options))
        except PenchantError:
            raise
        except Exception as error:
            raise _no_weights(source, error, quantized) from error
        if quantized and getattr(model, "hf_quantizer", None) is None:  # quantized weights, not converted to numbers
            raise _no_weights(source, ValueError("transformers does not support the method"), quantized)
        untrained = sorted({*info["missing_keys"], *(str(key[0]) for key in info["mismatched_keys"])})
        if attempt == "encoder":
            untrained = [key for key in untrained if "pooler" not in key]
        if not untrained:
            return model, attempt, reason, _unused(source, model, info["unexpected_keys"])
        del heard.messages[before:]  # warnings about a head that is not used
        shown = ", ".join(untrained[:3]) + (" …" if len(untrained) > 3 else "")
        reason = f"the checkpoint has no trained weights for {shown}"
        if attempt == "encoder":
            raise ModelError(f"{reason}, so they would be initialised at random", where=source.given)
        if config.model_type == "electra":
            reason += "; an ELECTRA discriminator only detects replaced words and has no word probabilities"
    raise ModelError(reason, where=source.given)


def _unused(source: ModelSource, model: Any, unexpected: Iterable[str]) -> tuple[str, ...]:
    """Return the sorted names of the checkpoint's weights that were not loaded.

    `unexpected` has these names as transformers reports them. Raises ModelError if they include layers of the same kind
    as loaded layers, since the configuration then describes a smaller model than the trained one.
    """
    prefix = f"{model.base_model_prefix}."

    def pattern(key: str) -> str:
        return re.sub(r"(?<=\.)\d+(?=\.)", "#", key.removeprefix(prefix))

    kinds = {pattern(key) for key in model.state_dict()}
    unused = tuple(sorted(unexpected))
    layers = [key for key in unused if "#" in pattern(key) and pattern(key) in kinds]
    if layers:
        raise ModelError(
            f"its configuration omits {counted(len(layers), 'weights')} of the checkpoint, such as {layers[0]}",
            where=source.given,
            hint="correct the number of layers in config.json",
        )
    return unused


def _no_weights(source: ModelSource, error: Exception, quantized: str) -> ModelError:
    first = first_line(error)
    if quantized:
        message = f"its weights are quantized ({quantized}) and cannot be loaded: {first}"
        hint = "install the missing package, or use the unquantized checkpoint"
        return ModelError(message, where=source.given, hint=hint)
    if "safetensors" in first or "no file named" in first:
        return lacks_weights(source.given)
    return ModelError(f"the weights cannot be loaded: {first}", where=source.given)


def check_embeddings(source: ModelSource, model: Any, tokenizer: Any) -> None:
    """Raise ModelError if the tokenizer has ids for which the model has no embedding."""
    rows, last = int(model.get_input_embeddings().weight.shape[0]), max(tokenizer.get_vocab().values())
    if last >= rows:
        raise ModelError(
            f"the tokenizer has ids up to {last}, but the model has {rows} embeddings",
            where=source.given,
            hint="use the tokenizer with which the model was trained",
        )


def max_tokens(model: Any, tokenizer: Any) -> int:
    """Return the maximum input length in tokens: the smaller of the model's and the tokenizer's limit.

    A limit that is not positive, such as XLNet's −1, is ignored.
    """
    import torch

    limits = [int(tokenizer.model_max_length)]
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions and positions > 0:
        # RoBERTa and its relatives count positions from padding_idx + 1.
        offsets = [
            module.padding_idx + 1
            for name, module in model.named_modules()
            if name.endswith("position_embeddings")
            and isinstance(module, torch.nn.Embedding)
            and module.padding_idx is not None
        ]
        limits.append(int(positions) - max(offsets, default=0))
    return min((limit for limit in limits if limit > 0), default=sys.maxsize)
