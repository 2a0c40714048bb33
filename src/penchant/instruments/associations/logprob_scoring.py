"""Scored sentences of the log-probability bias score: which words a model can read, and a row for every sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any, Literal

import polars as pl

from penchant.corpus.matching import Matcher
from penchant.corpus.stimuli import Category, WordList
from penchant.engine.scorer import Scorer, SpanScore
from penchant.instruments.associations.estimates import Stimuli
from penchant.instruments.associations.logprob_estimates import SCORES
from penchant.spellings import canonical

Place = tuple[str, tuple[int, int], tuple[tuple[int, int], ...], str]
"""A text, the span of the target, the spans of what else is masked, and where the sentence comes from."""
_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "category", "label", "context", "template", "target", "target_side"), pl.String),
    **dict.fromkeys(("attribute", "attribute_side"), pl.String),
    "paired": pl.Boolean,
    "sentence": pl.String,
    "leaks": pl.Boolean,
    **dict.fromkeys(SCORES, pl.Float64),
    "tokens": pl.Int64,
    "reaches": pl.Boolean,
    "pieces": pl.List(pl.String),
    **dict.fromkeys(("logprobs_fill", "logprobs_prior"), pl.List(pl.Float32)),
}


def repeated_word(category: Category) -> str | None:
    """A word that occurs twice in one of the lists that fill the target slot; None if there is none."""
    return next((word for part in _slots(category)[1][:2] for word in part.words if part.words.count(word) > 1), None)


def _slots(category: Category) -> tuple[tuple[str, ...], tuple[WordList, ...]]:
    """The names and the lists of the four sets: first those that fill the target slot, then the attribute slot."""
    if category.target == "targets":
        return ("X", "Y", "A", "B"), (category.x, category.y, category.a, category.b)
    return ("A", "B", "X", "Y"), (category.a, category.b, category.x, category.y)


def sentence_count(category: Category) -> int:
    """The number of sentences of a category."""
    lists = _slots(category)[1]
    return (
        len(category.contexts)
        * (len(lists[0].words) + len(lists[1].words))
        * (len(lists[2].words) + len(lists[3].words))
    )


def readable_stimuli(category: Category, scorer: Scorer, max_missing: float) -> Stimuli:
    """The words that the model can read in every sentence; of a pair, both words or neither."""
    lists = _slots(category)[1]
    targets, attributes = [*lists[0].words, *lists[1].words], [*lists[2].words, *lists[3].words]
    words: list[str] = []
    places: list[tuple[str, tuple[int, int], str]] = []
    for context in category.contexts:
        for target in targets:
            text, span, _ = context.sentence(target, attributes[0])
            words.append(target)
            places.append((text, span, category.place))
        for attribute in attributes:
            text, _, span = context.sentence(targets[0], attribute)
            words.append(attribute)
            places.append((text, span, category.place))
    lost = {word for word, reason in zip(words, scorer.usable(places), strict=True) if reason}
    if category.paired:
        for pair in zip(lists[0].words, lists[1].words, strict=True):
            if lost.intersection(pair):
                lost.update(pair)
    return Stimuli.of(category, {*targets, *attributes} - lost, max_missing)


def scored_sentences(
    category: Category, stimuli: Stimuli, scorer: Scorer, pieces: Literal["all", "first"], language: str
) -> pl.DataFrame:
    """One row for every sentence of a category, with its fill, prior and corrected score."""
    rows: list[dict[str, Any]] = []
    places: list[Place] = []
    for row, (target, attribute) in _unscored(category, stimuli, language):
        text = row["sentence"]
        places += [(text, target, (), category.place), (text, target, (attribute,), category.place)]
        rows.append(row)
    scores = scorer.masked(places, pieces=pieces)
    for row, (fill, prior) in zip(rows, _by_two(scores), strict=True):
        row |= {
            "fill": fill.score,
            "prior": prior.score,
            "corrected": fill.score - prior.score,
            "tokens": fill.n,
            "reaches": fill.reaches,
            "pieces": list(fill.tokens),
            "logprobs_fill": _listed(fill),
            "logprobs_prior": _listed(prior),
        }
    return pl.DataFrame(rows, schema=_SCHEMA)


def _unscored(
    category: Category, stimuli: Stimuli, language: str
) -> Iterator[tuple[dict[str, Any], tuple[tuple[int, int], tuple[int, int]]]]:
    """The row of every sentence without its scores, and the spans of its target and attribute."""
    targets, attributes = _fillers(category, stimuli)
    matcher = Matcher({word: [word] for _, word in attributes}, language)
    for number, context in enumerate(category.contexts):
        rest = context.text.replace("{target}", " ").replace("{attribute}", " ")
        leaks = {match.word for match in matcher.find(canonical(rest))}
        for (attribute_side, attribute), (target_side, target) in product(attributes, targets):
            text, *spans = context.sentence(target, attribute)
            row = {
                "id": f"{category.id} {context.structure}.{number} {target} {attribute}",
                "category": category.id,
                "label": category.label,
                "context": context.structure,
                "template": context.text,
                "target": target,
                "target_side": target_side,
                "attribute": attribute,
                "attribute_side": attribute_side,
                "paired": category.paired,
                "sentence": text,
                "leaks": attribute in leaks or attribute == target,
            }
            yield row, (spans[0], spans[1])


def _fillers(category: Category, stimuli: Stimuli) -> list[list[tuple[str, str]]]:
    """The words that fill the target slot and those that fill the attribute slot, each once, with their sets."""
    sides, _ = _slots(category)
    words = dict(zip("XYAB", stimuli.sets, strict=True))
    return [
        list(dict.fromkeys((side, word) for side in slot for word in words[side])) for slot in (sides[:2], sides[2:])
    ]


def _by_two(scores: Iterator[SpanScore]) -> Iterator[tuple[SpanScore, SpanScore]]:
    return zip(scores, scores, strict=True)


def _listed(score: SpanScore) -> list[float | None]:
    return [None if math.isnan(value) else value for value in score.token_logprobs.tolist()]
