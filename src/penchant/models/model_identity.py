"""The source of a model: its files, its name in signatures, and its fingerprint."""

from __future__ import annotations

import hashlib
import re
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from penchant.errors import ModelError, one_of
from penchant.hub.cached_files import COMMIT
from penchant.models.file_hashes import Digests
from penchant.models.fingerprint import local_fingerprint, model_files
from penchant.models.gguf_files import read_once
from penchant.models.hub import WantedFiles, fetch, intact
from penchant.models.score_table import names_scores
from penchant.tables.data_lookup import PACKAGE, bundled
from penchant.text_io import is_directory, is_file, refused_character

_BUNDLED = PACKAGE / "bundled"
ADAPTER = "adapter_config.json"
"""Name of the file that describes an adapter, in the adapter's directory."""
SOURCE = "?source="
"""Separator between the name of an encoder-decoder and its source text."""


def bundled_models() -> list[str]:
    """Return the names of the models that ship with penchant, without `bundled:`."""
    return bundled(_BUNDLED, "config.json")


def bundled_card(spec: str) -> str:
    """Return the first sentence of a bundled model's card, without remarks in brackets, starting in lower case."""
    card = (_BUNDLED / spec.removeprefix("bundled:") / "README.md").read_text(encoding="utf-8")
    first = re.sub(r"\s*\([^)]*\)", "", card.split("\n\n")[1]).replace("\n", " ").partition(". ")[0].removesuffix(".")
    return first[:1].lower() + first[1:]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The source of a model: where its files are, and its name in signatures.

    `given` is the name or path given by the user; `target` and `options` are the arguments of `from_pretrained`;
    `label` is the name in signatures, without hash; `local` is the file or directory, None for a hub model. `commit` is
    the commit of a hub model's files, set by `fetched`. `adapter` is the source of the adapter that is merged into the
    model, or None; `text` is the source text for the encoder of an encoder-decoder.
    """

    given: str
    target: str
    options: dict[str, Any]
    label: str
    local: Path | None
    commit: str = ""
    adapter: ModelSource | None = None
    text: str = ""

    def fetched(self, wanted: WantedFiles) -> ModelSource:
        """Return the source with its files downloaded. Raises ModelError if the hub does not provide the model."""
        adapter = self.adapter and self.adapter.fetched(replace(wanted, config=ADAPTER))
        if self.local is not None:
            return replace(self, adapter=adapter)
        snapshot = fetch(self.given, self.label, self.options.get("revision"), wanted)
        return replace(self, target=str(snapshot.folder), options={}, commit=snapshot.commit, adapter=adapter)

    def fingerprint(self, digests: Digests) -> str:
        """Return a hub model's name and commit, or a hash of a local model's files.

        It is followed by + and the fingerprint of the adapter, if any, and by a hash of the source text, if any.
        """
        own = f"{self.label}@{self.commit}" if self.local is None else local_fingerprint(self.local, digests)
        added = "" if self.adapter is None else f"+{self.adapter.fingerprint(digests)}"
        return f"{own}{added}{self._text_hash}"

    @property
    def key(self) -> str:
        """The name and commit of a hub model, or the resolved path of a local one.

        It is followed by + and the key of the adapter, if any, and by a hash of the source text, if any.
        """
        own = f"{self.label}@{self.commit}" if self.local is None else str(self.local.resolve())
        return f"{own}{'' if self.adapter is None else f'+{self.adapter.key}'}{self._text_hash}"

    @property
    def _text_hash(self) -> str:
        return f"{SOURCE}{hashlib.sha256(self.text.encode()).hexdigest()}" if self.text else ""

    def files(self) -> list[Path]:
        """Return the sorted files of a downloaded or local model. Raises ModelError if a local file is missing."""
        added = [] if self.adapter is None else self.adapter.files()
        if self.local is not None:
            return sorted({*model_files(self.local), *added})
        return sorted([*(file for file in Path(self.target).rglob("*") if file.is_file()), *added])

    def intact(self, fingerprint: str) -> bool:
        """Return whether the files, hashed again, match a fingerprint. Raises ModelError if a file is damaged."""
        own, _, added = fingerprint.removesuffix(self._text_hash).partition("+")
        if self.adapter is not None and not self.adapter.intact(added):
            return False
        if self.local is not None:
            return local_fingerprint(self.local, Digests(None)) == own
        return all(intact(self.given, file) for file in replace(self, adapter=None).files())

    @property
    def is_gguf(self) -> bool:
        """True if the model is a GGUF file."""
        return "gguf_file" in self.options

    def parsed_once(self) -> AbstractContextManager[None]:
        """Return a context in which a GGUF file is parsed only once; it has no effect on other models."""
        return read_once() if self.is_gguf else nullcontext()

    def cited(self, fingerprint: str) -> str:
        """Return the name cited in signatures.

        It is the label and, unless the model is bundled, seven digits of the commit or hash.
        """
        own, _, added = fingerprint.removesuffix(self._text_hash).partition("+")
        name = self.label if self.given.startswith("bundled:") else f"{self.label}@{own.rpartition('@')[2][:7]}"
        text = self._text_hash[: len(SOURCE) + 7]
        return f"{name}{'' if self.adapter is None else f'+{self.adapter.cited(added)}'}{text}"


def resolve(spec: str) -> ModelSource:
    """Return the source of the model that `spec` names. Raises ModelError if a local path does not contain a model."""
    if not spec.strip() or refused_character(spec):
        hint = "give the name of a hub model or the path of a directory"
        raise ModelError("is not a model name", where=repr(spec), hint=hint)
    model, given, text = spec.partition(SOURCE)
    if given:
        return replace(resolve(model), given=spec, text=text)
    path = Path(spec)
    base, plus, adapter = spec.rpartition("+")
    if plus and not (is_directory(path) or is_file(path)):
        source = resolve(base)
        if source.adapter is not None:
            hint = "merge them with PEFT, save the model and give its directory"
            raise ModelError("names two adapters, but only one can be merged", where=spec, hint=hint)
        return replace(source, given=spec, adapter=_adapter(adapter))
    if spec.startswith("bundled:"):
        name = spec.removeprefix("bundled:")
        known = bundled_models()
        if name not in known:
            raise ModelError(
                "there is no bundled model with this name",
                where=spec,
                hint=one_of(spec, [f"bundled:{each}" for each in known]),
            )
        return ModelSource(spec, str(_BUNDLED / name), {}, spec, _BUNDLED / name)
    if names_scores(spec):
        raise ModelError("is a table of scores, not a model", where=spec, hint="name a language model")
    if is_directory(path):
        if is_file(path / ADAPTER):
            raise ModelError("is an adapter without its base model", where=spec, hint=f"name both: BASE+{spec}")
        if not is_file(path / "config.json"):
            raise ModelError(
                "the directory has no config.json",
                where=spec,
                hint="give a directory written by save_pretrained",
            )
        return ModelSource(spec, str(path), {}, path.resolve().name, path)
    if path.suffix == ".gguf":
        if not is_file(path):
            raise ModelError("no such file", where=spec)
        _need_gguf(spec)
        return ModelSource(spec, str(path.parent), {"gguf_file": path.name}, path.stem, path)
    return _on_hub(spec)


def pinned(spec: str, fingerprint: str) -> tuple[list[str], str]:
    """Return the names of a model and its adapter, if any, and the end of `spec`: a separator and a source text, or "".

    The name of a hub model or hub adapter includes the commit from the fingerprint; other names are as in `spec`.
    """
    own, (given, mark, text) = fingerprint.partition(SOURCE)[0].split("+"), spec.partition(SOURCE)
    named = zip(own, given.rsplit("+", len(own) - 1), strict=True)
    on_hub = [COMMIT.fullmatch(each.partition("@")[2]) for each in own]
    return [part if hub else name for hub, (part, name) in zip(on_hub, named, strict=True)], f"{mark}{text}"


def _adapter(spec: str) -> ModelSource:
    path = Path(spec)
    if not is_directory(path):
        return _on_hub(spec)
    if not is_file(path / ADAPTER):
        raise ModelError(f"the directory has no {ADAPTER}", where=spec, hint="give a directory written by PEFT")
    return ModelSource(spec, str(path), {}, path.resolve().name, path)


def _on_hub(spec: str) -> ModelSource:
    path, (name, at, revision) = Path(spec), spec.partition("@")
    if path.is_absolute() or spec.startswith((".", "~")) or name.count("/") > 1 or not name:
        raise ModelError("no such file or directory", where=spec)
    if at and not revision:
        raise ModelError("no revision follows the @", where=spec, hint="add a branch, a tag or a commit")
    return ModelSource(spec, name, {"revision": revision} if revision else {}, name, None)


def _need_gguf(spec: str) -> None:
    try:
        import accelerate  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401
        import gguf  # noqa: F401
    except ImportError as error:
        raise ModelError(
            "GGUF files need the packages gguf and accelerate", where=spec, hint="pip install 'penchant[gguf]'"
        ) from error
