"""What a checkpoint says of itself without its weights: its configuration, its tokenizer, and the kind it claims."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from penchant.errors import ModelError, PenchantError, first_line
from penchant.models.identity import code_elsewhere
from penchant.models.source import Source

ModelKind = Literal["masked", "causal", "encoder"]


def _unloadable(source: Source, error: Exception) -> ModelError:
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return ModelError(f"cannot be loaded: {first}", where=source.given)


def _own_code(source: Source) -> None:
    """Raise ModelError for a checkpoint whose code is not its own."""
    elsewhere = code_elsewhere(Path(source.target))
    if elsewhere:
        raise ModelError(
            f"its code comes from another repository, {elsewhere}, whose version nothing here pins",
            where=source.given,
            hint="copy that code into the model's directory and correct auto_map",
        )


def read_config(source: Source, options: dict[str, Any]) -> Any:
    """The configuration of the checkpoint. Raises ModelError for an encoder-decoder."""
    from transformers import AutoConfig

    if options["trust_remote_code"]:
        _own_code(source)
    try:
        config = AutoConfig.from_pretrained(source.target, **options)
    except Exception as error:
        raise _unloadable(source, error) from error
    if getattr(config, "is_encoder_decoder", False):
        raise ModelError(
            f"'{config.model_type}' is an encoder-decoder, which no instrument here supports",
            where=source.given,
            hint="use a masked or a causal language model",
        )
    return config


def read_tokenizer(source: Source, options: dict[str, Any]) -> Any:
    """The tokenizer of the checkpoint, of transformers. Raises ModelError where there is none."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(source.target, **options)
    except Exception as error:
        raise _unloadable(source, error) from error
    if len(set(tokenizer.get_vocab()) - set(tokenizer.all_special_tokens)) < 2:
        # Without its files, transformers silently builds a tokenizer with an empty vocabulary.
        raise ModelError("the checkpoint has no tokenizer", where=source.given, hint="add its tokenizer.json")
    return tokenizer


def heads() -> dict[ModelKind, Any]:
    """The classes of transformers that load a model with a word-probability head, by the kind that the head makes."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    return {"masked": AutoModelForMaskedLM, "causal": AutoModelForCausalLM}


def claimed_kind(config: Any) -> tuple[ModelKind, bool]:
    """The kind of model that the configuration names, masked before causal if it names neither, and whether it names
    it. Where it does not, only the weights can tell whether the head is among them."""
    named = " ".join(getattr(config, "architectures", None) or [])
    remote = getattr(config, "auto_map", None) or {}
    masked = type(config) in heads()["masked"]._model_mapping or "AutoModelForMaskedLM" in remote
    causal = type(config) in heads()["causal"]._model_mapping or "AutoModelForCausalLM" in remote
    says_causal = "CausalLM" in named or "LMHeadModel" in named
    if causal and (says_causal or not masked):
        return "causal", says_causal
    return ("masked", "MaskedLM" in named) if masked else ("encoder", True)


def first_token(tokenizer: Any) -> int | None:
    """The token that a causal sentence starts with: bos_token, else eos_token, else None."""
    for token in (tokenizer.bos_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    return None


@contextlib.contextmanager
def told(source: Source) -> Iterator[None]:
    """Turn whatever a checkpoint's settings make its code raise into a ModelError: a size that is negative or a text,
    a probability that is none. What is wrong with a model shows in its first steps, and all of these are taken here."""
    try:
        yield
    except (PenchantError, MemoryError):
        raise
    except Exception as error:
        hint = "look at its config.json and tokenizer_config.json"
        raise ModelError(f"the model cannot be used: {first_line(error)}", where=source.given, hint=hint) from error


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence the progress bars, reports and warnings of loading; what matters in them is raised as errors here."""
    from transformers.utils import logging as hf_logging

    loggers = [logging.getLogger(name) for name in ("transformers", "huggingface_hub", "torch", "torchao")]
    before, bars = [logger.level for logger in loggers], hf_logging.is_progress_bar_enabled()
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    hf_logging.disable_progress_bar()
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # bars that no switch turns off
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
        if bars:
            hf_logging.enable_progress_bar()
