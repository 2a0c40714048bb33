"""Valences of predicted words as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from penchant.wording.templates import Text

_TEXT = Text.of(Path(__file__).parent).below("items")
_QUARTERS = {0.0: "", 1.0: "¼", 2.0: "½", 3.0: "¾"}


def every_worth(items: pl.DataFrame) -> list[list[str]]:
    """Return the displayed valence of every predicted word of every sentence."""
    return [
        [worth(value, said) for value, said in zip(*row, strict=True)]
        for row in items.select("valences", "ratings").iter_rows()
    ]


def worth(value: float | None, ratings: Sequence[float] = ()) -> str:
    """Format a valence: multiples of ¼ as fractions, other numbers with decimals.

    If raters differ, their ratings follow.
    """
    if value is None:
        return _TEXT.get("unrated")
    said = f" ({', '.join(map(_number, ratings))})" if len(set(ratings)) > 1 else ""
    return _number(value) + said


def _number(value: float) -> str:
    whole, rest = divmod(round(abs(value) * 4, 9), 4)
    if rest not in _QUARTERS:
        return f"{value:.3g}".replace("-", "−")
    digits = f"{whole:.0f}" if whole or not rest else ""
    return f"{'−' if value < 0 else ''}{digits}{_QUARTERS[rest]}"
