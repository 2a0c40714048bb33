"""Measures that an instrument declares, against scipy's tests and plain arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy

from penchant.errors import MethodError
from penchant.instruments.measures import Contrast, Mean, Measure, estimates, require_columns
from penchant.instruments.row_descriptor import claims_of
from penchant.records import Estimate
from penchant.views.claims import judged

RNG = np.random.default_rng(3)
N = 60
ITEMS = pl.DataFrame(
    {
        "score_good": RNG.normal(-30, 4, N),
        "score_bad": RNG.normal(-31, 4, N),
        "kind": [f"k{i % 3}" for i in range(N)],
        "word": [f"w{i % 12}" for i in range(N)],
        "side": ["men" if i % 12 < 7 else "women" for i in range(N)],
    }
)
OTHER = ITEMS.with_columns(pl.col("score_good") + RNG.normal(-0.5, 1, N))
GAIN = (ITEMS["score_good"] - ITEMS["score_bad"]).to_numpy()
GAINS = ITEMS.with_columns(pl.Series("gain", GAIN))
PAIR = ("good", "bad")


def found(measure: Measure, *, other: pl.DataFrame | None = None, items: pl.DataFrame = ITEMS) -> list[Estimate]:
    return estimates([measure], items, 0.95, "sentences", other=other)


def close(estimate: Estimate, value: float, test: Any) -> None:
    low, high = test.confidence_interval(0.95)
    made = [estimate.value, estimate.low, estimate.high, estimate.test and estimate.test.p]
    assert made == pytest.approx([value, low, high, test.pvalue], rel=1e-9)


def test_a_mean_is_that_of_one_sample_by_level_and_over_all() -> None:
    made = found(Mean("m", PAIR, by="kind"))
    assert [each.by["kind"] for each in made] == ["k0", "k1", "k2", "all"]
    for each in made:
        own = GAIN if each.by["kind"] == "all" else GAIN[(ITEMS["kind"] == each.by["kind"]).to_numpy()]
        test = scipy.stats.ttest_1samp(own, 0)
        close(each, own.mean(), test)
    ranked = sorted(each.p for each in made[:3])
    tests = [each.test for each in made if each.test is not None]
    assert min(test.adjusted for test in tests[:3]) == pytest.approx(min(1, 3 * ranked[0]))
    assert np.isnan(tests[3].adjusted) and [test.of for test in tests[:3]] == [3, 3, 3]


def test_differences_are_paired() -> None:
    (made,) = found(Mean("m", PAIR), other=OTHER)
    test = scipy.stats.ttest_rel(ITEMS["score_good"], OTHER["score_good"])
    close(made, (ITEMS["score_good"] - OTHER["score_good"]).to_numpy().mean(), test)


def test_clusters_of_one_size_are_a_sample_of_their_means() -> None:
    (made,) = found(Mean("m", "gain", clusters="word"), items=GAINS)
    means = GAINS.group_by("word", maintain_order=True).agg(pl.col("gain").mean())["gain"].to_numpy()
    test = scipy.stats.ttest_1samp(means, 0)
    close(made, means.mean(), test)


@pytest.mark.parametrize("clusters", ["", "word"])
def test_a_contrast_is_welchs(clusters: str) -> None:
    (made,) = found(Contrast("c", "gain", "side", ("men", "women"), clusters=clusters), items=GAINS)
    units = GAINS.group_by("word", "side").agg(pl.col("gain").mean()) if clusters else GAINS
    sides = [units.filter(side=side)["gain"].to_numpy() for side in ("men", "women")]
    test = scipy.stats.ttest_ind(*sides, equal_var=False)
    close(made, sides[0].mean() - sides[1].mean(), test)
    assert made.n == len(units)


def test_a_contrast_without_a_side_has_no_number() -> None:
    (made,) = found(Contrast("c", PAIR, "side", ("men", "children")))
    assert np.isnan(made.value) and [note.code for note in made.notes] == ["empty-side"]


def test_a_share_counts_ties_as_one_half() -> None:
    tied = ITEMS.with_columns(
        pl.when(pl.col("kind") == "k0").then("score_bad").otherwise("score_good").alias("score_good")
    )
    (made,) = found(Mean("m", PAIR, share=True), items=tied)
    untied = GAIN[(ITEMS["kind"] != "k0").to_numpy()]
    assert made.value == pytest.approx(((untied > 0).sum() + 20 * 0.5) / N)
    wins = scipy.stats.binom(40, 0.5)
    k = max((untied > 0).sum(), (untied < 0).sum())
    assert made.test is not None and made.test.p == pytest.approx(2 * (wins.sf(k) + wins.pmf(k) / 2))
    (whole,) = found(Mean("m", PAIR, share=True))
    interval = scipy.stats.binomtest(int((GAIN > 0).sum()), N).proportion_ci(method="wilson")
    assert [whole.low, whole.high] == pytest.approx([interval.low, interval.high])


def test_a_difference_of_shares_is_mcnemars() -> None:
    (made,) = found(Mean("m", PAIR, share=True), other=OTHER)
    mine, theirs = GAIN > 0, (OTHER["score_good"] - OTHER["score_bad"]).to_numpy() > 0
    up, down = (mine & ~theirs).sum(), (theirs & ~mine).sum()
    assert made.value == pytest.approx((up - down) / N)
    discordant = scipy.stats.binom(up + down, 0.5)
    k = max(up, down)
    assert made.test is not None and made.test.p == pytest.approx(
        min(1, 2 * (discordant.sf(k) + discordant.pmf(k) / 2))
    )


@pytest.mark.parametrize("lift", [0.0, 2.0])
def test_the_margin_of_a_claim_is_that_of_the_measure(lift: float) -> None:
    """A mean of 0 with a standard error of 0.02 is a no by the default of 0.1, but open by a margin of 0.01."""
    gains = np.tile([-1.0, 1.0], 2000) * 1.2 + lift
    items = pl.DataFrame({"gain": gains})
    for margin, kind in ((None, "no"), (0.01, "cannot tell"), (1.0, "no")):
        measure = Mean("m", "gain", margin=margin)
        (made,) = found(measure, items=items)
        overall, more = claims_of(measure, "items")
        assert (overall.name, more.name, more.compared) == ("overall", "more", True)
        assert not callable(overall.margin)
        assert judged(made.row(), overall.shown, overall.margin)[0] == ("yes" if lift else kind)


def test_margins_of_shares_are_points_and_margins_are_above_0() -> None:
    claims = claims_of(Mean("m", PAIR, by="kind", share=True), "items")
    assert [(claim.name, claim.margin) for claim in claims] == [("overall", 0.05), ("levels", 0.05), ("more", 0.02)]
    (made,) = found(Mean("m", PAIR, share=True))
    assert not callable(claims[0].margin)
    assert judged(made.row(), claims[0].shown, claims[0].margin)[0] == ("yes" if made.p <= 0.05 else "cannot tell")
    with pytest.raises(MethodError, match="not above 0"):
        require_columns([Mean("m", PAIR, margin=0)], ITEMS, "here", levels=True)
