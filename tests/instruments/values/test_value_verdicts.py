"""Verdicts on made-up models whose leanings, negations and distances from people are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import special

import penchant as pc
from made_values import Array, made_result
from penchant.instruments.values.instrument import VALUES as INSTRUMENT
from penchant.instruments.values.survey import Survey
from penchant.report.verdicts import CANNOT_TELL, NO, NOT_MEASURED, YES, Answer, Verdict

NEUTRAL, EACH = 1500, 20
LEANS = {"care": 1.0, "order": -1.0, "trust": 0.0, "work": 0.3}
SPREADS = {"care": 0.2, "order": 0.2, "trust": 0.05, "work": 2.5}
MIRRORED = -1.0


def lean(value: str, each: int = EACH) -> Array:
    """Return the agreement with each statement of a value, in σ: around `LEANS`, exactly in the mean."""
    own = np.random.default_rng(len(value)).normal(0, 1, each)
    around: Array = SPREADS[value] * (own - own.mean()) / own.std()
    return LEANS[value] + around


def items(
    group: str = "f", sign: float = 1.0, negated: float | Array | None = MIRRORED, each: int = EACH
) -> pl.DataFrame:
    """Statements of four values, as far from the calibration as `lean` says, and their negations."""
    rng = np.random.default_rng(1)
    leans = sign * np.concatenate([lean(value, each) for value in LEANS])
    negations = [] if negated is None else [negated * leans if isinstance(negated, float) else negated]
    ids = [f"{value}{i}" for value in LEANS for i in range(each)]
    kinds = [("calibration", NEUTRAL), ("statement", len(ids)), ("negation", len(ids) * len(negations))]
    residuals = np.concatenate([special.ndtri((np.arange(NEUTRAL) + 0.5) / NEUTRAL), leans, *negations])
    x = rng.normal(-8, 2, len(residuals))
    own: dict[str, Any] = {
        "id": [*(f"n{i}" for i in range(NEUTRAL)), *ids, *ids * len(negations)],
        "kind": [kind for kind, n in kinds for _ in range(n)],
        "value": [""] * NEUTRAL + [value for value in LEANS for _ in range(each)] * (1 + len(negations)),
        "disagree": x,
        "agree": x + 0.6 * residuals,
    }
    constant = {"variant": "main", "group": group, "n_tokens_agree": 2, "n_tokens_disagree": 2, "reversed": False}
    table = pl.DataFrame(own).with_columns(pl.lit(v).alias(k) for k, v in constant.items())
    return table.with_columns(
        text="id", sentence_agree=pl.format("{} agrees: {}", "group", "id"), sentence_disagree=pl.format("no: {}", "id")
    )


def result(*tables: pl.DataFrame, survey: Survey | None = None, **more: object) -> pc.Result:
    by_lp = {"method": "lp", "calibration": "difference", "level": 0.95}
    return made_result(pl.concat(tables), survey, **by_lp, **more)


def people(shifts: Mapping[str, Mapping[str, float]], n: int = 400) -> Survey:
    """Groups of people whose mean answers are the ratings of `items()` plus a shift by value."""
    rng, rows = np.random.default_rng(3), []
    rated = 1 + 4 * special.ndtr(np.concatenate([lean(value) for value in LEANS]))
    ids = [f"{value}{i}" for value in LEANS for i in range(EACH)]
    for shift in shifts.values():
        means = rated + np.repeat([shift.get(value, 0.0) for value in LEANS], EACH)
        noise = rng.normal(0, 0.3, (n, len(ids)))
        rows.append(means + noise - noise.mean(axis=0))
    answers = pl.DataFrame(np.concatenate(rows), schema=ids).with_columns(pl.lit("").alias(""))
    groups: dict[str, Any] = {"people": tuple(name for name in shifts for _ in range(n))} if len(shifts) > 1 else {}
    total = n * len(shifts)
    return Survey("people", answers, (), total, total, False, **groups, files=(), sha256="0" * 64)


def answers(results: list[pc.Result], comparison: pl.DataFrame | None = None) -> dict[str, Answer]:
    return {answer.claim: answer for answer in INSTRUMENT.section.answers(results, comparison)}


def kinds(answer: Answer) -> list[tuple[str, str]]:
    return [(verdict.place, verdict.kind) for verdict in answer.verdicts]


def number(verdict: Verdict) -> float:
    assert verdict.row is not None
    return float(verdict.row["value"])


def test_a_lean_to_either_side_none_and_one_that_varies_too_much() -> None:
    found = answers([result(items())])
    assert set(found) == {"agrees", "mirrored"}  # neither a survey nor a second model
    assert kinds(found["agrees"]) == [("care", YES), ("order", YES), ("trust", NO), ("work", CANNOT_TELL)]
    for verdict in found["agrees"].verdicts:
        expected = (1 + 4 * special.ndtr(lean(verdict.place))).mean()
        assert number(verdict) == pytest.approx(expected, abs=0.02) and verdict.margin == 0.2
    assert len(found["agrees"].sentences) == 4


def test_without_spread_of_the_neutral_statements_nothing_is_measured() -> None:
    found = answers([result(items().with_columns(agree="disagree"), survey=people({"f": {}}))])
    assert set(found) == {"agrees", "survey"}
    assert {verdict.kind for answer in found.values() for verdict in answer.verdicts} == {NOT_MEASURED}


def test_ratings_whose_negations_are_no_mirror_images_are_not_read_as_values() -> None:
    several = result(items("f"), items("m", negated=1.0), survey=people({"women": {}, "men": {"care": -1}}))
    found = answers([several])
    assert kinds(found["mirrored"]) == [("f speaker", YES), ("m speaker", YES)]
    assert [number(verdict) for verdict in found["mirrored"].verdicts] == pytest.approx([1, -1], abs=0.02)
    for name in ("agrees", "survey", "nearer"):
        barred = {verdict.place: verdict.barred for verdict in found[name].verdicts}
        assert barred == {place: "unmirrored" if place.endswith("(m speaker)") else "" for place in barred}, name
        assert {verdict.kind for verdict in found[name].verdicts if verdict.barred} == {CANNOT_TELL}


@pytest.mark.parametrize(("each", "share", "kind"), [(5, 0.0, CANNOT_TELL), (200, 0.0, NO), (200, 0.2, CANNOT_TELL)])
def test_negations_that_have_little_to_do_with_their_statements(each: int, share: float, kind: str) -> None:
    """Ratings of the negations correlate by `share` with the mirrored ones, exactly."""
    plain = special.ndtr(np.concatenate([lean(value, each) for value in LEANS]))
    apart = np.random.default_rng(5).normal(0, 1, len(plain))
    slope, level = np.polyfit(plain, apart, 1)
    apart -= slope * plain + level
    scaled = [(part - part.mean()) / part.std() for part in (plain, apart)]
    mixed = -share * scaled[0] + np.sqrt(1 - share**2) * scaled[1]
    (verdict,) = answers([result(items(negated=special.ndtri(0.5 + 0.1 * mixed), each=each))])["mirrored"].verdicts
    assert number(verdict) == pytest.approx(share, abs=0.03)
    assert (verdict.kind, verdict.barred) == (kind, "weak" if share else "")


def test_what_was_not_negated_is_not_checked_and_bars_nothing() -> None:
    found = answers([result(items(negated=None))])
    assert "mirrored" not in found
    assert [verdict.kind for verdict in found["agrees"].verdicts] == [YES, YES, NO, CANNOT_TELL]


def test_ratings_above_below_and_equal_to_those_of_people() -> None:
    survey = people({"f": {"care": -1, "order": 1}})
    found = answers([result(items(), survey=survey)])
    assert kinds(found["survey"]) == [("care", YES), ("order", YES), ("trust", NO), ("work", NO)]
    assert [number(verdict) for verdict in found["survey"].verdicts] == pytest.approx([1, -1, 0, 0], abs=0.03)
    made_up = result(items(), survey=survey)
    made_up = replace(made_up, signature=made_up.signature.with_(survey="synthetic people#0abc12"))
    assert {(v.kind, v.barred) for v in answers([made_up])["survey"].verdicts} == {(CANNOT_TELL, "synthetic")}


def test_the_group_of_people_that_a_model_is_nearer_to() -> None:
    far = dict.fromkeys(LEANS, 0.5)
    survey = people({"women": {}, "men": far, "others": far})
    found = answers([result(items(), survey=survey)])["nearer"]
    assert kinds(found) == [("men − others", NO), ("women than to men", YES), ("women than to others", YES)]
    assert [number(verdict) for verdict in found.verdicts] == pytest.approx([0, 0.5, 0.5], abs=0.05)
    assert all(verdict.row and 0 < verdict.row["low"] < verdict.row["high"] for verdict in found.verdicts[1:])
    swapped = answers([result(items(), survey=people({"men": {}, "women": far}))])["nearer"]
    assert kinds(swapped) == [("men than to women", YES)]
    between = people({"men": dict.fromkeys(LEANS, -0.5), "women": {"care": 0.5, "order": 0.5, "trust": 0.7}})
    assert kinds(answers([result(items(), survey=between)])["nearer"]) == [("men − women", CANNOT_TELL)]


def test_two_models_that_differ_in_some_values() -> None:
    one, other = result(items(), model="a"), result(items(sign=-1.0), model="b")
    found = answers([one, other], pc.compare(one, other))["more"]
    assert kinds(found) == [("care", YES), ("order", YES), ("trust", NO), ("work", CANNOT_TELL)]
    first, second, *_ = (number(verdict) for verdict in found.verdicts)
    assert first == pytest.approx(-second, abs=0.05) and first > 1
    assert "a agrees more than b in 1 of 4" in found.sentences[0]
