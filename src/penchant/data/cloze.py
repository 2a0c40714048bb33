"""Cloze test sets: sentences with one gap on a bipolar scale between two varieties, and what words are worth on it.

A test set is a directory with `set.yaml` (see `SetFile`), or just a table of sentences. The scale runs from −1 (`low`,
the first variety) over 0 (both) to 1 (`high`) in five points; any language, any two varieties.

    sentences    id, text (one [MASK]), expected (the point the gap should be filled at), group, any further columns
    ratings      sentence, word, rater, rating: what one rater says a word is worth in one sentence
    lexicon      word, valence: what a word is worth in every sentence
    candidates   sentence, word: a closed list of fillers for each sentence
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from penchant.data.documents import Text, as_text, read_document
from penchant.data.tables import read_models
from penchant.errors import DataError
from penchant.files import sha256_file
from penchant.records import Item

GAP = "[MASK]"
POINTS = (-1.0, -0.5, 0.0, 0.5, 1.0)
SET_FILE = "set.yaml"
RESERVED = frozenset(
    ("words", "probs", "valences", "sources", "beta", "delta", "rated_mass", "top_mass", "rated", "unrated", "pieces")
)
"""Columns of the results, which no label may be called."""


def _point(value: object) -> float:
    """One of the five points, as people and spreadsheets write it: −1, -0,5, +1."""
    text = str(value).strip().replace("−", "-").replace(",", ".").replace("½", "0.5")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if isinstance(value, bool) or number not in POINTS:
        raise ValueError(f"a point of the scale is −1, −0.5, 0, 0.5 or 1, got {value!r}")
    return number + 0.0  # −0 is 0


def _gapped(value: object) -> str:
    text = as_text(value)
    gaps = text.count(GAP)
    if gaps != 1:
        raise ValueError(f"a sentence has exactly one gap {GAP}, this one has {gaps}")
    if text == GAP:
        raise ValueError("there is nothing but the gap")
    return text


Point = Annotated[float, BeforeValidator(_point), WithJsonSchema({"enum": list(POINTS)})]


class SentenceRow(BaseModel):
    """A row of a table of sentences; further columns become labels of the item."""

    model_config = ConfigDict(extra="allow")
    id: Text
    text: Annotated[str, BeforeValidator(_gapped), Field(description=f"a sentence with exactly one {GAP}")]
    expected: Annotated[Point, Field(description="ρ, the point of the scale the sentence calls for")]
    group: Text


class RatingRow(BaseModel):
    """A row of a table of ratings; further columns are not looked at."""

    sentence: Annotated[Text, Field(description="id of the sentence")]
    word: Text
    rater: Text
    rating: Annotated[Point, Field(description="σ, what the word is worth in this sentence")]


class ReturnedRow(BaseModel):
    """A row that comes back from a rater; a rating that was left empty is none."""

    sentence: Text
    word: Text
    text: Text | None = None
    rater: Text | None = None
    rating: Point | None = None


class LexiconRow(BaseModel):
    """A row of a lexicon; further columns are not looked at."""

    word: Text
    valence: Annotated[Point, Field(description="σ, what the word is worth in any sentence")]


class CandidateRow(BaseModel):
    """A row of a table of candidate fillers."""

    sentence: Annotated[Text, Field(description="id of the sentence")]
    word: Text


class Scale(BaseModel):
    """What the two ends of the scale are called."""

    model_config = ConfigDict(extra="forbid")
    low: str = "−1"
    high: str = "+1"


class SetFile(BaseModel):
    """`set.yaml`. Paths are relative to it."""

    model_config = ConfigDict(extra="forbid")
    name: str | None = None
    language: Annotated[str, Field(description="BCP 47 tag, such as en or cs")] = "und"
    scale: Scale = Scale()
    sentences: str = "sentences.csv"
    ratings: list[str] = []
    lexicon: list[str] = []
    candidates: str | None = None
    statement: Annotated[str | None, Field(description="the data statement")] = None


SCHEMAS: Mapping[str, type[BaseModel]] = {
    SET_FILE: SetFile,
    "sentences": SentenceRow,
    "ratings": RatingRow,
    "lexicon": LexiconRow,
    "candidates": CandidateRow,
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """One item: its text is `item.texts["text"]`, its group `item.labels["group"]`, its ρ `expected`."""

    item: Item
    expected: float

    @property
    def text(self) -> str:
        return self.item.texts["text"]


@dataclass(frozen=True, slots=True)
class Rating:
    """What one rater says; `place` names file and line."""

    sentence: str
    word: str
    rater: str
    value: float
    place: str


@dataclass(frozen=True, slots=True)
class ClozeSet:
    """A test set as it was read. `files` are all its tables, `sha256` the hash of the sentences' file."""

    name: str
    language: str
    scale: Scale
    sentences: tuple[Sentence, ...]
    ratings: tuple[Path, ...]
    lexicon: tuple[Path, ...]
    candidates: Path | None
    path: Path
    sha256: str

    @property
    def files(self) -> list[Path]:
        return [self.path, *self.ratings, *self.lexicon, *([self.candidates] if self.candidates else [])]


