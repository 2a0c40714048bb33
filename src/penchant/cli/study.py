"""`penchant run`, `demo`, `init`, `paper`, `list` and `schema`: studies, their templates and their components."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penchant.cli.console import bars, check_format, command, note, say, to_stdout, write
from penchant.cli.options import (
    BatchOption,
    CacheOption,
    CpusOption,
    DataOption,
    DeviceOption,
    FullOption,
    GpusOption,
    LimitOption,
    OnOption,
    ProbesOption,
    RehashOption,
    RerunOption,
    TextsOutOption,
    WorkersOption,
    cache_path,
    place,
)
from penchant.errors import MethodError, OutputError, one_line
from penchant.plurals import counted

if TYPE_CHECKING:
    from penchant.instruments.run_options import Run
    from penchant.study.study_from_table import UserStudy


def run(
    study: Annotated[
        Path, typer.Argument(metavar="STUDY.yaml", help="The study file, or a directory that contains one.")
    ],
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="DIR", help="Directory for the results.")] = None,
    texts_out: TextsOutOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in DIR, also with other models.")] = False,
    model: Annotated[
        list[str] | None,
        typer.Option("-m", "--model", help="Measure this model instead of the study's. Repeatable."),
    ] = None,
    data: DataOption = None,
    rerun: RerunOption = False,
    probe: ProbesOption = None,
    limit: LimitOption = None,
    dtype: Annotated[
        str | None, typer.Option("--dtype", help="float32, bfloat16, float16 or float64. Default: the study's.")
    ] = None,
    device: DeviceOption = None,
    cache: CacheOption = None,
    rehash: RehashOption = False,
    batch_tokens: BatchOption = None,
    on: OnOption = None,
    workers: WorkersOption = None,
    cpus: CpusOption = 1,
    gpus: GpusOption = 0.0,
    full: FullOption = False,
) -> None:
    """Run the study in a study file, and write its results and report."""
    if (out is None) == (texts_out is None):
        raise MethodError("expected exactly one of -o DIR and --texts-out FILE", hint="see penchant run --help")
    _status(f"{study}: starting")
    from penchant.instruments.run_options import Run
    from penchant.study.study_file import study_file

    study = study_file(study)
    base = [*(data or []), study.parent, Path()]
    if out is None:
        _write_texts(study, Path(texts_out or ""), base, models=model, only=probe, limit=limit)
        return
    how = Run(
        resume=resume or rerun,
        rerun=rerun,
        cache=cache_path(cache),
        rehash=rehash,
        batch_tokens=batch_tokens,
        base=base,
        place=place(on, workers, cpus, gpus),
    )
    _run(study, out, how, full=full, models=model, only=probe, limit=limit, dtype=dtype, device=device)


def demo(
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="DIR", help="Directory for the results. Default: a new one here."),
    ] = None,
    full: FullOption = False,
) -> None:
    """Run the bundled study of two small models (Shakespeare's and modern English), offline, in under a minute."""
    _status("demo: starting")
    from penchant.instruments.run_options import Run
    from penchant.study.study_file import DEMO

    fresh = (Path(f"penchant-demo{number}") for number in ("", *(f"-{i}" for i in range(2, 1_000_000))))
    place = out or next(path for path in fresh if not path.exists())
    _run(DEMO, place, Run(base=[DEMO.parent, Path()]), full=full)


def _write_texts(study: Path, file: Path, base: Sequence[Path], **changes: Any) -> None:
    from penchant.study.texts_for_external_scoring import write_texts

    number = write_texts(study, file, base, **changes)
    say(f"{counted(number, 'texts')}: {file}")
    say("next: add the column score, and name the table in models: as scores:FILE")


def _status(text: str) -> None:
    if sys.stderr.isatty():
        say(text)


def _run(study: Path, out: Path, how: Run, *, full: bool, **changes: Any) -> None:
    """Run a study, write the report and print the answers; `changes` override settings of the study file."""
    from penchant.cli.result_commands import show
    from penchant.report.page import write_report
    from penchant.study.run import run_study
    from penchant.study.stale_reports import outdated
    from penchant.study.study_file import read_study

    spec, probes = read_study(study, **changes)
    with bars() as bar:
        how.say, how.warn, how.bars = _status, note, bar
        outcome = run_study(spec, probes, out, how)
    document = outcome.document()
    page = out / "report.html"
    try:
        warnings = write_report(document, page)  # first, since a reader such as `head` may end the program below
    except OutputError:
        show(document, directory=out, full=full)
        raise
    for line in (*warnings, *outdated(out, document)):
        note(line)
    show(document, directory=out, page=page, full=full)


def init(
    probe: Annotated[
        str,
        typer.Argument(
            help="See penchant list probes. With --from also pairs, gaps, statements or words; with --from-lm-eval the "
            "directory for the files."
        ),
    ],
    directory: Annotated[Path, typer.Argument(help="Directory for the files.")] = Path(),
    table: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Make the study of this table, and try it.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="FIELD=NAME", help="A column that is not recognised. Repeatable."),
    ] = None,
    task: Annotated[
        Path | None,
        typer.Option(
            "--from-lm-eval", metavar="TASK.yaml", help="Make the study of a multiple-choice task of lm-eval."
        ),
    ] = None,
    data: Annotated[
        list[str] | None, typer.Option("--data", metavar="FILE", help="The rows of the task of lm-eval. Repeatable.")
    ] = None,
    model: Annotated[list[str] | None, typer.Option("-m", "--model", help="A model of the study. Repeatable.")] = None,
) -> None:
    """Write a study file and a small data file as a starting point, or the study of your own table or task."""
    if task is not None:
        _init_from_task(probe, task, data or [], model or [], alone=not (table or column) and directory == Path())
        return
    if table is not None:
        _init_from(probe, directory, table, column or [], model or [])
        return
    if column or model or data:
        raise MethodError(
            "--column, --model and --data need --from or --from-lm-eval", hint="name your table: --from FILE"
        )
    from penchant.instruments.registry import instrument_named
    from penchant.study.catalogue import write_template

    name = instrument_named(probe).name
    files = write_template(name, directory)
    with to_stdout():
        for path in files:
            write(one_line(str(path)))
    for path in files:
        if path.name == f"{name}.yaml":
            _say_run(path, directory)


