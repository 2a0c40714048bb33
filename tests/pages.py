"""The sentences and tables of a page of the documentation, and the numbers in both."""

from __future__ import annotations

import re
from collections.abc import Mapping

from paths import ROOT

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_MORE = {"twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0}
WORDS = {word: float(value) for value, word in enumerate(_UNITS.split())} | _MORE
_DIGITS = r"[-−+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:e[-−+]?\d+)?"
_NUMBER = rf"({_DIGITS}|\b(?:{'|'.join(WORDS)})\b)"
Row = Mapping[str, str]


def read(page: str) -> str:
    """A page, by its path from the top of the project."""
    return (ROOT / page).read_text("utf-8")


def number(text: str) -> float:
    """The first number of a cell, or a number word: "−28.1 [−35.5, −21.7]" is −28.1; NaN where there is none."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    found = re.search(_DIGITS, text)
    return float(found[0].replace("−", "-").replace(",", "")) if found else float("nan")


def numbers(text: str) -> list[float]:
    """All numbers of a cell; what stands between two of them, as in "95–97 %", is no minus."""
    return [number(part) for part in re.findall(_DIGITS, re.sub(r"(?<=\d)[-–]|(?<=\d %)–", " ", text))]


def said(page: str, sentence: str) -> list[float]:
    """The numbers that a page says in place of each `{}` of a sentence, which it must hold exactly once but for where
    its lines end."""
    pattern = re.escape(" ".join(sentence.split())).replace(r"\{\}", _NUMBER)
    found = re.findall(rf"{pattern}(?!\d)", " ".join(read(page).split()), re.IGNORECASE)
    assert len(found) == 1, f"{page} says {len(found)} times: {sentence}"
    return (
        [number(part) for part in ([found[0]] if isinstance(found[0], str) else found[0])] if "{}" in sentence else []
    )


def tables(page: str, below: str = "") -> list[list[Row]]:
    """The tables of a page, or of what comes below one of its lines, each row a mapping from a column's head to its
    cell."""
    text = read(page)
    if below:
        _, text = f"\n{text}".split(f"\n{below}\n")
    found: list[list[Row]] = []
    for block in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        lines = [line.strip()[1:-1] for line in block.strip().split("\n")]
        head, _, *rows = ([cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in lines)
        assert all(len(row) == len(head) for row in rows), f"a row of {page} is not as long as its head, {head}"
        found.append([dict(zip(head, row, strict=True)) for row in rows])
    return found


def table_of(page: str, *columns: str) -> list[Row]:
    """The one table of a page that has these columns."""
    (found,) = (rows for rows in tables(page) if {*columns} <= {*rows[0]})
    return found
