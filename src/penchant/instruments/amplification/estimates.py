"""Estimates of amplification from a table of scored sentences and the counts of their words in the text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
import scipy

from penchant.instruments.amplification.data import EVERYTHING
from penchant.instruments.amplification.errors_in_variables import (
    FEWEST,
    Points,
    jackknife_error,
    wider_interval,
    wider_p,
)
from penchant.instruments.amplification.settings import AmplificationSettings
from penchant.records import Estimate
from penchant.stats.crossed_mean import MeanDifference, contrast
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.inputs import Array
from penchant.stats.intervals import on_scale, t_mean
from penchant.stats.templates import nested_templates
from penchant.stats.typical_words import log_odds
from penchant.wording.phrases import Method, Note

SLOPE = "slope of m on c"
AGAINST_0 = "slope of m on c, against 0"
EXACT = "slope of m on c, text taken as exact"
CORRELATION = "correlation of m and c"
RELIABILITY = "reliability of c"
SHIFT = "mean m − c"
BEYOND = "slope minus that of the control"
M, C, GAP = "m", "c", "m − c"
FEW = 20
"""The number of words below which intervals of lines are called rough (docs/validity.md)."""
ROUGH = Note("amplification.rough", would_do=FEW)
MANY = 100
"""The smallest number of words for which intervals of correlations keep their nominal coverage."""
SMALL = Note("amplification.small", would_do=MANY)
LEFT_OUT = "amplification.left-out"


@dataclass(frozen=True, slots=True)
class AttributeWord:
    """An attribute word with its associations m, of the model, and c, of the text.

    `m` has the variance of its error over templates and group words, `c_variance` is the error variance of c from the
    counts (NaN if the text never has the word), and `counts` are the word's occurrences in the sentences of each group.
    """

    word: str
    kind: str
    m: MeanDifference
    c: float
    c_variance: float
    counts: tuple[int, int]
    sentences: int
    crossed: tuple[int, int, int]
    """The numbers of templates and of words of each group."""
    by_template: Mapping[str, float]
    """The value of m in every template."""

    @property
    def gap(self) -> float:
        """The difference m − c."""
        return self.m.value - self.c


@dataclass(frozen=True)
class ContrastWords:
    """The words of a contrast that are frequent enough in the text (`kept`), and those that are too rare."""

    contrast: str
    control: bool
    kept: tuple[AttributeWord, ...]
    rare: tuple[AttributeWord, ...]

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds with estimates of their own: EVERYTHING and, if there are several kinds, each kind of word."""
        kinds = list(dict.fromkeys(word.kind for word in (*self.kept, *self.rare)))
        return [EVERYTHING, *kinds] if len(kinds) > 1 else [EVERYTHING]

    def of(self, kind: str) -> list[AttributeWord]:
        """Return the kept words of a kind."""
        return [word for word in self.kept if kind in (EVERYTHING, word.kind)]


def words_of(items: pl.DataFrame, settings: AmplificationSettings) -> list[ContrastWords]:
    """Return the words of every contrast, the control last, from the table of items."""
    found = []
    for (name,), part in items.group_by("contrast", maintain_order=True):
        words = list(_words(part, settings.prior_size))
        kept = tuple(word for word in words if sum(word.counts) >= settings.min_count)
        rare = tuple(word for word in words if sum(word.counts) < settings.min_count)
        found.append(ContrastWords(str(name), bool(part["control"][0]), kept, rare))
    return sorted(found, key=lambda words: words.control)


def _words(part: pl.DataFrame, prior_size: float) -> Iterator[AttributeWord]:
    firsts = part.unique("word", keep="first", maintain_order=True)
    counts = dict(zip(firsts["word"], firsts.select("count_a", "count_b").rows(), strict=True))
    odds = _log_odds(counts, (firsts["words_a"][0], firsts["words_b"][0]), prior_size)
    for (word,), rows in part.group_by("word", maintain_order=True):
        a, b = (_table(rows.filter(side=side)) for side in "AB")
        c, variance = odds.get(str(word), (math.nan, math.nan))
        crossed = (len(a), a.shape[1], b.shape[1])
        gaps = np.sort(a, axis=1).mean(axis=1) - np.sort(b, axis=1).mean(axis=1)
        each = dict(zip(rows["template"].unique(maintain_order=True), gaps.tolist(), strict=True))
        yield AttributeWord(
            str(word), rows["kind"][0], contrast(a, b), c, variance, counts[word], len(rows), crossed, each
        )


def _table(rows: pl.DataFrame) -> Array:
    templates = rows["template"].n_unique()
    return rows["corrected"].to_numpy().reshape(templates, -1)


