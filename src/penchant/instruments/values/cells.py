"""Value statements scored in each wording for each group, with their calibration and bootstrap resamples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from penchant.instruments.values.calibration import CalibrationLines, Line, lines, rating, resampled_lines
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW
from penchant.instruments.values.settings import ValuesSettings
from penchant.records import Estimate
from penchant.stats.intervals import within_scale
from penchant.wording.phrases import Method, Note, present

Array = NDArray[np.float64]
NO_SPREAD = Note("values.no-spread")
NO_INTERVAL = "values.no-interval"
"""Code of the method of a number without an interval."""
_TEST = Method("t-test-same-errors", two_sided=True)
_END = 1e-3
"""Smallest distance of a rating from the ends of the scale, as a share of the scale, when its probit is taken."""
WANTED = 5
"""Number of statements below which an interval gets a note."""


def placed(estimate: Estimate, measure: str, variant: str, group: str, value: str, item: str = "") -> Estimate:
    """Label an estimate with measure, wording, group, value and item."""
    by = {"variant": variant, "group": group, "dimension": value, "item": item}
    return replace(estimate, measure=measure, by=by)


@dataclass(frozen=True)
class WordingCell:
    """The data of one wording and group: log-probabilities of both stances, and their calibration.

    `neutral` and `statements` have the log-probabilities of disagreeing (x) and agreeing (y). `reversed` marks
    statements for which agreeing speaks against the value.
    """

    variant: str
    group: str
    neutral: tuple[Array, Array]
    statements: tuple[Array, Array]
    reversed: NDArray[np.bool_]
    settings: ValuesSettings

    @cached_property
    def fitted(self) -> CalibrationLines:
        """The calibration on all neutral statements."""
        x, y = self.neutral
        return lines(x, y, np.ones((1, len(x))), self.settings.line)

    @cached_property
    def drawn(self) -> CalibrationLines:
        """The calibration of every bootstrap resample of the neutral statements."""
        x, y = self.neutral
        settings = self.settings
        return resampled_lines(x, y, settings.line, seed=settings.seed, resamples=settings.resamples)

    @cached_property
    def neutral_ratings(self) -> Array:
        """The ratings of the neutral statements."""
        return rating(self.fitted.agreement(*self.neutral)[0])

    @cached_property
    def ratings(self) -> Array:
        """The rating of every statement as worded, not mirrored."""
        return rating(self.fitted.agreement(*self.statements)[0])

    @cached_property
    def leaning(self) -> Array:
        """The probit of every statement's P(agree); unlike a rating, it is unbounded."""
        x, y = self.statements
        fitted = self.fitted
        leaning: Array = (y - fitted.slope * x - fitted.offset) / fitted.sigma
        return leaning

    @cached_property
    def towards(self) -> Array:
        """The rating of every statement, mirrored (6 − rating) where agreeing speaks against the value."""
        return np.where(self.reversed, 6 - self.ratings, self.ratings)

    def placed(self, estimate: Estimate, measure: str, value: str = EVERYTHING, item: str = "") -> Estimate:
        """Label an estimate with this wording and group, and with measure, value and item."""
        return placed(estimate, measure, self.variant, self.group, value, item)

    def drawn_ratings(self, inside: NDArray[np.bool_]) -> Array:
        """Return the ratings of the statements `inside` under resampled calibrations, shape (resamples, statements)."""
        x, y = self.statements
        return rating(self.drawn.agreement(x[inside], y[inside]))

    def drawn_towards(self, inside: NDArray[np.bool_]) -> Array:
        """Return `drawn_ratings`, mirrored where agreeing speaks against the value."""
        ratings = self.drawn_ratings(inside)
        return np.where(self.reversed[inside], 6 - ratings, ratings)


