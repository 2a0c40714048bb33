"""Fair against original minimal pairs: does the order of models change when token lengths are made equal?

Comparing models with different tokenizers is only fair on pairs that have equal lengths under all of them (Ueda et al.
2024). This probe scores a model on an original set and on a fair one and holds the two accuracies against each other,
within paradigms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar

import polars as pl
from pydantic import Field, PrivateAttr

from penchant.engine.scorer import Counts
from penchant.probes.base import Model, Run
from penchant.probes.minimal_pairs import MinimalPairs, PairProbe
from penchant.probes.pair_summary import FEW_PARADIGMS, credits
from penchant.records import Estimate, Result, Signature, summary_table
from penchant.stats.hypothesis_tests import holm
from penchant.stats.intervals import independent_difference
from penchant.stats.stratified import mantel_haenszel_difference

ORIGINAL, FAIR = "original", "fair"
GAIN = "accuracy on fair − original pairs"


class FairPairs(PairProbe):
    """Accuracy on an original set of minimal pairs and on a fair one.

    `run` gives items (one row a pair, `dataset` saying which set it is of) and a summary: all that `MinimalPairs` says
    of each set, and the difference of the two accuracies by paradigm and over the paradigms both have.
    """

    name: ClassVar[str] = "fair-pairs"

    original: str | Annotated[list[str], Field(min_length=1)]
    """Files or directories of pairs as they are."""
    fair: str | Annotated[list[str], Field(min_length=1)]
    """Pairs of equal token length, such as `penchant pairs` makes."""

    _parts: dict[str, MinimalPairs] = PrivateAttr(default_factory=dict)

    def parts(self) -> dict[str, MinimalPairs]:
        """The two sets as studies of minimal pairs."""
        if not self._parts:
            common = self.model_dump(exclude={"original", "fair"})
            self._parts.update({ORIGINAL: MinimalPairs(data=self.original, **common)})
            self._parts.update({FAIR: MinimalPairs(data=self.fair, **common)})
        return self._parts

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Both sentences of every pair of both sets, with their places."""
        return [text for part in self.parts().values() for text in part.texts(base)]

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The files of both sets."""
        return [file for part in self.parts().values() for file in part.files(base)]

    def run(self, model: Model, run: Run | None = None) -> Result:
        """Score both sets with one model and hold them against each other."""
        run = run or Run()
        total = sum(len(pairs.items) for part in self.parts().values() for pairs in part.pair_sets(run.base))
        found: dict[str, Result] = {}
        for name, part in self.parts().items():
            own = replace(run, progress=lambda done, _: run.progress(done, total), counts=Counts())
            found[name] = part.run(model, own)
            for key, value in own.counts.as_dict().items():
                setattr(run.counts, key, getattr(run.counts, key) + value)
        items = pl.concat(
            [
                result.items.with_columns(
                    pl.lit(name).alias("dataset"), (pl.lit(f"{name} ") + pl.col("id")).alias("id")
                )
                for name, result in found.items()
            ],
            how="diagonal",
        )
        both = found[ORIGINAL].signature
        signature = Signature.of(
            self.name,
            **{
                key.replace("-", "_"): f"{value} and {found[FAIR].signature['data']}" if key == "data" else value
                for key, value in both.items()
                if key not in ("penchant", "probe")
            },
        )
        return self.result(items, signature, tuple(c for each in found.values() for c in each.cautions))

    def result(self, items: pl.DataFrame, signature: Signature, cautions: tuple[str, ...] = ()) -> Result:
        """The summary of scored items; needs no model."""
        whole = next(iter(self.parts().values())).result(items, signature)
        rows = [
            (replace(estimate, by={"dataset": f"{FAIR} − {ORIGINAL}", **estimate.by, "normalise": how}), own)
            for how in signature["normalise"].split(",")
            for own in [signature.with_(normalise=how)]
            for estimate in self._gains(items, how)
        ]
        summary = pl.concat([whole.summary, summary_table(rows)], how="diagonal_relaxed")
        return Result(signature, items, summary, tuple(dict.fromkeys((*cautions, *self._unequal(items)))))

    def _gains(self, items: pl.DataFrame, how: str) -> Iterator[Estimate]:
        """Accuracy on the fair pairs minus that on the original ones, over and within the paradigms of both."""
        credit, fair = credits(items, how), (items["dataset"] == FAIR).to_numpy()
        strata = items["paradigm"].to_list()
        shared = [p for p in dict.fromkeys(strata) if len(items.filter(paradigm=p)["dataset"].unique()) == 2]
        whole = mantel_haenszel_difference(
            credit,
            fair,
            strata,
            seed=self.seed,
            resamples=self.resamples,
            level=self.level,
            fewest=FEW_PARADIGMS,
        )
        yield replace(whole, measure=GAIN, by={"scope": "overall", "group": "all", "split": "all"})
        each = []
        for paradigm in shared:
            inside = (items["paradigm"] == paradigm).to_numpy()
            found = independent_difference(credit[inside & fair], credit[inside & ~fair], level=self.level)
            each.append(replace(found, measure=GAIN, by={"scope": "paradigm", "group": paradigm, "split": "all"}))
        for found, p in zip(each, holm([e.p for e in each]), strict=True):
            yield replace(found, p_holm=float(p))

    @staticmethod
    def _unequal(items: pl.DataFrame) -> Iterator[str]:
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
