"""The minimal-pair probe: scores against reference passes, counts against the tokenizer, summaries worked by hand."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import vl_convert
from pair_results import kinds, numbers, result, scored, verdicts
from scipy import stats

import brute
import penchant as pc
import zoo as tiny
from answers import Answer
from penchant.errors import MethodError, ModelError, StudyError
from penchant.instruments.minimal_pairs.data import read_many
from penchant.instruments.minimal_pairs.instrument import MINIMAL_PAIRS
from penchant.instruments.minimal_pairs.pair_credits import credits, deltas
from penchant.records import Signature
from penchant.report.paper import answer_table, paragraph
from penchant.report.tables import Number, P
from penchant.report.verdicts import NOT_MEASURED
from penchant.stats.hypothesis_tests import holm
from penchant.study.outcome import Outcome
from penchant.wording.phrases import Note, read_notes

Zoo = Callable[[str], Path]
Program = Callable[..., Answer]
SECTION = MINIMAL_PAIRS.section
HEADLINE = MINIMAL_PAIRS.headline


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = ["good\tbad\tgroup", *(f"{a}\t{b}\tg{i % 2}" for i, (a, b) in enumerate(tiny.PAIRS))]
    file = tmp_path / "pairs.tsv"
    file.write_text("\n".join(rows) + "\n", "utf-8")
    return file


def value(summary: pl.DataFrame, **where: str) -> dict[str, Any]:
    for column, level in where.items():
        summary = summary.filter(pl.col(column) == level)
    assert len(summary) == 1, summary
    return summary.row(0, named=True)


@pytest.mark.parametrize("name", ["bert-cased", "gpt2"])
def test_items_hold_the_reference_scores_of_both_sentences(zoo: Zoo, table: Path, name: str) -> None:
    found = pc.MinimalPairs(data=str(table)).run(pc.load(zoo(name))).items
    model, tokenizer = brute.load(zoo(name), causal=name == "gpt2")
    reference = brute.lp if name == "gpt2" else brute.pll
    assert found["good"].to_list() == [a for a, _ in tiny.PAIRS]
    for row in found.iter_rows(named=True):
        for side in ("good", "bad"):
            expected = reference(model, tokenizer, row[side])
            np.testing.assert_allclose(row[f"logprobs_{side}"], expected, atol=1e-4)
            assert row[f"score_{side}"] == pytest.approx(sum(expected), abs=1e-3)
            assert row[f"n_tokens_{side}"] == len(expected) == len(row[f"tokens_{side}"])


def test_normalisations_are_the_published_formulas() -> None:
    items = scored([("p", -12.0, -20.0, 4, 7)])
    assert deltas(items, "none")[0] == pytest.approx(8.0)
    assert deltas(items, "mean")[0] == pytest.approx(-12 / 4 + 20 / 7)
    assert deltas(items, "pen")[0] == pytest.approx(-12 / 1.5**0.8 + 20 / 2.0**0.8)
    assert credits(items, "none").tolist() == [1.0]
    assert credits(items, "mean").tolist() == [0.0]


def test_a_tie_is_half_a_credit_and_counted() -> None:
    items = scored([("p", -1.0, -2.0, 3, 3), ("p", -2.0, -2.0, 3, 3), ("p", -3.0, -2.0, 3, 3), ("p", -1.0, -2.0, 3, 3)])
    found = result(items)
    whole = {"scope": "overall", "group": "all", "split": "all", "normalise": "none"}
    assert value(found.summary, measure="accuracy", **whole)["value"] == pytest.approx(2.5 / 4)
    assert value(found.summary, measure="share of ties", **whole)["value"] == 0.25
    assert any("1 of 4 pairs ties" in caution for caution in found.cautions)


def test_scores_are_compared_unrounded() -> None:
    assert credits(scored([("p", -1.0, -1.0000001, 3, 3)]), "none").tolist() == [1.0]


def test_splits_gaps_and_counts_worked_by_hand() -> None:
    rows = [("p", 1.0, 0.0, 5, 5)] * 8 + [("p", 0.0, 1.0, 5, 5)] * 2  # A=U: 8 of 10
    rows += [("p", 1.0, 0.0, 6, 5)] * 1 + [("p", 0.0, 1.0, 7, 5)] * 4  # A>U: 1 of 5
    rows += [("p", 1.0, 0.0, 4, 5)] * 5  # A<U: 5 of 5
    one = result(scored(rows))
    summary = one.summary
    where = {"scope": "overall", "group": "all", "normalise": "none"}
    for split, (share, n) in {"all": (14 / 20, 20), "A=U": (0.8, 10), "A>U": (0.2, 5), "A<U": (1.0, 5)}.items():
        found = value(summary, measure="accuracy", split=split, **where)
        assert (found["value"], found["n"]) == (pytest.approx(share), n)
        assert found["how"] == "Wilson score"
    gap = value(summary, measure="gap to A=U", split="A>U", **where)
    assert gap["value"] == pytest.approx(0.2 - 0.8)
    exact = stats.fisher_exact(np.array([[1, 4], [8, 2]])).pvalue
    assert gap["p"] == pytest.approx(exact - stats.hypergeom.pmf(1, 15, 9, 5) / 2)  # no other table is as probable
    other = value(summary, measure="gap to A=U", split="A<U", **where)
    assert gap["p_holm"] == pytest.approx(min(1, 2 * min(gap["p"], other["p"])))
    longer, shorter, *by_others = verdicts(SECTION, [one])["length"]
    assert [each.place for each in by_others] == [
        f"{split} by {how}" for how in ("mean", "pen") for split in ("A>U", "A<U")
    ]
    assert kinds([longer, shorter]) == [("cannot tell", "", "A>U"), ("cannot tell", "", "A<U")]
    assert numbers(longer) == (pytest.approx(-0.6), gap["low"], gap["high"], 15)
    assert numbers(shorter) == (pytest.approx(0.2), other["low"], other["high"], 15)
    by = {"measure": "accuracy by |A|−|U|", "scope": "overall", "normalise": "none"}
    assert value(summary, split="+2", **by)["n"] == 4
    assert value(summary, split="-1", **by)["value"] == 1.0
    assert value(summary, split="0", **by)["n"] == 10


def test_length_adjustment_undoes_a_pure_length_effect() -> None:
    # The score gains 1 for the better sentence in half the pairs and loses 2 a token: judged on tokens alone.
    rng = np.random.default_rng(1)
    difference = rng.integers(-3, 4, 4000)
    noise = rng.logistic(size=4000)
    rows = [("p", float(0.8 - 1.5 * d + e), 0.0, 10 + int(d), 10) for d, e in zip(difference, noise, strict=True)]
    found = value(
        result(scored(rows)).summary,
        measure="length-adjusted accuracy",
        scope="overall",
        normalise="none",
    )
    truth = 1 / (1 + math.exp(-0.8))
    assert found["low"] < truth < found["high"]
    assert found["value"] == pytest.approx(truth, abs=0.03)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_several_paradigms_are_a_sample_wherever_they_are_shown(count: int) -> None:
    rng = np.random.default_rng(count)
    rows = [(f"p{i % count}", float(rng.random() < 0.7), 0.5, 5 + int(rng.integers(2)), 5) for i in range(600)]
    summary = result(scored(rows)).summary
    rows = [*rows, *((f"q{i}", 1.0, 0.5, 5, 5) for i in range(10))]
    both = pl.concat([scored(rows[:600], "d", "of p"), scored(rows[600:], "d", "of q")])
    for table, scope, group in ((summary, "overall", "all"), (result(both).summary, "phenomenon", "of p")):
        found = value(table, scope=scope, group=group, measure="accuracy", split="all", normalise="none")
        assert found["how"] == f"cluster-robust t (jackknife) over {count} paradigms, {count - 1} df, logit scale"
        gap = value(table, scope=scope, group=group, measure="gap to A=U", split="A>U", normalise="none")
        assert (
            gap["how"]
            == f"cluster-robust t (jackknife) over {count} paradigms, {count - 1} df, Mantel-Haenszel weights"
        )
        assert (gap["p"] < 0.05) == (not gap["low"] <= 0 <= gap["high"])


def test_log_odds_per_token_are_adjusted_over_the_paradigms() -> None:
    rng = np.random.default_rng(0)
    rows = [(f"p{i % 4}", float(rng.normal(0.2)), 0.0, 5 + int(rng.integers(-2, 3)), 5) for i in range(400)]
    summary = result(scored(rows)).summary.filter(scope="group", normalise="none")
    slopes = summary.filter(measure="log-odds per token of |A|−|U|")
    assert slopes["p_holm"].to_list() == pytest.approx(holm(slopes["p"].to_numpy()).tolist())
    gaps = summary.filter(measure="gap to A=U")  # a family by themselves
    assert gaps["p_holm"].to_list() == pytest.approx(holm(gaps["p"].to_numpy()).tolist())


def test_stereotype_scores_are_tested_against_50() -> None:
    won = {"age": 4, "gender": 9, "race": 8}  # of ten pairs each
    parts = [
        scored([("stereo", float(i < right), 0.5, 5, 5) for i in range(10)], "crows-pairs", kind)
        for kind, right in won.items()
    ]
    summary = result(pl.concat(parts)).summary
    where = {"measure": "stereotype score", "scope": "stereotype", "normalise": "none"}
    rows = [value(summary, group=kind, **where) for kind in won]
    p = [
        stats.binomtest(right, 10).pvalue - stats.binom.pmf(right, 10, 0.5) / (2 if right == 5 else 1)
        for right in won.values()
    ]
    assert [row["p"] for row in rows] == pytest.approx(p) and {row["test"] for row in rows} == {"binomial mid-p"}
    assert [row["p_holm"] for row in rows] == pytest.approx(holm(p).tolist())
    whole = value(summary, group="all", **where)
    assert whole["value"] == pytest.approx(70) and whole["test"] == "cluster-robust t over bias types"
    # Bias types of equal size: .4, .9 and .8, of which .7 is 21 of 30; on the logit scale.
    error = np.std([0.4, 0.9, 0.8], ddof=1) / math.sqrt(3) / (0.7 * 0.3)
    assert whole["p"] == pytest.approx(2 * stats.t.sf(math.log(7 / 3) / error, 2))
    reach = stats.t.ppf(0.975, 2) * error
    ends = tuple(100 / (1 + math.exp(-(math.log(7 / 3) + side * reach))) for side in (-1, 1))
    assert (whole["low"], whole["high"]) == pytest.approx(ends)
    tables = {table.name: table for table in SECTION.tables([result(pl.concat(parts))])}
    assert tables["stereotype"].columns[-1] == "p" and tables["stereotype-by-kind"].columns[-2:] == ("p", "p (Holm)")


def test_crows_pairs_metric_worked_by_hand() -> None:
    rows = [("stereo", 1.0, 0.0, 5, 5)] * 3 + [("stereo", 0.0, 0.0, 5, 5)] + [("stereo", 0.0, 1.0, 5, 5)] * 2
    rows += [("antistereo", 1.0, 0.0, 5, 5)] + [("antistereo", 0.0, 1.0, 5, 5)] * 3
    items = scored(rows, dataset="crows-pairs", phenomenon="age")
    summary = result(items).summary
    where = {"measure": "stereotype score", "scope": "stereotype", "normalise": "none"}
    assert value(summary, group="all", **where)["value"] == pytest.approx(100 * 4 / 10)
    assert "1 ties counted" in str(value(summary, group="all", **where)["note"])
    assert (value(summary, group="stereo", **where)["value"], value(summary, group="stereo", **where)["n"]) == (60, 5)
    assert value(summary, group="antistereo", **where)["value"] == 25
    assert value(summary, group="age", **where)["value"] == pytest.approx(40)
    # With the other sentence as the acceptable one all scores swap sides; the metric is about sent_more all the same.
    swapped = items.rename({"score_good": "score_bad", "score_bad": "score_good"})
    other = result(swapped, acceptable="sent_less").summary
    assert value(other, group="all", **where)["value"] == pytest.approx(40)
    assert value(other, group="stereo", **where)["value"] == 60


def test_every_number_has_n_interval_recipe_or_reason() -> None:
    rows = [(f"p{i % 2}", float(i % 3), 1.0, 5 + i % 2, 5) for i in range(60)]
    for row in result(scored(rows)).summary.iter_rows(named=True):
        assert Signature.parse(row["signature"])["normalise"] == row["normalise"]
        assert row["n"] is not None
        if math.isnan(row["value"]) or math.isnan(row["low"]):
            assert row["note"]
        else:
            assert row["how"]
            assert row["low"] <= row["value"] <= row["high"]


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-roberta", "llama"])
def test_audit_counts_what_the_tokenizer_says(zoo: Zoo, table: Path, name: str) -> None:
    from transformers import AutoTokenizer

    found = pc.audit([pc.load_tokenizer(zoo(name))], read_many([table]))
    tokenizer = AutoTokenizer.from_pretrained(zoo(name))
    lengths = [[len(tokenizer(s, add_special_tokens=False).input_ids) for s in pair] for pair in tiny.PAIRS]
    whole = found.filter(pl.col("group") == "all").row(0, named=True)
    assert whole["pairs"] == len(tiny.PAIRS)
    assert whole["A=U"] == sum(a == u for a, u in lengths)
    assert whole["A>U"] == sum(a > u for a, u in lengths)
    assert whole["A<U"] == sum(a < u for a, u in lengths)
    parts = found.filter(pl.col("group") != "all")
    assert parts["pairs"].sum() == whole["pairs"]


def test_audit_and_probe_agree_and_the_audit_needs_no_weights(zoo: Zoo, table: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(zoo("bert"), tmp_path / "m", ignore=shutil.ignore_patterns("*.safetensors"))
    found = pc.audit([pc.load_tokenizer(tmp_path / "m")], read_many([table]))
    items = pc.MinimalPairs(data=str(table)).run(pc.load(zoo("bert"))).items
    whole = found.filter(pl.col("group") == "all").row(0, named=True)
    assert whole["A>U"] == (items["difference"] > 0).sum()
    assert whole["A=U"] == (items["difference"] == 0).sum()


def test_audit_counts_pairs_that_the_tokenizer_does_not_know(zoo: Zoo, tmp_path: Path, penchant: Program) -> None:
    """A word of letters that the vocabulary lacks is one token, and all words are as long as one another."""
    rows = ["good\tbad\tgroup", "农夫吃饭\t农夫饭\ta", "The dog\tThe dogs\ta", "Rain ☂\tRain\tb", "Rain <unk>\tRain\tb"]
    file = tmp_path / "pairs.tsv"
    file.write_text("\n".join(rows) + "\n", "utf-8")
    found = pc.audit([pc.load_tokenizer(zoo("xlm-roberta")), pc.load_tokenizer(zoo("gpt2"))], read_many([file]))
    assert found["group"].to_list() == ["a", "b", "all"] * 2
    assert found["unknown"].to_list() == [1, 1, 2, 0, 0, 0]
    assert found["A=U"][0] >= 1  # 农夫吃饭 and 农夫饭 are one unknown token each
    code, _, err = penchant("audit", file, "-m", zoo("xlm-roberta"), "-m", zoo("gpt2"))
    told = " ".join(err.split())
    assert code == 0 and told.count("unknown tokens in") == 1
    assert "pairs: unknown tokens in 2 of 4 pairs: one may replace" in told


def test_shared_token_method_and_its_limits(zoo: Zoo, table: Path) -> None:
    lm = pc.load(zoo("bert"))
    found = pc.MinimalPairs(data=str(table), method="pll-shared").run(lm)
    assert found.signature["method"] == "pll-shared"
    assert found.signature["normalise"] == "none"
    model, tokenizer = brute.load(zoo("bert"))
    for row in found.items.iter_rows(named=True):
        good, bad = brute.pll_shared(model, tokenizer, row["good"], row["bad"])
        assert row["score_good"] == pytest.approx(sum(good), abs=1e-3)
        assert row["score_bad"] == pytest.approx(sum(bad), abs=1e-3)
        assert row["n_tokens_good"] == len(tokenizer(row["good"], add_special_tokens=False).input_ids)
    with pytest.raises(MethodError, match="does not apply"):
        pc.MinimalPairs(data=str(table), method="pll-shared", normalise=["mean"]).run(lm)
    with pytest.raises(MethodError, match="for masked models"):
        pc.MinimalPairs(data=str(table), method="pll-shared").run(pc.load(zoo("gpt2")))
    with pytest.raises(ModelError, match="word vectors"):
        pc.MinimalPairs(data=str(table)).run(_vectors(table.parent))


def _vectors(folder: Path) -> pc.StaticVectors:
    (folder / "v.txt").write_text("a 1 2\nb 3 4\n")
    vectors = pc.load_vectors(folder / "v.txt")
    assert isinstance(vectors, pc.StaticVectors)
    return vectors


class TestComparison:
    ROWS_A = [("p", 1.0, 0.0, 5, 5)] * 30 + [("p", 0.0, 1.0, 5, 5)] * 10 + [("q", 1.0, 0.0, 5, 5)] * 20
    ROWS_B = [("p", 1.0, 0.0, 5, 5)] * 18 + [("p", 0.0, 1.0, 5, 5)] * 22 + [("q", 1.0, 0.0, 5, 5)] * 20

    def test_worked_by_hand(self) -> None:
        table = pc.compare(result(scored(self.ROWS_A), "a"), result(scored(self.ROWS_B), "b"))
        p = value(table, scope="group", group="p", normalise="none")
        assert p["value"] == pytest.approx(12 / 40)
        assert p["p"] == pytest.approx(0.5**12)  # twelve discordant pairs, all one way: half of 2·½¹²
        assert p["p_holm"] == pytest.approx(2 * 0.5**12)
        q = value(table, scope="group", group="q", normalise="none")
        assert (q["value"], q["p"]) == (0, 1)
        assert value(table, scope="overall", split="all", normalise="none")["value"] == pytest.approx(12 / 60)

    def test_its_signature_names_both_recipes(self) -> None:
        one = result(scored(self.ROWS_A), "a", method="lp", dtype="float32")
        other = result(scored(self.ROWS_B), "b", method="pll", dtype="float32")
        (text,) = pc.compare(one, other).filter(pl.col("normalise") == "mean")["signature"].unique()
        found = Signature.parse(text)
        assert (found["model"], found["method"]) == ("a − b", "lp − pll")
        assert (found["dtype"], found["normalise"]) == ("float32", "mean")

    def test_discordant_pairs_are_counted(self) -> None:
        table = pc.compare(result(scored(self.ROWS_A), "a"), result(scored(self.ROWS_B), "b"))
        counts = ["first_better", "second_better", "scores_differ"]
        for where, expected in (
            ({"group": "p"}, [12, 0, 12]),
            ({"group": "q"}, [0, 0, 0]),
            ({"scope": "overall", "split": "all"}, [12, 0, 12]),
        ):
            row = value(table, normalise="none", **where)
            assert [row[name] for name in counts] == expected
        swapped = pc.compare(result(scored(self.ROWS_B), "b"), result(scored(self.ROWS_A), "a"))
        assert swapped["second_better"].to_list() == table["first_better"].to_list()
        shown = {each.name: each for each in SECTION.compared(table)}
        for name in ("differences", "differences-by-paradigm"):
            assert {"first better", "second better"} < set(shown[name].columns)
            assert "scores differ" not in shown[name].columns

    def test_pairs_of_equal_length_by_paradigm(self) -> None:
        """Worked by hand, with Holm's correction over those of equal length alone."""
        ours = [(p, 1.0, 0.0, n, 5) for p in "pqr" for n in [5] * 6 + [6] * 4][:-6]  # r: four of equal length only
        theirs = [(p, *((0.0, 1.0) if i % 2 else (1.0, 0.0)), n, 5) for i, (p, _, _, n, _) in enumerate(ours)]
        theirs[-4:] = [("r", 0.0, 1.0, 6, 5)] * 4  # under the other tokenizer none is equal
        table = pc.compare(result(scored(ours), "a"), result(scored(theirs), "b"))
        equal = table.filter(scope="group", split="A=U under both", normalise="none")
        assert equal["group"].to_list() == ["p", "q"]
        assert equal.select("n", "value", "first_better", "second_better").rows() == [(6, 0.5, 3, 0)] * 2
        assert equal["p"].to_list() == pytest.approx([0.5**3] * 2)
        assert equal["p_holm"].to_list() == pytest.approx([2 * 0.5**3] * 2)
        every = table.filter(scope="group", split="all", normalise="none")
        assert every["p_holm"].to_list() == pytest.approx(holm(every["p"].to_list()).tolist())
        by_paradigm = SECTION.compared(table)[-1]
        lengths = by_paradigm.columns.index("lengths")
        assert [row.cells[lengths] for row in by_paradigm.rows[:5]] == ["all"] * 3 + ["A=U under both"] * 2
        alike = pc.compare(result(scored(self.ROWS_A), "a"), result(scored(self.ROWS_B), "b"))
        assert set(alike.filter(scope="group")["split"]) == {"all"}  # all pairs are equal: nothing new to say

    def test_of_one_paradigm_the_pairs_of_equal_length_are_told(self) -> None:
        ours = [("p", 1.0, 0.0, n, 5) for n in [5] * 30 + [6] * 10]
        theirs = [("p", 0.0, 1.0, n, 5) for n in [5] * 30 + [6] * 10]
        each = [result(scored(rows), model) for rows, model in ((ours, "a"), (theirs, "b"))]
        (more,) = verdicts(SECTION, each, pc.compare(*each))["more"]
        assert kinds([more]) == [("yes", "above", "A=U under both")]
        assert (numbers(more)[0], numbers(more)[3]) == (1.0, 30)

    def test_methods_that_differ_are_noted(self) -> None:
        one = result(scored(self.ROWS_A), "a", method="lp")
        alike = pc.compare(one, result(scored(self.ROWS_B), "b", method="lp"))
        assert not any("scored-differently" in notes for notes in alike["notes"])
        mixed = pc.compare(one, result(scored(self.ROWS_B), "b", method="pll"))
        note = Note("scored-differently", first="lp", second="pll")
        assert all(note in read_notes(notes) for notes in mixed["notes"])

    def test_two_methods_of_one_model(self) -> None:
        """The name leaves out keys that follow from the method, and does not call one tokenizer two."""
        one = result(scored(self.ROWS_A), method="pll", pen_alpha="0.8")
        other = result(scored(self.ROWS_B), method="aul", normalise="none")
        table = pc.compare(one, other)
        assert (set(table["first"]), set(table["second"])) == ({"m (method:pll)"}, {"m (method:aul)"})
        assert value(table, scope="overall", split="all")["scores_differ"] == 12
        assert not any("scored-differently" in notes for notes in table["notes"])
        overall = SECTION.compared(table)[0]
        lengths = [row.cells[overall.columns.index("lengths")] for row in overall.rows]
        assert lengths == ["all", "all", "A=U", "A=U"]  # for paradigms like these, and for these
        assert [row.cells[overall.columns.index("scores differ")] for row in overall.rows] == [12, 12, 12, 12]
        chosen = result(scored(self.ROWS_A), "m", method="pll", normalise="mean,none")
        assert "m (normalise:mean,none, method:pll)" in pc.compare(chosen, other)["first"][0]

    def test_swapping_models_flips_the_sign(self) -> None:
        a, b = result(scored(self.ROWS_A), "a"), result(scored(self.ROWS_B), "b")
        one, other = pc.compare(a, b), pc.compare(b, a)
        np.testing.assert_allclose(one["value"].to_numpy(), -other["value"].to_numpy())
        np.testing.assert_allclose(one["p"].to_numpy(), other["p"].to_numpy())
        paired = one["scope"].to_numpy() == "group"
        np.testing.assert_allclose(one["low"].to_numpy()[paired], -other["high"].to_numpy()[paired])

    def test_what_cannot_be_compared_is_refused_with_the_reason(self) -> None:
        a = result(scored(self.ROWS_A), "a")
        with pytest.raises(StudyError, match=r"differ in data \(d#1 and d#2\)"):
            pc.compare(a, result(scored(self.ROWS_B), "b", data="d#2"))
        with pytest.raises(StudyError, match="different items"):
            pc.compare(a, result(scored(self.ROWS_B[:-1]), "b"))


