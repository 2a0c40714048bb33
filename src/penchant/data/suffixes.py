"""Suffixes of words held against a corpus: which forms occur, which are another word's too, and which are missed."""

from __future__ import annotations

import bisect
import itertools
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import regex

from penchant.data.finding import Extraction, extraction
from penchant.data.matching import WORD, Matcher
from penchant.data.normalisation import normalise
from penchant.data.orthography import orthography
from penchant.data.scanning import Scanner
from penchant.data.sentences import splitter
from penchant.data.stimuli import Category, StimulusSet, WordList
from penchant.data.text_files import Block, Reader, TextFile, missing, refuse_unreadable, units
from penchant.data.workers import in_order
from penchant.errors import DataError

ROOM = 10_000
"""Of how many different runs that begin with one word and are no form the counts are held."""
_TAIL = regex.compile(f"[{WORD}]*+")
_LETTER = regex.compile(f"[{WORD}]")

Progress = Callable[[float, float], None]


class Frequent:
    """The counts of the most frequent of any number of things (Misra and Gries 1982; merged as in Agarwal et al. 2013).

    Of `total` things seen, each was seen as often as `counts` says or up to `short` times more, also those that it does
    not hold; `short` is at most total / (room + 1), and 0 as long as no more than 2 × room different things were seen.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self.counts: Counter[str] = Counter()
        self.total = 0
        self.short = 0

    def update(self, seen: Mapping[str, int]) -> None:
        """Count these too."""
        self.counts.update(seen)
        self.total += sum(seen.values())
        if len(self.counts) > 2 * self.room:
            least = sorted(self.counts.values(), reverse=True)[self.room]
            self.counts = Counter({thing: n - least for thing, n in self.counts.items() if n > least})
            self.short += least

    def most_common(self) -> list[tuple[str, int]]:
        """From the most frequent on, those of equal counts in the order of their characters."""
        return sorted(self.counts.items(), key=lambda own: (-own[1], own[0]))


@dataclass(frozen=True)
class Usage:
    """The forms of stimuli, and how a corpus uses them.

    `forms` are those of each word, each with its suffix. `others` are words that stand for themselves. `occurrences`
    are counted by word and form (one with the capital of a sentence's beginning counts as the form it stands for),
    None without a corpus. `missed` holds, for each word, what follows it in the runs of word characters that begin with
    it, with no longer word, and that are no form of any word; not those in which a mark such as the Bengali hasant or
    nukta makes another letter of its last one. Of `records`, `skipped` could not be read.
    """

    stimuli: StimulusSet
    forms: Mapping[str, Mapping[str, str]]
    others: frozenset[str] = frozenset()
    occurrences: Counter[tuple[str, str]] | None = None
    missed: Mapping[str, Frequent] = field(default_factory=dict)
    records: int = 0
    skipped: int = 0

    @cached_property
    def owners(self) -> dict[str, list[str]]:
        """The words that claim each surface form, those included that the beginning of a sentence makes of them."""
        found: dict[str, dict[str, None]] = {}
        for word, forms in self.forms.items():
            for form in forms:
                for surface in {form, _capital(form)}:
                    found.setdefault(surface, {})[word] = None
        return {surface: list(words) for surface, words in found.items()}

    def shared(self, word: str, form: str) -> list[str]:
        """The other words that claim a form of this one: where it stands, both are found."""
        surfaces = dict.fromkeys((form, _capital(form)))
        return [own for own in dict.fromkeys(o for s in surfaces for o in self.owners[s]) if own != word]

    def own_word(self, word: str, form: str) -> bool:
        """Whether a form with a suffix is also a word that stands for itself."""
        return form != word and form in self.others

    @cached_property
    def suffixes(self) -> dict[str, None]:
        """All suffixes of all words."""
        return dict.fromkeys(suffix for forms in self.forms.values() for suffix in forms.values() if suffix)

    @cached_property
    def misspelt(self) -> dict[tuple[str, str], list[str]]:
        """By word and form, what is wrong with the spelling that the suffix brings about."""
        found = {}
        for word, forms in self.forms.items():
            suffixes = tuple(suffix for suffix in forms.values() if suffix)
            told = orthography(_alone(self.stimuli, word, suffixes)) if suffixes else []
            for form, suffix in forms.items():
                head = f"form {word + suffix!r} "
                problems = [line.removeprefix(head) for line in told if line.startswith(head)]
                if problems:
                    found[word, form] = problems
        return found

    def findings(self, word: str, form: str) -> list[str]:
        """What is to be said of a form, besides how often it occurs."""
        shared = self.shared(word, form)
        found = [f"form of {', '.join(shared)} too"] if shared else []
        found += ["a word of its own"] if self.own_word(word, form) else []
        return found + self.misspelt.get((word, form), [])


def _capital(form: str) -> str:
    """The form as `Matcher` finds it at the beginning of a sentence."""
    return normalise(form[0].upper() + form[1:]) if form[0].islower() else form


def _alone(stimuli: StimulusSet, word: str, suffixes: tuple[str, ...]) -> StimulusSet:
    words, none = WordList("", "", (word,)), WordList("", "", ())
    category = Category("", "", words, none, none, none)
    return StimulusSet("", stimuli.language, (category,), {word: suffixes}, (), "")


# Counting ---------------------------------------------------------------------------------------------------------


def usage(
    stimuli: StimulusSet,
    files: Sequence[TextFile] = (),
    *,
    others: Iterable[str] = (),
    layout: str = "paragraphs",
    field: str = "text",
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> Usage:
    """The forms of the words that an extraction looks for, and how often they occur where files are given; these are
    read once.

    A form occurs where `extraction.extract` would find it. `others` are words that stand for themselves, such as the
    headwords of a dictionary. `progress` is called with the bytes read since the last call and those of all files.
    Raises DataError and MethodError.
    """
    wanted = extraction(stimuli, layout=layout, field=field)
    words = {normalise(word): word for word in stimuli.words()}
    forms = {own: _forms(words[own], stimuli.suffixes.get(words[own], ())) for own in wanted.forms}
    own = frozenset(map(normalise, others))
    if not files:
        return Usage(stimuli, forms, own)
    seen: Counter[tuple[str, str]] = Counter()
    missed = {word: Frequent() for word in forms}
    records = skipped = at = number = 0
    total = float(sum(file.size for file in files))
    for found in in_order(_Search(wanted), _tasks(files, wanted), workers):
        refuse_unreadable(found.first, found.bad, found.skipped, found.records, files[found.file], field)
        seen.update(found.forms)
        for word, tails in found.tails.items():
            missed[word].update(tails)
        records += found.records
        skipped += found.skipped
        progress(float(found.at - (at if number == found.file else 0)), total)
        at, number = found.at, found.file
    small = {(word, _capital(form)): form for word, own_forms in forms.items() for form in own_forms}
    occurrences: Counter[tuple[str, str]] = Counter()
    for (word, surface), n in seen.items():
        occurrences[word, small.get((word, surface), surface)] += n
    return Usage(stimuli, forms, own, occurrences, missed, records, skipped)


def _forms(word: str, suffixes: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for suffix in ("", *suffixes):
        found.setdefault(normalise(word + suffix), suffix)
    return found


class _Task(NamedTuple):
    block: Block
    file: TextFile


class _Found(NamedTuple):
    """What a block of file number `file` held: surface forms by word, and what follows a word where that is no form."""

    file: int
    first: int
    at: int
    forms: Counter[tuple[str, str]]
    tails: dict[str, Counter[str]]
    records: int
    skipped: int
    bad: int


def _tasks(files: Sequence[TextFile], wanted: Extraction) -> Iterator[_Task]:
    for number, file in enumerate(files):
        for block in Reader(file, number, layout=wanted.layout, field=wanted.field).blocks():
            yield _Task(block, file)


class _Search:
    """Looks for forms in blocks, and for runs that begin with a word; a copy of it is in every process."""

    def __init__(self, wanted: Extraction) -> None:
        self.wanted = wanted
        self._tools: tuple[Matcher, Scanner, Callable[[str], list[str]], _Beginnings] | None = None

    def __reduce__(self) -> tuple[type[_Search], tuple[Extraction]]:
        return _Search, (self.wanted,)

    def __call__(self, task: _Task) -> _Found:
        matcher, scanner, split, beginnings = self._built()
        block = task.block
        lines = units(block, task.file.kind, layout=self.wanted.layout, field=self.wanted.field)
        texts = lines.text.split("\n")
        forms: Counter[tuple[str, str]] = Counter()
        begun, capitals = beginnings.find(lines.text)
        for line in {*scanner.lines(lines.text), *capitals}:
            for sentence in split(texts[line]):
                forms.update((word, sentence[start:end]) for word, start, end in matcher.find(sentence))
                begun.update(beginnings.first(sentence))
        tails: dict[str, Counter[str]] = {}
        for (word, tail), n in begun.items():
            if not unicodedata.combining(tail[:1] or " ") and word + tail not in beginnings.forms:
                tails.setdefault(word, Counter())[tail] = n
        return _Found(block.file, block.first, block.at, forms, tails, lines.records, lines.skipped, lines.bad)

    def _built(self) -> tuple[Matcher, Scanner, Callable[[str], list[str]], _Beginnings]:
        if self._tools is None:
            matcher = Matcher(self.wanted.forms)
            split = splitter(self.wanted.language, self.wanted.layout)
            self._tools = matcher, Scanner(matcher.surfaces()), split, _Beginnings(self.wanted.forms)
        return self._tools


class _Beginnings:
    """Finds runs of word characters that begin with one of many words, for each the longest."""

    def __init__(self, forms: Mapping[str, Iterable[str]]) -> None:
        try:
            from ahocorasick_rs import AhoCorasick
        except ImportError as error:
            raise missing("ahocorasick_rs") from error
        self.forms = {form for own in forms.values() for form in own}
        self._words = list(forms)
        self._capitals = {capital: word for word in forms if (capital := _capital(word)) != word}
        self._automaton = AhoCorasick([*self._words, *self._capitals])

    def find(self, text: str) -> tuple[Counter[tuple[str, str]], set[int]]:
        """Words and what follows them in the same run, with counts; the numbers of the lines in which a run begins with
        the capital that a word has at the beginning of a sentence."""
        inside = set(_LETTER.findall("".join(set(text))))
        longest: dict[int, tuple[int, int]] = {}
        capitals: set[int] = set()
        for number, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            if start and text[start - 1] in inside:
                continue
            if number < len(self._words):
                longest[start] = number, end  # of matches that begin alike, the longer one comes later
            else:
                capitals.add(start)
        found = Counter((self._words[number], _tail(text, end)) for number, end in longest.values())
        if not capitals:
            return found, set()
        starts = [0, *itertools.accumulate(len(line) + 1 for line in text.split("\n"))]
        return found, {bisect.bisect(starts, at) - 1 for at in capitals}

    def first(self, sentence: str) -> Iterator[tuple[str, str]]:
        """The longest word, and what follows it, whose capital the sentence begins with, if no word does as written."""
        letter = _LETTER.search(sentence) if self._capitals else None
        if letter is None:
            return
        run = sentence[letter.start() :]
        if not any(map(run.startswith, self._words)):
            capital = max(filter(run.startswith, self._capitals), key=len, default=None)
            if capital is not None:
                yield self._capitals[capital], _tail(run, len(capital))


def _tail(text: str, at: int) -> str:
    found = _TAIL.match(text, at)
    return str(found[0]) if found else ""


def read_words(path: Path) -> frozenset[str]:
    """The words of a list, one a line. Raises DataError."""
    try:
        return frozenset(word for line in path.read_text("utf-8-sig").splitlines() if (word := normalise(line.strip())))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=path) from error
    except UnicodeDecodeError as error:
        raise DataError("is not UTF-8", file=path, hint="save it as UTF-8") from error
