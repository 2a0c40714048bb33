"""`grammar.yaml` as it is written: its keys, and the line on which each stands.

    name: garden
    language: en
    categories:                            # the kinds of words, each a table (CSV) with a row for every word
      noun: {file: nouns.csv, forms: [singular, plural]}
      verb: {file: verbs.csv, forms: [past], restrictions: [subject, object]}
    paradigms: …

Columns of a table: `lemma`, the forms (text as it is put into a sentence; empty: the word has no such form), the
restrictions (conditions on another word) and features, which are all the others. Tables of several categories are
listed under `lexicon` instead and have a column `category`.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from penchant.data.documents import as_text
from penchant.data.features import parse_condition
from penchant.errors import DataError, finding

GRAMMAR_FILE = "grammar.yaml"
HINT = "see penchant schema grammar"


# Keys --------------------------------------------------------------------------------------------------------------


def _written(value: object) -> str:
    """A text; what YAML takes for something else is told, for a value may well be `no`."""
    if value is None or not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError(f"a text is wanted, got {value!r}: put a word that YAML reads as something else in quotes")
    return as_text(value)


def _several(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _condition(value: object) -> str:
    return parse_condition(unicodedata.normalize("NFC", value) if isinstance(value, str) else _written(value)).text


def _table(value: object) -> object:
    """A category of which only the table is named, or nothing."""
    return {} if value is None else {"file": value} if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_written)]
Texts = Annotated[
    list[Text],
    BeforeValidator(_several),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
ConditionText = Annotated[str, BeforeValidator(_condition)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CategoryEntry(_Strict):
    """A kind of words; it is called like its key."""

    file: Annotated[Text | None, Field(description="the table of its words; none: they are in those of `lexicon`")] = (
        None
    )
    forms: Annotated[list[Text], Field(description="columns that hold forms; lemma is one always")] = []
    restrictions: Annotated[list[Text], Field(description="columns that hold conditions on another word")] = []


class _Drawn(_Strict):
    """How the word of a slot is drawn."""

    where: Annotated[ConditionText | None, Field(description="a condition on the word itself")] = None
    choose: Annotated[
        dict[Text, Annotated[Texts, Field(min_length=1)]] | None,
        Field(description="features the word is given in this sentence, each with the values it may take"),
    ] = None
    agree: Annotated[dict[Text, Text] | None, Field(description="feature: slot.feature with which it agrees")] = None
    fits: Annotated[Texts | None, Field(description="slot.restriction that the word satisfies")] = None
    takes: Annotated[
        dict[Text, Text] | None, Field(description="restriction of the word: slot whose word satisfies it")
    ] = None
    differs: Annotated[
        Texts | None, Field(description="slots with another lemma; slot.feature: another value of that feature")
    ] = None


class SlotEntry(_Drawn):
    """A slot of a sentence. It may refer to slots that stand before it."""

    category: Annotated[Texts, Field(min_length=1, description="the category or categories of the word")]


class VaryEntry(_Drawn):
    """How a slot is drawn anew for the bad sentence: what is not given is as for the good one, the values it chose
    among included. Its own name stands for the word of the good sentence."""

    category: Annotated[Texts | None, Field(min_length=1)] = None


class ParadigmEntry(_Strict):
    """A paradigm; it is called like its key. `{slot}` in a sentence is the lemma, `{slot:plural}` the form of that
    column, `{slot:number}` the form called like the slot's value of the feature, `{slot:past.gender.number}` one
    whose column has a name of several parts, features among them replaced by their values."""

    field: Annotated[Text | None, Field(description="such as syntax")] = None
    linguistics_term: Annotated[Text | None, Field(description="the phenomenon, such as argument_structure")] = None
    slots: Annotated[dict[Text, SlotEntry], Field(min_length=1, description="in the order in which they are drawn")]
    good: Annotated[Text, Field(description="the acceptable sentence, with slots in braces")]
    bad: Annotated[Text, Field(description="the unacceptable one")]
    vary: Annotated[
        dict[Text, Annotated[VaryEntry, BeforeValidator(lambda value: {} if value is None else value)]],
        Field(description="slots drawn anew for the bad sentence; all others are shared"),
    ] = {}


class GrammarFile(_Strict):
    """`grammar.yaml`. Paths are relative to it."""

    name: Text | None = None
    language: Annotated[Text, Field(description="BCP 47 tag, such as en or cs")] = "und"
    statement: Annotated[Text | None, Field(description="the data statement")] = None
    lexicon: Annotated[list[Text], Field(description="tables of several categories, with a column category")] = []
    categories: dict[Text, Annotated[CategoryEntry, BeforeValidator(_table)]] = {}
    paradigms: dict[Text, ParadigmEntry]


# Lines -------------------------------------------------------------------------------------------------------------


class Source:
    """A YAML file and the lines of its keys."""

    def __init__(self, path: Path, root: yaml.Node | None) -> None:
        self.path = path
        self._lines: dict[tuple[str, ...], int] = {}
        if root is not None:
            self._walk(root, (), [])

    def _walk(self, node: yaml.Node, key: tuple[str, ...], above: list[yaml.Node]) -> None:
        if any(node is one for one in above):
            return  # an alias inside what it stands for
        above = [*above, node]
        if isinstance(node, yaml.SequenceNode):
            for number, value in enumerate(node.value):
                self._lines[(*key, str(number))] = value.start_mark.line + 1
                self._walk(value, (*key, str(number)), above)
        elif isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                own = (*key, unicodedata.normalize("NFC", str(name.value)).strip())
                line = name.start_mark.line + 1
                if own in self._lines:
                    raise self.error(own, f"the key occurs twice, again on line {line}")
                self._lines[own] = line
                self._walk(value, own, above)

    def error(self, key: tuple[str, ...], message: str, hint: str = "") -> DataError:
        """The error with file, line and key; a key that is not there stands where the one above it does."""
        near = next((key[:end] for end in range(len(key), 0, -1) if key[:end] in self._lines), ())
        return DataError(message, file=self.path, line=self._lines.get(near), field=".".join(key) or None, hint=hint)


def read_grammar_file(path: Path) -> tuple[GrammarFile, Source]:
    """The file, and where its keys are. Raises DataError naming file, line and key."""
    content, root = _content(path)
    source = Source(path, root)
    if not isinstance(content, dict):
        raise DataError("the file holds keys such as name, language, categories, paradigms", file=path, hint=HINT)
    try:
        return GrammarFile.model_validate(content), source
    except ValidationError as error:
        first = error.errors()[0]
        key = tuple(str(part) for part in first["loc"] if part != "[key]")
        raise source.error(key, finding(first), HINT) from error


def _content(path: Path) -> tuple[Any, yaml.Node | None]:
    try:
        loader = yaml.SafeLoader(path.read_text("utf-8"))
        root = loader.get_single_node()
        return (None if root is None else loader.construct_document(root)), root
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        raise DataError(f"is not YAML: {getattr(error, 'problem', None) or error}", file=path, line=line) from error
    except ValueError as error:  # such as the date 2024-13-45
        raise DataError(f"holds a value that is none: {error}", file=path, hint="put it in quotes") from error
