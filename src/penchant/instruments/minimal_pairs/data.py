"""Minimal pairs from files: BLiMP, CrowS-Pairs, COMPS, or a plain table of two columns.

The kind of a file is recognised by the names of its columns. Sentences are kept exactly as written.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from penchant.arguments import asked, unknown_name
from penchant.errors import DataError, GivenRow, MethodError, is_kept, line_noun, one_of, place, together
from penchant.files import sha256_file
from penchant.instruments.minimal_pairs import defects
from penchant.instruments.minimal_pairs.marks import Marks, checked_marks
from penchant.instruments.written import Pair, Sentence, error_value
from penchant.reading import is_directory, stem
from penchant.records import Item
from penchant.tables.given import NAME, path_of, plain
from penchant.tables.rows import Row, lacking, read_rows

Kind = Literal["blimp", "crows-pairs", "comps", "plain"]
Direction = Literal["sent_more", "sent_less"]

PAIR = ("good", "bad")
"""The columns of pairs that are given in Python without names."""
AS_NAMED: Mapping[str, str] = {}
"""No column has another name than its field."""
FIELDS = ("good", "bad", "group", "id")
"""The fields of a plain table whose columns may have other names."""
SUFFIXES = (".jsonl", ".csv", ".tsv", ".parquet", ".xlsx")
"""The files that are read from a directory."""
_OPEN = "~$"
"""How the name begins of what Excel keeps beside a workbook that is open."""

_FILL_DOWN = (
    "if the cells were merged, only the first of them holds the name: fill it down, so that every row has its own"
)
"""What to do about blank names below another."""
_BLANK = ("the field is null", "the field is blank")

NEEDED: Mapping[Kind, tuple[str, ...]] = {
    "blimp": ("sentence_good", "sentence_bad", "linguistics_term", "UID", "pairID"),
    "crows-pairs": ("sent_more", "sent_less", "stereo_antistereo", "bias_type"),
    "comps": ("prefix_acceptable", "prefix_unacceptable", "property_phrase"),
    "plain": ("good", "bad"),
}
"""The columns by which a kind of file is recognised."""

CROWS_CAUTION = (
    "CrowS-Pairs: its authors warn of noise and reliability problems in the data (notice in NYU-MLL's CrowS-Pairs "
    "repository), and Blodgett et al. (2021) document the pitfalls of its pairs; read its numbers with care"
)


@dataclass(frozen=True, slots=True, repr=False)
class PairSet:
    """The pairs of one file.

    `name` is the file's name without suffix, `sha256` the hash of its bytes. Every item has the texts "good" and "bad"
    and the labels "paradigm", "phenomenon" and "dataset" (= `name`). `cautions` warn about the data.
    """

    name: str
    path: Path
    sha256: str
    kind: Kind
    items: tuple[Item, ...]
    cautions: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<pairs {self.name}: {len(self.items):,}, {self.kind}>"


@dataclass(frozen=True, slots=True)
class _Names:
    """The column names that the caller chose."""

    acceptable: Direction
    good: str = "good"
    bad: str = "bad"
    group: str = "group"
    id: str = "id"

    @classmethod
    def of(cls, acceptable: Direction, columns: Mapping[Any, str]) -> _Names:
        """The names by their fields. Raises MethodError for a field that there is not."""
        for field_ in columns:
            if field_ not in FIELDS:
                raise unknown_name(field_, FIELDS, where="columns", what="key")
        return cls(acceptable, **columns)

    @property
    def needed(self) -> list[str]:
        """The columns that must be there: both sentences, and what else has a name of its own."""
        return [
            self.good,
            self.bad,
            *(name for name, usual in ((self.group, "group"), (self.id, "id")) if name != usual),
        ]

    @property
    def named(self) -> bool:
        """Whether any column was named, which makes the file a plain table."""
        return (self.good, self.bad, self.group, self.id) != FIELDS


@dataclass(frozen=True, slots=True)
class _PairTable:
    """A file being read: its path, the columns that occur in it, and the names that the caller chose."""

    path: Path
    columns: tuple[str, ...]
    names: _Names
    errors: list[DataError] = field(default_factory=list)
    filled: set[str] = field(default_factory=set)
    """The columns of names that have had one."""

    def refuse(self, message: str, line: int, column: str, hint: str = "") -> None:
        """Note what is wrong at a line and column of the file."""
        self.errors.append(DataError(message, file=self.path, line=line, field=column, hint=hint))

    def text(self, row: Row, column: str) -> str:
        """The text in a required field, with surrounding white space kept; "" and an error where it is missing or
        blank."""
        value = row.values.get(column)
        if isinstance(value, str) and error_value(value):
            told = f"the cell holds {value.strip()}, the error of a spreadsheet, and no text"
            self.refuse(told, row.line, column, "write the text again, in a cell that is formatted as text")
            return ""
        if isinstance(value, str) and value.strip():
            return value
        if value is None:
            told = "the field is null" if column in row.values else "the field is missing"
        else:
            told = "the field is blank" if isinstance(value, str) else f"expected a text, found {value!r}"
        self.refuse(told, row.line, column)
        return ""

    def hint_at_merged_cells(self) -> None:
        """Say what to do about names of which several are blank and another row has one, as merged cells leave them."""
        blank = [error for error in self.errors if error.message in _BLANK and error.field in self.filled]
        times = Counter(error.field for error in blank)
        for error in blank:
            error.hint = _FILL_DOWN if times[error.field] > 1 else ""

    def code(self, row: Row, column: str) -> str:
        """A name or number that identifies a row or a group."""
        value = row.values.get(column)
        name = str(value) if isinstance(value, int) and not isinstance(value, bool) else self.text(row, column)
        if name:
            self.filled.add(column)
        return name

    def code_or(self, default: str, row: Row, column: str) -> str:
        """The same, or `default` where the table lacks the column. A column must be filled in every row."""
        return self.code(row, column) if column in self.columns else default


def pair_rows(given: Any, columns: Mapping[Any, str] = AS_NAMED, name: str = NAME) -> Any:
    """Pairs given in Python. Raises DataError for one of three parts without names: a group stands first in some
    tables, and last in others."""
    for number, row in enumerate(given if isinstance(given, list) else (), 1):
        if isinstance(row, Sequence) and not isinstance(row, str) and len(row) > len(PAIR):
            raise DataError(
                f"has {len(row)} parts without names, of which nothing says which sentence is good",
                where=place(name, GivenRow(number)),
                hint="give pairs of two, or name the parts: mappings, or a frame, with the columns good, bad and group",
            )
    return given


Read = Callable[[_PairTable, Row, int], Item]


@asked
def read_pairs(
    path: Any, columns: Mapping[Any, str] = AS_NAMED, *, acceptable: Direction = "sent_more", marks: Marks = "refuse"
) -> PairSet:
    """Read the pairs of one file, or of a table given in Python: pairs (good, bad), rows, columns or a frame.

    `columns` names those of a plain table that are not called good, bad, group (the paradigm) or id, as field: column;
    naming any makes the file a plain table, which may also have `phenomenon`. `acceptable` says which sentence of
    CrowS-Pairs counts as the good one. `marks` says whether marks of acceptability at the beginning of one sentence of
    a pair alone are refused, or taken out of all (strip). Raises DataError naming file, line and field, with every
    other bad cell in its notes.
    """
    if acceptable not in get_args(Direction):
        told = f"'{acceptable}' is not a sentence of CrowS-Pairs"
        raise MethodError(told, hint=one_of(acceptable, get_args(Direction)))
    if marks not in get_args(Marks):
        raise MethodError(f"marks: '{marks}' is not known", hint=one_of(marks, get_args(Marks)))
    file = path_of(pair_rows(plain(path)), PAIR)
    rows = read_rows(file)
    present = tuple(dict.fromkeys(name for row in rows for name in row.values))
    table = _PairTable(file, present, _Names.of(acceptable, columns))
    kind = _kind(table)
    read = _READERS[kind]
    items = tuple(read(table, row, number) for number, row in enumerate(rows, 1))
    if table.errors:
        table.hint_at_merged_cells()
        raise together(table.errors)
    _refuse_repeated(items, rows, table)
    items, taken = checked_marks(items, rows, file, marks)
    pairs = [_written(item, row, file) for item, row in zip(items, rows, strict=True)]
    noted = (*(f"{stem(file)}: {caution}" for caution in taken), *defects.cautions(stem(file), items, pairs))
    cautions = (*((CROWS_CAUTION,) if kind == "crows-pairs" else ()), *noted)
    return PairSet(stem(file), file, sha256_file(file), kind, items, cautions)


def read_many(
    paths: Iterable[str | Path],
    columns: Mapping[Any, str] = AS_NAMED,
    *,
    acceptable: Direction = "sent_more",
    marks: Marks = "refuse",
) -> list[PairSet]:
    """Read the pairs of several files; a directory stands for the tables directly inside it, in order of their names.

    The parameters are those of `read_pairs`. Raises DataError also for two files of the same name, by which their pairs
    are distinguished.
    """
    files = [file for path in paths for file in tables_in(Path(path))]
    named: dict[str, Path] = {}
    for file in files:
        other = named.setdefault(stem(file), file)
        if other is not file:
            same = other.resolve() == file.resolve()
            raise DataError(
                "the file is named twice" if same else f"has the same name as {other}, so their pairs would mix",
                file=file,
                hint="name it once" if same else "rename one of them",
            )
    return [read_pairs(file, columns, acceptable=acceptable, marks=marks) for file in files]


def is_fair_set(path: Path) -> bool:
    """Whether a file holds the lines that `penchant pairs` writes, which have token counts. Raises OSError."""
    try:
        with path.open(encoding="utf-8") as stream:
            row = json.loads(stream.readline(1 << 20))
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and {"tokens_good", "tokens_bad"} <= row.keys()


def tables_in(path: Path) -> list[Path]:
    """A file, or the tables directly inside a directory, in order of their names. Raises DataError."""
    if not is_directory(path):
        return [path]
    try:
        inside = sorted(
            child
            for child in path.iterdir()
            if child.suffix.lower() in SUFFIXES and not child.name.startswith((".", _OPEN)) and child.is_file()
        )
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=path) from error
    if not inside:
        raise DataError("the directory holds no table of pairs", file=path, hint=f"tables end in {', '.join(SUFFIXES)}")
    return inside


def _kind(table: _PairTable) -> Kind:
    """The first kind whose columns are all present. Raises DataError listing the present and the needed columns."""
    names = table.names
    if names.named:
        lacking(names.needed, list(table.columns), table.path)
        return "plain"
    for kind, columns in NEEDED.items():
        if all(column in table.columns for column in columns):
            return kind
    choices = "; ".join(f"{kind}: {', '.join(columns)}" for kind, columns in NEEDED.items())
    present = ", ".join(repr(column) for column in table.columns) or "none"
    name = "columns: in a study, columns= in Python, or --good and --bad, name others"
    if is_kept(table.path):
        name = 'name yours with columns={"good": …, "bad": …}'
    hint = f"needed are {choices}; {name}"
    raise DataError(f"the columns are {present}", file=table.path, hint=hint)


def _blimp(table: _PairTable, row: Row, number: int) -> Item:
    paradigm = table.code(row, "UID")
    labels = {"paradigm": paradigm, "phenomenon": table.code(row, "linguistics_term"), "dataset": stem(table.path)}
    if "field" in table.columns:
        labels["field"] = table.code(row, "field")
    texts = {"good": table.text(row, "sentence_good"), "bad": table.text(row, "sentence_bad")}
    return Item(f"{paradigm}-{table.code(row, 'pairID')}", texts, labels, _place(table, row))


def _crows(table: _PairTable, row: Row, number: int) -> Item:
    direction = table.text(row, "stereo_antistereo")
    if direction and direction not in ("stereo", "antistereo"):
        told = f"unknown direction '{direction}'"
        table.refuse(told, row.line, "stereo_antistereo", hint=one_of(direction, ("stereo", "antistereo")))
    other = "sent_less" if table.names.acceptable == "sent_more" else "sent_more"
    texts = {"good": table.text(row, table.names.acceptable), "bad": table.text(row, other)}
    labels = {"paradigm": direction, "phenomenon": table.code(row, "bias_type"), "dataset": stem(table.path)}
    unnumbered = table.code_or(str(number), row, "id")
    return Item(table.code_or(unnumbered, row, ""), texts, labels, _place(table, row))


def _comps(table: _PairTable, row: Row, number: int) -> Item:
    phrase = table.text(row, "property_phrase")
    texts = {
        "good": f"{table.text(row, 'prefix_acceptable')} {phrase}",
        "bad": f"{table.text(row, 'prefix_unacceptable')} {phrase}",
    }
    name = stem(table.path)
    phenomenon = table.code_or(name, row, "negative_sample_type")
    labels = {"paradigm": name, "phenomenon": phenomenon, "dataset": name}
    return Item(table.code_or(str(number), row, "id"), texts, labels, _place(table, row))


def _plain(table: _PairTable, row: Row, number: int) -> Item:
    name = stem(table.path)
    labels = {
        "paradigm": table.code_or(name, row, table.names.group),
        "phenomenon": table.code_or(name, row, "phenomenon"),
        "dataset": name,
    }
    texts = {"good": table.text(row, table.names.good), "bad": table.text(row, table.names.bad)}
    return Item(table.code_or(str(number), row, table.names.id), texts, labels, _place(table, row))


_READERS: Mapping[Kind, Read] = {"blimp": _blimp, "crows-pairs": _crows, "comps": _comps, "plain": _plain}


def _place(table: _PairTable, row: Row) -> str:
    return place(table.path, row.line)


def _written(item: Item, row: Row, file: Path) -> Pair:
    """The two sentences of a pair as they are written, with their place."""
    name = file.stem if is_kept(file) else file.name
    line = f"{line_noun(row.line)} {row.line:d}"
    first, second = (Sentence(item.texts[role], name, line) for role in ("good", "bad"))
    return Pair(first, second, item.labels["paradigm"])


def _refuse_repeated(items: Sequence[Item], rows: Sequence[Row], table: _PairTable) -> None:
    seen: dict[str, Row] = {}
    for item, row in zip(items, rows, strict=True):
        first = seen.setdefault(item.id, row)
        if first is not row:
            raise DataError(
                f"the pair has the same id as the one on {line_noun(row.line)} {first.line}: '{item.id}'",
                file=table.path,
                line=row.line,
            )
