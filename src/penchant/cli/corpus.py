"""`penchant corpus`: extraction of sentences with stimuli from running text, and counts and checks of word forms."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.cli.console import (
    FormatOption,
    bars,
    check_format,
    emit,
    note,
    print_frame,
    say,
    say_notes,
    to_stdout,
    tsv,
)
from penchant.cli.options import CpusOption, ModelOption, OnOption, TrustOption, place
from penchant.gc_control import uncollected
from penchant.limits import COUNT, PROCESSES, SEED
from penchant.plurals import counted
from penchant.text_io import exists

if TYPE_CHECKING:
    from penchant.cluster.connect import ClusterOptions
    from penchant.corpus.distributed_search import ByFile
    from penchant.corpus.stimulus_sets import StimulusSet

corpus = typer.Typer(
    help="Sentences that contain the words of association tests, from running text of any size.", no_args_is_help=True
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
Language = Annotated[
    str | None,
    typer.Option(help="Language for sentence and capitalisation rules: bn, tr… Default: the stimuli's language."),
]
LayoutOption = Annotated[
    str, typer.Option("--layout", help="Layout of the text: paragraphs or sentences (one per line), or wrapped lines.")
]
Field = Annotated[str, typer.Option(help="Field or column with the text, in JSON lines and Parquet.")]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, max=PROCESSES, help="Number of processes, or of workers with --on. Default: one per processor."
    ),
]
Sentences = Annotated[Path, typer.Argument(metavar="SENTENCES", help="A table written by penchant corpus extract.")]


TableOut = Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The table, in Parquet.")]
PerWord = Annotated[int, typer.Option(min=1, max=COUNT, help="Maximum occurrences of a word to keep per segment.")]
Minimum = Annotated[int, typer.Option(min=0, max=COUNT, help="List words that have fewer occurrences in a segment.")]
Segments = Annotated[
    str, typer.Option(metavar="9,25,>25", help="Bounds of sentence lengths, in words, that are sampled separately.")
]
DuplicatesOption = Annotated[
    str,
    typer.Option(
        "--duplicates", help="Equal sentences to count once: near (nearly equal ones too), exact, or keep (none)."
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=SEED, help="The same seed gives the same sample.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue where an earlier run stopped.")]
LintTexts = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEXT…", help="As for extract. Without texts, forms are only compared with each other."),
]
OtherWords = Annotated[
    Path | None,
    typer.Option("--words", metavar="FILE", help="Other words, one per line, such as those of a dictionary."),
]


def _read_stimuli(data: list[Path]) -> StimulusSet:
    from penchant.corpus.stimulus_sets import read_stimuli

    if not all(exists(path) for path in data):  # importing the instrument takes time
        from penchant.instruments.associations.probe import Association

        data = [path if exists(path) else Association.find(path) for path in data]
    return read_stimuli(data)


@contextmanager
def _searchers(where: ClusterOptions | None) -> Iterator[ByFile | None]:
    if where is None:
        yield None
        return
    from penchant.cluster.connect import joined
    from penchant.cluster.corpus_search import searched_by
    from penchant.cluster.pool import WorkerPool

    with joined(where), closing(WorkerPool(where, None, say=note)) as pool:
        yield searched_by(pool)


@contextmanager
def _megabytes() -> Iterator[Callable[[float, float], None]]:
    with bars("MB") as bar:
        advance = bar("corpus")
        yield lambda done, total: advance(done / 1e6, total / 1e6)


@corpus.command("extract")
@uncollected()
def extract(
    texts: Texts,
    data: Stimuli,
    out: TableOut,
    language: Language = None,
    layout: LayoutOption = "paragraphs",
    field: Field = "text",
    per_word: PerWord = 10_000,
    minimum: Minimum = 1,
    segments: Segments = "all",
    duplicates: DuplicatesOption = "near",
    seed: Seed = 0,
    workers: Workers = None,
    on: OnOption = None,
    cpus: CpusOption = 1,
    resume: Resume = False,
) -> None:
    """Find all forms of every stimulus, and save a sample of each stimulus's occurrences."""
    from penchant.corpus.block_search import extraction
    from penchant.corpus.extraction import extract as extract_occurrences
    from penchant.corpus.occurrence_lookup import counts, notes
    from penchant.corpus.process_pool import worthwhile
    from penchant.corpus.text_files import find_texts

    settings = extraction(
        _read_stimuli(data),
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
    with _megabytes() as progress, _searchers(place(on, workers if on else None, cpus, 0.0)) as by_file:
        record = extract_occurrences(
            settings,
            files,
            out,
            workers=workers or worthwhile(files),
            by_file=by_file,
            resume=resume,
            progress=progress,
        )
    print_frame(counts(record, "segment"), "table")
    say_notes(notes(record))
    say(f"sentences: {out}")


@corpus.command("unigrams")
def unigrams(
    texts: Texts,
    model: ModelOption,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="The table, in Parquet. Default: as TSV on standard output."),
    ] = None,
    layout: LayoutOption = "paragraphs",
    field: Field = "text",
    trust_remote_code: TrustOption = False,
) -> None:
    """Count the tokens of running text with a model's tokenizer, for the normalisation slor. Needs no weights."""
    from penchant.corpus.text_files import check_layout, find_texts
    from penchant.corpus.token_frequencies import count_unigrams, refuse_target, write_unigrams
    from penchant.models.load import load_tokenizer

    checked = check_layout(layout)
    files = find_texts(texts)
    if out is not None:
        refuse_target(out, files)
    name, tokenizer = load_tokenizer(model, trust_remote_code=trust_remote_code)
    with _megabytes() as progress:
        unigram_counts = count_unigrams(
            tokenizer,
            name,
            files,
            layout=checked,
            field=field,
            progress=progress,
        )
    if out is None:
        emit(tsv(unigram_counts.table(tokenizer)))
    else:
        write_unigrams(unigram_counts, tokenizer, out)
    say_notes(unigram_counts.notes())
    if out is not None:
        say(f"unigrams: {out}")


