"""The tests of which people a model is nearer to: clear differences among many, none where there is none, and words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats

from made_values import Array, made_result
from penchant.instruments.values.group_distance import APART, DISTANCE, NEARER, _least_p
from penchant.instruments.values.instrument import VALUES as INSTRUMENT
from penchant.instruments.values.probe import STANCES
from penchant.instruments.values.survey import Survey, read_survey
from penchant.instruments.values.tables import FEWEST_OF_DISTANCES as FEWEST
from penchant.records import BaseResult
from penchant.report.latex import latex_table
from penchant.report.tables import Number
from penchant.report.verdicts import NO, YES, Verdict
from penchant.stats.bootstrap import expanded_p
from penchant.stats.hypothesis_tests import holm

SECTION = INSTRUMENT.section
NEUTRAL = 60
VALUES, EACH = ("care", "order", "trust", "work"), 5
IDS = [f"{value}{i}" for value in VALUES for i in range(EACH)]


def items(lean: Array) -> pl.DataFrame:
    """Four values of five statements in two groups of the templates; `lean`: how far each is agreed with, in σ."""
    rng, parts = np.random.default_rng(1), []
    for group in "fm":
        x = rng.normal(-8, 2, NEUTRAL + len(IDS))
        residuals = np.concatenate([stats.norm.ppf((np.arange(NEUTRAL) + 0.5) / NEUTRAL), lean])
        own: dict[str, Any] = {
            "id": [*(f"n{i}" for i in range(NEUTRAL)), *IDS],
            "kind": ["calibration"] * NEUTRAL + ["statement"] * len(IDS),
            "value": [""] * NEUTRAL + [value for value in VALUES for _ in range(EACH)],
            "disagree": x,
            "agree": x + 0.6 * residuals,
        }
        constant = {"variant": "main", "group": group, "n_tokens_agree": 2, "n_tokens_disagree": 2, "reversed": False}
        table = pl.DataFrame(own).with_columns(pl.lit(v).alias(k) for k, v in constant.items())
        sentences = {f"sentence_{stance}": pl.format("{} {}s: {}", "group", pl.lit(stance), "id") for stance in STANCES}
        parts.append(table.with_columns(text=pl.col("id"), **sentences))
    return pl.concat(parts)


def survey(path: Path, means: dict[str, float], n: int = 120) -> Survey:
    """Respondents of some regions, who answer every statement about as their region's mean says."""
    rng, rows = np.random.default_rng(3), []
    for region, mean in means.items():
        answers = np.clip(np.rint(mean + rng.normal(0, 0.6, (n, len(IDS)))), 1, 5).astype(int)
        rows += [{"region": region, **dict(zip(IDS, each, strict=True))} for each in answers.tolist()]
    pl.DataFrame(rows).write_csv(path / "people.csv")
    levels = ", ".join(f"{region}: {region}" for region in means)
    (path / "survey.yaml").write_text(f"file: people.csv\npeople: {{column: region, levels: {{{levels}}}}}\n", "utf-8")
    return read_survey(path / "survey.yaml", IDS)


def result(lean: Array, people: Survey, resamples: int = 2000) -> BaseResult:
    by_lp = {"method": "lp", "calibration": "difference"}
    return made_result(items(lean), people, level=0.95, resamples=resamples, **by_lp)


def near_to_1(seed: int = 2) -> Array:
    return np.random.default_rng(seed).normal(-1.3, 0.25, len(IDS))


REGIONS = {"North": 1.5, "Coast": 3.0, "Inland": 4.5}


def test_clear_differences_of_five_statements_are_told_among_24(tmp_path: Path) -> None:
    """As counted, no p of five statements is below .029, and none after Holm's correction over 24 below .7."""
    rows = result(near_to_1(), survey(tmp_path, REGIONS)).summary.filter(measure=NEARER)
    of_values, overall = (rows.filter(pl.col("dimension").eq("all") == every) for every in (False, True))
    assert (len(of_values), set(of_values["tests"]), len(overall), set(overall["tests"])) == (24, {24}, 6, {6})
    for part in (of_values, overall):
        assert part["p_holm"].to_list() == pytest.approx(holm(part["p"].to_list()))
    far = of_values.filter(item="North − Inland")
    assert max(far["high"].to_list()) < 0 and max(far["p_holm"].to_list()) < 0.05
    assert max(overall["p_holm"].to_list()) < 0.05


def verdicts(found: BaseResult) -> dict[str, Verdict]:
    (answer,) = (answer for answer in SECTION.answers([found], None) if answer.claim == "nearer")
    return {verdict.place: verdict for verdict in answer.verdicts}


def test_the_nearer_group_over_all_statements_has_the_verdict(tmp_path: Path) -> None:
    """Twelve verdicts, as of the tests: a clear difference is turned so that it is above 0."""
    found = result(near_to_1(), survey(tmp_path, {**REGIONS, "Isle": 1.55}))
    told, rows = verdicts(found), found.summary.filter(measure=NEARER, dimension="all")
    (row,) = rows.filter(group="f", item="North − Inland").to_dicts()
    clear = told["North than to Inland (f speaker)"]
    assert clear.row is not None and (clear.kind, clear.row["tests"], len(told)) == (YES, 12, 12)
    assert [clear.row[key] for key in ("value", "low", "high")] == [-row[key] for key in ("value", "high", "low")]
    low = verdicts(result(-near_to_1(), survey(tmp_path, REGIONS)))
    assert low["Inland than to North (f speaker)"].kind == YES and len(low) == 6
    alike = verdicts(result(near_to_1(), survey(tmp_path, {"North": 1.5, "Isle": 1.5})))
    assert {verdict.kind for verdict in alike.values()} == {NO}


