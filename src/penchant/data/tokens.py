"""Running text as tokens, one sentence a line: what vectors of words are trained on.

Words are found as they are when sentences are extracted: maximal runs of letters, marks and digits in NFC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from penchant.data.matching import Matcher, words
from penchant.data.normalisation import normalise
from penchant.data.sentences import splitter
from penchant.data.stimuli import StimulusSet
from penchant.data.text_files import Block, Layout, Reader, TextFile, refuse_unreadable, units
from penchant.data.workers import in_order
from penchant.files import replacing

Progress = Callable[[float, float], None]


@dataclass(frozen=True)
class Tokens:
    """How text becomes tokens. `forms`, where given, are surface forms by word: each form in the text becomes the word
    itself, unless two words share it or the word holds white space."""

    language: str = "und"
    layout: Layout = "paragraphs"
    field: str = "text"
    lower: bool = True
    forms: Mapping[str, Sequence[str]] | None = None


def tokens(stimuli: StimulusSet | None, *, forms: bool, language: str | None = None, **settings: Any) -> Tokens:
    """Settings for text in a language, by default that of the stimuli; with `forms`, every form of a stimulus becomes
    the stimulus."""
    own = {normalise(word): stimuli.forms(word) for word in stimuli.words()} if stimuli is not None and forms else None
    return Tokens(language or (stimuli.language if stimuli is not None else "und"), forms=own, **settings)


class Counts(NamedTuple):
    """What was written and what was not read; `replaced` forms became their words, `shared` ones did not."""

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
            matcher = Matcher(settings.forms) if settings.forms is not None else None
            self._tools = splitter(settings.language, settings.layout), matcher
        split, matcher = self._tools
        found = units(block, task.file.kind, layout=settings.layout, field=settings.field)
        lines: list[str] = []
        tokens = replaced = shared = 0
        for line in found.text.split("\n"):
            for sentence in split(line):
                if matcher is not None:
                    own, done, left = _with_words(sentence, matcher)
                    replaced, shared = replaced + done, shared + left
                else:
                    own = words(sentence)
                if own:
                    tokens += len(own)
                    lines.append(" ".join(own))
        text = "".join(f"{line}\n" for line in lines)
        counts = Counts(len(lines), tokens, found.records, found.skipped, replaced, shared)
        return _Lines(block._replace(data=b""), (text.lower() if settings.lower else text).encode(), counts, found.bad)


def _with_words(sentence: str, matcher: Matcher) -> tuple[list[str], int, int]:
    """The tokens of a sentence with forms replaced by their words; how many were, and how many could not be."""
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
    """Write the tokens of the files, single spaces between them, and return what was counted and name, size and SHA-256
    of each file. `progress` as in `extraction.extract`. Raises DataError, MethodError and OutputError."""
    hashes: list[str] = []

    def tasks() -> Iterator[_Task]:
        for number, file in enumerate(files):
            reader = Reader(file, number, layout=settings.layout, field=settings.field)
            yield from (_Task(block, file) for block in reader.blocks())
            hashes.append(reader.sha256)

    total = float(sum(file.size for file in files))
    whole = Counts(0, 0, 0, 0, 0, 0)
    at = (0, 0)
    with replacing(out) as stream:
        for found in in_order(_Tokeniser(settings), tasks(), workers):
            number = found.block.file
            own = found.counts
            refuse_unreadable(found.block.first, found.bad, own.skipped, own.records, files[number], settings.field)
            stream.write(found.text)
            whole = Counts(*(a + b for a, b in zip(whole, found.counts, strict=True)))
            progress(float(found.block.at - (at[1] if at[0] == number else 0)), total)
            at = (number, found.block.at)
    return whole, [file.told(own) for file, own in zip(files, hashes, strict=True)]
