"""People's judgements of pairs: how tables are read and refused, estimates worked by hand, and what a report says."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pair_results
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_results import kinds, numbers, scored, verdicts
from scipy import stats

import penchant as pc
from answers import Answer, refused
from penchant.errors import DataError, StudyError
from penchant.instruments.minimal_pairs import human_estimates
from penchant.instruments.minimal_pairs.data import PairSet, read_many
from penchant.instruments.minimal_pairs.fixed_group_estimates import MEAN
from penchant.instruments.minimal_pairs.human_estimates import (
    AGAINST_MAJORITY,
    CEILING,
    CORRELATIONS,
    HUMAN_ACCURACY,
    JUDGED_ACCURACY,
    MINUS_PEOPLE,
)
from penchant.instruments.minimal_pairs.human_judgements import JUDGED, read_judgements
from penchant.instruments.minimal_pairs.instrument import MINIMAL_PAIRS
from penchant.instruments.registry import placed
from penchant.records import Estimate
from penchant.study.read_results import read_outcome

Program = Callable[..., Answer]
Table = list[dict[str, Any]]

# Reading ------------------------------------------------------------------------------------------------------------


def csv_file(path: Path, rows: Table) -> Path:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), "utf-8")
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> list[PairSet]:
    """Two files, of which both have a pair b."""
    one = [{"id": id_, "good": f"The {id_} sleeps.", "bad": f"The {id_} sleep."} for id_ in "ab"]
    two = [{"id": id_, "good": f"The {id_} sings.", "bad": f"The {id_} sing."} for id_ in "bc"]
    return read_many([csv_file(tmp_path / "one.csv", one), csv_file(tmp_path / "two.csv", two)])


def test_choices_and_ratings_become_numbers(pairs: list[PairSet], tmp_path: Path) -> None:
    rows: Table = [
        {"pair": "a", "rater": "Zoë", "choice": "good", "dataset": "", "good": "The a sleeps."},
        {"pair": "a", "rater": "Ann", "choice": " Bad", "dataset": "one", "good": "The a sleeps."},
        {"pair": "b", "rater": "Ann", "choice": "good", "dataset": "two", "good": ""},
        {"pair": "c", "rater": "Ann", "choice": "", "dataset": "", "good": ""},
    ]
    found = read_judgements([csv_file(tmp_path / "choices.csv", rows)], pairs)
    assert (found.kind, found.raters) == ("choices", ("Ann", "Zoë"))
    assert found.of == {("one", "a"): ((0, -1.0), (1, 1.0)), ("two", "b"): ((0, 1.0),)}
    assert found.cautions == ("judgements: 1 of 4 rows is empty and left out",)

    text = "pair;rater;rating_good;rating_bad\na;Ann;6,5;2\nc;Ann;1;\nc;Ben;1;3\n"  # as Excel writes in half of Europe
    (tmp_path / "ratings.csv").write_text(text, "utf-8")
    found = read_judgements([tmp_path / "ratings.csv"], pairs)
    assert (found.kind, found.of) == ("ratings", {("one", "a"): ((0, 4.5),), ("two", "c"): ((1, -2.0),)})
    unchecked, empty = found.cautions
    assert empty == "judgements: 1 of 3 rows is empty, 1 of them with only one of the two ratings and left out"
    assert unchecked.startswith(
        "judgements: ratings.csv names pairs only by id, so that changed sentences go unnoticed"
    )


def test_pairs_with_another_name_are_found_by_their_sentences(pairs: list[PairSet], tmp_path: Path) -> None:
    """As a subset has them: in a file of another name, numbered anew."""
    one, two = "The a sleeps.", "The c sings."
    rows: Table = [
        {"pair": "1", "rater": "r", "choice": "good", "dataset": "some", "good": one, "bad": "The a sleep."},
        {"pair": "2", "rater": "r", "choice": "bad", "dataset": "some", "good": two, "bad": "The c sing."},
        {"pair": "b", "rater": "s", "choice": "good", "dataset": "one", "good": one, "bad": "The a sleep."},
        {"pair": "c", "rater": "s", "choice": "good", "dataset": "two", "good": two, "bad": "The c sing."},
    ]
    found = read_judgements([csv_file(tmp_path / "j.csv", rows)], pairs)
    assert found.of == {("one", "a"): ((0, 1.0), (1, 1.0)), ("two", "c"): ((0, -1.0), (1, 1.0))}
    assert found.cautions == ("judgements: 3 of 4 rows were matched by their two sentences instead of the pair's id",)
    for change in ({"bad": "The c sang."}, {"bad": ""}):  # not the pair any more, or not known to be it
        with pytest.raises(DataError, match=r"there is no file of pairs called 'some' — .* or give both sentences"):
            read_judgements([csv_file(tmp_path / "j.csv", [rows[1] | change])], pairs)
    twice = csv_file(tmp_path / "j.csv", [rows[0], rows[0] | {"pair": "a", "dataset": ""}])
    with pytest.raises(DataError, match="line 3, field 'pair': r has already judged pair a"):
        read_judgements([twice], pairs)


HEADS = {"choice": "pair,rater,choice,dataset,bad", "rating": "pair,rater,choice,rating_good,rating_bad"}
BAD = {
    "unknown pair": ("choice", "z,r,good,,", "line 2, field 'pair': there is no pair 'z'"),
    "pair of another file": ("choice", "a,r,good,two,", "line 2, field 'pair': there is no pair 'a' in two"),
    "pair of two files": ("choice", "b,r,good,,", "line 2, field 'pair': several files have a pair 'b': one and two"),
    "unknown file": ("choice", "a,r,good,three,", "line 2, field 'dataset': there is no file"),
    "twice": ("choice", "a,r,good,,\na,r ,bad,,", "line 3, field 'pair': r has already judged pair a"),
    "changed": ("choice", "a,r,good,,The a slept.", "line 2, field 'bad': this is not the bad sentence"),
    "choice": ("choice", "a,r,yes,,", "line 2, field 'choice': a choice must be good or bad, got 'yes'"),
    "rating": ("rating", "a,r,,high,1", "line 2, field 'rating_good': expected a number"),
    "infinite": ("rating", "a,r,,inf,1", "line 2, field 'rating_good'"),
    "no rater": ("choice", "a,,good,,", "line 2, field 'rater'"),
    "both kinds": ("rating", "a,r,good,,\na,s,,1,2", "line 3: mixes kinds of judgement: ratings here and choices in"),
    "nothing": ("choice", "a,r,,,", "contains no judgement"),
}


def judged_file(path: Path, head: str, lines: str) -> Path:
    path.write_text(f"{HEADS[head]}\n{lines}\n", "utf-8")
    return path


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused_with_its_place(case: str, pairs: list[PairSet], tmp_path: Path) -> None:
    head, lines, told = BAD[case]
    with pytest.raises(DataError) as stop:
        read_judgements([judged_file(tmp_path / "j.csv", head, lines)], pairs)
    assert "j.csv" in str(stop.value) and told in str(stop.value)
    assert not stop.value.more


def test_all_mistakes_are_told_at_once_over_all_files(pairs: list[PairSet], tmp_path: Path) -> None:
    one = judged_file(tmp_path / "1.csv", "choice", "z,r,x,,\nz,r,good,,")
    two = judged_file(tmp_path / "2.csv", "choice", "a,r,good,,The a slept.\na,r,yes,,")
    with pytest.raises(DataError) as stop:
        read_judgements([one, two], pairs)
    told = [stop.value.alone(), *stop.value.__notes__]
    places = [re.search(r"(\d\.csv), line (\d)", line).groups() for line in told]  # type: ignore[union-attr]
    assert places == [("1.csv", "2"), ("1.csv", "3"), ("2.csv", "3"), ("2.csv", "2")]


# Estimates ----------------------------------------------------------------------------------------------------------

A, B = 1.0, -1.0
HAND = {  # the score of the good sentence minus that of the other, and what three raters judged
    "0": (8.0, {0: A, 1: A, 2: A}),
    "1": (-1.0, {0: A, 1: A, 2: B}),
    "2": (1.0, {0: A, 1: B}),
    "3": (2.0, {0: B, 1: B, 2: B}),
    "4": (3.0, {}),
}
Hand = dict[str, tuple[float, dict[int, float]]]


def items(kind: str, *paradigms: Hand) -> pl.DataFrame:
    """Items of paradigms p0, p1, … whose pairs are called by the number of theirs and their own."""
    pairs = [(n, name, delta, judged) for n, own in enumerate(paradigms) for name, (delta, judged) in own.items()]
    judgements = [list(judged.values()) for *_, judged in pairs]
    return scored([(f"p{n}", delta, 0.0, 1, 1) for n, _, delta, _ in pairs]).with_columns(
        pl.Series("id", [f"{n}-{name}" for n, name, *_ in pairs]),
        pl.Series("good", [f"{n}-{name}." for n, name, *_ in pairs]),
        pl.lit(".").alias("bad"),
        pl.Series("human_n", list(map(len, judgements))),
        pl.Series("human_good", [sum(each) / len(each) if each else None for each in judgements], dtype=pl.Float64),
        pl.Series("human_raters", [list(judged) for *_, judged in pairs], dtype=pl.List(pl.Int32)),
        pl.Series(JUDGED[kind], judgements, dtype=pl.List(pl.Float64)),  # type: ignore[index]
    )


def result(frame: pl.DataFrame, model: str = "m", human: str = "j#1") -> pc.Result:
    return pair_results.result(frame, model, resamples=200, normalise="none", human=human)


def of(summary: pl.DataFrame, measure: str, group: str = "p0") -> dict[str, Any]:
    alone = "group" not in summary["scope"]  # of one paradigm all pairs are told of
    scope, group = ("overall", "all") if group == "all" or alone else ("group", group)
    found = summary.filter((pl.col("measure") == measure) & (pl.col("group") == group) & (pl.col("scope") == scope))
    assert len(found) == 1, found
    return found.row(0, named=True)


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Correlations of as few pairs as can be worked by hand."""
    for name, value in (("FEWEST", 3), ("FEWEST_APART", 0), ("MOST_LOST", 1.0)):
        monkeypatch.setattr(human_estimates, name, value)


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("kind", ["choices", "ratings"])
def test_estimates_worked_by_hand(kind: str) -> None:
    found = result(items(kind, HAND))
    lost = "without the 1 of 5 pairs that nobody judged"
    people = of(found.summary, HUMAN_ACCURACY)  # 1, 1, a tie, 0
    assert (people["value"], people["n"], people["raters"]) == (2.5 / 4, 4, "3")
    assert people["note"] == f"tied majorities: 1, which count one half; {lost}" and people["how"] == "Wilson score"
    model = of(found.summary, AGAINST_MAJORITY)  # of the pairs 0, 1 and 3 it prefers the majority's in the first
    assert (model["value"], model["n"], model["note"]) == (1 / 3, 3, f"tied majorities: 1, left out; {lost}")
    # The first two raters agree with the others in pairs 0 and 3, in pair 1 the others tie; the third is wrong there.
    ceiling = of(found.summary, CEILING)
    assert ceiling["value"] == pytest.approx((1 + 1 + 2 / 3) / 3) and ceiling["n"] == 3
    human, delta = [1, 1 / 3, 0, -1], [8, -1, 1, 2]
    for ranks, other in ((False, stats.pearsonr), (True, stats.spearmanr)):
        row = of(found.summary, CORRELATIONS[ranks])
        assert row["value"] == pytest.approx(other(human, delta)[0]) and row["n"] == 4
        assert lost in row["note"] and "only 3 raters and 4 pairs" in row["note"]
    # On the same four pairs the model prefers the good sentence in all but pair 1.
    alone = of(found.summary, JUDGED_ACCURACY)
    assert (alone["value"], alone["n"], alone["note"]) == (3 / 4, 4, lost)
    apart = of(found.summary, MINUS_PEOPLE)
    gains = np.array([1 - 1, 0 - 1, 1 - 0.5, 1 - 0])
    interval = stats.ttest_1samp(gains, 0).confidence_interval()
    assert (apart["value"], apart["n"], apart["raters"]) == (1 / 8, 4, "3")
    assert (apart["low"], apart["high"]) == pytest.approx((max(-1, interval.low), min(1, interval.high)))
    assert apart["note"].startswith(f"tied majorities: 1, which count one half; {lost}")
    table = np.array([[A, A, A, B], [A, A, B, B], [A, B, np.nan, B]])
    scale = "nominal" if kind == "choices" else "interval"
    alpha = of(found.summary, f"Krippendorff's alpha ({scale})")
    assert alpha["value"] == pytest.approx(krippendorff.alpha(table, level_of_measurement=scale))
    # One paradigm: overall is the same.
    for measure in (HUMAN_ACCURACY, JUDGED_ACCURACY, MINUS_PEOPLE, AGAINST_MAJORITY, CEILING, *CORRELATIONS.values()):
        assert of(found.summary, measure, "all")["value"] == of(found.summary, measure)["value"]
    assert "d: 4 of 5 pairs have judgements; comparisons with people leave out the others" in found.cautions


