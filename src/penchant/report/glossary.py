"""The words of a page that not every reader knows, explained in a line each: those that the page uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_WORDS = (
    (
        "A, U",
        r"\b[AU][=<>][UA]\b|\|A\|",
        "the acceptable and the unacceptable sentence of a pair; A=U: both have as many "
        "tokens, A>U: the acceptable one has more, A<U: it has fewer; |A|−|U|: how many more",
    ),
    (
        "β",
        r"β",
        "where a model leans between two varieties, from −1 to +1: the probabilities of its words times their valence",
    ),
    ("δ", r"δ", "how well that leaning suits the sentences, from 0 to 1"),
    ("d", r"\bd\b|effect size", "an effect size: a difference of means in standard deviations"),
    (
        "valence, σ",
        r"[Vv]alence",
        "how far a word belongs to one variety or the other, from −1 to +1, as people rate it",
    ),
    ("rated mass", r"[Rr]ated mass", "the share of the probability that falls on words whose valence is known"),
    ("σ", r"one σ|residual", "the standard deviation of the residuals on neutral statements"),
    ("lp", r"\blp\b", "the log-probability of a sentence: of each token given those before it, summed"),
    ("pll", r"\bpll\b", "the pseudo-log-likelihood of a sentence: every token masked in turn, summed"),
    (
        "score none, mean, pen",
        r"\bpen\b",
        "how the score of a sentence is made independent of its length: not at all, by "
        "its mean per token, or by a penalty on long sentences",
    ),
    ("token", r"\btokens?\b", "a piece of text as a model reads it: a word or a part of one"),
    (
        "interval",
        r"\binterval",
        "the numbers in brackets: where the true value lies, for about 95 of 100 such intervals "
        "(or the level named under Methods)",
    ),
    ("p", r"\bp\b", "how often chance alone would give a difference at least as large, if there were none"),
    ("Holm", r"\bHolm\b", "a correction of p-values for the number of tests made together"),
    (
        "cannot be told apart",
        r"cannot be told|can be told apart",
        "the interval of the difference holds 0, or its p, adjusted "
        "where it is one of several, is above .05; this does not show that there is no difference",
    ),
    (
        "rough interval",
        r"rough interval",
        "one that holds the true value less often than it says, because there are few "
        "items or raters; the note below the table says how often, and how many would do",
    ),
    ("ratings moved", r"ratings moved", "the result if some ratings had been half a point higher or lower"),
    ("raters sampled", r"raters sampled", "the interval if other people had rated the words"),
    (
        "Δmodel, Δhuman",
        r"Δmodel",
        "how much higher a model scores the acceptable sentence of a pair than the other, and how far people prefer it",
    ),
    ("ceiling", r"\bceiling\b", "how often a rater agrees with the majority of the other raters"),
    (
        "Krippendorff's α",
        r"Krippendorff",
        "how far raters agree beyond chance: 1 where they all do, 0 where chance would bring as much",
    ),
    ("Cronbach's α", r"Cronbach", "how much answers to several statements go together, up to 1"),
    (
        "representativeness",
        r"[Rr]epresentativeness",
        "1 where a rating is the median of people's answers, 0 where it is outside all of them",
    ),
    ("signature", r"[Ss]ignature", "the recipe of a number in one line, to be cited with it"),
)


def of(parts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The words that sections, as the templates are given them, use, with their meaning; in a fixed order."""
    text = "\n".join(string for part in parts for key in _SHOWN for string in _strings(part[key]))
    text += "signature" if any(part["signatures"] for part in parts) else ""
    return [(word, meaning) for word, pattern, meaning in _WORDS if re.search(pattern, text)]


_SHOWN = ("question", "finding", "cautions", "tables", "compared", "limits", "methods", "figures")
_UNSEEN = {"rows", "id", "drawing", "spec", "picks", "numbers", "mark"}
"""Parts that hold names of users or of elements, or drawings."""


def _strings(part: Any) -> Iterator[str]:
    """The texts within a part."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping):
        for key, value in part.items():
            if key not in _UNSEEN:
                yield from _strings(value)
    elif isinstance(part, list | tuple):
        for each in part:
            yield from _strings(each)
