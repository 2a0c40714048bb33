"""From stance probabilities to estimates: calibration, ratings by value and group, differences, robustness; two models.

Everything here is computed from the items table alone (and the survey), so it can be done again without a model. Every
interval of a rating holds the uncertainty of the calibration: the neutral statements are resampled with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from penchant.data.survey import Survey
from penchant.data.values import EVERYTHING
from penchant.probes.base import difference_signature, require_comparable
from penchant.probes.values_cells import NO_SPREAD, Array, Cell, Cells, Settings
from penchant.probes.values_survey import against_survey
from penchant.records import Estimate, Result, Signature, summary_table
from penchant.stats.calibration import FEW, calibration, cronbach_alpha, expanded_interval, variance_shares
from penchant.stats.hypothesis_tests import holm, sign_flip
from penchant.stats.intervals import bootstrap_mean

WEAK = 0.3
"""A correlation of agreeing and disagreeing below this leaves little to calibrate."""
MEAN, SPREAD, CHANCE = "mean rating", "spread of ratings", "spread expected by chance"
ONE, DIFFERENCE = "rating", "difference of ratings"


def summarise(items: pl.DataFrame, signature: Signature, survey: Survey | None) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """All estimates of rated statements, each with its signature, and the cautions a reader needs."""
    settings = Settings.of(signature)
    cells = Cells(items, settings)
    rows: list[Estimate] = []
    for cell in cells.cells.values():
        x, y = cell.neutral
        for found in calibration(
            x, y, line=settings.line, seed=settings.seed, resamples=settings.resamples, level=settings.level
        ):
            rows.append(_by(found, cell))
        rows += _with_holm(_ratings(cells, cell), SPREAD)
        rows += _negations(items, cell)
    rows += _consistency(cells)
    for variant in cells.variants:
        for one, other in combinations(cells.groups, 2):
            rows += _groups_compared(cells, variant, one, other)
    if len(cells.variants) > 1:
        rows += _robustness(cells)
    if survey is not None:
        rows += against_survey(cells.cells.values(), cells.ids, cells.values, list(cells.blocks()), survey)
    rows = [_reasoned(row) for row in rows]
    return summary_table((row, signature) for row in rows), tuple(
        _cautions(items, cells, rows, survey, spans=signature["method"] == "span")
    )


def _reasoned(found: Estimate) -> Estimate:
    """With a word where a number has no interval and does not say why: some resamples could not be calibrated."""
    if found.note or np.isnan(found.value) or not np.isnan(found.low) or "no interval" in found.how:
        return found
    return replace(found, how="", note="no interval: some resamples of the neutral statements show no spread")


def _by(estimate: Estimate, cell: Cell, value: str = EVERYTHING, item: str = "") -> Estimate:
    return replace(estimate, by={"variant": cell.variant, "group": cell.group, "dimension": value, "item": item})


def _ratings(cells: Cells, cell: Cell) -> Iterator[Estimate]:
    """Mean and spread by value, and every statement by itself."""
    settings = cells.settings
    for name, inside in cells.blocks():
        own, draws = cell.towards[inside], cell.drawn_towards(inside)
        yield _by(replace(cells.mean(own, draws), measure=MEAN), cell, name)
        if name != EVERYTHING:
            yield from (_by(found, cell, name) for found in _spread(cells, cell, own, draws, cell.reversed[inside]))
            drawn = cell.drawn_ratings(inside)
            how = f"percentile bootstrap of the calibration, {settings.resamples} resamples, seed {settings.seed}"
            tails = [(1 - settings.level) / 2, (1 + settings.level) / 2]
            bounds = np.quantile(drawn, tails, axis=0)
            for i, at in enumerate(np.flatnonzero(inside).tolist()):
                low, high = bounds[:, i].tolist()
                value = float(cell.ratings[at])
                note = NO_SPREAD if np.isnan(value) else ""
                n = len(cell.neutral[0])
                found = Estimate(ONE, value, n, low, high, settings.level, how="" if note else how, note=note)
                yield _by(found, cell, name, cells.ids[at])


def _spread(cells: Cells, cell: Cell, own: Array, draws: Array, turned: NDArray[np.bool_]) -> Iterator[Estimate]:
    """The standard deviation of the ratings within a value, and that of as many neutral statements drawn at random (and
    turned round as often): if it is not smaller, the model does not treat the statements as of one kind."""
    settings, n = cells.settings, len(own)
    if n < 2 or np.isnan(own).any():
        note = "fewer than two statements" if n < 2 else NO_SPREAD
        yield Estimate(SPREAD, np.nan, n, level=settings.level, note=note)
        return
    value = float(own.std(ddof=1))
    resampled = np.take_along_axis(draws, cells.picks(n), 1).std(axis=1, ddof=1)
    low, high = expanded_interval(resampled, n, settings.level)
    neutral = cell.neutral_ratings
    if n > len(neutral):
        yield Estimate(SPREAD, value, n, low, high, settings.level, how=cells.how(n), note="too few neutral statements")
        return
    rng = np.random.default_rng([settings.seed, 2])
    order = rng.random((settings.resamples, len(neutral))).argpartition(n - 1, axis=1)[:, :n]
    chance = np.where(turned, 6 - neutral[order], neutral[order]).std(axis=1, ddof=1)
    extreme = min(int((chance <= value).sum()), int((chance >= value).sum()))
    p = min(1.0, 2 * (1 + extreme) / (1 + settings.resamples))
    test = "as many neutral statements drawn at random, two-sided"
    yield Estimate(SPREAD, value, n, low, high, settings.level, how=cells.how(n), p=p, test=test)
    low, high = np.quantile(chance, [(1 - settings.level) / 2, (1 + settings.level) / 2]).tolist()
    how = f"{n} of {len(neutral)} neutral statements, {settings.resamples} draws, seed {settings.seed}"
    yield Estimate(CHANCE, float(chance.mean()), n, low, high, settings.level, how=how)


def _with_holm(estimates: Iterator[Estimate], measure: str) -> list[Estimate]:
    """The same, the p-values of one measure adjusted over its values (not over all of them together)."""
    found = list(estimates)
    family = [i for i, e in enumerate(found) if e.measure == measure and e.by["dimension"] != EVERYTHING]
    for i, p in zip(family, holm([found[i].p for i in family]), strict=True):
        found[i] = replace(found[i], p_holm=float(p))
    return found


def _consistency(cells: Cells) -> Iterator[Estimate]:
    """Cronbach's α of the statements of a value; the model's groups and wordings stand for respondents."""
    table = np.array([cell.towards for cell in cells.cells.values()])
    for name, inside in cells.blocks():
        if name != EVERYTHING:
            found = cronbach_alpha(table[:, inside], level=cells.settings.level)
            note = "; ".join(filter(None, (found.note, "groups and wordings stand for respondents")))
            by = {"variant": EVERYTHING, "group": EVERYTHING, "dimension": name, "item": ""}
            yield replace(found, note=note, by=by)


def _groups_compared(cells: Cells, variant: str, one: str, other: str) -> list[Estimate]:
    """Ratings of one group minus those of another, statement by statement."""
    a, b = cells.cells[variant, one], cells.cells[variant, other]
    by = {"variant": variant, "group": f"{one} − {other}", "item": ""}
    return _with_holm(_paired(cells, a, b, by), DIFFERENCE)


def _paired(cells: Cells, a: Cell, b: Cell, by: Mapping[str, str]) -> Iterator[Estimate]:
    for name, inside in cells.blocks():
        gaps = a.towards[inside] - b.towards[inside]
        found = cells.mean(gaps, a.drawn_towards(inside) - b.drawn_towards(inside))
        p = (
            np.nan
            if np.isnan(gaps).any()
            else sign_flip(gaps, seed=cells.settings.seed, draws=cells.settings.resamples)
        )
        test = "sign-flip over statements, two-sided"
        yield replace(found, measure=DIFFERENCE, p=p, test=test, by={**by, "dimension": name})


def _robustness(cells: Cells) -> Iterator[Estimate]:
    """How much of the variance of ratings lies between statements, wordings (templates) and groups."""
    table = np.array([[cells.cells[v, g].towards for g in cells.groups] for v in cells.variants])  # (V, G, statements)
    table = np.moveaxis(table, -1, 0)
    n, settings = len(table), cells.settings
    own = variance_shares(table)
    draws = variance_shares(table[cells.picks(n)])
    for name, share in own.items():
        low, high = expanded_interval(draws[name], n, settings.level)
        how = f"expanded percentile bootstrap over {n} statements, {settings.resamples} resamples, seed {settings.seed}"
        by = {"variant": EVERYTHING, "group": EVERYTHING, "dimension": EVERYTHING, "item": ""}
        note = "the ratings do not vary, or cannot be computed" if np.isnan(share) else ""
        yield Estimate(
            f"share of variance: {name}", float(share), n, low, high, settings.level, how=how, note=note, by=by
        )


def _negations(items: pl.DataFrame, cell: Cell) -> Iterator[Estimate]:
    """Does the rating of a negated statement mirror that of the statement (6 − rating)?"""
    own = items.filter((pl.col("variant") == cell.variant) & (pl.col("group") == cell.group))
    pairs = own.filter(pl.col("kind") == "statement").join(
        own.filter(pl.col("kind") == "negation"), on="id", suffix="_negated", maintain_order="left"
    )
    pairs = pairs.drop_nulls(["rating", "rating_negated"])
    n, settings = len(pairs), cell.settings
    if not n:
        return
    plain, mirrored = pairs["rating"].to_numpy(), 6 - pairs["rating_negated"].to_numpy()
    gap = bootstrap_mean(
        np.abs(plain - mirrored),
        seed=settings.seed,
        resamples=settings.resamples,
        level=settings.level,
        noun="statements",
    )
    yield _by(replace(gap, measure="distance from the mirrored negation"), cell)
    name = "correlation with the mirrored negation"
    if n < 4 or np.ptp(plain) == 0 or np.ptp(mirrored) == 0:
        yield _by(Estimate(name, np.nan, n, level=settings.level, note="too few statements, or no spread"), cell)
        return
    found = stats.pearsonr(plain, mirrored)
    low, high = found.confidence_interval(settings.level)
    yield _by(
        Estimate(
            name,
            float(found.statistic),
            n,
            float(low),
            float(high),
            settings.level,
            how="Fisher z",
            p=float(found.pvalue),
            test="Pearson's r, two-sided",
        ),
        cell,
    )


def _cautions(
    items: pl.DataFrame, cells: Cells, rows: list[Estimate], survey: Survey | None, *, spans: bool
) -> Iterator[str]:
    n = len(next(iter(cells.cells.values())).neutral[0])
    if n < FEW:
        yield f"only {n} neutral statements calibrate the ratings; {FEW} or more are wanted"
    weak = [
        f"{e.by['variant']} {e.by['group']} {e.value:+.2f}"
        for e in rows
        if e.measure == "correlation of agree and disagree" and not e.value >= WEAK
    ]
    if weak and cells.settings.line == "origin":
        yield f"agreeing and disagreeing hardly rise together (r: {', '.join(weak)}): the calibration explains little"
    bent = [
        f"{e.by['variant']} {e.by['group']} p = {e.p:.2g}"
        for e in rows
        if e.measure.startswith("normality") and e.p < 0.01
    ]
    if bent:
        yield f"residuals of the calibration are not normal ({', '.join(bent)}); P(agree) takes them to be"
    if spans:
        yield from _unequal(items)
    astray = [
        f"{e.by['variant']} {e.by['group']} {e.value:+.2f}"
        for e in rows
        if e.measure == "correlation with the mirrored negation" and e.value < WEAK
    ]
    if astray:
        yield (
            f"negated statements are not rated as the mirror image of the statements (r: {', '.join(astray)}): the "
            "model answers to the topic more than to the claim"
        )
    means = items.filter(pl.col("kind") == "statement")
    extreme = means.filter((pl.col("agreement") < 0.005) | (pl.col("agreement") > 0.995))
    if len(extreme):
        yield (
            f"{len(extreme)} of {len(means)} ratings lie at the end of the scale (P below 0.005 or above 0.995): these "
            "statements are unlike the neutral ones"
        )
    lost = int(means["rating"].null_count())
    if lost:
        yield f"{lost} of {len(means)} ratings cannot be computed: the neutral statements show no spread"
    if survey is not None:
        if survey.synthetic:
            yield f"the survey '{survey.name}' is SYNTHETIC: its answers are made up and nothing about people follows"
        if survey.absent:
            yield f"{len(survey.absent)} statements are not in the survey: {', '.join(survey.absent)}"
        if survey.kept < survey.read:
            yield f"{survey.kept} of {survey.read} respondents pass the filter and belong to a group"


def _unequal(items: pl.DataFrame) -> Iterator[str]:
    """Stances of unequal token length: every further token makes its side less probable."""
    lengths = items.group_by(["variant", "group"], maintain_order=True).agg(
        pl.col("tokens_agree").unique().sort(), pl.col("tokens_disagree").unique().sort()
    )
    shown = [
        f"{variant} {group} {'/'.join(map(str, agree))} and {'/'.join(map(str, disagree))}"
        for variant, group, agree, disagree in lengths.iter_rows()
    ]
    pairs = {tuple(text.rsplit(" ", 3)[1:]) for text in shown}
    if len(pairs) > 1 or any(a != b for a, b in lengths.select("tokens_agree", "tokens_disagree").iter_rows()):
        yield f"stances have unequal numbers of tokens (agree and disagree: {'; '.join(shown)})"


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Two models on the same statements: ratings of a minus those of b, by wording, group and value.

    Bootstrap over statements and neutral ones, sign-flip test, Holm over the values of one wording and group. Raises
    StudyError when the results are not comparable, naming what differs.
    """
    require_comparable(
        a,
        b,
        free={"model", "bos", "dtype"},
        items=["id", "kind", "variant", "group", "sentence_agree", "sentence_disagree"],
    )
    settings = Settings.of(a.signature)
    first, second = Cells(a.items, settings), Cells(b.items, settings)
    pair = f"{a.signature['model']} − {b.signature['model']}"
    rows: list[Estimate] = []
    for key, cell in first.cells.items():
        by = {"comparison": pair, "variant": cell.variant, "group": cell.group, "item": ""}
        rows += _with_holm(_paired(first, cell, second.cells[key], by), DIFFERENCE)
    signature = difference_signature(a, b)
    return summary_table((_reasoned(row), signature) for row in rows)
