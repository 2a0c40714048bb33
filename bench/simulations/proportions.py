"""Accuracies and their differences: within a paradigm, over paradigms, between models and sets, and adjusted for
length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, partial

import numpy as np
import polars as pl
from bench.simulations.base import LEVEL, RESAMPLES, Simulation, Trial, sized
from numpy.typing import NDArray
from scipy.special import expit

from penchant.instruments.minimal_pairs.fitted_exponents import FITTED, with_exponents
from penchant.instruments.minimal_pairs.fixed_group_estimates import fixed
from penchant.instruments.minimal_pairs.human_estimates import (
    AGAINST_MAJORITY,
    HUMAN_ACCURACY,
    MINUS_PEOPLE,
)
from penchant.instruments.minimal_pairs.pair_credits import credits, mean_credit, paired, paired_over
from penchant.instruments.minimal_pairs.probe import MinimalPairs
from penchant.instruments.minimal_pairs.strata_means import (
    fixed_strata_share,
    mantel_haenszel_difference,
    overlapping_difference,
)
from penchant.stats.intervals import accuracy, independent_difference
from penchant.stats.length_adjustment import adjusted_accuracy, fit, lack_of_fit, length_slope

Array = NDArray[np.float64]
WITHIN, OVER = "Accuracy within a paradigm", "Accuracy over paradigms"
MODELS, SETS, LENGTH = "Two models on the same pairs", "Fair and original pairs", "Adjusted for length"
SHARES = ("accuracy", "accuracy by |A|−|U|", "stereotype score")
GAP, GAIN = ("gap to A=U",), ("accuracy on fair − original pairs",)
DIFFERENCE = ("accuracy difference", MINUS_PEOPLE)
NOUNS = ("paradigms", "bias types")
FIXED = tuple(
    fixed(measure, noun)
    for noun in NOUNS
    for measure in ("accuracy", "stereotype score", HUMAN_ACCURACY, AGAINST_MAJORITY)
    if measure != "stereotype score" or noun == "bias types"
)
FIXED_DIFFERENCE = tuple(fixed(measure, noun) for measure in DIFFERENCE for noun in NOUNS)
ADJUSTED, SLOPE, FIT = ("length-adjusted accuracy",), ("log-odds per token of |A|−|U|",), ("lack of fit of the line",)
PARADIGMS = (5, 12, 67)
SETTINGS = MinimalPairs(data="simulated", resamples=RESAMPLES)


def _credit(rng: np.random.Generator, share: Array | float, n: int | None = None) -> Array:
    return (rng.random(n if n is not None else np.shape(share)) < share).astype(np.float64)


def _wilson(share: float, n: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    yield Trial((*SHARES, "share of ties"), accuracy(_credit(rng, share, n)), share)


def _against_half(n: int, ties: bool, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    credit = _credit(rng, 0.5, n)
    if ties:
        credit[rng.random(n) < 0.1] = 0.5
    estimate = mean_credit(credit, ["age"] * n, "bias types", LEVEL, against=0.5)
    yield Trial(("accuracy",) if ties else ("accuracy", "stereotype score"), estimate, 0.5, True)


# Over paradigms ---------------------------------------------------------------------------------------------


def _sizes(rng: np.random.Generator, paradigms: int, equal: bool) -> NDArray[np.int64]:
    return np.full(paradigms, 60) if equal else rng.integers(10, 200, paradigms)


@cache
def _share_truth() -> float:
    return float(expit(np.random.default_rng(1).normal(1, 0.8, 4_000_000)).mean())


def _clustered(paradigms: int, equal: bool, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    return _share_over(_sizes(rng, paradigms, equal), rng)


def _outweighed(sizes: tuple[int, ...], rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """One paradigm has most of the pairs."""
    return _share_over(np.array(sizes), rng)


def _share_over(sizes: NDArray[np.int64], rng: np.random.Generator) -> Iterator[Trial]:
    of = np.repeat(np.arange(len(sizes)), sizes)
    credit = _credit(rng, expit(rng.normal(1, 0.8, len(sizes)))[of])
    share = _share_truth()
    yield Trial(
        SHARES, mean_credit(credit, of.astype(str).tolist(), "paradigms", LEVEL, against=share), share, null=True
    )


def _as_they_are(
    shares: tuple[float, ...], sizes: tuple[int, ...], rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    """The same paradigms in every data set, other pairs."""
    of = np.repeat(np.arange(len(sizes)), sizes)
    truth = float(np.average(shares, weights=sizes))
    credit = _credit(rng, np.array(shares)[of])
    estimate = fixed_strata_share(credit, of.tolist(), against=truth, noun="paradigms")
    yield Trial(FIXED, estimate, truth, null=True)


def _gap_within(n: int, gap: float, ties: bool, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    longer, equal = _credit(rng, 0.75 - gap, n), _credit(rng, 0.75, 2 * n)
    if ties:
        longer[rng.random(n) < 0.1] = 0.5
        equal[rng.random(2 * n) < 0.1] = 0.5
        gap *= 0.9
    yield Trial(GAP, independent_difference(longer, equal), -gap, null=not gap)


def _gap_over(paradigms: int, equal: bool, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Gaps that differ between paradigms with mean 0 and sd .15."""
    sizes = _sizes(rng, paradigms, equal)
    of = np.repeat(np.arange(paradigms), sizes)
    exposed = rng.random(len(of)) < rng.uniform(0.1, 0.6, paradigms)[of]
    shares, gaps = rng.uniform(0.4, 0.8, paradigms), np.clip(rng.normal(0, 0.15, paradigms), -0.4, 0.4)
    credit = _credit(rng, np.clip(shares[of] + exposed * gaps[of], 0, 1))
    estimate = mantel_haenszel_difference(credit, exposed, of.tolist(), noun="paradigms")
    yield Trial(GAP, estimate, 0.0, null=True)


