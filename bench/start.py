"""The overhead of a short command: processor time by phase, and by package imported.

    python bench/start.py [-m bundled:modern] [--runs 5] [--json FILE]

Each run is a process of its own. The first table has whole commands, from the start of Python to the end of the
process, on one sentence or one line of text; the second the phases of `penchant score`, by a clock around the functions
that do them (an import inside a phase counts as import); the third how the time of its imports is divided among
packages, by `-X importtime`, which slows them. All in seconds of processor time, medians of the runs, in turns.
"""

from __future__ import annotations

import argparse
import builtins
import functools
import gc
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

PROGRAM = "import sys; sys.argv[0] = 'penchant'; from penchant.cli.app import main; main()"
PHASES = {
    "files and fingerprint": [
        ("penchant.models.model_identity", "Source.fetched"),
        ("penchant.models.model_identity", "Source.fingerprint"),
    ],
    "configuration": [("penchant.models.load", "read_config")],
    "tokenizer": [("penchant.models.load", "read_tokenizer")],
    "weights": [("penchant.models.load", "_weights")],
    "shortcuts checked": [("penchant.models.torch_network", "Network.__init__")],
    "scoring and printing": [("penchant.cli.score_fill_embed", "_score")],
}
"""The functions that each phase of `penchant score` consists of."""
SHOWN = 8
"""Packages that are shown; the others are one row."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", default="bundled:modern")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--worker", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(given.worker)
        return
    with tempfile.TemporaryDirectory() as folder:
        commands = commands_on(given.model, Path(folder))
        whole: defaultdict[str, list[float]] = defaultdict(list)
        phases: defaultdict[str, list[float]] = defaultdict(list)
        for _ in range(given.runs):
            for name, command in commands.items():
                whole[name].append(processor([sys.executable, "-c", PROGRAM, *command])[0])
            for phase, seconds in of_phases(commands["score"]).items():
                phases[phase].append(seconds)
        packages = imported(commands["score"])
    found = {
        "whole": {name: median(times) for name, times in whole.items()},
        "phases": {name: median(times) for name, times in phases.items()},
        "packages": packages,
    }
    for title, rows in found.items():
        print(f"| {title} | seconds |\n|---|---|")
        for name, seconds in rows.items():
            print(f"| {name} | {seconds:.3f} |")
        print()
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def commands_on(model: str, folder: Path) -> dict[str, list[str]]:
    """Return the arguments of each command; write the files that they read to the folder."""
    sentence, text, stimuli = folder / "sentence.txt", folder / "text.txt", folder / "stimuli.txt"
    sentence.write_text("One sentence.\n", encoding="utf-8")
    text.write_text("The old teacher greets a nurse.\n", encoding="utf-8")
    stimuli = folder / "set.yaml"
    lists = {
        f"list-{name}": {"words": [word]}
        for name, word in zip("XYAB", ("teacher", "nurse", "old", "young"), strict=True)
    }
    categories = {"all": {name: f"list-{name}" for name in "XYAB"}}
    stimuli.write_text(json.dumps({"language": "en", "lists": lists, "categories": categories}), encoding="utf-8")
    table = str(folder / "table.parquet")
    return {
        "--help": ["--help"],
        "score": ["score", "-m", model, str(sentence)],
        "surprisal": ["surprisal", "-m", model, str(sentence)],
        "fill": ["fill", "-m", model, "The [MASK] sleeps."],
        "corpus extract": ["corpus", "extract", str(text), "--data", str(stimuli), "-o", table, "--workers", "1"],
    }


def processor(command: list[str]) -> tuple[float, str]:
    """Return the processor time of a command, and its standard error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode:
        sys.exit(f"start.py: {' '.join(command)} failed\n{ran.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ran.stderr


def of_phases(command: list[str]) -> dict[str, float]:
    """Return the phases of one run of `penchant score`."""
    total, told = processor([sys.executable, __file__, "--worker", *command])
    phases: dict[str, float] = json.loads(told.strip().splitlines()[-1])
    phases["end of the process, and what no phase has"] = total - sum(phases.values())
    return phases


def worker(command: list[str]) -> None:
    """Run the command with a clock around each phase; the phases go to standard error."""
    clock = Clock()
    clock.spent["Python, and this program"] = time.process_time()
    builtins.__import__ = clock.around("imports", builtins.__import__)  # type: ignore[assignment]
    sys.argv = ["penchant", *command]
    from penchant.cli.app import main as program

    gc.disable()  # as the program does while it imports these
    for phase, places in PHASES.items():
        for module, name in places:
            __import__(module)
            *owner, last = name.split(".")
            holder: Any = functools.reduce(getattr, owner, sys.modules[module])
            setattr(holder, last, clock.around(phase, getattr(holder, last)))
    gc.enable()
    try:
        program()
    finally:
        print(json.dumps(clock.spent), file=sys.stderr)


class Clock:
    """A clock of processor time by phase; a phase inside another counts for itself alone."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self.running: list[str] = []
        self.last = 0.0

    def around(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function with the clock around it; importing a loaded module stays in its phase."""

        @functools.wraps(function)
        def timed(*args: Any, **options: Any) -> Any:
            self.turn(phase)
            try:
                return function(*args, **options)
            finally:
                self.turn(None)

        return timed

    def turn(self, phase: str | None) -> None:
        """Enter a phase, or leave the last."""
        now = time.process_time()
        if self.running:
            self.spent[self.running[-1]] += now - self.last
        self.last = now
        if phase is None:
            self.running.pop()
        else:
            self.running.append(phase)


def imported(command: list[str]) -> dict[str, float]:
    """Return the seconds that importing the modules of each package took, the largest first."""
    told = processor([sys.executable, "-X", "importtime", "-c", PROGRAM, *command])[1]
    taken: Counter[str] = Counter()
    for match in re.finditer(r"import time: +(\d+) \| +\d+ \| +(\w+)", told):
        taken[match[2]] += int(match[1])
    largest = taken.most_common(SHOWN)
    rest = taken.total() - sum(micro for _, micro in largest)
    return {name: micro / 1e6 for name, micro in [*largest, ("others", rest)]}


if __name__ == "__main__":
    main()