def test_a_paradigm_is_held_against_one_half() -> None:
    """The sign test of its pairs, ties left out, in the table by paradigm; the verdict is about all of them."""
    shares = {"p1": (20, 0, 0), "p2": (9, 8, 3), "p3": (1, 19, 0), "p4": (18, 2, 0), "p5": (19, 1, 0)}
    rows = [
        (name, good, bad, 5, 5)
        for name, counts in shares.items()
        for (good, bad), times in zip(((1.0, 0.0), (0.0, 1.0), (0.5, 0.5)), counts, strict=True)
        for _ in range(times)
    ]
    one = result(scored(rows), "m", method="lp")
    found = one.summary.filter(scope="group", measure="accuracy", split="all", normalise="none")
    expected = [
        stats.binomtest(right, right + wrong).pvalue
        - stats.binom.pmf(right, right + wrong, 0.5) * (1 if right != wrong else 0.5)
        for right, wrong, _ in shares.values()
    ]
    assert found["p"].to_list() == pytest.approx(expected)
    assert found["p_holm"].to_list() == pytest.approx(holm(expected).tolist())
    assert found["test"].to_list() == ["binomial mid-p", "binomial mid-p, ties left out", *["binomial mid-p"] * 3]
    whole = pl.col("scope").is_in(["overall", "group"]) & (pl.col("split") == "all")
    assert one.summary.filter(~whole, measure="accuracy")["p"].is_nan().all()
    # Over all of them, by t on the logit scale over paradigms of equal size; as other paradigms would give it.
    overall = value(one.summary, measure="accuracy", scope="overall", split="all", normalise="none")
    means = np.array([(right + tied / 2) / 20 for right, _, tied in shares.values()])
    mean = means.mean()
    error = means.std(ddof=1) / math.sqrt(5) / (mean * (1 - mean))
    p = 2 * stats.t.sf(abs(math.log(mean / (1 - mean))) / error, 4)
    assert overall["p"] == pytest.approx(p) and (overall["tests"], overall["test_family"]) == (1, "alone")
    (prefers,) = verdicts(SECTION, [one])["prefers"]
    assert kinds([prefers]) == [("yes", "above", "")]
    assert (numbers(prefers)[0], numbers(prefers)[3]) == (pytest.approx(mean), 100)
    table = next(each for each in SECTION.tables([one]) if each.name == "by-paradigm")
    shown = [row.cells[table.columns.index("p of 50% (Holm)")] for row in table.rows[:5]]
    assert shown == [P(p) for p in found["p_holm"]]
    undecided = result(scored([(name, 1.0, 0.0, 5, 5) for name in "pq"] * 2), "m", method="lp")
    (prefers,) = verdicts(SECTION, [undecided])["prefers"]
    assert kinds([prefers]) == [("cannot tell", "", "")] and (numbers(prefers)[0], numbers(prefers)[3]) == (1.0, 4)


