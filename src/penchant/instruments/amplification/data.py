"""Amplification sets: contrasts of two groups of words, attribute words, and sentences with a slot for either word.

A set is a directory with `set.yaml`, or that file (see `AmplificationSetFile`). Words are counted in running text in
all of their forms: unchanged, with each suffix of their list, and in the forms that the set gives them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from penchant.corpus.cooccurrence_counts import Grouped, GroupSearch
from penchant.corpus.nfc import normalise
from penchant.corpus.slot_filling import Span, filled
from penchant.corpus.stimulus_file_models import Name, Text, Texts
from penchant.corpus.text_files import Layout
from penchant.corpus.word_matching import words as words_of
from penchant.errors import DataError
from penchant.files import sha256_file
from penchant.letter_case import lowered
from penchant.tables.yaml_json_documents import YamlDocument, distinct, read_yaml
from penchant.text_io import is_directory
from penchant.unicode_spellings import as_named

SET_FILE = "set.yaml"
EVERYTHING = "all"
"""The reserved name for attributes of all kinds together."""
HINT = "see penchant schema amplification"
_SLOT = re.compile(r"\{(group|attribute)\}")


def _with_slots(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a sentence, got {value!r}")
    rest = text = value.strip()
    for slot in ("{group}", "{attribute}"):
        if text.count(slot) != 1:
            raise ValueError(f"{slot} must occur exactly once in the sentence, not {text.count(slot)} times: {text!r}")
        rest = rest.replace(slot, "")
    if "{" in rest or "}" in rest:
        raise ValueError(f"braces may only hold {{group}} and {{attribute}}: {text!r}")
    return text


TemplateText = Annotated[str, BeforeValidator(_with_slots)]
Templates = Annotated[list[TemplateText], Field(min_length=1), AfterValidator(distinct)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class GroupEntry(_Strict):
    """One of the two groups of a contrast."""

    label: Name
    """The name of the group in reports."""
    words: Texts
    """The words of the group, which fill the {group} slot."""
    suffixes: list[Text] = []
    """Endings, such as s, with which every word of the group is counted in the text too. Default: none."""


class AttributeEntry(_Strict):
    """Attribute words of one kind; the key of the entry is the name of the kind."""

    templates: Name
    """The family of templates whose {attribute} slot the words fill."""
    words: Texts
    """The words."""
    suffixes: list[Text] = []
    """Endings with which words are counted in the text too. Default: none, as the model scores the bare word."""


class ContrastEntry(_Strict):
    """Two groups and the attributes measured with both groups; the key of the entry is the name of the contrast."""

    A: GroupEntry
    """The first group; associations with it are above 0."""
    B: GroupEntry
    """The second group; associations with it are below 0."""
    attributes: Annotated[dict[Name, AttributeEntry], Field(min_length=1)]
    """Attribute words by kind, such as gender-typed or neutral; "all" is reserved."""
    control: bool = False
    """True for the contrast without an expected bias, with which the others are compared. Default: no."""


class AmplificationSetFile(_Strict):
    """Schema of the file `set.yaml`: contrasts of words, and templates of sentences."""

    name: Name | None = None
    """The name by which the set is cited. Default: the name of its directory."""
    language: str = "und"
    """BCP 47 tag of the language, for sentence boundaries and capitals. Default: und, undetermined."""
    statement: str | None = None
    """The data statement. Default: none."""
    cased: bool = False
    """True if capital letters distinguish words of the text. Default: no; King is counted as king."""
    templates: Annotated[dict[Name, Templates], Field(min_length=1)]
    """Families of sentences, each with one {group} and one {attribute}, by name."""
    contrasts: Annotated[dict[Name, ContrastEntry], Field(min_length=1)]
    """The contrasts, by name."""
    forms: dict[Name, Texts] = {}
    """Further forms in which a word is counted in the text, by word, such as man: [men]."""


SCHEMAS: Mapping[str, type[BaseModel]] = {SET_FILE: AmplificationSetFile}


@dataclass(frozen=True, slots=True)
class GroupTemplate:
    """A sentence with one {group} and one {attribute}, in either order."""

    text: str
    language: str = "und"

    def sentence(self, group: str, attribute: str) -> tuple[str, Span, Span]:
        """Return the sentence with both slots filled, and the spans of group word and attribute.

        A word at the beginning of the sentence is capitalised.
        """
        text, spans = filled(_SLOT, self.text, {"group": group, "attribute": attribute}, capital=self.language)
        return text, spans["group"], spans["attribute"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute word, its kind and the templates of its sentences."""

    word: str
    kind: str
    templates: tuple[GroupTemplate, ...]
    place: str

    def leaks(self) -> list[str]:
        """Return the templates that contain the word outside its slot, where the model sees it unmasked."""
        return [
            template.text
            for template in self.templates
            if _small(self.word, template.language)
            in words_of(_small(_SLOT.sub(" ", template.text), template.language))
        ]

    def sentences(self, contrast: WordContrast) -> Iterator[tuple[str, str, str, str, Span, Span]]:
        """Yield side ("A" or "B"), group word, template, sentence and both words' spans, by template, then side."""
        for template in self.templates:
            for side, words in (("A", contrast.a), ("B", contrast.b)):
                for word in words:
                    yield side, word, template.text, *template.sentence(word, self.word)


@dataclass(frozen=True, slots=True)
class WordContrast:
    """Two groups of words, `a` and `b`, and attributes; `forms` maps each word to its surface forms."""

    name: str
    labels: tuple[str, str]
    a: tuple[str, ...]
    b: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    control: bool
    forms: Mapping[str, tuple[str, ...]]

    def kinds(self) -> list[str]:
        """Return the kinds of attributes, in order of first appearance."""
        return list(dict.fromkeys(attribute.kind for attribute in self.attributes))

    def grouped(self) -> Grouped:
        """Return the words to count in a text."""
        words = [attribute.word for attribute in self.attributes]
        a, b, others = ({word: self.forms[word] for word in part} for part in (self.a, self.b, words))
        return Grouped(a, b, others)


