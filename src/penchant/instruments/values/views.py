"""What a report shows of value statements; the words are in `text.yaml`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import Any

import polars as pl

from penchant.instruments.values.against_survey import (
    DESIGN,
    EFFECTIVE,
    RANKS,
    SURVEY_CONSISTENCY,
    SURVEY_MEAN,
    SURVEY_QUANTILE,
    SURVEY_SD,
)
from penchant.instruments.values.charts import calibration, ratings, representative
from penchant.instruments.values.data import EVERYTHING
from penchant.instruments.values.description import facts, is_weighted
from penchant.instruments.values.detectable import beside_findable, findable_apart, findable_between
from penchant.instruments.values.estimates import (
    CHANCE,
    CORRELATION,
    FREE_INTERCEPT,
    FREE_SLOPE,
    MEAN,
    MIRROR_CORRELATION,
    MIRROR_DISTANCE,
    NORMALITY,
    OFFSET,
    RATING,
    SHARE,
    SIGMA,
    SLOPE,
    SPREAD,
)
from penchant.instruments.values.findings import found
from penchant.instruments.values.nearer import DISTANCE, FROM_GROUP, GROUP_MEAN, GROUP_SIZE, GROUP_WORTH, NEARER
from penchant.instruments.values.paired import DIFFERENCE, WORDINGS
from penchant.instruments.values.represented import FROM_SURVEY, REPRESENTATIVE
from penchant.records import Result
from penchant.report.tables import DECIDES, Cell, Number, P, estimate
from penchant.stats.consistency import ALPHA
from penchant.views.figures import Drawn, Forest
from penchant.views.finding import Said
from penchant.views.items import ItemColumn, Items, ModelColumn, Tokens
from penchant.views.rows import FIRST, At, Line, Source, but, sources
from penchant.views.scatter import Panel, Scatter, Straight
from penchant.views.section import Views
from penchant.views.tables import Column, TableSpec, beside, count, level, model, number, p, pair

# Rows ----------------------------------------------------------------------------------------------------------------

_PEOPLE: dict[str, Any] = {"variant": EVERYTHING, "item": ""}
"""The levels of estimates of people in a group and value, beside any wording."""


def _main(found: Sequence[Source]) -> list[Source]:
    """Return the rows of the first wording, and those of none."""
    return [_ordered(source, lambda main: pl.col("variant").is_in([main, EVERYTHING])) for source in found]


def _others(found: Sequence[Source]) -> list[Source]:
    """Return the rows of other wordings than the first, and those of none."""
    return [_ordered(source, lambda main: pl.col("variant") != main) for source in found]


def _ordered(source: Source, chosen: Callable[[str], pl.Expr]) -> Source:
    """Return some rows, one wording after the other and those of one value together, of all values last."""
    assert source.result is not None
    frame = source.frame.filter(chosen(source.result.items["variant"][0]))
    variant, value = (pl.col("_row").min().over(name) for name in ("variant", "dimension"))
    places = variant, pl.col("dimension") == EVERYTHING, value
    ordered = frame.with_row_index("_row").sort(*places, maintain_order=True).drop("_row")
    return replace(source, frame=ordered)


def _first(found: Sequence[Source]) -> list[Source]:
    """Return the first source: people are the same for all models."""
    return _main(found[:1])


# Tables --------------------------------------------------------------------------------------------------------------

_VALUE, _GROUP, _WORDING = level("dimension", "value"), level("group"), level("variant", "wording")
_STATEMENTS = count("statements")
_HOLM = Column("holm", lambda line: P(line["p_holm"]))
_HOLM_OF_VALUES = Column("holm", lambda line: "" if line["dimension"] == EVERYTHING else P(line["p_holm"]))
"""The adjusted p of a value; a test over all values is in no family."""


def _spread(line: Line) -> Cell:
    """Return a spread, with an arrow where it is told apart from that by chance: up where it is larger."""
    chance = line.at(measure=CHANCE)
    apart = line["p_holm"] <= DECIDES and chance is not None
    star = "" if not apart or chance is None else " ↑" if line["value"] > chance["value"] else " ↓"
    return replace(estimate(line.row), star=star)


def _alone(key: str, form: str = ".2f", **levels: object) -> Column:
    """Return a column of numbers without their intervals."""
    return beside(key, levels, lambda line: Number(line["value"], form=form), Number())


def _sum(measure: str, **levels: object) -> Column:
    """Return a mean rating: a difference from people, and their mean."""

    def cell(line: Line) -> Cell:
        people = line.at(measure=measure, **levels)
        return Number() if people is None else Number(line["value"] + people["value"])

    return Column("rating", cell)


_RATINGS = (
    *(_VALUE, _GROUP, model(), _STATEMENTS, number("mean"), beside("spread", {"measure": SPREAD}, _spread, Number())),
    beside("p-spread", {"measure": SPREAD}, lambda line: P(line["p_holm"]), P(math.nan)),
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
_FINDABLE = Column("findable", findable_between)
_BETWEEN = (level("group", "groups"), _VALUE, model(), _STATEMENTS, *_TESTED, _HOLM_OF_VALUES, _FINDABLE)
_LEADING = ("difference", "holm")


def _side(line: Line, side: int) -> str:
    """Return the first or second of the two groups of people that a row is about."""
    return _pairs(line.source)[line["item"]][side]


@lru_cache(maxsize=8)
def _pairs(source: Source) -> dict[str, tuple[str, str]]:
    names = dict.fromkeys(str(line["item"]) for line in source.only(At(measure=DISTANCE)))
    return {f"{first} − {second}": (first, second) for first, second in combinations(names, 2)}


def _of_side(side: int) -> list[Column]:
    """Return how many respondents one of two groups of people has, what they are worth where they are weighted, and
    how far the model is from them."""
    name = ("first", "second")[side]

    def size(line: Line) -> Line | None:
        return line.at(measure=GROUP_SIZE, dimension=EVERYTHING, **_OF_GROUP, item=_side(line, side))

    def n(line: Line) -> Cell:
        own = size(line)
        return "" if own is None else int(own["n"])

    def worth(line: Line) -> Cell:
        own = size(line) if is_weighted(line.source) else None
        return "" if own is None else Number(own["value"], form=".0f")

    return [Column(f"{name}-n", n), Column(f"{name}-worth", worth)]


def _distance(side: int) -> Column:
    def cell(line: Line) -> Cell:
        own = line.at(measure=DISTANCE, item=_side(line, side))
        return Number() if own is None else estimate(own.row)

    return Column(f"{('first', 'second')[side]}-distance", cell)


_OF_GROUP: dict[str, Any] = {"variant": EVERYTHING, "group": EVERYTHING}
_NEARER = (
    *(level("item", "people"), _GROUP, _VALUE, model(), _STATEMENTS, *_of_side(0), *_of_side(1)),
    *(_distance(0), _distance(1), *_TESTED, _HOLM, Column("findable", findable_apart)),
)
_FROM_GROUPS = (
    *(level("item", "people"), _GROUP, _VALUE, model(), _STATEMENTS),
    *(
        count("respondents", measure=GROUP_MEAN, **_OF_GROUP),
        _alone("effective", ".0f", measure=GROUP_WORTH, **_OF_GROUP),
    ),
    *(_sum(GROUP_MEAN, **_OF_GROUP), number("their-mean", measure=GROUP_MEAN, **_OF_GROUP), *_TESTED, _HOLM),
)
_CALIBRATED = (
    *(_WORDING, _GROUP, model(), count("neutral"), number("fixed", ".3f"), number("sigma", measure=SIGMA)),
    *(number("r", measure=CORRELATION), number("free-slope", measure=FREE_SLOPE)),
    *(number("free-intercept", measure=FREE_INTERCEPT), p("normality", measure=NORMALITY)),
)
_NOT_SHORT = ("value", "p", "findable")
_NULLS = {
    MIRROR_CORRELATION: ("0", "consistent: +1"),
    RANKS: ("0", "people's order: +1"),
    MIRROR_DISTANCE: ("", "consistent: 0"),
}
"""What the p of a measure of robustness is the test of, and the value that a consistent model would have."""
_ROBUST = (
    *(level("measure"), _WORDING, _GROUP, _VALUE, model(), count()),
    Column("wanted", lambda line: _NULLS.get(line["measure"], ("", ""))[1]),
    *(number("estimate"), Column("tested", lambda line: _NULLS.get(line["measure"], ("", ""))[0]), p(), _HOLM),
)


def _is_robustness(measure: object) -> bool:
    checks = (MIRROR_DISTANCE, MIRROR_CORRELATION, ALPHA, RANKS)
    return measure in checks or str(measure).startswith(SHARE.format(""))


_NEARER_SHORT = tuple(
    column.key for column in _NEARER if not column.key.endswith(("-n", "-worth")) and column.key not in _NOT_SHORT
)
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
    "groups": {"at": At(measure=DIFFERENCE), "columns": _BETWEEN, "by_model": True},
    "nearer": {
        "at": At(measure=NEARER),
        "columns": _NEARER,
        "first": _LEADING,
        "by_model": True,
        "short": _NEARER_SHORT,
        "short_at": At(dimension=EVERYTHING),
    },
    "from-groups": {"at": At(measure=FROM_GROUP), "columns": _FROM_GROUPS, "first": _LEADING, "by_model": True},
    "calibration": {"at": At(measure=(SLOPE, OFFSET)), "columns": _CALIBRATED, "by_model": True},
    "robustness": {"at": At(measure=_is_robustness), "columns": _ROBUST, "by_model": True},
}
"""The tables of one wording; of all others there is a second one each."""


def _by_wording(name: str) -> TableSpec:
    own = dict(_SHOWN[name])
    columns = own["columns"] if _WORDING in own["columns"] else (_WORDING, *own["columns"])
    of = own["at"].levels | {"variant": but(EVERYTHING)}
    return TableSpec(f"{name}-by-wording", **{**own, "columns": columns, "at": At(**of)}, of=_others, detail=True)


def _text(line: Line) -> Cell:
    assert line.source.result is not None
    found = line.source.result.items.filter(id=line["item"], kind="statement")["text"]
    return "" if found.is_empty() else str(found[0])


_TABLES = {name: TableSpec(name, **own, of=_main) for name, own in _SHOWN.items()}
_TABLES["wordings"] = TableSpec(
    "wordings",
    At(measure=WORDINGS),
    (level("variant", "wordings"), _VALUE, model(), _STATEMENTS, *_TESTED, _HOLM_OF_VALUES, _FINDABLE),
    by_model=True,
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
    of=_main,
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
_ORDER = ("ratings", "beside-survey", "groups", "wordings", "nearer", "from-groups", "calibration", "robustness")
_DIFFERENCES = (pair(), _WORDING, _GROUP, _VALUE, _STATEMENTS, number("rating", "+.2f"), p(), _HOLM_OF_VALUES)


def _other_wordings(found: Sequence[Source]) -> list[Source]:
    """Return the differences between models in other wordings than the first."""
    return [replace(each, frame=each.frame.filter(pl.col("variant") != pl.col("variant").first())) for each in found]


# Figures and items ---------------------------------------------------------------------------------------------------


def _by_group(found: Sequence[Source]) -> list[Source]:
    """Return the distances from groups of people with the place of each: the model and the group of the templates."""
    own = [replace(each, frame=each.frame.filter(measure=DISTANCE)) for each in _main(found)]
    whole = pl.col("dimension") != EVERYTHING
    return [
        replace(
            each,
            frame=each.frame.sort(whole, maintain_order=True).with_columns(
                pl.format("{}, {}", pl.lit(each.model), "group").alias("place"), people="item"
            ),
        )
        for each in own
    ]


def _residuals(results: Sequence[Result]) -> list[Panel]:
    """Return a panel for each model and group: how far neutral statements lie from the calibration."""
    panels = []
    for source in sources(results):
        assert source.result is not None
        items = source.result.items
        main = items.filter(pl.col("variant") == items["variant"][0])
        for line in source.only(At(measure=SIGMA, variant=FIRST)):
            neutral = main.filter(kind="calibration", group=line["group"])
            points = neutral.select(pl.col("id").alias("item"), "text", "disagree", "residual").to_dicts()
            levels = [Straight(0, (0, at), dashed=True) for at in (-line["value"], 0, line["value"])]
            panels.append(Panel(f"{source.model}, {line['group']}", points, levels))
    return panels


def _neutral_last(result: Result) -> pl.DataFrame:
    """Return the items in the terms of readers, the study's own statements before neutral ones."""
    items = result.items.sort(pl.col("kind") == "calibration", maintain_order=True)
    named = items.with_columns(pl.col("kind").replace("calibration", "neutral"), pl.col("value").replace("", "–"))
    return named.with_columns(wording="variant")


