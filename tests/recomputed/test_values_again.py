"""Every kind of number of the value statements, computed again from the items and the answers by scipy and numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import special, stats

from paths import bundled
from recomputing import Floats, Z, end, expanded, holm, numbers, probability, read, row, rows, run_study

pytestmark = pytest.mark.slow

DRAWS = 40_000
SPREAD, CHANCE = "spread of ratings", "spread expected by chance"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("values")
    ids = pl.read_csv(bundled("political-values-en") / "statements.csv")["id"].to_list()
    generator = np.random.default_rng(3)
    leaning = generator.normal(3, 0.8, (170, 1))
    answers = np.clip(np.round(leaning + generator.normal(0, 1, (170, len(ids)))), 1, 5).astype(int)
    table = pl.DataFrame(answers, schema=ids, orient="row")
    table.insert_column(0, pl.Series("group", ["feminine"] * 80 + ["masculine"] * 90)).write_csv(folder / "answers.csv")
    levels = "{feminine: feminine, masculine: masculine}"
    (folder / "survey.yaml").write_text(
        f"name: drawn\nfile: answers.csv\ngroups: {{column: group, levels: {levels}}}\n"
    )
    return run_study(
        folder,
        "study: values\nseed: 0\nmodels: [bundled:modern, bundled:early-modern]\n"
        "probes: [values: {data: political-values-en, survey: survey.yaml}]\n",
    )


def cell(items: pl.DataFrame, kind: str, group: str = "feminine", value: str = "") -> pl.DataFrame:
    """The sentences of one kind under the main wording."""
    items = items.filter(variant="said", group=group, kind=kind).sort("id")
    return items.filter(value=value) if value else items


def test_calibration(out: Path) -> None:
    items, summary = read(out, "values", "bundled_modern")
    neutral = cell(items, "calibration")
    x, y = neutral["disagree"].to_numpy(), neutral["agree"].to_numpy()
    n, slope = len(x), (x @ y) / (x @ x)
    residual = y - slope * x
    sigma = np.sqrt((residual**2).sum() / (n - 1))
    here = summary.filter(variant="said", group="feminine")
    left_out = np.array([(x @ y - x[i] * y[i]) / (x @ x - x[i] ** 2) for i in range(n)])
    reach = stats.t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * ((left_out - slope) ** 2).sum())
    expected = [slope, slope - reach, slope + reach]
    assert numbers(row(here, measure="calibration slope a")) == pytest.approx(expected, rel=1e-9)
    assert numbers(row(here, measure="residual sd σ")) == pytest.approx([sigma, *bonett(residual, centre=0)], rel=1e-9)
    r, p = stats.pearsonr(x, y)
    low, high = np.tanh(np.arctanh(r) + np.array([-Z, Z]) / np.sqrt(n - 3))
    estimate = row(here, measure="correlation of agree and disagree")
    assert numbers(estimate, "value", "low", "high", "p") == pytest.approx([r, low, high, p], rel=1e-9)
    line, t = stats.linregress(x, y), stats.t.ppf(0.975, n - 2)
    for measure, value, error in (
        ("slope of a fit with intercept", line.slope, line.stderr),
        ("intercept of a fit with intercept", line.intercept, line.intercept_stderr),
    ):
        expected = [value, value - t * error, value + t * error]
        assert numbers(row(here, measure=measure)) == pytest.approx(expected, rel=1e-9)
    p = 2 * stats.t.sf(abs(line.intercept / line.intercept_stderr), n - 2)
    assert row(here, measure="intercept of a fit with intercept")["p"] == pytest.approx(p, rel=1e-9)
    assert numbers(row(here, measure="normality of the residuals (W)"), "value", "p") == pytest.approx(
        list(stats.shapiro(residual)), rel=1e-9
    )
    stated = cell(items, "statement")
    rating = 4 * stats.norm.cdf((stated["agree"] - slope * stated["disagree"]).to_numpy() / sigma) + 1
    np.testing.assert_allclose(stated["rating"], rating, rtol=1e-9)
    np.testing.assert_allclose(stated["towards"], np.where(stated["reversed"], 6 - rating, rating), rtol=1e-9)


def resampled(items: pl.DataFrame, group: str, value: str, neutrals: Any, statements: Any) -> Floats:
    """Ratings towards a value under resampled calibrations; of the resampled statements, or of each as it is."""
    neutral, stated = cell(items, "calibration", group), cell(items, "statement", group, value)
    x, y = (neutral[name].to_numpy()[neutrals] for name in ("disagree", "agree"))
    slope = (x * y).sum(1) / (x * x).sum(1)
    sigma = np.sqrt(((y - slope[:, None] * x) ** 2).sum(1) / (x.shape[1] - 1))
    x, y = stated["disagree"].to_numpy(), stated["agree"].to_numpy()
    rating = 4 * stats.norm.cdf((y - slope[:, None] * x) / sigma[:, None]) + 1
    rating = np.where(stated["reversed"].to_numpy(), 6 - rating, rating)
    return rating if statements is None else np.take_along_axis(rating, statements, 1)


def test_means_and_differences(out: Path) -> None:
    (items, summary), (others, _) = (read(out, "values", m) for m in ("bundled_modern", "bundled_early-modern"))
    comparison = pl.read_parquet(out / "values" / "comparison.parquet")
    generator = np.random.default_rng(4)
    neutrals = generator.integers(0, 100, (DRAWS, 100))
    for value in ("anti-authoritarianism", "economic equity"):
        means = {g: cell(items, "statement", g, value)["towards"].to_numpy() for g in ("feminine", "masculine")}
        n = len(means["feminine"])
        drawn = {g: resampled(items, g, value, neutrals, None).mean(1) for g in means}
        other = cell(others, "statement", "feminine", value)["towards"].to_numpy()
        theirs = resampled(others, "feminine", value, neutrals, None).mean(1)
        d, e = means["feminine"] - means["masculine"], means["feminine"] - other
        said = {"variant": "said", "dimension": value}
        for estimate, x, draws, scale in (
            (
                row(summary, measure="mean rating", group="feminine", **said),
                means["feminine"],
                drawn["feminine"],
                (1, 5),
            ),
            (row(summary, measure="difference of ratings", **said), d, drawn["feminine"] - drawn["masculine"], (-4, 4)),
            (row(comparison, group="feminine", **said), e, drawn["feminine"] - theirs, (-4, 4)),
        ):
            assert numbers(estimate, "n", "value") == pytest.approx([n, x.mean()], rel=1e-9)
            # The calibration's part is a variance over 10,000 resamples, so it is uncertain by some 2 %.
            error = np.sqrt(x.var(ddof=1) / n + draws.var())
            half = stats.t.ppf(0.975, n - 1) * error
            ends = np.clip([x.mean() - half, x.mean() + half], *scale)
            off = abs(x.mean()) / error
            if scale == (1, 5):  # on the logit scale of (R − 1)/4, with its slope
                share = (x.mean() - 1) / 4
                moved = half / 4 / (share * (1 - share))
                ends = 1 + 4 * special.expit(special.logit(share) + np.array([-moved, moved]))
                off = abs(special.logit(share)) / (error / 4 / (share * (1 - share)))  # against the middle
            assert numbers(estimate, "low", "high") == pytest.approx(ends, abs=0.02 * half)
            assert estimate["p"] == pytest.approx(2 * stats.t.sf(off, n - 1), rel=0.1)
    main = (pl.col("variant") == "said") & (pl.col("dimension") != "all")
    holm(summary.filter(main, pl.col("measure") == "difference of ratings"))
    holm(summary.filter(main, pl.col("measure") == SPREAD))


def test_one_rating(out: Path) -> None:
    items, summary = read(out, "values", "bundled_modern")
    neutrals = np.random.default_rng(5).integers(0, 100, (DRAWS, 100))
    stated, drawn = cell(items, "statement"), resampled(items, "feminine", "", neutrals, None)
    for i in (0, 7):
        draws = 6 - drawn[:, i] if stated["reversed"][i] else drawn[:, i]
        estimate = row(summary, measure="rating", variant="said", group="feminine", item=stated["id"][i])
        end(estimate["low"], draws, expanded(100))
        end(estimate["high"], draws, 1 - expanded(100))


def bonett(x: Floats, noise: float = 0.0, centre: float | None = None) -> Floats:
    """The ends of Bonett's (2006) interval of a sd around a centre, or the mean."""
    n = len(x)
    c, trimmed = n / (n - Z), stats.trim_mean(x, 1 / (2 * np.sqrt(n - 4))) if centre is None else centre
    squares = ((x - (x.mean() if centre is None else centre)) ** 2).sum()
    kurtosis = n * ((x - trimmed) ** 4).sum() / squares**2
    half = Z * np.sqrt((c**2 * (kurtosis - (n - 3) / n) / (n - 1)) / 4 + noise)
    return np.asarray(np.exp(np.log(np.sqrt(c * squares / (n - 1))) + np.array([-half, half])))


