"""Worker: scores the sentences of a job with penchant. `python run_ours.py JOB.json` prints one JSON object.

A job has: model (directory), dtype, device, texts, warmup (a number of texts), threads.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import torch
import transformers

import penchant
from machine import TOUCH, Memory, peaks
from penchant.engine.scorer import Scorer
from penchant.engine.scoring_methods import method_for
from penchant.models.load import LanguageModel, load


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    torch.set_num_threads(job["threads"])
    start = time.perf_counter()
    model = load(job["model"], dtype=job["dtype"], device=job["device"])
    loading = time.perf_counter() - start
    assert isinstance(model, LanguageModel)
    list(Scorer(model).score([(TOUCH, "first sentence")]))
    memory = Memory(job["device"])
    texts = [(text, f"text {i}") for i, text in enumerate(job["texts"], start=1)]
    list(Scorer(model).score(texts[: job["warmup"]]))
    scorer = Scorer(model)
    start, busy = time.perf_counter(), time.process_time()
    scores = [score.score for score in scorer.score(texts)]
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    result = {
        "scores": scores,
        "seconds": seconds,
        "processor_seconds": busy,
        "load_seconds": loading,
        "memory": memory.report(),
        "peaks": peaks(getattr(torch, job["dtype"]), job["device"]),
        "counts": scorer.counts.as_dict(),
        "useful": useful_work(model, texts),
        "versions": {
            "penchant": penchant.__version__,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
        },
    }
    print(json.dumps(result))


def useful_work(model: LanguageModel, texts: list[tuple[str, str]]) -> dict[str, int]:
    """Return the floating-point operations that no tool can avoid: 2 · weights of a matrix · tokens.

    Tokens that must pass the trunk are, for a masked model, those of every distinct masked copy of a sentence, and for
    a causal one every distinct prefix, once; the head gets the positions that are read. No padding; the attention
    itself, norms and activations are not counted.
    """
    in_trunk = {id(module) for module in model.network.trunk.modules()}
    weights = {"trunk": 0, "head": 0}
    for module in model.network.model.modules():
        if isinstance(module, torch.nn.Linear):
            weights["trunk" if id(module) in in_trunk else "head"] += module.in_features * module.out_features
    how = method_for(None, model)
    inputs: set[tuple[int, ...]] = set()
    outputs: set[tuple[tuple[int, ...], int]] = set()
    for text, where in texts:
        (encoding,) = model.tokenizer.encode([text])
        for read in how.reads(encoding, model, where):
            ids = read.ids
            if model.kind == "causal":
                inputs.update(ids[: end + 1] for end in range(len(ids)))
                outputs.update((ids[: at + 1], at) for at in read.at)
            else:
                inputs.add(ids)
                outputs.update((ids, at) for at in read.at)
    tokens = len(inputs) if model.kind == "causal" else sum(map(len, inputs))
    return {
        "trunk_weights": weights["trunk"],
        "head_weights": weights["head"],
        "trunk_tokens": tokens,
        "head_tokens": len(outputs),
        "flop": 2 * (weights["trunk"] * tokens + weights["head"] * len(outputs)),
    }


if __name__ == "__main__":
    main()
