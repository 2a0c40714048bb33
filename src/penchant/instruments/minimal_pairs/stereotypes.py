"""Which data sets are of stereotypes, as CrowS-Pairs is: of neither sentence of a pair is it said that it is good."""

from __future__ import annotations

import polars as pl

from penchant.instruments.minimal_pairs.formats import DIRECTIONS

STEREOTYPE = "stereotype score"
"""What only data sets of stereotypes have."""


def stereotyped(frame: pl.DataFrame) -> list[str]:
    """The data sets of stereotypes in a table of items, of estimates or of differences, by the names of their
    paradigms, which are the two directions."""
    column = "paradigm" if "paradigm" in frame.columns else "group"
    if column == "group" and (scores := frame.filter(pl.col("measure").str.starts_with(STEREOTYPE))).height:
        return scores["dataset"].unique(maintain_order=True).to_list()
    rows = frame if column == "paradigm" else frame.filter(pl.col("scope") == "paradigm")
    named = rows.group_by("dataset", maintain_order=True).agg(pl.col(column).is_in(DIRECTIONS).all().alias("of them"))
    return named.filter("of them")["dataset"].to_list()


def of_stereotypes(frame: pl.DataFrame, name: str) -> bool:
    """Whether a data set of such a table is of stereotypes."""
    return name in stereotyped(frame)
