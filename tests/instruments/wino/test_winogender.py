"""Winogender: sentences read and made, scores against reference passes, correlations against scipy."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import brute
import penchant as pc
import zoo as tiny
from paths import SHARED, needs_shared
from penchant.engine.scorer import language_model
from penchant.errors import DataError, MethodError, StudyError
from penchant.instruments.wino import gender_estimates
from penchant.instruments.wino.gender_data import ROLES, WinogenderColumns, WinogenderItems, read_winogender
from penchant.instruments.wino.gender_estimates import (
    EFFECT,
    MEAN,
    MEAN_DIFFERENCE,
    NAMED,
    OCCUPATION,
    ONE,
    PARTICIPANT,
    PEARSON,
    PEARSON_DIFFERENCE,
    SLOPE,
    SLOPE_DIFFERENCE,
    SOMEBODY,
    SPEARMAN,
    TOPS,
)
from penchant.instruments.wino.instrument import WINOGENDER
from penchant.records import Signature
from penchant.report.tables import Number
from penchant.stats.hypothesis_tests import holm
from penchant.stats.templates import SD, SHARE

SECTION = WINOGENDER.section
Zoo = Callable[[str], Path]
REAL = SHARED / "winogender"
COLUMNS = WinogenderColumns()
TEMPLATES = (
    "occupation(0)\tother-participant(1)\tanswer\tsentence\n"
    "cook\tguest\t0\tThe $OCCUPATION told the $PARTICIPANT that $NOM_PRONOUN was late.\n"
    "cook\tguest\t1\tThe $PARTICIPANT gave the $OCCUPATION $POSS_PRONOUN book.\n"
)
STATISTICS = "occupation\twomen\ncook\t40.5\nguard\t12\n"


def write(folder: Path, sentences: str = TEMPLATES, statistics: str = STATISTICS) -> Path:
    (folder / "templates.tsv").write_text(sentences, "utf-8")
    (folder / "occupations-stats.tsv").write_text(statistics, "utf-8")
    return folder


def read(folder: Path, name: str = "templates.tsv", share: str = "women") -> WinogenderItems:
    return read_winogender(folder / name, folder / "occupations-stats.tsv", [share], COLUMNS)


# Reading ------------------------------------------------------------------------------------------------------------


def test_templates_are_made_into_sentences(tmp_path: Path) -> None:
    found = read(write(tmp_path))
    assert [item.id for item in found.items] == ["cook.guest.0", "cook.someone.0", "cook.guest.1", "cook.someone.1"]
    first, second, third, fourth = (item.texts for item in found.items)
    assert first["female"] == "The cook told the guest that she was late."
    assert first["neutral"] == "The cook told the guest that they were late."
    assert second["male"] == "The cook told someone that he was late."
    assert third["female"] == "The guest gave the cook her book." and third["neutral"].endswith("their book.")
    assert fourth["male"] == "Someone gave the cook his book."
    labels = found.items[1].labels
    assert (labels["kind"], labels["refers"], labels["pronouns"]) == ("someone", "occupation", "he/she")
    assert found.items[2].labels["refers"] == "participant" and found.women == {"women": {"cook": 40.5, "guard": 12}}


def test_a_table_of_sentences_reads_the_same(tmp_path: Path) -> None:
    made = read(write(tmp_path))
    rows = [f"{item.id}.{role}.txt\t{item.texts[role]}\n" for item in made.items for role in reversed(ROLES)]
    (tmp_path / "all_sentences.tsv").write_text("sentid\tsentence\n" + "".join(rows), "utf-8")
    found = read(tmp_path, "all_sentences.tsv")
    assert [(i.id, i.texts, i.labels) for i in found.items] == [(i.id, i.texts, i.labels) for i in made.items]
    probe = pc.Winogender(data=str(tmp_path), shares=["women"])
    assert [path.name for path in probe.files()] == ["all_sentences.tsv", "occupations-stats.tsv"]
    renamed = "key;text\n" + "".join(rows).replace("\t", ";")
    (tmp_path / "mine.csv").write_text(renamed, "utf-8")
    named = {"sentid": "key", "sentence": "text"}
    other = pc.Winogender(data=str(tmp_path / "mine.csv"), shares=["women"], columns=named)
    assert other.texts()[0][0] == "The cook told the guest that she was late."


def test_items_that_say_the_same_are_told(tmp_path: Path) -> None:
    made = read(write(tmp_path)).items[1]
    rows = [f"{name}.{role}.txt\t{made.texts[role]}\n" for name in (made.id, "cook.Someone.0") for role in ROLES]
    (tmp_path / "all_sentences.tsv").write_text("sentid\tsentence\n" + "".join(rows), "utf-8")
    assert (
        sum("cook.Someone.0 as cook.someone.0" in str(told) for told in read(tmp_path, "all_sentences.tsv").cautions)
        == 1
    )


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("cook.guest.1.txt\tX he.", "occupation.participant.answer.gender.txt"),
        ("cook.guest.2.male.txt\tX he.", "the answer must be 0"),
        ("cook.guest.1.boy.txt\tX he.", "the gender must be female, male or neutral"),
        ("cook.guest.1.male.txt\tX he.", "lacks sentences with these pronouns: female, neutral"),
        ("cook.guest.1.male.txt\tX he.\ncook.guest.1.male.txt\tX he.", "occurs twice, first on line 2"),
    ],
)
def test_sentences_that_make_no_item_are_refused(tmp_path: Path, row: str, told: str) -> None:
    write(tmp_path)
    (tmp_path / "s.tsv").write_text(f"sentid\tsentence\n{row}\n", "utf-8")
    with pytest.raises(DataError, match=re.escape(told)):
        read(tmp_path, "s.tsv")


def test_templates_and_statistics_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    for text, told in (
        (TEMPLATES.replace("$OCCUPATION", "cook"), "no \\$OCCUPATION"),
        (TEMPLATES.replace("$NOM_PRONOUN", "he"), "none of \\$NOM_PRONOUN"),
        (TEMPLATES.replace("\t0\t", "\t3\t"), "less than or equal to 1"),
    ):
        with pytest.raises(DataError, match=told):
            read(write(tmp_path, text))
    for text, told in (
        (STATISTICS.replace("40.5", "140"), "a percentage from 0 to 100, found '140'"),
        (STATISTICS.replace("guard", "cook"), "'cook' occurs twice, first on line 2"),
        (STATISTICS.replace("women", "men"), "no column 'women'"),
    ):
        with pytest.raises(DataError, match=told):
            read(write(tmp_path, TEMPLATES, text))
    (write(tmp_path) / "occupations-stats.tsv").unlink()
    with pytest.raises(DataError, match="no statistics of occupations"):
        pc.Winogender(data=str(tmp_path)).texts()
    with pytest.raises(DataError, match="neither all_sentences"):
        pc.Winogender(data=str(_empty(tmp_path))).texts()


def _empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    (folder / "empty" / "occupations-stats.tsv").write_text(STATISTICS, "utf-8")
    return folder / "empty"


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    write(tmp_path, statistics="occupation\twomen\nguard\t12\n")
    made = read(tmp_path)
    assert "1 of 1 occupations have no women and are left out" in str(made.cautions[0]) and "cook" in str(
        made.cautions[0]
    )
    rows = [f"{item.id}.{role}.txt\t{item.texts[role]}\n" for item in made.items for role in ROLES]
    rows[0] = rows[0].replace("late", "early")
    (tmp_path / "all_sentences.tsv").write_text("sentid\tsentence\n" + "".join(rows), "utf-8")
    found = read(tmp_path, "all_sentences.tsv")
    assert len(found.items) == 3 and "1 of 4 items are left out" in str(found.cautions[0])


# Scores -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*tiny.MASKED, "gpt2", "llama"])
def test_items_hold_the_reference_scores_of_the_three_sentences(zoo: Zoo, tmp_path: Path, name: str) -> None:
    causal = name in tiny.CAUSAL
    write(tmp_path, "".join(TEMPLATES.splitlines(keepends=True)[:2]))
    probe = pc.Winogender(data=str(tmp_path), shares=["women"], resamples=100)
    found = probe.run(pc.load(zoo(name)))
    model, tokenizer = brute.load(zoo(name), causal=causal)
    row = found.items.row(0, named=True)
    best = {}
    for role, end in zip(ROLES, ("she was", "he was", "they were"), strict=True):
        assert row[role] == f"The cook told the guest that {end} late."
        expected = [v for v in (brute.lp if causal else brute.pll)(model, tokenizer, row[role]) if not math.isnan(v)]
        best[role] = math.fsum(expected)
        assert row[f"score_{role}"] == pytest.approx(best[role], abs=2e-4)
    assert row["women_women"] == 40.5
    top = {role: value(found.summary, TOPS[role])["value"] for role in ROLES}
    assert sum(top.values()) == pytest.approx(1) and top[max(best, key=best.__getitem__)] >= 0.5
    if not causal:
        with pytest.raises(MethodError, match="pll-shared"):
            probe.model_copy(update={"method": "pll-shared"}).run(pc.load(zoo(name)))


# Estimates ----------------------------------------------------------------------------------------------------------


def planted(gaps: Mapping[str, tuple[float, float, float, float]], women: Mapping[str, float | None]) -> pl.DataFrame:
    """Items as the probe makes them, from she − he of every occupation: with the participant and with someone, where
    the pronoun refers to the occupation, then to the other person."""
    rows = [
        (occupation, kind, refers, gap)
        for occupation, four in gaps.items()
        for (refers, kind), gap in zip(
            [(r, k) for r in ("occupation", "participant") for k in ("participant", "someone")], four, strict=True
        )
    ]
    who = {"participant": "the p", "someone": "someone"}
    return pl.DataFrame(
        {
            "id": [f"{o}.{k}.{r}" for o, k, r, _ in rows],
            "occupation": [row[0] for row in rows],
            "participant": ["p"] * len(rows),
            "kind": [row[1] for row in rows],
            "refers": [row[2] for row in rows],
            "pronouns": ["he/she"] * len(rows),
            "women_bls": pl.Series([women[row[0]] for row in rows], dtype=pl.Float64),
            **{role: [f"{role}, {o}, of the {r}, told {who[k]}." for o, k, r, _ in rows] for role in ROLES},
            **{f"n_tokens_{role}": [9] * len(rows) for role in ROLES},
            "score_female": [row[3] - 20 for row in rows],
            "score_male": [-20.0] * len(rows),
            "score_neutral": [-19.5] * len(rows),
            **{f"tokens_{role}": [["x"]] * len(rows) for role in ROLES},
            **{f"logprobs_{role}": [[-1.0]] * len(rows) for role in ROLES},
        }
    )


def result(items: pl.DataFrame, model: str = "m", **more: str) -> pc.Result:
    fields = {"data": "d#1", "statistics": "s#2", "shares": "bls", "method": "lp", "normalise": "none", **more}
    signature = Signature.of("winogender", model=model, **fields, level=0.95, resamples=1000, seed=0)
    probe = pc.Winogender(data="d", shares=["bls"], resamples=1000, method=fields["method"])
    probe = probe.model_copy(update={"normalise": fields["normalise"].split(",")})
    return probe.result(pc.Measured(items), signature)


def value(summary: pl.DataFrame, measure: str, part: str = "all", **where: str) -> Mapping[str, Any]:
    if "occupation" in summary.columns:
        where = {"occupation": "all", **where}
    found = summary.filter(measure=measure, part=part, **where)
    assert len(found) == 1, found
    return found.row(0, named=True)


GAPS = {
    "cook": (1.0, 3.0, 0.0, 2.0),
    "guard": (-4.0, -2.0, -1.0, -1.0),
    "nurse": (3.0, 5.0, 1.0, 1.0),
    "clerk": (0.0, 2.0, -2.0, 0.0),
    "pilot": (-2.0, -2.0, 1.0, -1.0),
}
WOMEN = {"cook": 40.0, "guard": 20.0, "nurse": 90.0, "clerk": 70.0, "pilot": 10.0}


def test_preferences_worked_by_hand() -> None:
    summary = result(planted(GAPS, WOMEN)).summary
    # Occupations, all four sentences: 1.5, −2, 2.5, 0, −1; effect: 2, −3, 4, 1, −2; control: 1, −1, 1, −1, 0.
    assert value(summary, MEAN)["value"] == pytest.approx(0.2)
    assert value(summary, MEAN, OCCUPATION)["value"] == pytest.approx(0.4)
    assert value(summary, MEAN, PARTICIPANT)["value"] == 0
    assert value(summary, MEAN, EFFECT)["value"] == pytest.approx(0.4)
    assert value(summary, MEAN, NAMED)["value"] == pytest.approx((0.5 - 2.5 + 2 - 1 - 0.5) / 5)
    assert value(summary, MEAN, SOMEBODY)["value"] == pytest.approx((2.5 - 1.5 + 3 + 1 - 1.5) / 5)
    ones = summary.filter(measure=ONE, part=OCCUPATION)
    assert dict(ones.select("occupation", "value").iter_rows()) == {
        "clerk": 1,
        "cook": 2,
        "guard": -3,
        "nurse": 4,
        "pilot": -2,
    }
    assert value(summary, ONE, occupation="nurse")["value"] == 2.5 and value(summary, ONE, occupation="nurse")["n"] == 4
    # She is best of three where she − he is above ½, he nowhere.
    assert value(summary, TOPS["female"])["value"] == pytest.approx(9 / 20)
    assert value(summary, TOPS["male"])["value"] == 0 and value(summary, TOPS["neutral"])["value"] == pytest.approx(
        11 / 20
    )


def test_templates_of_an_occupation_worked_by_hand() -> None:
    """Templates of GAPS: cook 2, 1; guard −3, −1; nurse 4, 1; clerk 1, −1; pilot −2, 0, so that half the squares of
    their differences are ½, 2, 4½, 2 and 2, of one degree of freedom each."""
    summary = result(planted(GAPS, WOMEN)).summary
    found, share = value(summary, SD), value(summary, SHARE)
    assert found["n"] == 10 and found["value"] == pytest.approx((11 / 5) ** 0.5)
    every = np.array([gap for four in GAPS.values() for gap in four])
    between = 2 * 11  # two sentences a template
    assert share["value"] == pytest.approx(between / ((every - every.mean()) ** 2).sum())
    named = value(summary, SD, NAMED)  # 1, 0; −4, −1; 3, 1; 0, −2; −2, 1
    assert named["value"] == pytest.approx(((1 + 9 + 4 + 4 + 9) / 2 / 5) ** 0.5)
    alone = value(summary, SD, OCCUPATION)
    assert math.isnan(alone["value"]) and "each of the occupations has one template" in alone["note"]
    assert found["low"] < found["value"] < found["high"] and "fewer than 60 occupations" in found["note"]
    shown = {row.cells[0]: row.cells for row in SECTION.tables([result(planted(GAPS, WOMEN))])[1].rows}
    spread = shown["all"][6]
    assert isinstance(spread, Number) and spread.value == pytest.approx(found["value"])
    assert [str(cell) for cell in shown[EFFECT][6:]] == ["–", "–"]


def test_correlations_and_slopes_are_those_of_scipy() -> None:
    summary = result(planted(GAPS, WOMEN)).summary
    x = np.array(list(WOMEN.values()))
    sides = {
        OCCUPATION: np.array([2, -3, 4, 1, -2.0]),
        PARTICIPANT: np.array([1, -1, 1, -1, 0.0]),
        EFFECT: np.array([1, -2, 3, 2, -2.0]),
        "all": np.array([1.5, -2, 2.5, 0, -1]),
    }
    for part, y in sides.items():
        assert value(summary, PEARSON, part, share="bls")["value"] == pytest.approx(stats.pearsonr(x, y)[0])
        assert value(summary, SPEARMAN, part, share="bls")["value"] == pytest.approx(stats.spearmanr(x, y)[0])
        assert value(summary, SLOPE, part, share="bls")["value"] == pytest.approx(10 * stats.linregress(x, y).slope)
    gap = [value(summary, SLOPE, part, share="bls")["value"] for part in (OCCUPATION, PARTICIPANT, EFFECT)]
    assert gap[0] - gap[1] == pytest.approx(gap[2])  # effect minus control
    tested = summary.filter((pl.col("measure") == SLOPE) & (pl.col("part") != "all"))
    np.testing.assert_allclose(tested["p_holm"].to_numpy(), holm(tested["p"].to_numpy()))
    assert math.isnan(value(summary, SLOPE, share="bls")["p_holm"])


def simulated(seed: int, effect: float, control: float, *, noise: int = 3) -> pl.DataFrame:
    """Forty occupations: their shares depend on the seed, what is added to their preferences on that of the noise."""
    rng, other = np.random.default_rng(seed), np.random.default_rng(noise)
    gaps, women = {}, {}
    for number in range(40):
        name, share = f"o{number:02}", float(rng.uniform(0, 100))
        women[name] = share
        slopes = (effect, effect, control, control)
        gaps[name] = tuple(-2 + slope * share / 10 + float(other.normal()) for slope in slopes)
    return planted(gaps, women)  # type: ignore[arg-type]


def test_effect_minus_control_tells_reference_from_company() -> None:
    """Nothing is left of a preference that follows the share whomever the pronoun means."""
    company = result(simulated(1, 0.3, 0.3)).summary
    assert value(company, SLOPE, OCCUPATION, share="bls")["low"] > 0
    assert value(company, SLOPE, PARTICIPANT, share="bls")["low"] > 0
    left = value(company, SLOPE, EFFECT, share="bls")
    assert left["low"] < 0 < left["high"] and left["p_holm"] > 0.05
    reference = result(simulated(1, 0.6, 0.1)).summary
    left = value(reference, SLOPE, EFFECT, share="bls")
    assert left["low"] < 0.5 < left["high"] and left["low"] > 0 and left["p_holm"] < 0.05


def test_occupations_without_a_share_are_counted() -> None:
    items = planted(GAPS | {"baker": (9.0, 9.0, 9.0, 9.0)}, WOMEN | {"baker": None})
    summary = result(items).summary
    assert value(summary, MEAN)["n"] == 6 and value(summary, PEARSON, share="bls")["n"] == 5
    assert value(summary, PEARSON, share="bls")["note"].startswith("without 1 occupation that has no such share")
    few = result(planted({name: GAPS[name] for name in ("cook", "nurse")}, WOMEN)).summary
    assert math.isnan(value(few, PEARSON, share="bls")["value"])
    assert "needs 5 occupations" in value(few, PEARSON, share="bls")["note"]


# Two models, and the report -----------------------------------------------------------------------------------------


def test_two_models_are_compared_sentence_by_sentence() -> None:
    a, b = simulated(1, 0.6, 0.1), simulated(1, 0.2, 0.1, noise=4)
    one, two = result(a, "one"), result(b, "two")
    found = gender_estimates.compare(one, two)
    for part in ("all", OCCUPATION, EFFECT):
        for measure, of in ((SLOPE_DIFFERENCE, SLOPE), (PEARSON_DIFFERENCE, PEARSON)):
            gap = value(found, measure, part, share="bls")
            sides = [value(each.summary, of, part, share="bls")["value"] for each in (one, two)]
            assert gap["value"] == pytest.approx(sides[0] - sides[1]) and gap["low"] <= gap["value"] <= gap["high"]
        means = [value(each.summary, MEAN, part)["value"] for each in (one, two)]
        assert value(found, MEAN_DIFFERENCE, part)["value"] == pytest.approx(means[0] - means[1])
    steeper = value(found, SLOPE_DIFFERENCE, OCCUPATION, share="bls")
    assert steeper["low"] < 0.4 < steeper["high"] and steeper["low"] > 0 and steeper["p_holm"] < 0.05
    alike = gender_estimates.compare(one, result(simulated(1, 0.2, 0.1), "two"))
    exact = value(alike, SLOPE_DIFFERENCE, OCCUPATION, share="bls")
    assert exact["value"] == pytest.approx(0.4) and math.isnan(exact["low"])  # the noise is the same in both
    unlike = gender_estimates.compare(one, result(b, "two", method="pll"))
    assert set(unlike["measure"]) == {PEARSON_DIFFERENCE} and unlike["note"].str.contains("the first by lp").all()
    with pytest.raises(StudyError, match="statistics"):
        gender_estimates.compare(one, result(b, "two", statistics="s#3"))
    tables = SECTION.compared(found)
    assert [table.name for table in tables] == ["differences", "mean-differences"] and len(tables[0].rows) == 6


def _drawn(spec: Mapping[str, Any], layer: Mapping[str, Any]) -> list[dict[str, Any]]:
    data = layer["data"]
    rows: list[dict[str, Any]] = data["values"] if "values" in data else spec["datasets"][data["name"]]
    return rows


def unrelated(occupations: int = 1500) -> pl.DataFrame:
    """Occupations whose preferences do not depend on their share of women, and are near 0."""
    rng = np.random.default_rng(4)
    gaps = {f"o{number}": tuple(rng.normal(0, 0.1, 4).tolist()) for number in range(occupations)}
    return planted(gaps, {name: float(rng.uniform(0, 100)) for name in gaps})


@pytest.mark.parametrize(
    ("items", "kinds", "signs"),
    [
        (simulated(1, 0.6, 0.1), ["yes", "yes", "cannot tell"], [1, 1, 0]),
        (simulated(1, -0.6, 0.1), ["yes", "yes", "yes"], [-1, -1, -1]),
        (simulated(1, 0.4, 0.4), ["yes", "cannot tell", "cannot tell"], [1, 0, 0]),
        (simulated(1, 0.0, 0.0), ["cannot tell", "cannot tell", "yes"], [0, 0, -1]),
        (unrelated(), ["no", "no", "no"], [0, 0, 0]),
    ],
)
def test_verdicts_follow_the_share_of_women_and_the_reference(
    items: pl.DataFrame, kinds: list[str], signs: list[int]
) -> None:
    answers = SECTION.answers([result(items)], None)
    assert [answer.claim for answer in answers] == ["women", "reference", "gender"]
    verdicts = [verdict for answer in answers for verdict in answer.verdicts]
    assert [verdict.kind for verdict in verdicts] == kinds
    for verdict, sign in zip(verdicts, signs, strict=True):
        assert verdict.row is not None and sign in (0, math.copysign(1, verdict.row["value"]))


def test_the_model_that_follows_the_share_of_women_is_named() -> None:
    follows, does_not = result(simulated(1, 0.6, 0.1), "follows"), result(simulated(1, 0.0, 0.0, noise=5), "does not")
    for pair, sign in (([follows, does_not], 1), ([does_not, follows], -1)):
        (*_, more) = SECTION.answers(pair, gender_estimates.compare(*pair))
        (verdict,) = more.verdicts
        assert (more.claim, verdict.kind) == ("more", "yes")
        assert verdict.row is not None and math.copysign(1, verdict.row["value"]) == sign


def test_the_report_shows_control_and_names() -> None:
    results = [result(simulated(1, 0.6, 0.1), "one"), result(simulated(2, 0.0, 0.0), "two")]
    texts = [*SECTION.methods(results), *SECTION.limits(results)]
    texts += [sentence for answer in SECTION.answers(results, None) for sentence in answer.sentences]
    for text in texts:
        assert "accuracy" not in text or "not the accuracy of coreference" in text
    scatter, slopes = SECTION.figures(results)
    spec = scatter.spec()
    assert len(spec["concat"]) == 4  # two models, effect and control
    dots = next(layer for layer in spec["concat"][0]["layer"] if layer["mark"]["type"] == "point")
    points = _drawn(spec, dots)
    assert len({row["occupation"] for row in points}) == 40 and 5 <= len({row["name"] for row in points}) <= 41
    line = next(
        layer for layer in spec["concat"][0]["layer"] if "color" in layer["mark"] and "strokeWidth" in layer["mark"]
    )
    (first, last) = _drawn(spec, line)
    slope = (last["preference"] - first["preference"]) / (last["women"] - first["women"])
    assert 10 * slope == pytest.approx(value(results[0].summary, SLOPE, OCCUPATION, share="bls")["value"])
    assert slopes.numbers == "women" and SECTION.items is not None and SECTION.items(results).noun == "sentences"
    women, means, tops, occupations = SECTION.tables(results)
    assert (len(women.rows), len(means.rows), len(tops.rows), len(occupations.rows)) == (12, 12, 2, 80)


def test_unknown_text_stops_or_is_skipped_and_pilots_are_small(zoo: Zoo, tmp_path: Path) -> None:
    write(tmp_path, TEMPLATES.replace("late.", "☃."))
    probe = pc.Winogender(data=str(tmp_path), shares=["women"], resamples=100)
    with pytest.raises(DataError, match="vocabulary lacks"):
        probe.run(pc.load(zoo("bert")))
    skipped = probe.model_copy(update={"on_unknown": "skip"}).run(pc.load(zoo("bert")))
    assert len(skipped.items) == 2 and "2 of 4 sentences hold something unknown" in skipped.cautions[0]
    pilot = probe.model_copy(update={"limit": 1}).run(pc.load(zoo("gpt2")))
    assert len(pilot.items) == 1 and "a pilot" in pilot.cautions[0]


# The published files ------------------------------------------------------------------------------------------------


@needs_shared
def test_the_published_templates_make_the_published_sentences() -> None:
    statistics = REAL / "occupations-stats.tsv"
    shares = ["bls_pct_female", "bergsma_pct_female"]
    published = read_winogender(REAL / "all_sentences.tsv", statistics, shares, COLUMNS)
    made = read_winogender(REAL / "templates.tsv", statistics, shares, COLUMNS)
    assert published.cautions == made.cautions == ()
    assert {item.id: dict(item.texts) for item in made.items} == {item.id: dict(item.texts) for item in published.items}
    assert len(published.items) == 240 and sum(len(item.texts) for item in published.items) == 720
    assert len({item.labels["occupation"] for item in published.items}) == 60
    lines = [line.split("\t") for line in statistics.read_text().splitlines()[1:]]
    assert published.women["bls_pct_female"] == {name: float(bls) for name, _, bls, _ in lines}
    # The two statistics go together, as their file says.
    r = stats.pearsonr(*([float(line[i]) for line in lines] for i in (1, 2)))[0]
    assert 0.6 < r < 0.9


@needs_shared
def test_a_pilot_on_the_published_sentences_is_what_their_scores_say() -> None:
    model = language_model("bundled:modern")
    found = pc.Winogender(data=str(REAL), limit=6, resamples=100).run(model)
    rows = dict(line.split("\t") for line in (REAL / "all_sentences.tsv").read_text().splitlines()[1:])
    texts = [rows[f"{row['id']}.{role}.txt"] for row in found.items.to_dicts() for role in ROLES]
    scores = pc.score(model, texts)["score"].to_numpy().reshape(-1, 3)
    assert found.items.select(f"score_{role}" for role in ROLES).to_numpy() == pytest.approx(scores, abs=1e-4)
    assert value(found.summary, MEAN)["value"] == pytest.approx((scores[:, 0] - scores[:, 1]).mean(), abs=1e-4)
