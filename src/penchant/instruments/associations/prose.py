"""Prose on association tests: how to read them, how the numbers were computed, and what they cannot show."""

from __future__ import annotations

from collections.abc import Sequence

from penchant.instruments.associations.control import BEYOND
from penchant.instruments.associations.frames import families, headline, probe, stacked
from penchant.records import Result, Signature
from penchant.report.tables import literal
from penchant.stats.contextual_effects import KEPT


def reading(results: Sequence[Result]) -> str:
    """How to read the main table."""
    name, signature = probe(results), results[0].signature
    about = {
        "weat": "d: how much nearer X is to A than to B, compared with Y, in standard deviations over X and Y.",
        "seat": "d: how much nearer sentences of X are to A than to B, compared with those of Y, in standard "
        "deviations over all of them.",
        "ceat": "d: how much nearer X is to A than to B, compared with Y, in standard deviations over X and Y; "
        "combined over samples of one sentence for each stimulus.",
        "logprob-bias": "d: how much more one set of attributes speaks for the first set of targets than the other "
        "does, in standard deviations over the attributes.",
    }[name]
    permuted, fixed = ("attributes", "targets") if name == "logprob-bias" else ("X and Y", "A and B")
    side = " One-sided: p of a negative d is never small." if signature["alternative"] == "upper" else ""
    near = "normal approximation of the " if signature["test"] == "normal" else ""
    words = (
        f"{about} Brackets: {_level(signature)} interval, all four sets resampled. p: {near}permutation of {permuted}, "
        f"{fixed} as they are, so that it can be small where the interval holds 0; Holm's adjustment is over "
        f"{family(results)} of a model.{side}"
    )
    return words + (" The published p, which is another, is in the details." if name == "ceat" else "")


def family(results: Sequence[Result]) -> str:
    """What Holm's adjustment of effect sizes is over, in words."""
    name = probe(results)
    return families(stacked(results, headline(name)), name)


def _level(signature: Signature) -> str:
    return f"{float(signature['level']):.0%}"


