"""Wordings against each other, groups of people against one model, and weights: against plain resampling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

import penchant as pc
from builders import write as write_file
from made_values import Array, made_result, ratings, sides
from penchant.errors import DataError
from penchant.instruments.values.estimates import WORDINGS
from penchant.instruments.values.group_distance import DISTANCE, FROM_GROUP, GROUP_MEAN, GROUP_WORTH, NEARER
from penchant.instruments.values.instrument import VALUES as INSTRUMENT
from penchant.instruments.values.probe import STANCES
from penchant.instruments.values.representativeness import People
from penchant.instruments.values.result_facts import template
from penchant.instruments.values.survey import Survey, read_survey
from penchant.report.tables import Number

K, NEUTRAL = 7, 40
IDS = [f"s{i}" for i in range(K)]
TURNED = np.array([i == 1 for i in range(K)])
SECTION = INSTRUMENT.section
LEVEL = 0.9
result = partial(made_result, resamples=3000)


def cell(group: str, variant: str, lean: Array, seed: int) -> pl.DataFrame:
    """Neutral statements, and statements with these residuals, the second turned round."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-8, 2, NEUTRAL + K)
    residuals = np.concatenate([rng.permutation(stats.norm.ppf((np.arange(NEUTRAL) + 0.5) / NEUTRAL)), lean])
    own: dict[str, Any] = {
        "id": [*(f"n{i}" for i in range(NEUTRAL)), *IDS],
        "kind": ["calibration"] * NEUTRAL + ["statement"] * K,
        "reversed": [*[False] * NEUTRAL, *TURNED.tolist()],
        "disagree": x,
        "agree": 0.9 * x + 0.6 * residuals,
    }
    constant = {"variant": variant, "group": group, "value": "v", "n_tokens_agree": 2, "n_tokens_disagree": 2}
    table = pl.DataFrame(own).with_columns(pl.lit(v).alias(k) for k, v in constant.items())
    sentences = {f"sentence_{stance}": pl.format("{} {}s: {}", "group", pl.lit(stance), "id") for stance in STANCES}
    return table.with_columns(text=pl.col("id"), **sentences)


def leaning(seed: int) -> Array:
    return np.random.default_rng(seed).normal(0.3, 0.8, K)


def asked(weights: bool = False, gap: float = 0.6, sizes: tuple[int, int] = (70, 40), **more: Any) -> Survey:
    """Answers of women and of men, some missing; all are compared with the one group of the templates."""
    rng = np.random.default_rng(11)
    n = sum(sizes)
    shift = np.repeat([gap / 2, -gap / 2], sizes)[:, None]
    answers = np.clip(np.rint(3 + shift + rng.normal(0, 0.7, (n, 1)) + rng.normal(0, 0.9, (n, K))), 1, 5)
    answers[rng.random((n, K)) < 0.03] = np.nan
    frame = pl.DataFrame(
        {"": [""] * n, **{id_: pl.Series(c).fill_nan(None) for id_, c in zip(IDS, answers.T, strict=True)}}
    )
    people = ("women",) * sizes[0] + ("men",) * sizes[1]
    weighted = {"weights": tuple(rng.lognormal(0, 0.6, n).tolist()), "weighted_by": "w"} if weights else {}
    chosen = {"women": "sex f", "men": "sex m"}
    fields: dict[str, Any] = {"people": people, "people_chosen": chosen, "sha256": "0" * 64, "files": ()}
    return Survey("people", frame, (), n, n, False, **{**fields, **weighted, **more})


def expanded(draws: Array, n: int) -> tuple[float, float]:
    tail = stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf((1 + LEVEL) / 2, n - 1))
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def weighted_means(answers: Array, weights: Array) -> Array:
    known = ~np.isnan(answers)
    means: Array = np.array([np.average(answers[k, i], weights=weights[k]) for i, k in enumerate(known.T)])
    return means


# Wordings -----------------------------------------------------------------------------------------------------


def worded(names: tuple[str, ...] = ("said", "thinks", "holds")) -> pl.DataFrame:
    parts = [
        cell(g, v, leaning(i) + 0.5 * (v == "holds"), 10 * i + j)
        for i, v in enumerate(names)
        for j, g in enumerate("fm")
    ]
    return pl.concat(parts)


