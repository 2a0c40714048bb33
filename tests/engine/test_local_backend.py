"""Backends: answers made from logits, and overlapping batches; a network on a GPU takes one batch in advance."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax

import penchant as pc
from builders import language_model
from penchant.engine import local_backend
from penchant.engine.batch_plan import Batch
from penchant.engine.local_backend import LocalBackend
from penchant.engine.scorer import Scorer, numbered

Zoo = Callable[[str], Path]
TEXTS = [
    f"The {a} {verb} the {b}." for a in ("cat", "king", "tree") for verb in ("saw", "sees") for b in ("dog", "man")
]


class TwoSlots(LocalBackend):
    """As on a card; remembers which threads ran batches."""

    def __init__(self, model: pc.LanguageModel) -> None:
        super().__init__(model)
        self.slots = 2
        self.threads: list[int] = []

    def run(self, batch: Batch) -> NDArray[np.generic]:
        self.threads.append(threading.get_ident())
        return super().run(batch)


@pytest.mark.parametrize(("name", "method"), [("gpt2", "lp"), ("bert", "pll"), ("bert", "aula"), ("llama", "lp")])
def test_scores_are_those_of_batches_in_turn(zoo: Zoo, name: str, method: str) -> None:
    model = language_model(zoo(name))
    backend = TwoSlots(model)
    beside = Scorer(model, backend=backend, batch_tokens=20)
    in_turn = Scorer(model, batch_tokens=20)
    for one, other in zip(beside.score(numbered(TEXTS), method), in_turn.score(numbered(TEXTS), method), strict=True):
        np.testing.assert_array_equal(one.token_logprobs, other.token_logprobs)
    assert beside.counts.as_dict() == in_turn.counts.as_dict()
    assert len(set(backend.threads)) == 1
    assert threading.get_ident() not in backend.threads


def test_the_next_batch_is_planned_while_one_computes(zoo: Zoo) -> None:
    model = language_model(zoo("gpt2"))

    class Waits(TwoSlots):
        """Its first batch ends only when the second has been planned and taken."""

        taken = 0
        second = threading.Event()

        def submit(self, batch: Batch) -> None:
            self.taken += 1
            if self.taken == 2:
                self.second.set()
            super().submit(batch)

        def run(self, batch: Batch) -> NDArray[np.generic]:
            assert self.second.wait(timeout=60)
            return super().run(batch)

    backend = Waits(model)
    assert len(list(Scorer(model, backend=backend, batch_tokens=20).score(numbered(TEXTS)))) == len(TEXTS)
    assert backend.taken > 2


def test_two_streams_and_one_given_up_do_not_disturb_each_other(zoo: Zoo) -> None:
    model = language_model(zoo("gpt2"))
    alone = [score.score for score in Scorer(model).score(numbered(TEXTS))]
    scorer = Scorer(model, backend=TwoSlots(model), batch_tokens=20)
    next(scorer.score(numbered(reversed(TEXTS))))  # no more than its first
    pairs = zip(scorer.score(numbered(TEXTS)), scorer.score(numbered(TEXTS[::-1])), strict=True)
    forth, back = zip(*((one.score, other.score) for one, other in pairs), strict=True)
    assert forth == pytest.approx(alone, abs=1e-5)
    assert back[::-1] == pytest.approx(alone, abs=1e-5)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_batch_that_fails_ends_the_run_and_the_next_run_is_whole(zoo: Zoo, error: Any) -> None:
    model = language_model(zoo("gpt2"))

    class Fails(TwoSlots):
        submitted = begun = ended = 0
        third = threading.Event()

        def submit(self, batch: Batch) -> None:
            self.submitted += 1
            if self.submitted == 3:
                self.third.set()
            super().submit(batch)

        def run(self, batch: Batch) -> NDArray[np.generic]:
            self.begun += 1
            if self.begun == 2:
                assert self.third.wait(timeout=60)
                self.ended += 1
                raise error
            if self.begun == 3:
                time.sleep(0.5)  # still running when the second batch is known to have failed
            answers = super().run(batch)
            self.ended += 1
            return answers

    backend = Fails(model)
    scorer = Scorer(model, backend=backend, batch_tokens=20)
    with pytest.raises(error):
        list(scorer.score(numbered(TEXTS)))
    assert backend.begun == backend.ended
    alone = [score.score for score in Scorer(model).score(numbered(TEXTS))]
    assert [score.score for score in scorer.score(numbered(TEXTS))] == pytest.approx(alone, abs=1e-5)


def test_a_cpu_runs_batches_in_turn(zoo: Zoo) -> None:
    assert LocalBackend(language_model(zoo("gpt2"))).slots == 1


@pytest.mark.parametrize("cached", [1, 45, 100, 1 << 18])
def test_a_few_rows_at_a_time(cached: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 20 logits: one, two, five and all at once; rows that are read twice, and some that are not read."""
    monkeypatch.setattr(local_backend, "_CACHED", cached)
    logits = np.random.default_rng(0).normal(0, 9, (11, 20)).astype(np.float32)
    rows, tokens = np.array([0, 0, 1, 4, 5, 5, 5, 9, 10]), np.array([3, 0, 19, 7, 7, 8, 2, 1, 4])
    found = local_backend._chosen(torch.from_numpy(logits), rows, tokens)
    np.testing.assert_allclose(found, log_softmax(logits.astype(np.float64), axis=1)[rows, tokens], atol=1e-5)
    assert len(local_backend._chosen(torch.from_numpy(logits), rows[:0], tokens[:0])) == 0