def _init_from(probe: str, directory: Path, table: Path, columns: Sequence[str], models: Sequence[str]) -> None:
    from penchant.study.study_from_table import study_of_table

    pairs = [each.partition("=") for each in columns]
    for field, equals, name in pairs:
        if not (field and equals and name):
            raise MethodError(f"--column {field}{equals}{name}: expected FIELD=NAME", hint='as in good="acceptable"')
    _say_made(
        study_of_table(probe, table, directory, models=models, columns={field: name for field, _, name in pairs}),
        directory,
    )


def _init_from_task(name: str, task: Path, data: Sequence[str], models: Sequence[str], *, alone: bool) -> None:
    from penchant.study.study_from_lm_eval import study_of_task

    if not alone:
        raise MethodError("--from-lm-eval takes only a directory: penchant init DIRECTORY --from-lm-eval TASK.yaml")
    _say_made(study_of_task(task, Path(name), models=models, data=data), Path(name))


def _say_made(found: UserStudy, directory: Path) -> None:
    with to_stdout():
        for line in (*map(str, found.written), *found.lines):
            write(one_line(line))
    _say_run(found.file, directory, *([] if found.readable else ["-m", "MODEL"]))


def paper(
    name: Annotated[str, typer.Argument(help="The paper. Default: list the papers.")] = "",
    directory: Annotated[Path, typer.Argument(help="Directory for the study file.")] = Path(),
) -> None:
    """Show what a paper claims and needs, and write a study whose report has the paper's tables."""
    from penchant.papers.listing import described, listed, write_study

    file = write_study(name, directory) if name else None
    with to_stdout():
        for line in described(name) if name else listed():
            write(line)
    if file is not None:
        say(f"study: {file}")
        say(f"next: {command(['penchant', 'run', str(file), '--data', 'FOLDER', '-o', str(directory / 'results')])}")


def _say_run(study: Path, directory: Path, *options: str) -> None:
    say(f"next: {command(['penchant', 'run', str(study), *options, '-o', str(directory / 'results')])}")


def list_(
    what: Annotated[
        str | None, typer.Argument(metavar="[probes|models|data|methods|grammars|compat]", help="Default: all of them.")
    ] = None,
    format: Annotated[str, typer.Option("--format", help="table, or json: an object for each topic.")] = "table",
) -> None:
    """List probes, kinds of models, data, scoring methods, grammars, or the conventions of other tools."""
    from penchant.study.catalogue import catalogue, records, topics

    check_format(format, ("table", "json"))
    if format == "json":
        every = {topic: records(topic) for topic in ([what] if what is not None else topics())}
        write(json.dumps(every if what is None else every[what], ensure_ascii=False, indent=2))
        return
    for number, topic in enumerate([what] if what is not None else topics()):
        rows = [(one_line(name), one_line(meaning)) for name, meaning in catalogue(topic)]
        if what is None:
            write(("\n" if number else "") + topic)
        indent = "" if what is not None else "  "
        width = max(len(name) for name, _ in rows)
        for name, meaning in rows:
            write(f"{indent}{name.ljust(width)}  {meaning}")


def schema(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[study|cloze|values|stimuli|occurrences|grammar]",
            help="A study file, a cloze test set, value statements, stimuli, sentences, a grammar of pairs; or a file "
            "format of another installed instrument.",
        ),
    ] = "study",
) -> None:
    """Print the JSON schema of a study file or of a test set's files."""
    from penchant.study.catalogue import schemas

    write(json.dumps(schemas(what), indent=2))
