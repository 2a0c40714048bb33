"""`penchant export`: a study's tables as LaTeX or CSV, its figures as SVG and PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penchant.cli.console import note, say, to_stdout, write
from penchant.cli.options import EditedOption
from penchant.errors import one_line


def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory of penchant run.")],
    to: Annotated[str, typer.Option("--to", metavar="latex|csv|figures", help="What to write.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FOLDER", help="Where to write. Default: DIR/latex, DIR/csv or DIR/figures."
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            "--scores",
            metavar="A,B",
            help="Only the rows of these scores or measures, in tables that have them: names as the tables have them.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="A,B",
            help="Only these columns, in this order, after those that tell the rows apart. Tables of which no column "
            "of numbers is named are not written.",
        ),
    ] = None,
    trust_edited: EditedOption = False,
) -> None:
    """Write a study's tables as LaTeX or CSV, or its figures as SVG and PNG, and print the paths."""
    from penchant.report.export import absent
    from penchant.report.export import export as export_document
    from penchant.study.results import read_outcome
    from penchant.study.stale_reports import outdated

    outcome = read_outcome(directory, trust_edited=trust_edited)
    for file in outcome.edited:
        say(f"note: edited after the study wrote it: {file}")
    document = outcome.document()
    paths = export_document(document, to, out or directory / to, scores=scores, columns=columns)
    for line in (*absent(document, columns), *outdated(directory, document, paths)):
        note(line)
    if to == "csv":
        say(f"what each table is, and its columns: {paths[-1]}")
    with to_stdout():
        for path in paths:
            write(one_line(str(path)))
