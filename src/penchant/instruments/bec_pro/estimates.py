"""Estimates of associations between persons and professions, computed from scored sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.bec_pro.data import EVERY
from penchant.instruments.bec_pro.settings import BecProSettings
from penchant.records import Estimate
from penchant.stats.crossed_mean import Factor, Statistic, crossed, mean_of, paired_gap
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.inputs import Array, Codes
from penchant.stats.templates import sd_over_templates, share_of_templates
from penchant.wording.phrases import Note

MEAN = "mean association"
GAP = "contrast of genders"
"""Mean association of the first gender minus the second, within template and profession."""
BETWEEN = "contrast, difference between groups"
UNEVEN = 0.1
"""Difference between the genders' mean numbers of tokens above which there is a caution."""


def tam_estimates(items: pl.DataFrame, settings: BecProSettings) -> list[Estimate]:
    """Return mean associations by gender and group of professions, contrasts between genders, and their differences.

    Contrasts are by group and by template, their differences between groups. Holm's correction is applied separately
    over the groups, the pairs of groups, and the templates.
    """
    genders = settings.contrast
    level = settings.level
    rows: list[Estimate] = []
    for group, part in groups_of(items):
        for gender in genders:
            rows.append(_by(_mean(part.filter(gender=gender), level), MEAN, group, gender=gender))
        rows.append(_by(gap(part, genders, level), GAP, group))
        rows += [_by(each, each.measure, group) for each in _over_templates(part, genders, level)]
    rows += between(items, genders, level)
    templates = items["template"].unique(maintain_order=True).to_list()
    for template in templates if len(templates) > 1 else ():
        part = items.filter(template=template)
        rows.append(_by(gap(part, genders, level, templates=False), GAP, EVERY, template=template))
    return with_holm(rows, _family)


def _family(estimate: Estimate) -> str | None:
    by = estimate.by
    whole = by["group"] == EVERY and by["template"] == EVERY
    if whole and estimate.measure != MEAN:
        return None
    kind = "over all" if whole else "templates" if by["template"] != EVERY else "groups"
    return f"{estimate.measure}, {kind}"


def _by(estimate: Estimate, measure: str, group: str, *, gender: str = EVERY, template: str = EVERY) -> Estimate:
    return replace(estimate, measure=measure, by={"group": group, "gender": gender, "template": template})


