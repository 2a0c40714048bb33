"""A difference of means over words that are crossed with templates: by hand, and the variance of its error."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from penchant.errors import DataError
from penchant.stats.crossed_mean import contrast


def test_by_hand() -> None:
    """First: words of means 2 and 5 without rest (3 apart in both templates); second: the same word twice.

    Gaps by template: (1+4)/2 − 0 = 2½ and (3+6)/2 − 1 = 3½: variance ½, over 2 templates ¼. Words of the first:
    variance 4½, rest 0, over 2 words 2¼. The second's words do not differ: 0."""
    own = contrast([[1, 4], [3, 6]], [[0, 0], [1, 1]])
    assert own.value == 3
    assert own.variance == pytest.approx(1 / 4 + 9 / 4)
    assert own.df == pytest.approx(2.5**2 / (0.25**2 / 1 + 2.25**2 / 1))


def test_a_spread_between_words_that_the_rest_explains_is_none() -> None:
    """Words of means 1 and 2: the ½ between them is less than their rest alone would make."""
    own = contrast([[0, 3], [2, 1]], [[0, 0], [0, 0]])
    # Gaps 1½ and 1½: no variance between templates; words 1 and 2: ½, rest (±1)²·4/1 = 4, over two templates 2.
    assert own.value == 1.5
    assert own.variance == 0


def test_the_variance_is_that_of_repeated_studies() -> None:
    """Drawn anew, templates and words give differences whose variance the mean of the estimates is."""
    rng = np.random.default_rng(2)
    values, variances, held = [], [], 0
    for _ in range(1500):
        template, rest = rng.normal(0, 0.4, (6, 1)), rng.normal(0, 0.3, (6, 20))
        first = 1 + template + rng.normal(0, 0.6, (1, 8)) + rest[:, :8]
        second = rng.normal(0, 0.2, (6, 1)) + rng.normal(0, 0.5, (1, 12)) + rest[:, 8:]
        own = contrast(first, second)
        values.append(own.value)
        variances.append(own.variance)
        held += abs(own.value - 1) <= stats.t.ppf(0.975, own.df) * math.sqrt(own.variance)
    assert np.mean(values) == pytest.approx(1, abs=0.02)
    assert np.mean(variances) == pytest.approx(np.var(values), rel=0.08)
    assert 0.935 < held / 1500 < 0.97


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9999), st.integers(2, 6), st.integers(2, 6), st.integers(2, 6))
def test_orders_do_not_matter_and_groups_exchange(seed: int, templates: int, a: int, b: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(0, 1, (templates, a)), rng.normal(0, 1, (templates, b))
    own = contrast(first, second)
    rows = rng.permutation(templates)
    again = contrast(first[rows][:, rng.permutation(a)], second[rows][:, rng.permutation(b)])
    assert (again.value, again.variance, again.df) == (own.value, own.variance, own.df)  # to the last bit
    other = contrast(second, first)
    assert (other.value, other.variance) == pytest.approx((-own.value, own.variance))


def test_one_of_a_kind_has_no_spread() -> None:
    for first, second in (([[1, 2]], [[0, 1]]), ([[1], [2]], [[0, 1], [1, 1]]), ([[0, 1], [1, 1]], [[1], [2]])):
        own = contrast(first, second)
        assert math.isfinite(own.value) and math.isnan(own.variance) and math.isnan(own.df)
    same = contrast([[1, 1], [1, 1]], [[0, 0], [0, 0]])
    assert (same.value, same.variance, same.df) == (1, 0, math.inf)


def test_what_is_no_table() -> None:
    with pytest.raises(DataError, match=r"shapes \(templates, words\)"):
        contrast([[1, 2]], [[1, 2], [3, 4]])
    with pytest.raises(DataError, match=r"shapes \(templates, words\)"):
        contrast([1, 2], [3, 4])
    with pytest.raises(DataError, match="NaN"):
        contrast([[1, math.nan]], [[1, 2]])
