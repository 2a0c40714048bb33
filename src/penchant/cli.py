"""The command line: `penchant COMMAND`. Data goes to stdout, words for people and progress to stderr.

Exit codes: 0 done, 2 bad input or usage (one line: what, where, what to do), 1 a fault of the program itself.
Heavy imports stand inside the commands, so that `penchant --help` stays quick.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from penchant import __version__
from penchant.commands.corpus import corpus
from penchant.commands.export import export
from penchant.commands.pairs import pairs
from penchant.commands.ratings import ratings
from penchant.commands.report import report
from penchant.commands.vectors import vectors
from penchant.console import (
    WRITERS,
    FormatOption,
    ReaderGoneError,
    bars,
    lines,
    print_frame,
    readable,
    say,
    to_stdout,
    validate,
    write,
)
from penchant.errors import MethodError, PenchantError

if TYPE_CHECKING:
    from penchant.models.load import LanguageModel
    from penchant.models.static import StaticVectors

_INTERRUPTED = 130
"""The exit code of a program that was interrupted."""

app = typer.Typer(
    name="penchant",
    help="Measure what a language model is inclined to say.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

ModelOption = Annotated[
    str,
    typer.Option("-m", "--model", help="Hub name[@revision], directory, GGUF file or bundled: name.", metavar="MODEL"),
]
CacheOption = Annotated[
    str | None,
    typer.Option(
        "--cache",
        metavar="PATH",
        help="File of earlier answers; 'none' for none. Default: the user's cache directory.",
    ),
]
BatchOption = Annotated[
    int | None, typer.Option("--batch-tokens", min=1, help="Tokens in a batch. Never changes a score.")
]
DtypeOption = Annotated[str, typer.Option("--dtype", help="float32, bfloat16 or float16.")]
DeviceOption = Annotated[str | None, typer.Option("--device", help="A torch device such as cpu or cuda:1.")]
TrustOption = Annotated[bool, typer.Option("--trust-remote-code", help="Run code that comes with the checkpoint.")]
PickleOption = Annotated[bool, typer.Option("--allow-pickle", help="Admit weights that are not safetensors.")]


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    """Options of the program itself."""
    if version:
        write(__version__)
        raise typer.Exit


@app.command()
def run(
    study: Annotated[Path, typer.Argument(metavar="STUDY.yaml", help="The study file.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Where the results go.")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what DIR holds.")] = False,
    model: Annotated[
        list[str] | None,
        typer.Option("-m", "--model", help="Measure this instead of the study's models. Repeatable."),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", metavar="DIR", help="Look for data files here first. Repeatable."),
    ] = None,
    cache: CacheOption = None,
    batch_tokens: BatchOption = None,
) -> None:
    """Run a study file: the main job."""
    _run(study, out, models=model, data=data or [], resume=resume, cache=_cache(cache), batch_tokens=batch_tokens)


@app.command()
def demo(
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="DIR", help="Where the results go (a new directory here).")
    ] = None,
) -> None:
    """The bundled study: two small models, between Shakespeare's English and ours. Offline, under a minute."""
    from penchant.data.registry import BUNDLED

    fresh = (Path(f"penchant-demo{number}") for number in ("", *(f"-{i}" for i in range(2, 1_000_000))))
    place = out or next(path for path in fresh if not path.exists())
    _run(BUNDLED / "demo.yaml", place, models=None, data=[], resume=False, cache=None, batch_tokens=None)


def _run(
    study: Path,
    out: Path,
    *,
    models: list[str] | None,
    data: list[Path],
    resume: bool,
    cache: Path | None,
    batch_tokens: int | None,
) -> None:
    """Run a study, show its tables, write its report."""
    from penchant.commands.report import show
    from penchant.report.page import write_report
    from penchant.study.run import Options, run_study
    from penchant.study.spec import read_study

    spec, probes = read_study(study, models=models)
    with bars() as bar:
        options = Options(
            resume=resume,
            cache=cache,
            batch_tokens=batch_tokens,
            base=[*data, study.parent, Path()],
            say=say if sys.stderr.isatty() else lambda text: None,
            progress=bar,
        )
        outcome = run_study(spec, probes, out, options)
    show(outcome)
    page = out / "report.html"
    said = write_report(outcome, page)
    for line in said:
        say(f"note: {line}")
    say(f"results: {out}")
    say(f"report: {page}")


