"""Agreement of raters in a cloze result and its report."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

import penchant as pc
from answers import Answer
from builders import write, write_study
from given_notes import known, told
from penchant.instruments.cloze.five_point_scale import POINTS
from penchant.instruments.cloze.rater_agreement import ALPHA, RAW
from penchant.instruments.cloze.ratings import unrated
from penchant.report.tables import Number, ReportRow, ReportTable
from penchant.wording.phrases import Notes, in_words

Program = Callable[..., Answer]

PROBE = {"cloze": {"data": "set", "k": 8, "ratings": "ratings.csv", "resamples": 500}}
SENTENCES = """id,text,expected,group
s0,The [MASK] is old.,0,old
s1,She [MASK] away.,1,Old
s2,My [MASK] is here.,0,Old
"""


def write_words(folder: Path) -> Path:
    write(folder / "sentences.csv", SENTENCES)
    return write(folder / "set.yaml", "scale: {low: early, high: modern}\n").parent


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The words that a model predicts, in their sentences."""
    place = write_words(tmp_path_factory.mktemp("words"))
    return unrated([pc.Cloze(data=str(place), k=8, resamples=100, draws=2).run("bundled:modern")])


@pytest.fixture
def rated(
    penchant: Program, tmp_path: Path, words: pl.DataFrame
) -> Callable[[dict[str, list[float]]], tuple[Path, pl.DataFrame]]:
    """A study whose first predicted words some raters rated so; the directory and its ratings."""

    def run(said: dict[str, list[float]]) -> tuple[Path, pl.DataFrame]:
        write_words(tmp_path / "set")
        first = words.select("sentence", "word").head(len(next(iter(said.values()))))
        tables = [first.with_columns(rater=pl.lit(who), rating=pl.Series(values)) for who, values in said.items()]
        ratings = pl.concat(tables).filter(pl.col("rating").is_not_nan())
        ratings.write_csv(tmp_path / "ratings.csv")
        write_study(tmp_path / "study.yaml", ["bundled:modern"], PROBE)
        code, _, err = penchant("run", "study.yaml", "-o", "out", "--full")
        assert code == 0, err
        return tmp_path / "out", ratings

    return run


def test_agreement_stands_in_the_result_and_the_report(rated: Any, penchant: Program, tmp_path: Path) -> None:
    anna = [-1.0, -1, -0.5, 0, 0, 0, 0.5, 1, 1, 1]
    ben = [-1.0, -0.5, -0.5, 0, 0, 0.5, 0.5, 1, 1, math.nan]
    out, _ = rated({"anna": anna, "ben": ben})
    summary = pl.read_parquet(next(out.glob("**/summary.parquet")))
    alpha, raw = (summary.filter(measure=name).row(0, named=True) for name in (ALPHA, RAW))
    wanted = krippendorff.alpha([anna, ben], value_domain=POINTS, level_of_measurement="ordinal")
    assert alpha["value"] == pytest.approx(wanted, abs=1e-12) and alpha["n"] == 9 and alpha["low"] < wanted
    assert raw["value"] == pytest.approx(np.mean([a == b for a, b in zip(anna[:9], ben[:9], strict=True)]))
    assert (alpha["group"], raw["group"]) == ("all", "all")
    code, shown, err = penchant("report", out, "--full")
    assert code == 0, err
    row = of_model(shown)
    assert row[:5] == ["bundled:modern", "2", "2.0", "10", "9"] and row[5] == f"{wanted:.3f}"
    page = (out / "report.html").read_text("utf-8").replace("&#39;", "'")
    told = "2 raters judged 10 words in their sentences (9 by 2 and 1 by 1). Krippendorff's ordinal α is"
    assert f"{told} {wanted:.2f}" in page and "the raters agree too little" not in page
    assert "2 groups differ only in case, white space or Unicode form and are counted separately: " in page


def of_model(shown: str) -> list[str]:
    """The row of the table of raters."""
    (row,) = (line.split() for line in shown.partition("The raters")[2].splitlines() if "bundled:modern " in line)
    return row


def test_little_agreement_is_a_caution(rated: Any, penchant: Program) -> None:
    out, _ = rated({"anna": [-1.0, 1] * 5, "ben": [1.0, 1, -1, -1, 0] * 2})
    _, shown, err = penchant("report", out, "--full")
    shown = " ".join((shown + err).split())
    assert "the raters agree too little even for tentative conclusions: Krippendorff's α is" in shown
    assert "over the 10 words that two or more rated" in shown