@dataclass(frozen=True)
class AskedCell(WordingCell):
    """Questions to a chat model in one wording for one group; their ratings need no calibration.

    Both arrays in `statements` are the ratings; there are no neutral statements.
    """

    @cached_property
    def ratings(self) -> Array:
        """The rating of every statement as worded, not mirrored."""
        return self.statements[0]

    @cached_property
    def neutral_ratings(self) -> Array:
        """An empty array, since there are no neutral statements."""
        return np.empty(0)

    @cached_property
    def leaning(self) -> Array:
        """The probit of each rating's position on the scale."""
        share = np.clip((self.ratings - LOW) / (HIGH - LOW), _END, 1 - _END)
        leaning: Array = scipy.special.ndtri(share)
        return leaning

    def drawn_ratings(self, inside: NDArray[np.bool_]) -> Array:
        """Return the ratings of the statements `inside`, shape (resamples, statements); all resamples are the same."""
        chosen = self.ratings[inside]
        return np.broadcast_to(chosen, (self.settings.resamples, len(chosen)))


def rated(items: pl.DataFrame, line: Line) -> pl.DataFrame:
    """Return the items with columns for residual y − a·x − b, agreement P, rating 4P + 1, and rating towards the value.

    `towards` is 6 − rating for reversed statements, else the rating. Agreement and both ratings are null if the neutral
    statements do not vary around the line.
    """
    parts = []
    for _, cell in items.group_by(["variant", "group"], maintain_order=True):
        x, y = cell["disagree"].to_numpy(), cell["agree"].to_numpy()
        neutral = (cell["kind"] == "calibration").to_numpy()
        fitted = lines(x[neutral], y[neutral], np.ones((1, int(neutral.sum()))), line)
        agreement = fitted.agreement(x, y)[0]
        stars = rating(agreement)
        turned = np.where(cell["reversed"].to_numpy(), 6 - stars, stars)
        residual = y - fitted.slope * x - fitted.offset
        columns = {"residual": residual, "agreement": agreement, "rating": stars, "towards": turned}
        parts.append(cell.with_columns(pl.Series(k, v).fill_nan(None) for k, v in columns.items()))
    return pl.concat(parts)


