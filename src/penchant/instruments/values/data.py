"""Sets of value statements: statements to agree with, neutral ones for calibration, and templates for both."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from penchant.call_checks import asked, kind
from penchant.errors import DataError, is_kept, line_noun, one_of, place
from penchant.files import sha256_file
from penchant.instruments.elicit_settings import Phrases
from penchant.letter_case import capitalised
from penchant.plurals import counted
from penchant.tables.data_lookup import SET_FILE, bundled, find_data
from penchant.tables.in_memory import NAME, document_of, is_table, plain
from penchant.tables.rows import read_models
from penchant.tables.yaml_json_documents import Text, Written, read_document
from penchant.text_io import is_directory
from penchant.unicode_spellings import canonical
from penchant.wording import templates

LOW, MIDDLE, HIGH = 1, 3, 5
"""The ends and the middle of the scale of ratings; answers on another scale are mapped to it linearly."""
EVERYTHING = "all"
"""The reserved name for all groups, values or items together."""
_SPAN = re.compile(r"\[([^\[\]]*)\]")
_SLOT = "{statement}"
_HINT = "see penchant schema values"
SETS = Path(__file__).parent / "sets"
TEXT = templates.Text.of(Path(__file__).parent)
"""The texts of the instrument."""
CAUTIONS = TEXT.below("cautions")


def _yes(value: object) -> bool:
    known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    answer = known.get(str(value).strip().casefold())
    if answer is None:
        raise ValueError(f"expected yes or no, got {value!r}")
    return answer


def _named(value: object) -> object:
    if str(value).strip() == EVERYTHING:
        raise ValueError(f"the name '{EVERYTHING}' is reserved for all groups, values or statements together")
    return value


def _template(value: object) -> object:
    text = str(value)
    spans = _SPAN.findall(text)
    if len(spans) != 1 or text.count("[") != 1 or text.count("]") != 1 or not spans[0].strip():
        raise ValueError("expected the stance once in [brackets], as in: She said that she [agrees] that {statement}.")
    if text.count(_SLOT) != 1 or _SLOT in spans[0]:
        raise ValueError(f"expected the clause once as {_SLOT}, outside the brackets")
    return text


def _question(value: object) -> object:
    if str(value).count(_SLOT) != 1:
        raise ValueError(f"expected the clause once as {_SLOT}")
    return value


Yes = Annotated[bool, BeforeValidator(_yes), WithJsonSchema({"enum": ["yes", "no"]})]
Name = Annotated[Text, BeforeValidator(_named)]
Sentence = Annotated[Written, BeforeValidator(_template)]


class StatementRow(BaseModel):
    """A row of a table of statements; further columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    id: Name
    """A name for the statement, unique in the table."""
    text: Written
    """The statement, as a clause that can follow "agrees that"."""
    value: Name
    """The value that agreeing speaks for, such as economic equity."""
    reversed: Yes = False
    """yes: agreeing speaks against the value. Default: no."""
    negation: Written | None = None
    """The same clause negated, to check consistency. Default: none."""


class NeutralRow(BaseModel):
    """A row of a table of calibration statements; further columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    id: Name
    """A name for the statement, unique in the table."""
    text: Written
    """The neutral statement, as a clause that can follow "agrees that"."""


class StanceTemplate(BaseModel):
    """Two sentences of a group, one agreeing and one disagreeing, that differ only in the brackets."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
    variant: Name = "main"
    """The name of the wording; the first wording is the main one. Default: main."""
    group: Name
    """The group of the speaker, such as feminine."""
    agree: Sentence
    """A sentence with the agreeing stance in [brackets] and the clause at {statement}."""
    disagree: Sentence
    """The same sentence with the disagreeing stance in [brackets]."""

    @model_validator(mode="after")
    def _equal_outside(self) -> StanceTemplate:
        if _SPAN.sub("[]", self.agree) != _SPAN.sub("[]", self.disagree):
            raise ValueError("the agreeing and the disagreeing sentence differ outside the brackets")
        if self.agree == self.disagree:
            raise ValueError("the agreeing and the disagreeing sentence are the same")
        return self

    def sentence(self, stance: str, clause: str, language: str = "und") -> tuple[str, tuple[int, int]]:
        """Return the sentence of a stance (`agree` or `disagree`) about a clause, and the stance's span of characters.

        A clause at the beginning of the sentence is capitalised by the rules of `language`.
        """
        text = self.agree if stance == "agree" else self.disagree
        before, word, after = re.split(_SPAN, text)
        if text.startswith(_SLOT):
            clause = capitalised(clause, language)
        before, after = before.replace(_SLOT, clause), after.replace(_SLOT, clause)
        return before + word + after, (len(before), len(before) + len(word))