def read_cloze(path: str | Path) -> ClozeSet:
    """The test set in a directory with `set.yaml`, of such a file, or of a table of sentences alone.

    Raises DataError naming file, line and field.
    """
    place = Path(path)
    if place.is_dir():
        place = place / SET_FILE
        if not place.is_file():
            raise DataError(f"the directory holds no {SET_FILE}", file=path, hint="see penchant schema cloze")
    if place.suffix not in (".yaml", ".yml"):
        return _set(SetFile(name=place.stem, sentences=place.name), place.parent)
    given = read_document(place, SetFile, hint="see penchant schema cloze")
    return _set(given if given.name else given.model_copy(update={"name": place.absolute().parent.name}), place.parent)


def _set(given: SetFile, folder: Path) -> ClozeSet:
    path = folder / given.sentences
    return ClozeSet(
        str(given.name),
        given.language,
        given.scale,
        _sentences(path),
        tuple(folder / name for name in given.ratings),
        tuple(folder / name for name in given.lexicon),
        folder / given.candidates if given.candidates else None,
        path,
        sha256_file(path),
    )


def _sentences(path: Path) -> tuple[Sentence, ...]:
    rows = read_models(path, SentenceRow)
    if not rows:
        raise DataError("holds no rows", file=path)
    lines: dict[str, int] = {}
    found = []
    for line, row in rows:
        taken = RESERVED & (row.__pydantic_extra__ or {}).keys()
        if taken:
            raise DataError(
                "the results have a column of that name",
                file=path,
                line=line,
                field=min(taken),
                hint="give the column another name",
            )
        if row.id in lines:
            raise DataError(
                f"the sentence has the same id as the one on line {lines[row.id]}: '{row.id}'",
                file=path,
                line=line,
                field="id",
            )
        lines[row.id] = line
        labels = {"group": row.group, **{name: str(value) for name, value in (row.__pydantic_extra__ or {}).items()}}
        found.append(Sentence(Item(row.id, {"text": row.text}, labels, f"{path}, line {line}"), row.expected))
    return tuple(found)


def require_sentence(id_: str, known: Container[str], path: str | Path, line: int) -> None:
    """Raise DataError, with the place, unless there is a sentence of that id."""
    if id_ not in known:
        raise DataError(
            f"there is no sentence '{id_}'",
            file=path,
            line=line,
            field="sentence",
            hint="name sentences by the id in the test set",
        )


def read_ratings(paths: Iterable[str | Path], sentences: Iterable[str] | None = None) -> list[Rating]:
    """The ratings of some files. Raises DataError for a sentence that is not among `sentences`, and for two ratings of
    one word in one sentence by the same rater."""
    known = None if sentences is None else set(sentences)
    seen: dict[tuple[str, str, str], str] = {}
    found = []
    for path in paths:
        for line, row in read_models(path, RatingRow):
            if known is not None:
                require_sentence(row.sentence, known, path, line)
            place = f"{path}, line {line}"
            key = (row.sentence, row.word, row.rater)
            if key in seen:
                raise DataError(
                    f"{row.rater} rates '{row.word}' in sentence {row.sentence} a second time",
                    file=path,
                    line=line,
                    hint=f"the first is in {seen[key]}",
                )
            seen[key] = place
            found.append(Rating(row.sentence, row.word, row.rater, row.rating, place))
    return found


def read_lexicon(paths: Iterable[str | Path]) -> dict[str, float]:
    """Valences by word. Raises DataError for a word that occurs twice."""
    places: dict[str, str] = {}
    found: dict[str, float] = {}
    for path in paths:
        for line, row in read_models(path, LexiconRow):
            if row.word in found:
                raise DataError(
                    f"'{row.word}' occurs twice", file=path, line=line, hint=f"the first is in {places[row.word]}"
                )
            places[row.word] = f"{path}, line {line}"
            found[row.word] = row.valence
    return found


def read_candidates(path: str | Path, sentences: Iterable[str]) -> dict[str, list[str]]:
    """Candidate fillers by sentence, each once, in the file's order. Raises DataError for an unknown sentence."""
    known = set(sentences)
    found: dict[str, dict[str, None]] = {}
    for line, row in read_models(path, CandidateRow):
        require_sentence(row.sentence, known, path, line)
        found.setdefault(row.sentence, {})[row.word] = None
    return {sentence: list(words) for sentence, words in found.items()}


def cited(paths: Sequence[Path]) -> str:
    """Files in a signature: their names and the first digits of a hash over all of them."""
    if not paths:
        return "none"
    digest = hashlib.sha256("".join(sha256_file(path) for path in paths).encode()).hexdigest()
    return f"{'+'.join(path.stem for path in paths)}#{digest[:6]}"


def schemas() -> dict[str, Any]:
    """The JSON schemas of `set.yaml` and of a row of each table."""
    return {name: model.model_json_schema() for name, model in SCHEMAS.items()}
