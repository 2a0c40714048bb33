"""Where two models were compared and no difference was found, tables say what that means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from answers import Answer
from penchant.study.results import read_outcome

Program = Callable[..., Answer]
NOUNS = ("cat", "dog", "boy", "girl", "king", "queen", "nurse", "farmer", "child", "man")
PAIRS = "good\tbad\n" + "".join(
    f"The {noun} {verb}s{rest}.\tThe {noun} {verb}{rest}.\n"
    for noun in NOUNS
    for verb in ("sing", "sleep", "run")
    for rest in ("", " now", " here")
)


@pytest.fixture
def run(penchant: Program, tmp_path: Path) -> Callable[[str], str]:
    def done(more: str) -> str:
        (tmp_path / "pairs.tsv").write_text(PAIRS, "utf-8")
        (tmp_path / "s.yaml").write_text(
            "study: s\nmodels: ['bundled:modern', 'bundled:early-modern']\n"
            f"probes: [{{minimal-pairs: {{data: pairs.tsv, resamples: 200{more}}}}}]\n",
            "utf-8",
        )
        code, out, err = penchant("run", "s.yaml", "-o", tmp_path / "out", "--full")
        assert code == 0, err
        return out

    return done


def test_a_bound_is_held_against_the_narrower_interval(run: Callable[[str], str], tmp_path: Path) -> None:
    out = run(", equivalence: 0.9")
    outcome = read_outcome(tmp_path / "out")
    comparison = outcome.comparisons["minimal-pairs"]
    assert comparison["bound"].unique().to_list() == [0.9]
    assert (comparison["low_bound"] >= comparison["low"]).all()
    assert (comparison["high_bound"] <= comparison["high"]).all()
    assert (comparison["high_bound"] - comparison["low_bound"] < comparison["high"] - comparison["low"]).all()
    row = comparison.row(0, named=True)
    assert row["p"] > 0.05  # else there is nothing to be shown here
    assert "Where no difference was found" in out
    assert "±0.9" in out and "yes [" in out
    result = next(iter(outcome.results.values()))
    assert result.signature["equivalence"] == "0.9"
    (section,) = outcome.document().sections
    assert "no-difference" in {table.name for table in section.tables()}
    assert any("schuirmann1987" in text for text in section.methods())


def test_a_bound_that_is_too_narrow_is_not_shown(run: Callable[[str], str]) -> None:
    assert "not shown [" in run(", equivalence: 0.001")


def test_without_a_bound_the_page_says_what_could_have_been_found(run: Callable[[str], str], tmp_path: Path) -> None:
    out = run("")
    assert "Where no difference was found" not in out
    assert "Where no difference was found" in (tmp_path / "out" / "report.html").read_text("utf-8")
    comparison = read_outcome(tmp_path / "out").comparisons["minimal-pairs"]
    assert comparison.filter(pl.col("detectable").is_not_nan())["bound"].is_nan().all()
