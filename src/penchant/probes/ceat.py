"""CEAT: association tests on the vectors that words have in real sentences.

Every sample draws one sentence for each stimulus and has an effect size; the samples of a category are combined as
random effects (Guo & Caliskan 2021). Sentences are cut to segments of some words, to see what the length of the context
does (Sadhu et al. 2024). The published p-value shrinks with the number of samples, which are no independent studies;
beside it stand an interval and a test over stimuli.
"""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, model_validator
from scipy import stats

from penchant.data.normalisation import normalise
from penchant.data.occurrences import Segment, cut, read_occurrences, segments
from penchant.data.registry import find_data
from penchant.data.stimuli import Category
from penchant.engine.scorer import Scorer
from penchant.engine.vectors import VectorStore, collect, key, space
from penchant.errors import MethodError
from penchant.files import sha256_file
from penchant.models.load import LanguageModel
from penchant.probes import association
from penchant.probes.association import Association, Filled, Several, items_table, require_vectors
from penchant.probes.association_summary import SIDES, Cell, Settings, Stimuli, lost_words, with_holm
from penchant.probes.base import Model, Run
from penchant.records import Estimate, Result, summary_table
from penchant.stats.association import Combined, combine
from penchant.stats.sampled_effects import KEPT, Contextual, Pool, Sides, contextual_effects

COMBINED = "combined effect size"
PUBLISHED = "combined effect size, as published"
FIRST = "combined effect size of the first samples"
FURTHER = "effect size of a further sample"
TAU = "sd between samples (τ)"
I2 = "share of variance between samples (I²)"
FAMILY = ("context", "layer", "sampling", "samples")
ITEM = (*association.ITEM, "sampling", "samples")
_STEPS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)