def test_a_model_minus_people_is_paired_on_the_judged_pairs() -> None:
    """By paradigm McNemar's counts: a pair that only people, or only the model, gets right."""
    right, wrong = (1.0, {0: A}), (-1.0, {0: B})
    parts = [  # both right, only the model, only people, neither
        [(right, 10), ((1.0, {0: B}), only_model), ((-1.0, {0: A}), only_people), (wrong, 5)]
        for only_model, only_people in ((1, 9), (4, 4), (0, 6))
    ]
    paradigms = [
        {str(i): case for i, case in enumerate(case for case, times in part for _ in range(times))} for part in parts
    ]
    one = result(items("choices", *paradigms, {"0": (1.0, {}), "1": (1.0, {})}))
    summary, raw = one.summary, []
    for number, (model, people) in enumerate(((1, 9), (4, 4), (0, 6))):
        row = of(summary, MINUS_PEOPLE, f"p{number}")
        n = 15 + model + people
        up, down = (model + 1) / (n + 2), (people + 1) / (n + 2)  # Bonett and Price: one pair more of each
        half = stats.norm.ppf(0.975) * np.sqrt((up + down - (up - down) ** 2) / (n + 2))
        assert (row["value"], row["n"]) == (pytest.approx((model - people) / n), n)
        assert (row["low"], row["high"]) == pytest.approx((up - down - half, up - down + half))
        few, counts = min(model, people), stats.binom(model + people, 0.5)
        # Fagerland, Lydersen and Laake (2013): of equal counts 1 less half the probability of what was seen.
        raw.append(1 - counts.pmf(few) / 2 if model == people else 2 * counts.cdf(few) - counts.pmf(few))
        assert row["p"] == pytest.approx(raw[-1]) and row["test"] == "McNemar mid-p" and row["tests"] == 3
        assert of(summary, JUDGED_ACCURACY, f"p{number}")["value"] == (10 + model) / n
    ordered = [of(summary, MINUS_PEOPLE, f"p{number}")["p_holm"] for number in (0, 2, 1)]
    assert ordered == pytest.approx([3 * raw[0], max(3 * raw[0], 2 * raw[2]), raw[1]]) and raw[0] < raw[2] < raw[1]
    assert not len(summary.filter(group="p3", measure=MINUS_PEOPLE))  # nobody judged it
    row = of(summary, MINUS_PEOPLE, "all")
    most, alone = of(summary, HUMAN_ACCURACY, "all"), of(summary, JUDGED_ACCURACY, "all")
    assert (row["value"], row["n"]) == (pytest.approx(alone["value"] - most["value"]), 69)
    assert row["how"].startswith("cluster-robust t (jackknife) over 3 paradigms") and row["p"] > 0.05
    (same,) = summary.filter(scope="these groups", measure=f"{MINUS_PEOPLE}, these paradigms").rows(named=True)
    assert same["value"] == row["value"] and same["p"] < 0.02 and "2 of 71 pairs that nobody judged" in same["note"]
    (minus,) = verdicts(MINIMAL_PAIRS.section, [one])["people"]
    assert kinds([minus]) == [("yes", "below", "")]
    assert numbers(minus) == (pytest.approx((1 + 4 - 9 - 4 - 6) / 69), same["low"], same["high"], 69)


