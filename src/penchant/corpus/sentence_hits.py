"""Find words in the sentences of a text, with sentences and hits in columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from penchant.corpus.aho_corasick import Integers, Places, Scanner
from penchant.corpus.block_lines import divider
from penchant.corpus.text_files import Layout
from penchant.corpus.word_matching import Matcher, is_first, is_parted, words


class Sentences(NamedTuple):
    """Sentences of a text, and where they stand in it.

    `lines` are the numbers of their lines (from 0), `numbers` those of the sentences in the line (from 1), and `starts`
    the characters in the line at which they start.
    """

    texts: list[str]
    lines: Integers
    numbers: Integers
    starts: Integers

    def at(self, places: Integers) -> Sentences:
        """Return some of the sentences."""
        texts = [self.texts[place] for place in places.tolist()]
        return Sentences(texts, self.lines[places], self.numbers[places], self.starts[places])


class Hits(NamedTuple):
    """Words found in sentences, by rising sentence, start, end and word.

    `sentences`, `words` and `forms` are places in their lists; `starts` and `ends` are characters in the sentence.
    """

    sentences: Integers
    words: Integers
    forms: Integers
    starts: Integers
    ends: Integers

    def at(self, places: Integers) -> Hits:
        """Return some of the hits."""
        return Hits(*(column[places] for column in self))


class HitFinder:
    """A finder of words in texts in NFC, in any of their forms; `forms` are the surfaces that a hit may have."""

    def __init__(self, forms: Mapping[str, Iterable[str]], language: str, layout: Layout) -> None:
        """Index the forms. Raises DataError for one without letter or digit, MethodError if a package is missing."""
        matcher = Matcher(forms, language)
        self._scanner = Scanner(matcher.surfaces())
        self._divide = divider(language, layout)
        self.forms = self._scanner.forms
        self._open = np.array([not (words(form[0]) and words(form[-1])) for form in self.forms], np.bool_)
        exact, initial = zip(*map(matcher.owners, self.forms), strict=True) if self.forms else ((), ())
        self._exact, self._initial = _Owners(exact), _Owners(initial)

    def find(self, text: str) -> tuple[Sentences, Hits]:
        """Find the sentences of a text of many lines that hold words, and the hits in them.

        Sentences are divided as by `line_units.splitter`, and hits are those that `Matcher.find` finds in each.
        """
        places = self._scanner.find(text)
        if not len(places.forms):
            return Sentences([], *(3 * [places.lines])), Hits(*(5 * [places.lines]))
        lines, of_place = np.unique(places.lines, return_inverse=True)
        starts = np.empty_like(lines)
        starts[of_place] = places.starts
        sentences, hits = self._divided([*_lines(text, starts.tolist())], of_place, places)
        sentences = sentences._replace(lines=lines[sentences.lines])
        hits = _longest(self._owned(sentences.texts, hits))
        used, of_hit = np.unique(hits.sentences, return_inverse=True)
        return sentences.at(used), hits._replace(sentences=of_hit)

    def _divided(self, lines: Sequence[str], of_place: Integers, places: Places) -> tuple[Sentences, Hits]:
        """Return the sentences of some lines that hold a form, and the forms in them, still without words."""
        pieces, counts, begins, ends = _pieces(lines, [self._divide(line) for line in lines])
        offsets = np.cumsum([0, *map(len, lines)])
        starts, stops = places.begins + offsets[of_place], places.ends + offsets[of_place]
        piece = np.searchsorted(ends, starts, side="right")
        known = int(np.searchsorted(piece, len(pieces)))  # any others stand behind the last sentence
        starts, stops, forms = starts[:known], stops[:known], places.forms[:known]
        used, sentence = np.unique(piece[:known], return_inverse=True)
        whole = [pieces[number] for number in used.tolist()]
        texts = [part.strip() for part in whole]
        first = begins[used] + np.array([len(part) - len(part.lstrip()) for part in whole], np.int64)
        last = first + np.array([*map(len, texts)], np.int64)
        inside = (starts >= first[sentence]) & (stops <= last[sentence])
        numbers = np.cumsum([not part.isspace() for part in pieces])
        line = np.repeat(np.arange(len(lines)), counts)
        before = np.concatenate(([0], numbers))[np.cumsum(counts) - counts]
        sentences = Sentences(texts, line[used], numbers[used] - before[line[used]], first - offsets[line[used]])
        within = first[sentence]
        hits = Hits(sentence, np.zeros_like(sentence), forms, starts - within, stops - within)
        return sentences, self._parted(texts, hits.at(np.flatnonzero(inside)))

    def _parted(self, texts: Sequence[str], hits: Hits) -> Hits:
        """Drop forms that begin or end in a character outside words and touch a word of the same sentence."""
        unsure = np.flatnonzero(self._open[hits.forms])
        places = (hits.sentences[unsure].tolist(), hits.starts[unsure].tolist(), hits.ends[unsure].tolist())
        kept = [is_parted(texts[sentence], start, end) for sentence, start, end in zip(*places, strict=True)]
        return hits.at(np.delete(np.arange(len(hits.forms)), unsure[~np.array(kept, np.bool_)]))

    def _owned(self, texts: Sequence[str], hits: Hits) -> Hits:
        """Return each hit once for every word that has the form there."""
        which, words = self._exact.of(hits.forms)
        able = np.flatnonzero(self._initial.counts[hits.forms])
        places = zip(able.tolist(), hits.sentences[able].tolist(), hits.starts[able].tolist(), strict=True)
        first = np.array([place for place, sentence, start in places if is_first(texts[sentence], start)], np.int64)
        among, more = self._initial.of(hits.forms[first])
        return hits.at(np.concatenate((which, first[among])))._replace(words=np.concatenate((words, more)))


class _Owners:
    """The words that each form belongs to, by the numbers of both."""

    def __init__(self, words: Sequence[Sequence[int]]) -> None:
        self.counts = np.array([*map(len, words)], np.int64)
        self._firsts = np.cumsum(self.counts) - self.counts
        self._words = np.array([*chain.from_iterable(words)], np.int64)

    def of(self, forms: Integers) -> tuple[Integers, Integers]:
        """Return, for all words of some forms, the places of their forms and the words."""
        counts = self.counts[forms]
        which = np.repeat(np.arange(len(forms)), counts)
        nth = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        return which, self._words[self._firsts[forms][which] + nth]


def _lines(text: str, starts: Iterable[int]) -> Iterable[str]:
    for start in starts:
        end = text.find("\n", start)
        yield text[start:] if end < 0 else text[start:end]


def _pieces(lines: Sequence[str], divided: Sequence[Sequence[str]]) -> tuple[list[str], Integers, Integers, Integers]:
    """Return the pieces of all lines, their number in each line, and their begins and ends in the joined lines."""
    counts = np.array([*map(len, divided)], np.int64)
    pieces = [*chain.from_iterable(divided)]
    lengths = np.array([*map(len, pieces)], np.int64)
    ends = np.cumsum(lengths)
    if np.array_equal(np.cumsum([*map(len, lines)]), np.concatenate(([0], ends))[np.cumsum(counts)]):
        return pieces, counts, ends - lengths, ends
    begins, offset = list[int](), 0  # text may be lost between sentences
    divided = [[part for piece in parts if (part := piece.strip())] for parts in divided]
    for line, parts in zip(lines, divided, strict=True):
        at = 0
        for part in parts:
            begins.append(offset + line.index(part, at))
            at = begins[-1] - offset + len(part)
        offset += len(line)
    pieces = [*chain.from_iterable(divided)]
    first = np.array(begins, np.int64)
    return pieces, np.array([*map(len, divided)], np.int64), first, first + np.array([*map(len, pieces)], np.int64)


def _longest(hits: Hits) -> Hits:
    """Return only the longest of several forms of a word at one start, in order."""
    hits = hits.at(np.lexsort((hits.ends, hits.words, hits.starts, hits.sentences)))
    same = np.logical_and.reduce([np.diff(column) == 0 for column in (hits.sentences, hits.starts, hits.words)])
    hits = hits.at(np.flatnonzero(~np.append(same, False)[: len(hits.words)]))
    return hits.at(np.lexsort((hits.words, hits.ends, hits.starts, hits.sentences)))
