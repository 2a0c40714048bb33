"""The valence of words on a bipolar scale, and its sources.

The first source that knows the word in the sentence decides, in this order: ratings named by the study, ratings of the
test set, lexicons named by the study, lexicons of the test set, two corpora. Ratings by several raters are averaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from penchant import letter_case
from penchant.corpus.word_segmentation import count_words
from penchant.errors import DataError
from penchant.instruments.cloze.rating_formats import Rating
from penchant.stats.typical_words import log_odds, valence_bins
from penchant.unicode_spellings import canonical

UNRATED = "none"
PIECE = "piece"
Judgements = Sequence[tuple[str, float]]
"""Ratings of a word in a sentence, as (rater, rating) pairs."""


def folded(word: str, language: str = "und") -> str:
    """Case-fold a word by the rules of the language."""
    return letter_case.folded(canonical(word), language)


def is_word(text: str) -> bool:
    """Return whether a prediction is a word that can be rated: it has a letter or a digit, unlike punctuation."""
    return any(character.isalnum() for character in text)


@dataclass(frozen=True, slots=True)
class Lookup:
    """Values of words by exact spelling, else by case-folded spelling if all words that share it have the same value.

    `judged` has the ratings averaged into each value, by spelling; `language` determines case folding.
    """

    exact: Mapping[str, float]
    folded: Mapping[str, float]
    judged: Mapping[str, Judgements] = field(default_factory=dict)
    language: str = "und"

    @classmethod
    def of(
        cls, values: Mapping[str, float], judged: Mapping[str, Judgements] | None = None, language: str = "und"
    ) -> Lookup:
        """Build a lookup from values by word."""
        exact = {canonical(word): value for word, value in values.items()}
        by_folded: dict[str, set[float]] = {}
        for word, value in exact.items():
            by_folded.setdefault(folded(word, language), set()).add(value)
        same = {word: next(iter(distinct)) for word, distinct in by_folded.items() if len(distinct) == 1}
        return cls(exact, same, {canonical(word): them for word, them in (judged or {}).items()}, language)

    def get(self, word: str) -> float | None:
        """Return the value of a word; None if it is unknown."""
        value = self.exact.get(canonical(word))
        return self.folded.get(folded(word, self.language)) if value is None else value

    def judgements(self, word: str) -> Judgements:
        """Return the ratings averaged into the value of a word."""
        plain = canonical(word)
        if plain in self.exact:
            return self.judged.get(plain, ())
        same = folded(word, self.language)
        return [rating for key, them in self.judged.items() if folded(key, self.language) == same for rating in them]


class Valences:
    """Sources of valences in order of precedence, each a name and lookups by sentence ("" for all sentences)."""

    def __init__(self, sources: Sequence[tuple[str, Mapping[str, Lookup]]]) -> None:
        self._sources = sources

    def of(self, sentence: str, word: str) -> tuple[float | None, str]:
        """Return the valence of a word in a sentence (None if the word is unrated) and the name of the source."""
        name, table = self._deciding(sentence, word)
        return (table.get(word) if table else None), name

    def judgements(self, sentence: str, word: str) -> Judgements:
        """Return the ratings averaged into the valence of a word in a sentence; empty if nobody rated it."""
        _, table = self._deciding(sentence, word)
        return table.judgements(word) if table else ()

    def raters(self) -> list[str]:
        """Return the names of all raters, sorted."""
        judged = (them for _, tables in self._sources for table in tables.values() for them in table.judged.values())
        return sorted({rater for them in judged for rater, _ in them})

    def _deciding(self, sentence: str, word: str) -> tuple[str, Lookup | None]:
        for name, tables in self._sources:
            table = tables.get(sentence) or tables.get("")
            if table and table.get(word) is not None:
                return name, table
        return UNRATED, None


def by_sentence(ratings: Iterable[Rating], language: str = "und") -> dict[str, Lookup]:
    """Return lookups by sentence, with the mean rating of each word over its raters."""
    judged: dict[str, dict[str, list[tuple[str, float]]]] = {}
    for rating in ratings:
        judged.setdefault(rating.sentence, {}).setdefault(rating.word, []).append((rating.rater, rating.value))
    return {
        sentence: Lookup.of(
            {word: sum(v for _, v in them) / len(them) for word, them in words.items()}, words, language
        )
        for sentence, words in judged.items()
    }


def from_corpora(
    low: Path,
    high: Path,
    *,
    minimum: int,
    prior_size: float,
    significant: float,
    weak: float,
    strong: float,
    language: str = "und",
) -> dict[str, float]:
    """Return valences of the words of two texts, from log-odds with an informative Dirichlet prior.

    The prior is the two texts together, and log-odds are binned to the scale. Words that occur fewer than `minimum`
    times in both texts together are left unrated. The other parameters are those of `Corpora`. Source: Monroe, Colaresi
    & Quinn 2008. Raises DataError if a text has no words.
    """
    counts = [count_words(path, language) for path in (low, high)]
    for path, count in zip((low, high), counts, strict=True):
        if not count:
            raise DataError("contains no words", file=path)
    words = sorted(set(counts[0]) | set(counts[1]))
    table = np.array([[count[word] for word in words] for count in counts])
    result = log_odds(table[0], table[1], table.sum(axis=0), prior_size=prior_size)
    bins = valence_bins(result, significant=significant, weak=weak, strong=strong)
    return {word: float(value) for word, value, n in zip(words, bins, table.sum(axis=0), strict=True) if n >= minimum}
