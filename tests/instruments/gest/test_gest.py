"""GEST: rates of published scores against the authors' formulas, scores against plain transformers."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean, variance

import numpy as np
import polars as pl
import pytest
from scipy import stats

import brute
import penchant as pc
from answers import Answer, refused
from builders import write_study
from paths import SHARED, needs_shared
from penchant.instruments.gest.estimates import (
    ALL,
    LABELS,
    LOG,
    OTHER_TEMPLATES,
    RATE,
    SIDES,
    STEREOTYPE,
    log_rates,
    rates,
)
from penchant.instruments.gest.instrument import GEST
from penchant.records import BaseResult, Signature, summary_table
from penchant.stats.crossed_mean import jackknife

Zoo = Callable[[str], Path]
PUBLISHED = SHARED / "gest"
MODELS = ("albert-base-v2", "bert-base-uncased", "electra-base-generator", "roberta-base", "xlm-roberta-base")
CAUSAL = ("Llama-2-13b-chat-hf", "Mistral-7B-v0.1", "gpt2", "gpt2-xl", "pythia-12b")
ROWS = [
    {"stereotype": number, "sentence": sentence}
    for number, sentence in (
        (7, "The keys are on the table."),
        (7, "Rain is never good!"),
        (1, "The old teacher saw the dog."),
        (1, "No dog ever sleeps."),
        (8, "Women buy good books."),
        (8, "The nurse is late."),
    )
]
TEMPLATES = ['[He|She] said "{sentence}"', '"{sentence}", said the [teacher|nurse].']


def value(summary: pl.DataFrame, measure: str, stereotype: str = ALL, variant: str = ALL) -> float:
    return float(summary.filter(measure=measure, stereotype=stereotype, variant=variant)["value"].item())


# Rates --------------------------------------------------------------------------------------------------------------


def published(model: str) -> tuple[list[int], list[list[float]]]:
    """The stereotype of each sentence, and the published scores under each template."""
    with (PUBLISHED / "gest.csv").open(encoding="utf-8", newline="") as stream:
        stereotypes = [int(row["stereotype"]) for row in csv.DictReader(stream)]
    files = sorted((PUBLISHED / "predictions").glob(f"?lm_{model}_template-*.txt"))
    return stereotypes, [[float(line) for line in file.read_text("utf-8").split()] for file in files]


def authors_rates(stereotypes: list[int], scores: list[float]) -> tuple[dict[int, float], float, float, float]:
    """r_i, r_f, r_m and g_s as the authors compute them: exponentials of means, and geometric means of these."""
    pairs = list(zip(scores, stereotypes, strict=True))
    r = {i: math.exp(fmean(score for score, of in pairs if of == i)) for i in range(1, 17)}
    r_f, r_m = (math.prod(r[i] for i in side) ** (1 / len(side)) for side in (range(1, 8), range(8, 17)))
    return r, r_f, r_m, r_m / r_f


@needs_shared
@pytest.mark.parametrize("model", [*MODELS, *CAUSAL])
def test_rates_of_published_scores_are_those_of_the_authors_formulas(model: str) -> None:
    stereotypes, templates = published(model)
    assert len(templates) == (2 if model in CAUSAL else 4) and {len(one) for one in templates} == {3565}
    names = [LABELS[number] for number in stereotypes]
    items = pl.concat(
        pl.DataFrame({"id": [*map(str, range(3565))], "variant": str(n), "stereotype": names, "score": scores})
        for n, scores in enumerate(templates)
    )
    found = {(e.by["variant"], e.by["stereotype"]): math.exp(e.value) for e in log_rates(items, 0.95)}
    each = [authors_rates(stereotypes, scores) for scores in templates]
    for n, (r, r_f, r_m, g_s) in enumerate(each):
        theirs = {LABELS[i]: rate for i, rate in r.items()} | dict(zip(SIDES, (r_f, r_m), strict=True)) | {ALL: g_s}
        assert {name: found[str(n), name] for name in theirs} == pytest.approx(theirs, rel=1e-9)
    assert found[ALL, ALL] == pytest.approx(math.prod(g_s for *_, g_s in each) ** (1 / len(each)), rel=1e-9)


def made(scores: Mapping[int, list[list[float]]]) -> pl.DataFrame:
    """Items of stereotypes, each with a list of scores under each template."""
    rows = [
        {"id": f"{number}.{n}", "variant": f"t{t}", "stereotype": LABELS[number], "score": score}
        for number, templates in scores.items()
        for t, own in enumerate(templates)
        for n, score in enumerate(own)
    ]
    return pl.DataFrame(rows)


def test_the_interval_of_the_stereotype_rate_is_welchs() -> None:
    rng = np.random.default_rng(1)
    scores = {number: rng.normal(0.1 * number, 1, n).tolist() for number, n in ((1, 12), (2, 9), (9, 30))}
    rows = {(e.measure, e.by["stereotype"]): e for e in log_rates(made({i: [own] for i, own in scores.items()}), 0.9)}
    weights = {1: -0.5, 2: -0.5, 9: 1.0}
    parts = [(weights[i] ** 2 * variance(own) / len(own), len(own) - 1) for i, own in scores.items()]
    total = sum(part for part, _ in parts)
    df = total**2 / sum(part**2 / of for part, of in parts)
    mean = sum(weights[i] * fmean(own) for i, own in scores.items())
    one = rows[LOG[STEREOTYPE], ALL]
    reach = stats.t.ppf(0.95, df) * total**0.5
    assert (one.value, one.low, one.high) == pytest.approx((mean, mean - reach, mean + reach), rel=1e-9)
    assert one.p == pytest.approx(2 * stats.t.sf(abs(mean) / total**0.5, df), rel=1e-9)
    alone = rows[LOG[RATE], LABELS[9]]
    test = stats.ttest_1samp(scores[9], 0)
    assert (alone.p, *test.confidence_interval(0.9)) == pytest.approx((test.pvalue, alone.low, alone.high), rel=1e-9)
    assert [rows[LOG[RATE], LABELS[i]].test.of for i in scores] == [3, 3, 3]  # type: ignore[union-attr]
    assert [rows[LOG[RATE], side].test.of for side in SIDES] == [2, 2]  # type: ignore[union-attr]


def test_for_other_templates_both_are_sampled() -> None:
    rng = np.random.default_rng(2)
    shift, sentences = rng.normal(0, 1, (4, 1)), rng.normal(0, 1, (2, 10))
    effect = np.array([-0.5, 0.5])
    scores = {i: (rng.normal(0, 1, (4, 10)) + sentences[k] + effect[k] * shift) for k, i in enumerate((3, 12))}
    items = made({i: own.tolist() for i, own in scores.items()})
    (found,) = (row for row in rates(items, 0.95) if row.measure == OTHER_TEMPLATES)
    per_template = scores[12].mean(axis=1) - scores[3].mean(axis=1)
    assert math.log(found.value) == pytest.approx(per_template.mean(), rel=1e-9)
    over_templates = jackknife(lambda kept: float(kept @ per_template / kept.sum()), np.arange(4))
    assert over_templates == pytest.approx(per_template.var(ddof=1) / 4, rel=1e-9)
    half = (math.log(found.high) - math.log(found.low)) / 2
    assert half > 2 * over_templates**0.5  # at least the templates' part, with t of few degrees of freedom


@pytest.mark.parametrize(
    ("means", "over", "under"),
    [
        ((2, 2, 2, -1), 0, 1),
        ((-2, -2, -2, 1), 1, 0),
        ((2, 2, 2, 1), 0, 0),
        ((2, 2, -2, -2), 2, 2),
        ((0, 0, 0, 0), 0, 0),
    ],
)
def test_templates_on_the_other_side_of_1_are_counted(means: tuple[float, ...], over: int, under: int) -> None:
    noise = np.tile([-0.3, 0.3], 10)
    items = made({number: [(mean + noise).tolist() for mean in means] for number in (1, 9)})
    signature = Signature.of("gest", model="m")
    summary = summary_table([(row, signature) for row in rates(items, 0.95)])
    answers = GEST.section.answers([BaseResult(signature, items, summary)], None)
    (speakers,) = (each for each in answers if each.claim == "speakers")
    expected = {"templates": 4, "over": over, "under": under}
    assert [verdict.facts for verdict in speakers.verdicts] == [expected] * 2


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0, 0.15])
def test_intervals_of_the_stereotype_rate_cover_it(spread: float) -> None:
    """Sentences differ in size of sample and, with `spread`, templates in the effect."""
    rng, sizes = np.random.default_rng(0), {1: 10, 2: 14, 7: 20, 8: 12, 12: 8}
    means = {1: 0.1, 2: 0.0, 7: -0.2, 8: 0.3, 12: 0.1}
    truth, held = fmean([0.3, 0.1]) - fmean([0.1, 0.0, -0.2]), {STEREOTYPE: 0, OTHER_TEMPLATES: 0}
    for _ in range(300):
        shift, effect, scores = rng.normal(0, 0.2, 4), rng.normal(0, spread, 4), {}
        for i, n in sizes.items():
            templates = (shift + (0.5 if i > 7 else -0.5) * effect)[:, None]
            scores[i] = (means[i] + templates + rng.normal(0, 0.5, n) + rng.normal(0, 0.2, (4, n))).tolist()
        for row in rates(made(scores), 0.95):
            if row.by == {"variant": ALL, "stereotype": ALL}:
                held[row.measure] += row.low <= math.exp(truth) <= row.high
    assert held[OTHER_TEMPLATES] >= 0.92 * 300
    assert held[STEREOTYPE] >= (0.92 if spread == 0 else 0.88) * 300


def test_a_side_without_sentences_has_no_stereotype_rate() -> None:
    rows = log_rates(made({1: [[0.1, 0.2, 0.4]]}), 0.95)
    (one,) = (row for row in rows if row.measure == LOG[STEREOTYPE])
    assert math.isnan(one.value) and one.n == 0


# Scores -------------------------------------------------------------------------------------------------------------


def words(text: str, word: str) -> tuple[int, int]:
    return text.index(word), text.index(word) + len(word)


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_a_masked_model_scores_the_word_that_differs(zoo: Zoo, name: str) -> None:
    items = pc.Gest(ROWS, templates=TEMPLATES).run(zoo(name), progress=False).items
    model, tokenizer = brute.load(zoo(name))
    assert items["variant"].unique(maintain_order=True).to_list() == TEMPLATES and len(items) == 12
    for row in items.iter_rows(named=True):
        sides = ("He", "She") if row["variant"] == TEMPLATES[0] else ("teacher", "nurse")
        scores = []
        for text, word in zip((row["masculine"], row["feminine"]), sides, strict=True):
            span = (0, len(word)) if word[0].isupper() else (text.rindex(word), text.rindex(word) + len(word))
            of = dict(zip(brute.encode(tokenizer, text).scored, brute.pll(model, tokenizer, text), strict=True))
            scores.append(math.fsum(of[at] for at in brute.span_positions(tokenizer, text, span)))
        assert row["score"] == pytest.approx(scores[0] - scores[1], abs=1e-4)


def test_a_causal_model_scores_whole_sentences_like_a_table_of_its_scores(zoo: Zoo) -> None:
    probe = pc.Gest(ROWS, templates=TEMPLATES)
    result = probe.run(zoo("gpt2"), progress=False)
    model, tokenizer = brute.load(zoo("gpt2"), causal=True)
    for row in result.items.iter_rows(named=True):
        first, second = (math.fsum(brute.lp(model, tokenizer, row[side])) for side in ("masculine", "feminine"))
        assert row["score"] == pytest.approx(first - second, abs=1e-4)
    table = pl.concat(
        result.items.select(text=side, score=f"score_{side}") for side in ("masculine", "feminine")
    ).unique()
    given = probe.run(pc.Scores(table), progress=False)
    keys = ["variant", "stereotype", "measure", "value", "low", "high", "n", "p_holm"]
    assert given.summary.select(keys).equals(result.summary.select(keys), null_equal=True)
    assert given.signature["method"] == "given" and given.items["n_tokens_masculine"].null_count() == 12


def test_pairs_in_a_language_that_marks_the_gender_of_the_speaker(zoo: Zoo) -> None:
    rows = [
        {"stereotype": 6, "male": "Byl jsem malý.", "female": "Byla jsem malá."},
        {"stereotype": 16, "male": '"Viděl jsem dům!"', "female": '"Viděla jsem dům!"'},
    ]
    probe = pc.Gest(rows, columns={"masculine": "male", "feminine": "female"})
    items = probe.run(zoo("bert"), progress=False).items
    assert items["variant"].to_list() == ["pairs"] * 2
    model, tokenizer = brute.load(zoo("bert"))
    apart = [("Byl", "Byla"), ("malý", "malá")], [("Viděl", "Viděla")]
    for row, differing in zip(items.iter_rows(named=True), apart, strict=True):
        total = 0.0
        for sign, side in ((1, 0), (-1, 1)):
            text = (row["masculine"], row["feminine"])[side]
            of = dict(zip(brute.encode(tokenizer, text).scored, brute.pll(model, tokenizer, text), strict=True))
            for pair in differing:
                positions = brute.span_positions(tokenizer, text, words(text, pair[side]))
                total += sign * math.fsum(of[at] for at in positions)
        assert row["score"] == pytest.approx(total, abs=1e-4)


def test_neither_the_order_of_rows_nor_batches_move_a_rate(zoo: Zoo) -> None:
    rows = [{"id": f"s{n}", **row} for n, row in enumerate(ROWS)]
    one = pc.Gest(rows, templates=TEMPLATES).run(zoo("bert"), progress=False).summary
    other = pc.Gest(rows[::-1], templates=TEMPLATES).run(zoo("bert"), progress=False, batch_tokens=64).summary
    keys = ["variant", "stereotype", "measure"]
    both = one.join(other, on=keys)
    assert len(both) == len(one) and both["value"].to_list() == pytest.approx(both["value_right"].to_list(), rel=1e-4)


def test_the_difference_of_two_models_is_that_of_their_log_rates(zoo: Zoo) -> None:
    first, second = (pc.Gest(ROWS, templates=TEMPLATES).run(zoo(name), progress=False) for name in ("bert", "gpt2"))
    found = pc.compare(first, second)
    gap = math.log(value(first.summary, STEREOTYPE) / value(second.summary, STEREOTYPE))
    assert value(found, f"difference of {LOG[STEREOTYPE]}") == pytest.approx(gap, abs=1e-9)


# Errors -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "settings", "told"),
    [
        ("stereotype,sentence\n17,I ran.\n", {}, ("line 2", "stereotype")),
        ("sentence\nI ran.\n", {}, ("stereotype", "missing")),
        ("stereotype,text\n1,I ran.\n", {}, ("line 2", "sentence")),
        ("stereotype,masculine\n1,I ran.\n", {}, ("line 2", "feminine")),
        ("stereotype,masculine,feminine\n1,Byl jsem.,Byla jsem já.\n", {}, ("line 2", "words")),
        ("stereotype,sentence\n1,I ran.\n", {"templates": ['He said: "{sentence}"']}, ("templates",)),
        ("stereotype,sentence\n1,I ran.\n", {"templates": ["[he|she] said it"]}, ("templates",)),
        ("stereotype,sentence\n1,I ran.\n", {"templates": []}, ("templates",)),
    ],
)
def test_what_cannot_be_measured_is_refused(
    penchant: Callable[..., Answer], zoo: Zoo, tmp_path: Path, table: str, settings: dict[str, object], told: tuple[str]
) -> None:
    (tmp_path / "gest.csv").write_text(table, "utf-8")
    write_study(tmp_path / "s.yaml", [str(zoo("bert"))], {"gest": {"data": "gest.csv", **settings}})
    refused(penchant("run", "s.yaml", "-o", "out"), *told)
    assert not (tmp_path / "out" / "report.html").exists()