def test_a_model_that_prefers_neither_or_the_unacceptable_sentence() -> None:
    each = [
        result(scored([("p", float(i % 10 < right), 0.5, 5, 5) for i in range(2000)]), f"m{right}")
        for right in (5, 1, 9)
    ]
    told = verdicts(SECTION, each)["prefers"]
    assert kinds(told) == [("no", "", ""), ("yes", "below", ""), ("yes", "above", "")]
    assert [numbers(verdict)[0] for verdict in told] == [0.5, 0.1, 0.9]


def test_every_data_set_has_a_verdict_of_its_own() -> None:
    frames = [
        pl.concat([scored([("p", float(i < right), 0.5, 5, 5) for i in range(60)], name) for name, right in counts])
        for counts in ((("d", 50), ("e", 10)), (("d", 10), ("e", 10)))
    ]
    each = [result(frame, model) for frame, model in zip(frames, "ab", strict=True)]
    told = verdicts(SECTION, each, pc.compare(*each))
    assert [(verdict.models, verdict.place) for verdict in told["prefers"]] == [
        ((model,), name) for model in "ab" for name in "de"
    ]
    assert [numbers(verdict)[0] for verdict in told["prefers"]] == [50 / 60, 1 / 6, 1 / 6, 1 / 6]
    assert kinds(told["more"]) == [("yes", "above", "d"), ("cannot tell", "", "e")]
    assert [numbers(verdict)[0] for verdict in told["more"]] == [pytest.approx(40 / 60), 0]


