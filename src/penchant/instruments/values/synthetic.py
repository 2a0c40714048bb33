"""Synthetic answers to value statements, for tests and teaching; they carry a column that says so."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl

from penchant.arguments import asked
from penchant.errors import MethodError
from penchant.instruments.values.data import HIGH, LOW
from penchant.instruments.values.survey import SYNTHETIC


def _check_made_up(groups: Mapping[str, Any], statements: Mapping[str, Any]) -> None:
    """Raise MethodError unless every group has a number of respondents, and every statement two parts."""
    for group, n in groups.items():
        if isinstance(n, bool) or not isinstance(n, Integral) or int(n) < 1:
            raise MethodError(f"group '{group}' has a number of respondents, got {n!r}")
    for id_, entry in statements.items():
        if not isinstance(entry, tuple | list) or len(entry) != 2:
            raise MethodError(f"statement '{id_}' has its value and whether it is reversed, got {entry!r}")


@asked
def synthetic_survey(
    means: Mapping[str, Mapping[str, float]],
    sds: Mapping[str, Mapping[str, float]],
    groups: Mapping[str, int],
    *,
    statements: Mapping[str, tuple[str, bool]],
    spread: float = 0.8,
    seed: int = 0,
) -> pl.DataFrame:
    """Synthetic answers, marked as such in a column of their own: for tests and tutorials, never for findings.

    `means` and `sds` give, by group and value, the mean and the standard deviation between respondents of their leaning
    on the scale from 1 to 5; `groups` the number of respondents in each; `statements` maps an id to its value and
    whether it is reversed. An answer is the respondent's leaning, mirrored for a reversed statement, plus noise of
    standard deviation `spread`, rounded and clipped to the scale. Raises MethodError for a group or value without
    numbers.
    """
    taken = {SYNTHETIC, "group"} & statements.keys()
    if taken:
        raise MethodError(f"a statement cannot be called '{min(taken)}', a column of made-up answers")
    _check_made_up(groups, statements)
    rng = np.random.default_rng(seed)
    parts = []
    values = dict.fromkeys(value for value, _ in statements.values())
    for group, n in groups.items():
        for name, table in (("means", means), ("sds", sds)):
            lacking = [value for value in values if value not in table.get(group, {})]
            if lacking:
                raise MethodError(f"{name} has no number for '{lacking[0]}' in group '{group}'")
        leaning = {value: rng.normal(means[group][value], sds[group][value], n) for value in values}
        columns: dict[str, object] = {SYNTHETIC: ["yes"] * n, "group": [group] * n}
        for id_, (value, reverse) in statements.items():
            turned = LOW + HIGH - leaning[value] if reverse else leaning[value]
            noisy = np.rint(turned + rng.normal(0, spread, n))
            columns[id_] = np.clip(noisy, LOW, HIGH).astype(np.int64)
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)
