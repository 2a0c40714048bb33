"""Loading of language models, word vectors and tokenizers by name or path."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from penchant.call_checks import asked, unknown_attribute
from penchant.errors import ModelError, ModelWarning, one_of
from penchant.files import head, sha256_file
from penchant.gc_control import uncollected
from penchant.models import shortcut_switch
from penchant.models.adapters import merged
from penchant.models.answer_cache_file import default_path
from penchant.models.checkpoint_config import (
    ModelKind,
    first_token,
    heads,
    quantization,
    quiet,
    read_config,
    reads_source,
    told,
)
from penchant.models.device_map import Placing
from penchant.models.file_hashes import Digests, WatchedFiles, stamp
from penchant.models.hub import WantedFiles
from penchant.models.model_identity import ModelSource, resolve
from penchant.models.score_table import Scores, cited_scores, names_scores, score_file, valid_name
from penchant.models.served import Client, ServedAddress, names_served
from penchant.models.served_logprobs import Server, served_tokenizer
from penchant.models.tokenizer import Tokenizer
from penchant.models.tokenizer_files import named_tokenizer, read_tokenizer
from penchant.models.verified_properties import Proofs, circumstances
from penchant.models.weights import check_embeddings, load_weights, max_tokens
from penchant.progress import waiting
from penchant.text_io import is_file
from penchant.vectors.sniffing import refuse_stranger
from penchant.vectors.static_vectors import StaticVectors, looks_like_vectors, read_vectors

if TYPE_CHECKING:
    from penchant.models.torch_network import Network

DTYPES = ("float32", "bfloat16", "float16", "float64")
UNKNOWN = "unknown"
"""The number format recorded for served models, whose actual format is not known."""
_SMALL = 1 << 31
"""Largest model, in bytes, whose files are read into memory instead of being memory-mapped.

Truncation of a memory-mapped file would end the process.
"""


@dataclass(frozen=True, slots=True, repr=False)
class LanguageModel:
    """A pretrained language model, ready for measurement.

    `name` is the name cited in signatures, with commit or hash; `fingerprint` identifies the model in the cache. `kind`
    is "masked", "causal", or "encoder" for a model that provides vectors only (`no_scores` gives the reason).
    `max_tokens` is the maximum length of an input, including special tokens. `begin` is the id of the token put before
    a text for a causal model (None: first tokens are not scored). `unused` are the checkpoint's weights that were not
    loaded, `quantized` is the quantization of its weights, such as "int8-torchao", and `cautions` are transformers'
    warnings about problems that may affect results. `spec` is the name or path that the model was loaded from, "" if
    unknown.
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
    def served(self) -> Server | None:
        """The server of a served model; None for a model in this process."""
        network: Any = self.network
        return network if isinstance(network, Server) else None

    @property
    def replies_only(self) -> bool:
        """True if the model is a served one that gives replies only."""
        return self.served is not None and self.served.replies_only

    @property
    def numbers(self) -> str:
        """The number format as cited in signatures, with the quantization of the weights, if any."""
        return f"{self.dtype}+{self.quantized}" if self.quantized else self.dtype

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name, "a model")

    def __repr__(self) -> str:
        return f"<{self.kind} model {self.name}: {self.numbers}, up to {self.max_tokens:,} tokens>"


