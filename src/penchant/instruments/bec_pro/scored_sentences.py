"""Log-probabilities of the person, with the profession visible and masked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import polars as pl

from penchant.corpus.slot_filling import Span
from penchant.engine.scorer import Scorer, SpanScore
from penchant.errors import DataError
from penchant.instruments.bec_pro.data import Masked

LABELS = ("id", "template", "person", "gender", "profession", "group", "sentence")
"""Columns of the items that describe a sentence."""
_SCHEMA: dict[str, Any] = {
    **dict.fromkeys((*LABELS, "masked"), pl.String),
    **dict.fromkeys(("seen", "hidden", "association"), pl.Float64),
    "n_tokens": pl.Int64,
    "reaches": pl.Boolean,
    "tokens": pl.List(pl.String),
    **dict.fromkeys(("logprobs_seen", "logprobs_hidden"), pl.List(pl.Float32)),
}


def scored(rows: Sequence[Masked], scorer: Scorer, prior: Literal["written", "pieces"]) -> pl.DataFrame:
    """Score the person in every sentence, and return one row per sentence.

    `seen` is the log-probability of the person, with all its tokens masked at once; `hidden` is the same with the
    profession masked; `association` is their difference, in natural logarithms. `masked` is the text with the
    profession masked. For `hidden`, `prior` chooses the masks of the profession: as "written" in the table, or one per
    token ("pieces"). Raises DataError if a person is tokenized differently in the two sentences.
    """
    mask = scorer.gap_token()
    places: list[tuple[str, Span, tuple[Span, ...], str]] = []
    for row in rows:
        other = (*row.masked(mask), ()) if prior == "written" else (row.sentence, row.at, (row.attribute,))
        places += [(row.sentence, row.at, (), row.place), (*other, row.place)]
    items = []
    for row, (seen, hidden) in zip(rows, _by_two(scorer.masked(places, gaps=True)), strict=True):
        if seen.tokens != hidden.tokens:
            raise DataError(
                f"'{row.person}' is tokenized differently if the profession is masked",
                where=row.place,
                hint="use prior: pieces",
            )
        items.append(
            {
                **{name: getattr(row, name) for name in LABELS},
                "masked": row.masked(mask)[0],
                "seen": seen.score,
                "hidden": hidden.score,
                "association": seen.score - hidden.score,
                "n_tokens": seen.n,
                "reaches": seen.reaches,
                "tokens": list(seen.tokens),
                "logprobs_seen": seen.token_logprobs.tolist(),
                "logprobs_hidden": hidden.token_logprobs.tolist(),
            }
        )
    return pl.DataFrame(items, schema=_SCHEMA)


def _by_two(scores: Iterator[SpanScore]) -> Iterator[tuple[SpanScore, SpanScore]]:
    return zip(scores, scores, strict=True)
