"""Occurrences of words in sentences, read from tables or found in plain text."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, BinaryIO, cast

import polars as pl
from pydantic import BaseModel, Field, StrictStr

from penchant.call_checks import asked
from penchant.corpus.nfc import normalise
from penchant.corpus.occurrence_columns import KEY, SCHEMA
from penchant.corpus.word_matching import Matcher, count_words
from penchant.errors import DataError, file_name
from penchant.limits import COUNT
from penchant.tables.in_memory import is_table, path_of, plain
from penchant.tables.rows import read_models
from penchant.tables.yaml_json_documents import Text
from penchant.text_io import decoded, lines, opened, require_file
from penchant.unicode_spellings import Alignment

Bound = Annotated[int, Field(ge=1, le=COUNT)] | str
"""Bound of sentence lengths in words, as given in a study (see `occurrence_columns.segments`)."""
TABLES = (".parquet", ".jsonl", ".json", ".csv", ".tsv")
"""File extensions of tables; files with other extensions are plain text."""

_Record = tuple[str, str, str, int, int, str, int, str]


OCCURRENCE = ("id", "word", "text", "start", "end")
"""Order of the columns of occurrences in Python data without column names."""


class OccurrenceRow(BaseModel):
    """Row of a table of occurrences; other columns are ignored."""

    id: Annotated[Text, Field(description="of the sentence, shared by all words found in it")]
    word: Annotated[Text, Field(description="the stimulus, without suffix")]
    text: Annotated[StrictStr, Field(description="the sentence")]
    start: Annotated[int, Field(description="the first character of the word in the text, counted from 0")]
    end: Annotated[int, Field(description="the character after the last")]
    source: Annotated[Text | None, Field(description="where the sentence is from; default: the file's name")] = None


# Reading -----------------------------------------------------------------------------------------------------


@asked
def read_occurrences(path: Any, forms: Mapping[str, Sequence[str]], language: str = "und") -> pl.DataFrame:
    """Read the occurrences of words from one or more files, in the given order, or from a table given in Python.

    A table has the columns of `OccurrenceRow`; rows of words that are not in `forms` are omitted. Plain text (also .gz)
    has one sentence per line and is searched for the forms, which may be capitalised at the beginning of a sentence, by
    the rules of `language`; a sentence that is repeated in a file is used once. Texts are returned as they are
    written, without normalisation. Raises DataError with the file and line if the data are invalid.
    """
    listed = plain(path)
    names = isinstance(listed, list) and bool(listed) and not is_table(listed)
    files = [Path(part) for part in listed] if names else [path_of(listed, OCCURRENCE)]
    extracted = _read_extracted(files, forms)
    if extracted is not None:
        return extracted
    texts = [file for file in files if file.suffix.lower() not in TABLES]
    _refuse_same_names(texts)
    matcher = Matcher(forms, language)
    sentences: dict[str, str] = {}
    seen: set[tuple[str, str, int]] = set()
    records: list[_Record] = []
    for file in files:
        for line, record in _search(file, matcher) if file in texts else _table_rows(file, forms):
            name, word, text, start, *_ = record
            if sentences.setdefault(name, text) != text:
                raise DataError(f"the id '{name}' already belongs to another sentence", file=file, line=line)
            if (name, word, start) in seen:
                message = f"the occurrence of '{word}' at character {start} of sentence '{name}' appears twice"
                raise DataError(message, file=file, line=line, hint="remove one of the two rows")
            seen.add((name, word, start))
            records.append(record)
    return pl.DataFrame(records, schema=SCHEMA, orient="row")


def _read_extracted(files: Sequence[Path], forms: Mapping[str, Sequence[str]]) -> pl.DataFrame | None:
    """Read tables written by `extraction.extract`; return None if a file is not such a table or is invalid."""
    frames = []
    for file in files:
        require_file(file)
        try:
            if file.suffix.lower() != ".parquet" or KEY not in pl.read_parquet_metadata(file):
                return None
            with opened(file) as stream:
                frames.append(pl.read_parquet(stream, columns=list(SCHEMA)).cast(pl.Schema(SCHEMA)))
        except (OSError, pl.exceptions.PolarsError):
            return None
    names = {normalise(word): word for word in forms}
    rows = pl.concat(frames).filter(pl.col("word").is_in(list(names)))
    valid = (pl.col("start") >= 0) & (pl.col("start") < pl.col("end"))
    matching = pl.col("text").str.slice(pl.col("start"), pl.col("end") - pl.col("start")) == pl.col("matched")
    sound = (
        rows.select((valid & matching).all()).item()
        and rows.unique(["id", "text"])["id"].is_unique().all()
        and rows.select(pl.struct("id", "word", "start").is_unique().all()).item()
        and not rows.null_count().sum_horizontal().item()
    )
    return rows.with_columns(pl.col("word").replace_strict(names, return_dtype=pl.String)) if sound else None


def _refuse_same_names(files: Sequence[Path]) -> None:
    """Raise DataError if plain text files have the same name, which would make sentence ids ambiguous."""
    by_name: dict[str, Path] = {}
    for file in files:
        first = by_name.setdefault(_stem(file), file)
        if first is not file:
            raise DataError(
                f"has the same name as {first}, so sentence ids would not be unique",
                file=file,
                hint="rename one of the files",
            )


def _table_rows(file: Path, forms: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, _Record]]:
    words = {normalise(word): word for word in forms}
    for line, row in read_models(file, OccurrenceRow):
        word = words.get(row.word)
        if word is None:
            continue
        try:
            _require_form(row)
        except ValueError as error:
            raise DataError(str(error), file=file, line=line, hint="give character offsets, counted from 0") from error
        text, start, end = row.text, row.start, row.end
        source = row.source or file_name(file)
        yield line, (row.id, word, text, start, end, text[start:end], count_words(text), source)


def _require_form(row: OccurrenceRow) -> None:
    """Raise ValueError if the span is outside the text, contains no word, or splits a composed character."""
    if not 0 <= row.start < row.end <= len(row.text):
        length = len(row.text)
        raise ValueError(
            f"start {row.start} and end {row.end} are not a span of the text, which has {length} characters"
        )
    form = row.text[row.start : row.end]
    if not count_words(form):
        raise ValueError(f"the text from start {row.start} to end {row.end} is not a word: {form!r}")
    if "".join(map(normalise, (row.text[: row.start], form, row.text[row.end :]))) != normalise(row.text):
        raise ValueError(f"start {row.start} and end {row.end} cut a letter off from its accents or marks: {form!r}")


def _search(file: Path, matcher: Matcher) -> Iterator[tuple[int, _Record]]:
    stem = _stem(file)
    seen: set[str] = set()
    line = 0
    for line, text in _sentences(file):
        composed = normalise(text)
        matches = matcher.find(composed)
        collapsed = " ".join(composed.split()) if matches else ""
        if not matches or collapsed in seen:
            continue
        seen.add(collapsed)
        words = count_words(text)
        places = None if composed == text else Alignment(composed, text)
        for word, begin, stop in matches:
            start, end = (begin, stop) if places is None else places.span(begin, stop)
            yield line, (f"{stem}:{line}", word, text, start, end, text[start:end], words, file.name)
    if not line:
        raise DataError("contains no sentences", file=file)


def _sentences(file: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, stripped line) for each nonblank line."""
    try:
        with opened(file) as stored:
            unpacked = gzip.GzipFile(fileobj=stored) if file.suffix.lower() == ".gz" else stored
            for number, line in lines(cast(BinaryIO, unpacked), file):
                text = decoded(line, file, number).strip()
                if text:
                    yield number, text
    except (EOFError, zlib.error) as error:
        raise DataError(f"cannot be read: {error}", file=file) from error


def _stem(file: Path) -> str:
    """Return the name of a plain text file without extensions. Raises DataError if the file is a compressed table."""
    name = file.with_suffix("") if file.suffix.lower() == ".gz" else file
    if name.suffix.lower() in TABLES:
        raise DataError("is a compressed table, which cannot be read", file=file, hint="decompress it, or use Parquet")
    return name.stem
