"""Judgements collected from tables, with at most one judgement of an item by each rater."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from penchant.errors import DataError, place

K = TypeVar("K")


@dataclass(slots=True)
class ByRater(Generic[K]):
    """Judgements by item and rater, with their locations in the files."""

    of: dict[K, dict[str, float]] = field(default_factory=dict)
    places: dict[tuple[K, str], str] = field(default_factory=dict)

    def add(
        self, item: K, rater: str, value: float, file: str | Path, line: int, *, called: str, column: str = ""
    ) -> DataError | None:
        """Add a judgement and return None, or return an error if the rater has already judged the item.

        `called` is the name of the item in the error message.
        """
        values = self.of.setdefault(item, {})
        if rater in values:
            hint = f"the first judgement is in {self.places[item, rater]}"
            hint += "" if rater else "; add a column 'rater' with the names of the raters"
            message = f"{rater or 'somebody'} has already judged {called}"
            return DataError(message, file=file, line=line, field=column or None, hint=hint)
        values[rater], self.places[item, rater] = value, place(file, line)
        return None

    def raters(self) -> list[str]:
        """Return the names of all raters, sorted."""
        return sorted({rater for values in self.of.values() for rater in values})

    def numbered(self) -> dict[K, tuple[tuple[int, float], ...]]:
        """Return each item's judgements as pairs of rater index and value, without the raters' names."""
        numbers = {name: number for number, name in enumerate(self.raters())}
        return {
            item: tuple(sorted((numbers[name], value) for name, value in values.items()))
            for item, values in self.of.items()
        }
