"""Report views of minimal pairs; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from penchant.instruments.comparison import of_one_model
from penchant.instruments.minimal_pairs.claims import CLAIMS
from penchant.instruments.minimal_pairs.compare import COUNTED, EQUAL
from penchant.instruments.minimal_pairs.estimates import (
    ACCURACY,
    ADJUSTED,
    BY_DIFFERENCE,
    GAP,
    SLOPE,
    SPLITS,
)
from penchant.instruments.minimal_pairs.fixed_group_estimates import THESE, TYPES, is_fixed, of_groups, sampled
from penchant.instruments.minimal_pairs.formats import DIRECTIONS
from penchant.instruments.minimal_pairs.human_estimates import kind_of
from penchant.instruments.minimal_pairs.human_judgements import SHARE
from penchant.instruments.minimal_pairs.length_charts import (
    LENGTHS,
    accuracies_by_length,
    tokens_by_length,
    varies_in_length,
)
from penchant.instruments.minimal_pairs.pair_credits import ALL, STEREOTYPE, deltas, preferences, stereotyped
from penchant.instruments.minimal_pairs.people_views import PEOPLE, people_figure
from penchant.instruments.minimal_pairs.result_facts import degrees, facts, roles
from penchant.instruments.minimal_pairs.settings import DIFFERENCE
from penchant.instruments.steadiness_columns import AT as STEADY
from penchant.instruments.steadiness_columns import COLUMNS as STEADINESS
from penchant.records import BaseResult, Signature
from penchant.report.tables import Cell, Number, P, shown
from penchant.stats.length_adjustment import LACK_OF_FIT
from penchant.views.interval_figures import Drawn, Each, Forest
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip
from penchant.views.row_selection import FIRST, At, Line, RowSource
from penchant.views.section import Views
from penchant.views.tables import Column, TableSpec, adjusted, count, level, model, number, p, pair
from penchant.wording.templates import Text

MANY = 10
"""Number of paradigms above which the table by paradigm is shown as a detail."""
_WORDS = Text.of(Path(__file__).parent).below("charts")


# Tables --------------------------------------------------------------------------------------------------------------

_SCORED = (level("normalise", "score"), model())
_DATA, _GROUP = level("dataset", "data"), level("group")
_OF_ALL: Mapping[str, Any] = {"measure": ACCURACY, "split": ALL}
_BY_SPLIT = (
    *(number(split, ".1f", scale=100, counted=True, split=split) for split in SPLITS),
    number("adjusted", ".1f", scale=100, measure=ADJUSTED),
)
_ALL_PAIRS = (count("pairs"), number("all", ".1f", scale=100))
_LEADING = ("pairs", "all", "A=U", "adjusted")


def _many(lines: Sequence[Line]) -> bool:
    return len({line["group"] for line in lines}) > MANY


def _over(line: Line) -> Cell:
    these = line if line["scope"] == THESE else line.at(measure=of_groups(line["measure"]), scope=THESE)
    _, noun = sampled(line.row) or (0, TYPES if these and TYPES in these["measure"] else "paradigms" if these else "")
    return f"these {noun}" if line is these else f"{noun} like these" if noun else ""


def _over_if_few(found: Sequence[RowSource]) -> list[Column]:
    few = any(line["scope"] == THESE for source in found for line in source.lines)
    return [Column("over", _over)] if few else []


def _these_first(found: Sequence[RowSource]) -> list[RowSource]:
    return [replace(each, frame=each.frame.sort(pl.col("scope") != THESE, maintain_order=True)) for each in found]


def _stereotyped(line: Line) -> Cell:
    return f"{ALL}, these {TYPES}" if is_fixed(line["measure"]) else str(line["group"])


def _of_score(measure: object) -> bool:
    return str(measure).startswith(STEREOTYPE)


def _by_step(found: Sequence[RowSource]) -> list[RowSource]:
    frames = (source.frame.filter(measure=BY_DIFFERENCE, scope="overall") for source in found)
    steps = (frame.sort("dataset", pl.col("split").cast(pl.Int32), maintain_order=True) for frame in frames)
    return [replace(source, frame=frame) for source, frame in zip(found, steps, strict=True)]


_FIT = Column("fit", lambda line: Number(line["value"], form=".1f"))
_KINDS: Mapping[str, Any] = {"measure": STEREOTYPE, "group": lambda group: group not in (ALL, *DIRECTIONS)}
_PAIRS = TableSpec(
    "accuracy",
    At(scope=("overall", THESE), measure=(ACCURACY, *of_groups(ACCURACY)), split=ALL),
    lambda found: (_DATA, *_SCORED, *_over_if_few(found), *_ALL_PAIRS, p(), *_BY_SPLIT),
    first=_LEADING,
    of=_these_first,
)
TABLES = (
    TableSpec(
        "stereotype",
        At(measure=_of_score, group=(ALL, *DIRECTIONS)),
        (_DATA, Column("pairs", _stereotyped), *_SCORED, count(), number("stereotype", ".1f"), p()),
    ),
    TableSpec(
        "stereotype-by-kind",
        At(**_KINDS),
        (_DATA, level("group", "pairs"), *_SCORED, count(), number("stereotype", ".1f"), p(), adjusted()),
        detail=True,
    ),
    _PAIRS,
    TableSpec("asking", STEADY, (_DATA, model(), count("pairs"), *STEADINESS)),
    TableSpec(
        "token-length-bias",
        At(measure=SLOPE, scope="overall"),
        (
            *(_DATA, *_SCORED, *(count(f"pairs {split}", measure=ACCURACY, split=split) for split in SPLITS)),
            number("longer", "+.1f", scale=100, counted=True, measure=GAP, split="A>U"),
            adjusted("p-longer", measure=GAP, split="A>U"),
            number("shorter", "+.1f", scale=100, counted=True, measure=GAP, split="A<U"),
            *(adjusted("p-shorter", measure=GAP, split="A<U"), number("slope", "+.2f"), p("p-slope")),
        ),
    ),
    TableSpec(
        "by-phenomenon",
        At(scope="phenomenon", **_OF_ALL),
        (_DATA, _GROUP, *_SCORED, *_ALL_PAIRS, *_BY_SPLIT),
        detail=True,
        first=_LEADING,
    ),
    TableSpec(
        "by-paradigm",
        At(scope="group", **_OF_ALL),
        (_DATA, _GROUP, *_SCORED, *_ALL_PAIRS, *_BY_SPLIT, adjusted("p-half")),
        detail=_many,
        first=_LEADING,
    ),
    *PEOPLE,
    TableSpec(
        "line-fit",
        At(measure=LACK_OF_FIT),
        (
            *(_DATA, _GROUP, *_SCORED, count("pairs"), number("slope", "+.2f", measure=SLOPE), _FIT),
            *(Column("df", degrees), p("p-fit"), Column("holm-fit", lambda line: P(line["p_holm"]))),
        ),
        by_model=True,
        takes=lambda line: bool(degrees(line)),
        detail=True,
    ),
    TableSpec(
        "by-difference",
        At(measure=BY_DIFFERENCE),
        (_DATA, level("split"), *_SCORED, count("pairs"), number("accuracy", ".1f", scale=100)),
        of=_by_step,
        detail=True,
    ),
)


# Differences between models ------------------------------------------------------------------------------------------


def _of_itself(line: Line) -> bool:
    first, _, second = Signature.parse(line["signature"])["model"].partition(" − ")
    return of_one_model(first, second)


def _lengths(line: Line) -> Cell:
    return "A=U" if line["split"] == EQUAL and _of_itself(line) else str(line["split"])


def _compared(found: Sequence[RowSource], *more: Column, last: Sequence[Column] = ()) -> list[Column]:
    """Return the columns of a table of differences, with `more` after the data set and `last` at the end.

    The column `scores_differ` is included if all rows compare settings of one model.
    """
    alike = all(_of_itself(line) for source in found for line in source.lines)
    counts = COUNTED if alike else COUNTED[:-1]
    return [
        *(pair(), _DATA, *more, Column("lengths", _lengths), level("normalise", "score"), count("pairs")),
        number("points", "+.1f", scale=100),
        *(Column(name, lambda line, name=name: int(line[name])) for name in counts),  # type: ignore[misc]
        *(p(), *last),
    ]


def _overall(found: Sequence[RowSource]) -> list[Column]:
    return _compared(found, *_over_if_few(found))


COMPARED = (
    TableSpec("differences", At(scope=("overall", THESE)), _overall, by_model=True),
    TableSpec(
        "differences-by-paradigm",
        At(measure=DIFFERENCE, scope="group"),
        lambda found: _compared(found, _GROUP, last=[adjusted()]),
        by_model=True,
        detail=_many,
    ),
)


# Figures -------------------------------------------------------------------------------------------------------------


def _described(source: RowSource, measure: str, by: str) -> RowSource:
    """Return a source with only the rows of a measure that are over all pairs or in the scope `by`.

    Rows over all pairs are for exactly the groups in the data, if these are few.
    """
    own = source.frame.filter(measure=measure)
    these = source.frame.filter(pl.col("measure").is_in(of_groups(measure))).with_columns(measure=pl.lit(measure))
    whole = (pl.col("group") == ALL) & pl.col("scope").is_in(["overall", "stereotype"])
    kinds = own.filter(~whole, pl.col("scope").is_in([by, "stereotype"])).with_columns(scope=pl.lit(by))
    return replace(source, frame=pl.concat([these if len(these) else own.filter(whole), kinds]))


def _total(found: Sequence[RowSource]) -> str:
    """Return the name of the row over all pairs, which says what groups the row is about."""
    rows = [row for each in found for row in each.frame.filter(group=ALL, split=ALL).iter_rows(named=True)]
    described = ((row["scope"] == THESE, *over) for row in rows if (over := sampled(row)))
    these, n, noun = next(described, (False, 0, ""))
    return _WORDS.get("total", these=these, n=n, noun=noun)


def _percent(found: Sequence[RowSource], measure: str, by: str, scale: float = 100) -> list[RowSource]:
    """Return sources with the rows of a measure in percent, that is, with values multiplied by `scale`.

    Rows over all pairs come first, then those in scope `by`, sorted by the first model's values.
    """
    ranks: dict[str, int] = {}
    described = [_described(source, measure, by) for source in found]
    total = _total(described)
    percent = []
    for source in described:
        frame = source.frame.filter(pl.col("n") > 0).with_columns(
            pl.when(scope=by).then("group").alias(by), *(pl.col(key) * scale for key in ("value", "low", "high"))
        )
        first = pl.col("normalise") == pl.col("normalise").first()
        whole = frame.filter(first & (pl.col("split") == ALL)).sort("value", by, nulls_last=True)
        for group in whole[by].drop_nulls():
            ranks.setdefault(group, len(ranks))
        rank = pl.col(by).replace_strict(ranks, default=-1, return_dtype=pl.Int64)
        row = pl.col(by).fill_null(f"({total})" if total in ranks else total).alias("row")
        percent.append(replace(source, frame=frame.with_columns(row).sort(rank, maintain_order=True)))
    return percent


def _groups(found: Sequence[RowSource]) -> list[RowSource]:
    """Return accuracies by paradigm, or by kind of bias for stereotypes.

    Rows for pairs of any length are left out if all pairs of the group have the same relative length. If too few pairs
    differ in relative length, only rows for pairs of any length are returned.
    """
    kinds = any(stereotyped(source.frame) for source in found)
    by, other = ("phenomenon", "group") if kinds else ("group", "phenomenon")
    split = pl.col("split")
    most = pl.when(split != ALL).then("n").max().over("row", "normalise")
    by_length = any(varies_in_length(source.frame) for source in found)
    shown = (split != ALL) | (pl.col("n") > most) if by_length else split == ALL
    return [
        replace(
            each,
            frame=each.frame.filter(shown).with_columns(
                pl.lit(None, pl.String).alias(other), split.replace({ALL: "any", **LENGTHS}).alias("lengths")
            ),
        )
        for each in _percent(found, ACCURACY, by)
    ]


FIGURES = (
    Each(
        "dataset",
        Forest(
            "stereotypes",
            At(measure=STEREOTYPE, normalise=FIRST, group=lambda group: group not in DIRECTIONS),
            *("row", "model", ".1f", "", "phenomenon"),
            null=50,
            of=lambda found: _percent(found, STEREOTYPE, "phenomenon", 1),
        ),
    ),
    Each(
        "dataset",
        Forest(
            "accuracy",
            At(measure=ACCURACY, normalise=FIRST),
            *("row", "lengths", ".1f", "model", "phenomenon group lengths"),
            null=50,
            of=_groups,
            dense=True,
            levels=("any", *LENGTHS.values()),
        ),
    ),
    Each("dataset", Drawn("length", accuracies_by_length, numbers="by-difference")),
    Each("dataset", Drawn("tokens", tokens_by_length, numbers="by-difference")),
    Each("dataset", Drawn("human", people_figure, "pair")),
)


# Items ---------------------------------------------------------------------------------------------------------------


def _judged(result: BaseResult) -> pl.DataFrame:
    return result.items.rename({SHARE: kind_of(result.items) or ""}) if kind_of(result.items) else result.items


def _preferred(result: BaseResult) -> pl.Series:
    sides = roles([result], result.items, stereotyped(result.items))
    names = {1.0: sides[0], 0.5: "tie", 0.0: sides[1]}
    return pl.Series([names[each] for each in preferences(result.items, _hows(result)[0]).tolist()], dtype=pl.String)


def _hows(result: BaseResult) -> list[str]:
    return list(result.signature["normalise"].split(","))


def _margin(result: BaseResult) -> pl.Series:
    return pl.Series(deltas(result.items, _hows(result)[0]), dtype=pl.Float64)


def _longer(result: BaseResult) -> pl.Series:
    return result.items["difference"].sign().replace_strict({sign: LENGTHS[split] for split, sign in SPLITS.items()})


def _remarks(result: BaseResult) -> list[str]:
    words = _WORDS.given(sides=roles([result], result.items, stereotyped(result.items)))
    margins = [[(how, value) for value in deltas(result.items, how).tolist()] for how in _hows(result)]
    remarks = ([f"{how} {'+' if v > 0 else ''}{_signed(v)}" for how, v in row] for row in zip(*margins, strict=True))
    return [words.get("margins", margins=", ".join(each)) for each in remarks]


def _signed(value: float) -> str:
    return shown(value, ".3f").replace("-", "−")


def _tokens(role: str) -> TokenStrip:
    def said(items: pl.DataFrame) -> list[str]:
        rows = items.select(f"score_{role}", f"n_tokens_{role}").iter_rows()
        return [_WORDS.get("score", score=_signed(score), n=n) for score, n in rows]

    return TokenStrip(role, f"tokens_{role}", role, f"logprobs_{role}", said)


ITEMS = Items(
    columns=(
        ItemColumn("id", "id"),
        *(ItemColumn(name, "label", varies=True) for name in ("dataset", "phenomenon", "group")),
        *(ItemColumn("good"), ItemColumn("bad"), ItemColumn("human_n", "number")),
        *(ItemColumn("choices", "number", digits=2), ItemColumn("ratings", "number", digits=2, signed=True)),
    ),
    each=(
        *(ModelColumn("prefers", _preferred, "label", 0), ModelColumn("margin", _margin, signed=True)),
        ModelColumn("lengths", _longer, "label", 0),
    ),
    tokens=(_tokens("good"), _tokens("bad")),
    remark=_remarks,
    rows=_judged,
    parallel=True,
)
VIEWS = Views(TABLES, COMPARED, FIGURES, ITEMS, claims=CLAIMS, facts=facts)
