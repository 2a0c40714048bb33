"""Value statements: spans against plain transformers, estimates against plain numpy, cautions with their causes."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import special, stats
from scipy.optimize import brentq

import brute
import penchant as pc
import zoo as tiny
from brute_associations import holm
from builders import language_model
from made_values import Array, made_result, sides
from made_values import ratings as ratings_of
from penchant.engine.scorer import Scorer
from penchant.errors import DataError, MethodError, ModelError, StudyError
from penchant.instruments.run_options import Run
from penchant.instruments.values.cells import NO_INTERVAL
from penchant.instruments.values.estimates import WORDINGS
from penchant.instruments.values.group_distance import APART, DISTANCE, FROM_GROUP, GROUP_MEAN, GROUP_SIZE, NEARER
from penchant.instruments.values.instrument import VALUES as INSTRUMENT
from penchant.instruments.values.probe import Rated
from penchant.instruments.values.representativeness import FROM_SURVEY
from penchant.instruments.values.survey import Survey
from penchant.records import Signature
from penchant.report.method_text import methods
from penchant.report.tables import Number, P
from penchant.report.terminal import headline
from penchant.study.run import run_study
from penchant.study.study_file import Study
from penchant.wording.phrases import Note, read_method

SECTION = INSTRUMENT.section
Zoo = Callable[[str], Path]
Key = tuple[str, str, str, str, str]
"""Variant, group, dimension, item, measure."""
People = dict[str, list[dict[str, float]]]
"""Answers by group, respondent and statement; what was not answered is not there."""

STATEMENT = pl.col("kind") == "statement"


# Spans ------------------------------------------------------------------------------------------------------

SPANS = [
    "She said that she [agrees] that the garden is old.",
    "The nurse [disagrees], said the teacher.",
    "[Souhlasím] s tím, že kůň hledá vodu.",
    "[Naprosto nesouhlasím], said the teacher!",
    "She agrees that he agrees, or she [agrees].",
    "Is it true, said the nurse, or [untrue]",
    "কৃষক ভাত খায়, [never mind] why",
    "The old nurse [does not really agree] that the dog is late.",
]


def bracketed(text: str) -> tuple[str, tuple[int, int], str]:
    before, word, after = text.replace("]", "[").split("[")
    return before + word + after, (len(before), len(before) + len(word)), f"'{text}'"


@pytest.mark.parametrize("name", tiny.MASKED)
def test_spans_equal_plain_transformers(zoo: Zoo, tmp_path: Path, name: str) -> None:
    model, tokenizer = brute.load(zoo(name))
    texts = [bracketed(text) for text in SPANS]
    expected = [brute.span_logprob(model, tokenizer, text, span) for text, span, _ in texts]
    lm = language_model(zoo(name))
    for batch, cached, order in ((1, None, 1), (5000, "c", -1), (5000, "c", 1)):
        scorer = Scorer(lm, batch_tokens=batch, cache=cached and tmp_path / cached)
        found = list(scorer.spans(texts[::order]))[::order]
        assert scorer.counts.forward == (0 if cached and order == 1 else len(texts))
        scorer.close()
        assert [score.score for score in found] == pytest.approx(expected, abs=1e-4)
        for score, (text, span, _) in zip(found, texts, strict=True):
            own = brute.span_positions(tokenizer, text, span)
            tokens = tokenizer.convert_ids_to_tokens([brute.encode(tokenizer, text).ids[i] for i in own])
            assert (score.text, score.n, list(score.tokens)) == (text, len(own), tokens)
            assert len(own) > 1
            assert score.score == pytest.approx(score.token_logprobs.sum())


def test_spans_that_are_refused(zoo: Zoo) -> None:
    def spans(name: str, text: str, span: tuple[int, int]) -> None:
        list(Scorer(language_model(zoo(name))).spans([("The nurse", (0, 3), "line 1"), (text, span, "s.csv, line 2")]))

    with pytest.raises(DataError, match=r"^s\.csv, line 2: 'each' does not match whole tokens: .* part of 'teacher'"):
        spans("bert", "The teacher saw.", (5, 9))
    with pytest.raises(DataError, match=r"^s\.csv, line 2: no token of 'The dog' overlaps characters 3–4"):
        spans("bert", "The dog", (3, 4))
    with pytest.raises(MethodError, match="is causal and cannot fill a gap"):
        spans("gpt2", "The nurse", (0, 3))
    with pytest.raises(ModelError, match="vectors, not word probabilities"):
        spans("bert-headless", "The nurse", (0, 3))


# Sets and surveys to work with ------------------------------------------------------------------------------


def write_table(path: Path, *rows: Sequence[object]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


NOUNS = ("teacher", "nurse", "doctor", "dog", "horse", "traveler", "owner")
NEUTRAL = [f"the {a} saw the {b}" for a, b in itertools.permutations(NOUNS, 2)][:33]
TEXTS = ["Women buy {}books", "Men buy {}keys", "the old dog sleeps {}", "owners see horses", "it is {}true"]
TEXTS += ["the garden is {}old", "the nurse saw {}a dog", "No teacher is {}late"]
NEGATED = [text.format("not ") if "{}" in text else "" for text in TEXTS]
VALUE_OF = {f"s{i}": "order" if i < 5 else "change" for i in range(8)}
TURNED = {"s1", "s6"}
STATEMENTS = [
    (id_, text.format(""), VALUE_OF[id_], "yes" if id_ in TURNED else "no", negation)
    for id_, text, negation in zip(VALUE_OF, TEXTS, NEGATED, strict=True)
]
TEMPLATES = [
    {"variant": variant, "group": group, "agree": f"{head} [{yes}]{tail}", "disagree": f"{head} [{no}]{tail}"}
    for variant, yes, no, tail in (
        ("main", "agrees", "disagrees", " that {statement}."),
        ("short", "likes it", "never likes it", ", {statement}!"),
    )
    for group, head in (("feminine", "The sister said she"), ("masculine", "The farmer said he"))
]


def write_set(folder: Path, templates: object = TEMPLATES, statements: Sequence[Sequence[object]] = STATEMENTS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "calibration.csv", ["id", "text"], *enumerate(NEUTRAL))
    write_table(folder / "statements.csv", ["id", "text", "value", "reversed", "negation"], *statements)
    (folder / "set.yaml").write_text(json.dumps({"templates": templates}), "utf-8")
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set, and beside it the answers of 40 women and 30 men; some are missing, and nobody was asked about s7."""
    folder = write_set(tmp_path_factory.mktemp("values") / "set")
    rng = np.random.default_rng(3)
    rows = [["f" if i < 40 else "m", *rng.integers(1 + (i < 40), 6, 7)] for i in range(70)]
    for i in range(0, 70, 9):
        rows[i][1 + i % 7] = ""
    write_table(folder.parent / "people.csv", ["sex", *(f"q{i}" for i in range(7))], *rows)
    about = {"file": "people.csv", "columns": {f"s{i}": f"q{i}" for i in range(7)}}
    groups = {"column": "sex", "levels": {"feminine": "f", "masculine": "m"}}
    (folder.parent / "people.yaml").write_text(json.dumps({**about, "groups": groups}))
    return folder