def test_the_table_gives_no_size_that_few_statements_cannot_tell(tmp_path: Path) -> None:
    """Nor one that is larger than the groups' answers lie apart."""
    lean = np.random.default_rng(5).normal(0, 1, len(IDS))
    found = result(lean, survey(tmp_path, REGIONS))
    (table,) = (table for table in SECTION.tables([found]) if table.name == "nearer")
    apart = {(r["dimension"], r["item"]): r["value"] for r in found.summary.filter(measure=APART).to_dicts()}
    assert apart["all", "North − Inland"] == pytest.approx(3.0, abs=0.15)
    sizes = {}
    for row in table.rows:
        cells = dict(zip(table.columns, row.cells, strict=True))
        size = cells["smallest detectable difference"]
        if cells["value"] == "all":
            sizes[cells["people"]] = size
        assert isinstance(cells["statements"], int)
        if not isinstance(size, Number):
            assert size == "none possible" or (size, cells["statements"]) == ("too few", 5)
        elif not math.isnan(size.value):
            assert cells["statements"] >= FEWEST
            assert size.value <= apart[str(cells["value"]), str(cells["people"])]
    assert any(isinstance(size, Number) and size.value > 0 for size in sizes.values())


def equally_far(sd: float, a: float, b: float) -> float:
    """The mean leaning at which ratings are as far from a as from b."""
    deviates = stats.norm.ppf((np.arange(2000) + 0.5) / 2000) * sd

    def gap(mean: float) -> float:
        ratings = 1 + 4 * stats.norm.cdf(deviates + mean)
        return float((np.abs(ratings - a) - np.abs(ratings - b)).mean())

    return float(optimize.brentq(gap, -12, 12))


@pytest.mark.parametrize(
    ("n", "tests", "sd", "a", "b"),
    [
        pytest.param(5, 24, 1, 2.5, 3.5, marks=pytest.mark.slow),
        pytest.param(5, 24, 2, 2, 3, marks=pytest.mark.slow),
        pytest.param(5, 24, 0.5, 2, 4, marks=pytest.mark.slow),
        pytest.param(8, 8, 1, 2, 4, marks=pytest.mark.slow),
        (9, 8, 2, 1.3, 4.7),
    ],
)
def test_where_distances_are_the_same_few_data_sets_of_many_tests_tell_a_difference(
    n: int, tests: int, sd: float, a: float, b: float
) -> None:
    """Ratings spread over the scale, many beyond both groups, so that their gaps are equal: a t test of the gaps alone
    would find something in up to 60 of 100 data sets."""
    rng = np.random.default_rng([n, tests, int(10 * sd)])
    counts = rng.multinomial(n, np.ones(n) / n, size=1000) / n
    mean, sets = equally_far(sd, a, b), 300
    found, by_t = 0, 0
    for _ in range(sets):
        lean = rng.normal(mean, sd, (tests, n))
        ratings = 1 + 4 * stats.norm.cdf(lean)
        noise = rng.normal(0, 0.1, (tests, 1))
        gaps = np.abs(ratings - a) - np.abs(ratings - b) + noise
        draws = gaps @ counts.T + rng.normal(0, 0.1, len(counts))
        least = [_least_p(each, np.full(n, a), np.full(n, b)) for each in lean]
        for guarded in (True, False):
            p = [expanded_p(d, n, least=q if guarded else 0.0) for d, q in zip(draws, least, strict=True)]
            some = min(holm(p)) <= 0.05
            found, by_t = found + (guarded and some), by_t + (not guarded and some)
    assert found / sets <= 0.09  # .05 and three standard errors
    assert by_t >= found
    assert sd < 1 or n > 5 or by_t / sets > 0.3


def test_in_print_the_main_table_has_the_rows_over_all_statements(tmp_path: Path) -> None:
    found = result(near_to_1(), survey(tmp_path, REGIONS), resamples=200)
    (table,) = (table for table in SECTION.tables([found]) if table.name == "nearer")
    assert table.short is not None and len(table.rows) == 30 and len(table.short.rows) == 6
    columns = (
        "people",
        "group",
        "model",
        "statements",
        "distance, first",
        "distance, second",
        "difference",
        "p (Holm)",
    )
    assert table.short.columns == columns
    rows = found.summary.filter(measure=NEARER, dimension="all").to_dicts()
    for row, cells in zip(rows, (row.cells for row in table.short.rows), strict=True):
        assert cells[:2] == (row["item"], row["group"]) and str(cells[6]).startswith(f"{row['value']:+.2f}")
    printed = latex_table(table.short, "tab:nearer")
    assert "\\begin{table}" in printed and "\\begin{longtable}" not in printed and "\\begin{landscape}" not in printed


def test_the_figure_of_groups_of_people_draws_every_distance(tmp_path: Path) -> None:
    found = result(near_to_1(), survey(tmp_path, REGIONS), resamples=200)
    (figure,) = (figure for figure in SECTION.figures([found]) if figure.name == "people")
    spec = figure.spec()
    for panel, group in zip(spec["concat"], "fm", strict=True):
        points = {(d["row"], d["people"]): d for d in spec["datasets"][panel["layer"][1]["data"]["name"]]}
        rows = found.summary.filter(measure=DISTANCE, group=group).to_dicts()
        assert len(points) == len(rows) == 15 and panel["title"] == f"m, {group}"
        for each in rows:
            drawn = points[each["dimension"], each["item"]]
            assert [drawn[key] for key in ("value", "low", "high")] == [each[key] for key in ("value", "low", "high")]
    assert "<svg" in figure.svg()
