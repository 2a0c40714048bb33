"""Results of value statements from made-up log-probabilities, and ratings by plain numpy."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

import penchant as pc
from penchant.instruments.values.cells import rated
from penchant.instruments.values.probe import Rated
from penchant.instruments.values.survey import Survey
from penchant.records import Signature

Array = NDArray[np.float64]


def made_result(items: pl.DataFrame, survey: Survey | None = None, **more: object) -> pc.Result:
    """Return the result of made-up items, with some settings or parts of the signature."""
    cited = "none" if survey is None else f"{survey.name}#0abc12"
    fields = {"data": "d#1", "survey": cited, "method": "span", "calibration": "origin", "dtype": "float32"}
    numbers = {"level": 0.9, "resamples": 300, "seed": 0}
    signature = Signature.of("values", **{"model": "m", **fields, **numbers, **more})
    chosen = {name: value for name, value in {**fields, **numbers, **more}.items() if name in pc.Values.model_fields}
    probe = pc.Values(data="d").model_copy(update={**chosen, "data": "d", "survey": None})
    return probe.result(Rated(rated(items, probe.line), survey=survey), signature)


def sides(items: pl.DataFrame, kind: str) -> tuple[Array, Array]:
    """Return the log-probabilities of disagreeing and agreeing of some items of a kind."""
    own = items.filter(kind=kind)
    return own["disagree"].to_numpy(), own["agree"].to_numpy()


def ratings(neutral: tuple[Array, Array], clauses: tuple[Array, Array]) -> Array:
    """Return the ratings of clauses by neutral ones, under `origin`."""
    x, y = neutral
    a = (x * y).sum() / (x * x).sum()
    sigma = math.sqrt(((y - a * x) ** 2).sum() / (len(x) - 1))
    return np.asarray(1 + 4 * special.ndtr((clauses[1] - a * clauses[0]) / sigma))