@pytest.mark.whole
def test_wordings_against_a_plain_paired_bootstrap() -> None:
    items, rng = worded(), np.random.default_rng(1)
    found = result(items).summary.filter(measure=WORDINGS)
    assert found["variant"].to_list() == ["said − thinks", "said − holds", "thinks − holds"]
    kinds = ("calibration", "statement")
    own = {key: [sides(part, kind) for kind in kinds] for key, part in items.group_by("variant", "group")}
    draws: dict[str, list[float]] = {name: [] for name in found["variant"]}
    for i in range(3001):  # the first is of everything as it is
        some, pick = (rng.integers(0, NEUTRAL, NEUTRAL), rng.integers(0, K, K)) if i else (slice(None), slice(None))
        means = {}
        for v in ("said", "thinks", "holds"):
            each = []
            for g in "fm":
                (x, y), statements = own[v, g]
                stars = ratings((x[some], y[some]), statements)
                each.append(np.where(TURNED, 6 - stars, stars)[pick].mean())
            means[v] = np.mean(each)
        for name in draws:
            first, second = name.split(" − ")
            draws[name].append(float(means[first] - means[second]))
    for row in found.iter_rows(named=True):
        value, *others = draws[row["variant"]]
        low, high = expanded(np.array(others), K)
        assert (row["n"], row["value"]) == (K, pytest.approx(value))
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.12 * (high - low))
        assert (row["p"] < 1 - LEVEL) == (not row["low"] <= 0 <= row["high"])
    raw = found["p"].to_list()
    holm = [min(1, max(q * sum(r >= q for r in raw) for q in raw if q <= p)) for p in raw]
    assert found["p_holm"].to_list() == pytest.approx(holm) and set(found["tests"]) == {3}


def test_one_wording_is_held_against_none() -> None:
    one = result(worded(("said",)))
    assert not (one.summary["measure"] == WORDINGS).any()
    assert "wordings" not in {table.name for table in SECTION.tables([one])}
    assert not any("Wordings are held" in text for text in SECTION.methods([one]))
    several = result(worded())
    (table,) = (table for table in SECTION.tables([several]) if table.name == "wordings")
    shown = {row.cells[0]: row.cells[4] for row in table.rows}
    held = several.summary.filter(measure=WORDINGS)
    assert {k: v.value for k, v in shown.items() if isinstance(v, Number)} == dict(
        zip(held["variant"], held["value"], strict=True)
    )


def test_equal_wordings_differ_by_nothing() -> None:
    """Whatever the calibration is: it is resampled alike."""
    one = worded(("said",))
    twice = pl.concat([one, one.with_columns(variant=pl.lit("thinks"))])
    found = result(twice, resamples=300).summary.filter(measure=WORDINGS)
    assert found.select("value", "low", "high", "p").rows() == [(0, 0, 0, 1)]


# Groups of people ---------------------------------------------------------------------------------------------


