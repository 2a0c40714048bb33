"""Scoring methods: the requests that a sentence needs, and the computation of its score from the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from penchant.engine.forward_requests import LogProbs
from penchant.errors import DataError, MethodError, ModelError, one_of
from penchant.models.load import LanguageModel
from penchant.models.score_table import Scores
from penchant.models.tokenizer import Encoding


@dataclass(frozen=True, slots=True)
class ScoringMethod:
    """A method of scoring a sentence (or, if `pair`, the two sentences of a pair) with models of one `kind`.

    `reads` maps an encoding, the model and the text's location to requests, whose answers are converted to one value
    per token (see `token_values`). `total` computes the score from these values: their sum, or their mean if `mean`. No
    normalisation applies to `normalised` methods, which compute means or compare equal numbers of tokens.
    """

    name: str
    kind: str
    reads: Callable[[Encoding, LanguageModel, str], Iterator[LogProbs]]
    summary: str
    pair: bool = False
    normalised: bool = False
    mean: bool = False

    def total(self, values: NDArray[np.float64]) -> float:
        """Return the unnormalised score computed from the values of tokens, ignoring NaN (tokens not scored)."""
        return float(np.nanmean(values) if self.mean else np.nansum(values))


def token_values(answers: list[NDArray[np.generic]], n: int) -> NDArray[np.float64]:
    """Return one value for each of a sentence's n tokens, from the answers to its requests.

    The values are log-probabilities, multiplied by attention if it was requested. The value is NaN for a first token
    that cannot be scored.
    """
    parts = [a[0].astype(np.float64) * a[1].astype(np.float64) if a.ndim == 2 else a for a in answers]
    values = np.concatenate(parts).astype(np.float64)
    return np.concatenate([np.full(n - len(values), np.nan), values])


def _lp(encoding: Encoding, model: LanguageModel, where: str) -> Iterator[LogProbs]:
    # The first token is predicted only if a token precedes it. The input ends before the last token that is read.
    ids = encoding.ids
    read = [position for position in encoding.at if position]
    if not read:
        raise single_token(where)
    yield LogProbs(ids[: read[-1]], tuple(position - 1 for position in read), tuple(ids[p] for p in read))


def single_token(where: str) -> DataError:
    """Return the DataError for a text whose only token cannot be scored, since no token precedes it."""
    message = "a single token cannot be scored: the model has no beginning token"
    return DataError(message, where=where, hint="remove the item")


def _pll(encoding: Encoding, model: LanguageModel, where: str) -> Iterator[LogProbs]:
    yield from masked_reads(encoding, model, range(len(encoding)))


def masked_reads(encoding: Encoding, model: LanguageModel, chosen: range | list[int]) -> Iterator[LogProbs]:
    """Yield the request for the log-probability of each chosen token (by index), with that token masked."""
    ids, mask = encoding.ids, mask_of(model)
    for token in chosen:
        position = encoding.at[token]
        masked = (*ids[:position], mask, *ids[position + 1 :])
        yield LogProbs(masked, (position,), (ids[position],), weight=1 / len(chosen))


def _pll_word_l2r(encoding: Encoding, model: LanguageModel, where: str) -> Iterator[LogProbs]:
    words, mask = encoding.words, mask_of(model)
    if None in words:
        raise MethodError(
            "method 'pll-word-l2r' needs a tokenizer that assigns tokens to words",
            where=where,
            hint="use pll",
        )
    for token, position in enumerate(encoding.at):
        masked = list(encoding.ids)
        for later in range(token, len(encoding)):
            if words[later] != words[token]:
                break
            masked[encoding.at[later]] = mask
        yield LogProbs(tuple(masked), (position,), (encoding.ids[position],), weight=1 / len(encoding))


def _aul(encoding: Encoding, model: LanguageModel, where: str) -> Iterator[LogProbs]:
    yield LogProbs(encoding.ids, encoding.at, encoding.tokens)


def _aula(encoding: Encoding, model: LanguageModel, where: str) -> Iterator[LogProbs]:
    yield LogProbs(encoding.ids, encoding.at, encoding.tokens, attention=True)


def shared_tokens(a: Encoding, b: Encoding) -> tuple[list[int], list[int]]:
    """Return the tokens that a and b share, as ascending indices in a and in b (Nangia et al. 2020, get_span)."""
    blocks = SequenceMatcher(None, a.tokens, b.tokens, autojunk=False).get_matching_blocks()
    in_a = [block.a + i for block in blocks for i in range(block.size)]
    in_b = [block.b + i for block in blocks for i in range(block.size)]
    return in_a, in_b


def mask_of(model: LanguageModel) -> int:
    """Return the id of the model's mask token. Raises ModelError if the tokenizer has none."""
    if model.tokenizer.mask_id is None:
        raise ModelError(
            "the tokenizer has no mask token",
            where=model.name,
            hint="use a masked model with a mask token, or a causal model with lp",
        )
    return model.tokenizer.mask_id


