"""`penchant export`: a study's tables as LaTeX or CSV, its figures as SVG and PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penchant.console import to_stdout, write


def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What penchant run wrote.")],
    to: Annotated[str, typer.Option("--to", metavar="latex|csv|figures", help="What to write.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FOLDER", help="Where to. Default: DIR/latex and so on.")
    ] = None,
) -> None:
    """Write a study's tables as LaTeX or CSV, or its figures as SVG and PNG, and print the paths."""
    from penchant.report.export import export as exported
    from penchant.study.results import read_outcome

    paths = exported(read_outcome(directory), to, out or directory / to)
    with to_stdout():
        for path in paths:
            write(str(path))
