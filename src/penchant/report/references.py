"""Bibliography of the works cited in descriptions of methods, as text and as BibTeX.

Paragraphs cite works as `[@salazar2020]` or `[@nangia2020; @blodgett2021]`. Works on statistics, which all instruments
may cite, are in the BibTeX file beside this module; other works are in the instruments' own files.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from penchant._version import RELEASED, __version__
from penchant.errors import DataError, one_of
from penchant.wording.templates import listed

_MARK = re.compile(r"\[(?P<keys>@[a-z0-9]+(?:; @[a-z0-9]+)*)\]")
"""A citation in a paragraph."""
_MARKED = re.compile(rf"{_MARK.pattern}|`(?P<code>[^`]+)`")
POINT = "\n- "
"""The separator before each item of the list at the end of a paragraph."""

_TEX = str.maketrans(
    {
        "ý": r"{\'y}",
        "ř": r"{\v{r}}",
        "é": r"{\'e}",
        "ö": r"{\"o}",
        "ú": r"{\'u}",
        "š": r"{\v{s}}",
        "Ø": r"{\O}",
        "ø": r"{\o}",
        "&": r"\&",
        "–": "--",
        "’": "'",
        "χ": r"$\chi$",
        "²": r"\textsuperscript{2}",
    }
)
_BARE = {"doi", "url"}
"""Fields that bibliography styles read verbatim and that are therefore not escaped."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A cited work.

    `kind` is the BibTeX entry type, and `fields` maps BibTeX field names to Unicode text, with authors as "Family,
    Given and Family, Given". Braces protect capitals in a name, or enclose the name of an organisation.
    """

    key: str
    kind: str
    fields: Mapping[str, str]

    @property
    def short(self) -> str:
        """Citation within a sentence, such as "Salazar et al. 2020"."""
        families = [family for family, _ in self._authors()]
        names = " and ".join(families) if len(families) < 3 else f"{families[0]} et al."
        return f"{names} {self.fields['year']}" if "year" in self.fields else names

    @property
    def text(self) -> str:
        """Reference on one line: authors, year, title, venue and address."""
        people = [f"{given} {family}".strip() for family, given in self._authors()]
        parts = [listed(people), self.fields.get("year", ""), _plain(self.fields["title"]), self._venue()]
        line = " ".join(part if part[-1] in ".?!" else f"{part}." for part in parts if part)
        return f"{line} {self._address()}".rstrip()

    @property
    def bibtex(self) -> str:
        """BibTeX entry in ASCII, for bibtex and biber."""
        lines = [
            f"  {name} = {{{value if name in _BARE else value.translate(_TEX)}}},"
            for name, value in self.fields.items()
        ]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])

    def _authors(self) -> Iterator[tuple[str, str]]:
        for author in self.fields["author"].split(" and "):
            family, _, given = author.partition(", ")
            yield _plain(family), given

    def _venue(self) -> str:
        fields = self.fields
        issue = f"({fields['number']})" if "number" in fields else ""
        volume = f"{fields['volume']}{issue}" if "volume" in fields else ""
        named = (fields.get(name) for name in ("journal", "booktitle", "howpublished", "publisher"))
        container = _plain(next(filter(None, named), ""))
        return ", ".join(filter(None, [container, volume, fields.get("pages", "")]))

    def _address(self) -> str:
        return f"https://doi.org/{self.fields['doi']}" if "doi" in self.fields else self.fields.get("url", "")


def _plain(text: str) -> str:
    return re.sub("[{}]", "", text)


def _keys(mark: re.Match[str]) -> list[str]:
    return [key.removeprefix("@") for key in mark["keys"].split("; ")]


def prose(paragraph: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each stretch of text in a paragraph, with the inline code or the citation keys that follow it, if any."""
    at = 0
    for match in _MARKED.finditer(paragraph):
        yield paragraph[at : match.start()], match["code"] or "", _keys(match) if match["keys"] else []
        at = match.end()
    yield paragraph[at:], "", []


def work(key: str, known: Mapping[str, Reference]) -> Reference:
    """Return the work with the given key; raise DataError for an unknown key."""
    if key not in known:
        raise DataError(f"contains no entry for the cited key '{key}'", where="references.bib", hint=one_of(key, known))
    return known[key]


def cited(paragraphs: Iterable[str], known: Mapping[str, Reference]) -> list[Reference]:
    """Return the works cited in paragraphs, in order of first citation; raise DataError for an unknown key."""
    found = (key for paragraph in paragraphs for mark in _MARK.finditer(paragraph) for key in _keys(mark))
    return [work(key, known) for key in dict.fromkeys(found)]


def unmarked(text: str, known: Mapping[str, Reference]) -> str:
    """Replace citation keys with citations such as "(Salazar et al. 2020)"; raise DataError for an unknown key."""
    return _MARK.sub(lambda mark: f"({'; '.join(work(key, known).short for key in _keys(mark))})", text)


@cache
def read_references(path: Path) -> Mapping[str, Reference]:
    """Return the works in a BibTeX file (UTF-8 or LaTeX accents), by key; raise DataError if it is invalid."""
    import latexcodec  # noqa: F401  (registers the codec)
    from pybtex.database import parse_string
    from pybtex.exceptions import PybtexError

    try:
        entries = parse_string(path.read_text("utf-8"), "bibtex").entries
    except (OSError, UnicodeDecodeError, PybtexError) as error:
        raise DataError(f"is not a valid BibTeX file: {error}", file=path) from error
    return {key: Reference(key, entry.type, _fields(entry)) for key, entry in entries.items()}


def _fields(entry: Any) -> dict[str, str]:
    people = {role: " and ".join(map(str, persons)) for role, persons in entry.persons.items()}
    return {
        name: value if name in _BARE or "\\" not in value else codecs.decode(value, "ulatex")
        for name, value in {**people, **entry.fields}.items()
    }


PENCHANT = Reference(
    "penchant",
    "misc",
    {
        "author": "{The penchant authors}",
        "title": "penchant: what a language model is inclined to say, with its uncertainty and its recipe",
        "year": RELEASED,
        "howpublished": f"Computer program, version {__version__}",
    },
)
"""The reference for penchant itself."""


def common_references() -> Mapping[str, Reference]:
    """Return the works on statistics and scores that all instruments may cite."""
    return read_references(Path(__file__).with_name("references.bib"))
