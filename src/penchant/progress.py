"""Progress of long work on standard error: bars in a terminal, occasional lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Timer
from typing import TYPE_CHECKING, Any, TypeAlias

from penchant.errors import one_line

if TYPE_CHECKING:
    from rich.progress import Progress


def say(text: str) -> None:
    """Write a message to standard error on one line."""
    sys.stderr.write(one_line(text) + "\n")


PATIENCE = 2.0
"""Seconds before progress is displayed in a terminal."""
FIRST_LINE, NEXT_LINE = 10.0, 30.0
"""Seconds before the first line of progress without a terminal, and between further lines."""


class LineProgress:
    """Progress as occasional lines, for logs; `clock` returns the time in seconds."""

    def __init__(self, unit: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._unit, self._clock = unit, clock
        self._due = clock() + FIRST_LINE

    def start(self, label: str) -> Advance:
        """Return a function to call with the amount done since the last call, and the total (0 if unknown)."""
        began, done = self._clock(), 0.0

        def advance(more: float, total: float) -> None:
            nonlocal done
            done += more
            now = self._clock()
            if now >= self._due:
                self._due = now + NEXT_LINE
                say(f"{label}: {_state(done, total, now - began, self._unit)}")

        return advance


def _state(done: float, total: float, seconds: float, unit: str) -> str:
    """Return the amount done, its rate and the remaining time: `120 of 400, 3.2/s, 1:27 left`."""
    rate = done / seconds if seconds else 0.0
    parts = [f"{done:,.0f} of {total:,.0f}" if total else f"{done:,.0f}", f"{rate:.1f}{unit}/s"]
    if total and rate:
        parts.append(f"{timedelta(seconds=round(max(total - done, 0) / rate))} left")
    return ", ".join(parts)


Advance: TypeAlias = Callable[[float, float], None]
"""A function to call with the amount done since the last call, and the total (0 if unknown)."""


@contextmanager
def bars(unit: str = "") -> Iterator[Callable[[str], Advance]]:
    """Display progress on stderr: the amount done, the rate in `unit` per second and the remaining time.

    In a terminal, bars appear after two seconds; elsewhere, occasional lines are written. Yields a function that takes
    the label of a task and returns its `Advance` function.
    """
    if not sys.stderr.isatty():
        yield LineProgress(f" {unit}" if unit else "").start
        return
    with _late(_counts(unit)) as progress:

        def start(label: str) -> Advance:
            task = progress.add_task(one_line(label), total=None)

            def advance(done: float, total: float) -> None:
                progress.update(task, advance=done, total=total or None)

            return advance

        yield start


@contextmanager
def bar(label: str, total: int) -> Iterator[Callable[[float], None]]:
    """Display a bar on stderr after two seconds, and yield a function that advances it.

    Nothing is displayed if standard error is not a terminal, or while other progress is displayed.
    """
    if not _free():
        yield lambda done: None
        return
    with _late(_counts("", passing=True)) as progress:
        task = progress.add_task(one_line(label), total=total)
        yield lambda done: progress.update(task, advance=done)


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Display a spinner with the message `text` and the elapsed time, under the same conditions as `bar`."""
    if not _free():
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    with _late(Progress(*columns, refresh_per_second=2, **_on_stderr(passing=True))) as progress:
        progress.add_task(one_line(text), total=None)
        yield


_shown: list[Progress] = []
"""The progress display that is on the terminal or about to appear; at most one at a time."""


def _free() -> bool:
    return sys.stderr.isatty() and not _shown


@contextmanager
def _late(progress: Progress) -> Iterator[Progress]:
    timer = Timer(PATIENCE, progress.start)
    timer.daemon = True
    timer.start()
    _shown.append(progress)
    try:
        yield progress
    finally:
        _shown.remove(progress)
        timer.cancel()
        timer.join()
        if progress.live.is_started:
            progress.stop()


def _on_stderr(*, passing: bool) -> dict[str, Any]:
    from rich.console import Console

    # By default rich also redirects standard output, which would send results to the terminal instead of a file.
    return {
        "console": Console(file=sys.stderr),
        "redirect_stdout": False,
        "redirect_stderr": False,
        "transient": passing,
    }


def _counts(unit: str, *, passing: bool = False) -> Progress:
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    unit_text = f" {unit}" if unit else ""

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}{unit_text}/s" if task.speed else f"–{unit_text}/s")

    class Done(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.completed:,.0f}" + (f" of {task.total:,.0f}" if task.total else ""))

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        Done(),
        Rate(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, **_on_stderr(passing=passing))
