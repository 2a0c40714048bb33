"""Find and count the occurrences of words in a block of a corpus, and pick those that may belong to a sample."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple, get_args

from penchant.corpus.matching import Match, Matcher, count_words
from penchant.corpus.near_duplicates import fold
from penchant.corpus.normalisation import normalise
from penchant.corpus.occurrences import Segment, segments
from penchant.corpus.sampling import priority
from penchant.corpus.scanning import Scanner
from penchant.corpus.sentences import splitter
from penchant.corpus.stimuli import StimulusSet
from penchant.corpus.text_files import Block, Layout, TextFile, check_layout
from penchant.corpus.units import units
from penchant.errors import MethodError, one_of

Duplicates = Literal["near", "exact", "keep"]
LONGEST = 20_000
"""Characters a sentence may have; what is longer is a list or table rather than a sentence."""
DUPLICATES: tuple[str, ...] = get_args(Duplicates)
"""Which repeated sentences are dropped: also nearly equal ones, those equal but for white space, or none."""


@dataclass(frozen=True)
class Extraction:
    """Settings of an extraction: what to look for, and how much of it to keep.

    `forms` are the surface forms of each word. `per_word` is the most occurrences of a word to keep in each of the
    `segments` ("all": any length; otherwise bounds of sentence lengths in words, as bins, see `occurrences.segments`);
    words with fewer than `minimum` are reported. `field` is the field or column with the text in JSON lines and
    Parquet.
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
        """The segments as bins of sentence lengths. Raises MethodError if they are not valid."""
        return (Segment("all", None, 1, None),) if self.segments == ("all",) else segments(self.segments, "bin")

    def recipe(self) -> dict[str, Any]:
        """The settings as JSON values, for the record and for comparison."""
        values = asdict(self)
        return {
            **values,
            "forms": {word: list(forms) for word, forms in self.forms.items()},
            "segments": [*self.segments],
        }


def extraction(
    stimuli: StimulusSet,
    *,
    words: Sequence[str] | None = None,
    segments: Sequence[int | str] = ("all",),
    **settings: Any,
) -> Extraction:
    """Settings for extracting words of a stimulus set: by default those of its CEAT categories, in its language.
    Raises MethodError for unknown settings."""
    check_layout(settings.get("layout", "paragraphs"))
    if settings.get("duplicates", "near") not in DUPLICATES:
        raise MethodError(
            f"unknown duplicates '{settings['duplicates']}'", hint=one_of(str(settings["duplicates"]), DUPLICATES)
        )
    bounds = tuple(int(bound) if isinstance(bound, str) and bound.isdecimal() else bound for bound in segments)
    settings["language"] = settings.get("language") or stimuli.language
    if words is None:
        categories = [category for category in stimuli.categories if "ceat" in category.measures]
        words = [word for category in categories for word_list in category.lists() for word in word_list.words]
        words = words or stimuli.words()
    result = Extraction({normalise(word): stimuli.forms(word) for word in words}, segments=bounds, **settings)
    result.bins  # noqa: B018 (raises for invalid segments)
    return result


class Row(NamedTuple):
    """An occurrence that may belong to a sample; its cell is (number of the word) × segments + segment."""

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
    """Counts: `forms` by word, form and segment; `sentences` that contain a word; those `too_long` for every segment;
    `records` read, and those `skipped` because they could not be."""

    forms: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    sentences: int = 0
    too_long: int = 0
    skipped: int = 0
    records: int = 0

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.forms.update(other.forms)
        self.sentences += other.sentences
        self.too_long += other.too_long
        self.skipped += other.skipped
        self.records += other.records

    def to_json(self) -> dict[str, Any]:
        """The counts as JSON values."""
        counts = [[*key, n] for key, n in sorted(self.forms.items())]
        rest = {name: getattr(self, name) for name in ("sentences", "too_long", "skipped", "records")}
        return {"forms": counts, **rest}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Tally:
        """The tally that `to_json` wrote."""
        forms = Counter({(word, form, segment): n for word, form, segment, n in values["forms"]})
        return cls(forms, **{name: values[name] for name in ("sentences", "too_long", "skipped", "records")})


# One block --------------------------------------------------------------------------------------------------------


class Task(NamedTuple):
    """A block of a file, and for each cell the lowest priority that can no longer enter its sample."""

    block: Block
    file: TextFile
    limits: list[int]


