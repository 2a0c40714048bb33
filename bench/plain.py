"""Scores by transformers alone, as a user who knows the method would write them.

Inputs are sorted by length and padded in batches for the whole model; scores are sums of a log-softmax of its logits.
Used by `run_peer.py`. A batch size counts inputs: masked copies of sentences, or sentences of a causal model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

Input = tuple[list[int], list[int], list[int], int]
"""Token ids; positions of the logits read and the tokens read there; the number of the sentence."""


class Plain:
    """A model with its tokenizer, and `inputs` of the sentences given to it."""

    def __init__(self, directory: str, kind: str, device: str, options: dict[str, Any]) -> None:
        self.kind = kind
        self.tokenizer = AutoTokenizer.from_pretrained(directory)
        loader = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
        self.model = loader.from_pretrained(directory, **options).to(device).eval()

    def inputs(self, texts: Sequence[str]) -> list[Input]:
        """Return one input per token of a masked model (Salazar et al. 2020), one per sentence of a causal model.

        The latter start with the beginning token.
        """
        encoded = self.tokenizer(list(texts), add_special_tokens=self.kind == "masked")["input_ids"]
        made: list[Input] = []
        for number, ids in enumerate(encoded):
            if self.kind == "causal":
                made.append(([self.tokenizer.bos_token_id, *ids], list(range(len(ids))), ids, number))
                continue
            for at in range(1, len(ids) - 1):
                made.append(([*ids[:at], self.tokenizer.mask_token_id, *ids[at + 1 :]], [at], [ids[at]], number))
        return made

    @torch.inference_mode()
    def score(self, texts: Sequence[str], size: int) -> list[float]:
        """Return log-probabilities of sentences, in order."""
        scores, device = [0.0] * len(texts), self.model.device
        inputs = sorted(self.inputs(texts), key=lambda made: -len(made[0]))
        for start in range(0, len(inputs), size):
            part = inputs[start : start + size]
            width = len(part[0][0])
            tokens, mask = torch.zeros(len(part), width, dtype=torch.long), torch.zeros(len(part), width)
            for row, (ids, *_) in enumerate(part):
                tokens[row, : len(ids)] = torch.tensor(ids)
                mask[row, : len(ids)] = 1
            given = {"input_ids": tokens.to(device), "attention_mask": mask.long().to(device)}
            logprobs = self.model(**given).logits.float().log_softmax(-1)
            at = [(row, at, token) for row, made in enumerate(part) for at, token in zip(made[1], made[2], strict=True)]
            read = logprobs[tuple(torch.tensor(at).T.to(device))].tolist()  # one wait for a card, not one a row
            for (row, _, _), logprob in zip(at, read, strict=True):
                scores[part[row][3]] += logprob
        return scores