def people_of(folder: Path) -> People:
    with (folder / "people.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {
        group: [{f"s{i}": float(row[f"q{i}"]) for i in range(7) if row[f"q{i}"]} for row in rows if row["sex"] == level]
        for group, level in (("feminine", "f"), ("masculine", "m"))
    }


def values(data: Path, **parameters: Any) -> pc.Values:
    return pc.Values(data=str(data), **{"resamples": 300, **parameters})


# One model --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bert-cased", "distilbert", "xlm-roberta", "roberta"])
def test_the_model_reads_the_template_with_the_clause_put_in(zoo: Zoo, tmp_path: Path, name: str) -> None:
    who = "Moje sestra" if name == "xlm-roberta" else "Žák"  # its tiny vocabulary lacks Ž
    templates = [
        {"group": group, "agree": text.replace("STANCE", "[souhlasí]"), "disagree": text.replace("STANCE", "[ne]")}
        for group, text in (("a", f"{who} STANCE s tím, že {{statement}}."), ("b", f"{{statement}}, STANCE {who}."))
    ]
    place = write_set(tmp_path / "set", templates, [("s", 'malý kůň "vidí" Hello světe', "v", "no", "")])
    found = values(place).run(language_model(zoo(name))).items.filter(STATEMENT)
    assert found["sentence_agree"].to_list() == [
        f'{who} souhlasí s tím, že malý kůň "vidí" Hello světe.',
        f'Malý kůň "vidí" Hello světe, souhlasí {who}.',
    ]
    assert found["sentence_disagree"][0] == f'{who} ne s tím, že malý kůň "vidí" Hello světe.'
    model, tokenizer = brute.load(zoo(name))
    for text, score, n in found.select("sentence_agree", "agree", "n_tokens_agree").iter_rows():
        span = (text.index("souhlasí"), text.index("souhlasí") + 8)
        assert score == pytest.approx(brute.span_logprob(model, tokenizer, text, span), abs=1e-4)
        assert n == len(brute.span_positions(tokenizer, text, span))
        for without in (text.replace("Hello", "hello"), text.replace("ý", "y")):
            assert abs(score - brute.span_logprob(model, tokenizer, without, span)) > 1e-3


@pytest.mark.whole
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_causal_models_take_whole_sentences(zoo: Zoo, data: Path, name: str) -> None:
    found = values(data).run(language_model(zoo(name)))
    own = [found.signature[key] for key in ("method", "calibration", "bos")]
    assert own == ["lp", "difference", "<s>" if name == "llama" else "<|endoftext|>"]
    model, tokenizer = brute.load(zoo(name), causal=True)
    for row in found.items.filter(pl.col("id").is_in(["s0", "s6", "7"])).iter_rows(named=True):
        for side in ("agree", "disagree"):
            expected = brute.lp(model, tokenizer, row[f"sentence_{side}"])
            assert row[side] == pytest.approx(sum(expected), abs=1e-3)
            assert row[f"logprobs_{side}"] == pytest.approx(expected, abs=1e-4)


def test_models_and_methods_that_do_not_fit(zoo: Zoo, data: Path) -> None:
    fits = {"gpt2": "span", "bert": "lp", "bert-headless": "span"}
    for name, method in fits.items():
        error = ModelError if name == "bert-headless" else MethodError
        with pytest.raises(error, match=f"method '{method}' does not fit|vectors, not word probabilities"):
            values(data, method=method).run(language_model(zoo(name)))


def alpha(table: Array) -> float:
    """NaN from fewer than 30 respondents."""
    k = table.shape[1]
    return (
        math.nan
        if len(table) < 30
        else float(k / (k - 1) * (1 - table.var(axis=0, ddof=1).sum() / table.sum(axis=1).var(ddof=1)))
    )


def strictly(r: float, answers: Sequence[float]) -> float:
    return 2 * min(sum(x < r for x in answers), sum(x > r for x in answers)) / len(answers)


def mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


BLOCKS = {v: [s for s in VALUE_OF if v in ("all", VALUE_OF[s])] for v in ("order", "change", "all")}
WORDED = ("main", "short")
Towards = dict[tuple[str, str], dict[str, float]]


def of_a_cell(cell: pl.DataFrame, people: list[dict[str, float]], line: str) -> tuple[dict[Key, float], Towards]:
    """Recompute a wording and group from log-probabilities and answers alone."""
    v, g = cell["variant"][0], cell["group"][0]
    found: dict[Key, float] = {}
    x, y = (cell.filter(kind="calibration")[side].to_numpy() for side in ("disagree", "agree"))
    a, b = ((x * y).sum() / (x * x).sum(), 0.0) if line == "origin" else (1.0, (y - x).mean())
    sigma = math.sqrt(((y - a * x - b) ** 2).sum() / (len(x) - 1))
    whole: dict[str, float] = {
        "calibration slope a" if line == "origin" else "calibration offset b": a if line == "origin" else b,
        "residual sd σ": sigma,
        "correlation of agree and disagree": np.corrcoef(x, y)[0, 1],
    }
    ratings: dict[tuple[str, str], float] = {}
    for row in cell.iter_rows(named=True):
        agreement = float(stats.norm.cdf((row["agree"] - a * row["disagree"] - b) / sigma))
        turned = row["kind"] != "calibration" and row["id"] in TURNED
        rating = ratings[row["kind"], row["id"]] = 1 + 4 * agreement
        assert (row["agreement"], row["rating"], row["towards"]) == pytest.approx(
            (agreement, rating, 6 - rating if turned else rating)
        )
    own = {s: ratings["statement", s] for s in VALUE_OF}
    towards = {s: 6 - own[s] if s in TURNED else own[s] for s in own}
    each = {s: strictly(own[s], [r[s] for r in people if s in r]) for s in own if s != "s7"}
    liked = [mean([r[s] for r in people if s in r]) for s in each]
    ranks = np.array([stats.rankdata(side) for side in ([own[s] for s in each], liked)])
    pairs = np.array([(own[s], 6 - ratings["negation", s]) for s in own if ("negation", s) in ratings])
    whole |= {
        "representativeness": mean(list(each.values())),
        "rank correlation with the survey's means": np.corrcoef(ranks)[0, 1],
        "distance from the mirrored negation": np.abs(pairs[:, 0] - pairs[:, 1]).mean(),
        "correlation with the mirrored negation": np.corrcoef(pairs.T)[0, 1],
        "mean rating": mean(list(towards.values())),
    }
    for value, ids in (("order", BLOCKS["order"]), ("change", BLOCKS["change"])):
        asked = [s for s in ids if s in each]
        full = np.array([[6 - r[s] if s in TURNED else r[s] for s in asked] for r in people if {*asked} <= {*r}])
        scores = full.mean(axis=1)
        found[v, g, value, "", "mean rating"] = mean([towards[s] for s in ids])
        found[v, g, value, "", "spread of ratings"] = float(np.std([towards[s] for s in ids], ddof=1))
        found[v, g, value, "", "representativeness"] = strictly(mean([towards[s] for s in asked]), scores.tolist())
        found |= {(v, g, value, s, "rating"): own[s] for s in ids}
        found |= {(v, g, value, s, "representativeness"): each[s] for s in asked}
        found[v, g, value, "", FROM_SURVEY] = mean([towards[s] for s in asked]) - scores.mean()
        found["all", g, value, "", "survey mean"] = scores.mean()
        found["all", g, value, "", "survey sd"] = scores.std(ddof=1)
        found["all", g, value, "", "survey internal consistency (Cronbach's α)"] = alpha(full)
        for share in (5, 25, 50, 75, 95):
            found["all", g, value, f"{share}%", "survey quantile"] = float(np.percentile(scores, share))
    return found | {(v, g, "all", "", name): number for name, number in whole.items()}, {(v, g): towards}