@pytest.mark.usefixtures("any_size")
def test_ratings_count_by_their_size_in_correlations_and_by_their_sign_in_majorities() -> None:
    frame = items(
        "ratings", {"0": (1.0, {0: 5.0, 1: -1.0, 2: -1.0}), "1": (2.0, {0: 1.0, 1: 2.0}), "2": (4.0, {0: 0.0})}
    )
    summary = result(frame).summary
    assert of(summary, HUMAN_ACCURACY)["value"] == pytest.approx((0 + 1 + 0.5) / 3)
    expected = stats.pearsonr([1, 1.5, 0], [1, 2, 4])[0]
    assert of(summary, CORRELATIONS[False])["value"] == pytest.approx(expected)


@pytest.mark.usefixtures("any_size")
def test_over_paradigms_the_mean_of_the_correlations_within() -> None:
    other: Hand = {
        str(i): (float(d), {0: a, 1: b, 2: A})
        for i, (d, a, b) in enumerate([(1, A, B), (3, A, A), (0, B, B), (5, B, A)])
    }
    flat: Hand = {str(i): (float(i), {0: A, 1: A, 2: A}) for i in range(5)}
    summary = result(items("choices", HAND, other, flat)).summary
    for measure in CORRELATIONS.values():
        each = [of(summary, measure, f"p{i}")["value"] for i in range(3)]
        assert (
            np.isnan(each[2]) and "the mean judgements of all pairs are the same" in of(summary, measure, "p2")["note"]
        )
        total = of(summary, MEAN.format(measure, "paradigms"), "all")
        assert total["value"] == pytest.approx((each[0] + each[1]) / 2) and total["n"] == 8
        assert "1 of 3 paradigms varies too little for a correlation: left out" in total["note"]
        assert "2 paradigms and 3 raters (jackknife)" in total["how"]
    pooled = of(summary, HUMAN_ACCURACY, "all")
    assert "cluster-robust" in pooled["how"] and pooled["n"] == 13


