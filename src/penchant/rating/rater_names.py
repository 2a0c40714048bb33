"""Validation of the names of raters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from penchant.errors import MethodError, visible
from penchant.unicode_spellings import as_named

NUMBERED = "rater "
"""Prefix of the numbered names of raters who join by a link."""
MOST = 10_000
"""Maximum number of names in a list."""
LONGEST = 100
"""Maximum length of a name in characters."""


def is_numbered(name: str) -> bool:
    """Return whether a name belongs to a rater who joined by a link."""
    return bool(re.fullmatch(f"{NUMBERED}[0-9]{{1,9}}", name))


def names_of(text: str) -> list[str]:
    """Return the distinct names in a comma-separated list; raise MethodError if a name is invalid."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if len(names) > MOST:
        raise MethodError(f"names more than {MOST:,} raters", where="--raters", hint="let them join with --open")
    for name in names:
        if len(name) > LONGEST:
            raise MethodError(f"'{name[:20]}…' is longer than {LONGEST} characters", where="--raters")
        if not as_named(name):
            hint = "use names with visible characters"
            raise MethodError(f"the name '{visible(name)}' has no visible characters", where="--raters", hint=hint)
    refuse_alike(names, [])
    return names


def refuse_alike(names: Sequence[str], known: Iterable[str]) -> None:
    """Raise MethodError if a new name is too similar to another name, or is reserved for raters who join by a link.

    Names are too similar if they differ only in case, spaces, invisible characters or Unicode form.
    """
    known = list(known)
    others = {as_named(name): name for name in known}
    for name in names:
        if name in known:
            continue
        if is_numbered(as_named(name)):
            hint = "choose another name"
            raise MethodError(
                f"'{visible(name)}' is reserved for raters who join with --open", where="--raters", hint=hint
            )
        other = others.setdefault(as_named(name), name)
        if other != name:
            message = f"'{visible(other)}' and '{visible(name)}' differ only in case, spaces or invisible characters"
            raise MethodError(message, where="--raters", hint="give each person exactly one distinct name")