def of_all_cells(towards: Towards) -> dict[Key, float]:
    """Recompute the estimates over all cells."""
    found = {}
    for v, value in itertools.product(("main", "short"), BLOCKS):
        gaps = [towards[v, "feminine"][s] - towards[v, "masculine"][s] for s in BLOCKS[value]]
        key = v, "feminine − masculine", value, "", "difference of ratings"
        found[key] = mean(gaps)
    for value, ids in BLOCKS.items():
        by_wording = {v: [mean([towards[v, g][s] for g in ("feminine", "masculine")]) for s in ids] for v in WORDED}
        gaps = [a - b for a, b in zip(by_wording["main"], by_wording["short"], strict=True)]
        found["main − short", "all", value, "", WORDINGS] = mean(gaps)
    for value in ("order", "change"):
        table = np.array([[own[s] for s in BLOCKS[value]] for own in towards.values()])
        found["all", "all", value, "", "internal consistency (Cronbach's α)"] = alpha(table)
    cube = np.array([list(own.values()) for own in towards.values()]).reshape(2, 2, -1)  # wordings, groups, statements
    total = ((cube - cube.mean()) ** 2).sum()
    between = [sum(part.size * (part.mean() - cube.mean()) ** 2 for part in np.moveaxis(cube, i, 0)) for i in range(3)]
    over_groups = cube.mean(axis=1)
    gaps = over_groups - over_groups.mean(axis=0) - over_groups.mean(axis=1, keepdims=True) + cube.mean()
    between.append(2 * (gaps**2).sum())
    names = ("template", "group", "statement", "statement × template", "rest")
    for name, part in zip(names, (*between, total - sum(between)), strict=True):
        found["all", "all", "all", "", f"share of variance: {name}"] = float(part / total)
    return found


def of_groups_of_people(of_cells: dict[Key, float], towards: Towards, people: People) -> dict[Key, float]:
    """Recompute the distances of each cell's ratings from either group's answers."""
    found: dict[Key, float] = {("all", "all", "all", name, GROUP_SIZE): len(people[name]) for name in people}
    for (v, g), value in itertools.product(towards, BLOCKS):
        here = [s for s in BLOCKS[value] if s != "s7"]
        own = [of_cells[v, g, VALUE_OF[s], s, "rating"] for s in here]
        for name, answers in people.items():
            liked = [mean([r[s] for r in answers if s in r]) for s in here]
            found[v, g, value, name, DISTANCE] = mean([abs(r - m) for r, m in zip(own, liked, strict=True)])
            if value != "all":
                full = [r for r in answers if {*here} <= {*r}]
                scores = [mean([6 - r[s] if s in TURNED else r[s] for s in here]) for r in full]
                found["all", "all", value, name, GROUP_MEAN] = mean(scores)
                found[v, g, value, name, FROM_GROUP] = mean([towards[v, g][s] for s in here]) - mean(scores)
        sides = [[mean([r[s] for r in answers if s in r]) for s in here] for answers in people.values()]
        apart = mean([abs(a - b) for a, b in zip(*sides, strict=True)])
        found["all", "all", value, "feminine − masculine", APART] = apart
        first, second = (found[v, g, value, name, DISTANCE] for name in people)
        found[v, g, value, "feminine − masculine", NEARER] = first - second
    return found


ELSEWHERE = ("slope of a fit", "intercept of a fit", "normality", "spread expected by chance")
"""Measures that are tested in test_values_stats and below."""


CORRELATIONS: dict[str, Callable[[float], float]] = {
    "correlation of agree and disagree": lambda r: 1,
    "correlation with the mirrored negation": lambda r: 1,
    "rank correlation with the survey's means": lambda r: 1 + r * r / 2,  # Bonett and Wright 2000
}
"""How much more than 1/(n − 3) each varies on the scale of Fisher's z."""


def fisher(r: float, n: int, factor: float) -> tuple[float, float, float]:
    """The 95 % interval of a correlation, and its p."""
    half = stats.norm.ppf(0.975) * math.sqrt(factor / (n - 3))
    p = 2 * stats.t.sf(abs(r) * math.sqrt((n - 2) / (1 - r * r)), n - 2)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half), float(p)


@pytest.mark.parametrize(("name", "line"), [("bert-cased", None), ("gpt2", None), ("albert", "difference")])
def test_every_estimate_is_that_of_plain_numpy(zoo: Zoo, data: Path, name: str, line: str | None) -> None:
    found = values(data, calibration=line, survey=str(data.parent / "people.yaml")).run(language_model(zoo(name)))
    assert len(found.items) == 4 * (33 + 8 + 7)
    people = people_of(data.parent)
    cells = [
        of_a_cell(cell, people[cell["group"][0]], found.signature["calibration"])
        for cell in found.items.partition_by("variant", "group")
    ]
    both = {key: own for _, towards in cells for key, own in towards.items()}
    expected = of_all_cells(both)
    for numbers, _ in cells:
        expected |= numbers
    expected |= of_groups_of_people(expected, both, people)
    own = {(r["variant"], r["group"], r["dimension"], r["item"], r["measure"]): r for r in found.summary.to_dicts()}
    assert len(own) == len(found.summary)
    for group, answers in people.items():
        row = own.pop(("all", group, "all", "", "respondents"))
        assert (row["value"], row["n"]) == (len(answers), sum(map(len, people.values())))
        assert row["note"] == f"all {row['n']} respondents are kept; read as agreeing: 5"
    assert {key for key in own if not key[-1].startswith(ELSEWHERE)} == set(expected)
    for key, number in expected.items():
        assert own[key]["value"] == pytest.approx(number, abs=1e-6, nan_ok=True), key
    for key in (key for key in own if key[-1] == "difference of ratings"):
        family = holm([own[*key[:2], value, "", key[-1]]["p"] for value in ("order", "change")])
        adjusted = dict(zip(("order", "change"), family, strict=True)).get(key[2], math.nan)
        assert own[key]["p_holm"] == pytest.approx(adjusted, nan_ok=True), key
        assert (own[key]["p"] < 0.05) == (not own[key]["low"] <= 0 <= own[key]["high"]), key
    for key, row in own.items():
        assert row["n"] > 0 and 0 < row["level"] < 1, key
        assert (row["low"] <= row["high"] and row["how"]) or "no interval" in row["how"] or row["note"], key
        if key[-1] in CORRELATIONS:
            bounds = fisher(row["value"], row["n"], CORRELATIONS[key[-1]](row["value"]))
            assert (row["low"], row["high"], row["p"]) == pytest.approx(bounds, rel=1e-6), key
        if key[-1] == "survey sd":
            (sd, n), around = (row["value"], row["n"]), own[*key[:-1], "survey mean"]
            half = stats.t.ppf(0.975, n - 1) * sd / math.sqrt(n)
            assert row["low"] < sd < row["high"] and row["how"].startswith("Bonett interval of a log sd")
            assert [around["low"], around["high"]] == pytest.approx([around["value"] - half, around["value"] + half])
        assert Signature.parse(row["signature"]) == found.signature
    complete = sum(len([s for s in r if s < "s5"]) == 5 for r in people["feminine"])
    counts = {key[-1]: row["n"] for key, row in own.items() if key[:4] == ("main", "feminine", "order", "")}
    names = ("mean rating", "spread of ratings", "spread expected by chance")
    assert counts == {**dict.fromkeys((*names, FROM_SURVEY), 5), "representativeness": complete}


