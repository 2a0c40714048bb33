"""Meanings of the columns of results, by name."""

from __future__ import annotations

from collections.abc import Mapping

from penchant.wording.templates import common

ANY = "_"
"""Last character of an entry's name if the entry applies to every column whose name begins with this name."""


def meaning(column: str, own: Mapping[str, str]) -> str:
    """Return the meaning of a column from an instrument's `own` or the common entries, or "" if there is none."""
    for entries in (own, common("columns")):
        if column in entries:
            return str(entries[column])
    for entries in (own, common("columns")):
        for name, text in entries.items():
            if name.endswith(ANY) and column.startswith(name):
                return f"{text}: {column.removeprefix(name)}"
    return ""
