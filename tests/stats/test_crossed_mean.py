"""Means over crossed rows: against hand-worked variances, against a balanced analysis, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from penchant.stats.crossed_mean import Factor, crossed, jackknife, mean_of, paired_gap
from penchant.stats.inputs import Codes
from penchant.stats.sd_interval import spread_interval
from penchant.stats.templates import sd_over_templates, share_of_templates


def design(templates: int, professions: int, first: int, second: int) -> tuple[Codes, Codes, Codes, Codes]:
    """Template, profession, person and side of every row."""
    shape = templates, professions, first + second
    template, profession, person = (axis.ravel() for axis in np.indices(shape))
    return template, profession, person, (person >= first).astype(np.intp)


def factors(template: Codes, profession: Codes, person: Codes, side: Codes) -> list[Factor]:
    first = int((side == 0)[: int(person.max()) + 1].sum())
    return [
        Factor("templates", template),
        Factor("professions", profession),
        Factor("female persons", np.where(side == 0, person, -1)),
        Factor("male persons", np.where(side == 1, person - first, -1)),
    ]


def test_one_factor_is_the_t_interval_of_its_means() -> None:
    values = np.array([1.0, 3.0, 4.0, 8.0, 9.0])
    found = crossed(mean_of(values), [Factor("sentences", np.arange(5))], n=5, against=0)
    test = stats.ttest_1samp(values, 0)
    low, high = test.confidence_interval()
    assert (found.value, found.low, found.high, found.p) == pytest.approx((5, low, high, test.pvalue))
    assert "over 5 sentences (jackknife), 4.0 df" in found.how


def test_the_gap_of_a_table_worked_by_hand() -> None:
    """Two templates, two professions, one person a side: gaps 1, 3 | 5, 11; the mean is 5."""
    template, profession, _, side = design(2, 2, 1, 1)
    values = np.array([1, 0, 4, 1, 5, 0, 12, 1], dtype=float)
    gap = paired_gap(values, template * 2 + profession, side)
    assert gap(np.ones(8)) == 5
    # Without a template 8 and 2, so that the variance is ½·(3² + 3²); without a profession 7 and 3; without a pair of
    # them 19/3, 17/3, 5 and 3, whose squares about 5 sum to (16 + 4 + 0 + 36)/9, which counts ¾.
    assert jackknife(gap, template) == pytest.approx(9) and jackknife(gap, profession) == pytest.approx(4)
    assert jackknife(gap, template * 2 + profession) == pytest.approx(0.75 * 56 / 9)
    found = crossed(gap, [Factor("templates", template), Factor("professions", profession)], n=4, against=0)
    assert (found.high - found.low) / 2 == pytest.approx(stats.t.ppf(0.975, 1) * 3)  # 4 − 4.67 is below 0: nothing
    assert found.p == pytest.approx(2 * stats.t.sf(5 / 3, 1))
    assert found.note == "approximate: only 2 templates and 2 professions"


def test_cells_without_a_side_do_not_count() -> None:
    values, cells, side = np.array([1.0, 2.0, 9.0]), np.array([0, 0, 1]), np.array([0, 1, 0])
    assert paired_gap(values, cells, side)(np.ones(3)) == -1
    assert math.isnan(paired_gap(values, cells, side)(np.array([1.0, 0.0, 1.0])))


def test_what_has_no_interval_says_why() -> None:
    one = crossed(mean_of(np.ones(3)), [Factor("templates", np.zeros(3, dtype=np.intp))], n=3)
    assert math.isnan(one.low) and "only one template" in one.note
    same = crossed(mean_of(np.ones(3)), [Factor("persons", np.arange(3))], n=3, against=0)
    assert math.isnan(same.p) and "nothing varies" in same.note
    side = np.array([0, 1, 1])
    lost = crossed(
        paired_gap(np.arange(3.0), np.zeros(3, dtype=np.intp), side),
        [Factor("persons", np.arange(3))],
        n=1,
    )
    assert math.isnan(lost.low) and "one unit alone" in lost.note


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    parts = design(3, 4, 3, 2)
    values, order = rng.normal(size=len(parts[0])), rng.permutation(len(parts[0]))
    cells = parts[0] * 4 + parts[1]
    made = crossed(paired_gap(values, cells, parts[3]), factors(*parts), n=12, against=0)
    mixed = [Factor(each.noun, each.unit[order]) for each in factors(*parts)]
    other = crossed(paired_gap(values[order], cells[order], parts[3][order]), mixed, n=12, against=0)
    assert (made.value, made.low, made.p) == pytest.approx((other.value, other.low, other.p), rel=1e-9)


@pytest.mark.parametrize(
    ("spread", "size"),
    [
        ((0.0, 0.0, 0.0, 1.0), (5, 20, 9, 9)),
        ((0.5, 0.5, 0.5, 0.5), (5, 20, 9, 9)),
        ((0.1, 1.0, 0.1, 0.3), (5, 20, 9, 9)),
        ((1.0, 0.1, 0.1, 0.3), (5, 12, 6, 6)),
        ((0.5, 0.5, 0.5, 0.5), (4, 8, 4, 4)),
    ],
)
def test_intervals_hold_the_truth(spread: tuple[float, ...], size: tuple[int, int, int, int]) -> None:
    """Templates, persons and professions have effects of their own on each side; the true gap is 0."""
    rng, sets = np.random.default_rng([7, *size]), 120
    template, profession, person, side = design(*size)
    held = 0
    for _ in range(sets):
        a, b, c, noise = (rng.normal(0, sd, (40, 2)) for sd in (*spread[:3], 1))
        values = a[template, side] + b[person, 0] + c[profession, side] + rng.normal(0, spread[3], len(side))
        gap = paired_gap(values, template * size[1] + profession, side)
        found = crossed(gap, factors(template, profession, person, side), n=1, against=0)
        assert (found.p < 0.05) == (not found.low <= 0 <= found.high)
        held += found.low <= 0 <= found.high
    assert noise.size and held / sets >= 0.89  # .95, less three standard errors of so few data sets


def test_what_templates_make_of_a_number() -> None:
    table = np.array([[1.0, 3.0], [5.0, 7.0]])
    assert share_of_templates(table, level=0.95).value == pytest.approx(16 / 20)  # means 2 and 6 about 4; 1 within
    assert math.isnan(share_of_templates(np.array([[1.0, np.nan], [1.0, 2.0]]), level=0.95).value)
    values = np.array([0.1, 0.5, 0.2, 0.9, 0.4, 0.8])
    found = sd_over_templates(values, level=0.95)
    assert found.value == pytest.approx(np.std(values, ddof=1))
    assert (found.low, found.high) == pytest.approx(spread_interval(values, 0.95))
    few = sd_over_templates(values[:3], level=0.95)
    assert math.isnan(few.low) and "fewer than 5 templates" in few.note
    assert math.isnan(sd_over_templates(values[:1], level=0.95).value)