# Made-up log-probabilities ----------------------------------------------------------------------------------

IDS = [f"s{i}" for i in range(10)]


def made(seed: int = 0, n: int = 40, spread: float = 2.0, mirrored: float = -1.0) -> pl.DataFrame:
    """Items of two groups: n neutral statements whose residuals are as normal as can be, six statements of v and four
    of w, one of each turned round, and their negations, whose residuals are the mirror image."""
    rng = np.random.default_rng(seed)
    parts = []
    for group, a in (("f", 0.9), ("m", 0.8)):
        x, lean = rng.normal(-8, spread, n + 20), rng.normal(0.3, 0.7, 10)
        residuals = [rng.permutation(stats.norm.ppf((np.arange(n) + 0.5) / n)), lean, mirrored * lean]
        ids = [*(f"n{i}" for i in range(n)), *IDS, *IDS]
        own: dict[str, Any] = {
            "id": ids,
            "kind": ["calibration"] * n + ["statement"] * 10 + ["negation"] * 10,
            "value": [""] * n + ["v" if i < 6 else "w" for i in range(10)] * 2,
            "reversed": [False] * n + [i in (1, 7) for i in range(10)] * 2,
            "sentence_agree": [f"{group} agrees that {id_}" for id_ in ids],
            "sentence_disagree": [f"{group} disagrees that {id_}" for id_ in ids],
            "agree": a * x + 0.6 * np.concatenate(residuals),
            "disagree": x,
        }
        constant = {"variant": "main", "group": group, "n_tokens_agree": 2, "n_tokens_disagree": 2}
        parts.append(pl.DataFrame(own).with_columns(pl.lit(v).alias(k) for k, v in constant.items()))
    return pl.concat(parts)


def asked(ids: Sequence[str] = IDS, n: int = 300, **more: Any) -> Survey:
    """A survey of n women, whose answers lie anywhere between 1 and 5."""
    rng = np.random.default_rng(8)
    table = pl.DataFrame({"": ["f"] * n, **{id_: rng.uniform(1, 5, n) for id_ in ids}})
    fields = {"absent": tuple(i for i in IDS if i not in ids), "read": n, "kept": n, "synthetic": False}
    return Survey("people", table, **{**fields, **more}, files=(), sha256="0" * 64)


EVERY = {"v": np.arange(6), "w": np.arange(6, 10), "all": np.arange(10)}


def drawn_plainly(table: pl.DataFrame, survey: Survey, draws: int) -> dict[tuple[str, str, str, str], list[float]]:
    """Resamples by group, value, item and measure, one after the other."""
    rng = np.random.default_rng(9)
    found: defaultdict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    turned = np.array([i in (1, 7) for i in range(10)])
    cells = {g: [sides(table.filter(group=g), kind) for kind in ("calibration", "statement")] for g in "fm"}
    for _ in range(draws):
        some = rng.integers(0, 40, 40)  # the same for both groups
        picks = {"v": rng.integers(0, 6, 6), "w": rng.integers(6, 10, 4), "all": rng.integers(0, 10, 10)}
        towards = {}
        for g, (neutral, statements) in cells.items():
            ratings = ratings_of((neutral[0][some], neutral[1][some]), statements)
            towards[g] = np.where(turned, 6 - ratings, ratings)
            for i, id_ in enumerate(IDS):
                found[g, "v" if i < 6 else "w", id_, "rating"].append(ratings[i])
            for value, pick in picks.items():
                found[g, value, "", "mean rating"].append(towards[g][EVERY[value]].mean())
                if value != "all":
                    plain = ratings_of(neutral, neutral)[rng.permutation(40)[: len(pick)]]
                    plain[1] = 6 - plain[1]  # one of each value is turned round
                    found[g, value, "", "spread expected by chance"].append(plain.std(ddof=1))
                    inside = slice(0, 6) if value == "v" else slice(6, 10)
                    both = np.concatenate([ratings_of(neutral, neutral), ratings_of(neutral, statements)[inside]])
                    mixed = rng.permutation(both)[: len(pick)]
                    mixed[1] = 6 - mixed[1]
                    found[g, value, "", "spread among both"].append(mixed.std(ddof=1))
        for value, pick in picks.items():
            if value != "all":
                drawn = rng.integers(0, len(survey.answers), len(survey.answers))
                whole = survey.answers.drop("").to_numpy()
                scores = np.where(turned, 6 - whole, whole)[drawn][:, pick].mean(axis=1)
                gap = float(np.mean(scores < towards["f"][pick].mean()) - np.mean(scores > towards["f"][pick].mean()))
                found["f", value, "", "below − above"].append(gap)
            found["f − m", value, "", "difference of ratings"].append(
                (towards["f"] - towards["m"])[EVERY[value]].mean()
            )
    for id_ in IDS:
        key, people = ("f", "v" if id_ < "s6" else "w", id_), survey.answers[id_].to_list()
        for r in found[*key, "rating"]:
            drawn = rng.choice(people, len(people))
            found[*key, "below − above"].append(float(np.mean(drawn < r) - np.mean(drawn > r)))
    return found


