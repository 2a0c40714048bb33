"""Comparison of stimulus suffixes with a corpus: forms that occur, shared forms, and missing forms."""

from __future__ import annotations

import bisect
import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import regex

from penchant.corpus.aho_corasick import Scanner
from penchant.corpus.association_categories import Category, WordList
from penchant.corpus.block_processing import Pass, Progress
from penchant.corpus.block_search import Extraction, extraction
from penchant.corpus.lines_and_sentences import Units, splitter
from penchant.corpus.nfc import normalise
from penchant.corpus.stimulus_sets import StimulusSet
from penchant.corpus.stimulus_spelling_checks import orthography
from penchant.corpus.text_files import TextFile
from penchant.corpus.word_matching import WORD, Matcher, capital_form
from penchant.errors import missing_package
from penchant.text_io import read_text

ROOM = 10_000
"""Number of distinct endings counted for each word (see `Frequent`)."""
_TAIL = regex.compile(f"[{WORD}]*+")
_LETTER = regex.compile(f"[{WORD}]")


class Frequent:
    """Approximate counter of the most frequent items (Misra and Gries 1982; merged as in Agarwal et al. 2013).

    `total` is the number of items added; once `counts` has more than 2 × `room` items, all but at most `room` are
    dropped. The true count of an item exceeds its value in `counts` (0 if absent) by at most `short`; `short` is at
    most total / (room + 1), and 0 until more than 2 × room distinct items were added.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self.counts: Counter[str] = Counter()
        self.total = 0
        self.short = 0

    def update(self, seen: Mapping[str, int]) -> None:
        """Add the counts in a mapping."""
        self.counts.update(seen)
        self.total += sum(seen.values())
        if len(self.counts) > 2 * self.room:
            least = sorted(self.counts.values(), reverse=True)[self.room]
            self.counts = Counter({thing: n - least for thing, n in self.counts.items() if n > least})
            self.short += least

    def most_common(self) -> list[tuple[str, int]]:
        """Return pairs of item and count in descending order of counts; items with equal counts are sorted by name."""
        return sorted(self.counts.items(), key=lambda entry: (-entry[1], entry[0]))


@dataclass(frozen=True)
class Usage:
    """Forms of stimuli, and their use in a corpus.

    `forms` maps each word to its forms, and each form to its suffix. `others` are words in their own right.
    `occurrences` has the number of occurrences by word and form, or is None without a corpus; a form capitalised at the
    beginning of a sentence is counted as the form itself. `missed` counts, for each word, the endings that follow it in
    unclaimed runs: runs of word characters that begin with the word (and with no longer word) and are not a form of any
    word. Runs in which a mark such as the Bengali hasant or nukta changes the last letter of the word are excluded. Of
    the `records` in the files, `skipped` could not be read.
    """

    stimuli: StimulusSet
    forms: Mapping[str, Mapping[str, str]]
    others: frozenset[str] = frozenset()
    occurrences: Counter[tuple[str, str]] | None = None
    missed: Mapping[str, Frequent] = field(default_factory=dict)
    records: int = 0
    skipped: int = 0

    def capital(self, form: str) -> str:
        """Return the form capitalised as at the beginning of a sentence."""
        return capital_form(form, self.stimuli.language)

    @cached_property
    def owners(self) -> dict[str, list[str]]:
        """The words that have each surface form, including forms capitalised at the beginning of a sentence."""
        claims: dict[str, dict[str, None]] = {}
        for word, forms in self.forms.items():
            for form in forms:
                for surface in {form, self.capital(form)}:
                    claims.setdefault(surface, {})[word] = None
        return {surface: list(words) for surface, words in claims.items()}

    def shared(self, word: str, form: str) -> list[str]:
        """Return the other words that also have `form`; its occurrences are counted for all of them."""
        surfaces = dict.fromkeys((form, self.capital(form)))
        return [owner for owner in dict.fromkeys(o for s in surfaces for o in self.owners[s]) if owner != word]

    def own_word(self, word: str, form: str) -> bool:
        """Return True if a form with a suffix is also a word in its own right."""
        return form != word and form in self.others

    @cached_property
    def suffixes(self) -> dict[str, None]:
        """The distinct nonempty suffixes of all words, in order of first appearance."""
        return dict.fromkeys(suffix for forms in self.forms.values() for suffix in forms.values() if suffix)

    @cached_property
    def misspelt(self) -> dict[tuple[str, str], list[str]]:
        """The spelling problems caused by suffixes, keyed by word and form."""
        faults = {}
        for word, forms in self.forms.items():
            suffixes = tuple(suffix for suffix in forms.values() if suffix)
            lines = orthography(_alone(self.stimuli, word, suffixes)) if suffixes else []
            for form, suffix in forms.items():
                head = f"form {word + suffix!r} "
                problems = [line.removeprefix(head) for line in lines if line.startswith(head)]
                if problems:
                    faults[word, form] = problems
        return faults

    def findings(self, word: str, form: str) -> list[str]:
        """Return the remarks on a suffixed `form` of `word`, without the one on its number of occurrences."""
        shared = self.shared(word, form)
        findings = [f"form of {', '.join(shared)} too"] if shared else []
        findings += ["a word of its own"] if self.own_word(word, form) else []
        return findings + self.misspelt.get((word, form), [])


def _alone(stimuli: StimulusSet, word: str, suffixes: tuple[str, ...]) -> StimulusSet:
    words, none = WordList("", "", (word,)), WordList("", "", ())
    category = Category("", "", words, none, none, none)
    return StimulusSet("", stimuli.language, (category,), {normalise(word): suffixes}, (), "")


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
    """Return the forms of the words that an extraction searches for and, if files are given, their counts.

    Files are read once; the occurrences of a form are those that `extraction.extract` finds. `others` are words in
    their own right, such as the headwords of a dictionary. Raises DataError if a text cannot be read, and MethodError
    if a setting is invalid or a package is missing.
    """
    settings = extraction(stimuli, layout=layout, field=field)
    words = {normalise(word): word for word in stimuli.words()}
    forms = {word: _forms(words[word], stimuli.endings(word)) for word in settings.forms}
    other_words = frozenset(map(normalise, others))
    if not files:
        return Usage(stimuli, forms, other_words)
    seen: Counter[tuple[str, str]] = Counter()
    missed = {word: Frequent() for word in forms}
    text = Pass(files, settings.layout, field)
    for found, tails in text.found(partial(_Search, settings), workers=workers, progress=progress):
        seen.update(found)
        for word, endings in tails.items():
            missed[word].update(endings)
    language = settings.language
    uncapitalised = {
        (word, capital_form(form, language)): form for word, own_forms in forms.items() for form in own_forms
    }
    occurrences: Counter[tuple[str, str]] = Counter()
    for (word, surface), n in seen.items():
        occurrences[word, uncapitalised.get((word, surface), surface)] += n
    return Usage(stimuli, forms, other_words, occurrences, missed, text.records, text.skipped)


def _forms(word: str, suffixes: Iterable[str]) -> dict[str, str]:
    forms: dict[str, str] = {}
    for suffix in ("", *suffixes):
        forms.setdefault(normalise(word + suffix), suffix)
    return forms


class _Search:
    def __init__(self, settings: Extraction) -> None:
        forms, language = settings.forms, settings.language
        self.matcher, self.split = Matcher(forms, language), splitter(language, settings.layout)
        self.scanner, self.beginnings = Scanner(self.matcher.surfaces()), _Beginnings(forms, language)

    def __call__(self, lines: Units) -> tuple[Counter[tuple[str, str]], dict[str, Counter[str]]]:
        texts = lines.text.split("\n")
        forms: Counter[tuple[str, str]] = Counter()
        begun, capitals = self.beginnings.find(lines.text)
        for line in {*self.scanner.lines(lines.text), *capitals}:
            for sentence in self.split(texts[line]):
                forms.update((word, sentence[start:end]) for word, start, end in self.matcher.find(sentence))
                begun.update(self.beginnings.first(sentence))
        tails: dict[str, Counter[str]] = {}
        for (word, tail), n in begun.items():
            if not unicodedata.combining(tail[:1] or " ") and word + tail not in self.beginnings.forms:
                tails.setdefault(word, Counter())[tail] = n
        return forms, tails


class _Beginnings:
    """Searcher for runs of word characters that begin with one of the words; the longest word is preferred."""

    def __init__(self, forms: Mapping[str, Iterable[str]], language: str) -> None:
        try:
            from ahocorasick_rs import AhoCorasick
        except ImportError as error:
            raise missing_package("ahocorasick_rs", "corpus") from error
        self.forms = {form for of_word in forms.values() for form in of_word}
        self._words = list(forms)
        self._capitals = {capital: word for word in forms if (capital := capital_form(word, language)) != word}
        self._automaton = AhoCorasick([*self._words, *self._capitals])

    def find(self, text: str) -> tuple[Counter[tuple[str, str]], set[int]]:
        """Count (word, ending) pairs in a text, one for each run of word characters that begins with a word.

        Also returns the indices of the lines in which a run begins with a capitalised word.
        """
        inside = set(_LETTER.findall("".join(set(text))))
        longest: dict[int, tuple[int, int]] = {}
        capitals: set[int] = set()
        for number, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            if start and text[start - 1] in inside:
                continue
            if number < len(self._words):
                longest[start] = number, end  # of matches with the same start, the longer comes later
            else:
                capitals.add(start)
        begun = Counter((self._words[number], _tail(text, end)) for number, end in longest.values())
        if not capitals:
            return begun, set()
        starts = [0, *itertools.accumulate(len(line) + 1 for line in text.split("\n"))]
        return begun, {bisect.bisect(starts, at) - 1 for at in capitals}

    def first(self, sentence: str) -> Iterator[tuple[str, str]]:
        letter = _LETTER.search(sentence) if self._capitals else None
        if letter is None:
            return
        run = sentence[letter.start() :]
        if not any(map(run.startswith, self._words)):
            capital = max(filter(run.startswith, self._capitals), key=len, default=None)
            if capital is not None:
                yield self._capitals[capital], _tail(run, len(capital))


def _tail(text: str, at: int) -> str:
    match = _TAIL.match(text, at)
    return str(match[0]) if match else ""


def read_words(path: Path) -> frozenset[str]:
    """Read a list of words, one per line, and normalise them to NFC. Raises DataError if the file cannot be read."""
    return frozenset(word for line in read_text(path).splitlines() if (word := normalise(line.strip())))
