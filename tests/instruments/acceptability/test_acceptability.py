"""Acceptability: reading judgements, the numbers against plain numpy and scipy, comparison, commands and the page."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

import penchant as pc
import zoo as tiny
from answers import Answer
from penchant.corpus.text_files import find_texts
from penchant.corpus.token_frequencies import count_unigrams, write_unigrams
from penchant.errors import DataError, MethodError
from penchant.instruments.acceptability.estimates import BETWEEN_SCORES, SPEARMAN
from penchant.instruments.acceptability.instrument import ACCEPTABILITY
from penchant.instruments.acceptability.settings import PEARSON
from penchant.models.load import load_tokenizer

pytest.importorskip("fsspec", reason="no package fsspec")

Zoo = Callable[[str], Path]
Penchant = Callable[..., Answer]
WORDS = "The old teacher saw the dog and a young nurse bought small books garden"


def table(raters: int = 1) -> list[dict[str, object]]:
    """Forty sentences of three to fourteen words with made-up ratings."""
    rng = np.random.default_rng(1)
    rows: list[dict[str, object]] = []
    for i in range(40):
        sentence = " ".join(rng.permutation(WORDS.split())[: 3 + i % 12]) + "."
        for rater in range(raters):
            rows.append({"sentence": sentence, "rater": f"r{rater}", "rating": int(rng.integers(1, 8))})
    return rows


@pytest.fixture
def unigrams(zoo: Zoo, tmp_path: Path) -> Callable[[str], str]:
    def made(name: str) -> str:
        (tmp_path / "text.txt").write_text("\n".join(tiny.SENTENCES) + "\n", "utf-8")
        label, tokenizer = load_tokenizer(zoo(name))
        found = count_unigrams(tokenizer, label, find_texts([tmp_path / "text.txt"]))
        write_unigrams(found, tokenizer, tmp_path / f"{name}.parquet")
        return str(tmp_path / f"{name}.parquet")

    return made


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_the_numbers(name: str, zoo: Zoo, unigrams: Callable[[str], str]) -> None:
    rows = table(raters=2)
    probe = pc.Acceptability(data=rows, unigrams=unigrams(name), resamples=200, folds=5)
    result = probe.run(zoo(name))
    assert result.signature["normalise"] == "none,mean,slor,morcela" and result.signature["folds"] == "5"
    items = result.items
    means: dict[str, list[float]] = {}
    for row in rows:
        means.setdefault(str(row["sentence"]), []).append(float(str(row["rating"])))
    assert dict(items.select("sentence", "rating").iter_rows()) == {s: sum(r) / 2 for s, r in means.items()}
    p, u, n, y = (items[c].to_numpy().astype(float) for c in ("score", "unigrams", "n_tokens", "rating"))
    whole = pc.score(zoo(name), items["sentence"].to_list())
    assert p == pytest.approx(whole["score"].to_numpy(), abs=1e-4)
    made = {"none": p, "mean": p / n, "slor": (p - u) / n}
    for how, scores in made.items():
        for measure, closeness in ((PEARSON, scipy.stats.pearsonr), (SPEARMAN, scipy.stats.spearmanr)):
            value = result.summary.filter(measure=measure, score=how)["value"].item()
            assert value == pytest.approx(closeness(scores, y)[0], abs=1e-9)
    x = np.stack([np.ones(len(y)), p / n, u / n, 1 / n], axis=1)
    b = np.linalg.lstsq(x, y, rcond=None)[0]
    found = {row["measure"]: row["value"] for row in result.summary.filter(score="morcela").iter_rows(named=True)}
    assert found["β"] == pytest.approx(-b[2] / b[1], rel=1e-6)
    assert found["γ"] == pytest.approx(b[3] / b[1], rel=1e-6)
    gaps = result.summary.filter(measure=BETWEEN_SCORES)
    assert gaps["score"].to_list() == ["mean − none", "slor − none", "slor − mean", *(f"morcela − {h}" for h in made)]
    gain = gaps.filter(score="slor − mean").row(0, named=True)
    assert gain["value"] == pytest.approx(
        scipy.stats.pearsonr(made["slor"], y)[0] - scipy.stats.pearsonr(made["mean"], y)[0], abs=1e-9
    )
    assert gaps["tests"].to_list() == [6] * 6
    assert any("fewer than 3 ratings" in caution for caution in result.cautions)
    unseen = any("not occur in the unigram counts" in caution for caution in result.cautions)
    assert unseen == bool(items["unseen"].sum())


def test_the_order_of_rows_changes_nothing(zoo: Zoo, unigrams: Callable[[str], str]) -> None:
    rows = table()
    for row in rows:
        del row["rater"]
    settings: dict[str, Any] = {"unigrams": unigrams("gpt2"), "resamples": 200}
    one = pc.Acceptability(data=rows, **settings).run(zoo("gpt2"))
    other = pc.Acceptability(data=rows[::-1], **settings).run(zoo("gpt2"))
    assert one.summary["value"].to_numpy() == pytest.approx(other.summary["value"].to_numpy(), abs=1e-5, nan_ok=True)
    assert one.summary["low"].to_numpy() == pytest.approx(other.summary["low"].to_numpy(), abs=1e-4, nan_ok=True)


def test_two_models(zoo: Zoo, unigrams: Callable[[str], str]) -> None:
    tables = [unigrams("gpt2"), unigrams("bert")]
    probe = pc.Acceptability(data=table(3), unigrams=tables, resamples=200)
    a, b = (probe.run(zoo(name)) for name in ("gpt2", "bert"))
    gaps = pc.compare(a, b)
    assert gaps["score"].to_list() == ["none", "mean", "slor", "morcela"]
    for row in gaps.iter_rows(named=True):
        sides = [r.summary.filter(measure=PEARSON, score=row["score"])["value"].item() for r in (a, b)]
        assert row["value"] == pytest.approx(sides[0] - sides[1], abs=1e-9)
        assert row["low"] < row["value"] < row["high"]
    other = pc.Acceptability(data=table(2), unigrams=tables, resamples=200).run(zoo("bert"))
    with pytest.raises(pc.StudyError, match="cannot be compared"):
        pc.compare(a, other)


def test_claims_about_ratings_made_of_scores(zoo: Zoo, unigrams: Callable[[str], str]) -> None:
    """Ratings are the score per token with a weight of frequency of 0.2, and noise."""
    counts = [unigrams("gpt2"), unigrams("bert")]
    plain = pc.Acceptability(data=table(), unigrams=counts, resamples=200).run(zoo("gpt2")).items
    made = (plain["score"] - 0.2 * plain["unigrams"]) / plain["n_tokens"]
    ratings = (made - made.mean()) / made.std() + np.random.default_rng(2).normal(0, 0.05, len(plain))
    rows = [{"sentence": s, "rating": r} for s, r in zip(plain["sentence"], ratings, strict=True)]
    probe = pc.Acceptability(data=rows, unigrams=counts, normalise=["mean", "none", "morcela"], resamples=500)
    a, b = probe.run(zoo("gpt2")), probe.run(zoo("bert"))
    first, answers = a.signature["model"], ACCEPTABILITY.section.answers([a, b], pc.compare(a, b))
    told = {each.claim: [(v.place, v.kind) for v in each.verdicts if v.models[0] == first] for each in answers}
    assert told["agrees"] == [("", "yes")] and told["more"] == [("", "yes")]
    assert told["corrected"] == [("none", "yes"), ("morcela", "no")]  # the sum is worse, the fit not much better
    assert told["frequency"] == [("", "yes")]
    weight = next(v.row for each in answers if each.claim == "frequency" for v in each.verdicts)
    assert weight is not None and weight["low"] < 0.2 < weight["high"] < 1
    noise = pc.Acceptability(data=table(), resamples=200).run(zoo("gpt2"))
    kinds = [v.kind for each in ACCEPTABILITY.section.answers([noise], None) for v in each.verdicts]
    assert kinds == ["cannot tell", "cannot tell"]


def test_without_unigrams_and_with_prefixes(zoo: Zoo) -> None:
    rows = [{**row, "sentence": f" {row['sentence']}", "prefix": "Rain."} for row in table()]
    plain = pc.Acceptability(data=table(), resamples=200).run(zoo("gpt2"))
    assert plain.signature["normalise"] == "none,mean"
    given = pc.Acceptability(data=rows, normalise=["none", "pmi"], neutral="Hello!", resamples=200).run(zoo("gpt2"))
    first = rows[0]
    expected = pc.score(zoo("gpt2"), [str(first["sentence"])], prefixes=["Rain."], normalise="pmi", neutral="Hello!")
    item = given.items.row(0, named=True)
    assert item["score"] - item["neutral"] == pytest.approx(expected["score"].item(), abs=1e-4)
    assert given.signature["neutral"] == "Hello!"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            [{"sentence": "a", "rating": 1}, {"sentence": "a", "rating": 2}],
            "somebody has already judged",
        ),
        (
            [{"sentence": "a", "rating": 1, "rater": "x"}, {"sentence": "a", "rating": 2, "rater": "x"}],
            "x has already judged",
        ),
        ([{"sentence": "a", "rating": 1, "rater": "x"}, {"sentence": "b", "rating": 2}], "the rater is missing"),
        ([{"sentence": "a", "rating": None}, {"sentence": "b", "rating": None}], "contains no judgement"),
        ([{"sentence": "a", "rating": "good"}], "rating"),
        ([{"sentence": "  ", "rating": 1}], "blank"),
    ],
)
def test_bad_tables_are_refused(rows: list[dict[str, object]], told: str, zoo: Zoo) -> None:
    with pytest.raises(DataError, match=told):
        pc.Acceptability(data=rows).run(zoo("gpt2"))


def test_what_does_not_fit_is_refused(zoo: Zoo, unigrams: Callable[[str], str]) -> None:
    with pytest.raises(MethodError, match="needs token frequencies"):
        pc.Acceptability(data=table(), normalise="morcela").run(zoo("gpt2"))
    with pytest.raises(MethodError, match="unigrams are used only by the normalisation"):
        pc.Acceptability(data=table(), normalise="mean", unigrams=unigrams("gpt2")).run(zoo("gpt2"))
    with pytest.raises(MethodError, match="needs texts with a prefix"):
        pc.Acceptability(data=table(), normalise="pmi").run(zoo("gpt2"))
    with pytest.raises(MethodError, match="does not apply to aul"):
        pc.Acceptability(data=table(), normalise="slor", method="aul", unigrams=unigrams("bert")).run(zoo("bert"))
    unrated = [*table(), {"sentence": "The dog.", "rater": "r0", "rating": None}]
    result = pc.Acceptability(data=unrated, resamples=200).run(zoo("gpt2"))
    assert len(result.items) == 40
    assert {"1 of 41 rows has no rating", "1 of 41 sentences has no judgement and is left out"} <= set(result.cautions)


def test_few_sentences_have_no_parameters(zoo: Zoo, unigrams: Callable[[str], str]) -> None:
    result = pc.Acceptability(data=table()[:10], unigrams=unigrams("gpt2"), resamples=200).run(zoo("gpt2"))
    part = result.summary.filter(score="morcela")
    assert part["value"].is_nan().all() and all("12 sentences" in note for note in part["note"])
    assert math.isfinite(result.summary.filter(measure=PEARSON, score="slor")["value"].item())


def test_a_table_that_raters_filled(zoo: Zoo, tmp_path: Path, penchant: Penchant) -> None:
    """From a study with columns of other names, to its page."""
    lines = ["Satz;wer;Note"] + [f"{row['sentence']};{row['rater']};{row['rating']},0" for row in table(2)]
    (tmp_path / "s.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "study.yaml").write_text(
        f"study: s\nmodels: ['{zoo('gpt2')}']\nprobes:\n  - acceptability: {{data: s.csv, resamples: 200, "
        "columns: {sentence: Satz, rater: wer, rating: Note}}\n",
        "utf-8",
    )
    code, _, err = penchant("run", "study.yaml", "-o", "out")
    assert code == 0, err
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Judgements and scores" in page and "80 ratings by 2 raters" in page
