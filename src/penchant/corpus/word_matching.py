"""Search for words in running text of any script, and windows of words around them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from penchant.corpus.nfc import BASIC, code_points, normalise, table_end
from penchant.errors import DataError
from penchant.letter_case import capitalised

WORD = r"\p{L}\p{M}\p{N}\u200c\u200d"
"""Word characters, as a character class of a regular expression; a word is a maximal run of word characters.

Word characters are the letters, marks and digits of any script and the two joiners of Persian and Bangla. `\\w` does
not match marks and would end words at Bengali vowel signs.
"""
_RUN = regex.compile(f"[{WORD}]+")
_OUTSIDE, _INSIDE, _SPACE = range(3)


class Match(NamedTuple):
    """Occurrence of a form of `word` at text[start:end]."""

    word: str
    start: int
    end: int


class Matcher:
    """Searcher for words in any of their forms; the search time does not depend on the number of words."""

    def __init__(self, forms: Mapping[str, Iterable[str]], language: str = "und") -> None:
        """Index the surface forms of each word, which may contain spaces and hyphens.

        `language` determines the rules of capitalisation. Raises DataError if a form has no letter or digit.
        """
        self._exact = _Forms()
        self._initial = _Forms()
        for word, surfaces in forms.items():
            for surface in dict.fromkeys(map(normalise, surfaces)):
                self._exact.add(surface, word)
                if (capital := capital_form(surface, language)) != surface:
                    self._initial.add(capital, word)
        self._order = {word: number for number, word in enumerate(forms)}

    def surfaces(self) -> list[str]:
        """Return all forms, including those capitalised at the beginning of a sentence."""
        return list(dict.fromkeys((*self._exact.words, *self._initial.words)))

    def find(self, text: str) -> list[Match]:
        """Return every occurrence of a form as whole words, sorted by start, end, and the order of the words.

        The text must be in NFC (see `normalise`). Overlapping forms and forms shared by several words are all returned,
        but only the longest of a word's forms at the same start. Matching is case-sensitive, except that the first word
        of the text also matches a form that differs only in a lowercase first letter.
        """
        runs = _RUN.finditer(text)
        first = next(runs, None)
        if first is None:
            return []
        matches = self._at(text, first.start(), first[0], self._exact, self._initial)
        shapes = self._exact.shapes
        for run in runs:
            if run[0] in shapes:
                matches += self._at(text, run.start(), run[0], self._exact)
        return matches

    def owners(self, surface: str) -> tuple[list[int], list[int]]:
        """Return the indices of words with the form `surface`, and of words for which it is a capitalised form."""
        exact, initial = (forms.words.get(surface, ()) for forms in (self._exact, self._initial))
        return [self._order[word] for word in exact], [self._order[word] for word in initial]

    def _place(self, match: Match) -> tuple[int, int, int]:
        return match.start, match.end, self._order[match.word]

    def _at(self, text: str, start: int, run: str, *tables: _Forms) -> list[Match]:
        ends: dict[tuple[int, str], int] = {}
        for table in tables:
            for begin, end, word in table.at(text, start, run):
                ends[begin, word] = max(end, ends.get((begin, word), end))
        matches = [Match(word, begin, end) for (begin, word), end in ends.items()]
        return sorted(matches, key=self._place)


class _Forms:
    """Index of forms by their first run of word characters.

    For each run, `shapes` has the distinct pairs (number of characters before the run, length of the form); one lookup
    in `words` per pair then covers all forms with the run.
    """

    def __init__(self) -> None:
        self.shapes: dict[str, set[tuple[int, int]]] = {}
        self.words: dict[str, list[str]] = {}

    def add(self, form: str, word: str) -> None:
        run = _RUN.search(form)
        if run is None:
            raise DataError(f"the form {form!r} of '{word}' contains no letter or digit, so it cannot be searched for")
        self.shapes.setdefault(run[0], set()).add((run.start(), len(form)))
        self.words.setdefault(form, []).append(word)

    def at(self, text: str, start: int, run: str) -> Iterable[tuple[int, int, str]]:
        for before, length in self.shapes.get(run, ()):
            begin = start - before
            end = begin + length
            words = self.words.get(text[begin:end]) if begin >= 0 and end <= len(text) else None
            if words and not (before and _RUN.search(text, max(begin - 1, 0), start)) and not _RUN.match(text, end):
                for word in words:
                    yield begin, end, word


def capital_form(form: str, language: str) -> str:
    """Return a form as written at the beginning of a sentence, with its first letter capitalised."""
    return normalise(capitalised(form, language)) if form[0].islower() else form


def words(text: str) -> list[str]:
    """Return the maximal runs of letters, marks and digits of a text in NFC."""
    runs: list[str] = _RUN.findall(text)
    return runs


def is_first(text: str, start: int) -> bool:
    """Return True if a text has no word character anywhere before the offset `start`."""
    return _RUN.search(text, 0, start) is None


def is_parted(text: str, start: int, end: int) -> bool:
    """Return True if no word character directly precedes or follows text[start:end]."""
    return not (start and _RUN.match(text, start - 1, start)) and not _RUN.match(text, end)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of every word.

    A word is a chunk between white space, including punctuation, that contains a letter, mark or digit.
    """
    spans = []
    end = 0
    for chunk in text.split():
        start = text.index(chunk, end)  # only white space comes before it
        end = start + len(chunk)
        if _is_word(chunk):
            spans.append((start, end))
    return spans


