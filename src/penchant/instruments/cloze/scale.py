"""The scale between two varieties of a language: its five points, and the names of its ends."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from penchant.errors import is_kept

POINTS = (-1.0, -0.5, 0.0, 0.5, 1.0)
UNNAMED = "the two ends of the scale have no names, so nobody can know which is which: name them"
"""What is said of a test set that names no ends."""


def _point(value: object) -> float:
    """One of the five points of the scale, however people and spreadsheets write it: −1, -0,5, +1."""
    text = str(value).strip().replace("−", "-").replace(",", ".").replace("½", "0.5")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if isinstance(value, bool) or number not in POINTS:
        raise ValueError(f"a point of the scale is −1, −0.5, 0, 0.5 or 1, got {value!r}")
    return number + 0.0  # −0 is 0


Point = Annotated[float, BeforeValidator(_point), WithJsonSchema({"enum": list(POINTS)})]


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
    """What is said of a test set that names no ends, and how to name them: in its file `description`, in one beside the
    `table` of sentences, or in Python."""
    if is_kept(table):
        given = "the test set" if description else '{"sentences": TABLE, …}'
        return f'{UNNAMED}, as in "scale": {{"low": "early", "high": "modern"}} in {given}'
    where = "in set.yaml" if description else "in a set.yaml that names the table, too"
    return f"{UNNAMED} {where}, as in scale: {{low: early, high: modern}}"
