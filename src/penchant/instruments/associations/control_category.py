"""The effect size of a category minus that of its control, from a joint bootstrap."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from penchant.corpus.association_categories import Category
from penchant.instruments.associations.estimates import Cell, bootstrap, together
from penchant.instruments.associations.sampled_effects import Sides, contrasts, counted_effects, effects, largest_effect
from penchant.instruments.associations.settings import AssociationSettings
from penchant.records import Estimate
from penchant.stats.bootstrap import expanded_p, expanded_percentile
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.inputs import Array
from penchant.wording.phrases import Method, Note

BEYOND = "effect size minus that of the control"
Key = tuple[str, ...]
"""The category and the other levels that identify a measurement: layer, context, sampling and number of samples."""


@dataclass(frozen=True, slots=True)
class CellWords:
    """Tables of associations with the words of their two sets of rows and two sets of columns.

    `combined` is the combined effect size of CEAT's samples; if None, the effect size is computed from the mean of the
    tables.
    """

    cell: Cell
    lists: Sequence[Sequence[str]]
    combined: float | None = None

    @property
    def key(self) -> Key:
        """The category, followed by the other levels, such as layer and context, that identify the measurement."""
        by = self.cell.by
        return by["category"], *(value for name, value in by.items() if name not in ("category", "label"))

    def effect(self, settings: AssociationSettings) -> float:
        """Return the effect size d of the mean table, or the combined d of CEAT's samples."""
        if self.combined is not None:
            return self.combined
        table = np.asarray(self.cell.tables, dtype=np.float64).mean(axis=0)
        return float(effects(contrasts(table, self.cell.columns), self.cell.rows, ddof=settings.ddof))

    def draws(self, settings: AssociationSettings) -> Array:
        """Return d of every bootstrap resample.

        The stimuli drawn from a list depend only on its words, so that categories with the same list are resampled
        together.
        """
        cell = self.cell
        tables = np.asarray(cell.tables, dtype=np.float64)
        down = _counts(cell.rows, self.lists[:2], settings)
        across = _counts(cell.columns, self.lists[2:], settings)
        if cell.paired:
            across[cell.columns.units(1)] = across[cell.columns.units(0)]
        if self.combined is None:
            return counted_effects(tables.mean(axis=0), cell.rows, cell.columns, down, across, ddof=settings.ddof)
        each = [counted_effects(table, cell.rows, cell.columns, down, across, ddof=settings.ddof) for table in tables]
        bare = [float(effects(contrasts(table, cell.columns), cell.rows, ddof=settings.ddof)) for table in tables]
        n = len(tables)
        times = np.random.default_rng([settings.seed, 13]).multinomial(n, np.full(n, 1 / n), size=settings.resamples)
        draws: Array = (np.stack(each) * times.T).sum(axis=0) / n + self.combined - float(np.mean(bare))
        return draws


def _counts(sides: Sides, lists: Sequence[Sequence[str]], settings: AssociationSettings) -> Array:
    """Return how often each of B resamples draws each stimulus, shape (units, B): equally often from equal lists."""
    counts = np.empty((int(sides.unit.max()) + 1, settings.resamples))
    for side, words in enumerate(lists):
        units = np.sort(sides.units(side))  # in the order of their names
        rng = np.random.default_rng([settings.seed, 12, *"\0".join(sorted(set(words))).encode()])
        counts[units] = rng.multinomial(len(units), np.full(len(units), 1 / len(units)), size=settings.resamples).T
    return counts


def controls_of(categories: Iterable[Category]) -> dict[str, str]:
    """Return the control of each category that has one."""
    return {category.id: category.control for category in categories if category.control}


def beyond_controls(
    placed: Sequence[CellWords],
    controls: Mapping[str, str],
    settings: AssociationSettings,
    *,
    apart: Sequence[str] = (),
    whole: str = "",
) -> list[Estimate]:
    """Return, for every category with a control, its effect size minus the control's at the same layer and context.

    `placed` has the measured categories. `apart` and `whole` are passed to `together`, which forms Holm's families.
    """
    return with_holm(_differences(placed, controls, settings), together(BEYOND, apart, whole=whole))


def _differences(
    placed: Sequence[CellWords], controls: Mapping[str, str], settings: AssociationSettings
) -> Iterator[Estimate]:
    known = {each.key: each for each in placed}
    for each in placed:
        name = controls.get(each.key[0], "")
        if not name:
            continue
        control = known.get((name, *each.key[1:]))
        bare = Estimate(BEYOND, math.nan, len(set(each.cell.rows.unit.tolist())), level=settings.level, by=each.cell.by)
        if control is None:
            yield bare.noted(Note("associations.control-not-measured", control=name))
            continue
        yield _difference(bare, each, control, settings)


def _difference(bare: Estimate, one: CellWords, control: CellWords, settings: AssociationSettings) -> Estimate:
    gap = one.effect(settings) - control.effect(settings)
    if math.isnan(gap):
        return bare.noted(Note("associations.alike"))
    draws = one.draws(settings) - control.draws(settings)
    kept = draws[~np.isnan(draws)]
    smallest = min(one.cell.smallest, control.cell.smallest)
    below, above = expanded_percentile(kept, smallest, settings.level)
    name = control.cell.by["category"]
    if math.isnan(below):
        return replace(bare, value=gap).noted(
            Note("associations.control", control=name), Note("associations.one-stimulus")
        )
    what = "stimuli and samples" if one.combined is not None else "stimuli"
    method = bootstrap("associations.bootstrap-of-both", what, smallest, len(draws) - len(kept), settings)
    p = expanded_p(2 * gap - kept, smallest)
    shared = len({tuple(sorted(words)) for words in one.lists} & {tuple(sorted(words)) for words in control.lists})
    notes = [Note("associations.control-shares", control=name, shared=shared)]
    low, high = 2 * gap - above, 2 * gap - below
    most = sum(largest_effect(each.cell.rows, ddof=settings.ddof) for each in (one, control))
    if low < -most or high > most:
        low, high = max(low, -most), min(high, most)
        notes.append(Note("associations.ends-at-largest"))
    difference = replace(bare, value=gap, low=low, high=high, method=method).noted(*notes)
    return difference.tested(p, Method("associations.same-draws", two_sided=True))
