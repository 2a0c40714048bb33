"""Batches and texts that do not fit in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penchant.engine.batch_plan import Batch
from penchant.engine.local_backend import LocalBackend, TooLargeError
from penchant.engine.scorer import Scorer, language_model, numbered
from penchant.models.load import load


def test_a_batch_that_does_not_fit_is_halved(zoo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"The {a} and the {b}." for a in ("cat", "king", "man") for b in ("dog", "house", "tree of the old king")]
    for kind, method in (("gpt2", "lp"), ("bert", "pll"), ("bert", "aula")):
        model = language_model(load(str(zoo(kind))))
        alone = [score.score for score in Scorer(model).score(numbered(texts), method)]
        plain, most = LocalBackend._answers, 3

        def run(self: LocalBackend, batch: Batch, plain: Any = plain, most: int = most) -> Any:
            if len(batch.tokens) > most:
                raise RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: not enough memory")
            return plain(self, batch)

        with monkeypatch.context() as patched:
            patched.setattr(LocalBackend, "_answers", run)
            halved = Scorer(model).score(numbered(texts), method)
            np.testing.assert_allclose([score.score for score in halved], alone, atol=1e-4)


def test_a_row_that_does_not_fit_is_told(zoo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: LocalBackend, batch: Batch) -> Any:
        raise MemoryError("no room")

    model = language_model(load(str(zoo("bert"))))
    monkeypatch.setattr(LocalBackend, "_answers", run)
    with pytest.raises(TooLargeError) as error:
        list(Scorer(model).score(numbered(["The cat.", "The king."])))
    assert error.value.row == 0


def test_the_program_tells_it_in_one_line(penchant: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: LocalBackend, batch: Batch) -> Any:
        raise MemoryError("no room")

    monkeypatch.setattr(LocalBackend, "_answers", full)
    (tmp_path / "texts.txt").write_text("The cat sleeps.\n")
    code, out, err = penchant("score", "-m", "bundled:modern", "texts.txt")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
