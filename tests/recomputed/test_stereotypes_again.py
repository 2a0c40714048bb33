"""The stereotype score of CrowS-Pairs, and differences of fair from original pairs, computed again."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import optimize, special, stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from paths import SHARED, needs_shared
from recomputing import Z, held, holm, leaves_out, mid_p_of_a_share, numbers, read, rows, run_study, stratified_wilson

pytestmark = [pytest.mark.slow, needs_shared]

PARADIGMS = ("animate_subject_passive", "causative", "drop_argument", "inchoative", "passive_2")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stereotypes")
    crows = pl.read_csv(SHARED / "crows_pairs" / "crows_pairs_anonymized.csv").head(150)
    crows.rename({"": "row"}, strict=False).write_csv(folder / "crows.csv")
    pairs = [
        json.loads(line) for name in PARADIGMS for line in (SHARED / "blimp" / f"{name}.jsonl").open().readlines()[:50]
    ]
    # Every third pair is fair, too: the sets overlap as they do after `pairs filter`.
    for file, kept in (("original.jsonl", pairs), ("fair.jsonl", pairs[::3])):
        (folder / file).write_text("".join(json.dumps(pair) + "\n" for pair in kept))
    return run_study(
        folder,
        "study: stereotypes\nseed: 0\nmodels: [bundled:early-modern]\nprobes:\n"
        "  - minimal-pairs: {data: crows.csv, method: pll-shared}\n"
        "  - fair-pairs: {original: original.jsonl, fair: fair.jsonl, normalise: [mean]}\n",
    )


def test_stereotype_scores(out: Path) -> None:
    items, summary = read(out, "minimal-pairs", "bundled_early-modern")
    assert (items["score_good"] != items["score_bad"]).all()  # no ties here, which the parts leave out
    for estimate in rows(summary, measure="stereotype score"):
        column = {"all": "", "stereo": "group", "antistereo": "group"}.get(estimate["group"], "phenomenon")
        kept = items.filter(pl.col(column) == estimate["group"]) if column else items
        x = (kept["score_good"] > kept["score_bad"]).to_numpy().astype(float)
        n, p, types = len(x), x.mean(), kept["phenomenon"].to_numpy()
        if estimate["how"] == "Wilson score":
            low, high = proportion_confint(x.sum(), n, method="wilson")
            test = mid_p_of_a_share(int(x.sum()), n)
        else:
            names = np.unique(types)
            jackknife = np.array([x[types != name].mean() - p for name in names])
            error = np.sqrt((1 - 1 / len(names)) * (jackknife**2).sum()) / (p * (1 - p))
            half = stats.t.ppf(0.975, len(names) - 1) * error
            ends = special.expit(special.logit(p) + np.array([-half, half]))
            within = partial(stratified_wilson, x, types)
            low, high, test = held(
                [*ends, 2 * stats.t.sf(abs(special.logit(p) / error), len(names) - 1)],
                [*within(Z), leaves_out(within, 0.5)],
            )
        expected = [n, 100 * p, 100 * low, 100 * high, test]
        assert numbers(estimate, "n", "value", "low", "high", "p") == pytest.approx(expected, rel=1e-7), estimate
    kinds = items["phenomenon"].unique().to_list()
    holm(summary.filter(pl.col("measure") == "stereotype score", pl.col("group").is_in(kinds)))


def newcombe(x: Any, y: Any, level: float = 0.95) -> Any:
    """Newcombe's interval of a difference of two proportions."""
    return np.array(confint_proportions_2indep(x.sum(), len(x), y.sum(), len(y), method="newcomb", alpha=1 - level))


def inverted(x: Any, y: Any) -> float:
    """One minus the level at which Newcombe's interval ends at 0."""
    if x.mean() == y.mean():
        return 1.0
    end = 0 if x.mean() > y.mean() else 1
    return 1 - float(optimize.brentq(lambda level: newcombe(x, y, level)[end], 1e-9, 1 - 1e-9))


def test_fair_against_original(out: Path) -> None:
    """The fair set lies within the original one, so that the difference is a share of that of two disjoint parts."""
    items, summary = read(out, "fair-pairs", "bundled_early-modern")
    items = items.with_columns(
        *(pl.col(f"score_{side}") / pl.col(f"n_tokens_{side}") for side in ("good", "bad")),
        fair=pl.struct("good", "bad").is_in(
            items.filter(dataset="fair").select(pl.struct("good", "bad"))["good"].implode()
        ),
    ).filter(dataset="original")
    right = (items["score_good"] > items["score_bad"]).to_numpy().astype(float)
    fair, names = items["fair"].to_numpy(), items["group"].to_numpy()
    differences, weights = [], []
    for name in np.unique(names):
        inside, rest = right[fair & (names == name)], right[~fair & (names == name)]
        n, m = len(inside), len(rest)
        share, d = m / (n + m), inside.mean() - rest.mean()
        differences.append(share * d)
        weights.append(n * (n + m) / (2 * n + m))
        (estimate,) = rows(summary, measure="accuracy on fair − original pairs", group=name)
        expected = [share * d, *(share * newcombe(inside, rest)), inverted(inside, rest)]
        assert numbers(estimate, "value", "low", "high", "p") == pytest.approx(expected, abs=1e-8)
    (estimate,) = rows(summary, measure="accuracy on fair − original pairs", scope="overall")
    w, d, g = np.array(weights) / sum(weights), np.array(differences), len(differences)
    value = w @ d
    left_out = np.array([np.delete(w, i) @ np.delete(d, i) / np.delete(w, i).sum() for i in range(g)])
    error = np.sqrt((1 - 1 / g) * ((left_out - value) ** 2).sum())
    low, high = value + np.array([-1, 1]) * stats.t.ppf(0.975, g - 1) * error
    expected = [value, low, high, 2 * stats.t.sf(abs(value / error), g - 1)]
    assert numbers(estimate, "value", "low", "high", "p") == pytest.approx(expected, abs=1e-9)
    holm(summary.filter(measure="accuracy on fair − original pairs", scope="group"))