@pytest.mark.whole
@pytest.mark.parametrize("weighted", [False, True])
def test_distances_from_groups_against_a_plain_bootstrap(weighted: bool) -> None:
    """Statements, respondents of either group with their weights, and neutral ones, one resample after another."""
    items, survey, rng = cell("p", "main", leaning(4), 4), asked(weighted), np.random.default_rng(2)
    table = survey.answers.select(IDS).to_numpy()
    weights = np.ones(len(table)) if survey.weights is None else np.array(survey.weights)
    groups = {name: np.array([p == name for p in survey.people or ()]) for name in ("women", "men")}
    draws: dict[str, list[float]] = {name: [] for name in ("women", "men", "women − men")}
    (x, y), statements = sides(items, "calibration"), sides(items, "statement")
    for i in range(3001):
        some, pick = (rng.integers(0, NEUTRAL, NEUTRAL), rng.integers(0, K, K)) if i else (slice(None), slice(None))
        stars = ratings((x[some], y[some]), statements)
        far = {}
        for name, inside in groups.items():
            rows = np.flatnonzero(inside)
            rows = rng.choice(rows, len(rows)) if i else rows
            far[name] = np.abs(stars - weighted_means(table[rows], weights[rows]))[pick].mean()
            draws[name].append(float(far[name]))
        draws["women − men"].append(float(far["women"] - far["men"]))
    found = result(items, survey).summary
    for name, (value, *others) in draws.items():
        (row,) = found.filter(measure=NEARER if "−" in name else DISTANCE, item=name).to_dicts()
        low, high = expanded(np.array(others), K)
        assert row["value"] == pytest.approx(value)
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.12 * (high - low)), name
        assert ("weighted respondents" in row["how"]) == weighted
    (row,) = found.filter(measure=NEARER).to_dicts()
    beyond = min(np.mean(np.array(draws["women − men"]) > 0), np.mean(np.array(draws["women − men"]) < 0))
    t = math.sqrt((K - 1) / K) * stats.norm.ppf(max(float(beyond), 1 / 3000))
    assert row["p"] == pytest.approx(2 * stats.t.cdf(t, K - 1), abs=0.05)
    assert (row["n"], row["tests"], row["p_holm"]) == (K, 1, row["p"])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_of_a_group_and_the_difference_from_it(weighted: bool) -> None:
    items, survey = cell("p", "main", leaning(4), 4), asked(weighted)
    found = result(items, survey, resamples=300).summary
    table = survey.answers.select(IDS).to_numpy()
    table = np.where(TURNED, 6 - table, table)
    stars = ratings(sides(items, "calibration"), sides(items, "statement"))
    rating = np.where(TURNED, 6 - stars, stars).mean()
    for name in ("women", "men"):
        inside = np.array([p == name for p in survey.people or ()]) & ~np.isnan(table).any(axis=1)
        weights = np.array(survey.weights)[inside] if survey.weights else np.ones(int(inside.sum()))
        mean = DescrStatsW(table[inside].mean(axis=1), weights).mean
        (own,) = found.filter(measure=GROUP_MEAN, item=name).to_dicts()
        (gap,) = found.filter(measure=FROM_GROUP, item=name).to_dicts()
        assert (own["value"], own["n"]) == (pytest.approx(mean), inside.sum())
        assert f"sex {name[0] if name == 'men' else 'f'}" in own["how"]
        assert gap["value"] == pytest.approx(rating - mean) and gap["low"] < gap["value"] < gap["high"]
        worth = found.filter(measure=GROUP_WORTH, item=name)["value"].to_list()
        assert worth == ([pytest.approx(weights.sum() ** 2 / (weights**2).sum())] if weighted else [])


def test_a_model_as_near_to_both_and_one_nearer_to_the_first() -> None:
    survey = asked(gap=0.0, sizes=(60, 60))
    twice = survey.answers.head(60)
    same = asked(gap=0.0, sizes=(60, 60))
    alike = replace(same, answers=pl.concat([twice, twice]))
    items = cell("p", "main", leaning(4), 4)
    (row,) = result(items, alike, resamples=500).summary.filter(measure=NEARER).to_dicts()
    assert row["value"] == 0 and row["low"] < 0 < row["high"] and row["p"] > 0.5  # respondents are drawn apart
    high = cell("p", "main", np.where(TURNED, 1.5, 1.5) + leaning(4) / 8, 4)
    (row,) = result(high, asked(gap=2.0), resamples=500).summary.filter(measure=NEARER).to_dicts()
    assert row["high"] < 0 and row["p"] < 0.05  # women agree more, and so does the model


def test_groups_of_the_templates_stand_for_groups_of_people() -> None:
    """Unless others are named; and one group is held against no other."""
    frame = asked().answers
    fields = {"sha256": "0" * 64, "files": (), "read": len(frame), "kept": len(frame), "synthetic": False, "absent": ()}
    named = frame.with_columns(pl.Series("", ["f"] * 70 + ["m"] * 40))
    items = pl.concat([cell("f", "main", leaning(1), 1), cell("m", "main", leaning(2), 2)])
    found = result(items, Survey("s", named, **fields), resamples=300).summary.filter(measure=NEARER)  # type: ignore[arg-type]
    assert found.select("group", "item").rows() == [("f", "f − m"), ("m", "f − m")]
    assert set(found["tests"]) == {2}
    one = Survey("s", frame, **fields)  # type: ignore[arg-type]
    assert not result(items, one, resamples=300).summary["measure"].is_in([NEARER, DISTANCE, GROUP_MEAN]).any()


