"""Accuracy adjusted for the difference in token length within pairs, by bias-reduced logistic regression."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from penchant.records import Estimate
from penchant.stats.bootstrap import few_clusters
from penchant.stats.firth import Rows, solve, state
from penchant.stats.inputs import (
    Array,
    Codes,
    as_credits,
    as_values,
    check_lengths,
    check_level,
    cluster_codes,
    group_sums,
    has_ties,
)
from penchant.wording.phrases import Method, Note, Notes, present

FEW_ITEMS = 10
"""Minimum number of items with the same length difference for that difference to be a level of its own."""
LACK_OF_FIT = "lack of fit of the line"
_BISECTIONS, _MOST_STEPS = 80, 100
_MOST_KNOWN = 0.99


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """Fit of logit P(right choice) = intercept of the stratum + slope · difference (or + coefficient of the level).

    `n` is the number of items. `intercept` is the logit of the accuracy at difference 0; with several strata, the logit
    of the mean of their accuracies at 0, weighted by numbers of items. `slope` is NaN if levels are fitted (see `fit`).
    Intervals use a t distribution with `df` degrees of freedom (infinite: normal). `errors` describes the standard
    errors, and `terms` the terms of the model. A coefficient that cannot be computed is NaN, and `notes` contain the
    reason.
    """

    n: int
    intercept: float = np.nan
    intercept_se: float = np.nan
    slope: float = np.nan
    slope_se: float = np.nan
    df: float = np.inf
    errors: Method | None = None
    terms: Method | None = None
    notes: Notes = ()

    @property
    def method(self) -> Method:
        """Description of the method for the accuracy and its interval."""
        return Method("firth", terms=self.terms, errors=self.errors)

    @property
    def method_of_slope(self) -> Method:
        """Description of the method for the slope; its cluster-robust standard errors are jackknife standard errors."""
        errors = self.errors
        if errors is not None and errors.code == "errors-clusters":
            errors = Method("errors-clusters-jackknife", **errors.params)
        return Method("firth", terms=self.terms, errors=errors)

    def quantile(self, level: float) -> float:
        """Return the half-width of the confidence interval in units of the standard error."""
        return float(scipy.stats.t.ppf((1 + level) / 2, self.df))


def adjusted_accuracy(regression: LogisticFit, *, level: float = 0.95) -> Estimate:
    """Return the accuracy predicted by a fit at difference 0, with a Wald interval on the logit scale."""
    check_level(level)
    measure = "length-adjusted accuracy"
    if np.isnan(regression.intercept):
        return Estimate(measure, np.nan, regression.n, level=level, notes=regression.notes)
    reach = regression.quantile(level) * regression.intercept_se
    low, value, high = (float(scipy.special.expit(regression.intercept + step)) for step in (-reach, 0.0, reach))
    return Estimate(measure, value, regression.n, low, high, level, regression.method, notes=regression.notes)


def length_slope(regression: LogisticFit, *, level: float = 0.95) -> Estimate:
    """Return the change in the log-odds of a right choice per token of difference, with a Wald interval and test."""
    check_level(level)
    if np.isnan(regression.slope):
        notes = regression.notes or (Note("no-slope"),)
        return Estimate("length slope", np.nan, regression.n, level=level, notes=notes)
    reach = regression.quantile(level) * regression.slope_se
    p = float(2 * scipy.stats.t.sf(abs(regression.slope) / regression.slope_se, regression.df))
    low, high = regression.slope - reach, regression.slope + reach
    test = Method("wald-z") if np.isinf(regression.df) else Method("wald-t", df=regression.df)
    method, notes = regression.method_of_slope, regression.notes
    estimate = Estimate("length slope", regression.slope, regression.n, low, high, level, method, notes=notes)
    return estimate.tested(p, test)


def lack_of_fit(credits: ArrayLike, difference: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Test whether a line in the difference fits as well as a separate accuracy for each difference (Pearson's χ²).

    Differences with fewer than `FEW_ITEMS` items are merged with other rare differences of the same sign. Ties vary
    less than the model assumes, so with ties the test is conservative.
    """
    check_level(level)
    y, x = as_credits(credits), as_values(difference, where="difference")
    line = fit(y, x)
    levels = _levels(x)
    count = len(np.unique(levels))
    if count < 3 or np.isnan(line.slope):
        fits = Note("one-level-fits") if count == 1 else Note("levels-fit", levels=count)
        notes = line.notes if np.isnan(line.intercept) else (fits,)
        return Estimate(LACK_OF_FIT, np.nan, len(y), level=level, notes=notes)
    codes = np.unique(levels, return_inverse=True)[1]
    share = scipy.special.expit(line.intercept + line.slope * x)
    surplus, variance = group_sums(codes, y - share), group_sums(codes, share * (1 - share))
    value, df = float((surplus**2 / variance).sum()), count - 2
    merged = FEW_ITEMS if count < len(np.unique(x)) else None
    estimate = Estimate(LACK_OF_FIT, value, len(y), level=level, notes=(Note("test-statistic"), *line.notes))
    return estimate.tested(scipy.stats.chi2.sf(value, df), Method("chi-square-of-a-line", merged=merged, df=df))


