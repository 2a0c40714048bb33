"""The finding of value statements in words. Every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from penchant.instruments.values.against_survey import SURVEY_MEAN
from penchant.instruments.values.data import EVERYTHING
from penchant.instruments.values.estimates import DIFFERENCE, MEAN
from penchant.instruments.values.section import first_variant
from penchant.records import Result
from penchant.report.finding import MOST, Estimated, Shown, across, levels, listed, measured, outside, sentences
from penchant.report.tables import models

_RATING = Shown(".2f", "statements", null=3)
_GAP = Shown("+.2f", "statements")
_PEOPLE = Shown(".2f", "respondents")
_CELLS = 4
"""The models and groups that one sentence names."""


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """The mean rating of each model and group in the main wording and where people's means lie to it, then where models
    differ, and where groups do."""
    main = first_variant(results[0])
    means = levels(_means(results, main), _RATING, "the middle (3)", most=4)
    noun = "values and groups" if results[0].items["group"].n_unique() > 1 else "values"
    texts = [f"Mean rating, from 1 (disagree) to 5 (agree): {means}" if means else "", _beside_survey(results, main)]
    if comparison is not None:
        rows = comparison.filter(pl.col("variant") == main)
        texts += [across(_placed(part), _GAP, noun, f"Ratings of {pair[0]}") for pair, part in _by(rows, "comparison")]
    for model, result in zip(models(results), results, strict=True):
        rows = result.summary.filter((pl.col("measure") == DIFFERENCE) & (pl.col("variant") == main))
        texts += [
            across(_placed(part), _GAP, "values", f"{model}, ratings of {pair[0]}") for pair, part in _by(rows, "group")
        ]
    return sentences(*texts)


def _means(results: Sequence[Result], main: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The mean over all statements of every model and group."""
    for model, result in zip(models(results), results, strict=True):
        rows = result.summary.filter((pl.col("measure") == MEAN) & (pl.col("variant") == main))
        for (group,), part in rows.group_by("group", maintain_order=True):
            whole = part.filter(pl.col("dimension") == EVERYTHING)
            yield f"{model} ({group})", (whole if len(whole) else part).row(0, named=True)


def _by(rows: pl.DataFrame, column: str) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    return iter(rows.group_by(column, maintain_order=True))


def _placed(part: pl.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """The values of some differences; without the mean over all of them where there are several."""
    several = part.filter(pl.col("dimension") != EVERYTHING)
    groups = part["group"].n_unique() > 1
    for row in (several if len(several) else part).iter_rows(named=True):
        yield f"{row['dimension']} ({row['group']})" if groups else row["dimension"], row


def _beside_survey(results: Sequence[Result], main: str) -> str:
    """In how many values the respondents' mean lies inside the interval of the mean rating of each model and group, and
    where it lies outside, the farthest first. Empty where there is no survey."""
    counts: dict[str, list[bool]] = {}
    apart = []
    for name, value, people, rating in _with_people(results, main):
        inside = not outside(rating, people["value"])
        counts.setdefault(name, []).append(inside)
        if not inside:
            numbers = f"respondents {_PEOPLE.number(people)}, rating {_RATING.number(rating)}"
            apart.append((abs(people["value"] - rating["value"]), f"{value}, {name}: {numbers}"))
    if not counts:
        return ""
    cells = [f"in {sum(of)} of {len(of)} values for {name}" for name, of in counts.items()]
    more = [f"{len(cells) - _CELLS} more in the table"] if len(cells) > _CELLS else []
    cited = results[0].signature["survey"].rsplit("#", 1)[0].replace("synthetic ", "SYNTHETIC ", 1)
    text = f"Survey {cited}: the respondents' mean lies inside the interval of the mean rating "
    text += listed([*cells[:_CELLS], *more])
    if not apart:
        return f"{text}, where the two cannot be told apart, which does not show that they are alike"
    told = [each for _, each in sorted(apart, key=lambda pair: -pair[0])]
    rest = [f"{len(told) - MOST} more in the table"] if len(told) > MOST else []
    return f"{text}; outside it: {'; '.join([*told[:MOST], *rest])}"


def _with_people(results: Sequence[Result], main: str) -> Iterator[tuple[str, str, Estimated, Estimated]]:
    """Model and group, value, and the rows of the respondents' mean and of the mean rating that has an interval."""
    for model, result in zip(models(results), results, strict=True):
        rows = result.summary.filter(pl.col("measure") == SURVEY_MEAN).iter_rows(named=True)
        people = {(row["group"], row["dimension"]): row for row in measured(rows)}
        means = result.summary.filter((pl.col("measure") == MEAN) & (pl.col("variant") == main))
        for row in measured(means.iter_rows(named=True)):
            beside = people.get((row["group"], row["dimension"]))
            if beside is not None and row["low"] <= row["high"]:
                yield f"{model} ({row['group']})", row["dimension"], beside, row