class TableColumns(BaseModel):
    """Columns of a set's tables whose names differ from their fields, as field: column."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True, str_strip_whitespace=True)
    statements: dict[Literal["id", "text", "value", "reversed", "negation"], str] = {}
    """The columns of the table of statements."""
    calibration: dict[Literal["id", "text"], str] = {}
    """The columns of the table of neutral statements."""

    @model_validator(mode="before")
    @classmethod
    def _of_a_table(cls, columns: object) -> object:
        known = [name for name in columns if name in StatementRow.model_fields] if isinstance(columns, dict) else []
        if known:
            raise ValueError(
                f"{known[0]} belongs under statements, as in columns: {{statements: {{{known[0]}: COLUMN}}}}"
            )
        return columns


class AskedTemplate(BaseModel):
    """A question to a chat model about a clause, for one group in one wording."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
    variant: Name = "main"
    """The name of the wording; the first wording is the main one. Default: main."""
    group: Name
    """The group that the system message names; `people` if it names none."""
    system: Written | None = None
    """The system message, for example: You are a woman. Default: none."""
    question: Annotated[Written, BeforeValidator(_question)]
    """The question, with the clause at {statement}."""


class ChatPart(BaseModel):
    """Questions to chat models about clauses."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    options: Annotated[list[Written], Field(min_length=2, max_length=10)]
    """The options from the lowest to the highest agreement; they stand for equally spaced ratings from 1 to 5."""
    templates: Annotated[list[AskedTemplate], Field(min_length=1)]
    """The question of every group in every wording."""
    phrases: Phrases | None = None
    """Instructions, and phrases for interpreting replies. Default: those of the set's language, if it is en or cs."""


class ValuesFile(BaseModel):
    """The file `set.yaml`; paths are relative to it."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    name: str | None = None
    """The name by which the set is cited. Default: the name of its directory."""
    language: str = "und"
    """BCP 47 tag, such as en or cs. Default: und, undetermined."""
    statements: str = "statements.csv"
    """The table of statements. Default: statements.csv."""
    calibration: str = "calibration.csv"
    """The table of neutral statements. Default: calibration.csv."""
    columns: TableColumns = TableColumns()
    """Columns of these tables whose names differ from their fields."""
    like: str | None = None
    """A bundled set of the same language, whose neutral statements and templates are used where this file names none.
    Default: none."""
    templates: Annotated[list[StanceTemplate], Field(min_length=1)] | None = None
    """The sentences of every group in every wording. Default: those of the set named under `like`."""
    chat: ChatPart | None = None
    """Questions for chat models (elicit: chat or answer). Default: those of the set named under `like`."""
    statement: str | None = None
    """The data statement. Default: none."""


SCHEMAS: Mapping[str, type[BaseModel]] = {
    SET_FILE: ValuesFile,
    "statements": StatementRow,
    "calibration": NeutralRow,
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause whose `kind` is statement, calibration or negation; a negation has the id of its statement."""

    id: str
    text: str
    kind: str
    place: str
    value: str = ""
    reversed: bool = False

    def labels(self, template: StanceTemplate | AskedTemplate) -> dict[str, Any]:
        """Return the columns that identify the item that combines this clause with a template."""
        own = {"id": self.id, "kind": self.kind, "value": self.value, "reversed": self.reversed, "text": self.text}
        return {**own, "variant": template.variant, "group": template.group}


@dataclass(frozen=True, slots=True, repr=False)
class ValuesSet:
    """A set of value statements; `sha256` is the hash of its files."""

    name: str
    language: str
    statements: tuple[Statement, ...]
    calibration: tuple[Statement, ...]
    negations: tuple[Statement, ...]
    templates: tuple[StanceTemplate, ...]
    files: tuple[Path, ...]
    sha256: str
    chat: ChatPart | None = None

    def __repr__(self) -> str:
        counts = f"{counted(len(self.statements), 'statements')}, {len(self.calibration)} neutral"
        return f"<value statements {self.name}: {counts}, {counted(len(self.templates), 'templates')}>"

    def clauses(self) -> Iterator[Statement]:
        """Yield all clauses: calibration, statements, then negations."""
        yield from self.calibration
        yield from self.statements
        yield from self.negations


def file_of_set(given: Any) -> Path:
    """Return the path of `set.yaml` for a set that is passed as a mapping with tables in place of file names.

    Raises DataError if the set is incomplete or a table is invalid.
    """
    if not isinstance(given, Mapping) and not is_table(plain(given)):
        raise DataError(f"{kind(given)} is not a set of statements", where=NAME, hint="name a directory with set.yaml")
    if not isinstance(given, Mapping) or not given.keys() & {"statements", "templates", "like"}:
        raise DataError(
            "a table of statements is not a whole set: neutral statements and templates are missing",
            where=NAME,
            hint="give {'statements': TABLE, 'calibration': TABLE, 'templates': [{'group': …, 'agree': …, 'disagree': "
            "…}]}, or {'statements': TABLE, 'like': 'political-values-en'} to take the rest from a bundled set",
        )
    if "statements" not in given:
        raise DataError("is missing", where=f"{NAME} ('statements')", hint=_HINT)
    tables = {"statements": tuple(StatementRow.model_fields), "calibration": tuple(NeutralRow.model_fields)}
    return document_of({"name": NAME, **given}, tables, NAME)


