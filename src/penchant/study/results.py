"""Result directories read back: one, or two side by side."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from penchant.errors import StudyError
from penchant.probes.base import require_comparable
from penchant.probes.compare import compare
from penchant.records import Outcome, Result

FREE = {"model", "bos", "dtype"}
"""What may differ between two models' results that are set side by side: the models themselves."""


def read_outcome(directory: str | Path) -> Outcome:
    """What `run_study` wrote into a directory, finished or not. Raises StudyError when it holds no study."""
    folder = Path(directory)
    path = folder / "manifest.json"
    if not path.is_file():
        hint = "penchant run STUDY.yaml -o DIR makes one" if folder.is_dir() else "no such directory"
        raise StudyError("holds no study", where=str(folder), hint=hint)
    try:
        manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
        units = {tuple(key.split(" | ", 1)): unit["directory"] for key, unit in manifest["units"].items()}
        order = [(probe, model) for model in manifest["asked"]["study"]["models"] for probe in _probes(units)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StudyError(f"is not the record of a study ({error!r})", where=str(path)) from error
    outcome = Outcome([manifest], notes=list(manifest.get("notes", ())))
    for key in order:
        if key in units:
            outcome.results[key] = Result.load(folder / units[key])
    if not outcome.results:
        raise StudyError("no model is finished yet", where=str(folder), hint="go on with penchant run … --resume")
    for probe in _probes(units):
        table = folder / probe / "comparison.parquet"
        if table.exists():
            try:
                outcome.comparisons[probe] = pl.read_parquet(table)
            except (OSError, pl.exceptions.PolarsError) as error:
                raise StudyError(f"cannot be read ({error})", where=str(table)) from error
    return outcome


def _probes(units: dict[tuple[str, ...], str]) -> list[str]:
    return list(dict.fromkeys(key[0] for key in units))


def side_by_side(first: str | Path, second: str | Path) -> Outcome:
    """The results of two directories and the differences between their models, those of the first minus those of the
    second.

    Raises StudyError when no two models of a probe that both hold can be compared: they must have the same data,
    method, parameters and seed, and the error says in what they differ. Pairs of models that cannot be compared
    while others can, and probes that one directory lacks, are noted.
    """
    a, b = read_outcome(first), read_outcome(second)
    both = Outcome([*a.manifests, *b.manifests])
    ours, theirs = a.sections(), b.sections()
    shared = [probe for probe in ours if probe in theirs]
    if not shared:
        raise StudyError(
            f"{first} holds {', '.join(ours)} and {second} {', '.join(theirs)}: they have nothing in common to compare"
        )
    for probe in {**ours, **theirs}:
        if probe not in shared:
            both.notes.append(f"{probe} is only in {first if probe in ours else second} and is not shown")
    for probe in shared:
        tables = []
        reasons = []
        for left, right in product(ours[probe], theirs[probe]):
            pair = f"{left.signature['model']} and {right.signature['model']}"
            try:
                tables.append(_difference(left, right))
            except StudyError as error:
                reasons.append(f"{probe}, {pair}: {error}")
        if not tables:
            raise StudyError(reasons[0], where=f"{first} and {second}")
        both.notes += reasons
        both.comparisons[probe] = pl.concat(tables)
        for result in (*ours[probe], *theirs[probe]):
            both.results.setdefault((probe, result.signature["model"]), result)
    return both


def _difference(a: Result, b: Result) -> pl.DataFrame:
    if a.signature["model"] == b.signature["model"]:
        raise StudyError("these results cannot be compared: both are of the same model")
    if a.signature["probe"] == b.signature["probe"]:  # else `compare` says so
        require_comparable(a, b, free=FREE, items=[])
    return compare(a, b)