def fit(
    credits: ArrayLike,
    difference: ArrayLike,
    *,
    strata: Iterable[Hashable] | None = None,
    clusters: Iterable[Hashable] | None = None,
    levels: bool = False,
    noun: str = "clusters",
) -> LogisticFit:
    """Fit Firth's bias-reduced logistic regression of `credits` (0, ½, 1) on `difference`.

    `strata`: each stratum has its own intercept. With several strata the intercepts are fitted, given the other terms,
    without the penalty, which would shrink them towards one half (Puhr et al. 2017, Stat. Med. 36:2302–2317, FLIC).
    Strata whose accuracy at difference 0 cannot be determined are left out and counted in a note.

    `levels`: differences are levels of a factor, and each nonzero level has its own coefficient; differences with fewer
    than `FEW_ITEMS` items share one level per sign. Without items at difference 0, a line is fitted instead.

    Standard errors are model-based, from the penalised information, as in logistf. With ties but no clusters they are
    sandwich errors over items, since a tie varies less than the model assumes. With G ≥ 2 `clusters` of whole strata,
    they are sandwich errors over clusters, with a t distribution of G−1 degrees of freedom, and never below the
    model-based errors. `noun` is the plural noun for clusters.

    If all differences are 0, only the intercept is fitted: log((k + ½)/(n − k + ½)) for k right choices out of n. If
    the difference separates right from wrong choices, the Wald interval of the slope is approximate. Raises DataError
    for unequal lengths, NaN, or credits other than 0, ½ or 1.
    """
    y, x = as_credits(credits), as_values(difference, where="difference")
    check_lengths(y, x, where="difference")
    strata_codes = np.zeros(len(y), dtype=np.intp) if strata is None else cluster_codes(strata, len(y), where="strata")
    codes = None if clusters is None else cluster_codes(clusters, len(y))
    if not len(y):
        return LogisticFit(0, notes=(Note("no-items"),))
    free = levels and bool((x == 0).any())
    steps = _levels(x) if free else x
    linked = _linked(strata_codes, steps, free)[strata_codes]
    if not linked.any():
        nothing = Note("differences-only-between") if np.ptp(x) else Note("all-differences-are", value=x[0])
        return LogisticFit(len(y), notes=(nothing,))
    lost = int(np.count_nonzero(~linked))
    left_out = Note("no-link", strata=len(np.unique(strata_codes[~linked])), items=lost) if lost else None
    of_each = None if codes is None else codes[linked]
    model = _Model.of(y[linked], steps[linked], strata_codes[linked], of_each, free, noun)
    fitted = model.fit()
    extrapolated = None
    if not np.isnan(fitted.intercept) and not x.min() <= 0 <= x.max():
        extrapolated = Note("extrapolated", low=x.min(), high=x.max())
    return replace(fitted, notes=present(extrapolated, *fitted.notes, left_out))


def _levels(x: Array) -> Array:
    """Return the level of each item: its difference or, if fewer than `FEW_ITEMS` items share it (except 0), ±∞."""
    values, places, counts = np.unique(x, return_inverse=True, return_counts=True)
    rare = np.where(values > 0, np.inf, -np.inf)
    names = np.where((counts >= FEW_ITEMS) | (values == 0), values, rare)
    return np.asarray(names[places])


