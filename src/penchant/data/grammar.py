"""Grammars of minimal pairs: a directory with `grammar.yaml` and tables of words (see `grammar_file`).

A grammar is data in any language: its categories, features and forms are its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from penchant.data.drawing import Drawing
from penchant.data.grammar_file import GRAMMAR_FILE, HINT, GrammarFile, Source, read_grammar_file
from penchant.data.lexicon import Lexicon, check_restrictions, near, read_lexicon
from penchant.data.paradigms import Paradigm, read_paradigm
from penchant.errors import DataError
from penchant.files import sha256_file

BUNDLED_GRAMMARS = Path(str(files("penchant"))) / "grammars"
"""The grammars that ship with penchant, each in a directory named after its language."""


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """A grammar as it was read and checked. `sha256` is the hash of all its files, `drawings` the rules by which the
    words of each paradigm are drawn."""

    name: str
    language: str
    statement: Path | None
    lexicon: Lexicon
    paradigms: Mapping[str, Paradigm]
    files: tuple[Path, ...]
    sha256: str
    drawings: Mapping[str, Drawing] = field(repr=False)

    def drawing(self, paradigm: str) -> Drawing:
        """The rules of a paradigm. Raises DataError naming those there are."""
        if paradigm not in self.drawings:
            message = f"grammar '{self.name}' has no paradigm '{paradigm}'"
            raise DataError(message, where=str(self.files[0]), hint=near(paradigm, self.paradigms))
        return self.drawings[paradigm]


def bundled_grammars() -> list[str]:
    """The names of the grammars that ship with penchant."""
    return sorted(place.parent.name for place in BUNDLED_GRAMMARS.glob(f"*/{GRAMMAR_FILE}"))


def find_grammar(name: str | Path) -> Path:
    """The directory a name stands for: one that is there, or the bundled grammar of that name."""
    place = Path(name)
    if str(name).strip() and place.exists():
        return place
    if str(name) in bundled_grammars():
        return BUNDLED_GRAMMARS / str(name)
    raise DataError(f"there is no grammar '{name}'", hint=f"name a directory with a {GRAMMAR_FILE}; {_bundled()}")


def _bundled() -> str:
    return f"bundled: {', '.join(bundled_grammars()) or 'none'}"


def read_grammar(path: str | Path) -> Grammar:
    """The grammar of a directory with `grammar.yaml`, or of such a file. Raises DataError naming file, line and key."""
    place = Path(path)
    if not place.exists():
        raise DataError("no such file or directory", file=place)
    if place.is_dir():
        if not (place / GRAMMAR_FILE).is_file():
            raise DataError(f"the directory holds no {GRAMMAR_FILE}", file=place, hint=HINT)
        place = place / GRAMMAR_FILE
    given, source = read_grammar_file(place)
    lexicon, tables = read_lexicon(given, source)
    paradigms = {name: read_paradigm(name, entry, lexicon, source) for name, entry in given.paradigms.items()}
    chosen = set().union(*(paradigm.given_features() for paradigm in paradigms.values()))
    check_restrictions(lexicon, sorted(chosen))
    drawings = {name: Drawing(lexicon, paradigm) for name, paradigm in paradigms.items()}
    for drawing in drawings.values():
        _refuse_empty(drawing, source)
    all_files = (place, *tables)
    sha256 = hashlib.sha256("".join(sha256_file(file) for file in all_files).encode()).hexdigest()
    name = given.name or place.absolute().parent.name
    return Grammar(name, given.language, _statement(given, source), lexicon, paradigms, all_files, sha256, drawings)


def _statement(given: GrammarFile, source: Source) -> Path | None:
    if given.statement is None:
        return None
    place = source.path.parent / given.statement
    if not place.is_file():
        raise source.error(("statement",), f"there is no file {place}")
    return place


def _refuse_empty(drawing: Drawing, source: Source) -> None:
    """Raise DataError for a slot that no word can ever have."""
    paradigm = drawing.paradigm
    for label, rules in (("slots", drawing.good), ("vary", drawing.bad)):
        for name, rule in rules.items():
            slot = rule.slot
            if not rule.options:
                kinds = " or ".join(slot.categories)
                asked = f" with {slot.where.text}" if slot.where.clauses else ""
                message = f"no word of category {kinds}{asked} can be drawn"
                raise source.error(("paradigms", paradigm.name, label, name), message)
