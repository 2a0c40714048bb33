"""Output of the command line: data on standard output, messages and progress on standard error."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.errors import MethodError, OutputError, one_line, one_of, visible
from penchant.progress import bars as bars
from penchant.progress import say as say

if TYPE_CHECKING:
    import polars as pl


FORMATS = ("table", "tsv", "csv", "jsonl", "json")
FormatOption = Annotated[str, typer.Option("--format", help="table, tsv, csv (for spreadsheets), jsonl or json.")]


class ReaderGoneError(Exception):
    """The reader of standard output has closed it (as `| head` does), which is not an error."""


def check_format(format: str, known: Collection[str] = FORMATS) -> None:
    """Raise MethodError for a format that is not known, by default to `print_frame`."""
    if format not in known:
        raise MethodError(f"unknown format '{format}'", hint=one_of(format, known))


def print_frame(frame: pl.DataFrame, format: str) -> None:
    """Write a table to standard output in one of the `FORMATS`."""
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
            emit(tsv(frame) if format == "tsv" else _csv(frame))


def tsv(frame: pl.DataFrame, *, header: bool = True) -> str:
    """Return a frame as tab-separated values for programs: cells that hold tabs, quotes or line breaks are quoted as in
    CSV, and no character is escaped or guarded."""
    import polars.selectors as cs

    # Polars does not see that a lone carriage return needs quotes.
    breaks = any(column.str.contains("\r", literal=True).any() for column in frame.select(cs.string()))
    return frame.write_csv(separator="\t", include_header=header, quote_style="non_numeric" if breaks else "necessary")


def _csv(frame: pl.DataFrame) -> str:
    from penchant.tables.formula_escape import for_spreadsheets

    return for_spreadsheets(frame.fill_nan(None)).write_csv(quote_style="non_numeric")


def write(text: str) -> None:
    """Write lines for people to standard output, with the characters visible that would act on a terminal."""
    with _failures_told():
        sys.stdout.write(visible(text) + "\n")


def command(words: Iterable[str]) -> str:
    """Return a command as it can be pasted into bash, zsh or ksh, with $'…' for words that hold bytes that are no text
    or characters that act on a terminal."""
    return " ".join(_as_codes(word) if visible(word) != word or "\n" in word else shlex.quote(word) for word in words)


def _as_codes(word: str) -> str:
    codes = (
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b"'\\" else f"\\x{byte:02x}" for byte in os.fsencode(word)
    )
    return f"$'{''.join(codes)}'"


def note(text: str) -> None:
    """Write a remark to standard error, wrapped to the width of the terminal; wider names and paths stay whole."""
    from penchant.report.terminal import columns, wrapped

    for line in wrapped(one_line(text), columns(), "note: ", whole=True):
        sys.stderr.write(line + "\n")


def say_notes(notes: Iterable[str]) -> None:
    """Write remarks to standard error, each as one line."""
    for text in notes:
        say(f"note: {text}")


def emit(text: str) -> None:
    """Write data to standard output, unchanged unless that is a terminal, which might obey it."""
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
