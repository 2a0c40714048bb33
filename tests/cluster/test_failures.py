"""Failures on a cluster are retried, or reported in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from penchant.cluster import pool as pool_module
from penchant.cluster.backend import RayBackend
from penchant.cluster.connect import ClusterOptions, joined
from penchant.cluster.model_transfer import wanted
from penchant.cluster.pool import Job, WorkerPool
from penchant.cluster.worker import ModelDescription
from penchant.engine.scorer import Scorer, language_model
from penchant.engine.word_surprisal import white_space_words
from penchant.errors import ClusterError
from penchant.models.load import load
from zoo import SENTENCES

pytestmark = pytest.mark.whole


class Bomb:
    """Ends the process that reads it."""

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return os._exit, (1,)


@contextmanager
def one_worker(
    machines: Any, model: ModelDescription | None = None, cpus: int = 1, **options: Any
) -> Iterator[WorkerPool]:
    """A pool of one worker."""
    place = ClusterOptions(machines.address, workers=1, cpus=cpus)
    with joined(place):
        workers = WorkerPool(place, model, **options)
        try:
            yield workers
        finally:
            workers.close()


def test_work_that_kills_workers_is_an_error_that_names_it(machines: Any) -> None:
    with one_worker(machines) as workers:
        workers.submit(Job("search", (Bomb(), Bomb()), None, lambda _: "the text 'The cat.'"))
        with pytest.raises(ClusterError, match=r"the text 'The cat\.': 2 workers died while processing this input"):
            workers.collect()
        assert workers.losses.workers == 2


def test_other_versions_are_refused(machines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "versions", lambda: {"torch": "1.0"})
    told = r"node 127\.0\.0\.1: has torch .*, but the driver has"
    with one_worker(machines) as workers, pytest.raises(ClusterError, match=told):
        workers.ready()


def test_waiting_for_room_is_said(machines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "QUIET", 1.0)

    def say(text: str) -> None:
        raise InterruptedError(text)

    told = "waiting for a worker to start: each needs 7 CPUs"
    with one_worker(machines, cpus=7, say=say) as workers, pytest.raises(InterruptedError, match=told):
        workers.ready()


def test_a_model_that_only_this_process_has_is_sent(
    machines: Any, zoo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny").symlink_to(zoo("gpt2"))
    monkeypatch.chdir(tmp_path)
    spec = "/proc/self/cwd/tiny"  # which workers, started elsewhere, do not have
    model = language_model(load(spec))
    texts = [(text, white_space_words(text), "") for text in SENTENCES[3:9]]
    with one_worker(machines, wanted(model, spec)) as workers:
        workers.ready()
        assert workers.alive == 1
        sent = list(Scorer(model, backend=RayBackend(model, workers)).surprisals(texts))
    for one, other in zip(sent, Scorer(model).surprisals(texts), strict=True):  # with sets of tokens, and entropies
        assert [word.surprisal for word in one] == pytest.approx([word.surprisal for word in other], abs=1e-4)
        assert [word.entropy for word in one] == pytest.approx([word.entropy for word in other], abs=1e-4)


@pytest.mark.parametrize(
    ("on", "told"),
    [
        ("127.0.0.1:1", "127.0.0.1:1: does not answer: Connection refused"),
        ("ray://127.0.0.1:1", "ray://127.0.0.1:1: does not answer"),
        ("nowhere", "--on nowhere: is not a cluster address"),
        ("host:99999", "is not a cluster address"),
    ],
)
def test_an_address_without_a_cluster_is_one_line(penchant: Any, tmp_path: Path, on: str, told: str) -> None:
    penchant("init", "minimal-pairs", tmp_path)
    code, _, err = penchant("run", tmp_path, "-m", "bundled:modern", "-o", tmp_path / "out", "--on", on)
    assert code == 2
    assert told in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_without_ray_it_is_said_what_to_install(penchant: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    penchant("init", "minimal-pairs", tmp_path)
    code, _, err = penchant("run", tmp_path, "-m", "bundled:modern", "-o", tmp_path / "out", "--on", "ray")
    assert code == 2
    assert "pip install 'penchant[ray]'" in err
    (tmp_path / "a.txt").write_text("The cat.\n", "utf-8")
    code, _, err = penchant("score", "-m", "bundled:modern", tmp_path / "a.txt", "--on", "ray", "-o", tmp_path / "s")
    assert code == 2
    assert "pip install 'penchant[ray]'" in err


@pytest.mark.parametrize("options", [["--workers", "2"], ["--cpus", "2"], ["--gpus", "1"]])
def test_options_of_a_cluster_need_one(penchant: Any, tmp_path: Path, options: list[str]) -> None:
    penchant("init", "minimal-pairs", tmp_path)
    code, _, err = penchant("run", tmp_path, "-o", tmp_path / "out", *options)
    assert code == 2
    assert "add --on" in err