def count_words(text: str) -> int:
    """Return the number of words as defined by `word_spans`; a separate dash or danda does not count."""
    chunks = text.split()
    odd = [chunk for chunk in chunks if not chunk[0].isalnum()]
    return len(chunks) - len(odd) + sum(map(_is_word, odd))


def _is_word(chunk: str) -> bool:
    return chunk[0].isalnum() or _RUN.search(chunk) is not None  # the first test nearly always decides, and is faster


def window(text: str, start: int, end: int, length: int) -> tuple[str, int, int] | None:
    """Return a window of exactly `length` words around text[start:end], and the offsets of that span in the window.

    The window has as many words on the left as on the right, or one more on the left; if one side has too few words,
    the other side has more. Separate punctuation is kept but not counted. Returns None if the text has fewer than
    `length` words, or if text[start:end] has more than `length` words or no word.
    """
    spans = word_spans(text)
    inside = [number for number, (begin, stop) in enumerate(spans) if begin < end and stop > start]
    if not inside or len(spans) < length or len(inside) > length:
        return None
    left = (length - len(inside) + 1) // 2
    first = min(max(inside[0] - left, 0), len(spans) - length)
    # A form may begin or end in punctuation on its own, which belongs to no word.
    begin = min(spans[first][0], start)
    stop = max(spans[first + length - 1][1], end)
    return text[begin:stop], start - begin, end - begin


# Many texts at once -------------------------------------------------------------------------------------------------


@cache
def word_characters(end: int = sys.maxunicode + 1) -> NDArray[np.bool_]:
    """Return a mask of the code points below `end` that are word characters."""
    codes = np.concatenate([np.arange(0xD800), np.arange(0xE000, end)])  # no surrogates
    characters = codes.astype("<u4").tobytes().decode("utf-32-le")
    changes = np.zeros(len(codes) + 1, np.int8)
    for run in regex.finditer(f"[{WORD}]+", characters):
        changes[run.start()], changes[run.end()] = 1, -1
    in_words = np.zeros(end, dtype=np.bool_)
    in_words[codes] = np.cumsum(changes[:-1], dtype=np.int8) > 0
    return in_words


@cache
def _kinds(end: int) -> NDArray[np.uint8]:
    kinds = np.where(word_characters(end), np.uint8(_INSIDE), np.uint8(_OUTSIDE))
    basic = np.arange(BASIC, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    kinds[[space.start() for space in re.finditer(r"\s", basic)]] = _SPACE  # there is no white space in higher planes
    return kinds


def count_words_of(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return `count_words(text)` for each text, computed for all texts at once."""
    codes = code_points("\n".join([*texts, ""]))
    kinds = _kinds(table_end(codes)).take(codes)
    space = kinds == _SPACE
    starts = np.flatnonzero(space[:-1] & ~space[1:]) + 1
    if len(space) and not space[0]:
        starts = np.concatenate(([0], starts))
    if not len(starts):
        return np.zeros(len(texts), np.int64)
    words = starts[np.logical_or.reduceat(kinds == _INSIDE, starts)]
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    return np.bincount(np.searchsorted(ends, words, side="right"), minlength=len(texts))
