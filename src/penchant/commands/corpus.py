"""`penchant corpus`: sentences that hold the stimuli, from running text."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from penchant.console import FormatOption, bars, check_format, print_frame, say, to_stdout, write

corpus = typer.Typer(
    help="Sentences that hold the words of association tests, from running text of any size.", no_args_is_help=True
)

Texts = Annotated[
    list[str],
    typer.Argument(
        metavar="TEXT…",
        help="Files (plain text, .jsonl, .parquet; also .gz .zst .xz .bz2), directories, patterns in quotes, URLs.",
    ),
]
Stimuli = Annotated[
    list[Path],
    typer.Option("--data", metavar="STIMULI", help="A bundled set, a directory with set.yaml or a file. Repeatable."),
]
Language = Annotated[str | None, typer.Option(help="Whose rules divide sentences: bn, en… Default: the stimuli's.")]
LayoutOption = Annotated[str, typer.Option("--layout", help="What a line is: paragraphs, sentences or wrapped.")]
Field = Annotated[str, typer.Option(help="What holds the text in JSON lines and Parquet.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes. Default: one for each processor.")]
Sentences = Annotated[Path, typer.Argument(metavar="SENTENCES", help="A table that penchant corpus extract made.")]


@corpus.command("extract")
def extract(
    texts: Texts,
    data: Stimuli,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The table, in Parquet.")],
    language: Language = None,
    layout: LayoutOption = "paragraphs",
    field: Field = "text",
    per_word: Annotated[int, typer.Option(min=1, help="Most occurrences kept of a word, in each segment.")] = 10_000,
    minimum: Annotated[int, typer.Option(min=0, help="Words with fewer, in a segment, are listed.")] = 1,
    segments: Annotated[
        str, typer.Option(metavar="9,25,>25", help="Lengths of sentences, in words, that are sampled apart.")
    ] = "all",
    duplicates: Annotated[
        str, typer.Option(help="Equal sentences count once: near (nearly equal ones too), exact, or keep (none).")
    ] = "near",
    seed: Annotated[int, typer.Option(help="The same seed gives the same sample.")] = 0,
    workers: Workers = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an earlier run stopped.")] = False,
) -> None:
    """Find every form of every stimulus; keep a sample of the occurrences of each."""
    from penchant.data.extracted import counts, notes
    from penchant.data.extraction import extract as extracted
    from penchant.data.finding import extraction
    from penchant.data.registry import find_data
    from penchant.data.stimuli import read_stimuli
    from penchant.data.text_files import find_texts
    from penchant.data.workers import worthwhile

    given = read_stimuli([find_data(one) for one in data])
    wanted = extraction(
        given,
        language=language,
        layout=layout,
        field=field,
        per_word=per_word,
        minimum=minimum,
        segments=tuple(part.strip() for part in segments.split(",")),
        duplicates=duplicates,
        seed=seed,
    )
    files = find_texts(texts)
    with bars("MB") as bar:
        advance = bar("corpus")
        record = extracted(
            wanted,
            files,
            out,
            workers=workers or worthwhile(files),
            resume=resume,
            progress=lambda done, total: advance(done / 1e6, total / 1e6),
        )
    print_frame(counts(record, "segment"), "table")
    for note in notes(record):
        say(f"note: {note}")
    say(f"sentences: {out}")


@corpus.command("stats")
def stats(
    file: Sentences,
    by: Annotated[str, typer.Option(help="word, form or segment.")] = "word",
    format: FormatOption = "table",
    chart: Annotated[
        Path | None, typer.Option("--chart", metavar="FILE", help="Draw the counts: .svg or .html.")
    ] = None,
) -> None:
    """What was found: counts by word, form of a word, or length of sentence."""
    from penchant.data.extracted import counts, read_record

    record = read_record(file)
    check_format(format)
    table = counts(record, by)  # type: ignore[arg-type]  # checked there
    if chart is not None:
        from penchant.report.corpus_charts import write_chart

        write_chart(record, by, chart)  # type: ignore[arg-type]  # checked before
        say(f"chart: {chart}")
    print_frame(table, format)


@corpus.command("show")
def show(
    word: Annotated[str, typer.Argument(help="A stimulus, without suffix.")],
    file: Sentences,
    n: Annotated[int, typer.Option("-n", min=1, help="How many.")] = 20,
    form: Annotated[str | None, typer.Option(help="Only this form of it.")] = None,
    width: Annotated[int | None, typer.Option(min=40, help="Columns. Default: those of the terminal.")] = None,
) -> None:
    """The word in its contexts, one occurrence a line."""
    from penchant.data.extracted import find
    from penchant.report.concordance import concordance

    found = find(file, word, form)
    bold = sys.stdout.isatty()
    with to_stdout():
        for line in concordance(found.head(n), width=width or shutil.get_terminal_size((120, 24)).columns, bold=bold):
            write(line)
    say(f"{min(n, len(found)):,} of {len(found):,} occurrences kept of {word}")


@corpus.command("lint")
def lint(
    data: Stimuli,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT…", help="As of extract. Without any, forms are compared with each other only."),
    ] = None,
    layout: LayoutOption = "paragraphs",
    field: Field = "text",
    words: Annotated[
        Path | None,
        typer.Option("--words", metavar="FILE", help="Words of their own, one a line, such as a dictionary's."),
    ] = None,
    workers: Workers = None,
    format: FormatOption = "table",
    by: Annotated[str, typer.Option(help="word, form or suffix.")] = "word",
) -> None:
    """Suffixes: which forms occur, which are another word's too, and which common ones are missed."""
    from penchant.data.registry import find_data
    from penchant.data.stimuli import read_stimuli
    from penchant.data.suffix_findings import check_by, notes, table
    from penchant.data.suffixes import read_words, usage
    from penchant.data.text_files import find_texts
    from penchant.data.workers import worthwhile

    given = read_stimuli([find_data(one) for one in data])
    files = find_texts(texts) if texts else []
    check_by(by, counted=bool(files))
    check_format(format)
    with bars("MB") as bar:
        advance = bar("corpus")
        found = usage(
            given,
            files,
            others=read_words(words) if words else (),
            layout=layout,
            field=field,
            workers=workers or worthwhile(files),
            progress=lambda done, total: advance(done / 1e6, total / 1e6),
        )
    print_frame(table(found, by), format)  # type: ignore[arg-type]  # checked there
    for note in notes(found):
        say(f"note: {note}")