# --- Methods --------------------------------------------------------------------------------------------------------


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how, with citations."""
    signature = results[0].signature
    described = {"weat": _weat, "seat": _seat, "ceat": _ceat, "logprob-bias": _logprob}[probe(results)]
    paragraphs = [*described(results), _tested(signature), _INTERVALS]
    if any(BEYOND in result.summary["measure"] for result in results):
        paragraphs.append(
            "Where a category names a control, its effect size minus that of the control stands beside it. Both are "
            "resampled at once, and a list of words that both have draws the same words in both."
        )
    if signature["compat"] != "none":
        paragraphs.append(
            f"Parameters that the study does not set itself are those of the preset `{literal(signature['compat'])}`; "
            "they are the ones given here."
        )
    return paragraphs


_D = "d = (mean s over X − mean s over Y)/sd of s over X ∪ Y, the sd with n − {ddof} in its denominator"


def _missing(signature: Signature) -> str:
    share = f"{float(signature['max-missing']):.0%}"
    return f"A category has no effect size where a model lacks more than {share} of one of its four lists."


def _weat(results: Sequence[Result]) -> list[str]:
    signature = results[0].signature
    cases = {"lower": "in lower case", "keep": "as they stand"}
    ways = " or, by model, ".join(dict.fromkeys(cases[result.signature["case"]] for result in results))
    return [
        "WEAT on static word vectors [@caliskan2017]: s(w) is the mean cosine of a word's vector with those of A minus "
        f"the mean with those of B; {_D.format(ddof=signature['ddof'])}. Words are looked up {ways}; one that is not "
        f"in the vocabulary is left out and listed. {_missing(signature)}"
    ]


_POOLED = {
    "mean": "the mean over the vectors of its tokens, special ones left out",
    "mean-special": "the mean over the vectors of all its tokens, special ones too",
    "cls": "the vector of its first token",
    "last": "the vector of its last token",
}


def _seat(results: Sequence[Result]) -> list[str]:
    signature = results[0].signature
    unit = (
        "The unit is the word: d is over all sentences, but the test permutes words, each with the mean of its "
        "sentences, and intervals draw words with all their sentences; beside it stands the test of older tools, which "
        "permutes sentences."
        if signature["unit"] == "word"
        else "The unit is the sentence, as in older tools: sentences with the same word are taken for independent."
    )
    return [
        "SEAT [@may2019]: WEAT [@caliskan2017] on sentences that hold a stimulus and little else. A sentence stands as "
        f"{_POOLED[signature['pooling']]}, {_layers(signature)}; s(w) is the mean cosine of a sentence with those of A "
        f"minus the mean with those of B; {_D.format(ddof=signature['ddof'])}. {unit} {_missing(signature)}"
    ]


def _layers(signature: Signature) -> str:
    layers = signature["layers"].split("+")
    return f"at layer {', '.join(layers)} (0: the embeddings, −1: the last)".replace("-", "−")


_PIECES = {
    "mean": "the mean over the vectors of its pieces, suffix included",
    "first": "the vector of its first piece",
    "last": "the vector of its last piece",
    "root": "the mean over the vectors of the pieces of its root, without suffix",
}


def _ceat(results: Sequence[Result]) -> list[str]:
    signature = results[0].signature
    cut = (
        "A segment of L words is a window of exactly L words around the word; > L are whole sentences of more words, "
        "all are whole sentences"
        if signature["mode"] == "window"
        else "A segment are whole sentences by their own length: at most L words and more than the bound before"
    )
    numbers = [f"{int(n):,}" for n in signature["samples"].split("+")]
    drawn = {
        "fixed": "`fixed`: the same sentences for every model and number of samples",
        "random": "`random`: drawn afresh for each",
    }
    ways = "; ".join(drawn[way] for way in signature["sampling"].split("+"))
    level = _level(signature)
    minimum = int(signature["minimum"])
    fewer = f" A word with fewer than {minimum:,} usable sentences is missing." if minimum > 1 else ""
    return [
        "CEAT [@guo2021]: every sample takes one sentence of each stimulus from "
        f"{literal(signature['sentences'])}; a word stands as {_PIECES[signature['pieces']]}, {_layers(signature)}. "
        "s(w) is the mean cosine with the vectors of A minus the mean with those of B; "
        f"{_D.format(ddof=signature['ddof'])} [@caliskan2017]. Samples: {' and '.join(numbers)}, {ways}. Of a word "
        f"with fewer sentences than samples they are drawn with replacement.{fewer} {_missing(signature)}",
        f"{cut} [@sadhu2024].",
        "The effect sizes of the samples are combined as random effects [@dersimonian1986]: V = sd² of s over X ∪ Y, "
        "weights 1/(V + τ²). As published, the standard error is 1/√(Σ weights) and p is "
        f"{'two-sided' if signature['alternative'] == 'two-sided' else 'one-sided'} from the normal distribution; both "
        "shrink as 1/√N by construction, because samples of one corpus count as independent studies. τ and I² compare "
        "the samples' effect sizes with the variance that d has over other stimuli [@hedges1985], not with V, which "
        f"is in the units of cosines. A further sample lies in the {level} prediction interval, mean ± t·S·√(1 + 1/N), "
        "S the sd of the samples' effect sizes.",
        "The interval and p at the head do not shrink so: the interval draws stimuli and samples anew (of the first "
        f"{KEPT} samples), its bounds shifted by what the "
        "combined effect size differs from the mean of those samples; p permutes stimuli, each with its s averaged "
        "over all samples.",
    ]


def _logprob(results: Sequence[Result]) -> list[str]:
    signature = results[0].signature
    pieces = (
        "a word of several pieces has as many masks, and its log-probabilities are summed"
        if signature["pieces"] == "all"
        else "a word of several pieces has one mask, read for its first piece"
    )
    return [
        "Log-probability bias score [@kurita2019]: in a sentence with a target and an attribute, fill is the "
        "log-probability of the target where it is masked, prior the same with the attribute masked too, read at the "
        f"target's own place; corrected = fill − prior, natural logarithm, signed; {pieces}. Sentences come in "
        "structures of growing context [@sadhu2024].",
        "The association of an attribute is the mean corrected score of the first set of targets minus that of the "
        "second, over all its sentences; d = (mean over one set of attributes − mean over the other)/sd over both, the "
        f"sd with n − {signature['ddof']} in its denominator. X and Y are the targets and A and B the attributes, but "
        "in categories that fill the target slot with A and B. "
        f"{_missing(signature)}",
    ]


def _tested(signature: Signature) -> str:
    rows = {"logprob-bias": "attributes"}.get(signature["probe"], "targets X ∪ Y")
    others = {"logprob-bias": "targets and sentences"}.get(signature["probe"], "attributes")
    side = "two-sided" if signature["alternative"] == "two-sided" else "one-sided (`upper`), as in older tools"
    if signature["test"] == "normal":
        how = "by the normal distribution with the exact mean and variance that all partitions have"
    else:
        how = (
            f"against all partitions into sets of the same sizes where there are at most {int(signature['exact']):,}, "
            f"else against {int(signature['draws']):,} random ones, (1 + as extreme)/(1 + drawn); ties count as extreme"
        )
    return (
        f"p, {side}, permutes the {rows} and takes {others} as given: it says nothing about other {others}. It is "
        f"reckoned {how}. Holm's adjustment is over all categories, layers and contexts of one model together"
        f"{_APART.get(signature['probe'], '')}."
    )


_APART = {
    "ceat": ", samplings and numbers of samples apart",
    "logprob-bias": ", effect sizes over all contexts apart",
}
_INTERVALS = (
    "Intervals resample the stimuli of all four sets, with replacement within each. They answer what other stimuli of "
    "the kind would give, for attributes too, and can hold 0 where p is small."
)


# --- Limits ---------------------------------------------------------------------------------------------------------

_STIMULI = (
    "An effect size is about these words. A word with several meanings, a rare name or one that tokenizers cut in "
    "pieces can carry it alone: see what every stimulus says."
)
_USE = (
    "An association in vectors or scores is no measure of harm, nor of what a model says when it is used; no effect is "
    "no evidence of fairness either. Whether two lists belong together is the study's assumption."
)


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    about = {
        "weat": [
            "d has no unit: it is in standard deviations of the targets' own associations, at most 2 where X and Y are "
            "of one size, whatever the cosines are. Equal d of two models do not mean equal cosines; look at the "
            "associations of the stimuli."
        ],
        "seat": [
            "Sentence vectors of models that were not trained for similarity lie close together, and the sentence "
            "around a word adds what all of them share; d divides by what is left, however little. Pooling and layer "
            "are choices of the measurement: an effect that stands and falls with them is one of the measurement.",
            "Eight sentences with one word are not eight observations. The test over sentences has a small p where "
            "words alone would not.",
        ],
        "ceat": [
            "The published p says how well the mean over possible samples of this corpus is known. With enough samples "
            "it is small for any effect that is not exactly 0; it must not be read as evidence about words, people or "
            "models. Quote the interval over stimuli instead.",
            "With samples drawn with replacement from a few sentences, more samples add no sentences. Effects differ "
            "with the length of segments also because other sentences hold the rarer words there.",
        ],
        "logprob-bias": [
            "Fill and prior scores of different words cannot be compared: frequent and short words have larger ones. "
            "The corrected score takes off what the sentence says without the attribute, but not how the target fits "
            "its grammar or topic: an attribute that stands often beside a target raises it, whatever is said.",
            "The log-probabilities of a word's pieces, each with all others masked, are no probability of the word. "
            "Where the attribute stands elsewhere in the sentence, or a token holds part of it, the prior knows it.",
        ],
    }[probe(results)]
    deviations = (
        []
        if probe(results) == "weat"
        else [
            "d is in standard deviations of the associations themselves, at most 2 where both sets are of one size; "
            "equal d need not mean equally strong associations."
        ]
    )
    return [*about, *deviations, _STIMULI, _USE]
