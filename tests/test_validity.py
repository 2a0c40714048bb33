"""docs/validity.md: every kind of interval and test has its row there, the page is made from the counts, what misses
its level is said beside the number, and some of the data sets are drawn again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest
from bench.simulations import simulations
from bench.simulations.base import Simulation, run, shape
from bench.simulations.page import POWER, outside, page

from penchant.instruments.run_options import Run
from penchant.study.run import run_study
from penchant.study.study_file import read_study

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
DATA = {
    "crows.csv": "sent_more,sent_less,stereo_antistereo,bias_type\n"
    + "".join(
        f"The {who} {what}.,The {other} {what}.,{direction},{kind}\n"
        for kind, who, other in (("age", "old man", "young man"), ("gender", "woman", "man"), ("class", "maid", "lord"))
        for direction in ("stereo", "antistereo")
        for what in ("was late", "could not read", "wept", "spoke first")
    ),
}
"""Data of kinds that the templates of `penchant init` lack."""
STUDIES = {
    "crows": "study: s\nmodels: [bundled:modern, bundled:early-modern]\n"
    "probes: [{minimal-pairs: {data: crows.csv, method: pll}}]\n",
    "cloze": "study: s\nmodels: [bundled:modern, bundled:early-modern]\n"
    "probes: [{cloze: {data: early-modern-60, resamples: 200}}]\n",
    "values": "study: s\nmodels: [bundled:modern, bundled:early-modern]\n"
    "probes: [{values: {data: political-values-en, resamples: 200}}]\n",
}


def counted() -> pl.DataFrame:
    """Return the counts of the simulations."""
    return pl.read_csv(DOCS / "validity.csv", null_values=[]).with_columns(pl.col("interval", "test").fill_null(""))


@pytest.fixture(scope="module")
def counts() -> pl.DataFrame:
    return counted()


def test_the_page_is_made_from_the_counts(counts: pl.DataFrame) -> None:
    assert (DOCS / "validity.md").read_text("utf-8") == page(counts, DOCS / "validity.template.md")
    assert [s.section for s in simulations()] and set(counts["section"]) == {
        simulation.section for simulation in simulations()
    }
    named = counts.select("section", "data", "size").unique()
    assert len(named) == len(simulations())  # each is counted, and no other


def test_what_misses_its_level_is_said(counts: pl.DataFrame) -> None:
    """Beside the number; or, where a single sample cannot show it, in words on the page."""
    explained = (DOCS / "validity.template.md").read_text("utf-8").partition("## What they show")[2]
    for row in counts.filter(~pl.col("section").is_in(POWER)).iter_rows(named=True):
        made = row["asked"] - row["without"]
        where = f"{row['section']}, {row['data']}, {row['size']}: {row['shown']}"
        too_few = "interval" in outside(row) and row["held"] < 0.93 * made
        too_many = "test" in outside(row) and row["rejected"] > 0.065 * row["tested"]
        if too_few or too_many:
            assert row["noted"] >= 0.9 * row["sets"] or f"{row['data']}, {row['size']}" in explained, where


@pytest.mark.whole
@pytest.mark.parametrize("name", STUDIES)
def test_every_estimate_has_a_row(name: str, counts: pl.DataFrame, tmp_path: Path) -> None:
    """As those of the templates of `penchant init` have, which test_every_instrument.py runs."""
    for file, text in DATA.items():
        (tmp_path / file).write_text(text, "utf-8")
    (tmp_path / "study.yaml").write_text(STUDIES[name], "utf-8")
    study, probes = read_study(tmp_path / "study.yaml")
    outcome = run_study(study, probes, tmp_path / "out", Run(base=[tmp_path]))
    assert_rows([*(result.summary for result in outcome.results.values()), *outcome.comparisons.values()], counts)


def assert_rows(frames: Iterable[pl.DataFrame], counts: pl.DataFrame) -> None:
    """The measures of the program's tables have a row, by the interval and the test that stand beside them."""
    excused = _without_row()
    rows = {kind: _known(counts, kind) for kind in ("interval", "test")}
    found = pl.concat([frame.select(["measure", "how", "test", "low", "p"]) for frame in frames])
    for kind, column, number in (("interval", "how", "low"), ("test", "test", "p")):
        for named, method in found.filter(pl.col(number).is_not_nan()).select("measure", column).unique().rows():
            measure = named
            if measure == "length-adjusted accuracy" and not method.startswith("Firth"):
                measure = "accuracy"  # which it is where no pair is of unequal length
            if measure not in excused:
                assert (measure, _plain(shape(method))) in rows[kind], f"{measure}: {method}"
    shown = set(found["measure"])
    assert shown <= excused | {measure for measure, _ in rows["interval"] | rows["test"]}


