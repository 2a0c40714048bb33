"""Every kind of number of the minimal pairs, computed again from the items by statsmodels, scipy and numpy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy import optimize, special, stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from paths import SHARED, needs_shared
from recomputing import (
    Floats,
    Z,
    held,
    holm,
    leaves_out,
    mid_p,
    mid_p_of_a_share,
    numbers,
    read,
    rows,
    run_study,
    stratified_wilson,
)

pytestmark = [pytest.mark.slow, needs_shared]

NAMES = ("causative", "determiner_noun_agreement_irregular_1", "drop_argument", "inchoative", "passive_2")
SLOPE = "log-odds per token of |A|−|U|"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    for name in NAMES:
        lines = (SHARED / "blimp" / f"{name}.jsonl").read_text().splitlines()[:60]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    files = ", ".join(f"{name}.jsonl" for name in NAMES)
    return run_study(
        folder,
        "study: pairs\nseed: 0\nmodels: [bundled:modern, bundled:early-modern]\n"
        f"probes: [minimal-pairs: {{data: [{files}], normalise: [none, mean, pen]}}]\n",
    )


def divisor(n: Floats, normalise: str) -> Any:
    return {"none": 1, "mean": n, "pen": ((5 + n) / 6) ** 0.8}[normalise]


def right(items: pl.DataFrame, normalise: str) -> Floats:
    """1 where the acceptable sentence scores higher, ½ at a tie."""
    good, bad = (
        items[f"score_{side}"].to_numpy() / divisor(items[f"n_tokens_{side}"].to_numpy(), normalise)
        for side in ("good", "bad")
    )
    return np.where(good == bad, 0.5, good > bad)


def part(items: pl.DataFrame, estimate: dict[str, Any]) -> tuple[Floats, Floats, Floats]:
    """Of the pairs that an estimate is about: are they right, |A|−|U|, and the paradigm."""
    if estimate["scope"] not in ("overall", "these groups"):
        items = items.filter(pl.col(estimate["scope"]) == estimate["group"])
    return right(items, estimate["normalise"]), items["difference"].to_numpy(), items["group"].to_numpy()


SIDES = {"all": lambda d: d == d, "A=U": lambda d: d == 0, "A>U": lambda d: d > 0, "A<U": lambda d: d < 0}


def clustered(statistic: Callable[..., Any], groups: Floats, *columns: Floats) -> tuple[float, float, int]:
    """A statistic of columns, its jackknife error over groups about the statistic itself, and the df."""
    names, full = np.unique(groups), float(statistic(*columns))
    without = np.array([statistic(*(column[groups != name] for column in columns)) for name in names])
    return full, float(np.sqrt((1 - 1 / len(names)) * ((without - full) ** 2).sum())), len(names) - 1


def test_accuracies(out: Path) -> None:
    items, summary = read(out, "minimal-pairs", "bundled_modern")
    for estimate in rows(summary, measure="accuracy"):
        correct, difference, paradigm = part(items, estimate)
        kept = SIDES[estimate["split"]](difference)
        x, groups = correct[kept], paradigm[kept]
        p, n = x.mean(), len(x)
        if estimate["how"] == "Wilson score":
            low, high = proportion_confint(x.sum(), n, method="wilson")
        else:
            assert estimate["how"].startswith("cluster-robust t (jackknife) over")
            _, error, df = clustered(np.mean, groups, x)
            half = stats.t.ppf(0.975, df) * error / (p * (1 - p))
            ends = special.expit(special.logit(p) + np.array([-half, half]))
            low, high, _ = held([*ends, np.nan], [*stratified_wilson(x, groups, Z), np.nan])
        assert numbers(estimate, "n", "value", "low", "high") == pytest.approx([n, p, low, high], abs=1e-9), estimate


def test_accuracies_over_exactly_these_paradigms(out: Path) -> None:
    items, summary = read(out, "minimal-pairs", "bundled_modern")
    found = rows(summary, measure="accuracy, these paradigms")
    assert {estimate["split"] for estimate in found} == set(SIDES)
    for estimate in found:
        correct, difference, paradigm = part(items, estimate)
        kept = SIDES[estimate["split"]](difference)
        x, groups = correct[kept], paradigm[kept]
        ends = stratified_wilson(x, groups, Z)
        assert numbers(estimate, "n", "value", "low", "high") == pytest.approx([len(x), x.mean(), *ends], abs=1e-9)
        assert (estimate["p"] is None) == (estimate["split"] != "all")


def test_accuracies_of_paradigms_against_one_half(out: Path) -> None:
    items, summary = read(out, "minimal-pairs", "bundled_modern")
    found = summary.filter(measure="accuracy", scope="group", split="all")
    for estimate in rows(found):
        correct, _, _ = part(items, estimate)
        untied = correct[correct != 0.5]
        assert estimate["p"] == pytest.approx(mid_p_of_a_share(int(untied.sum()), len(untied)))
    holm(found.filter(normalise="none"))


def gap(x: Floats, side: Floats, equal: Floats, groups: Floats) -> float:
    """The difference of two proportions within groups, with the weights of Mantel and Haenszel."""
    top = weights = 0.0
    for name in np.unique(groups):
        one, other = x[side & (groups == name)], x[equal & (groups == name)]
        weight = len(one) * len(other) / (len(one) + len(other))
        top, weights = top + weight * (one.mean() - other.mean()), weights + weight
    return top / weights


def newcombe(x: Floats, side: Any, equal: Any, groups: Floats, z: float) -> Floats:
    """Newcombe's interval of the gap from the stratified intervals of its two sides (Yan & Su 2010)."""
    kept = np.array([name for name in np.unique(groups) if side[groups == name].any() and equal[groups == name].any()])
    n, m = (np.array([(chosen & (groups == name)).sum() for name in kept]) for chosen in (side, equal))
    weights = n * m / (n + m) / (n * m / (n + m)).sum()
    shares, ends = [], []
    for chosen in (side, equal):
        these = chosen & np.isin(groups, kept)
        shares.append(weights @ [x[chosen & (groups == name)].mean() for name in kept])
        ends.append(stratified_wilson(x[these], groups[these], z, weights))
    (p, q), ((a, b), (c, d)) = shares, ends
    return np.array([p - q - np.hypot(p - a, d - q), p - q + np.hypot(b - p, q - c)])


