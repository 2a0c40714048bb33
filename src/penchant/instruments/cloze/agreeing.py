"""How far the raters of the predicted words agree, in the result that stands on their ratings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from penchant.counting import counted
from penchant.instruments.cloze.scale import POINTS
from penchant.instruments.cloze.settings import ClozeSettings
from penchant.rating.opposed import each_with_others, newcomers, opposed
from penchant.records import Estimate, Result
from penchant.report.finding import listed
from penchant.report.tables import Number, Row, Table, estimate
from penchant.stats.agreement import TENTATIVE, krippendorff_alpha, raw_agreement
from penchant.stats.raters import worth

ALPHA, RAW = "Krippendorff's alpha (ordinal)", "raw agreement (two raters of the same word)"


def by_word(items: pl.DataFrame) -> dict[tuple[str, str], dict[int, float]]:
    """What each rater, by number, says of each predicted word in its sentence."""
    said: dict[tuple[str, str], dict[int, float]] = {}
    if "raters" not in items.columns:  # made before ratings were kept
        return said
    for id_, words, raters, ratings in items.select("id", "words", "raters", "ratings").iter_rows():
        for word, who, values in zip(words, raters, ratings, strict=True):
            if who:
                said[id_, word] = dict(zip(who, values, strict=True))
    return said


def agreement_estimates(items: pl.DataFrame, settings: ClozeSettings, group: str) -> Iterator[Estimate]:
    """Krippendorff's ordinal α and raw agreement over the predicted words that two raters or more judged; nothing where
    there are none. `group` is what all sentences are called."""
    said = [list(ratings.values()) for ratings in by_word(items).values()]
    if not any(len(values) > 1 for values in said):
        return
    counts = np.array([[values.count(point) for point in POINTS] for values in said], dtype=np.int64)
    numbers = {"seed": settings.seed, "resamples": settings.resamples, "level": settings.level}
    alpha = krippendorff_alpha(counts, domain=POINTS, **numbers)  # type: ignore[arg-type]
    for found, measure in ((alpha, ALPHA), (raw_agreement(counts, level=settings.level, noun="words"), RAW)):
        yield replace(found, measure=measure, by={"group": group})


def little(estimates: Sequence[Estimate]) -> Iterator[str]:
    """The caution for raters who agree little."""
    for found in estimates:
        if found.measure == ALPHA and found.value < TENTATIVE:
            yield (
                f"the raters agree little: Krippendorff's α is {found.value:.2f} over the {counted(found.n, 'words')} "
                f"that two or more rated, and {TENTATIVE} is asked for even of tentative conclusions; penchant ratings "
                "agreement FILE names the words and the raters who differ"
            )


def doubtful_raters(items: pl.DataFrame) -> Iterator[str]:
    """Cautions about raters whose ratings run against the others', and about those who judged few of the words. Results
    number raters in the order of their names, which stay in the file of ratings."""
    said = by_word(items)
    correlations = each_with_others(list(said.values()))
    for told in opposed(dict(sorted(correlations.items())), "words", lambda rater: f"rater {rater + 1}"):
        yield f"{told} Raters are numbered in the order of their names; penchant ratings agreement FILE names them"
    few = newcomers(_numbers(said), len(said), "words")
    if few:
        yield few


def _numbers(said: Mapping[tuple[str, str], Mapping[int, float]]) -> dict[int, int]:
    """How many words each rater judged."""
    return dict(Counter(rater for ratings in said.values() for rater in ratings))


def agreement_table(models: Sequence[str], results: Sequence[Result]) -> list[Table]:
    """Who rated the words that each model predicts, and how far they agree; none where nobody did."""
    rows = []
    for model, result in zip(models, results, strict=True):
        said = by_word(result.items)
        found = {row["measure"]: row for row in result.summary.iter_rows(named=True)}
        if not said:
            continue
        twice = sum(len(ratings) > 1 for ratings in said.values())
        judged = _numbers(said)
        cells: list[Any] = [model, len(judged), Number(worth(list(judged.values())), form=".1f"), len(said), twice]
        # Their notes count the words with one rating, as the columns do.
        cells += [estimate({**found[name], "notes": ""}, ".3f") if name in found else "–" for name in (ALPHA, RAW)]
        rows.append(Row(tuple(cells), found[ALPHA]["signature"] if ALPHA in found else ""))
    if not rows:
        return []
    columns = ("model", "raters", "worth", "words rated", "by two or more", "ordinal α", "raw agreement")
    note = (
        "Of the words that each model predicts. Worth: how many raters who judge every word these raters are, some of "
        "whom judged fewer than others (Kish's effective number). Krippendorff's α: agreement beyond chance, 1 is all "
        "of it; raw agreement: how often two raters of a word say the same."
    )
    return [Table("raters", "The raters", columns, tuple(rows), note)]


def agreement_told(results: Sequence[Result]) -> str:
    """Sentences for the methods, of the words of all models together; empty where nobody rated."""
    said: dict[tuple[str, str], dict[int, float]] = {}
    for result in results:
        said |= by_word(result.items)
    if not said:
        return ""
    judged = _numbers(said)
    text = f" {counted(len(said), 'words')} in their sentences were judged by {counted(len(judged), 'raters')}"
    if len(judged) > 1:
        text += f": {_by_number(said)}"
        alike = f"{worth(list(judged.values())):.1f}"
        if alike != f"{len(judged):.1f}":
            text += f"; for how much each of them judged, they are worth {alike} raters who judge every word"
    values = [row["value"] for result in results for row in result.summary.filter(measure=ALPHA).iter_rows(named=True)]
    alphas = [value for value in values if not math.isnan(value)]
    if alphas:
        units = [[list(by.values()).count(point) for point in POINTS] for by in said.values()]
        pooled = krippendorff_alpha(np.array(units, dtype=np.int64), domain=POINTS, seed=0, resamples=1).value
        text += f" (Krippendorff's ordinal α {pooled:.2f}"
        ends = dict.fromkeys(f"{value:.2f}" for value in (min(alphas), max(alphas)))
        text += f"; {' to '.join(ends)} over the words of one model" if len(results) > 1 else ""
        text += " [@krippendorff2019])"
    return f"{text}."


def _by_number(said: Mapping[tuple[str, str], Mapping[int, float]]) -> str:
    """How many words were judged by how many raters."""
    words = sorted(Counter(map(len, said.values())).items(), reverse=True)
    if len(words) == 1:
        (number,) = dict(words)
        return f"each by {'one' if number == 1 else number} of them"
    return listed([f"{n:,} by {'one' if number == 1 else number}" for number, n in words])
