"""From tables of associations to estimates: effect sizes with intervals and tests, and what each stimulus adds.

Rows and columns of a table are explained in `penchant.stats.sampled_effects`. WEAT, SEAT, CEAT and the log-probability
bias score differ in what fills the table; what is said of it is the same and stands here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from penchant.data.stimuli import Category
from penchant.errors import DataError
from penchant.records import Estimate, Signature
from penchant.stats.association import Alternative, normal_test, permutation_test
from penchant.stats.hypothesis_tests import holm
from penchant.stats.intervals import Array
from penchant.stats.sampled_effects import (
    Sides,
    Table,
    contrasts,
    effect_interval,
    effects,
    effects_without,
    largest_effect,
    resampled_effects,
)

EFFECT = "effect size"
BY_SENTENCE = "effect size, every sentence by itself"
SIDES = ("X", "Y", "A", "B")


@dataclass(frozen=True, slots=True)
class Settings:
    """How estimates are made, as a signature tells it."""

    alternative: Alternative
    test: str
    ddof: int
    exact: int
    draws: int
    level: float
    resamples: int
    seed: int

    @classmethod
    def of(cls, signature: Signature) -> Settings:
        """The settings of a result."""
        return cls(
            "upper" if signature["alternative"] == "upper" else "two-sided",
            signature["test"],
            int(signature["ddof"]),
            int(signature["exact"]),
            int(signature["draws"]),
            float(signature["level"]),
            int(signature["resamples"]),
            int(signature["seed"]),
        )


@dataclass(frozen=True, slots=True)
class Stimuli:
    """The stimuli of one category that a model has, by set; `lost` are those it has not."""

    x: tuple[str, ...]
    y: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    lost: Mapping[str, tuple[str, ...]]
    note: str = ""
    """Why no effect size can be computed, if it cannot."""

    @classmethod
    def of(cls, category: Category, have: Iterable[str], max_missing: float) -> Stimuli:
        """Those of a category that are in `have`; too many lost in a set leave no effect size."""
        known = set(have)
        lists = category.lists()
        x, y, a, b = (tuple(word for word in part.words if word in known) for part in lists)
        lost = {
            side: tuple(word for word in part.words if word not in known)
            for side, part in zip(SIDES, lists, strict=True)
        }
        note = "; ".join(
            f"{len(lost[side])} of {len(part.words)} words of {part.label} are missing"
            for side, part in zip(SIDES, lists, strict=True)
            if len(lost[side]) > max_missing * len(part.words)
        )
        return cls(x, y, a, b, lost, note)

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """X, Y, A, B."""
        return self.x, self.y, self.a, self.b


@dataclass(frozen=True, slots=True)
class Cell:
    """One table (K, R, C) and what its rows and columns are."""

    by: Mapping[str, str]
    tables: Table
    rows: Sides
    columns: Sides
    paired: bool = False

    def s(self) -> Array:
        """s of every row, averaged over the K tables."""
        return contrasts(np.asarray(self.tables, dtype=np.float64).mean(axis=0), self.columns)

    def test(self, settings: Settings, *, apart: bool = False, s: Array | None = None) -> tuple[float, str]:
        """The p-value over stimuli (`apart`: over rows, each by itself) and how it was made. `s`: of every row, where
        more is known of it than the tables tell."""
        s = self.s() if s is None else s
        first = self.rows.side == 0
        x, y = (s[first], s[~first]) if apart else self.rows.means(s)
        noun = "sentences" if apart else "stimuli"
        if settings.test == "normal":
            p = normal_test(x, y, alternative=settings.alternative)
            return p, f"normal approximation of the permutation test over {noun}, {settings.alternative}"
        found = permutation_test(
            x,
            y,
            alternative=settings.alternative,
            exact=settings.exact,
            draws=settings.draws,
            seed=settings.seed,
        )
        kind = f"all {found.partitions:,} partitions" if found.exact else f"{found.partitions:,} random partitions"
        ties = f", {found.ties:,} equal to the one found" if found.ties > 1 else ""
        return found.p, f"permutation of {noun}, {kind}{ties}, {settings.alternative}"

    def draws(self, settings: Settings) -> Array:
        """Mean effect sizes of the tables with stimuli, and tables, drawn anew; NaN where nothing varies in a draw."""
        return resampled_effects(
            self.tables,
            self.rows,
            self.columns,
            seed=settings.seed,
            resamples=settings.resamples,
            ddof=settings.ddof,
            paired=self.paired,
        )

    @property
    def smallest(self) -> int:
        """The stimuli of the smallest set."""
        return min(len(sides.units(side)) for sides in (self.rows, self.columns) for side in (0, 1))

    def interval(self, value: float, settings: Settings, *, shift: float = 0) -> tuple[float, float, str]:
        """Bounds of an effect size, and how they were made. `shift`: what the value has beyond the mean of the tables,
        for which they stand."""
        draws = self.draws(settings)
        kept = draws[~np.isnan(draws)] + shift  # a draw in which nothing varies is left out, and said
        largest = largest_effect(self.rows, ddof=settings.ddof)
        low, high = effect_interval(value, kept, self.smallest, settings.level, largest)
        what = "stimuli and samples" if len(self.tables) > 1 else "stimuli"
        lost = f", {len(draws) - len(kept)} without spread left out" if len(kept) < len(draws) else ""
        resamples = f"{settings.resamples} resamples{lost}, seed {settings.seed}"
        return low, high, f"basic bootstrap of Fisher's z over {what}, {resamples}"


def effect(cell: Cell, settings: Settings, *, note: str = "", measure: str = EFFECT) -> Estimate:
    """The mean effect size of a cell, with its interval over stimuli and its test. With a `note` there is none."""
    n = len(set(cell.rows.unit.tolist()))
    if note:
        return Estimate(measure, math.nan, n, level=settings.level, note=note, by=cell.by)
    s = contrasts(cell.tables, cell.columns)
    value = float(effects(s, cell.rows, ddof=settings.ddof).mean())
    if math.isnan(value):
        return Estimate(measure, math.nan, n, level=settings.level, note="the associations do not vary", by=cell.by)
    low, high, how = cell.interval(value, settings)
    p, test = cell.test(settings)
    note = "" if not math.isnan(low) else "no interval: a set has one stimulus"
    return Estimate(
        measure, value, n, low, high, settings.level, how if not note else "", p, test=test, note=note, by=cell.by
    )


def by_sentence(cell: Cell, found: Estimate, settings: Settings) -> Estimate:
    """The same effect size with the test of the older tools, for which sentences with one word are independent."""
    p, test = (math.nan, "") if math.isnan(found.value) else cell.test(settings, apart=True)
    n = len(cell.rows.side)
    return Estimate(BY_SENTENCE, found.value, n, level=settings.level, p=p, test=test, note=found.note, by=cell.by)


def with_holm(found: Sequence[Estimate], measure: str, family: Sequence[str]) -> list[Estimate]:
    """The same, p-values of a measure adjusted over categories, within equal levels of the other factors `family`."""
    whole = list(found)
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, estimate in enumerate(whole):
        if estimate.measure == measure and not math.isnan(estimate.p):
            groups.setdefault(tuple(estimate.by[key] for key in family), []).append(i)
    for members in groups.values():
        for i, p in zip(members, holm([whole[i].p for i in members]), strict=True):
            whole[i] = replace(whole[i], p_holm=float(p))
    return whole


def without(cell: Cell, settings: Settings) -> tuple[Array, Array]:
    """The effect size of the mean table without each stimulus, one a row and one a column."""
    mean = np.asarray(cell.tables, dtype=np.float64).mean(axis=0)
    return effects_without(mean, cell.rows, cell.columns, ddof=settings.ddof)


def towards(cell: Cell) -> tuple[Array, Array]:
    """What each row says for the first set of columns, and each column for the first set of rows."""
    mean = np.asarray(cell.tables, dtype=np.float64).mean(axis=0)
    return contrasts(mean, cell.columns), contrasts(mean.T, cell.rows)


def lost_words(found: Mapping[str, Stimuli], where: str) -> Iterator[str]:
    """Cautions on stimuli that are missing from `where`, each word once."""
    words = list(dict.fromkeys(w for part in found.values() for side in part.lost.values() for w in side))
    if words:
        shown = ", ".join(words[:20]) + (f" and {len(words) - 20} more" if len(words) > 20 else "")
        yield f"{len(words)} stimuli are not in {where}: {shown}"
    lacking = [category for category, part in found.items() if part.note]
    if lacking:
        yield f"no effect size for {', '.join(lacking)}: too many stimuli are missing (each estimate says which)"


def require_distinct(categories: Iterable[Category], allowed: bool) -> None:
    """Raise DataError for a word that stands twice among the targets or the attributes of a category."""
    for category in categories:
        repeated = category.repeated()
        if repeated and not allowed:
            raise DataError(
                f"{category.id}: '{repeated[0]}' stands twice among the targets or attributes",
                where=category.place,
                hint="remove one, or allow it with duplicates: allow",
            )


def mover(a: Estimate, b: Estimate) -> tuple[float, float]:
    """Bounds of a difference from those of its parts, as if independent (Zou & Donner 2008, Stat. Med. 27:1693)."""
    gap = a.value - b.value
    low = gap - math.hypot(a.value - a.low, b.high - b.value)
    high = gap + math.hypot(a.high - a.value, b.value - b.low)
    return low, high