def groups_of(items: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the items of each group of professions, preceded by all items if there are several groups."""
    names = items["group"].unique(maintain_order=True).to_list()
    if names != [EVERY]:
        yield EVERY, items
    for name in names:
        yield name, items.filter(group=name)


def _codes(column: pl.Series) -> Codes:
    codes: Codes = np.unique(column.to_numpy().astype(np.str_), return_inverse=True)[1].astype(np.intp)
    return codes


def _mean(part: pl.DataFrame, level: float) -> Estimate:
    """Return the mean association for persons of one gender; templates, persons and professions are random."""
    if not len(part):
        return Estimate(MEAN, math.nan, 0, level=level, notes=(Note("bec_pro.no-such-sentences"),))
    named = {"templates": "template", "professions": "profession", "persons": "person"}
    factors = [Factor(noun, _codes(part[name])) for noun, name in named.items() if part[name].n_unique() > 1]
    if not factors:
        alone = Note("bec_pro.one-sentence")
        return Estimate(MEAN, float(part["association"][0]), len(part), level=level, notes=(alone,))
    estimate = crossed(mean_of(part["association"].to_numpy()), factors, n=len(part), level=level, against=0)
    return _fixed(estimate, [noun for noun, name in named.items() if part[name].n_unique() == 1])


def _fixed(estimate: Estimate, single: Sequence[str]) -> Estimate:
    """Add a note on factors that have only one level and are therefore treated as fixed."""
    if not single or math.isnan(estimate.low):
        return estimate
    return estimate.noted(Note("bec_pro.of-one", nouns=single), first=True)


def _sides(part: pl.DataFrame, genders: Sequence[str]) -> list[Factor]:
    """Return one factor per gender, whose levels are its persons."""
    return [_some(part, gender, "gender", "person", f"{gender} persons") for gender in genders]


def _some(part: pl.DataFrame, value: str, column: str, units: str, noun: str) -> Factor:
    """Return the factor `noun`: the column `units` in rows whose `column` is `value`; other rows have the code −1."""
    inside = (part[column] == value).to_numpy()
    unit = np.full(len(part), -1, dtype=np.intp)
    unit[inside] = _codes(part[units].filter(part[column] == value))
    return Factor(noun, unit)


def _cells(part: pl.DataFrame) -> Codes:
    both = np.column_stack([_codes(part["template"]), _codes(part["profession"])])
    return np.unique(both, axis=0, return_inverse=True)[1].ravel().astype(np.intp)


def _paired(part: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose template and profession occur with persons of both genders."""
    return part.filter(pl.col("gender").n_unique().over("template", "profession") == 2)


def gap(part: pl.DataFrame, genders: Sequence[str], level: float, *, templates: bool = True) -> Estimate:
    """Return the difference between the genders' means, first minus second, averaged over templates and professions.

    If `templates` is false, the interval does not treat templates as sampled.
    """
    rows = _paired(part)
    if not len(rows):
        return Estimate(GAP, math.nan, 0, level=level, notes=(Note("bec_pro.no-pairs"),))
    cells = _cells(rows)
    second = (rows["gender"] == genders[1]).to_numpy().astype(np.intp)
    named = {"templates": "template", "professions": "profession"} if templates else {"professions": "profession"}
    factors = [Factor(noun, _codes(rows[name])) for noun, name in named.items() if rows[name].n_unique() > 1]
    single = [noun for noun, name in named.items() if rows[name].n_unique() == 1]
    statistic = paired_gap(rows["association"].to_numpy(), cells, second)
    n = int(cells.max()) + 1
    estimate = crossed(statistic, [*factors, *_sides(rows, genders)], n=n, level=level, against=0)
    return _fixed(estimate, single)


def between(items: pl.DataFrame, genders: Sequence[str], level: float) -> list[Estimate]:
    """Return the difference in the contrast for each pair of groups of professions.

    Persons and templates are the same in both groups; professions differ.
    """
    groups = [name for name, _ in groups_of(items) if name != EVERY]
    rows = []
    for first, second in combinations(groups, 2):
        part = _paired(items.filter(pl.col("group").is_in([first, second])))
        by = f"{first} − {second}"
        sides = [(part["group"] == name).to_numpy() for name in (first, second)]
        if not all(side.any() for side in sides):
            none = Estimate(BETWEEN, math.nan, 0, level=level, notes=(Note("bec_pro.group-without-pairs"),))
            rows.append(_by(none, BETWEEN, by))
            continue
        cells, gender = _cells(part), (part["gender"] == genders[1]).to_numpy().astype(np.intp)
        whole = paired_gap(part["association"].to_numpy(), cells, gender)
        statistic = partial(_difference, whole, sides)

        professions = [_some(part, name, "group", "profession", f"{name} professions") for name in (first, second)]
        templates = [Factor("templates", _codes(part["template"]))] if part["template"].n_unique() > 1 else []
        factors = [*templates, *professions, *_sides(part, genders)]
        estimate = crossed(statistic, factors, n=int(cells.max()) + 1, level=level, against=0)
        rows.append(_by(_fixed(estimate, [] if templates else ["templates"]), BETWEEN, by))
    return rows


def _difference(statistic: Statistic, sides: Sequence[NDArray[np.bool_]], weights: Array) -> float:
    one, other = (statistic(weights * side) for side in sides)
    return one - other


def _over_templates(part: pl.DataFrame, genders: Sequence[str], level: float) -> Iterator[Estimate]:
    """Yield the standard deviation of the contrast over templates, and the templates' share of its variance.

    The standard deviation is over one contrast per template; the variance is over the contrasts of template and
    profession.
    """
    cells = (
        _paired(part)
        .group_by("template", "profession", "gender")
        .agg(pl.col("association").mean())
        .pivot("gender", index=["template", "profession"], values="association")
    )
    if not len(cells):
        return
    gaps = cells.with_columns((pl.col(genders[0]) - pl.col(genders[1])).alias("gap")).sort("template", "profession")
    by_template = gaps.group_by("template", maintain_order=True).agg(pl.col("gap").mean())
    yield sd_over_templates(by_template["gap"].to_numpy(), level=level)
    table = gaps.pivot("profession", index="template", values="gap").drop("template").to_numpy()
    yield share_of_templates(table.astype(np.float64), level=level)


def tam_cautions(items: pl.DataFrame, genders: Sequence[str]) -> Iterator[Note]:
    """Yield cautions about unequal mean numbers of tokens by gender, and tokens that extend beyond the person."""
    tokens = [float(items.filter(gender=gender)["n_tokens"].mean()) for gender in genders]  # type: ignore[arg-type]
    if abs(tokens[0] - tokens[1]) > UNEVEN:
        yield Note("bec_pro.unequal-lengths", genders=genders, tokens=tokens)
    reaching = int(items["reaches"].sum())
    if reaching:
        yield Note("bec_pro.reaching", n=reaching, of=len(items))
