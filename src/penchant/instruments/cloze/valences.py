"""The valence of words on a bipolar scale, and the sources it comes from.

The first source that knows the word in the sentence decides, in this order: ratings named by the study, ratings of the
test set, lexicons named by the study, lexicons of the test set, two corpora. Several raters count with their mean.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from penchant.corpus.words import count_words
from penchant.errors import DataError
from penchant.instruments.cloze.data import Rating
from penchant.stats.log_odds import log_odds, valence_bins

UNRATED = "none"
PIECE = "piece"


def folded(word: str) -> str:
    """A word in the form that is compared where the spelling itself does not match."""
    return unicodedata.normalize("NFC", word).casefold()


@dataclass(frozen=True, slots=True)
class Lookup:
    """Values of words, looked up as spelled, else regardless of case if all such spellings have the same value."""

    exact: Mapping[str, float]
    folded: Mapping[str, float]

    @classmethod
    def of(cls, values: Mapping[str, float]) -> Lookup:
        """A lookup of values by word."""
        exact = {unicodedata.normalize("NFC", word): value for word, value in values.items()}
        by_folded: dict[str, set[float]] = {}
        for word, value in exact.items():
            by_folded.setdefault(folded(word), set()).add(value)
        return cls(exact, {word: next(iter(distinct)) for word, distinct in by_folded.items() if len(distinct) == 1})

    def get(self, word: str) -> float | None:
        """The value of a word; None where it is unknown."""
        value = self.exact.get(unicodedata.normalize("NFC", word))
        return self.folded.get(folded(word)) if value is None else value


class Valences:
    """Sources in order of precedence, each with a name and lookups by sentence ("" is every sentence)."""

    def __init__(self, sources: Sequence[tuple[str, Mapping[str, Lookup]]]) -> None:
        self._sources = sources

    def of(self, sentence: str, word: str) -> tuple[float | None, str]:
        """The valence of a word in a sentence, None where nobody rates it, and the name of its source."""
        for name, tables in self._sources:
            table = tables.get(sentence) or tables.get("")
            value = table.get(word) if table else None
            if value is not None:
                return value, name
        return None, UNRATED


def by_sentence(ratings: Iterable[Rating]) -> dict[str, Lookup]:
    """Lookups by sentence, with the mean rating of each word over its raters."""
    values: dict[str, dict[str, list[float]]] = {}
    for rating in ratings:
        values.setdefault(rating.sentence, {}).setdefault(rating.word, []).append(rating.value)
    return {
        sentence: Lookup.of({word: sum(scores) / len(scores) for word, scores in words.items()})
        for sentence, words in values.items()
    }


def from_corpora(
    low: Path, high: Path, *, minimum: int, prior_size: float, significant: float, weak: float, strong: float
) -> dict[str, float]:
    """Valences of the words of two texts: log-odds with an informative Dirichlet prior (the two texts together),
    binned to the scale. Words that occur fewer than `minimum` times in all are left unrated.

    Source: Monroe, Colaresi & Quinn 2008. Raises DataError when a text holds no words.
    """
    counts = [count_words(path) for path in (low, high)]
    for path, count in zip((low, high), counts, strict=True):
        if not count:
            raise DataError("holds no words", file=path)
    words = sorted(set(counts[0]) | set(counts[1]))
    table = np.array([[count[word] for word in words] for count in counts])
    result = log_odds(table[0], table[1], table.sum(axis=0), prior_size=prior_size)
    bins = valence_bins(result, significant=significant, weak=weak, strong=strong)
    return {word: float(value) for word, value, n in zip(words, bins, table.sum(axis=0), strict=True) if n >= minimum}
