"""Loading of models: from a name to a model ready for measurement, or a clear error."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from penchant.call_checks import asked, unknown_attribute
from penchant.errors import ModelError, ModelWarning, PenchantError, first_line, one_line, one_of, shortened
from penchant.files import head
from penchant.gc_control import uncollected
from penchant.models import fast_paths
from penchant.models.answer_cache_file import default_path
from penchant.models.checkpoint_config import (
    Heard,
    ModelKind,
    claimed_kind,
    first_token,
    heads,
    quantization,
    quiet,
    read_config,
    told,
)
from penchant.models.device_map import Placing
from penchant.models.file_hashes import Digests, WatchedFiles, stamp
from penchant.models.fingerprint import lacks_weights
from penchant.models.hub import Wanted
from penchant.models.proofs import Proofs, circumstances
from penchant.models.source import Source, resolve
from penchant.models.tokenizer import Tokenizer
from penchant.models.tokenizer_files import read_tokenizer
from penchant.plurals import counted
from penchant.progress import waiting
from penchant.text_io import is_file
from penchant.vectors.sniffing import refuse_stranger
from penchant.vectors.static import StaticVectors, looks_like_vectors, read_vectors

if TYPE_CHECKING:
    from penchant.models.torch_network import Network

DTYPES = ("float32", "bfloat16", "float16", "float64")
_SMALL = 1 << 31
"""The largest model in bytes to be read into memory; a truncated file of a mapped one would end the process."""


@dataclass(frozen=True, slots=True, repr=False)
class LanguageModel:
    """A pretrained model, ready for measurement.

    `name` is cited in signatures, with revision or hash; `fingerprint` identifies the model in the cache. `kind` is
    "masked" or "causal", or "encoder" for vectors only (`no_scores` says why). `max_tokens` bounds one input, special
    tokens included. `begin` is the token that a causal sentence starts with (None: first tokens are not scored).
    `unused` are weights of the checkpoint that were not loaded, `quantized` is the quantization of its weights
    ("int8-torchao"), and `cautions` are the warnings of transformers that may concern the numbers. `spec` is the
    name or path it was loaded by, "" if it was not.
    """

    name: str
    kind: ModelKind
    tokenizer: Tokenizer
    network: Network
    fingerprint: str
    dtype: str
    max_tokens: int
    begin: int | None
    no_scores: str = ""
    unused: tuple[str, ...] = ()
    quantized: str = ""
    cautions: tuple[str, ...] = ()
    files: WatchedFiles | None = None
    spec: str = ""

    @property
    def numbers(self) -> str:
        """The number format as signatures cite it, with the quantization of the weights, if any."""
        return f"{self.dtype}+{self.quantized}" if self.quantized else self.dtype

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name, "a model")

    def __repr__(self) -> str:
        return f"<{self.kind} model {self.name}: {self.numbers}, up to {self.max_tokens:,} tokens>"


Model: TypeAlias = LanguageModel | StaticVectors
"""Whatever a probe can be run on."""


@asked
def load(
    spec: str | Path,
    *,
    name: str | None = None,
    dtype: str = "float32",
    device: str | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    digests: Digests | None = None,
) -> LanguageModel:
    """Load a language model by hub name[@revision], directory, GGUF file (extra `gguf`) or `bundled:` name.

    `name` replaces the name of a directory or file in signatures and tables; the hash of a model is appended. `dtype`
    is float32, bfloat16, float16 or float64; `device` a torch device (default: cuda if available, else cpu), `auto` to
    spread the model over all GPUs, or `auto+cpu` to leave on the CPU the layers that do not fit. `trust_remote_code`
    runs code that comes with the checkpoint; `allow_pickle` accepts weights that are not safetensors; `digests`
    remembers the hashes of its files (default: in the user's cache, if it can be written). GGUF files need the extra
    `gguf`. Raises ModelError, and repeats warnings of transformers that may concern the numbers.
    """
    if names_vectors(spec):
        raise ModelError("is a file of word vectors", where=str(spec), hint="read it with penchant.load_vectors(FILE)")
    model = read_model(
        spec,
        name=name,
        dtype=dtype,
        device=device,
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle,
        digests=digests or Digests(default_path(), optional=True),
    )
    assert isinstance(model, LanguageModel)
    _warn(model)
    return model


@asked
def load_vectors(path: str | Path, *, name: str | None = None, vocabulary: str | Path | None = None) -> StaticVectors:
    """Read a file of word vectors: word2vec's formats, GloVe's, or `.npy` with a vocabulary.

    `name` is what signatures and tables call the file instead of by its own name. `vocabulary` is for `.npy` files: one
    word per line, in the order of the rows; without it, the file of the same name with the suffix .vocab or .txt is
    read. Raises ModelError with the place of a fault.
    """
    vectors = _vectors(path, name, vocabulary)
    _warn(vectors)
    return vectors


def _vectors(path: str | Path, name: str | None, vocabulary: str | Path | None = None) -> StaticVectors:
    vectors = replace(read_vectors(path, vocabulary=vocabulary), spec=str(path))
    return vectors if name is None else replace(vectors, name=_label(name))


def _warn(model: Model) -> None:
    for caution in model.cautions:
        warnings.warn(f"{model.name}: {caution}", ModelWarning, stacklevel=4)


def read_model(
    spec: str | Path,
    *,
    name: str | None = None,
    dtype: str = "float32",
    device: str | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    digests: Digests | None = None,
) -> Model:
    """Load a model as `load` does, without a warning. Raises ModelError."""
    if dtype not in DTYPES:
        raise ModelError(f"unknown number format '{dtype}'", hint=one_of(dtype, DTYPES))
    if names_vectors(spec):
        return _vectors(spec, name)
    source, memory = _named(resolve(str(spec)), name), digests or Digests(None)
    placing = Placing(device, dtype)
    with waiting(f"{spec}: loading"), uncollected(), quiet() as heard, told(source), source.parsed_once():
        source = source.fetched(Wanted(pickled=allow_pickle, code=trust_remote_code, digests=memory))
        options = {**source.options, "trust_remote_code": trust_remote_code}
        stamps = {file: stamp(file) for file in source.files()}
        config = read_config(source, options)
        hf_tokenizer = read_tokenizer(source, options)
        fingerprint = source.fingerprint(memory)
        files = WatchedFiles(stamps, partial(source.intact, fingerprint))
        quantized = "" if source.is_gguf else quantization(config)
        options |= _weight_options(source, config, files, pickled=allow_pickle)
        model, kind, reason, unused = _weights(source, config, options, placing, heard, quantized)
        _check_embeddings(source, model, hf_tokenizer)
        network = _network(source, model, kind, placing, fingerprint, memory)
        kind, reason = _shown(network, model, config, kind, reason)
        files.require_same()
        begin, longest = first_token(hf_tokenizer) if kind == "causal" else None, _max_tokens(model, hf_tokenizer)
    return LanguageModel(
        name=source.cited(fingerprint),
        kind=kind,
        tokenizer=Tokenizer(hf_tokenizer, special=kind != "causal", prefix=begin),
        network=network,
        fingerprint=fingerprint,
        dtype=dtype,
        max_tokens=longest,
        begin=begin,
        no_scores=reason,
        unused=unused,
        quantized=quantized,
        cautions=heard.cautions,
        files=files,
        spec=str(spec),
    )


def _weight_options(source: Source, config: Any, files: WatchedFiles, *, pickled: bool) -> dict[str, Any]:
    """Return the arguments of `from_pretrained` for weights; without `config` it would parse a GGUF file again."""
    mapped = {"disable_mmap": files.size <= _SMALL or None}
    if source.is_gguf:
        return {**mapped, "config": config, "use_safetensors": None}
    return {**mapped, "use_safetensors": None if pickled else True}


def _named(source: Source, name: str | None) -> Source:
    """Return the source under a name chosen by the user. Raises ModelError for one that has a public name."""
    if name is None:
        return source
    if source.local is None or source.given.startswith("bundled:"):
        message = "has a public name; only a directory or a file can be renamed"
        raise ModelError(message, where=source.given, hint="leave name= out")
    return replace(source, label=_label(name))


def _label(name: str) -> str:
    """Return the name of a model. Raises ModelError for one that tables cannot show, or that reads as two models."""
    if not name or name != one_line(name).strip() or " − " in name or "@" in name:
        message = f"{shortened(name)} is not a name for a model"
        raise ModelError(message, where="load(), name", hint="use one line without @, ' − ' or space around it")
    return name


def names_vectors(spec: str | Path) -> bool:
    """Return whether a name is that of a file of word vectors. Raises ModelError for a file of another kind."""
    path = Path(spec)
    if not is_file(path) or path.suffix == ".gguf":
        return False
    if not looks_like_vectors(path):
        refuse_stranger(head(path, 16), path)
        raise ModelError("is neither a model directory, a GGUF file nor word vectors", where=str(spec))
    return True


def fingerprint(spec: str, digests: Digests) -> str:
    """Return the fingerprint that `load` gives a model. Raises ModelError for a missing model.

    Its weights are not read if their hashes are remembered or stated by the hub.
    """
    if Path(spec).is_file() and Path(spec).suffix != ".gguf":
        numpy = head(Path(spec), 6) == b"\x93NUMPY"  # which has its words in a file of their own
        return read_vectors(spec).fingerprint if numpy else digests.sha256(Path(spec))
    return _without_weights(spec, digests).fingerprint(digests)


def cited(spec: str, digests: Digests) -> str:
    """Return the name by which signatures cite a model, as cheaply as `fingerprint`; for vectors the file name."""
    if names_vectors(spec):
        return Path(spec).name
    source = _without_weights(spec, digests)
    return source.cited(source.fingerprint(digests))


def _without_weights(spec: str, digests: Digests) -> Source:
    with quiet():
        return resolve(spec).fetched(Wanted(weights=False, digests=digests))


@asked
def load_tokenizer(spec: str | Path, *, trust_remote_code: bool = False) -> tuple[str, Tokenizer]:
    """Load only the tokenizer of a model; return it after the name for signatures. Warns as `load` does."""
    source, memory = resolve(str(spec)), Digests(default_path(), optional=True)
    with quiet() as heard, source.parsed_once():
        source = source.fetched(Wanted(weights=False, code=trust_remote_code, digests=memory))
        hf = read_tokenizer(source, {**source.options, "trust_remote_code": trust_remote_code})
    for caution in heard.cautions:
        warnings.warn(f"{source.label}: {caution}", ModelWarning, stacklevel=3)
    return source.label, Tokenizer(hf, special=False)


def _weights(
    source: Source, config: Any, options: dict[str, Any], placing: Placing, heard: Heard, quantized: str
) -> tuple[Any, ModelKind, str, tuple[str, ...]]:
    """Return the model under the richest trained head, its kind, why it has no scores, and the unused weights."""
    import torch
    from transformers import AutoModel

    options = {**options, "dtype": getattr(torch, placing.dtype), "output_loading_info": True}
    reason = ""
    kind, _ = claimed_kind(config)
    for attempt, loader in ((kind, heads().get(kind)), ("encoder", AutoModel)):
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
        if quantized and getattr(model, "hf_quantizer", None) is None:  # raw weights, not numbers
            raise _no_weights(source, ValueError("transformers does not know the method"), quantized)
        untrained = sorted({*info["missing_keys"], *(str(key[0]) for key in info["mismatched_keys"])})
        if attempt == "encoder":
            untrained = [key for key in untrained if "pooler" not in key]
        if not untrained:
            return model, attempt, reason, _unused(source, model, info["unexpected_keys"])
        del heard.messages[before:]  # warnings about a head that is not used
        shown = ", ".join(untrained[:3]) + (" …" if len(untrained) > 3 else "")
        reason = f"the checkpoint has no trained weights for {shown}"
        if attempt == "encoder":
            raise ModelError(f"{reason}, so they would be random", where=source.given)
        if config.model_type == "electra":
            reason += "; an ELECTRA discriminator tells real from replaced words and has no word probabilities"
    raise ModelError(reason, where=source.given)


def _shown(network: Network, model: Any, config: Any, kind: ModelKind, reason: str) -> tuple[ModelKind, str]:
    """Return the kind that a model proved to be, and for an encoder why it has no scores."""
    if not network.proofs.looks_ahead:
        return kind, reason
    if heads()["masked"]._model_mapping.get(type(config), None) is type(model):
        return "masked", reason  # XLM has one class for both
    return "encoder", f"{type(model).__name__} reads the tokens after the one it predicts"


def _network(
    source: Source, model: Any, kind: ModelKind, placing: Placing, fingerprint: str, memory: Digests
) -> Network:
    """Return the network of a model and remember its proofs. Raises ModelError if answers are not repeatable."""
    from penchant.models.torch_network import Network  # imports torch, which takes seconds

    model = placing.put(model)
    around = circumstances(model, placing.dtype, kind)
    known = Proofs.read(memory.proved(fingerprint, around)) if fast_paths.allowed() else None
    with placing.tried(source.given):
        network = Network(model, scores=kind != "encoder", causal=kind == "causal", known=known)
    if known is None and fast_paths.allowed():
        memory.remember_proofs(fingerprint, around, network.proofs.write())
    if network.batching == "unstable":
        message = "answers differently each time it reads the same text, so no result can be repeated"
        raise ModelError(message, where=source.given, hint="use another model")
    return network


def _unused(source: Source, model: Any, unexpected: Iterable[str]) -> tuple[str, ...]:
    """Return the weights of the checkpoint that were not loaded.

    Raises ModelError if they are layers like the loaded ones: the configuration then describes a smaller model than the
    one that was trained.
    """
    prefix = f"{model.base_model_prefix}."

    def pattern(key: str) -> str:
        return re.sub(r"(?<=\.)\d+(?=\.)", "#", key.removeprefix(prefix))

    kinds = {pattern(key) for key in model.state_dict()}
    unused = tuple(sorted(unexpected))
    layers = [key for key in unused if "#" in pattern(key) and pattern(key) in kinds]
    if layers:
        raise ModelError(
            f"its configuration leaves out {counted(len(layers), 'weights')} of the checkpoint, such as {layers[0]}",
            where=source.given,
            hint="restore the number of layers in config.json",
        )
    return unused


def _no_weights(source: Source, error: Exception, quantized: str) -> ModelError:
    first = first_line(error)
    if quantized:
        message = f"its weights are quantized ({quantized}) and cannot be loaded: {first}"
        hint = "install the missing package, or use the checkpoint that was quantized"
        return ModelError(message, where=source.given, hint=hint)
    if "safetensors" in first or "no file named" in first:
        return lacks_weights(source.given)
    return ModelError(f"the weights cannot be loaded: {first}", where=source.given)


def _check_embeddings(source: Source, model: Any, tokenizer: Any) -> None:
    """Raise ModelError if the tokenizer has ids for which the model has no embedding."""
    rows, last = int(model.get_input_embeddings().weight.shape[0]), max(tokenizer.get_vocab().values())
    if last >= rows:
        raise ModelError(
            f"the tokenizer has ids up to {last}, but the model has {rows} embeddings",
            where=source.given,
            hint="use the tokenizer the model was trained with",
        )


def _max_tokens(model: Any, tokenizer: Any) -> int:
    """Return the longest input that the model's positions can hold, or the tokenizer's limit if that is smaller.

    A limit that is not positive, such as XLNet's -1, is ignored.
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
