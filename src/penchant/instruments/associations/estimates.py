"""Estimates from tables of associations: effect sizes with intervals and tests, and the influence of each stimulus."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from penchant.corpus.association_categories import Category
from penchant.instruments.associations.sampled_effects import (
    Name,
    Sides,
    Table,
    contrasts,
    effect_interval,
    effects,
    effects_without,
    largest_effect,
    reliability,
    resampled_effects,
)
from penchant.instruments.associations.settings import AssociationSettings
from penchant.plurals import first_of
from penchant.records import Estimate, Test
from penchant.stats.association import normal_test, permutation_test
from penchant.stats.hypothesis_tests import held_against
from penchant.stats.inputs import Array
from penchant.wording.phrases import Method, Note, Notes, present
from penchant.wording.templates import Text

TEXT = Text.of(Path(__file__).parent)
"""The texts of association tests."""
CAUTIONS = TEXT.below("cautions")
EFFECT = "effect size"
BY_SENTENCE = "effect size, every sentence by itself"
RELIABLE = 0.7
"""Reliability of s below which a note says that s depends on the choice of columns."""
UNEQUAL = 2
"""Ratio of the lengths of CEAT's two target lists from which a note is added."""
SIDES = ("X", "Y", "A", "B")


@dataclass(frozen=True, slots=True)
class Stimuli:
    """The stimuli of a category that a model knows, by set; `lost` has those that it does not know, keyed by set."""

    x: tuple[str, ...]
    y: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    lost: Mapping[str, tuple[str, ...]]
    notes: Notes = ()
    """The reasons that no effect size can be computed; empty if one can."""

    @classmethod
    def of(cls, category: Category, have: Iterable[str], max_missing: float) -> Stimuli:
        """Select the stimuli of a category that are in `have`.

        There is no effect size if a set loses more than the share `max_missing` of its words.
        """
        known = set(have)
        lists = category.lists()
        x, y, a, b = (tuple(word for word in part.words if word in known) for part in lists)
        lost = {
            side: tuple(word for word in part.words if word not in known)
            for side, part in zip(SIDES, lists, strict=True)
        }
        notes = tuple(
            Note("associations.words-missing", lost=len(lost[side]), of=len(part.words), label=part.label)
            for side, part in zip(SIDES, lists, strict=True)
            if len(lost[side]) > max_missing * len(part.words)
        )
        return cls(x, y, a, b, lost, notes)

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """The four sets X, Y, A and B."""
        return self.x, self.y, self.a, self.b


@dataclass(frozen=True, slots=True)
class Cell:
    """K tables of associations (one, or one per sample), shape (K, R, C), with the stimuli of their rows and columns.

    `by` has the category and the other factors; if `paired`, the two sets of columns form pairs by position.
    """

    by: Mapping[str, str]
    tables: Table
    rows: Sides
    columns: Sides
    paired: bool = False

    def s(self) -> Array:
        """Return the association s of every row, averaged over the K tables."""
        return contrasts(np.asarray(self.tables, dtype=np.float64).mean(axis=0), self.columns)

    def test(
        self, settings: AssociationSettings, *, apart: bool = False, s: Array | None = None, studentised: bool = False
    ) -> tuple[float, Method]:
        """Return the p-value of the permutation test of the two sets of stimuli, and its method.

        `settings` may select the normal test instead. `s` holds the association of every row (default: `self.s()`),
        averaged by stimulus; if `apart`, every row counts as a stimulus of its own. If `studentised`, the permutation
        test compares sets of unequal size by Welch's t.
        """
        s = self.s() if s is None else s
        first = self.rows.side == 0
        x, y = (s[first], s[~first]) if apart else self.rows.means(s)
        noun = "sentences" if apart else "stimuli"
        if settings.test == "normal":
            p = normal_test(x, y, alternative=settings.alternative)
            return p, Method("associations.normal-test", noun=noun, **sided(settings.alternative))
        permutation = permutation_test(
            x,
            y,
            alternative=settings.alternative,
            exact=settings.exact,
            draws=settings.draws,
            seed=settings.seed,
            studentised=studentised,
        )
        code = "associations.permutation-exact" if permutation.exact else "associations.permutation-random"
        params = {
            "studentised": True if studentised and len(x) != len(y) else None,
            "noun": noun,
            "partitions": permutation.partitions,
            "ties": permutation.ties if permutation.ties > 1 else None,
        }
        return permutation.p, Method(code, **params, **sided(settings.alternative))

    def draws(self, settings: AssociationSettings) -> Array:
        """Return bootstrap draws of the mean effect size; NaN if nothing varies in a draw."""
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
        """The number of stimuli in the smallest set."""
        return min(len(sides.units(side)) for sides in (self.rows, self.columns) for side in (0, 1))

    def interval(
        self, value: float, draws: Array, settings: AssociationSettings, *, shift: float = 0
    ) -> tuple[float, float, Method]:
        """Return the bounds of the interval of an effect size, from `draws`, and the method.

        `shift`, the value minus the mean over the tables, is added to every draw.
        """
        kept = draws[~np.isnan(draws)] + shift  # draws in which nothing varies are left out and counted
        largest = largest_effect(self.rows, ddof=settings.ddof)
        low, high = effect_interval(value, kept, self.smallest, settings.level, largest)
        what = "stimuli and samples" if len(self.tables) > 1 else "stimuli"
        return (
            low,
            high,
            bootstrap("associations.bootstrap-of-z", what, self.smallest, len(draws) - len(kept), settings),
        )

    def notes(self, value: float, low: float, settings: AssociationSettings) -> Notes:
        """Return notes on a missing interval, unequal sets, and the dependence of s on the choice of columns."""
        notes: list[Note | None] = []
        if math.isnan(low) and self.smallest < 2:
            notes.append(Note("associations.one-stimulus"))
        elif math.isnan(low):
            largest = largest_effect(self.rows, ddof=settings.ddof)
            notes.append(Note("associations.separated", largest=largest))
        if settings.name == "ceat":
            notes.append(_unequal(*(len(self.rows.units(side)) for side in (0, 1))))
        notes.append(_faint(reliability(self.tables, self.columns, paired=self.paired), self.columns, settings))
        return present(*notes)


