"""Shared parts of the tests in `recomputed/`: running the program, reading its tables, and the limits of chance."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

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


def stratified_wilson(x: Floats, groups: Floats, z: float, weights: Floats | None = None) -> Floats:
    """Yan & Su's (2010) interval of a weighted mean of the shares of strata, by default with the weights of their
    items: Wilson's ends in each at the deviate c of which z is c·Σwσ/√Σw²σ², σ being half-widths at c."""
    parts = [x[groups == name] for name in np.unique(groups)]
    if weights is None:
        weights = np.array([len(part) / len(x) for part in parts])

    def ends(c: float) -> Floats:
        level = 2 * stats.norm.sf(c)
        return np.array([proportion_confint(part.sum(), len(part), level, method="wilson") for part in parts])

    def excess(c: float) -> float:
        half = weights * np.diff(ends(c), axis=1)[:, 0]
        return float(c * half.sum() / np.sqrt((half**2).sum()) - z)

    return np.asarray(weights @ ends(optimize.brentq(excess, 1e-9, z, xtol=1e-14)))


def held(estimate: Sequence[Any], within: Sequence[Any]) -> Floats:
    """Low, high and p of an estimate about other groups, no more certain than those `within` these."""
    return np.array([min(estimate[0], within[0]), max(estimate[1], within[1]), np.fmax(estimate[2], within[2])])


def leaves_out(ends: Callable[[float], Floats], value: float) -> float:
    """The p-value that is 2·Φ(−z) at the deviate z where the interval `ends(z)` first holds `value`."""
    inside = ends(1e-6)
    side = 0 if inside[0] > value else 1
    if inside[0] <= value <= inside[1]:
        return 1.0
    return float(2 * stats.norm.sf(optimize.brentq(lambda z: ends(z)[side] - value, 1e-6, 30, xtol=1e-12)))


def expanded(units: int) -> float:
    """Hesterberg's (2015) lower share of the percentile interval from so many units, for 95 %."""
    return float(stats.norm.cdf(-np.sqrt(units / (units - 1)) * stats.t.ppf(0.975, units - 1)))
