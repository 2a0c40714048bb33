"""Effect of batching on token log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penchant.engine.scorer import Scorer
from penchant.engine.served_backend import own_backend
from penchant.errors import DataError
from penchant.instruments.unknown_tokens import known_texts
from penchant.models.load import LanguageModel

MOST = {"causal": 24, "masked": 8}
"""Maximum number of sentences to compare, by kind of model; a masked model processes a sentence once per token."""

SAMPLE = (
    "It rained.",
    "The old house stands by the river.",
    "The old house stands by the river, and nobody has lived there for years.",
    "Who has seen the keys?",
    "The keys to the cabinet are on the table.",
    "The keys to the cabinet is on the table.",
    "She opened the window because the room was warm.",
    "Yes.",
    "My brother, who never reads the news, was the last of us to hear that the bridge had been closed.",
    "My brother was the last to hear.",
    "Two of the three children can swim.",
    "Two of the three children can read, write and count to a hundred.",
    "Snow fell.",
    "The teacher asked the pupils whether they had understood the question.",
    "The teacher asked the pupils to leave.",
    "No train stops here after nine.",
    "If the weather holds, we will walk along the coast to the lighthouse and come back by bus in the evening.",
    "If the weather holds, we will walk.",
    "A letter came for you this morning.",
    "A letter came.",
    "The soup is too hot to eat.",
    "Nobody could say what the stranger in the long coat had wanted from the man behind the counter.",
    "Please close the door.",
    "They sold the farm, bought a boat and were never seen in the village again.",
)
"""Test sentences of various lengths, some with a common prefix; they share batches with the texts to be compared."""

ONE_BATCH = 1 << 12
OTHER = 96
"""Batch sizes in tokens: one that fits all sentences, and one that fits only a few."""


@dataclass(frozen=True, slots=True)
class Invariance:
    """The effect of batching on scores.

    `token` is the largest change in a token's log-probability between batches, and `sentence` the largest change in a
    sentence's score, in nats; `sentences` is the number of sentences compared.
    """

    token: float
    sentence: float
    sentences: int


def invariance(model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Invariance | None:
    """Measure the effect of batching on the scores of up to `MOST` of the (text, location) pairs in `texts`.

    If `texts` is empty, the sentences in `SAMPLE` that the model can process are used; if it can process none of the
    sentences, None is returned. Raises ModelError if the model returns a value that is not a log-probability.
    """
    ours = _readable(model, [(text, f"test sentence {n}") for n, text in enumerate(SAMPLE, 1)])
    most = MOST["masked" if model.kind == "masked" else "causal"]
    compared = [text for text, _ in _spread(list(dict(texts).items()) or ours, most)]
    if not compared:
        return None
    company = [text for text, _ in _spread(ours, most) if text not in compared]
    together = [*company[::2], *compared, *company[1::2]]
    readings = [
        _scores(model, compared, budget=1, trees=False),
        _scores(model, compared),
        _scores(model, together, budget=ONE_BATCH, trees=False),
        _scores(model, compared[::-2], budget=OTHER),
        _scores(model, together[::-1], budget=OTHER),
    ]
    changes = [_changes([reading[text] for reading in readings if text in reading]) for text in compared]
    token, sentence = (max(change) for change in zip(*changes, strict=True))
    return Invariance(token, sentence, len(compared))


def _spread(texts: Sequence[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    if len(texts) <= most:
        return list(texts)
    starts = np.linspace(0, len(texts) - 2, most // 2).astype(int)
    chosen = sorted({int(place) for start in starts for place in (start, start + 1)})
    return [texts[place] for place in chosen]


def _readable(model: LanguageModel, texts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    kept = []
    for text, place in known_texts(model, texts, "skip"):
        try:
            list(Scorer(model).validated([(text, place)]))
        except DataError:
            continue
        kept.append((text, place))
    return kept


def _scores(
    model: LanguageModel, texts: Sequence[str], *, budget: int | None = None, trees: bool = True
) -> dict[str, NDArray[np.float64]]:
    """Return the token log-probabilities of each text (NaN for unscored tokens), computed without a cache.

    `budget` is the batch size in tokens. If `trees` is false, texts with a common prefix do not share a forward pass.
    """
    backend = own_backend(model)
    if not trees:
        backend.packs = 0
    scorer = Scorer(model, batch_tokens=budget, backend=backend)
    scores = scorer.score([(text, "a test sentence") for text in texts])
    return {text: score.token_logprobs for text, score in zip(texts, scores, strict=True)}


def _changes(readings: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    """Compare `readings` of a sentence; return the largest difference in a token's log-probability and in the score.

    Each reading contains the log-probabilities of the sentence's tokens in one batch (NaN for unscored tokens).
    """
    values = np.array(readings)
    scored = values[:, ~np.isnan(values).all(axis=0)]
    if not scored.size:
        return 0.0, 0.0
    return float(np.ptp(scored, axis=0).max()), float(np.ptp(scored.sum(axis=1)))
