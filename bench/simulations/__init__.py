"""What `coverage.py` simulates: data of a known truth, and what penchant says of them."""

from bench.simulations import associations, judged, means, proportions, stereoset, values
from bench.simulations import associations, judged, means, proportions, values, vector_bias
from bench.simulations import amplification, associations, judged, means, proportions, values
from bench.simulations import associations, judged, means, proportions, values, wino
from bench.simulations.base import Simulation


def simulations() -> list[Simulation]:
    """All of them, in the order of the page."""
    return [*means.ALL, *proportions.ALL, *associations.ALL, *values.ALL, *judged.ALL, *stereoset.SIMULATIONS]
    return [*means.ALL, *proportions.ALL, *associations.ALL, *vector_bias.ALL, *values.ALL, *judged.ALL]
    return [*means.ALL, *proportions.ALL, *associations.ALL, *values.ALL, *judged.ALL, *amplification.ALL]
    return [*means.ALL, *proportions.ALL, *associations.ALL, *values.ALL, *judged.ALL, *wino.ALL]