@dataclass(frozen=True, slots=True, repr=False)
class AmplificationSet:
    """A set of contrasts; `sha256` is the hash of its file."""

    name: str
    language: str
    cased: bool
    contrasts: tuple[WordContrast, ...]
    path: Path
    sha256: str

    def __repr__(self) -> str:
        words = sum(len(contrast.attributes) for contrast in self.contrasts)
        return f"<amplification set {self.name}: {len(self.contrasts)} contrasts, {words:,} attributes>"

    def search(self, layout: Layout, field: str) -> GroupSearch:
        """Return the search that counts the words in a text."""
        grouped = [contrast.grouped() for contrast in self.contrasts]
        return GroupSearch(grouped, self.language, layout, field, self.cased)


def read_amplification(path: Path) -> AmplificationSet:
    """Read a set from a directory with `set.yaml`, or from that file. Raises DataError naming file, line and key."""
    place = path / SET_FILE if is_directory(path) else path
    if not place.is_file():
        raise DataError(f"the directory contains no {SET_FILE}", file=path, hint=HINT)
    document = read_yaml(place)
    content = document.checked(AmplificationSetFile, hint=HINT)
    name = content.name or (place.absolute().parent.name if place.name == SET_FILE else place.stem)
    contrasts = tuple(_contrast(id_, entry, content, document) for id_, entry in content.contrasts.items())
    _check_control(contrasts, document)
    _check_forms(content, contrasts, document)
    return AmplificationSet(name, content.language, content.cased, contrasts, place, sha256_file(place))


def _contrast(id_: str, entry: ContrastEntry, content: AmplificationSetFile, document: YamlDocument) -> WordContrast:
    attributes: list[Attribute] = []
    suffixes: dict[str, Sequence[str]] = {}
    at = ("contrasts", id_)
    for kind, part in entry.attributes.items():
        key = (*at, "attributes", kind)
        if kind == EVERYTHING:
            raise document.error(key, f"the name '{EVERYTHING}' is reserved", "give it another name")
        if part.templates not in content.templates:
            known = f"use one of {', '.join(content.templates)}"
            raise document.error((*key, "templates"), f"there is no family of templates '{part.templates}'", known)
        templates = tuple(GroupTemplate(text, content.language) for text in content.templates[part.templates])
        place = f"{document.path}, {'.'.join(key)}"
        attributes += [Attribute(word, kind, templates, place) for word in part.words]
        suffixes |= dict.fromkeys(part.words, part.suffixes)
    for group in (entry.A, entry.B):
        suffixes |= dict.fromkeys(group.words, group.suffixes)
    if as_named(entry.A.label) == as_named(entry.B.label):
        raise document.error(
            (*at, "B", "label"), f"both groups are called '{entry.B.label}'", "give each its own label"
        )
    forms = {word: _forms(word, endings, content) for word, endings in suffixes.items()}
    a, b = tuple(entry.A.words), tuple(entry.B.words)
    contrast = WordContrast(id_, (entry.A.label, entry.B.label), a, b, tuple(attributes), entry.control, forms)
    _check_words(contrast, content, document)
    return contrast


def _forms(word: str, suffixes: Sequence[str], content: AmplificationSetFile) -> tuple[str, ...]:
    forms = (word, *(word + suffix for suffix in suffixes), *content.forms.get(normalise(word), ()))
    return tuple(dict.fromkeys(map(normalise, forms)))


def _small(text: str, language: str) -> str:
    return normalise(lowered(text, language))


def _check_words(contrast: WordContrast, content: AmplificationSetFile, document: YamlDocument) -> None:
    """Raise DataError for a repeated word, a form without letter or digit, or a form that two words share."""

    def fold(form: str) -> str:
        return form if content.cased else as_named(_small(form, content.language))

    lists = {"A": contrast.a, "B": contrast.b, "the attributes": tuple(each.word for each in contrast.attributes)}
    taken: dict[str, tuple[str, str]] = {}
    key = ("contrasts", contrast.name)
    for name, listed in lists.items():
        for number, word in enumerate(listed):
            if word in listed[:number]:
                raise document.error(key, f"'{word}' appears twice in {name}", "remove one")
            for form in contrast.forms[word]:
                if not words_of(form):
                    raise document.error(key, f"the form '{form}' of '{word}' contains no letter or digit")
                other, where = taken.setdefault(fold(form), (word, name))
                if (other, where) != (word, name):
                    shared = f"'{form}' is a form of '{other}' in {where} and of '{word}' in {name}"
                    raise document.error(key, shared, "give each form to one word only")


def _check_control(contrasts: Sequence[WordContrast], document: YamlDocument) -> None:
    controls = [contrast.name for contrast in contrasts if contrast.control]
    if len(controls) > 1:
        key = ("contrasts", controls[1], "control")
        raise document.error(key, f"'{controls[0]}' is already the control", "mark only one contrast as the control")
    if len(controls) == len(contrasts):
        raise document.error(("contrasts", controls[0], "control"), "there is no contrast besides the control")


def _check_forms(content: AmplificationSetFile, contrasts: Sequence[WordContrast], document: YamlDocument) -> None:
    known = {normalise(word) for contrast in contrasts for word in contrast.forms}
    for word in content.forms:
        if word not in known:
            raise document.error(
                ("forms", word), f"'{word}' is not a word of the set", "remove its forms, or add the word"
            )
