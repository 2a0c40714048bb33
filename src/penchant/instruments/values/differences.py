"""The tables of differences within a result: from the survey's means, and between groups. Rendering only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import scipy

from penchant.instruments.values.against_survey import EFFECTIVE, SURVEY_MEAN
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW
from penchant.instruments.values.nearer import FROM_GROUP
from penchant.instruments.values.paired import DIFFERENCE, WORDINGS
from penchant.instruments.values.represented import FROM_SURVEY
from penchant.records import Result
from penchant.report.finding import ALPHA
from penchant.report.made import tested
from penchant.report.no_difference import NEVER
from penchant.report.tables import Cell, Number, P, Row, Table, estimate
from penchant.stats.equivalence import detectable

TESTED = ("difference", "p", "p (Holm)", "would be found")
FOUND = (
    "Where none was found, a difference as large as under 'would be found' is found four times of five, at the first "
    "step of Holm's correction (over m tests: at 5%/m"
)
FEWEST = 8
"""Differences of as many statements tell how large one would be found. Where five did, such a difference was found in
41 to 87 of 100 cases, by the distribution of ratings."""
TOO_FEW = "too few"
FEW_SAID = "'too few': so few statements, fewer than {}, do not tell how large one would be."
FINDABLE = (
    f"{FOUND}; over all values, at 5%). 'none possible': no difference on the scale is as large. "
    f"{FEW_SAID.format(FEWEST)}"
)
BESIDE = "Mean ratings minus the survey's means"
GROUPS = "Differences of ratings between groups"
MISSING = {"value": float("nan"), "low": float("nan"), "high": float("nan"), "n": 0, "p": float("nan")}


def lookup(result: Result) -> dict[tuple[str, ...], dict[str, Any]]:
    """The rows of a summary by measure, wording, group, value and statement."""
    keys = ("measure", "variant", "group", "dimension", "item")
    return {tuple(row[key] for key in keys): row for row in result.summary.iter_rows(named=True)}


def synthetic(result: Result) -> str:
    """What a note says of a survey that is made up."""
    return " The survey is SYNTHETIC: made-up answers." if result.signature["survey"].startswith("synthetic ") else ""


def is_weighted(result: Result) -> bool:
    """Whether respondents count with weights."""
    return bool((result.summary["measure"] == EFFECTIVE).any())


def weighting(result: Result) -> str:
    """What a note says of weights of respondents; empty where there are none."""
    if not is_weighted(result):
        return ""
    return " Respondents are weighted; the effective n is Kish's, (Σw)²/Σw², and the design effect n divided by it."


def beside_survey(results: Sequence[Result], variants: Sequence[str], name: str, title: str) -> Table:
    """The mean rating over the survey's statements, the respondents' mean over them, and the difference."""
    rows = []
    chosen = (pl.col("measure") == FROM_SURVEY) & pl.col("variant").is_in(list(variants))
    differences = [result.summary.filter(chosen) for result in results]
    weighted = is_weighted(results[0])
    for result, own in zip(results, differences, strict=True):
        estimates = lookup(result)
        for row in own.iter_rows(named=True):
            people = estimates.get((SURVEY_MEAN, EVERYTHING, row["group"], row["dimension"], ""), MISSING)
            cells: tuple[Cell, ...] = (row["dimension"], row["variant"], row["group"], result.signature["model"])
            cells += (row["n"], people["n"])
            worth = estimates.get((EFFECTIVE, EVERYTHING, row["group"], row["dimension"], ""))
            cells += (Number(worth["value"], form=".0f"),) if weighted and worth else ("",) if weighted else ()
            means = (Number(row["value"] + people["value"]), Number(people["value"]), estimate(row, "+.2f"))
            rows.append(
                Row((*cells, *means, P(row["p"]), P(row["p_holm"]), _beside_findable(row, people)), row["signature"])
            )
    columns: tuple[str, ...] = ("value", "wording", "group", "model", "statements", "respondents")
    columns += (*(["effective n"] if weighted else []), "mean rating", "survey mean")
    note = (
        "Over the statements that the survey has, and the respondents who answered them all. The interval holds "
        f"statements, calibration and respondents. {tested(*differences)} Holm's correction over values, groups and "
        f"wordings here, each model by itself{_also(results[0])}. {FINDABLE}{weighting(results[0])}"
        f"{synthetic(results[0])}"
    )
    first = ("difference", "p (Holm)", "mean rating", "survey mean")
    detail = name != "beside-survey"
    return Table(name, title, (*columns, *TESTED), tuple(rows), note, detail=detail, first=first)


def _also(result: Result) -> str:
    """What is said of the tables of groups of people, where there are any."""
    if not (result.summary["measure"] == FROM_GROUP).any():
        return ""
    return (
        "; the tables 'from-groups' correct over another family, so that the same difference may have another p there"
    )


def _beside_findable(row: Mapping[str, Any], people: Mapping[str, Any]) -> Number | str:
    """The smallest difference from the respondents' mean that would have been found, where none was."""
    df = min(row["n"], people["n"]) - 1
    width = row["high"] - row["low"]
    if row["p"] < 1 and row["value"]:  # ends that were cut say nothing of the error, which is value/t
        half = float(scipy.stats.t.ppf((1 + row["level"]) / 2, df))
        width = 2 * half * abs(row["value"]) / float(scipy.stats.t.isf(row["p"] / 2, df))
    return findable(row, width, max(people["value"] - LOW, HIGH - people["value"]), df)


