"""Prose on minimal pairs: how they were scored and compared, and what the numbers can and cannot show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penchant.instruments.minimal_pairs import human_prose
from penchant.instruments.minimal_pairs.estimates import CROWS_PAIRS
from penchant.instruments.minimal_pairs.formats import PREFIX
from penchant.instruments.minimal_pairs.section import roles
from penchant.instruments.minimal_pairs.stereotypes import stereotyped
from penchant.records import Result
from penchant.report.items import every_item
from penchant.report.tables import literal

_METHODS = {
    "lp": "the sum of the log-probabilities of its tokens, each given those before it",
    "pll": "its pseudo-log-likelihood: every token masked in turn, the log-probabilities of the hidden tokens summed "
    "[@salazar2020]",
    "pll-word-l2r": "its pseudo-log-likelihood with the later pieces of a token's word masked too [@kauf2023]",
    "pll-shared": "the pseudo-log-likelihood of the tokens it shares with the other sentence of the pair [@nangia2020]",
    "aul": "the mean log-probability of its tokens, none of them masked [@kaneko2022]",
    "aula": "the mean log-probability of its tokens, none of them masked, weighted by the attention they receive "
    "[@kaneko2022]",
}
_NORMALISED = {
    "none": "the score as it is",
    "mean": "divided by the number of tokens",
    "pen": "divided by ((5 + tokens)/6)^α, α = 0.8 [@lau2020]",
    "slln": "divided by tokens^α, α = 0.5 [@liu2026]",
    "slor": "less the log-probability of the tokens as unigrams, divided by the number of tokens "
    "[@pauls2012; @lau2017]",
    "pmi": "less that of the same tokens without the prefix (pointwise mutual information) [@holtzman2021]",
}
_DATA = {"blimp": "[@warstadt2020]", "crows-pairs": "[@nangia2020; @blodgett2021]", "comps": "[@misra2023]"}


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how, with citations."""
    names = dict.fromkeys(result.signature["method"] for result in results)
    hows = dict.fromkeys(how for result in results for how in result.signature["normalise"].split(","))
    items = every_item(results)
    sets = items["dataset"].unique(maintain_order=True)
    data = ", ".join(f"{name} {_DATA[name]}" if name in _DATA else literal(name) for name in sets)
    scores = "; or ".join(f"`{name}`, {_METHODS[name]}" for name in names)
    normalised = "; ".join(f"`{how}`, {_NORMALISED[how]}" for how in hows)
    sides, of_them = roles(results), stereotyped(items)
    played = (
        f"Of stereotypes the {sides[0].removeprefix('acceptable or ')} sentence plays the acceptable one (A): a higher "
        "accuracy there is no merit. The stereotype score is the percentage of pairs whose more stereotypical sentence "
        f"has the higher score; 50 is no preference, and a tie counts {_stereotype_tie(of_them)}. "
        if of_them
        else ""
    )
    return [
        f"Data: {data}. {played}Each pair has one {sides[0]} and one {sides[1]} sentence. The score of a sentence is "
        f"{scores}. It is reported as {normalised}. A pair counts 1 where the {sides[0]} sentence has the higher "
        f"score, {_at_a_tie(results)} and 0 otherwise; accuracy is the mean. Special tokens are context and never "
        f"scored.{_spaced(results)}{_prefixed(results)}",
        f"Pairs are split by whether the {sides[0]} sentence (A) has as many tokens as the {sides[1]} one (U), more "
        "or fewer [@ueda2024]. Gaps to A=U are differences within paradigms, weighted by their pairs over several. "
        "Length-adjusted accuracy is what a logistic fit predicts at equal lengths. It has an intercept for every "
        "paradigm and a level for every |A|−|U| other than 0, which paradigms share; several paradigms are averaged by "
        "their pairs. Where a paradigm has pairs of equal length it is the accuracy on them, but for a penalty that "
        "draws it towards one half where they are few, and so no further score; without such pairs a line in |A|−|U| "
        "stands in for the levels. "
        "Several paradigms, or in CrowS-Pairs bias types, are taken as a sample: intervals and tests are about others "
        "like them, and wide where there are only two or three. Two models are compared pair by pair.",
        *human_prose.methods(results),
    ]


def _prefixed(results: Sequence[Result]) -> str:
    """What is said where sentences have a prefix."""
    if not any(PREFIX in result.items.columns and (result.items[PREFIX] != "").any() for result in results):
        return ""
    told = " A sentence with a prefix is scored given it: the prefix is read, and not scored."
    texts = dict.fromkeys(result.signature.get("neutral", "") for result in results)
    named = " or ".join(f"'{literal(text)}'" if text else "nothing" for text in texts)
    pmi = any("pmi" in result.signature["normalise"].split(",") for result in results)
    return f"{told} For pmi its tokens are read after {named} instead." if pmi else told


def _at_a_tie(results: Sequence[Result]) -> str:
    """What a tie counts."""
    ways = dict.fromkeys(result.signature.get("ties", "half") for result in results)
    return " or ".join({"half": "½ at a tie", "good": "1 at a tie as well"}[way] for way in ways)


def _spaced(results: Sequence[Result]) -> str:
    """Which models read a space before each sentence."""
    names = [literal(result.signature["model"]) for result in results if result.signature.get("space") == "front"]
    return f" A space precedes each sentence for {', '.join(names)}." if names else ""


def _stereotype_tie(sets: Iterable[str]) -> str:
    published = [name == CROWS_PAIRS for name in sets]
    if all(published):
        return "for neither side, as published"
    return "one half" + (", in CrowS-Pairs, as published, for neither side" if any(published) else "")


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    paragraphs = [
        "Accuracy says how often the model finds the acceptable sentence of a pair more probable. It is a preference "
        "between two given sentences, not knowledge of a rule: frequent words and phrases, names and the number of "
        "tokens move it too.",
        "Between models with different tokenizers compare the pairs of equal length under both; the raw accuracy of a "
        "paradigm whose lengths differ mostly one way measures the tokenizer as well.",
    ]
    sets = stereotyped(every_item(results))
    if sets:
        paragraphs.append(
            "Of stereotypes no sentence is acceptable or not: the stereotype score says how often the more "
            "stereotypical one is more probable, 50 being no preference. Names, frequencies and lengths move it too"
            + (", and many pairs of CrowS-Pairs have known faults." if "crows-pairs" in sets else ".")
        )
    return [*paragraphs, *human_prose.limits(results)]
