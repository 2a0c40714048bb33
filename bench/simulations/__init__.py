"""What `coverage.py` simulates: data of a known truth, and what penchant says of them."""

from bench.simulations import (
    amplification,
    associations,
    judged,
    means,
    proportions,
    stereoset,
    values,
    values_people,
    vector_bias,
    wino,
)
from bench.simulations.base import Simulation


def simulations() -> list[Simulation]:
    """All of them, in the order of the page."""
    return [
        *means.ALL,
        *proportions.ALL,
        *associations.ALL,
        *values.ALL,
        *judged.ALL,
        *wino.ALL,
    ]


def uncounted() -> list[Simulation]:
    """Those of instruments whose counts are not on the page yet; `coverage.py --only NAME` runs them."""
    return [*vector_bias.ALL, *stereoset.SIMULATIONS, *amplification.ALL, *values_people.ALL]
