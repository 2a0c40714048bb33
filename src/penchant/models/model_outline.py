"""Inspection of a model without loading its weights."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast

from penchant.errors import ModelError
from penchant.files import head
from penchant.models.adapters import require_fitting
from penchant.models.checkpoint_config import (
    ModelKind,
    claimed_kind,
    first_token,
    quantization,
    quiet,
    read_config,
    told,
)
from penchant.models.file_hashes import Digests
from penchant.models.fingerprint import SETTINGS, lacks_weights, model_files
from penchant.models.gguf_files import chat_template
from penchant.models.hub import WantedFiles
from penchant.models.load import LanguageModel, names_vectors, read_model
from penchant.models.model_identity import ModelSource, resolve
from penchant.models.served import names_served
from penchant.models.tokenizer import Tokenizer
from penchant.models.tokenizer_files import read_tokenizer
from penchant.vectors.sniffing import begins_as_vectors

if TYPE_CHECKING:
    from penchant.models.torch_network import Network


class UnreadError(Exception):
    """Raised on access to an attribute that is unknown until the weights are loaded."""


class _Unread:
    """Placeholder for a network whose weights are not loaded, or for the tokenizer of a GGUF file."""

    def __getattr__(self, name: str) -> NoReturn:
        raise UnreadError(name)


class _InFile(_Unread):
    """Tokenizer of a GGUF file, of which only the chat template is read."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def hf(self) -> _InFile:
        return self

    @property
    def chat_template(self) -> str | None:
        try:
            return chat_template(self._file)
        except (ImportError, ValueError) as error:
            raise UnreadError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Outline:
    """Description of an existing model whose weights are not loaded.

    `certain` is true if the configuration states the model's `kind`; otherwise the model may turn out to be an encoder.
    `model` is the model without its weights, or None for static word vectors: its `network` (and the `tokenizer` of a
    GGUF file) raises UnreadError, its `max_tokens` is an upper bound, and its `fingerprint` is empty. `key` identifies
    the files. `here` is true if the weights are on this machine.
    """

    kind: ModelKind | Literal["static"]
    certain: bool
    model: LanguageModel | None
    key: str
    here: bool


def outline(
    spec: str,
    *,
    name: str = "",
    dtype: str = "float32",
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    digests: Digests | None = None,
) -> Outline:
    """Describe a language model (see `load` for the forms of `spec`) or a file of word vectors without loading weights.

    `name` is the model's name in the result; for the other arguments see `load`. Raises ModelError for problems that
    can be detected without the weights: a model that is missing, incomplete, or of an unsupported kind.
    """
    if names_vectors(spec):
        begins_as_vectors(spec)
        return Outline("static", True, None, str(Path(spec).resolve()), here=True)
    if names_served(spec):
        model = read_model(spec, trust_remote_code=trust_remote_code, digests=digests)
        assert isinstance(model, LanguageModel)
        return Outline("causal", True, replace(model, name=name or spec), model.fingerprint, here=True)
    source = resolve(spec)
    wanted = WantedFiles(
        looked_for=True, pickled=allow_pickle, code=trust_remote_code, digests=digests or Digests(None)
    )
    if source.is_gguf:
        source = source.fetched(wanted)
        require_fitting(source, "", pickled=allow_pickle)
        return _gguf(source, name or spec, dtype)
    with quiet(), told(source):
        source = source.fetched(wanted)
        if source.local is not None:
            _require_weights(source, source.local, pickled=allow_pickle)
        options = {**source.options, "trust_remote_code": trust_remote_code}
        config, tokenizer = read_config(source, options), read_tokenizer(source, options)
        require_fitting(source, quantization(config), pickled=allow_pickle)
        kind, certain = claimed_kind(config)
        model = _unread(name or spec, kind, config, tokenizer, dtype)
    return Outline(kind, certain, model, source.key, here=_here(source))


def _gguf(source: ModelSource, name: str, dtype: str) -> Outline:
    file = source.local
    assert file is not None
    if head(file, 4) != b"GGUF":
        raise ModelError("is not a GGUF file, despite its name", where=str(file))
    tokenizer, network = cast(Tokenizer, _InFile(file)), cast("Network", _Unread())
    model = LanguageModel(name, "causal", tokenizer, network, "", dtype, max_tokens=sys.maxsize, begin=None)
    return Outline("causal", True, model, source.key, here=True)


def _unread(name: str, kind: ModelKind, config: Any, tokenizer: Any, dtype: str) -> LanguageModel:
    begin = first_token(tokenizer) if kind == "causal" else None
    limits = (tokenizer.model_max_length, getattr(config, "max_position_embeddings", None))
    return LanguageModel(
        name=name,
        kind=kind,
        tokenizer=Tokenizer(tokenizer, special=kind != "causal", prefix=begin),
        network=cast("Network", _Unread()),
        fingerprint="",
        dtype=dtype,
        max_tokens=min((int(limit) for limit in limits if limit and limit > 0), default=sys.maxsize),
        begin=begin,
        no_scores=f"'{config.model_type}' has no word-probability head" if kind == "encoder" else "",
        quantized=quantization(config),
    )


def _require_weights(source: ModelSource, local: Path, *, pickled: bool) -> None:
    weights = [file for file in model_files(local) if file.suffix not in (*SETTINGS, ".py")]
    if not any(pickled or file.suffix == ".safetensors" for file in weights):
        raise lacks_weights(source.given)


def _here(source: ModelSource) -> bool:
    if source.local is not None:
        return True
    try:
        _require_weights(source, Path(source.target), pickled=True)
    except ModelError:
        return False
    return True
