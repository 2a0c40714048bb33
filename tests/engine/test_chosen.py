"""Log-probabilities are the same however many rows are normalised at once."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import log_softmax

from penchant.engine import backends


@pytest.mark.parametrize("cached", [1, 45, 100, 1 << 18])
def test_a_few_rows_at_a_time(cached: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 20 logits: one, two, five and all at once; rows that are read twice, and some that are not read."""
    monkeypatch.setattr(backends, "_CACHED", cached)
    logits = np.random.default_rng(0).normal(0, 9, (11, 20)).astype(np.float32)
    rows, tokens = np.array([0, 0, 1, 4, 5, 5, 5, 9, 10]), np.array([3, 0, 19, 7, 7, 8, 2, 1, 4])
    found = backends._chosen(torch.from_numpy(logits), rows, tokens)
    np.testing.assert_allclose(found, log_softmax(logits.astype(np.float64), axis=1)[rows, tokens], atol=1e-5)
    assert len(backends._chosen(torch.from_numpy(logits), rows[:0], tokens[:0])) == 0
