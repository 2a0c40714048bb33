"""Cautions about scored pairs: what a reader must know before using a number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from penchant.instruments.minimal_pairs.credits import HALF, TIE, UNSEEN, preferences
from penchant.instruments.minimal_pairs.estimates import CROWS_PAIRS
from penchant.instruments.minimal_pairs.human_estimates import CORRELATIONS, EQUAL_LENGTH, FEWEST, kind_of, lone
from penchant.instruments.minimal_pairs.human_judgements import RATERS
from penchant.plurals import first_of
from penchant.records import Estimate
from penchant.stats.logistic import LACK_OF_FIT
from penchant.wording.templates import Text

_WORDS = Text.of(Path(__file__).parent).below("cautions")
_REJECTED = 0.05
"""The p-value, adjusted over paradigms, at which a line in |A|−|U| is said not to fit."""
_SHOWN = 5
"""Paradigms that a caution names."""
_SMALL = 100
"""Pairs of a paradigm below which its interval is wide."""


def _by_data_set(items: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (name,), part in items.group_by("dataset", maintain_order=True):
        yield str(name), part


def pair_cautions(items: pl.DataFrame) -> Iterator[str]:
    """Cautions about unequal token lengths, ties and small paradigms, by data set."""
    for name, part in _by_data_set(items):
        words, of = _WORDS.given(name=name), len(part)
        longer, unequal = (int(found.sum()) for found in (part["difference"] > 0, part["difference"] != 0))
        ties = int((preferences(part, "none") == HALF).sum())
        small = int((part.group_by("paradigm").len()["len"] < _SMALL).sum())
        if unequal:
            yield words.get("unequal", n=unequal, of=of, longer=longer)
        if ties:
            yield words.get("ties", n=ties, of=of, good=TIE in part.columns, published=name == CROWS_PAIRS)
        if small:
            yield words.get("small", n=small)


def line_cautions(estimates: Iterable[Estimate]) -> Iterator[str]:
    """A caution for each data set and score whose log-odds are no line in |A|−|U| in some paradigms."""
    bent: dict[tuple[str, str], list[str]] = {}
    for estimate in estimates:
        if estimate.measure == LACK_OF_FIT and estimate.test is not None and estimate.test.adjusted <= _REJECTED:
            key = estimate.by["dataset"], estimate.by["normalise"]
            bent.setdefault(key, []).append(estimate.by["group"])
    for (name, how), paradigms in bent.items():
        shown = ", ".join(paradigms[:_SHOWN]) + (" and others" if len(paradigms) > _SHOWN else "")
        yield _WORDS.get("bent", name=name, how=how, n=len(paradigms), shown=shown, p=_REJECTED)


def unigram_cautions(items: pl.DataFrame) -> Iterator[str]:
    """A caution about tokens that the text of the unigrams does not have."""
    unseen, tokens = (
        sum(int(items[f"{name}_{role}"].sum()) for role in ("good", "bad")) for name in (UNSEEN, "tokens")
    )
    if unseen:
        yield _WORDS.get("unseen", n=unseen, of=tokens)


def human_cautions(items: pl.DataFrame) -> Iterator[str]:
    """A caution for each data set with pairs that nobody judged, and for each of which most have one rater alone."""
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
    """A caution for each data set with paradigms in which Δ of summed scores measures length, too."""
    told: dict[str, list[str]] = {}
    for each in estimates:
        by = each.by
        if each.measure != CORRELATIONS[False] or by["split"] != EQUAL_LENGTH or by["normalise"] != "none":
            continue
        inside = items.filter(pl.col("dataset") == by["dataset"], pl.col("human_n") > 0)
        if by["scope"] == "paradigm":
            inside = inside.filter(paradigm=by["group"])
        unequal = int((inside["difference"] != 0).sum())
        few = len(inside) - unequal < FEWEST
        facts = {"paradigm": inside["paradigm"][0], "n": len(inside), "unequal": unequal, "few": few}
        told.setdefault(by["dataset"], []).append(_WORDS.get("of-lengths", r=_correlation(each), **facts))
    for name, paradigms in told.items():
        yield _WORDS.get("lengths", name=name, paradigms=first_of(paradigms, _SHOWN))


def _correlation(found: Estimate) -> str:
    """The correlation with its interval; empty where there is none."""
    interval = "" if np.isnan(found.low) else f" [{found.low:+.2f}, {found.high:+.2f}]"
    return "" if np.isnan(found.value) else f"{found.value:+.2f}{interval}".replace("-", "−")


def fair_cautions(items: pl.DataFrame, fair: pl.DataFrame) -> Iterator[str]:
    """Cautions about fair pairs that are unequal for this model, and paradigms that the fair set lacks."""
    if unequal := int((fair["difference"] != 0).sum()):
        yield _WORDS.get("not-fair", n=unequal, of=len(fair))
    if lost := sorted(set(items["paradigm"]) - set(fair["paradigm"])):
        yield _WORDS.get("not-in-fair", names=", ".join(lost))