def _log_odds(
    counts: dict[str, tuple[int, int]], total: tuple[int, int], prior_size: float
) -> dict[str, tuple[float, float]]:
    """Return each occurring word's log-odds ratio, in the sentences of A against those of B, and its error variance.

    `counts` has the occurrences of each word, and `total` the number of all words, in the sentences of A and of B. See
    Monroe, Colaresi & Quinn 2008. The vocabulary is the attribute words and, as one entry, all other words of the
    sentences; the prior is both groups' sentences together.
    """
    known = [word for word, pair in counts.items() if sum(pair)]
    table = np.array([counts[word] for word in known], dtype=np.int64).reshape(-1, 2)
    rest = np.maximum(np.array(total, dtype=np.int64) - table.sum(axis=0), 0)
    table = np.vstack([table, rest])[: len(known) + bool(rest.sum())]
    if len(table) < 2:
        return {}
    found = log_odds(table[:, 1], table[:, 0], table.sum(axis=1), prior_size=prior_size)
    return dict(zip(known, zip(found.delta.tolist(), found.variance.tolist(), strict=False), strict=False))


# Estimates ----------------------------------------------------------------------------------------------------------


def amplification_estimates(items: pl.DataFrame, settings: AmplificationSettings) -> list[Estimate]:
    """Return the estimates of each contrast and kind of attribute, of contrasts minus the control, and of each word."""
    contrasts = words_of(items, settings)
    rows: list[Estimate] = []
    for words in contrasts:
        for kind in words.kinds:
            rows += _of_kind(words, kind, settings)
    rows += _beyond_control(contrasts, settings)
    for words in contrasts:
        for word in (*words.kept, *words.rare):
            rows += _of_word(words, word, settings)
    return with_holm(rows, family)


def family(estimate: Estimate) -> str:
    """Return the name of an estimate's family for Holm's adjustment.

    A family is the tests of one measure over the words of a contrast, over the kinds, or over the contrasts.
    """
    if estimate.measure == GAP:
        return f"{GAP}, words of {estimate.by['contrast']}"
    return f"{estimate.measure}, {'contrasts' if estimate.by['kind'] == EVERYTHING else 'kinds'}"


def columns(words: Sequence[AttributeWord]) -> tuple[Array, Array, Array, Array]:
    """Return arrays of each word's c and m, and of the error variances of c and of m (0 if that of m is unknown)."""
    rows = [(word.c, word.m.value, word.c_variance, word.m.variance) for word in words]
    c, m, of_c, of_m = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return c, m, of_c, np.where(np.isnan(of_m), 0.0, of_m)


def generator(settings: AmplificationSettings, *names: str) -> np.random.Generator:
    """Return a random generator seeded from the seed of the settings and `names`."""
    return np.random.default_rng([settings.seed, *"\0".join(names).encode()])


def _of_kind(words: ContrastWords, kind: str, settings: AmplificationSettings) -> Iterator[Estimate]:
    by = {"contrast": words.contrast, "kind": kind, "word": ""}
    chosen = words.of(kind)
    measures = (SLOPE, AGAINST_0, EXACT, CORRELATION, RELIABILITY)
    if len(chosen) < FEWEST:
        note = Note("amplification.few-words", least=FEWEST)
        for measure in measures:
            yield Estimate(measure, math.nan, len(chosen), level=settings.level, notes=(note,), by=by)
    else:
        yield from _line(Points.of(*columns(chosen)), by, settings)
    gaps = [word.gap for word in chosen]
    mean = t_mean(gaps, level=settings.level, noun="words", against=0)
    yield replace(mean, measure=SHIFT, by=by)
    for estimate in over_templates(chosen, settings.level):
        yield replace(estimate, by=by)


def over_templates(words: Sequence[AttributeWord], level: float) -> tuple[Estimate, Estimate]:
    """Return the variation of m between templates: the sd over templates, and their share of the variance.

    The sd is of the mean of m over the words of a template; the share is of the variance of m, one value per word and
    template. Templates are nested in families.
    """
    rows = [
        (family, f"{family}\0{template}", m)
        for word in words
        for family in ["\0".join(sorted(word.by_template))]
        for template, m in word.by_template.items()
    ]
    families, templates, values = zip(*rows, strict=True) if rows else ((), (), ())
    unit, template = (
        np.unique(np.array(names, dtype=np.str_), return_inverse=True)[1] for names in (families, templates)
    )
    m = np.array(values, dtype=np.float64)
    return nested_templates(m, template, unit, level=level, noun="families of templates")


def _line(words: Points, by: dict[str, str], settings: AmplificationSettings) -> Iterator[Estimate]:
    n, found, left = len(words), words.line(), words.left_out()
    drawn = words.resampled(generator(settings, by["contrast"], by["kind"]), settings.resamples)
    method = wider("amplification.wider", settings, words=n)
    parts = (
        (SLOPE, found.slope, drawn.slope, left.slope, 1.0),
        (AGAINST_0, found.slope, drawn.slope, left.slope, 0.0),
        (EXACT, found.exact, drawn.exact, left.exact, 1.0),
        (RELIABILITY, found.reliability, drawn.reliability, left.reliability, None),
        (CORRELATION, found.correlation, drawn.correlation, left.correlation, 0.0),
    )
    for measure, value, draws, without, against in parts:
        bare = Estimate(measure, float(value[0]), n, level=settings.level, by=by)
        drawn_from = with_draws(bare, draws, jackknife_error(without), n, method, against)
        yield _within_one(drawn_from) if measure == CORRELATION else drawn_from


