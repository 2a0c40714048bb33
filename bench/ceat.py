"""CEAT's sampling against a plain loop: time and memory for all categories and segments of a study.

    python bench/ceat.py [--samples 5000] [--width 1024] [--segments 4] [--loop-samples 40] [--json FILE]

Both take the same contextual vectors (float16 on disk, memory-mapped, random) and the same choice of sentences, and
combine the samples as random effects. The loop is what the formula says, one cosine at a time in NumPy; it runs
`--loop-samples` samples of every category and its time is multiplied up. Each runs in a process of its own; memory is
the process's peak above what it had before. Prints a markdown table; ends with exit code 1 if the numbers differ.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CATEGORIES = ((14, 24), (12, 24), (27, 24), (27, 8), (8, 8), (10, 8), (10, 27), (12, 8), (12, 27))
"""Stimuli in each of X and Y, and in each of A and B: C1 to C9 as published."""
BASE = 20_000
"""Vectors in the file; every stimulus has `samples` of them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=5_000)
    parser.add_argument("--width", type=int, default=1_024)
    parser.add_argument("--segments", type=int, default=4)
    parser.add_argument("--loop-samples", type=int, default=40)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--worker", choices=("ours", "loop"))
    parser.add_argument("--vectors", type=Path)
    given = parser.parse_args()
    if given.worker:
        worker(given)
        return
    with tempfile.TemporaryDirectory() as folder:
        vectors = Path(folder) / "vectors.npy"
        rng = np.random.default_rng(0)
        np.save(vectors, rng.normal(size=(BASE, given.width)).astype(np.float16))
        ours, loop = (run(given, name, vectors) for name in ("ours", "loop"))
    largest = max(abs(a - b) for a, b in zip(ours["first"], loop["first"], strict=True))
    ratio = loop["seconds"] / ours["seconds"]
    cells = len(CATEGORIES) * given.segments
    print(f"N = {given.samples:,}, {len(CATEGORIES)} categories × {given.segments} segments, width {given.width:,}\n")
    print("| | seconds | peak memory, MiB |\n|---|---|---|")
    print(f"| penchant, {cells} cells | {ours['seconds']:.1f} | {ours['mib']:.0f} |")
    print(f"| loop, from {given.loop_samples} samples a cell | {loop['seconds']:,.0f} | {loop['mib']:.0f} |")
    print(f"\nratio {ratio:.0f}; largest difference of an effect size {largest:.1g}")
    if given.json:
        given.json.write_text(json.dumps({"ours": ours, "loop": loop, "ratio": ratio, "largest": largest}), "utf-8")
    sys.exit(largest > 1e-5)


def run(given: argparse.Namespace, name: str, vectors: Path) -> dict:
    command = [sys.executable, __file__, "--worker", name, "--vectors", str(vectors)]
    for option in ("samples", "width", "segments", "loop_samples"):
        command += [f"--{option.replace('_', '-')}", str(getattr(given, option))]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def worker(given: argparse.Namespace) -> None:
    """Run every cell by one of the two; print seconds, memory and the first effect sizes of every cell."""
    base = np.load(given.vectors, mmap_mode="r")
    cells = [(i, sizes) for i, sizes in enumerate(CATEGORIES * given.segments)]
    cell = ours if given.worker == "ours" else loop
    cell(base, 0, (2, 2), 20, 2)  # imports and the like
    before = peak()
    start = time.perf_counter()
    if given.worker == "ours":
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            found = list(pool.map(lambda c: ours(base, *c, given.samples, given.loop_samples), cells))
        seconds = time.perf_counter() - start
    else:
        found = [loop(base, *c, given.samples, given.loop_samples) for c in cells]
        seconds = sum(s for s, _ in found) * given.samples / given.loop_samples
    first = [value for _, values in found for value in values]
    print(json.dumps({"seconds": seconds, "mib": peak() - before, "first": first}))


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def choice(seed: int, stimulus: int, samples: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the vectors of a stimulus, and the ones that each sample takes."""
    rng = np.random.default_rng([seed, stimulus])
    return rng.permutation(BASE)[:samples], rng.permutation(samples)


def ours(base: NDArray[np.float16], seed: int, sizes: tuple[int, int], samples: int, shown: int) -> tuple:
    from penchant.instruments.associations.contextual_effects import VectorPool, contextual_effects
    from penchant.stats.association import combine

    def pool(stimulus: int) -> VectorPool:
        rows, picks = choice(seed, stimulus, samples)
        return VectorPool(lambda: base, rows[picks])

    n, m = sizes
    pools = [pool(i) for i in range(2 * (n + m))]
    found = contextual_effects((pools[:n], pools[n : 2 * n]), (pools[2 * n : 2 * n + m], pools[2 * n + m :]))
    combine(found.effects, found.variances)
    return 0.0, found.effects[:shown].tolist()


def loop(base: NDArray[np.float16], seed: int, sizes: tuple[int, int], samples: int, shown: int) -> tuple:
    n, m = sizes
    chosen = [choice(seed, i, samples) for i in range(2 * (n + m))]
    pools = [(base[rows].astype(np.float32), picks) for rows, picks in chosen]
    start = time.perf_counter()
    found = []
    for i in range(shown):
        vectors = [pool[picks[i]] for pool, picks in pools]
        targets, a, b = vectors[: 2 * n], vectors[2 * n : 2 * n + m], vectors[2 * n + m :]
        s = [np.mean([cosine(w, v) for v in a]) - np.mean([cosine(w, v) for v in b]) for w in targets]
        found.append(float((np.mean(s[:n]) - np.mean(s[n:])) / np.std(s, ddof=1)))
    return time.perf_counter() - start, found


def cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b)))


if __name__ == "__main__":
    main()
