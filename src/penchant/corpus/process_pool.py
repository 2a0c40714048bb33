"""Ordered application of a function to many tasks, in one process or several."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from types import ModuleType
from typing import Any, TypeVar

from penchant.corpus.text_files import TextFile
from penchant.errors import MethodError

Task = TypeVar("Task")
Answer = TypeVar("Answer")
_WORTH = 1 << 24
"""Number of bytes of text that justify an additional process."""
_AHEAD = 2
"""Number of tasks queued for each process."""


def worthwhile(files: Iterable[TextFile]) -> int:
    """Return the number of processes to use for the files: one per processor, or fewer if there is little text."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(processors, 1 + sum(file.size for file in files) // _WORTH)


def in_order(work: Callable[[Task], Answer], tasks: Iterable[Task], workers: int) -> Iterator[Answer]:
    """Yield the results of `work` in the order of `tasks`; only a few tasks are taken from the iterable in advance.

    With one worker, all tasks run in this process; otherwise `work`, tasks and results must be picklable.
    """
    if workers <= 1:
        yield from map(work, tasks)
        return
    context = multiprocessing.get_context("spawn")
    waiting: deque[Future[Any]] = deque()
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(work,)) as pool:
        try:
            for task in tasks:
                with _undisturbed(), _without_main(work):
                    waiting.append(pool.submit(_do, task))
                if len(waiting) >= _AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            hint = "if memory ran out, use fewer workers; then resume the run"
            raise MethodError("a worker process ended unexpectedly", where="workers", hint=hint) from error
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Block SIGINT in this process, and in processes started within the `with` statement."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_main(work: Callable[[Any], Any]) -> Iterator[None]:
    """Keep new processes from importing the main module again, unless `work` is defined in it."""
    if work.__module__ == "__main__":
        yield
        return
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


_work: list[Callable[[Any], Any]] = []
"""List with the function that this worker process applies to its tasks."""


def _do(task: Any) -> Any:
    return _work[0](task)


def _begin(work: Callable[[Any], Any]) -> None:
    """Initialise a worker process: ignore SIGINT, and exit when the parent process ends for any reason."""
    _work.append(work)
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