@pytest.mark.usefixtures("any_size")
def test_few_raters_have_no_ceiling_and_constant_scores_no_correlation() -> None:
    two: Hand = {str(i): (2.0, {0: A, 1: A if i % 2 else B}) for i in range(6)}
    summary = result(items("choices", two)).summary
    assert np.isnan(of(summary, CEILING)["value"]) and "no item has 3 raters" in of(summary, CEILING)["note"]
    row = of(summary, CORRELATIONS[True])
    assert np.isnan(row["value"]) and "the scores of all pairs are the same" in row["note"]
    ties: Hand = {"0": (0.0, {0: A}), "1": (1.0, {0: A})}
    row = of(result(items("choices", ties)).summary, AGAINST_MAJORITY)
    assert (row["value"], row["note"]) == (0.75, "ties of the model: 1, which count one half")


def of_one_answer(pairs: int, unlike: int) -> Hand:
    """Pairs of which three raters prefer the good sentence, but in some of them one rater, not always the same."""
    return {str(i): (float(i), {r: B if i < unlike and r == i % 3 else A for r in range(3)}) for i in range(pairs)}


@pytest.mark.parametrize(
    ("pairs", "unlike", "told"),
    [
        (5, 1, "not estimated: 5 pairs, fewer than 10, 1 of 5 pairs is judged differently from the others"),
        (9, 4, "not estimated: 9 pairs, fewer than 10"),
        (40, 2, "not estimated: 2 of 40 pairs are judged differently from the others"),
        (40, 12, ""),
    ],
)
def test_no_correlation_hangs_on_single_answers(pairs: int, unlike: int, told: str) -> None:
    summary = result(items("choices", of_one_answer(pairs, unlike))).summary
    for measure in CORRELATIONS.values():
        row = of(summary, measure)
        assert np.isnan(row["value"]) == np.isnan(row["low"]) == bool(told) and row["n"] == pairs
        assert row["note"].startswith("not estimated: ") == bool(told) and row["note"].endswith(told)