@asked
def read_values(path: Any) -> ValuesSet:
    """Read a set of value statements.

    `path` is a directory with `set.yaml`, that file, the name of a bundled set, or a mapping with the keys of the file
    and tables instead of file names. Raises DataError naming file, line and field.
    """
    source = find_data(path, sets=SETS) if isinstance(path, str | Path) else file_of_set(path)
    if is_directory(source):
        source = source / SET_FILE
        if not source.is_file():
            raise DataError(f"the directory contains no {SET_FILE}", file=source.parent, hint=_HINT)
    if not source.suffix.lower().startswith(".y"):
        message = f"a table alone is not a set; put it in a directory with a {SET_FILE}"
        raise DataError(message, file=source, hint=f"penchant init values writes such a directory; {_HINT}")
    description = read_document(source, ValuesFile, hint=_HINT)
    like = _like(description, source)
    if description.templates is None and like is None:
        raise DataError("is missing", file=source, field="templates", hint=f"name a bundled set under like, or {_HINT}")
    _check_templates(description.templates or [], source)
    _check_templates(description.chat.templates if description.chat else [], source)
    folder = source.parent
    statements, negations = _statements(folder / description.statements, description.columns.statements)
    own = like is None or "calibration" in description.model_fields_set
    neutral = folder / description.calibration if like is None or own else like.files[2]
    files = (source, folder / description.statements, neutral, *(like.files[:1] if like else ()))
    return ValuesSet(
        description.name or source.absolute().parent.name,
        description.language if like is None or description.language != "und" else like.language,
        statements,
        _calibration(neutral, description.columns.calibration if own else {}),
        negations,
        tuple(description.templates or (like.templates if like else ())),
        files,
        hashlib.sha256("".join(sha256_file(file) for file in files).encode()).hexdigest(),
        description.chat or (like.chat if like else None),
    )


def _like(description: ValuesFile, source: Path) -> ValuesSet | None:
    """Return the bundled set named under `like`, or None if none is named. Raises DataError for an unknown name."""
    if description.like is None:
        return None
    known = bundled(SETS, SET_FILE)
    if description.like not in known:
        message = f"there is no bundled set '{description.like}'"
        raise DataError(message, file=source, field="like", hint=one_of(description.like, known))
    return read_values(SETS / description.like)


def _check_templates(templates: Sequence[StanceTemplate | AskedTemplate], path: Path) -> None:
    seen = [(template.variant, template.group) for template in templates]
    for key in seen:
        if seen.count(key) > 1:
            raise DataError(f"variant '{key[0]}' has two templates for group '{key[1]}'", where=f"{path}, templates")
    groups = dict.fromkeys(group for _, group in seen)
    for variant in dict.fromkeys(variant for variant, _ in seen):
        for group in groups:
            if (variant, group) not in seen:
                raise DataError(f"variant '{variant}' has no template for group '{group}'", where=f"{path}, templates")


def _statements(path: Path, columns: Mapping[Any, str]) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    statements, negations = [], []
    for where, row in _once(path, StatementRow, columns):
        shared: dict[str, Any] = {"place": where, "value": row.value, "reversed": row.reversed}
        statements.append(Statement(row.id, row.text, "statement", **shared))
        if row.negation:
            negations.append(Statement(row.id, row.negation, "negation", **shared))
    return tuple(statements), tuple(negations)


def _calibration(path: Path, columns: Mapping[Any, str]) -> tuple[Statement, ...]:
    return tuple(Statement(row.id, row.text, "calibration", where) for where, row in _once(path, NeutralRow, columns))


Row = TypeVar("Row", StatementRow, NeutralRow)


def _once(path: Path, model: type[Row], columns: Mapping[Any, str]) -> Iterator[tuple[str, Row]]:
    """Yield each row with its location in the file. Raises DataError for a repeated id or text, or an empty table."""
    seen: dict[tuple[str, str], int] = {}
    table = "statements" if model is StatementRow else "calibration"
    naming = f"if one has another name, write columns: {{{table}: {{FIELD: COLUMN}}}} in {SET_FILE}"
    if is_kept(path):
        naming = f"if one has another name, give {{'columns': {{'{table}': {{'FIELD': COLUMN}}}}, …}}"
    for line, row in read_models(path, model, columns=columns, naming=naming):
        for field in ("id", "text"):
            key = (field, canonical(getattr(row, field)))
            if key in seen:
                raise DataError(
                    f"'{key[1]}' occurs twice, first on {line_noun(line)} {seen[key]}",
                    file=path,
                    line=line,
                    field=field,
                )
            seen[key] = line
        yield place(path, line), row
    if not seen:
        raise DataError("contains no rows", file=path)
