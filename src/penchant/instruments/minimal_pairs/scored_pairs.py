"""Table of scored pairs: one row per pair, with both sentences and their scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from penchant.engine.conditional_scores import touching_cautions
from penchant.engine.scorer import Scorer, SentenceScore
from penchant.engine.unigrams import Unigrams
from penchant.instruments.item_probes import score_columns
from penchant.instruments.minimal_pairs.formats import PREFIX, ROLES
from penchant.instruments.minimal_pairs.pair_credits import NEUTRAL, UNIGRAMS, UNSEEN
from penchant.records import Item

Scores = Sequence[tuple[SentenceScore, SentenceScore]]


def prefixed(items: Iterable[Item]) -> bool:
    """Return whether any pair has a prefix."""
    return any(item.texts.get(PREFIX) for item in items)


def scored_pairs(
    scorer: Scorer, items: Sequence[tuple[str, Item]], method: str | None, *, front: str, neutral: str | None
) -> tuple[pl.DataFrame, Scores]:
    """Score the pairs, each given with the name of its data set; return the table of items, and the scores.

    `front` is a string put before each sentence if no pair has a prefix. If pairs have prefixes, the tokens of each
    sentence are also scored after the text `neutral` instead of the prefix, unless `neutral` is None.
    """
    pairs = [item for _, item in items]
    if not prefixed(pairs):
        triples = ((front + item.texts["good"], front + item.texts["bad"], item.place) for item in pairs)
        scores = list(scorer.score_pairs(triples, method))
        return items_table(items, scores), scores
    texts = [(item.texts.get(PREFIX, ""), item.texts[role], item.place) for item in pairs for role in ROLES]
    scorer.check_prefixed(texts)
    scores = _in_pairs(scorer.given(texts, method))
    table = items_table(items, scores).with_columns(
        pl.Series(PREFIX, [item.texts.get(PREFIX, "") for item in pairs], pl.String)
    )
    if neutral is not None:
        without = _in_pairs(scorer.without(texts, method, neutral=neutral))
        for side, role in enumerate(ROLES):
            table = table.with_columns(
                pl.Series(f"{NEUTRAL}_{role}", [pair[side].score for pair in without], pl.Float64)
            )
    return table, scores


def _in_pairs(scores: Iterator[SentenceScore]) -> list[tuple[SentenceScore, SentenceScore]]:
    return list(zip(scores, scores, strict=True))


def prefix_cautions(items: Iterable[Item]) -> Iterator[str]:
    """Return cautions about prefixes that are joined to their sentences without a space."""
    texts = [(item.texts.get(PREFIX, ""), item.texts[role], item.place) for item in items for role in ROLES]
    return touching_cautions(texts, "sentences")


def items_table(items: Sequence[tuple[str, Item]], scores: Scores) -> pl.DataFrame:
    """Return one row per pair, with labels, texts, token counts, scores and token log-probabilities."""
    labels = sorted({label for _, item in items for label in item.labels} - {"dataset"})
    columns: dict[str, pl.Series] = {
        "dataset": pl.Series([name for name, _ in items], dtype=pl.String),
        "file": pl.Series([item.labels["dataset"] for _, item in items], dtype=pl.String),
        "id": pl.Series([item.id for _, item in items], dtype=pl.String),
    }
    for label in labels:
        columns[label] = pl.Series([item.labels.get(label, "") for _, item in items], dtype=pl.String)
    for side, role in enumerate(ROLES):
        columns |= score_columns(role, [pair[side] for pair in scores])
    return pl.DataFrame(columns).with_columns((pl.col("n_tokens_good") - pl.col("n_tokens_bad")).alias("difference"))


def with_unigrams(items: pl.DataFrame, scores: Scores, unigrams: Unigrams) -> pl.DataFrame:
    """Add columns to the items: unigram log-probability and number of unseen tokens of each sentence."""
    for side, role in enumerate(ROLES):
        chosen = [pair[side] for pair in scores]
        items = items.with_columns(
            pl.Series(f"{UNIGRAMS}_{role}", [each.as_unigrams(unigrams) for each in chosen], pl.Float64),
            pl.Series(f"{UNSEEN}_{role}", [unigrams.unseen(each.scored) for each in chosen], pl.Int32),
        )
    return items
