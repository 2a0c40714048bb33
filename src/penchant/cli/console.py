"""Output of the command line: tables, messages and progress.

Data goes to stdout; messages and progress go to stderr, progress only when stderr is a terminal. Names and texts come
from files and models, so whatever is for reading passes `write` or `say`, which show the characters that would act on a
terminal. What is for programs passes `emit`, which keeps every character of it unless stdout is a terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.errors import MethodError, OutputError, one_line, visible

if TYPE_CHECKING:
    import polars as pl


FORMATS = ("table", "tsv", "jsonl")
FormatOption = Annotated[str, typer.Option("--format", help="table, tsv or jsonl.")]


class ReaderGoneError(Exception):
    """The reader of standard output has closed it (as `| head` does), which is not an error."""


def check_format(format: str) -> None:
    """Raise MethodError for a format that `print_frame` does not know."""
    if format not in FORMATS:
        raise MethodError(f"unknown format '{format}'", hint=f"use {', '.join(FORMATS)}")


def print_frame(frame: pl.DataFrame, format: str) -> None:
    from penchant.report.tables import aligned

    check_format(format)
    with to_stdout():
        if format == "table":
            write(aligned(frame))
        elif format == "tsv":
            emit(_tsv(frame))
        else:
            emit(frame.write_ndjson())


def _tsv(frame: pl.DataFrame) -> str:
    """A frame as tab-separated values for programs: cells are quoted as in CSV where they hold tabs, quotes or line
    breaks, as pandas, R and polars read them back, and neither escaped nor guarded, so that no character changes."""
    import polars.selectors as cs

    # Polars does not see that a lone carriage return needs quotes.
    breaks = any(column.str.contains("\r", literal=True).any() for column in frame.select(cs.string()))
    return frame.write_csv(separator="\t", quote_style="non_numeric" if breaks else "necessary")


def write(text: str) -> None:
    """Write lines for people to standard output."""
    with _failures_told():
        sys.stdout.write(visible(text) + "\n")


def say(text: str) -> None:
    """Write a message to standard error, as one line."""
    sys.stderr.write(one_line(text) + "\n")


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


def _no_progress(done: float, total: float) -> None:
    """Discard progress, where stderr is not a terminal."""


@contextmanager
def bars(unit: str = "") -> Iterator[Callable[[str], Callable[[float, float], None]]]:
    """Show progress on stderr, with the rate in `unit` per second and the time left, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda label: _no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    unit_text = f" {unit}" if unit else ""

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}{unit_text}/s" if task.speed else f"–{unit_text}/s")

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f}"),
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
