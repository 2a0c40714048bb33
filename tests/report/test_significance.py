"""The rule for stating a difference, and the text of its number."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penchant.report.significance import Shown, told
from penchant.wording.phrases import Note, notes_json
from penchant.wording.templates import listed

NAN = math.nan
SHARE = Shown(".1f", "pairs", "%", 100, 0.5, (0, 1))


def row(value: float, low: float = NAN, high: float = NAN, p: float = NAN, p_holm: float = NAN, **more: Any) -> Any:
    return {"value": value, "low": low, "high": high, "n": 40, "p": p, "p_holm": p_holm, "note": "", **more}


numbers = st.one_of(st.just(NAN), st.floats(-3, 3))
shares = st.one_of(st.just(NAN), st.floats(0, 1))


@given(value=st.floats(-3, 3), ends=st.tuples(numbers, numbers), p=shares, p_holm=shares)
def test_nothing_is_told_that_an_interval_or_a_test_leaves_open(
    value: float, ends: tuple[float, float], p: float, p_holm: float
) -> None:
    low, high = sorted(ends)
    adjusted = p if math.isnan(p_holm) else p_holm
    open_ = math.isnan(low) or math.isnan(high) or low <= 0 <= high or not adjusted <= 0.05
    assert told(row(value, low, high, p, p_holm)) == (not open_)


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (row(0.7, 0.6, 0.8, 0.001), "70.0% [60.0, 80.0], n = 40 pairs"),
        (row(0.7), "70.0% without an interval, n = 40 pairs"),
        (row(0.7, 0.6, 0.8, 0.03, 0.12, tests=4), "70.0% [60.0, 80.0], but p = 0.12 over 4 tests, n = 40 pairs"),
        (
            row(0.7, 0.6, 0.8, notes=notes_json([Note("skew", would_do=60)])),
            "70.0% [60.0, 80.0] (approximate), n = 40 pairs",
        ),
        (row(0.7, 0.002, 0.998, 0.3), "too few to say, n = 40 pairs"),
        (row(1, 0.4, 1, 0.1, n=3), "too few to say, n = 3 pairs"),
    ],
)
def test_a_number_has_its_interval_and_n(estimate: Any, text: str) -> None:
    assert SHARE.number(estimate) == text


def test_a_number_without_n() -> None:
    assert Shown("+.1f", "pairs", " points", 100).number(row(-0.1, -0.2, -0.02, 0.01), n=False) == (
        "−10.0 points [−20.0, −2.0]"
    )
    assert [listed(parts) for parts in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
