"""What the tests in `recomputed/` share: running the program, reading its tables, and how far chance may go."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests

Floats = NDArray[np.floating[Any]]
Z = float(stats.norm.ppf(0.975))


def run_study(folder: Path, text: str) -> Path:
    """Run a study file as a user does, in a process of its own; return the directory of its results."""
    study, out = folder / "study.yaml", folder / "out"
    study.write_text(text)
    program = [sys.executable, "-c", "from penchant.cli.app import main; main()"]
    environment = {**os.environ, "PENCHANT_CACHE": str(folder / "cache.sqlite")}
    done = subprocess.run(
        [*program, "run", str(study), "-o", str(out)], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return out


def read(out: Path, probe: str, model: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The items and the summary of a probe with the model whose directory begins like that."""
    (place,) = (out / probe).glob(f"{model}*/")
    return pl.read_parquet(place / "items.parquet"), pl.read_parquet(place / "summary.parquet")


def rows(table: pl.DataFrame, **levels: Any) -> list[dict[str, Any]]:
    """The rows with these values; it is an error if there are none, so that no test passes over nothing."""
    found = table.filter(*[pl.col(key) == value for key, value in levels.items()])
    assert len(found), levels
    return found.to_dicts()


def row(table: pl.DataFrame, **levels: Any) -> dict[str, Any]:
    """The one row with these values."""
    (only,) = rows(table, **levels)
    return only


def numbers(estimate: dict[str, Any], *names: str) -> list[float]:
    """Value and interval of a row, or what else is named."""
    return [estimate[name] for name in names or ("value", "low", "high")]


def holm(table: pl.DataFrame) -> None:
    """The adjusted p-values of a table are Holm's over all its rows."""
    assert len(table) > 1
    np.testing.assert_allclose(table["p_holm"], multipletests(table["p"].to_numpy(), method="holm")[1], rtol=1e-9)


def end(value: float, draws: Floats, share: float, resamples: int = 10_000) -> None:
    """`value` may be the `share` quantile of as many resamples of which `draws` are more.

    Of B draws below the true quantile there are binomially many, so that the quantile of B draws lies between those of
    `draws` at share ± z·√(share·(1 − share)·(1/B + 1/len(draws))). z = 4: one check in 16,000 fails by chance.
    """
    error = 4 * np.sqrt(share * (1 - share) * (1 / resamples + 1 / len(draws)))
    low, high = np.quantile(draws, [max(share - error, 0), min(share + error, 1)])
    assert low - 1e-9 <= value <= high + 1e-9, (value, low, high)


def probability(p: float, mine: float, draws: int = 10_000, more: float = np.inf, sides: int = 2) -> None:
    """A p-value from so many draws is that of `more` draws, within 4 binomial standard errors."""
    tail = min(max(mine / sides, 1 / draws), 0.5)
    assert abs(p - mine) <= sides * (4 * np.sqrt(tail * (1 - tail) * (1 / draws + 1 / more)) + 1 / draws), (p, mine)


def mid_p(probabilities: Floats, observed: int) -> float:
    """Two-sided mid-p-value of one outcome of a discrete distribution."""
    own = probabilities[observed]
    equal = np.isclose(probabilities, own, rtol=1e-7, atol=0)
    return min(1.0, float(probabilities[(probabilities < own) & ~equal].sum() + probabilities[equal].sum() / 2))


def mid_p_of_a_share(wins: int, n: int) -> float:
    """Of so many of n, against one half."""
    return mid_p(stats.binom.pmf(np.arange(n + 1), n, 0.5), wins) if n else 1.0


def expanded(units: int) -> float:
    """Hesterberg's (2015) lower share of the percentile interval from so many units, for 95 %."""
    return float(stats.norm.cdf(-np.sqrt(units / (units - 1)) * stats.t.ppf(0.975, units - 1)))
