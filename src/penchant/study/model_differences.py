"""Table of differences between models, with a headline."""

from __future__ import annotations

import polars as pl

from penchant.instruments.registry import instrument
from penchant.records import Signature


class Differences(pl.DataFrame):
    """Differences between models, one row per estimate; the columns `first` and `second` name the models."""

    @property
    def headline(self) -> pl.DataFrame:
        """The main differences of each instrument, with both models, groups, confidence interval and n."""
        probes = [Signature.parse(text)["probe"] for text in self["signature"]]
        by = ["probe"] if "probe" in self.columns else []
        table = self.with_columns(pl.Series("_instrument", probes))
        tables = []
        for (name, *place), part in table.group_by("_instrument", *by, maintain_order=True):
            found = instrument(str(name)).headline.table(pl.DataFrame(part.drop("_instrument", *by)))
            tables.append(found.select(*(pl.lit(where).alias("probe") for where in place), pl.all()))
        return pl.concat(tables, how="diagonal_relaxed")
