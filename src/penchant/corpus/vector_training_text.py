"""Tokenised running text, one sentence per line, for training word vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from penchant.corpus.block_processing import Pass, Progress
from penchant.corpus.lines_and_sentences import Units, splitter
from penchant.corpus.nfc import normalise
from penchant.corpus.stimulus_sets import StimulusSet
from penchant.corpus.text_files import Layout, TextFile
from penchant.corpus.word_matching import Matcher, words
from penchant.files import replacing
from penchant.letter_case import lowered


@dataclass(frozen=True)
class TokenSettings:
    """Settings of tokenisation for training.

    `forms`, if given, has the surface forms of each word: every form in the text is replaced by its word, unless two
    words share the form or the word contains white space.
    """

    language: str = "und"
    layout: Layout = "paragraphs"
    field: str = "text"
    lower: bool = True
    forms: Mapping[str, Sequence[str]] | None = None


def tokens(stimuli: StimulusSet | None, *, forms: bool, language: str | None = None, **settings: Any) -> TokenSettings:
    """Return the settings for tokenising text in a language, which defaults to the language of the stimuli.

    If `forms` is true, every form of a stimulus is replaced by the stimulus.
    """
    if stimuli is None:
        return TokenSettings(language or "und", **settings)
    by_word = {normalise(word): stimuli.forms(word) for word in stimuli.words()} if forms else None
    return TokenSettings(language or stimuli.language, forms=by_word, **settings)


class WrittenCounts(NamedTuple):
    """Counts from `write_tokens`.

    `replaced` counts forms replaced by their word, and `shared` counts forms that were not replaced because several
    words share them or because their word contains white space.
    """

    sentences: int
    tokens: int
    records: int
    skipped: int
    replaced: int
    shared: int


class _Tokeniser:
    def __init__(self, settings: TokenSettings) -> None:
        self.settings = settings
        self.split = splitter(settings.language, settings.layout)
        self.matcher = Matcher(settings.forms, settings.language) if settings.forms is not None else None

    def __call__(self, lines: Units) -> tuple[bytes, Counter[str]]:
        """Return the tokenised sentences of a block, one per line, and counts named as in `WrittenCounts`."""
        sentences: list[str] = []
        counts = Counter[str]()
        for line in lines.text.split("\n"):
            for sentence in self.split(line):
                tokens = words(sentence) if self.matcher is None else _with_words(sentence, self.matcher, counts)
                counts["tokens"] += len(tokens)
                if tokens:
                    sentences.append(" ".join(tokens))
        counts["sentences"] = len(sentences)
        text = "".join(f"{sentence}\n" for sentence in sentences)
        if self.settings.lower:
            text = normalise(lowered(text, self.settings.language))
        return text.encode(), counts


def _with_words(sentence: str, matcher: Matcher, counts: Counter[str]) -> list[str]:
    """Tokenise a sentence with forms replaced by their words, and count the replacements."""
    places: dict[tuple[int, int], list[str]] = {}
    for word, start, end in sorted(matcher.find(sentence), key=lambda match: (match.start, -match.end)):
        places.setdefault((start, end), []).append(word)
    tokens: list[str] = []
    at = 0
    for (start, end), owners in places.items():
        if start < at:
            continue
        if len(owners) > 1 or len(owners[0].split()) > 1:
            counts["shared"] += 1
            continue
        tokens += [*words(sentence[at:start]), owners[0]]
        counts["replaced"] += 1
        at = end
    return tokens + words(sentence[at:])


def write_tokens(
    settings: TokenSettings,
    files: Sequence[TextFile],
    out: str | Path,
    *,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> tuple[WrittenCounts, list[dict[str, Any]]]:
    """Write the tokens of the files, separated by single spaces, with one sentence per line.

    Returns the counts, and the name, size and SHA-256 of each file. Raises DataError if a text cannot be read,
    MethodError if a package is missing, and OutputError if `out` cannot be written.
    """
    text = Pass(files, settings.layout, settings.field)
    totals = Counter[str]()
    with replacing(out) as stream:
        for data, counts in text.found(partial(_Tokeniser, settings), workers=workers, progress=progress):
            stream.write(data)
            totals.update(counts)
    totals.update(records=text.records, skipped=text.skipped)
    return WrittenCounts(**{name: totals[name] for name in WrittenCounts._fields}), text.texts()
