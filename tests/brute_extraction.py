"""Occurrences of words in a corpus, found slowly: one regular expression a word, over whole sentences, in plain steps.

Shares nothing with `penchant.corpus`: its own idea of a word's characters, of lines and paragraphs, of words in a
sentence, of segments and of the sample.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import regex

LETTERS = r"\p{Lu}\p{Ll}\p{Lt}\p{Lm}\p{Lo}"
MARKS = r"\p{Mn}\p{Mc}\p{Me}"
DIGITS = r"\p{Nd}\p{Nl}\p{No}"
JOINERS = "\u200c\u200d"
INSIDE = LETTERS + MARKS + DIGITS + JOINERS

Forms = Mapping[str, Sequence[str]]
Segment = tuple[str, int, int | None]
"""Name, fewest and most words."""
ALL: tuple[Segment, ...] = (("all", 1, None),)


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def in_word(character: str) -> bool:
    """By Unicode's general category: letters, marks, numbers; and the two joiners."""
    return unicodedata.category(character)[0] in "LMN" or character in ("\u200c", "\u200d")


def count_words(text: str) -> int:
    """Count the parts between white space that hold a character of words."""
    return sum(any(in_word(character) for character in chunk) for chunk in text.split())


# Words in sentences -----------------------------------------------------------------------------------------------


class Searcher:
    """One regular expression a word, its forms from the longest to the shortest; of words that `text` may hold."""

    def __init__(self, forms: Forms, text: str) -> None:
        self.anywhere: dict[str, regex.Pattern[str]] = {}
        self.beginning: dict[str, regex.Pattern[str]] = {}
        for word, surfaces in forms.items():
            own = [nfc(surface) for surface in surfaces]
            if any(form in text for form in own):
                self.anywhere[word] = self._pattern(own)
            capitals = [nfc(form[0].upper() + form[1:]) for form in own if form[0].islower()]
            if any(form in text for form in capitals):
                self.beginning[word] = self._pattern(capitals)
        self.words = [word for word in forms if word in self.anywhere or word in self.beginning]

    @staticmethod
    def _pattern(forms: Sequence[str]) -> regex.Pattern[str]:
        longest = sorted(set(forms), key=len, reverse=True)
        either = "|".join(map(regex.escape, longest))
        return regex.compile(f"(?<![{INSIDE}])(?:{either})(?![{INSIDE}])")

    def find(self, sentence: str) -> list[tuple[str, int, int]]:
        """Word, start, end; by start, end and the order of the words."""
        first = next((at for at, character in enumerate(sentence) if in_word(character)), None)
        found = []
        for number, word in enumerate(self.words):
            ends = {}
            if word in self.anywhere:
                ends = {hit.start(): hit.end() for hit in self.anywhere[word].finditer(sentence, overlapped=True)}
            if word in self.beginning and first is not None:
                hit = self.beginning[word].match(sentence, first)
                if hit:
                    ends[first] = max(hit.end(), ends.get(first, 0))
            found += [(start, end, number, word) for start, end in ends.items()]
        return [(word, start, end) for start, end, _, word in sorted(found)]


# Lines ------------------------------------------------------------------------------------------------------------


@dataclass
class Lines:
    """Record number, number of the part in it from 1, text; and what could not be read."""

    parts: list[tuple[int, int, str]] = field(default_factory=list)
    records: int = 0
    skipped: list[int] = field(default_factory=list)

    def nonblank(self) -> list[tuple[int, str]]:
        return [(number, text) for number, _, text in self.parts if text.strip()]


