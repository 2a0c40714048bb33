"""The deviation of penchant's bfloat16 scores from float32, and the verdicts that change.

    python bench/deviation.py -m MODEL PAIRS… [-n PAIRS_PER_FILE] [--method M] [--dtype bfloat16] [--json FILE]

PAIRS are BLiMP (JSONL) or CrowS-Pairs (CSV) files. Prints the distribution of the absolute deviation for each token and
each sentence (natural logs), and the share of pairs of which the preferred sentence changes. Random weights give a
number without meaning: use a trained model.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penchant.engine.scorer import Scorer, SentenceScore, language_model
from penchant.models.load import load
from sentences import both, read_pairs, spread


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, nargs="+", metavar="PAIRS", help="files of pairs")
    parser.add_argument("-m", "--model", required=True, help="hub name, directory or GGUF file")
    parser.add_argument("-n", type=int, help="pairs of each file, evenly spaced (default: all)")
    parser.add_argument("--method", help="default: lp for causal, pll for masked models")
    parser.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float16"))
    parser.add_argument("--json", type=Path, help="write the figures and every sentence's scores to this file")
    given = parser.parse_args()
    texts = []
    for file in given.pairs:
        pairs = read_pairs(file)
        texts += both(spread(pairs, given.n or len(pairs)))
    exact, exact_seconds = scores(given.model, "float32", texts, given.method)
    rounded, rounded_seconds = scores(given.model, given.dtype, texts, given.method)
    matched = list(zip(exact, rounded, strict=True))
    report = {
        "model": given.model,
        "dtype": given.dtype,
        "sentences": len(texts),
        "seconds": {"float32": exact_seconds, given.dtype: rounded_seconds},
        "token": spread_of(np.concatenate([b.token_logprobs - a.token_logprobs for a, b in matched])),
        "sentence": spread_of(np.array([b.score - a.score for a, b in matched])),
        "verdicts": verdicts(margins(exact), margins(rounded)),
    }
    print(markdown(report))
    if given.json:
        each = [{"text": a.text, "float32": a.score, given.dtype: b.score} for a, b in matched]
        text = json.dumps({**report, "scores": each}, ensure_ascii=False, indent=1)
        given.json.write_text(text + "\n", encoding="utf-8")


def scores(spec: str, dtype: str, texts: list[str], method: str | None) -> tuple[list[SentenceScore], float]:
    """Return all scores in one number format, and the seconds they took; the model is released afterwards."""
    scorer = Scorer(language_model(load(spec, dtype=dtype)))
    start = time.perf_counter()
    found = list(scorer.score(((text, f"sentence {i}") for i, text in enumerate(texts, start=1)), method))
    seconds = time.perf_counter() - start
    del scorer
    gc.collect()
    return found, seconds


def spread_of(deviations: NDArray[np.float64]) -> dict[str, float]:
    """Return the distribution of absolute deviations, and their mean with sign (rounding to one side)."""
    kept = deviations[~np.isnan(deviations)]
    size = np.abs(kept)
    return {
        "n": len(kept),
        "mean": float(size.mean()),
        "p95": float(np.percentile(size, 95)),
        "max": float(size.max()),
        "lean": float(kept.mean()),
    }


def margins(found: list[SentenceScore]) -> NDArray[np.float64]:
    """Return by how much each pair's first sentence is preferred."""
    return np.array([a.score - b.score for a, b in zip(found[::2], found[1::2], strict=True)])


def verdicts(margin: NDArray[np.float64], rounded_margin: NDArray[np.float64]) -> dict[str, float]:
    """Count pairs whose preferred sentence changes; `widest_margin` is the largest float32 margin overturned."""
    changed = np.sign(margin) != np.sign(rounded_margin)
    return {
        "pairs": len(margin),
        "changed": int(changed.sum()),
        "share": float(changed.mean()),
        "widest_margin": float(np.abs(margin[changed]).max()) if changed.any() else 0.0,
        "median_margin": float(np.median(np.abs(margin))),
        "preferred_first_float32": float((margin > 0).mean()),
        "preferred_first_rounded": float((rounded_margin > 0).mean()),
    }


def markdown(report: dict[str, Any]) -> str:
    lines = [
        f"{report['model']}: {report['dtype']} against float32, {report['sentences']} sentences "
        f"({', '.join(f'{dtype} {seconds:.1f} s' for dtype, seconds in report['seconds'].items())})",
        "",
        "| absolute deviation of each | n | mean | 95th percentile | max | mean with sign |",
        "|---|---|---|---|---|---|",
    ]
    for what in ("token", "sentence"):
        row = report[what]
        lines.append(
            f"| {what} | {row['n']:,} | {row['mean']:.3g} | {row['p95']:.3g} | {row['max']:.3g} | {row['lean']:+.2g} |"
        )
    v = report["verdicts"]
    lines += [
        "",
        f"Verdict changed in {v['changed']} of {v['pairs']} pairs ({v['share']:.1%}); widest float32 margin among them "
        f"{v['widest_margin']:.3g} (median margin of all pairs {v['median_margin']:.3g}). First sentence preferred: "
        f"{v['preferred_first_float32']:.1%} in float32, {v['preferred_first_rounded']:.1%} in {report['dtype']}.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