@pytest.mark.whole
def test_intervals_are_those_of_a_plain_bootstrap() -> None:
    whole = made_result(made(), asked(), resamples=3000)
    summary, made_items = whole.summary, whole.items
    own = {(r["group"], r["dimension"], r["item"], r["measure"]): r for r in summary.to_dicts()}
    found_plainly = drawn_plainly(made(), asked(), 3000)
    for (g, value, id_, measure), numbers in found_plainly.items():
        if measure == "spread among both":
            continue
        n = {"v": 6, "w": 4, "all": 10}[value]
        row = own[g, value, id_, "representativeness" if measure == "below − above" else measure]
        if measure in ("mean rating", "difference of ratings"):  # t, the calibration's variance beside the statements'
            by_group = [made_items.filter(STATEMENT, group=side)["towards"].to_numpy() for side in g.split(" − ")]
            gaps = (by_group[0] - (by_group[1] if len(by_group) > 1 else 0))[EVERY[value]]
            half = stats.t.ppf(0.95, n - 1) * math.sqrt(gaps.var(ddof=1) / n + np.var(numbers))
            ends = np.array([gaps.mean() - half, gaps.mean() + half])
            if measure == "mean rating":  # by the slope of the logit of (R − 1)/4, which is 4/((R − 1)(5 − R))
                scaled = special.logit((gaps.mean() - 1) / 4) + (ends - gaps.mean()) * 4 / (
                    (gaps.mean() - 1) * (5 - gaps.mean())
                )
                ends = 1 + 4 * special.expit(scaled)
            assert (row["low"], row["high"]) == pytest.approx(ends.tolist(), abs=0.02), (value, measure)
            continue
        # Over statements the tails are widened as the t interval is (Hesterberg 2015).
        over = measure == "below − above" and not id_
        tail = stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf(0.95, n - 1)) if over else 0.05
        if measure == "rating":  # over 40 neutral statements
            tail = stats.norm.cdf(-math.sqrt(40 / 39) * stats.t.ppf(0.95, 39))
        low, high = np.quantile(numbers, [tail, 1 - tail])
        if measure == "below − above":  # largest where the two are the same
            near = 0 if low <= 0 <= high else min(abs(low), abs(high))
            low, high = 1 - max(abs(low), abs(high)), 1 - near
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.12 * (high - low)), (value, measure)
        if measure == "spread expected by chance":
            assert row["value"] == pytest.approx(mean(numbers), abs=0.02)
            spread = own[g, value, "", "spread of ratings"]
            mixed = np.array(found_plainly[g, value, "", "spread among both"])
            p = 2 * min(np.mean(mixed <= spread["value"]), np.mean(mixed >= spread["value"]))
            assert spread["p"] == pytest.approx(min(1, p), abs=0.05)


@pytest.mark.parametrize(("n", "few"), [(3, True), (4, True), (5, False), (6, False)])
def test_a_mean_over_few_statements_has_a_t_interval_and_says_so(n: int, few: bool) -> None:
    """On the logit scale at least as wide as t of n − 1 degrees of freedom of the statements alone."""
    items = made().filter((pl.col("kind") == "calibration") | pl.col("id").is_in(IDS[:n]), group="f")
    found = made_result(items)
    row = found.summary.row(
        by_predicate=(pl.col("measure") == "mean rating") & (pl.col("dimension") == "v"), named=True
    )
    ratings = found.items.filter(STATEMENT)["towards"].to_numpy()
    share = (ratings.mean() - 1) / 4
    alone = stats.t.ppf(0.95, n - 1) * ratings.std(ddof=1) / math.sqrt(n) / 4 / (share * (1 - share))
    low, high = 1 + 4 * special.expit(special.logit(share) + np.array([-alone, alone]))
    assert 1 < row["low"] <= low and high <= row["high"] < 5
    assert ("too few" in row["note"]) == few and row["how"].startswith(f"t interval ({n - 1} df)")


def test_the_set_to_start_from_has_enough_statements() -> None:
    """Six a value, half of them reversed, each with a negation; and a survey of all of them."""
    place = Path(pc.__file__).parent / "instruments" / "values" / "template"
    table = pl.read_csv(place / "statements.csv")
    counts = table.group_by("value").agg(pl.len(), (pl.col("reversed") == "yes").sum())
    assert counts["len"].to_list() == [6, 6] and counts["reversed"].to_list() == [3, 3]
    assert table["negation"].null_count() == 0 and table["id"].n_unique() == len(table)
    assert pl.read_csv(place / "answers.csv").columns == ["synthetic", "group", *table["id"]]


def test_both_groups_are_resampled_alike() -> None:
    """Equal ratings differ by exactly 0, though each mean is uncertain."""
    women = made().filter(group="f")
    twice = made_result(pl.concat([women, women.with_columns(group=pl.lit("m"))])).summary
    for rows in (
        twice.filter(measure="difference of ratings"),
        pc.compare(made_result(made()), made_result(made(), model="n")),
    ):
        assert rows.select("value", "low", "high", "p").unique().rows() == [(0, 0, 0, 1)]


def test_the_order_of_the_items_does_not_matter() -> None:
    items, order = made(), np.random.default_rng(1).permutation(60)
    one, other = (made_result(table).summary for table in (items, pl.concat([items[:60][order], items[60:]])))
    bounds = ["value", "low", "high"]
    measures = ("residual sd σ", "calibration slope a", "rating", "mean rating", "spread of ratings")
    for measure, columns in (*((name, bounds) for name in measures), ("difference of ratings", [*bounds, "p"])):
        a, b = (
            table.filter(measure=measure).sort("group", "dimension", "item").select(columns) for table in (one, other)
        )
        np.testing.assert_allclose(a, b, atol=1e-9)


AGREE = pl.col("agree")
LAST = STATEMENT & (pl.col("id") == "s8") & (pl.col("group") == "m")
ONE_WAY = made().filter(pl.col("kind") != "negation").with_columns(reversed=pl.lit(False))
FEW = pl.col("id").is_in(IDS[:4])
CAUTIONS: dict[str, tuple[pl.DataFrame, Survey | None, dict[str, str], str]] = {
    "few": (made(n=29), None, {}, "only 29 neutral statements calibrate"),
    "weak": (made(seed=2, spread=0.02), None, {}, "hardly rise together (r: f speaker "),
    "bent": (made().with_columns(agree=AGREE + 9 * (pl.col("id") == "n3")), None, {}, "are not normal (f speaker p"),
    "unequal": (made().with_columns(n_tokens_disagree=3), None, {}, "f speaker 2 and 3; m speaker 2 and 3"),
    "opposite": (made(mirrored=1), None, {}, "negated statements do not get mirrored ratings"),
    "low": (made().with_columns(agree=AGREE - 9 * LAST), None, {}, "1 of 20 ratings lies at the end of the scale"),
    "high": (made().with_columns(agree=AGREE + 9 * LAST), None, {}, "1 of 20 ratings lies at the end of the scale"),
    "no spread": (made().with_columns(agree="disagree"), None, {}, "20 of 20 ratings could not be computed"),
    "one way": (ONE_WAY, None, {}, "agreeing with everything (acquiescence)"),
    "one way, few": (ONE_WAY.filter(FEW | ~STATEMENT), None, {}, "not checked whether negated statements"),
    "one way, reversed": (
        ONE_WAY.with_columns(reversed=pl.col("id") == "s0"),
        None,
        {},
        "no statement has a negation, so the model may respond to the topic",
    ),
    "one way, negated": (made().with_columns(reversed=pl.lit(False)), None, {}, ""),
    "synthetic": (made(), asked(synthetic=True), {}, "'people' is SYNTHETIC"),
    "absent": (made(), asked(IDS[:7]), {}, "3 statements are not in the survey and not compared with it: s7, s8, s9"),
    "lost": (made(), asked(read=303), {}, "3 of 303 respondents are left out"),
    "nothing": (made(n=30), asked(), {}, ""),
    "hardly bent, p = .017": (made().with_columns(agree=AGREE + 3 * (pl.col("id") == "n3")), None, {}, ""),
    "weak, but no slope": (made(seed=2, spread=0.02), None, {"calibration": "difference"}, ""),
    "unequal sentences": (made().with_columns(n_tokens_disagree=3), None, {"method": "lp"}, ""),
}