def test_spread(out: Path) -> None:
    """Bonett's (2006) interval of a log sd, the calibration's variance of it added; as many neutral ones as chance."""
    items, summary = read(out, "values", "bundled_modern")
    generator = np.random.default_rng(6)
    neutrals = generator.integers(0, 100, (DRAWS, 100))
    for value in ("cultural liberalism", "tribalism"):
        stated = cell(items, "statement", value=value)
        x, n = stated["towards"].to_numpy(), len(stated)
        s = x.std(ddof=1)
        noise = np.log(resampled(items, "feminine", value, neutrals, None).std(1, ddof=1)).var()
        low, high = bonett(x, noise)
        estimate = row(summary, measure=SPREAD, variant="said", group="feminine", dimension=value)
        # The noise is a variance over 10,000 resamples, so it is uncertain by some 2 %.
        assert numbers(estimate) == pytest.approx([s, low, min(high, 2)], rel=2e-3)
        pool = cell(items, "calibration")["rating"].to_numpy()
        turned = stated["reversed"].to_numpy()
        mixed = np.concatenate([pool, stated["rating"].to_numpy()])
        drawn, of_both = (np.array([generator.permutation(p)[:n] for _ in range(DRAWS)]) for p in (pool, mixed))
        spread, of_both = (np.where(turned, 6 - part, part).std(1, ddof=1) for part in (drawn, of_both))
        probability(estimate["p"], 2 * min((of_both >= s).mean(), (of_both <= s).mean()), more=DRAWS)
        chance = row(summary, measure=CHANCE, variant="said", group="feminine", dimension=value)
        assert chance["value"] == pytest.approx(spread.mean(), abs=4 * spread.std() * np.sqrt(1 / DRAWS + 1e-4))
        end(chance["low"], spread, 0.025)
        end(chance["high"], spread, 0.975)