def test_no_correlation_where_many_resamples_have_none() -> None:
    """Of two raters, one of whom always chooses good: a quarter of resamples draws that one alone."""
    hand: Hand = {str(i): (float(i), {0: A, 1: B if i % 2 else A}) for i in range(40)}
    row = of(result(items("choices", hand)).summary, CORRELATIONS[False])
    found = re.fullmatch(r"not estimated: (\d+) of 200 resamples have no correlation", row["note"])
    assert found and 30 <= int(found[1]) <= 70 and np.isnan(row["value"])
    nothing = result(items("choices", of_one_answer(5, 1), of_one_answer(5, 1))).summary
    row = of(nothing, MEAN.format(CORRELATIONS[False], "paradigms"), "all")
    assert np.isnan(row["value"]) and row["note"].startswith("not estimated: 2 of 2 paradigms vary too little")
    some = result(items("choices", of_one_answer(5, 1), *[of_one_answer(40, 12)] * 2)).summary
    row = of(some, MEAN.format(CORRELATIONS[False], "paradigms"), "all")
    assert row["n"] == 80 and "1 of 3 paradigms varies too little" in row["note"]


def test_without_judgements_nothing_is_added() -> None:
    frame = items("choices", HAND)
    plain = result(frame.drop("human_n", "human_good", "human_raters", "human_choices"))
    assert "raters" not in plain.summary.columns and not any("judged" in caution for caution in plain.cautions)
    same = result(frame).summary.filter(pl.col("raters").is_null()).drop("raters", "signature")
    assert same.equals(plain.summary.drop("signature"), null_equal=True)


