"""Cloze test sets: sentences with one gap, and the valences of the words that may fill it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from penchant.call_checks import asked
from penchant.errors import DataError, line_noun, place
from penchant.files import sha256_file
from penchant.instruments.cloze.five_point_scale import Point, Scale, UndatedPoint, dates_of_half
from penchant.instruments.cloze.rating_formats import AS_NAMED, FIELDS, NAMING, RatingRow, no_sentence
from penchant.letter_case import capitalised
from penchant.plurals import counted, first_of
from penchant.records import Item
from penchant.tables.in_memory import NAME, document_of, path_of
from penchant.tables.rows import read_models, read_rows
from penchant.tables.yaml_json_documents import Names, Text, Written, as_written, read_document
from penchant.text_io import is_directory, stem
from penchant.wording.phrases import Note

SENTENCE = ("id", "text", "expected", "group")
"""Order of the columns in a table of sentences passed from Python without column names."""
GAP = "[MASK]"
OTHER_GAP = re.compile(r"_{2,}|<mask>|\[mask\]|\[ *\]|\{ *\}|\{mask\}|\[blank\]|…|\.{3,}", re.IGNORECASE)
"""Other marks that people use for a gap."""
SET_FILE = "set.yaml"
_SETS = Path(__file__).parent / "sets"
_PREDICTIONS = ("words", "probs", "valences", "sources", "raters", "ratings")
_NUMBERS = ("beta", "delta", "rated_share", "top_share", "rated", "unrated", "pieces")
_NAMED = 3
"""Largest number of sentences that a caution lists."""
RESERVED = frozenset((*_PREDICTIONS, *_NUMBERS))
"""Names of result columns, which a label may not use."""


def _gapped(value: object) -> str:
    text = as_written(value)
    gaps = text.count(GAP)
    if gaps != 1:
        meant = None if gaps else OTHER_GAP.search(text)
        mend = f": write {GAP} for {'___' if meant[0].startswith('__') else meant[0]}" if meant else ""
        raise ValueError(f"a sentence must have exactly one gap {GAP}, but this one has {gaps}{mend}")
    if text == GAP:
        raise ValueError("the sentence has no text besides the gap")
    return text


class GapRow(BaseModel):
    """A row of a table of sentences; further columns become labels of the item."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)
    id: Text
    """A name for the sentence, unique in the table."""
    text: Annotated[str, BeforeValidator(_gapped)]
    """A sentence with exactly one [MASK]."""
    expected: Point
    """ρ, the point of the scale that fits the sentence: −1, −0.5, 0, 0.5 or 1."""
    group: Text
    """The group whose mean includes the sentence; "all" is reserved."""


class LexiconRow(BaseModel):
    """A row of a lexicon; further columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    word: Text
    """A word, unique in the lexicon."""
    valence: UndatedPoint
    """σ, the valence of the word in any sentence: −1, −0.5, 0, 0.5 or 1."""


class CandidateRow(BaseModel):
    """A row of a table of candidate fillers."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    sentence: Text
    """The id of the sentence."""
    word: Written
    """A word that may fill the gap of the sentence."""


