"""Memory of `penchant score` for growing inputs: streams N short sentences, for each N.

    python bench/memory.py -m MODEL 10000 100000 [--cache PATH|none] [--format jsonl] [--json FILE]

The command runs in a process of its own; its resident memory is read from /proc (Linux) while it works. Prints a
markdown table, then the curve of each run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import gcd, prod
from pathlib import Path

COMMAND = (sys.executable, "-c", "from penchant.cli.app import main; main()")
INTERVAL = 0.2
"""Seconds between two looks at the process."""
POINTS = 12
"""Points of the curve that are printed; --json has them all."""

QUALITIES = "small large old young tired happy quiet clever lazy brave proud gentle honest famous careless polite"
PEOPLE = """teacher farmer doctor singer baker nurse driver painter lawyer soldier judge tailor pilot miner clerk dancer
poet sailor cook guard"""
VERBS = "sees likes helps calls meets knows follows greets thanks trusts warns leaves teaches finds hears pays"
PLACES = "garden market school station river village kitchen library forest harbour office bridge"
PARTS = [words.split() for words in (QUALITIES, PEOPLE, VERBS, QUALITIES, PEOPLE, PLACES)]
DISTINCT = prod(map(len, PARTS))


@dataclass(frozen=True)
class Run:
    """The results for one N: `curve` has (seconds, MiB) pairs; `output_mib` is the size of the output."""

    sentences: int
    seconds: float
    first_output: float | None
    peak_mib: float
    output_mib: float
    curve: list[tuple[float, float]]

    @property
    def rate(self) -> float:
        """Sentences a second from start to end, loading included."""
        return self.sentences / self.seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int, nargs="+", help=f"numbers of sentences, at most {DISTINCT:,}")
    parser.add_argument("-m", "--model", required=True, help="a small model: directory or GGUF file")
    parser.add_argument("--cache", default="none", help="as for penchant score; a path is emptied before each run")
    parser.add_argument("--format", default="jsonl", help="as for penchant score")
    parser.add_argument("--stdin", action="store_true", help="stream on standard input, which is not read twice")
    parser.add_argument("--json", type=Path, help="write everything measured to this file")
    given = parser.parse_args()
    if max(given.n) > DISTINCT:
        parser.error(f"the word list makes {DISTINCT:,} distinct sentences")
    runs = []
    with tempfile.TemporaryDirectory(prefix="penchant-bench-") as work:
        for n in given.n:
            runs.append(measure(n, given, Path(work)))
            print(f"{n:,} sentences: {runs[-1].seconds:.0f} s", file=sys.stderr, flush=True)
    print(table(runs))
    if given.json:
        given.json.write_text(json.dumps([asdict(run) for run in runs]) + "\n", encoding="utf-8")


def sentences(n: int) -> Iterator[str]:
    """Return n distinct sentences, each far from the previous one, so that neighbours share little."""
    step = next(k for k in range(int(DISTINCT * 0.618), DISTINCT) if gcd(k, DISTINCT) == 1)
    for i in range(n):
        rest = i * step % DISTINCT
        words = []
        for part in PARTS:
            rest, place = divmod(rest, len(part))
            words.append(part[place])
        yield "The {} {} {} the {} {} in the {}.".format(*words)


def measure(n: int, given: argparse.Namespace, work: Path) -> Run:
    """Run the command over n sentences."""
    source, target, errors = work / "sentences.txt", work / "scores", work / "errors"
    with source.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{sentence}\n" for sentence in sentences(n))
    if given.cache != "none":
        for suffix in ("", "-wal", "-shm"):
            Path(given.cache + suffix).unlink(missing_ok=True)
    options = ["score", "-m", given.model, "--format", given.format, "--cache", given.cache]
    command = [*COMMAND, *options, "-" if given.stdin else str(source)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    curve: list[tuple[float, float]] = []
    peak, first = 0.0, None
    start = time.perf_counter()
    with target.open("wb") as out, errors.open("wb") as err, source.open("rb") as text:
        process = subprocess.Popen(
            command, stdout=out, stderr=err, stdin=text if given.stdin else subprocess.DEVNULL, env=environment
        )
        while process.poll() is None:
            resident, most = memory(process.pid)
            now = time.perf_counter() - start
            if resident:
                curve.append((round(now, 2), resident))
                peak = max(peak, most)
            if first is None and target.stat().st_size:
                first = now
            time.sleep(INTERVAL)
    seconds = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"memory.py: penchant score failed\n{errors.read_text(encoding='utf-8')[-2000:]}")
    if given.format in ("jsonl", "tsv"):
        with target.open("rb") as stream:
            lines = sum(1 for _ in stream) - (given.format == "tsv")
        if lines != n:
            sys.exit(f"memory.py: {n} sentences in, {lines} scores out")
    return Run(n, seconds, first, peak, target.stat().st_size / (1 << 20), curve)


def memory(pid: int) -> tuple[float, float]:
    """Return the current and the largest resident size, in MiB; zeros if the process has just ended."""
    found = {}
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(("VmRSS:", "VmHWM:")):
                found[line[:5]] = int(line.split()[1]) / 1024
    except OSError:
        pass
    return found.get("VmRSS", 0.0), found.get("VmHWM", 0.0)


def table(runs: list[Run]) -> str:
    """Return a row for each N, then the curves: the largest resident size in each of POINTS equal parts of the time."""
    lines = [
        "| sentences | seconds | sentences/s | first output after s | most resident MiB | written MiB |",
        "|---|---|---|---|---|---|",
    ]
    for run in runs:
        first = f"{run.first_output:.1f}" if run.first_output is not None else "the end"
        lines.append(
            f"| {run.sentences:,} | {run.seconds:.1f} | {run.rate:.1f} | {first} | {run.peak_mib:,.0f} "
            f"| {run.output_mib:.1f} |"
        )
    lines += ["", f"Resident MiB over time, most in each {POINTS}th of the run:", ""]
    for run in runs:
        lines.append(f"- {run.sentences:,}: " + " ".join(f"{most:,.0f}" for most in parts(run)))
    return "\n".join(lines)


def parts(run: Run) -> list[float]:
    sizes: list[list[float]] = [[] for _ in range(POINTS)]
    for moment, size in run.curve:
        sizes[min(POINTS - 1, int(moment / run.seconds * POINTS))].append(size)
    return [max(part) for part in sizes if part]


if __name__ == "__main__":
    main()
