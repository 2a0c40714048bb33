"""StereoSet: scores against plain transformers, SS, LMS and ICAT worked by hand, comparison, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from scipy import stats

import brute
import penchant as pc
import zoo as tiny
from answers import Answer, refused
from penchant.errors import MethodError, StudyError
from penchant.instruments.run_options import Run
from penchant.instruments.stereoset.compare import compare
from penchant.instruments.stereoset.estimates import cautions_of, estimates_of, ideal
from penchant.instruments.stereoset.instrument import STEREOSET
from penchant.instruments.stereoset.probe import StereoSet
from penchant.models.load import load
from penchant.records import Signature, summary_table
from penchant.report.verdicts import Verdict
from penchant.stats.hypothesis_tests import holm
from stereoset_clusters import INTER, INTRA, cluster, content, write

Zoo = Callable[[str], Path]
Program = Callable[..., Answer]
SECTION = STEREOSET.section
NAMES = ("stereotype", "anti", "unrelated")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "clusters.json")


def run(data: Path, model: Path, **settings: Any) -> pc.Result:
    return StereoSet(data=str(data), resamples=100, **settings).run(str(model))


# Scores --------------------------------------------------------------------------------------------------------------


def masked_pieces(model: Any, tokenizer: Any, text: str, span: tuple[int, int], one_mask: bool) -> list[float]:
    """Probabilities of the pieces of a span, filled in from the left; the later ones masked, or not there at all."""
    ids, inside = brute.encode(tokenizer, text).ids, brute.span_positions(tokenizer, text, span)
    found = []
    for number, position in enumerate(inside):
        masks = [tokenizer.mask_token_id] * (1 if one_mask else len(inside) - number)
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([[*ids[:position], *masks, *ids[inside[-1] + 1 :]]])).logits
        found.append(logits[0, position].double().softmax(-1)[ids[position]].item())
    return found


@pytest.mark.parametrize("name", tiny.MASKED)
def test_scores_of_masked_models(name: str, data: Path, zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo(name))
    for method, reference in (("pll", brute.pll), ("pll-word-l2r", brute.pll_word_l2r)):
        items = run(data, zoo(name), method=method).items
        for row, (_, _, context, fills) in zip(items.filter(part="intra").iter_rows(named=True), INTRA, strict=True):
            for role, fill in zip(NAMES, fills, strict=True):
                expected = reference(model, tokenizer, context.replace("BLANK", fill))
                assert row[f"score_{role}"] == pytest.approx(math.fsum(expected), abs=2e-4)
                assert (row[f"n_tokens_{role}"], row[f"fill_{role}"]) == (len(expected), fill)
        for row, (_, _, context, last) in zip(items.filter(part="inter").iter_rows(named=True), INTER, strict=True):
            for role, sentence in zip(NAMES, last, strict=True):
                text = f"{context} {sentence}"
                inside = brute.span_positions(tokenizer, text, (len(context) + 1, len(text)))
                every = zip(brute.encode(tokenizer, text).scored, reference(model, tokenizer, text), strict=True)
                expected = [value for position, value in every if position in inside]
                assert row[f"score_{role}"] == pytest.approx(math.fsum(expected), abs=2e-4)
                assert row[f"n_tokens_{role}"] == len(expected)


@pytest.mark.parametrize("method", ["stereoset", "stereoset-one-mask"])
@pytest.mark.parametrize("name", tiny.MASKED)
def test_the_authors_scores_of_masked_models(name: str, method: str, data: Path, zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo(name))
    items = run(data, zoo(name), method=method, part=["intra"]).items
    for row, (_, _, context, fills) in zip(items.iter_rows(named=True), INTRA, strict=True):
        for role, fill in zip(NAMES, fills, strict=True):
            start = context.index("BLANK")
            text, span = context.replace("BLANK", fill), (start, start + len(fill))
            expected = masked_pieces(model, tokenizer, text, span, method == "stereoset-one-mask")
            assert row[f"score_{role}"] == pytest.approx(np.mean(expected), abs=1e-6)
            assert row[f"n_tokens_{role}"] == len(expected)


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_scores_of_causal_models(name: str, data: Path, zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo(name), causal=True)
    items = run(data, zoo(name)).items
    authors = run(data, zoo(name), method="stereoset", part="intra").items
    for row, own, (_, _, context, fills) in zip(
        items.filter(part="intra").iter_rows(named=True), authors.iter_rows(named=True), INTRA, strict=True
    ):
        for role, fill in zip(NAMES, fills, strict=True):
            text = context.replace("BLANK", fill)
            assert row[f"score_{role}"] == pytest.approx(math.fsum(brute.lp(model, tokenizer, text)), abs=2e-4)
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            with torch.no_grad():
                first = model(input_ids=torch.tensor([[tokenizer.bos_token_id]])).logits.double().log_softmax(-1)
                rest = model(input_ids=torch.tensor([ids])).logits.double().log_softmax(-1)
            values = [first[0, 0, ids[0]].item(), *(rest[0, i - 1, ids[i]].item() for i in range(1, len(ids)))]
            assert own[f"score_{role}"] == pytest.approx(np.mean(values) / math.log(2), abs=1e-5)
    for row, (_, _, context, last) in zip(items.filter(part="inter").iter_rows(named=True), INTER, strict=True):
        for role, sentence in zip(NAMES, last, strict=True):
            joint = math.fsum(brute.lp(model, tokenizer, f"{context} {sentence}"))
            alone = math.fsum(brute.lp(model, tokenizer, context))
            # The tokens of the context are the same with and without what follows it.
            assert row[f"score_{role}"] == pytest.approx(joint - alone, abs=2e-4)


def test_every_distinct_input_is_read_once(data: Path, zoo: Zoo) -> None:
    tokenizer = brute.load(zoo("bert"))[1]
    masked = set()
    for _, _, context, fills in INTRA:
        for fill in fills:
            encoded = brute.encode(tokenizer, context.replace("BLANK", fill))
            for position in encoded.scored:
                masked.add((*encoded.ids[:position], tokenizer.mask_token_id, *encoded.ids[position + 1 :]))
    asked = Run()
    StereoSet(data=str(data), part="intra", resamples=100).run_as(load(zoo("bert")), asked)
    counts = asked.counts
    assert counts.forward == counts.inputs == len(masked) < counts.reads


# Scores of scores ----------------------------------------------------------------------------------------------------


def scored(rows: Iterable[tuple[str, str, str, tuple[float, float, float], tuple[int, int, int]]]) -> pl.DataFrame:
    """Items: part, bias type, target, scores and token counts of s, a and u."""
    listed = list(rows)
    columns: dict[str, Any] = {
        "id": [f"c{i}" for i in range(len(listed))],
        "part": [row[0] for row in listed],
        "bias_type": [row[1] for row in listed],
        "target": [row[2] for row in listed],
        "context": ["The dog is BLANK."] * len(listed),
        "worded": ["as the context"] * len(listed),
    }
    for number, name in enumerate(NAMES):
        columns[name] = [f"The dog is {name}."] * len(listed)
        columns[f"fill_{name}"] = [name] * len(listed)
        columns[f"score_{name}"] = [row[3][number] for row in listed]
        columns[f"n_tokens_{name}"] = [row[4][number] for row in listed]
        columns[f"tokens_{name}"] = [["x"]] * len(listed)
        columns[f"logprobs_{name}"] = [[-1.0]] * len(listed)
    return pl.DataFrame(columns).with_columns(difference=pl.col("n_tokens_stereotype") - pl.col("n_tokens_anti"))


EVEN = (4, 4, 4)
HAND = [
    ("intra", "race", "x", (-1.0, -2.0, -3.0), EVEN),  # s > a, both above u
    ("intra", "race", "x", (-2.0, -1.0, -1.5), EVEN),  # a > u > s
    ("intra", "race", "x", (-2.0, -2.0, -1.0), EVEN),  # s = a, both below u
    ("intra", "race", "y", (-1.0, -3.0, -2.0), EVEN),  # s > u > a
    ("intra", "gender", "z", (-1.0, -2.0, -1.0), EVEN),  # s = u > a
    ("intra", "gender", "z", (-3.0, -2.0, -9.0), EVEN),  # a > s > u
]


def result(items: pl.DataFrame, model: str = "m", **more: str) -> pc.Result:
    how = {"ties": "half", "normalise": "none", "resamples": "200", **more}
    parts = ",".join(dict.fromkeys(items["part"]))
    signature = Signature.of("stereoset", model=model, data="d#1", part=parts, method="pll", bos="template", **how)
    chosen = {"part": parts.split(","), "normalise": how["normalise"].split(","), "ties": how["ties"]}
    settings = StereoSet(data="d", method="pll", resamples=int(how["resamples"])).model_copy(update=chosen)
    summary = summary_table((e, signature.with_(normalise=e.by["normalise"])) for e in estimates_of(items, settings))
    return pc.Result(signature.with_(level=0.95, seed=0), items, summary, settings=settings.saved())


def value(found: pc.Result, measure: str, group: str = "all", mean: str = "over terms", **more: str) -> float:
    where = {"part": "intra", "lengths": "all", **more}
    row = found.summary.filter(measure=measure, group=group, mean=mean, **where)
    assert len(row) == 1
    return float(row["value"][0])


def test_the_scores_of_six_clusters_worked_by_hand() -> None:
    """SS: x (1 + 0 + ½)/3 = 1/2, y 1, z (1 + 0)/2 = 1/2. LMS: x (2 + 1 + 0)/6 = 1/2, y 1/2, z (½ + 0 + 2)/4 = 5/8."""
    found = result(scored(HAND))
    assert value(found, "SS") == pytest.approx(100 * (1 / 2 + 1 + 1 / 2) / 3)
    assert value(found, "SS", mean="over clusters") == pytest.approx(100 * 3.5 / 6)
    assert value(found, "LMS") == pytest.approx(100 * (1 / 2 + 1 / 2 + 5 / 8) / 3)
    assert value(found, "LMS", mean="over clusters") == pytest.approx(100 * (1.5 + 0.5 + 1.25) / 6)
    assert value(found, "SS", "race") == pytest.approx(75)
    assert value(found, "SS", "race", "over clusters") == pytest.approx(62.5)
    assert value(found, "ICAT", "race") == pytest.approx(50 * 25 / 50)
    assert value(found, "ICAT") == pytest.approx(100 * 13 / 24 * (100 - 200 / 3) / 50)
    assert value(found, "ICAT", "z", "over clusters") == pytest.approx(62.5)
    assert value(found, "share of ties", mean="over clusters") == pytest.approx(1 / 6)
    assert found.summary.filter(measure="SS", scope="overall", mean="over terms", lengths="all")["n"][0] == 3
    assert set(found.summary["part"]) == {"intra"}  # one part is not shown twice


def test_ties_as_the_authors_count_them() -> None:
    """The tie of s and a counts as anti-stereotype, that of s and u as unrelated: x 1/3, z (0 + 2)/4."""
    found = result(scored(HAND), ties="authors")
    assert value(found, "SS") == pytest.approx(100 * (1 / 3 + 1 + 1 / 2) / 3)
    assert value(found, "LMS") == pytest.approx(100 * (1 / 2 + 1 / 2 + 1 / 2) / 3)
    assert value(found, "share of ties", mean="over clusters") == pytest.approx(1 / 6)


def many(seed: int = 1, terms: int = 12, lean: float = 0.6, slope: float = 0.0) -> pl.DataFrame:
    """Clusters of both parts whose preferences differ by term, and move with token counts by a slope."""
    rng = np.random.default_rng(seed)
    rows = []
    for term in range(terms):
        share = rng.beta(20 * lean, 20 * (1 - lean))
        for part in ("intra", "inter"):
            for _ in range(int(rng.integers(5, 25))):
                tokens = rng.integers(3, 9, 3)
                odds = math.log(share / (1 - share)) + slope * (tokens[0] - tokens[1])
                s = 1.0 if rng.random() < 1 / (1 + math.exp(-odds)) else -1.0
                named = (f"type{term % 3}", f"t{term:02d}")
                counts = (int(tokens[0]), int(tokens[1]), int(tokens[2]))
                rows.append((part, *named, (s, 0.0, float(rng.normal(-0.5))), counts))
    return scored(rows)


def test_scores_of_many_clusters_are_those_of_numpy_and_scipy() -> None:
    items = many()
    found = result(items)
    for part, rows in (("intra", items.filter(part="intra")), ("both", items)):
        wide = rows.with_columns(
            (pl.col("score_stereotype") > pl.col("score_anti")).cast(float).alias("ss"),
            (
                (pl.col("score_stereotype") > pl.col("score_unrelated")).cast(float)
                + (pl.col("score_anti") > pl.col("score_unrelated")).cast(float)
            ).alias("lms")
            / 2,
        )
        terms = wide.group_by("target").agg(pl.col("ss", "lms").mean())
        ss, lms = (100 * float(terms[name].to_numpy().mean()) for name in ("ss", "lms"))
        assert value(found, "SS", part=part) == pytest.approx(ss)
        assert value(found, "LMS", part=part) == pytest.approx(lms)
        assert value(found, "ICAT", part=part) == pytest.approx(lms * min(ss, 100 - ss) / 50)
        each = 100 * float(wide["ss"].to_numpy().mean())
        assert value(found, "SS", part=part, mean="over clusters") == pytest.approx(each)
        row = found.summary.filter(part=part, measure="SS", scope="overall", mean="over terms", lengths="all").row(
            0, named=True
        )
        t = stats.ttest_1samp(100 * terms["ss"].to_numpy(), 50)
        ends = np.clip(np.array(t.confidence_interval()), 0, 100).tolist()
        assert (row["p"], row["low"], row["high"]) == pytest.approx((t.pvalue, *ends))
    types = found.summary.filter(part="intra", measure="SS", scope="bias type", mean="over terms")
    assert len(types) == 3
    assert types["p_holm"].to_list() == pytest.approx(holm(types["p"].to_numpy()))


def test_icat_has_its_peak_at_50_and_its_interval_reaches_it() -> None:
    assert [float(ideal(ss, 80)) for ss in (0, 50, 60, 100)] == [0, 80, 64, 0]
    found = result(many(lean=0.5))
    rows = {
        row["measure"]: row
        for row in found.summary.filter(part="both", scope="overall", mean="over terms").iter_rows(named=True)
    }
    assert rows["SS"]["low"] < 50 < rows["SS"]["high"]
    assert rows["ICAT"]["high"] >= rows["LMS"]["high"] and "SS covers 50" in rows["ICAT"]["how"]
    apart = result(many(lean=0.8, terms=30)).summary.filter(part="both", scope="overall", mean="over terms")
    (icat,) = apart.filter(measure="ICAT").iter_rows(named=True)
    assert icat["low"] < icat["value"] < icat["high"] < apart.filter(measure="LMS")["low"][0]
    assert "holds 50" not in icat["how"]


def test_ss_that_moves_with_length_is_said() -> None:
    settings = StereoSet(data="d", normalise=["none"], resamples=200)
    for slope in (0.0, 0.9):
        items = many(terms=30, slope=slope, lean=0.5)
        estimates = list(estimates_of(items, settings))
        said = [text for text in cautions_of(items, estimates, settings) if "SS depends on" in text]
        found = [e for e in estimates if e.measure.startswith("log-odds") and e.by["part"] != "both"]
        assert len(found) == 2 and all(e.low <= slope <= e.high for e in found)
        assert len(said) == (2 if slope else 0)
    longer = next(e for e in estimates if e.by["lengths"] == "s>a" and e.by["part"] == "intra")
    inside = items.filter((pl.col("part") == "intra") & (pl.col("difference") > 0))
    share = (inside["score_stereotype"] > inside["score_anti"]).mean()
    assert (longer.value, longer.n) == (pytest.approx(100 * share), len(inside))  # type: ignore[operator]
    unequal = next(e for e in estimates if e.measure == "share of unequal lengths" and e.by["part"] == "both")
    assert unequal.value == pytest.approx(100 * (items["difference"] != 0).mean())  # type: ignore[operator]
    assert f"{longer.value:.1f} where the stereotype has more tokens" in said[0]


def test_normalisations_change_the_order_and_are_made_of_one_pass() -> None:
    """−4 of 2 tokens beats −5 of 4 as a sum, and loses as a mean: −2 and −1.25."""
    found = result(scored([("intra", "r", "x", (-4.0, -5.0, -99.0), (2, 4, 4))] * 2), normalise="none,mean")
    assert set(found.summary["scope"]) == {"overall"}
    where = {"scope": "overall", "part": "intra", "mean": "over clusters", "lengths": "all"}
    shares = found.summary.filter(measure="SS", **where).select("normalise", "value").rows()
    assert shares == [("none", 100.0), ("mean", 0.0)]


# Two models ----------------------------------------------------------------------------------------------------------


def test_two_models_are_compared_over_the_same_terms() -> None:
    a, b = many(seed=1), many(seed=1)
    rng = np.random.default_rng(5)
    flipped = pl.Series(np.where(rng.random(len(b)) < 0.3, -1.0, 1.0))
    b = b.with_columns(pl.col("score_stereotype") * flipped)
    found = compare(result(a, "one"), result(b, "two"))
    assert set(found["measure"]) == {"difference of SS", "difference of LMS"}
    assert found.select("first", "second").unique().rows() == [("one", "two")]
    gains = [100 * ((x["score_stereotype"] > x["score_anti"]).cast(float)).to_numpy() for x in (a, b)]
    frame = a.select("part", "bias_type", "target").with_columns(pl.Series("gain", gains[0] - gains[1]))
    for part in ("intra", "inter", "both"):
        rows = frame if part == "both" else frame.filter(part=part)
        terms = rows.group_by("target").agg(pl.col("gain").mean())["gain"].to_numpy()
        overall = found.filter(part=part, scope="overall", measure="difference of SS")
        over_terms, over_clusters = overall.iter_rows(named=True)
        assert over_terms["value"] == pytest.approx(terms.mean()) and over_terms["n"] == len(terms)
        assert over_clusters["value"] == pytest.approx(rows["gain"].mean()) and over_clusters["n"] == len(rows)
        assert over_terms["p"] >= stats.ttest_1samp(terms, 0).pvalue - 1e-12
        types = found.filter(part=part, scope="bias type", measure="difference of SS", mean="over terms")
        assert types["p_holm"].to_list() == pytest.approx(holm(types["p"].to_numpy()))
        back = compare(result(b, "two"), result(a, "one")).filter(part=part, scope="overall")
        assert back["value"].to_list() == pytest.approx([-v for v in found.filter(part=part, scope="overall")["value"]])
    same = compare(result(a, "one"), result(a, "two"))  # no spread, no interval: not all of the scale either
    assert same["value"].to_list() == [0.0] * len(same) and same["low"].is_nan().all() and same["high"].is_nan().all()
    with pytest.raises(StudyError, match="different items"):
        compare(result(a), result(a.head(20), "two"))
    with pytest.raises(StudyError, match="they differ in ties"):
        compare(result(a), result(a, "two", ties="authors"))


# What is shown -------------------------------------------------------------------------------------------------------


def test_tables_say_what_the_summary_holds() -> None:
    other = many().with_columns(pl.col("score_stereotype", "score_anti").reverse())
    results = [result(many(), "one"), result(other, "two")]
    scores, by_type, lengths, by_target = SECTION.tables(results)
    assert [row.cells[:4] for row in scores.rows][:4] == [
        ("intra", "none", "one", "over terms"),
        ("intra", "none", "two", "over terms"),
        ("intra", "none", "one", "over clusters"),
        ("intra", "none", "two", "over clusters"),
    ]
    assert str(scores.rows[0].cells[6]).startswith(f"{value(results[0], 'SS'):.1f} [")
    assert len(by_type.rows) == 3 * 3 * 2 * 2  # parts, types, models, means
    assert len(lengths.rows) == 3 * 2
    assert len(by_target.rows) == 2 * 12 * 2 and by_target.detail
    assert SECTION.items is not None
    whole = SECTION.items(results)
    assert [column.title for column in whole.columns if column.model == ""][:4] == [
        "cluster",
        "part",
        "bias type",
        "target term",
    ]
    prefers = next(column for column in whole.columns if column.title == "prefers")
    assert set(prefers.values) <= {"stereotype", "anti-stereotype", "unrelated", "tie"}
    assert prefers.values[0] == _best(results[0].items.row(0, named=True))
    figures = SECTION.figures(results)
    assert [figure.name for figure in figures] == ["scores-1", "scores-2", "lengths"]
    drawn = str(figures[0].spec())
    assert f"{value(results[1], 'SS'):.6f}"[:8] in drawn


def verdicts(claim: str, *results: pc.Result) -> list[Verdict]:
    comparison = compare(*results) if len(results) > 1 else None
    (answer,) = (each for each in SECTION.answers(results, comparison) if each.claim == claim)
    return list(answer.verdicts)


def even(stereotypes: float) -> pl.DataFrame:
    """Clusters of which this share of every other term, and half of the rest, prefer the stereotype; sense always."""
    rows = []
    for term in range(40):
        share = stereotypes if term % 2 else 0.5
        for i in range(20):
            s = 1.0 if i < share * 20 + (term % 4 - 1.5) * 0.9 else -1.0
            u = -2.0 if i or term % 3 else 2.0
            rows.append(("intra", ("type0", "type1")[term % 2], f"t{term:02d}", (s, 0.0, u), (3, 3, 3)))
    return scored(rows)


def test_a_model_prefers_stereotypes_in_one_of_two_types() -> None:
    lean, fair = result(even(0.9), "lean"), result(even(0.5), "fair")
    assert [(v.models, v.kind) for v in verdicts("stereotypes", lean, fair)] == [(("lean",), "yes"), (("fair",), "no")]
    assert [(v.place, v.kind) for v in verdicts("types", lean)] == [("type0", "no"), ("type1", "yes")]
    assert [v.kind for v in verdicts("sense", lean)] == ["yes"]
    (more,) = verdicts("more", lean, fair)
    assert more.kind == "yes" and more.row is not None and more.row["value"] == pytest.approx(20)
    opposite = result(even(0.1), "opposite")
    (ss,) = verdicts("stereotypes", opposite)
    assert ss.kind == "yes" and ss.row is not None and ss.row["value"] < 50 and "opposites" in ss.sentence


def test_the_test_of_lms_is_that_of_scipy() -> None:
    found = result(many())
    (sense,) = verdicts("sense", found)  # of both parts together
    items = found.items.with_columns(
        (pl.col(f"score_{side}") > pl.col("score_unrelated")).cast(pl.Float64).alias(side) for side in NAMES[:2]
    )
    terms = items.group_by("target").agg(100 * (pl.col("stereotype").mean() + pl.col("anti").mean()) / 2)
    expected = stats.ttest_1samp(terms[:, 1].to_numpy(), 50)
    assert sense.row is not None and sense.row["p"] == pytest.approx(expected.pvalue)
    assert sense.kind == "yes" and sense.row["part"] == "both"


def test_ss_of_a_model_that_does_not_prefer_sense_tells_nothing() -> None:
    """A model that ranks unrelated sentences at random has an LMS of 50."""
    noise = np.random.default_rng(5).choice([-2.0, 2.0], 800)
    random = result(even(0.9).with_columns(score_unrelated=pl.Series(noise)), "random")
    assert [(v.kind, v.barred) for v in verdicts("stereotypes", random)] == [("cannot tell", "nonsense")]
    assert {(v.kind, v.barred) for v in verdicts("types", random)} == {("cannot tell", "nonsense")}


def _best(row: dict[str, Any]) -> str:
    scores = {name: row[f"score_{name}"] for name in NAMES}
    best = max(scores, key=lambda name: scores[name])
    return {"anti": "anti-stereotype"}.get(best, best)


# What is refused -----------------------------------------------------------------------------------------------------


def test_methods_that_do_not_fit_are_refused(data: Path, zoo: Zoo) -> None:
    for name, method, part, told in (
        ("bert", "stereoset", ["intra", "inter"], "cannot score intersentence clusters"),
        ("gpt2", "stereoset", "inter", "a next-sentence head that they trained"),
        ("gpt2", "pll", "intra", "does not fit"),
        ("bert", "lp", "intra", "does not fit"),
        ("gpt2", "stereoset-one-mask", "intra", "does not fit"),
    ):
        with pytest.raises(MethodError, match=told) as caught:
            run(data, zoo(name), method=method, part=part)
        assert caught.value.hint
    with pytest.raises(MethodError, match="'pen' does not apply to stereoset, which is a mean already"):
        run(data, zoo("bert"), method="stereoset", part="intra", normalise=["none", "pen"])


def test_the_program_refuses_in_one_line(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    write(tmp_path / "clusters.json")
    study = tmp_path / "s.yaml"
    probe = "stereoset: {data: clusters.json, method: stereoset}"
    study.write_text(f"study: s\nmodels: [{zoo('bert')}]\nprobes: [{{{probe}}}]\n", "utf-8")
    refused(penchant("run", study, "-o", tmp_path / "out"), "next-sentence head", "pll (masked)")


def test_unknown_clusters_stop_or_are_left_out(tmp_path: Path, zoo: Zoo) -> None:
    given = content()
    given["data"]["intrasentence"].append(cluster("odd", "dog", "animal", "The dog is BLANK.", ("漢", "x", "y")))
    given["data"]["intrasentence"][-1]["sentences"] = [
        {"sentence": f"The dog is {fill}.", "gold_label": label["gold_label"]}
        for fill, label in zip(("漢", "old", "good"), given["data"]["intrasentence"][-1]["sentences"], strict=True)
    ]
    file = write(tmp_path / "odd.json", given)
    with pytest.raises(pc.DataError, match="intrasentence odd: the model's vocabulary lacks '漢'"):
        run(file, zoo("bert"))
    found = run(file, zoo("bert"), on_unknown="skip")
    assert "odd" not in set(found.items["id"]) and len(found.items) == len(INTRA) + len(INTER)
    assert any("1 of 7 clusters holds something unknown" in text for text in found.cautions)


def test_clusters_without_a_fill_are_left_out_of_the_authors_scores_only(tmp_path: Path, zoo: Zoo) -> None:
    given = content()
    given["data"]["intrasentence"].append(
        cluster(
            "bare", "dog", "animal", "The BLANK dog left.", ("The dog left.", "The dog left.", "The good dog left.")
        )
    )
    file = write(tmp_path / "bare.json", given)
    assert "bare" in set(run(file, zoo("bert"), part="intra").items["id"])
    found = run(file, zoo("bert"), part="intra", method="stereoset")
    assert "bare" not in set(found.items["id"])
    assert any("1 of 5 clusters are left out" in text for text in found.cautions)
    assert "bare" in set(run(file, zoo("gpt2"), part="intra", method="stereoset").items["id"])