@pytest.mark.parametrize("case", CAUTIONS)
def test_a_caution_has_its_cause(case: str) -> None:
    items, survey, more, part = CAUTIONS[case]
    cautions = made_result(items, survey, **more).cautions
    assert len(cautions) == bool(part), cautions
    assert part in "".join(cautions)


def test_a_calibration_that_a_free_line_contradicts_says_so() -> None:
    crooked = made().with_columns(agree=0.5 * pl.col("disagree") + AGREE - 6)
    (caution, *_) = made_result(crooked).cautions
    assert caution.startswith("the calibration does not fit (f speaker, m speaker)")
    notes = made_result(crooked).summary.filter(measure="calibration slope a")["note"]
    assert notes.str.contains("the line does not fit: residuals correlate with x at ", literal=True).all()


def test_the_methods_say_once_which_answer_is_taken_for_agreeing() -> None:
    surveyed = made_result(made().with_columns(text="id"), asked(agreeing="1 (Agree strongly)"))
    hows = surveyed.summary.filter(measure="survey mean", group="f")["how"].unique().to_list()
    assert hows == ["t interval over 300 respondents; all respondents; weights are not used"]
    (note,) = surveyed.summary.filter(measure="respondents")["note"].unique().to_list()
    assert note.endswith("; read as agreeing: 1 (Agree strongly)")
    paragraphs = [*SECTION.methods([surveyed]), *methods([surveyed], None, {})]
    assert sum(text.count("1 (Agree strongly)") for text in paragraphs) == 1
    (told,) = (text for text in paragraphs if "Compared with each group" in text)
    assert told.endswith(" Answers counted as agreeing: 1 (Agree strongly).")


def test_a_label_that_reads_like_another_note_is_no_note() -> None:
    level = "9 (no answer; read as agreeing: 1; without 3 of 9 respondents (33%), who lack an answer)"
    left_out = (Note("values.of-level", have=2, column="sex", level=level),)
    surveyed = made_result(made().with_columns(text="id"), asked(agreeing="5", others=left_out))
    paragraphs = SECTION.methods([surveyed])
    (told,) = (text for text in paragraphs if "Compared with each group" in text)
    assert f"kept: 2 have sex {level}. Compared" in told and told.endswith(" Answers counted as agreeing: 5.")
    assert not any("are left out of the means over a value" in text for text in paragraphs)


def test_a_number_without_an_interval_says_so_by_its_code() -> None:
    for row in made_result(made(), asked(weights=tuple([1.0, 2.0] * 150))).summary.iter_rows(named=True):
        method = read_method(row["method"])
        alone = method is not None and (method.code == NO_INTERVAL or method.makes_nothing)
        assert alone == ("no interval" in row["how"])
        assert not alone or math.isnan(row["low"])


def test_a_caption_says_that_models_are_not_measured_alike() -> None:
    items = made().with_columns(text="id")
    one = made_result(items, asked())
    other = replace(one, signature=one.signature.with_(method="lp", calibration="difference", model="other"))
    alike = replace(one, signature=one.signature.with_(model="other"))
    told = "The models differ in method (span and lp) and calibration (origin and difference)"
    for figure in SECTION.figures([one, other])[:2]:
        assert told in figure.text
    assert not any("differ in" in figure.text for figure in SECTION.figures([one, alike]))


def test_the_p_of_the_spread_stands_beside_the_spread() -> None:
    items = made().with_columns(text="id")
    plain = SECTION.tables([made_result(items)])[0]
    surveyed = SECTION.tables([made_result(items, asked())])[0]
    own = ("statements", "mean rating", "spread (sd)", "p, spread ≠ chance (Holm)", "spread by chance")
    assert plain.columns == ("value", "group", "model", *own)
    assert surveyed.columns == (*plain.columns, "survey mean", "representativeness")
    ends = [[type(row.cells[at]) for at in (5, 6, 7)] for row in surveyed.rows]
    assert ends == [[Number, P, Number]] * len(surveyed.rows)
    (heads,) = (line for line in headline(surveyed, 80, 40) if line.startswith("value "))
    assert "survey mean" in heads and "representativeness" in heads and "spread" not in heads


def test_the_side_of_a_spread_is_marked_where_it_is_told_apart_from_chance() -> None:
    lean = pl.col("id").str.slice(1).cast(pl.Int64).mod(2).mul(6).sub(3)
    items = made().with_columns(text="id", agree=AGREE + STATEMENT * lean)  # half at either end of the scale
    table = SECTION.tables([made_result(items)])[0]
    marked = [(cells[5].star, cells[6].value) for cells in (row.cells for row in table.rows) if cells[0] != "all"]  # type: ignore[union-attr]
    assert any(star for star, _ in marked)
    assert all(star == (" ↑" if p <= 0.05 else "") for star, p in marked)
    assert "Only ↓ shows that the statements are rated as one value" in table.note
    robust = next(t for t in SECTION.tables([made_result(items)]) if t.name == "robustness")
    rows = {row.cells[0]: row.cells for row in robust.rows}
    at = [robust.columns.index(name) for name in ("wanted", "p is of")]
    assert [rows["correlation with the mirrored negation"][i] for i in at] == ["consistent: +1", "0"]


def test_without_spread_there_are_no_ratings() -> None:
    items = made().with_columns(agree="disagree")
    for line in ("origin", "difference"):
        found = made_result(items, asked(), calibration=line)
        assert all(found.items[column].null_count() == len(items) for column in ("agreement", "rating", "towards"))
        for measure, rows in (("mean rating", 6), ("spread of ratings", 4), ("difference of ratings", 3)):
            own = found.summary.filter(measure=measure)
            assert own["value"].is_nan().all()
            assert own["note"].to_list() == ["the neutral statements show no spread"] * rows
        assert found.summary.filter(measure="residual sd σ")["value"].to_list() == [0, 0]


@pytest.mark.parametrize("case", ["no spread", "no answers", "few"])
def test_what_cannot_be_computed_says_why(case: str) -> None:
    unanswered = asked().answers.with_columns(s0=pl.lit(None, pl.Float64))
    survey = replace(asked(), answers=unanswered) if case == "no answers" else asked()
    items = {"few": made(n=3), "no spread": made().with_columns(agree="disagree")}.get(case, made())
    found = made_result(items, survey, level=0.8).summary
    assert set(found["level"]) == {0.8}
    assert found["value"].is_nan().any() or case == "few"
    bounded = (pl.col("low") <= pl.col("high")) & pl.col("value").is_not_nan() & pl.col("high").is_not_nan()
    said = pl.col("how").str.contains("no interval") & pl.col("value").is_not_nan()
    assert found.filter(~bounded & ~said & (pl.col("note") == "")).rows() == []


# Again ------------------------------------------------------------------------------------------------------


