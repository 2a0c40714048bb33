"""The finding of value statements in words. Every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from penchant.counting import for_one
from penchant.instruments.values.data import EVERYTHING
from penchant.instruments.values.estimates import MEAN, MIRROR_CORRELATION, UNCHECKED, WEAK
from penchant.instruments.values.nearer import NEARER
from penchant.instruments.values.paired import DIFFERENCE, WORDINGS
from penchant.instruments.values.represented import FROM_SURVEY
from penchant.instruments.values.section import first_variant
from penchant.records import Result
from penchant.report.finding import MOST, Estimated, Shown, across, levels, measured, sentences, told
from penchant.report.tables import models

_RATING = Shown(".2f", "statements", null=3)
_GAP = Shown("+.2f", "statements")
_MIRROR = Shown("+.2f", "statements")
_MIDDLE = "the middle (3)"
_CELLS = 4
"""The models and groups that one sentence names."""


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """Where negated statements are not rated as the mirror image; the mean rating of each value by each model and group
    in the main wording, and where it differs from people's; then where models differ, where groups do, where wordings
    do, and to which of several groups of people a model is nearer."""
    main = first_variant(results[0])
    noun = "values and groups" if results[0].items["group"].n_unique() > 1 else "values"
    texts = [_unmirrored(results, main), *_means(results, main), _beside_survey(results, main)]
    if comparison is not None:
        rows = comparison.filter(pl.col("variant") == main)
        texts += [across(_placed(part), _GAP, noun, f"Ratings of {pair[0]}") for pair, part in _by(rows, "comparison")]
    for model, result in zip(models(results), results, strict=True):
        rows = result.summary.filter((pl.col("measure") == DIFFERENCE) & (pl.col("variant") == main))
        texts += [
            across(_placed(part), _GAP, "values", f"{model}, ratings of {pair[0]}") for pair, part in _by(rows, "group")
        ]
        texts += [_of_wordings(model, result), _nearer(model, result, main)]
    return sentences(*texts)


def _unmirrored(results: Sequence[Result], main: str) -> str:
    """That no rating may be read as a value, where negated statements are not rated as the mirror image; or that this
    is not known, where there are none."""
    if all((result.items["kind"] != "negation").all() for result in results):
        return f"{UNCHECKED[0].upper()}{UNCHECKED[1:]}"
    astray = []
    for name, rows in _cells(results, main, MIRROR_CORRELATION):
        astray += [
            f"{name} {_MIRROR.number(row)}" for row in measured(rows.iter_rows(named=True)) if row["value"] < WEAK
        ]
    if not astray:
        return ""
    more = [f"{len(astray) - _CELLS} more in the table"] if len(astray) > _CELLS else []
    return (
        "No rating here may be read as a value: negated statements are not rated as the mirror image of the "
        f"statements (correlation, +1 where consistent: {', '.join([*astray[:_CELLS], *more])})"
    )


def _means(results: Sequence[Result], main: str) -> list[str]:
    """A sentence on the mean ratings; where there are several values, one of each value for every model and group."""
    cells = [
        (name, list(_placed(rows)))
        for name, rows in _cells(results, main, MEAN)
        if measured(rows.iter_rows(named=True))
    ]
    what = "Mean rating, from 1 (disagree) to 5 (agree)"
    if all(len(rows) == 1 for _, rows in cells):
        means = levels([(name, row) for name, ((_, row),) in cells], _RATING, _MIDDLE, most=_CELLS)
        return [f"{what}: {means}" if means else ""]
    texts = [f"{what}, {name}: {levels(rows, _RATING, _MIDDLE, most=_CELLS)}" for name, rows in cells[:_CELLS]]
    rest = len(cells) - _CELLS
    more = [f"Mean ratings of {rest} more {for_one(rest, 'models')} and {for_one(rest, 'groups')} are in the table"]
    return [*texts, *(more if len(cells) > _CELLS else [])]


def _cells(results: Sequence[Result], main: str, measure: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of a measure in the main wording, by model and group."""
    for model, result in zip(models(results), results, strict=True):
        rows = result.summary.filter((pl.col("measure") == measure) & (pl.col("variant") == main))
        for (group,), part in _by(rows, "group"):
            yield f"{model} ({group})", part


def _by(rows: pl.DataFrame, column: str) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    return iter(rows.group_by(column, maintain_order=True))


def _placed(part: pl.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """The values of some differences; without the mean over all of them where there are several."""
    several = part.filter(pl.col("dimension") != EVERYTHING)
    groups = part["group"].n_unique() > 1
    for row in (several if len(several) else part).iter_rows(named=True):
        yield f"{row['dimension']} ({row['group']})" if groups else row["dimension"], row


def _of_wordings(model: str, result: Result) -> str:
    """In which values one wording gives other ratings than another. Empty where there is one wording."""
    rows = list(result.summary.filter(pl.col("measure") == WORDINGS).iter_rows(named=True))
    several = [row for row in rows if row["dimension"] != EVERYTHING] or rows
    places = [(f"{row['dimension']}, {row['variant']}", row) for row in several]
    return across(places, _GAP, "values and pairs of wordings", f"{model}, ratings of one wording minus another")


def _nearer(model: str, result: Result, main: str) -> str:
    """To which of two groups of people the model is nearer. Empty where there are none."""
    chosen = (pl.col("measure") == NEARER) & (pl.col("variant") == main)
    rows = list(result.summary.filter(chosen).iter_rows(named=True))
    several = [row for row in rows if row["dimension"] != EVERYTHING] or rows
    templates = len({row["group"] for row in rows}) > 1
    places = []
    for row in several:
        as_whom = f" as {row['group']}" if templates else ""
        places.append((f"{row['dimension']}{as_whom}, {row['item']}", row))
    noun = f"values{', groups of the templates' if templates else ''} and pairs of groups of people"
    return across(places, _GAP, noun, f"{model}, distance from one group of people minus that from another")


def _beside_survey(results: Sequence[Result], main: str) -> str:
    """Where the mean rating is told apart from the respondents' mean, the farthest first, and in how many places it is
    not. Empty where there is no survey."""
    rows: list[tuple[str, Estimated]] = []
    for name, part in _cells(results, main, FROM_SURVEY):
        rows += [(f"{row['dimension']}, {name}", row) for row in measured(part.iter_rows(named=True))]
    if not rows:
        return ""
    cited = results[0].signature["survey"].rsplit("#", 1)[0].replace("synthetic ", "SYNTHETIC ", 1)
    rows.sort(key=lambda pair: -abs(pair[1]["value"]))
    clear = [pair for pair in rows if told(pair[1])]
    parts = []
    for place, row in clear[:MOST]:
        side = "above" if row["value"] > 0 else "below"
        fewer = f", {row['note']}" if "statements that the survey has" in row["note"] else ""
        parts.append(f"{place}: {side} it by {_GAP.number(row)}{fewer}")
    parts += [f"{len(clear) - MOST} more in the table"] if len(clear) > MOST else []
    rest = len(rows) - len(clear)
    if rest:
        of = f"the other {rest} of {len(rows)}" if clear else f"all {len(rows)}" if rest > 1 else "the one"
        cases = "cases (a value, group and model each)" if len(rows) > 1 else "case"
        parts.append(f"in {of} {cases} the two cannot be told apart, which does not show that they are alike")
    if not clear:
        place, row = rows[0]
        parts.append(f"{'the largest difference: ' if len(rows) > 1 else ''}{place} {_GAP.number(row)}")
    return f"Survey {cited}, mean rating beside the respondents' mean over the same statements: {'; '.join(parts)}"
