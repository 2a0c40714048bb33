"""Parsing of numbers in users' texts: ASCII digits, a decimal mark and an exponent."""

from __future__ import annotations

import math
import re

_NUMERAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_LONGEST = 1_000
"""The maximum number of characters in a number."""
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}([.,])[0-9]{3}(?:\1[0-9]{3})*")
"""Pattern of numbers whose separators mark thousands or, in ambiguous cases, three decimals."""


def numeral(text: str) -> int | float | None:
    """Return the number that a string represents, or None if the string is not a number.

    Underscores, digits of other scripts, `inf`, `nan` and values too large for a float are rejected. The sign of zero
    is dropped.
    """
    text = text.strip()
    if len(text) > _LONGEST or not _NUMERAL.fullmatch(text):
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    return int(text) if _WHOLE.fullmatch(text) else number + 0.0


def decimal_comma(cell: str) -> bool:
    """Return whether a cell is a number whose comma is a decimal mark and cannot be a thousands separator."""
    cell = cell.strip()
    return _COMMA.fullmatch(cell) is not None and not _GROUPED.fullmatch(cell)


def localised(text: str, decimal: str) -> int | float | None:
    """Return the number that a string represents, or None if the string is not a number.

    `decimal` is the decimal mark, or "" if unknown. Raises ValueError for an ambiguous number, such as 1,000 in the
    latter case.
    """
    text = text.strip()
    if decimal == ".":
        return numeral(text)
    grouped = _GROUPED.fullmatch(text)
    if grouped and (grouped[1] == "." if decimal else grouped[1] == ","):
        raise ValueError("is ambiguous: its separator may mark thousands or decimals")
    return numeral(text.replace(",", ".") if _COMMA.fullmatch(text) else text)
