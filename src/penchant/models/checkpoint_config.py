"""Properties of a checkpoint that are known without its weights: configuration, model kind and quantization."""

from __future__ import annotations

import contextlib
import io
import logging
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from penchant.errors import CacheWarning, ModelError, PenchantError, first_line
from penchant.models.fingerprint import code_elsewhere
from penchant.models.model_identity import ModelSource

ModelKind = Literal["masked", "causal", "encoder"]


def read_config(source: ModelSource, options: dict[str, Any]) -> Any:
    """Return the configuration of a checkpoint; `options` are the arguments of `from_pretrained`.

    Raises ModelError if the model is an encoder-decoder without a language-modelling head, such as a speech model, if
    `source` has a text for an encoder but the model is not an encoder-decoder, or if `trust_remote_code` is set and the
    checkpoint takes its code from another repository.
    """
    from transformers import AutoConfig

    if options["trust_remote_code"] and (elsewhere := code_elsewhere(Path(source.target))):
        raise ModelError(
            f"its code comes from another repository, {elsewhere}, whose version is not pinned",
            where=source.given,
            hint="copy that code into the model's directory and correct auto_map",
        )
    try:
        config = AutoConfig.from_pretrained(source.target, **options)
    except Exception as error:
        raise ModelError(f"cannot be loaded: {first_line(error)}", where=source.given) from error
    if reads_source(config):
        from transformers import AutoModelForSeq2SeqLM

        if type(config) not in AutoModelForSeq2SeqLM._model_mapping:
            message = f"'{config.model_type}' is an encoder-decoder that reads no text"
            raise ModelError(message, where=source.given, hint="use a language model")
    elif source.text:
        message = f"'{config.model_type}' has no encoder that could read a source text"
        raise ModelError(message, where=source.given, hint="leave out ?source=, or use an encoder-decoder")
    return config


def reads_source(config: Any) -> bool:
    """Return whether a model is an encoder-decoder."""
    return bool(getattr(config, "is_encoder_decoder", False))


def heads() -> dict[ModelKind, Any]:
    """Return the transformers classes that load models with a vocabulary head, by model kind."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    return {"masked": AutoModelForMaskedLM, "causal": AutoModelForCausalLM}


def claimed_kind(config: Any) -> tuple[ModelKind, bool]:
    """Return a model's kind according to its configuration, and whether the configuration states the kind.

    If the configuration does not state the kind, "masked" is preferred to "causal"; only the weights show whether the
    checkpoint includes a trained head. An encoder-decoder is causal: its decoder predicts the next token.
    """
    if reads_source(config):
        return "causal", True
    named = " ".join(getattr(config, "architectures", None) or [])
    remote = getattr(config, "auto_map", None) or {}
    masked = type(config) in heads()["masked"]._model_mapping or "AutoModelForMaskedLM" in remote
    causal = type(config) in heads()["causal"]._model_mapping or "AutoModelForCausalLM" in remote
    says_causal = "CausalLM" in named or "LMHeadModel" in named
    if causal and (says_causal or not masked):
        return "causal", says_causal
    return ("masked", "MaskedLM" in named) if masked else ("encoder", True)


def first_token(tokenizer: Any) -> int | None:
    """Return the id of the token put before a text for a causal model: bos_token, else eos_token, else None."""
    token = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    return None if token is None else int(token)


@contextlib.contextmanager
def told(source: ModelSource) -> Iterator[None]:
    """Return a context that converts errors caused by a checkpoint's settings to ModelError."""
    try:
        yield
    except (PenchantError, MemoryError):
        raise
    except Exception as error:
        hint = "check its config.json and tokenizer_config.json"
        raise ModelError(f"the model cannot be used: {first_line(error)}", where=source.given, hint=hint) from error


class Heard(logging.Handler):
    """Logging handler that collects the warnings issued while a model is loaded."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Append the record's message to `messages`."""
        self.messages.append(record.getMessage())

    @property
    def cautions(self) -> tuple[str, ...]:
        """Distinct first lines of warnings about weights, tokens or attention, except the report on loaded weights."""
        first = (message.strip().partition("\n")[0] for message in self.messages if "LOAD REPORT" not in message)
        concerning = (line for line in first if _CONCERNING.search(line))
        return tuple(dict.fromkeys(_OLD_SPLIT if "incorrect regex pattern" in line else line for line in concerning))


_OLD_SPLIT = (
    "its tokenizer may split words differently than in training (Mistral's split before transformers 5): "
    "use the checkpoint's current tokenizer.json"
)
_CONCERNING = re.compile(r"weight|token|attention|attend|mask|decoder|causal|embedding|position|vocab|regex|head", re.I)
"""Parts of words that identify warnings about problems that may affect results."""


_LOADERS = ("transformers", "huggingface_hub", "torch", "torchao")


@contextlib.contextmanager
def quiet() -> Iterator[Heard]:
    """Suppress the progress bars, reports and warnings of model loading; yield the handler that collects the warnings.

    Warnings about the answer cache are still shown.
    """
    from transformers.utils import logging as hf_logging

    heard, loggers = Heard(), [logging.getLogger(name) for name in _LOADERS]
    before = [(each.handlers, each.propagate, each.level) for each in loggers]
    bars = hf_logging.is_progress_bar_enabled()
    for each in loggers:
        each.handlers, each.propagate = [heard], False
        each.setLevel(logging.WARNING)
    hf_logging.warning_once.cache_clear()  # otherwise only the first model of a process would warn
    hf_logging.disable_progress_bar()
    show, stream = warnings.showwarning, sys.stderr

    def own(message: Warning | str, category: type[Warning], *place: Any) -> None:
        with contextlib.redirect_stderr(stream) if issubclass(category, CacheWarning) else contextlib.nullcontext():
            show(message, category, *place)

    warnings.showwarning = own  # type: ignore[assignment]  # warnings about the cache are still shown
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # some progress bars cannot be switched off
            yield heard
    finally:
        warnings.showwarning = show
        for each, (handlers, propagate, level) in zip(loggers, before, strict=True):
            each.handlers, each.propagate = handlers, propagate
            each.setLevel(level)
        if bars:
            hf_logging.enable_progress_bar()


def quantization(config: Any) -> str:
    """Return the quantization of a model's weights, such as "int8-torchao" or "int4-gptq"; "" if there is none."""
    config_entry = getattr(config, "quantization_config", None)
    if not config_entry:
        return ""
    settings: Mapping[str, Any] = config_entry if isinstance(config_entry, Mapping) else config_entry.to_dict()
    method = settings.get("quant_method") or "unnamed"
    label = f"{_bits(settings)}-{getattr(method, 'value', method)}".strip("-").lower()
    return re.sub(r"[^a-z0-9._-]+", "-", label)


def _bits(settings: Mapping[str, Any]) -> str:
    """Return the number format of quantized weights and activations; "" if the method's name implies the format."""
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
    """Return the weight and activation formats of a compressed-tensors layer group, such as "int4" or "int8-a8"."""
    weights, activations = group.get("weights") or {}, group.get("input_activations") or {}
    label = f"{weights.get('type', 'int')}{weights.get('num_bits', '')}"
    return f"{label}-a{activations['num_bits']}" if "num_bits" in activations else label


def _torchao(kind: Any) -> str:
    """Return a short name for a torchao quantization class, such as "int8" if only weights are quantized."""
    while isinstance(kind, Mapping):
        kind = kind.get("_type") or kind.get("default") or ""
    name = str(kind).removesuffix("Config")
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+\d*(?=[A-Z_]|$)", name)]
    return words[0] if words[1:] == ["weight", "only"] else "-".join(words)
