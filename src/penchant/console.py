"""What the command line reads and writes: sentences in, scores, tables and progress out.

Data goes to stdout; words for people and progress go to stderr, progress only when that is a terminal.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.errors import DataError, MethodError, OutputError

if TYPE_CHECKING:
    import polars as pl

    from penchant.engine.scorer import Scorer, SentenceScore


FORMATS = ("table", "tsv", "jsonl")
FormatOption = Annotated[str, typer.Option("--format", help="table, tsv or jsonl.")]


class ReaderGoneError(Exception):
    """Whoever read standard output has had enough (`| head`): no error of anyone's."""


def readable(file: str) -> None:
    path = Path(file)
    if not path.exists():
        raise DataError("no such file", file=file)
    if path.is_dir():
        raise DataError("is a directory", file=file, hint="name a file with one sentence a line")


def lines(file: str) -> Iterator[tuple[str, str]]:
    """(sentence, place) for each line; the text is left as it is, without its line end."""
    name = "standard input" if file == "-" else file
    number = 0
    stream = sys.stdin.buffer if file == "-" else Path(file).open("rb")  # noqa: SIM115 (closed below)
    try:
        for number, raw in enumerate(stream, start=1):
            place = f"{name}, line {number}"
            try:
                yield raw.decode("utf-8").rstrip("\r\n"), place
            except UnicodeDecodeError as error:
                raise DataError("is not UTF-8", where=place, hint="save the file as UTF-8") from error
        if not number:
            raise DataError("is empty", where=name, hint="give one sentence a line")
    finally:
        if file != "-":
            stream.close()


def validate(scorer: Scorer, file: str) -> int:
    """Read a whole file once before the first forward pass, so that a bad line at its end costs seconds, not hours."""
    return sum(1 for _ in scorer.validated(lines(file)))


def _write_tsv(scores: Iterable[SentenceScore], how: str) -> None:
    writer = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    for i, s in enumerate(scores):
        if not i:  # the header waits for the first score, so that bad input leaves nothing behind
            writer.writerow(["score", "tokens", "text"])
        writer.writerow([repr(s.normalised(how)), s.n, s.text])


def _write_jsonl(scores: Iterable[SentenceScore], how: str) -> None:
    for s in scores:
        row = {
            "text": s.text,
            "score": s.normalised(how),
            "tokens": s.n,
            "token_logprobs": [None if v != v else v for v in s.token_logprobs.tolist()],
        }
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_parquet(scores: Iterator[SentenceScore], how: str) -> None:
    from penchant.engine.scorer import scores_frame

    if sys.stdout.isatty():
        raise MethodError("parquet is not for a terminal", hint="redirect it: > scores.parquet")
    scores_frame(scores, how).write_parquet(sys.stdout.buffer)


WRITERS: dict[str, Callable[[Iterator[SentenceScore], str], None]] = {
    "tsv": _write_tsv,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}


def check_format(format: str) -> None:
    """Raises MethodError for what `print_frame` does not know."""
    if format not in FORMATS:
        raise MethodError(f"unknown format '{format}'", hint=f"use {', '.join(FORMATS)}")


def print_frame(frame: pl.DataFrame, format: str) -> None:
    from penchant.report.tables import aligned

    check_format(format)
    with to_stdout():
        if format == "table":
            write(aligned(frame))
        elif format == "tsv":
            sys.stdout.write(frame.write_csv(separator="\t"))
        else:
            sys.stdout.write(frame.write_ndjson())


def write(text: str) -> None:
    sys.stdout.write(text + "\n")


def say(text: str) -> None:
    sys.stderr.write(text + "\n")


@contextmanager
def to_stdout() -> Iterator[None]:
    """Writing results to standard output; a full disk is the reader's to mend, not a fault of ours."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderGoneError from error
        raise OutputError(
            f"cannot be written: {error.strerror}",
            where="standard output",
            hint="free some space, then run again",
        ) from error


def _tell_nobody(done: float, total: float) -> None:
    """Progress where nobody looks."""


@contextmanager
def bars(unit: str = "") -> Iterator[Callable[[str], Callable[[float, float], None]]]:
    """Progress on stderr with rate (of `unit`) and time left, only when it is a terminal."""
    if not sys.stderr.isatty():
        yield lambda label: _tell_nobody
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    own = f" {unit}" if unit else ""

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}{own}/s" if task.speed else f"–{own}/s")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}"),
        Rate(),
        TimeRemainingColumn(),
    )
    # Left to itself rich takes over standard output too, and sends results to the terminal instead of the file.
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False, redirect_stderr=False) as progress:

        def start(label: str) -> Callable[[float, float], None]:
            task = progress.add_task(label, total=None)

            def advance(done: float, total: float) -> None:
                progress.update(task, advance=done, total=total or None)

            return advance

        yield start
