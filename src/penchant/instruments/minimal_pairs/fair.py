"""Fair against original minimal pairs: does the order of models change when token lengths are made equal?

Comparing models with different tokenizers is only fair on pairs that have equal lengths under all of them (Ueda et al.
2024). This probe scores a model on an original set and on a fair one and compares the two accuracies within paradigms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar

import polars as pl

from penchant.instruments.base import Measured, Model
from penchant.instruments.minimal_pairs.data import PairSet
from penchant.instruments.minimal_pairs.estimates import (
    ALL,
    credits,
    line_cautions,
    pair_cautions,
    pair_estimates,
)
from penchant.instruments.minimal_pairs.probe import PairProbe, Paths, cite, sentences
from penchant.instruments.session import Session
from penchant.instruments.settings import CITED
from penchant.records import Estimate
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.intervals import independent_difference
from penchant.stats.stratified import mantel_haenszel_difference

ORIGINAL, FAIR = "original", "fair"
GAIN = "accuracy on fair − original pairs"


class FairPairs(PairProbe):
    """Accuracy on an original set of minimal pairs and on a fair one.

    `run` returns items (one row per pair, with the set in `dataset`) and a summary: all estimates of `MinimalPairs` for
    each set, and the difference of the two accuracies by paradigm and over the paradigms that both sets have.
    """

    name: ClassVar[str] = "fair-pairs"

    original: Annotated[Paths, CITED]
    """Files or directories of the original pairs."""
    fair: Annotated[Paths, CITED]
    """Files or directories of pairs of equal token length, such as `penchant pairs` makes."""

    def parts(self, base: Sequence[Path] = (Path(),)) -> dict[str, list[PairSet]]:
        """The pairs of the two sets. Raises DataError naming file, line and field."""
        return {ORIGINAL: self.pairs_in(self.original, base), FAIR: self.pairs_in(self.fair, base)}

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The files of both sets."""
        return [pairs.path for part in self.parts(base).values() for pairs in part]

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Both sentences of every pair of both sets, with their places."""
        return [text for part in self.parts(base).values() for text in sentences(part)]

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Both sets, then how they are scored."""
        parts = self.parts(base)
        return {"data": f"{cite(parts[ORIGINAL])} and {cite(parts[FAIR])}", **self.how(model, parts[ORIGINAL])}

    def measure(self, session: Session) -> Measured:
        """Score both sets."""
        parts = self.parts(session.base)
        session.expect(sum(len(pairs.items) for part in parts.values() for pairs in part), inputs=2)
        tables: list[pl.DataFrame] = []
        cautions: list[str] = []
        for name, pair_sets in parts.items():
            scored = self.scored(session, pair_sets)
            cautions += [caution for pairs in pair_sets for caution in pairs.cautions]
            cautions += pair_cautions(scored)
            labels = pl.lit(name).alias("dataset"), (pl.lit(f"{name} ") + pl.col("id")).alias("id")
            tables.append(scored.with_columns(*labels))
        return Measured(pl.concat(tables, how="diagonal"), tuple(cautions))

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """The estimates of minimal pairs for each set, then the differences between the sets."""
        yield from pair_estimates(measured.items, self)
        for how in self.normalisations():
            for estimate in self._gains(measured.items, how):
                by = {"dataset": f"{FAIR} − {ORIGINAL}", **estimate.by, "normalise": how}
                yield replace(estimate, by=by)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Cautions about fair pairs that are unequal for this model, and paradigms that the fair set lacks."""
        yield from line_cautions(estimates)
        items = measured.items
        fair = items.filter(pl.col("dataset") == FAIR)
        unequal = int((fair["difference"] != 0).sum())
        if unequal:
            yield (
                f"{unequal} of {len(fair)} fair pairs have unequal token lengths under this model's tokenizer: the set "
                "was not made for it"
            )
        lost = sorted(set(items["paradigm"]) - set(fair["paradigm"]))
        if lost:
            yield f"the fair set has no pairs of {', '.join(lost)}, which the difference leaves out"

    def _gains(self, items: pl.DataFrame, how: str) -> Iterator[Estimate]:
        """Accuracy on the fair pairs minus that on the original ones, over and within the paradigms of both."""
        credit, fair = credits(items, how), (items["dataset"] == FAIR).to_numpy()
        strata = items["paradigm"].to_list()
        shared = [p for p in dict.fromkeys(strata) if len(items.filter(paradigm=p)["dataset"].unique()) == 2]
        whole = mantel_haenszel_difference(
            credit,
            fair,
            strata,
            level=self.level,
            noun="paradigms",
        )
        yield replace(whole, measure=GAIN, by={"scope": "overall", "group": ALL, "split": ALL})
        each = []
        for paradigm in shared:
            inside = (items["paradigm"] == paradigm).to_numpy()
            gain = independent_difference(credit[inside & fair], credit[inside & ~fair], level=self.level)
            each.append(replace(gain, measure=GAIN, by={"scope": "paradigm", "group": paradigm, "split": ALL}))
        yield from with_holm(each, lambda estimate: GAIN)
