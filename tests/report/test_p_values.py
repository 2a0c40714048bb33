"""Printed p-values agree with what was decided by them."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from penchant.report.tables import P


def test_by_hand() -> None:
    shown = {
        0.050049: "0.05005",
        0.0501: "0.0501",
        0.05: "0.05",
        0.0499: "0.05",
        0.051: "0.051",
        0.5: "0.5",
        0: "< 1e-300",
    }
    assert {value: str(P(value)) for value in shown} == shown


@given(st.floats(0, 1))
@example(0.050049)
@example(0.05000000000000001)
def test_the_printed_number_decides_as_the_number(value: float) -> None:
    text = str(P(value))
    if not text.startswith("<"):
        assert (float(text) <= 0.05) == (value <= 0.05)
        assert abs(float(text) - value) <= 0.05 * value
