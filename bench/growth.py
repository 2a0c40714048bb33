"""Growth of time and memory with the work: each command at 1,000, 10,000, 100,000 … items.

    python bench/growth.py [pll lp ceat extract] [-n 1000 10000 100000] [--json FILE] [--svg FILE]
    python bench/growth.py --show FILE.json [--svg FILE]

`pll` and `lp` score distinct sentences of about ten words (those of memory.py) with a tiny masked model and the tests'
tiny GPT-2, so that the work besides matrix products shows; `ceat` draws samples for one category of four lists of four
words from 2,000 sentences that the tiny GPT-2 reads; `extract` looks for those words in lines of one or two sentences,
with one worker. Each run is a process of its own with one thread, without a cache: wall and processor time from the
start of Python to the end of the process, and the most resident memory. Slopes are those of the least-squares line
through log time (or memory) over log items, of all runs and of the last two sizes; 1 is growth in proportion, 0 none. A
start of some seconds makes the first smaller.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

import memory  # noqa: E402

PROGRAM = [sys.executable, "-c", "import sys; sys.argv[0] = 'penchant'; from penchant.cli.app import main; main()"]
LISTS = {"X": "teacher farmer doctor singer", "Y": "garden market school station"}
LISTS |= {"A": "small large old young", "B": "happy quiet clever lazy"}
TEXTS = 2_000
"""Sentences from which CEAT draws."""
UNITS = {"wall": "s", "processor": "s", "mib": "MiB"}
LEGEND = "slopes of the last two sizes"
TITLES = {"wall": "wall time, s", "processor": "processor time, s", "mib": "most resident memory, MiB"}


@dataclass(frozen=True)
class Run:
    """The cost of one process for `items`; `load` is the machine's load average when it ended."""

    case: str
    items: int
    wall: float
    processor: float
    mib: float
    load: float


Command = Callable[[int, Path], list[str]]
"""The arguments of a command over so many items, whose input is written to the folder."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}; all by default")
    parser.add_argument("-n", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--json", type=Path, help="write all runs to this file, beside those of other cases and sizes")
    parser.add_argument("--show", type=Path, help="run nothing; show the runs of this file")
    parser.add_argument("--svg", type=Path, help="draw them")
    given = parser.parse_args()
    runs = [] if given.show else [run(case, n) for case in given.cases for n in given.n]
    if given.json:
        runs = merged(given.json, runs)
        given.json.write_text(json.dumps([asdict(each) for each in runs], indent=1) + "\n", encoding="utf-8")
    if given.show:
        runs = read(given.show)
    print(table(runs))
    if given.svg:
        given.svg.write_text(drawn(runs).svg(), encoding="utf-8")


# --- the commands -------------------------------------------------------------------------------------------------


def sentences(n: int, file: Path) -> Path:
    """Write a file of n distinct sentences."""
    with file.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{sentence}\n" for sentence in memory.sentences(n))
    return file


def tiny(folder: Path) -> str:
    """The tests' tiny GPT-2."""
    import zoo

    return str(zoo.build("gpt2", folder))


def masked(folder: Path) -> str:
    """A BERT of two layers of 32 with random weights, and the tokenizer of bundled:modern."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

    from penchant.tables.data_lookup import PACKAGE

    tokenizer = AutoTokenizer.from_pretrained(PACKAGE / "bundled" / "modern")
    torch.manual_seed(0)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **size)).save_pretrained(folder / "masked")
    tokenizer.save_pretrained(folder / "masked")
    return str(folder / "masked")


def stimuli(folder: Path) -> Path:
    """Four lists of four words each, one category."""
    lists = {name: {"words": words.split()} for name, words in LISTS.items()}
    given = {"language": "en", "lists": lists, "categories": {"all": {name: name for name in LISTS}}}
    (folder / "set.yaml").write_text(json.dumps(given), encoding="utf-8")
    return folder / "set.yaml"


def pll(n: int, folder: Path) -> list[str]:
    """Pseudo-log-likelihoods of n sentences."""
    return ["score", "-m", masked(folder), "--cache", "none", str(sentences(n, folder / "lines.txt"))]


def lp(n: int, folder: Path) -> list[str]:
    """Log-probabilities of n sentences."""
    return ["score", "-m", tiny(folder), "--cache", "none", str(sentences(n, folder / "lines.txt"))]


def ceat(n: int, folder: Path) -> list[str]:
    """A study of one CEAT with n samples."""
    texts = sentences(TEXTS, folder / "lines.txt")
    probe = {"data": str(stimuli(folder)), "sentences": str(texts), "segments": ["all"], "samples": [n]}
    study = {"study": "growth", "seed": 0, "models": [tiny(folder)], "probes": [{"ceat": probe}]}
    (folder / "study.yaml").write_text(json.dumps(study), encoding="utf-8")
    return ["run", str(folder / "study.yaml"), "-o", str(folder / "out"), "--cache", "none"]


def extract(n: int, folder: Path) -> list[str]:
    """An extraction from n lines, a third of them with a second sentence."""
    draw = random.Random(0)
    with (folder / "lines.txt").open("w", encoding="utf-8") as stream:
        before = ""
        for sentence in memory.sentences(n):
            stream.write(f"{sentence} {before}\n" if before and draw.random() < 1 / 3 else f"{sentence}\n")
            before = sentence
    given = ["corpus", "extract", str(folder / "lines.txt"), "--data", str(stimuli(folder)), "--workers", "1"]
    return [*given, "--language", "en", "-o", str(folder / "table.parquet")]


CASES: dict[str, Command] = {"pll": pll, "lp": lp, "ceat": ceat, "extract": extract}


def run(case: str, n: int) -> Run:
    """Run one process over n items."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="penchant-growth-") as home, tempfile.TemporaryFile("w+") as told:
        command = [*PROGRAM, *CASES[case](n, Path(home))]
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            told.seek(0)
            sys.exit(f"growth.py: {case} of {n} failed\n{told.read()[-2000:]}")
    done = Run(case, n, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.getloadavg()[0])
    print(f"{case}, {n:,}: {done.wall:.1f} s, {done.processor:.1f} s, {done.mib:,.0f} MiB", file=sys.stderr, flush=True)
    return done


