"""Calibrated agreement: fractions worked out by hand, formulas written out, scipy's bootstrap, and coverage."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special, stats

from pages import number, said, table_of
from penchant.errors import DataError, MethodError
from penchant.instruments.values.calibration import Line, calibration, lines, rating, representativeness
from penchant.instruments.values.cells import rated
from penchant.instruments.values.probe import Rated, Values
from penchant.records import Estimate, Signature
from penchant.stats.consistency import cronbach_alpha, variance_shares

Array = NDArray[np.float64]
LINES: tuple[Line, ...] = get_args(Line)

quick = settings(max_examples=60, deadline=None)
line_kinds = pytest.mark.parametrize("line", LINES)

logprob = st.floats(-60, -0.25).map(lambda value: round(value, 2))
pairs = st.lists(st.tuples(logprob, logprob), min_size=3, max_size=12, unique=True)


def phi(z: float) -> float:
    return (1 + math.erf(z / math.sqrt(2))) / 2


def plain(x: Array, y: Array, line: Line) -> tuple[float, float, float]:
    """a, b and σ, one sum after the other."""
    a = sum(x * y) / sum(x * x) if line == "origin" else 1.0
    b = 0.0 if line == "origin" else sum(y - x) / len(x)
    return a, b, math.sqrt(sum((y - a * x - b) ** 2) / (len(x) - 1))


# Lines ------------------------------------------------------------------------------------------------------

X, Y = np.array([-1.0, -2, -3]), np.array([-2.0, -3, -7])


def test_lines_by_hand() -> None:
    # Σxy/Σx² = 29/14; residuals 1/14, 16/14, −11/14, their squares 378/196 over 2 = 27/28.
    found = lines(X, Y, np.ones((1, 3)), "origin")
    numbers = [part.item() for part in (found.slope, found.offset, found.sigma)]
    assert numbers == pytest.approx([29 / 14, 0, math.sqrt(27 / 28)])
    # x = −2, y = −4 lies 2/14 above the line.
    agreement = found.agreement(np.array([-2.0]), np.array([-4.0]))
    assert agreement.tolist() == [[pytest.approx(phi(1 / 7 / math.sqrt(27 / 28)))]]
    # y − x = −1, −1, −4: b = −2, residuals 1, 1, −2, so σ² = 6/2.
    found = lines(X, Y, np.ones((1, 3)), "difference")
    assert [part.item() for part in (found.slope, found.offset, found.sigma)] == pytest.approx([1, -2, math.sqrt(3)])
    assert found.agreement(np.array([-5.0]), np.array([-6.0])).item() == pytest.approx(phi(1 / math.sqrt(3)))
    assert rating(np.array([0, 0.25, 0.5, 1])).tolist() == [1, 2, 3, 5]


@quick
@given(pairs, st.lists(st.integers(0, 3), min_size=12, max_size=12), st.sampled_from(LINES))
def test_a_weight_counts_a_statement_as_often(rows: list[tuple[float, float]], times: list[int], line: Line) -> None:
    x, y = np.array(rows).T
    weights = np.array([times[: len(x)], [1] * len(x)], dtype=float)
    weights[0, :2] += 1
    found = lines(x, y, weights, line)
    for i in range(2):
        again = np.repeat(np.arange(len(x)), weights[i].astype(int))
        expected = plain(x[again], y[again], line)
        assert (found.slope[i], found.offset[i]) == pytest.approx(expected[:2], abs=1e-9)
        assert found.sigma[i] == pytest.approx(expected[2], abs=2e-6)


@quick
@given(pairs, st.tuples(logprob, logprob), st.floats(0.1, 9), st.floats(-20, 20), st.randoms())
def test_what_leaves_the_agreement_as_it_is(
    rows: list[tuple[float, float]], at: tuple[float, float], factor: float, shift: float, random: Random
) -> None:
    def same(line: Line, x: Array, y: Array, asked_x: float, asked_y: float) -> None:
        found = lines(x, y, np.ones((1, len(x))), line).agreement(np.array([asked_x]), np.array([asked_y]))
        assert found.item() == pytest.approx(own, abs=1e-7)

    x, y = np.array(rows).T
    order = random.sample(range(len(x)), len(x))
    for line in LINES:
        a, b, sigma = plain(x, y, line)
        if sigma < 0.05:
            continue
        own = phi((at[1] - a * at[0] - b) / sigma)
        same(line, x, y, *at)
        same(line, x * factor, y * factor, at[0] * factor, at[1] * factor)
        same(line, x[order], y[order], *at)
        if line == "difference":
            same(line, x, y + shift, at[0], at[1] + shift)
        else:
            same(line, x, y * factor, at[0], at[1] * factor)


LEVEL = np.linspace(-12, -4, 33)


@pytest.mark.parametrize(
    ("x", "y", "line"),
    [
        *((np.full(33, x), np.full(33, y), line) for x, y in ((-5.5, -4.25), (-8.3, -7.1)) for line in LINES),
        (LEVEL, 1.3 * LEVEL, "origin"),
        (LEVEL, LEVEL + 0.7, "difference"),
    ],
)
def test_what_lies_on_a_line_has_no_spread(x: Array, y: Array, line: Line) -> None:
    found = lines(x, y, np.ones((1, 33)), line)
    assert np.isnan(found.agreement(np.array([-8.0]), np.array([-6.0]))).all()


@line_kinds
def test_a_small_spread_beside_large_numbers_is_still_measured(line: Line) -> None:
    x = 40 * LEVEL
    y = x + 0.004 * np.cos(np.arange(33))
    assert lines(x, y, np.ones((1, 33)), line).sigma.item() == pytest.approx(plain(x, y, line)[2], rel=1e-3)


# What the neutral statements say ----------------------------------------------------------------------------


def neutral(n: int) -> tuple[Array, Array]:
    """With skew residuals."""
    rng = np.random.default_rng(n)
    x = rng.normal(-8, 2, n)
    return x, 0.9 * x - rng.exponential(0.6, n) ** 2


def told(x: Array, y: Array, line: Line = "origin", level: float = 0.95) -> dict[str, Estimate]:
    found = calibration(x, y, line=line, level=level)
    assert {estimate.n for estimate in found} == {len(x)}
    return {estimate.measure: estimate for estimate in found}


@line_kinds
def test_diagnostics_written_out(line: Line) -> None:
    x, y = neutral(16)
    n, found = len(x), told(x, y, line, level=0.9)
    a, b, sigma = plain(x, y, line)
    dx, dy = x - x.mean(), y - y.mean()
    r = (dx @ dy) / math.sqrt((dx @ dx) * (dy @ dy))
    half, t = stats.norm.ppf(0.95) / math.sqrt(n - 3), float(stats.t.ppf(0.95, n - 2))
    slope, intercept = np.polyfit(x, y, 1)
    error = math.sqrt(((y - slope * x - intercept) ** 2).sum() / (n - 2) / (dx @ dx))
    error_0 = error * math.sqrt((x @ x) / n)
    expected = {
        "correlation of agree and disagree": (r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)),
        "slope of a fit with intercept": (slope, slope - t * error, slope + t * error),
        "intercept of a fit with intercept": (intercept, intercept - t * error_0, intercept + t * error_0),
    }
    for name, numbers in expected.items():
        assert (found[name].value, found[name].low, found[name].high) == pytest.approx(numbers), name
    size = r * math.sqrt((n - 2) / (1 - r**2))
    assert found["correlation of agree and disagree"].p == pytest.approx(2 * stats.t.sf(size, n - 2), rel=1e-6)
    w = found["normality of the residuals (W)"]
    assert (w.value, w.p) == pytest.approx(tuple(stats.shapiro(y - a * x - b)))
    # Slope (or offset): each statement left out in turn. For equal weights that is the t interval of a mean.
    own, at = found[LINE[line]], int(line != "origin")
    left_out = [plain(np.delete(x, i), np.delete(y, i), line)[at] for i in range(n)]
    error = math.sqrt((n - 1) / n * sum((each - (a, b)[at]) ** 2 for each in left_out))
    reach = stats.t.ppf(0.95, n - 1) * error
    assert (own.value, own.low, own.high) == pytest.approx(((a, b)[at], (a, b)[at] - reach, (a, b)[at] + reach))
    if line == "difference":
        assert (own.low, own.high) == pytest.approx(tuple(stats.ttest_1samp(y - x, 0).confidence_interval(0.9)))
    # σ: the interval of a log variance of the residuals around 0, by their kurtosis (Bonett 2006).
    r, z, spread = y - a * x - b, stats.norm.ppf(0.95), found[SIGMA]
    kurtosis, c = n * (r**4).sum() / (r**2).sum() ** 2, n / (n - z)
    error = math.sqrt((c**2 * (kurtosis - (n - 3) / n)) / (n - 1))
    ends = [math.exp((math.log(c * sigma**2) + side * z * error) / 2) for side in (-1, 1)]
    assert (spread.value, spread.low, spread.high) == pytest.approx((sigma, *ends))


SIGMA = "residual sd σ"
LINE = {"origin": "calibration slope a", "difference": "calibration offset b"}


@quick
@given(st.permutations(range(16)), st.sampled_from(LINES))
def test_the_order_of_the_neutral_statements_does_not_matter(order: list[int], line: Line) -> None:
    x, y = neutral(16)
    found, other = (calibration(*side, line=line, level=0.8) for side in ((x, y), (x[order], y[order])))
    assert found == other


@pytest.mark.parametrize(
    ("line", "made", "name", "p"),
    [
        ("origin", lambda x, e: 0.5 * x + 13 + e, "intercept", "intercept of a fit with intercept"),
        ("difference", lambda x, e: 0.5 * x + 13 + e, "slope", "slope of a fit with intercept"),
    ],
)
def test_a_line_that_does_not_fit_says_so(line: Line, made: Callable[[Array, Array], Array], name: str, p: str) -> None:
    rng = np.random.default_rng(2)
    x, noise = rng.normal(-20, 4, 100), rng.normal(0, 1.5, 100)
    found = told(x, made(x, noise), line)
    free = stats.linregress(x, made(x, noise))
    b, se, taken = (free.intercept, free.intercept_stderr, 0) if name == "intercept" else (free.slope, free.stderr, 1)
    for measure in (LINE[line], SIGMA):
        assert found[measure].note.startswith("the line does not fit: residuals correlate with x at ")
        assert f"a free line has {name} {b:.2f} [" in found[measure].note
    assert found[p].p == pytest.approx(2 * stats.t.sf(abs(b - taken) / se, 98), rel=1e-6)
    fits = told(x, 0.9 * x + noise if line == "origin" else x + 3 + noise, line)
    assert {fits[measure].note for measure in (LINE[line], SIGMA)} == {""}


def test_too_little_to_calibrate_by() -> None:
    for line in LINES:
        found = told(*neutral(2), line=line).values()
        assert all(math.isnan(e.value) and e.note == "fewer than three neutral statements" for e in found)
    x, y = neutral(10)
    flat = told(np.full(10, -3.0), y)
    for name in ("correlation of agree and disagree", "slope of a fit with intercept"):
        assert math.isnan(flat[name].value) and "not vary" in flat[name].note
    exact = told(x, x, "difference")
    assert exact[SIGMA].value == 0 and math.isnan(exact["normality of the residuals (W)"].value)
    for bad in (([1, math.nan, 2], [1, 2, 3]), ([1, 2, 3, 4], [1, 2, 3])):
        with pytest.raises(DataError):
            calibration(*bad, line="origin", level=0.95)
    with pytest.raises(MethodError):
        calibration(x, y, line="origin", level=95)


# Representativeness, consistency, variance ------------------------------------------------------------------


def test_representativeness_by_hand() -> None:
    # 1 has none of 1 2 2 4 5 below; 2 one below and two above; 3 three and two; 4 three and one.
    found = representativeness([0, 1, 2, 3, 4, 5, 6], [1, 2, 2, 4, 5, math.nan])
    assert found.tolist() == pytest.approx([0, 0, 2 / 5, 4 / 5, 2 / 5, 0, 0])
    assert representativeness([2.5], [1, 2, 3, 4]).item() == 1  # the median
    assert representativeness([2, 3, 4], [3] * 7).tolist() == [0, 0, 0]
    assert np.isnan(representativeness([3], [math.nan])).all() and np.isnan(representativeness([3], [])).all()


answer = st.one_of(st.integers(1, 5).map(float), st.just(math.nan), st.floats(1, 5))


@quick
@given(st.lists(answer, max_size=15), st.lists(answer, max_size=6))
def test_representativeness_by_counting(people: list[float], asked: list[float]) -> None:
    known = [x for x in people if x == x]
    for r, found in zip(asked, representativeness(asked, people), strict=True):
        if r != r or not known:
            assert math.isnan(found)
        else:
            assert found == 2 * min(sum(x < r for x in known), sum(x > r for x in known)) / len(known)


def test_alpha_by_hand() -> None:
    # Columns 1 2 3 4, 2 1 4 3, 1 3 3 5, ten times over: sums of squares 5 5 8 and of the sums 40; α = 3/2·(1 − 18/40).
    scores: list[list[float]] = [[1, 2, 1], [2, 1, 3], [3, 4, 3], [4, 3, 5]] * 10
    found = cronbach_alpha(scores, level=0.9)
    assert found.value == pytest.approx(33 / 40)
    assert (found.n, found.note) == (40, "")
    # Feldt: (1 − α)/(1 − α̂) is F with 39 and 78 degrees of freedom; quantiles by the incomplete beta function.
    upper, lower = (78 / 39 * (b := float(special.betaincinv(19.5, 39.0, p))) / (1 - b) for p in (0.95, 0.05))
    assert (found.low, found.high) == pytest.approx((1 - 7 / 40 * upper, 1 - 7 / 40 * lower))
    more = cronbach_alpha([*scores, [5, math.nan, 5]], level=0.9)
    assert (more.value, more.n) == (found.value, 40)
    assert more.note == "1 respondent with a missing answer left out"


FEW = "no α: fewer than 30 respondents"


@pytest.mark.parametrize(
    ("scores", "why"),
    [
        ([[1], [2], [3]], "no α: fewer than two items"),
        ([[1, 2], [2, 3]], FEW),
        ([[1, 5], [2, 4], [3, 3]] * 10, "no α: the sums do not vary"),
        ([[1, math.nan]] * 5, f"{FEW}; 5 respondents with a missing answer left out"),
    ],
)
def test_alpha_that_cannot_be_computed(scores: list[list[float]], why: str) -> None:
    found = cronbach_alpha(scores)
    assert math.isnan(found.value) and math.isnan(found.low) and found.note == why


def test_six_respondents_that_answer_alike_have_no_alpha() -> None:
    """They correlate at .95 and would have an α of −20: what is left is how little they differ."""
    rng = np.random.default_rng(1)
    alike = rng.normal(3, 1, 9) + 0.2 * rng.normal(size=(6, 9))
    assert np.asarray(np.corrcoef(alike))[np.triu_indices(6, 1)].mean() > 0.9
    assert math.isnan(cronbach_alpha(alike).value)


def test_shares_of_variance_by_hand() -> None:
    # Statements × templates × groups, mean 4: statements 3 and 5, templates 3¼ and 4¾, groups 3¾ and 4¼.
    found = variance_shares(np.array([[[1.0, 3], [3, 5]], [[5, 4], [6, 5]]]))
    # Squares 9+1+1+1+1+0+4+1 = 18; of the means 4·(1+1) = 8, 4·2·9/16 = 4½ and 4·2/16 = ½. Means over groups are 2 4
    # 4½ 5½, their squares 2·(4+0+¼+9/4) = 13, of which ½ is neither the statement's nor the template's; 4½ are left.
    both = {"statement × template": 0.5 / 18}
    expected = {"statement": 8 / 18, "template": 4.5 / 18, "group": 0.5 / 18, **both, "rest": 4.5 / 18}
    assert {name: float(share) for name, share in found.items()} == pytest.approx(expected)
    assert all(np.isnan(share) for share in variance_shares(np.ones((3, 2, 2))).values())


@quick
@given(st.integers(2, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 10_000))
def test_shares_of_variance_add_up(s: int, t: int, g: int, seed: int) -> None:
    tables = np.random.default_rng(seed).normal(size=(5, s, t, g))
    found = variance_shares(tables)
    assert sum(found.values()) == pytest.approx(1)
    for i, table in enumerate(tables):
        total = ((table - table.mean()) ** 2).sum()
        for name, axis in (("statement", 0), ("template", 1), ("group", 2)):
            levels = np.moveaxis(table, axis, 0)
            spread = sum(level.size * (level.mean() - table.mean()) ** 2 for level in levels)
            assert found[name][i] == pytest.approx(spread / total, abs=1e-9)
        gaps = table.mean(2) - table.mean((1, 2))[:, None] - table.mean((0, 2))[None] + table.mean()
        assert found["statement × template"][i] == pytest.approx(g * (gaps**2).sum() / total, abs=1e-9)


def test_wordings_that_turn_statements_round_are_seen() -> None:
    """Two wordings that rate alike on average and oppositely statement by statement."""
    turned = np.array([[5.0, 1], [1, 5], [4, 2], [2, 4]])[..., None]
    found = variance_shares(turned)
    assert {name: round(float(share), 9) for name, share in found.items()} == {
        "statement": 0,
        "template": 0,
        "group": 0,
        "statement × template": 1,
        "rest": 0,
    }


# Coverage ---------------------------------------------------------------------------------------------------

WRITTEN = {
    "calibration slope a": "slope a",
    SIGMA: "σ",
    "rating": "rating of a single statement, P(agree)",
    "mean rating": "mean rating of the 9 statements' population",
    "difference of ratings": "difference of the mean ratings of two groups",
}
"""The rows of the guide's table."""
SLOPES, SIGMAS, SHIFTS, SPREAD = (0.9, 0.8), (0.6, 0.9), (0.4, 0.1), 0.8