def test_one_rater_has_no_agreement(rated: Any, penchant: Program) -> None:
    out, _ = rated({"anna": [-1.0, 1] * 5})
    summary = pl.read_parquet(next(out.glob("**/summary.parquet")))
    assert not summary["measure"].is_in([ALPHA, RAW]).any()
    shown = penchant("report", out, "--full")[1]
    row = of_model(shown)
    assert row == ["bundled:modern", "1", "1.0", "10", "0"]


def test_newcomers_are_not_full_raters(rated: Any, penchant: Program) -> None:
    """Three who judge twenty words, and two who judge one: (60 + 2)² / (3·20² + 2)."""
    said = {
        name: [[-1.0, 0.0, 0.5][(i + shift) % 3] for i in range(20)] for name, shift in (("a", 0), ("b", 0), ("c", 1))
    }
    once = [0.5, *[math.nan] * 19]
    said |= dict.fromkeys(("new", "newer"), once)
    out, _ = rated(said)
    worth = 62**2 / 1202
    code, shown, err = penchant("report", out, "--full")
    assert code == 0, err
    assert of_model(shown)[1:3] == ["5", f"{worth:.1f}"]
    told = " ".join((shown + err).split())
    assert "2 of 5 raters judged under 10% of the 20 words, so the effective number of raters is 3.2" in told
    summary = pl.read_parquet(next(out.glob("**/summary.parquet")))
    row = summary.filter(measure="mean β, for other raters too", group="all").row(0, named=True)
    items = pl.read_parquet(next(out.glob("**/items.parquet")))
    mass = np.zeros(5)
    for probs, raters in items.select("probs", "raters").iter_rows():
        for p, who in zip(probs, raters, strict=True):
            mass[list(who)] += p
    kish = mass.sum() ** 2 / (mass**2).sum()
    assert f"5 raters, effective number {kish:.1f} (5 who judge everything recommended)" in row["note"]
    page = (out / "report.html").read_text("utf-8")
    assert "a δ of 1 where 0 is expected, .75 where ±½ is, and .5 where ±1 is" in page
    assert "5 raters judged 20 words in their sentences (1 by 5 and 19 by 3)." in page
    assert "the effective number of raters is 3.2" in page


def test_a_rater_who_turned_the_scale_is_a_caution(rated: Any, penchant: Program, tmp_path: Path) -> None:
    """Dora is named by her number in the result, by her name where the ratings are; agreement above 0 hides her not."""
    one = [[-1.0, -0.5, 0.0, 0.5, 1.0][i % 5] for i in range(15)]
    said = dict.fromkeys(("anna", "ben", "carl", "eve", "fay", "gus"), one)
    out, ratings = rated(said | {"dora": [-value for value in one]})
    summary = pl.read_parquet(next(out.glob("**/summary.parquet")))
    assert summary.filter(measure=ALPHA)["value"][0] > 0
    told = " ".join("".join(penchant("report", out, "--full")[1:]).split())
    assert "the ratings of rater 4 are opposite to the others' (Spearman's ρ −1.00 over 15 words)" in told
    assert "dora" not in told and told.count("opposite to") == 1
    code, shown, err = penchant("ratings", "agreement", "ratings.csv")
    assert code == 0
    assert (
        "the ratings of dora are opposite to the others' (Spearman's ρ −1.00 over 15 words): is the scale reversed"
        in err
    )
    by_name = {line.split()[0]: line.split()[-1] for line in shown.splitlines()[2:9]}
    means = ratings.pivot("rater", index=["sentence", "word"], values="rating")
    for name, value in by_name.items():
        others = means.select(pl.mean_horizontal(pl.exclude("sentence", "word", name))).to_series().round(12)
        assert float(value) == pytest.approx(spearmanr(means[name], others).statistic, abs=1e-3)


def test_many_notes_that_differ_in_numbers_share_a_mark() -> None:
    def table(notes: list[Notes]) -> ReportTable:
        return ReportTable(
            "t", "T", ("x",), tuple(ReportRow((Number(float(i), notes=each),)) for i, each in enumerate(notes))
        )

    each = [known(share, n) for share, n in ((29, 9), (7, 1200), (100, 10))]
    shown = table([each[0], told("rough"), each[1], each[2], ()])
    marks = shown.footnotes()
    assert [marks[in_words(notes)] for notes in each] == ["a", "a", "a"] and marks["rough"] == "b"
    assert shown.below() == [("a", "7–100% of 1,200 words known, 9–1,200 of them"), ("b", "rough")]
    assert "a 7–100% of 1,200 words known" in str(shown)
    two = table([*each[:2], told("rough")])
    assert two.below() == [("a", in_words(each[0])), ("b", in_words(each[1])), ("c", "rough")]
