"""Prose on cloze valence: how it was measured, and what the numbers can and cannot show."""

from __future__ import annotations

from collections.abc import Sequence

from penchant.counting import counted
from penchant.instruments.cloze.agreeing import agreement_told
from penchant.instruments.cloze.cautions import named, without_beta
from penchant.records import Result, Signature
from penchant.report.finding import listed
from penchant.report.tables import literal

_SOURCES = {
    "ratings": "people's ratings ({}), the mean over raters",
    "lexicon": "a lexicon ({})",
    "corpora": "the log-odds of the word between two texts ({}) [@monroe2008]",
}
_UNRATED = {
    "zero": "A word that none of them knows adds nothing to β; the probability of the rated words is shown beside it.",
    "error": "Every word is rated.",
}


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how, with citations."""
    signature = results[0].signature
    low, _, high = literal(signature["scale"]).partition(" < ")
    asked = "; or ".join(_asked(result) for result in {r.signature["method"]: r for r in results}.values())
    used = [_SOURCES[key].format(literal(signature[key])) for key in _SOURCES if signature[key] != "none"]
    divided = " divided by the rated probability" if signature["renormalise"] == "yes" else ""
    level = f"{float(signature['level']):.0%}"
    return [
        f"Sentences with one gap stand between {low} (−1) and {high} (+1) [@cuscito2024]. For each, {asked}. The "
        "valence σ of a word in its sentence comes from "
        f"{'; else from '.join(used) or 'nowhere: no source rates a word'}.{agreement_told(results)} The "
        f"leaning of a model is β = Σ σ·p{divided}, its adequacy to a sentence of expected valence ρ is "
        f"δ = 1 − ½|ρ − β|. {_UNRATED[signature['unrated']]}{_empty(results)}",
        f"Means are over sentences. As a check of the ratings, {_moved(signature)}, drawn at random, move by "
        f"half a point within the scale, {signature['draws']} times; the central {level} of the means are shown as "
        '"ratings moved". Two models are compared sentence by sentence.',
    ]


def _empty(results: Sequence[Result]) -> str:
    """Which sentences have no rated prediction; empty where there are none, or nothing is rated."""
    parts = [
        f"{counted(len(ids), 'sentences')} of {literal(result.signature['model'])} ({literal(named(ids))})"
        for result in results
        if (ids := without_beta(result.items)) and len(ids) < len(result.items)
    ]
    return f" Sentences of which no predicted word is rated are left out: {listed(parts)}." if parts else ""


def _moved(signature: Signature) -> str:
    """How many ratings move; older results moved a number of all ratings."""
    if "moved-share" not in signature:
        return f"{literal(signature['moves'])} of them"
    return f"{float(signature['moved-share']):.1%} of those of each group (at least one)"


def _asked(result: Result) -> str:
    signature = result.signature
    if signature["method"] == "fill":
        return f"the {signature['k']} most probable words of a masked model at the gap, with their probabilities p"
    return (
        f"the {signature['k']} most probable words of a closed list, with probabilities p from the softmax of their "
        f"sentences' `{signature['method']}` scores"
    )


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    return [
        "β says which variety the words a model puts into these gaps belong to, as far as somebody rated them; δ how "
        "well that suits the sentences. Most words belong to both varieties and are worth 0, so both stay near the "
        "middle even for a model at home in one of them: read differences between models and groups, not the size of "
        "one number.",
        "δ of groups with different expected points cannot be compared: a model that leans nowhere (β = 0) has a δ of "
        "1 where 0 is expected, of .75 where ±½ is and of .5 where ±1 is, by construction. Compare models within a "
        "group.",
        "Only the words among the most probable ones count, and only the rated ones: a small rated mass leaves room "
        "for the opposite finding.",
    ]
