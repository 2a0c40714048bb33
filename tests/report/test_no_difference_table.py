"""Tables say what it means if two models were compared and no difference was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from scipy import stats

import penchant as pc
from answers import Answer, refused
from penchant.errors import MethodError
from penchant.report.no_difference_table import tables
from penchant.study.read_results import read_outcome

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
    assert "Where no difference was found, percentage points" in out
    assert "±90" in out and f"yes [{100 * row['low_bound']:+.1f}, {100 * row['high_bound']:+.1f}]" in out
    assert f"{100 * row['value']:+.1f} [{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]" in out
    result = next(iter(outcome.results.values()))
    assert result.signature["equivalence"] == "0.9"
    (section,) = outcome.document().sections
    assert "no-difference" in {table.name for table in section.tables()}
    assert any("schuirmann1987" in text for text in section.methods())


def test_a_bound_that_is_too_narrow_is_not_shown(run: Callable[[str], str]) -> None:
    assert "not shown [" in run(", equivalence: 0.001")


@pytest.mark.parametrize(
    ("probe", "bound", "told"),
    [
        ("minimal-pairs", 10, "10 is too large: no accuracy difference can exceed 1 — give a share"),
        ("fair-pairs", 1, "1 is too large: no accuracy difference can exceed 1 — give a share"),
        (
            "cloze",
            1.5,
            "1.5 is too large: no difference of mean δ can exceed 1 — give it in units of β",
        ),
        ("values", 5, "5 is too large: no difference of ratings can exceed 4 — give points"),
    ],
)
def test_a_bound_that_no_difference_can_reach_is_refused(
    penchant: Program, tmp_path: Path, probe: str, bound: float, told: str
) -> None:
    data = {"fair-pairs": "original: a.tsv, fair: b.tsv"}.get(probe, "data: d")
    (tmp_path / "s.yaml").write_text(
        f"study: s\nmodels: ['bundled:modern']\nprobes:\n  - {probe}: {{{data}, equivalence: {bound}}}\n", "utf-8"
    )
    refused(penchant("run", "s.yaml", "-o", "out"), "s.yaml, line 4", f"{probe}.equivalence: the bound {told}")
    name, fields = {"fair-pairs": ("FairPairs", {"original": "a", "fair": "b"})}.get(probe, ("", {"data": "d"}))
    call = getattr(pc, name or {"minimal-pairs": "MinimalPairs", "cloze": "Cloze", "values": "Values"}[probe])
    with pytest.raises(MethodError, match=f"equivalence: the bound {bound} is too large"):
        call(**fields, equivalence=bound)
    assert call(**fields, equivalence=0.9).equivalence == 0.9


def test_effect_sizes_have_no_end() -> None:
    assert pc.WEAT(data="words.yaml", equivalence=10).equivalence == 10


def test_what_no_difference_could_have_shown_is_said(run: Callable[[str], str], tmp_path: Path) -> None:
    run(", limit: 6")
    comparison = read_outcome(tmp_path / "out").comparisons["minimal-pairs"].with_columns(detectable=1.28)
    (table,) = tables(comparison, pc.MinimalPairs.difference_scale)
    assert table.rows[0].cells[table.columns.index("detectable")] == "none possible"
    assert "too few items to detect even the largest" in table.note


def test_what_would_be_found_is_at_the_first_step_of_holms_correction(
    run: Callable[[str], str], tmp_path: Path
) -> None:
    run("")
    comparison = read_outcome(tmp_path / "out").comparisons["minimal-pairs"]
    assert set(comparison["tests"]) == {1}
    paradigm = pl.format("p{}", pl.int_range(pl.len()) % 3)
    first, second = (
        replace(result, items=result.items.with_columns(group=paradigm))
        for result in read_outcome(tmp_path / "out").results.values()
    )
    rows = pc.compare(first, second).filter(scope="group")
    assert set(rows["tests"]) == {3}
    for row in rows.iter_rows(named=True):
        error = (row["high"] - row["low"]) / 2 / stats.norm.ppf(0.975)
        wanted = error * (stats.norm.ppf(1 - 0.05 / 3 / 2) + stats.norm.ppf(0.8))
        assert row["detectable"] == pytest.approx(wanted)


def test_without_a_bound_the_page_says_what_could_have_been_found(run: Callable[[str], str], tmp_path: Path) -> None:
    run("")
    assert "Where no difference was found" in (tmp_path / "out" / "report.html").read_text("utf-8")
    comparison = read_outcome(tmp_path / "out").comparisons["minimal-pairs"]
    assert comparison.filter(pl.col("detectable").is_not_nan())["bound"].is_nan().all()