def _plain(method: str) -> str:
    """A method without the names of what it counts, which differ between instruments, and without the terms of a
    regression."""
    if "respondents" in method:  # where their answers come from, and how they count, is said behind it
        method = method.partition("; ")[0]
    if method.startswith("Firth"):
        return f"Firth: {method.rpartition('logit scale, ')[2]}"
    method = re.sub(r"(Satterthwaite t interval over) .* \(jackknife\)", r"\1 crossed units (jackknife)", method)
    for noun in ("bias types", "paradigms", "strata", "statements", "sentences", "stimuli"):
        method = method.replace(noun, "units")
    method = method.replace("all # partitions", "# partitions").replace("# random partitions", "# partitions")
    method = method.replace("all # patterns", "# patterns").replace("# random patterns", "# patterns")
    method = re.sub(r"; [^;]* is taken for agreeing$", "", method)  # which answer that is
    return method.replace("of units and samples", "of units").replace(", # samples", "").replace(" within # groups", "")


def _known(counts: pl.DataFrame, kind: str) -> set[tuple[str, str]]:
    return {
        (measure, _plain(method))
        for shown, method in counts.select("shown", kind).rows()
        if method
        for measure in shown.split("; ")
    }


def _without_row() -> set[str]:
    """The measures of the page's last table."""
    last = (DOCS / "validity.template.md").read_text("utf-8").partition("## Numbers without a row")[2]
    first_cells = [re.split(r"(?<!\\)\|", line)[1] for line in last.splitlines() if line.startswith("| ")][1:]
    return {measure.strip().replace("\\|", "|") for cell in first_cells for measure in cell.split(";")}


def again(counts: pl.DataFrame, simulation: Simulation, sets: int) -> None:
    """Data sets that were not counted agree with those that were, up to chance."""
    mine = counts.filter(section=simulation.section, data=simulation.data, size=simulation.size)
    rows = {row["shown"]: row for row in mine.iter_rows(named=True)}
    for shown, tally in run(simulation, simulation.sets, sets).items():
        row = rows["; ".join(shown)]
        made, before = tally.asked - tally.without, row["asked"] - row["without"]
        for part, whole, then, of in (
            (tally.held, made, row["held"], before),
            (tally.rejected, tally.tested, row["rejected"], row["tested"]),
            (tally.noted, tally.sets, row["noted"], row["sets"]),
        ):
            if whole:
                share = (part + then) / (whole + of)
                error = math.sqrt(share * (1 - share) * (1 / whole + 1 / of))
                assert abs(part / whole - then / of) <= 4.5 * error, f"{simulation.name}, {shown}"


@pytest.mark.whole
@pytest.mark.parametrize("at", range(8))
def test_a_few_again(at: int, counts: pl.DataFrame) -> None:
    cheap = [s for s in simulations() if s.sets >= 2_000]
    again(counts, cheap[at * len(cheap) // 8], 100)


@pytest.mark.slow
@pytest.mark.parametrize("at", range(0, 400, 4))
def test_a_quarter_again(at: int, counts: pl.DataFrame) -> None:
    every = simulations()
    if at < len(every):
        again(counts, every[at], 100)
