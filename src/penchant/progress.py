"""How far long work is, on standard error: bars on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from penchant.errors import one_line


def say(text: str) -> None:
    """Write a message to standard error, as one line."""
    sys.stderr.write(one_line(text) + "\n")


FIRST_LINE, NEXT_LINE = 10.0, 30.0
"""Seconds before the first line of progress where stderr is no terminal, and between any two. Short runs print none."""


class Lines:
    """Progress as a line now and then, for logs. `clock` tells the time in seconds."""

    def __init__(self, unit: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._unit, self._clock = unit, clock
        self._due = clock() + FIRST_LINE

    def start(self, label: str) -> Callable[[float, float], None]:
        """A function to be called with what was done since the last call, and the total or 0."""
        began, done = self._clock(), 0.0

        def advance(more: float, total: float) -> None:
            nonlocal done
            done += more
            now = self._clock()
            if now >= self._due:
                self._due = now + NEXT_LINE
                say(f"{label}: {_told(done, total, now - began, self._unit)}")

        return advance


def _told(done: float, total: float, seconds: float, unit: str) -> str:
    """What is done, its rate, and the time left: `120 of 400, 3.2/s, 1:27 left`."""
    rate = done / seconds if seconds else 0.0
    parts = [f"{done:,.0f} of {total:,.0f}" if total else f"{done:,.0f}", f"{rate:.1f}{unit}/s"]
    if total and rate:
        parts.append(f"{timedelta(seconds=round(max(total - done, 0) / rate))} left")
    return ", ".join(parts)


@contextmanager
def bars(unit: str = "") -> Iterator[Callable[[str], Callable[[float, float], None]]]:
    """Show progress on stderr, with what is done, the rate in `unit` per second and the time left: as bars on a
    terminal, elsewhere as a line now and then."""
    if not sys.stderr.isatty():
        yield Lines(f" {unit}" if unit else "").start
        return
    from rich.console import Console
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
    # By default rich also redirects standard output, which would send results to the terminal instead of a file.
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False, redirect_stderr=False) as progress:

        def start(label: str) -> Callable[[float, float], None]:
            task = progress.add_task(one_line(label), total=None)

            def advance(done: float, total: float) -> None:
                progress.update(task, advance=done, total=total or None)

            return advance

        yield start
