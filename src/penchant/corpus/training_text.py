"""Running text as tokens, one sentence per line, on which word vectors are trained.

Words are the same as for the extraction of sentences: maximal runs of letters, marks and digits in NFC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from penchant.corpus.matching import Matcher, words
from penchant.corpus.normalisation import normalise
from penchant.corpus.reading import Reader
from penchant.corpus.sentences import splitter
from penchant.corpus.stimuli import StimulusSet
from penchant.corpus.text_files import Block, Layout, TextFile
from penchant.corpus.units import refuse_unreadable, units
from penchant.corpus.workers import in_order
from penchant.files import replacing
from penchant.letter_case import lowered

Progress = Callable[[float, float], None]


@dataclass(frozen=True)
class Tokens:
    """How text is turned into tokens. `forms`, if given, are surface forms by word: each form in the text is replaced
    by its word, unless two words share it or the word contains white space."""

    language: str = "und"
    layout: Layout = "paragraphs"
    field: str = "text"
    lower: bool = True
    forms: Mapping[str, Sequence[str]] | None = None


def tokens(stimuli: StimulusSet | None, *, forms: bool, language: str | None = None, **settings: Any) -> Tokens:
    """Settings for text in a language, by default that of the stimuli; with `forms`, every form of a stimulus is
    replaced by the stimulus."""
    if stimuli is None:
        return Tokens(language or "und", **settings)
    by_word = {normalise(word): stimuli.forms(word) for word in stimuli.words()} if forms else None
    return Tokens(language or stimuli.language, forms=by_word, **settings)


class Counts(NamedTuple):
    """Counts of what was written and what was `skipped`; `replaced` forms gave way to their words, `shared` ones did
    not."""

    sentences: int
    tokens: int
    records: int
    skipped: int
    replaced: int
    shared: int


class _Task(NamedTuple):
    block: Block
    file: TextFile


class _Lines(NamedTuple):
    block: Block
    text: bytes
    counts: Counts
    bad: int


class _Tokeniser:
    def __init__(self, settings: Tokens) -> None:
        self.settings = settings
        self._tools: tuple[Callable[[str], list[str]], Matcher | None] | None = None

    def __reduce__(self) -> tuple[type[_Tokeniser], tuple[Tokens]]:
        return _Tokeniser, (self.settings,)

    def __call__(self, task: _Task) -> _Lines:
        settings, block = self.settings, task.block
        if self._tools is None:
            matcher = Matcher(settings.forms, settings.language) if settings.forms is not None else None
            self._tools = splitter(settings.language, settings.layout), matcher
        split, matcher = self._tools
        read = units(block, task.file.kind, layout=settings.layout, field=settings.field)
        lines: list[str] = []
        tokens = replaced = shared = 0
        for line in read.text.split("\n"):
            for sentence in split(line):
                if matcher is not None:
                    sentence_tokens, n_replaced, n_shared = _with_words(sentence, matcher)
                    replaced, shared = replaced + n_replaced, shared + n_shared
                else:
                    sentence_tokens = words(sentence)
                if sentence_tokens:
                    tokens += len(sentence_tokens)
                    lines.append(" ".join(sentence_tokens))
        text = "".join(f"{line}\n" for line in lines)
        if settings.lower:
            text = normalise(lowered(text, settings.language))
        counts = Counts(len(lines), tokens, read.records, read.skipped, replaced, shared)
        return _Lines(block._replace(data=b""), text.encode(), counts, read.bad)


def _with_words(sentence: str, matcher: Matcher) -> tuple[list[str], int, int]:
    """Return the tokens of a sentence with forms replaced by words, and how many were replaced and could not be."""
    places: dict[tuple[int, int], list[str]] = {}
    for word, start, end in sorted(matcher.find(sentence), key=lambda match: (match.start, -match.end)):
        places.setdefault((start, end), []).append(word)
    tokens: list[str] = []
    at = replaced = shared = 0
    for (start, end), owners in places.items():
        if start < at:
            continue
        if len(owners) > 1 or len(owners[0].split()) > 1:
            shared += 1
            continue
        tokens += [*words(sentence[at:start]), owners[0]]
        at, replaced = end, replaced + 1
    return tokens + words(sentence[at:]), replaced, shared


def write_tokens(
    settings: Tokens,
    files: Sequence[TextFile],
    out: str | Path,
    *,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> tuple[Counts, list[dict[str, Any]]]:
    """Write the tokens of the files, separated by single spaces. Return the counts, and name, size and SHA-256 of each
    file. `progress` is as in `extraction.extract`. Raises DataError, MethodError and OutputError."""
    hashes: list[str] = []

    def tasks() -> Iterator[_Task]:
        for number, file in enumerate(files):
            reader = Reader(file, number, layout=settings.layout, field=settings.field)
            yield from (_Task(block, file) for block in reader.blocks())
            hashes.append(reader.sha256)

    total = float(sum(file.size for file in files))
    totals = Counts(0, 0, 0, 0, 0, 0)
    position = (0, 0)
    with replacing(out) as stream:
        for result in in_order(_Tokeniser(settings), tasks(), workers):
            number = result.block.file
            counts = result.counts
            refuse_unreadable(
                result.block.first, result.bad, counts.skipped, counts.records, files[number], settings.field
            )
            stream.write(result.text)
            totals = Counts(*(a + b for a, b in zip(totals, result.counts, strict=True)))
            progress(float(result.block.at - (position[1] if position[0] == number else 0)), total)
            position = (number, result.block.at)
    return totals, [file.record(sha256) for file, sha256 in zip(files, hashes, strict=True)]
