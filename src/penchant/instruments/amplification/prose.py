"""Prose on amplification: what was measured, and what the numbers can and cannot show."""

from __future__ import annotations

from collections.abc import Sequence

from penchant.records import Result
from penchant.report.tables import literal


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how, with citations."""
    signature = results[0].signature
    texts = "; ".join(f"{literal(r.signature['model'])}: {literal(r.signature['text'])}" for r in results)
    return [
        "Does a model amplify what its text says [@zhao2017]? For two groups of words A and B, a model and its text "
        "are asked the same of every attribute word w. The model: each template is filled with w and with every word "
        "of both groups, the log-probability of w is read with all its pieces masked, and the same with the group "
        "word masked too is taken off; m(w) is the mean over templates and words of A minus that over words of B. "
        "This is the corrected score of [@kurita2019] with the attribute as the word that is read, so that "
        "what is taken off depends on the number of masks for the group word alone and is the same for group words of "
        "as many pieces.",
        "The text: c(w) is the log-odds of w among the words of the sentences that hold a word of A and none of B, "
        "against those that hold a word of B and none of A, with an informative Dirichlet prior, the sentences of "
        f"both, that counts for {float(signature['prior-size']):,.0f} words [@monroe2008]. Repeated sentences "
        "count as often as they stand there. A word is found in all the forms that the set gives it. Words with fewer "
        f"than {signature['min-count']} occurrences in both together are left out, by their total, so that no side is "
        f"favoured. The texts: {texts}.",
        "The slope of m on c is that of Deming's line, for both have errors [@deming1943; @fuller1987]: c that of the "
        "counts, with the variance that comes with the log-odds; m that of the templates and group words, which are "
        "crossed, by the components of variance of the three. Words also depart from a line for reasons that are no "
        "error of measurement, and a line that overlooks this is too steep [@carroll1996]; so the ratio of the "
        "variances is estimated with the scatter that is left as a part of that of m. Words are resampled. Beside it "
        "stands the slope of a line that takes c for known.",
    ]


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    return [
        "That the model says more than its text is said of this text, these words and these sentences. A slope is a "
        "number over words: a steep one can come from a few of them, and it does not say that any one association is "
        "wrong.",
        "m is asked in a few sentences of one kind, and c counted in all that the text holds; they are not the same "
        "quantity, and a slope other than 1 can come from that alone. The control, of which nobody expects a bias, "
        "passes through the same steps: what counts is the difference from its slope, and the difference between "
        "models. m also moves with the wording of a template: the table of m over templates says how far.",
        "The slope with errors in both holds where model and text are two samples of the same use of words. A model "
        "that has learned the chance of its very text by heart is overcorrected by it; the slope that takes the text "
        "for exact is then the better one. Where the two disagree about 1, nothing can be said.",
        "Words come in bursts, a story or a book at a time, so that counts say less than their variance tells, and the "
        "slope is then too flat. A text that is not the one the model was trained on answers another question: how the "
        "model compares with that text.",
        "Amplification is no measure of harm. A model that repeats its text faithfully repeats what is unfair in it, "
        "too.",
    ]
