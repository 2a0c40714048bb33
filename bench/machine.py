"""Measurements of the machine and of a worker; needs only torch, so that the peer's worker can use it too."""

from __future__ import annotations

import contextlib
import platform
import resource
import time
from pathlib import Path
from typing import Any

import torch

SIDE, CARD_SIDE = 1024, 8192
"""Matrices of the peak measurement are SIDE × SIDE, or CARD_SIDE × CARD_SIDE on a card."""

REPEATS = 40

TOUCH = "It is so."
"""Scored before memory is marked: weights mapped from a file count only once they have been read."""


class Memory:
    """Resident memory of this process in MiB, or that of its tensors on a GPU, with a mark when the model is ready.

    The report has the size at the mark (`loaded`), the overall peak (`peak`; getrusage, RUSAGE_SELF) and the peak after
    the mark (`working_peak`) if the kernel can restart its high-water mark (Linux), else None.
    """

    def __init__(self, device: str = "cpu") -> None:
        self.on_card = device != "cpu"
        if self.on_card:
            self.loaded, self.load_peak = _mib(torch.cuda.memory_allocated()), _mib(torch.cuda.max_memory_allocated())
            torch.cuda.reset_peak_memory_stats()
            return
        self.load_peak = _maxrss()
        self.loaded = _status("VmRSS") or self.load_peak
        self._restarted = False
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
            self._restarted = True

    def report(self) -> dict[str, float | None]:
        """Return the current figures; call this before anything else takes memory."""
        if self.on_card:
            most = _mib(torch.cuda.max_memory_allocated())
            return {"loaded_mib": self.loaded, "peak_mib": max(most, self.load_peak), "working_peak_mib": most}
        since = _status("VmHWM") if self._restarted else None
        return {
            "loaded_mib": self.loaded,
            "peak_mib": max(_maxrss(), self.load_peak),
            "working_peak_mib": since,
        }


def _mib(size: int) -> float:
    return size / (1 << 20)


def free(device: str) -> int:
    """Return the free bytes of a GPU."""
    return int(torch.cuda.mem_get_info(torch.device(device))[0])


def _maxrss() -> float:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20) if platform.system() == "Darwin" else most / 1024


def _status(field: str) -> float | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    return None


def peaks(dtype: torch.dtype, device: str = "cpu") -> dict[str, float]:
    """Return GFLOP/s of matrix products in a number format, the best of REPEATS for each routine of torch.

    On a CPU torch sends float32 products to its BLAS ("blas"); oneDNN, which it also ships, is another routine for the
    same product ("onednn", weights reordered beforehand) and on some processors the faster one by far. A GPU has only
    its BLAS.
    """
    on_card = device != "cpu"
    side = CARD_SIDE if on_card else SIDE
    a, b = (torch.randn(side, side, dtype=dtype, device=device) for _ in range(2))
    routines: dict[str, Any] = {"blas": lambda: torch.mm(a, b)}
    with contextlib.suppress(AttributeError, RuntimeError):
        if not on_card:
            bias = torch.zeros(side, dtype=dtype)
            packed = torch.ops.mkldnn._reorder_linear_weight(b, side)
            routines["onednn"] = lambda: torch.ops.mkldnn._linear_pointwise(a, packed, bias, "none", [], "")
    speeds = {}
    with torch.inference_mode():
        for name, routine in routines.items():
            with contextlib.suppress(RuntimeError):
                routine()
                fastest = min(_seconds(routine, on_card) for _ in range(REPEATS))
                speeds[name] = 2 * side**3 / fastest / 1e9
    return speeds


def _seconds(routine: Any, on_card: bool) -> float:
    if on_card:
        torch.cuda.synchronize()
    start = time.perf_counter()
    routine()
    if on_card:
        torch.cuda.synchronize()
    return time.perf_counter() - start
