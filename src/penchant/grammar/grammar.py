"""Grammars that generate minimal pairs: directories with `grammar.yaml` and tables of words (see `grammar_file`)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from penchant.errors import DataError
from penchant.files import sha256_file
from penchant.grammar.grammar_file import GRAMMAR_FILE, HINT, GrammarFile, read_grammar_file
from penchant.grammar.lexicon import Lexicon, check_restrictions, near, read_lexicon
from penchant.grammar.paradigms import Paradigm, read_paradigm
from penchant.grammar.word_sampling import Drawing
from penchant.tables.data_lookup import bundled
from penchant.tables.yaml_json_documents import YamlDocument

BUNDLED_GRAMMARS = Path(__file__).parent / "grammars"
"""Directory of the bundled grammars, each in a subdirectory named after its language."""


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """Validated grammar.

    `sha256` is the hash of all its files; `drawings` has the rules for drawing the words of each paradigm.
    """

    name: str
    language: str
    statement: Path | None
    lexicon: Lexicon
    paradigms: Mapping[str, Paradigm]
    files: tuple[Path, ...]
    sha256: str
    drawings: Mapping[str, Drawing] = field(repr=False)

    def drawing(self, paradigm: str) -> Drawing:
        """Return the drawing rules of a paradigm. Raises DataError if there is no such paradigm."""
        if paradigm not in self.drawings:
            message = f"grammar '{self.name}' has no paradigm '{paradigm}'"
            raise DataError(message, where=str(self.files[0]), hint=near(paradigm, self.paradigms))
        return self.drawings[paradigm]


def bundled_grammars() -> list[str]:
    """Return the names of the bundled grammars."""
    return bundled(BUNDLED_GRAMMARS, GRAMMAR_FILE)


def find_grammar(name: str | Path) -> Path:
    """Return the path `name` if it exists, else the path of the bundled grammar. Raises DataError if neither exists."""
    place = Path(name)
    if str(name).strip() and place.exists():
        return place
    if str(name) in bundled_grammars():
        return BUNDLED_GRAMMARS / str(name)
    raise DataError(f"there is no grammar '{name}'", hint=f"give a directory with a {GRAMMAR_FILE}; {_bundled()}")


def _bundled() -> str:
    return f"bundled: {', '.join(bundled_grammars()) or 'none'}"


def read_grammar(path: str | Path) -> Grammar:
    """Read a grammar from its directory or its `grammar.yaml`.

    Raises DataError with the file, line and key if it is invalid.
    """
    place = Path(path)
    if not place.exists():
        raise DataError("no such file or directory", file=place)
    if place.is_dir():
        if not (place / GRAMMAR_FILE).is_file():
            raise DataError(f"the directory does not contain {GRAMMAR_FILE}", file=place, hint=HINT)
        place = place / GRAMMAR_FILE
    document, source = read_grammar_file(place)
    lexicon, tables = read_lexicon(document, source)
    paradigms = {name: read_paradigm(name, entry, lexicon, source) for name, entry in document.paradigms.items()}
    chosen = set().union(*(paradigm.given_features() for paradigm in paradigms.values()))
    check_restrictions(lexicon, sorted(chosen))
    drawings = {name: Drawing(lexicon, paradigm, document.language) for name, paradigm in paradigms.items()}
    for drawing in drawings.values():
        _refuse_empty(drawing, source)
    all_files = (place, *tables)
    sha256 = hashlib.sha256("".join(sha256_file(file) for file in all_files).encode()).hexdigest()
    name = document.name or place.absolute().parent.name
    return Grammar(
        name, document.language, _statement(document, source), lexicon, paradigms, all_files, sha256, drawings
    )


def _statement(document: GrammarFile, source: YamlDocument) -> Path | None:
    if document.statement is None:
        return None
    place = source.path.parent / document.statement
    if not place.is_file():
        raise source.error(("statement",), f"there is no file {place}")
    return place


def _refuse_empty(drawing: Drawing, source: YamlDocument) -> None:
    paradigm = drawing.paradigm
    for label, rules in (("slots", drawing.good), ("vary", drawing.bad)):
        for name, rule in rules.items():
            slot = rule.slot
            if not rule.options:
                kinds = " or ".join(slot.categories)
                condition = f" with {slot.where.text}" if slot.where.clauses else ""
                message = f"no word of category {kinds}{condition} can be drawn"
                raise source.error(("paradigms", paradigm.name, label, name), message)
