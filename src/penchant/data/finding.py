"""Occurrences of words in one block of a corpus: found, counted, and those picked that may belong to a sample."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple, get_args

from penchant.data.matching import Match, Matcher, count_words
from penchant.data.near_duplicates import fold
from penchant.data.normalisation import normalise
from penchant.data.occurrences import Segment, segments
from penchant.data.sampling import priority
from penchant.data.scanning import Scanner
from penchant.data.sentences import splitter
from penchant.data.stimuli import StimulusSet
from penchant.data.text_files import Block, Layout, TextFile, check_layout, units
from penchant.errors import MethodError

Duplicates = Literal["near", "exact", "keep"]
LONGEST = 20_000
"""Characters of what is still taken for a sentence: lists and tables without an end are longer."""
DUPLICATES: tuple[str, ...] = get_args(Duplicates)
"""Which of equal sentences are left out: also those nearly equal, those equal but for white space, none."""


@dataclass(frozen=True)
class Extraction:
    """What is looked for, and how much of it is kept.

    `forms` are the surface forms of each word. `per_word` is the most occurrences of a word that are kept of each of
    the `segments` ("all": whatever the length; otherwise bounds of sentence lengths in words, see
    `occurrences.segments`, by bins), `minimum` the fewest that a word ought to have. `field` names the text in JSON
    lines and Parquet.
    """

    forms: Mapping[str, Sequence[str]]
    language: str = "und"
    layout: Layout = "paragraphs"
    field: str = "text"
    per_word: int = 10_000
    minimum: int = 1
    segments: tuple[int | str, ...] = ("all",)
    duplicates: Duplicates = "near"
    seed: int = 0

    @cached_property
    def bins(self) -> tuple[Segment, ...]:
        """The segments. Raises MethodError."""
        return (Segment("all", None, 1, None),) if self.segments == ("all",) else segments(self.segments, "bin")

    def recipe(self) -> dict[str, Any]:
        """The settings, to be written down and compared."""
        own = asdict(self)
        return {**own, "forms": {word: list(forms) for word, forms in self.forms.items()}, "segments": [*self.segments]}


def extraction(
    stimuli: StimulusSet,
    *,
    words: Sequence[str] | None = None,
    segments: Sequence[int | str] = ("all",),
    **settings: Any,
) -> Extraction:
    """The extraction of words of a stimulus set, by default those of its categories for CEAT; in its language where
    none is given. Raises MethodError."""
    check_layout(settings.get("layout", "paragraphs"))
    if settings.get("duplicates", "near") not in DUPLICATES:
        raise MethodError(f"unknown duplicates '{settings['duplicates']}'", hint=f"use {', '.join(DUPLICATES)}")
    bounds = tuple(int(own) if isinstance(own, str) and own.isdecimal() else own for own in segments)
    settings["language"] = settings.get("language") or stimuli.language
    if words is None:
        lists = [own for category in stimuli.categories if "ceat" in category.measures for own in category.lists()]
        words = [word for own in lists for word in own.words] or stimuli.words()
    found = Extraction({normalise(word): stimuli.forms(word) for word in words}, segments=bounds, **settings)
    found.bins  # noqa: B018 (raises where they are none)
    return found


class Row(NamedTuple):
    """An occurrence that may belong to a sample: of cell word × segments + segment."""

    cell: int
    priority: int
    record: str
    word: str
    text: str
    start: int
    end: int
    matched: str
    words: int


@dataclass(slots=True)
class Tally:
    """What was counted: `forms` by word, form and segment; sentences that hold a word, sentences longer than all
    segments, records that could not be read."""

    forms: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    sentences: int = 0
    too_long: int = 0
    skipped: int = 0
    records: int = 0

    def add(self, other: Tally) -> None:
        """Count the other's too."""
        self.forms.update(other.forms)
        self.sentences += other.sentences
        self.too_long += other.too_long
        self.skipped += other.skipped
        self.records += other.records

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        counts = [[*key, n] for key, n in sorted(self.forms.items())]
        rest = {name: getattr(self, name) for name in ("sentences", "too_long", "skipped", "records")}
        return {"forms": counts, **rest}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Tally:
        """What `to_json` gave."""
        forms = Counter({(word, form, segment): n for word, form, segment, n in given["forms"]})
        return cls(forms, **{name: given[name] for name in ("sentences", "too_long", "skipped", "records")})


