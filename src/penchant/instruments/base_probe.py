"""Base class for probes: a `Probe` defines the questions put to a model and the evaluation of its answers."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Self

import polars as pl
from typing_extensions import TypeVar

from penchant.call_checks import asked, kind
from penchant.corpus.stimulus_sets import StimulusSet
from penchant.engine.base_scorer import require_batch
from penchant.errors import MethodError, ModelError, StudyError
from penchant.files import join_names
from penchant.hub.data_sets import repositories
from penchant.instruments.probe_field_types import written
from penchant.instruments.result import Result
from penchant.instruments.run_options import Run as Run
from penchant.instruments.session import Session
from penchant.instruments.settings import Settings
from penchant.models.last_loaded import loaded
from penchant.models.load import LanguageModel
from penchant.models.load import Model as Model
from penchant.models.score_table import Scores
from penchant.models.unicode_form_choice import with_equivalents
from penchant.progress import bars
from penchant.records import BaseResult as AnyResult
from penchant.records import Estimate, Signature, summary_table
from penchant.tables.data_lookup import find_all, find_data
from penchant.tables.json_parquet_types import holds_text
from penchant.vectors.static_vectors import StaticVectors
from penchant.wording.phrases import Note


@dataclass(frozen=True)
class Measured:
    """A model's answers: `items`, with one row per stimulus, and `cautions` about the measurement.

    An instrument whose estimates need more than `items` adds fields in a subclass.
    """

    items: pl.DataFrame
    cautions: tuple[Note | str, ...] = ()


M = TypeVar("M", bound=Measured, default=Measured)


@dataclass(frozen=True, slots=True)
class TextNeeds:
    """Stimuli that a study looks for in running text, to sample sentences or train word vectors for a probe.

    `words` are the words that the probe uses (default: all words in `stimuli`); `segments` are the sentence lengths, in
    words, that are sampled separately.
    """

    stimuli: StimulusSet
    words: tuple[str, ...] | None = None
    segments: tuple[int | str, ...] = ("all",)


class Probe(Settings, ABC, Generic[M]):
    """Base class for probes: its fields are an instrument's parameters, its methods measure one model.

    A subclass implements `files`, `texts`, `measure` and `summarise`, and, if needed, `settle` (parameters that depend
    on the model), `recipe` (its signature fields) and `cautions`.
    """

    kinds: ClassVar[tuple[str, ...]] = ("masked", "causal")
    """Kinds of model that the probe supports: masked, causal, encoder, static, scores."""

    drawn: ClassVar[str] = ""
    """Name of the field with the sentences, if a study can sample them from running text instead; otherwise empty."""
    equivalents: ClassVar[bool] = False
    """True if text unknown to a tokenizer is encoded in a canonically equivalent spelling that it knows."""
    # Written by an instrument

    @abstractmethod
    def files(self, base: Sequence[Path]) -> list[Path]:
        """Return all data files that the probe reads, looked up in the directories `base`.

        A file of sentences that a study has yet to sample is not included. Raises DataError if a file is not found.
        """

    @abstractmethod
    def texts(self, base: Sequence[Path]) -> list[tuple[str, str]]:
        """Return the texts that a model must encode, each with its location, for a check before the measurement.

        Raises DataError if the data are invalid.
        """

    @abstractmethod
    def measure(self, session: Session) -> M:
        """Measure the model of a session; call `settle` first.

        Raises DataError if the data do not suit the model, and ModelError if the model fails.
        """

    @abstractmethod
    def summarise(self, measured: M) -> Iterable[Estimate]:
        """Return the estimates of a measurement, computed without the model."""

    def settle(self, model: Model) -> Self:
        """Return the probe with all model-dependent parameters set.

        Raises MethodError or ModelError if the model does not support the probe or a parameter.
        """
        return self

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the ordered signature fields that follow the model's name; by default the instrument's parameters.

        Files are cited by name and hash (`penchant.files.cited`). `signature` appends dtype, level, resamples and seed
        if they are missing.
        """
        shared = Probe.model_fields
        return {name: written(self, name) for name in type(self).model_fields if name not in shared}

    def cautions(self, measured: M, estimates: Sequence[Estimate]) -> Iterable[Note | str]:
        """Yield cautions that a reader must know before using an estimate; the text of each note is in `text.yaml`."""
        return ()

    def reading(self, model: LanguageModel) -> LanguageModel:
        """Return the model, wrapped to use equivalent spellings if `equivalents` is true, and unchanged otherwise."""
        return with_equivalents(model) if self.equivalents else model

    def read_by(self, model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """Return the (text, location) pairs that the model must be able to encode; by default all `texts`."""
        return texts

    def text_needs(self, base: Sequence[Path]) -> TextNeeds | None:
        """Return the stimuli to look for in running text; None if the probe cannot use running text.

        Raises DataError if the stimuli are invalid.
        """
        return None

    def signed(self, estimate: Estimate, signature: Signature) -> Signature:
        """Return the signature of one estimate; by default the signature of the result."""
        return signature

    # The same for every instrument

    @asked
    def run(
        self,
        model: Model | str | Path,
        *,
        cache: str | Path | None = None,
        batch_tokens: int | None = None,
        progress: bool = True,
    ) -> Result:
        """Measure one model, given as a loaded model or by its name.

        `cache` is a file of stored answers, to which new answers are added; `batch_tokens` is the batch size in tokens;
        `progress` shows the progress of long work on standard error. None of these affects the results. Raises
        DataError, ModelError or MethodError, before any forward pass if possible.
        """
        require_batch(batch_tokens, "run()")
        model = loaded(model) if isinstance(model, str | Path) else model
        if not isinstance(model, LanguageModel | StaticVectors | Scores):
            raise ModelError(f"{kind(model)} is not a model", where="model", hint="pass a model or the name of one")
        run = Run(None if cache is None else Path(cache), batch_tokens)
        with bars() if progress else nullcontext(run.bars) as shown:
            run.progress = shown(f"{self.name} · {model.name}")
            return self.run_as(model, run)

    def run_as(self, model: Model, run: Run) -> Result:
        """Measure a model with the run options of a study or another caller."""
        if isinstance(model, Scores):
            self._require_given(model, run.base)
        settled = self.settle(model)
        signature = settled.signature(model, run.base)
        with Session.of(settled.reading(model) if isinstance(model, LanguageModel) else model, run) as session:
            measured = settled.measure(session)
        return settled.result(measured, signature, run.base)

    def _require_given(self, scores: Scores, base: Sequence[Path]) -> None:
        """Raise MethodError if the probe needs more than sentence scores, DataError if a sentence has no score."""
        if scores.kind not in self.kinds:
            message = f"{self.name} does not support sentence scores"
            raise MethodError(message, where=scores.name, hint=f"it supports {' and '.join(self.kinds)} models")
        scores.require(text for text, _ in self.texts(base))

    def result(self, measured: M, signature: Signature, base: Sequence[Path] = ()) -> Result:
        """Return the result of a measurement, computed without the model. The probe must come from `settle`."""
        estimates = list(self.summarise(measured))
        summary = summary_table((estimate, self.signed(estimate, signature)) for estimate in estimates)
        cautions = tuple(dict.fromkeys((*self._pilot(), *measured.cautions, *self.cautions(measured, estimates))))
        return Result(
            signature,
            self._with_own_ids(measured.items, base),
            summary,
            tuple(dict.fromkeys(map(str, cautions))),
            self.saved(),
            tuple(caution for caution in cautions if isinstance(caution, Note) and caution.left_out),
        )

    def _with_own_ids(self, items: pl.DataFrame, base: Sequence[Path]) -> pl.DataFrame:
        """Convert ids to integers if all look like integers, unless the caller's table stores them as strings."""
        if items["id"].dtype != pl.String or not items["id"].str.contains(r"^(0|-?[1-9][0-9]{0,17})$").all():
            return items
        data, columns = getattr(self, "data", None), getattr(self, "columns", {})
        column = columns.get("id", "id") if isinstance(columns, Mapping) else getattr(columns, "id", "id")
        for name in ([data] if isinstance(data, str) else data or ()) if base else ():
            if any(holds_text(file, column) for file in self.find_all(name, base)):
                return items
        return items.with_columns(pl.col("id").cast(pl.Int64))

    def signature(self, model: Model, base: Sequence[Path] = (Path(),)) -> Signature:
        """Return the signature of a measurement of a model. Raises DataError if a file cannot be read."""
        recipe = self.recipe(model, base)
        if isinstance(model, LanguageModel):
            recipe.setdefault("tokenizer", model.tokenizer.pieces_digest[:7])
        recipe.setdefault("dtype", "float32" if isinstance(model, StaticVectors) else model.numbers)
        for name in ("level", "resamples", "seed"):
            recipe.setdefault(name, written(self, name))
        if self.equivalence is not None:
            recipe["equivalence"] = written(self, "equivalence")
        if self.limit is not None:
            recipe["limit"] = written(self, "limit")
        if hub := repositories(self.files(base)):
            recipe["hub"] = join_names(hub)
        return Signature.of(self.name, model=model.name, **{key.replace("-", "_"): v for key, v in recipe.items()})

    @classmethod
    def implied(cls, signature: Signature) -> Collection[str]:
        """Return the signature keys whose values are determined by other keys."""
        return ()

    def _pilot(self) -> Iterator[Note]:
        if self.limit is not None:
            yield Note("pilot", limit=self.limit, noun=self.limited)

    def lacks_text(self) -> bool:
        """Return whether a study must still sample the probe's sentences from running text."""
        return bool(self.drawn) and getattr(self, self.drawn) is None

    @classmethod
    def folder(cls) -> Path:
        """Return the instrument's folder, which contains its sets, templates and references."""
        return Path(str(sys.modules[cls.__module__].__file__)).parent

    @classmethod
    def find(cls, name: str | Path, base: Sequence[Path] = (Path(),)) -> Path:
        """Return the file or directory called `name` in `base`, or the instrument's bundled set of that name.

        Raises DataError, with the directories searched, if nothing is found.
        """
        return find_data(name, base=base, sets=cls.set_folders())

    @classmethod
    def find_all(cls, name: str | Path, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return what `find` returns, in a list; if `name` is a pattern, return the files that match it, sorted."""
        return find_all(name, base=base, sets=cls.set_folders())

    @classmethod
    def set_folders(cls) -> list[Path]:
        """Return the folders that contain the instrument's bundled sets."""
        return [cls.folder() / "sets"]


SENTENCES = ("masked", "causal", "scores")
"""Kinds of model for probes that need only scores of whole sentences."""


def beginning(lm: LanguageModel | Scores) -> str:
    """Return the beginning-of-sequence token as written in a signature; `none` if a causal model has none.

    For other models the result is `template` (the tokenizer adds its special tokens), for a table of scores `unknown`.
    """
    if isinstance(lm, Scores):
        return "unknown"
    if lm.kind != "causal":
        return "template"
    if lm.begin is None:
        return "none"
    (token,) = lm.tokenizer.strings([lm.begin])
    return token


def require_comparable(a: AnyResult, b: AnyResult, *, free: Collection[str], items: Sequence[str]) -> None:
    """Raise StudyError unless two results have equal signatures and the same items.

    Signature keys in `free`, and `tokenizer`, may differ; `items` are the columns that identify an item.
    """
    different = [
        key
        for key in {**a.signature, **b.signature}
        if key not in (*free, "tokenizer") and a.signature.get(key) != b.signature.get(key)
    ]
    if different:
        shown = ", ".join(f"{k} ({a.signature.get(k, 'none')} and {b.signature.get(k, 'none')})" for k in different)
        hint = f"measure both with the same {', '.join(different)}"
        raise StudyError(f"these results cannot be compared: they differ in {shown}", hint=hint)
    if not a.items.select(items).equals(b.items.select(items)):
        hint = "measure both on the same items"
        raise StudyError("these results cannot be compared: they contain different items", hint=hint)


def difference_signature(a: AnyResult, b: AnyResult, **changes: str) -> Signature:
    """Return the signature of the difference a − b; values that differ are written as "a − b", or as in `changes`."""
    both = {
        key.replace("-", "_"): f"{value} − {b.signature.get(key, 'none')}"
        for key, value in a.signature.items()
        if value != b.signature.get(key)
    }
    return a.signature.with_(**{**both, **changes})