def _within_one(estimate: Estimate) -> Estimate:
    """Return a correlation with its interval clipped at −1 and 1, and with a note if the words are few."""
    return on_scale(estimate.noted(SMALL if FEW <= estimate.n < MANY else None), -1, 1)


def wider(code: str, settings: AmplificationSettings, **params: object) -> Method:
    """Return the `Method` for the wider of two intervals, with the resamples and seed of the settings, and `params`."""
    return Method(code, **params, resamples=settings.resamples, seed=settings.seed)


def with_draws(
    estimate: Estimate, draws: Array, error: float, n: int, method: Method, against: float | None
) -> Estimate:
    """Return an estimate with an interval and, unless `against` is None, a test against that value.

    `draws` are the estimate's values in resamples of `n` words, and `error` is its jackknife standard error. The test
    agrees with the interval. If the interval is infinite, interval and test are missing.
    """
    if not math.isfinite(estimate.value):
        return replace(estimate, value=math.nan).noted(Note("amplification.no-number"))
    low, high = wider_interval(estimate.value, draws, error, n, estimate.level)
    if math.isnan(low):
        return estimate.noted(Note("amplification.no-interval"))
    estimate = replace(estimate, low=low, high=high, method=method).noted(ROUGH if n < FEW else None)
    if against is None:
        return estimate
    p = wider_p(estimate.value, draws, error, n, against)
    return estimate.tested(p, Method("amplification.larger-p", against=against))


def _beyond_control(contrasts: Sequence[ContrastWords], settings: AmplificationSettings) -> Iterator[Estimate]:
    """Yield the slope of every contrast minus that of the control, which has other words."""
    control = next((words for words in contrasts if words.control), None)
    if control is None:
        return
    for words in contrasts:
        if words.control:
            continue
        n, of_control = len(words.kept), len(control.kept)
        by = {"contrast": words.contrast, "kind": EVERYTHING, "word": ""}
        bare = Estimate(BEYOND, math.nan, n, level=settings.level, by=by)
        if min(n, of_control) < FEWEST:
            yield bare.noted(Note("amplification.few-words-or-control", least=FEWEST))
            continue
        both = [Points.of(*columns(each.kept)) for each in (words, control)]
        first, second = (line.line().slope[0] for line in both)
        draws = [
            each.resampled(generator(settings, BEYOND, of.contrast), settings.resamples).slope
            for each, of in zip(both, (words, control), strict=True)
        ]
        with np.errstate(invalid="ignore"):
            gap, drawn = float(first - second), draws[0] - draws[1]
        errors = [jackknife_error(each.left_out().slope) for each in both]
        method = wider("amplification.wider-apart", settings, words=n, control=of_control)
        yield with_draws(replace(bare, value=gap), drawn, math.hypot(*errors), min(n, of_control), method, 0.0)


# Words --------------------------------------------------------------------------------------------------------------


def _of_word(words: ContrastWords, word: AttributeWord, settings: AmplificationSettings) -> Iterator[Estimate]:
    by = {"contrast": words.contrast, "kind": word.kind, "word": word.word}
    templates, a, b = word.crossed
    over = {"templates": templates, "first": a, "second": b}
    level = settings.level
    single = () if math.isfinite(word.m.variance) else (Note("amplification.of-one"),)
    m = Estimate(M, word.m.value, word.sentences, level=level, notes=single, by=by)
    yield _t_interval(m, word.m.variance, word.m.df, Method("amplification.m", **over))
    n = sum(word.counts)
    if math.isnan(word.c):
        yield Estimate(C, math.nan, n, level=level, notes=(Note("amplification.never"),), by=by)
    else:
        c = Estimate(C, word.c, n, level=level, by=by)
        yield _t_interval(c, word.c_variance, math.inf, Method("amplification.c"))
    if word in words.rare:
        note = Note(LEFT_OUT, have=n, least=settings.min_count)
        yield Estimate(GAP, math.nan, n, level=level, notes=(note,), by=by)
        return
    variance = word.m.variance + word.c_variance
    df = variance**2 / (word.m.variance**2 / word.m.df) if word.m.variance > 0 else math.inf
    gap = Estimate(GAP, word.gap, n, level=level, notes=single, by=by)
    gap = _t_interval(gap, variance, df, Method("amplification.gap", **over))
    if math.isnan(gap.low):
        yield gap
        return
    p = float(2 * scipy.stats.t.sf(abs(gap.value) / variance**0.5, df))
    yield gap.tested(p, Method("satterthwaite-test", two_sided=True))


def _t_interval(estimate: Estimate, variance: float, df: float, method: Method) -> Estimate:
    """Return the estimate with a t interval from the variance of its error; unchanged if that is unknown or 0."""
    if not variance > 0:
        return estimate
    reach = float(scipy.stats.t.ppf((1 + estimate.level) / 2, df)) * variance**0.5
    return replace(estimate, low=estimate.value - reach, high=estimate.value + reach, method=method)
