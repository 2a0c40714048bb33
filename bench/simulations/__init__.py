"""Simulations of `coverage.py`: data of a known truth, and penchant's estimates of it."""

from bench.simulations import (
    acceptability,
    amplification,
    associations,
    chat,
    crossed,
    curves,
    judged,
    means,
    proportions,
    questions,
    stereoset,
    values,
    values_people,
    vector_bias,
    verdicts,
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
        *values_people.ALL,
        *judged.ALL,
        *acceptability.ALL,
        *wino.ALL,
        *stereoset.SIMULATIONS,
        *vector_bias.ALL,
        *amplification.ALL,
        *crossed.ALL,
        *curves.ALL,
        *questions.ALL,
        *chat.ALL,
        *verdicts.ALL,
    ]
