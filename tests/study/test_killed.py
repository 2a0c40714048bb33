"""Studies over all instruments, killed at any moment and resumed, end as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from polars.testing import assert_frame_equal

from penchant.instruments.registry import instruments
from penchant.study.catalogue import write_template
from penchant.study.manifest import read_manifest

KILLS = 20


def study_of_all(folder: Path) -> Path:
    """One study with the probes of every template that `penchant init` writes, and word vectors for those that read
    them."""
    probes: list[Any] = []
    models = ["bundled:modern", "bundled:early-modern"]
    for name in sorted(instruments()):
        (written,) = (file for file in write_template(name, folder / name) if file.name == f"{name}.yaml")
        content = yaml.safe_load(written.read_text("utf-8"))
        for probe in content["probes"]:
            ((kind, parameters),) = probe.items()
            kept = {key: _placed(value, folder / name) for key, value in (parameters or {}).items()}
            probes.append({kind: {**kept, "resamples": 200}})
        models += [str(folder / name / model) for model in content["models"] if (folder / name / model).is_file()]
    path = folder / "all.yaml"
    path.write_text(yaml.safe_dump({"study": "all", "models": models, "probes": probes}), "utf-8")
    return path


def _placed(value: Any, folder: Path) -> Any:
    """A value of a study with the files beside it named in full."""
    if isinstance(value, list):
        return [_placed(one, folder) for one in value]
    if isinstance(value, dict):
        return {key: _placed(one, folder) for key, one in value.items()}
    return str(folder / value) if isinstance(value, str) and value and (folder / value).exists() else value


def started(study: Path, out: Path, cache: Path, *more: str) -> subprocess.Popen[str]:
    command = "import sys; from penchant.cli.app import main; sys.argv[0] = 'penchant'; main()"
    arguments = ["run", str(study), "-o", str(out), "--cache", str(cache), *more]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", command, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


@pytest.mark.slow
def test_killed_twenty_times(tmp_path: Path) -> None:
    study = study_of_all(tmp_path)
    began = time.monotonic()
    undisturbed = started(study, tmp_path / "whole", tmp_path / "c1.sqlite")
    _, err = undisturbed.communicate()
    took = time.monotonic() - began
    assert undisturbed.returncode == 0, err
    draw = random.Random(0)
    out, kills = tmp_path / "out", 0
    for attempt in range(KILLS * 10):
        process = started(
            study, out, tmp_path / "c2.sqlite", *(["--resume"] if (out / "manifest.json").exists() else [])
        )
        try:
            _, err = process.communicate(timeout=None if kills >= KILLS else draw.uniform(0.3, 0.25 * took))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
            continue
        assert process.returncode == 0, err
        if kills >= KILLS:
            break
        for path in sorted(out.rglob("*"), reverse=True):  # done too soon: from the beginning, without its cache
            path.unlink() if path.is_file() else path.rmdir()
        for path in tmp_path.glob("c2.*"):
            if path.is_file():
                path.unlink()
        assert attempt < KILLS * 9
    assert kills == KILLS
    compared = 0
    for path in sorted((tmp_path / "whole").rglob("*.parquet")):
        # What is run in another batch moves by its rounding.
        again = pl.read_parquet(out / path.relative_to(tmp_path / "whole"))
        assert_frame_equal(pl.read_parquet(path), again, abs_tol=1e-4, rel_tol=1e-4)
        compared += 1
    assert compared > 2 * len(instruments())
    assert not list(out.rglob("*.tmp"))
    one, other = read_manifest(tmp_path / "whole" / "manifest.json"), read_manifest(out / "manifest.json")
    assert [(u.probe, u.spec, u.directory) for u in one.units] == [(u.probe, u.spec, u.directory) for u in other.units]
