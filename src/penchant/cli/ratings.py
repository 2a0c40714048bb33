"""`penchant ratings`: export of words to rate, import of human ratings, and agreement between raters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penchant.cli.console import command, emit, print_frame, say, say_notes, to_stdout, write
from penchant.limits import RESAMPLES, SEED
from penchant.plurals import counted, for_one

if TYPE_CHECKING:
    import polars as pl

    from penchant.records import Estimate

ratings = typer.Typer(
    help="Human ratings of predicted words: export, import, and agreement between raters.", no_args_is_help=True
)


@ratings.command("export")
def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory of penchant run.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="Default: standard output.")] = None,
    estimated: Annotated[
        bool, typer.Option("--estimated", help="Include words rated only by a lexicon or by corpora.")
    ] = False,
) -> None:
    """Write all predicted words without a rating, with their sentences, as CSV for raters."""
    from penchant.errors import OutputError
    from penchant.files import occupied, write_text
    from penchant.instruments.cloze.five_point_scale import UNNAMED
    from penchant.instruments.cloze.ratings import cloze_results, not_to_rate, nothing_to_rate, unnamed, unrated
    from penchant.study.read_results import require_unedited, unshown
    from penchant.tables.formula_escape import MARK, for_spreadsheets

    if out and out.suffix.lower() not in (".csv", ""):
        raise OutputError("is not a CSV file", where=str(out), hint="give a name that ends in .csv")
    if out and occupied(out):  # the file may hold somebody's ratings
        raise OutputError("already exists", where=str(out), hint="remove it or give another file")
    require_unedited(directory)
    results = cloze_results(directory, without=unshown(directory))
    table, marks = unrated(results, estimated=estimated), not_to_rate(results)
    if out is None:
        with to_stdout():
            emit(for_spreadsheets(table).write_csv())
    else:
        write_text(MARK + for_spreadsheets(table).write_csv(), out)
    say(f"{counted(len(table), 'words')} to rate, from −1 to 1 in steps of one half" + (f": {out}" if out else ""))
    if marks:
        say(
            f"left out: {counted(marks, 'predictions')} that {for_one(marks, 'are')} punctuation or "
            "pieces of words, which nobody can judge"
        )
    say_notes(nothing_to_rate(results))
    if unnamed(results):
        say(f"note: {UNNAMED} under scale in the test set, and run the study again (predictions come from the cache)")


@ratings.command("import")
def import_(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result directory of penchant run.")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Files that raters returned.")],
    into: Annotated[Path, typer.Option("--into", metavar="FILE", help="The table of ratings that the study names.")],
    rater: Annotated[
        str | None, typer.Option(help="Rater of rows without a rater. Default: the name of the file.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Allow raters to change their earlier ratings.")] = False,
    sentence: Annotated[str, typer.Option(metavar="NAME", help="The column of the sentence's id.")] = "sentence",
    word: Annotated[str, typer.Option(metavar="NAME", help="The column of the word.")] = "word",
    rater_column: Annotated[str, typer.Option(metavar="NAME", help="The column that names raters.")] = "rater",
    rating: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="The column of ratings. Repeatable: one column per rater, named after the rater."
        ),
    ] = None,
) -> None:
    """Check ratings and merge them into the study's table."""
    from penchant.instruments.cloze.ratings import cloze_results, merge, write_ratings
    from penchant.study.read_results import require_unedited, unshown
    from penchant.study.rerun_after_rating import after_ratings

    require_unedited(directory)
    fields = {"sentence": sentence, "word": word, "rater": rater_column}
    columns: dict[str, str | list[str]] = {field: column for field, column in fields.items() if field != column}
    if rating:
        columns["rating"] = rating[0] if len(rating) == 1 else rating
    results = cloze_results(directory, without=unshown(directory))
    merged = merge(results, files, into, rater=rater, replace=replace, columns=columns)
    write_ratings(merged.ratings, into)
    for sheet in merged.sheets:
        rows = counted(sheet.rows, "cells" if len(rating or ()) > 1 else "rows")
        say(f"{sheet.file}: {rows}, {len(sheet.ratings):,} rated, {sheet.empty:,} left empty")
    say_notes(merged.notes)
    say(
        f"{into}: {counted(len(merged.ratings), 'ratings')} ({merged.new} new, {merged.known} already known, "
        f"{merged.replaced} replaced; {counted(merged.empty, 'rows')} left empty)"
    )
    following = after_ratings(directory, into)
    if following is not None and len(merged.ratings):
        first = f"write {following.entry}, then " if following.entry else ""
        say(f"next: {first}{command(following.words)}")


