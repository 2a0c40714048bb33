"""`penchant score --on`: scoring of any number of files by the workers of a cluster, with tables in a directory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penchant._version import __version__
from penchant.cli.console import note, say
from penchant.errors import MethodError
from penchant.plurals import counted

if TYPE_CHECKING:
    from penchant.cluster.connect import ClusterOptions
    from penchant.models.load import LanguageModel


@dataclass(frozen=True, slots=True)
class Asked:
    """Command-line options for the model and the scores."""

    model: str
    device: str | None
    trust_remote_code: bool
    allow_pickle: bool
    method: str | None
    normalise: str
    column: str
    batch_tokens: int | None


def stream(
    place: ClusterOptions,
    load: Callable[[], LanguageModel],
    asked: Asked,
    names: list[str],
    out: Path | None,
    *,
    resume: bool,
    on_error: str,
) -> None:
    """Score the files that `names` refer to; write tables to `out` and a summary to standard error."""
    from penchant.cluster.connect import imported, joined
    from penchant.cluster.model_transfer import wanted
    from penchant.cluster.pool import WorkerPool
    from penchant.cluster.resumable_scoring import Recipe, Stream, check_on_error, refuse_tables
    from penchant.corpus.text_files import find_texts
    from penchant.engine.normalisations import FREQUENCY, PREFIXED, check_normalise
    from penchant.engine.scoring_methods import method_for

    out = _directory(out, names)
    check_on_error(on_error)
    imported()
    files = find_texts(names)
    refuse_tables(files)
    model = load()
    method = method_for(asked.method, model)
    check_normalise(asked.normalise, method, model)
    if asked.normalise in (*FREQUENCY, *PREFIXED):
        raise MethodError(f"--normalise {asked.normalise} cannot be used with --on", hint="omit --on")
    recipe = Recipe(
        penchant=__version__,
        model=model.name,
        fingerprint=model.fingerprint,
        dtype=model.numbers,
        method=method.name,
        normalise=asked.normalise,
        column=asked.column,
        on_error=on_error,
    )
    trust = {"trust_remote_code": asked.trust_remote_code, "allow_pickle": asked.allow_pickle}
    source = wanted(model, asked.model, device=asked.device, **trust)
    with joined(place), closing(WorkerPool(place, source, say=note)) as pool:
        total = Stream(files, recipe, out, pool, asked.batch_tokens, say).run(resume=resume)
    before = f", {total.before} of them before" if total.before else ""
    rejects = f" + {counted(total.rejects, 'rejects')}" if total.rejects or on_error == "reject" else ""
    say(
        f"{counted(total.inputs, 'inputs')} = {counted(total.scores, 'scores')}{rejects}, in "
        f"{counted(total.shards, 'shards')}{before}"
    )
    say(f"results: {out}")


def _directory(out: Path | None, names: list[str]) -> Path:
    if out is None:
        raise MethodError("--on needs an output directory", hint="give a directory for the tables with -o")
    if not names or "-" in names:
        raise MethodError("--on needs input files", hint="give files, directories, patterns or URLs")
    for name in names:
        if out.resolve().is_relative_to(Path(name).resolve()):
            raise MethodError("is inside an input directory", where=str(out), hint="give another directory with -o")
    return out
