"""When a paradigm counts as acquired, and how that is told, for accuracies that are set by hand."""

from __future__ import annotations

import math

import pytest
from test_as_they_are import result

from penchant.instruments.minimal_pairs.curve import ACQUIRED, curve
from penchant.instruments.minimal_pairs.instrument import MINIMAL_PAIRS

STEPS = (0, 10, 100, 1_000, 10_000)
PAIRS = 24


def right(share: float) -> list[int]:
    return [int(n < share * PAIRS) for n in range(PAIRS)]


@pytest.mark.parametrize(
    ("shares", "step", "said"),
    [
        ((0.25, 0.25, 1, 1, 1), 100, ""),
        (
            (0.25, 0.25, 1, 0.5, 1),
            None,
            "no step of acquisition: accuracy rises at step 100, but does not stay above one half",
        ),
        ((0, 0, 0.5, 0.5, 0.5), None, "no step of acquisition: accuracy rises at step 100, but not above one half"),
        (
            (0.75, 0.75, 1, 1, 1),
            None,
            "no step of acquisition: accuracy rises at step 100, but is above one half before",
        ),
        ((1, 1, 0.25, 0.25, 0.25), None, "no step of acquisition: accuracy falls at step 100"),
        ((0.25, 0.25, 0.25, 0.25, 1), 10_000, "at the last checkpoint alone"),
        ((0.75, 0.75, 0.75, 0.75, 0.75), None, "no step of acquisition: no change found"),
    ],
)
def test_when_a_paradigm_is_acquired(shares: tuple[float, ...], step: int | None, said: str) -> None:
    found = curve(
        "small", [(at, result(f"m{at}", {"p": right(share)})) for at, share in zip(STEPS, shares, strict=True)]
    )
    row = found.filter(measure=ACQUIRED, normalise="none").row(0, named=True)
    assert row["note"] == said
    curves = MINIMAL_PAIRS.section.curves
    assert curves is not None
    (text,) = curves.finding(found)
    if step is None:
        assert math.isnan(row["value"])
        assert text.startswith("small acquires 0 of 1 paradigm. No step of acquisition: ") and " at step " not in text
    else:
        assert row["value"] == step
        assert text.startswith(f"small acquires 1 of 1 paradigm: p at step {step:,} [")
        assert text.endswith("n = 24 pairs.")
