"""Acquisition of paradigms and its notes, for accuracies set by hand."""

from __future__ import annotations

import math

import pytest
from test_these_groups import result

from penchant.instruments.minimal_pairs.instrument import MINIMAL_PAIRS
from penchant.instruments.minimal_pairs.training_curve import ACQUIRED, NO_STEP, curve
from penchant.wording.phrases import read_notes

STEPS = (0, 10, 100, 1_000, 10_000)
PAIRS = 24


def right(share: float) -> list[int]:
    return [int(n < share * PAIRS) for n in range(PAIRS)]


@pytest.mark.parametrize(
    ("shares", "step", "code"),
    [
        ((0.25, 0.25, 1, 1, 1), 100, ""),
        ((0.25, 0.25, 1, 0.5, 1), None, "does-not-stay"),
        ((0, 0, 0.5, 0.5, 0.5), None, "not-above-half"),
        ((0.75, 0.75, 1, 1, 1), None, "above-half-before"),
        ((1, 1, 0.25, 0.25, 0.25), None, "falls"),
        ((0.25, 0.25, 0.25, 0.25, 1), 10_000, "last-checkpoint"),
        ((0.75, 0.75, 0.75, 0.75, 0.75), None, "no-change"),
    ],
)
def test_when_a_paradigm_is_acquired(shares: tuple[float, ...], step: int | None, code: str) -> None:
    steps = [(at, result(f"m{at}", {"p": right(share)})) for at, share in zip(STEPS, shares, strict=True)]
    found = curve("small", steps)
    row = found.filter(measure=ACQUIRED, normalise="none").row(0, named=True)
    notes = [note.params["reason"] if note.code == NO_STEP else note for note in read_notes(row["notes"])]
    assert [note.code for note in notes] == ([f"minimal_pairs.{code}"] if code else [])
    assert all(note.params["step"] == 100 for note in notes if note.code != "minimal_pairs.no-change" and step is None)
    curves = MINIMAL_PAIRS.section.curves
    assert curves is not None
    (text,) = curves.sentences(found)
    if step is None:
        assert math.isnan(row["value"])
        assert text.startswith("small acquires 0 of 1 paradigm. No step of acquisition: ") and " at step " not in text
    else:
        assert row["value"] == step
        assert text.startswith(f"small acquires 1 of 1 paradigm: p at step {step:,} [")
        assert text.endswith("n = 24 pairs.")
