"""What a checkpoint says of itself without its weights: its configuration, its tokenizer, and the kind it claims."""

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
from penchant.models.source import Source

ModelKind = Literal["masked", "causal", "encoder"]


def read_config(source: Source, options: dict[str, Any]) -> Any:
    """Return the configuration of the checkpoint. Raises ModelError for an encoder-decoder, and for one whose code is
    to be run and is not its own."""
    from transformers import AutoConfig

    if options["trust_remote_code"] and (elsewhere := code_elsewhere(Path(source.target))):
        raise ModelError(
            f"its code comes from another repository, {elsewhere}, whose version nothing here pins",
            where=source.given,
            hint="copy that code into the model's directory and correct auto_map",
        )
    try:
        config = AutoConfig.from_pretrained(source.target, **options)
    except Exception as error:
        raise ModelError(f"cannot be loaded: {first_line(error)}", where=source.given) from error
    if getattr(config, "is_encoder_decoder", False):
        raise ModelError(
            f"'{config.model_type}' is an encoder-decoder, which no instrument here supports",
            where=source.given,
            hint="use a masked or a causal language model",
        )
    return config


def heads() -> dict[ModelKind, Any]:
    """Return the classes of transformers that load a model with a word-probability head, by its kind."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    return {"masked": AutoModelForMaskedLM, "causal": AutoModelForCausalLM}


def claimed_kind(config: Any) -> tuple[ModelKind, bool]:
    """Return the kind of model that the configuration names, masked before causal if it names neither, and whether it
    names it. Where it does not, only the weights can tell whether the head is among them."""
    named = " ".join(getattr(config, "architectures", None) or [])
    remote = getattr(config, "auto_map", None) or {}
    masked = type(config) in heads()["masked"]._model_mapping or "AutoModelForMaskedLM" in remote
    causal = type(config) in heads()["causal"]._model_mapping or "AutoModelForCausalLM" in remote
    says_causal = "CausalLM" in named or "LMHeadModel" in named
    if causal and (says_causal or not masked):
        return "causal", says_causal
    return ("masked", "MaskedLM" in named) if masked else ("encoder", True)


def first_token(tokenizer: Any) -> int | None:
    """Return the token that a causal sentence starts with: bos_token, else eos_token, else None."""
    token = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    return None if token is None else int(token)


@contextlib.contextmanager
def told(source: Source) -> Iterator[None]:
    """Turn whatever a checkpoint's settings make its code raise into a ModelError, such as a size that is negative."""
    try:
        yield
    except (PenchantError, MemoryError):
        raise
    except Exception as error:
        hint = "look at its config.json and tokenizer_config.json"
        raise ModelError(f"the model cannot be used: {first_line(error)}", where=source.given, hint=hint) from error


class Heard(logging.Handler):
    """The warnings of transformers while a model is loaded, in order."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())

    @property
    def cautions(self) -> tuple[str, ...]:
        """The first line of each warning about weights, tokens or attention, once; not the report on weights."""
        first = (message.strip().partition("\n")[0] for message in self.messages if "LOAD REPORT" not in message)
        concerning = (line for line in first if _CONCERNING.search(line))
        return tuple(dict.fromkeys(_OLD_SPLIT if "incorrect regex pattern" in line else line for line in concerning))


_OLD_SPLIT = (
    "its tokenizer may divide words otherwise than in training (Mistral's split before transformers 5): "
    "use the checkpoint's current tokenizer.json"
)
_CONCERNING = re.compile(r"weight|token|attention|attend|mask|decoder|causal|embedding|position|vocab|regex|head", re.I)
"""What a warning says that may be about the numbers."""


_LOADERS = ("transformers", "huggingface_hub", "torch", "torchao")


@contextlib.contextmanager
def quiet() -> Iterator[Heard]:
    """Silence the progress bars, reports and warnings of loading, and keep the warnings."""
    from transformers.utils import logging as hf_logging

    heard, loggers = Heard(), [logging.getLogger(name) for name in _LOADERS]
    before = [(each.handlers, each.propagate, each.level) for each in loggers]
    bars = hf_logging.is_progress_bar_enabled()
    for each in loggers:
        each.handlers, each.propagate = [heard], False
        each.setLevel(logging.WARNING)
    hf_logging.warning_once.cache_clear()  # it is said once a process, whatever the model
    hf_logging.disable_progress_bar()
    show, stream = warnings.showwarning, sys.stderr

    def own(message: Warning | str, category: type[Warning], *place: Any) -> None:
        with contextlib.redirect_stderr(stream) if issubclass(category, CacheWarning) else contextlib.nullcontext():
            show(message, category, *place)

    warnings.showwarning = own  # type: ignore[assignment]  # a wait for the cache is no warning of loading
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # bars that no switch turns off
            yield heard
    finally:
        warnings.showwarning = show
        for each, (handlers, propagate, level) in zip(loggers, before, strict=True):
            each.handlers, each.propagate = handlers, propagate
            each.setLevel(level)
        if bars:
            hf_logging.enable_progress_bar()


def quantization(config: Any) -> str:
    """Return how the weights of a model are quantized, such as "int8-torchao", "int4-gptq" or "fp8"; "" where they are
    not."""
    said = getattr(config, "quantization_config", None)
    if not said:
        return ""
    settings: Mapping[str, Any] = said if isinstance(said, Mapping) else said.to_dict()
    method = settings.get("quant_method") or "unnamed"
    label = f"{_bits(settings)}-{getattr(method, 'value', method)}".strip("-").lower()
    return re.sub(r"[^a-z0-9._-]+", "-", label)


def _bits(settings: Mapping[str, Any]) -> str:
    """Return the type of the weights, and of the activations where they are quantized; "" where the method says it."""
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
    """Return weights and activations of a group of layers of compressed-tensors: "int4", or "int8-a8"."""
    weights, activations = group.get("weights") or {}, group.get("input_activations") or {}
    label = f"{weights.get('type', 'int')}{weights.get('num_bits', '')}"
    return f"{label}-a{activations['num_bits']}" if "num_bits" in activations else label


def _torchao(kind: Any) -> str:
    """Return a type of torchao by its class or its name: "int8" where only weights are quantized, else all of it."""
    while isinstance(kind, Mapping):
        kind = kind.get("_type") or kind.get("default") or ""
    name = str(kind).removesuffix("Config")
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+\d*(?=[A-Z_]|$)", name)]
    return words[0] if words[1:] == ["weight", "only"] else "-".join(words)
