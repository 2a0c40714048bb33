"""Studies in Python: `penchant.run`, `open`, `report`, `export` and `compare`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from penchant.call_checks import asked, kind
from penchant.cluster.connect import ClusterOptions
from penchant.engine.answer_cache import chosen_path
from penchant.engine.base_scorer import require_batch
from penchant.errors import MethodError, PenchantError, StudyError, of_machine
from penchant.instruments import registry
from penchant.instruments.result import Result
from penchant.instruments.run_options import Run
from penchant.models.load import Model
from penchant.progress import bars, say
from penchant.records import BaseResult as AnyResult
from penchant.report.export import absent
from penchant.report.export import export as export_document
from penchant.report.page import write_report
from penchant.report.sections import Document
from penchant.study.model_differences import Differences
from penchant.study.outcome import Outcome
from penchant.study.python_studies import Asked, InPython
from penchant.study.read_results import read_for_report, read_outcome, side_by_side
from penchant.study.run import run_study
from penchant.study.stale_reports import outdated
from penchant.study.study_file import read_study
from penchant.tables.in_memory import plain

P = ParamSpec("P")
R = TypeVar("R")

_PARAMETERS: Mapping[str, str] = {
    "--cache on the command line, cache= in Python": "cache=",
    "--resume": "resume=True",
    "--rerun": "rerun=True",
    "--limit": "limit=",
    "--trust-edited": "trust_edited=True",
    "--on ": "on=",
    "-o,": "out,",
}
"""Command-line options in messages, and the Python parameters that replace them."""
_OPTION = re.compile("|".join(map(re.escape, _PARAMETERS)))


def _in_python_terms(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that its errors name its parameters instead of command-line options."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except PenchantError as error:
            for part in ("message", "where", "hint"):
                setattr(error, part, _OPTION.sub(lambda match: _PARAMETERS[match[0]], getattr(error, part)))
            raise
        except (OSError, MemoryError) as error:
            raise of_machine(error) from error

    return call


@asked
@_in_python_terms
def run(
    study: Asked,
    out: str | Path,
    *,
    models: Model | str | Path | Sequence[Model | str | Path] | None = None,
    probe: str | Sequence[str] | None = None,
    data: str | Path | Sequence[str | Path] = (),
    resume: bool = False,
    rerun: bool = False,
    limit: int | None = None,
    dtype: str | None = None,
    device: str | None = None,
    batch_tokens: int | None = None,
    cache: str | Path | None = None,
    on: str | None = None,
    workers: int | None = None,
    cpus: int = 1,
    gpus: float = 0.0,
    progress: bool = True,
) -> Outcome:
    """Run a study and write its results and its report into a directory, as `penchant run` does.

    `study` is a study file, a mapping with the keys of a study file, a probe or a list of probes. Tables may be given
    in place of file names and are copied into `out`; models returned by `load` may be given in place of model names.
    `models` replaces the study's models, `probe` names the probes to keep, and `data` lists directories to search first
    for data files. `resume` continues the study in `out`; `rerun` also repeats measurements whose inputs have changed;
    `limit` makes a pilot with at most this many items per probe. `dtype` and `device` are as in `load`; `cache` is the
    file that stores the models' answers, or "none". `on` runs the study on Ray: "ray" (on this machine), "auto" or an
    address, with `workers` workers that have `cpus` CPUs and `gpus` GPUs each. Raises StudyError, DataError, ModelError
    or MethodError, if possible before anything is measured.
    """
    require_batch(batch_tokens, "run()")
    with _shown(progress) as shown:
        how = Run(
            resume=resume or rerun,
            rerun=rerun,
            cache=chosen_path(cache),
            batch_tokens=batch_tokens,
            base=[Path(place) for place in _names(() if data is None else data, "data")],
            place=_place(on, workers, cpus, gpus),
            **shown,
        )
        return _run(study, Path(out), how, models=models, only=probe, limit=limit, dtype=dtype, device=device)


def _run(study: Asked, out: Path, how: Run, *, models: Any, only: Any, dtype: str | None, **settings: Any) -> Outcome:
    file = Path(study) if isinstance(study, str | Path) else None
    described = InPython() if isinstance(study, str | Path) else InPython.of(study, out)
    chosen = None if models is None else described.specs(models)
    if chosen == []:
        raise MethodError("no model was given", where="run(), models", hint="omit models to use the study's models")
    kept = None if only is None else [str(name) for name in _names(only, "probe")]
    settings |= {"models": chosen, "only": kept, "dtype": dtype if file else described.dtype(dtype)}
    asked_for, probes = read_study(file, **settings) if file else described.read(**settings)
    described.require_dtype(asked_for.dtype)
    how = replace(how, base=[*how.base, *([file.parent] if file else []), Path(), out], models=described.models)
    with _note_to_resume(), described.tables_in(out):
        outcome = run_study(asked_for, probes, out, how)
    _write_report(outcome, out, out / "report.html")
    return outcome


@contextmanager
def _note_to_resume() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as error:
        error.add_note("finished work is kept: repeat the call with resume=True to continue")
        raise


def _place(on: str | None, workers: int | None, cpus: int, gpus: float) -> ClusterOptions | None:
    if on is None and (workers, cpus, gpus) != (None, 1, 0.0):
        hint = 'set the argument `on`, for example on="ray"'
        raise MethodError("workers, cpus and gpus apply only to a cluster", where="run()", hint=hint)
    return None if on is None else ClusterOptions(on, workers, cpus, gpus)


@contextmanager
def _shown(progress: bool) -> Iterator[dict[str, Any]]:
    warn = {"warn": lambda text: say(f"note: {text}")}
    if not progress:
        yield warn
        return
    with bars() as bar:
        yield warn | {"bars": bar} | ({"say": say} if sys.stderr.isatty() else {})


def _names(given: Any, where: str) -> list[str | Path]:
    names = [given] if isinstance(given, str | Path) else plain(given)
    for name in names if isinstance(names, list) else [names]:
        if not isinstance(name, str | Path):
            raise MethodError(
                f"{kind(name)} is not a name", where=f"run(), {where}", hint="give a name or a list of names"
            )
    return list(names)


@asked
@_in_python_terms
def open(directory: str | Path, *, trust_edited: bool = False) -> Outcome:
    """Read the results in a directory that a study or `Result.save` wrote.

    Raises StudyError if there are none, or if files were edited and `trust_edited` is false.
    """
    return read_outcome(directory, trust_edited=trust_edited)


@asked
@_in_python_terms
def report(
    directory: str | Path, other: str | Path | None = None, *, out: str | Path | None = None, trust_edited: bool = False
) -> Path:
    """Write a report on a result directory, or on the differences between two, and return the path of the page.

    The page is `report.html` in the directory, or `comparison.html` in the current directory if `other` is given,
    unless `out` gives another path. Each directory must have been written by a study or by `Result.save`. Raises
    StudyError if results cannot be read or compared, and OutputError if the page cannot be written.
    """
    outcome, path = read_for_report(directory, other, out, trust_edited=trust_edited)
    _write_report(outcome, directory, path)
    return path


@asked
@_in_python_terms
def export(
    directory: str | Path,
    to: str,
    *,
    out: str | Path | None = None,
    scores: str | Sequence[str] | None = None,
    columns: str | Sequence[str] | None = None,
    trust_edited: bool = False,
) -> list[Path]:
    """Write the tables of a result directory as "latex" or "csv", or its "figures" as SVG and PNG; return the paths.

    The files are written into the folder `to` in the directory, unless `out` gives another folder. `scores` keeps only
    the rows of these scores or measures, in the tables that have them. `columns` keeps only these columns, in this
    order, after the columns that identify a row. `scores` and `columns` are names from the tables, in a list or
    separated by commas. Raises MethodError for an unknown format or a name that no table has, StudyError for unreadable
    results, and OutputError if a file cannot be written.
    """
    outcome = read_outcome(directory, trust_edited=trust_edited)
    place = Path(directory) / to if out is None else out
    document = outcome.document()
    paths = export_document(document, to, place, scores=scores, columns=columns)
    for line in absent(document, columns):
        say(f"note: {line}")
    _say_outdated(directory, document, paths)
    return paths


def _write_report(outcome: Outcome, directory: str | Path, path: Path) -> None:
    document = outcome.document()
    write_report(document, path)
    outcome.page = path
    _say_outdated(directory, document)


def _say_outdated(directory: str | Path, document: Document, written: Sequence[Path] = ()) -> None:
    for line in outdated(directory, document, written):
        say(f"note: {line}")


@asked
@_in_python_terms
def compare(a: Result | str | Path, b: Result | str | Path) -> Differences:
    """Return the differences a − b between two results on the same items, with intervals and tests.

    `a` and `b` are results of one instrument, or directories that a study or `Result.save` wrote; for two directories,
    the column `probe` names the probes. There is one row per estimate, and each instrument has its own comparison. Four
    columns define what "no difference" means: `detectable` is the smallest difference that the study could detect with
    a power of 80 %, at the first step of Holm's correction if there is one, and is infinite if the study could not
    detect even the largest possible difference; `bound`, `low_bound` and `high_bound` are the equivalence bound and the
    interval for the two one-sided tests, NaN unless the study sets a bound. Raises StudyError if the two cannot be
    compared, naming the part of the signature that differs.
    """
    for given in (a, b):
        if not isinstance(given, AnyResult | str | Path):
            raise StudyError(
                f"{kind(given)} is not a result",
                where="compare()",
                hint="give two results, such as FOUND.results[PROBE, MODEL], or two result directories",
            )
    if isinstance(a, str | Path) and isinstance(b, str | Path):
        return side_by_side(a, b).differences()
    first, second = (each if isinstance(each, AnyResult) else _alone(each) for each in (a, b))
    return Differences(registry.compare(first, second))


def _alone(directory: str | Path) -> AnyResult:
    results = read_outcome(directory).results
    if len(results) > 1:
        hint = "give two study directories, or the directory of one result, DIR/PROBE/MODEL"
        raise StudyError(f"contains {len(results)} results, expected one", where=str(directory), hint=hint)
    return next(iter(results.values()))
