"""`penchant export`: a study's tables as LaTeX or CSV, its figures as SVG and PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penchant.cli.console import to_stdout, write


def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory of penchant run.")],
    to: Annotated[str, typer.Option("--to", metavar="latex|csv|figures", help="What to write.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FOLDER", help="Where to write. Default: DIR/latex, DIR/csv or DIR/figures."
        ),
    ] = None,
) -> None:
    """Write a study's tables as LaTeX or CSV, or its figures as SVG and PNG, and print the paths."""
    from penchant.report.export import export as export_document
    from penchant.study.results import read_outcome

    paths = export_document(read_outcome(directory).document(), to, out or directory / to)
    with to_stdout():
        for path in paths:
            write(str(path))