@app.command()
def score(
    model: ModelOption,
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="One sentence a line; - is standard input.")] = "-",
    method: Annotated[str | None, typer.Option("--method", help="See penchant list methods.")] = None,
    normalise: Annotated[str, typer.Option("--normalise", help="none, mean or pen.")] = "none",
    format: Annotated[str, typer.Option("--format", help="tsv, jsonl or parquet.")] = "tsv",
    dtype: DtypeOption = "float32",
    device: DeviceOption = None,
    cache: CacheOption = None,
    batch_tokens: BatchOption = None,
    trust_remote_code: TrustOption = False,
    allow_pickle: PickleOption = False,
) -> None:
    """Score sentences: one line in, one row out, in order."""
    from penchant.engine.methods import check_normalise, method_for
    from penchant.engine.scorer import Scorer

    if format not in WRITERS:
        raise MethodError(f"unknown format '{format}'", hint=f"use one of {', '.join(WRITERS)}")
    if file != "-":
        readable(file)
    lm = _language_model(_load(model, dtype, device, trust_remote_code, allow_pickle))
    check_normalise(normalise, method_for(method, lm))
    total = validate(Scorer(lm), file) if file != "-" else None
    with bars() as bar:
        advance = bar(lm.name)
        scorer = Scorer(
            lm,
            cache=_cache(cache),
            batch_tokens=batch_tokens,
            progress=lambda done: advance(done, total or 0),
        )
        scores = scorer.score(lines(file), method)
        with to_stdout():
            WRITERS[format](scores, normalise)
    scorer.close()


@app.command()
def fill(
    model: ModelOption,
    text: Annotated[str, typer.Argument(help="A sentence with [MASK] where the word goes.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many fillers.")] = 10,
    format: FormatOption = "table",
    dtype: DtypeOption = "float32",
    device: DeviceOption = None,
    cache: CacheOption = None,
    trust_remote_code: TrustOption = False,
    allow_pickle: PickleOption = False,
) -> None:
    """The most probable words for each gap of a sentence."""
    from penchant.engine.scorer import fill as filled

    lm = _language_model(_load(model, dtype, device, trust_remote_code, allow_pickle))
    print_frame(filled(lm, text, k, cache=_cache(cache)), format)


app.add_typer(ratings, name="ratings")
app.add_typer(pairs, name="pairs")
app.add_typer(corpus, name="corpus")
app.add_typer(vectors, name="vectors")
app.command()(report)
app.command()(export)


@app.command()
def audit(
    data: Annotated[list[Path], typer.Argument(metavar="DATA…", help="Files or directories of minimal pairs.")],
    model: Annotated[list[str], typer.Option("-m", "--model", help="Whose tokenizer. Repeatable.")],
    format: FormatOption = "table",
    acceptable: Annotated[str, typer.Option(help="CrowS-Pairs: sent_more or sent_less.")] = "sent_more",
    trust_remote_code: TrustOption = False,
) -> None:
    """Token-length audit of minimal pairs: no forward pass, no weights."""
    from penchant.data.pairs import read_many
    from penchant.models.load import load_tokenizer
    from penchant.probes.audit import audit as audited

    pair_sets = read_many(data, acceptable=acceptable)  # type: ignore[arg-type]  # checked there
    tokenizers = [load_tokenizer(name, trust_remote_code=trust_remote_code) for name in model]
    print_frame(audited(pair_sets, tokenizers), format)


@app.command()
def check(
    model: ModelOption,
    data: Annotated[list[Path] | None, typer.Argument(metavar="[DATA…]", help="Pairs the model is to read.")] = None,
    format: FormatOption = "table",
    dtype: DtypeOption = "float32",
    device: DeviceOption = None,
    trust_remote_code: TrustOption = False,
    allow_pickle: PickleOption = False,
) -> None:
    """Is this model fit to be measured? Exit code 2 if not."""
    import polars as pl

    from penchant.data.pairs import read_many
    from penchant.study.check import check as checked

    texts = [
        (text, item.place) for pairs in read_many(data or []) for item in pairs.items for text in item.texts.values()
    ]
    lm = _language_model(_load(model, dtype, device, trust_remote_code, allow_pickle))
    findings = checked(lm, texts)
    rows = [{"check": f.name, "verdict": f.verdict, "detail": f.detail} for f in findings]
    print_frame(pl.DataFrame(rows), format)
    failed = [f for f in findings if f.verdict == "fail"]
    if failed:
        say(f"penchant: {lm.name} is not fit to be measured: {', '.join(f.name for f in failed)}")
        raise typer.Exit(2)


