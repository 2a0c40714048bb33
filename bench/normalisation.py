"""Compare ways to make the scores of minimal pairs independent of token length: docs/normalisation.csv.

usage: python bench/normalisation.py --result DIR UNIGRAMS.parquet … -o docs/normalisation.csv [--people FILE]

DIR has a study of minimal pairs with one model, and UNIGRAMS the frequencies of its tokens (penchant corpus unigrams);
models are compared on the pairs that both were given. FILE has the accuracies of people: BLiMP's
human_validation_summary.csv.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
import scipy.stats
from numpy.typing import NDArray

from penchant.engine.unigrams import KEY
from penchant.instruments.minimal_pairs.fitted_exponents import GRID, length_bias, split_sums
from penchant.records import Estimate
from penchant.stats.intervals import clustered_mean, clustered_ratio
from penchant.stats.length_adjustment import fit, length_slope
from penchant.study.read_results import read_outcome

Array: TypeAlias = NDArray[np.float64]
PLAIN = ("none", "mean", "pen", "slln", "slor", "word", "character", "lp − log u")
"""Scores without free parameters."""
FITTED = ("slln, α fitted", "pen, α fitted", "MORCELA form, β and γ fitted")
GRIDS: Mapping[str, Sequence[tuple[float, ...]]] = {
    "slln, α fitted": [(alpha,) for alpha in GRID],
    "pen, α fitted": [(round(a, 2),) for a in np.arange(0, 2.01, 0.05)],
    "MORCELA form, β and γ fitted": [
        (round(b, 2), float(c)) for b, c in product(np.arange(0, 1.21, 0.1), (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50))
    ],
}
"""The values of the parameters that are tried."""


@dataclass(frozen=True)
class Sides:
    """One sentence of each pair: log-probability, tokens, unigram log-probability, words, characters; each (pairs,)."""

    lp: Array
    tokens: Array
    unigram: Array
    words: Array
    characters: Array

    def score(self, how: str, parameters: tuple[float, ...] = ()) -> Array:
        """Return the scores of the sentences."""
        if how == "slln, α fitted":
            return self.lp / self.tokens ** parameters[0]
        if how == "pen, α fitted":
            return self.lp / ((5 + self.tokens) / 6) ** parameters[0]
        if how == "MORCELA form, β and γ fitted":
            return (self.lp - parameters[0] * self.unigram + parameters[1]) / self.tokens
        return {
            "none": self.lp,
            "mean": self.lp / self.tokens,
            "pen": self.lp / ((5 + self.tokens) / 6) ** 0.8,
            "slln": self.lp / self.tokens**0.5,
            "slor": (self.lp - self.unigram) / self.tokens,
            "word": self.lp / self.words,
            "character": self.lp / self.characters,
            "lp − log u": self.lp - self.unigram,
        }[how]


@dataclass(frozen=True)
class Pairs:
    """The pairs of a data set under one model: both sentences, |A|−|U|, paradigm and phenomenon."""

    good: Sides
    bad: Sides
    difference: Array
    paradigm: NDArray[np.str_]
    phenomenon: NDArray[np.str_]
    ids: NDArray[np.str_]

    def credits(self, how: str, parameters: tuple[float, ...] = ()) -> Array:
        """Return 1 for each pair whose acceptable sentence has the higher score, ½ for a tie, else 0."""
        gap = self.good.score(how, parameters) - self.bad.score(how, parameters)
        return np.where(np.abs(gap) < 1e-9, 0.5, gap > 0).astype(np.float64)

    def fitted(self, how: str) -> tuple[Array, dict[str, tuple[float, ...]]]:
        """Return the credits by a score whose parameters are fitted on the other phenomena, and those parameters.

        Fitted are the values for which the differences of accuracy from pairs of equal length are smallest: the sum
        of their absolute values over A>U and A<U, each pooled within paradigms.
        """
        strata, of = np.unique(self.paradigm, return_inverse=True)
        sign = np.sign(self.difference)
        tables = [split_sums(self.credits(how, each), sign, of, len(strata)) for each in GRIDS[how]]
        fold_of = dict(zip(of.tolist(), self.phenomenon.tolist(), strict=True))
        credits, chosen = np.empty(len(of)), {}
        for name in np.unique(self.phenomenon):
            others = np.array([fold_of[stratum] != name for stratum in range(len(strata))])
            chosen[str(name)] = GRIDS[how][int(np.argmin([length_bias(table[others]) for table in tables]))]
            inside = self.phenomenon == name
            credits[inside] = self.credits(how, chosen[str(name)])[inside]
        return credits, chosen


def contrast(values: Array, side: NDArray[np.bool_], groups: NDArray[np.str_]) -> Estimate:
    """Return the mean of `values` on one side minus the other, within groups, for groups like these."""
    gaps, weights = [], []
    for group in np.unique(groups):
        one, other = (values[(groups == group) & each] for each in (side, ~side))
        if len(one) and len(other):
            gaps.append(one.mean() - other.mean())
            weights.append(len(one) * len(other) / (len(one) + len(other)))
    gap, weight = np.array(gaps), np.array(weights)
    return clustered_ratio(Estimate("", 0.0, len(values)), weight * gap, weight, "paradigms")


def sides(items: pl.DataFrame, role: str, unigram: Array) -> Sides:
    """Return the sentences of a role from the items of a result."""
    texts = items[role]
    words = [len(re.findall(r"\w+(?:['’]\w+)*", text)) for text in texts]
    return Sides(
        items[f"score_{role}"].to_numpy(),
        items[f"n_tokens_{role}"].to_numpy().astype(np.float64),
        unigram,
        np.array(words, dtype=np.float64),
        texts.str.len_chars().to_numpy().astype(np.float64),
    )


def unigram_sums(file: Path, tokens: pl.Series) -> Array:
    """Return the unigram log-probability of each list of tokens, with Laplace smoothing as in penchant's slor."""
    table = pl.read_parquet(file)
    vocabulary = int(json.loads(pl.read_parquet_metadata(file)[KEY])["vocabulary"])
    total = table["count"].sum() + vocabulary
    known = {token: np.log((count + 1) / total) for token, count in table.select("token", "count").iter_rows()}
    return np.array([sum(known.get(token, -np.log(total)) for token in each) for each in tokens.to_list()])