def test_two_models_are_compared_over_these_paradigms() -> None:
    ours = [(f"p{i}", 1.0, 0.0, 5, 5) for i in range(6) for _ in range(20)]
    theirs = [(f"p{i}", *((0.0, 1.0) if i < 4 else (1.0, 0.0)), 5, 5) for i in range(6) for _ in range(20)]
    each = [result(scored(rows), model, method="lp") for rows, model in ((ours, "BERT"), (theirs, "b"))]
    comparison = pc.compare(*each)
    paradigms = comparison.filter(scope="group", split="all", normalise="none")
    assert paradigms["value"].to_list() == [1.0] * 4 + [0.0] * 2
    assert [p <= 0.05 for p in paradigms["p_holm"]] == [True] * 4 + [False] * 2
    (more,) = verdicts(SECTION, each, comparison)["more"]
    assert kinds([more]) == [("yes", "above", "")]
    assert (numbers(more)[0], numbers(more)[3]) == (pytest.approx(80 / 120), 120)
    same = result(scored(ours), "b", method="lp")
    (more,) = verdicts(SECTION, [each[0], same], pc.compare(each[0], same))["more"]
    assert more.kind == "cannot tell" and (numbers(more)[0], numbers(more)[3]) == (0.0, 120)


def test_without_equal_and_unequal_lengths_in_a_paradigm_their_effect_is_not_measured() -> None:
    apart = [("p", 1.0, 0.0, 6, 5)] * 9 + [("q", 1.0, 0.0, 5, 5)] * 9
    assert kinds(verdicts(SECTION, [result(scored(apart))])["length"]) == [(NOT_MEASURED, "", "")]
    together = [("p", 1.0, 0.0, 6, 5)] * 9 + [("p", 1.0, 0.0, 5, 5)] * 9
    places = [place for _, _, place in kinds(verdicts(SECTION, [result(scored(together))])["length"])]
    assert places == ["A>U", "A>U by mean", "A>U by pen"]
    assert "length" not in verdicts(SECTION, [result(scored([("p", 1.0, 0.0, 5, 5)] * 9))])


