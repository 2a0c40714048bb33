"""How far raters agree, in a cloze result and its report."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import polars as pl
import pytest

from answers import Answer
from penchant.instruments.cloze.agreeing import ALPHA, RAW
from penchant.instruments.cloze.scale import POINTS
from penchant.report.tables import Number, Row, Table

Program = Callable[..., Answer]

STUDY = """study: words
models: [bundled:modern]
probes:
  - cloze: {data: set/set.yaml, k: 5, ratings: ratings.csv, resamples: 500}
"""


@pytest.fixture
def rated(penchant: Program, tmp_path: Path) -> Callable[[dict[str, list[float]]], tuple[Path, pl.DataFrame]]:
    """A study whose first ten predicted words each of some raters rated so; the directory and its ratings."""

    def run(said: dict[str, list[float]]) -> tuple[Path, pl.DataFrame]:
        (tmp_path / "set").mkdir()
        (tmp_path / "set" / "set.yaml").write_text("scale: {low: early, high: modern}\n")
        texts = ["The [MASK] is old.", "She [MASK] away.", "My [MASK] is here."]
        lines = [f"s{i},{text},{i % 2},{'Old' if i else 'old'}\n" for i, text in enumerate(texts)]
        (tmp_path / "set" / "sentences.csv").write_text("id,text,expected,group\n" + "".join(lines))
        (tmp_path / "study.yaml").write_text(STUDY.replace(" ratings: ratings.csv,", ""))
        assert penchant("run", "study.yaml", "-o", "first")[0] == 0
        assert penchant("ratings", "export", "first", "-o", "sheet.csv")[0] == 0
        words = pl.read_csv(tmp_path / "sheet.csv", infer_schema=False)[:10].select("sentence", "word")
        tables = [words.with_columns(rater=pl.lit(who), rating=pl.Series(values)) for who, values in said.items()]
        ratings = pl.concat(tables).filter(pl.col("rating").is_not_nan())
        ratings.write_csv(tmp_path / "ratings.csv")
        (tmp_path / "study.yaml").write_text(STUDY)
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
    (row,) = [
        line.split() for line in shown.splitlines() if line.startswith("bundled:modern  ") and "10" in line.split()
    ]
    assert row[:4] == ["bundled:modern", "2", "10", "9"] and row[4] == f"{wanted:.3f}"
    page = (out / "report.html").read_text("utf-8").replace("&#39;", "'")
    told = "10 words in their sentences were judged by 2 raters, 9 by two or more (Krippendorff's ordinal α"
    assert f"{told} {wanted:.2f}" in page and "the raters agree little" not in page
    assert "2 groups differ only in case, white space or Unicode form and are counted apart: " in page


def of_model(shown: str) -> list[str]:
    """The row of the table of raters."""
    (row,) = (line.split() for line in shown.partition("The raters")[2].splitlines() if "bundled:modern " in line)
    return row


def test_little_agreement_is_a_caution(rated: Any, penchant: Program) -> None:
    out, _ = rated({"anna": [-1.0, 1] * 5, "ben": [1.0, 1, -1, -1, 0] * 2})
    _, shown, err = penchant("report", out)
    shown = " ".join((shown + err).split())
    assert (
        "the raters agree little: Krippendorff's α is" in shown and "over the 10 words that two or more rated" in shown
    )


def test_one_rater_has_no_agreement(rated: Any, penchant: Program) -> None:
    out, _ = rated({"anna": [-1.0, 1] * 5})
    summary = pl.read_parquet(next(out.glob("**/summary.parquet")))
    assert not summary["measure"].is_in([ALPHA, RAW]).any()
    shown = penchant("report", out, "--full")[1]
    (row,) = [
        line.split() for line in shown.splitlines() if line.startswith("bundled:modern  ") and "10" in line.split()
    ]
    assert row == ["bundled:modern", "1", "10", "0", "–", "–"]


def test_many_notes_that_differ_in_numbers_share_a_mark() -> None:
    def table(notes: list[str]) -> Table:
        return Table("t", "T", ("x",), tuple(Row((Number(float(i), note=note),)) for i, note in enumerate(notes)))

    known = [f"{share}% of 1,200 words known, {n:,} of them" for share, n in ((29, 9), (7, 1200), (100, 10))]
    shown = table([known[0], "rough", known[1], known[2], ""])
    marks = shown.footnotes()
    assert [marks[note] for note in known] == ["a", "a", "a"] and marks["rough"] == "b"
    assert shown.below() == [("a", "7–100% of 1,200 words known, 9–1,200 of them"), ("b", "rough")]
    assert "a 7–100% of 1,200 words known" in str(shown)
    two = table([*known[:2], "rough"])
    assert two.below() == [("a", known[0]), ("b", known[1]), ("c", "rough")]
