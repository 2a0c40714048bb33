"""Output of the command line: data to standard output, messages and progress to standard error."""

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
    """Raised if the reader of standard output, such as `head`, has closed it; the program then ends normally."""


def check_format(format: str, known: Collection[str] = FORMATS) -> None:
    """Raise MethodError if a format is not one of `known`, by default the formats of `print_frame`."""
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
    """Return a frame as tab-separated values for programs.

    Cells with tabs, quotes or line breaks are quoted as in CSV; no character is escaped, not even in formulas.
    """
    import polars.selectors as cs

    # Polars does not quote a lone carriage return.
    breaks = any(column.str.contains("\r", literal=True).any() for column in frame.select(cs.string()))
    return frame.write_csv(separator="\t", include_header=header, quote_style="non_numeric" if breaks else "necessary")


def _csv(frame: pl.DataFrame) -> str:
    from penchant.tables.formula_escape import for_spreadsheets

    return for_spreadsheets(frame.fill_nan(None)).write_csv(quote_style="non_numeric")


def write(text: str) -> None:
    """Write human-readable text to standard output, with control characters escaped."""
    with _write_errors():
        sys.stdout.write(visible(text) + "\n")


def command(words: Iterable[str]) -> str:
    """Return a command line that can be pasted into bash, zsh or ksh.

    Words with bytes that are not UTF-8, or with control characters, are written as $'…'.
    """
    return " ".join(_as_codes(word) if visible(word) != word or "\n" in word else shlex.quote(word) for word in words)


def _as_codes(word: str) -> str:
    codes = (
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b"'\\" else f"\\x{byte:02x}" for byte in os.fsencode(word)
    )
    return f"$'{''.join(codes)}'"


def note(text: str) -> None:
    """Write a note to standard error, wrapped to the terminal width without breaking long names or paths."""
    from penchant.report.terminal import columns, wrapped

    for line in wrapped(one_line(text), columns(), "note: ", whole=True):
        sys.stderr.write(line + "\n")


def say_notes(notes: Iterable[str]) -> None:
    """Write notes to standard error, one line each."""
    for text in notes:
        say(f"note: {text}")


def emit(text: str) -> None:
    """Write data to standard output, with control characters escaped only if it is a terminal."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


@contextmanager
def to_stdout() -> Iterator[None]:
    """Flush standard output at the end of a block. Raises OutputError if a write fails, as on a full disk."""
    with _write_errors():
        yield
        sys.stdout.flush()


@contextmanager
def _write_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderGoneError from error
        raise OutputError(
            f"cannot be written: {error.strerror}",
            where="standard output",
            hint="free some space and run the command again",
        ) from error
