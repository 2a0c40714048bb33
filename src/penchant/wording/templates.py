"""Rendering of texts in catalogues, which are jinja2 templates with filters for numbers and nouns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penchant.errors import DataError
from penchant.plurals import counted, for_one, of_all

if TYPE_CHECKING:
    from jinja2 import Environment, Template


@cache
def document(path: Path) -> dict[str, Any]:
    """Return the parsed content of a YAML catalogue."""
    import yaml

    content: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return content or {}


def common(name: str) -> dict[str, Any]:
    """Return a catalogue in this folder by its name without suffix, such as "columns"."""
    return document(Path(__file__).with_name(f"{name}.yaml"))


def filled(text: str, params: Mapping[str, Any]) -> str:
    """Return a text with its placeholders filled in; raise jinja2's UndefinedError if a value is missing."""
    return parsed(text).render(params)


@cache
def parsed(text: str) -> Template:
    """Return a text as a jinja2 template; raise TemplateSyntaxError if it is invalid."""
    return _environment().from_string(text)


@dataclass(frozen=True, slots=True)
class Text:
    """The texts of an instrument, with placeholders that are filled in from `facts`.

    `path` is the instrument's `text.yaml`, and `keys` lead to the selected part of it. Entries that the file
    lacks are taken from `usual`.
    """

    path: Path
    keys: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    usual: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Text:
        """Return the texts in an instrument's folder."""
        return cls(folder / "text.yaml")

    def below(self, *keys: str) -> Text:
        """Return the texts under the given keys."""
        return replace(self, keys=(*self.keys, *keys))

    def given(self, **facts: Any) -> Text:
        """Return the texts with additional facts."""
        return replace(self, facts={**self.facts, **facts})

    def get(self, *keys: str, **facts: Any) -> str:
        """Return an entry with its placeholders filled in, or "" if the entry is missing.

        If the entry is a list, its parts are joined by spaces.
        """
        entry = self._entry(keys)
        parts = entry if isinstance(entry, list) else [] if entry is None else [entry]
        sentences = (self._filled(str(part), keys, {**self.facts, **facts}) for part in parts)
        return " ".join(filter(None, sentences))

    def meanings(self) -> Mapping[str, str]:
        """Return the meanings of columns in `usual` and in the file, which takes precedence."""
        return {**self.usual.get("meanings", {}), **document(self.path).get("meanings", {})}

    def has(self, *keys: str) -> bool:
        """Return whether there is an entry under the given keys."""
        return self._entry(keys) is not None

    def paragraphs(self, *keys: str) -> list[str]:
        """Return the paragraphs of an entry, filled in and without empty ones; raise DataError if it is not a list."""
        found = self._entry(keys) or []
        if not isinstance(found, list):
            raise DataError("is not a list of paragraphs", file=self.path, field=".".join((*self.keys, *keys)))
        texts = (self._filled(str(text), keys, self.facts) for text in found)
        return [text for text in texts if text]

    def _filled(self, text: str, keys: tuple[str, ...], facts: Mapping[str, Any]) -> str:
        from jinja2 import TemplateError

        try:
            return filled(text, facts).strip()
        except TemplateError as error:
            raise DataError(str(error), file=self.path, field=".".join((*self.keys, *keys))) from None

    def _entry(self, keys: tuple[str, ...]) -> Any:
        for found in (document(self.path), self.usual):
            entry: Any = found
            for key in (*self.keys, *keys):
                entry = entry.get(key) if isinstance(entry, dict) else None
            if entry is not None:
                return entry
        return None


def literal(text: str) -> str:
    """Replace backticks and brackets, which are markup in methods, in a name given by the user."""
    return text.translate({ord("`"): "'", ord("["): "(", ord("]"): ")"})


def listed(parts: Iterable[object]) -> str:
    """Join parts of a sentence with commas and "and": "a", "a and b" or "a, b and c"."""
    names = [str(part) for part in parts]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def named(names: Sequence[object], most: int = 5) -> str:
    """Join at most `most` names, followed by the number of the others: "a, b and 3 more"."""
    rest = len(names) - most
    return listed([*names[:most], f"{rest:,} more"] if rest > 0 else names)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined

    found = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)
    found.filters |= {"f": format, "counted": _counted, "for_one": _for_one, "seeded": _seeded}
    found.filters |= {"of_all": _of_all, "listed": listed, "named": named, "literal": literal}
    return found


def _counted(n: Any, noun: str) -> str:
    return counted(n, noun) if isinstance(n, int) else f"{n:,} {noun}"


def _of_all(n: Any, whole: Any, noun: str, verb: str = "") -> str:
    if isinstance(n, int) and isinstance(whole, int):
        return of_all(n, whole, noun, verb)
    return f"{n:,} of {whole:,} {_for_one(noun, whole)} {verb}".rstrip()


def _for_one(word: str, n: Any) -> str:
    return for_one(n, word) if isinstance(n, int) else word


def _seeded(seed: Any) -> str:
    return seed if isinstance(seed, str) else f"seed {seed}"