# One block --------------------------------------------------------------------------------------------------------


class Task(NamedTuple):
    """A block of a file, and by cell the priority from which on an occurrence belongs to no sample."""

    block: Block
    file: TextFile
    limits: list[int]


class Found(NamedTuple):
    """What a block held: `block` without its data, of which there were `size` bytes; `bad` is the number of the first
    record that could not be read, or 0."""

    block: Block
    size: int
    tally: Tally
    rows: list[Row]
    bad: int


class Finder:
    """Finds the occurrences in blocks; a copy of it is in every process."""

    def __init__(self, wanted: Extraction) -> None:
        self.wanted = wanted
        self._numbers = {word: number for number, word in enumerate(wanted.forms)}
        self._tools: tuple[Matcher, Scanner, Callable[[str], list[str]]] | None = None

    def __reduce__(self) -> tuple[type[Finder], tuple[Extraction]]:
        return Finder, (self.wanted,)

    def __call__(self, task: Task) -> Found:
        """The occurrences of one block whose priority is below its cell's limit, and the count of all."""
        wanted, block = self.wanted, task.block
        matcher, scanner, split = self._built()
        lines = units(block, task.file.kind, layout=wanted.layout, field=wanted.field)
        tally = Tally(skipped=lines.skipped, records=lines.records)
        rows: list[Row] = []
        texts = lines.text.split("\n")
        places = zip(*(own.tolist() for own in scanner.find(lines.text)), strict=True)
        for line, hits in groupby(places, key=lambda place: place[1]):
            record = lines.numbers[line]
            name = f"{task.file.name}:{record}"
            if line and lines.numbers[line - 1] == record:
                name += f".{line - bisect.bisect_left(lines.numbers, record) + 1}"
            forms = [(scanner.forms[form], begin, end) for form, _, begin, end in hits]
            for number, sentence, own in _by_sentence(texts[line], split(texts[line]), forms):
                matches = matcher.among(sentence, own)
                if matches:
                    place = name if wanted.layout == "sentences" else f"{name}:{number}"
                    rows += self._occurrences(sentence, matches, place, tally, task.limits)
        size = len(block.data) if isinstance(block.data, bytes) else len(lines.text)
        return Found(block._replace(data=b""), size, tally, rows, lines.bad)

    def _built(self) -> tuple[Matcher, Scanner, Callable[[str], list[str]]]:
        if self._tools is None:
            matcher = Matcher(self.wanted.forms)
            scanner = Scanner(matcher.surfaces())
            self._tools = matcher, scanner, splitter(self.wanted.language, self.wanted.layout)
        return self._tools

    def _occurrences(
        self, sentence: str, matches: Sequence[Match], record: str, tally: Tally, limits: Sequence[int]
    ) -> Iterator[Row]:
        """Those of one sentence; all are counted."""
        wanted, bins = self.wanted, self.wanted.bins
        tally.sentences += 1
        words = count_words(sentence)
        at = next((n for n, own in enumerate(bins) if own.low <= words <= (own.high or words)), None)
        if at is None or len(sentence) > LONGEST:
            tally.too_long += 1
            return
        match wanted.duplicates:
            case "near":
                told = fold(sentence)
            case "exact":
                told = " ".join(sentence.split())
            case "keep":
                told = record
        before: dict[str, int] = {}
        for word, start, end in matches:
            matched = sentence[start:end]
            tally.forms[word, matched, bins[at].name] += 1
            nth = before[word] = before.get(word, -1) + 1
            own = priority(wanted.seed, word, str(nth), told)
            cell = self._numbers[word] * len(bins) + at
            if own < limits[cell]:
                yield Row(cell, own, record, word, sentence, start, end, matched, words)


_Place = tuple[str, int, int]


def _by_sentence(
    line: str, sentences: Sequence[str], places: Sequence[_Place]
) -> Iterator[tuple[int, str, list[_Place]]]:
    """Number, text and forms of each sentence of a line that holds any, with the forms' places in it."""
    at = n = 0
    for number, sentence in enumerate(sentences, 1):
        begin = line.index(sentence, at)  # only white space comes before it
        at = begin + len(sentence)
        own = []
        while n < len(places) and places[n][1] < at:
            form, start, end = places[n]
            if start >= begin and end <= at:
                own.append((form, start - begin, end - begin))
            n += 1
        if own:
            yield number, sentence, own
        if n == len(places):
            return