class BlockResult(NamedTuple):
    """The occurrences in a block. `block` comes without its data, of `size` bytes; `bad` is the number of the first
    record that could not be read, or 0."""

    block: Block
    size: int
    tally: Tally
    rows: list[Row]
    bad: int


class Finder:
    """Finds the occurrences in blocks; every process has a copy."""

    def __init__(self, settings: Extraction) -> None:
        self.settings = settings
        self._numbers = {word: number for number, word in enumerate(settings.forms)}
        self._tools: tuple[Matcher, Scanner, Callable[[str], list[str]]] | None = None

    def __reduce__(self) -> tuple[type[Finder], tuple[Extraction]]:
        return Finder, (self.settings,)

    def __call__(self, task: Task) -> BlockResult:
        """Return the occurrences of a block whose priority is below the limit of their cell, and the counts of all."""
        settings, block = self.settings, task.block
        matcher, scanner, split = self._built()
        lines = units(block, task.file.kind, layout=settings.layout, field=settings.field)
        tally = Tally(skipped=lines.skipped, records=lines.records)
        rows: list[Row] = []
        texts = lines.text.split("\n")
        places = zip(*(column.tolist() for column in scanner.find(lines.text)), strict=True)
        for line, hits in groupby(places, key=lambda place: place[1]):
            record = lines.numbers[line]
            name = f"{task.file.name}:{record}"
            if line and lines.numbers[line - 1] == record:
                name += f".{line - bisect.bisect_left(lines.numbers, record) + 1}"
            forms = [(scanner.forms[form], begin, end) for form, _, begin, end in hits]
            for number, sentence, in_sentence in _by_sentence(texts[line], split(texts[line]), forms):
                matches = matcher.among(sentence, in_sentence)
                if matches:
                    place = name if settings.layout == "sentences" else f"{name}:{number}"
                    rows += self._occurrences(sentence, matches, place, tally, task.limits)
        size = len(block.data) if isinstance(block.data, bytes) else len(lines.text)
        return BlockResult(block._replace(data=b""), size, tally, rows, lines.bad)

    def _built(self) -> tuple[Matcher, Scanner, Callable[[str], list[str]]]:
        if self._tools is None:
            matcher = Matcher(self.settings.forms)
            scanner = Scanner(matcher.surfaces())
            self._tools = matcher, scanner, splitter(self.settings.language, self.settings.layout)
        return self._tools

    def _occurrences(
        self, sentence: str, matches: Sequence[Match], record: str, tally: Tally, limits: Sequence[int]
    ) -> Iterator[Row]:
        """Count all occurrences of a sentence, and yield those below the limits."""
        settings, bins = self.settings, self.settings.bins
        tally.sentences += 1
        words = count_words(sentence)
        segment = next((n for n, part in enumerate(bins) if part.low <= words <= (part.high or words)), None)
        if segment is None or len(sentence) > LONGEST:
            tally.too_long += 1
            return
        match settings.duplicates:
            case "near":
                identity = fold(sentence)
            case "exact":
                identity = " ".join(sentence.split())
            case "keep":
                identity = record
        seen: dict[str, int] = {}
        for word, start, end in matches:
            matched = sentence[start:end]
            tally.forms[word, matched, bins[segment].name] += 1
            nth = seen[word] = seen.get(word, -1) + 1
            rank = priority(settings.seed, word, str(nth), identity)
            cell = self._numbers[word] * len(bins) + segment
            if rank < limits[cell]:
                yield Row(cell, rank, record, word, sentence, start, end, matched, words)


_Place = tuple[str, int, int]


def _by_sentence(
    line: str, sentences: Sequence[str], places: Sequence[_Place]
) -> Iterator[tuple[int, str, list[_Place]]]:
    """Yield number, text and forms of each sentence of a line that contains any, with their places in the sentence."""
    at = n = 0
    for number, sentence in enumerate(sentences, 1):
        begin = line.index(sentence, at)  # only white space comes before it
        at = begin + len(sentence)
        in_sentence = []
        while n < len(places) and places[n][1] < at:
            form, start, end = places[n]
            if start >= begin and end <= at:
                in_sentence.append((form, start - begin, end - begin))
            n += 1
        if in_sentence:
            yield number, sentence, in_sentence
        if n == len(places):
            return
