"""Control of Python's cyclic garbage collector, which is paused during work that creates no garbage cycles.

Importing torch and transformers creates over a million objects that live until the end of the process, and the
collector would scan them repeatedly. Objects without reference cycles are freed as usual; only cycles wait.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the collector during a block or a decorated function, and restore its state afterwards."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def left_at_exit() -> None:
    """Skip garbage collection at exit, which is slow with torch and frees nothing."""
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