# Two models -------------------------------------------------------------------------------------------------


def _both(rng: np.random.Generator, share: Array, gain: Array | float, ties: bool) -> tuple[Array, Array]:
    """Credits of two models on the same pairs, of which half are as easy or hard for both."""
    same = rng.random(len(share)) < 0.5
    u, v = rng.random(len(share)), rng.random(len(share))
    a, b = (u < share + gain).astype(np.float64), (np.where(same, u, v) < share).astype(np.float64)
    if ties:
        a[rng.random(len(a)) < 0.1] = 0.5
        b[rng.random(len(b)) < 0.1] = 0.5
    return a, b


def _models(n: int, gain: float, ties: bool, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    a, b = _both(rng, np.full(n, 0.7), gain, ties)
    estimate = paired(a, b, SETTINGS.model_copy(update={"seed": seed}))
    yield Trial(DIFFERENCE, estimate, gain * (0.9 if ties else 1), null=not gain)


def _models_over(paradigms: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Models that differ in every paradigm by another amount, with mean 0 and sd .1."""
    of = np.repeat(np.arange(paradigms), _sizes(rng, paradigms, False))
    share, gain = rng.uniform(0.5, 0.75, paradigms), np.clip(rng.normal(0, 0.1, paradigms), -0.25, 0.25)
    a = _credit(rng, share[of] + gain[of] / 2)
    b = _credit(rng, share[of] - gain[of] / 2)
    yield Trial(DIFFERENCE, paired_over(a, b, of.astype(str).tolist(), "paradigms", SETTINGS), 0.0, null=True)


def _models_fixed(gains: tuple[float, ...], n: int, ties: bool, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Two models on the same paradigms in every data set, other pairs."""
    of = np.repeat(np.arange(len(gains)), n)
    a, b = _both(rng, np.full(len(of), 0.6), np.array(gains)[of], ties)
    estimate = paired(a, b, SETTINGS.model_copy(update={"seed": seed}))
    truth = float(np.mean(gains)) * (0.9 if ties else 1)
    yield Trial(FIXED_DIFFERENCE, estimate, truth, null=abs(truth) < 1e-12)


# Two sets ---------------------------------------------------------------------------------------------------


def _overlap(
    parts: tuple[int, int, int], strata: int, gain: float, rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    """Pairs of the fair set only, of both, and of the original only, in each paradigm. The fair ones are harder."""
    kind = np.tile(np.repeat([0, 1, 2], parts), strata)
    of = np.repeat(np.arange(strata), sum(parts))
    fair, original = kind <= 1, kind >= 1
    hard = rng.uniform(0.6, 0.9, strata) if strata > 1 else np.array([0.75])
    share = hard[of] - gain * fair
    credit = _credit(rng, share)
    inside = of == 0
    truth = float(share[inside & fair].mean() - share[inside & original].mean())
    yield Trial(GAIN, overlapping_difference(credit, fair, original, of.tolist()), truth, null=not gain)


# Length -----------------------------------------------------------------------------------------------------

_STEPS = np.array([-3.0, -2, -1, 0, 1, 2])
_SHARES = np.array([0.05, 0.1, 0.15, 0.4, 0.2, 0.1])


def _length(n: int, slope: float, bend: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    x = rng.choice(_STEPS, n, p=_SHARES)
    credit = _credit(rng, expit(1 + slope * x + bend * (x != 0)))
    yield Trial(ADJUSTED, adjusted_accuracy(fit(credit, x, levels=True)), float(expit(1)))
    if not bend:
        yield Trial(SLOPE, length_slope(fit(credit, x)), slope, null=not slope)
        yield Trial(FIT, lack_of_fit(credit, x), null=True)


@cache
def _adjusted_truth() -> float:
    return float(expit(np.random.default_rng(2).normal(1, 0.8, 4_000_000)).mean())


def _length_over(paradigms: int, sampled: bool, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    of = np.repeat(np.arange(paradigms), 100)
    level = rng.normal(1, 0.8, paradigms) if sampled else np.linspace(0, 2, paradigms)
    slope = rng.normal(0, 0.3, paradigms) if sampled else np.zeros(paradigms)
    x = np.where(rng.random(len(of)) < rng.beta(1, 2, paradigms)[of], rng.choice([-2.0, -1, 1, 2], len(of)), 0.0)
    credit = _credit(rng, expit(level[of] + slope[of] * x))
    clusters = of.tolist() if sampled else None
    truth = _adjusted_truth() if sampled else float(expit(level).mean())
    free, line = (fit(credit, x, strata=of.tolist(), clusters=clusters, levels=levels) for levels in (True, False))
    yield Trial(ADJUSTED, adjusted_accuracy(free), truth)
    yield Trial(SLOPE, length_slope(line), 0.0, null=True)


def _fitted(paradigms: int, alpha: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Sentences whose log-probability over |S|^α does not depend on |S|; α is fitted on the other phenomena."""
    of = np.repeat(np.arange(paradigms), 100)
    step = np.where(rng.random(len(of)) < rng.beta(1, 2, paradigms)[of], rng.choice([-2, -1, 1, 2], len(of)), 0)
    right = _credit(rng, expit(rng.normal(1, 0.8, paradigms)[of])) == 1
    bad, tokens = rng.normal(-25, 3, len(of)), rng.integers(6, 13, len(of))
    good = bad + np.where(right, 1, -1) * np.abs(rng.normal(0, 3, len(of)))
    items = pl.DataFrame(
        {
            "dataset": ["simulated"] * len(of),
            "phenomenon": (of % max(2, paradigms // 3)).astype(str),
            "group": of.astype(str),
            "n_tokens_good": tokens + step,
            "n_tokens_bad": tokens,
            "score_good": good * (tokens + step) ** alpha,
            "score_bad": bad * tokens**alpha,
        }
    )
    credit, x = credits(with_exponents(items), FITTED), step.astype(np.float64)
    truth = _adjusted_truth()
    yield Trial(
        SHARES, mean_credit(credit, of.astype(str).tolist(), "paradigms", LEVEL, against=truth), truth, null=True
    )
    kept = x >= 0
    gap = mantel_haenszel_difference(credit[kept], x[kept] > 0, of[kept].tolist(), noun="paradigms")
    yield Trial(GAP, gap, 0.0, null=True)
    yield Trial(SLOPE, length_slope(fit(credit, x, strata=of.tolist(), clusters=of.tolist())), 0.0, null=True)


def _accuracies() -> Iterable[Simulation]:
    for share in (0.5, 0.8, 0.95):
        for n, size in sized((20, 60, 240), "pairs"):
            yield Simulation(WITHIN, f"accuracy {share}", size, partial(_wilson, share, n), 4_000)
    for ties, of in ((False, "score 50"), (True, "score 50, a tenth ties")):
        for n, size in sized((20, 60, 240), "pairs"):
            yield Simulation(WITHIN, of, size, partial(_against_half, n, ties), 4_000)
    for gap, ties, what in ((0.0, False, "no gap"), (0.25, False, "gap of .25"), (0.0, True, "no gap, with ties")):
        for n in (10, 20, 60):
            size = f"{n} A>U, {2 * n} A=U"
            yield Simulation(WITHIN, what, size, partial(_gap_within, n, gap, ties), 4_000)
    for equal, of in ((True, "60 pairs each"), (False, "10 to 199 pairs each")):
        for n, size in sized(PARADIGMS, f"paradigms, {of}"):
            yield Simulation(OVER, "accuracies of mean .70, sd .15", size, partial(_clustered, n, equal), 2_000)
        for n, size in sized(PARADIGMS, f"paradigms, {of}"):
            yield Simulation(OVER, "gaps of mean 0, sd .15", size, partial(_gap_over, n, equal), 2_000)
    for pairs in ((60, 20, 4), (100, 5, 5, 5), (100, 20, 5, 5)):
        size = f"{len(pairs)} paradigms, {', '.join(map(str, pairs))} pairs"
        yield Simulation(OVER, "accuracies of mean .70, sd .15", size, partial(_outweighed, pairs), 2_000)
    for shares, sizes, data in (
        ((0.5,) * 4, (18,) * 4, "the same paradigms, all .50"),
        ((0.3, 0.4, 0.6, 0.7), (18,) * 4, "the same paradigms, .30 to .70"),
        ((0.95, 0.9, 0.8, 0.35), (18,) * 4, "the same paradigms, .35 to .95"),
        ((0.9, 0.5), (5, 15), "the same paradigms, .50 and .90"),
        (tuple(np.linspace(0.2, 0.8, 9).tolist()), (60,) * 9, "the same paradigms, .20 to .80"),
    ):
        size = f"{len(sizes)} paradigms, {' and '.join(str(n) for n in dict.fromkeys(sizes))} pairs"
        yield Simulation(OVER, data, size, partial(_as_they_are, shares, sizes), 400)


def _differences() -> Iterable[Simulation]:
    for gain, ties, what in (
        (0.0, False, "no difference"),
        (0.15, False, "difference of .15"),
        (0.0, True, "no difference, with ties"),
    ):
        for n, size in sized((20, 60, 240), "pairs"):
            yield Simulation(MODELS, what, size, partial(_models, n, gain, ties), 2_000)
    for n, size in sized(PARADIGMS, "paradigms"):
        yield Simulation(MODELS, "differences of mean 0, sd .1", size, partial(_models_over, n), 2_000)
    for gains, n, ties, what in (
        ((0.0,) * 4, 18, False, "no difference in any of the same paradigms"),
        ((0.2, -0.2, 0.2, -0.2), 18, False, "differences of ±.2 in the same paradigms"),
        ((0.2, -0.2) * 4, 60, False, "differences of ±.2 in the same paradigms"),
        ((0.2, -0.2, 0.2, -0.2), 18, True, "differences of ±.2 in the same paradigms, with ties"),
    ):
        size = f"{len(gains)} paradigms, {n} pairs each"
        yield Simulation(MODELS, what, size, partial(_models_fixed, gains, n, ties), 400)
    for gains, n in (((0.3, 0.2, 0.1, 0.0), 18), ((0.3, 0.1) * 4, 60)):
        size = f"{len(gains)} paradigms, {n} pairs each"
        what = "differences of 0 to .3 in the same paradigms"
        yield Simulation(MODELS, what, size, partial(_models_fixed, gains, n, False), 400)
    for gain, what in ((0.0, "no difference"), (0.1, "fair pairs harder by .1")):
        for parts in ((0, 20, 40), (0, 60, 140), (60, 60, 60), (100, 0, 200)):
            for strata in (1, 5, 12):
                size = f"{strata} × ({parts[0]} fair, {parts[1]} both, {parts[2]} original)"
                yield Simulation(SETS, what, size, partial(_overlap, parts, strata, gain))


def _adjusted() -> Iterable[Simulation]:
    for slope, bend, what in ((-0.5, 0.0, "a line of −.5"), (0.0, 0.0, "no dependence"), (-0.5, 0.6, "no line")):
        for n, size in sized((60, 240, 1_000), "pairs"):
            yield Simulation(LENGTH, what, size, partial(_length, n, slope, bend))
    for n, size in sized((3,), "paradigms as given, 100 pairs each"):
        yield Simulation(LENGTH, "no dependence", size, partial(_length_over, n, False), 500)
    for n, size in sized(PARADIGMS, "paradigms, 100 pairs each"):
        yield Simulation(
            LENGTH, "slopes of mean 0, sd .3", size, partial(_length_over, n, True), 500 if n > 12 else 2_000
        )


def _fitted_exponents() -> Iterable[Simulation]:
    for alpha in (0.15, 0.6):
        for n, size in sized(PARADIGMS[1:], "paradigms, 100 pairs each"):
            yield Simulation(
                LENGTH,
                f"score fitted, lengths do not matter at α = {alpha}",
                size,
                partial(_fitted, n, alpha),
                1_000 if n <= 12 else 500,
            )


ALL = (*_accuracies(), *_differences(), *_adjusted(), *_fitted_exponents())
