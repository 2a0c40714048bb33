"""Search for words in the sentences of a text, with sentences and hits as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from penchant.corpus.aho_corasick import Integers, Places, Scanner
from penchant.corpus.lines_and_sentences import divider
from penchant.corpus.text_files import Layout
from penchant.corpus.word_matching import Matcher, is_first, is_parted, words


class Sentences(NamedTuple):
    """Sentences of a text, with their positions.

    `lines` are the indices of their lines (from 0), `numbers` their numbers in the line (from 1), and `starts` their
    character offsets in the line.
    """

    texts: list[str]
    lines: Integers
    numbers: Integers
    starts: Integers

    def at(self, places: Integers) -> Sentences:
        """Return the sentences at the given indices."""
        texts = [self.texts[place] for place in places.tolist()]
        return Sentences(texts, self.lines[places], self.numbers[places], self.starts[places])


class Hits(NamedTuple):
    """Words found in sentences, sorted by sentence, start, end and word.

    `sentences`, `words` and `forms` have the index of each hit's sentence, word and form; `starts` and `ends` are
    character offsets in the sentence.
    """

    sentences: Integers
    words: Integers
    forms: Integers
    starts: Integers
    ends: Integers

    def at(self, places: Integers) -> Hits:
        """Return the hits at the given indices."""
        return Hits(*(column[places] for column in self))


class HitFinder:
    """Searcher for words in NFC texts; the attribute `forms` lists the surface forms searched for."""

    def __init__(self, forms: Mapping[str, Iterable[str]], language: str, layout: Layout) -> None:
        """Index the forms.

        Raises DataError if a form has no letter or digit, and MethodError if a package is missing.
        """
        matcher = Matcher(forms, language)
        self._scanner = Scanner(matcher.surfaces())
        self._divide = divider(language, layout)
        self.forms = self._scanner.forms
        self._open = np.array([not (words(form[0]) and words(form[-1])) for form in self.forms], np.bool_)
        exact, initial = zip(*map(matcher.owners, self.forms), strict=True) if self.forms else ((), ())
        self._exact, self._initial = _Owners(exact), _Owners(initial)

    def find(self, text: str) -> tuple[Sentences, Hits]:
        """Return the sentences of a text that contain words, and the hits in them.

        Lines are split into sentences as in `lines_and_sentences.splitter`, and words are matched as in `Matcher.find`.
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
        pieces, counts, begins, ends = _pieces(lines, [self._divide(line) for line in lines])
        offsets = np.cumsum([0, *map(len, lines)])
        starts, stops = places.begins + offsets[of_place], places.ends + offsets[of_place]
        piece = np.searchsorted(ends, starts, side="right")
        known = int(np.searchsorted(piece, len(pieces)))  # any others come after the last sentence
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
        """Drop hits that begin or end with a non-word character and adjoin a word of the same sentence."""
        unsure = np.flatnonzero(self._open[hits.forms])
        places = (hits.sentences[unsure].tolist(), hits.starts[unsure].tolist(), hits.ends[unsure].tolist())
        kept = [is_parted(texts[sentence], start, end) for sentence, start, end in zip(*places, strict=True)]
        return hits.at(np.delete(np.arange(len(hits.forms)), unsure[~np.array(kept, np.bool_)]))

    def _owned(self, texts: Sequence[str], hits: Hits) -> Hits:
        which, words = self._exact.of(hits.forms)
        able = np.flatnonzero(self._initial.counts[hits.forms])
        places = zip(able.tolist(), hits.sentences[able].tolist(), hits.starts[able].tolist(), strict=True)
        first = np.array([place for place, sentence, start in places if is_first(texts[sentence], start)], np.int64)
        among, more = self._initial.of(hits.forms[first])
        return hits.at(np.concatenate((which, first[among])))._replace(words=np.concatenate((words, more)))


class _Owners:
    """Mapping from the index of each form to the indices of the words that have the form."""

    def __init__(self, words: Sequence[Sequence[int]]) -> None:
        self.counts = np.array([*map(len, words)], np.int64)
        self._firsts = np.cumsum(self.counts) - self.counts
        self._words = np.array([*chain.from_iterable(words)], np.int64)

    def of(self, forms: Integers) -> tuple[Integers, Integers]:
        counts = self.counts[forms]
        which = np.repeat(np.arange(len(forms)), counts)
        nth = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        return which, self._words[self._firsts[forms][which] + nth]


def _lines(text: str, starts: Iterable[int]) -> Iterable[str]:
    for start in starts:
        end = text.find("\n", start)
        yield text[start:] if end < 0 else text[start:end]


def _pieces(lines: Sequence[str], divided: Sequence[Sequence[str]]) -> tuple[list[str], Integers, Integers, Integers]:
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
    """Sort the hits, keeping only the longest form of a word at each start."""
    hits = hits.at(np.lexsort((hits.ends, hits.words, hits.starts, hits.sentences)))
    same = np.logical_and.reduce([np.diff(column) == 0 for column in (hits.sentences, hits.starts, hits.words)])
    hits = hits.at(np.flatnonzero(~np.append(same, False)[: len(hits.words)]))
    return hits.at(np.lexsort((hits.words, hits.ends, hits.starts, hits.sentences)))
