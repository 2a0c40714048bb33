"""Prose on StereoSet: the finding, how it was measured, and what the numbers can and cannot show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from penchant.instruments.stereoset.estimates import BIAS_TYPE, BOTH, LMS, OVERALL, SS, SS_GAP
from penchant.instruments.stereoset.scores import OVER_TERMS
from penchant.instruments.stereoset.scoring import AUTHORS, ONE_MASK
from penchant.instruments.stereoset.section import overall
from penchant.records import Result
from penchant.report.finding import MOST, Shown, across, differences, levels, listed, sentences
from penchant.report.items import every_item
from penchant.report.tables import literal, models

_SCORE = Shown(".1f", "target terms", "%", 1, 50, (0, 100))
_CHANCE = 50
"""The LMS of a model that does not tell meaningful sentences from unrelated ones."""
_POINTS = Shown("+.1f", "target terms", " points", 1, 0, (-100, 100))
_METHODS = {
    "lp": "the sum of the log-probabilities of its tokens, each given those before it",
    "pll": "its pseudo-log-likelihood: every token masked in turn, the log-probabilities of the hidden tokens summed "
    "[@salazar2020]",
    "pll-word-l2r": "its pseudo-log-likelihood with the later pieces of a token's word masked too [@kauf2023]",
    f"{AUTHORS}, masked": "the mean probability of the pieces of the blank's fill, filled in from left to right, the "
    "pieces still to come masked",
    f"{ONE_MASK}, masked": "the mean probability of the pieces of the blank's fill, filled in from left to right, the "
    "pieces still to come left out of the input, so that there is one mask",
    f"{AUTHORS}, causal": "the mean log2-probability of its tokens: the first after the beginning token, each other "
    "one given those before it, without the beginning token",
}
_NORMALISED = {
    "none": "the score as it is",
    "mean": "divided by the number of tokens",
    "pen": "divided by ((5 + tokens)/6)^α, α = 0.8 [@lau2020]",
}


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """SS and LMS of each model, between which models SS differs, and for which bias types it is not 50; of the first
    score reported, means over target terms."""
    parts = [part for part in results[0].summary["part"].unique(maintain_order=True) if part != BOTH]
    return sentences(*(text for part in parts for text in _of_part(part, results, comparison, len(parts) > 1)))


def _of_part(part: str, results: Sequence[Result], comparison: pl.DataFrame | None, several: bool) -> Iterator[str]:
    place = f", {part}sentence" if several else ""
    hows = results[0].summary["normalise"].unique(maintain_order=True)
    score = f"; score {hows[0]}" if len(hows) > 1 else ""
    for measure, said in ((SS, "stereotype over anti-stereotype"), (LMS, "meaningful over unrelated sentence")):
        rows = [
            (model, row)
            for model, result in zip(models(results), results, strict=True)
            if (row := overall(result, part, measure))
        ]
        known = levels(rows, _SCORE, "50%")
        at_chance = [model for model, row in rows if row["low"] <= _CHANCE] if measure == LMS else []
        if known and at_chance:
            known += f"; SS says little of a model that does not tell sense from nonsense ({listed(at_chance)})"
        yield f"{measure}{place} ({said}{score}): {known}" if known else ""
    if comparison is not None:
        chosen = (pl.col("part") == part) & (pl.col("scope") == OVERALL) & (pl.col("measure") == SS_GAP)
        gaps = comparison.filter(chosen & (pl.col("mean") == OVER_TERMS))
        rows_of = [rows.row(0, named=True) for _, rows in gaps.group_by("comparison", maintain_order=True)]
        yield differences(rows_of, _POINTS, "prefers the stereotype more often than", f"{SS}{place}")
    for model, result in list(zip(models(results), results, strict=True))[:MOST]:
        of_type = result.summary.filter(
            (pl.col("scope") == BIAS_TYPE)
            & (pl.col("part") == part)
            & (pl.col("measure") == SS)
            & (pl.col("mean") == OVER_TERMS)
            & (pl.col("normalise") == result.summary["normalise"][0])
        )
        if len(of_type) > 1:
            placed = ((row["group"], row) for row in of_type.iter_rows(named=True))
            more = "in the table by bias type"
            yield across(placed, _SCORE, "bias types", f"{SS}{place} of {model}", apart="50%", more=more)


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how, with citations."""
    first = results[0].signature
    ways = dict.fromkeys(_way(result) for result in results)
    hows = dict.fromkeys(how for result in results for how in result.signature["normalise"].split(","))
    parts = first["part"].split(",")
    said = {
        "intra": "three sentences that fill the blank of a context",
        "inter": "three sentences that follow a context",
    }
    items = every_item(results)
    counts = ", ".join(f"{len(items.filter(part=part)):,} {part}sentence" for part in parts)
    terms = items["target"].n_unique()
    follow = (
        " An intersentence one is scored given its context: both are read as one text, with a space between them and "
        "no separator, and only its own tokens are scored and counted."
        if "inter" in parts
        else ""
    )
    ties = "one half" if first["ties"] == "half" else "for the second of the two, as in the authors' code"
    scores = "; or ".join(_METHODS[way] for way in ways)
    return [
        f"Data: {literal(first['data'])}, of the form of StereoSet [@nadeem2021]; {counts} clusters on {terms} target "
        f"terms. A cluster has {' or '.join(said[part] for part in parts)}: a stereotype (s), an anti-stereotype (a) "
        f"and an unrelated sentence (u). The score of a sentence is {scores}.{follow} "
        f"It is reported as {'; '.join(f'`{how}`, {_NORMALISED[how]}' for how in hows)}.",
        "SS is the percentage of clusters with s > a; LMS that of the comparisons s > u and a > u that hold; ICAT is "
        f"LMS · min(SS, 100 − SS)/50, of the means of both. A tie counts {ties}. As published, the scores are means "
        "over target terms, each the mean over its clusters; beside them stand means over clusters. Intervals and "
        "tests take the target terms for a sample of such terms, those of a single term its clusters for a sample. "
        "Where the interval of SS holds 50, that of ICAT ends where that of LMS ends, because ICAT cannot lie above "
        "LMS and may equal it. SS is also given by which of s and a has more tokens, with the change of its log-odds "
        "per token: a logistic fit with an intercept for every term. Two models are compared term by term and "
        "cluster by cluster.",
    ]