def test_verdicts_on_differences_are_about_pairs_of_equal_length() -> None:
    """Over all pairs of p the difference cancels: m is right in 20 pairs of equal length, b in 20 of unequal length."""
    ours = [("p", 1.0, 0.0, 5, 5)] * 20 + [("p", 0.0, 1.0, 5, 6)] * 20 + [("q", 1.0, 0.0, 5, 5)] * 20
    theirs = [("p", 0.0, 1.0, 5, 5)] * 20 + [("p", 1.0, 0.0, 5, 6)] * 20 + [("q", 1.0, 0.0, 5, 5)] * 20
    each = [result(scored(rows), model, method="lp") for rows, model in ((ours, "m"), (theirs, "b"))]
    comparison = pc.compare(*each)
    (more,) = verdicts(SECTION, each, comparison)["more"]
    assert kinds([more]) == [("yes", "above", "A=U under both")]
    assert "at equal token lengths +50.0 points" in more.sentence
    assert (numbers(more)[0], numbers(more)[3]) == (0.5, 40) and more.row and more.row["scope"] == "these groups"
    every = comparison.filter(scope="group", split="all", group="p", normalise="none")
    assert every["value"].to_list() == [0.0]
    unlike = [
        [("q", good, bad, 5, 6) if name == "q" else (name, good, bad, a, u) for name, good, bad, a, u in rows]
        for rows in (ours, theirs)
    ]
    lacking = [result(scored(rows), model, method="lp") for rows, model in zip(unlike, ("m", "b"), strict=True)]
    (more,) = verdicts(SECTION, lacking, pc.compare(*lacking))["more"]
    assert more.place == "A=U under both" and (numbers(more)[0], numbers(more)[3]) == (1.0, 20)  # no pair of q


