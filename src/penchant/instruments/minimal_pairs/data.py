"""Minimal pairs from files: BLiMP and similar sets in other languages, CrowS-Pairs, COMPS, or a plain table.

The format of a file is recognised by its column names. Sentences are kept exactly as written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from penchant.call_checks import asked
from penchant.errors import DataError, GivenRow, MethodError, line_noun, one_of, place, together
from penchant.files import head, sha256_file
from penchant.hub.data_sets import fetched, is_hub
from penchant.instruments.minimal_pairs import defects
from penchant.instruments.minimal_pairs.defects import Marks, checked_marks
from penchant.instruments.minimal_pairs.formats import (
    GRAMMAR,
    PREFIX,
    READERS,
    ROLES,
    STEREOTYPES,
    Direction,
    Kind,
    PairColumns,
    PairTable,
    kind_of,
)
from penchant.records import Item
from penchant.tables.data_lookup import matching
from penchant.tables.in_memory import NAME, path_of, plain
from penchant.tables.rows import FileRow, read_rows
from penchant.text_io import is_directory, stem
from penchant.wording.templates import Text

AS_NAMED: Mapping[str, str] = {}
"""Default of `columns`: every column is named after its field."""
SUFFIXES = (".jsonl", ".csv", ".tsv", ".parquet", ".xlsx")
"""File-name suffixes of tables in a directory."""
_OPEN = "~$"
_WORDS = Text.of(Path(__file__).parent).below("cautions")
CROWS = "crows"
"""Substring of the name of every CrowS-Pairs file, in any language."""


@dataclass(frozen=True, slots=True, repr=False)
class PairSet:
    """The pairs of one file.

    `name` is the file's name without its suffix, `sha256` the hash of its bytes. Every item has the texts "good" and
    "bad" and the labels "group", "phenomenon" and "dataset" (= `name`). `cautions` are warnings about the data.
    """

    name: str
    path: Path
    sha256: str
    kind: Kind
    items: tuple[Item, ...]
    cautions: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<pairs {self.name}: {len(self.items):,}, {self.kind}>"


def pair_rows(given: Any, columns: Mapping[Any, str] = AS_NAMED, name: str = NAME) -> Any:
    """Check pairs passed from Python and return them. Raises DataError for unnamed rows of more than two values."""
    for number, row in enumerate(given if isinstance(given, list) else (), 1):
        if isinstance(row, Sequence) and not isinstance(row, str) and len(row) > len(ROLES):
            raise DataError(
                f"has {len(row)} unnamed values, so it is unclear which is the good sentence",
                where=place(name, GivenRow(number)),
                hint="pass pairs (good, bad), or mappings or a frame with the columns good, bad and group",
            )
    return given


@asked
def read_pairs(
    path: Any, columns: Mapping[Any, str] = AS_NAMED, *, acceptable: Direction = "sent_more", marks: Marks = "refuse"
) -> PairSet:
    """Read the pairs of one file, or of a table passed from Python: pairs (good, bad), rows, columns or a frame.

    `columns` maps fields to the columns of a plain table that are not called good, bad, group (the paradigm), id or
    prefix (a text after which both sentences are scored). If it is not empty, the file is read as a plain table, which
    may also have a column `phenomenon`. `acceptable` is the CrowS-Pairs column of the sentence treated as good.
    If `marks` is "refuse", an acceptability mark at the beginning of only one sentence of a pair is an error; if it is
    "strip", such marks are removed from all sentences. Raises DataError naming file, line and field;
    its notes list all other bad cells.
    """
    if acceptable not in get_args(Direction):
        message = f"acceptable: '{acceptable}' is not a sentence column of CrowS-Pairs"
        raise MethodError(message, hint=one_of(acceptable, get_args(Direction)))
    if marks not in get_args(Marks):
        raise MethodError(f"unknown value of marks: '{marks}'", hint=one_of(marks, get_args(Marks)))
    file = path_of(pair_rows(plain(path)), ROLES)
    rows = read_rows(file)
    present = tuple(dict.fromkeys(name for row in rows for name in row.values))
    table = PairTable(file, present, PairColumns.named(columns), acceptable)
    kind = kind_of(table)
    if kind == "crows-pairs":
        table = replace(table, names=table.names.of_crows_pairs())
        if CROWS not in stem(file).lower():
            kind = "stereotypes"  # somebody's own, with the columns of CrowS-Pairs
    elif kind == "blimp" and table.has(GRAMMAR):
        kind = "generated"
    read = READERS[kind]
    items = tuple(read(table, row, number) for number, row in enumerate(rows, 1))
    if table.errors:
        table.hint_at_merged_cells()
        raise together(table.errors)
    _refuse_repeated(items, rows, table)
    items, stripped = checked_marks(items, rows, file, marks)
    sides = table.sides if kind in STEREOTYPES else ROLES
    of_file = (f"{stem(file)}: {caution}" for caution in (*stripped, *defects.cautions(items, rows, file, sides)))
    cautions = (*((_WORDS.get("crows"),) if kind == "crows-pairs" else ()), *of_file)
    return PairSet(stem(file), file, sha256_file(file), kind, items, cautions)


def read_many(
    paths: Iterable[str | Path],
    columns: Mapping[Any, str] = AS_NAMED,
    *,
    acceptable: Direction = "sent_more",
    marks: Marks = "refuse",
) -> list[PairSet]:
    """Read the pairs of several files, of the tables in directories, or of the files that match patterns.

    See `read_pairs` for the parameters. Raises DataError if a file is invalid or two files have the same name.
    """
    files = [file for path in paths for file in tables_in(Path(path))]
    named: dict[str, Path] = {}
    for file in files:
        other = named.setdefault(stem(file), file)
        if other is not file:
            same = other.resolve() == file.resolve()
            raise DataError(
                "the file is given twice"
                if same
                else f"has the same name as {other}, so their pairs would be mixed up",
                file=file,
                hint="give it once" if same else "rename one of them",
            )
    return [read_pairs(file, columns, acceptable=acceptable, marks=marks) for file in files]


def is_fair_set(path: Path) -> bool:
    """Return whether a file has the token counts written by `penchant pairs`.

    Raises OSError if the file cannot be read.
    """
    try:
        row = json.loads(head(path, 1 << 20).partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and {"n_tokens_good", "n_tokens_bad"} <= row.keys()


def tables_in(path: Path) -> list[Path]:
    """Return the files at a path: the file itself, those that match a pattern, or the tables directly in a directory.

    Raises DataError if the directory contains no table or cannot be read.
    """
    if is_hub(path):
        return [file for place in fetched(path) for file in tables_in(place)]
    if not is_directory(path):
        return matching(path) or [path]
    try:
        inside = sorted(
            child
            for child in path.iterdir()
            if child.suffix.lower() in SUFFIXES and not child.name.startswith((".", _OPEN)) and child.is_file()
        )
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=path) from error
    if not inside:
        hint = f"the suffix of a table is one of {', '.join(SUFFIXES)}"
        raise DataError("the directory contains no table of pairs", file=path, hint=hint)
    return inside


def whole(item: Item, role: str) -> str:
    """Return the prefix of a pair followed by its good or bad sentence."""
    return item.texts.get(PREFIX, "") + item.texts[role]


def refuse_prefixes(pair_sets: Iterable[PairSet], what: str) -> None:
    """Raise DataError if a pair has a prefix; the message starts with `what`."""
    for pairs in pair_sets:
        for item in pairs.items:
            if item.texts.get(PREFIX):
                raise DataError(
                    f"{what} pairs without a prefix",
                    where=item.place,
                    hint="remove the prefix, or measure the pairs with minimal-pairs",
                )


def _refuse_repeated(items: Sequence[Item], rows: Sequence[FileRow], table: PairTable) -> None:
    seen: dict[str, FileRow] = {}
    for item, row in zip(items, rows, strict=True):
        first = seen.setdefault(item.id, row)
        if first is not row:
            raise DataError(
                f"the pair has the same id as the one on {line_noun(row.line)} {first.line}: '{item.id}'",
                file=table.path,
                line=row.line,
                hint="give every pair a unique id, or remove the id column",
            )
