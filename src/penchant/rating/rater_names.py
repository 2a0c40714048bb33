"""The names of raters: one person has one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from penchant.errors import MethodError, visible
from penchant.unicode_spellings import as_named

NUMBERED = "rater "
"""The beginning of the names of raters who join by a link, before their number."""
MOST = 10_000
"""The most raters that are named."""
LONGEST = 100
"""The most characters of a name."""


def is_numbered(name: str) -> bool:
    """Return whether a name is that of a rater who joined by a link."""
    return bool(re.fullmatch(f"{NUMBERED}[0-9]{{1,9}}", name))


def names_of(text: str) -> list[str]:
    """Read names separated by commas, each once. Raises MethodError for names that nobody can have."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if len(names) > MOST:
        raise MethodError(f"are more than {MOST:,} raters", where="--raters", hint="let them join with --open")
    for name in names:
        if len(name) > LONGEST:
            raise MethodError(f"'{name[:20]}…' is longer than {LONGEST} characters", where="--raters")
        if not as_named(name):
            hint = "name people so that they differ"
            raise MethodError(f"'{visible(name)}' cannot be seen", where="--raters", hint=hint)
    refuse_alike(names, [])
    return names


def refuse_alike(names: Sequence[str], known: Iterable[str]) -> None:
    """Raise MethodError where one of the names is new and like another but for case, spaces, invisible characters or
    Unicode form, or is one that raters who join are given."""
    known = list(known)
    others = {as_named(name): name for name in known}
    for name in names:
        if name in known:
            continue
        if is_numbered(as_named(name)):
            hint = "raters who join with --open are called so: choose another name"
            raise MethodError(f"nobody can be called '{visible(name)}'", where="--raters", hint=hint)
        other = others.setdefault(as_named(name), name)
        if other != name:
            told = f"'{visible(other)}' and '{visible(name)}' differ only in case, spaces or what cannot be seen"
            raise MethodError(told, where="--raters", hint="name one person once, and two so that they differ")