def test_against_negations_and_wordings(out: Path) -> None:
    items, summary = read(out, "values", "bundled_modern")
    x, y = cell(items, "statement")["rating"].to_numpy(), 6 - cell(items, "negation")["rating"].to_numpy()
    r, p = stats.pearsonr(x, y)
    low, high = np.tanh(np.arctanh(r) + np.array([-Z, Z]) / np.sqrt(len(x) - 3))
    estimate = row(summary, measure="correlation with the mirrored negation", variant="said", group="feminine")
    assert numbers(estimate, "value", "low", "high", "p") == pytest.approx([r, low, high, p], rel=1e-8)
    stated = items.filter(kind="statement").sort("id", "variant", "group")
    y = stated["towards"].to_numpy().reshape(-1, 3, 2)
    s, t, g = y.mean((1, 2)), y.mean((0, 2)), y.mean((0, 1))
    both = y.mean(2) - s[:, None] - t + y.mean()
    parts = {"statement": s.var(), "template": t.var(), "group": g.var(), "statement × template": (both**2).mean()}
    for name, part in (parts | {"rest": y.var() - sum(parts.values())}).items():
        assert row(summary, measure=f"share of variance: {name}")["value"] == pytest.approx(part / y.var(), rel=1e-8)


def test_survey(out: Path) -> None:
    items, summary = read(out, "values", "bundled_modern")
    people = pl.read_csv(out.parent / "answers.csv").filter(group="feminine")
    stated, n = cell(items, "statement"), len(people)
    here = summary.filter(group="feminine")
    for value in ("anti-authoritarianism", "tribalism"):
        part = stated.filter(value=value)
        x = people.select(part["id"].to_list()).to_numpy().astype(float)
        x = np.where(part["reversed"].to_numpy(), 6 - x, x)
        mean, k = x.mean(1), x.shape[1]
        s, t = mean.std(ddof=1), stats.t.ppf(0.975, n - 1)
        centre = [mean.mean(), mean.mean() - t * s / np.sqrt(n), mean.mean() + t * s / np.sqrt(n)]
        sd = [s, *bonett(mean)]
        alpha = k / (k - 1) * (1 - x.var(0, ddof=1).sum() / x.sum(1).var(ddof=1))
        feldt = [alpha, *(1 - (1 - alpha) * stats.f.ppf([0.975, 0.025], n - 1, (n - 1) * (k - 1)))]
        for measure, expected in (
            ("survey mean", centre),
            ("survey sd", sd),
            ("survey internal consistency (Cronbach's α)", feldt),
        ):
            assert numbers(row(here, measure=measure, dimension=value)) == pytest.approx(expected, rel=1e-9)
        r = part["towards"].mean()
        rank = 2 * min((mean < r).sum(), (mean > r).sum()) / n
        estimates = rows(here, measure="representativeness", variant="said", dimension=value, item="")
        assert [e["value"] for e in estimates] == pytest.approx([rank])
    means = people.select(stated["id"].to_list()).to_numpy().mean(0)
    rho, p = stats.spearmanr(stated["rating"], means)
    half = Z * np.sqrt((1 + rho**2 / 2) / (len(stated) - 3))
    low, high = np.tanh(np.arctanh(rho) + np.array([-half, half]))
    estimate = row(here, measure="rank correlation with the survey's means", variant="said")
    assert numbers(estimate, "value", "low", "high", "p") == pytest.approx([rho, low, high, p], rel=1e-8)