def read(file: Path) -> list[Run]:
    """The runs in a file."""
    return [Run(**each) for each in json.loads(file.read_text("utf-8"))]


def merged(file: Path, runs: Sequence[Run]) -> list[Run]:
    """Return the runs of a file, with these in place of those of the same case and size."""
    known = {(each.case, each.items): each for each in (read(file) if file.exists() else [])}
    known |= {(each.case, each.items): each for each in runs}
    return [known[key] for key in sorted(known, key=lambda key: (list(CASES).index(key[0]), key[1]))]


# --- what is shown ------------------------------------------------------------------------------------------------


def slope(runs: Sequence[Run], what: str) -> float:
    """Return the least-squares slope of log `what` on log items."""
    x = np.log([each.items for each in runs])
    y = np.log([getattr(each, what) for each in runs])
    return float(np.polyfit(x, y, 1)[0]) if len(runs) > 1 else math.nan


def by_case(runs: Sequence[Run]) -> Iterator[tuple[str, list[Run]]]:
    """The runs of each case, by rising size."""
    for case in CASES:
        own = sorted((each for each in runs if each.case == case), key=lambda each: each.items)
        if own:
            yield case, own


def table(runs: Sequence[Run]) -> str:
    """A row a run, and the slopes of each case under its runs."""
    lines = ["| | items | wall, s | processor, s | MiB |", "|---|---|---|---|---|"]
    for case, own in by_case(runs):
        lines += [f"| `{case}` | {r.items:,} | {r.wall:.1f} | {r.processor:.1f} | {r.mib:,.0f} |" for r in own]
        for name, part in (("slope, all", own), ("slope, last two", own[-2:])):
            lines.append(f"| `{case}` | {name} | " + " | ".join(f"{slope(part, what):.2f}" for what in UNITS) + " |")
    loads = [each.load for each in runs]
    return "\n".join([*lines, "", f"load of the machine: {min(loads):.1f} to {max(loads):.1f}"])


def drawn(runs: Sequence[Run]) -> Any:
    """Draw time and memory over items, both axes logarithmic, with the last slope of each case.

    A faint line has slope 1.
    """
    import altair as alt

    from penchant.report.figures import COLOURS, FAINT, Figure

    rows = [{**asdict(each), "case": label(case, own)} for case, own in by_case(runs) for each in own]
    order = list(dict.fromkeys(row["case"] for row in rows))
    panels = []
    for what in ("processor", "mib"):
        values = [row[what] for row in rows]
        domain = [min(values) / 1.5, max(values) * 1.5]
        base = alt.Chart(alt.Data(values=rows)).encode(
            x=alt.X("items:Q", title="items", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", tickCount=4)),
            y=alt.Y(
                f"{what}:Q",
                title=TITLES[what],
                scale=alt.Scale(type="log", nice=False, domain=domain),
                axis=alt.Axis(format="~s", tickCount=5),
            ),
            color=alt.Color("case:N", title=LEGEND, scale=alt.Scale(domain=order, range=list(COLOURS[: len(order)]))),
        )
        shape = alt.Shape("case:N", title=LEGEND, scale=alt.Scale(domain=order))
        layers = [base.mark_line(), base.mark_point(filled=True, size=60, opacity=1).encode(shape=shape)]
        if what == "processor":
            least = min(rows, key=lambda row: row["processor"])
            line = [{"items": least["items"] * by, "processor": least["processor"] * by} for by in (1, 100)]
            faint = alt.Chart(alt.Data(values=line)).mark_line(color=FAINT, strokeDash=[4, 4])
            layers.insert(0, faint.encode(x="items:Q", y="processor:Q"))
        panels.append(alt.layer(*layers).properties(width=280, height=280, title=TITLES[what]))
    text = f"Processor time and most resident memory over items, on logarithmic scales; {LEGEND}: {'; '.join(order)}"
    return Figure("growth", "Growth", text, alt.hconcat(*panels))


def label(case: str, own: Sequence[Run]) -> str:
    """A case with its slopes over the last two sizes."""
    return f"{case}: time {slope(own[-2:], 'processor'):.2f}, memory {slope(own[-2:], 'mib'):.2f}"


if __name__ == "__main__":
    main()
