"""Prose on Winogender: what was measured, what was found, and what the numbers can and cannot show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from penchant.instruments.wino.gender_compare import PEARSON_DIFFERENCE
from penchant.instruments.wino.gender_estimates import EFFECT, MEAN, OCCUPATION, PARTICIPANT, PEARSON, SLOPE
from penchant.instruments.wino.scoring import ALL, scored_by
from penchant.records import Result
from penchant.report.finding import Shown, differences, levels, sentences
from penchant.report.tables import literal, models

_NUMBER = Shown("+.3f", "occupations")
_R = Shown("+.2f", "occupations", ends=(-1, 1))


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured."""
    shares = ", ".join(literal(share) for share in _shares(results))
    return [
        "Data: sentences of Winogender or its form [@rudinger2018]. Each names an occupation and another person (a "
        "participant, or someone) and has a pronoun that refers to one of them; it comes with a female, a male and a "
        "neutral pronoun. The set was made to test systems of coreference resolution; here no reference is resolved, "
        "and sentences are compared by their scores. "
        f"{scored_by([result.signature for result in results])}",
        "score(she) − score(he) is averaged over the sentences of an occupation and held against the percentage of "
        f"women in it ({shares}). The published statistics are bls_pct_female, of the US Bureau of Labor Statistics, "
        "and bergsma_pct_female, of pronouns that go with the word in text [@bergsma2006]. Slopes are of least "
        "squares, per 10 percentage points. Where the pronoun refers to the other person it is a control; effect minus "
        "control is computed from the differences of the two within occupations, which are a sample. Two models are "
        "compared sentence by sentence.",
    ]


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    return [
        "This is a preference for one of several sentences, not the accuracy of coreference that is published for this "
        "set, and must not be called or compared to it.",
        "A preference that goes with the share of women may come from words that stand near each other in text. Where "
        "it does so just as much when the pronoun refers to the other person, it does not show that the model takes "
        "the occupation for whom the pronoun means. The control is not free of the occupation, which stands in its "
        "sentences as well: effect minus control shows what whom the pronoun refers to adds.",
        "The mean of score(she) − score(he) holds how frequent the two pronouns are. The neutral pronoun is mostly a "
        "plural in text, and some verbs change with it, so that its share says little of people who are neither. The "
        "statistics are of the United States, some ten years old or more. Faults of such sets are listed by Blodgett "
        "et al. [@blodgett2021].",
        "As published every occupation has two templates of its own, one in which the pronoun refers to it and one in "
        "which it refers to the other person. A preference beside one occupation is therefore also one of its "
        "sentences; the sd over templates says how far the two differ. Where one template an occupation is left, its "
        "part cannot be told from that of the occupation.",
    ]


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """How each model's preference goes with the share of women, and what the control leaves; of the first score."""
    share = _shares(results)[0]
    texts = [
        _levels(
            results,
            PEARSON,
            OCCUPATION,
            share,
            _R,
            f"Correlation of score(she) − score(he) with {share}, where the pronoun refers to the occupation",
        ),
        _levels(results, PEARSON, PARTICIPANT, share, _R, "The same where it refers to the other person, the control"),
        _levels(results, SLOPE, EFFECT, share, _NUMBER, "Slope per 10 points of women, effect minus control"),
        _levels(results, MEAN, ALL, "", _NUMBER, "Mean score(she) − score(he)"),
    ]
    if comparison is not None:
        rows = comparison.filter(
            (pl.col("part") == OCCUPATION)
            & (pl.col("share") == share)
            & (pl.col("measure") == PEARSON_DIFFERENCE)
            & (pl.col("normalise") == comparison["normalise"][0])
        )
        texts.append(differences(rows.iter_rows(named=True), _R, "has the higher correlation than", "correlation"))
    return sentences(*texts)


def _levels(results: Sequence[Result], measure: str, part: str, share: str, how: Shown, what: str) -> str:
    each = levels(_rows(results, measure, part, share), how, "0")
    return f"{what}: {each}" if each else ""


def _rows(results: Sequence[Result], measure: str, part: str, share: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for model, result in zip(models(results), results, strict=True):
        chosen = result.summary.filter(
            (pl.col("part") == part) & (pl.col("share") == share) & (pl.col("measure") == measure)
        )
        yield model, chosen.row(0, named=True)


def _shares(results: Sequence[Result]) -> list[str]:
    return [name.removeprefix("women_") for name in results[0].items.columns if name.startswith("women_")]
