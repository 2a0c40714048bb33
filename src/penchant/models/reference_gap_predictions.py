"""Predictions at a gap with transformers and torch alone: a complete forward pass for each text, as a reference."""

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
    """Return the words among the `most` most probable tokens for the gap between two texts, most probable first.

    A token counts as a word if it has letters only, its text in the gap is encoded as that token, and no other of
    these tokens is the same word in another letter case. The softmax is computed in float64.
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