class CEAT(Association):
    """The contextualized embedding association test.

    `run` gives items (one row a stimulus of every category, segment and sampling: its mean association) and a summary:
    the combined effect size with an interval over stimuli and samples and a test over stimuli, the published standard
    error and p beside it, the variance between samples, and the effect size of the first 10, 20, 50 … samples.
    """

    name: ClassVar[str] = "ceat"
    kinds: ClassVar[tuple[str, ...]] = ("masked", "causal", "encoder")
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ceat": {"alternative": "upper", "ddof": 1, "samples": [10_000], "segments": ["all"], "sampling": ["random"]},
        "paper": {"ddof": 1, "samples": [5_000, 1_000], "sampling": ["fixed", "random"]},
    }

    sentences: str | list[str] | None = None
    """Sentences: a table with id, word, text, start, end (see `penchant schema occurrences`), or plain text with one
    sentence a line, in which words are searched with their suffixes. Default: those that a study draws from its corpus.
    """
    segments: Annotated[tuple[int | str, ...], Field(min_length=1)] = (9, 25, 75, ">75")
    """L: a window of L words around the word; ">L": whole sentences of more than L words; "all": whole sentences."""
    mode: Literal["window", "bin"] = "window"
    """`bin` takes whole sentences by their own length: at most L words and more than the bound before."""
    samples: Several[Annotated[int, Field(ge=2)]] = (1_000,)
    """How many samples are combined; several numbers give as many results."""
    sampling: Several[Literal["fixed", "random"]] = ("fixed",)
    """`fixed`: the same sentences for every model and number of samples; `random`: drawn afresh for each."""
    layers: Several[int] = (-1,)
    """Layers to read, all in one pass: 0 the embeddings, −1 the last."""
    pieces: Literal["mean", "first", "last", "root"] = "mean"
    """What stands for a word of several pieces: their mean, the first, the last, or the mean of the pieces of its root,
    without suffix."""
    minimum: Annotated[int, Field(ge=1)] = 1
    """A word with fewer usable sentences in a segment is missing there."""
    resamples: Annotated[int, Field(ge=100)] = 1_000

    _found: dict[tuple[Path, ...], pl.DataFrame] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _possible(self) -> CEAT:
        try:
            segments(self.segments, self.mode)
        except MethodError as error:
            raise ValueError(str(error)) from error
        return self

    def places(self, base: Sequence[Path]) -> tuple[Path, ...]:
        """The files of sentences."""
        if self.sentences is None:
            raise MethodError("ceat has no sentences", hint="name a table or a text with sentences=")
        names = [self.sentences] if isinstance(self.sentences, str) else self.sentences
        return tuple(find_data(name, base=base) for name in names)

    def occurrences(self, base: Sequence[Path] = (Path(),)) -> pl.DataFrame:
        """The occurrences of the stimuli, read once. Raises DataError naming file and line."""
        places = self.places(base)
        if places not in self._found:
            given = self.stimuli(base)
            words = dict.fromkeys(w for c in self.chosen(base) for part in c.lists() for w in part.words)
            self._found[places] = read_occurrences(places, {word: given.forms(word) for word in words})
        return self._found[places]

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """None that a model must be able to read whole: what it cannot read is left out and counted."""
        self.chosen(base)
        if self.sentences is not None:
            self.occurrences(base)
        return []

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The set's files and those of the sentences."""
        return [*self.stimuli(base).files, *self.places(base)]

    def run(self, model: Model, run: Run | None = None) -> Result:
        """Measure one model."""
        run = run or Run()
        lm = require_vectors(model, self.name)
        given, categories = self.stimuli(run.base), self.chosen(run.base)
        places = self.places(run.base)
        digest = hashlib.sha256("".join(map(sha256_file, places)).encode()).hexdigest()
        signature = self.signature(
            lm,
            given,
            sentences=f"{'+'.join(place.stem for place in places)}#{digest[:6]}",
            segments="+".join(map(str, self.segments)),
            mode=self.mode,
            samples="+".join(map(str, self.samples)),
            sampling="+".join(self.sampling),
            layers="+".join(map(str, self.layers)),
            pieces=self.pieces,
            minimum=self.minimum,
        )
        settings = Settings.of(signature)
        found: list[_Combination] = []
        cautions: list[str] = []
        cuts = {segment.name: _Cut.of(self, segment, self.occurrences(run.base)) for segment in self._segments()}
        total = 0
        with ExitStack() as stack:
            scorer = stack.enter_context(
                closing(Scorer(lm, batch_tokens=run.batch_tokens, progress=lambda done: run.progress(done, total)))
            )
            run.counts = scorer.counts
            folder = _folder(run.cache) or Path(stack.enter_context(tempfile.TemporaryDirectory()))
            pooling = "mean" if self.pieces == "root" else self.pieces
            store = VectorStore(folder, space(lm, self.layers, pooling))
            for part in cuts.values():
                part.draw(self, lm, scorer)
            total = sum(len(part.wanted) for part in cuts.values())
            for part in cuts.values():
                collect(
                    scorer,
                    store,
                    part.wanted,
                    layers=self.layers,
                    pieces=pooling,
                    progress=lambda done: run.progress(done, total),
                )
            for part in cuts.values():
                own = self._combined(part, categories, store, settings)
                cautions += [*part.cautions(lm.name, self.minimum), *_missing(part.segment, own)]
                found += own
        estimates = [row for each in found for row in each.estimates(settings)]
        for measure in (COMBINED, PUBLISHED):
            estimates = with_holm(estimates, measure, FAMILY)
        items = items_table(
            (row for each in found if each.filled for row in each.items(settings)), ITEM, sentences=pl.Int64
        )
        return Result(signature, items, summary_table((row, signature) for row in estimates), tuple(cautions))

    def _segments(self) -> tuple[Segment, ...]:
        return segments(self.segments, self.mode)

    def _combined(
        self, part: _Cut, categories: Sequence[Category], store: VectorStore, settings: Settings
    ) -> list[_Combination]:
        """The samples of every category, layer and sampling of a segment."""
        jobs = [
            _Job(category, layer, at, sampling, n)
            for category in categories
            for at, layer in enumerate(self.layers)
            for sampling in self.sampling
            for n in self.samples
        ]
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            return list(pool.map(lambda job: self._combination(part, job, store, settings), jobs))

    def _combination(self, part: _Cut, job: _Job, store: VectorStore, settings: Settings) -> _Combination:
        drawn = part.drawn[job.sampling, job.n]
        have = [word for word, draw in drawn.items() if draw.usable >= self.minimum]
        stimuli = Stimuli.of(job.category, have, self.max_missing)
        by = {
            "category": job.category.id,
            "label": job.category.label,
            "layer": str(job.layer),
            "context": part.segment.name,
            "sampling": job.sampling,
            "samples": str(job.n),
        }
        if not all(stimuli.sets):
            return _Combination(by, stimuli, job.n)

        def pool(word: str) -> Pool:
            rows, picks = np.unique(drawn[word].rows, return_inverse=True)
            return Pool(lambda: store.fetch([part.keys[row] for row in rows])[:, job.at], picks)

        x, y, a, b = ([pool(word) for word in words] for words in stimuli.sets)
        used = [min(job.n, drawn[word].usable) for words in stimuli.sets for word in words]
        kept = min(KEPT, max(10, min(used)))
        whole = contextual_effects((x, y), (a, b), ddof=settings.ddof, keep=kept)
        named = [[(side, word, "") for word in words] for side, words in zip(SIDES, stimuli.sets, strict=True)]
        cell = Cell(by, whole.cosines, Sides.of(*stimuli.sets[:2]), Sides.of(*stimuli.sets[2:]))
        filled = Filled(cell, [*named[0], *named[1]], [*named[2], *named[3]])
        return _Combination(by, stimuli, job.n, whole, filled, drawn)


