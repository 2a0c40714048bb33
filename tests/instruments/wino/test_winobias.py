"""WinoBias: reading as published, scores against reference passes, preferences worked by hand."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
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
from answers import Answer
from paths import SHARED, needs_shared
from penchant.engine.scorer import language_model
from penchant.errors import DataError, MethodError, StudyError
from penchant.instruments.wino import bias_estimates
from penchant.instruments.wino.bias_data import occupation_lists, read_winobias
from penchant.instruments.wino.bias_estimates import (
    ADJUSTED,
    ADJUSTED_DIFFERENCE,
    LOG_ODDS,
    MALE_DIFFERENCE,
    PREFERS_MALE,
    PREFERS_PRO,
    PRO_DIFFERENCE,
    TIES,
    over_occupations,
)
from penchant.instruments.wino.instrument import WINOBIAS
from penchant.instruments.wino.pronouns import difference
from penchant.records import Signature
from penchant.report.verdicts import Verdict
from penchant.stats.hypothesis_tests import holm
from penchant.stats.intervals import clustered_mean

SECTION = WINOBIAS.section
Zoo = Callable[[str], Path]
PRO = ["[The cook] saw the nurse because [he] was late.", "The cook saw [the nurse] and gave [her] a book."]
ANTI = ["[The cook] saw the nurse because [she] was late.", "The cook saw [the nurse] and gave [him] a book."]
REAL = SHARED / "winobias"


def write(folder: Path, pro: list[str], anti: list[str], kind: str = "1", split: str = "dev") -> Path:
    for side, lines in (("pro", pro), ("anti", anti)):
        text = "".join(f"{number} {line}\n" for number, line in enumerate(lines, 1))
        (folder / f"{side}_stereotyped_type{kind}.txt.{split}").write_text(text, "utf-8")
    return folder


# Reading ------------------------------------------------------------------------------------------------------------


def test_pairs_are_read_without_numbers_and_brackets(tmp_path: Path) -> None:
    write(tmp_path, PRO[:1], ANTI[:1])
    write(tmp_path, PRO[1:], ANTI[1:], "2", "test")
    found = read_winobias([tmp_path], {})
    first, second = found.items
    assert first.texts == {
        "pro": "The cook saw the nurse because he was late.",
        "anti": "The cook saw the nurse because she was late.",
    }
    assert (first.id, first.labels["occupation"], first.labels["gender"]) == ("type1.dev-1", "cook", "male")
    assert (second.id, second.labels["occupation"], second.labels["gender"]) == ("type2.test-1", "nurse", "female")
    assert second.labels["pronouns"] == "him/her" and second.labels["type"] == "2"
    assert found.refused == 0 and found.cautions == () and len(found.files) == 4
    named = read_winobias([tmp_path / f"{side}_stereotyped_type1.txt.dev" for side in ("anti", "pro")], {})
    assert [item.texts for item in named.items] == [first.texts]


@pytest.mark.parametrize(
    ("pro", "anti", "why"),
    [
        ("[The cook] ate because [he] was late.", "[The cook] ate because [she] was here.", "more than pronouns"),
        ("[The cook] ate because [he] was late.", "[The cook] ate since then because [she] was late.", "more than"),
        ("[The cook] ate because [he] was late.", "[The cook] ate because [he] was late.", "the same sentence"),
        ("The boy saw [the cook] and fed [her].", "The boy saw [the cook] and fed [he].", "different forms"),
        ("[The cook] said [he] ate [her] egg.", "[The cook] said [she] ate [his] egg.", "not all male"),
        ("[The cook] ate because he was late.", "[The cook] ate because she was late.", "not in brackets"),
    ],
)
def test_pairs_that_differ_in_more_are_left_out_and_named(tmp_path: Path, pro: str, anti: str, why: str) -> None:
    write(tmp_path, [*PRO, pro], [*ANTI, anti])
    found = read_winobias([tmp_path], {})
    assert len(found.items) == 2 and found.refused == 1
    (caution,) = found.cautions
    assert "1 of 3 pairs are left out" in str(caution) and why in str(caution)
    assert "line 3 of pro_stereotyped_type1.txt.dev and anti_stereotyped_type1.txt.dev" in str(caution)


def test_pairs_that_stand_twice_are_told(tmp_path: Path) -> None:
    pro, anti = ([line, other.replace("1", "2"), line] for line, other in ((PRO[0], PRO[1]), (ANTI[0], ANTI[1])))
    (caution,) = read_winobias([write(tmp_path, pro, anti)], {}).cautions
    assert "type1.dev-3 as type1.dev-1" in str(caution)


def test_several_pronouns_and_brackets_on_one_side_are_one_pair(tmp_path: Path) -> None:
    pro = ["[The cook] said that [he] lost [his] key.", "The boy told [the cook] that he saw [him]."]
    anti = ["[The cook] said that [she] lost [her] key.", "The boy told [the cook] that [she] saw [her]."]
    found = read_winobias([write(tmp_path, pro, anti)], {})
    assert [item.labels["pronouns"] for item in found.items] == ["he/she, his/her", "he/she, him/her"]


def test_files_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    def refused(named: list[Path] | None = None) -> str:
        with pytest.raises(DataError) as error:
            read_winobias(named or [tmp_path], {})
        return str(error.value)

    assert "has no WinoBias file" in refused()
    pro = write(tmp_path, PRO, ANTI[:1]) / "pro_stereotyped_type1.txt.dev"
    assert "has 2 sentences, but anti_stereotyped_type1.txt.dev has 1" in refused()
    write(tmp_path, PRO, ANTI[::-1])
    assert "2 of 2 pairs with anti_stereotyped_type1.txt.dev differ in more than the pronouns" in refused()
    write(tmp_path, PRO, ANTI)
    pro.write_text("7 [The cook] ate.\n2 [The cook] said [he] ate.\n", "utf-8")
    assert "line 1: is numbered 7, but line 1 of anti_stereotyped_type1.txt.dev is numbered 1" in refused()
    for line, told in (
        ("[The cook said [he] ate.", "do not match"),
        ("The cook] ate", "do not match"),
        ("The [cook", "not closed"),
    ):
        pro.write_text(f"1 {line}\n2 {PRO[1]}\n", "utf-8")
        assert told in refused() and "line 1" in refused()
    pro.write_text(f"1 {PRO[0]}\n\n2 {PRO[1]}\n", "utf-8")
    (tmp_path / "anti_stereotyped_type1.txt.dev").write_text(f"1 {ANTI[0]}\n\n2 {ANTI[1]}\n", "utf-8")
    assert "line 2: the line is blank" in refused()
    write(tmp_path, ["The cook said that [he] ate."], ["The cook said that [she] ate."])
    assert "has no occupation in brackets" in refused()
    assert "has no matching file of anti sentences" in refused([pro])
    assert "is given twice" in refused([pro, pro])
    other = tmp_path / "sentences.txt"
    other.write_text("x", "utf-8")
    assert "must contain pro or anti" in refused([other])


def test_lists_of_occupations_are_held_against_the_pronouns(tmp_path: Path) -> None:
    write(tmp_path, PRO, ANTI)
    (tmp_path / "male_occupations.txt").write_text("nurse\nguard\n", "utf-8")
    lists = occupation_lists([tmp_path])
    found = read_winobias([tmp_path], lists)
    assert [item.labels["listed"] for item in found.items] == ["", "male"] and len(found.files) == 3
    assert "occupations not in the lists: cook (1 pairs)" in str(found.cautions[0])
    assert "in 1 pair the pro-stereotypical pronoun contradicts the lists of occupations" in str(found.cautions[1])
    (tmp_path / "female_occupations.txt").write_text("Guard\n", "utf-8")
    with pytest.raises(DataError, match=r"'guard' is also in the list of (fe)?male occupations"):
        read_winobias([tmp_path], occupation_lists([tmp_path]))
    named = pc.WinoBias(data=str(tmp_path), female_occupations=str(tmp_path / "male_occupations.txt"))
    with pytest.raises(DataError, match=r"in the list of (fe)?male occupations"):
        named.texts()


def test_pronouns_keep_their_form() -> None:
    assert difference("She left.", "He left.") == difference("She left.", "He left.")
    found = difference("Is it hers or his?", "Is it his or his?")
    assert not isinstance(found, str) and found.pronouns == (("hers", "his"),) and found.gender == "female"
    assert difference("He and I left.", "They and I left.") == "they differ in more than pronouns"
    assert "different forms" in str(difference("I saw him.", "I saw she."))


# Scores -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*tiny.MASKED, "gpt2", "llama"])
def test_items_hold_the_reference_scores_of_both_sentences(zoo: Zoo, tmp_path: Path, name: str) -> None:
    causal = name in tiny.CAUSAL
    found = pc.WinoBias(data=str(write(tmp_path, PRO, ANTI)), resamples=100).run(pc.load(zoo(name)))
    model, tokenizer = brute.load(zoo(name), causal=causal)
    reference = brute.lp if causal else brute.pll
    for row in found.items.iter_rows(named=True):
        for side, lines in (("pro", PRO), ("anti", ANTI)):
            text = re.sub(r"[\[\]]", "", lines[int(row["id"].split("-")[1]) - 1])
            expected = [v for v in reference(model, tokenizer, text) if not math.isnan(v)]
            assert row[side] == text
            assert row[f"score_{side}"] == pytest.approx(math.fsum(expected), abs=2e-4)
            assert row[f"n_tokens_{side}"] == len(row[f"tokens_{side}"])
    credit = [float(np.sign(row["score_pro"] - row["score_anti"]) + 1) / 2 for row in found.items.to_dicts()]
    assert value(found.summary, PREFERS_PRO)["value"] == np.mean(credit)
    assert found.signature["method"] == ("lp" if causal else "pll")


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_shared_tokens_are_those_of_the_pair(zoo: Zoo, tmp_path: Path, name: str) -> None:
    probe = pc.WinoBias(data=str(write(tmp_path, PRO, ANTI)), method="pll-shared", resamples=100)
    row = probe.run(pc.load(zoo(name))).items.row(0, named=True)
    both = brute.pll_shared(*brute.load(zoo(name)), row["pro"], row["anti"])
    assert [row["score_pro"], row["score_anti"]] == pytest.approx([math.fsum(side) for side in both], abs=2e-4)
    with pytest.raises(MethodError, match="does not apply to pll-shared"):
        probe.model_copy(update={"normalise": "mean"}).run(pc.load(zoo(name)))


# Estimates ----------------------------------------------------------------------------------------------------------


def planted(rows: list[tuple[str, str, str, float, float]], tokens: int = 10) -> pl.DataFrame:
    """Items as the probe makes them: (type, occupation, gender of pro, score of the male sentence, of the female)."""
    male = [(m, f) if gender == "male" else (f, m) for _, _, gender, m, f in rows]
    number = range(len(rows))
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in number],
            "set": ["s"] * len(rows),
            "type": [row[0] for row in rows],
            "occupation": [row[1] for row in rows],
            "gender": [row[2] for row in rows],
            "pronouns": ["he/she"] * len(rows),
            "listed": [""] * len(rows),
            **{side: [f"{side} {i}" for i in number] for side in ("pro", "anti")},
            **{f"n_tokens_{side}": [tokens] * len(rows) for side in ("pro", "anti")},
            "score_pro": [pair[0] for pair in male],
            "score_anti": [pair[1] for pair in male],
            **{f"tokens_{side}": [["x"]] * len(rows) for side in ("pro", "anti")},
            **{f"logprobs_{side}": [[-1.0]] * len(rows) for side in ("pro", "anti")},
        }
    )


def result(items: pl.DataFrame, model: str = "m", **more: str) -> pc.Result:
    fields = {"data": "d#1", "method": "lp", "normalise": "none", **more}
    signature = Signature.of("winobias", model=model, **fields, level=0.95, resamples=1000, seed=0)
    probe = pc.WinoBias(data="d", resamples=1000, method=fields["method"])
    probe = probe.model_copy(update={"normalise": fields["normalise"].split(",")})
    return probe.result(pc.Measured(items), signature)


def value(summary: pl.DataFrame, measure: str, **where: str) -> Mapping[str, Any]:
    where = {"scope": "overall", **where}
    chosen = summary.filter(measure=measure, **where)
    assert len(chosen) == 1, chosen
    return chosen.row(0, named=True)


def test_preferences_worked_by_hand() -> None:
    rows = [
        ("1", "cook", "male", 3.0, 1.0),  # prefers pro, +2
        ("1", "cook", "male", 1.0, 2.0),  # anti, −1
        ("2", "guard", "male", 5.0, 2.0),  # pro, +3
        ("1", "nurse", "female", 4.0, 4.0),  # tie, 0
        ("2", "nurse", "female", 1.0, 3.0),  # pro, −2
        ("2", "clerk", "female", 6.0, 2.0),  # anti, +4
    ]
    summary = result(planted(rows)).summary
    assert value(summary, PREFERS_PRO)["value"] == 3.5 / 6
    assert value(summary, PREFERS_MALE)["value"] == 3.5 / 6
    assert value(summary, TIES)["value"] == 1 / 6
    assert "ties: 1, which count one half" in value(summary, PREFERS_PRO)["note"]
    assert value(summary, PREFERS_PRO, scope="type", group="1")["value"] == 1.5 / 3
    assert value(summary, PREFERS_PRO, scope="type", group="2")["value"] == 2 / 3
    assert value(summary, PREFERS_PRO, scope="gender", group="male")["value"] == 2 / 3
    assert value(summary, PREFERS_PRO, scope="gender", group="female")["value"] == 1.5 / 3
    assert value(summary, PREFERS_MALE, scope="form", group="he/she")["n"] == 6
    # Occupations: cook (2 − 1)/2 = ½, guard 3; nurse (0 − 2)/2 = −1, clerk 4.
    assert value(summary, LOG_ODDS, scope="gender", group="male")["value"] == 1.75
    assert value(summary, LOG_ODDS, scope="gender", group="female")["value"] == 1.5
    assert value(summary, ADJUSTED)["value"] == pytest.approx(0.25) and value(summary, ADJUSTED)["n"] == 4
    assert value(summary, LOG_ODDS, scope="occupation", group="cook")["value"] == 0.5


def test_a_model_that_always_prefers_he_has_50_percent_and_no_adjusted_preference() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for gender in ("male", "female"):
        for occupation in range(8):
            base = rng.normal(size=10) - 30
            rows += [("1", f"{gender}{occupation}", gender, b + 2 + 0.1 * rng.normal(), b) for b in base]
    summary = result(planted(rows)).summary
    assert value(summary, PREFERS_PRO)["value"] == 0.5 and value(summary, PREFERS_MALE)["value"] == 1
    assert value(summary, PREFERS_PRO)["p"] > 0.9 and value(summary, PREFERS_PRO)["how"] == "Wilson score"
    adjusted = value(summary, ADJUSTED)
    assert abs(adjusted["value"]) < 0.15 and adjusted["low"] < 0 < adjusted["high"] and adjusted["p"] > 0.05
    # With a stereotype beneath the leaning, shares stay as they are, and the adjusted preference finds it.
    tilted = [(kind, o, gender, m + (0.5 if gender == "male" else -0.5), f) for kind, o, gender, m, f in rows]
    found = result(planted(tilted))
    assert value(found.summary, PREFERS_PRO)["value"] == 0.5
    tilt = value(found.summary, ADJUSTED)
    assert tilt["value"] == pytest.approx(adjusted["value"] + 1) and tilt["low"] > 0 and tilt["p"] < 0.05
    assert any("preferred in 100% of pairs" in caution for caution in found.cautions)


def many(seed: int, lean: float = 0.5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(24):
        gender = "male" if number < 12 else "female"
        own = 0.8 * rng.normal()
        for i in range(int(rng.integers(5, 12))):
            gap = lean + own + rng.normal() + (0.3 if gender == "male" else -0.3)
            rows.append(("12"[i % 2], f"o{number}", gender, gap, 0.0))
    return planted(rows)


def test_the_error_of_a_share_is_between_occupations_of_a_gender() -> None:
    items = many(2)
    found = value(result(items).summary, PREFERS_PRO)
    credit = (items["score_pro"] > items["score_anti"]).cast(pl.Float64).to_numpy()
    share, whole, variance = credit.mean(), len(credit), 0.0
    for gender in ("male", "female"):
        inside = items["gender"] == gender
        part, names = credit[inside.to_numpy()], items.filter(inside)["occupation"].to_numpy()
        of = sorted(set(names))
        residuals = np.array([(part[names == name] - part.mean()).sum() for name in of])
        weights = np.array([(names == name).sum() for name in of]) / whole
        variance += len(of) / (len(of) - 1) * float(((residuals / whole / (1 - weights)) ** 2).sum())
    # The jackknife over all 24 leaves each out of the whole, hence 1 − weight and 23/24 in place of 24/23.
    error = math.sqrt(variance * (23 / 24) ** 2)
    reach = stats.t.ppf(0.975, 23) * error / (share * (1 - share))
    ends = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + np.array([-reach, reach]))))
    assert [found["low"], found["high"]] == pytest.approx(ends, rel=1e-6)
    t = np.log(share / (1 - share)) * (share * (1 - share)) / error
    assert found["p"] == pytest.approx(2 * stats.t.sf(abs(t), 23), rel=1e-6)
    assert "over 24 occupations, 23 df, logit scale, within 2 groups" in found["how"]


def test_within_one_gender_it_is_the_cluster_robust_interval() -> None:
    items = many(3).filter(gender="male")
    credit = (items["score_pro"] > items["score_anti"]).cast(pl.Float64).to_numpy()
    probe = pc.WinoBias(data="d")
    found = over_occupations(items, credit, probe, against=0.5, proportion=True)
    plain = clustered_mean(credit, items["occupation"].to_list(), noun="occupations", proportion=True, against=0.5)
    assert (found.value, found.low, found.high, found.p) == pytest.approx((plain.value, plain.low, plain.high, plain.p))


def test_the_adjusted_preference_is_that_of_welch() -> None:
    items = many(4)
    odds = (
        np.where((items["gender"] == "male").to_numpy(), 1, -1) * (items["score_pro"] - items["score_anti"]).to_numpy()
    )
    frame = items.select("occupation", "gender").with_columns(odds=odds)
    means = frame.group_by("occupation", "gender").agg(pl.col("odds").mean())
    sides = [means.filter(gender=gender)["odds"].to_numpy() for gender in ("male", "female")]
    welch = stats.ttest_ind(*sides, equal_var=False)
    found = value(result(items).summary, ADJUSTED)
    assert found["value"] == pytest.approx(sides[0].mean() - sides[1].mean())
    low, high = welch.confidence_interval(0.95)
    assert (found["low"], found["high"], found["p"]) == pytest.approx((low, high, welch.pvalue))
    assert f"{welch.df:.4g} df" in found["how"]


def test_holms_families_are_types_genders_forms_and_occupations() -> None:
    summary = result(many(5)).summary
    for scope in ("type", "gender", "occupation"):
        part = summary.filter(scope=scope, measure=PREFERS_PRO)
        np.testing.assert_allclose(part["p_holm"].to_numpy(), holm(part["p"].to_numpy()))
    assert summary.filter(scope="overall")["p_holm"].is_nan().all()


def test_what_cannot_be_estimated_says_why() -> None:
    one = planted([("1", "cook", "male", 2.0, 1.0), ("1", "guard", "male", 1.0, 3.0)])
    adjusted = value(result(one).summary, ADJUSTED)
    assert math.isnan(adjusted["value"]) and "of one gender" in adjusted["note"]
    two = planted([("1", "cook", "male", 2.0, 1.0), ("1", "nurse", "female", 1.0, 3.0)])
    adjusted = value(result(two).summary, ADJUSTED)
    assert adjusted["value"] == 3 and math.isnan(adjusted["low"]) and "two occupations" in adjusted["note"]
    alone = value(result(planted([("1", "cook", "male", 2.0, 1.0)] * 9)).summary, PREFERS_PRO)
    assert alone["how"] == "Wilson score" and alone["p"] == pytest.approx(2 * 0.5**9 / 2)  # mid-p of 9 of 9
    unbalanced = planted([("1", "cook", "male", 2.0, 1.0)] * 3 + [("1", "nurse", "female", 1.0, 2.0)])
    assert any("is pro-stereotypical in 3 of 4 pairs" in text for text in result(unbalanced).cautions)


def test_normalisations_come_from_one_pass() -> None:
    items = planted([("1", "cook", "male", -10.0, -11.0)] * 2).with_columns(
        n_tokens_pro=pl.lit(5), n_tokens_anti=pl.lit(10)
    )
    summary = result(items, normalise="none,mean,pen").summary
    shares = dict(summary.filter(scope="overall", measure=PREFERS_PRO).select("normalise", "value").iter_rows())
    assert shares == {"none": 1, "mean": 0, "pen": 0}  # −10 > −11; −2 < −1.1; −6.6 < −5.3
    assert any("unequal numbers of tokens" in text for text in result(items).cautions)


# Two models, and the report -----------------------------------------------------------------------------------------


def test_two_models_are_compared_pair_by_pair() -> None:
    a = many(6)
    b = a.with_columns(score_pro=a["score_pro"] + pl.Series(np.random.default_rng(1).normal(size=len(a))))
    one, two = result(a, "one"), result(b, "two")
    found = bias_estimates.compare(one, two)
    for measure, of in (
        (PRO_DIFFERENCE, PREFERS_PRO),
        (MALE_DIFFERENCE, PREFERS_MALE),
        (ADJUSTED_DIFFERENCE, ADJUSTED),
    ):
        gap = value(found, measure)
        expected = value(one.summary, of)["value"] - value(two.summary, of)["value"]
        assert gap["value"] == pytest.approx(expected) and gap["low"] <= gap["value"] <= gap["high"]
        turned = value(bias_estimates.compare(two, one), measure)
        assert (turned["value"], turned["low"]) == pytest.approx((-gap["value"], -gap["high"]), abs=1e-9)
    itself = bias_estimates.compare(one, result(a, "again"))
    assert (itself["value"] == 0).all() and itself["low"].is_nan().all()
    unlike = bias_estimates.compare(one, result(b, "two", method="pll"))
    assert ADJUSTED_DIFFERENCE not in set(unlike["measure"])
    assert unlike["note"].str.contains("the first by lp, the second by pll").all()
    with pytest.raises(StudyError, match="different items"):
        bias_estimates.compare(one, result(a.head(5), "two"))
    with pytest.raises(StudyError, match="data"):
        bias_estimates.compare(one, result(a, "two", data="other#2"))


def test_the_report_calls_it_preference_and_never_accuracy() -> None:
    results = [result(many(8, lean=2), "one"), result(many(8, lean=2), "two")]
    comparison = bias_estimates.compare(*results)
    texts = [*SECTION.methods(results), *SECTION.limits(results)]
    texts += [sentence for answer in SECTION.answers(results, comparison) for sentence in answer.sentences]
    texts += [table.note for table in SECTION.tables(results)]
    for text in texts:
        for sentence in re.split(r"(?<=\.) ", text):
            if "accuracy" in sentence:
                assert "not" in sentence, sentence
    shares, adjusted, occupations = SECTION.tables(results)
    assert len(adjusted.rows) == 6 and len(occupations.rows) == 48
    assert [row.cells[0] for row in shares.rows][:2] == ["all pairs", "all pairs"]
    assert SECTION.items is not None and SECTION.items(results).noun == "pairs"
    assert len(SECTION.compared(comparison)[0].rows) == 3
    for table in (*SECTION.tables(results), *SECTION.compared(comparison)):
        heads = [name.strip() for name in table.columns]
        assert len(set(heads)) == len(heads)  # no two columns of p that only their places tell apart


def stereotyped(by: float, lean: float = 0, *, seed: int = 8) -> pl.DataFrame:
    """Pairs whose pro-stereotypical sentence gains `by`, and whose male one gains `lean`."""
    return many(seed, lean).with_columns(pl.col("score_pro") + by)


def balanced(shift: float = 0) -> pl.DataFrame:
    """Pairs in half of which the male pronoun wins, in every occupation, by as much as it loses in the others."""
    rows = []
    for number, i in itertools.product(range(24), range(80)):
        gap = (1 if i % 2 else -1) + 0.02 * (number % 5 - 2) + shift
        rows.append(("12"[i % 4 // 2], f"o{number}", "male" if number < 12 else "female", gap, 0.0))
    return planted(rows)


def verdicts(results: list[pc.Result], comparison: pl.DataFrame | None = None) -> dict[str, list[Verdict]]:
    answers = SECTION.answers(results, comparison)
    return {answer.claim: list(answer.verdicts) for answer in answers}


@pytest.mark.parametrize(
    ("items", "stereotype", "adjusted", "gender"),
    [
        (stereotyped(2), "yes", "yes", "cannot tell"),
        (stereotyped(-2), "yes", "yes", "cannot tell"),
        (stereotyped(2, 9), "cannot tell", "yes", "yes"),  # only the adjusted preference shows the stereotype
        (stereotyped(0, -9), "cannot tell", "cannot tell", "yes"),
        (balanced(), "no", "no", "no"),
    ],
)
def test_stereotypes_and_a_preference_for_one_gender_are_told_apart(
    items: pl.DataFrame, stereotype: str, adjusted: str, gender: str
) -> None:
    found = {claim: verdict for claim, (verdict,) in verdicts([result(items)]).items()}
    kinds = {"stereotype": stereotype, "adjusted": adjusted, "gender": gender}
    assert {claim: verdict.kind for claim, verdict in found.items()} == kinds
    for claim, measure in (("stereotype", PREFERS_PRO), ("adjusted", ADJUSTED), ("gender", PREFERS_MALE)):
        row = found[claim].row
        assert row is not None and row["value"] == value(result(items).summary, measure)["value"]
    male = value(result(items).summary, PREFERS_MALE)["value"]
    assert found["stereotype"].barred == ("one_gender" if max(male, 1 - male) >= 0.9 else "")


def test_the_smallest_log_odds_of_interest_are_those_of_the_score() -> None:
    for how, margin in (("none", 0.2), ("mean", 0.02), ("mean,none", 0.02)):
        (adjusted,) = verdicts([result(balanced(), normalise=how)])["adjusted"]
        assert (adjusted.kind, adjusted.margin) == ("no", margin)


def test_models_are_compared_unless_one_prefers_a_gender_everywhere() -> None:
    strong, even, male = result(stereotyped(2), "strong"), result(stereotyped(0), "even"), result(many(8, 9), "male")
    for pair, kind, barred in (
        ([strong, even], "yes", ""),
        ([even, strong], "yes", ""),
        ([strong, male], "cannot tell", "one_gender"),
    ):
        (more,) = verdicts(pair, bias_estimates.compare(*pair))["more"]
        assert (more.kind, more.barred) == (kind, barred)
        assert more.row is not None and (more.row["value"] > 0) == (pair[0] is strong)
    nearly = balanced().with_columns(
        pl.when(pl.int_range(pl.len()) < 2).then(9).otherwise("score_pro").alias("score_pro")
    )
    pair = [result(balanced(), "a"), result(nearly, "b")]
    assert [v.kind for v in verdicts(pair, bias_estimates.compare(*pair))["more"]] == ["no"]


def test_a_study_runs_with_skipped_pairs_and_a_pilot(penchant: Callable[..., Answer], zoo: Zoo, tmp_path: Path) -> None:
    odd = "[The cook] saw ☃ because [{}] was late."
    write(tmp_path, [*PRO, odd.format("he")], [*ANTI, odd.format("she")])
    study = tmp_path / "study.yaml"
    study.write_text(
        f"study: s\nmodels: [{zoo('bert')}]\nprobes: [{{winobias: {{data: ., resamples: 100}}}}]\n", "utf-8"
    )
    code, _, err = penchant("run", study, "-o", "out")
    assert code == 2 and "unknown tokens" in err
    text = study.read_text("utf-8").replace("resamples: 100", "resamples: 100, on_unknown: skip")
    study.write_text(text, "utf-8")
    code, _, err = penchant("run", study, "-o", "out")
    assert code == 0 and "1 of 3 pairs holds something unknown" in err
    pilot = pc.WinoBias(data=str(tmp_path), limit=1, on_unknown="skip", resamples=100).run(pc.load(zoo("roberta")))
    assert len(pilot.items) == 1 and "a pilot" in pilot.cautions[0]


# The published files ------------------------------------------------------------------------------------------------


@needs_shared
def test_the_published_pairs_are_counted() -> None:
    """Against a reading of the lines that knows nothing of ours: words side by side, and the pronouns by hand."""
    found = read_winobias([REAL], occupation_lists([REAL]))
    assert (len(found.items), found.refused) == (782, 10)
    pronouns = {"he": "she", "him": "her", "his": "her"}
    kept = Counter[tuple[str, str]]()
    for kind in "12":
        sides = [(REAL / f"{side}_stereotyped_type{kind}.txt.dev").read_text().splitlines() for side in ("pro", "anti")]
        assert [len(side) for side in sides] == [396, 396]
        for lines in zip(*sides, strict=True):
            words = [re.sub(r"[\[\]]", "", line).split()[1:] for line in lines]
            if len(words[0]) != len(words[1]):
                continue
            apart = [
                tuple(w.strip(".,").lower() for w in pair) for pair in zip(*words, strict=True) if pair[0] != pair[1]
            ]
            if apart and all(pronouns.get(a) == b or pronouns.get(b) == a for a, b in apart):
                kept[kind, "male" if apart[0][0] in pronouns else "female"] += 1
    assert Counter((item.labels["type"], item.labels["gender"]) for item in found.items) == kept
    assert kept == {("1", "male"): 198, ("1", "female"): 196, ("2", "male"): 194, ("2", "female"): 194}
    assert len({item.labels["occupation"] for item in found.items}) == 40
    assert all(item.labels["listed"] == item.labels["gender"] for item in found.items)
    (caution,) = found.cautions
    assert "10 of 792 pairs are left out" in str(caution) and "line 171 of pro_stereotyped_type2.txt.dev" in str(
        caution
    )


@needs_shared
def test_a_pilot_on_the_published_pairs_prefers_what_their_scores_say() -> None:
    model = language_model("bundled:modern")
    found = pc.WinoBias(data=str(REAL), limit=12, on_unknown="skip", resamples=100).run(model)
    lines = {
        side: [
            re.sub(r"^\d+ |[\[\]]", "", line)
            for line in (REAL / f"{side}_stereotyped_type1.txt.dev").read_text().splitlines()
        ]
        for side in ("pro", "anti")
    }
    first = found.items.filter(type="1")
    assert len(first)
    for row in first.iter_rows(named=True):
        at = int(row["id"].split("-")[1]) - 1
        texts = [lines[side][at] for side in ("pro", "anti")]
        assert texts == [row["pro"], row["anti"]]
        scores = pc.score(model, texts)["score"].to_list()
        assert scores == pytest.approx([row["score_pro"], row["score_anti"]], abs=1e-4)