GIVEN = "given"
"""Name of the method for scores that another program computed."""


def _no_reads(encoding: Encoding, model: LanguageModel, where: str) -> Iterator[LogProbs]:
    return iter(())


METHODS: dict[str, ScoringMethod] = {
    method.name: method
    for method in (
        ScoringMethod("lp", "causal", _lp, "sum of log P(token | beginning, tokens before)"),
        ScoringMethod("pll", "masked", _pll, "sum of log P(token | sentence with that token masked)"),
        ScoringMethod("pll-word-l2r", "masked", _pll_word_l2r, "as pll, the later pieces of the word masked too"),
        ScoringMethod(
            "pll-shared",
            "masked",
            _pll,
            "pll over the tokens that both sentences of a pair share",
            pair=True,
            normalised=True,
        ),
        ScoringMethod("aul", "masked", _aul, "mean log P(token | unmasked sentence)", normalised=True, mean=True),
        ScoringMethod("aula", "masked", _aula, "as aul, weighted by attention received", normalised=True, mean=True),
        ScoringMethod(
            GIVEN,
            "scores",
            _no_reads,
            "sum of log-probabilities read from a table, computed by another program",
        ),
    )
}
"""The scoring methods by name; special tokens are part of the context but never scored.

pll: Salazar et al. 2020; pll-word-l2r: Kauf & Ivanova 2023; pll-shared: Nangia et al. 2020; aul and aula: Kaneko &
Bollegala 2022.
"""


def method_for(name: str | None, model: LanguageModel | Scores, *, pair: bool = False) -> ScoringMethod:
    """Return the scoring method called `name` (None: lp for causal models, pll for masked models).

    For a table of scores, `name` says which method produced the scores; it must be a method that sums the
    log-probabilities of one sentence (None: the method `given`).

    `pair` allows methods that compare the two sentences of a pair. Raises ModelError if the model provides no scores,
    MethodError if the method is unknown, does not fit the model, or compares two sentences and `pair` is false.
    """
    if model.kind == "encoder":
        raise ModelError(
            f"provides vectors, not word probabilities: {model.no_scores}",
            where=model.name,
            hint="score with a masked or causal checkpoint; use this model for embeddings only",
        )
    if isinstance(model, LanguageModel) and model.replies_only:
        message = "gives replies only (?chat), no scores"
        raise ModelError(message, where=model.name, hint="use elicit: answer, or leave out ?chat")
    if name is None:
        name = {"causal": "lp", "masked": "pll"}.get(model.kind, GIVEN)
    method = METHODS.get(name)
    if method is None:
        raise MethodError(f"unknown method '{name}'", hint=one_of(name, METHODS))
    if model.kind == "scores" and not (method.pair or method.normalised):
        return method
    if method.kind != model.kind:
        fitting = ", ".join(m.name for m in METHODS.values() if m.kind == model.kind and (pair or not m.pair))
        raise MethodError(
            f"method '{name}' is for {method.kind} models, but {model.name} is {model.kind}",
            hint=f"use {fitting}",
        )
    if method.pair and not pair:
        raise MethodError(
            f"method '{name}' compares the two sentences of a pair and cannot score one sentence alone",
            hint="use it with the instrument minimal-pairs",
        )
    return method
