"""`penchant report`: the page of one result directory, or of two side by side; and a study's tables in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.cli.console import FormatOption, check_format, print_frame, say, to_stdout, write
from penchant.cli.options import EditedOption
from penchant.errors import one_line

if TYPE_CHECKING:
    from penchant.report.sections import Document


def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="[DIR2]", help="Another, to compare with: the first minus the second.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE", help="The page. Default: DIR/report.html; of two, comparison.html."
        ),
    ] = None,
    trust_edited: EditedOption = False,
) -> None:
    """Write the report of a result directory as one offline page. With two directories, report their differences."""
    from penchant.report.page import write_report
    from penchant.study.results import read_outcome, side_by_side

    if other is None:
        outcome = read_outcome(directory, trust_edited=trust_edited)
        path = out or directory / "report.html"
    else:
        outcome = side_by_side(directory, other, trust_edited=trust_edited)
        path = out or Path("comparison.html")
    document = outcome.document()
    for file in outcome.edited:
        say(f"note: edited after the study wrote it: {file}")
    warnings = write_report(document, path)
    if other is not None:
        show(document, estimates=False)
    for line in warnings:
        say(f"note: {line}")
    say(f"report: {path}")


def compare(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory.")],
    other: Annotated[Path, typer.Argument(metavar="DIR2", help="Another: shown is the first minus the second.")],
    format: FormatOption = "table",
    trust_edited: EditedOption = False,
) -> None:
    """Show the differences between the models of two result directories, and write nothing."""
    from penchant.study.results import side_by_side

    check_format(format)
    outcome = side_by_side(directory, other, trust_edited=trust_edited)
    for file in outcome.edited:
        say(f"note: edited after the study wrote it: {file}")
    if format == "table":
        show(outcome.document(), estimates=False)
    else:
        print_frame(outcome.differences(), format)
        for note in outcome.notes:
            say(f"note: {note}")


def show(document: Document, *, estimates: bool = True) -> None:
    """Print the tables of a study (all but details), or only those of differences; then the cautions and notes."""
    with to_stdout():
        first = True
        for section in document.sections:
            for table in section.tables() if estimates else section.compared():
                if not table.detail:
                    head = f"{one_line(section.place)}: " if len(document.sections) > 1 else ""
                    write(("" if first else "\n") + head + str(table))
                    first = False
    for section in document.sections:
        for result in section.results if section.section.items else ():
            for caution in result.cautions:
                say(f"note: {result.signature['model']}: {caution}")
    for note in document.notes:
        say(f"note: {note}")
