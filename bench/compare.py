"""penchant against minicons and transformers alone: sentences a second, memory, share of the machine's peak, agreement.

    python bench/compare.py CASE… --peer-python PATH --data DIR --tokenizer DIR --smollm2 FILE.gguf|DIR

Run it with a Python that has penchant; --peer-python is one that has minicons. All tools get the same sentences in
the same order, the same weights and the same number of threads; each run is a process of its own, and the tools take
turns. With --peer-sentences the peers get a part of BLiMP's sentences, so many of each paradigm: they share no work
between sentences. Prints a markdown table for each case. Exit code 1 if float32 scores disagree.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

# This process imports nothing large: on Linux a child starts with its parent's size as its own peak of memory.
from sentences import blimp, crows_pairs

HERE = Path(__file__).parent
BATCH_SIZES = (1, 8, 32, 64)
AGREE = 0.01
"""Sums over a sentence, in float32, may differ by this much before the comparison counts as void."""


@dataclass(frozen=True)
class Tool:
    """One contender: its name and its number format."""

    name: str
    dtype: str = "float32"

    def __str__(self) -> str:
        return f"{self.name} {self.dtype}"


@dataclass(frozen=True)
class Case:
    """One comparison; the first tool is ours, and `sentences` is the number scored unless -n says otherwise."""

    what: str
    kind: str
    vocabulary: int
    sentences: int
    tools: tuple[Tool, ...]


OURS, PEER = Tool("penchant"), Tool("minicons")
OURS_BF16, PEER_BF16 = Tool("penchant", "bfloat16"), Tool("minicons", "bfloat16")
ALONE, ALONE_BF16 = Tool("transformers"), Tool("transformers", "bfloat16")
REFERENCE = PEER
IN_BF16 = (OURS_BF16, PEER, PEER_BF16, ALONE_BF16)
BERT = "PLL (Salazar et al. 2020) of CrowS-Pairs sentences; masked model of BERT-base size (12 × 768), random weights"
CASES = {
    "pll-30k": Case(f"{BERT}, {30_522:,} vocabulary rows", "masked", 30_522, 200, (OURS, PEER, ALONE)),
    "pll-250k": Case(f"{BERT}, {250_002:,} vocabulary rows", "masked", 250_002, 100, (OURS, PEER, ALONE)),
    "pll-30k-bf16": Case(f"{BERT}, {30_522:,} vocabulary rows", "masked", 30_522, 200, IN_BF16),
    "pll-250k-bf16": Case(f"{BERT}, {250_002:,} vocabulary rows", "masked", 250_002, 100, IN_BF16),
    "lp-smollm2": Case(
        "lp of BLiMP sentences, as many pairs from each of its 67 paradigms; SmolLM2-135M",
        "causal",
        0,
        1_340,
        (OURS, PEER, ALONE),
    ),
}


def main() -> None:
    given = arguments()
    with workplace(given.work) as work:
        report = {"machine": machine(given), "cases": {}}
        where = report["machine"]["cpu"] + (f", {card()}" if given.device != "cpu" else "")
        report["machine"]["device"] = where
        print(f"{where}, {given.threads} threads, {given.rounds} rounds\n")
        for name in dict.fromkeys(given.cases):
            outcome = compare(name, CASES[name], given, work)
            report["cases"][name] = outcome
            print(markdown(name, outcome), flush=True)
    if given.json:
        given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    void = [name for name, outcome in report["cases"].items() if not outcome["agree"]]
    if void:
        sys.exit(f"compare.py: float32 scores differ by more than {AGREE} in {', '.join(void)}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", choices=CASES, metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--peer-python", required=True, help="the interpreter of an environment with minicons")
    parser.add_argument("--data", type=Path, required=True, help="directory with crows_pairs/ and blimp/")
    parser.add_argument("--tokenizer", type=Path, help="directory with a WordPiece tokenizer (pll cases)")
    parser.add_argument("--smollm2", type=Path, help="SmolLM2-135M as GGUF file or directory (lp-smollm2)")
    parser.add_argument("-n", "--sentences", type=int, help="sentences scored (default: what suits the case)")
    parser.add_argument("--peer-sentences", type=int, help="sentences the peers score (lp-smollm2; default: all)")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each tool (default 2)")
    parser.add_argument(
        "--threads", type=int, default=cores(), help="torch threads of either tool (default: all cores)"
    )
    parser.add_argument("--device", default="cpu", help="where all tools compute, such as cuda (default cpu)")
    parser.add_argument("--trial", type=int, default=64, help="sentences on which a peer's batch size is chosen")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=BATCH_SIZES, help="sizes the peers may use")
    parser.add_argument(
        "--work", type=Path, help="keep models here and use them again (default: a temporary directory)"
    )
    parser.add_argument("--json", type=Path, help="write everything measured to this file")
    given = parser.parse_args()
    if not given.tokenizer and any(CASES[name].kind == "masked" for name in given.cases):
        parser.error("the pll cases need --tokenizer")
    if not given.smollm2 and any(CASES[name].kind == "causal" for name in given.cases):
        parser.error("lp-smollm2 needs --smollm2")
    if given.peer_sentences and any(CASES[name].kind == "masked" for name in given.cases):
        parser.error("--peer-sentences is for lp-smollm2 alone")
    return given


@contextmanager
def workplace(kept: Path | None) -> Iterator[Path]:
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
    else:
        with tempfile.TemporaryDirectory(prefix="penchant-bench-") as name:
            yield Path(name)


def compare(name: str, case: Case, given: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Run all rounds of one case."""
    wanted = given.sentences or case.sentences
    read = blimp if case.kind == "causal" else crows_pairs
    ours, peers = read(given.data, wanted), read(given.data, given.peer_sentences or wanted)
    job = {
        "model": str(prepare(case, given, work)),
        "kind": case.kind,
        "texts": peers,
        "device": given.device,
        "warmup": 4 if given.device == "cpu" else 256,
        "threads": given.threads,
        "sample": given.trial,
        "memory_limit": available() // 2,
    }
    trials: dict[Tool, dict[str, Any]] = {}
    for tool in case.tools:
        if tool.name != OURS.name:
            say(f"{name}: choosing a batch size for {tool}")
            trials[tool] = work_on(tool, {**job, "batch_sizes": list(given.batch_sizes)}, given, work)
    runs: dict[Tool, list[dict[str, Any]]] = {tool: [] for tool in case.tools}
    for turn in range(given.rounds):
        for tool in case.tools:
            own = {"batch_size": int(fastest(trials[tool]["speeds"]))} if tool in trials else {"texts": ours}
            runs[tool].append(work_on(tool, {**job, **own}, given, work))
            say(f"{name}: round {turn + 1}, {tool}: {speed(runs[tool][-1]):.2f} sentences/s")
    return summary(case, (ours, peers), runs, trials)