def sided(alternative: str) -> dict[str, object]:
    """Return the parameters that describe the sidedness of a test."""
    return {"two_sided": True} if alternative == "two-sided" else {"alternative": alternative}


def bootstrap(code: str, what: str, smallest: int, lost: int, settings: AssociationSettings) -> Method:
    """Describe a bootstrap interval over `what` as the method `code`; `lost` draws were left out.

    `smallest` is the number of stimuli in the smallest set.
    """
    drawn = {"resamples": settings.resamples, "lost": lost or None, "seed": settings.seed}
    return Method(code, what=what, smallest=smallest, **drawn)


def _unequal(x: int, y: int) -> Note | None:
    return None if max(x, y) < UNEQUAL * min(x, y) else Note("associations.unequal-targets", first=x, second=y)


def _faint(share: float, columns: Sides, settings: AssociationSettings) -> Note | None:
    if not share < RELIABLE:
        return None
    noun = "targets" if settings.name == "logprob-bias" else "attributes"
    held = [50, 88] if settings.name == "ceat" else [79, 97]
    known = {"chance": min(1, 1 - share), "noun": noun, "held": held}
    if share > 0:  # Spearman and Brown's formula
        times = RELIABLE / (1 - RELIABLE) * (1 - share) / share
        enough = math.ceil(times * max(len(columns.units(side)) for side in (0, 1)))
        return Note("associations.faint", **known, would_do=enough)
    return Note("associations.faintest", **known, would_do="unknown")


def effect(cell: Cell, settings: AssociationSettings, *, notes: Notes = ()) -> Estimate:
    """Return the mean effect size of a cell, with interval and test over stimuli, or NaN if there are `notes`."""
    n = len(set(cell.rows.unit.tolist()))
    if notes:
        return Estimate(EFFECT, math.nan, n, level=settings.level, notes=notes, by=cell.by)
    s = contrasts(cell.tables, cell.columns)
    value = float(effects(s, cell.rows, ddof=settings.ddof).mean())
    if math.isnan(value):
        alike = (Note("associations.alike"),)
        return Estimate(EFFECT, math.nan, n, level=settings.level, notes=alike, by=cell.by)
    low, high, method = cell.interval(value, cell.draws(settings), settings)
    p, test = cell.test(settings)
    notes, of = cell.notes(value, low, settings), None if math.isnan(low) else method
    estimate = Estimate(EFFECT, value, n, low, high, settings.level, of, Test(p, test), notes, cell.by)
    return held_against(estimate, 0) if settings.alternative == "two-sided" else estimate


def by_sentence(cell: Cell, over_stimuli: Estimate, settings: AssociationSettings) -> Estimate:
    """Return the effect size `over_stimuli` with the test of older tools, which treats all sentences as independent."""
    estimate = Estimate(BY_SENTENCE, over_stimuli.value, len(cell.rows.side), level=settings.level, by=cell.by)
    if math.isnan(over_stimuli.value):
        return estimate.noted(*over_stimuli.notes)
    p, test = cell.test(settings, apart=True)
    dependent = None if math.isnan(p) else Note("associations.dependent-sentences")
    return estimate.tested(p, test).noted(dependent, *over_stimuli.notes)


