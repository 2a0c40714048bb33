"""Models of the contents of `grammar.yaml`.

    name: garden
    language: en
    categories:                            # the kinds of words, each a table (CSV) with a row for every word
      noun: {file: nouns.csv, forms: [singular, plural]}
      verb: {file: verbs.csv, forms: [past], restrictions: [subject, object]}
    paradigms: …

The columns of a table are `lemma`, the forms (text to insert into a sentence; empty if the word has no such form), the
restrictions (conditions on another word), and the features (all other columns). Tables of several categories are
listed under `lexicon` instead, and have a column `category`.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from penchant.grammar.features import parse_condition
from penchant.tables.yaml_json_documents import YamlDocument, as_text, read_yaml

GRAMMAR_FILE = "grammar.yaml"
HINT = "see penchant schema grammar"


# Keys --------------------------------------------------------------------------------------------------------------


def _as_text(value: object) -> str:
    """Return a string or a number as a string. Raises ValueError if YAML has read the value as another type."""
    if value is None or not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError(f"expected a string, got {value!r}: put quotes around a word that YAML reads as another type")
    return as_text(value)


def _several(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _condition(value: object) -> str:
    return parse_condition(unicodedata.normalize("NFC", value) if isinstance(value, str) else _as_text(value)).text


def _category_mapping(value: object) -> object:
    """Return a category as a mapping if it is empty or only the name of its table; return other values unchanged."""
    return {} if value is None else {"file": value} if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_as_text)]
Texts = Annotated[
    list[Text],
    BeforeValidator(_several),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
ConditionText = Annotated[str, BeforeValidator(_condition)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class WordCategoryEntry(_Strict):
    """Category of words; its key in `categories` is its name."""

    file: Annotated[
        Text | None, Field(description="the table of its words; if none, they are in the tables of `lexicon`")
    ] = None
    forms: Annotated[list[Text], Field(description="columns that hold forms; lemma always does")] = []
    restrictions: Annotated[list[Text], Field(description="columns that hold conditions on another word")] = []


class _Drawn(_Strict):
    """Rules for drawing the word of a slot."""

    where: Annotated[ConditionText | None, Field(description="a condition on the word itself")] = None
    choose: Annotated[
        dict[Text, Annotated[Texts, Field(min_length=1)]] | None,
        Field(description="features assigned to the word in this sentence, each with the values it may take"),
    ] = None
    agree: Annotated[dict[Text, Text] | None, Field(description="feature: the slot.feature with which it agrees")] = (
        None
    )
    fits: Annotated[Texts | None, Field(description="slot.restriction that the word satisfies")] = None
    takes: Annotated[
        dict[Text, Text] | None, Field(description="restriction of the word: the slot whose word satisfies it")
    ] = None
    differs: Annotated[
        Texts | None,
        Field(description="slots whose lemma must differ, or slot.feature for a feature whose value must differ"),
    ] = None


class SlotEntry(_Drawn):
    """Slot of a sentence, which may refer to earlier slots."""

    category: Annotated[Texts, Field(min_length=1, description="the category or categories of the word")]


class VaryEntry(_Drawn):
    """Rules for redrawing a slot for the bad sentence.

    For an omitted key, the rule of the good sentence applies, with the values chosen there. The slot's own name refers
    to its word in the good sentence.
    """

    category: Annotated[Texts | None, Field(min_length=1)] = None
    """The category or categories of the word; default: as for the good sentence."""


class ParadigmEntry(_Strict):
    """Paradigm of minimal pairs; its key in `paradigms` is its name.

    In a sentence, `{slot}` is the lemma and `{slot:plural}` the form in the column `plural`. `{slot:number}` is the
    form in the column named by the value of the feature `number`, and `{slot:past.gender.number}` the form in a column
    whose name has several parts, with features replaced by their values.
    """

    field: Annotated[Text | None, Field(description="such as syntax")] = None
    linguistics_term: Annotated[Text | None, Field(description="the phenomenon, such as argument_structure")] = None
    one_prefix_method: bool = False
    """BLiMP's flag for pairs in which one prefix is followed by two different critical words."""
    two_prefix_method: bool = False
    """BLiMP's flag for pairs in which the same critical word follows two different prefixes."""
    lexically_identical: bool | None = None
    """BLiMP's flag for pairs of the same words; default: true if both sentences have the same words, ignoring case."""
    slots: Annotated[dict[Text, SlotEntry], Field(min_length=1, description="in the order in which they are drawn")]
    good: Annotated[Text, Field(description="the acceptable sentence, with slots in braces")]
    bad: Annotated[Text, Field(description="the unacceptable one")]
    vary: Annotated[
        dict[Text, Annotated[VaryEntry, BeforeValidator(lambda value: {} if value is None else value)]],
        Field(description="slots drawn anew for the bad sentence; all others are shared"),
    ] = {}


class GrammarFile(_Strict):
    """Contents of a `grammar.yaml`; paths are relative to the file."""

    name: Text | None = None
    """The name of the grammar; default: the name of its directory."""
    language: Annotated[Text, Field(description="BCP 47 tag, such as en or cs")] = "und"
    statement: Annotated[Text | None, Field(description="the data statement")] = None
    lexicon: Annotated[list[Text], Field(description="tables of several categories, with a column category")] = []
    categories: dict[Text, Annotated[WordCategoryEntry, BeforeValidator(_category_mapping)]] = {}
    """The categories of words, by name."""
    paradigms: dict[Text, ParadigmEntry]
    """The paradigms of pairs, by name."""


def read_grammar_file(path: Path) -> tuple[GrammarFile, YamlDocument]:
    """Read a `grammar.yaml`; return its contents as a model and as a document with the line numbers of its keys.

    Raises DataError with the file, line and key if it is invalid.
    """
    document = read_yaml(path)
    return document.checked(GrammarFile, hint=HINT), document
