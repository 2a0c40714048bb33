"""The memory that loading a model takes, each model and number format in a process of its own (Linux).

    python bench/loading.py MODEL… [--dtype float32 bfloat16]

Prints a markdown table. All figures are MiB above those of the process before it loads. "Most" is the largest resident
size, pages of mapped weights included; "own" is the part that remains and belongs to the process alone (RssAnon).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

_FIELDS = {"most": "VmHWM:", "own": "RssAnon:"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="+", help="as for penchant score -m")
    parser.add_argument("--dtype", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(one(given.model[0], given.dtype[0]))
        return
    print("| model | number format | weights | most while loading | own afterwards |\n|---|---|---|---|---|")
    for model in given.model:
        for dtype in given.dtype:
            command = [sys.executable, __file__, model, "--dtype", dtype, "--one"]
            print(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip(), flush=True)


def one(model: str, dtype: str) -> str:
    """Return a row of the table; load the model in this process, after all imports."""
    import penchant as pc

    pc.load("bundled:modern")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the largest size begins anew
    before = memory()
    lm = pc.load(model, dtype=dtype)
    after = memory()
    most, own = (f"{after[name] - before[name]:,.0f}" for name in _FIELDS)
    return f"| {Path(model).name} | {lm.dtype} | {weights(model, dtype):,.0f} | {most} | {own} |"


def weights(model: str, dtype: str) -> float:
    """Return the size of the weights, each once, in the number format."""
    import penchant as pc

    os.environ["PENCHANT_PLAIN"] = "1"  # packed layers do not show their weights
    parameters = {id(p): p.nbytes for p in pc.load(model, dtype=dtype).network.model.parameters()}
    return sum(parameters.values()) / (1 << 20)


def memory() -> dict[str, float]:
    """Return the largest and the own resident size, in MiB."""
    lines = [line.split() for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines()]
    found = {line[0]: int(line[1]) / 1024 for line in lines if line[0] in _FIELDS.values()}
    return {name: found[field] for name, field in _FIELDS.items()}


if __name__ == "__main__":
    main()
