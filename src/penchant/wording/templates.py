"""Fill the texts of catalogues in: jinja2 templates, with filters for numbers and nouns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penchant.counting import counted, for_one

if TYPE_CHECKING:
    from jinja2 import Environment, Template


@cache
def document(path: Path) -> dict[str, Any]:
    """Return the YAML of a catalogue."""
    import yaml

    found: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return found or {}


def filled(text: str, params: Mapping[str, Any]) -> str:
    """Return a text with its placeholders filled in. Raises jinja2's UndefinedError for one that has no value."""
    return _template(text).render(params)


def listed(parts: Iterable[object]) -> str:
    """Join parts of a sentence: "a", "a and b" or "a, b and c"."""
    names = [str(part) for part in parts]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


@cache
def _template(text: str) -> Template:
    return _environment().from_string(text)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined

    found = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701
    found.filters |= {"f": _formatted, "counted": _counted, "for_one": _for_one, "listed": listed, "seeded": _seeded}
    return found


def _formatted(value: Any, form: str) -> str:
    return format(value, form)


def _counted(n: Any, noun: str) -> str:
    return counted(n, noun) if isinstance(n, int) else f"{n} {noun}"


def _for_one(word: str, n: Any) -> str:
    return for_one(n, word) if isinstance(n, int) else word


def _seeded(seed: Any) -> str:
    return seed if isinstance(seed, str) else f"seed {seed}"