def test_statements_that_a_group_was_not_asked_are_left_out_and_told() -> None:
    survey = asked()
    men = pl.Series([p == "men" for p in survey.people or ()])
    answers = survey.answers.with_columns(s3=pl.when(men).then(None).otherwise(pl.col("s3")))
    found = result(cell("p", "main", leaning(4), 4), replace(survey, answers=answers), resamples=300).summary
    (row,) = found.filter(measure=NEARER).to_dicts()
    assert row["n"] == K - 1 and "over the 6 of 7 statements that each group answered" in row["note"]
    sizes = found.filter(measure=DISTANCE)["n"].to_list()
    assert sizes == [K, K - 1]


# Weights ------------------------------------------------------------------------------------------------------


@pytest.mark.whole
def test_weighted_representativeness_against_a_plain_bootstrap() -> None:
    items, survey, rng = cell("p", "main", leaning(4), 4), asked(weights=True, sizes=(60, 30)), np.random.default_rng(3)
    table, weights = survey.answers.select(IDS).to_numpy(), np.array(survey.weights)
    x, y = sides(items, "calibration")
    n = len(table)
    single: list[list[float]] = [[] for _ in IDS]
    mean: list[float] = []
    whole = np.where(TURNED, 6 - table, table)
    complete = ~np.isnan(whole).any(axis=1)

    def side(at: float, answers: Array, w: Array) -> float:
        known = ~np.isnan(answers)
        return float((w * (answers < at))[known].sum() - (w * (answers > at))[known].sum()) / float(w[known].sum())

    for _ in range(3000):
        some, pick = rng.integers(0, NEUTRAL, NEUTRAL), rng.integers(0, K, K)
        stars = ratings((x[some], y[some]), sides(items, "statement"))
        rows = rng.integers(0, n, n)
        for i, numbers in enumerate(single):
            numbers.append(side(stars[i], table[rows, i], weights[rows]))
        rows = rng.choice(np.flatnonzero(complete), int(complete.sum()))
        towards = np.where(TURNED, 6 - stars, stars)
        mean.append(side(towards[pick].mean(), whole[rows][:, pick].mean(axis=1), weights[rows]))
    found = result(items, survey).summary.filter(measure="representativeness", dimension="v")
    stars = ratings((x, y), sides(items, "statement"))
    for row in found.iter_rows(named=True):
        at = IDS.index(row["item"]) if row["item"] else None
        low, high = expanded(np.array(mean), K) if at is None else np.quantile(single[at], [0.05, 0.95])
        near = 0 if low <= 0 <= high else min(abs(low), abs(high))
        low, high = max(0, 1 - max(abs(low), abs(high))), 1 - near
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.12 * (high - low) + 0.01), row["item"]
        if at is not None:
            known = ~np.isnan(table[:, at])
            shares = [
                np.average(s[known], weights=weights[known])
                for s in (table[:, at] < stars[at], table[:, at] > stars[at])
            ]
            assert row["value"] == pytest.approx(2 * min(shares))


