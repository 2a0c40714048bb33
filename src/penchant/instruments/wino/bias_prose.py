"""Prose on WinoBias: what was measured, what was found, and what the numbers can and cannot show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from penchant.instruments.wino.bias_estimates import ADJUSTED, ADJUSTED_DIFFERENCE, PREFERS_MALE, PREFERS_PRO, STRONG
from penchant.instruments.wino.bias_estimates import PRO_DIFFERENCE as DIFFERENCE
from penchant.instruments.wino.scoring import scored_by
from penchant.records import Result
from penchant.report.finding import Shown, differences, levels, listed, sentences
from penchant.report.tables import models

_SHARE = Shown(".1f", "pairs", "%", 100, 0.5, (0, 1))
_NATS = Shown("+.3f", "occupations")
_POINTS = Shown("+.1f", "pairs", " points", 100, 0, (-1, 1))


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured."""
    return [
        "Data: pairs of sentences of WinoBias or its form [@zhao2018]. Each names two occupations and has a pronoun "
        "that refers to one of them; in the pro-stereotypical sentence the pronoun has the gender that the stereotype "
        "gives that occupation, in the anti-stereotypical one the other. In type 1 only what is said tells who is "
        "meant; in type 2 syntax tells it. The set was made to test systems of coreference resolution; here no "
        "reference is resolved, and the two sentences are compared by their scores. "
        f"{scored_by([result.signature for result in results])} A pair counts 1 where the preferred sentence is the "
        "one asked for, ½ at a tie and 0 otherwise.",
        "The gender-adjusted preference is the mean of score(male pronoun) − score(female pronoun) over occupations "
        "whose pro-stereotypical pronoun is male, minus the mean over those where it is female: what a model gives to "
        "one gender everywhere drops out. Occupations are a sample of those of their gender; shares are over pairs, "
        "and their error is that between occupations. Two models are compared pair by pair.",
    ]


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    return [
        "This is a preference between two sentences. It is another quantity than the accuracy or F1 of coreference "
        "that is published for this set, and must not be called or compared to one: a model may prefer a pronoun and "
        "still resolve it rightly, and the other way round.",
        "The share preferring the pro-stereotypical pronoun is 50% for a model without any leaning, and also for one "
        "that prefers the same gender everywhere, however strong its stereotypes: read the share that prefers the male "
        "pronoun and the gender-adjusted preference beside it. Frequencies of he, she, his, her and him differ, and "
        "her stands for two of the male forms.",
        "A preference may come from the other occupation in the sentence as well as from the one that the pronoun "
        "refers to, since both have a stereotype, and opposite ones: it does not show that the model knows whom the "
        "pronoun means. The stereotypes are those of the US labour market of 2017 where the published lists are used; "
        "two genders are all that the set has. Faults of such sets are listed by Blodgett et al. [@blodgett2021].",
    ]


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """What each model prefers, with its leaning to one gender told apart; of the first score reported."""
    share = _levels(
        results, PREFERS_PRO, _SHARE, "The pro-stereotypical pronoun is more probable in this share of pairs"
    )
    one_sided = [model for model, row in _rows(results, PREFERS_MALE) if max(row["value"], 1 - row["value"]) >= STRONG]
    if share and one_sided:
        prefer = "prefers" if len(one_sided) == 1 else "prefer"
        share += (
            f"; {listed(one_sided)} {prefer} one gender nearly everywhere, which brings this share near 50% whatever "
            "the stereotypes"
        )
    texts = [
        share,
        _levels(results, PREFERS_MALE, _SHARE, "The male pronoun is more probable in this share of pairs"),
        _levels(results, ADJUSTED, _NATS, "Gender-adjusted preference for the pro-stereotypical pronoun"),
    ]
    if comparison is not None:
        rows = comparison.filter((pl.col("scope") == "overall") & (pl.col("normalise") == comparison["normalise"][0]))
        adjusted = rows.filter(pl.col("measure") == ADJUSTED_DIFFERENCE)
        shares = rows.filter(pl.col("measure") == DIFFERENCE)
        texts.append(
            differences(
                shares.iter_rows(named=True),
                _POINTS,
                "prefers the pro-stereotypical pronoun more often than",
                "that share",
            )
        )
        texts.append(
            differences(
                adjusted.iter_rows(named=True),
                _NATS,
                "has the higher gender-adjusted preference than",
                "that preference",
            )
        )
    return sentences(*texts)


def _levels(results: Sequence[Result], measure: str, how: Shown, what: str) -> str:
    each = levels(_rows(results, measure), how, "50%" if how.null else "0")
    return f"{what}: {each}" if each else ""


def _rows(results: Sequence[Result], measure: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for model, result in zip(models(results), results, strict=True):
        chosen = result.summary.filter((pl.col("scope") == "overall") & (pl.col("measure") == measure))
        yield model, chosen.row(0, named=True)
