"""Memory that tables of logits leave behind goes back to the system while a model scores."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

import pytest

import penchant as pc
from penchant.models import torch_network

PIECE = 1 << 16
"""Bytes that glibc takes from its heap, not from the system."""
PIECES = 4_000

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps what was freed")


def resident() -> int:
    """MiB of this process in memory."""
    told = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines())
    return int(told["VmRSS"].split()[0]) >> 10


def test_holes_go_back_after_many_logits(zoo: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    model = pc.load(zoo("gpt2"))
    pc.score(model, ["A cat sleeps."])
    pieces = [bytearray(PIECE) for _ in range(PIECES)]
    full = resident()
    last = pieces[-1]  # keeps the end of the heap
    del pieces
    pc.score(model, ["A dog sleeps."])
    left = resident()
    if full - left > PIECE * PIECES >> 21:
        pytest.skip("there were no holes")
    monkeypatch.setattr(torch_network, "KEPT", 1)
    pc.score(model, ["A cow sleeps."])
    assert left - resident() > PIECE * PIECES >> 21
    assert len(last) == PIECE
