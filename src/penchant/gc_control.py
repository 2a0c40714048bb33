"""Python's search for reference cycles (its cyclic garbage collector), held back where it finds nothing.

The collector looks through all containers whenever some hundreds more were made than freed. Importing torch and
transformers makes more than a million that stay until the end, so that it looks through the same ones again and again:
a third of the processor time of a short command. Objects without cycles are freed as ever; only cycles wait.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Turn the collector off for as long as a block or a decorated function takes, and then as it was before."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def left_at_exit() -> None:
    """Have the collector leave alone what exists when the process ends: looking through it once more, which takes up to
    a second with torch, frees nothing that the end of the process does not."""
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