def test_gaps_and_their_tests(out: Path) -> None:
    items, summary = read(out, "minimal-pairs", "bundled_modern")
    for estimate in rows(summary, measure="gap to A=U"):
        x, difference, groups = part(items, estimate)
        side, equal = SIDES[estimate["split"][:3]](difference), difference == 0
        if estimate["how"] == "Newcombe hybrid score":
            a, n, b, m = x[side].sum(), side.sum(), x[equal].sum(), equal.sum()
            right, value = int(a + b), a / n - b / m
            fewest = max(0, right - m)
            tables = stats.hypergeom.pmf(np.arange(fewest, min(n, right) + 1), n + m, right, n)
            p = mid_p(tables, int(a) - fewest)
            low, high = confint_proportions_2indep(a, n, b, m, method="newcomb")
        else:
            value, error, df = clustered(gap, groups, x, side, equal, groups)
            ends = value + np.array([-1, 1]) * stats.t.ppf(0.975, df) * error
            within = partial(newcombe, x, side, equal, groups)
            low, high, p = held([*ends, 2 * stats.t.sf(abs(value / error), df)], [*within(Z), leaves_out(within, 0.0)])
        assert numbers(estimate, "value", "low", "high", "p") == pytest.approx([value, low, high, p], abs=1e-8)
    for normalise in ("none", "mean", "pen"):
        holm(summary.filter(measure="gap to A=U", scope="group", normalise=normalise))


