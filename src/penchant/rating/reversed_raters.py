"""Raters whose ratings run against those of the others, as where somebody took one end of a scale for the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from typing import TypeVar

from penchant.plurals import counted, for_one
from penchant.records import Estimate
from penchant.stats.agreement import RELIABLE, TENTATIVE
from penchant.stats.raters import with_others, worth

Rater = TypeVar("Rater", bound=Hashable)
LITTLE = 0.1
"""The share of all that is rated under which a rater judged little."""


def each_with_others(units: Collection[Mapping[Rater, float]]) -> dict[Rater, Estimate]:
    """Return the correlation of every rater with the mean of the others, over units, which are ratings by rater."""
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
    """Yield what is said of raters whose correlation with the others has an interval below 0; `noun` is what they
    judged, in the plural."""
    against = {rater: found for rater, found in correlations.items() if found.high < 0}
    if len(correlations) == 2 and len(against) == 2:
        (one, found), (other, _) = against.items()
        told = f"the ratings of {called(one)} and {called(other)} run against each other"
        yield f"{told} ({_shown(found, noun)}): did one of them turn the scale round?"
        return
    for rater, found in against.items():
        told = f"the ratings of {called(rater)} run against the others'"
        yield f"{told} ({_shown(found, noun)}): is the scale turned round?"


def tentative(alpha: Estimate, noun: str) -> Iterator[str]:
    """Yield what is said of raters whose α is below that of tentative conclusions; `noun` is what they judged."""
    if alpha.value < TENTATIVE:
        yield (
            f"raters agree little: Krippendorff's α is {alpha.value:.2f} over the {counted(alpha.n, noun)} that two or "
            f"more rated; conclusions are tentative only from {TENTATIVE}, reliable from {RELIABLE}"
        ).replace("-", "−")


def _shown(found: Estimate, noun: str) -> str:
    return f"{found.measure} {found.value:.2f} over {counted(found.n, noun)}".replace("-", "−")


def newcomers(judged: Mapping[Rater, int], units: int, noun: str) -> str:
    """Return what is said of raters who judged little of all units, by how many each judged; "" where nobody did."""
    few = sum(number < LITTLE * units for number in judged.values())
    if not few or len(judged) < 2:
        return ""
    told = f"{few:,} of {counted(len(judged), 'raters')} judged under {LITTLE:.0%} of the {counted(units, noun)}"
    alike = worth(list(judged.values()))
    return f"{told}; all {len(judged):,} together are worth {alike:.1f} raters who judge every {for_one(1, noun)}"
