"""Sentences with people's judgements: one row per judgement, or one row per sentence with its mean rating."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from penchant.errors import DataError, place, together
from penchant.files import sha256_file
from penchant.tables.data_cautions import counted_apart
from penchant.tables.footer_rows import footer
from penchant.tables.missing_values import missing_cautions
from penchant.tables.rater_judgements import ByRater
from penchant.tables.rows import checked_models, read_rows
from penchant.tables.yaml_json_documents import SETTINGS, Number, Text
from penchant.text_io import stem
from penchant.wording import templates
from penchant.wording.phrases import Note

_WORDS = templates.Text.of(Path(__file__).parent).below("cautions")
SENTENCE = ("sentence", "rating")
"""Default column names for judgements passed from Python as unnamed rows."""


def _as_written(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a string, got {value!r}")
    if not value.strip():
        raise ValueError("the text is blank")
    return value


class JudgedSentenceRow(BaseModel):
    """A row of a table of judged sentences; other columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True, allow_inf_nan=False)
    sentence: Annotated[str, BeforeValidator(_as_written)]
    """The sentence, scored exactly as written."""
    rating: Number | None = None
    """The acceptability rating, on any scale; higher is better. Empty cells are ignored."""
    rater: Text | None = None
    """The name of the rater, who judges each sentence at most once. Without rater names, each sentence has one row."""
    prefix: str | None = None
    """A text that precedes the sentence, joined to it unchanged and not scored."""


class AcceptabilityColumns(BaseModel):
    """Column names of a table of judged sentences."""

    model_config = ConfigDict(**SETTINGS, str_strip_whitespace=True)
    sentence: str = "sentence"
    """The sentence. Default: sentence."""
    rating: str = "rating"
    """The acceptability rating. Default: rating."""
    rater: str = "rater"
    """The rater, if the table has this column. Default: rater."""
    prefix: str = "prefix"
    """The text that precedes a sentence, if the table has this column. Default: prefix."""


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """A sentence with its judgements, as pairs of rater number and rating."""

    id: str
    sentence: str
    prefix: str
    place: str
    ratings: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True, repr=False)
class JudgedSet:
    """The judged sentences of a table. `raters` is the number of raters, or 0 if the table has no rater names."""

    name: str
    path: Path
    sha256: str
    sentences: tuple[JudgedSentence, ...]
    raters: int
    cautions: tuple[Note | str, ...]

    def __repr__(self) -> str:
        return f"<judged sentences {self.name}: {len(self.sentences):,}, {self.raters} raters>"


def read_judged(path: Path, columns: AcceptabilityColumns) -> JudgedSet:
    """Read a table of judged sentences.

    Raises DataError for an invalid cell, a sentence judged twice by the same rater, raters in only some rows, or no
    judgement at all. The error names file, line and field; its notes list all other errors.
    """
    named = {name: column for name, column in dict(columns).items() if name != column}
    rows, errors = checked_models(path, JudgedSentenceRow, guarded=True, columns=named, naming="columns: {FIELD: …}")
    below = footer(read_rows(path), path) if rows else None
    errors += [below] if below is not None else []
    places: dict[tuple[str, str], str] = {}
    judged: ByRater[tuple[str, str]] = ByRater()
    anonymous = {row.rater is None for _, row in rows}
    if len(anonymous) > 1:
        line = next(line for line, row in rows if row.rater is None)
        message = "the rater is missing, but other rows have one"
        errors.append(DataError(message, file=path, line=line, field=columns.rater))
    unrated = 0
    for line, row in rows:
        key = row.prefix or "", row.sentence
        places.setdefault(key, place(path, line))
        if row.rating is None:
            unrated += 1
        elif again := judged.add(key, row.rater or "", row.rating, path, line, called="the sentence"):
            errors.append(again)
    if errors:
        raise together(errors)
    if not judged.of:
        raise DataError("contains no judgement", file=path, hint=f"fill the column {columns.rating} with ratings")
    raters, ratings = judged.raters(), judged.numbered()
    kept = [key for key in places if key in ratings]
    sentences = tuple(
        JudgedSentence(str(n), key[1], key[0], places[key], ratings[key]) for n, key in enumerate(kept, 1)
    )
    cautions: list[Note | str] = [_WORDS.get("unrated", n=unrated, of=len(rows))] if unrated else []
    if lost := len(places) - len(kept):
        cautions.append(Note("acceptability.left-out", n=lost, of=len(places)))
    cautions += counted_apart(raters, "raters")
    cautions += missing_cautions(((s.sentence, s.place) for s in sentences), "sentences")
    named_raters = 0 if "" in raters else len(raters)
    return JudgedSet(stem(path), path, sha256_file(path), sentences, named_raters, tuple(cautions))
