"""One function over many blocks, in order, in this process or in several."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any, TypeVar

from penchant.data.text_files import TextFile
from penchant.errors import MethodError

Task = TypeVar("Task")
Answer = TypeVar("Answer")
_WORTH = 1 << 24
"""Bytes of files that keep a process busy longer than it takes to start."""
_AHEAD = 2
"""Blocks that wait for each process."""


def worthwhile(files: Iterable[TextFile]) -> int:
    """How many processes are worth starting for the files: one a processor, fewer where there is little to do."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(processors, 1 + sum(file.size for file in files) // _WORTH)


def in_order(work: Callable[[Task], Answer], tasks: Iterable[Task], workers: int) -> Iterator[Answer]:
    """The answers of `work` to the tasks, in their order; of these few are taken ahead. With one worker nothing leaves
    this process; otherwise `work` and tasks must be such as can be pickled."""
    if workers <= 1:
        yield from map(work, tasks)
        return
    context = multiprocessing.get_context("spawn")
    waiting: deque[Future[Any]] = deque()
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(work,)) as pool:
        try:
            for task in tasks:
                with _undisturbed():
                    waiting.append(pool.submit(_do, task))
                if len(waiting) >= _AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            hint = "if memory ran out, use fewer workers; then go on where it stopped"
            raise MethodError("a process that helped ended unexpectedly", where="workers", hint=hint) from error
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for cycles of references: many small objects that hold none cost it a tenth of the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Interrupts wait, also those of the processes that are started here: these are the parent's to deal with."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_work: list[Callable[[Any], Any]] = []
"""What a process does; it may keep what it builds from one task to the next."""


def _do(task: Any) -> Any:
    return _work[0](task)


def _begin(work: Callable[[Any], Any]) -> None:
    """Leave interrupts to the parent, and end when it does, however that happens."""
    _work.append(work)
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
