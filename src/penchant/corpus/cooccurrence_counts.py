"""Counts of words in sentences that contain words of one of two groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from penchant.corpus.aho_corasick import Scanner
from penchant.corpus.block_processing import Pass, Progress
from penchant.corpus.lines_and_sentences import Units, splitter
from penchant.corpus.nfc import normalise
from penchant.corpus.text_files import Layout, TextFile
from penchant.corpus.word_matching import Matcher, words
from penchant.letter_case import lowered

Forms = Mapping[str, Sequence[str]]
"""Surface forms by word."""


@dataclass(frozen=True)
class Grouped:
    """Two groups of words, `a` and `b`, and the `words` to count in sentences that contain words of only one group."""

    a: Forms
    b: Forms
    words: Forms


@dataclass(frozen=True)
class GroupSearch:
    """Settings for counting the words of `contrasts` in one pass; matching is case-sensitive if `cased` is true."""

    contrasts: Sequence[Grouped]
    language: str = "und"
    layout: Layout = "paragraphs"
    field: str = "text"
    cased: bool = False

    def fold(self, text: str) -> str:
        """Return a text in lower case, or unchanged if matching is case-sensitive."""
        return text if self.cased else normalise(lowered(text, self.language))


@dataclass(slots=True)
class GroupCounts:
    """Counts for one contrast of two groups of words (see `Grouped`), by group ("A", "B").

    `sentences` counts the sentences that contain words of only one group, `total` all words in these sentences, and
    `found` each of the words to count in them. `members` counts each word of the groups in all sentences. `both` is the
    number of sentences with words of both groups, which count for neither group.
    """

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


class ContrastCounts(NamedTuple):
    """Counts for all contrasts, the numbers of records read and skipped, and the files with their hashes."""

    contrasts: list[GroupCounts]
    records: int
    skipped: int
    files: list[dict[str, Any]]


class _Search:
    def __init__(self, search: GroupSearch) -> None:
        self.search = search
        sides = [side for each in search.contrasts for side in (("A", each.a), ("B", each.b))]
        self.scanner = Scanner(Matcher(_labelled(search, sides), search.language).surfaces())
        self.matchers = [
            Matcher(_labelled(search, [("A", each.a), ("B", each.b), ("", each.words)]), search.language)
            for each in search.contrasts
        ]
        self.split = splitter(search.language, search.layout)

    def __call__(self, lines: Units) -> list[GroupCounts]:
        texts = lines.text.split("\n")
        found = [GroupCounts() for _ in self.matchers]
        for line in self.scanner.lines(self.search.fold(lines.text)):
            for sentence in self.split(texts[line]):
                folded = self.search.fold(sentence)
                for counts, matcher in zip(found, self.matchers, strict=True):
                    _count(folded, matcher, counts)
        return found


_MARK = "\0"
"""Separator between group and word in keys."""


def _labelled(search: GroupSearch, parts: Sequence[tuple[str, Forms]]) -> dict[str, list[str]]:
    labelled: dict[str, list[str]] = {}
    for side, forms in parts:
        for word, surfaces in forms.items():
            labelled.setdefault(f"{side}{_MARK}{word}", []).extend(map(search.fold, surfaces))
    return labelled


def _count(sentence: str, matcher: Matcher, counts: GroupCounts) -> None:
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
) -> ContrastCounts:
    """Count the words of all contrasts in one pass over the files; repeated sentences are counted each time.

    Raises DataError if a text cannot be read, and MethodError if a package is missing.
    """
    contrasts = [GroupCounts() for _ in search.contrasts]
    text = Pass(files, search.layout, search.field)
    for found in text.found(partial(_Search, search), workers=workers, progress=progress):
        for counts, more in zip(contrasts, found, strict=True):
            counts.add(more)
    return ContrastCounts(contrasts, text.records, text.skipped, text.texts())
