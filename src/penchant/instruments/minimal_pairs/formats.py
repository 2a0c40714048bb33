"""Formats of minimal pairs, recognised by their column names, and functions that read their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from penchant.call_checks import unknown_name
from penchant.errors import DataError, MethodError, is_kept, one_of, place
from penchant.instruments.text_defects import error_value
from penchant.records import Item
from penchant.tables.rows import FileRow, lacking
from penchant.tables.yaml_json_documents import SETTINGS
from penchant.text_io import stem

Kind = Literal[
    "blimp",
    "generated",
    "crows-pairs",
    "comps",
    "rublimp",
    "turblimp",
    "sling",
    "multiblimp",
    "stereotypes",
    "plain",
]
Direction = Literal["sent_more", "sent_less"]
"""A sentence of a stereotype pair, by its column in CrowS-Pairs."""
STEREOTYPES: tuple[Kind, ...] = ("crows-pairs", "stereotypes")
"""Kinds of files with stereotype pairs, in which neither sentence is acceptable or unacceptable."""

_PLAIN = ("good", "bad", "group", "prefix")
_STEREOTYPES = ("more", "less", "kind", "direction")
GRAMMAR = "grammar"
"""The column that tells generated pairs from those of BLiMP: the name of their grammar."""
ROLES = ("good", "bad")
"""The roles of the two sentences of a pair."""
PREFIX = "prefix"
"""Key of the text that precedes both sentences of an item and is not scored."""
DIRECTIONS = ("stereo", "antistereo")
"""The paradigms of stereotype pairs: pairs that show a stereotype, and pairs that contradict one."""
_CLASSES: Mapping[str, tuple[str, ...]] = {
    "stereo_antistereo": DIRECTIONS,
    "bias_type": (
        *("race-color", "socioeconomic", "gender", "disability", "nationality", "sexual-orientation"),
        *("physical-appearance", "religion", "age"),
    ),
}
"""Class labels of CrowS-Pairs columns on the Hugging Face Hub, ordered by class number."""
_FILL_DOWN = "if the cells were merged, only the first one contains the name: fill it down to every row"
_FILL = "fill it, or leave the row out"
_BLANK = ("the field is empty", "the field is blank")

NEEDED: Mapping[Kind, tuple[str | tuple[str, ...], ...]] = {
    "blimp": ("sentence_good", "sentence_bad", "linguistics_term", "UID", ("pairID", "pair_id")),
    "crows-pairs": ("sent_more", "sent_less", "stereo_antistereo", "bias_type"),
    "comps": ("prefix_acceptable", "prefix_unacceptable", "property_phrase"),
    "rublimp": ("source_sentence", "target_sentence", "phenomenon", "PID"),
    "turblimp": ("good_sentence", "bad_sentence", "phenomenon"),
    "sling": ("sentence_good", "sentence_bad", ("phenomenon", "Phenomenon", "paradigm", "Paradigm")),
    "multiblimp": ("sen", "wrong_sen"),
    "plain": ("good", "bad"),
    "stereotypes": ("more", "less"),
}
"""Columns that identify each kind of file; a tuple lists alternatives."""


class PairColumns(BaseModel):
    """Column names of a plain table of pairs, or of a table of stereotypes."""

    model_config = ConfigDict(**SETTINGS, str_strip_whitespace=True)
    good: str = "good"
    """The acceptable sentence. Default: good."""
    bad: str = "bad"
    """The unacceptable sentence. Default: bad."""
    group: str = "group"
    """The paradigm, if the table has one. Default: group."""
    id: str = "id"
    """The id of the pair in the results, if the table has one, else its row number. Default: id."""
    prefix: str = "prefix"
    """A text before both sentences, not scored, if the table has one; no space is added. Default: prefix."""
    more: str = "more"
    """In a table of stereotypes, the more stereotypical sentence. Default: more."""
    less: str = "less"
    """The less stereotypical sentence. Default: less."""
    kind: str = "kind"
    """The kind of bias, if the table has one. Default: kind."""
    direction: str = "direction"
    """The direction, "stereo" or "antistereo" (contradicts a stereotype), if the table has one. Default: direction."""

    @classmethod
    def named(cls, columns: Mapping[Any, str]) -> PairColumns:
        """Return the default column names, updated by `columns`.

        Raises MethodError for unknown fields, or for fields of plain pairs together with fields of stereotypes.
        """
        for field_ in columns:
            if field_ not in cls.model_fields:
                raise unknown_name(field_, tuple(cls.model_fields), where="columns", what="key")
        names = cls.model_construct(None, **columns)
        plain, stereotypes = names._other(_PLAIN), names._other(_STEREOTYPES)
        if plain and stereotypes:
            message = f"{plain[0]} is for tables of minimal pairs, but {stereotypes[0]} is for tables of stereotypes"
            raise MethodError(message, where="columns", hint="name the columns of only one kind of table")
        return names

    def _other(self, fields: Iterable[str]) -> list[str]:
        """Return the `fields` whose column name is not the default."""
        return [name for name in fields if getattr(self, name) != name]

    def needed_for(self, kind: Kind) -> list[str]:
        """Return the columns that a table must have: both sentences, and all renamed columns."""
        sentences = ("more", "less") if kind == "stereotypes" else ROLES
        others = [name for name in self._other(type(self).model_fields) if name not in (*ROLES, "more", "less")]
        return [getattr(self, name) for name in (*sentences, *others)]

    @property
    def kind_named(self) -> Kind | None:
        """The kind of file implied by the renamed columns: stereotypes or plain; None if at most `id` is renamed."""
        if self._other(_STEREOTYPES):
            return "stereotypes"
        return "plain" if self._other(_PLAIN) else None

    def of_crows_pairs(self) -> PairColumns:
        """Return a copy with the column names of CrowS-Pairs."""
        more, less, direction, kind = map(_shown, NEEDED["crows-pairs"])
        return self.model_copy(update={"more": more, "less": less, "direction": direction, "kind": kind})


@dataclass(frozen=True, slots=True)
class PairTable:
    """A table that is being read: its path and columns, and the column names chosen by the caller.

    `acceptable` is the CrowS-Pairs column of the sentence treated as good.
    """

    path: Path
    columns: tuple[str, ...]
    names: PairColumns
    acceptable: Direction
    errors: list[DataError] = field(default_factory=list)
    filled: set[str] = field(default_factory=set)
    """Identifier columns that were not empty in at least one row so far."""

    @property
    def sides(self) -> tuple[str, str]:
        """The columns of the sentences that are treated as good and bad in stereotype pairs."""
        more, less = self.names.more, self.names.less
        return (more, less) if self.acceptable == "sent_more" else (less, more)

    def refuse(self, message: str, line: int, column: str, hint: str = "") -> None:
        """Record an error at a line and column of the file."""
        self.errors.append(DataError(message, file=self.path, line=line, field=column, hint=hint))

    def text(self, row: FileRow, column: str) -> str:
        """Return the text of a required field with white space kept.

        If the field is missing, blank or not a text, record an error and return an empty string.
        """
        value = row.values.get(column)
        if isinstance(value, str) and error_value(value):
            message = f"the cell contains {value.strip()}, a spreadsheet error, instead of text"
            self.refuse(message, row.line, column, "retype the text in a cell formatted as text")
            return ""
        if isinstance(value, str) and value.strip():
            return value
        if value is None:
            message = "the field is empty" if column in row.values else "the field is missing"
        else:
            message = "the field is blank" if isinstance(value, str) else f"expected a string, found {value!r}"
        self.refuse(message, row.line, column, _FILL if message in _BLANK else "")
        return ""

    def optional(self, row: FileRow, column: str) -> str:
        """Return the text of a field that may be empty, with white space kept."""
        return "" if row.values.get(column) in (None, "") else self.text(row, column)

    def hint_at_merged_cells(self) -> None:
        """Add hints to the errors about blank identifiers.

        Several blank cells below a non-blank one suggest that cells were merged.
        """
        blank = [error for error in self.errors if error.message in _BLANK and error.field in self.filled]
        times = Counter(error.field for error in blank)
        for error in blank:
            error.hint = _FILL_DOWN if times[error.field] > 1 else _FILL

    def code(self, row: FileRow, column: str) -> str:
        """Return the identifier of a row or a group as a string; in the file, it may also be an integer."""
        value = row.values.get(column)
        name = str(value) if isinstance(value, int) and not isinstance(value, bool) else self.text(row, column)
        if name:
            self.filled.add(column)
        return name

    def has(self, column: str | tuple[str, ...]) -> bool:
        """Return whether the table has a column, or at least one of several columns."""
        return any(name in self.columns for name in ([column] if isinstance(column, str) else column))

    def first(self, *columns: str) -> str:
        """Return the first of `columns` that the table has, or `columns[0]` if it has none of them."""
        return next((column for column in columns if column in self.columns), columns[0])

    def pair(
        self,
        row: FileRow,
        name: str,
        groups: tuple[str, str],
        more: tuple[str, ...] = (),
        sentences: tuple[str, str] = ("sentence_good", "sentence_bad"),
    ) -> Item:
        """Return the pair in a row, with the id `name` and the labels in the columns `more`.

        `groups` are its paradigm and its phenomenon, `sentences` the columns of its good and its bad sentence.
        """
        labels = {"group": groups[0], "phenomenon": groups[1], "dataset": stem(self.path)}
        labels |= {column: self.code(row, column) for column in more if column in self.columns}
        texts = {role: self.text(row, column) for role, column in zip(ROLES, sentences, strict=True)}
        return Item(name, texts, labels, place(self.path, row.line))

    def code_or(self, default: str, row: FileRow, column: str) -> str:
        """Return the identifier in a column, or `default` if the table has no such column; empty cells are errors."""
        return self.code(row, column) if column in self.columns else default


def kind_of(table: PairTable) -> Kind:
    """Return the kind of file implied by renamed columns or, if there is none, the first whose columns are all present.

    Raises DataError if there is neither, or if a column that the implied kind needs is missing.
    """
    names = table.names
    kind = names.kind_named
    if kind is None and names.id != "id":  # the other kinds have ids of their own
        kind = next((each for each in STEREOTYPES if all(map(table.has, NEEDED[each]))), "plain")
    if kind is not None:
        lacking([names.id] if kind == "crows-pairs" else names.needed_for(kind), list(table.columns), table.path)
        return kind
    for kind, columns in NEEDED.items():
        if all(table.has(column) for column in columns):
            return kind
    choices = "; ".join(f"{kind}: {', '.join(map(_shown, columns))}" for kind, columns in NEEDED.items())
    present = ", ".join(repr(column) for column in table.columns) or "none"
    name = "or name your columns with columns: in a study, columns= in Python, or --good and --bad"
    if is_kept(table.path):
        name = 'or name your columns with columns={"good": …, "bad": …}'
    hint = f"use one of these sets of columns: {choices}; {name}"
    raise DataError(f"unknown format: the columns are {present}", file=table.path, hint=hint)


def _shown(column: str | tuple[str, ...]) -> str:
    return column if isinstance(column, str) else column[0]


def _blimp(table: PairTable, row: FileRow, number: int) -> Item:
    paradigm, phenomenon = table.code(row, "UID"), table.code(row, "linguistics_term")
    name = f"{paradigm}-{table.code(row, table.first('pairID', 'pair_id'))}"
    return table.pair(row, name, (paradigm, phenomenon), ("field",))


def _rublimp(table: PairTable, row: FileRow, number: int) -> Item:
    paradigm, phenomenon = table.code(row, "PID"), table.code(row, "phenomenon")
    name = f"{paradigm}-{table.code_or(str(number), row, 'id')}"
    sentences = "source_sentence", "target_sentence"
    return table.pair(row, name, (paradigm, phenomenon), ("subtype", "domain"), sentences)


def _turblimp(table: PairTable, row: FileRow, number: int) -> Item:
    """Read a row of TurBLiMP; the paradigm is the phenomenon with its subtype, without trailing blanks."""
    phenomenon = table.code(row, "phenomenon").strip()
    paradigm = "_".join(filter(None, (phenomenon, table.code_or("", row, "subtype").strip())))
    sentences = "good_sentence", "bad_sentence"
    return table.pair(row, f"{paradigm}-{number}", (paradigm, phenomenon), sentences=sentences)


def _sling(table: PairTable, row: FileRow, number: int) -> Item:
    paradigm = table.code_or(stem(table.path), row, table.first("paradigm", "Paradigm"))
    phenomenon = table.code_or(paradigm, row, table.first("phenomenon", "Phenomenon"))
    name = f"{paradigm}-{table.code_or(str(number), row, 'pair_ID')}"
    return table.pair(row, name, (paradigm, phenomenon), ("field",))


def _multiblimp(table: PairTable, row: FileRow, number: int) -> Item:
    """Read a MultiBLiMP row; the paradigm is the phenomenon, else the changed features (SG -> PL) or the language."""
    language = stem(table.path)
    paradigm = table.code_or(language, row, table.first("phenomenon", "feature_vals"))
    groups = paradigm, table.code_or(language, row, "phenomenon")
    return table.pair(row, f"{paradigm}-{number}", groups, sentences=("sen", "wrong_sen"))


def _stereotypes(table: PairTable, row: FileRow, number: int) -> Item:
    """Read a stereotype pair: the phenomenon is the kind of bias, the paradigm the direction.

    Without a direction column, every pair shows a stereotype. If the direction is a class number, so is the kind.
    """
    names, name = table.names, stem(table.path)
    direction, kind = table.code_or(DIRECTIONS[0], row, names.direction), table.code_or(name, row, names.kind)
    if _class_of(direction, names.direction) != direction:
        direction, kind = _class_of(direction, names.direction), _class_of(kind, names.kind)
    if direction and direction not in DIRECTIONS:
        message = f"unknown direction '{direction}'"
        hint = "on the Hugging Face Hub, 0 is stereo and 1 antistereo: write the word" if direction.isdecimal() else ""
        table.refuse(message, row.line, names.direction, hint=hint or one_of(direction, DIRECTIONS))
    texts = {role: table.text(row, column) for role, column in zip(ROLES, table.sides, strict=True)}
    labels = {"group": direction, "phenomenon": kind, "dataset": name}
    id_ = table.code_or(str(number), row, names.id)
    if names.id == "id":  # CrowS-Pairs is published with a pandas index, which takes precedence
        id_ = table.code_or(id_, row, "")
    return Item(id_, texts, labels, place(table.path, row.line))


def _class_of(code: str, column: str) -> str:
    """Return the label of a class number in a CrowS-Pairs column; other values are returned unchanged."""
    known = {str(number): label for number, label in enumerate(_CLASSES.get(column, ()))}
    return known.get(code, code)


def _comps(table: PairTable, row: FileRow, number: int) -> Item:
    phrase = table.text(row, "property_phrase")
    texts = {
        "good": f"{table.text(row, 'prefix_acceptable')} {phrase}",
        "bad": f"{table.text(row, 'prefix_unacceptable')} {phrase}",
    }
    name = stem(table.path)
    phenomenon = table.code_or(name, row, "negative_sample_type")
    labels = {"group": name, "phenomenon": phenomenon, "dataset": name}
    return Item(table.code_or(str(number), row, "id"), texts, labels, place(table.path, row.line))


def _plain(table: PairTable, row: FileRow, number: int) -> Item:
    file, names = stem(table.path), table.names
    groups = table.code_or(file, row, names.group), table.code_or(file, row, "phenomenon")
    item = table.pair(row, "", groups, sentences=(names.good, names.bad))
    prefix = {PREFIX: table.optional(row, names.prefix)} if names.prefix in table.columns else {}
    return replace(item, id=table.code_or(str(number), row, names.id), texts={**item.texts, **prefix})


Read = Callable[[PairTable, FileRow, int], Item]
READERS: Mapping[Kind, Read] = {
    "blimp": _blimp,
    "generated": _blimp,
    "crows-pairs": _stereotypes,
    "stereotypes": _stereotypes,
    "comps": _comps,
    "rublimp": _rublimp,
    "turblimp": _turblimp,
    "sling": _sling,
    "multiblimp": _multiblimp,
    "plain": _plain,
}
"""Row readers by kind of file; they take the table, the row and the row number, counted from 1."""
