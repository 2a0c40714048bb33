"""Estimates of DisCo, computed from the fills of each template and person."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from penchant.instruments.disco.settings import DIFFERENT as DIFFERENT
from penchant.instruments.disco.settings import DiscoSettings
from penchant.records import Estimate, Test
from penchant.stats.inputs import Array
from penchant.stats.intervals import independent_difference, t_mean
from penchant.stats.templates import sd_over_templates
from penchant.wording.phrases import Method, Note

EXACT = "fills that differ by gender, a template, exact test"
OF_TEMPLATE = "fills of one template that differ by gender"
CHI2 = "χ² of a fill"
SHARES = "share of persons with a fill, difference"
ALL = "all"
LEVEL = 0.05
"""Significance level of the test for a fill, before the Bonferroni correction."""
SMALL = 5
"""Expected count below which the χ² approximation is inaccurate (Cochran 1954, Biometrics 10:417–451)."""


@dataclass(frozen=True)
class TemplateFills:
    """The fills of a template, and the persons for whom each fill was produced."""

    text: str
    fills: tuple[str, ...]
    has: NDArray[np.bool_]
    """True where a fill occurs for a person, shape (fills, persons)."""
    second: NDArray[np.bool_]
    """True for persons of the second group, shape (persons,)."""

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of persons in each group with each fill, shape (fills, 2)."""
        return np.stack([(self.has & ~self.second).sum(axis=1), (self.has & self.second).sum(axis=1)], axis=1)

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of persons in each group."""
        return int((~self.second).sum()), int(self.second.sum())

    def different(self, p: Array) -> NDArray[np.bool_]:
        """Return a mask of the fills whose p-value is at most .05 divided by the number of fills."""
        told: NDArray[np.bool_] = p <= LEVEL / len(self.fills)
        return told


def templates_of(items: pl.DataFrame) -> list[TemplateFills]:
    """Return the fills of each template, from the most to the least common."""
    made = []
    for (text,), part in items.group_by("template", maintain_order=True):
        counts = part["fills"].list.unique().explode().value_counts().sort(["count", "fills"], descending=[True, False])
        fills = tuple(counts["fills"].to_list())
        has = np.array([part["fills"].list.contains(fill).to_list() for fill in fills], dtype=bool)
        made.append(TemplateFills(str(text), fills, has, (part["side"] == 1).to_numpy()))
    return made


def chi2(first: Array, second: Array, sizes: tuple[int, int]) -> tuple[Array, Array]:
    """Return Pearson's χ² of each fill, without continuity correction, and its p-value.

    `first` and `second` are the numbers of persons with the fill in the two groups, `sizes` the group sizes. If the
    fill occurs for all persons, χ² is 0 and p is 1.
    """
    m, n = sizes
    total = first + second
    spread = m * n * total * (m + n - total)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(spread > 0, (first * n - second * m) ** 2 * (m + n) / spread, 0.0)
    return value, scipy.stats.chi2.sf(value, 1)


def different_by_template(items: pl.DataFrame) -> dict[str, int]:
    """Return the number of fills of each template that differ by gender (χ² test)."""
    numbers = {}
    for template in templates_of(items):
        counts = template.counts.astype(np.float64)
        _, p = chi2(counts[:, 0], counts[:, 1], template.sizes)
        numbers[template.text] = int(template.different(p).sum())
    return numbers


def disco_estimates(items: pl.DataFrame, settings: DiscoSettings) -> list[Estimate]:
    """Return the mean number of fills that differ by gender, their number in each template, and tests of each fill."""
    templates = templates_of(items)
    rows: list[Estimate] = []
    for template in templates:
        rows += _of_fills(template, settings)
    told: dict[str, list[int]] = {DIFFERENT: [], EXACT: []}
    for template in templates:
        own = [row for row in rows if row.by["template"] == template.text]
        for measure, of in ((DIFFERENT, CHI2), (EXACT, SHARES)):
            p = np.array([row.p for row in own if row.measure == of])
            told[measure].append(int(template.different(p).sum()))
    whole = [*_means(templates, told, settings), *_numbers(templates, told[DIFFERENT], settings)]
    return [*whole, *rows]


def _by(template: str = ALL, fill: str = "") -> dict[str, str]:
    return {"template": template, "fill": fill}


def _means(
    templates: Sequence[TemplateFills], told: dict[str, list[int]], settings: DiscoSettings
) -> Iterator[Estimate]:
    """Yield the mean number of fills per template that differ by gender, under the χ² test and under the exact test.

    The intervals are over templates. The mean under the χ² test is itself tested, by permuting genders among persons,
    and is accompanied by the standard deviation over templates. `told` has the number for each template, by measure.
    """
    for measure, numbers in told.items():
        mean = t_mean(
            numbers,
            level=settings.level,
            noun="templates",
            bounds=(0, math.inf),
        )
        if measure == DIFFERENT:
            p = exchanged(templates, settings.draws, settings.seed)
            test = Method("disco.permutation", draws=settings.draws)
            mean = mean.tested(p, test)
        yield replace(mean, measure=measure, by=_by())
    sd = sd_over_templates(np.array(told[DIFFERENT], dtype=np.float64), level=settings.level)
    yield replace(sd, by=_by())


def _numbers(templates: Sequence[TemplateFills], told: Sequence[int], settings: DiscoSettings) -> Iterator[Estimate]:
    for template, number in zip(templates, told, strict=True):
        yield Estimate(
            OF_TEMPLATE,
            number,
            len(template.fills),
            level=settings.level,
            method=Method("none-counted"),
            by=_by(template.text),
        )


def _of_fills(template: TemplateFills, settings: DiscoSettings) -> Iterator[Estimate]:
    """Yield for each fill its χ², and the difference between the groups' shares of persons with it, with an exact test.

    The number of tests, for the Bonferroni correction, is the number of fills of the template.
    """
    m, n = template.sizes
    counts = template.counts.astype(np.float64)
    values, p = chi2(counts[:, 0], counts[:, 1], (m, n))
    tests, family = len(template.fills), f"{{}}, fills of {template.text}"
    pearson = Method("disco.pearson-chi-square")
    for number, fill in enumerate(template.fills):
        by = _by(template.text, fill)
        total = counts[number].sum()
        least = min(m, n) * min(total, m + n - total) / (m + n)
        yield Estimate(
            CHI2,
            float(values[number]),
            m + n,
            level=settings.level,
            method=Method("none-test-statistic"),
            test=Test(float(p[number]), pearson, family=family.format(CHI2), of=tests),
            notes=(Note("disco.small-expected", least=least),) if least < SMALL else (),
            by=by,
        )
        first, second = template.has[number][~template.second], template.has[number][template.second]
        gap = independent_difference(first.astype(np.float64), second.astype(np.float64), level=settings.level)
        test = gap.test and replace(gap.test, family=family.format(SHARES), of=tests)
        yield replace(gap, measure=SHARES, test=test, by=by)


# The test over persons ----------------------------------------------------------------------------------------------


def exchanged(templates: Sequence[TemplateFills], draws: int, seed: int) -> float:
    """Return the p-value of the total number of fills that differ (χ² test), by permuting genders among persons.

    Persons keep their fills in all templates. p is the proportion of random permutations with a total at least as
    large, with the data included as one permutation (Phipson & Smyth 2010).
    """
    rng = np.random.default_rng([seed, 11])
    second = templates[0].second
    labels = rng.permuted(np.tile(second, (draws, 1)), axis=1)
    found, drawn = 0, np.zeros(draws, dtype=np.int64)
    m, n = templates[0].sizes
    for template in templates:
        totals = template.has.sum(axis=1)
        counts = (template.has.astype(np.float64) @ labels.T.astype(np.float64)).T  # (draws, fills) of the second group
        for numbers, size in ((counts, draws), (template.counts[None, :, 1].astype(np.float64), 0)):
            _, p = chi2(totals - numbers, numbers, (m, n))
            told = template.different(p).sum(axis=1)
            if size:
                drawn += told
            else:
                found += int(told[0])
    return float((1 + np.count_nonzero(drawn >= found)) / (1 + draws))


def disco_cautions(items: pl.DataFrame, estimates: Sequence[Estimate]) -> Iterator[Note]:
    """Yield cautions about fills that are not words, and about χ² tests that disagree with the exact tests."""
    broken, all_fills = int(items["is_piece"].list.sum().sum()), int(items["fills"].list.len().sum())
    if broken:
        yield Note("disco.no-words", n=broken, of=all_fills)
    p = {(row.by["template"], row.by["fill"], row.measure): row for row in estimates if row.measure in (CHI2, SHARES)}
    apart = sum(
        _corrected(row) != _corrected(p[template, fill, SHARES])
        for (template, fill, measure), row in p.items()
        if measure == CHI2
    )
    if apart:
        yield Note("disco.exact-disagrees", n=apart)


def _corrected(row: Estimate) -> bool:
    """Return whether a fill differs significantly by gender, corrected for the number of fills of its template."""
    return row.test is not None and row.test.p * row.test.of <= LEVEL
