"""Worker: scores the sentences of a job with a peer. `python run_peer.py JOB.json` prints one JSON object.

A job has: tool (minicons, or transformers alone), model (directory), kind (masked or causal), dtype, device, texts,
warmup (a number of texts), threads and either batch_size (measure with it) or batch_sizes (try each, report them).
memory_limit bounds the largest table of logits in bytes: both build one over every position of a batch. On a card it
is half of its free memory.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import transformers

from machine import TOUCH, Memory, free, peaks

Score = Callable[[list[str], int], list[float]]
"""Scores of texts in order, by batch size."""


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    torch.set_num_threads(job["threads"])
    # Without a dtype its users get float32.
    options = {} if job["dtype"] == "float32" else {"dtype": getattr(torch, job["dtype"])}
    start = time.perf_counter()
    score, scorer = (alone if job["tool"] == "transformers" else minicons)(job, options)
    loading = time.perf_counter() - start
    if str(scorer.model.dtype) != f"torch.{job['dtype']}":
        sys.exit(f"run_peer.py: {job['tool']} loaded {scorer.model.dtype}, not {job['dtype']}")
    score([TOUCH], 1)
    memory = Memory(job["device"])
    texts = job["texts"]
    if "batch_sizes" in job:
        score(texts[:4], 1)
        print(json.dumps(trial(job, score, scorer)))
        return
    score(texts[: job["warmup"]], 1 if job["device"] == "cpu" else job["batch_size"])
    busy = time.process_time()
    scores, seconds = timed(score, texts, job["batch_size"])
    busy = time.process_time() - busy
    result = {
        "scores": scores,
        "seconds": seconds,
        "processor_seconds": busy,
        "load_seconds": loading,
        "memory": memory.report(),
        "peaks": peaks(getattr(torch, job["dtype"]), job["device"]),
        "versions": {
            **({"minicons": version("minicons")} if job["tool"] == "minicons" else {}),
            "transformers": transformers.__version__,
            "torch": torch.__version__,
        },
    }
    print(json.dumps(result))


def minicons(job: dict[str, Any], options: dict[str, Any]) -> tuple[Score, Any]:
    """Score with minicons as documented; batches follow the order of the texts, as for its users."""
    from minicons.scorer import IncrementalLMScorer, MaskedLMScorer

    scorer: Any
    if job["kind"] == "masked":
        scorer = MaskedLMScorer(job["model"], job["device"], PLL_metric="original", **options)
        how: dict[str, Any] = {"PLL_metric": "original"}
    else:
        # With bos_token the tokenizer's own beginning token stands before the text and its first token is scored too.
        scorer, how = IncrementalLMScorer(job["model"], job["device"], **options), {"bos_token": True}

    def score(texts: list[str], size: int) -> list[float]:
        scores: list[float] = []
        for begin in range(0, len(texts), size):
            scores.extend(scorer.sequence_score(texts[begin : begin + size], reduction=total, **how))
        return scores

    return score, scorer


def alone(job: dict[str, Any], options: dict[str, Any]) -> tuple[Score, Any]:
    """Score with transformers without any other tool."""
    from plain import Plain

    scorer = Plain(job["model"], job["kind"], job["device"], options)
    return scorer.score, scorer


def total(values: torch.Tensor) -> float:
    return float(values.sum(0).item())


def timed(score: Score, texts: list[str], size: int) -> tuple[list[float], float]:
    """Return scores in order, and the seconds they took."""
    start = time.perf_counter()
    return score(texts, size), time.perf_counter() - start


def trial(job: dict[str, Any], score: Score, scorer: Any) -> dict[str, Any]:
    """Return sentences a second for each batch size on the job's sample, and the sizes that lacked memory."""
    sample = job["texts"][: job["sample"]]
    speeds, left_out = {}, []
    limit = job["memory_limit"] if job["device"] == "cpu" else free(job["device"]) // 2
    for size in job["batch_sizes"]:
        if largest_table(job, scorer, size) > limit:
            left_out.append(size)
        else:
            if job["device"] != "cpu":  # what a card is told for the first time takes it longer
                score(sample[:size], size)
            speeds[size] = len(sample) / timed(score, sample, size)[1]
    if not speeds:
        sys.exit("run_peer.py: no batch size fits into memory")
    return {"speeds": speeds, "left_out": left_out}


def largest_table(job: dict[str, Any], scorer: Any, size: int) -> int:
    """Return the bytes of the largest batch's logits: rows × longest row × vocabulary (masked: a row per token)."""
    lengths = [len(ids) for ids in scorer.tokenizer(job["texts"])["input_ids"]]
    vocabulary = int(scorer.model.config.vocab_size)
    item = 2 if job["dtype"] == "bfloat16" else 4
    most = 0
    for begin in range(0, len(lengths), size):
        part = lengths[begin : begin + size]
        copies = job["kind"] == "masked" and job["tool"] == "minicons"  # the batch is then one of sentences
        rows = sum(length - 2 for length in part) if copies else len(part)
        most = max(most, rows * max(part) * vocabulary * item)
    return most


if __name__ == "__main__":
    main()