def simulated(seed: int) -> tuple[pl.DataFrame, list[Array]]:
    """The summary of 100 neutral statements and 9 of one value in two groups, and the true P(agree) of the nine.

    In units of σ the statements' residuals are N(shift, .8²), with a correlation of .6 between the groups."""
    rng = np.random.default_rng([20240517, seed])
    parts, truth, shared = [], [], rng.normal(0, SPREAD, 9)
    for g, own in enumerate((shared, 0.6 * shared + 0.8 * rng.normal(0, SPREAD, 9))):
        residuals = np.concatenate([rng.normal(0, 1, 100), SHIFTS[g] + own])
        x = rng.normal(-8, 2, 109)
        columns = {"id": list(map(str, range(109))), "kind": ["calibration"] * 100 + ["statement"] * 9, "disagree": x}
        part = pl.DataFrame({**columns, "agree": SLOPES[g] * x + SIGMAS[g] * residuals})
        constant = {"group": str(g), "variant": "main", "value": "v", "reversed": False}
        parts.append(part.with_columns(pl.lit(v).alias(k) for k, v in constant.items()))
        truth.append(special.ndtr(residuals[100:]))
    numbers = {"level": 0.95, "resamples": 1000, "seed": seed}
    signature = Signature.of("values", model="m", method="lp", calibration="origin", **numbers)
    probe = Values(data="d", method="lp", calibration="origin", resamples=1000, seed=seed)
    return probe.result(Rated(rated(pl.concat(parts), "origin")), signature).summary, truth


