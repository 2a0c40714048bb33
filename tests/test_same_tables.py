"""scripts/same_tables: what is the same to the last bit, and what is not."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from paths import ROOT

FRAME = pl.DataFrame({"a": [1.0, math.nan, None], "b": ["x", "y", None], "c": [[1.0, None], [], [2.0]]})


def compared(before: Path, after: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "same_tables", before, after], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def write(folder: Path, frame: pl.DataFrame, signature: str = "penchant:0|probe:x\na caution\n") -> Path:
    (folder / "x" / "m").mkdir(parents=True)
    frame.write_parquet(folder / "x" / "m" / "items.parquet")
    (folder / "x" / "m" / "signature.txt").write_text(signature, "utf-8")
    return folder


def test_the_same(tmp_path: Path) -> None:
    code, out = compared(write(tmp_path / "a", FRAME), write(tmp_path / "b", FRAME))
    assert (code, out.splitlines()[-1]) == (0, "2 files before, 2 after, 0 different")


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (
            FRAME.with_columns(a=pl.Series([float(np.nextafter(1, 2)), math.nan, None])),
            "a, row 0: 1.0 became 1.0000000000000002",
        ),
        (FRAME.with_columns(a=pl.Series([1.0, None, math.nan])), "a, row 1: nan became None"),
        (FRAME.with_columns(c=pl.Series([[1.0, 0.0], [], [2.0]])), "c, row 0: [1.0, None] became [1.0, 0.0]"),
        (FRAME.head(2), "3 rows became 2"),
        (FRAME.with_columns(pl.col("a").cast(pl.Float32)), "columns"),
    ],
)
def test_a_difference_is_named(tmp_path: Path, frame: pl.DataFrame, told: str) -> None:
    code, out = compared(write(tmp_path / "a", FRAME), write(tmp_path / "b", frame))
    assert code == 1
    assert told in out


def test_other_recipes_and_files_that_are_gone(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", FRAME), write(tmp_path / "b", FRAME, "penchant:1|probe:x\n")
    code, out = compared(first, second)
    assert code == 1 and "'penchant:0|probe:x' became 'penchant:1|probe:x'" in out and "2 lines became 1" in out
    (second / "x" / "m" / "items.parquet").unlink()
    assert f"is only in {first}" in compared(first, second)[1]
    assert compared(tmp_path / "none", tmp_path / "none")[0] == 1  # nothing to compare is not the same