def firth(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Firth's logistic regression: coefficients, and their covariance from the augmented data, as a GLM has it."""
    b, weights, response = np.zeros(x.shape[1]), np.ones(len(y)), y
    for _ in range(200):
        mu = special.expit(x @ b)
        w = mu * (1 - mu)
        h = w * np.einsum("ij,jk,ik->i", x, np.linalg.inv((x.T * w) @ x), x)
        weights, response = 1 + h, (y + h / 2) / (1 + h)
        b = b + np.linalg.solve((x.T * (w * weights)) @ x, x.T @ (weights * (response - mu)))
    fit = sm.GLM(response, x, family=sm.families.Binomial(), var_weights=weights).fit(start_params=b)
    return b, fit.cov_params() / fit.scale


def test_length_adjustment_of_one_paradigm(out: Path) -> None:
    """All levels are free: accuracy at 0 is that of the pairs of equal length, with half a success and failure more."""
    items, summary = read(out, "minimal-pairs", "bundled_modern")
    for estimate in rows(summary, measure="length-adjusted accuracy", scope="group"):
        x, difference, _ = part(items, estimate)
        a, n = x[difference == 0].sum() + 0.5, (difference == 0).sum() + 1
        half = Z / np.sqrt(n * (a / n) * (1 - a / n))
        low, high = special.expit(special.logit(a / n) + np.array([-half, half]))
        assert numbers(estimate) == pytest.approx([a / n, low, high], abs=1e-7)
    for estimate in rows(summary, measure=SLOPE, scope="group"):
        x, difference, _ = part(items, estimate)
        b, covariance = firth(np.column_stack([np.ones(len(x)), difference]), x)
        error = np.sqrt(covariance[1, 1])
        expected = [b[1], b[1] - Z * error, b[1] + Z * error, 2 * stats.norm.sf(abs(b[1] / error))]
        assert numbers(estimate, "value", "low", "high", "p") == pytest.approx(expected, abs=1e-6)


def intercept(y: Floats, offset: Floats) -> float:
    """The intercept of greatest likelihood beside an offset."""
    return float(optimize.brentq(lambda c: float((special.expit(c + offset) - y).sum()), -9, 9))


def test_length_adjustment_over_paradigms(out: Path) -> None:
    """Firth's levels of length, then the intercepts again by maximum likelihood (FLIC, Puhr et al. 2017)."""
    items, summary = read(out, "minimal-pairs", "bundled_modern")
    for estimate in rows(summary, measure="length-adjusted accuracy", scope="overall"):
        x, difference, groups = part(items, estimate)
        names, lengths = np.unique(groups), [d for d in np.unique(difference) if d]
        b, _ = firth(np.column_stack([groups[:, None] == names, difference[:, None] == lengths]).astype(float), x)
        offset = (difference[:, None] == lengths) @ b[len(names) :]
        # 60 pairs in each paradigm, so that their plain mean is the mean over pairs.
        level = [intercept(x[groups == name], offset[groups == name]) for name in names]
        assert estimate["value"] == pytest.approx(special.expit(level).mean(), abs=1e-8)


def test_lack_of_fit_where_every_difference_is_its_own_level(out: Path) -> None:
    items, summary = read(out, "minimal-pairs", "bundled_modern")
    for estimate in rows(summary, measure="lack of fit of the line", group="inchoative"):
        x, difference, _ = part(items, estimate)
        design = np.column_stack([np.ones(len(x)), difference])
        mu = special.expit(design @ firth(design, x)[0])
        cells = [difference == d for d in np.unique(difference)]
        chi2 = sum((x[c] - mu[c]).sum() ** 2 / (mu[c] * (1 - mu[c])).sum() for c in cells)
        expected = [chi2, stats.chi2.sf(chi2, len(cells) - 2)]
        assert numbers(estimate, "value", "p") == pytest.approx(expected, abs=1e-6)


def test_differences_between_models(out: Path) -> None:
    (items, _), (others, _) = (read(out, "minimal-pairs", m) for m in ("bundled_modern", "bundled_early-modern"))
    comparison = pl.read_parquet(out / "minimal-pairs" / "comparison.parquet")
    for estimate in rows(comparison):
        (x, lengths, groups), (y, other, _) = part(items, estimate), part(others, estimate)
        kept = (lengths == 0) & (other == 0) if estimate["split"] == "A=U under both" else lengths == lengths
        d, groups = (x - y)[kept], groups[kept]
        assert (estimate["first_better"], estimate["second_better"]) == ((d > 0).sum(), (d < 0).sum())
        better, worse, n = int((d > 0).sum()), int((d < 0).sum()), len(d)
        p1, p2 = (better + 1) / (n + 2), (worse + 1) / (n + 2)
        half = Z * np.sqrt((p1 + p2 - (p1 - p2) ** 2) / (n + 2))
        low, high, p = p1 - p2 - half, p1 - p2 + half, mid_p_of_a_share(better, better + worse)
        if estimate["how"] != "Bonett-Price adjusted Wald":
            value, error, df = clustered(np.mean, groups, d)
            ends = value + np.array([-1, 1]) * stats.t.ppf(0.975, df) * error
            low, high, p = held([*ends, 2 * stats.t.sf(abs(value / error), df)], [low, high, p])
        tests = len(NAMES) if estimate["scope"] == "group" else 1  # which Holm's first step divides the level by
        found = (high - low) / 2 / Z * (stats.norm.isf(0.025 / tests) + stats.norm.ppf(0.8))
        expected = [d.mean(), low, high, p, found]
        assert numbers(estimate, "value", "low", "high", "p", "detectable") == pytest.approx(expected, abs=1e-9)
    for split in ("all", "A=U under both"):
        holm(comparison.filter(scope="group", normalise="none", split=split))