def _decode(raw: bytes) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _joined(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Paragraphs between blank lines, and the index of their first lines."""
    own: list[str] = []
    for at, line in enumerate([*lines, ""]):
        if line.strip():
            own.append(line.strip())
        elif own:
            yield at - len(own), " ".join(own)
            own = []


def text_lines(data: bytes, *, wrapped: bool = False) -> Lines:
    """The lines of plain text, or its paragraphs, each under the number of its first line."""
    raw = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if raw[-1] == b"":
        raw.pop()
    decoded = [_decode(line) for line in raw]
    found = Lines(records=len(raw), skipped=[at for at, line in enumerate(decoded, 1) if line is None])
    if wrapped:
        found.parts = [(at + 1, 1, nfc(text)) for at, text in _joined([line or "" for line in decoded])]
    else:
        found.parts = [(at, 1, nfc(line or "")) for at, line in enumerate(decoded, 1)]
    return found


def json_lines(data: bytes, field: str = "text", *, wrapped: bool = False) -> Lines:
    """The lines of the texts in JSON lines."""
    raw = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if raw[-1] == b"":
        raw.pop()
    texts: list[str | None] = []
    for line in raw:
        decoded = _decode(line)
        try:
            value = (
                "" if decoded is not None and not decoded.strip(" \t\r\v\f") else json.loads(decoded or "none")[field]
            )
        except (ValueError, TypeError, KeyError):
            value = None
        good = isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)
        texts.append(value if good else None)
    found = rows(texts, wrapped=wrapped)
    found.records -= sum(not line.strip() for line in raw)  # a blank line is no record
    return found


def rows(texts: Sequence[str | None], *, wrapped: bool = False) -> Lines:
    """The lines of the texts of rows."""
    found = Lines(records=len(texts))
    for number, text in enumerate(texts, 1):
        if text is None:
            found.skipped.append(number)
        elif text:
            lines = text.split("\n")
            own = [paragraph for _, paragraph in _joined(lines)] if wrapped else lines
            found.parts += [(number, part, nfc(line)) for part, line in enumerate(own, 1)]
    return found


# The table --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Occurrence:
    """A row of the table; `nth` is which of the same word in the same sentence it is, from 0."""

    id: str
    word: str
    text: str
    start: int
    end: int
    matched: str
    words: int
    source: str
    segment: str
    nth: int

    def row(self) -> tuple[str, str, str, int, int, str, int, str]:
        """As `penchant.corpus.occurrence_columns.SCHEMA` has it."""
        return self.id, self.word, self.text, self.start, self.end, self.matched, self.words, self.source


@dataclass
class Corpus:
    """All that files hold: the occurrences in their order, and what is counted beside them."""

    occurrences: list[Occurrence] = field(default_factory=list)
    sentences: int = 0
    too_long: int = 0

    def counts(self) -> Counter[tuple[str, str, str]]:
        """Occurrences by word, form and segment."""
        return Counter((own.word, own.matched, own.segment) for own in self.occurrences)


def search(
    files: Mapping[str, Lines],
    forms: Forms,
    *,
    split: Callable[[str], list[str]] | None = None,
    segments: Sequence[Segment] = ALL,
) -> Corpus:
    """The occurrences in the lines of files; `split` makes sentences of a line, which is one itself without."""
    searcher = Searcher(forms, "\n".join(line for lines in files.values() for _, _, line in lines.parts))
    corpus = Corpus()
    for name, lines in files.items():
        for number, part, line in lines.parts:
            place = f"{name}:{number}" + (f".{part}" if part > 1 else "")
            sentences = [s for piece in split(line) if (s := piece.strip())] if split else [line.strip()]
            for at, sentence in enumerate(sentences, 1):
                found = searcher.find(sentence)
                if not found:
                    continue
                corpus.sentences += 1
                words = count_words(sentence)
                fitting = [own for own, low, high in segments if low <= words and (high is None or words <= high)]
                if not fitting:
                    corpus.too_long += 1
                    continue
                before: Counter[str] = Counter()
                for word, start, end in found:
                    own = f"{place}:{at}" if split else place
                    row = (own, word, sentence, start, end, sentence[start:end], words, name)
                    corpus.occurrences.append(Occurrence(*row, fitting[0], before[word]))
                    before[word] += 1
    return corpus


def priority(seed: int, *parts: str) -> int:
    """The first eight bytes of BLAKE2b, of length 8, over what is told, the lowest first."""
    told = "\x00".join([str(seed), *parts]).encode()
    digest = hashlib.blake2b(told, digest_size=8).digest()
    return sum(byte << (8 * place) for place, byte in enumerate(digest))


def sample(
    corpus: Corpus, forms: Forms, *, per_word: int, seed: int, keep: bool = False, segments: Sequence[Segment] = ALL
) -> list[Occurrence]:
    """Of each word and segment the occurrences with the smallest priorities; of equal sentences the first, unless all
    are to be kept."""
    cells: dict[tuple[str, str], dict[int, Occurrence]] = {}
    for word in forms:
        for name, _, _ in segments:
            cells[word, name] = {}
    for own in corpus.occurrences:
        told = own.id if keep else " ".join(own.text.split())
        cells[own.word, own.segment].setdefault(priority(seed, own.word, str(own.nth), told), own)
    return [found[rank] for found in cells.values() for rank in sorted(found)[:per_word]]