def _missing(segment: Segment, found: Sequence[_Combination]) -> Iterator[str]:
    """Cautions on stimuli that have too few sentences in a segment, those of all samplings together."""
    stimuli: dict[str, Stimuli] = {}
    for each in sorted(found, key=lambda one: len(one.stimuli.note)):  # where it lacks most comes last
        stimuli[each.by["category"]] = each.stimuli
    yield from lost_words(stimuli, f"enough sentences of segment {segment.name}")


def _folder(cache: Path | None) -> Path | None:
    """Where vectors are kept: beside the cache of answers."""
    return None if cache is None else cache.with_suffix(".vectors")


@dataclass(frozen=True, slots=True)
class _Job:
    category: Category
    layer: int
    at: int
    sampling: str
    n: int


@dataclass(frozen=True, slots=True)
class _Draw:
    """The rows of a segment that the samples take for one word, and how many different ones there were to take; of
    these no more are counted than matter."""

    rows: NDArray[np.intp]
    usable: int


@dataclass(slots=True)
class _Cut:
    """The occurrences of one segment and what was drawn of them."""

    segment: Segment
    frame: pl.DataFrame
    rows: Mapping[str, NDArray[np.intp]]
    root_only: bool
    words: Sequence[str]
    drawn: dict[tuple[str, int], dict[str, _Draw]] = field(default_factory=dict)
    keys: dict[int, bytes] = field(default_factory=dict)
    wanted: list[tuple[str, tuple[int, int], str]] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, probe: CEAT, segment: Segment, occurrences: pl.DataFrame) -> _Cut:
        """The occurrences that fit a segment, those of each word in the order in which `fixed` sampling takes them."""
        # By the place in the whole sentence, so that windows of all lengths are taken from the same sentences.
        frame = cut(occurrences.with_columns(place=pl.col("start")), segment)
        order: dict[str, list[tuple[bytes, int]]] = {}
        for row, (word, sentence, place) in enumerate(frame.select("word", "id", "place").iter_rows()):
            name = f"{probe.seed}|{sentence}|{place}".encode()
            order.setdefault(word, []).append((hashlib.blake2b(name, digest_size=8).digest(), row))
        rows = {word: np.array([row for _, row in sorted(own)], dtype=np.intp) for word, own in order.items()}
        words = occurrences["word"].unique(maintain_order=True).to_list()
        return cls(segment, frame, rows, probe.pieces == "root", words)

    def draw(self, probe: CEAT, lm: LanguageModel, scorer: Scorer) -> None:
        """Choose the sentences of every sampling, leaving out what the model cannot read."""
        for sampling in probe.sampling:
            for n in probe.samples:
                self.drawn[sampling, n] = {word: self._draw(word, sampling, n, probe, lm, scorer) for word in self.rows}
        drawn = [draw.rows for own in self.drawn.values() for draw in own.values()]
        rows = np.unique(np.concatenate([np.empty(0, np.intp), *drawn]))
        for row, place in zip(rows.tolist(), self._places(rows), strict=True):
            self.wanted.append(place)
            self.keys[row] = key(place[0], place[1])

    def _draw(self, word: str, sampling: str, n: int, probe: CEAT, lm: LanguageModel, scorer: Scorer) -> _Draw:
        told = f"{word}|{self.segment.name}" + (f"|{n}|{lm.fingerprint}" if sampling == "random" else "")
        digest = hashlib.blake2b(told.encode(), digest_size=8).digest()
        rng = np.random.default_rng([probe.seed, int.from_bytes(digest, "little")])
        order = self.rows[word] if sampling == "fixed" else rng.permutation(self.rows[word])
        good: list[int] = []
        wanted, start = max(n, probe.minimum), 0
        while start < len(order) and len(good) < wanted:
            part = order[start : start + wanted - len(good)]
            start += len(part)
            self._look_at(part, scorer)
            good += [row for row in part.tolist() if not self.reasons[row]]
        whole = np.array(good, dtype=np.intp)
        if not 0 < len(whole) < n:
            return _Draw(whole[:n], len(whole))
        return _Draw(whole[rng.integers(0, len(whole), n)], len(whole))

    def _look_at(self, rows: NDArray[np.intp], scorer: Scorer) -> None:
        new = np.array([row for row in rows.tolist() if row not in self.reasons], dtype=np.intp)
        for row, reason in zip(new.tolist(), scorer.usable(self._places(new)), strict=True):
            self.reasons[row] = reason

    def _places(self, rows: NDArray[np.intp]) -> Iterator[tuple[str, tuple[int, int], str]]:
        chosen = self.frame.select("text", "start", "end", "word", "source", "id")[rows.tolist()]
        for text, start, end, word, source, sentence in chosen.iter_rows():
            root = min(end, start + len(normalise(word)))
            yield text, (start, root if self.root_only else end), f"{source}, {sentence}"

    def cautions(self, model: str, minimum: int) -> Iterator[str]:
        """What was left out and what was drawn more than once."""
        head = f"segment {self.segment.name}"
        reasons = [reason for reason in self.reasons.values() if reason]
        for reason in dict.fromkeys(reasons):
            yield f"{head}: {reasons.count(reason)} sentences left out for {model}: {reason}"
        few = {
            word: draw.usable
            for (_, n), own in self.drawn.items()
            for word, draw in own.items()
            if minimum <= draw.usable < n
        }
        if few:
            word = min(few, key=lambda name: few[name])
            most = max(n for _, n in self.drawn)
            yield (
                f"{head}: {len(few)} of {len(self.words)} stimuli have fewer than {most:,} sentences and are drawn "
                f"with replacement, the fewest {few[word]} ({word})"
            )


