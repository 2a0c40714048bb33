"""Count words in the sentences that hold a word of one group, and in those that hold a word of another.

The text is read, divided and searched as for the extraction of sentences, but every sentence counts, repeated ones too:
a model that was trained on the text has read them all. A sentence that holds words of both groups counts for neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from penchant.corpus.matching import Matcher, words
from penchant.corpus.normalisation import normalise
from penchant.corpus.reading import Reader
from penchant.corpus.scanning import Scanner
from penchant.corpus.sentences import splitter
from penchant.corpus.text_files import Block, Layout, TextFile
from penchant.corpus.units import refuse_unreadable, units
from penchant.corpus.workers import in_order
from penchant.letter_case import lowered

Forms = Mapping[str, Sequence[str]]
"""Surface forms by word."""
SIDES = ("A", "B")
Progress = Callable[[float, float], None]


@dataclass(frozen=True)
class Grouped:
    """What to count: `words` in the sentences of the groups `a` and `b`, each with its surface forms."""

    a: Forms
    b: Forms
    words: Forms


@dataclass(frozen=True)
class GroupSearch:
    """Several contrasts of groups, counted in one pass over a text; without `cased`, capital letters are those of small
    ones, in text and forms alike."""

    contrasts: Sequence[Grouped]
    language: str = "und"
    layout: Layout = "paragraphs"
    field: str = "text"
    cased: bool = False

    def fold(self, text: str) -> str:
        """A text or form as it is compared."""
        return text if self.cased else normalise(lowered(text, self.language))


@dataclass(slots=True)
class GroupCounts:
    """The counts of one contrast by side ("A", "B"): `sentences`, the words of any kind in them (`total`), each word
    that was looked for (`found`, by side and word), and each word of the groups (`members`, by side and word, in all
    sentences). `both`: sentences that hold words of both groups."""

    sentences: Counter[str] = field(default_factory=Counter)
    total: Counter[str] = field(default_factory=Counter)
    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    members: Counter[tuple[str, str]] = field(default_factory=Counter)
    both: int = 0

    def add(self, other: GroupCounts) -> None:
        """Add the counts of another part of the text."""
        for name in ("sentences", "total", "found", "members"):
            getattr(self, name).update(getattr(other, name))
        self.both += other.both


class Counted(NamedTuple):
    """The counts of every contrast, how many `records` were read, how many of them were `skipped` because they could
    not be, and the files with their hashes."""

    contrasts: list[GroupCounts]
    records: int
    skipped: int
    files: list[dict[str, Any]]


class _Task(NamedTuple):
    block: Block
    file: TextFile


class _Part(NamedTuple):
    """The counts of a block, which comes without its data; `bad` is the first record that could not be read, or 0."""

    block: Block
    contrasts: list[GroupCounts]
    records: int
    skipped: int
    bad: int


class _Tools(NamedTuple):
    scanner: Scanner
    matchers: list[Matcher]
    split: Callable[[str], list[str]]


class _Finder:
    """Counts in blocks; every process has a copy."""

    def __init__(self, search: GroupSearch) -> None:
        self.search = search
        self._tools: _Tools | None = None

    def __reduce__(self) -> tuple[type[_Finder], tuple[GroupSearch]]:
        return _Finder, (self.search,)

    def __call__(self, task: _Task) -> _Part:
        search, tools = self.search, self._built()
        lines = units(task.block, task.file.kind, layout=search.layout, field=search.field)
        texts = lines.text.split("\n")
        found = [GroupCounts() for _ in search.contrasts]
        for line in tools.scanner.lines(search.fold(lines.text)):
            for sentence in tools.split(texts[line]):
                folded = search.fold(sentence)
                for counts, matcher in zip(found, tools.matchers, strict=True):
                    _count(folded, matcher, counts)
        return _Part(task.block._replace(data=b""), found, lines.records, lines.skipped, lines.bad)

    def _built(self) -> _Tools:
        if self._tools is None:
            search = self.search
            groups = Matcher(_labelled(search, [("A", each.a) for each in search.contrasts]), search.language)
            others = Matcher(_labelled(search, [("B", each.b) for each in search.contrasts]), search.language)
            matchers = [
                Matcher(_labelled(search, [("A", each.a), ("B", each.b), ("", each.words)]), search.language)
                for each in search.contrasts
            ]
            scanner = Scanner([*groups.surfaces(), *others.surfaces()])
            self._tools = _Tools(scanner, matchers, splitter(search.language, search.layout))
        return self._tools


_MARK = "\0"
"""Stands between a side and a word; no word holds it."""


def _labelled(search: GroupSearch, parts: Sequence[tuple[str, Forms]]) -> dict[str, list[str]]:
    """Forms as they are compared, by side and word."""
    labelled: dict[str, list[str]] = {}
    for side, forms in parts:
        for word, surfaces in forms.items():
            labelled.setdefault(f"{side}{_MARK}{word}", []).extend(map(search.fold, surfaces))
    return labelled


def _count(sentence: str, matcher: Matcher, counts: GroupCounts) -> None:
    """Add one sentence to the counts of a contrast."""
    matches = [match.word.split(_MARK) for match in matcher.find(sentence)]
    sides = {side for side, _ in matches if side}
    if not sides:
        return
    counts.members.update((side, word) for side, word in matches if side)
    if len(sides) > 1:
        counts.both += 1
        return
    (side,) = sides
    counts.sentences[side] += 1
    counts.total[side] += len(words(sentence))
    counts.found.update((side, word) for of, word in matches if not of)


def count_groups(
    search: GroupSearch,
    files: Sequence[TextFile],
    *,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> Counted:
    """Read the files once and count every contrast. `progress` is called with the bytes read since the last call and
    the total. Raises DataError for text that cannot be read, MethodError for a package that is missing."""
    hashes: list[str] = []

    def tasks() -> Iterator[_Task]:
        for number, file in enumerate(files):
            reader = Reader(file, number, layout=search.layout, field=search.field)
            yield from (_Task(block, file) for block in reader.blocks())
            hashes.append(reader.sha256)

    total = float(sum(file.size for file in files))
    contrasts = [GroupCounts() for _ in search.contrasts]
    records = skipped = 0
    position = (0, 0)
    for part in in_order(_Finder(search), tasks(), workers):
        number = part.block.file
        refuse_unreadable(part.block.first, part.bad, part.skipped, part.records, files[number], search.field)
        for counts, more in zip(contrasts, part.contrasts, strict=True):
            counts.add(more)
        records, skipped = records + part.records, skipped + part.skipped
        progress(float(part.block.at - (position[1] if position[0] == number else 0)), total)
        position = (number, part.block.at)
    named = [file.record(sha256) for file, sha256 in zip(files, hashes, strict=True)]
    return Counted(contrasts, records, skipped, named)
