"""The normalisation `fitted`: its exponents against a plain loop, on other phenomena only, and in a study."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import penchant as pc
from answers import refused
from builders import Program, Zoo, write
from penchant.instruments.minimal_pairs.fitted_exponents import EXPONENT, GRID, with_exponents


def scored(seed: int, alpha: float, *, phenomena: int = 3, pairs: int = 60, one: bool = False) -> pl.DataFrame:
    """Pairs of six paradigms whose log p / |S|^alpha does not depend on |S|."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(6), pairs)
    tokens, step = rng.integers(5, 12, len(of)), rng.choice([-2, -1, 0, 0, 0, 1, 2], len(of))
    bad = rng.normal(-20, 3, len(of))
    good = bad + rng.normal(1.5, 3, len(of))
    return pl.DataFrame(
        {
            "dataset": ["d"] * len(of),
            "phenomenon": ["x"] * len(of) if one else [f"p{i % phenomena}" for i in of],
            "group": [f"g{i}" for i in of],
            "n_tokens_good": tokens + step,
            "n_tokens_bad": tokens,
            "score_good": good * (tokens + step) ** alpha,
            "score_bad": bad * tokens**alpha,
        }
    )


def exponent_by_loops(items: pl.DataFrame, level: str, left_out: str) -> float:
    """The exponent with the least bias on the pairs of other folds, by plain loops."""
    best = (float("inf"), 0.0)
    for alpha in GRID:
        credit: dict[tuple[str, int], list[float]] = defaultdict(list)
        for row in items.iter_rows(named=True):
            if row[level] == left_out:
                continue
            a, u = row["n_tokens_good"], row["n_tokens_bad"]
            gap = row["score_good"] / a**alpha - row["score_bad"] / u**alpha
            credit[row["group"], (a > u) - (a < u)].append(1.0 if gap > 0 else 0.5 if gap == 0 else 0.0)
        bias = 0.0
        for sign in (-1, 1):
            total = weight = 0.0
            for group in {group for group, _ in credit}:
                one, equal = credit.get((group, sign), []), credit.get((group, 0), [])
                if one and equal:
                    w = len(one) * len(equal) / (len(one) + len(equal))
                    total += w * (sum(one) / len(one) - sum(equal) / len(equal))
                    weight += w
            bias += abs(total / weight) if weight else 0.0
        best = min(best, (round(bias, 12), alpha))
    return best[1]


@pytest.mark.parametrize(("alpha", "one"), [(0.0, False), (0.4, False), (0.8, True)])
def test_exponents_are_those_of_a_plain_loop(alpha: float, one: bool) -> None:
    items = scored(1, alpha, one=one)
    found = with_exponents(items)
    level = "group" if one else "phenomenon"
    for name, part in found.group_by(level):
        assert part[EXPONENT].n_unique() == 1
        assert part[EXPONENT][0] == exponent_by_loops(items, level, str(name[0])), name


def test_an_exponent_does_not_depend_on_its_own_phenomenon_nor_on_the_order() -> None:
    items = scored(2, 0.4)
    found = with_exponents(items)
    own = pl.col("phenomenon") == "p1"
    changed = with_exponents(items.with_columns(score_good=pl.when(own).then(-1.0).otherwise("score_good")))
    assert changed.filter(own)[EXPONENT].to_list() == found.filter(own)[EXPONENT].to_list()
    turned = with_exponents(items.with_row_index("i").reverse()).sort("i").drop("i")
    assert turned.equals(found)


def test_the_exponent_at_which_length_does_not_matter_is_found() -> None:
    for alpha in (0.2, 0.6):
        found = with_exponents(scored(3, alpha, pairs=2_000))[EXPONENT]
        assert found.is_between(alpha - 0.1, alpha + 0.1).all(), (alpha, found.unique())


def test_a_study_reports_it_beside_the_others(zoo: Zoo, tmp_path: Path) -> None:
    nouns, verbs = ["teacher", "old teacher", "dog", "old dog"], ["saw the dog", "bought the small book", "never saw"]
    rows = [
        {"good": f"The {noun} {one}.", "bad": f"The {noun} {other}.", "group": f"g{i % 2}"}
        for i, (noun, one, other) in enumerate((n, a, b) for n in nouns for a in verbs for b in verbs if a != b)
    ]
    lm = pc.load(zoo("gpt2"))
    found = pc.MinimalPairs(pl.DataFrame(rows), normalise=["fitted", "none"]).run(lm)
    items = found.items
    length = {role: items[f"n_tokens_{role}"].to_numpy() for role in ("good", "bad")}
    score = {role: items[f"score_{role}"].to_numpy() / length[role] ** items[EXPONENT].to_numpy() for role in length}
    right = np.where(score["good"] == score["bad"], 0.5, score["good"] > score["bad"])
    summary = found.summary.filter(measure="accuracy", scope="overall", split="all")
    assert summary.filter(normalise="fitted")["value"].item() == pytest.approx(right.mean(), abs=1e-12)
    equal = found.summary.filter(measure="accuracy", scope="overall", split="A=U")
    assert equal["value"].n_unique() == 1  # no exponent changes the order of sentences of equal length
    again = pc.MinimalPairs.of(found.settings)
    assert list(again.normalisations()) == ["fitted", "none"]


def test_one_paradigm_is_refused(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    write(tmp_path / "pairs.csv", "good,bad\nThe dog saw.,The dog see.\nThe dog.,The dogs.\n")
    probe = {"minimal-pairs": {"data": "pairs.csv", "normalise": ["fitted"]}}
    write(tmp_path / "s.yaml", {"study": "s", "models": [str(zoo("gpt2"))], "probes": [probe]})
    refused(penchant("run", "s.yaml", "-o", "out"), "fitted", "two paradigms")
