"""The tables of value statements; their words are in `text.yaml`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import Any

import polars as pl
import scipy

from penchant.instruments.steadiness_columns import AT as STEADY
from penchant.instruments.steadiness_columns import COLUMNS as STEADINESS
from penchant.instruments.values.against_survey import (
    DESIGN,
    EFFECTIVE,
    RANKS,
    SURVEY_CONSISTENCY,
    SURVEY_MEAN,
    SURVEY_QUANTILE,
    SURVEY_SD,
)
from penchant.instruments.values.calibration import (
    CORRELATION,
    FREE_INTERCEPT,
    FREE_SLOPE,
    NORMALITY,
    OFFSET,
    SIGMA,
    SLOPE,
)
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW, TEXT
from penchant.instruments.values.estimates import (
    CHANCE,
    DIFFERENCE,
    MEAN,
    MIRROR_CORRELATION,
    MIRROR_DISTANCE,
    RATING,
    SHARE,
    SPREAD,
    WORDINGS,
)
from penchant.instruments.values.group_distance import (
    APART,
    DISTANCE,
    FROM_GROUP,
    GROUP_MEAN,
    GROUP_SIZE,
    GROUP_WORTH,
    NEARER,
)
from penchant.instruments.values.representativeness import FROM_SURVEY, REPRESENTATIVE
from penchant.report.no_difference_table import NEVER
from penchant.report.significance import ALPHA as TOLD
from penchant.report.significance import deciding
from penchant.report.tables import DECIDES, Cell, Number, P, estimate
from penchant.stats.bootstrap import FEW_CLUSTERS
from penchant.stats.consistency import ALPHA
from penchant.stats.equivalence import detectable
from penchant.views.row_selection import FIRST, At, Line, RowSource, but
from penchant.views.tables import Column, TableSpec, beside, count, level, model, number, p, pair

# The smallest difference that this study could detect

FEWEST = 8
"""Number of statements below which no smallest detectable difference is given."""
FEWEST_OF_DISTANCES = FEW_CLUSTERS
"""The same limit for differences of distances."""
TOO_FEW = "too few"


def findable_between(line: Line) -> Number | str:
    """Return the smallest detectable difference between groups or wordings, or an empty cell if one was found."""
    return _findable(line, line["high"] - line["low"], HIGH - LOW, line["n"] - 1)


def findable_apart(line: Line) -> Number | str:
    """Return the smallest detectable difference between a model's distances from two groups.

    The result is `NEVER` if it exceeds the distance between the groups, which no such difference can.
    """
    apart = line.at(measure=APART, variant=EVERYTHING, group=EVERYTHING)
    largest = HIGH - LOW if apart is None else apart["value"]
    return _findable(line, line["high"] - line["low"], largest, max(1, line["n"] - 1), FEWEST_OF_DISTANCES)


def beside_findable(line: Line) -> Number | str:
    """Return the smallest detectable difference from the respondents' mean."""
    people = line.at(measure=SURVEY_MEAN, variant=EVERYTHING)
    if people is None:
        return Number()
    df = min(line["n"], people["n"]) - 1
    width = line["high"] - line["low"]
    if line["p"] < 1 and line["value"]:  # clipped ends do not show the error, which is value/t
        half = float(scipy.stats.t.ppf((1 + line["level"]) / 2, df))
        width = 2 * half * abs(line["value"]) / float(scipy.stats.t.isf(line["p"] / 2, df))
    return _findable(line, width, max(people["value"] - LOW, HIGH - people["value"]), df)


def _findable(line: Line, width: float, largest: float, df: int, fewest: int = FEWEST) -> Number | str:
    """Return the smallest difference that this study could detect, or an empty cell if it found a difference.

    `width` and `df` are the width and the degrees of freedom of the interval. The result is `NEVER` if the difference
    would exceed `largest`, and `TOO_FEW` if there are fewer than `fewest` statements.
    """
    if not deciding(line.row) > TOLD:
        return Number()
    size = detectable(0, width, line["level"], alpha=TOLD / max(1, line["tests"]), df=df)
    if size > largest:
        return NEVER
    return TOO_FEW if line["n"] < fewest else Number(size)


# Rows and columns

_PEOPLE: dict[str, Any] = {"variant": EVERYTHING, "item": ""}
"""Selection of estimates about respondents, which have no wording."""


def main_wording(found: Sequence[RowSource]) -> list[RowSource]:
    """Return each source with only its rows of the first (main) wording and its rows without a wording."""
    return [_ordered(source, lambda main: pl.col("variant").is_in([main, EVERYTHING])) for source in found]


def _others(found: Sequence[RowSource]) -> list[RowSource]:
    return [_ordered(source, lambda main: pl.col("variant") != main) for source in found]


def _ordered(source: RowSource, chosen: Callable[[str], pl.Expr]) -> RowSource:
    assert source.result is not None
    frame = source.frame.filter(chosen(source.result.items["variant"][0]))
    variant, value = (pl.col("_row").min().over(name) for name in ("variant", "dimension"))
    places = variant, pl.col("dimension") == EVERYTHING, value
    ordered = frame.with_row_index("_row").sort(*places, maintain_order=True).drop("_row")
    return replace(source, frame=ordered)