# Studies ------------------------------------------------------------------------------------------------------------

WORDS = ["cat", "dog", "king", "child", "man", "woman", "girl", "boy", "bird", "horse", "queen", "lord"]
PAIRS = [
    {"id": f"{verb}-{word}", "good": f"The {word} {verb}s.", "bad": f"The {word} {verb}.", "group": verb}
    for verb in ("sleep", "sing")
    for word in WORDS
]


def judged(seed: int, names: list[str]) -> Table:
    rng = np.random.default_rng(seed)
    worth = rng.normal(1, 1, len(PAIRS))
    return [
        {"pair": pair["id"], "rater": name, "choice": "good" if value + rng.normal() > 0 else "bad"}
        for pair, value in zip(PAIRS[1:], worth, strict=False)
        for name in names
        if rng.random() > 0.1
    ]


@given(st.integers(0, 100), st.randoms(use_true_random=False))
@settings(max_examples=10, deadline=None)
def test_order_of_rows_and_names_of_raters_do_not_matter(seed: int, random: Any) -> None:
    rows = judged(seed, ["ann", "ben", "cleo", "dan"])
    names = dict(zip(["ann", "ben", "cleo", "dan"], random.sample(["x", "y", "z", "w"], 4), strict=True))
    other = [{**row, "rater": names[row["rater"]]} for row in rows]
    random.shuffle(other)
    delta = {pair["id"]: float(i * 37 % 17) - 5 for i, pair in enumerate(PAIRS)}
    summaries = []
    for judgements in (rows, other):
        probe = pc.MinimalPairs(data=PAIRS, human=judgements)
        found = probe.judgements()
        assert found is not None
        scores = [(pair["group"], value, 0.0, 1, 1) for pair, value in zip(PAIRS, delta.values(), strict=True)]
        frame = scored(scores).with_columns(
            pl.Series("id", list(delta)), pl.lit(probe.pair_sets()[0].name).alias("file")
        )
        summaries.append(result(found.on(frame)).summary.drop("signature"))
    assert summaries[0].drop("low", "high").equals(summaries[1].drop("low", "high"), null_equal=True)
    for end in ("low", "high"):
        np.testing.assert_allclose(summaries[0][end], summaries[1][end], atol=1e-12)


def study(folder: Path, **human: Any) -> Path:
    csv_file(folder / "pairs.csv", PAIRS)
    csv_file(folder / "people.csv", judged(1, ["ann", "ben", "cleo", "dan", "eve"]))
    probe = {"minimal-pairs": {"data": "pairs.csv", "method": "pll", "resamples": 200, **human}}
    text = {"study": "s", "models": ["bundled:modern", "bundled:early-modern"], "probes": [probe]}
    file = folder / "study.yaml"
    file.write_text(json.dumps(text), "utf-8")
    return file


