"""Every operation on a file fails once, and weights and data are overwritten at any moment: never a wrong number, and
never half a file under a final name."""

from __future__ import annotations

import errno
import io
import itertools
import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from test_killed import started

from builders import Program, Zoo, succeeded

MODELS, INPUTS = 20, 10


class Faults:
    """Counts the operations on files below a folder, and has one of them fail."""

    def __init__(self, below: Path) -> None:
        self.below = str(below)
        self.at = -1
        self.done: list[str] = []

    def met(self, what: str, path: Any) -> None:
        """Count an operation. Raises OSError where it is the one that is to fail."""
        if not isinstance(path, str | bytes | Path) or not os.fsdecode(path).startswith(self.below):
            return
        self.done.append(f"{what} {os.fsdecode(path).removeprefix(self.below)}")
        if len(self.done) - 1 == self.at:
            raise OSError(errno.EIO, os.strerror(errno.EIO), os.fsdecode(path))

    @contextmanager
    def watching(self, at: int = -1) -> Iterator[None]:
        """Have the operation number `at` fail while this is entered."""
        self.at, self.done = at, []
        with pytest.MonkeyPatch.context() as patch:
            plain = io.open

            def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
                self.met("open", file)
                stream = plain(file, mode, *args, **kwargs)
                if set(mode) & set("wxa+") and isinstance(stream, io.BufferedWriter):
                    return Stream(stream, self, file)
                return stream

            patch.setattr(io, "open", opened)
            patch.setattr("builtins.open", opened)
            for name in ("replace", "rename", "mkdir", "unlink"):
                patch.setattr(os, name, self._wrapped(name))
            plain_sync = os.fsync

            def synced(handle: int) -> None:
                self.met("fsync", Path(f"/proc/self/fd/{handle}").readlink())
                plain_sync(handle)

            patch.setattr(os, "fsync", synced)
            yield

    def _wrapped(self, name: str) -> Callable[..., Any]:
        plain = getattr(os, name)

        def act(path: Any, *args: Any, **kwargs: Any) -> Any:
            self.met(name, path)
            return plain(path, *args, **kwargs)

        return act


class Stream:
    """A stream whose writes are counted."""

    def __init__(self, stream: io.BufferedWriter, faults: Faults, file: Any) -> None:
        self._stream, self._faults, self._file = stream, faults, file

    def write(self, data: Any) -> int:
        self._faults.met("write", self._file)
        return self._stream.write(data)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def tables(out: Path) -> dict[str, pl.DataFrame]:
    return {str(file.relative_to(out)): pl.read_parquet(file) for file in out.rglob("*.parquet")}


def same(found: dict[str, pl.DataFrame], right: dict[str, pl.DataFrame]) -> None:
    """Every table is one of the undisturbed run, up to the rounding of another batch."""
    for name, table in found.items():
        assert_frame_equal(table, right[name], abs_tol=4e-5)


def write_study(folder: Path, model: Path, pairs: int) -> None:
    shutil.copytree(model, folder / "model")
    words = itertools.product(["old", "young", "small", "white", "good", "late"], repeat=5)
    texts = itertools.islice((" ".join(each) for each in words), pairs)
    lines = ({"good": f"The {each} king sleeps.", "bad": f"The {each} king sleep."} for each in texts)
    (folder / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    probes = "minimal-pairs: {data: pairs.jsonl}, minimal-pairs: {data: pairs.jsonl, normalise: mean}"
    (folder / "s.yaml").write_text(f"study: s\nmodels: [./model, bundled:early-modern]\nprobes: [{probes}]\n")


@pytest.fixture
def right(penchant: Program, zoo: Zoo, tmp_path: Path) -> Path:
    """The results of an undisturbed run."""
    write_study(tmp_path, zoo("bert"), 12)
    assert penchant("run", "s.yaml", "-o", "right", "--cache", "none")[0] == 0
    return tmp_path / "right"


@pytest.mark.slow
def test_every_operation_of_a_run_fails_once(right: Path, penchant: Program) -> None:
    home = right.parent
    expected, faults = tables(right), Faults(home)

    def run(*more: str) -> tuple[int, str, str]:
        return penchant("run", "s.yaml", "-o", "out", "--cache", "answers.sqlite", *more)

    with faults.watching():
        assert run()[0] == 0
    every = faults.done
    assert len(every) > 100
    for at in range(len(every)):
        shutil.rmtree(home / "out", ignore_errors=True)
        for file in home.glob("answers.sqlite*"):
            file.unlink()
        with faults.watching(at):
            code, _, err = run()
        assert code in (0, 2), (every[at], err)
        assert code == 0 or sum(line.startswith("penchant: ") for line in err.splitlines()) == 1, (every[at], err)
        assert not list(home.rglob(".*.tmp")) or every[at].startswith("unlink"), every[at]
        found = tables(home / "out")
        same(found, expected)
        assert code == 2 or found.keys() == expected.keys(), every[at]
        if (home / "out" / "manifest.json").exists():
            json.loads((home / "out" / "manifest.json").read_text("utf-8"))
            succeeded(run("--resume"))
            found = tables(home / "out")
            assert found.keys() == expected.keys()
            same(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "latex"])