@pytest.mark.whole
@pytest.mark.parametrize("name", ["xlm-roberta", "gpt2"])
def test_again_from_the_cache_in_other_batches_and_from_saved_items(
    zoo: Zoo, data: Path, tmp_path: Path, name: str
) -> None:
    lm, probe = language_model(zoo(name)), values(data, survey=str(data.parent / "people.yaml"))
    done: list[float] = []
    first_run = Run(cache=tmp_path / "c", progress=lambda share, total: done.append(share / total))
    runs = [first_run, Run(cache=tmp_path / "c", batch_tokens=7), Run(batch_tokens=1)]
    first, again, small = (probe.run_as(lm, run) for run in runs)
    assert (runs[0].counts.forward > 0, runs[1].counts.forward) == (True, 0)
    assert sum(done) == pytest.approx(1)
    first.save(tmp_path / "saved")
    back = pc.Result.load(tmp_path / "saved")
    for other in (
        again,
        back,
        pc.Values.of(back.settings).result(Rated(back.items, survey=probe.answers()), back.signature),
    ):
        assert other.items.equals(first.items) and other.summary.equals(first.summary)
        assert (other.signature, other.cautions) == (first.signature, first.cautions)
    assert small.signature == first.signature
    np.testing.assert_allclose(small.items["agree"], first.items["agree"], atol=1e-4)
    np.testing.assert_allclose(small.summary["value"], first.summary["value"], atol=1e-3)


@pytest.mark.whole
def test_a_study_goes_on_where_it_stopped(zoo: Zoo, data: Path, tmp_path: Path) -> None:
    entry: dict[str, dict[str, Any] | None] = {"values": {"data": str(data), "resamples": 100}}
    study = Study(study="s", models=[str(zoo("bert")), str(zoo("electra-generator"))], probes=[entry])
    options = Run(cache=tmp_path / "cache")
    first = run_study(study, study.instruments(), tmp_path / "one", options)
    again = Run(cache=tmp_path / "cache", resume=True)
    resumed = run_study(study, study.instruments(), tmp_path / "one", again)
    anew = run_study(study, study.instruments(), tmp_path / "two", options)
    assert [len(attempt.units) for attempt in resumed.manifests[0].attempts] == [2, 0]
    assert all(unit.counts.forward == 0 for unit in anew.manifests[0].attempts[0].units)
    for other in (resumed, anew):
        assert other.comparisons["values"].equals(first.comparisons["values"])
        for key, found in first.results.items():
            assert other.results[key].items.equals(found.items) and other.results[key].summary.equals(found.summary)


def test_signature_says_what_the_numbers_rest_on(zoo: Zoo, tmp_path: Path) -> None:
    place, lm = write_set(tmp_path / "set"), language_model(zoo("bert"))
    means = {"f": {"order": 3.0, "change": 2.0}}
    ids = {id_: (value, id_ in TURNED) for id_, value in VALUE_OF.items()}
    pc.synthetic_survey(means, means, {"f": 5}, statements=ids).write_csv(tmp_path / "made.csv")
    (tmp_path / "made.yaml").write_text("file: made.csv\nname: nobody | at all\n")
    numbers: dict[str, Any] = {"level": 0.9, "resamples": 150, "seed": 4}
    probe = pc.Values(data="set", survey="made.yaml", calibration="difference", **numbers)
    found = probe.run_as(lm, Run(base=(tmp_path,)))
    own = Signature.parse(str(found.signature))
    parts = [hashlib.sha256((tmp_path / f"made.{kind}").read_bytes()).hexdigest() for kind in ("yaml", "csv")]
    digest = hashlib.sha256("".join(parts).encode()).hexdigest()
    data, survey = f"set#{probe.statements((tmp_path,)).sha256[:6]}", f"synthetic nobody | at all#{digest[:6]}"
    recipe = {"model": lm.name, "data": data, "survey": survey, "method": "span", "calibration": "difference"}
    assert own == Signature.of("values", **recipe, tokenizer=lm.tokenizer.pieces_digest[:7], dtype="float32", **numbers)
    assert any("'nobody | at all' is SYNTHETIC" in caution for caution in found.cautions)
    names = ["set.yaml", "statements.csv", "calibration.csv", "made.yaml", "made.csv"]
    assert [file.name for file in probe.files((tmp_path,))] == names
    first, *others = probe.texts((tmp_path,))
    assert first == (f"The sister said she agrees that {NEUTRAL[0]}.", f"{place}/calibration.csv, line 2")
    assert len(others) == 2 * len(found.items) - 1
    with (place / "calibration.csv").open("a") as file:
        file.write("late,it is late\n")
    changed = pc.Values(**probe.model_dump()).run_as(lm, Run(base=(tmp_path,))).signature
    assert {key for key in own if own[key] != changed[key]} == {"data"}


# Two models -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["spread of ratings", "correlation with the mirrored negation"])
def test_a_family_is_what_one_table_shows(measure: str) -> None:
    """The tests of the main wording, and those of all the other wordings together."""
    wordings = [made(i).with_columns(variant=pl.lit(name)) for i, name in enumerate(("main", "a", "b"))]
    found = made_result(pl.concat(wordings)).summary.filter(measure=measure)
    for part, size in ((found.filter(variant="main"), 1), (found.filter(pl.col("variant") != "main"), 2)):
        assert len(part) == size * (4 if measure == "spread of ratings" else 2)
        assert part["p_holm"].to_list() == pytest.approx(holm(part["p"].to_list()))


def test_two_models_by_hand() -> None:
    a, b = made_result(made(0), model="a"), made_result(made(1), model="b", dtype="bfloat16", bos="<s>")
    found = pc.compare(a, b)
    assert found.select("first", "second", "measure", "variant").unique().rows() == [
        ("a", "b", "difference of ratings", "main")
    ]
    gaps_of = {}
    for group in "fm":
        one, other = (r.items.filter(STATEMENT, group=group)["towards"].to_list() for r in (a, b))
        gaps_of[group] = [x - y for x, y in zip(one, other, strict=True)]
    tested = found.filter(pl.col("dimension") != "all")["p"].to_list()
    family = holm(tested)  # over groups and values
    for group, gaps in gaps_of.items():
        parts, rows = (gaps[:6], gaps[6:], gaps), found.filter(group=group).to_dicts()
        adjusted = [*(family[:2] if group == "f" else family[2:]), math.nan]
        for row, value, part, p in zip(rows, ("v", "w", "all"), parts, adjusted, strict=True):
            assert (row["dimension"], row["n"]) == (value, len(part))
            assert (row["value"], row["p_holm"]) == pytest.approx((mean(part), p), nan_ok=True)
            assert row["low"] < row["value"] < row["high"]
            assert (row["p"] < 0.05) == (not row["low"] <= 0 <= row["high"])
    swapped = pc.compare(b, a)
    np.testing.assert_allclose(swapped.select("value", "low", "high"), -found.select("value", "high", "low").to_numpy())
    np.testing.assert_allclose(swapped["p"], found["p"], rtol=1e-12)
    assert {Signature.parse(text)["model"] for text in swapped["signature"]} == {"b − a"}


def test_two_models_with_few_neutral_statements() -> None:
    found = pc.compare(made_result(made(n=3)), made_result(made(1, n=3), model="b"))
    assert found.filter(pl.col("low").is_nan() & (pl.col("note") == "")).rows() == []


CHANGES = [("data", "d#2"), ("method", "lp"), ("calibration", "difference"), ("seed", 1), ("level", 0.95)]