def _first(found: Sequence[RowSource]) -> list[RowSource]:
    return main_wording(found[:1])


_VALUE, _GROUP, _WORDING = level("dimension", "value"), level("group"), level("variant", "wording")
_STATEMENTS = count("statements")
_HOLM = Column("holm", lambda line: P(line["p_holm"]))
_HOLM_OF_VALUES = Column("holm", lambda line: "" if line["dimension"] == EVERYTHING else P(line["p_holm"]))
"""The adjusted p-values of single values; empty for a test over all values, which belongs to no family."""


def _spread(line: Line) -> Cell:
    """Format a spread, with an arrow up or down if it is larger or smaller than expected by chance."""
    chance = line.at(measure=CHANCE)
    apart = line["p_holm"] <= DECIDES and chance is not None
    star = "" if not apart or chance is None else " ↑" if line["value"] > chance["value"] else " ↓"
    return replace(estimate(line.row), star=star)


def _p_of_spread(line: Line) -> Cell:
    spread, chance = line.at(measure=SPREAD), line.at(measure=CHANCE)
    return "" if spread is None or chance is None else P(spread["p_holm"])


def _alone(key: str, form: str = ".2f", **levels: object) -> Column:
    return beside(key, levels, lambda line: Number(line["value"], form=form), Number())


def _sum(measure: str, **levels: object) -> Column:
    def cell(line: Line) -> Cell:
        people = line.at(measure=measure, **levels)
        return Number() if people is None else Number(line["value"] + people["value"])

    return Column("rating", cell)


_RATINGS = (
    *(_VALUE, _GROUP, model(), _STATEMENTS, number("mean"), beside("spread", {"measure": SPREAD}, _spread, Number())),
    Column("p-spread", _p_of_spread, P(math.nan)),
    *(number("chance", measure=CHANCE), number("survey-mean", measure=SURVEY_MEAN, **_PEOPLE)),
    number("representativeness", measure=REPRESENTATIVE),
)
_BESIDE = (
    *(_VALUE, _WORDING, _GROUP, model(), _STATEMENTS, count("respondents", measure=SURVEY_MEAN, **_PEOPLE)),
    *(_alone("effective", ".0f", measure=EFFECTIVE, **_PEOPLE), _sum(SURVEY_MEAN, **_PEOPLE)),
    *(_alone("survey-mean", measure=SURVEY_MEAN, **_PEOPLE), number("difference", "+.2f"), p(), _HOLM),
    Column("findable", beside_findable),
)
_TESTED = (number("difference", "+.2f"), p())
_BETWEEN = (model(), _STATEMENTS, *_TESTED, _HOLM_OF_VALUES, Column("findable", findable_between))
_LEADING = ("difference", "holm")


@lru_cache(maxsize=8)
def group_pairs(source: RowSource) -> dict[str, tuple[str, str]]:
    """Return the two groups of people that each difference of distances compares, by the name of the difference."""
    names = dict.fromkeys(str(line["item"]) for line in source.only(At(measure=DISTANCE)))
    return {f"{first} − {second}": (first, second) for first, second in combinations(names, 2)}


_OF_GROUP: dict[str, Any] = {"variant": EVERYTHING, "group": EVERYTHING}


def _of_side(key: str, side: int, cell: Callable[[Line], Cell], none: Cell = "", **levels: object) -> Column:
    def of_group(line: Line) -> Cell:
        own = line.at(item=group_pairs(line.source)[line["item"]][side], **levels)
        return none if own is None else cell(own)

    return Column(f"{('first', 'second')[side]}-{key}", of_group)


def _sizes(side: int) -> list[Column]:
    at: dict[str, Any] = {"measure": GROUP_SIZE, "dimension": EVERYTHING, **_OF_GROUP}

    def worth(line: Line) -> Cell:
        return Number(line["value"], form=".0f") if is_weighted(line.source) else ""

    return [_of_side("n", side, lambda line: int(line["n"]), **at), _of_side("worth", side, worth, **at)]


def is_weighted(source: RowSource) -> bool:
    """Return whether respondents have weights."""
    return bool((source.frame["measure"] == EFFECTIVE).any())


_DISTANCES = [
    _of_side("distance", side, lambda line: estimate(line.row), Number(), measure=DISTANCE) for side in (0, 1)
]
_PEOPLE_AND = (level("item", "people"), _GROUP, _VALUE, model(), _STATEMENTS)
_NEARER = (*_PEOPLE_AND, *_sizes(0), *_sizes(1), *_DISTANCES, *_TESTED, _HOLM, Column("findable", findable_apart))
_FROM_GROUPS = (
    *(*_PEOPLE_AND, count("respondents", measure=GROUP_MEAN, **_OF_GROUP)),
    *(_alone("effective", ".0f", measure=GROUP_WORTH, **_OF_GROUP), _sum(GROUP_MEAN, **_OF_GROUP)),
    *(number("their-mean", measure=GROUP_MEAN, **_OF_GROUP), *_TESTED, _HOLM),
)
_CALIBRATED = (
    *(_WORDING, _GROUP, model(), count("neutral"), number("fixed", ".3f"), number("sigma", measure=SIGMA)),
    *(number("r", measure=CORRELATION), number("free-slope", measure=FREE_SLOPE)),
    *(number("free-intercept", measure=FREE_INTERCEPT), p("normality", measure=NORMALITY)),
)
_TESTS_OF_0 = (MIRROR_CORRELATION, RANKS)
_ROBUST = (
    *(level("measure"), _WORDING, _GROUP, _VALUE, model(), count()),
    Column("wanted", lambda line: TEXT.get("tables", "robustness", "wanted", line["measure"])),
    *(number("estimate"), Column("tested", lambda line: "0" if line["measure"] in _TESTS_OF_0 else ""), p(), _HOLM),
)


