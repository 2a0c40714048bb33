"""Numbers in users' texts: ASCII digits, a decimal mark and an exponent, but none of Python's other notations."""

from __future__ import annotations

import math
import re

_NUMERAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_LONGEST = 1_000
"""The most characters of a number."""
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}([.,])[0-9]{3}(?:\1[0-9]{3})*")
"""Numbers with separated thousands, or with three decimals."""


def numeral(text: str) -> int | float | None:
    """Return the number that a text represents; None for other texts.

    Underscores, digits of other scripts, `inf`, `nan` and values too large for a float are rejected. Zero has no sign.
    """
    text = text.strip()
    if len(text) > _LONGEST or not _NUMERAL.fullmatch(text):
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    return int(text) if _WHOLE.fullmatch(text) else number + 0.0


def decimal_comma(cell: str) -> bool:
    """True if a cell is a number whose comma separates decimals and cannot separate thousands."""
    cell = cell.strip()
    return _COMMA.fullmatch(cell) is not None and not _GROUPED.fullmatch(cell)


def localised(text: str, decimal: str) -> int | float | None:
    """Return the number in a text by a table's decimal mark: a point, a comma, or "" if unknown.

    Raises ValueError for a number with two readings, such as 1,000.
    """
    text = text.strip()
    if decimal == ".":
        return numeral(text)
    grouped = _GROUPED.fullmatch(text)
    if grouped and (grouped[1] == "." if decimal else grouped[1] == ","):
        raise ValueError("could be a whole number with separated thousands or a number with decimals")
    return numeral(text.replace(",", ".") if _COMMA.fullmatch(text) else text)
