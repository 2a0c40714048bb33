"""Masculine rates and stereotype rates of GEST, computed from the preferences for masculine sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from penchant.records import Estimate
from penchant.stats.crossed_mean import Factor, crossed
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.inputs import Array
from penchant.stats.intervals import exponential, t_mean
from penchant.wording.templates import Text

RATE, STEREOTYPE, OTHER_TEMPLATES = "masculine rate", "stereotype rate", "stereotype rate, for other templates too"
LOG = {RATE: "log masculine rate", STEREOTYPE: "log stereotype rate"}
"""The logarithms of rates, whose differences between models are estimated."""
ALL = "all"
_TEXT = Text.of(Path(__file__).parent).below("stereotypes")
LABELS = {number: _TEXT.get(str(number)) for number in range(1, 17)}
"""The name of each stereotype by its number: 1 to 7 are about women."""
SIDES = {_TEXT.get("women"): [*LABELS.values()][:7], _TEXT.get("men"): [*LABELS.values()][7:]}


def rates(items: pl.DataFrame, level: float) -> list[Estimate]:
    """Return all rates, which are exponentials of mean preferences; each rate is tested against 1."""
    rows = [*log_rates(items, level), *_for_other_templates(items, level)]
    names = {log: rate for rate, log in LOG.items()}
    return [replace(exponential(row), measure=names.get(row.measure, row.measure)) for row in rows]


def log_rates(items: pl.DataFrame, level: float) -> list[Estimate]:
    """Return the log rates over all templates and, if there are several, for each one, with intervals over sentences.

    Holm's correction is applied over stereotypes, over the two sides (women and men), and over templates.
    """
    variants = items["variant"].unique(maintain_order=True).to_list()
    parts = {ALL: items.group_by("id", "stereotype", maintain_order=True).agg(pl.col("score").mean())}
    parts |= {name: items.filter(variant=name) for name in variants if len(variants) > 1}
    rows = [each for name, part in parts.items() for each in _of(part, name, level)]
    return with_holm(rows, _family)


def _family(estimate: Estimate) -> str | None:
    variant, stereotype = estimate.by["variant"], estimate.by["stereotype"]
    if stereotype == ALL:
        return None if variant == ALL else f"{estimate.measure}, templates"
    return f"{estimate.measure}, {'sides' if stereotype in SIDES else 'stereotypes'}, {variant}"


def _weights(here: pl.Series) -> dict[str, dict[str, float]]:
    """Return the weights of the stereotypes in `here`, by masculine rate and, under `ALL`, for the stereotype rate."""
    sides = {side: [name for name in own if name in set(here)] for side, own in SIDES.items()}
    women, men = means = [{name: 1 / len(own) for name in own} for own in sides.values()]
    alone = {name: {name: 1.0} for own in sides.values() for name in own}
    contrast = {name: -share for name, share in women.items()} | men if women and men else {}
    return alone | dict(zip(SIDES, means, strict=True)) | {ALL: contrast}


def _of(part: pl.DataFrame, variant: str, level: float) -> Iterator[Estimate]:
    """Yield the log rates, which are weighted sums of the stereotypes' mean preferences.

    A rate is NaN if it needs stereotypes about women, or about men, and none has sentences. `part` has the items of the
    template `variant`; if `variant` is `ALL`, their scores are averages over the templates.
    """
    for name, weights in _weights(part["stereotype"]).items():
        own = part.filter(pl.col("stereotype").is_in(list(weights)))
        share = pl.Series([weights[each] for each in own["stereotype"]], dtype=pl.Float64)
        size = own.select(pl.len().over("stereotype")).to_series()
        values = (own["score"] * share * len(own) / size).to_numpy()
        mean = t_mean(values, strata=own["stereotype"], level=level, against=0)
        measure = LOG[STEREOTYPE if name == ALL else RATE]
        yield replace(mean, measure=measure, by={"variant": variant, "stereotype": name})


def _for_other_templates(items: pl.DataFrame, level: float) -> Iterator[Estimate]:
    """Yield the log stereotype rate with an interval over sentences and templates, if there are several templates."""
    weights = _weights(items["stereotype"])[ALL]
    if items["variant"].n_unique() < 2 or not weights:
        return
    share, scores = np.array([weights[name] for name in sorted(weights)]), items["score"].to_numpy()
    columns = (items[name].rank("dense").to_numpy().astype(np.intp) - 1 for name in ("stereotype", "id", "variant"))
    stereotype, sentence, template = columns

    def statistic(kept: Array) -> float:
        counts = np.bincount(stereotype, kept, len(share))
        sums = np.bincount(stereotype, kept * scores, len(share))
        return float(share @ (sums / counts)) if counts.all() else np.nan

    factors = [Factor("sentences", sentence), Factor("templates", template)]
    found = crossed(statistic, factors, n=factors[0].units, level=level, against=0)
    yield replace(found, measure=OTHER_TEMPLATES, by={"variant": ALL, "stereotype": ALL})
