"""Surprisal of words by plain transformers: one forward pass a text, and what begins or ends a word by decoding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch


def first_token(tokenizer: Any) -> int:
    """Return the token that a causal text starts with."""
    return int(tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id)


@dataclass(frozen=True)
class Signs:
    """Of each token, by decoding it behind a letter: whether it begins with white space (or is special), and whether it
    ends in white space."""

    begins: torch.Tensor
    ends: torch.Tensor


def signs(tokenizer: Any, rows: int) -> Signs:
    (letter,) = tokenizer("a", add_special_tokens=False)["input_ids"][-1:]
    alone = len(tokenizer.decode([letter]))
    begins, ends = torch.zeros(rows, dtype=torch.bool), torch.zeros(rows, dtype=torch.bool)
    for token in range(len(tokenizer)):
        text = tokenizer.decode([letter, token], clean_up_tokenization_spaces=False)[alone:]
        begins[token] = token in tokenizer.all_special_ids or text[:1].isspace()
        ends[token] = text[-1:].isspace()
    return Signs(begins, ends)


def owners(text: str, spans: list[tuple[int, int]], offsets: list[tuple[int, int]]) -> list[set[int]]:
    """The words that each token holds a part of; a token of white space belongs to the next word, if there is one."""
    inside = [{w for w, (s, e) in enumerate(spans) for i in range(*o) if s <= i < e} for o in offsets]
    for i in reversed(range(len(inside))):
        if not inside[i] and i + 1 < len(inside):
            inside[i] = {min(inside[i + 1])} if inside[i + 1] else set()
    return inside


def corrected(model: Any, tokenizer: Any, text: str, spans: list[tuple[int, int]], sign: Signs | None) -> list[float]:
    """Σ s(piece) − B(before) + B(behind), without B where there are no signs, no white space, or where the token before
    has ended the word itself; NaN for words that share a token."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    tokens = encoded["input_ids"]
    with torch.inference_mode():
        logprobs = model(torch.tensor([[first_token(tokenizer), *tokens]])).logits[0].double().log_softmax(-1)
    inside = owners(text, spans, encoded["offset_mapping"])

    def mass(place: int, which: torch.Tensor) -> float:
        return float(logprobs[place][which].logsumexp(-1))

    def boundary(place: int, word: int) -> float:
        if sign is None or (place and sign.ends[tokens[place - 1]]):
            return 0.0
        if word == len(spans):
            return mass(place, sign.begins)
        if sign.begins[tokens[place]]:
            return mass(place, sign.begins)
        return 0.0 if word else mass(place, ~sign.begins)

    found = []
    for word in range(len(spans)):
        own = [i for i, of_token in enumerate(inside) if word in of_token]
        if any(len(inside[i]) > 1 for i in own):
            found.append(math.nan)
            continue
        pieces = -sum(float(logprobs[i, tokens[i]]) for i in own)
        found.append(pieces + boundary(own[0], word) - boundary(own[-1] + 1, word + 1))
    return found
