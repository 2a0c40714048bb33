"""Batches on a cluster: the same answers, whatever dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from penchant.cluster.backend import RayBackend
from penchant.cluster.connect import ClusterOptions, joined
from penchant.cluster.model_transfer import wanted
from penchant.cluster.pool import WorkerPool
from penchant.engine.scorer import Scorer, language_model, numbered
from penchant.models.load import LanguageModel, load

WORDS = ("cat", "dog", "king", "man", "house", "tree", "child", "boy")
TEXTS = [f"The {one} and the {two} of the old {three}." for one in WORDS for two in WORDS for three in WORDS[:3]]


@contextmanager
def pool(machines: Any, model: LanguageModel, spec: str, **kept: Any) -> Iterator[WorkerPool]:
    place = ClusterOptions(machines.address, **kept)
    with joined(place):
        workers = WorkerPool(place, wanted(model, spec))
        try:
            yield workers
        finally:
            workers.close()


@pytest.mark.slow  # studies on a cluster, which lose a worker too, are among the others
@pytest.mark.parametrize("kind", ["gpt2", "bert"])
def test_scores_are_those_of_one_machine_whatever_dies(machines: Any, zoo: Any, kind: str) -> None:
    spec = str(zoo(kind))
    model = language_model(load(spec))
    alone = [score.token_logprobs for score in Scorer(model).score(numbered(TEXTS))]
    with pool(machines, model, spec) as workers:
        assert workers.size == 2
        workers.ready()
        assert len({about.node for about in workers.about}) == 2
        doomed = [workers.about[0].pid]

        def kill(_: float) -> None:
            if doomed:
                os.kill(doomed.pop(), signal.SIGKILL)

        for progress in (None, kill):
            scorer = Scorer(model, backend=RayBackend(model, workers), batch_tokens=32, progress=progress)
            both = [score.token_logprobs for score in scorer.score(numbered(TEXTS))]
            for one, other in zip(alone, both, strict=True):
                np.testing.assert_allclose(one, other, atol=1e-5)
        assert workers.losses.workers == 1
        assert workers.losses.retried >= 1
        assert workers.losses.nodes == 0
