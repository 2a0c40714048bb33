"""Output of the command line: tables, messages and progress.

Data goes to stdout; messages and progress go to stderr. Names and texts come
from files and models, so whatever is for reading passes `write` or `say`, which show the characters that would act on a
terminal. What is for programs passes `emit`, which keeps every character of it unless stdout is a terminal.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.errors import MethodError, OutputError, one_line, one_of, visible

if TYPE_CHECKING:
    import polars as pl


FORMATS = ("table", "tsv", "csv", "jsonl", "json")
FormatOption = Annotated[str, typer.Option("--format", help="table, tsv, csv (for spreadsheets), jsonl or json.")]


class ReaderGoneError(Exception):
    """The reader of standard output has closed it (as `| head` does), which is not an error."""


def check_format(format: str) -> None:
    """Raise MethodError for a format that `print_frame` does not know."""
    if format not in FORMATS:
        raise MethodError(f"unknown format '{format}'", hint=one_of(format, FORMATS))


def print_frame(frame: pl.DataFrame, format: str) -> None:
    from penchant.report.tables import aligned

    check_format(format)
    with to_stdout():
        if format == "table":
            write(aligned(frame))
        elif format == "jsonl":
            emit(frame.write_ndjson())
        elif format == "json":
            emit(frame.write_json() + "\n")
        else:
            emit(_tsv(frame) if format == "tsv" else _csv(frame))


def _tsv(frame: pl.DataFrame) -> str:
    """A frame as tab-separated values for programs: cells are quoted as in CSV where they hold tabs, quotes or line
    breaks, as pandas, R and polars read them back, and neither escaped nor guarded, so that no character changes."""
    import polars.selectors as cs

    # Polars does not see that a lone carriage return needs quotes.
    breaks = any(column.str.contains("\r", literal=True).any() for column in frame.select(cs.string()))
    return frame.write_csv(separator="\t", quote_style="non_numeric" if breaks else "necessary")


def _csv(frame: pl.DataFrame) -> str:
    """A frame as CSV that a spreadsheet opens: all texts are quoted, and none is a formula."""
    from penchant.tables.spreadsheets import for_spreadsheets

    return for_spreadsheets(frame.fill_nan(None)).write_csv(quote_style="non_numeric")


def write(text: str) -> None:
    """Write lines for people to standard output."""
    with _failures_told():
        sys.stdout.write(visible(text) + "\n")


def say(text: str) -> None:
    """Write a message to standard error, as one line."""
    sys.stderr.write(one_line(text) + "\n")


def command(words: Iterable[str]) -> str:
    """A command as it can be pasted into a shell: a word that holds bytes that are no text, or characters that act on a
    terminal, as $'…' with their codes, which bash, zsh and ksh understand."""
    return " ".join(_as_codes(word) if visible(word) != word or "\n" in word else shlex.quote(word) for word in words)


def _as_codes(word: str) -> str:
    codes = (
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b"'\\" else f"\\x{byte:02x}" for byte in os.fsencode(word)
    )
    return f"$'{''.join(codes)}'"


def note(text: str) -> None:
    """Write a remark to standard error, wrapped as what was found is, so that both are read on one screen; names and
    paths that are wider stay whole."""
    from penchant.report.terminal import columns, wrapped

    for line in wrapped(one_line(text), columns(), "note: ", whole=True):
        sys.stderr.write(line + "\n")


def emit(text: str) -> None:
    """Write data to standard output: unchanged, but visible where a terminal would obey it."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


@contextmanager
def to_stdout() -> Iterator[None]:
    """Write results to standard output; a write that fails (a full disk) becomes an OutputError."""
    with _failures_told():
        yield
        sys.stdout.flush()


@contextmanager
def _failures_told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderGoneError from error
        raise OutputError(
            f"cannot be written: {error.strerror}",
            where="standard output",
            hint="free some space, then run again",
        ) from error


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