def speed(result: dict[str, Any]) -> float:
    """Sentences a second."""
    return len(result["scores"]) / float(result["seconds"])


def fastest(speeds: dict[str, float]) -> str:
    return max(speeds, key=speeds.__getitem__)


def prepare(case: Case, given: argparse.Namespace, work: Path) -> Path:
    if case.kind == "causal":
        out = work / f"causal-{given.smollm2.stem}"
        kind = ["causal", str(out), "--source", str(given.smollm2)]
    else:
        out = work / f"bert-{case.vocabulary}"
        kind = ["bert", str(out), "--tokenizer", str(given.tokenizer), "--vocabulary", str(case.vocabulary)]
    subprocess.run([sys.executable, str(HERE / "prepare.py"), *kind], check=True, env=environment(given), stdout=2)
    return out


def work_on(tool: Tool, job: dict[str, Any], given: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Run a worker in a process of its own."""
    path = work / "job.json"
    path.write_text(json.dumps({**job, "tool": tool.name, "dtype": tool.dtype}), encoding="utf-8")
    python = given.peer_python if tool.name == PEER.name else sys.executable
    script = "run_ours.py" if tool.name == OURS.name else "run_peer.py"
    done = subprocess.run(
        [python, str(HERE / script), str(path)], env=environment(given), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"compare.py: {script} failed\n{done.stderr[-4000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def environment(given: argparse.Namespace) -> dict[str, str]:
    threads = str(given.threads)
    return {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}


def summary(
    case: Case,
    texts: tuple[list[str], list[str]],
    runs: dict[Tool, list[dict[str, Any]]],
    trials: dict[Tool, dict[str, Any]],
) -> dict[str, Any]:
    """Return the contents of the table, and everything it was made from; `texts` are ours and the peers'."""
    useful = runs[case.tools[0]][0]["useful"]
    peaks: dict[str, dict[str, float]] = {}
    for tool, results in runs.items():
        for result in results:
            for routine, gflops in result["peaks"].items():
                known = peaks.setdefault(tool.dtype, {})
                known[routine] = max(known.get(routine, 0.0), gflops)
    speeds = {tool: [speed(result) for result in results] for tool, results in runs.items()}
    ours = median(speeds[case.tools[0]])
    reference = runs[REFERENCE][0]["scores"]
    rows = []
    for tool, results in runs.items():
        done = useful["flop"] / len(texts[0]) * median(speeds[tool]) / 1e9
        scores = results[0]["scores"]
        if tool == case.tools[0]:
            by_text = dict(zip(texts[0], scores, strict=True))
            scores = [by_text[text] for text in texts[1]]
        differences = [abs(a - b) for a, b in zip(scores, reference, strict=True)]
        rows.append(
            {
                "tool": tool.name,
                "dtype": tool.dtype,
                "sentences": len(results[0]["scores"]),
                "sentences_per_second": speeds[tool],
                "processors_used": [result["processor_seconds"] / result["seconds"] for result in results],
                "times_ours": ours / median(speeds[tool]),
                "useful_gflops": done,
                "share_of_blas_peak": done / peaks[tool.dtype]["blas"],
                "share_of_best_peak": done / max(peaks[tool.dtype].values()),
                "memory": {
                    key: max((r["memory"][key] or 0.0) for r in results) or None for key in results[0]["memory"]
                },
                "largest_difference": max(differences),
                "mean_difference": sum(differences) / len(differences),
                "load_seconds": [result["load_seconds"] for result in results],
                "batch_sizes": trials.get(tool),
                "counts": results[0].get("counts"),
                "versions": results[0]["versions"],
            }
        )
    exact = [row["largest_difference"] for row in rows if row["dtype"] == REFERENCE.dtype]
    return {
        "what": case.what,
        "sentences": len(texts[0]),
        "peer_sentences": len(texts[1]),
        "useful": useful,
        "peaks_gflops": peaks,
        "rows": rows,
        "agree": max(exact) <= AGREE,
    }


def markdown(name: str, outcome: dict[str, Any]) -> str:
    useful = outcome["useful"]
    peaks = "; ".join(
        f"{dtype} " + ", ".join(f"{routine} {speed:.0f}" for routine, speed in known.items())
        for dtype, known in outcome["peaks_gflops"].items()
    )
    lines = [
        f"### {name}",
        "",
        f"{outcome['what']}; {outcome['sentences']} sentences, {outcome['peer_sentences']} of them by the peers.",
        f"Useful work {useful['flop'] / 1e9:,.0f} GFLOP: 2 × ({useful['trunk_weights'] / 1e6:.1f} M weights × "
        f"{useful['trunk_tokens']:,} tokens + {useful['head_weights'] / 1e6:.1f} M weights of the head × "
        f"{useful['head_tokens']:,} positions read); every distinct input once, no padding, attention not counted.",
        f"Peak of a matrix product in torch, GFLOP/s: {peaks}.",
        "",
        "| tool | sentences/s, median (rounds) | penchant is × faster | share of peak: blas, best | MiB loaded → peak "
        f"(while scoring) | difference from {REFERENCE}: mean, largest |",
        "|---|---|---|---|---|---|",
    ]
    for row in outcome["rows"]:
        speeds, memory = row["sentences_per_second"], row["memory"]
        scoring = f"{memory['working_peak_mib']:,.0f}" if memory["working_peak_mib"] else "unknown"
        lines.append(
            f"| {row['tool']} {row['dtype']}{batch(row)}, {median(row['processors_used']):.2f} processors "
            f"| {median(speeds):.2f} "
            f"({', '.join(f'{speed:.2f}' for speed in speeds)}) | {row['times_ours']:.2f} "
            f"| {row['share_of_blas_peak']:.0%}, {row['share_of_best_peak']:.0%} "
            f"| {memory['loaded_mib']:,.0f} → {memory['peak_mib']:,.0f} ({scoring}) "
            f"| {row['mean_difference']:.2g}, {row['largest_difference']:.2g} |"
        )
    return "\n".join([*lines, ""])


def batch(row: dict[str, Any]) -> str:
    """Return the peer's batch size, and the sizes that were tried."""
    tried = row["batch_sizes"]
    if not tried:
        return ""
    others = ", ".join(f"{size}: {speed:.2f}" for size, speed in tried["speeds"].items())
    too_large = "".join(f", {size}: too large" for size in tried["left_out"])
    return f", batch {fastest(tried['speeds'])} (tried {others}{too_large})"


def machine(given: argparse.Namespace) -> dict[str, Any]:
    return {
        "cpu": processor(),
        "cores": cores(),
        "threads": given.threads,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_before": os.getloadavg() if hasattr(os, "getloadavg") else None,
    }


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def card() -> str:
    """Return the GPUs of NVIDIA and their driver, as their program names them."""
    try:
        asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        return ", ".join(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines())
    except (OSError, subprocess.CalledProcessError):
        return "a card"


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available() -> int:
    """Return the bytes of memory available."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 8 << 30


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