def _way(result: Result) -> str:
    method = result.signature["method"]
    kind = "masked" if result.signature["bos"] == "template" else "causal"
    return f"{method}, {kind}" if method.startswith(AUTHORS) else method


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    paragraphs = [
        "SS says how often the model finds the sentence that annotators called a stereotype more probable than the one "
        "they called its opposite. It does not say that the model believes or would act on a stereotype, nor that it "
        "is free of bias at 50: frequent words, length, grammar and the crowd's wording move it too. Many of its "
        "clusters are not well-formed, or contrast what is no stereotype at all [@blodgett2021].",
        "ICAT rewards a model for preferring meaningful sentences and for an SS near 50; two models with the same ICAT "
        "can differ in both. At SS = 50 it has its peak, so that the ICAT of a sample lies below that of the whole. "
        "Compare SS and LMS.",
        "Means over terms and over clusters weigh the same preferences differently; neither is more right. Where s and "
        "a have unequal numbers of tokens, sums tend to favour the shorter and means per token the longer: compare "
        "models with different tokenizers on the clusters of equal length.",
    ]
    worded = every_item(results).filter(pl.col("worded").is_in(["otherwise", "no blank"]))
    if len(worded):
        paragraphs.append(
            f"In {len(worded):,} clusters the sentences differ in more than the fill of the blank, as translations do: "
            "there the preference may be for any of the differences."
        )
    if any(_way(result).endswith("masked") and _way(result).startswith(AUTHORS) for result in results):
        paragraphs.append(
            "The mean probability of the pieces of a word is no probability of the word, and one easily completed "
            "piece makes it large; words of one and of several pieces do not compare well. Pieces are those of the "
            "word in its sentence; the authors tokenize it alone and put it into the context."
        )
    return paragraphs
