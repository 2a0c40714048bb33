"""Studies on a cluster, from the command line: the tables of one machine, whatever dies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
import pytest

pytestmark = [pytest.mark.whole, pytest.mark.xdist_group("cluster")]


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


@pytest.mark.parametrize("probe", ["minimal-pairs", "cloze", "ceat", "logprob-bias"])
def test_every_kind_of_read_gives_the_tables_of_one_machine(
    penchant: Any, machines: Any, tmp_path: Path, probe: str
) -> None:
    penchant("init", probe, tmp_path)
    study = tmp_path / f"{probe}.yaml"
    once = ("run", study, "-m", "bundled:modern", "--cache", "none", "-o")
    assert penchant(*once, tmp_path / "here")[0] == 0
    code, _, err = penchant(*once, tmp_path / "there", "--on", machines.address)
    assert code == 0, err
    assert_same(tmp_path / "here", tmp_path / "there")
    cluster = json.loads((tmp_path / "there" / "manifest.json").read_text("utf-8"))["attempts"][-1]["cluster"]
    assert cluster["workers"] == 2
    assert cluster["retried"] == 0
