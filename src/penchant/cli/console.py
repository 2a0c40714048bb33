"""Output of the command line: tables and messages; progress is from `penchant.progress`.

Data goes to stdout; messages and progress go to stderr. Names and texts come
from files and models, so whatever is for reading passes `write` or `say`, which show the characters that would act on a
terminal. What is for programs passes `emit`, which keeps every character of it unless stdout is a terminal.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
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
            emit(tsv(frame) if format == "tsv" else _csv(frame))


def tsv(frame: pl.DataFrame, *, header: bool = True) -> str:
    """A frame as tab-separated values for programs: cells are quoted as in CSV where they hold tabs, quotes or line
    breaks, as pandas, R and polars read them back, and neither escaped nor guarded, so that no character changes."""
    import polars.selectors as cs

    # Polars does not see that a lone carriage return needs quotes.
    breaks = any(column.str.contains("\r", literal=True).any() for column in frame.select(cs.string()))
    return frame.write_csv(separator="\t", include_header=header, quote_style="non_numeric" if breaks else "necessary")


def _csv(frame: pl.DataFrame) -> str:
    """A frame as CSV that a spreadsheet opens: all texts are quoted, and none is a formula."""
    from penchant.tables.spreadsheets import for_spreadsheets

    return for_spreadsheets(frame.fill_nan(None)).write_csv(quote_style="non_numeric")


def write(text: str) -> None:
    """Write lines for people to standard output."""
    with _failures_told():
        sys.stdout.write(visible(text) + "\n")


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