@corpus.command("stats")
def stats(
    file: Sentences,
    by: Annotated[str, typer.Option(help="word, form or segment.")] = "word",
    format: FormatOption = "table",
    chart: Annotated[
        Path | None, typer.Option("--chart", metavar="FILE", help="Draw the counts: .svg or .html.")
    ] = None,
) -> None:
    """Show the counts of stimuli by word, form of a word, or sentence length."""
    from penchant.corpus.occurrence_lookup import counts, read_record

    record = read_record(file)
    check_format(format)
    table = counts(record, by)  # type: ignore[arg-type]  # counts checks it
    if chart is not None:
        from penchant.corpus.count_charts import write_chart

        write_chart(record, by, chart)  # type: ignore[arg-type]  # counts checked it
        say(f"chart: {chart}")
    print_frame(table, format)


@corpus.command("show")
def show(
    word: Annotated[str, typer.Argument(help="A stimulus, without suffix.")],
    file: Sentences,
    n: Annotated[int, typer.Option("-n", min=1, max=COUNT, help="Number of occurrences.")] = 20,
    form: Annotated[str | None, typer.Option(help="Only this form of the stimulus.")] = None,
    width: Annotated[
        int | None, typer.Option(min=40, max=10_000, help="Width in columns. Default: that of the terminal.")
    ] = None,
) -> None:
    """Show a word in context, one occurrence per line."""
    from penchant.corpus.concordance import concordance
    from penchant.corpus.occurrence_lookup import find

    occurrences = find(file, word, form)
    bold = sys.stdout.isatty()
    with to_stdout():
        for line in concordance(
            occurrences.head(n), width=width or shutil.get_terminal_size((120, 24)).columns, bold=bold
        ):
            sys.stdout.write(line + "\n")  # not escaped: its texts already are, and bold needs control codes
    say(f"{word}: {min(n, len(occurrences)):,} of {counted(len(occurrences), 'occurrences')} in the table")


@corpus.command("lint")
def lint(
    data: Stimuli,
    texts: LintTexts = None,
    layout: LayoutOption = "paragraphs",
    field: Field = "text",
    words: OtherWords = None,
    workers: Workers = None,
    format: FormatOption = "table",
    by: Annotated[str, typer.Option(help="word, form or suffix.")] = "word",
) -> None:
    """Check suffixes: list forms that occur, forms shared with other words, and common forms that are missing."""
    from penchant.corpus.process_pool import worthwhile
    from penchant.corpus.suffix_report import check_by, notes, table
    from penchant.corpus.suffix_usage import read_words, usage
    from penchant.corpus.text_files import find_texts

    stimuli = _read_stimuli(data)
    files = find_texts(texts) if texts else []
    check_by(by, counted=bool(files))
    check_format(format)
    with _megabytes() as progress:
        result = usage(
            stimuli,
            files,
            others=read_words(words) if words else (),
            layout=layout,
            field=field,
            workers=workers or worthwhile(files),
            progress=progress,
        )
    print_frame(table(result, by), format)  # type: ignore[arg-type]  # check_by checked it
    say_notes(notes(result))
