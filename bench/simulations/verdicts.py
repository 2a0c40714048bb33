"""Error rates of the rule for verdicts, and how often it decides, over means of sentences and shares of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from bench.simulations.base import LEVEL, Simulation, Trial

from penchant.instruments.minimal_pairs.pair_credits import mean_credit
from penchant.records import Estimate, Test
from penchant.report.significance import Shown
from penchant.report.verdicts import NO, YES
from penchant.stats.intervals import t_mean
from penchant.views.claims import judged

SECTION = "Verdicts"
MEAN, SHARE = Shown("+.3f", "sentences"), Shown(".1f", "pairs", "%", 100, 0.5, (0, 1))
MARGIN = 0.05
"""The smallest effect of interest, of a mean β and of an accuracy."""
EFFECTS = {"no effect": 0.0, "the smallest effect of interest": MARGIN, "twice that": 2 * MARGIN}


def _given(estimate: Estimate, how: Shown) -> Iterator[Trial]:
    """Yield a trial for each verdict, whose test rejects if that verdict is given."""
    kind, _ = judged(estimate.row(), how, MARGIN)
    for wanted in (YES, NO):
        told = Estimate("verdict", float(kind == wanted), estimate.n, test=Test(float(kind != wanted)))
        yield Trial((f"verdict {wanted}",), told, null=True, test=f"verdict {wanted}")


def _mean(n: int, effect: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    yield from _given(t_mean(rng.normal(effect, 0.15, n), bounds=(-1, 1), against=0), MEAN)


def _share(paradigms: int, pairs: int, effect: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    of = np.repeat(np.arange(paradigms), pairs)
    shares = np.clip(rng.normal(0.5 + effect, 0.05 if paradigms > 1 else 0, paradigms), 0, 1)
    credit = (rng.random(len(of)) < shares[of]).astype(np.float64)
    yield from _given(mean_credit(credit, of.astype(str).tolist(), "paradigms", LEVEL, against=0.5), SHARE)


PAIRS = {f"{k} × {n} pairs": (k, n) for k, n in ((1, 40), (1, 400), (1, 2000), (12, 100), (67, 60))}
SENTENCES = {f"{n} sentences": (n,) for n in (20, 60, 240)}
ALL = [
    *(
        Simulation(SECTION, f"mean β (sd .15), {name}", size, partial(_mean, *sizes, effect), sets=2_000)
        for name, effect in EFFECTS.items()
        for size, sizes in SENTENCES.items()
    ),
    *(
        Simulation(SECTION, f"accuracy, {name}", size, partial(_share, *sizes, effect), sets=2_000)
        for name, effect in EFFECTS.items()
        for size, sizes in PAIRS.items()
    ),
]
