"""Estimates of the log-probability bias score, computed from scored sentences alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from penchant.corpus.association_categories import Category
from penchant.instruments.associations.control_category import CellWords, beyond_controls, controls_of
from penchant.instruments.associations.estimates import (
    CAUTIONS,
    EFFECT,
    Cell,
    Stimuli,
    bootstrap,
    effect,
    together,
    towards,
)
from penchant.instruments.associations.sampled_effects import Sides, contrasts, effects, resampled_contrasts
from penchant.instruments.associations.settings import AssociationSettings
from penchant.records import Estimate
from penchant.stats.bootstrap import expanded_percentile
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.templates import sd_over_templates, share_of_templates
from penchant.wording.phrases import Method, Note

EVERY = "all"
"""The context that stands for all structures together."""
SCORES = ("fill", "prior", "corrected")
ASSOCIATION = "association"
OF_TEMPLATE = "effect size in one template"


def difference(score: str) -> str:
    """Return the name of the measure for the difference in mean `score` between the two sets of targets."""
    return f"difference of {score} scores"


def bias_estimates(
    items: pl.DataFrame,
    categories: Sequence[Category],
    stimuli: Mapping[str, Stimuli],
    settings: AssociationSettings,
) -> list[Estimate]:
    """Return all estimates from scored sentences."""
    rows: list[Estimate] = []
    placed: list[CellWords] = []
    for category in categories:
        inside, here = items.filter(pl.col("category") == category.id), stimuli[category.id]
        if not all(here.sets):
            rows += _missing(category, here, settings)
            continue
        for cells, words in contexts(inside):
            rows.append(effect(cells["corrected"], settings, notes=here.notes))
            placed += [] if here.notes else [CellWords(cells["corrected"], _lists(inside))]
            rows += _over_templates(inside, cells["corrected"], settings)
            rows += _differences(cells, words, settings)
            rows += _associations(cells["corrected"], words, settings)
    rows += beyond_controls(placed, controls_of(categories), settings, whole=EVERY)
    return with_holm(rows, together(EFFECT, whole=EVERY))


def _lists(items: pl.DataFrame) -> tuple[list[str], list[str], list[str], list[str]]:
    first, second, third, fourth = (
        items.filter(pl.col(f"{slot}_side") == side)[slot].unique(maintain_order=True).to_list()
        for slot in ("attribute", "target")
        for side in items[f"{slot}_side"].unique(maintain_order=True)
    )
    return first, second, third, fourth


def _over_templates(items: pl.DataFrame, cell: Cell, settings: AssociationSettings) -> Iterator[Estimate]:
    """Yield d in each template of a structure, the sd of these d, and the share of the variance of s between templates.

    Yields nothing for a structure with a single template.
    """
    structure = cell.by["context"]
    part = items if structure == EVERY else items.filter(pl.col("context") == structure)
    numbers = part.select("context", "template").unique(maintain_order=True)["template"].to_list()
    if len(numbers) < 2:
        return
    shape = (len(numbers), len(cell.rows.side), len(cell.columns.side))
    s = contrasts(part["corrected"].to_numpy().reshape(shape), cell.columns)
    values = effects(s, cell.rows, ddof=settings.ddof)
    n = len(set(cell.rows.unit.tolist()))
    for template, value in zip(numbers, values.tolist(), strict=True):
        estimate = Estimate(OF_TEMPLATE, value, n, level=settings.level, by={**cell.by, "stimulus": template})
        none = Method("associations.none-of-one-template")
        yield estimate.noted(Note("associations.alike")) if math.isnan(value) else replace(estimate, method=none)
    known = values[~np.isnan(values)]
    yield replace(sd_over_templates(known, level=settings.level), by=cell.by)
    yield replace(share_of_templates(s, level=settings.level), by=cell.by)


def _missing(category: Category, stimuli: Stimuli, settings: AssociationSettings) -> Iterator[Estimate]:
    for structure in _structures([context.structure for context in category.contexts]):
        by = _by(category.id, category.label, structure)
        notes = stimuli.notes or (Note("associations.empty-list"),)
        yield Estimate(EFFECT, math.nan, 0, level=settings.level, notes=notes, by=by)


def _by(category: str, label: str, structure: str) -> dict[str, str]:
    return {"category": category, "label": label, "layer": "", "context": structure, "side": "", "stimulus": ""}


def _structures(structures_of_templates: Sequence[str]) -> tuple[str, ...]:
    structures = tuple(dict.fromkeys(structures_of_templates))
    return (*structures, EVERY) if len(structures) > 1 else structures


def contexts(items: pl.DataFrame) -> Iterator[tuple[dict[str, Cell], list[tuple[str, str]]]]:
    """Yield one cell per score, and the attributes, for every structure of a category and for all structures together.

    Rows are attributes, columns are targets; the attributes are (set, word) pairs.
    """
    if not len(items):
        return
    attributes = items.select("attribute_side", "attribute").unique(maintain_order=True).rows()
    targets = items.select("target_side", "target").unique(maintain_order=True).rows()
    rows, columns = _sides(attributes), _sides(targets)
    label, paired = items["label"][0], bool(items["paired"][0])
    if min(len(sides.units(side)) for sides in (rows, columns) for side in (0, 1)) == 0:
        return
    for structure in _structures(items["context"].to_list()):
        part = items if structure == EVERY else items.filter(pl.col("context") == structure)
        shape = (-1, len(attributes), len(targets))
        by = _by(items["category"][0], label, structure)
        yield (
            {
                score: Cell(by, part[score].to_numpy().reshape(shape).mean(axis=0)[None], rows, columns, paired)
                for score in SCORES
            },
            attributes,
        )


def _sides(stimuli: Sequence[tuple[str, str]]) -> Sides:
    first = stimuli[0][0]
    return Sides.of(
        [word for side, word in stimuli if side == first], [word for side, word in stimuli if side != first]
    )


def _differences(
    cells: Mapping[str, Cell], words: Sequence[tuple[str, str]], settings: AssociationSettings
) -> Iterator[Estimate]:
    """Yield the difference in mean score between the two sets of targets, for every score and set of attributes.

    `words` are the attributes, as (set, word) pairs.
    """
    cell = cells[SCORES[0]]
    draws = resampled_contrasts(
        np.stack([cells[score].tables[0] for score in SCORES]),
        cell.rows,
        cell.columns,
        seed=settings.seed,
        resamples=settings.resamples,
        paired=cell.paired,
    )
    noun = "pairs of targets" if cell.paired else "targets"
    for score, *drawn in zip(SCORES, *draws, strict=True):
        s = cells[score].s()
        for side in (0, 1):
            values = s[cell.rows.side == side]
            smallest = min(len(cell.rows.units(side)), *(len(cell.columns.units(i)) for i in (0, 1)))
            low, high = expanded_percentile(drawn[side], smallest, settings.level)
            by = {**cell.by, "side": words[0 if side == 0 else -1][0]}
            estimate = Estimate(difference(score), float(values.mean()), len(values), low, high, settings.level, by=by)
            if math.isnan(low):
                yield estimate.noted(Note("associations.one-stimulus"))
            else:
                yield replace(
                    estimate, method=bootstrap("associations.bootstrap-of-attributes", noun, smallest, 0, settings)
                )


def _associations(cell: Cell, words: Sequence[tuple[str, str]], settings: AssociationSettings) -> Iterator[Estimate]:
    n = len(cell.columns.side)
    for (side, word), value in zip(words, towards(cell)[0].tolist(), strict=True):
        by = {**cell.by, "side": side, "stimulus": word}
        yield Estimate(
            ASSOCIATION, value, n, level=settings.level, method=Method("associations.none-of-one-attribute"), by=by
        )


def bias_cautions(items: pl.DataFrame) -> Iterator[str]:
    """Yield cautions about attributes that leak, tokens that extend into suffixes, and unequal target lengths.

    An attribute leaks if its sentence also contains it outside its slot.
    """
    leaks = items.filter("leaks").select("category", "template", "attribute").unique(maintain_order=True)
    if len(leaks):
        category, template, attribute = leaks.row(0)
        yield CAUTIONS.get("leaks", n=len(leaks), category=category, attribute=attribute, template=template)
    if reaching := int(items["reaches"].sum()):
        yield CAUTIONS.get("reaching", n=reaching, of=len(items))
    lengths = (
        items.group_by("category", "target_side", maintain_order=True)
        .agg(pl.col("n_tokens").mean())
        .group_by("category", maintain_order=True)
        .agg("target_side", "n_tokens")
    )
    uneven = [
        f"{category} {tokens[0]:.2f} and {tokens[1]:.2f}"
        for category, _, tokens in lengths.iter_rows()
        if len(tokens) == 2 and abs(tokens[0] - tokens[1]) > 0.1
    ]
    if uneven:
        yield CAUTIONS.get("uneven", categories=uneven)