def test_the_surveys_own_numbers_are_weighted() -> None:
    survey = asked(weights=True)
    found = result(cell("p", "main", leaning(4), 4), survey, resamples=300)
    table = survey.answers.select(IDS).to_numpy()
    scores = np.where(TURNED, 6 - table, table).mean(axis=1)
    whole = ~np.isnan(scores)
    weights = np.array(survey.weights)[whole]
    worth = weights.sum() ** 2 / (weights**2).sum()
    other = DescrStatsW(scores[whole], weights, ddof=float((weights**2).sum() / weights.sum()))
    numbers = {row["measure"]: row for row in found.summary.filter(group="p", dimension="v", item="").to_dicts()}
    assert numbers["survey mean"]["value"] == pytest.approx(other.mean)
    assert numbers["survey sd"]["value"] == pytest.approx(other.std)
    half = numbers["survey mean"]["high"] - numbers["survey mean"]["value"]
    n = whole.sum()
    error = math.sqrt(n / (n - 1) * (weights**2 * (scores[whole] - other.mean) ** 2).sum()) / weights.sum()
    assert half == pytest.approx(stats.t.ppf((1 + LEVEL) / 2, worth - 1) * error)
    assert numbers["effective number of respondents (Kish)"]["value"] == pytest.approx(worth)
    assert numbers["design effect of the weights (Kish)"]["value"] == pytest.approx(n / worth)
    assert "weighted by w" in numbers["survey mean"]["how"]
    quantiles = found.summary.filter(measure="survey quantile")
    shares = [float(item.rstrip("%")) / 100 for item in quantiles["item"]]
    assert quantiles["value"].to_list() == pytest.approx(other.quantile(shares, return_pandas=False).tolist())
    names = {table.name: table for table in SECTION.tables([found])}
    shown = names["survey"]
    at = [shown.columns.index(name) for name in ("respondents", "effective n", "design effect")]
    cells = [shown.rows[0].cells[i] for i in at]
    assert cells[0] == n and [c.value for c in cells[1:] if isinstance(c, Number)] == pytest.approx([worth, n / worth])
    assert "effective n" in names["beside-survey"].columns and "effective n" in names["from-groups"].columns
    assert any("kish1965" in text for text in SECTION.methods([found]))
    plain = SECTION.tables([result(cell("p", "main", leaning(4), 4), asked(), resamples=300)])
    assert not any("effective n" in table.columns for table in plain)


def test_the_ranks_are_those_of_weighted_means() -> None:
    survey, items = asked(weights=True), cell("p", "main", leaning(4), 4)
    people = weighted_means(survey.answers.select(IDS).to_numpy(), np.array(survey.weights))
    stars = ratings(sides(items, "calibration"), sides(items, "statement"))
    found = result(items, survey, resamples=300).summary.filter(measure="rank correlation with the survey's means")
    assert found["value"].item() == pytest.approx(stats.spearmanr(stars, people).statistic)


# Files --------------------------------------------------------------------------------------------------------

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def survey(rows: str, **about: object) -> Path:
        write_file(tmp_path / "a.csv", rows)
        return write_file(tmp_path / "s.yaml", {"file": "a.csv", **about})

    return survey


ROWS = "b1,b2,wgt,sex,country\n1,2,0.5,f,DE\n5,4,2,m,FR\n3,3,1.5,f,FR\n2,2,0,m,DE\n4,1,1,x,DE\n"


def test_weights_and_groups_of_people_are_read(write: Write) -> None:
    people = {"column": "country", "levels": {"French": "FR", "Germans": "DE"}}
    groups = {"column": "sex", "levels": {"feminine": "f", "masculine": "m"}}
    found = read_survey(write(ROWS, weights="wgt", people=people, groups=groups), ["b1", "b2"])
    assert (found.weights, found.weighted_by, found.kept) == ((0.5, 2.0, 1.5), "wgt", 3)
    assert found.people == ("Germans", "French", "French")
    assert {name: inside.tolist() for name, inside in found.sides().items()} == {
        "French": [False, True, True],
        "Germans": [True, False, False],
    }
    weights = found.weights_of("feminine")
    assert weights is not None and weights.tolist() == [0.5, 1.5]
    told = "left out for the weight 0 in wgt: 1 respondent (line 5)"
    assert told in found.cautions and found.left_out == "1 has sex x, 1 has the weight 0"
    assert "sex f; weighted by wgt" in found.source("feminine") and "country FR" in found.source("French")
    assert not any("weights are not used" in caution for caution in found.cautions)
    again = read_survey(write(ROWS, groups=groups), ["b1", "b2"])
    assert again.weights is None and list(again.sides()) == ["feminine", "masculine"]
    assert any("weights are not used: column wgt looks" in caution for caution in again.cautions)


@pytest.mark.parametrize(
    ("cell_text", "said"),
    [("", "a respondent has no weight"), *((text, f"got '{text}'") for text in ("-1", "NA", "inf", "nan"))],
)
def test_weights_that_are_none_are_refused_with_their_rows(write: Write, cell_text: str, said: str) -> None:
    rows = ROWS.replace("5,4,2,m", f"5,4,{cell_text},m").replace("4,1,1,x", "4,1,-3,x")
    with pytest.raises(DataError, match=rf"a\.csv, line 3, field 'wgt': .*{said}") as error:
        read_survey(write(rows, weights="wgt"), ["b1", "b2"])
    assert any("line 6" in note for note in error.value.__notes__)
    # Whom the filter leaves out needs no weight.
    kept = read_survey(write(rows, weights="wgt", filter={"sex": "f"}), ["b1", "b2"])
    assert kept.weights == (0.5, 1.5)