def _remarks(result: Result) -> list[str]:
    rows = result.items.select("agree", "disagree", "residual").iter_rows()
    return [
        f"log P agree {_signed(y)}, disagree {_signed(x)}; above expectation by {_signed(residual)}"
        for y, x, residual in rows
    ]


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}".replace("-", "−")


def _whole(results: Sequence[Result]) -> bool:
    """Return whether whole sentences are scored, whose tokens stand beside each other."""
    return any(result.signature["method"] == "lp" for result in results)


def _tokens(stance: str) -> Tokens:
    def said(items: pl.DataFrame) -> list[str]:
        return items[f"sentence_{stance}"].to_list()

    return Tokens(stance, f"pieces_{stance}", f"sentence_{stance}", f"logprobs_{stance}", said)


VIEWS = Views(
    tables=(*(_TABLES[name] for name in _ORDER), *map(_by_wording, _SHOWN), _STATED, _SURVEYED),
    compared=(
        TableSpec("differences", At(variant=FIRST), _DIFFERENCES, by_model=True),
        TableSpec("differences-by-wording", At(), _DIFFERENCES, by_model=True, detail=True, of=_other_wordings),
    ),
    figures=(
        Drawn("ratings", ratings, "value"),
        Drawn("representativeness", representative, numbers="ratings"),
        Forest(
            "people",
            At(measure=DISTANCE),
            *("dimension", "people", ".2f", "place"),
            of=_by_group,
        ),
        Drawn("calibration", calibration, "item"),
        Scatter(
            *("residuals", _residuals, "disagree", "residual"),
            told={"item": "", "text": "", "residual": ".2f"},
            picks="item",
            side=240,
            numbers="calibration",
        ),
    ),
    items=Items(
        columns=(
            *(ItemColumn("id", "id"), ItemColumn("kind", "label"), ItemColumn("value", "label")),
            *(ItemColumn("group", "label"), ItemColumn("wording", "label", varies=True), ItemColumn("text")),
        ),
        each=(ModelColumn("agreement"), ModelColumn("rating", digits=2)),
        tokens=(_tokens("agree"), _tokens("disagree")),
        remark=_remarks,
        rows=_neutral_last,
        parallel=_whole,
    ),
    finding=(Said(found),),
    facts=facts,
)
