"""Measure how much other tokenisations add to the probability of a sentence, and if pairs are judged otherwise.

usage: python bench/tokenisations.py -m MODEL PAIRS.jsonl… [-n PAIRS PER PARADIGM] [-o FILE]

A tokenizer with words (byte-level BPE) splits each of them into one sequence of tokens among many. For pairs of unequal
token length, each word is split into two other entries of the vocabulary, or taken whole, in all ways; with the ratio r
of the sentence's probabilities, the marginal probability is estimated by the product over words of 1 + Σ r.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl
import torch

import penchant as pc

Split = list[int]


class Splitter:
    """The canonical tokens of a text by words, and other ways to write each word with two tokens or one."""

    def __init__(self, model: pc.LanguageModel) -> None:
        self.hf = model.tokenizer.hf
        self.vocabulary: dict[str, int] = self.hf.get_vocab()

    def words(self, text: str) -> list[Split]:
        """Return the canonical tokens of each word."""
        parts = self.hf.backend_tokenizer.pre_tokenizer.pre_tokenize_str(text)
        merge = self.hf.backend_tokenizer.model.tokenize
        return [[token.id for token in merge(part)] for part, _ in parts]

    def others(self, text: str) -> Iterator[tuple[int, Split]]:
        """Yield the number of a word and its tokens, for each other way to write it."""
        parts = self.hf.backend_tokenizer.pre_tokenizer.pre_tokenize_str(text)
        for number, ((part, _), own) in enumerate(zip(parts, self.words(text), strict=True)):
            pieces = [[part], *([part[:i], part[i:]] for i in range(1, len(part)))]
            for each in pieces:
                if all(piece in self.vocabulary for piece in each):
                    ids = [self.vocabulary[piece] for piece in each]
                    if ids != own:
                        yield number, ids


def logprobs(model: pc.LanguageModel, rows: list[Split]) -> list[float]:
    """Return the log-probability of each sequence of tokens, after the model's first token if it has one."""
    found: list[float] = []
    begin = [] if model.begin is None else [model.begin]
    for start in range(0, len(rows), 64):
        batch = [[*begin, *row] for row in rows[start : start + 64]]
        longest = max(map(len, batch))
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in batch])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in batch])
        with torch.no_grad():
            logits = model.network.model(input_ids=ids, attention_mask=mask).logits.log_softmax(-1)
        taken = logits[:, :-1].gather(-1, ids[:, 1:, None])[..., 0] * mask[:, 1:]
        found += taken.sum(-1).tolist()
    return found


def sentence(model: pc.LanguageModel, splitter: Splitter, text: str) -> tuple[float, float, int]:
    """Return log p of the canonical tokens, the estimated marginal log p, and the number of other tokenisations."""
    own = splitter.words(text)
    others = list(splitter.others(text))
    written = [own, *([ids if i == number else word for i, word in enumerate(own)] for number, ids in others)]
    canonical, *scores = logprobs(model, [[*chain(*words)] for words in written])
    ratios = np.zeros(len(own))
    for (number, _), score in zip(others, scores, strict=True):
        ratios[number] += np.exp(score - canonical)
    return canonical, canonical + float(np.log1p(ratios).sum()), len(others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, nargs="+")
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("-n", "--number", type=int, default=5)
    parser.add_argument("-o", "--out", type=Path)
    given = parser.parse_args()
    model = pc.load(given.model)
    assert isinstance(model, pc.LanguageModel)
    splitter = Splitter(model)
    rows = []
    for file in given.pairs:
        taken = 0
        for line in map(json.loads, file.read_text("utf-8").splitlines()):
            good, bad = line["sentence_good"], line["sentence_bad"]
            lengths = [sum(map(len, splitter.words(text))) for text in (good, bad)]
            if lengths[0] == lengths[1] or taken == given.number:
                continue
            taken += 1
            (a, more_a, n), (b, more_b, m) = (sentence(model, splitter, text) for text in (good, bad))
            rows.append(
                {
                    "group": line["UID"],
                    "difference": lengths[0] - lengths[1],
                    "canonical": a - b,
                    "marginal": more_a - more_b,
                    "gain_good": more_a - a,
                    "gain_bad": more_b - b,
                    "others": n + m,
                }
            )
        print(file.stem, taken, flush=True)
    frame = pl.DataFrame(rows)
    if given.out is not None:
        frame.write_csv(given.out)
    changed = ((frame["canonical"] > 0) != (frame["marginal"] > 0)).sum()
    gains = np.array([*frame["gain_good"], *frame["gain_bad"]])
    print(f"{len(frame)} pairs, {frame['others'].sum()} other tokenisations, {changed} pairs judged otherwise")
    print(f"log p rises by {gains.mean():.4f} on average, {np.quantile(gains, 0.99):.3f} at the 99th percentile")


if __name__ == "__main__":
    main()