def _is_robustness(measure: object) -> bool:
    checks = (MIRROR_DISTANCE, MIRROR_CORRELATION, ALPHA, RANKS)
    return measure in checks or str(measure).startswith(SHARE.format(""))


_SHOWN: dict[str, Any] = {
    "ratings": {
        "at": At(measure=MEAN),
        "columns": _RATINGS,
        "first": ("mean", "survey-mean", "representativeness", "statements", "spread", "p-spread"),
    },
    "beside-survey": {
        "at": At(measure=FROM_SURVEY),
        "columns": _BESIDE,
        "first": (*_LEADING, "rating", "survey-mean"),
        "by_model": True,
    },
    "groups": {
        "at": At(measure=DIFFERENCE),
        "columns": (level("group", "groups"), _VALUE, *_BETWEEN),
        "by_model": True,
    },
    "nearer": {
        "at": At(measure=NEARER),
        "columns": _NEARER,
        "first": _LEADING,
        "by_model": True,
        "short": ("people", "group", "model", "statements", "first-distance", "second-distance", *_LEADING),
        "short_at": At(dimension=EVERYTHING),
    },
    "from-groups": {"at": At(measure=FROM_GROUP), "columns": _FROM_GROUPS, "first": _LEADING, "by_model": True},
    "asking": {"at": STEADY, "columns": (_WORDING, _GROUP, model(), _STATEMENTS, *STEADINESS), "by_model": True},
    "calibration": {"at": At(measure=(SLOPE, OFFSET)), "columns": _CALIBRATED, "by_model": True},
    "robustness": {"at": At(measure=_is_robustness), "columns": _ROBUST, "by_model": True},
}
"""The tables of the main wording; each is repeated in a second table for all other wordings."""


def _by_wording(name: str) -> TableSpec:
    own = dict(_SHOWN[name])
    columns = own["columns"] if _WORDING in own["columns"] else (_WORDING, *own["columns"])
    of = own["at"].levels | {"variant": but(EVERYTHING)}
    return TableSpec(f"{name}-by-wording", **{**own, "columns": columns, "at": At(**of)}, of=_others, detail=True)


def _text(line: Line) -> Cell:
    assert line.source.result is not None
    found = line.source.result.items.filter(id=line["item"], kind="statement")["text"]
    return "" if found.is_empty() else str(found[0])


_MAIN = {name: TableSpec(name, **own, of=main_wording) for name, own in _SHOWN.items()}
_WORDINGS = TableSpec(
    "wordings", At(measure=WORDINGS), (level("variant", "wordings"), _VALUE, *_BETWEEN), by_model=True
)
_STATED = TableSpec(
    "statements",
    At(measure=RATING),
    (
        *(level("item", "id"), Column("statement", _text), _VALUE, _GROUP, model(), number("rating")),
        number("representativeness", measure=REPRESENTATIVE),
    ),
    by_model=True,
    detail=True,
    of=main_wording,
)
_SURVEYED = TableSpec(
    "survey",
    At(measure=SURVEY_MEAN),
    (
        *(_VALUE, _GROUP, count("respondents"), _alone("effective", ".0f", measure=EFFECTIVE)),
        *(_alone("design", measure=DESIGN), number("mean"), _alone("median", measure=SURVEY_QUANTILE, item="50%")),
        *(number("sd", measure=SURVEY_SD), number("alpha", measure=SURVEY_CONSISTENCY)),
    ),
    detail=True,
    of=_first,
)
TABLES = (
    *(_MAIN[name] for name in ("ratings", "beside-survey", "groups")),
    _WORDINGS,
    *(_MAIN[name] for name in ("nearer", "from-groups", "asking", "calibration", "robustness")),
    *map(_by_wording, _SHOWN),
    _STATED,
    _SURVEYED,
)
_DIFFERENCES = (pair(), _WORDING, _GROUP, _VALUE, _STATEMENTS, number("rating", "+.2f"), p(), _HOLM_OF_VALUES)


def _other_wordings(found: Sequence[RowSource]) -> list[RowSource]:
    return [replace(each, frame=each.frame.filter(pl.col("variant") != pl.col("variant").first())) for each in found]


COMPARED = (
    TableSpec("differences", At(variant=FIRST), _DIFFERENCES, by_model=True),
    TableSpec("differences-by-wording", At(), _DIFFERENCES, by_model=True, detail=True, of=_other_wordings),
)