@dataclass(frozen=True, slots=True)
class _Combination:
    """The samples of one cell and what they make; without `whole`, a list of stimuli is empty."""

    by: Mapping[str, str]
    stimuli: Stimuli
    n: int
    whole: Contextual | None = None
    filled: Filled | None = None
    drawn: Mapping[str, _Draw] = field(default_factory=dict)

    def estimates(self, settings: Settings) -> Iterator[Estimate]:
        level, by = settings.level, self.by
        size = len(self.stimuli.x) + len(self.stimuli.y)
        whole, filled = self.whole, self.filled
        note = self.stimuli.note
        if whole is None or filled is None:
            note = note or "a list is empty"
        elif np.isnan(whole.effects).any() or not (whole.variances > 0).all():
            note = note or "the associations do not vary in some sample"
        if note or whole is None or filled is None:
            yield Estimate(COMBINED, math.nan, size, level=level, note=note, by=by)
            return
        found = combine(whole.effects, whole.variances, level=level, alternative=settings.alternative)
        shift = found.effect - float(whole.effects[: len(whole.cosines)].mean())
        low, high, how = filled.cell.interval(found.effect, settings, shift=shift)
        p, test = filled.cell.test(settings, s=whole.s)
        note = "" if not math.isnan(low) else "no interval: a set has one stimulus"
        how = "" if note else f"{how}, {len(whole.cosines)} samples"
        yield Estimate(COMBINED, found.effect, size, low, high, level, how, p, test=test, note=note, by=by)
        yield published(found, settings, by)
        yield Estimate(TAU, found.tau, self.n, level=level, by=by)
        yield Estimate(I2, found.i2, self.n, level=level, by=by)
        how = "prediction interval, t with N − 2 degrees of freedom"
        yield Estimate(FURTHER, found.effect, self.n, found.low, found.high, level, how, by=by)
        for n in (*(step for step in _STEPS if step < self.n), self.n):
            part = combine(whole.effects[:n], whole.variances[:n], level=level, alternative=settings.alternative)
            yield published(part, settings, by, measure=FIRST)

    def items(self, settings: Settings) -> Iterator[dict[str, Any]]:
        assert self.filled is not None and self.whole is not None
        for row, s in zip_longest(self.filled.items(settings), self.whole.s.tolist()):
            # Of targets the mean over all samples is known, of attributes that over those whose cosines are kept.
            own = row["association"] if s is None else s
            yield {**row, "association": own, "sentences": min(self.n, self.drawn[row["word"]].usable)}


def published(found: Combined, settings: Settings, by: Mapping[str, str], *, measure: str = PUBLISHED) -> Estimate:
    """The combined effect size with its own standard error, which takes samples for independent studies."""
    half = float(stats.norm.ppf((1 + settings.level) / 2)) * found.se
    how = "normal, standard error of the random-effects combination"
    test = f"combined effect over its standard error, {settings.alternative}"
    low, high = found.effect - half, found.effect + half
    return Estimate(measure, found.effect, found.n, low, high, settings.level, how, found.p, test=test, by=by)