@ratings.command("agreement")
def agreement(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Tables of ratings.")],
    least: Annotated[
        float, typer.Option(min=0, max=2, help="List words whose ratings differ by at least this much.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of the bootstrap.")] = 0,
    resamples: Annotated[int, typer.Option(min=1, max=RESAMPLES, help="Bootstrap resamples.")] = 1000,
    level: Annotated[float, typer.Option(min=0, max=1, help="Confidence level.")] = 0.95,
    gold: Annotated[
        Path | None,
        typer.Option("--gold", metavar="FILE", help="Compare each rater, or a lexicon, with this table of ratings."),
    ] = None,
) -> None:
    """Show Krippendorff's alpha with its interval, and the items on which raters disagree."""
    from penchant.errors import DataError
    from penchant.instruments.cloze.rating_formats import read_ratings
    from penchant.instruments.cloze.ratings import agreement as measure_agreement
    from penchant.rating import agreement as of_items

    items = of_items.judged(files)
    if gold is not None:
        if items is not None:
            raise DataError("contains no ratings of words in gaps", where=str(files[0]), hint="leave out --gold")
        _show_gold(files, gold, least=least, seed=seed, resamples=resamples, level=level)
        return
    if items is not None:
        raters, estimates, disputed, notes = of_items.agreement(
            *items, least=least, seed=seed, resamples=resamples, level=level
        )
        title = f"{counted(len(disputed), 'items')} whose answers differ by {least:g} or more"
        _show(raters, estimates, disputed, title, notes, "items")
        return
    result = measure_agreement(read_ratings(files), least=least, seed=seed, resamples=resamples, level=level)
    title = f"{counted(len(result.disputed), 'words')} whose ratings differ by {least:g} or more"
    _show(result.raters, (result.alpha, result.raw), result.disputed, title, result.notes, "words")


def _show_gold(files: Sequence[Path], gold: Path, *, least: float, **numbers: Any) -> None:
    from penchant.instruments.cloze.gold_comparison import compare_with_gold

    found = compare_with_gold(files, gold, least=least, **numbers)
    print_frame(found.coverage, "table")
    write("")
    print_frame(found.estimates, "table")
    write(f"\n{counted(len(found.apart), 'ratings')} that differ from the gold standard by {least:g} or more")
    if len(found.apart):
        print_frame(found.apart, "table")
    say_notes(found.notes)


def _show(
    raters: pl.DataFrame,
    estimates: tuple[Estimate, Estimate],
    disputed: pl.DataFrame,
    title: str,
    notes: Sequence[str],
    noun: str,
) -> None:
    import polars as pl

    from penchant.rating.reversed_raters import tentative

    alpha, raw = estimates

    print_frame(raters, "table")
    write("")
    print_frame(pl.DataFrame([alpha.row(), raw.row()]).select("measure", "value", "low", "high", "n", "how"), "table")
    write(f"\n{title}")
    if len(disputed):
        print_frame(disputed, "table")
    say_notes([*notes, *tentative(alpha, noun)])
    if alpha.value < 0:
        say("note: alpha is below 0: raters agree less than expected by chance; did one of them reverse the scale?")
    if alpha.note:
        say(f"note: {alpha.note}")
