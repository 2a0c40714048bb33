"""Cautions about scored pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from penchant.instruments.minimal_pairs.estimates import CROWS_PAIRS
from penchant.instruments.minimal_pairs.human_estimates import CORRELATIONS, EQUAL_LENGTH, FEWEST, kind_of, lone
from penchant.instruments.minimal_pairs.human_judgements import RATERS
from penchant.instruments.minimal_pairs.pair_credits import HALF, TIE, UNSEEN, preferences
from penchant.plurals import first_of
from penchant.records import Estimate
from penchant.stats.length_adjustment import LACK_OF_FIT
from penchant.wording.templates import Text

_WORDS = Text.of(Path(__file__).parent).below("cautions")
_REJECTED = 0.05
"""Adjusted p-value at or below which the linear model in |A|−|U| is reported as a poor fit."""
_SHOWN = 5
"""Maximum number of paradigms named in a caution."""


def _by_data_set(items: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (name,), part in items.group_by("dataset", maintain_order=True):
        yield str(name), part


def pair_cautions(items: pl.DataFrame) -> Iterator[str]:
    """Yield cautions about unequal token lengths and ties, by data set."""
    for name, part in _by_data_set(items):
        words, of = _WORDS.given(name=name), len(part)
        longer, unequal = (int(mask.sum()) for mask in (part["difference"] > 0, part["difference"] != 0))
        ties = int((preferences(part, "none") == HALF).sum())
        if unequal:
            yield words.get("unequal", n=unequal, of=of, longer=longer)
        if ties:
            yield words.get("ties", n=ties, of=of, good=TIE in part.columns, published=name == CROWS_PAIRS)


def line_cautions(estimates: Iterable[Estimate]) -> Iterator[str]:
    """Yield a caution for each data set and score with paradigms whose pairs the linear model fits badly.

    In the model, the log-odds of accuracy are linear in the length difference between the two sentences.
    """
    bent: dict[tuple[str, str], list[str]] = {}
    for estimate in estimates:
        if estimate.measure == LACK_OF_FIT and estimate.test is not None and estimate.test.adjusted <= _REJECTED:
            key = estimate.by["dataset"], estimate.by["normalise"]
            bent.setdefault(key, []).append(estimate.by["group"])
    for (name, how), paradigms in bent.items():
        shown = first_of(paradigms, _SHOWN)
        yield _WORDS.get("bent", name=name, how=how, n=len(paradigms), shown=shown, p=_REJECTED)


def unigram_cautions(items: pl.DataFrame) -> Iterator[str]:
    """Yield a caution about tokens that are missing from the unigram counts."""
    unseen, tokens = (
        sum(int(items[f"{name}_{role}"].sum()) for role in ("good", "bad")) for name in (UNSEEN, "n_tokens")
    )
    if unseen:
        yield _WORDS.get("unseen", n=unseen, of=tokens)


def human_cautions(items: pl.DataFrame) -> Iterator[str]:
    """Yield cautions about pairs without judgements and about pairs with a single rater, by data set."""
    if kind_of(items) is None:
        return
    for name, part in _by_data_set(items):
        words, heard = _WORDS.given(name=name), part.filter(pl.col("human_n") > 0)
        if len(heard) < len(part):
            yield words.get("nobody-judged", n=len(heard), of=len(part))
        if lone(part):
            one = heard[RATERS].explode().n_unique() == 1
            yield words.get("one-rater" if one else "lone", n=int((heard["human_n"] == 1).sum()), of=len(heard))


def length_cautions(items: pl.DataFrame, estimates: Iterable[Estimate]) -> Iterator[str]:
    """Yield, by data set, a caution that correlations of summed scores with judgements also reflect token length."""
    shown: dict[str, list[str]] = {}
    for each in estimates:
        by = each.by
        if each.measure != CORRELATIONS[False] or by["split"] != EQUAL_LENGTH or by["normalise"] != "none":
            continue
        inside = items.filter(pl.col("dataset") == by["dataset"], pl.col("human_n") > 0)
        if by["scope"] == "group":
            inside = inside.filter(group=by["group"])
        unequal = int((inside["difference"] != 0).sum())
        few = len(inside) - unequal < FEWEST
        facts = {"group": inside["group"][0], "n": len(inside), "unequal": unequal, "few": few}
        shown.setdefault(by["dataset"], []).append(_WORDS.get("of-lengths", r=_correlation(each), **facts))
    for name, paradigms in shown.items():
        yield _WORDS.get("lengths", name=name, paradigms=first_of(paradigms, _SHOWN))


def _correlation(estimate: Estimate) -> str:
    interval = "" if np.isnan(estimate.low) else f" [{estimate.low:+.2f}, {estimate.high:+.2f}]"
    return "" if np.isnan(estimate.value) else f"{estimate.value:+.2f}{interval}".replace("-", "−")


def fair_cautions(items: pl.DataFrame, fair: pl.DataFrame) -> Iterator[str]:
    """Yield cautions about pairs of unequal length in `fair`, and about paradigms of `items` that `fair` lacks."""
    if unequal := int((fair["difference"] != 0).sum()):
        yield _WORDS.get("not-fair", n=unequal, of=len(fair))
    if lost := sorted(set(items["group"]) - set(fair["group"])):
        yield _WORDS.get("not-in-fair", names=", ".join(lost))
