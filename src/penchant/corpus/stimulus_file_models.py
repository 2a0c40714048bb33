"""Models of the contents of stimulus files: `set.yaml`, SEAT and CEAT files, and rows of tables."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from penchant.tables.yaml_json_documents import as_text, as_written
from penchant.unicode_spellings import canonical

SET_FILE = "set.yaml"
Measure = Literal["weat", "seat", "ceat", "logprob-bias"]
MEASURES: tuple[str, ...] = get_args(Measure)
_SURROGATE = re.compile("[\ud800-\udfff]")


def _as_word(value: object) -> str:
    """Return a word as a string. Raises ValueError for a boolean, a date, null, or half of a surrogate pair."""
    if value is None or isinstance(value, bool | datetime.date):
        raise ValueError(f"expected a string, got {value!r}: put quotes around a word that YAML reads as another type")
    text = as_written(value)
    if _SURROGATE.search(text):
        raise ValueError("contains half of a surrogate pair")
    return text


def _with_slots(value: object, *slots: str) -> str:
    rest = text = _as_word(value)
    for slot in slots:
        if text.count(slot) != 1:
            raise ValueError(f"{slot} must occur exactly once in the sentence, not {text.count(slot)} times: {text!r}")
        rest = rest.replace(slot, "")
    if "{" in rest or "}" in rest:
        raise ValueError(f"braces are allowed only in {' and '.join(slots)}: {text!r}")
    return text


def _several(value: object) -> object:
    return value if isinstance(value, list) else [value]


Text = Annotated[str, BeforeValidator(_as_word)]
"""Word or sentence, with its spelling unchanged."""
Name = Annotated[str, BeforeValidator(lambda value: canonical(_as_word(value)))]
"""Name of a list, a family, a group or a category."""
Texts = Annotated[list[Text], Field(min_length=1)]
TemplateText = Annotated[str, BeforeValidator(lambda value: _with_slots(value, "{word}"))]
ContextText = Annotated[str, BeforeValidator(lambda value: _with_slots(value, "{target}", "{attribute}"))]
Groups = Annotated[
    list[Name],
    BeforeValidator(_several),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
SetLabel = Annotated[Literal["X", "Y", "A", "B"], BeforeValidator(as_text)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ListEntry(_Strict):
    """Word list of a `set.yaml`; its key in `lists` is its name."""

    label: Name | None = None
    """The name of the list in reports; default: its key."""
    templates: Annotated[Name | None, Field(description="the family of templates in which its words are placed")] = None
    words: Texts
    """The words."""


class ContextEntry(_Strict):
    """Sentence template for the log-probability bias score; a slot may be followed by a suffix."""

    structure: Annotated[Name, Field(description="such as S1, from the shortest context to the longest")]
    text: Annotated[ContextText, Field(description="a sentence with one {target} and one {attribute}")]


class CategoryEntry(_Strict):
    """Category of an association test; its key in `categories` is its name. X, Y, A and B are names of lists."""

    label: Name | None = None
    """The name of the category in reports."""
    X: Name
    """The list that is the first set of targets."""
    Y: Name
    """The list that is the second set of targets."""
    A: Name
    """The list that is the first set of attributes."""
    B: Name
    """The list that is the second set of attributes."""
    contexts: Annotated[Name | None, Field(description="the family of contexts")] = None
    target: Annotated[
        Literal["targets", "attributes"],
        Field(description="which sets fill the {target} slot: targets (X and Y) or attributes (A and B)"),
    ] = "targets"
    paired: Annotated[
        bool, Field(description="the words of the two lists in the {target} slot belong together by position")
    ] = False
    measures: Annotated[list[Measure], Field(min_length=1)] = list(get_args(Measure))
    """The instruments that use the category; default: all."""
    control: Name | None = None
    """A control category without relevant bias, whose effect size is subtracted (weat, seat, logprob-bias)."""


class SuffixesEntry(_Strict):
    """Suffixes of words in running text; entries for a word take precedence over entries for its lists."""

    file: Annotated[str | None, Field(description="a JSON file {word: [suffix, …]}, relative to this one")] = None
    groups: dict[Name, Texts] = {}
    """Suffixes, keyed by group."""
    lists: Annotated[dict[Name, Groups], Field(description="the group or groups of all words of a list")] = {}
    words: Annotated[dict[Name, Groups], Field(description="the group or groups of a word; [] for none")] = {}


class StimuliFile(_Strict):
    """Contents of a `set.yaml`; paths are relative to the file."""

    name: Name | None = None
    """The name of the set; default: the name of its directory."""
    language: Annotated[str, Field(description="BCP 47 tag, such as en or bn")] = "und"
    statement: Annotated[str | None, Field(description="the data statement")] = None
    lists: dict[Name, ListEntry]
    """The lists of words, by name."""
    templates: Annotated[
        dict[Name, Annotated[list[TemplateText], Field(min_length=1)]],
        Field(description="families of sentences with one {word}"),
    ] = {}
    contexts: dict[Name, Annotated[list[ContextEntry], Field(min_length=1)]] = {}
    """Families of sentences with one {target} and one {attribute}, by name."""
    categories: Annotated[dict[Name, CategoryEntry], Field(min_length=1)]
    """The categories that are tested, by name."""
    suffixes: SuffixesEntry = SuffixesEntry()


class SeatSet(_Strict):
    """Set of words or sentences in a SEAT or CEAT file."""

    category: Name
    """The name of the set."""
    examples: Texts
    """The words of the set, or whole sentences."""
    words: Annotated[
        Texts | None,
        Field(
            description="the stimulus words of examples that are sentences, so that sentences with the same word are "
            "tested together: one word for each example, or a list of words, one of which begins a word of each example"
        ),
    ] = None


class SeatFile(_Strict):
    """SEAT or CEAT file: one JSON object, in which the examples are words or sentences."""

    targ1: SeatSet
    targ2: SeatSet
    attr1: SeatSet
    attr2: SeatSet


class TableRow(BaseModel):
    """Row of a table of words; other columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    category: Name
    """The category of the word."""
    set: SetLabel
    """X or Y (targets), A or B (attributes)."""
    word: Text
    """The word."""
    label: Annotated[Name | None, Field(description="the name of the set")] = None


SCHEMAS: Mapping[str, type[BaseModel]] = {SET_FILE: StimuliFile, "seat": SeatFile, "table": TableRow}
"""The models of `set.yaml`, a SEAT or CEAT file, and a row of a table."""