@pytest.mark.whole
def test_a_study_with_judgements_from_end_to_end(penchant: Program, tmp_path: Path) -> None:
    file = study(tmp_path, human=["people.csv"])
    code, _, err = penchant("run", file, "-o", "out")
    assert code == 0, err
    outcome = read_outcome(tmp_path / "out")
    a, b = outcome.results.values()
    assert re.search(r"\|human:people#[0-9a-f]{6}\|", str(a.signature))
    assert a.signature["human"] == b.signature["human"]
    assert a.items.filter(pl.col("human_n") == 0).height == 1
    share = a.items.filter(pl.col("human_n") > 0).select(
        (pl.col("human_choices").list.mean() + 1) / 2 - pl.col("human_good")
    )
    assert share.to_series().abs().max() == pytest.approx(0, abs=1e-12)
    (section,) = placed(outcome.results, outcome.comparisons)
    names = [table.name for table in section.tables()]
    assert {
        "minus-people",
        "minus-people-by-paradigm",
        "human",
        "raters",
        "human-by-paradigm",
        "raters-by-paradigm",
        "differences",
    } <= set(names)
    assert "human" in [figure.name for figure in section.figures()]
    told = verdicts(MINIMAL_PAIRS.section, section.results)["people"]
    for verdict, one in zip(told, (a, b), strict=True):
        heard = one.items.filter(pl.col("human_n") > 0)
        prefers = (heard["score_good"] - heard["score_bad"]).sign()
        apart = (prefers - heard["human_choices"].list.sum().sign()) / 2
        assert numbers(verdict)[0] == pytest.approx(apart.mean()) and numbers(verdict)[3] == len(heard)
    assert [verdict.models for verdict in told] == [(one.signature["model"],) for one in (a, b)]
    checked = MINIMAL_PAIRS.section.figures(section.results)[-1]
    assert checked.chart.to_dict()["columns"] == 2
    # What the report names was computed, and what was computed it names.
    methods = " ".join(section.methods())
    rows = pl.concat([result.summary for result in (a, b)]).filter(pl.col("raters").is_not_null())
    for measure in rows.filter(pl.col("low").is_not_nan())["measure"].unique():
        assert measure in methods
    for word in ("Pearson's r, recentred", "Spearman's ρ, recentred", "Satterthwaite", "[@owen2007]"):
        assert word in methods or word.replace("'", "’") in methods
    code, out, err = penchant("report", "out", "--full")
    assert code == 0 and "Model and human judgements by paradigm" in out + err
    assert "Model minus people by paradigm" in out
    # Other judgements are another study, and no forward pass.
    code, _, err = penchant("run", study(tmp_path, human=["people.csv"]), "-o", "out", "--resume")
    assert code == 0, err
    assert penchant("export", "out", "--to", "csv", "-o", "csv")[0] == 0
    exported = pl.read_csv(tmp_path / "csv" / "minimal-pairs-minus-people-by-paradigm.csv")
    exported = exported.filter(model=a.signature["model"], score="none")
    found = a.summary.filter(scope="group", measure=MINUS_PEOPLE, normalise="none")
    assert found["value"].to_list() == pytest.approx((exported["model − people"] / 100).to_list())
    assert penchant("export", "out", "--to", "figures", "-o", "figures")[0] == 0
    assert list((tmp_path / "figures").rglob("*human*.svg"))


@pytest.mark.whole
def test_one_rater_is_no_majority(penchant: Program, tmp_path: Path) -> None:
    file = study(tmp_path)
    file.write_text(
        file.read_text("utf-8").replace('"resamples": 200', '"resamples": 200, "human": "one.csv"'), "utf-8"
    )
    csv_file(tmp_path / "one.csv", judged(1, ["ann"]))
    code, out, err = penchant("run", file, "-o", "out", "--full")
    assert code == 0, err
    outcome = read_outcome(tmp_path / "out")
    (section,) = placed(outcome.results, outcome.comparisons)
    (people,) = (answer for answer in section.answers() if answer.claim == "people")
    for said in (people.question, *people.sentences):
        assert "the rater" in said and "people" not in said
    told = " ".join((out + err).split())
    assert "only one rater judged the pairs, so that agreement and a ceiling are unknown" in told


def test_most_pairs_with_one_rater_are_said_and_raw_agreement_is_worked_by_hand() -> None:
    mostly: Hand = {str(i): (1.0, {0: A} if i < 8 else {0: A, 1: A if i < 10 else B}) for i in range(12)}
    one = result(items("choices", mostly))
    (minus,) = verdicts(MINIMAL_PAIRS.section, [one])["people"]
    assert "the rater of a pair" in minus.sentence and numbers(minus)[3] == 12
    assert any("8 of 12 judged pairs have only one rater" in caution for caution in one.cautions)
    raw = of(one.summary, human_estimates.RAW)
    assert (raw["value"], raw["n"]) == (0.5, 4)  # two pairs of four with two raters
    assert "8 of 12 pairs have fewer than two ratings: left out" in raw["note"]
    several = result(items("choices", {str(i): (1.0, {0: A, 1: A, 2: B}) for i in range(12)}))
    assert of(several.summary, human_estimates.RAW)["value"] == pytest.approx(1 / 3)
    assert not any("one rater" in caution for caution in several.cautions)
    (minus,) = verdicts(MINIMAL_PAIRS.section, [several])["people"]
    assert "people" in minus.sentence and numbers(minus)[0] == 0