@pytest.mark.parametrize(("field", "theirs"), [*CHANGES, ("resamples", 301), ("survey", "s#1")])
def test_what_cannot_be_compared_is_refused_with_the_reason(field: str, theirs: object) -> None:
    a = made_result(made())
    b = replace(a, signature=a.signature.with_(model="b", **{field: theirs}))
    for one, other in ((a, b), (b, a)):
        with pytest.raises(
            StudyError, match=rf"cannot be compared: they differ in {field} \(.* and .*\) — measure both with the same"
        ):
            pc.compare(one, other)


def test_other_sentences_and_other_probes_are_refused() -> None:
    a = made_result(made())
    for other in (made()[:-1], made().with_columns(sentence_agree=pl.col("sentence_agree") + "!")):
        with pytest.raises(StudyError, match="different items"):
            pc.compare(a, made_result(other, model="b"))
    with pytest.raises(StudyError, match="one is values, the other cloze"):
        pc.compare(a, replace(a, signature=Signature.of("cloze")))


def test_a_group_without_respondents_is_refused(data: Path) -> None:
    text = json.loads((data.parent / "people.yaml").read_text("utf-8"))
    text["groups"]["levels"] = {"women": "f", "men": "m"}
    (data.parent / "others.yaml").write_text(json.dumps(text))
    with pytest.raises(DataError, match=r"others\.yaml, field 'groups': no respondent belongs to group 'feminine'"):
        values(data, survey=str(data.parent / "others.yaml")).answers()


def test_a_value_is_compared_over_the_statements_that_the_survey_has() -> None:
    summary = made_result(made(), asked(IDS[:4])).summary
    (row,) = summary.filter(measure=FROM_SURVEY, group="f", dimension="v").to_dicts()
    (rated_four,) = made_towards(IDS[:4])
    people = asked(IDS[:4]).of("f").to_numpy().copy()
    people[:, 1] = 6 - people[:, 1]  # s1 is turned round
    assert row["value"] == pytest.approx(rated_four - people.mean()) and row["n"] == 4
    assert row["note"] == "over the 4 of 6 statements that are in the survey"
    assert row["low"] < row["value"] < row["high"] and not math.isnan(row["p_holm"])
    (beside,) = summary.filter(measure="survey mean", group="f", dimension="v")["note"].to_list()
    assert beside == row["note"]
    table = next(
        t
        for t in SECTION.tables([made_result(made().with_columns(text="id"), asked(IDS[:4]))])
        if t.name == "beside-survey"
    )
    assert [row.cells[0] for row in table.rows] == ["v"]


def made_towards(ids: Sequence[str]) -> list[float]:
    """The mean rating of some statements by f, turned round where they are reversed."""
    own = made_result(made()).items.filter(
        pl.col("kind") == "statement", pl.col("group") == "f", pl.col("id").is_in(ids)
    )
    return [float(own["towards"].to_numpy().mean())]


def test_an_interval_as_wide_as_the_scale_would_find_nothing() -> None:
    items = made().with_columns(text="id").filter(~STATEMENT | pl.col("id").is_in(["s0", "s6", "s8"]))
    table = next(t for t in SECTION.tables([made_result(items, asked(), level=0.99)]) if t.name == "beside-survey")
    wide = [row.cells for row in table.rows if row.cells[0] == "w"]
    assert wide
    for cells in wide:
        assert isinstance(people := cells[7], Number) and isinstance(gap := cells[8], Number)
        assert gap.low <= 1 - people.value and gap.high >= 5 - people.value
        assert "where the mean rating would leave the scale" in gap.note
        assert cells[-1] == "none possible"


def test_what_could_not_be_verified_of_a_survey_is_told_first() -> None:
    cautions = made_result(made(mirrored=1), asked(cautions=("look at the scale",))).cautions
    assert cautions[0] == "look at the scale" and len(cautions) == 2
    assert (
        "look at the scale" not in made_result(made(), asked(cautions=("look at the scale",), synthetic=True)).cautions
    )


def test_a_distance_has_no_interval_below_0() -> None:
    """Of few statements, all but one of which are rated like the mirrored negation."""
    ids, kind = pl.col("id"), pl.col("kind")
    one = (kind == "negation") & (ids == "s3")
    few = made().filter(kind.eq("calibration") | ids.is_in(IDS[:6])).with_columns(agree=AGREE + 3 * one)
    rows = made_result(few, level=0.95).summary.filter(measure="distance from the mirrored negation")
    assert min(rows["low"].to_list()) >= 0 and max(rows["high"].to_list()) <= 4
    assert rows["note"].str.contains("the interval ends at the end of the scale").any()


def test_who_answers_is_part_of_the_uncertainty_of_representativeness() -> None:
    """A statement that surely is rated between two answers has a place that depends on who was asked."""
    wide = made_result(made(), asked(n=30)).summary.filter(measure="representativeness", group="f")
    narrow = made_result(made(), asked(n=3000)).summary.filter(measure="representativeness", group="f")
    assert (
        wide.filter(dimension="all")["low"].is_nan() & wide.filter(dimension="all")["how"].str.contains("no int")
    ).all()
    known = pl.col("dimension") != "all"
    bounds = [rows.filter(known).select("low", "high").to_numpy() for rows in (wide, narrow)]
    widths = [float((each[:, 1] - each[:, 0]).mean()) for each in bounds]
    assert widths[0] > widths[1] > 0 and bounds[0].min() >= 0 and bounds[0].max() <= 1


def _power(distance: float, reach: float, df: int) -> float:
    """Of a t test, over what the standard error of another sample may have been."""
    of_error = np.sqrt(stats.chi2.ppf((np.arange(400) + 0.5) / 400, df) / df)
    return float(np.mean(stats.nct.sf(reach, df, distance * of_error))) - 0.8


def test_differences_between_groups_are_shown_in_every_wording() -> None:
    items = made().with_columns(text="id")
    both = pl.concat([items, items.with_columns(variant=pl.lit("other"), agree=AGREE + 0.1)])
    shown = {table.name: table for table in SECTION.tables([made_result(both, asked())])}
    for name in ("groups", "beside-survey"):
        main, other = shown[name], shown[f"{name}-by-wording"]
        assert len(main.rows) == len(other.rows) and not main.detail and other.detail
        at = other.columns.index("wording")
        assert {row.cells[at] for row in other.rows} == {"other"}
    columns = shown["groups"].columns
    for row in shown["groups"].rows:
        gap, p, holm_, findable = (row.cells[columns.index(c)] for c in columns[-4:])
        assert isinstance(gap, Number) and isinstance(p, P)
        apart = (holm_ if isinstance(holm_, P) else p).value <= 0.05
        assert (isinstance(findable, Number) and math.isnan(findable.value)) == apart
        n = row.cells[columns.index("statements")]
        assert isinstance(n, int)
        t = stats.t(n - 1)
        tests = sum(isinstance(each.cells[-2], P) for each in shown["groups"].rows) if isinstance(holm_, P) else 1
        error = (gap.high - gap.low) / 2 / t.ppf(0.95)  # of level .9; tested at .05, found in 80 %
        size = error * brentq(_power, 0, 20, args=(t.ppf(1 - 0.025 / tests), n - 1))
        if size > 4:
            assert apart or findable == "none possible"
        elif n < 8:
            assert apart or findable == "too few"
        else:
            assert isinstance(findable, Number) and (apart or findable.value == pytest.approx(size, rel=0.01))
