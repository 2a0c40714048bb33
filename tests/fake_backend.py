"""A backend that costs nothing and shows every mix-up of reads."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penchant.engine.answer_cache import Cache
from penchant.engine.batch_plan import Batch
from penchant.engine.engine import Engine
from penchant.engine.forward_requests import LogProbs
from penchant.engine.local_backend import InTurn


class FakeBackend(InTurn):
    """Answers with a hash of the tokens up to the position (all tokens unless `packs`), the position and the target, so
    that a read that is lost, swapped or given another's row shows at once. `batches` records what was run."""

    def __init__(self, *, packs: int = 0, budget: int = 64) -> None:
        self.packs = packs
        self.budget = budget
        self.batches: list[Batch] = []

    def run(self, batch: Batch) -> NDArray[np.generic]:
        """Hash values in (−1, 0) for every want; a vector is one such value, with its layer as the target."""
        name, parameter = batch.kind
        if name not in ("logprob", "vectors"):
            raise NotImplementedError(batch.kind)
        self.batches.append(batch)
        answers = []
        for output, target in zip(batch.outputs.tolist(), batch.targets.tolist(), strict=True):
            seen = self._seen(batch, int(batch.rows[output]), int(batch.cols[output]))
            layers = parameter if isinstance(parameter, tuple) else None
            answers.append([[self.value(*seen, n)] for n in layers] if layers else self.value(*seen, target))
        return np.array(answers, dtype=np.float32)

    def _seen(self, batch: Batch, row: int, col: int) -> tuple[list[int], int]:
        if batch.trees is None:
            whole = batch.tokens[row, : batch.lengths[row]].tolist()
            return (whole[: col + 1] if self.packs else whole), col
        path = [node for node in range(col + 1) if batch.trees.ends[row, node] > col]
        return batch.tokens[row, path].tolist(), int(batch.trees.depths[row, col])

    @staticmethod
    def value(seen: list[int], position: int, target: int) -> float:
        """The answer to one want."""
        digest = hashlib.sha256(f"{seen}|{position}|{target}".encode()).digest()
        return -int.from_bytes(digest[:3], "big") / (1 << 24)


class Shuffling(FakeBackend):
    """Takes `slots` batches at once and gives their answers in any order, as workers on many machines do."""

    def __init__(self, *, slots: int, seed: int = 0, packs: int = 0, budget: int = 64) -> None:
        super().__init__(packs=packs, budget=budget)
        self.slots = slots
        self.most = 0
        self._taken: list[Batch] = []
        self._random = random.Random(seed)

    def submit(self, batch: Batch) -> None:
        self._taken.append(batch)
        self.most = max(self.most, len(self._taken))

    def collect(self) -> tuple[Batch, NDArray[np.generic]]:
        batch = self._taken.pop(self._random.randrange(len(self._taken)))
        return batch, self.run(batch)


def fill(cache: Path, start: int) -> int:
    """Write a hundred answers to a cache. A process that is started for it imports this module alone."""
    engine = Engine(FakeBackend(), budget=2, cache=Cache(cache, "m", "float32"))
    return len(list(engine.answer([LogProbs((i, 2), (0,), (1,)) for i in range(start, start + 100)])))
