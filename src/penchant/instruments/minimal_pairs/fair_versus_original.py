"""Comparison of fair and original minimal pairs: whether equal token lengths change the order of models."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from penchant.instruments.base_probe import Measured, Model
from penchant.instruments.minimal_pairs.cautions import fair_cautions, line_cautions, pair_cautions
from penchant.instruments.minimal_pairs.data import PairSet, is_fair_set, refuse_prefixes, tables_in
from penchant.instruments.minimal_pairs.estimates import pair_estimates
from penchant.instruments.minimal_pairs.formats import PairColumns
from penchant.instruments.minimal_pairs.pair_credits import ALL, credits
from penchant.instruments.minimal_pairs.probe import Drawn, PairProbe, cite
from penchant.instruments.minimal_pairs.settings import FairPairsSettings
from penchant.instruments.minimal_pairs.strata_means import overlapping_difference
from penchant.instruments.probe_field_types import cited_columns
from penchant.instruments.session import Session
from penchant.records import Estimate
from penchant.stats.hypothesis_tests import with_holm
from penchant.tables.rows import read_rows
from penchant.wording.phrases import Note

ORIGINAL, FAIR = "original", "fair"
GAIN = "accuracy on fair − original pairs"
SHARED = "share of fair pairs that are original pairs"


class FairPairs(FairPairsSettings, PairProbe[dict[str, list[PairSet]]]):
    """Accuracy on an original set of minimal pairs and on a fair set.

    `run` returns items (one row per pair, with the set in `dataset`) and a summary: all estimates of `MinimalPairs` for
    each set, and the difference between the two accuracies, by paradigm and over the paradigms in both sets.
    """

    if TYPE_CHECKING:  # this probe has `original` and `fair` instead
        data: Any = None

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the arguments of `read`: the files of each set, looked up in `base`, then the column names."""
        return *self.files_of(self.original, self.fair, base=base), *dict(self.columns).values()

    def read(self, original: tuple[Path, ...], fair: tuple[Path, ...], *columns: str) -> dict[str, list[PairSet]]:
        """Read the pairs of the two sets. Raises DataError naming file, line and field."""
        files = [file for place in fair for file in tables_in(place)]
        own = all(_made_here(file, self.columns.good) for file in files)
        sets = {
            ORIGINAL: self.pairs_of(original, self.columns),
            FAIR: self.pairs_of(fair, PairColumns() if own else self.columns),
        }
        refuse_prefixes((pairs for part in sets.values() for pairs in part), "fair-pairs supports only")
        return sets

    def items(self, read: dict[str, list[PairSet]]) -> Sequence[Drawn]:
        """Return the pairs to score from both sets."""
        return [pair for part in read.values() for pair in self.chosen(part)]

    def asked(self, base: Sequence[Path] = (Path(),)) -> list[Drawn]:
        """Return the pairs to score from both sets, which are looked up in the directories `base`."""
        return list(self.items(self.read_set(base)))

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the files of the two sets and those of unigram counts, looked up in the directories `base`."""
        return [*(pairs.path for part in self.read_set(base).values() for pairs in part), *self.unigram_files(base)]

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the signature fields for both sets and their scoring."""
        parts = self.read_set(base)
        data = {"data": f"{cite(parts[ORIGINAL])} and {cite(parts[FAIR])}", **cited_columns(dict(self.columns))}
        return {**data, **self.how(model, parts[ORIGINAL], base)}

    def measure(self, session: Session) -> Measured:
        """Score the pairs of both sets."""
        parts = {name: self.chosen(part) for name, part in self.read_set(session.base).items()}
        session.expect(sum(map(len, parts.values())), inputs=2)
        tables: list[pl.DataFrame] = []
        cautions: list[Note | str] = []
        for name, drawn in parts.items():
            scored, notes = self.scored(session, drawn)
            cautions += [*notes, *pair_cautions(scored)]
            labels = pl.lit(name).alias("dataset"), (pl.lit(f"{name} ") + pl.col("id")).alias("id")
            tables.append(scored.with_columns(*labels))
        return Measured(pl.concat(tables, how="diagonal"), tuple(cautions))

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Yield the estimates of minimal pairs for each set, then the differences between the sets."""
        yield from pair_estimates(measured.items, self)
        for how in self.normalisations():
            for estimate in self._gains(measured.items, how):
                by = {"dataset": f"{FAIR} − {ORIGINAL}", **estimate.by, "normalise": how}
                yield replace(estimate, by=by)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Yield cautions about poor linear fits, unequal fair pairs, and paradigms missing from the fair set."""
        yield from line_cautions(estimates)
        yield from fair_cautions(measured.items, measured.items.filter(pl.col("dataset") == FAIR))

    def _gains(self, items: pl.DataFrame, how: str) -> Iterator[Estimate]:
        pairs = _distinct(items, how)
        parts = {str(paradigm): part for (paradigm,), part in pairs.group_by("group", maintain_order=True)}
        both = {name: part for name, part in parts.items() if part["fair"].any() and part["original"].any()}
        yield from self._gain(pairs, "overall", ALL)
        if len(both) < 2:
            return
        each = [estimate for name, part in both.items() for estimate in self._gain(part, "group", name)]
        yield from with_holm(each, lambda estimate: f"{GAIN}, paradigms, {how}" if estimate.measure == GAIN else None)

    def _gain(self, pairs: pl.DataFrame, scope: str, group: str) -> Iterator[Estimate]:
        """Yield the difference in accuracy (fair − original), and the share of fair pairs that are also original."""
        by = {"scope": scope, "group": group, "split": ALL}
        fair, original = pairs["fair"].to_numpy(), pairs["original"].to_numpy()
        gain = overlapping_difference(
            pairs["credit"].to_numpy(),
            fair,
            original,
            pairs["group"].to_list(),
            level=self.level,
            noun="paradigms",
        )
        both, kept = int((fair & original).sum()), int(fair.sum())
        overlap = Note("minimal_pairs.overlap", both=both, of=kept, original=int(original.sum())) if both else None
        yield replace(gain, measure=GAIN, by=by).noted(overlap)
        counted = (Note("minimal_pairs.counted"),)
        yield Estimate(SHARED, both / kept, kept, level=self.level, notes=counted, by=by)


def _made_here(file: Path, column: str) -> bool:
    """Return whether the file was written by `penchant pairs` and has no column named `column`."""
    try:
        return is_fair_set(file) and column not in read_rows(file)[0].values
    except OSError:
        return False


def _distinct(items: pl.DataFrame, how: str) -> pl.DataFrame:
    """Return one row for each distinct pair, with its credit under the normalisation `how`.

    The columns `fair` and `original` say which sets contain the pair. If a set contains a pair several times, the pair
    has that many rows.
    """
    same = ["group", "good", "bad"]
    return (
        items.select("dataset", *same, pl.Series("credit", credits(items, how)))
        .with_columns(pl.int_range(pl.len()).over("dataset", *same).alias("copy"))
        .group_by(*same, "copy", maintain_order=True)
        .agg(
            pl.col("credit").first(),
            (pl.col("dataset") == FAIR).any().alias("fair"),
            (pl.col("dataset") == ORIGINAL).any().alias("original"),
        )
    )
