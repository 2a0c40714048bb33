"""Search for words in blocks of a corpus: counts of occurrences, and candidates for sampling."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.corpus.aho_corasick import Integers
from penchant.corpus.lines_and_sentences import Units, units
from penchant.corpus.nfc import normalise
from penchant.corpus.occurrence_columns import SCHEMA, Segment, segments
from penchant.corpus.priority_sampling import priorities
from penchant.corpus.sentence_hits import HitFinder, Hits, Sentences
from penchant.corpus.text_files import Block, Layout, TextFile, check_layout
from penchant.corpus.text_folding import fold_all
from penchant.corpus.word_matching import count_words_of
from penchant.errors import MethodError, one_of
from penchant.unicode_spellings import Alignment

if TYPE_CHECKING:
    from penchant.corpus.stimulus_sets import StimulusSet

Duplicates = Literal["near", "exact", "keep"]
LONGEST = 20_000
"""Maximum number of characters in a sentence; longer ones are assumed to be lists or tables."""
DUPLICATES: tuple[str, ...] = get_args(Duplicates)
"""Repeated sentences to drop: near duplicates, exact duplicates (ignoring white space), or none."""


@dataclass(frozen=True)
class Extraction:
    """Settings of an extraction: the words to search for, and how many occurrences of each word to keep.

    `forms` maps each word to its surface forms. `segments` are bounds of sentence-length bins in words (see
    `occurrence_columns.segments`), or "all" for a single bin. At most `per_word` occurrences of a word are kept in each
    bin; words with fewer than `minimum` kept in a bin are reported. `field` is the text field of JSON lines or the text
    column of Parquet files.
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
        """The sentence-length bins. Raises MethodError if a segment is invalid."""
        return (Segment("all", None, 1, None),) if self.segments == ("all",) else segments(self.segments, "bin")

    def recipe(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
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
    """Return the extraction settings for a stimulus set. Raises MethodError if a setting is invalid.

    By default, the words are taken from the CEAT categories (or from all categories if none is for CEAT), and the
    language from the set.
    """
    check_layout(settings.get("layout", "paragraphs"))
    if settings.get("duplicates", "near") not in DUPLICATES:
        raise MethodError(
            f"unknown value '{settings['duplicates']}' for duplicates",
            hint=one_of(str(settings["duplicates"]), DUPLICATES),
        )
    bounds = tuple(int(bound) if isinstance(bound, str) and bound.isdecimal() else bound for bound in segments)
    settings["language"] = settings.get("language") or stimuli.language
    if words is None:
        categories = [category for category in stimuli.categories if "ceat" in category.measures]
        words = [word for category in categories for word_list in category.lists() for word in word_list.words]
        words = words or stimuli.words()
    result = Extraction({normalise(word): stimuli.forms(word) for word in words}, segments=bounds, **settings)
    result.bins  # noqa: B018 (raises MethodError for invalid segments)
    return result


ROWS: Mapping[str, Any] = {"cell": pl.Int32, "priority": pl.UInt64, **SCHEMA}
"""Columns of candidate occurrences; `cell` is (word index) × (number of segments) + (segment index)."""


@dataclass(slots=True)
class Tally:
    """Counts of an extraction.

    `forms` counts occurrences by (word, form, segment). `sentences` counts the sentences that contain a word, including
    the `too_long` sentences, which are outside all segments or longer than `LONGEST` characters. `records` counts the
    records read, including the `skipped` records, which have no readable text.
    """

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
        """Return the counts as JSON values."""
        counts = [[*key, n] for key, n in sorted(self.forms.items())]
        rest = {name: getattr(self, name) for name in ("sentences", "too_long", "skipped", "records")}
        return {"forms": counts, **rest}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Tally:
        """Restore a tally from the output of `to_json`."""
        forms = Counter({(word, form, segment): n for word, form, segment, n in values["forms"]})
        return cls(forms, **{name: values[name] for name in ("sentences", "too_long", "skipped", "records")})


# One block --------------------------------------------------------------------------------------------------------


class BlockTask(NamedTuple):
    """Block of a file to search, and the highest sampling priority still accepted for each word and segment."""

    block: Block
    file: TextFile
    highest: NDArray[np.uint64]


class BlockResult(NamedTuple):
    """Search result of a block.

    `rows` has the occurrences that may enter a sample, with the columns of `ROWS`. `block` is returned without its
    data, which had `size` bytes; `bad` is the number of the first unreadable record, or 0 if there is none.
    """

    block: Block
    size: int
    tally: Tally
    rows: pl.DataFrame
    bad: int


class Finder:
    """Picklable function that searches a block for the words of an extraction."""

    def __init__(self, settings: Extraction) -> None:
        self.settings = settings
        self._words = list(settings.forms)

    def __reduce__(self) -> tuple[type[Finder], tuple[Extraction]]:
        return Finder, (self.settings,)

    def __call__(self, task: BlockTask) -> BlockResult:
        """Return the counts of all occurrences in a block, and the occurrences that may enter a sample."""
        settings, block = self.settings, task.block
        lines = units(block, task.file.kind, layout=settings.layout, field=settings.field)
        sentences, hits = self._hits.find(lines.text)
        words = count_words_of(sentences.texts)
        segment = self._segments(sentences.texts, words)
        hits = hits.at(np.flatnonzero(segment[hits.sentences] >= 0))
        tally = Tally(skipped=lines.skipped, records=lines.records, sentences=len(words))
        tally.too_long = int((segment < 0).sum())
        tally.forms = self._counts(hits, segment)
        names = _Names(sentences, lines, task.file.name, numbered=settings.layout != "sentences")
        ranks = self._priorities(sentences, hits, names)
        cells = hits.words * len(settings.bins) + segment[hits.sentences]
        able = np.flatnonzero(ranks <= task.highest[cells])
        rows = self._rows(cells[able], ranks[able], hits.at(able), sentences, words, names)
        if lines.written is not lines.text:
            rows = _as_written(rows, lines, sentences, hits.sentences[able])
        size = len(block.data) if isinstance(block.data, bytes) else len(lines.text)
        return BlockResult(block._replace(data=b""), size, tally, rows, lines.bad)

    @cached_property
    def _hits(self) -> HitFinder:
        return HitFinder(self.settings.forms, self.settings.language, self.settings.layout)

    def _segments(self, texts: Sequence[str], words: Integers) -> Integers:
        segment = np.full(len(texts), -1)
        for number, part in reversed([*enumerate(self.settings.bins)]):
            segment[(words >= part.low) & (words <= (part.high or words))] = number
        segment[np.array([*map(len, texts)], np.int64) > LONGEST] = -1
        return segment

    def _counts(self, hits: Hits, segment: Integers) -> Counter[tuple[str, str, str]]:
        forms, bins = self._hits.forms, self.settings.bins
        keys = (hits.words * len(forms) + hits.forms) * len(bins) + segment[hits.sentences]
        counted = Counter[tuple[str, str, str]]()
        for key, n in zip(*(column.tolist() for column in np.unique(keys, return_counts=True)), strict=True):
            rest, number = divmod(key, len(bins))
            word, form = divmod(rest, len(forms))
            counted[self._words[word], forms[form], bins[number].name] = n
        return counted

    def _priorities(self, sentences: Sentences, hits: Hits, names: _Names) -> NDArray[np.uint64]:
        """Return each hit's pseudorandom sampling priority: a hash of its word, its sentence and its `_nth` number."""
        used, sentence = np.unique(hits.sentences, return_inverse=True)
        match self.settings.duplicates:
            case "near":
                contents = fold_all([sentences.texts[number] for number in used.tolist()])
            case "exact":
                contents = [" ".join(sentences.texts[number].split()) for number in used.tolist()]
            case "keep":
                contents = names.of(used)
        encoded = [content.encode("utf-8", "surrogatepass") for content in contents]
        return priorities(
            self.settings.seed,
            [self._words[number] for number in hits.words.tolist()],
            _nth(hits).tolist(),
            [encoded[number] for number in sentence.tolist()],
        )

    def _rows(
        self,
        cells: Integers,
        ranks: NDArray[np.uint64],
        hits: Hits,
        sentences: Sentences,
        words: Integers,
        names: _Names,
    ) -> pl.DataFrame:
        used, sentence = np.unique(hits.sentences, return_inverse=True)
        texts = [sentences.texts[number] for number in used.tolist()]
        columns = {
            "cell": cells.astype(np.int32),
            "priority": ranks,
            "id": pl.Series(names.of(used), dtype=pl.String)[sentence],
            "word": pl.Series(self._words, dtype=pl.String)[hits.words],
            "text": pl.Series(texts, dtype=pl.String)[sentence],
            "start": hits.starts,
            "end": hits.ends,
            "matched": pl.Series(self._hits.forms, dtype=pl.String)[hits.forms],
            "words": words[hits.sentences],
            "source": pl.repeat(names.file, len(sentence), eager=True),
        }
        return pl.DataFrame(columns, schema=ROWS)


class _Names(NamedTuple):
    """Builder of sentence ids from the file name, record number, line number and (if `numbered`) sentence number."""

    sentences: Sentences
    lines: Units
    file: str
    numbered: bool

    def of(self, places: Integers) -> list[str]:
        numbers, names = self.lines.numbers, []
        for line, nth in zip(
            self.sentences.lines[places].tolist(), self.sentences.numbers[places].tolist(), strict=True
        ):
            record = numbers[line]
            name = f"{self.file}:{record}"
            if line and numbers[line - 1] == record:
                name += f".{line - bisect.bisect_left(numbers, record) + 1}"
            names.append(f"{name}:{nth}" if self.numbered else name)
        return names


def _nth(hits: Hits) -> Integers:
    """Return, for each hit, the number of earlier hits of the same word in the same sentence."""
    order = np.lexsort((hits.words, hits.sentences))  # stable: hits of the same word stay in order
    place = np.arange(len(order))
    new = np.ones(len(order), np.bool_)
    new[1:] = np.logical_or(*(np.diff(column[order]) != 0 for column in (hits.words, hits.sentences)))
    nth = np.empty_like(place)
    nth[order] = place - np.maximum.accumulate(np.where(new, place, 0))
    return nth


def _as_written(rows: pl.DataFrame, lines: Units, sentences: Sentences, of_row: Integers) -> pl.DataFrame:
    """Convert texts and offsets from NFC to the spelling of the file; `of_row[i]` is the sentence index of row i."""
    composed, written = lines.text.split("\n"), lines.written.split("\n")
    changed: dict[int, Alignment] = {}
    places: list[tuple[str, int, int, str]] = []
    columns = rows.select("text", "start", "end", "matched").iter_rows()
    for number, (text, start, end, matched) in zip(of_row.tolist(), columns, strict=True):
        line, at = int(sentences.lines[number]), int(sentences.starts[number])
        if composed[line] == written[line]:
            places.append((text, start, end, matched))
            continue
        if line not in changed:
            changed[line] = Alignment(composed[line], written[line])
        first, last = changed[line].span(at, at + len(text))
        begin, stop = changed[line].span(at + start, at + end)
        places.append((written[line][first:last], begin - first, stop - first, written[line][begin:stop]))
    schema = {name: rows.schema[name] for name in ("text", "start", "end", "matched")}
    return rows.with_columns(pl.DataFrame(places, schema=schema, orient="row").get_columns())