Model: TypeAlias = LanguageModel | StaticVectors | Scores
"""A language model, a set of static word vectors, or a table of scores."""


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

    `URL#NAME[?tokenizer=TOKENIZER]` is a model served at an OpenAI-compatible address, such as
    `http://127.0.0.1:8000/v1#NAME`; by default NAME also names its tokenizer. `MODEL+ADAPTER` merges an adapter, given
    by hub name or directory, into the model (extra `adapters`). In `MODEL?source=TEXT`, TEXT is what the encoder of an
    encoder-decoder reads (default: an empty text). `name` replaces the name of a directory or file in signatures and
    tables; the model's hash is appended. `dtype` is float32, bfloat16, float16 or float64. `device` is a torch device
    (default: cuda if available, else cpu), `auto` to spread the model over all GPUs, or `auto+cpu` to place the layers
    that do not fit on the CPU. `trust_remote_code` runs code that comes with the checkpoint; `allow_pickle` accepts
    weights that are not safetensors; `digests` stores the hashes of the model's files (default: in the user's cache, if
    it is writable). Raises ModelError if the model cannot be loaded; issues a ModelWarning for each warning of
    transformers about a problem that may affect results.
    """
    if names_vectors(spec):
        raise ModelError(
            "is a file of word vectors, not a language model",
            where=str(spec),
            hint="read it with penchant.load_vectors(FILE)",
        )
    if names_scores(spec):
        message = "is a table of sentence scores, not a language model"
        raise ModelError(message, where=str(spec), hint="name a language model; in Python, use penchant.Scores")
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
    """Load word vectors from a file in word2vec or GloVe format, or from a `.npy` file with a vocabulary.

    `name` replaces the file name in signatures and tables. `vocabulary` is the vocabulary file of a `.npy` file, with
    one word per line in the order of the rows; by default, the file of the same name with the suffix .vocab or .txt is
    read. Raises ModelError, with the location of the error in the file, if a file cannot be read.
    """
    vectors = _vectors(path, name, vocabulary)
    _warn(vectors)
    return vectors


def _vectors(path: str | Path, name: str | None, vocabulary: str | Path | None = None) -> StaticVectors:
    vectors = replace(read_vectors(path, vocabulary=vocabulary), spec=str(path))
    return vectors if name is None else replace(vectors, name=valid_name(name, "load()"))


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
    """Load a model as `load` and `load_vectors` do, without warnings. Raises ModelError if it cannot be loaded."""
    if dtype not in DTYPES:
        raise ModelError(f"unknown number format '{dtype}'", hint=one_of(dtype, DTYPES))
    if names_scores(spec) or names_vectors(spec) or names_served(spec):
        return _without_checkpoint(spec, name, trust_remote_code, digests)
    source, memory = _named(resolve(str(spec)), name), digests or Digests(None)
    placing = Placing(device, dtype)
    with waiting(f"{spec}: loading"), uncollected(), quiet() as heard, told(source), source.parsed_once():
        source = source.fetched(WantedFiles(pickled=allow_pickle, code=trust_remote_code, digests=memory))
        options = {**source.options, "trust_remote_code": trust_remote_code}
        stamps = {file: stamp(file) for file in source.files()}
        config = read_config(source, options)
        hf_tokenizer = read_tokenizer(source, options)
        fingerprint = source.fingerprint(memory)
        files = WatchedFiles(stamps, partial(source.intact, fingerprint))
        quantized = "" if source.is_gguf else quantization(config)
        options |= _weight_options(source, config, files, pickled=allow_pickle)
        model, kind, reason, unused = load_weights(source, config, options, placing, heard, quantized)
        model = merged(model, source, quantized, pickled=allow_pickle)
        model, begin, longest = _prepared(source, model, config, kind, hf_tokenizer)
        network = _network(source, model, kind, placing, fingerprint, memory)
        kind, reason = _shown(network, model, config, kind, reason)
        begin = begin if kind == "causal" else None  # nothing is put before a text if the model looks ahead
        files.require_same()
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


def _without_checkpoint(spec: str | Path, name: str | None, code: bool, digests: Digests | None) -> Model:
    """Return the table of scores, word vectors or served model that `spec` names; `code` is `trust_remote_code`."""
    if names_served(spec):
        return _served(str(spec), name, code=code, digests=digests or Digests(None))
    return Scores(score_file(spec), name=name) if names_scores(spec) else _vectors(spec, name)


def _prepared(
    source: ModelSource, model: Any, config: Any, kind: ModelKind, tokenizer: Any
) -> tuple[Any, int | None, int]:
    """Return the model to run, the id of the token put before a text, and the maximum length of an input.

    Raises ModelError if the tokenizer does not fit the model.
    """
    check_embeddings(source, model, tokenizer)
    longest = max_tokens(model, tokenizer)
    if not reads_source(config):
        return model, first_token(tokenizer) if kind == "causal" else None, longest
    from penchant.models.encoder_decoder import given_source  # imports torch, which takes seconds

    model, begin = given_source(model, tokenizer, source)
    return model, begin, longest - len(model.lead)


def _weight_options(source: ModelSource, config: Any, files: WatchedFiles, *, pickled: bool) -> dict[str, Any]:
    """Return the arguments of `from_pretrained` for loading weights.

    For a GGUF file they include `config`, so that transformers does not parse the file again.
    """
    mapped = {"disable_mmap": files.size <= _SMALL or None}
    if source.is_gguf:
        return {**mapped, "config": config, "use_safetensors": None}
    return {**mapped, "use_safetensors": None if pickled else True}


def _named(source: ModelSource, name: str | None) -> ModelSource:
    if name is None:
        return source
    if source.local is None or source.given.startswith("bundled:"):
        message = "a hub or bundled model cannot be renamed, only a directory or a file"
        raise ModelError(message, where=source.given, hint="omit name=")
    return replace(source, label=valid_name(name, "load()"))


def names_vectors(spec: str | Path) -> bool:
    """Return whether `spec` is the path of a word-vector file. Raises ModelError if it is a file of an unknown kind."""
    path = Path(spec)
    if not is_file(path) or path.suffix == ".gguf":
        return False
    if not looks_like_vectors(path):
        refuse_stranger(head(path, 16), path)
        raise ModelError("is neither a model directory, a GGUF file nor word vectors", where=str(spec))
    return True


def fingerprint(spec: str, digests: Digests) -> str:
    """Return a model's fingerprint without loading the model. Raises ModelError if the model is missing.

    The weights are not read if their hashes are stored or provided by the hub.
    """
    if names_scores(spec):
        return sha256_file(score_file(spec))
    if names_served(spec):
        tokenizer, _ = served_tokenizer(ServedAddress.of(spec), digests)
        return Client(ServedAddress.of(spec)).fingerprint(tokenizer.digest)
    if Path(spec).is_file() and Path(spec).suffix != ".gguf":
        numpy = head(Path(spec), 6) == b"\x93NUMPY"  # its words are in a separate file
        return read_vectors(spec).fingerprint if numpy else digests.sha256(Path(spec))
    return _without_weights(spec, digests).fingerprint(digests)


def cited(spec: str, digests: Digests) -> str:
    """Return the model name cited in signatures, without loading the model; for word vectors, the file name."""
    if names_scores(spec):
        return cited_scores(spec)
    if names_served(spec):
        return _cited_served(ServedAddress.of(spec), fingerprint(spec, digests))
    if names_vectors(spec):
        return Path(spec).name
    source = _without_weights(spec, digests)
    return source.cited(source.fingerprint(digests))


def _without_weights(spec: str, digests: Digests) -> ModelSource:
    with quiet():
        return resolve(spec).fetched(WantedFiles(weights=False, digests=digests))


@asked
def load_tokenizer(spec: str | Path, *, trust_remote_code: bool = False) -> tuple[str, Tokenizer]:
    """Load only a model's tokenizer; return the model's name, without its hash, and the tokenizer.

    Issues the same warnings as `load`.
    """
    named = ServedAddress.of(spec).tokenizer if names_served(spec) else str(spec)
    digests = Digests(default_path(), optional=True)
    label, hf, cautions = named_tokenizer(named, digests, code=trust_remote_code)
    for caution in cautions:
        warnings.warn(f"{label}: {caution}", ModelWarning, stacklevel=3)
    return label, Tokenizer(hf, special=False)


def _served(spec: str, name: str | None, *, code: bool, digests: Digests) -> LanguageModel:
    """Connect to a served model and check it. Raises ModelError if it cannot be reached or fails a check."""
    address = ServedAddress.of(spec)
    if name is not None:
        raise ModelError("a served model cannot be renamed", where=str(address), hint="omit name=")
    with waiting(f"{address}: checking the server"):
        client = Client(address)
        limit = client.about()["max_model_len"]
        tokenizer, cautions = served_tokenizer(address, digests, code=code)
        own = int(tokenizer.hf.model_max_length or 0)
        longest = limit if isinstance(limit, int) and limit > 1 else own if 1 < own < sys.maxsize else sys.maxsize
        digest = client.fingerprint(tokenizer.digest)
        server = Server(client, tokenizer, longest - 1)  # the server adds a token
        if server.begin != tokenizer.prefix:
            tokenizer = Tokenizer(tokenizer.hf, special=False, prefix=server.begin)
    return LanguageModel(
        name=_cited_served(address, digest),
        kind="causal",
        tokenizer=tokenizer,
        network=cast("Network", server),
        fingerprint=digest,
        dtype=UNKNOWN,
        max_tokens=longest - 1,
        begin=server.begin,
        cautions=(*cautions, *server.cautions),
        spec=spec,
    )


def _cited_served(address: ServedAddress, fingerprint: str) -> str:
    return f"served:{address.name}@{fingerprint[:7]}"


def _shown(network: Network, model: Any, config: Any, kind: ModelKind, reason: str) -> tuple[ModelKind, str]:
    """Return a model's kind and the reason why it has no scores, corrected by the network's verified properties.

    A causal model that attends to later tokens is treated as a masked model or an encoder.
    """
    if not network.proofs.looks_ahead:
        return kind, reason
    if heads()["masked"]._model_mapping.get(type(config), None) is type(model):
        return "masked", reason  # XLM has one class for both
    return "encoder", f"{type(model).__name__} attends to tokens after the one that it predicts"


def _network(
    source: ModelSource, model: Any, kind: ModelKind, placing: Placing, fingerprint: str, memory: Digests
) -> Network:
    from penchant.models.torch_network import Network  # imports torch, which takes seconds

    model = placing.put(model)
    around = circumstances(model, placing.dtype, kind)
    known = Proofs.read(memory.proved(fingerprint, around)) if shortcut_switch.allowed() else None
    with placing.tried(source.given):
        network = Network(model, scores=kind != "encoder", causal=kind == "causal", known=known)
    if known is None and shortcut_switch.allowed():
        memory.remember_proofs(fingerprint, around, network.proofs.write())
    if network.batching == "unstable":
        message = "returns different outputs for the same text, so results cannot be reproduced"
        raise ModelError(message, where=source.given, hint="use another model")
    return network