def test_the_preference_for_stereotypes_is_over_these_bias_types() -> None:
    rows = [("stereo", 1.0, 0.0, 5, 5)] * 30
    items = pl.concat(
        [
            scored(rows, "crows-pairs", "age"),
            scored(
                [("stereo", *((1.0, 0.0) if i % 2 else (0.0, 1.0)), 5, 5) for i in range(30)], "crows-pairs", "race"
            ),
        ]
    )
    told = verdicts(SECTION, [result(items, "m", method="lp")])
    (stereotypes,) = told["stereotypes"]
    assert kinds([stereotypes]) == [("yes", "above", "")] and "prefers" not in told
    assert (numbers(stereotypes)[0], numbers(stereotypes)[3]) == (75, 60)
    assert stereotypes.row and stereotypes.row["scope"] == "these groups"


@pytest.mark.parametrize("types", [("age", "race"), ("age", "age")])
def test_two_models_differ_in_the_sentence_that_accuracy_counts(types: tuple[str, str]) -> None:
    """If the less stereotypical sentence is the acceptable one, the difference is about that one."""
    each = []
    for model, right in (("a", 25), ("b", 5)):
        rows = [("stereo", float(i < right), 0.5, 5, 5) for i in range(30)]
        other = [("antistereo", *row[1:]) for row in rows]
        frames = [scored(part, "crows-pairs", kind) for part, kind in zip((rows, other), types, strict=True)]
        each.append(result(pl.concat(frames), model, acceptable="sent_less"))
    told = verdicts(SECTION, each, pc.compare(*each))
    assert kinds(told["stereotypes"]) == [("yes", "below", ""), ("yes", "above", "")]
    assert [numbers(verdict)[0] for verdict in told["stereotypes"]] == pytest.approx([500 / 30, 2500 / 30])
    (more,) = told["more"]
    assert kinds([more]) == [("yes", "above", "")]
    assert (numbers(more)[0], numbers(more)[3]) == (pytest.approx(40 / 60), 60)
    assert more.sentence.startswith("a prefers the less stereotypical sentence more often than b")
    assert ": +66.7 points [" in more.sentence


