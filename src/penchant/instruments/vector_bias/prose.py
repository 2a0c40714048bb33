"""Prose on the measures: how the numbers were computed, and what they cannot show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from penchant.instruments.vector_bias.exchange import EXACT
from penchant.instruments.vector_bias.measures import Measure
from penchant.instruments.vector_bias.settings import VectorBiasSettings
from penchant.records import Result
from penchant.report.tables import models


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how, with citations."""
    settings = VectorBiasSettings.of(results[0].settings)
    cases = {"lower": "in lower case", "keep": "as they stand"}
    ways = " or, by model, ".join(dict.fromkeys(cases[result.signature["case"]] for result in results))
    lengths = "scaled to length 1" if settings.normalise else "with the lengths that they have"
    first = (
        "Each category has two sets of targets, X and Y, and two of attributes, A and B. RND, MAC, ECT and RIPA are "
        "computed for the attributes A, for B, and for both (of RND, ECT and RIPA the union, of MAC the mean of the "
        f"two); RNSB for B against A. Vectors are taken {lengths}; words are looked up {ways}, and one that the model "
        "lacks is left out and listed. A category has no numbers where a model lacks more than "
        f"{settings.max_missing:.0%} of one of its lists."
    )
    described = [_DESCRIBED[measure](settings) for measure in settings.measures]
    return [first, *described, _tests(settings), *_ranked(results)]


def _rnd(settings: VectorBiasSettings) -> str:
    distance = {"euclid": "Euclidean distance", "cosine": "1 − cosine"}[settings.distance]
    return (
        "RND, the relative norm distance [@garg2018]: the mean over attributes a of d(mean X, a) − d(mean Y, a), d the "
        f"{distance}. Below 0, the attributes lie nearer to X."
    )


def _rnsb(settings: VectorBiasSettings) -> str:
    learned = (
        "It learns from all attributes"
        if settings.split is None
        else f"It learns from {1 - settings.split:.0%} of each set of attributes, drawn at random, and is tried on the "
        "others"
    )
    return (
        "RNSB, relative negative sentiment bias [@sweeney2019]: a logistic regression (quadratic penalty with weight "
        f"1, of the intercept too) learns to tell B from A. {learned}. P(B) of all targets, scaled to sum to 1, is "
        "held against equal shares by the Kullback–Leibler divergence, in nats. B takes the place of negative words, "
        "X and Y together that of the words judged. Its interval and its test fit the classifier "
        f"{settings.refits} times."
    )


def _mac(settings: VectorBiasSettings) -> str:
    return (
        "MAC, mean average cosine distance [@manzini2019]: the mean, over the targets X ∪ Y, of 1 − cosine with the "
        "attributes of a set. It says how near targets are to attributes, not which are nearer."
    )


def _ect(settings: VectorBiasSettings) -> str:
    return (
        "ECT, the embedding coherence test [@dev2019]: Spearman's ρ, over attributes, of their cosines with the mean "
        "of X and with the mean of Y. 1 means that both order the attributes alike."
    )


def _ripa(settings: VectorBiasSettings) -> str:
    pairs = {
        "auto": "words at the same place of X and Y where a set declares them as pairs, else all words of X with all "
        "of Y",
        "position": "words at the same place of X and Y",
        "all": "all words of X with all of Y",
    }[settings.pairs]
    return (
        "RIPA, relational inner product association [@ethayarajh2019]: the inner product of an attribute with "
        f"(x − y)/‖x − y‖, averaged over attributes and over pairs of targets: {pairs}. A pair that lacks a word is "
        "left out whole. Above 0, the attributes lie on the side of X."
    )


_DESCRIBED: Mapping[Measure, Callable[[VectorBiasSettings], str]] = {
    "rnd": _rnd,
    "rnsb": _rnsb,
    "mac": _mac,
    "ect": _ect,
    "ripa": _ripa,
}


def _tests(settings: VectorBiasSettings) -> str:
    """What is permuted, for the measures that have a test."""
    parts = []
    if {"rnd", "ripa", "ect"} & set(settings.measures):
        parts.append(
            "Tests of RND, RIPA and ECT exchange words between X and Y (RIPA over pairs: within pairs) and take the "
            f"attributes as they are; up to {EXACT:,} partitions are all gone through, else {settings.resamples:,} are "
            "drawn. ECT is tested against low values, since it cannot be more than 1."
        )
    if "rnsb" in settings.measures:
        parts.append(
            "The test of RNSB exchanges the labels of attributes between A and B and asks for high values: whether "
            "the targets differ more in this direction than in one that separates words at random."
        )
    if "mac" in settings.measures:
        parts.append("MAC has no test: no value of it means that words are exchangeable.")
    parts.append(
        "Holm's adjustment is over all categories and sets of attributes of a measure and model, their union apart."
    )
    return " ".join(parts)


def _ranked(results: Sequence[Result]) -> list[str]:
    if len(models(results)) < 2:
        return []
    return [
        "Models are ranked in every query, a category with one set of attributes, by how far a measure is from what "
        "it would be without bias, and ranks are averaged over queries [@badilla2020]. The words are resampled in all "
        "models at once, over those that all have, to see how the ranks depend on them."
    ]


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    measures = VectorBiasSettings.of(results[0].settings).measures
    said = {
        "rnd": "RND compares distances to means. The mean of words that differ among themselves is short, and that of "
        "frequent words may be long: X can be nearer to everything. So RND mixes length with direction, and A and B "
        "can both lean to one side; compare the two, scale vectors to length 1, or take the cosine distance.",
        "rnsb": "RNSB is above 0 for any classifier and any words, and with more dimensions than attributes the "
        "classifier separates any labels: its test, not its distance from 0, says whether there is something. It "
        "does not say which of X and Y is nearer to B; P(B) of each word does.",
        "mac": "MAC is lower wherever targets and attributes share a topic or the vectors a direction, whatever X and "
        "Y are. Values near 1 are no evidence of fairness.",
        "ect": "ECT is near 1 where X and Y are alike in what attributes they are near to, even if both are near to "
        "the same stereotype; few or noisy targets lower it. Eight attributes tell little of a rank correlation.",
        "ripa": "RIPA is in the units of the vectors' lengths, so that values of two models cannot be compared as they "
        "are. It varies much with the pair of targets; averaged over words that form no pairs it also holds what else "
        "tells the two lists apart.",
    }
    return [
        *(said[measure] for measure in measures),
        "The measures do not agree with each other, nor need they with what a system does that uses the vectors. A "
        "ranking of models says which vectors have less of what one measure sees in these words, not which are safe.",
        "A null result is no evidence of fairness: the lists may be too short, or miss what matters. Whether two "
        "lists belong together is the study's assumption.",
    ]
