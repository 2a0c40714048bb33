"""Every kind of number of the cloze, computed again from the items by scipy and numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from recomputing import Floats, end, holm, numbers, read, row, run_study

pytestmark = pytest.mark.slow

GROUPS = ("early", "modern", "neutral")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_study(
        tmp_path_factory.mktemp("cloze"),
        "study: cloze\nseed: 0\nmodels: [bundled:modern, bundled:early-modern]\n"
        "probes: [cloze: {data: early-modern-60}]\n",
    )


def lists(items: pl.DataFrame, name: str) -> list[Floats]:
    return [np.array([np.nan if v is None else v for v in cell], float) for cell in items[name]]


def test_beta_delta_and_rated_share(out: Path) -> None:
    for model in ("bundled_modern", "bundled_early-modern"):
        items, _ = read(out, "cloze", model)
        words = list(zip(lists(items, "probs"), lists(items, "valences"), strict=True))
        beta = np.array([np.nansum(p * v) for p, v in words])
        np.testing.assert_allclose(items["beta"], beta, atol=1e-12)
        np.testing.assert_allclose(items["delta"], 1 - np.abs(items["expected"].to_numpy() - beta) / 2, atol=1e-12)
        np.testing.assert_allclose(items["rated_share"], [p[~np.isnan(v)].sum() for p, v in words], atol=1e-12)


class Strata:
    """Values of sentences within fixed groups: mean and its error."""

    def __init__(self, x: Floats, group: Floats) -> None:
        self.parts = [x[group == name] for name in np.unique(group)]
        self.share = np.array([len(part) for part in self.parts]) / len(x)
        self.mean = x.mean()
        self.variances = self.share**2 * [part.var(ddof=1) / len(part) for part in self.parts]
        self.error = np.sqrt(self.variances.sum())
        # Satterthwaite's: groups may vary by very different amounts.
        self.df = self.error**4 / (self.variances**2 / [len(part) - 1 for part in self.parts]).sum()

    def check(self, estimate: dict[str, Any], lowest: float, highest: float) -> None:
        """The t interval, within the scale."""
        half = stats.t.ppf(0.975, self.df) * self.error
        ends = np.clip([self.mean - half, self.mean + half], lowest, highest)
        assert numbers(estimate) == pytest.approx([self.mean, *ends], abs=1e-12)


def picked(items: pl.DataFrame, x: Floats, group: str) -> Strata:
    names = items["group"].to_numpy()
    kept = np.isin(names, GROUPS if group == "all" else [group])
    return Strata(x[kept], names[kept])


def test_means_over_sentences(out: Path) -> None:
    items, summary = read(out, "cloze", "bundled_modern")
    columns = ("mean β", "beta", -1), ("mean δ", "delta", 0), ("mean rated share", "rated_share", 0)
    for measure, column, low in columns:
        for group in (*GROUPS, "all"):
            estimate = row(summary, measure=measure, group=group)
            assert estimate["how"].startswith("t interval over ")
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


def effective_raters(items: pl.DataFrame) -> float:
    """Kish's number of raters, by the probability of the words that each of them judged."""
    judged = np.zeros(2)
    for probs, raters in zip(lists(items, "probs"), items["raters"], strict=True):
        for p, who in zip(probs, raters, strict=True):
            for rater in set([] if who is None else who):
                judged[rater] += p
    return float(judged.sum() ** 2 / (judged**2).sum())


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
            number = effective_raters(items.filter(pl.col("group").is_in(GROUPS if group == "all" else [group])))
            df = total**2 / ((x.variances**2 / [len(p) - 1 for p in x.parts]).sum() + raters**2 / (number - 1))
            half = stats.t.ppf(0.975, df) * np.sqrt(total)
            estimate = row(summary, measure=f"mean {name}, for other raters too", group=group)
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
        estimate = row(summary, measure="mean β, if raters were off by half a point", group=group)
        moved = round(len(probs) / 12)
        assert estimate["how"].startswith(f"{moved} of {len(probs)} ratings changed")
        draws = np.empty(10_000)
        for i in range(len(draws)):
            chosen = generator.choice(len(probs), moved, replace=False)
            step = generator.choice([-0.5, 0.5], moved)
            step = np.where(np.abs(valences[chosen] + step) > 1, -step, step)
            draws[i] = kept["beta"].mean() + (probs[chosen] * step).sum() / len(kept)
        end(estimate["low"], draws, 0.025)
        end(estimate["high"], draws, 0.975)


def test_differences_between_models(out: Path) -> None:
    (items, _), (others, _) = (read(out, "cloze", m) for m in ("bundled_modern", "bundled_early-modern"))
    comparison = pl.read_parquet(out / "cloze" / "comparison.parquet")
    for name, column in (("β", "beta"), ("δ", "delta")):
        for group in (*GROUPS, "all"):
            x = picked(items, (items[column] - others[column]).to_numpy(), group)
            estimate = row(comparison, measure=f"difference of mean {name}", group=group)
            x.check(estimate, -2, 2)
            assert estimate["p"] == pytest.approx(2 * stats.t.sf(abs(x.mean / x.error), x.df), rel=1e-9)
        holm(comparison.filter(pl.col("measure") == f"difference of mean {name}", pl.col("group") != "all"))
    alone = comparison.filter(pl.col("measure") == "difference of mean β", pl.col("p_holm").is_null())
    assert alone["group"].to_list() == ["all"]  # all sentences: in no family