def pairs_of(items: pl.DataFrame, unigrams: Path) -> Pairs:
    """Return the pairs in the items of a result."""
    good, bad = (sides(items, role, unigram_sums(unigrams, items[f"tokens_{role}"])) for role in ("good", "bad"))
    names = (items[name].cast(pl.String).to_numpy().astype(str) for name in ("group", "phenomenon", "id"))
    return Pairs(good, bad, items["difference"].to_numpy().astype(np.float64), *names)


def of_score(pairs: Pairs, credits: Array, people: Mapping[str, float]) -> Iterator[tuple[str, Estimate]]:
    """Yield what is known of a score: accuracies, gaps, slope on |A|−|U|, and agreement with people by paradigm."""
    equal, paradigm = pairs.difference == 0, pairs.paradigm
    yield "accuracy", clustered_mean(credits, paradigm.tolist(), proportion=True)
    yield "accuracy A=U", clustered_mean(credits[equal], paradigm[equal].tolist(), proportion=True)
    for name, inside in (("A>U", pairs.difference > 0), ("A<U", pairs.difference < 0)):
        kept = inside | equal
        yield f"gap {name}", contrast(credits[kept], inside[kept], paradigm[kept])
    strata = paradigm.tolist()
    yield "slope", length_slope(fit(credits, pairs.difference, strata=strata, clusters=strata))
    known = [name for name in np.unique(paradigm) if name in people]
    if len(known) > 3:
        means = [credits[paradigm == name].mean() for name in known]
        yield "people", rank_correlation(means, [people[name] for name in known])


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> Estimate:
    """Return Spearman's correlation with the interval of Bonett & Wright (2000)."""
    r = float(scipy.stats.spearmanr(x, y).statistic)
    reach = 1.959964 * np.sqrt((1 + r**2 / 2) / (len(x) - 3))
    low, high = np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach)
    return Estimate("", r, len(x), float(low), float(high))


def rows(models: Mapping[str, Pairs], people: Mapping[str, float]) -> Iterator[dict[str, object]]:
    """Yield the rows of the table: by model and score, and for two models how their difference moves with tokens."""
    by_score: dict[str, list[Array]] = {}
    for model, pairs in models.items():
        for how in (*PLAIN, *FITTED):
            credits, chosen = pairs.fitted(how) if how in FITTED else (pairs.credits(how), {})
            by_score.setdefault(how, []).append(credits)
            told = json.dumps(chosen) if chosen else ""
            for measure, found in of_score(pairs, credits, people):
                yield {"model": model, "score": how, "measure": measure, **numbers(found), "fitted": told}
    if len(models) == 2:
        first, second = models.values()
        _, own, others = np.intersect1d(first.ids, second.ids, return_indices=True)
        unequal = (first.difference[own] != 0) | (second.difference[others] != 0)
        paradigm = first.paradigm[own]
        for how, (one, other) in by_score.items():
            gain = one[own] - other[others]
            measures = {
                "accuracy": clustered_mean(gain, paradigm.tolist()),
                "unequal minus equal": contrast(gain, unequal, paradigm),
            }
            for measure, found in measures.items():
                yield {"model": " − ".join(models), "score": how, "measure": measure, **numbers(found), "fitted": ""}


def numbers(found: Estimate) -> dict[str, object]:
    """Return value, interval and n of an estimate."""
    return {"value": found.value, "low": found.low, "high": found.high, "n": found.n}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--result", type=Path, nargs=2, action="append", required=True)
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--people", type=Path)
    given = parser.parse_args()
    people: dict[str, float] = {}
    if given.people is not None:
        table = pl.read_csv(given.people)
        people = dict(table.select("Condition", "total_mean").iter_rows())
    models: dict[str, Pairs] = {}
    for directory, unigrams in given.result:
        outcome = read_outcome(directory)
        result = next(result for (place, _), result in outcome.results.items() if place == "minimal-pairs")
        name = result.signature["model"]
        models[outcome.labels.get(name, name)] = pairs_of(result.items, unigrams)
    found = list(rows(models, people))
    pl.DataFrame(found).with_columns(pl.col("value", "low", "high").round(6)).write_csv(given.out)


if __name__ == "__main__":
    main()
