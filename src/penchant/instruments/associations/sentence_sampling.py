"""Sampling of sentences for CEAT: one sentence per word and sample, by segment."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.corpus.nfc import normalise
from penchant.corpus.occurrence_columns import Segment, cut
from penchant.engine.scorer import Scorer
from penchant.engine.vector_store import key
from penchant.instruments.associations.estimates import CAUTIONS
from penchant.instruments.associations.settings import CEATSettings
from penchant.models.load import LanguageModel
from penchant.unicode_spellings import Alignment
from penchant.wording.phrases import Note


@dataclass(frozen=True, slots=True)
class Draw:
    """The occurrences of one word drawn from a segment, one per sample, as row numbers.

    `usable` is the number of distinct rows to choose from, counted up to the larger of the number of samples and the
    probe's `minimum`.
    """

    rows: NDArray[np.intp]
    usable: int


@dataclass(slots=True)
class Cut:
    """The occurrences of one segment and the samples drawn from them.

    `frame` has the occurrences, `rows` the row numbers of each word in sampling order, `words` all stimuli. `drawn` has
    the rows drawn, by sampling and number of samples, then by word. `places` and `keys` have the texts and spans of
    those rows and their keys in the vector store; `reasons` has the reason the model cannot read a row ("" if it can).
    If `root_only`, only the root of a word, without suffixes, is read.
    """

    segment: Segment
    frame: pl.DataFrame
    rows: Mapping[str, NDArray[np.intp]]
    root_only: bool
    words: Sequence[str]
    drawn: dict[tuple[str, int], dict[str, Draw]] = field(default_factory=dict)
    keys: dict[int, bytes] = field(default_factory=dict)
    places: list[tuple[str, tuple[int, int], str]] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, probe: CEATSettings, segment: Segment, occurrences: pl.DataFrame) -> Cut:
        """Select the occurrences that fit a segment, by word, in the order of `fixed` sampling."""
        # Order by the position in the whole sentence, so that windows of all lengths come from the same sentences.
        frame = cut(occurrences.with_columns(place=pl.col("start")), segment)
        order: dict[str, list[tuple[bytes, int]]] = {}
        for row, (word, sentence, place) in enumerate(frame.select("word", "id", "place").iter_rows()):
            name = f"{probe.seed}|{sentence}|{place}".encode()
            order.setdefault(word, []).append((hashlib.blake2b(name, digest_size=8).digest(), row))
        rows = {
            word: np.array([row for _, row in sorted(places)[: probe.limit]], dtype=np.intp)
            for word, places in order.items()
        }
        words = occurrences["word"].unique(maintain_order=True).to_list()
        return cls(segment, frame, rows, probe.pieces == "root", words)

    def draw(self, probe: CEATSettings, lm: LanguageModel, scorer: Scorer) -> None:
        """Draw sentences for every sampling and number of samples, leaving out those the model cannot process."""
        for sampling in probe.sampling:
            for n in probe.samples:
                self.drawn[sampling, n] = {word: self._draw(word, sampling, n, probe, lm, scorer) for word in self.rows}
        drawn = [draw.rows for by_word in self.drawn.values() for draw in by_word.values()]
        rows = np.unique(np.concatenate([np.empty(0, np.intp), *drawn]))
        for row, place in zip(rows.tolist(), self._places(rows), strict=True):
            self.places.append(place)
            self.keys[row] = key(place[0], place[1])

    def _draw(self, word: str, sampling: str, n: int, probe: CEATSettings, lm: LanguageModel, scorer: Scorer) -> Draw:
        seeding = f"{word}|{self.segment.name}" + (f"|{n}|{lm.fingerprint}" if sampling == "random" else "")
        digest = hashlib.blake2b(seeding.encode(), digest_size=8).digest()
        rng = np.random.default_rng([probe.seed, int.from_bytes(digest, "little")])
        order = self.rows[word] if sampling == "fixed" else rng.permutation(self.rows[word])
        usable: list[int] = []
        needed, start = max(n, probe.minimum), 0
        while start < len(order) and len(usable) < needed:
            part = order[start : start + needed - len(usable)]
            start += len(part)
            self._check(part, scorer)
            usable += [row for row in part.tolist() if not self.reasons[row]]
        kept = np.array(usable, dtype=np.intp)
        if not 0 < len(kept) < n:
            return Draw(kept[:n], len(kept))
        return Draw(kept[rng.integers(0, len(kept), n)], len(kept))

    def _check(self, rows: NDArray[np.intp], scorer: Scorer) -> None:
        new = np.array([row for row in rows.tolist() if row not in self.reasons], dtype=np.intp)
        for row, reason in zip(new.tolist(), scorer.usable(self._places(new)), strict=True):
            self.reasons[row] = reason

    def _places(self, rows: NDArray[np.intp]) -> Iterator[tuple[str, tuple[int, int], str]]:
        chosen = self.frame.select("text", "start", "end", "word", "source", "id")[rows.tolist()]
        for text, start, end, word, source, sentence in chosen.iter_rows():
            stop = start + _root(text[start:end], word) if self.root_only else end
            yield text, (start, stop), f"{source}, {sentence}"

    def cautions(self, model: str, minimum: int) -> Iterator[Note | str]:
        """Yield cautions about sentences left out, and about words with fewer sentences than samples.

        Words with fewer than `minimum` sentences are not counted.
        """
        head = {"segment": self.segment.name}
        reasons = [reason for reason in self.reasons.values() if reason]
        for reason in dict.fromkeys(reasons):
            yield Note("associations.unreadable", n=reasons.count(reason), model=model, reason=reason, **head)
        few = {
            word: draw.usable
            for (_, n), by_word in self.drawn.items()
            for word, draw in by_word.items()
            if minimum <= draw.usable < n
        }
        if few:
            word = min(few, key=lambda name: few[name])
            most = max(n for _, n in self.drawn)
            facts = {"n": len(few), "of": len(self.words), "most": most, "fewest": few[word], "word": word}
            yield CAUTIONS.get("few-sentences", **facts, **head)


def _root(form: str, word: str) -> int:
    """Return the number of characters of a form that belong to the word itself, without suffixes."""
    composed, root = normalise(form), len(normalise(word))
    return min(len(form), root) if composed == form else Alignment(composed, form).span(0, min(len(composed), root))[1]