class Cells:
    """The items of each wording and group (a cell), with the ids of the statements and the values that they express."""

    def __init__(self, items: pl.DataFrame, settings: ValuesSettings) -> None:
        self.settings = settings
        self.cells: dict[tuple[str, str], WordingCell] = {}
        self._picks: dict[tuple[str, ...], NDArray[np.intp]] = {}
        if settings.asks:
            items = without_unanswered(items)
        self.ids: list[str] = []
        self.values: list[str] = []
        first: pl.DataFrame | None = None
        for (variant, group), members in items.group_by(["variant", "group"], maintain_order=True):
            if first is None:
                first = members.select("kind", "id")
            # Clauses are in the same order in all cells.
            part = first.join(members, on=["kind", "id"], how="left", maintain_order="left")
            # Neutral clauses are sorted by id, so that resamples do not depend on the order of the table.
            part = pl.concat(
                [part.filter(pl.col("kind") == "calibration").sort("id"), part.filter(pl.col("kind") != "calibration")]
            )
            columns = ("rating", "rating") if settings.asks else ("disagree", "agree")
            sides = {
                kind: tuple(part.filter(pl.col("kind") == kind)[side].to_numpy() for side in columns)
                for kind in ("calibration", "statement")
            }
            rows = part.filter(pl.col("kind") == "statement")
            neutral, statements = (cast(tuple[Array, Array], sides[kind]) for kind in ("calibration", "statement"))
            key = str(variant), str(group)
            kind_of_cell = AskedCell if settings.asks else WordingCell
            self.cells[key] = kind_of_cell(*key, neutral, statements, rows["reversed"].to_numpy(), settings)
            self.ids, self.values = rows["id"].to_list(), rows["value"].to_list()
        self.variants = list(dict.fromkeys(variant for variant, _ in self.cells))
        self.groups = list(dict.fromkeys(group for _, group in self.cells))

    def blocks(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Yield the name and statement mask of every value, then, if there are several, of all values together."""
        names = list(dict.fromkeys(self.values))
        for name in names:
            yield name, np.array([value == name for value in self.values])
        if len(names) > 1:
            yield EVERYTHING, np.ones(len(self.values), dtype=bool)

    def picks(self, inside: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return bootstrap resamples of the statements `inside` as indices among these, shape (resamples, statements).

        The statements drawn are the same for every group, wording, model and order of statements.
        """
        ids = tuple(id_ for id_, chosen in zip(self.ids, inside, strict=True) if chosen)
        if ids not in self._picks:
            rng = np.random.default_rng([self.settings.seed, 1])
            by_id = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.intp)
            self._picks[ids] = by_id[rng.integers(0, len(ids), size=(self.settings.resamples, len(ids)))]
        return self._picks[ids]

    @property
    def neutral(self) -> int | None:
        """The number of neutral statements; None if there is no calibration."""
        return None if self.settings.asks else len(next(iter(self.cells.values())).neutral[0])

    def method(self, n: int) -> Method:
        """Return the method of a bootstrap interval over n statements."""
        drawn = {"resamples": self.settings.resamples, "seed": self.settings.seed}
        return Method("values.bootstrap", statements=n, neutral=self.neutral, **drawn)

    def means(self, draws: Array, inside: NDArray[np.bool_]) -> Array:
        """Return the mean of each row of `draws` over statements resampled from those `inside`, one per resample."""
        means: Array = np.take_along_axis(draws, self.picks(inside), 1).mean(axis=1)
        return means

    def mean(
        self,
        values: Array,
        draws: Array,
        bounds: tuple[float, float],
        *,
        against: float,
        logit: bool = False,
    ) -> Estimate:
        """Return the mean over statements, with a t interval and test that include the error of the calibration.

        `draws`, shape (resamples, statements), are the values under resampled calibrations; the test is of a mean equal
        to `against`, with n − 1 degrees of freedom. If `logit`, interval and test are computed on the logit scale
        between the `bounds`; otherwise the interval is clipped at the bounds.
        """
        n, level = len(values), self.settings.level
        if np.isnan(values).any():
            return Estimate("", np.nan, n, level=level, notes=(NO_SPREAD,))
        estimate = Estimate("", float(np.sort(values).mean()), n, level=level)
        if n == 1:
            return estimate.noted(Note("values.one", noun="statements"))
        error = float(np.sqrt(np.sort(values).var(ddof=1) / n + draws.mean(axis=1).var()))
        if np.isnan(error):
            return estimate
        width = bounds[1] - bounds[0]
        if error <= 1e-12 * width:
            if estimate.value == against:  # ratings that no calibration distinguishes
                return replace(estimate, low=against, high=against, method=self._method(n)).tested(1.0, _TEST)
            return estimate.noted(Note("nothing-varies-no-test"))
        reach = float(scipy.stats.t.ppf((1 + level) / 2, n - 1))
        few = Note("values.few-statements", have=n) if n < WANTED else None
        share, null = ((number - bounds[0]) / width for number in (estimate.value, against))
        if logit and 0 < share < 1:
            centre, spread = float(scipy.special.logit(share)), error / width / (share * (1 - share))
            ends = bounds[0] + width * scipy.special.expit(centre + reach * np.array([-spread, spread]))
            method, notes = self._method(n, "logit"), present(few)
            off = (centre - float(scipy.special.logit(null))) / spread
        else:
            low, high, clipped = within_scale(
                estimate.value - reach * error, estimate.value + reach * error, bounds, width
            )
            ends, method, notes = np.array([low, high]), self._method(n), present(few, clipped)
            off = (estimate.value - against) / error
        p = 2 * float(scipy.stats.t.sf(abs(off), n - 1))
        found = replace(estimate, low=float(ends[0]), high=float(ends[1]), method=method, notes=notes)
        return found.tested(p, _TEST)

    def _method(self, n: int, scale: str | None = None) -> Method:
        return Method("values.t-errors", df=n - 1, statements=n, neutral=self.neutral, scale=scale)


def without_unanswered(items: pl.DataFrame) -> pl.DataFrame:
    """Return the items without the statements that have no rating in some wording or group."""
    lost = items.filter(pl.col("rating").is_null()).select("kind", "id").unique()
    return items.join(lost, on=["kind", "id"], how="anti", maintain_order="left")


def number_alone(code: str, why: Note | None = None) -> Method:
    """Return the method of a number without interval: the `code` of its computation, and `why` there is no interval."""
    return Method(NO_INTERVAL, of=Method(code), why=why)
