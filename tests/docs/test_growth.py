"""The program that measures growth: slopes, and that the page shows the runs that are kept."""

from __future__ import annotations

import math
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from paths import ROOT

_before = [*sys.path]
sys.path.insert(0, str(ROOT / "bench"))
growth: Any = import_module("growth")
sys.path[:] = _before  # bench has a module of the name of a library


def runs(case: str, power: float, sizes: tuple[int, ...] = (1_000, 10_000, 100_000)) -> list[Any]:
    return [growth.Run(case, n, 2 * n**power, 3 * n**power, 400.0, 1.0) for n in sizes]


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_a_slope_is_the_power(power: float) -> None:
    assert growth.slope(runs("pll", power), "processor") == pytest.approx(power)
    assert growth.slope(runs("pll", power)[-2:], "wall") == pytest.approx(power)
    assert growth.slope(runs("pll", power), "mib") == pytest.approx(0)


def test_a_slope_is_of_least_squares() -> None:
    """Through (0, 0), (1, 0), (2, 3): 3 / 2."""
    made = [growth.Run("lp", 10**x, 1, 10.0**y, 1, 1) for x, y in ((3, 0), (4, 0), (5, 3))]
    assert growth.slope(made, "processor") == pytest.approx(1.5)
    assert math.isnan(growth.slope(made[:1], "processor"))


def test_runs_of_one_case_and_size_are_replaced(tmp_path: Path) -> None:
    kept = growth.merged(growth.HERE / "growth.json", [growth.Run("lp", 1_000, 1, 1, 1, 1), *runs("extract", 1, (7,))])
    before = growth.read(growth.HERE / "growth.json")
    assert len(kept) == len(before) + 1
    assert [run.processor for run in kept if (run.case, run.items) == ("lp", 1_000)] == [1]
    assert min(run.items for run in kept if run.case == "extract") == 7


def test_the_page_shows_the_runs_that_are_kept() -> None:
    page = (ROOT / "bench" / "README.md").read_text("utf-8")
    table, _ = growth.table(growth.read(growth.HERE / "growth.json")).rsplit("\n\n", 1)
    assert table in page
    for case, own in growth.by_case(growth.read(growth.HERE / "growth.json")):
        assert growth.slope(own[-2:], "processor") <= 1.05, case
        assert growth.label(case, own) in (ROOT / "docs" / "growth.svg").read_text("utf-8")
