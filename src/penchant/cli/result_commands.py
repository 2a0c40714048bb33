"""`penchant report`, `compare`, `verify` and `export`: presentation and verification of result directories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
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


_FORMS = (
    "paper, latex, csv, figures, every-eval-ever (JSON in the schema of Every Eval Ever) or eval-results (YAML for "
    "model pages on the Hugging Face hub)."
)


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
    """Write the report of a result directory as one offline page, and show the answers.

    With two directories, report the differences between them.
    """
    from penchant.report.page import write_report
    from penchant.study.read_results import read_for_report
    from penchant.study.stale_reports import outdated

    outcome, path = read_for_report(directory, other, out, trust_edited=trust_edited)
    document = outcome.document()
    for file in outcome.edited:
        note(f"edited after the study wrote it: {file}")
    for line in (*write_report(document, path), *outdated(directory, document)):
        note(line)
    show(document, directory=directory, other=other, page=path, full=full)


def compare(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory.")],
    other: Annotated[Path, typer.Argument(metavar="DIR2", help="Another; differences are the first minus the second.")],
    format: FormatOption = "table",
    full: FullOption = False,
    trust_edited: EditedOption = False,
) -> None:
    """Show the differences between the models of two result directories without writing files."""
    from penchant.study.read_results import side_by_side

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
    to: Annotated[str, typer.Option("--to", metavar="FORM", help=_FORMS)],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FOLDER", help="The output folder. Default: DIR/latex, DIR/csv and so on."),
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
    """Write what a paper needs: tables as LaTeX or CSV, figures, or results for other tools; print the paths."""
    from penchant.report.export import absent
    from penchant.study.outcome_export import export_outcome
    from penchant.study.read_results import read_outcome
    from penchant.study.stale_reports import outdated

    outcome = read_outcome(directory, trust_edited=trust_edited)
    say_notes(f"edited after the study wrote it: {file}" for file in outcome.edited)
    document = outcome.document()
    paths, notes = export_outcome(outcome, document, to, out or directory / to, scores=scores, columns=columns)
    for line in (*notes, *absent(document, columns), *outdated(directory, document, paths)):
        note(line)
    if to == "csv":
        say(f"the tables and their columns are explained in {paths[-1]}")
    with to_stdout():
        for path in paths:
            write(one_line(str(path)))


_DIR = re.compile(r"(penchant \w+) DIR\b")
LINES = 12
"""Maximum number of lines printed for a study of one instrument, including the two at the end of a command's output."""
NOTES = 3
"""Maximum number of lines printed for cautions, exceeded only if a single caution is longer."""


def show(
    document: Document,
    *,
    directory: Path | None = None,
    other: Path | None = None,
    page: Path | None = None,
    estimates: bool = True,
    full: bool = False,
) -> None:
    """Print the answers of a study, then cautions, notes, the path of its report `page` and a next command.

    If `full` is true, print all tables and cautions, too. If `estimates` is false, or if the directory of an `other`
    study is given, print only differences. The directories are inserted into the suggested commands.
    """
    estimates = estimates and other is None
    named = command([str(directory or "DIR")])

    def told(text: str) -> str:
        return _DIR.sub(lambda found: f"{found[1]} {named}", text)

    cautions = [told(text) for text in (_cautions(document, brief=False) if full else _brief_cautions(document))]
    with to_stdout():
        for number, text in enumerate(
            _tables(document, estimates) if full else _screens(document, estimates, [*cautions, *document.notes])
        ):
            write(("\n" if number else "") + text)
    for text in (*cautions, *document.notes):
        note(text)
    if page is not None:
        say(f"report: {page}")
    if directory is not None and not full:
        asked = (each.next for section in document.sections for each in section.answers())
        every = command(["penchant", "report", *map(str, filter(None, (directory, other))), "--full"])
        say(f"next: {told(next(filter(None, asked), every))}")


def _cautions(document: Document, *, brief: bool) -> list[str]:
    """Return the cautions of all sections; if `brief` is true, only first sentences, as many as fit in `NOTES` lines.

    The caution that a result is of a pilot is left out, because it stands above the answers.
    """
    from penchant.report.html_context import BRIEF, cautions
    from penchant.report.terminal import columns, wrapped

    sections = [section for section in document.sections if section.section.items]
    notes = (note for section in sections for result in section.results for note in result.left_out)
    pilots = {str(note) for note in notes if note.code == "pilot"}
    told = dict.fromkeys(text for section in sections for text in cautions(section.results, brief=brief))
    every = [text for text in told if text not in pilots]
    kept = every[:BRIEF] if brief else every
    while brief and len(kept) > 1 and sum(len(wrapped(text, columns(), "note: ")) for text in kept) > NOTES:
        kept.pop()
    return kept


def _brief_cautions(document: Document) -> list[str]:
    """Return as many brief cautions as leave room for complete answers, but at least one if there are any."""
    from penchant.report.terminal import answered, columns, wrapped

    every = _cautions(document, brief=True)
    if len(document.sections) != 1:
        return every
    needed = len(answered(document.sections[0], columns(), named=False))
    for kept in range(len(every), 1, -1):
        texts = [*every[:kept], *document.notes]
        if needed + sum(len(wrapped(one_line(text), columns(), "note: ", whole=True)) for text in texts) <= LINES - 2:
            return every[:kept]
    return every[:1]


def _tables(document: Document, estimates: bool) -> Iterator[str]:
    from penchant.report.terminal import answered, columns, wrapped

    several = len(document.sections) > 1
    for section in document.sections:
        if section.answers():
            yield "\n".join(answered(section, columns(), named=several, estimates=estimates))
        head = f"{one_line(section.place)}: " if several else ""
        for table in section.tables() if estimates else section.compared():
            yield head + str(table)
    if models := [f"{name}, {line}" for name, line in document.models().items()]:
        yield "\n".join(chain(["Models"], *(wrapped(one_line(each), columns(), "- ") for each in models)))


def _screens(document: Document, estimates: bool, notes: Sequence[str]) -> Iterator[str]:
    from penchant.report.terminal import columns, screen, wrapped

    width = columns()
    room = LINES - 2 - sum(len(wrapped(one_line(text), width, "note: ", whole=True)) for text in notes)
    for section in document.sections:
        yield "\n".join(screen(section, width, room, named=len(document.sections) > 1, estimates=estimates))