@pytest.mark.slow
def test_coverage() -> None:
    """Of the 95 % intervals over 500 samples; those of single statements are averaged over the nine."""
    means = [1 + 4 * phi(shift / math.sqrt(1 + SPREAD**2)) for shift in SHIFTS]
    covered: dict[str, list[float]] = {}
    for seed in range(500):
        summary, truth = simulated(seed)
        asked: list[tuple[str, str, float | Array]] = [("difference of ratings", "0 − 1", means[0] - means[1])]
        for g in range(2):
            asked += [("calibration slope a", str(g), SLOPES[g]), (SIGMA, str(g), SIGMAS[g])]
            asked += [("rating", str(g), 1 + 4 * truth[g]), ("mean rating", str(g), means[g])]
        for measure, group, value in asked:
            own = summary.filter(measure=measure, group=group)
            assert len(own) == (9 if measure == "rating" else 1)
            inside = (own["low"].to_numpy() <= value) & (value <= own["high"].to_numpy())
            covered.setdefault(measure, []).append(float(np.mean(inside)))
    shares = {measure: float(np.mean(inside)) for measure, inside in covered.items()}
    for measure, share in shares.items():
        print(f"{measure:<24}{share:.3f}  {len(covered[measure])}")  # noqa: T201
    page = "docs/values.md"
    low, high = said(page, "asserts that each lies between {} and {} %")
    assert all(low <= 100 * share <= high for share in shares.values()), shares
    rows = {
        row[""]: number(row["share of intervals that cover it"])
        for row in table_of(page, "share of intervals that cover it")
    }
    for measure, row in WRITTEN.items():
        assert 100 * shares[measure] == pytest.approx(rows[row], abs=0.25), measure
