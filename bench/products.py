"""The share of a run that is matrix products: replays them alone, and profiles the run by kind of operation.

    python bench/products.py -m MODEL --data DATA [-n SENTENCES] [--rounds ROUNDS] [--json FILE]

A masked model scores sentences of CrowS-Pairs (`pll`), a causal one of BLiMP (`lp`), without a cache, on a CPU. The
replay multiplies matrices of the same shapes in the same number and order, with the model's weights and random states;
attention is counted as its products. The ratio of the run's time to the replay's shows the cost of everything else: 1
would be a run of nothing but products. Run and replay take turns; medians are compared.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

from penchant.engine.scorer import Scorer, language_model
from penchant.models.load import load
from sentences import blimp, crows_pairs

KINDS = {
    "attention": ("scaled_dot_product",),
    "products": ("_linear_pointwise", "aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"),
    "softmax": ("softmax", "logsumexp", "aten::exp", "aten::amax"),
    "copies": ("aten::cat", "aten::copy_", "aten::index", "aten::clone", "aten::gather", "aten::embedding"),
    "elementwise": (
        *("aten::mul", "aten::add", "aten::sub", "aten::div", "aten::neg", "aten::gelu", "aten::silu", "aten::tanh"),
        *("layer_norm", "aten::pow", "aten::mean", "aten::rsqrt", "aten::where", "aten::fill_", "aten::masked_fill"),
    ),
}
"""Operations of each kind by the beginnings or middles of their names. The rest is `other operations`, and what no
operation took is `Python`."""


class Products(TorchDispatchMode):  # type: ignore[misc]
    """Recorder of products and attention: the operations, and their arguments with random numbers for states.

    Weights in a layout of their own are kept.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Callable[[], Any]] = []
        self._states: dict[tuple[Any, ...], torch.Tensor] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = str(func.name()), kwargs or {}
        if kind(name) in ("products", "attention") or name in ("aten::linear", "aten::matmul"):
            standing = tuple(self._standing(arg) for arg in args)
            named = {key: self._standing(value) for key, value in kwargs.items()}
            self.calls.append(lambda: func(*standing, **named))
        return func(*args, **kwargs)

    def _standing(self, value: Any) -> Any:
        """Return a stand-in for an argument: the same tensor for each shape, layout and number format."""
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            return value
        if isinstance(value, torch.nn.Parameter):
            return value
        key = (value.shape, value.stride(), value.dtype)
        if key not in self._states:
            random = torch.randn(value.shape) if value.is_floating_point() else torch.ones(value.shape)
            self._states[key] = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).copy_(random)
        return self._states[key]

    def replay(self) -> None:
        """Run the recorded operations."""
        with torch.inference_mode():
            for call in self.calls:
                call()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", required=True, help="bundled name, hub name, directory or GGUF file")
    parser.add_argument("--data", type=Path, required=True, help="directory with crows_pairs/*.csv and blimp/*.jsonl")
    parser.add_argument("-n", type=int, default=100, help="sentences")
    parser.add_argument("--rounds", type=int, default=5, help="turns of run and replay")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    model = language_model(load(given.model, device="cpu"))
    texts = (blimp if model.kind == "causal" else crows_pairs)(given.data, given.n)
    placed = [(text, f"text {number}") for number, text in enumerate(texts, start=1)]

    def run() -> None:
        list(Scorer(model).score(placed))

    run()
    with Products() as products:
        run()
    products.replay()
    turns = [(seconds(run), seconds(products.replay)) for _ in range(given.rounds)]
    report = {
        "model": given.model,
        "sentences": len(texts),
        "products": len(products.calls),
        "run_seconds": median(whole for whole, _ in turns),
        "products_seconds": median(alone for _, alone in turns),
        "run_over_products": median(whole / alone for whole, alone in turns),
        "shares": shares(run),
    }
    print(text_of(report))
    if given.json:
        given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def shares(run: Callable[[], None]) -> dict[str, float]:
    """Return the share of a run's time for each kind of operation under torch's profiler, which slows it a little."""
    start = time.perf_counter()
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        start = time.perf_counter()
        run()
        whole = time.perf_counter() - start
    taken = dict.fromkeys((*KINDS, "other operations"), 0.0)
    for event in profiled.key_averages():
        taken[kind(event.key)] += event.self_cpu_time_total / 1e6
    taken["Python"] = max(0.0, whole - sum(taken.values()))
    return {name: took / whole for name, took in taken.items()}


def kind(name: str) -> str:
    """Return the kind of an operation, by its name."""
    return next((kind for kind, parts in KINDS.items() if any(part in name for part in parts)), "other operations")


def seconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def text_of(report: dict[str, Any]) -> str:
    lines = [
        f"{report['model']}, {report['sentences']} sentences, {report['products']} products",
        f"run {report['run_seconds']:.2f} s, its products alone {report['products_seconds']:.2f} s: "
        f"{report['run_over_products']:.2f} times",
        *(f"{share:6.1%}  {name}" for name, share in report["shares"].items()),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