def test_every_operation_of_an_export_fails_once(right: Path, penchant: Program, form: str) -> None:
    faults, target = Faults(right), right / form
    with faults.watching():
        assert penchant("export", right, "--to", form)[0] == 0
    every = faults.done
    expected = {file.name: file.read_bytes() for file in target.iterdir()}
    for at in range(len(every)):
        shutil.rmtree(target)
        with faults.watching(at):
            code, _, err = penchant("export", right, "--to", form)
        assert code in (0, 2), (every[at], err)
        for file in target.iterdir() if target.exists() else ():
            assert file.read_bytes() == expected[file.name], every[at]
        assert penchant("export", right, "--to", form)[0] == 0, every[at]
        assert {file.name: file.read_bytes() for file in target.iterdir()} == expected


def harm(file: Path, draw: random.Random) -> None:
    """Cut a file, write over a part of it in place, or put another in its place."""
    data = file.read_bytes()
    match draw.randrange(3):
        case 0:
            os.truncate(file, draw.randrange(len(data)))
        case 1:
            with file.open("r+b") as stream:
                stream.seek(draw.randrange(len(data)))
                stream.write(draw.randbytes(min(2_000, len(data))))
        case _:
            other = file.with_suffix(".other")
            other.write_bytes(draw.randbytes(len(data)))
            other.replace(file)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "times"), [("model/model.safetensors", MODELS), ("pairs.jsonl", INPUTS)])
def test_files_overwritten_at_any_moment(zoo: Zoo, tmp_path: Path, name: str, times: int) -> None:
    write_study(tmp_path, zoo("bert"), 1_500)
    out, before, draw = tmp_path / "out", (tmp_path / name).read_bytes(), random.Random(0)
    began = time.monotonic()
    process = started(tmp_path / "s.yaml", tmp_path / "right", tmp_path / "c.sqlite")
    assert process.communicate() and process.returncode == 0
    took, expected = time.monotonic() - began, tables(tmp_path / "right")
    refused = 0
    for turn in range(times):
        shutil.rmtree(out, ignore_errors=True)
        cache = tmp_path / f"c{turn}.sqlite"
        process = started(tmp_path / "s.yaml", out, cache)
        time.sleep(draw.uniform(0.2, 1) * took)
        if process.poll() is None:
            harm(tmp_path / name, draw)
        else:
            took *= 0.8  # the machine is faster now than when the first run was measured
        _, err = process.communicate()
        assert process.returncode in (0, 2), err
        refused += process.returncode == 2
        same(tables(out), expected)
        (tmp_path / name).write_bytes(before)
        resumed = ["--resume"] if (out / "manifest.json").exists() else []
        process = started(tmp_path / "s.yaml", out, cache, *resumed)
        _, err = process.communicate()
        assert process.returncode == 0, err
        found = tables(out)
        assert found.keys() == expected.keys()
        same(found, expected)
    assert refused > times // 4