def together(measure: str, apart: Sequence[str] = (), *, whole: str = "") -> Callable[[Estimate], str | None]:
    """Return a function that names the Holm family of an estimate of `measure`, and returns None for other estimates.

    A family has all categories, contexts and layers that a table shows together, at equal levels of the factors in
    `apart`. Estimates of the context `whole`, which covers the others, are a family of their own.
    """

    def family(estimate: Estimate) -> str | None:
        over = ["over all contexts"] if whole and estimate.by["context"] == whole else []
        settings = [f"{factor} {estimate.by[factor]}" for factor in apart]
        return ", ".join([measure, *over, *settings]) if estimate.measure == measure else None

    return family


def towards(cell: Cell) -> tuple[Array, Array]:
    """Return the association s of every row with the columns, and that of every column with the rows."""
    mean = np.asarray(cell.tables, dtype=np.float64).mean(axis=0)
    return contrasts(mean, cell.columns), contrasts(mean.T, cell.rows)


def lost_words(stimuli_of: Mapping[str, Stimuli], where: str) -> Iterator[Note | str]:
    """Yield cautions that list the stimuli missing from `where`, and the categories without an effect size."""
    lists = (words for stimuli in stimuli_of.values() for words in stimuli.lost.values())
    words = list(dict.fromkeys(word for lost in lists for word in lost))
    if words:
        yield Note("associations.lost-words", n=len(words), where=where, words=first_of(words, 20))
    lacking = [category for category, stimuli in stimuli_of.items() if stimuli.notes]
    if lacking:
        yield CAUTIONS.get("no-effect", categories=lacking)


ITEM = ("category", "label", "layer", "context")


@dataclass(frozen=True, slots=True)
class Filled:
    """A cell with the stimuli of its rows (`down`) and columns (`across`), each as (side, word, text).

    A side is X, Y, A or B; `labels` has the labels of the four lists by side.
    """

    cell: Cell
    down: Sequence[tuple[str, str, str]]
    across: Sequence[tuple[str, str, str]]
    labels: Mapping[str, str]

    def items(self, settings: AssociationSettings) -> Iterator[dict[str, Any]]:
        """Yield one row per stimulus, with its association and the effect size without the stimulus.

        The row of a target also has its cosines with A, then B.
        """
        cell = self.cell
        mean, shown = np.asarray(cell.tables, dtype=np.float64).mean(axis=0), np.asarray(cell.tables).mean(axis=0)
        left_out = effects_without(mean, cell.rows, cell.columns, ddof=settings.ddof)
        for stimuli, values, without, table in (
            (self.down, towards(cell)[0], left_out[0], shown),
            (self.across, towards(cell)[1], left_out[1], None),
        ):
            for i, (side, word, text) in enumerate(stimuli):
                yield {
                    **cell.by,
                    "side": side,
                    "list": self.labels[side],
                    "word": word,
                    "text": text,
                    "association": float(values[i]),
                    "without": None if np.isnan(without[i]) else float(without[i]),
                    "cosines": None if table is None else table[i].tolist(),
                }


def items_table(rows: Iterable[Mapping[str, Any]], factors: Sequence[str] = ITEM, **more: Any) -> pl.DataFrame:
    """Return the table of items, with an id made of the columns that identify a row.

    `factors` are columns that each row has; `more` maps further columns to their types.
    """
    schema: dict[str, Any] = {
        **dict.fromkeys(("id", *factors, "side", "list", "word", "text"), pl.String),
        "association": pl.Float64,
        "without": pl.Float64,
        "cosines": pl.List(pl.Float32),
        **more,
    }
    keys = [key for key in (*factors, "side", "word", "text") if key != "label"]
    return pl.DataFrame([{**row, "id": " ".join(filter(None, (row[key] for key in keys)))} for row in rows], schema)


def stimulus_names(part: Iterable[tuple[str, str]], unit_of_test: str) -> list[Name]:
    """Return the names of stimuli given as pairs of word and sentence.

    A name is the word if the unit is "word", else word and sentence with a number that counts repetitions.
    """
    seen: Counter[tuple[str, str]] = Counter()
    names: list[Name] = []
    for key in part:
        names.append(key[0] if unit_of_test == "word" else (*key, seen[key]))
        seen[key] += 1
    return names