def findable(row: Mapping[str, Any], width: float, largest: float, df: int, fewest: int = FEWEST) -> Number | str:
    """The smallest difference that would have been found, where none was: with an interval so wide and its degrees of
    freedom, if it is not larger than the largest that can be. `TOO_FEW` where fewer than `fewest` statements tell too
    little of how differences vary."""
    p = row["p"] if np.isnan(row["p_holm"]) else row["p_holm"]
    if not p > ALPHA:
        return Number()
    size = detectable(0, width, row["level"], alpha=ALPHA / max(1, row.get("tests", 1)), df=df)
    if size > largest:
        return NEVER
    return TOO_FEW if row["n"] < fewest else Number(size)


def between(results: Sequence[Result], variants: Sequence[str], name: str, title: str) -> Table:
    """The differences of ratings between groups, statement by statement."""
    rows = []
    chosen = (pl.col("measure") == DIFFERENCE) & pl.col("variant").is_in(list(variants))
    detail = name != "groups"
    for result in results:
        for row in result.summary.filter(chosen).iter_rows(named=True):
            corrected: Cell = "" if row["dimension"] == EVERYTHING else P(row["p_holm"])
            wording = (row["variant"],) if detail else ()
            cells = (*wording, row["group"], row["dimension"], result.signature["model"], row["n"])
            told = (
                estimate(row, "+.2f"),
                P(row["p"]),
                corrected,
                findable(row, row["high"] - row["low"], HIGH - LOW, row["n"] - 1),
            )
            rows.append(Row((*cells, *told), row["signature"]))
    columns = (*(["wording"] if detail else []), "groups", "value", "model", "statements", *TESTED)
    tests = tested(*(result.summary.filter(chosen) for result in results))
    over = "values, pairs of groups and wordings here" if detail else "values and pairs of groups"
    note = f"Statement by statement. {tests} Holm's correction over {over}, each model by itself. {FINDABLE}"
    return Table(name, title, columns, tuple(rows), note, detail=detail)


def of_wordings(results: Sequence[Result]) -> Table:
    """The differences of ratings between every two wordings, statement by statement. No rows where there is one."""
    rows = []
    chosen = pl.col("measure") == WORDINGS
    for result in results:
        for row in result.summary.filter(chosen).iter_rows(named=True):
            corrected: Cell = "" if row["dimension"] == EVERYTHING else P(row["p_holm"])
            size = findable(row, row["high"] - row["low"], HIGH - LOW, row["n"] - 1)
            cells = (row["variant"], row["dimension"], result.signature["model"], row["n"])
            told = (estimate(row, "+.2f"), P(row["p"]), corrected, size)
            rows.append(Row((*cells, *told), row["signature"]))
    columns = ("wordings", "value", "model", "statements", *TESTED)
    tests = tested(*(result.summary.filter(chosen) for result in results))
    note = (
        "Statement by statement, each rating averaged over the groups; reversed statements are turned round. "
        f"{tests} Holm's correction over values and pairs of wordings, each model by itself. That the means of two "
        f"wordings are alike does not show that they treat each statement alike: see statement × template. {FINDABLE}"
    )
    return Table("wordings", "Differences of ratings between wordings", columns, tuple(rows), note)
