"""Predictions at a gap by transformers and torch alone: one text, one forward pass of the whole network."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import torch

from penchant.models.load import LanguageModel


@dataclass(frozen=True, slots=True)
class WordProbability:
    """A word with the probability of its token at a gap."""

    word: str
    p: float


def plain_words(model: LanguageModel, before: str, after: str, most: int) -> list[WordProbability]:
    """Return the whole words among the `most` most probable tokens between two texts, most probable first.

    A word is whole if in the gap it is encoded as its token, and no other of these tokens differs in case only.
    The softmax is computed in float64.
    """
    hf, network = model.tokenizer.hf, model.network.model
    ids = hf(f"{before}{hf.mask_token}{after}")["input_ids"]
    at = ids.index(hf.mask_token_id)
    rows = torch.tensor([ids], device=model.network.device)
    with torch.inference_mode():
        logits = network(input_ids=rows, attention_mask=torch.ones_like(rows)).logits[0, at]
    probabilities, tokens = torch.topk(torch.softmax(logits.double(), dim=-1), min(most, len(logits)))
    words = [hf.decode([token]).strip() for token in tokens.tolist()]
    letters = [word.casefold() for word in words]
    return [
        WordProbability(word, p)
        for word, token, p in zip(words, tokens.tolist(), probabilities.tolist(), strict=True)
        if word
        and all(unicodedata.category(character)[0] in "LM" for character in word)
        and letters.count(word.casefold()) == 1
        and hf(f"{before}{word}{after}")["input_ids"] == [*ids[:at], token, *ids[at + 1 :]]
    ]
