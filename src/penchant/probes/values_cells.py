"""The cells of a table of value statements: every wording and group with its calibration and the resamples of it.

The neutral statements are resampled in the same way for every group, wording and model, because they are the same
statements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.data.values import EVERYTHING
from penchant.records import Estimate, Signature
from penchant.stats.calibration import Line, Lines, expanded_interval, lines, rating, resample_counts

Array = NDArray[np.float64]
NO_SPREAD = "the neutral statements show no spread"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a signature says of how estimates are made."""

    line: Line
    level: float
    resamples: int
    seed: int

    @classmethod
    def of(cls, signature: Signature) -> Settings:
        line = cast(Line, signature["calibration"])
        return cls(line, float(signature["level"]), int(signature["resamples"]), int(signature["seed"]))


@dataclass(frozen=True)
class Cell:
    """One wording and group: log-probabilities of disagreeing (x) and agreeing (y) of the neutral clauses and of the
    statements, and their calibration."""

    variant: str
    group: str
    neutral: tuple[Array, Array]
    statements: tuple[Array, Array]
    reversed: NDArray[np.bool_]
    settings: Settings

    @cached_property
    def own(self) -> Lines:
        x, y = self.neutral
        return lines(x, y, np.ones((1, len(x))), self.settings.line)

    @cached_property
    def drawn(self) -> Lines:
        """A calibration for every resample of the neutral statements."""
        x, y = self.neutral
        counts = resample_counts(len(x), self.settings.resamples, np.random.default_rng(self.settings.seed))
        return lines(x, y, counts, self.settings.line)

    @cached_property
    def neutral_ratings(self) -> Array:
        return rating(self.own.agreement(*self.neutral)[0])

    @cached_property
    def ratings(self) -> Array:
        """Of every statement as it stands."""
        return rating(self.own.agreement(*self.statements)[0])

    @cached_property
    def towards(self) -> Array:
        """Of every statement, turned round where agreeing speaks against the value."""
        return np.where(self.reversed, 6 - self.ratings, self.ratings)

    def drawn_ratings(self, inside: NDArray[np.bool_]) -> Array:
        """Ratings of some statements under every resampled calibration (resamples, statements)."""
        x, y = self.statements
        return rating(self.drawn.agreement(x[inside], y[inside]))

    def drawn_towards(self, inside: NDArray[np.bool_]) -> Array:
        found = self.drawn_ratings(inside)
        return np.where(self.reversed[inside], 6 - found, found)


def rated(items: pl.DataFrame, line: str) -> pl.DataFrame:
    """Items with the residual y − a·x − b, agreement P, rating 4P + 1, and the rating turned round for reversed
    statements (`towards`); null where the neutral statements show no spread to measure by."""
    parts = []
    for _, cell in items.group_by(["variant", "group"], maintain_order=True):
        x, y = cell["disagree"].to_numpy(), cell["agree"].to_numpy()
        neutral = (cell["kind"] == "calibration").to_numpy()
        own = lines(x[neutral], y[neutral], np.ones((1, int(neutral.sum()))), cast(Line, line))
        agreement = own.agreement(x, y)[0]
        stars = rating(agreement)
        turned = np.where(cell["reversed"].to_numpy(), 6 - stars, stars)
        residual = y - own.slope * x - own.offset
        columns = {"residual": residual, "agreement": agreement, "rating": stars, "towards": turned}
        parts.append(cell.with_columns(pl.Series(k, v).fill_nan(None) for k, v in columns.items()))
    return pl.concat(parts)


class Cells:
    """The cells of a table of items, and which statements belong to which value."""

    def __init__(self, items: pl.DataFrame, settings: Settings) -> None:
        self.settings = settings
        self.cells: dict[tuple[str, str], Cell] = {}
        self._picks: dict[int, NDArray[np.intp]] = {}
        first: pl.DataFrame | None = None
        for (variant, group), members in items.group_by(["variant", "group"], maintain_order=True):
            if first is None:
                first = members.select("kind", "id")
            # Clauses are paired between cells, whatever the order of the table.
            part = first.join(members, on=["kind", "id"], how="left", maintain_order="left")
            sides = {
                kind: tuple(part.filter(pl.col("kind") == kind)[side].to_numpy() for side in ("disagree", "agree"))
                for kind in ("calibration", "statement")
            }
            own = part.filter(pl.col("kind") == "statement")
            neutral, statements = (cast(tuple[Array, Array], sides[kind]) for kind in ("calibration", "statement"))
            key = str(variant), str(group)
            self.cells[key] = Cell(*key, neutral, statements, own["reversed"].to_numpy(), settings)
            self.ids, self.values = own["id"].to_list(), own["value"].to_list()
        self.variants = list(dict.fromkeys(variant for variant, _ in self.cells))
        self.groups = list(dict.fromkeys(group for _, group in self.cells))

    def blocks(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Every value, and all of them, with its statements."""
        names = list(dict.fromkeys(self.values))
        for name in names:
            yield name, np.array([value == name for value in self.values])
        if len(names) > 1:
            yield EVERYTHING, np.ones(len(self.values), dtype=bool)

    def picks(self, n: int) -> NDArray[np.intp]:
        """Which of n statements each resample takes, the same for every group, wording and model."""
        if n not in self._picks:
            rng = np.random.default_rng([self.settings.seed, 1])
            self._picks[n] = rng.integers(0, n, size=(self.settings.resamples, n))
        return self._picks[n]

    def how(self, n: int) -> str:
        return (
            f"expanded percentile bootstrap over {n} statements and {len(next(iter(self.cells.values())).neutral[0])} "
            f"neutral ones, {self.settings.resamples} resamples, seed {self.settings.seed}"
        )

    def mean(self, value: Array, draws: Array) -> Estimate:
        """The mean over statements, which are resampled with their calibrations (resamples, statements)."""
        n = len(value)
        level = self.settings.level
        if np.isnan(value).any():
            return Estimate("", np.nan, n, level=level, note=NO_SPREAD)
        low, high = expanded_interval(np.take_along_axis(draws, self.picks(n), 1).mean(axis=1), n, level)
        note = "one statement: no interval over statements" if n == 1 else ""
        return Estimate("", float(value.mean()), n, low, high, level, how=self.how(n) if n > 1 else "", note=note)
