"""Codes with parameters that identify methods and notes, and the catalogues that contain their text.

The catalogues of penchant's own statistics are `methods.yaml` and `notes.yaml` beside this file. Codes of an instrument
begin with the name of its folder and a point; their text is in the folder's `text.yaml`, under `methods` and `notes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

_HERE = Path(__file__).parent
_FOLDERS: dict[str, Path] = {}


class Phrase:
    """A code with parameters: strings, numbers, lists of these, or other phrases.

    Phrases are equal if their codes and parameters are equal. `str(phrase)` returns the text from the catalogue.
    Parameters that are None are omitted.
    """

    __slots__ = ("code", "params")
    catalogue: ClassVar[str]
    code: str
    params: Mapping[str, Any]

    def __init__(self, code: str, /, **params: Any) -> None:
        self.code = code
        self.params = {name: _plain(value) for name, value in params.items() if value is not None}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Phrase) and self.json() == other.json()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.json()))

    def __repr__(self) -> str:
        params = "".join(f", {name}={value!r}" for name, value in self.params.items())
        return f"{type(self).__name__}({self.code!r}{params})"

    def __str__(self) -> str:
        return _written(self)

    def json(self) -> str:
        """Return the phrase as compact JSON, which `read` parses."""
        return json.dumps(self.plain(), ensure_ascii=False, separators=(",", ":"), default=_jsonable)

    def plain(self) -> dict[str, Any]:
        """Return the code and, if there are any, the parameters as a mapping for JSON."""
        return {"code": self.code, **({"params": dict(self.params)} if self.params else {})}

    @classmethod
    def read(cls, text: str | Mapping[str, Any]) -> Self:
        """Create a phrase from its JSON text or mapping."""
        plain = json.loads(text) if isinstance(text, str) else text
        return cls(plain["code"], **{name: _unplain(value) for name, value in plain.get("params", {}).items()})

    def with_(self, **changes: Any) -> Self:
        """Return a copy with some parameters changed; parameters set to None are omitted."""
        return type(self)(self.code, **{**self.params, **changes})


class Method(Phrase):
    """The method of an interval or a test, such as `Method("cluster-t", clusters=12, df=11)`.

    A code that begins with `none-` (after the folder of an instrument, if any) gives the reason why there is no
    interval.
    """

    __slots__ = ()
    catalogue = "methods"

    @property
    def makes_nothing(self) -> bool:
        """True if the code gives a reason why there is no interval."""
        return self.code.rpartition(".")[2].startswith("none-")

    def sources(self) -> list[str]:
        """Return the keys of the works to cite: first for methods among the parameters, then for this method."""
        inner = [key for value in self.params.values() if isinstance(value, Method) for key in value.sources()]
        return list(dict.fromkeys([*inner, *_entry(self)["cite"]]))


class Note(Phrase):
    """A caution about a number, such as `Note("few-clusters", have=5, noun="groups")`.

    The parameter `would_do` is the number of items that an interval needs for its nominal coverage.
    """

    __slots__ = ()
    catalogue = "notes"

    @property
    def left_out(self) -> str:
        """Description of the data that were not used, such as "2 of 9 records of the text", or "" if there is none."""
        from penchant.wording.templates import filled

        text = _entry(self).get("left-out", "")
        return filled(text, self.params) if text else ""


Notes: TypeAlias = tuple[Note, ...]


def read_method(text: str) -> Method | None:
    """Return the method in a value of the column `method` or `test_method`, or None if the value is empty."""
    return Method.read(text) if text else None


def read_notes(text: str) -> Notes:
    """Return the notes in a value of the column `notes`."""
    return tuple(Note.read(each) for each in json.loads(text)) if text else ()


def notes_json(notes: Iterable[Note]) -> str:
    """Return notes as a value of the column `notes`, or "" if there are none."""
    plain = [note.plain() for note in notes]
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), default=_jsonable) if plain else ""


def has_words(text: object, *, notes: bool) -> bool:
    """Return whether a value of the column `notes` (if `notes`) or of a method column can be read and rendered."""
    from jinja2 import TemplateError

    try:
        in_words(read_notes(str(text))) if notes else str(read_method(str(text)))
    except (ValueError, LookupError, TypeError, AttributeError, TemplateError):
        return False
    return True


def notes_of(row: Mapping[str, Any]) -> Notes:
    """Return the notes in a row of a summary or a comparison."""
    return read_notes(row.get("notes") or "")


def present(*notes: Note | None) -> Notes:
    """Return the notes that are not None, in the given order."""
    return tuple(note for note in notes if note is not None)


def in_words(notes: Iterable[Note]) -> str:
    """Return the text of notes, separated by semicolons."""
    return "; ".join(map(str, notes))


# Phrases that differ in their numbers only


class Span:
    """The values of one parameter in several phrases, displayed as a range from the smallest to the largest."""

    def __init__(self, values: Iterable[float], between: str) -> None:
        self.values, self.between = sorted(set(values)), between

    def __format__(self, form: str) -> str:
        ends = list(dict.fromkeys(format(value, form) for value in (self.values[0], self.values[-1])))
        if len(ends) == 2 and ends[0].endswith("%"):
            ends[0] = ends[0].removesuffix("%")
        return self.between.join(ends)

    def __str__(self) -> str:
        return format(self, "")


def shape(phrase: Phrase) -> tuple[object, ...]:
    """Return the code and structure of a phrase, which are equal for phrases that differ only in numbers."""
    return phrase.code, tuple((name, _shape(value)) for name, value in phrase.params.items())


def spanning(phrases: Sequence[Phrase], between: str) -> str:
    """Return one text for phrases of the same shape, in which numbers that differ become ranges joined by `between`."""
    return str(_spanned(phrases, between))


def together(groups: Sequence[Notes]) -> str:
    """Return one text for lists of notes that differ only in numbers, which become ranges."""
    return "; ".join(spanning(alike, "–") for alike in zip(*groups, strict=True))


def _spanned(phrases: Sequence[Phrase], between: str) -> Phrase:
    first = phrases[0]
    if len(set(phrases)) == 1:
        return first
    params = {name: _span([each.params[name] for each in phrases], between) for name in first.params}
    return first.with_(**params)


def _span(values: list[Any], between: str) -> Any:
    if isinstance(values[0], Phrase):
        return _spanned(values, between)
    if all(value == values[0] for value in values):
        return values[0]
    if isinstance(values[0], list):
        return [_span(list(each), between) for each in zip(*values, strict=True)]
    return Span(values, between)


def _shape(value: Any) -> object:
    if isinstance(value, Phrase):
        return shape(value)
    if isinstance(value, list):
        return tuple(map(_shape, value))
    return None if isinstance(value, int | float) and not isinstance(value, bool) else value


# Catalogues


def register(folder: Path) -> None:
    """Register the `text.yaml` in an instrument's folder, if it exists, as the catalogue of its codes."""
    if (folder / "text.yaml").is_file():
        _FOLDERS[folder.name] = folder / "text.yaml"