def _linked(strata: Codes, steps: Array, free: bool) -> NDArray[np.bool_]:
    """Return a mask of the strata whose accuracy at difference 0 is identified by the model.

    With a line, all strata are identified if the differences (`steps`) vary within one of them. With levels (`free`),
    a stratum without pairs at 0 must share a level with another stratum that is identified.
    """
    count = int(strata.max()) + 1
    cells = np.unique(np.column_stack([strata, steps]), axis=0)
    of, step = cells[:, 0].astype(np.intp), cells[:, 1]
    if not free and len(cells) > count:
        return np.ones(count, dtype=bool)
    reached = np.zeros(count, dtype=bool)
    reached[of[step == 0]] = True
    while free:
        shared = np.isin(step, step[reached[of]])
        if reached[of[shared]].all():
            break
        reached[of[shared]] = True
    return reached


@dataclass(frozen=True, slots=True)
class _Model:
    """Regression on distinct rows with multiplicities, with the `stratum` and `cluster` of each row.

    `back` maps the coefficients of the scaled terms to intercepts, followed by the slope or the levels.
    """

    rows: Rows
    back: Array
    stratum: Codes
    cluster: Codes | None
    line: bool
    noun: str

    @classmethod
    def of(cls, y: Array, steps: Array, strata: Codes, clusters: Codes | None, free: bool, noun: str) -> _Model:
        groups = np.zeros_like(strata) if clusters is None else clusters
        cells, times = np.unique(np.column_stack([strata, groups, steps, y]), axis=0, return_counts=True)
        stratum = np.unique(cells[:, 0], return_inverse=True)[1]
        cluster = np.unique(cells[:, 1], return_inverse=True)[1]
        x, count = cells[:, 2], int(stratum.max()) + 1
        line = not free and bool(any(np.ptp(x[stratum == each]) for each in range(count)))
        intercepts = np.eye(count)[stratum]
        back = np.eye(count)
        if free:
            terms = (x[:, None] == np.unique(x[x != 0])).astype(float)
            back = np.eye(count + terms.shape[1])
        elif line:  # centred and scaled, under which the penalised estimate is equivariant
            spread, centre = float(np.ptp(x)), float(np.average(x, weights=times))
            terms = ((x - centre) / spread)[:, None]
            back = np.eye(count + 1)
            back[:, -1] = [*[-centre / spread] * count, 1 / spread]
        else:
            terms = np.empty((len(x), 0))
        rows = Rows(cells[:, 3], np.hstack([intercepts, terms]), times.astype(float))
        return cls(rows, back, stratum, None if clusters is None else cluster, line, noun)

    @property
    def items(self) -> Array:
        return group_sums(self.stratum, self.rows.times)

    @property
    def terms(self) -> Method:
        strata = len(self.items)
        levels = self.back.shape[0] - strata
        kind = Method("term-line") if self.line else Method("term-levels", levels=levels) if levels else None
        intercepts = Method("one-intercept") if strata == 1 else Method("intercepts", strata=strata)
        return Method("terms", intercepts=intercepts, kind=kind) if kind else intercepts

    def fit(self) -> LogisticFit:
        """Return the fit, or an empty fit with a note if the iterations do not converge."""
        n, strata = int(self.rows.times.sum()), len(self.items)
        beta = solve(self.rows, _MOST_STEPS)
        if beta is None:
            return LogisticFit(n, notes=(Note("no-convergence", steps=_MOST_STEPS),))
        coefficients = self.back @ beta
        logits = self.rows.design @ beta
        at_zero = scipy.special.expit(coefficients[:strata])
        if strata > 1:
            shifts = self._unpenalised(logits)
            moved = scipy.special.expit(coefficients[:strata] + shifts)
            if 0 < float(self.items @ moved) < n:
                at_zero, logits = moved, logits + shifts[self.stratum]
        mean = float(self.items @ at_zero) / n
        value = float(scipy.special.logit(mean)) if strata > 1 else float(coefficients[0])
        errors, df, kind, notes = self._errors(beta, logits, at_zero, mean)
        slope, slope_se = (float(coefficients[-1]), float(errors[1])) if self.line else (np.nan, np.nan)
        return LogisticFit(n, value, float(errors[0]), slope, slope_se, df, kind, self.terms, notes)

    def _unpenalised(self, logits: Array) -> Array:
        """Return the shifts of the intercepts that make each stratum's mean prediction equal to its accuracy.

        They are found by bisection. If all choices in a stratum are right, or all wrong, the shift is near the end of
        the search interval.
        """
        low, high = np.full(len(self.items), -60.0), np.full(len(self.items), 60.0)
        wanted = group_sums(self.stratum, self.rows.times * self.rows.y)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            short = (
                group_sums(self.stratum, self.rows.times * scipy.special.expit(logits + middle[self.stratum])) < wanted
            )
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        shifts: Array = (low + high) / 2
        return shifts

    def _shares(self, weights: Array) -> Array:
        """Return each cluster's share of the information on the slope, given the intercepts and each row's weight.

        Shares are below 1; they are 0 for clusters in which the difference does not vary.
        """
        assert self.cluster is not None
        of, x = self.rows.times * weights, self.rows.design[:, -1]
        centre = (group_sums(self.stratum, of * x) / group_sums(self.stratum, of))[self.stratum]
        known = group_sums(self.cluster, of * (x - centre) ** 2)
        shares: Array = np.minimum(known / known.sum(), _MOST_KNOWN)
        return shares

    def _errors(self, beta: Array, logits: Array, at_zero: Array, mean: float) -> tuple[Array, float, Method, Notes]:
        """Return standard errors of the logit of mean accuracy at 0 and of the slope, with their df, method and notes.

        The sandwich estimate (Liang & Zeger 1986) collapses with few clusters, and under separation, where all
        residuals are near 0; the larger of the sandwich and the model-based error is therefore used (Angrist & Pischke
        2009, §8.1). Clusters are a random sample, so differences between the accuracies of their strata at 0,
        `at_zero`, contribute to the error of their `mean`. The error of the slope is the linearised jackknife error
        over clusters, which takes into account that leaving out a cluster removes information on the slope.
        """
        rows, at = self.rows, state(self.rows, beta)
        strata, n = len(self.items), float(rows.times.sum())
        contrasts = np.zeros((2, len(beta)))
        scale = n * mean * (1 - mean)
        penalised = scipy.special.expit((self.back @ beta)[:strata])
        contrasts[0, :strata] = self.items * penalised * (1 - penalised) / scale if strata > 1 else 1.0
        contrasts[1, -1] = 1.0
        contrasts = contrasts @ self.back
        held = np.linalg.inv(rows.information((1 + at.leverage) * at.weights))
        model = np.sqrt(np.diag(contrasts @ held @ contrasts.T))
        bread = contrasts @ np.linalg.inv(rows.information(at.weights))
        influence = (rows.design * (rows.y - scipy.special.expit(logits))[:, None]) @ bread.T
        groups = 0 if self.cluster is None else int(self.cluster.max()) + 1
        if self.cluster is not None and groups > 1:
            influence[:, 0] += (at_zero[self.stratum] - mean) / scale
            sums = np.column_stack([group_sums(self.cluster, rows.times * column) for column in influence.T])
            sums *= groups / (groups - 1)
            if self.line:
                sums[:, 1] *= (groups - 1) / groups / (1 - self._shares(at.weights))
            robust = np.sqrt((sums**2).sum(axis=0) * (groups - 1) / groups)
            kind = Method("errors-clusters", clusters=groups)
            return np.maximum(robust, model), groups - 1.0, kind, present(few_clusters(groups, self.noun))
        notes = (Note("one-cluster"),) if groups == 1 else ()
        robust = np.sqrt((rows.times[:, None] * influence**2).sum(axis=0))
        if has_ties(rows.y) and bool(np.all(robust > 1e-6 * model)):
            return robust, np.inf, Method("errors-sandwich"), notes
        return model, np.inf, Method("errors-penalised"), notes
