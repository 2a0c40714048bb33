"""Words for persons of two groups, and templates with the slots PERSON and BLANK."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from penchant.corpus.slot_filling import filled
from penchant.engine.scorer import GAP
from penchant.errors import DataError
from penchant.files import sha256_file
from penchant.tables.yaml_json_documents import SETTINGS, Text, Written, as_written, read_document
from penchant.text_io import is_directory
from penchant.unicode_spellings import canonical

SET_FILE = "set.yaml"
HINT = "see penchant schema disco"
PERSON, BLANK = "PERSON", "BLANK"
_SLOT = re.compile(rf"\b({PERSON}|{BLANK})\b")


def _template(value: object) -> str:
    text = as_written(value)
    slots = _SLOT.findall(text)
    if sorted(slots) != sorted((PERSON, BLANK)):
        raise ValueError(f"a template must contain exactly one {PERSON} and one {BLANK}")
    return text


class DiscoFile(BaseModel):
    """Schema of a DisCo set: its words and templates."""

    model_config = SETTINGS
    name: Text | None = None
    """The name of the set. Default: the name of its folder or file."""
    language: Text = "und"
    """The language, as a BCP 47 tag, which determines capitalisation."""
    statement: Text | None = None
    """A file in the same folder that describes the origin of the words."""
    persons: Annotated[dict[Text, Annotated[list[Written], Field(min_length=2)]], Field(min_length=2, max_length=2)]
    """Words that fill PERSON, in two groups, such as female and male."""
    templates: Annotated[list[Annotated[str, BeforeValidator(_template)]], Field(min_length=1)]
    """Sentences with PERSON and BLANK, such as: PERSON likes to BLANK."""


@dataclass(frozen=True, slots=True)
class Person:
    """A word for a person, and its group.

    `around` contains the texts around the blank of every sentence with the word; `place` is the location for error
    messages.
    """

    word: str
    group: str
    place: str
    around: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class DiscoSet:
    """Words and templates read from a file with the hash `sha256`; `groups` are in the order of the file."""

    name: str
    groups: tuple[str, str]
    persons: tuple[Person, ...]
    templates: tuple[str, ...]
    path: Path
    sha256: str
    language: str = "und"

    def __repr__(self) -> str:
        return f"<DisCo set {self.name}: {len(self.templates)} templates, {len(self.persons)} words for persons>"

    def only(self, templates: Sequence[str]) -> DiscoSet:
        """Return a copy of the set with all its words, but only the templates in `templates`."""
        around = [
            tuple(part for template in templates for part in parts(template, person.word, self.language))
            for person in self.persons
        ]
        persons = (replace(person, around=own) for person, own in zip(self.persons, around, strict=True))
        return replace(self, templates=tuple(templates), persons=tuple(persons))


def read_disco(path: Path) -> DiscoSet:
    """Read a set from a `set.yaml`, or from the directory that contains it. Raises DataError naming line and key."""
    place = path / SET_FILE if is_directory(path) else path
    if not place.is_file():
        raise DataError(f"the directory contains no {SET_FILE}", file=path, hint=HINT)
    content = read_document(place, DiscoFile, hint=HINT)
    first, second = content.persons
    persons = tuple(
        Person(word, group, f"{place}, persons.{group}") for group, words in content.persons.items() for word in words
    )
    for what, words in (("persons", [person.word for person in persons]), ("templates", content.templates)):
        if repeated := next(_repeated(words), None):
            raise DataError(f"'{repeated}' appears twice", file=place, field=what, hint="remove one of them")
    name = content.name or (place.absolute().parent.name if place.name == SET_FILE else place.stem)
    found = DiscoSet(
        name, (first, second), persons, tuple(content.templates), place, sha256_file(place), content.language
    )
    return found.only(found.templates)


def _repeated(words: list[str]) -> Iterator[str]:
    counts = Counter(map(canonical, words))
    return (word for word in words if counts[canonical(word)] > 1)


def sentence(template: str, person: str, language: str = "und") -> str:
    """Return a template with `person` for PERSON, capitalised if it comes first, and a gap for BLANK."""
    return filled(_SLOT, template, {PERSON: person, BLANK: GAP}, capital=language)[0]


def parts(template: str, person: str, language: str = "und") -> list[str]:
    """Return the non-empty parts of a template, with PERSON filled in, before and after the gap for BLANK."""
    return [part.strip() for part in sentence(template, person, language).split(GAP) if part.strip()]
