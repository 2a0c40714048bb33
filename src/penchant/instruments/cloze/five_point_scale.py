"""The scale between two varieties of a language, with its five points and the names of its ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from penchant.errors import is_kept
from penchant.number_parsing import numeral
from penchant.wording.phrases import Note

POINTS = (-1.0, -0.5, 0.0, 0.5, 1.0)
UNNAMED = "the two ends of the scale have no names, so nobody can know which is which: name them"
"""Caution about a test set without names of the two ends."""


_MINUS = dict.fromkeys((*map(ord, "−–—"), 0x2010, 0x2011, 0x2012, 0xFE63, 0xFF0D), "-")
"""Characters that people and word processors write for a minus sign."""
_FRACTIONS = {"1/2": 0.5, "+1/2": 0.5, "-1/2": -0.5}
_MONTHS = r"(?:jan|gen|ene|led|sty|styczeń)", r"(?:feb|fév|fev|úno|lut)"
_YEAR = r"(?:[-/ .]+\d{2,4})?"
_FEBRUARY, _JANUARY = (rf"{month}[^\W\d]*\.?" for month in _MONTHS[::-1])
_DATES = (
    rf"0?1(?:\.|-|/| )+{_FEBRUARY}{_YEAR}|0?2(?:\.|-|/| )+{_JANUARY}{_YEAR}",
    rf"{_FEBRUARY}[- /]+0?1|{_JANUARY}[- /]+0?2",
    r"\d{4}-02-01|\d{4}-01-02|0?1[./] ?0?2[./] ?\d{2,4}|0?2/0?1/\d{2,4}|0?1\. ?0?2\.",
)
_HALF = re.compile("|".join(_DATES), re.IGNORECASE)
"""Dates of 1 February and 2 January as spreadsheets write them in place of 1/2."""
TRUTHS = {
    **dict.fromkeys(("true", "wahr", "vrai", "vero", "verdadero", "verdadeiro", "waar", "prawda", "pravda"), "true"),
    **dict.fromkeys(("false", "falsch", "faux", "falso", "onwaar", "fałsz", "nepravda"), "false"),
}
"""Words that spreadsheets write for the words true and false, in several languages."""


def is_date_of_half(value: object) -> bool:
    """Return whether a cell holds a date into which a spreadsheet converts 1/2."""
    return isinstance(value, str) and _HALF.fullmatch(value.strip()) is not None


def dates_of_half(cells: Iterable[object]) -> Iterator[str]:
    """Yield a note on cells with a date that is read as ½."""
    dates = [str(cell).strip() for cell in cells if is_date_of_half(cell)]
    if dates:
        yield str(Note("cloze.dates", have=len(dates), first=dates[0]))


def point_of(value: object) -> float:
    """Return a point of the scale from any usual spelling: −1, -0,5, +1, 1/2, or a date converted from 1/2."""
    if is_date_of_half(value):
        return 0.5
    text = str(value).strip().translate(_MINUS).replace(",", ".").replace("½", "0.5")
    number = _FRACTIONS.get(text, numeral(text))
    if number is None or isinstance(value, bool) or number not in POINTS:
        truth = " (a truth value of a spreadsheet: format the column as text)" if text.casefold() in TRUTHS else ""
        raise ValueError(f"expected a point of the scale (−1, −0.5, 0, 0.5 or 1), got {value!r}{truth}")
    return number + 0.0  # −0 is 0


def _undated(value: object) -> float:
    if is_date_of_half(value):
        raise ValueError(f"{value!r} is a date, probably 1/2 converted by a spreadsheet: write 0.5")
    return point_of(value)


Point = Annotated[float, BeforeValidator(point_of), WithJsonSchema({"enum": list(POINTS)})]
UndatedPoint = Annotated[float, BeforeValidator(_undated), WithJsonSchema({"enum": list(POINTS)})]


class Scale(BaseModel):
    """The names of the two ends of the scale."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    low: str = "−1"
    """The variety at −1. Default: "−1"."""
    high: str = "+1"
    """The variety at 1. Default: "+1"."""

    def __str__(self) -> str:
        return f"{self.low} < {self.high}"


def unnamed(description: Path | None, table: Path) -> str:
    """Return the caution about unnamed ends of the scale, with instructions for naming them.

    `description` is the set's `set.yaml`, if any, and `table` its sentences.
    """
    if is_kept(table):
        place = "the test set" if description else '{"sentences": TABLE, …}'
        return f'{UNNAMED}, as in "scale": {{"low": "early", "high": "modern"}} in {place}'
    where = "in set.yaml" if description else "in a set.yaml that also names the table"
    return f"{UNNAMED} {where}, as in scale: {{low: early, high: modern}}"


def ends_of(signature: Mapping[str, str]) -> tuple[str, str]:
    """Return the names of the low and the high end of the scale from the signature of a result."""
    low, _, high = signature["scale"].partition(" < ")
    return low, high
