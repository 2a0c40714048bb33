"""Which data sets are of stereotypes, as CrowS-Pairs is: of neither sentence of a pair is it said that it is good."""

from __future__ import annotations

import polars as pl

from penchant.instruments.minimal_pairs.formats import DIRECTIONS


def stereotyped(frame: pl.DataFrame) -> list[str]:
    """The data sets of stereotypes in a table of items, of estimates or of differences, by the names of their
    paradigms, which are the two directions."""
    column = "paradigm" if "paradigm" in frame.columns else "group"
    rows = frame if column == "paradigm" else frame.filter(pl.col("scope") == "paradigm")
    named = rows.group_by("dataset", maintain_order=True).agg(pl.col(column).is_in(DIRECTIONS).all().alias("of them"))
    return named.filter("of them")["dataset"].to_list()


def of_stereotypes(frame: pl.DataFrame, name: str) -> bool:
    """Whether a data set of such a table is of stereotypes."""
    return name in stereotyped(frame)