def test_what_else_is_refused(write: Write) -> None:
    nobody = {"column": "sex", "levels": {"women": "f", "other": "d"}}
    cases: list[tuple[dict[str, object], str]] = [
        ({"weights": "wgth"}, "there is no column 'wgth'.*wgt"),
        ({"weights": "b1"}, "the column 'b1' holds answers to a statement"),
        ({"people": {"column": "land", "levels": {"a": 1}}}, "there is no column 'land'"),
        ({"people": nobody}, "no respondent belongs to group 'other'"),
    ]
    for about, said in cases:
        with pytest.raises(DataError, match=said):
            read_survey(write(ROWS, **about), ["b1", "b2"])


def test_another_column_of_weights_is_told(write: Write) -> None:
    rows = ROWS.replace("country", "dweight").replace("DE", "1").replace("FR", "2")
    found = read_survey(write(rows, weights="wgt"), ["b1", "b2"])
    assert "respondents are weighted by wgt alone: column dweight looks like survey weights too" in found.cautions


def test_weights_from_python() -> None:
    frame = pl.DataFrame({"b1": [1, 5, 3], "b2": [2, 4, 3], "w": [1.0, 2.0, 0.5]})
    assert read_survey({"file": frame, "weights": "w"}, ["b1", "b2"]).weights == (1.0, 2.0, 0.5)
    assert pc.read_survey({"file": frame}, ["b1", "b2"]).weights is None


# The noise of few people ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_a_distance_from_few_people_is_too_large_by_what_the_note_says(weighted: bool) -> None:
    """Groups of 12 and of 600 from one population, to which the model is near: the truth lies within the estimate and
    the estimate less what the noise adds, on average and for the large group closely."""
    rng = np.random.default_rng(5)
    truth, gap = rng.normal(3, 0.5, 40), 0.1 * rng.choice([-1, 1], 40)
    found: dict[int, list[tuple[float, float]]] = {12: [], 600: []}
    for n, pairs in found.items():
        for _ in range(60):
            answers = truth + rng.normal(0, 0.9, (n, 40))
            people = People(answers, rng.lognormal(0, 0.5, n) if weighted else None, (0,), 10)
            pairs.append((float(np.abs(truth + gap - people.means).mean()), float(people.noise.mean())))
    small, large = (np.array(found[n]) for n in (12, 600))
    assert small[:, 0].mean() > 0.2 and large[:, 0].mean() < 0.12  # .1 is true of both
    for each in (small, large):
        assert np.mean((each[:, 0] - each[:, 1] <= 0.1) & (each[:, 0] >= 0.1 - 0.01)) > 0.9
    if not weighted:
        expected = math.sqrt(2 / math.pi) * 0.9 / math.sqrt(12)
        assert small[:, 1].mean() == pytest.approx(expected, rel=0.05)


def test_notes_on_distances_from_few_people() -> None:
    survey = asked(weights=True, sizes=(3000, 12))
    own = result(cell("p", "main", leaning(4), 4), survey, resamples=300)
    weights = np.array(survey.weights)[3000:]
    worth = weights.sum() ** 2 / (weights**2).sum()
    notes = {row["item"]: row["note"] for row in own.summary.filter(measure=DISTANCE).iter_rows(named=True)}
    assert f"with 12 respondents (effective {worth:.0f}), noise in the group's means adds up to" in notes["men"]
    assert notes["women"] == ""
    (note,) = own.summary.filter(measure=NEARER)["note"]
    assert "more for men, from 12 respondents" in note and "than for women, from 3,000 respondents" in note
    table = next(table for table in SECTION.tables([own]) if table.name == "nearer")
    row = dict(zip(table.columns, table.rows[0].cells, strict=True))
    assert (row["first n"], row["second n"]) == (3000, 12)
    assert str(row["second eff. n"]) == f"{worth:.0f}" and note in table.footnotes()
    large = result(cell("p", "main", leaning(4), 4), asked(sizes=(2000, 2000)), resamples=300).summary
    assert set(large.filter(pl.col("measure").is_in([DISTANCE, NEARER]))["note"]) == {""}


