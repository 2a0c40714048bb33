"""Flipped bits, anywhere in what a study wrote or remembers: never a different number with exit code 0."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders import Program, Zoo, write, write_study
from penchant.instruments.run_options import Run
from penchant.study.run import run_study
from penchant.study.study_file import read_study

PAIRS = "good\tbad\tgroup\n" + "".join(
    f"The {noun} {verb}.\tThe {noun} {verb}s.\t{noun[0]}\n"
    for noun in ("cats", "dogs", "boys")
    for verb in ("sing", "run")
)


def flipped(data: bytes, bits: int, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(bits):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


@pytest.fixture(scope="module")
def whole(zoo: Zoo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of pairs and a cloze study with one tiny model each way, and the cache that they filled."""
    folder = tmp_path_factory.mktemp("flips")
    write(folder / "pairs.tsv", PAIRS)
    probe = {"minimal-pairs": {"data": "pairs.tsv", "resamples": 100}}
    study = write_study(folder / "s.yaml", [zoo("bert"), zoo("gpt2")], probe)
    run_study(*read_study(study), folder / "out", Run(base=[folder], cache=folder / "cache.sqlite"))
    return folder


def exported(penchant: Program, out: Path) -> dict[str, bytes] | None:
    """The CSV tables of a study; None where it is refused in one line."""
    code, _, err = penchant("export", out, "--to", "csv", "-o", "csv")
    if code == 2:
        assert err.count("\n") == 1, err
        return None
    assert code == 0, err
    return {path.name: path.read_bytes() for path in sorted(Path("csv").glob("*"))}


def outputs(folder: Path) -> list[Path]:
    """Every file of the result directory that is read back."""
    return sorted(path for path in (folder / "out").rglob("*") if path.is_file() and path.suffix != ".html")


@pytest.mark.whole
def test_results(penchant: Program, whole: Path, tmp_path: Path) -> None:
    draw = random.Random(1)
    right = exported(penchant, whole / "out")
    assert right
    shutil.copytree(whole / "out", tmp_path / "out")
    refused = 0
    for number in range(100):
        original = outputs(whole)[number % len(outputs(whole))]
        target = tmp_path / "out" / original.relative_to(whole / "out")
        target.write_bytes(flipped(original.read_bytes(), draw.randint(1, 30), draw))
        found = exported(penchant, tmp_path / "out")
        refused += found is None
        assert found in (None, right), f"{target.name}, case {number}"
        shutil.copyfile(original, target)
    assert refused > 90  # nearly all: a comma of JSON for a space, say, changes nothing


@pytest.mark.whole
@pytest.mark.parametrize("copies", [14, pytest.param(100, marks=pytest.mark.slow)])
def test_the_cache(penchant: Program, whole: Path, tmp_path: Path, copies: int) -> None:
    draw = random.Random(2)
    right = {path.relative_to(whole / "out"): pl.read_parquet(path) for path in (whole / "out").rglob("*.parquet")}
    assert right
    original = (whole / "cache.sqlite").read_bytes()
    sound = 0
    for copy in range(copies):
        cache = tmp_path / f"c{copy}" / "cache.sqlite"
        cache.parent.mkdir()
        cache.write_bytes(flipped(original, draw.randint(1, 30), draw))
        code, _, err = penchant("run", whole / "s.yaml", "-o", cache.parent / "out", "--cache", cache)
        assert code in (0, 2), err
        if code == 2:
            assert err.count("\n") == 1, err
            assert "cache" in err
            continue
        sound += 1
        for name, table in right.items():
            # What is computed again runs in another batch, which moves a score by its rounding.
            assert_frame_equal(table, pl.read_parquet(cache.parent / "out" / name), abs_tol=1e-4, rel_tol=1e-4)
        shutil.rmtree(cache.parent)
    assert sound > copies / 5
