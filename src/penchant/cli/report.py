"""`penchant report`, `compare`, `verify` and `export`: presentation and verification of result directories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.cli.console import (
    FormatOption,
    check_format,
    command,
    note,
    print_frame,
    say,
    say_notes,
    to_stdout,
    write,
)
from penchant.cli.options import EditedOption, FullOption
from penchant.errors import one_line

if TYPE_CHECKING:
    from penchant.report.sections import Document


def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="[DIR2]", help="Another, for differences: the first minus the second.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE", help="The page. Default: DIR/report.html; for two, comparison.html."
        ),
    ] = None,
    trust_edited: EditedOption = False,
    full: FullOption = False,
) -> None:
    """Write the report of a result directory as one offline page, and show the findings.

    With two directories, report the differences between them.
    """
    from penchant.report.page import write_report
    from penchant.study.result_directories import read_for_report
    from penchant.study.stale_reports import outdated

    outcome, path = read_for_report(directory, other, out, trust_edited=trust_edited)
    document = outcome.document()
    for file in outcome.edited:
        note(f"edited after the study wrote it: {file}")
    warnings = write_report(document, path)
    show(document, directory=directory, estimates=other is None, full=full)
    for line in (*warnings, *outdated(directory, document)):
        note(line)
    say(f"report: {path}")


def compare(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory.")],
    other: Annotated[Path, typer.Argument(metavar="DIR2", help="Another; differences are the first minus the second.")],
    format: FormatOption = "table",
    full: FullOption = False,
    trust_edited: EditedOption = False,
) -> None:
    """Show the differences between the models of two result directories without writing files."""
    from penchant.study.result_directories import side_by_side

    check_format(format)
    outcome = side_by_side(directory, other, trust_edited=trust_edited)
    for file in outcome.edited:
        note(f"edited after the study wrote it: {file}")
    if format == "table":
        show(outcome.document(), estimates=False, full=full)
    else:
        print_frame(outcome.differences(), format)
        for remark in outcome.notes:
            note(remark)


def verify(directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory.")]) -> None:
    """Check that results, data and models are unchanged since the study was run."""
    from penchant.study.verification import verify

    write(f"{directory}: {verify(directory)}")


def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory of penchant run.")],
    to: Annotated[str, typer.Option("--to", metavar="latex|csv|figures", help="The form of the output.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FOLDER", help="The output folder. Default: DIR/latex, DIR/csv or DIR/figures."
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            "--scores",
            metavar="A,B",
            help="Only the rows of these scores or measures, by their names in the tables.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="A,B",
            help="Only these columns, in this order, after the columns that identify rows. Tables without numbers in "
            "these columns are not written.",
        ),
    ] = None,
    trust_edited: EditedOption = False,
) -> None:
    """Write a study's tables as LaTeX or CSV, or its figures as SVG and PNG, and print the paths."""
    from penchant.report.export import absent
    from penchant.report.export import export as export_document
    from penchant.study.result_directories import read_outcome
    from penchant.study.stale_reports import outdated

    outcome = read_outcome(directory, trust_edited=trust_edited)
    say_notes(f"edited after the study wrote it: {file}" for file in outcome.edited)
    document = outcome.document()
    paths = export_document(document, to, out or directory / to, scores=scores, columns=columns)
    for line in (*absent(document, columns), *outdated(directory, document, paths)):
        note(line)
    if to == "csv":
        say(f"the tables and their columns are explained in {paths[-1]}")
    with to_stdout():
        for path in paths:
            write(one_line(str(path)))


_RATE = "penchant rate {}"
CAUTIONS = 5
"""Maximum number of cautions shown without `full`."""


def show(document: Document, *, directory: Path | None = None, estimates: bool = True, full: bool = False) -> None:
    """Print the findings of a study, then cautions and notes, shortened to fit a screen.

    If `full`, print all tables and cautions. If not `estimates`, print only differences. `directory` is inserted into
    commands that cautions suggest.
    """
    with to_stdout():
        for number, text in enumerate(_tables(document, estimates) if full else _screens(document, estimates)):
            write(("\n" if number else "") + text)
    for caution in _cautions(document, full=full):
        note(caution.replace(_RATE.format("DIR"), _RATE.format(command([str(directory or "DIR")]))))
    for remark in document.notes:
        note(remark)


def _cautions(document: Document, *, full: bool) -> Iterator[str]:
    from penchant.report.html_context import cautions

    every = [text for section in document.sections if section.section.items for text in cautions(section.results)]
    every = list(dict.fromkeys(every))
    yield from every if full else every[:CAUTIONS]
    more = 0 if full else len(every) - CAUTIONS
    if more > 0:
        yield f"{more} more caution{'s are' if more > 1 else ' is'} in the report, and shown by --full"


def _tables(document: Document, estimates: bool) -> Iterator[str]:
    for section in document.sections:
        head = f"{one_line(section.place)}: " if len(document.sections) > 1 else ""
        for table in section.tables() if estimates else section.compared():
            yield head + str(table)


def _screens(document: Document, estimates: bool) -> Iterator[str]:
    from penchant.report.terminal import columns, screen

    for section in document.sections:
        yield from screen(section, columns(), named=len(document.sections) > 1, estimates=estimates)