# What the methods quote, and who is left out --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agree", "disagree", "shown"),
    [
        ("Women agree that it rains.", "Women disagree that it rains.", "Women agree|disagree that {statement}."),
        ("It rains, I say yes.", "It rains, I say no way.", "{statement}, I say yes.|no way."),
        ("She is for it: it rains", "She is against it: it rains", "She is for|against it: {statement}"),
    ],
)
def test_the_template_of_an_item(agree: str, disagree: str, shown: str) -> None:
    row = {"sentence_agree": agree, "sentence_disagree": disagree, "text": "it rains"}
    assert template(row) == shown


def test_the_methods_quote_every_wording() -> None:
    words = {"said": "said", "thinks": "believes"}
    items = worded(("said", "thinks")).with_columns(
        **{
            f"sentence_{stance}": pl.concat_str(
                pl.col("group"), pl.lit(" "), pl.col("variant").replace(words), pl.lit(f" {stance}: "), "text"
            )
            for stance in ("agree", "disagree")
        }
    )
    text = " ".join(SECTION.methods([result(items, resamples=300)]))
    assert f"{K} statements ({K} of v) and {NEUTRAL} neutral clauses" in text
    assert "said, of f: “f said agree:|disagree: {statement}”, m: “m said agree:|disagree: {statement}”" in text
    assert "thinks, of f: “f believes agree:|disagree: {statement}”" in text


def test_a_caution_where_many_respondents_are_left_out() -> None:
    survey = asked()  # 3 % of the answers to each of seven statements are missing
    own = result(cell("p", "main", leaning(4), 4), survey, resamples=300)
    (caution,) = (c for c in own.cautions if "left out of its means" in c)
    answers = survey.answers.select(IDS)
    lost = len(answers) - len(answers.drop_nulls())
    people = np.array(survey.people)[answers.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy()]
    shares = {
        "p": lost / 110,
        "women": np.mean(people == "women") * lost / 70,
        "men": np.mean(people == "men") * lost / 40,
    }
    least, most = min(shares, key=lambda who: shares[who]), max(shares, key=lambda who: shares[who])
    assert "are left out of its means: from " in caution
    for who in (least, most):
        assert f"({shares[who]:.0%}), of {who} in v" in caution
    assert any(f"p, v: {lost} of 110 respondents" in text for text in SECTION.methods([own]))
    few = result(
        cell("p", "main", leaning(4), 4),
        replace(survey, answers=survey.answers.with_columns(pl.col(IDS[1:]).fill_null(3))),
        resamples=300,
    )
    assert not any("left out of its means" in caution for caution in few.cautions)


def test_tables_of_the_same_difference_name_their_families() -> None:
    frame = asked().answers.with_columns(pl.Series("", ["f"] * 70 + ["m"] * 40))
    fields = {"sha256": "0" * 64, "files": (), "read": len(frame), "kept": len(frame), "synthetic": False, "absent": ()}
    items = pl.concat([cell("f", "main", leaning(1), 1), cell("m", "main", leaning(2), 2)])
    own = {table.name: table for table in SECTION.tables([result(items, Survey("s", frame, **fields), resamples=300)])}  # type: ignore[arg-type]
    assert "'from-groups' correct over another family" in own["beside-survey"].note
    assert "'beside-survey' correct over another family" in own["from-groups"].note


# Weights that a spreadsheet spoilt ----------------------------------------------------------------------------


def test_weights_far_from_the_median_are_told(write: Write) -> None:
    rows = "b1,b2,wgt,sex\n" + "".join(f"{1 + i % 5},{1 + i // 5},{0.9 + i / 100:.2f},f\n" for i in range(20))
    assert not any("decimal" in c for c in read_survey(write(rows, weights="wgt"), ["b1", "b2"]).cautions)
    spoilt = rows.replace(",0.93,", ",93,").replace(",0.95,", ",0.005,")
    told = [c for c in read_survey(write(spoilt, weights="wgt"), ["b1", "b2"]).cautions if "decimal" in c]
    assert told == [
        "1 weight in wgt is more than 50 times the median, 1.005 (line 5: 93): were decimal marks lost?",
        "1 weight in wgt is less than a 50th of the median, 1.005 (line 7: 0.005): were decimal marks lost?",
    ]


