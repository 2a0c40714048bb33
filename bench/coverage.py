"""Coverage of intervals and levels of tests, simulated: makes docs/validity.md and docs/validity.csv.

usage: python bench/coverage.py [--only TEXT] [--share F] [--workers N] [--counts FILE]

A trial, of simulations whose name contains TEXT or of a share of the data sets, is printed and leaves the docs alone.

Every simulation draws data sets from a known truth and asks penchant for its estimates. Counts are kept after every
hundred data sets, so that a stopped run can be resumed; seeds make the result independent of how it is divided.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(name, "1")  # the workers share the cores

import argparse  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402
from concurrent.futures import ProcessPoolExecutor, as_completed  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

sys.path[0] = str(Path(__file__).parents[1])  # not this folder: it has a module of the name of a library

import polars as pl  # noqa: E402
from bench.simulations import simulations  # noqa: E402
from bench.simulations.base import Tally, run  # noqa: E402
from bench.simulations.page import page  # noqa: E402

CHUNK = 100
DOCS = Path(__file__).parents[1] / "docs"


def counted(number: int, first: int, sets: int) -> list[dict[str, Any]]:
    """Return the counts of one chunk of a simulation."""
    simulation = simulations()[number]
    return [
        {"simulation": simulation.name, "first": first, "shown": shown, **tally.as_dict()}
        for shown, tally in run(simulation, first, sets).items()
    ]


def table(lines: list[dict[str, Any]]) -> pl.DataFrame:
    """Return one row for every simulation and kind of estimate, in the order of the simulations."""
    rows = []
    for simulation in simulations():
        tallies: dict[tuple[str, ...], Tally] = {}
        for line in lines:
            if line["simulation"] == simulation.name:
                counts = {key: value for key, value in line.items() if key not in ("simulation", "first", "shown")}
                tallies.setdefault(tuple(line["shown"]), Tally()).merge(counts)
        for shown, tally in tallies.items():
            named = {name: max(each, key=each.__getitem__) if each else "" for name, each in _methods(tally)}
            numbers = {key: value for key, value in tally.as_dict().items() if isinstance(value, int)}
            about = {"section": simulation.section, "data": simulation.data, "size": simulation.size}
            rows.append({**about, "shown": "; ".join(shown), **named, **numbers})
    return pl.DataFrame(rows)


def _methods(tally: Tally) -> list[tuple[str, Any]]:
    return [("interval", tally.how), ("test", tally.test)]


def main() -> None:
    """Count what is not yet counted, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="simulations whose name contains this, for a trial")
    parser.add_argument("--share", type=float, default=1.0, help="share of the data sets, for a trial")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--counts", type=Path, default=Path("validity.jsonl"), help="where counts are kept")
    options = parser.parse_args()
    lines = (
        [json.loads(line) for line in options.counts.read_text("utf-8").splitlines()] if options.counts.exists() else []
    )
    done = {(line["simulation"], line["first"]) for line in lines}
    jobs = [
        (number, first, min(CHUNK, simulation.sets - first))
        for number, simulation in enumerate(simulations())
        for first in range(0, max(1, round(simulation.sets * options.share)), CHUNK)
        if options.only in simulation.name and (simulation.name, first) not in done
    ]
    with ProcessPoolExecutor(options.workers) as workers, options.counts.open("a", encoding="utf-8") as kept:
        futures = [workers.submit(counted, *job) for job in jobs]
        try:
            for n, future in enumerate(as_completed(futures), 1):
                new = future.result()
                lines += new
                kept.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in new))
                kept.flush()
                print(f"\r{n}/{len(jobs)}", end="", file=sys.stderr)
        finally:
            workers.shutdown(cancel_futures=True)
    found = table([line for line in lines if options.only in line["simulation"]])
    if options.only or options.share < 1:  # a trial: the docs show the whole
        with pl.Config(tbl_rows=-1, tbl_cols=-1, fmt_str_lengths=60, tbl_width_chars=250):
            print(found)
        return
    found.write_csv(DOCS / "validity.csv")
    (DOCS / "validity.md").write_text(page(found, DOCS / "validity.template.md"), "utf-8")


if __name__ == "__main__":
    main()