def test_correlations_of_sums_are_given_for_pairs_of_equal_length_too() -> None:
    """If lengths differ, a caution names the paradigm, its share of them, and r over the others."""
    draw = np.random.default_rng(4)
    hands: list[Hand] = [
        {
            str(i): (float(draw.normal()), {r: A if draw.random() < 0.5 + 0.04 * (i % 10) else B for r in range(4)})
            for i in range(30)
        }
        for _ in range(3)
    ]
    frame = items("choices", *hands)
    number = pl.col("id").str.extract("-([0-9]+)").cast(pl.Int32)
    unequal = ((pl.col("group") == "p0") & (number < 9)) | ((pl.col("group") == "p1") & (number < 24))
    frame = frame.with_columns(n_tokens_bad=pl.when(unequal).then(2).otherwise(1), difference=-unequal.cast(pl.Int64))
    found = result(frame)
    equal = found.summary.filter(split="A=U", scope="group").filter(pl.col("raters").is_not_null())
    assert set(equal["group"]) == {"p0", "p1"}  # of p2 all pairs are
    chosen = [(delta, judged) for id_, (delta, judged) in hands[0].items() if int(id_) >= 9]
    expected = stats.pearsonr([np.mean(list(judged.values())) for _, judged in chosen], [delta for delta, _ in chosen])[
        0
    ]
    (row,) = equal.filter(group="p0", measure=CORRELATIONS[False]).rows(named=True)
    assert (row["value"], row["n"]) == (pytest.approx(expected), 21)
    (few,) = equal.filter(group="p1", measure=CORRELATIONS[False]).rows(named=True)
    assert np.isnan(few["value"]) and "6 pairs, fewer than 10" in few["note"]
    (told,) = (caution for caution in found.cautions if "also reflects length" in caution)
    r = f"{expected:+.2f}".replace("-", "−")
    assert f"p0 (30% of 30 pairs; over the 21 of equal length r = {r} [" in told
    assert "p1 (80% of 30 pairs; the pairs of equal length are too few for a correlation (6 pairs))" in told
    assert "p2" not in told
    table = next(each for each in MINIMAL_PAIRS.section.tables([found]) if each.name == "human-by-paradigm")
    counts = [row.cells[table.columns.index("A=U")] for row in table.rows]
    assert counts == [21, 6, ""] and str(table.rows[0].cells[table.columns.index("r, A=U")]).startswith(
        f"{expected:+.2f}"
    )
    same = result(items("choices", *hands))
    assert not any("also reflects length" in caution for caution in same.cautions)
    table = next(each for each in MINIMAL_PAIRS.section.tables([same]) if each.name == "human-by-paradigm")
    assert "A=U" not in table.columns


def test_mistakes_are_told_before_a_model_is_asked(penchant: Program, tmp_path: Path) -> None:
    file = study(tmp_path, human="people.csv")
    csv_file(tmp_path / "people.csv", [{"pair": "sleep-cats", "rater": "r", "choice": "good"}])
    refused(penchant("run", file, "-o", "out"), "people.csv, line 2", "there is no pair 'sleep-cats'", "sleep-cat")
    assert not (tmp_path / "out").exists()


def test_models_are_compared_only_under_the_same_judgements() -> None:
    frame = items("choices", HAND)
    a, b = result(frame, "a"), result(frame.with_columns(pl.col("score_good") * -1), "b")
    compared = MINIMAL_PAIRS.compare(a, b)
    assert len(compared)
    with pytest.raises(StudyError, match="they differ in human"):
        MINIMAL_PAIRS.compare(a, result(frame, "b", human="k#2"))


def test_judgements_given_in_python() -> None:
    rows = [(pair["id"], name, "good") for pair in PAIRS for name in ("ann", "ben", "cleo")]
    rows[0] = (PAIRS[0]["id"], "ann", "bad")
    for table in (rows, pl.DataFrame(rows, schema=["pair", "rater", "choice"], orient="row")):
        found = pc.MinimalPairs(data=PAIRS, human=table, normalise="none", resamples=100).run("bundled:modern")
        assert found.signature["human"].startswith("human#")
        assert of(found.summary, HUMAN_ACCURACY, "all")["value"] == 1
    pilot = pc.MinimalPairs(data=PAIRS, human=rows[-3:], normalise="none", limit=2, resamples=100).run("bundled:modern")
    section = MINIMAL_PAIRS.section  # of the pairs drawn, nobody may have judged one
    assert section.tables([pilot]) and section.figures([pilot]) and section.answers([pilot], None)
    assert isinstance(next(iter(pc.MinimalPairs(data=PAIRS).summarise(pc.Measured(found.items)))), Estimate)