def test_paradigms_that_go_both_ways_are_said_and_no_more_pairs_asked_for() -> None:
    rows = [(group, float(i < right), 0.5, 4, 4) for group, right in (("up", 17), ("down", 3)) for i in range(20)]
    found = result(scored(rows), "m")
    (verdict,) = verdicts(SECTION, [found])["prefers"]
    assert (verdict.kind, verdict.needed, verdict.facts["mixed"]) == ("cannot tell", "", True)
    assert "above 50% in up and below in down" in verdict.sentence
    (headline,) = HEADLINE.table(found.summary, "m").rows(named=True)
    assert verdict.row is not None
    assert [headline[key] for key in ("measure", "low", "high")] == [
        verdict.row[key] for key in ("measure", "low", "high")
    ]


def test_a_paper_counts_the_groups_that_an_answer_names() -> None:
    """Of a total at chance, the paradigms that are not are in the table, and their tests make a family."""
    rows = [(group, float(i < n), 0.5, 4, 4) for group, n in (("up", 18), ("down", 2), ("even", 10)) for i in range(20)]
    outcome = Outcome([])
    outcome.results["minimal-pairs", "m"] = result(scored(rows), "m")
    (section,) = outcome.document().sections
    table = answer_table(section)
    assert table is not None
    place = table.columns.index("of")
    shares = {row.cells[place]: cell.value for row in table.rows for cell in row.cells if isinstance(cell, Number)}
    assert shares["up"] == pytest.approx(90) and shares["down"] == pytest.approx(10) and "even" not in shares
    assert "within families: 3 tests of accuracy." in paragraph(section)


def test_the_fit_of_the_line_is_not_read_as_the_slope() -> None:
    found = result(scored([("p", float(i % 3 == 0), 0.5, 5 + i % 4, 5) for i in range(80)]), "m")
    (table,) = (each for each in SECTION.tables([found]) if each.name == "line-fit")
    assert table.columns[-5:] == ("log-odds per token", "χ², fit", "df, fit", "p, fit", "p, fit (Holm)")


ROWS = [(f"p{i % 3}", float(i % 5), 2.0, 4 + (i % 3 == 0) - (i % 7 == 0), 4) for i in range(600)]


def drawn(results: list[pc.Result]) -> dict[str, Any]:
    """The charts of the section by name."""
    return {figure.name: figure.chart for figure in SECTION.figures(results)}