def test_weights_that_all_lost_their_decimal_marks_are_told(write: Write) -> None:
    """0,93 and 1,1 became 93 and 11; not told of weights that are whole because they are 1 or 2."""
    told = []
    for weights in ([90 + i for i in range(20)], [1 + i % 3 for i in range(20)]):
        rows = "b1,b2,wgt,sex\n" + "".join(f"{1 + i % 5},{1 + i // 5},{w},f\n" for i, w in enumerate(weights))
        told.append([c for c in read_survey(write(rows, weights="wgt"), ["b1", "b2"]).cautions if "decimal" in c])
    assert told == [
        [
            "all 20 weights in wgt are whole numbers, with a median of 99.5: do they count the people each "
            "respondent represents, or were decimal marks lost?"
        ],
        [],
    ]


def test_weights_that_became_dates_are_one_line(write: Write) -> None:
    rows = "b1,b2,wgt\n" + "".join(f"3,{1 + i % 5},{i + 1:02d}.Mrz\n" for i in range(9)) + "3,3,x\n3,3,2024-05-01\n"
    with pytest.raises(DataError, match="line 2, field 'wgt': expected a weight, but a spreadsheet changed") as error:
        read_survey(write(rows, weights="wgt"), ["b1", "b2"])
    first, other = error.value.__notes__
    assert first == "the same on 9 more lines: 3, 4, 5, 6, 7, 8, 9, 10, 12"
    assert "line 11" in other and "a weight must be a number, 0 or above, got 'x'" in other


# Answers in words, and levels ---------------------------------------------------------------------------------


def test_answers_in_another_case_are_read_where_that_is_unambiguous(write: Write) -> None:
    codes = {"Agree": 5, "Disagree": 1, "OK": 4, "ok": 2}
    rows = "b1,b2\nagree, DISAGREE \nDON'T KNOW,Agree\nOK,ok\n"
    found = read_survey(write(rows, codes=codes, missing=["Don't know"]), ["b1", "b2"])
    assert found.answers.select("b1", "b2").rows() == [(5, 1), (None, 5), (4, 2)]
    with pytest.raises(DataError, match="got 'Ok'"):
        read_survey(write(rows.replace("\nOK,ok", "\nOk,ok"), codes=codes, missing=["Don't know"]), ["b1", "b2"])
    with pytest.raises(DataError, match="got 'AGREE'"):
        read_survey(write("b1,b2\nAGREE,Agree\n", codes=codes, missing=["agree"]), ["b1", "b2"])


def test_an_unknown_answer_in_several_columns_is_one_line(write: Write) -> None:
    rows = "b1,b2\nmaybe,3\n2,maybe\nmaybe,perhaps\n"
    with pytest.raises(DataError) as error:
        read_survey(write(rows), ["b1", "b2"])
    lines = [error.value.alone(), *error.value.__notes__]
    assert len(lines) == 2 and "line 2, field 'b1'" in lines[0] and "line 4, field 'b2'" in lines[1]
    assert "got 'maybe' in 2 columns (b1, b2; 3 answers)" in lines[0] and "got 'perhaps' — " in lines[1]


def test_a_level_may_be_a_list_of_codes(write: Write) -> None:
    groups = {"column": "country", "levels": {"west": ["DE", "FR"], "east": "PL"}}
    rows = "b1,b2,country\n1,2,DE\n3,3,PL\n5,4,FR\n"
    found = read_survey(write(rows, groups=groups), ["b1", "b2"])
    assert found.of("west")["b1"].to_list() == [1, 5] and found.of("east")["b1"].to_list() == [3]
    assert "country DE or FR" in found.source("west")
    for levels, said in (
        ({"a": ["DE", "PL"], "b": "PL"}, "'PL' is the level of two groups, a and b"),
        ({"a": []}, "levels"),
    ):
        with pytest.raises(DataError, match=said):
            read_survey(write(rows, groups={"column": "country", "levels": levels}), ["b1", "b2"])
