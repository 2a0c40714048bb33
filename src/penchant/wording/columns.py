"""Meanings of the columns of results, by their names."""

from __future__ import annotations

from collections.abc import Mapping

from penchant.wording.templates import common

ANY = "_"
"""The end of the name of an entry that stands for all columns that begin so, such as the scores of every sentence."""


def meaning(column: str, own: Mapping[str, str]) -> str:
    """Return the meaning of a column, by an instrument's `own` entries or those of all; "" for an unknown one."""
    for entries in (own, common("columns")):
        if column in entries:
            return str(entries[column])
    for entries in (own, common("columns")):
        for name, text in entries.items():
            if name.endswith(ANY) and column.startswith(name):
                return f"{text}: {column.removeprefix(name)}"
    return ""