class TestCharts:
    """Drawn from a summary alone: every paradigm, split and model, and no mark where there is no number."""

    def marks(self, chart: Any) -> list[dict[str, Any]]:
        """The rows of data behind the points of a chart."""
        spec = json.loads(chart.to_json())
        return [row for rows in spec["datasets"].values() for row in rows if "row" in row]

    def test_accuracy_shows_the_numbers_of_the_summary(self) -> None:
        found = result(scored(ROWS))
        accuracy = pl.col("measure").is_in(["accuracy", "accuracy, these paradigms"])
        own = found.summary.filter(accuracy, normalise="none").filter(pl.col("n") > 0)
        wanted = {
            ("these 3 paradigms" if row["scope"] == "these groups" else row["group"], row["split"]): row
            for row in own.iter_rows(named=True)
            if row["scope"] in ("these groups", "group")
        }
        marks = self.marks(drawn([found])["accuracy"])
        assert len(marks) == len(wanted) > 6
        splits = {"any": "all", "shorter": "A<U", "same": "A=U", "longer": "A>U"}
        for row in marks:
            told = wanted[row["row"], splits[row["lengths"]]]
            numbers = [100 * told[name] for name in ("value", "low", "high")]
            assert [row[name] for name in ("value", "low", "high")] == pytest.approx(numbers)

    @pytest.mark.parametrize(
        ("paradigms", "name"), [(1, "all pairs"), (3, "these 3 paradigms"), (12, "paradigms like these")]
    )
    def test_the_first_mark_is_the_answers_number(self, paradigms: int, name: str) -> None:
        rows = [(f"p{i % paradigms}", float(i % 5), 2.0, 4 + (i % 7 == 0), 4) for i in range(600)]
        found = result(scored(rows))
        (verdict,) = verdicts(SECTION, [found])["prefers"]
        first = self.marks(drawn([found])["accuracy"])[0]
        assert (first["row"], first["lengths"]) == (name, "any")
        assert (*(first[key] / 100 for key in ("value", "low", "high")), 600) == pytest.approx(numbers(verdict))

    @pytest.mark.parametrize(
        ("unequal", "lengths"), [(0, {"any"}), (4, {"any"}), (5, {"any", "same", "longer"}), (60, {"any"})]
    )
    def test_lengths_are_drawn_apart_where_enough_pairs_differ(self, unequal: int, lengths: set[str]) -> None:
        rows = [("p", 1.0, 0.0, 5 if i < unequal else 4, 4) for i in range(60)]
        figure = drawn([result(scored(rows))])["accuracy"]
        marks = self.marks(figure)
        assert {row["lengths"] for row in marks} == lengths and max(row["n"] for row in marks) == 60
        assert ("role-legend" in vl_convert.vegalite_to_svg(figure.to_json())) == (len(lengths) > 1)

    def test_every_model_has_its_panel(self) -> None:
        found = drawn([result(scored(ROWS), model) for model in ("one", "two", "three")])
        for name in ("accuracy", "length"):
            panels = json.loads(found[name].to_json())["concat"]
            titles = [p["title"]["text"] if isinstance(p["title"], dict) else p["title"] for p in panels]
            assert titles == ["one", "two", "three"]

    def test_token_counts_are_bars_as_high_as_their_pairs(self) -> None:
        equal = [("p", 1.0, 0.0, 4, 4)] * 60
        figure = drawn([result(scored([*equal, *[("p", 1.0, 0.0, 5, 4)] * 30]))])["tokens"]
        svg = vl_convert.vegalite_to_svg(figure.to_json())
        bars = re.findall(r'aria-label="(\S+), difference (\d): (\d+) pairs"[^>]* d="M[^h]*h([\d.]+)v([\d.]+)h', svg)
        (_, _, many, width, high), (_, _, few, other, low) = sorted(bars, key=lambda bar: -int(bar[2]))
        assert (many, few) == ("60", "30")
        assert float(high) == pytest.approx(2 * float(low)) and float(high) > 20
        assert float(width) == pytest.approx(float(other))

    def test_rows_are_in_the_order_of_the_first_models_accuracy(self) -> None:
        rows = [(name, score, 0.0, 3, 3) for name, score in (("low", -1.0), ("high", 1.0), ("tie", 0.0)) for _ in "ab"]
        chart = json.loads(drawn([result(scored(rows))])["accuracy"].to_json())
        encoding = chart["concat"][0]["layer"][1]["encoding"]
        assert encoding["y"]["sort"] == ["these 3 paradigms", "low", "tie", "high"]

    def test_a_curve_needs_two_differences_with_enough_pairs(self) -> None:
        equal = [("p", 1.0, 0.0, 4, 4)] * 60
        assert list(drawn([result(scored(equal))])) == ["accuracy", "tokens"]
        few = [*equal, *[("p", 1.0, 0.0, 5, 4)] * 49]
        assert list(drawn([result(scored(few))])) == ["accuracy", "tokens"]
        enough = [*few, ("p", 1.0, 0.0, 5, 4)]
        assert list(drawn([result(scored(enough))])) == ["accuracy", "length", "tokens"]

    def test_models_without_a_curve_are_named(self) -> None:
        equal = [("p", 1.0, 0.0, 4, 4)] * 60
        found = [result(scored([*equal, *[("p", 1.0, 0.0, n, 4)] * 60]), name) for name, n in (("a", 5), ("b", 4))]
        (text,) = (figure.text for figure in SECTION.figures(found) if figure.name == "length")
        assert text.endswith(": b.")

    def test_every_data_set_has_its_own(self) -> None:
        both = pl.concat([scored(ROWS, "one"), scored(ROWS, "two")])
        kinds = ("accuracy", "length", "tokens")
        assert list(drawn([result(both)])) == [f"{kind}-{place}" for kind in kinds for place in (1, 2)]

    def test_they_are_drawn(self) -> None:
        lone = [("only", 1.0, 0.0, 4, 4)]
        for rows in (ROWS, lone):
            for figure in SECTION.figures([result(scored(rows), "mod<el")]):
                svg = figure.svg()
                assert svg.startswith("<svg")
                assert "mod&lt;el" in svg
                assert "NaN" not in svg


def test_length_adjustment_holds_where_the_log_odds_bend_and_the_line_is_cautioned() -> None:
    # As in BLiMP's left_branch_island_echo_question: both kinds of unequal pairs are easier than the equal ones.
    rng = np.random.default_rng(4)
    rows = []
    for difference, share, count in ((-2, 0.8, 200), (-1, 0.75, 200), (0, 0.4, 500), (1, 0.7, 100)):
        right = rng.random(count) < share
        rows += [("p", float(good), 0.5, 10 + difference, 10) for good in right]
    found = result(scored(rows))
    where = {"scope": "overall", "normalise": "none"}
    adjusted = value(found.summary, measure="length-adjusted accuracy", **where)
    equal = value(found.summary, measure="accuracy", split="A=U", **where)
    assert adjusted["value"] == pytest.approx((equal["value"] * 500 + 0.5) / 501)  # by the penalty
    line = value(found.summary, measure="lack of fit of the line", **where)
    assert line["p_holm"] < 1e-6 and line["test"].endswith("2 df")
    assert any("a line in |A|−|U| does not fit its pairs (p ≤" in caution for caution in found.cautions)
    (table,) = (table for table in SECTION.tables([found]) if table.name == "line-fit")
    assert [str(cell) for cell in table.rows[0].cells][-3] == "2"


def test_paradigms_keep_their_own_level_when_pooled() -> None:
    # An easy paradigm with long acceptable sentences beside a hard one with short ones: length itself does nothing.
    rng = np.random.default_rng(6)
    rows = []
    for name, share, way in (("easy", 0.9, 1), ("hard", 0.3, -1)):
        for unequal in (0, way):
            rows += [(name, float(good), 0.5, 10 + unequal, 10) for good in rng.random(2000) < share]
    summary = result(scored(rows)).summary
    where = {"scope": "overall", "normalise": "none"}
    slope = value(summary, measure="log-odds per token of |A|−|U|", **where)
    assert slope["low"] < 0 < slope["high"]
    assert value(summary, measure="length-adjusted accuracy", **where)["value"] == pytest.approx(0.6, abs=0.02)
