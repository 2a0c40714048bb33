"""Cautions about the calibration, the ratings and the survey; their words are in `text.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import polars as pl

from penchant.instruments.answer_steadiness import steadiness_cautions
from penchant.instruments.values.calibration import CORRELATION, CROOKED, NORMALITY, SIGMA
from penchant.instruments.values.cells import Cells
from penchant.instruments.values.data import CAUTIONS
from penchant.instruments.values.estimates import MIRROR_CORRELATION
from penchant.instruments.values.settings import ValuesSettings
from penchant.instruments.values.survey import Survey
from penchant.plurals import of_all
from penchant.records import Estimate
from penchant.wording.phrases import Note

WEAK = 0.3
"""Correlation below which a caution is raised."""
FEW = 30
"""Number of neutral statements below which a caution is raised."""
ONE_WAY = 5
"""Smallest number of statements for which a caution is raised if agreeing speaks for the value in all of them."""
MANY = 0.1
"""Share of a group's respondents left out for missing answers above which a caution is raised."""


def value_cautions(
    items: pl.DataFrame, settings: ValuesSettings, rows: Sequence[Estimate], survey: Survey | None
) -> Iterator[Note | str]:
    """Yield cautions about the calibration, the ratings and the survey."""
    if survey is not None and not survey.synthetic:
        yield from survey.cautions
    name = _names(items)
    if settings.asks:
        yield from steadiness_cautions(rows, "statements")
        stated = items.filter(pl.col("kind") == "statement")
        lost, of = (each["id"].n_unique() for each in (stated.filter(pl.col("rating").is_null()), stated))
        if lost:
            yield Note("items-without-option", lost=lost, of=of, noun="statements")
    neutral = Cells(items, settings).neutral
    if neutral is not None and neutral < FEW:
        yield CAUTIONS.get("few-neutral", n=neutral, few=FEW)
    weak = [_number(e, name) for e in rows if e.measure == CORRELATION and not e.value >= WEAK]
    if weak and settings.calibration == "origin":
        yield CAUTIONS.get("weak", cells=weak)
    crooked = [name(e.by) for e in rows if e.measure == SIGMA and any(note.code in CROOKED for note in e.notes)]
    if crooked:
        yield CAUTIONS.get("crooked", cells=crooked)
    bent = [f"{name(e.by)} p = {e.p:.2g}" for e in rows if e.measure == NORMALITY and e.p < 0.01]
    if bent:
        yield CAUTIONS.get("bent", cells=bent)
    if settings.method == "span":
        yield from _unequal(items)
    astray = [_number(e, name) for e in rows if e.measure == MIRROR_CORRELATION and e.value < WEAK]
    if astray:
        yield CAUTIONS.get("astray", cells=astray)
    yield from _of_statements(items)
    if survey is not None:
        yield from _of_survey(survey)
        yield from _unanswered(items, survey)


def _names(items: pl.DataFrame) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that names the speaker of an estimate or row, and the wording if there are several wordings."""
    several = items["variant"].n_unique() > 1
    return lambda by: f"{by['group']} speaker{' (' + by['variant'] + ')' if several else ''}"


def _number(estimate: Estimate, name: Callable[[Mapping[str, Any]], str]) -> str:
    return f"{name(estimate.by)} {estimate.value:+.2f}"


def _unequal(items: pl.DataFrame) -> Iterator[str]:
    """Yield a caution about stances of unequal token length: every additional token makes a stance less probable."""
    lengths = items.group_by(["variant", "group"], maintain_order=True).agg(
        pl.col("n_tokens_agree").unique().sort(), pl.col("n_tokens_disagree").unique().sort()
    )
    name = _names(items)
    pairs = [
        f"{'/'.join(map(str, agree))} and {'/'.join(map(str, disagree))}"
        for agree, disagree in lengths.select("n_tokens_agree", "n_tokens_disagree").iter_rows()
    ]
    shown = [f"{name(row)} {pair}" for row, pair in zip(lengths.iter_rows(named=True), pairs, strict=True)]
    if len(set(pairs)) > 1 or any(a != b for a, b in lengths.select("n_tokens_agree", "n_tokens_disagree").iter_rows()):
        yield CAUTIONS.get("unequal", cells=shown)


def _of_statements(items: pl.DataFrame) -> Iterator[str]:
    means = items.filter(pl.col("kind") == "statement")
    if (items["kind"] != "negation").all():
        one_way = means["id"].n_unique() >= ONE_WAY and not means["reversed"].any()
        yield CAUTIONS.get("acquiescence" if one_way else "unchecked")
    if "agreement" not in means.columns:
        return
    extreme = means.filter((pl.col("agreement") < 0.005) | (pl.col("agreement") > 0.995))
    if len(extreme):
        yield CAUTIONS.get("extreme", n=len(extreme), of=len(means))
    if lost := means["rating"].null_count():
        yield CAUTIONS.get("no-spread", n=lost, of=len(means))


def _of_survey(survey: Survey) -> Iterator[Note | str]:
    if survey.synthetic:
        yield CAUTIONS.get("synthetic", name=survey.name)
    if survey.absent:
        yield CAUTIONS.get("absent", ids=survey.absent)
    if survey.kept < survey.read:
        yield Note("values.respondents-left-out", n=survey.read - survey.kept, of=survey.read, why=survey.left_out)
    if survey.unplaced:
        lost = sum(not name for name in survey.people or ())
        yield CAUTIONS.get("unplaced", n=lost, of=survey.kept, levels=survey.unplaced)


def _unanswered(items: pl.DataFrame, survey: Survey) -> Iterator[str]:
    statements = items.filter(pl.col("kind") == "statement").unique("id", maintain_order=True)
    values: Mapping[str, list[str]] = dict(statements.group_by("value", maintain_order=True).agg("id").iter_rows())
    groups = {name: survey.of(name) for name in items["group"].unique(maintain_order=True)}
    groups |= {name: survey.answers.filter(inside) for name, inside in survey.sides().items()}
    shares = []
    for (group, answers), (value, ids) in product(groups.items(), values.items()):
        asked = [id_ for id_ in ids if id_ in answers.columns]
        lost = len(answers) - len(answers.drop_nulls(asked)) if asked else 0
        if lost > MANY * len(answers):
            number = f"{of_all(lost, len(answers), 'respondents')} ({lost / len(answers):.0%})"
            shares.append((lost / len(answers), f"{number}, of {group} in {value}"))
    if shares:
        yield CAUTIONS.get("unanswered", several=len(shares) > 1, least=min(shares)[1], most=max(shares)[1])
