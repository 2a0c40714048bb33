"""Facts about results that the report text of minimal pairs uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.minimal_pairs.estimates import CROWS_PAIRS
from penchant.instruments.minimal_pairs.fitted_exponents import exponent_range
from penchant.instruments.minimal_pairs.fixed_group_estimates import THESE
from penchant.instruments.minimal_pairs.formats import PREFIX
from penchant.instruments.minimal_pairs.human_estimates import kind_of, lone
from penchant.instruments.minimal_pairs.length_charts import is_curve, varies_in_length
from penchant.instruments.minimal_pairs.pair_credits import pair_of, stereotyped
from penchant.records import BaseResult
from penchant.report.item_browser import every_item
from penchant.stats.length_adjustment import LACK_OF_FIT
from penchant.views.row_selection import At, Line, parted, sources
from penchant.wording.phrases import read_method


def facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    """Return the facts about results that templates of the report text may use."""
    items = every_item(results)
    of_stereotypes = stereotyped(items)
    signatures = [result.signature for result in results]
    pmi = any("pmi" in signature["normalise"].split(",") for signature in signatures)
    prefixed = any(PREFIX in result.items.columns and (result.items[PREFIX] != "").any() for result in results)
    return {
        "sides": roles(results, items, of_stereotypes),
        "sides_of": {name: pair_of(name, results[0]) for name in items["dataset"].unique(maintain_order=True)},
        "stereotypes": of_stereotypes,
        "undrawn": {
            name: [source.model for source in sources(alone) if len(source.frame) and not is_curve(source.frame)]
            for name, alone in parted(results, "dataset")
        },
        "unequal": [
            name
            for name, alone in parted(results, "dataset")
            if any(varies_in_length(source.frame) for source in sources(alone))
        ],
        "published": [name == CROWS_PAIRS for name in of_stereotypes],
        "few": any(THESE in result.summary["scope"] for result in results),
        "ties": list(dict.fromkeys(signature.get("ties", "half") for signature in signatures)),
        "ways": list(dict.fromkeys(signature["method"] for signature in signatures)),
        "hows": list(dict.fromkeys(how for each in signatures for how in each["normalise"].split(","))),
        "exponents": exponent_range(items),
        "spaced": [each["model"] for each in signatures if each.get("space") == "front"],
        "prefixed": prefixed,
        "neutral": list(dict.fromkeys(signature.get("neutral", "") for signature in signatures)) if pmi else [],
        "untested": sum(not degrees(line) for each in sources(results) for line in each.only(At(measure=LACK_OF_FIT))),
        "kind": kind_of(items),
        "lone": kind_of(items) is not None and lone(items),
    }


def roles(results: Sequence[BaseResult], items: pl.DataFrame, sets: Sequence[str]) -> tuple[str, str]:
    """Return the names of the two sentences of a pair, such as acceptable and unacceptable.

    `sets` are the names of the stereotype data sets.
    """
    if not sets:
        return "acceptable", "unacceptable"
    more, less = pair_of(sets[0], replace(results[0], items=items))
    alone = len(sets) == items["dataset"].n_unique()
    return (more, less) if alone else (f"acceptable or {more}", f"unacceptable or {less}")


def degrees(line: Line) -> int:
    """Return the degrees of freedom of the test in a row; 0 if there is no test."""
    test = read_method(line["test_method"])
    return 0 if test is None else int(test.params["df"])
