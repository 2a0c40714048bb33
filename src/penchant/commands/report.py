"""`penchant report`: the page of one result directory, or of two side by side; and a study's tables in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.console import say, to_stdout, write

if TYPE_CHECKING:
    from penchant.records import Outcome


def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="[DIR2]", help="Another, to be set beside it: the first minus the second.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE", help="The page. Default: DIR/report.html; of two, comparison.html."
        ),
    ] = None,
) -> None:
    """Write the report of a result directory: one page that opens offline. With two, their differences."""
    from penchant.report.page import write_report
    from penchant.study.results import read_outcome, side_by_side

    if other is None:
        outcome = read_outcome(directory)
        path = out or directory / "report.html"
    else:
        outcome = side_by_side(directory, other)
        path = out or Path("comparison.html")
    said = write_report(outcome, path)
    if other is not None:
        show(outcome, estimates=False)
    for line in said:
        say(f"note: {line}")
    say(f"report: {path}")


def show(outcome: Outcome, *, estimates: bool = True) -> None:
    """Print the tables of a study (all but the details), or only those of differences; then what to mind."""
    from penchant.report.sections import placed

    sections = list(placed(outcome))
    with to_stdout():
        first = True
        for each in sections:
            tables = each.section.tables(each.results) if estimates else []
            if each.place in outcome.comparisons:
                tables += each.section.compared(outcome.comparisons[each.place])
            for table in tables:
                if not table.detail:
                    head = f"{each.place}: " if len(sections) > 1 else ""
                    write(("" if first else "\n") + head + str(table))
                    first = False
    for result in outcome.results.values():
        for caution in result.cautions:
            say(f"note: {result.signature['model']}: {caution}")
    for note in outcome.notes:
        say(f"note: {note}")