@app.command()
def init(
    probe: Annotated[str, typer.Argument(help="See penchant list probes.")],
    directory: Annotated[Path, typer.Argument(help="Where to put the files.")] = Path(),
) -> None:
    """Write a study file and a small data file to start from."""
    from penchant.study.templates import write_template

    for path in write_template(probe, directory):
        write(str(path))


@app.command("list")
def list_(what: Annotated[str, typer.Argument(metavar="probes|models|data|methods|grammars|compat")]) -> None:
    """What there is: probes, kinds of models, kinds of data, scoring methods, conventions of other tools."""
    from penchant.study.templates import catalogue

    known = catalogue()
    if what not in known:
        raise MethodError(f"nothing to list under '{what}'", hint=f"use one of {', '.join(known)}")
    width = max(len(name) for name, _ in known[what])
    for name, meaning in known[what]:
        write(f"{name.ljust(width)}  {meaning}")


@app.command()
def schema(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[study|cloze|values|stimuli|occurrences|grammar]",
            help="A study file, a cloze test set, value statements, stimuli, sentences, a grammar of pairs.",
        ),
    ] = "study",
) -> None:
    """The JSON schema of a study file, or of the files of a test set."""
    from penchant.data.cloze import schemas as cloze_schemas
    from penchant.data.grammar_file import GrammarFile
    from penchant.data.occurrences import schemas as occurrences_schemas
    from penchant.data.stimuli import schemas as stimuli_schemas
    from penchant.data.survey import SurveyFile
    from penchant.data.values import schemas as values_schemas
    from penchant.study.spec import schema as study_schema

    known: dict[str, Callable[[], dict[str, Any]]] = {
        "study": study_schema,
        "cloze": cloze_schemas,
        "values": lambda: values_schemas() | {"survey": SurveyFile.model_json_schema()},
        "stimuli": stimuli_schemas,
        "occurrences": occurrences_schemas,
        "grammar": GrammarFile.model_json_schema,
    }
    if what not in known:
        raise MethodError(f"there is no schema of '{what}'", hint=f"use one of {', '.join(known)}")
    write(json.dumps(known[what](), indent=2))


def main() -> NoReturn:
    """The program: run a command, turn errors into one line and an exit code."""
    debug = "--debug" in sys.argv[1:]
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
        if code == _INTERRUPTED:  # the command parser makes an exit of it
            raise KeyboardInterrupt
    except PenchantError as error:
        code = _fail(error, debug)
    except KeyboardInterrupt:
        say("penchant: interrupted; finished work is kept")
        code = _INTERRUPTED
    except ReaderGoneError:
        code = 0
    except Exception as error:  # whatever is left is a fault of ours, or a usage error of the command parser
        code = _unexpected(error, debug)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(error: PenchantError, debug: bool) -> int:
    if debug:
        raise error
    say(f"penchant: {error}")
    return 2


def _unexpected(error: Exception, debug: bool) -> int:
    usage = getattr(error, "format_message", None)
    if usage is not None:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "penchant"
        say(f"{command}: {' '.join(usage().split())} — see {command} --help")
        return 2
    if type(error).__name__ in ("Abort", "NoArgsIsHelpError"):
        return 2
    if isinstance(error, OSError) and sys.stdout.closed:
        return 2
    if debug:
        raise error
    say(f"penchant: internal error: {type(error).__name__}: {error} — run again with --debug and report it")
    return 1


def _load(
    spec: str, dtype: str, device: str | None, trust_remote_code: bool, allow_pickle: bool
) -> LanguageModel | StaticVectors:
    from penchant.models.load import load

    return load(spec, dtype=dtype, device=device, trust_remote_code=trust_remote_code, allow_pickle=allow_pickle)


def _language_model(model: LanguageModel | StaticVectors) -> LanguageModel:
    from penchant.engine.scorer import language_model

    return language_model(model)


def _cache(given: str | None) -> Path | None:
    from penchant.engine.cache import default_path

    if given == "none":
        return None
    return Path(given) if given else default_path()


if __name__ == "__main__":
    main()