@cache
def _entries(path: Path, catalogue: str) -> dict[str, dict[str, Any]]:
    from penchant.wording.templates import document

    found = document(path)
    inside = found.get(catalogue, {}) if path.name == "text.yaml" else found
    return {
        code: {"text": entry, "cite": []} if isinstance(entry, str) else {"cite": [], **entry}
        for code, entry in inside.items()
    }


def _entry(phrase: Phrase) -> dict[str, Any]:
    folder, point, code = phrase.code.rpartition(".")
    path = _FOLDERS[folder] if point else _HERE / f"{phrase.catalogue}.yaml"
    return _entries(path, phrase.catalogue)[code]


@lru_cache(maxsize=4096)
def _written(phrase: Phrase) -> str:
    from penchant.wording.templates import filled

    return filled(_entry(phrase)["text"], phrase.params)


def every_code() -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield the catalogue, code, text and keys of cited works of every known method and note."""
    for catalogue in ("methods", "notes"):
        places = [("", _HERE / f"{catalogue}.yaml"), *((f"{name}.", path) for name, path in _FOLDERS.items())]
        for prefix, path in places:
            for code, entry in _entries(path, catalogue).items():
                yield catalogue, f"{prefix}{code}", entry["text"], entry["cite"]


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    value = value.item() if hasattr(value, "item") else value  # NumPy scalars
    return float(f"{value:.12g}") if isinstance(value, float) else value  # without the last digits, which are inexact


def _unplain(value: Any) -> Any:
    if isinstance(value, dict):
        return Method.read(value) if value.get("of") == "methods" else Note.read(value)
    return [_unplain(each) for each in value] if isinstance(value, list) else value


def _jsonable(value: object) -> object:
    if isinstance(value, Phrase):
        return {"of": value.catalogue, **value.plain()}
    if isinstance(value, Span):
        return {"values": value.values, "between": value.between}
    raise TypeError(f"a phrase cannot have a parameter of type {type(value).__name__}")
