"""Every kind of number of the cloze, computed again from the items by scipy and numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from recomputing import Floats, end, holm, numbers, probability, read, row, rows, run_study

pytestmark = pytest.mark.slow

GROUPS = ("early", "modern", "neutral")
RESAMPLES = 40_000


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_study(
        tmp_path_factory.mktemp("cloze"),
        "study: cloze\nseed: 0\nmodels: [bundled:modern, bundled:early-modern]\n"
        "probes: [cloze: {data: early-modern-60}]\n",
    )


def lists(items: pl.DataFrame, name: str) -> list[Floats]:
    return [np.array([np.nan if v is None else v for v in cell], float) for cell in items[name]]


def test_beta_delta_and_rated_mass(out: Path) -> None:
    for model in ("bundled_modern", "bundled_early-modern"):
        items, _ = read(out, "cloze", model)
        words = list(zip(lists(items, "probs"), lists(items, "valences"), strict=True))
        beta = np.array([np.nansum(p * v) for p, v in words])
        np.testing.assert_allclose(items["beta"], beta, atol=1e-12)
        np.testing.assert_allclose(items["delta"], 1 - np.abs(items["expected"].to_numpy() - beta) / 2, atol=1e-12)
        np.testing.assert_allclose(items["rated_mass"], [p[~np.isnan(v)].sum() for p, v in words], atol=1e-12)


class Strata:
    """Values of sentences within fixed groups: mean, its error, and bootstrap-t draws."""

    def __init__(self, x: Floats, group: Floats) -> None:
        self.parts = [x[group == name] for name in np.unique(group)]
        self.share = np.array([len(part) for part in self.parts]) / len(x)
        self.mean = x.mean()
        self.variances = self.share**2 * [part.var(ddof=1) / len(part) for part in self.parts]
        self.error = np.sqrt(self.variances.sum())
        # Satterthwaite's: groups may vary by very different amounts.
        self.df = self.error**4 / (self.variances**2 / [len(part) - 1 for part in self.parts]).sum()

    def draws(self) -> Floats:
        """(mean* − mean)/error*; a resample without any spread is infinitely far out."""
        generator = np.random.default_rng(1)
        mean, variance = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
        for part, share in zip(self.parts, self.share, strict=True):
            drawn = part[generator.integers(0, len(part), (RESAMPLES, len(part)))]
            mean += share * drawn.mean(1)
            variance += share**2 * drawn.var(1, ddof=1) / len(part)
        flat = variance < 1e-30
        away = np.where(mean > self.mean, np.inf, -np.inf)
        return np.where(flat, away, (mean - self.mean) / np.sqrt(np.where(flat, 1, variance)))

    def check(self, estimate: dict[str, Any], lowest: float, highest: float) -> None:
        """Each end is the t interval's, or the bootstrap-t's where that is wider, within the scale."""
        assert estimate["value"] == pytest.approx(self.mean, abs=1e-12)
        half = stats.t.ppf(0.975, self.df) * self.error
        t = self.draws()
        for sign, name, bound, share in ((-1, "low", lowest, 0.975), (1, "high", highest, 0.025)):
            theirs = estimate[name]
            if theirs == pytest.approx(self.mean + sign * half, abs=1e-9) or theirs == bound:
                error = 4 * np.sqrt(share * (1 - share) * (1 / 10_000 + 1 / RESAMPLES))
                nearest = self.mean - np.quantile(t, share - error if sign < 0 else share + error) * self.error
                assert sign * (nearest - theirs) <= 1e-9 or theirs == bound
            else:
                assert sign * (theirs - (self.mean + sign * half)) > 0, "narrower than t"
                end((self.mean - theirs) / self.error, t, share)


def picked(items: pl.DataFrame, x: Floats, group: str) -> Strata:
    names = items["group"].to_numpy()
    kept = np.isin(names, GROUPS if group == "all" else [group])
    return Strata(x[kept], names[kept])


def test_means_over_sentences(out: Path) -> None:
    items, summary = read(out, "cloze", "bundled_modern")
    for measure, column, low in (("mean β", "beta", -1), ("mean δ", "delta", 0), ("mean rated mass", "rated_mass", 0)):
        for group in (*GROUPS, "all"):
            estimate = row(summary, measure=measure, group=group)
            assert estimate["how"].startswith("wider of t (")
            picked(items, items[column].to_numpy(), group).check(estimate, low, 1)


def without(items: pl.DataFrame, rater: int) -> Floats:
    """β without a rater; words that only one rater judged, or a lexicon, keep what they are worth."""
    columns = zip(lists(items, "probs"), lists(items, "valences"), items["raters"], items["ratings"], strict=True)
    beta = []
    for probs, valences, raters, ratings in columns:
        left = [
            valence
            if who is None or len(who) < 2
            else np.mean([r for w, r in zip(who, given, strict=True) if w != rater])
            for valence, who, given in zip(valences, raters, ratings, strict=True)
        ]
        beta.append(np.nansum(probs * np.array(left, float)))
    return np.array(beta)


def test_raters_sampled(out: Path) -> None:
    """The jackknife's variance over raters added to that over sentences; Satterthwaite's degrees of freedom."""
    items, summary = read(out, "cloze", "bundled_modern")
    expected = items["expected"].to_numpy()
    jackknife = [without(items, rater) for rater in (0, 1)]
    for name in ("β", "δ"):

        def of(beta: Floats, name: str = name) -> Floats:
            return beta if name == "β" else 1 - np.abs(expected - beta) / 2

        for group in (*GROUPS, "all"):
            x = picked(items, of(items["beta"].to_numpy()), group)
            left = np.array([picked(items, of(beta), group).mean for beta in jackknife])
            raters = ((left - left.mean()) ** 2).sum() / 2
            total = x.variances.sum() + raters
            df = total**2 / ((x.variances**2 / [len(p) - 1 for p in x.parts]).sum() + raters**2)
            half = stats.t.ppf(0.975, df) * np.sqrt(total)
            estimate = row(summary, measure=f"mean {name}, raters sampled", group=group)
            ends = np.clip([x.mean - half, x.mean + half], -1 if name == "β" else 0, 1)
            fixed = numbers(row(summary, measure=f"mean {name}", group=group))[1:]  # which it holds
            ends = np.array([min(ends[0], fixed[0]), max(ends[1], fixed[1])])
            assert numbers(estimate) == pytest.approx([x.mean, *ends], abs=1e-9)
            assert estimate["how"].endswith(f"{df:.1f} df")


def test_ratings_moved(out: Path) -> None:
    """A twelfth of a group's ratings moved by ½ at random, inwards at the ends of the scale."""
    items, summary = read(out, "cloze", "bundled_modern")
    generator = np.random.default_rng(2)
    for group in GROUPS:
        kept = items.filter(group=group)
        probs, valences = (np.concatenate(lists(kept, name)) for name in ("probs", "valences"))
        rated = ~np.isnan(valences)
        probs, valences = probs[rated], valences[rated]
        estimate = row(summary, measure="mean β, ratings moved", group=group)
        moved = round(len(probs) / 12)
        assert estimate["how"].startswith(f"{moved} of {len(probs)} ratings moved")
        draws = np.empty(10_000)
        for i in range(len(draws)):
            chosen = generator.choice(len(probs), moved, replace=False)
            step = generator.choice([-0.5, 0.5], moved)
            step = np.where(np.abs(valences[chosen] + step) > 1, -step, step)
            draws[i] = kept["beta"].mean() + (probs[chosen] * step).sum() / len(kept)
        end(estimate["low"], draws, 0.025, 1000)
        end(estimate["high"], draws, 0.975, 1000)


def test_differences_between_models(out: Path) -> None:
    (items, _), (others, _) = (read(out, "cloze", m) for m in ("bundled_modern", "bundled_early-modern"))
    comparison = pl.read_parquet(out / "cloze" / "comparison.parquet")
    for name, column in (("β", "beta"), ("δ", "delta")):
        for group in (*GROUPS, "all"):
            x = picked(items, (items[column] - others[column]).to_numpy(), group)
            estimate = row(comparison, measure=f"difference of mean {name}", group=group)
            x.check(estimate, -2, 2)
            t = x.mean / x.error
            draws = x.draws()
            boot = 2 * min(np.mean(draws >= t), np.mean(draws <= t))
            normal = 2 * stats.t.sf(abs(t), x.df)
            if estimate["p"] != pytest.approx(normal, rel=1e-9):
                assert estimate["p"] > normal
                probability(estimate["p"], boot, more=RESAMPLES)
        holm(comparison.filter(pl.col("measure") == f"difference of mean {name}", pl.col("group") != "all"))
    assert rows(comparison, measure="difference of mean β", p_holm=np.nan)  # all sentences: in no family
