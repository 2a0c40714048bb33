"""Notes on raters who contradict the others, for example because they reversed the scale."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from typing import TypeVar

from penchant.plurals import counted
from penchant.records import Estimate
from penchant.stats.agreement import RELIABLE, TENTATIVE
from penchant.stats.rated_mean import with_others, worth

Rater = TypeVar("Rater", bound=Hashable)
LITTLE = 0.1
"""Proportion of the units; a note counts the raters who judged less than this."""


def each_with_others(units: Collection[Mapping[Rater, float]]) -> dict[Rater, Estimate]:
    """Return each rater's correlation with the mean of the other raters; each unit maps raters to ratings."""
    own: dict[Rater, list[tuple[float, float]]] = {}
    for unit in units:
        for rater, rating in unit.items():
            pairs = own.setdefault(rater, [])
            if len(unit) > 1:
                pairs.append((rating, (sum(unit.values()) - rating) / (len(unit) - 1)))
    return {
        rater: with_others(*zip(*pairs, strict=True)) if pairs else with_others((), ()) for rater, pairs in own.items()
    }


def opposed(correlations: Mapping[Rater, Estimate], noun: str, called: Callable[[Rater], str] = str) -> Iterator[str]:
    """Yield notes on raters whose correlation with the other raters has a confidence interval below 0.

    `noun` is the plural noun for the judged units, and `called` returns the name of a rater to display.
    """
    against = {rater: found for rater, found in correlations.items() if found.high < 0}
    if len(correlations) == 2 and len(against) == 2:
        (one, found), (other, _) = against.items()
        told = f"the ratings of {called(one)} and {called(other)} are opposite to each other"
        yield f"{told} ({_shown(found, noun)}): did one of them reverse the scale?"
        return
    for rater, found in against.items():
        told = f"the ratings of {called(rater)} are opposite to the others'"
        yield f"{told} ({_shown(found, noun)}): is the scale reversed?"


def tentative(alpha: Estimate, noun: str) -> Iterator[str]:
    """Yield a note if α is too low even for tentative conclusions; `noun` is the plural noun for the judged units."""
    if alpha.value < TENTATIVE:
        yield (
            f"raters agree too little even for tentative conclusions: Krippendorff's α is {alpha.value:.2f} over the "
            f"{counted(alpha.n, noun)} that two or more rated ({TENTATIVE} for tentative conclusions, {RELIABLE} for "
            "reliable ones)"
        ).replace("-", "−")


def _shown(found: Estimate, noun: str) -> str:
    return f"{found.measure} {found.value:.2f} over {counted(found.n, noun)}".replace("-", "−")


def newcomers(judged: Mapping[Rater, int], units: int, noun: str) -> str:
    """Return a note on raters who judged few units; "" if there are none.

    `judged` maps each rater to the number of units judged, `units` is the number of all units, and `noun` their plural
    noun.
    """
    few = sum(number < LITTLE * units for number in judged.values())
    if not few or len(judged) < 2:
        return ""
    told = f"{few:,} of {counted(len(judged), 'raters')} judged under {LITTLE:.0%} of the {counted(units, noun)}"
    return f"{told}, so the effective number of raters is {worth(list(judged.values())):.1f}"
