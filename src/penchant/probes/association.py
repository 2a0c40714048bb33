"""Association tests: are targets X nearer to attributes A than to B, compared with targets Y?

WEAT asks vectors of words (Caliskan, Bryson & Narayanan 2017), SEAT vectors of sentences that hold them (May et al.
2019). CEAT, which asks vectors of words in real sentences, is in `penchant.probes.ceat`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, PrivateAttr, model_validator

from penchant.data.registry import find_data
from penchant.data.stimuli import Category, StimulusSet, WordList, read_stimuli
from penchant.engine.scorer import Scorer
from penchant.errors import DataError, MethodError
from penchant.models.load import LanguageModel
from penchant.models.static import StaticVectors
from penchant.probes.association_summary import (
    BY_SENTENCE,
    EFFECT,
    SIDES,
    Cell,
    Settings,
    Stimuli,
    by_sentence,
    effect,
    lost_words,
    require_distinct,
    towards,
    with_holm,
    without,
)
from penchant.probes.base import Model, Probe, Run
from penchant.records import Estimate, Result, Signature, summary_table
from penchant.stats.association import unit
from penchant.stats.sampled_effects import Sides


def _distinct(values: tuple[T, ...]) -> tuple[T, ...]:
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"{value} is named twice")
    return values


T = TypeVar("T")
Share = Annotated[float, Field(ge=0, lt=1)]
Several = Annotated[tuple[T, ...], Field(min_length=1), AfterValidator(_distinct)]
"""One value or more, each once."""
FAMILY = ("context", "layer")
ITEM = ("category", "label", "layer", "context")
SLOT = "{word}"


class Association(Probe):
    """What WEAT, SEAT and CEAT have in common: stimuli, and how effect sizes are tested."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    data: str | list[str]
    """A set of stimuli: a bundled name, a directory with set.yaml, SEAT's or CEAT's JSONL files, or a table."""
    categories: list[str] | None = None
    """Which categories of the set. Default: all."""
    compat: str | None = None
    """The conventions of another tool, for parameters that are not given: see `penchant list compat`."""
    alternative: Literal["two-sided", "upper"] = "two-sided"
    """`upper` is what older tools test: then a negative effect size never has a small p."""
    test: Literal["permutation", "normal"] = "permutation"
    """`normal` takes the distribution over partitions to be normal, with its exact mean and variance."""
    ddof: Literal[0, 1] = 1
    """Of the standard deviation that effect sizes are divided by."""
    exact: Annotated[int, Field(ge=0)] = 200_000
    """Up to how many partitions all are looked at; beyond, `draws` random ones."""
    draws: Annotated[int, Field(ge=100)] = 10_000
    max_missing: Share = 0.2
    """A category has no effect size when more than this share of one of its lists is missing."""
    duplicates: Literal["error", "allow"] = "error"
    """Whether a word may stand twice among the targets, or among the attributes, of a category."""
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    resamples: Annotated[int, Field(ge=100)] = 10_000
    seed: Annotated[int, Field(ge=0)] = 0

    _read: dict[tuple[Path, ...], StimulusSet] = PrivateAttr(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _compatible(cls, given: Any) -> Any:
        """Fill what is not given from the preset."""
        if isinstance(given, dict) and isinstance(given.get("compat"), str):
            name = given["compat"]
            if name not in cls.presets:
                raise ValueError(f"unknown compat '{name}'; use one of {', '.join(cls.presets)}")
            return {**cls.presets[name], **given}
        return given

    def stimuli(self, base: Sequence[Path] = (Path(),)) -> StimulusSet:
        """The stimuli, read once and checked. Raises DataError naming file and field."""
        names = [self.data] if isinstance(self.data, str) else self.data
        places = tuple(find_data(name, base=base) for name in names)
        if places not in self._read:
            self._read[places] = read_stimuli(places[0] if len(places) == 1 else places)
        return self._read[places]

    def chosen(self, base: Sequence[Path] = (Path(),)) -> tuple[Category, ...]:
        """The categories that this instrument reads, or those asked for. Raises DataError for one that is not there, or
        not for this instrument."""
        given = self.stimuli(base)
        known = {category.id: category for category in given.categories}
        for name in self.categories or ():
            if name not in known:
                raise DataError(
                    f"no category '{name}'", where=given.name, field="categories", hint=f"it has {', '.join(known)}"
                )
            if self.name not in known[name].measures:
                raise DataError(
                    f"category '{name}' is not for {self.name}, but for {', '.join(known[name].measures)}",
                    where=known[name].place,
                    hint="leave it out of categories",
                )
        wanted = known if self.categories is None else dict.fromkeys(self.categories)
        found = tuple(known[name] for name in wanted if self.name in known[name].measures)
        if not found:
            raise DataError(f"no category for {self.name}", where=given.name, field="categories")
        require_distinct(found, self.duplicates == "allow")
        return found

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """None that a model must be able to read whole: what it cannot read is counted as missing."""
        self.chosen(base)
        return []

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The set's files."""
        return list(self.stimuli(base).files)

    def signature(self, model: Model, given: StimulusSet, **own: object) -> Signature:
        """The recipe, `own` being what only this instrument has."""
        return Signature.of(
            self.name,
            model=model.name,
            data=f"{given.name}#{given.sha256[:6]}",
            categories="all" if self.categories is None else "+".join(self.categories),
            **own,
            compat=self.compat or "none",
            alternative=self.alternative,
            test=self.test,
            ddof=self.ddof,
            exact=self.exact,
            draws=self.draws,
            max_missing=self.max_missing,
            duplicates=self.duplicates,
            dtype=model.dtype if isinstance(model, LanguageModel) else "float32",
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
        )


@dataclass(frozen=True, slots=True)
class Filled:
    """A cell with the texts its rows and columns stand for: (side, word, text) each."""

    cell: Cell
    down: Sequence[tuple[str, str, str]]
    across: Sequence[tuple[str, str, str]]

    def items(self, settings: Settings) -> Iterator[dict[str, Any]]:
        """One row a stimulus: what it says, the effect size without it, and a target's cosines (A's, then B's)."""
        mean = np.asarray(self.cell.tables).mean(axis=0)
        for stimuli, values, left_out, table in (
            (self.down, *_both(self.cell, settings, 0), mean),
            (self.across, *_both(self.cell, settings, 1), None),
        ):
            for i, (side, word, text) in enumerate(stimuli):
                yield {
                    **self.cell.by,
                    "side": side,
                    "word": word,
                    "text": text,
                    "association": float(values[i]),
                    "without": None if np.isnan(left_out[i]) else float(left_out[i]),
                    "cosines": None if table is None else table[i].tolist(),
                }


def _both(cell: Cell, settings: Settings, axis: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return towards(cell)[axis], without(cell, settings)[axis]


def items_table(rows: Iterable[Mapping[str, Any]], factors: Sequence[str] = ITEM, **more: Any) -> pl.DataFrame:
    """Items by their factors, with an id each: what tells them apart. `more` are further columns and their types."""
    schema: dict[str, Any] = {
        **dict.fromkeys(("id", *factors, "side", "word", "text"), pl.String),
        "association": pl.Float64,
        "without": pl.Float64,
        "cosines": pl.List(pl.Float32),
        **more,
    }
    keys = [key for key in (*factors, "side", "word", "text") if key != "label"]
    return pl.DataFrame([{**row, "id": " ".join(filter(None, (row[key] for key in keys)))} for row in rows], schema)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stimulus: a word, or a sentence of one and where the word stands in it."""

    word: str
    text: str = ""
    span: tuple[int, int] = (0, 0)


def sentences_of(part: WordList, word: str) -> list[Sentence]:
    """The sentences of a word; without templates it stands for itself, as SEAT's own files have whole sentences."""
    found = []
    for template in part.templates or (SLOT,):
        start = template.index(SLOT)
        found.append(Sentence(word, template.replace(SLOT, word), (start, start + len(word))))
    return found


class WEAT(Association):
    """The word embedding association test, on static word vectors.

    `run` gives items (one row a stimulus: its association, and the effect size without it) and a summary: an effect
    size for every category, with its interval over stimuli, a permutation test, and Holm's adjustment over categories.
    """

    name: ClassVar[str] = "weat"
    kinds: ClassVar[tuple[str, ...]] = ("static",)
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "sent-bias": {"alternative": "upper", "ddof": 1, "exact": 100_000, "draws": 99_999},
        "wefe": {"alternative": "upper", "ddof": 0, "exact": 0, "draws": 10_000, "max_missing": 0.2},
        "paper": {"alternative": "upper", "ddof": 1, "exact": 100_000, "draws": 99_999},
    }

    case: Literal["auto", "keep", "lower"] = "auto"
    """Words as they stand, or in lower case; `auto`: in lower case if no word of the vocabulary has a capital."""

    def run(self, model: Model, run: Run | None = None) -> Result:
        """Measure one file of word vectors."""
        run = run or Run()
        if not isinstance(model, StaticVectors):
            raise MethodError(
                f"weat reads static word vectors and {model.name} is {model.kind}", hint="use seat or ceat"
            )
        given, categories = self.stimuli(run.base), self.chosen(run.base)
        lower = self.case == "lower" or (self.case == "auto" and not any(word != word.lower() for word in model.words))
        signature = self.signature(model, given, case="lower" if lower else "keep")
        settings = Settings.of(signature)
        known = {w: w.lower() if lower else w for c in categories for part in c.lists() for w in part.words}
        # A vector of zeros has no direction: such a word is as good as missing.
        have = {word for word, entry in known.items() if entry in model and model.vector(entry).any()}
        blank = any(entry in model for word, entry in known.items() if word not in have)
        where = f"the vocabulary of {model.name}" + (", or have a vector of zeros there" if blank else "")
        found: dict[str, Stimuli] = {}
        filled: list[Filled] = []
        estimates: list[Estimate] = []
        for category in categories:
            stimuli = found[category.id] = Stimuli.of(category, have, self.max_missing)
            by = {"category": category.id, "label": category.label, "layer": "", "context": ""}
            parts = [[Sentence(word) for word in words] for words in stimuli.sets]
            if not all(parts):
                estimates.append(nothing(by, stimuli, settings))
                continue
            own = cell_of(by, parts, lambda s: model.matrix[model.index[known[s.word]]], "sentence")
            filled.append(own)
            estimates.append(effect(own.cell, settings, note=stimuli.note))
            run.progress(1, len(categories))
        summary = with_holm(estimates, EFFECT, FAMILY)
        items = items_table([row for part in filled for row in part.items(settings)])
        return Result(
            signature,
            items,
            summary_table((row, signature) for row in summary),
            tuple(lost_words(found, where)),
        )


def nothing(by: Mapping[str, str], stimuli: Stimuli, settings: Settings) -> Estimate:
    """The estimate of a category that lacks a whole list, or too much of one."""
    note = stimuli.note or "a list is empty"
    return Estimate(EFFECT, np.nan, len(stimuli.x) + len(stimuli.y), level=settings.level, note=note, by=by)


class SEAT(Association):
    """The sentence encoder association test: WEAT on vectors of bleached sentences that hold the words.

    `run` gives items (one row a sentence) and a summary: an effect size for every category and layer, with its interval
    and test over words (whose sentences go together), and, beside it, the test of older tools over sentences.
    """

    name: ClassVar[str] = "seat"
    kinds: ClassVar[tuple[str, ...]] = ("masked", "causal", "encoder")
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "sent-bias": {**WEAT.presets["sent-bias"], "pooling": "cls", "unit": "sentence"},
        "paper": {**WEAT.presets["paper"], "pooling": "cls", "unit": "sentence"},
    }

    layers: Several[int] = (-1,)
    """Layers to read, all in one pass: 0 the embeddings, −1 the last."""
    pooling: Literal["mean", "mean-special", "cls", "last"] = "mean"
    """What stands for a sentence: the mean over its tokens, with or without special ones, its first or last token."""
    unit: Literal["word", "sentence"] = "word"
    """What the test and the interval take as independent; sentences with one word hardly are."""

    def run(self, model: Model, run: Run | None = None) -> Result:
        """Measure one model."""
        run = run or Run()
        lm = require_vectors(model, self.name)
        given, categories = self.stimuli(run.base), self.chosen(run.base)
        signature = self.signature(
            lm, given, layers="+".join(map(str, self.layers)), pooling=self.pooling, unit=self.unit
        )
        settings = Settings.of(signature)
        sentences = {
            (part, word): sentences_of(part, word) for c in categories for part in c.lists() for word in part.words
        }
        distinct = {s.text: s for group in sentences.values() for s in group}
        scorer = Scorer(lm, batch_tokens=run.batch_tokens, progress=lambda done: run.progress(done, len(distinct)))
        try:
            why = scorer.usable((s.text, s.span, f"'{s.text}'") for s in distinct.values())
            sound = [s.text for s, reason in zip(distinct.values(), why, strict=True) if not reason]
            pooled = scorer.sentence_vectors(
                ((text, f"'{text}'") for text in sound), layers=self.layers, pooling=self.pooling
            )
            vectors = dict(zip(sound, pooled, strict=True))
        finally:
            run.counts = scorer.counts
            scorer.close()
        lost = {s.word for s in distinct.values() if s.text not in vectors}
        have = {word for _, word in sentences} - lost
        found: dict[str, Stimuli] = {}
        filled: list[Filled] = []
        estimates: list[Estimate] = []
        for category in categories:
            stimuli = found[category.id] = Stimuli.of(category, have, self.max_missing)
            for at, layer in enumerate(self.layers):
                by = {"category": category.id, "label": category.label, "layer": str(layer), "context": ""}
                parts = [
                    [s for word in words for s in sentences[part, word]]
                    for part, words in zip(category.lists(), stimuli.sets, strict=True)
                ]
                if not all(parts):
                    estimates.append(nothing(by, stimuli, settings))
                    continue
                own = cell_of(by, parts, lambda s, at=at: vectors[s.text][at], self.unit)  # type: ignore[misc]
                filled.append(own)
                estimates.append(effect(own.cell, settings, note=stimuli.note))
                if self.unit == "word" and len(own.down) > len(set(own.cell.rows.unit.tolist())):
                    estimates.append(by_sentence(own.cell, estimates[-1], settings))
        summary = with_holm(with_holm(estimates, EFFECT, FAMILY), BY_SENTENCE, FAMILY)
        items = items_table([row for part in filled for row in part.items(settings)])
        return Result(
            signature,
            items,
            summary_table((row, signature) for row in summary),
            tuple(lost_words(found, f"the vocabulary of {lm.name}")),
        )


def require_vectors(model: Model, name: str) -> LanguageModel:
    """The model, which gives contextual vectors. Raises MethodError for static word vectors."""
    if not isinstance(model, LanguageModel):
        raise MethodError(f"{name} reads contextual vectors and {model.name} has static ones", hint="use weat")
    return model


def cell_of(
    by: Mapping[str, str],
    parts: list[list[Sentence]],
    vector: Callable[[Sentence], NDArray[np.floating]],
    unit_of_test: str,
) -> Filled:
    down, across = [[*parts[i], *parts[i + 1]] for i in (0, 2)]
    units = [unit(np.array([vector(s) for s in side])) for side in (down, across)]
    keys = [
        [(i, s.word) if unit_of_test == "word" else (i, n) for n, s in enumerate(part)] for i, part in enumerate(parts)
    ]
    cell = Cell(by, (units[0] @ units[1].T)[None], Sides.of(keys[0], keys[1]), Sides.of(keys[2], keys[3]))
    named = [[(side, s.word, s.text) for s in part] for side, part in zip(SIDES, parts, strict=True)]
    return Filled(cell, [*named[0], *named[1]], [*named[2], *named[3]])
