"""`penchant verify`, and what else reads a part of a study: nothing that was changed passes for what was written."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from builders import Program, Zoo, write, write_study


@pytest.fixture
def out(penchant: Program, zoo: Zoo, tmp_path: Path) -> Path:
    """The results of a small study, with its data and model beside it."""
    shutil.copytree(zoo("gpt2"), tmp_path / "model")
    pairs = ({"good": f"The cats of {i} sleep.", "bad": f"The cats of {i} sleeps."} for i in range(8))
    write(tmp_path / "pairs.jsonl", "".join(json.dumps(pair) + "\n" for pair in pairs))
    write_study(tmp_path / "s.yaml", ["./model"], {"minimal-pairs": {"data": "pairs.jsonl", "resamples": 100}})
    assert penchant("run", "s.yaml", "-o", "out")[0] == 0
    return tmp_path / "out"


def unit(out: Path) -> Path:
    (found,) = (out / "minimal-pairs").iterdir()
    return found


def test_all_that_is_here_is_the_same(out: Path, penchant: Program) -> None:
    code, told, err = penchant("verify", out)
    assert (code, err, told.count("\n")) == (0, "", 1)
    assert "6 result files, 1 data file, 1 model" in told


@pytest.mark.parametrize("name", ["pairs.jsonl", "model/config.json", "model/model.safetensors", "out/manifest.json"])
def test_a_changed_file_is_named(out: Path, penchant: Program, name: str) -> None:
    file = out.parent / name
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[-20] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    code, told, err = penchant("verify", out)
    assert (code, told, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "table", ["summary.parquet", "items.parquet", "signature.txt", "settings.json", "left-out.json"]
)
@pytest.mark.parametrize("command", [["report"], ["export", "--to", "csv"], ["verify"]])
def test_an_edited_result_is_refused_from_its_own_folder_too(
    out: Path, penchant: Program, table: str, command: list[str]
) -> None:
    file = unit(out) / table
    file.write_bytes(file.read_bytes() + b" ")
    for place in [out] if command == ["verify"] else [out, unit(out)]:
        code, told, err = penchant(*command, place)
        assert (code, told) == (2, "") and table in err


def test_what_is_not_here_is_said_and_a_result_that_is_gone_is_a_change(out: Path, penchant: Program) -> None:
    (out.parent / "pairs.jsonl").unlink()
    shutil.rmtree(out.parent / "model")
    code, told, _ = penchant("verify", out)
    assert code == 0 and "pairs.jsonl" in told and "model" in told.partition("not on this machine")[2]
    (unit(out) / "items.parquet").unlink()
    assert penchant("verify", out)[0] == 2


def test_a_report_that_is_a_pipe_is_not_waited_for(out: Path, penchant: Program) -> None:
    (out / "report.html").unlink()
    os.mkfifo(out / "report.html")
    assert penchant("report", out, "-o", "page.html")[0] == 0
    code, _, err = penchant("report", out)
    assert code == 2 and "report.html" in err
