"""Little memory and a full disk: one line, exit 2, nothing half-written."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import penchant as pc
from penchant.errors import OutputError
from penchant.files import write_together

resource = pytest.importorskip("resource")
PROGRAM = """
import resource, sys
if limit := int(sys.argv.pop(1)):
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from penchant.cli.app import main
main()
"""
Penchant = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = {"study": "s", "models": ["bundled:modern"], "probes": [{"cloze": {"data": "early-modern-60"}}]}
    out = tmp_path_factory.mktemp("finished") / "out"
    pc.run(study, out, progress=False)
    return out


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "out"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits on addresses are Linux's")
@pytest.mark.parametrize("words", [["report", "out"], ["export", "out", "--to", "figures"]])
def test_figures_with_few_addresses(out: Path, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(8 << 30), *words], cwd=out.parent, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert not (out / "figures").exists()


def test_a_full_disk_leaves_nothing_of_an_export(
    out: Path, penchant: Penchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every third file meets a full disk, as `fsync` tells of it."""
    plain, calls = os.fsync, 0

    def full(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        plain(handle)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        code, _, err = penchant("export", "out", "--to", "csv")
    assert (code, err.count("\n")) == (2, 1)
    assert not list((out / "csv").iterdir())
    assert penchant("export", "out", "--to", "csv")[0] == 0


def test_an_error_of_the_disk_in_another_librarys_words(tmp_path: Path) -> None:
    class StrangeError(Exception):
        pass

    from penchant.files import replacing

    with pytest.raises(OutputError), replacing(tmp_path / "t.parquet"):
        raise StrangeError(f"parquet: underlying IO error: no room (os error {errno.ENOSPC})")
    assert not list(tmp_path.iterdir())


def test_files_that_are_written_together(tmp_path: Path) -> None:
    write_together({tmp_path / "a" / "one": b"1", tmp_path / "two": b"2"})
    assert (tmp_path / "a" / "one").read_bytes() + (tmp_path / "two").read_bytes() == b"12"
