"""The smallest difference that would have been found, for the tables of value statements."""

from __future__ import annotations

import numpy as np
import scipy

from penchant.instruments.values.against_survey import SURVEY_MEAN
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW
from penchant.instruments.values.nearer import APART
from penchant.report.finding import ALPHA
from penchant.report.no_difference import NEVER
from penchant.report.tables import Number
from penchant.stats.bootstrap import FEW_CLUSTERS
from penchant.stats.equivalence import detectable
from penchant.views.rows import Line

FEWEST = 8
"""Differences of as many statements tell how large one would be found. Where five did, such a difference was found in
41 to 87 of 100 cases, by the distribution of ratings."""
FEWEST_OF_DISTANCES = FEW_CLUSTERS
"""Distances from two groups are cut where a rating lies beyond both: fewer statements tell too little of the spread of
their differences. Where five are said to find a difference, they do so in a quarter of cases, and twelve in 83 of 100
or more."""
TOO_FEW = "too few"


def findable_between(line: Line) -> Number | str:
    """Return the smallest difference between groups or wordings that would have been found, where none was."""
    return _findable(line, line["high"] - line["low"], HIGH - LOW, line["n"] - 1)


def findable_apart(line: Line) -> Number | str:
    """Return the smallest difference of distances from two groups of people; none is larger than they are apart."""
    apart = line.at(measure=APART, variant=EVERYTHING, group=EVERYTHING)
    largest = HIGH - LOW if apart is None else apart["value"]
    return _findable(line, line["high"] - line["low"], largest, max(1, line["n"] - 1), FEWEST_OF_DISTANCES)


def beside_findable(line: Line) -> Number | str:
    """Return the smallest difference from the respondents' mean."""
    people = line.at(measure=SURVEY_MEAN, variant=EVERYTHING)
    if people is None:
        return Number()
    df = min(line["n"], people["n"]) - 1
    width = line["high"] - line["low"]
    if line["p"] < 1 and line["value"]:  # ends that were cut say nothing of the error, which is value/t
        half = float(scipy.stats.t.ppf((1 + line["level"]) / 2, df))
        width = 2 * half * abs(line["value"]) / float(scipy.stats.t.isf(line["p"] / 2, df))
    return _findable(line, width, max(people["value"] - LOW, HIGH - people["value"]), df)


def _findable(line: Line, width: float, largest: float, df: int, fewest: int = FEWEST) -> Number | str:
    """Return the smallest difference that would have been found, where none was: with an interval so wide and its
    degrees of freedom, if it is not larger than the largest that can be. `TOO_FEW` where fewer than `fewest` statements
    tell too little of how differences vary."""
    p = line["p"] if np.isnan(line["p_holm"]) else line["p_holm"]
    if not p > ALPHA:
        return Number()
    size = detectable(0, width, line["level"], alpha=ALPHA / max(1, line["tests"]), df=df)
    if size > largest:
        return NEVER
    return TOO_FEW if line["n"] < fewest else Number(size)