class ClozeSetFile(BaseModel):
    """Schema of the file `set.yaml`; paths in it are relative to its directory."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    name: str | None = None
    """The name under which the set is cited. Default: the name of its directory."""
    language: str = "und"
    """BCP 47 tag, such as en or cs. Default: und, undetermined."""
    scale: Scale = Scale()
    """The names of the two ends of the scale."""
    sentences: str = "sentences.csv"
    """The table of sentences. Default: sentences.csv."""
    ratings: Names = []
    """Tables of ratings. Default: none."""
    lexicon: Names = []
    """Lexicons of valences. Default: none."""
    candidates: str | None = None
    """A table of candidate fillers for each sentence. Default: none."""
    statement: str | None = None
    """The data statement. Default: none."""


SCHEMAS: Mapping[str, type[BaseModel]] = {
    SET_FILE: ClozeSetFile,
    "sentences": GapRow,
    "ratings": RatingRow,
    "lexicon": LexiconRow,
    "candidates": CandidateRow,
}


@dataclass(frozen=True, slots=True)
class GapSentence:
    """A sentence with its gap; `expected` is ρ, the point of the scale that fits the sentence.

    The text is `item.texts["text"]`, the group `item.labels["group"]`.
    """

    item: Item
    expected: float

    @property
    def text(self) -> str:
        """The sentence with [MASK] in its gap."""
        return self.item.texts["text"]


@dataclass(frozen=True, slots=True, repr=False)
class ClozeSet:
    """A cloze test set.

    `path` is the table of sentences, `sha256` its hash, `description` the file set.yaml, if any.
    """

    name: str
    language: str
    scale: Scale
    sentences: tuple[GapSentence, ...]
    ratings: tuple[Path, ...]
    lexicon: tuple[Path, ...]
    candidates: Path | None
    path: Path
    sha256: str
    description: Path | None = None

    def __repr__(self) -> str:
        return f"<cloze set {self.name}: {counted(len(self.sentences), 'sentences')}>"

    @property
    def files(self) -> list[Path]:
        """The paths of `set.yaml`, if any, and of all tables of the set."""
        named = [self.description, self.path, *self.ratings, *self.lexicon, self.candidates]
        return [file for file in named if file is not None]


_TABLES = {
    "sentences": SENTENCE,
    "ratings": FIELDS,
    "lexicon": ("word", "valence"),
    "candidates": ("sentence", "word"),
}
"""Tables of a set, and the order of their columns in rows without column names."""


def file_of_set(given: Any) -> Path | None:
    """Return the path of the `set.yaml` of a test set passed as a mapping; None for any other argument.

    The mapping has the keys of `set.yaml`, with tables instead of file names. Raises DataError if a value is invalid.
    """
    if not isinstance(given, Mapping):
        return None
    if not given.keys() & _TABLES.keys() and not any(isinstance(part, Mapping) for part in given.values()):
        return None
    return document_of({"name": NAME, **given}, _TABLES, NAME)


@asked
def read_cloze(path: Any, columns: Mapping[Any, Any] = AS_NAMED) -> ClozeSet:
    """Read a test set from a directory with `set.yaml`, from that file, or from a table of sentences.

    A table is a file, a list of rows, a mapping of columns or a data frame; a set may also be a mapping with the keys
    of `set.yaml` and tables instead of file names. `columns` maps the fields id, text, expected and group to column
    names. Raises DataError naming file, line and field.
    """
    source = file_of_set(path) or path_of(path, SENTENCE, sets=_SETS)
    if is_directory(source):
        source = source / SET_FILE
        if not source.is_file():
            raise DataError(
                f"the directory contains no {SET_FILE}", file=source.parent, hint="see penchant schema cloze"
            )
    if source.suffix not in (".yaml", ".yml"):
        return _set(ClozeSetFile(name=stem(source), sentences=source.name), source.parent, columns)
    description = read_document(source, ClozeSetFile, hint="see penchant schema cloze")
    name = description.name or source.absolute().parent.name
    return replace(_set(description.model_copy(update={"name": name}), source.parent, columns), description=source)


def _set(description: ClozeSetFile, folder: Path, columns: Mapping[Any, str]) -> ClozeSet:
    path = folder / description.sentences
    return ClozeSet(
        str(description.name),
        description.language,
        description.scale,
        _sentences(path, columns),
        tuple(folder / name for name in description.ratings),
        tuple(folder / name for name in description.lexicon),
        folder / description.candidates if description.candidates else None,
        path,
        sha256_file(path),
    )


def _sentences(path: Path, columns: Mapping[Any, str]) -> tuple[GapSentence, ...]:
    rows = read_models(path, GapRow, columns=columns, naming=NAMING)
    if not rows:
        raise DataError("contains no rows", file=path)
    lines: dict[str, int] = {}
    sentences = []
    for line, row in rows:
        taken = RESERVED & (row.__pydantic_extra__ or {}).keys()
        if taken:
            message, hint = "the name is reserved for a column of the results", "give the column another name"
            raise DataError(message, file=path, line=line, field=min(taken), hint=hint)
        if row.id in lines:
            message = f"the sentence has the same id as the one on {line_noun(line)} {lines[row.id]}: '{row.id}'"
            raise DataError(message, file=path, line=line, field="id")
        lines[row.id] = line
        labels = {"group": row.group, **{name: str(value) for name, value in (row.__pydantic_extra__ or {}).items()}}
        sentences.append(GapSentence(Item(row.id, {"text": row.text}, labels, place(path, line)), row.expected))
    return tuple(sentences)


def doubtful_points(test_set: ClozeSet, sentences: Iterable[GapSentence], column: str) -> Iterator[Note | str]:
    """Yield cautions about the expected points in `column`: dates read as ½, and groups with points of both signs."""
    cells = (row.values.get(column) for row in read_rows(test_set.path))
    yield from (f"in the column '{column}' {message}" for message in dates_of_half(cells))
    groups: dict[str, tuple[list[str], list[str]]] = {}
    for sentence in sentences:
        below, above = groups.setdefault(sentence.item.labels["group"], ([], []))
        if sentence.expected:
            (above if sentence.expected > 0 else below).append(sentence.item.id)
    for group, (below, above) in groups.items():
        if below and above:
            rare, side = (below, "below") if len(below) <= len(above) else (above, "above")
            counts = {"below": len(below), "above": len(above)}
            rows = first_of(rare, _NAMED)
            yield Note("cloze.both-ends", group=group, column=column, **counts, side=side, rows=rows)


def read_lexicon(paths: Iterable[str | Path]) -> dict[str, float]:
    """Read lexicons and return the valence of each word. Raises DataError if a word occurs twice."""
    places: dict[str, str] = {}
    valences: dict[str, float] = {}
    for path in paths:
        for line, row in read_models(path, LexiconRow):
            if row.word in valences:
                raise DataError(
                    f"'{row.word}' occurs twice", file=path, line=line, hint=f"it first occurs in {places[row.word]}"
                )
            places[row.word] = place(path, line)
            valences[row.word] = row.valence
    return valences


def read_candidates(path: str | Path, sentences: Iterable[str]) -> dict[str, list[str]]:
    """Return the distinct candidates of each sentence, in file order. Raises DataError for an unknown sentence."""
    known = set(sentences)
    candidates: dict[str, dict[str, None]] = {}
    for line, row in read_models(path, CandidateRow):
        if row.sentence not in known:
            raise no_sentence(row.sentence, path, line)
        candidates.setdefault(row.sentence, {})[row.word] = None
    return {sentence: list(words) for sentence, words in candidates.items()}


def filled(text: str, word: str, language: str = "und") -> str:
    """Return the sentence with the word in its gap, capitalised by the rules of the language if the gap comes first."""
    initial = text.lstrip().startswith(GAP)
    return text.replace(GAP, capitalised(word, language) if initial else word)
