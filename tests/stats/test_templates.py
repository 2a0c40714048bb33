"""The spread over templates: crossed ones, and ones of every unit's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from penchant.stats.templates import nested_templates, sd_over_templates, share_of_templates


def test_templates_of_units_worked_by_hand() -> None:
    """Units with templates of means 1, 3 | 6, 6, 9 | 4; squares about the means of units: 2, 6 and none, of 1, 2 and 0
    degrees of freedom."""
    values = np.array([0.0, 2, 3, 3, 6, 6, 9, 4])
    template = np.array([0, 0, 1, 1, 2, 3, 4, 5])
    unit = np.array([0, 0, 0, 0, 1, 1, 1, 2])
    sd, share = nested_templates(values, template, unit, level=0.95, noun="occupations")
    assert sd.n == 6 and sd.value == pytest.approx((8 / 3) ** 0.5)
    assert math.isnan(sd.low) and "fewer than 5 occupations with several templates" in sd.note
    # Between templates of a unit: 2·(1 + 1) of the first, 6 of the second.
    assert share.value == pytest.approx(10 / ((values - values.mean()) ** 2).sum())


def test_the_interval_of_pairs_is_that_of_the_variance_of_their_differences() -> None:
    """With two templates a unit, s² is half the mean of squared differences, whose standard error is numpy's."""
    rng = np.random.default_rng(3)
    pairs = rng.normal(size=(70, 2)) + 5 * rng.normal(size=(70, 1))
    unit, order = np.repeat(np.arange(70), 2), rng.permutation(140)
    sd, _ = nested_templates(pairs.ravel(), np.arange(140), unit, level=0.9, noun="occupations")
    squares = (pairs[:, 0] - pairs[:, 1]) ** 2 / 2
    assert sd.value == pytest.approx(squares.mean() ** 0.5)
    z = stats.norm.ppf(0.95)
    correction = 70 / (70 - z)
    reach = z * correction * squares.std(ddof=1) / 70**0.5 / squares.mean()
    assert np.log(sd.high**2 / sd.low**2) == pytest.approx(2 * reach)
    assert sd.low * sd.high == pytest.approx(correction * sd.value**2) and not sd.note
    mixed, _ = nested_templates(pairs.ravel()[order], order, unit[order], level=0.9, noun="occupations")
    assert (mixed.low, mixed.high) == (sd.low, sd.high)


def test_one_unit_is_a_table_of_crossed_rows() -> None:
    table = np.random.default_rng(5).normal(size=(6, 4))
    template = np.repeat(np.arange(6), 4)
    sd, share = nested_templates(table.ravel(), template, np.zeros(24, dtype=int), level=0.95, noun="kinds")
    means = sd_over_templates(table.mean(axis=1), level=0.95)
    assert (sd.value, sd.low, sd.high) == pytest.approx((means.value, means.low, means.high)) and sd.how == means.how
    assert share.value == pytest.approx(share_of_templates(table, level=0.95).value)


def test_what_cannot_be_told_says_why() -> None:
    alone = nested_templates(np.arange(4.0), np.arange(4), np.arange(4), level=0.95, noun="occupations")
    for each in alone:
        assert math.isnan(each.value) and "each of the occupations has one template" in each.note
    one = nested_templates(np.arange(2.0), np.zeros(2, int), np.zeros(2, int), level=0.95, noun="kinds")
    assert [each.note for each in one] == ["one template"] * 2
    lone = nested_templates(np.arange(6.0), np.arange(6), np.zeros(6, int), level=0.95, noun="kinds")
    assert lone[0].value > 0 and math.isnan(lone[1].value) and "one number per template" in lone[1].note
    assert math.isnan(share_of_templates(np.arange(6.0)[:, None], level=0.95).value)
    same = nested_templates(np.ones(20), np.arange(20), np.repeat(np.arange(10), 2), level=0.95, noun="occupations")
    assert same[0].value == 0 and "do not differ" in same[0].note and same[1].note == "nothing varies"
    few = nested_templates(
        np.arange(12.0) ** 2, np.arange(12), np.repeat(np.arange(6), 2), level=0.9999999999, noun="x"
    )
    assert "too few x for this level" in few[0].note
