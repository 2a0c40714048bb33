"""Minimal pairs put to a chat model as questions about the more acceptable sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from penchant.engine.sentence_scores import SentenceScore
from penchant.errors import MethodError
from penchant.instruments.answer_steadiness import steadiness
from penchant.instruments.elicit_settings import Phrases
from penchant.instruments.elicitation import (
    ChoiceQuestion,
    Elicitation,
    elicitation_columns,
    elicited,
    phrases_of,
)
from penchant.instruments.minimal_pairs.formats import ROLES
from penchant.instruments.minimal_pairs.pair_credits import ALL
from penchant.instruments.minimal_pairs.scored_pairs import items_table
from penchant.instruments.minimal_pairs.settings import MinimalPairsSettings
from penchant.instruments.session import Session
from penchant.models.load import LanguageModel
from penchant.records import Estimate, Item
from penchant.wording.phrases import Note


def phrases(settings: MinimalPairsSettings) -> Phrases:
    """Return the phrases for questions and replies. Raises MethodError if penchant has none in that language."""
    known = settings.phrases or phrases_of(settings.language)
    if known is None:
        raise MethodError(
            f"penchant has no phrases for the language '{settings.language}'", hint="use en or cs, or give phrases"
        )
    return known


def questions(items: Sequence[Item], settings: MinimalPairsSettings) -> list[ChoiceQuestion]:
    """Return the question about each pair."""
    return [ChoiceQuestion(settings.question, tuple(item.texts[r] for r in ROLES), item.place) for item in items]


def asked_pairs(
    session: Session, items: Sequence[tuple[str, Item]], settings: MinimalPairsSettings
) -> tuple[pl.DataFrame, tuple[Note, ...]]:
    """Ask about the pairs; return a table with one row per pair, and a note on pairs left out.

    A pair is left out if no reply chooses a sentence. The score of a sentence is the probability of its option,
    averaged over the orders of the options (`elicit: chat`), or its share of the replies that choose a sentence
    (`elicit: answer`).
    """
    asked = questions([item for _, item in items], settings)
    found = list(elicited(session, asked, settings, phrases(settings)))
    shares = [_shares(each, settings) for each in found]
    kept = [number for number, share in enumerate(shares) if share]
    scores = [_scores(session.lm, items[number][1], shares[number]) for number in kept]
    table = items_table([items[number] for number in kept], scores)
    table = table.with_columns(elicitation_columns([found[number] for number in kept]))
    lost = len(items) - len(kept)
    return table, ((Note("items-without-option", lost=lost, of=len(items), noun="pairs"),) if lost else ())


def _shares(found: Elicitation, settings: MinimalPairsSettings) -> list[float]:
    """Return the score of each sentence (see `asked_pairs`); empty if no reply chooses a sentence."""
    if settings.elicit == "chat":
        return [float(share) for share in found.probabilities.mean(axis=0)]
    chosen = [option for option in found.chosen if option is not None]
    return [chosen.count(side) / len(chosen) for side in range(len(ROLES))] if chosen else []


def _scores(model: LanguageModel, item: Item, shares: Sequence[float]) -> tuple[SentenceScore, SentenceScore]:
    texts = [item.texts[role] for role in ROLES]
    if model.replies_only:
        without = [
            SentenceScore(text, share, None, (), np.empty(0), ()) for text, share in zip(texts, shares, strict=True)
        ]
        return without[0], without[1]
    good, bad = (
        SentenceScore(text, share, len(ids), tuple(model.tokenizer.strings(ids)), np.full(len(ids), np.nan), tuple(ids))
        for text, share, ids in zip(texts, shares, model.tokenizer.token_ids(texts), strict=True)
    )
    return good, bad


def asked_estimates(items: pl.DataFrame, settings: MinimalPairsSettings) -> Iterator[Estimate]:
    """Yield, by data set, estimates of the steadiness of answers over orders of the options and over replies.

    An answer is the probability of the good sentence.
    """
    for name in items["dataset"].unique(maintain_order=True).to_list():
        by = {"dataset": name, "scope": "overall", "group": ALL, "split": ALL, "normalise": "none"}
        for estimate in steadiness(items.filter(dataset=name), np.array([1.0, 0.0]), settings.level, "pairs"):
            yield replace(estimate, by=by)
