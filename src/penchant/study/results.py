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
from penchant.study.spec import PROBES

FREE = {"model", "bos", "dtype", "case"}
"""What may differ between two models' results that are set side by side: the models themselves."""


def read_outcome(directory: str | Path) -> Outcome:
    """What `run_study` wrote into a directory, finished or not. Raises StudyError when it holds no study."""
    folder = Path(directory)
    path = folder / "manifest.json"
    if not path.is_file():
        hint = "penchant run STUDY.yaml -o DIR makes one" if folder.is_dir() else "name a result directory"
        what = "holds no study" if folder.is_dir() else "is a file" if folder.exists() else "no such directory"
        raise StudyError(what, where=str(folder), hint=hint)
    try:
        manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
        units = {tuple(key.split(" | ", 1)): unit["directory"] for key, unit in manifest["units"].items()}
        order = [(probe, model) for model in manifest["asked"]["study"]["models"] for probe in _probes(units)]
        _require(manifest)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StudyError(f"is not the record of a study ({error!r})", where=str(path)) from error
    outcome = Outcome([manifest], notes=list(manifest.get("notes", ())))
    for key in order:
        if key in units:
            outcome.results[key] = _sound(Result.load(folder / units[key]), folder / units[key])
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


_COLUMNS = {"measure", "value", "low", "high", "level", "n", "how", "p", "p_holm", "test", "note", "signature"}


def _require(manifest: dict[str, Any]) -> None:
    """Raise KeyError or the like unless a manifest has what a report tells of it."""
    manifest["penchant"], manifest["status"], manifest["asked"]["probes"], manifest["asked"]["study"]["study"]
    for part in ("software", "hardware", "data"):
        manifest[part].items()
    manifest["attempts"][0]["started"], manifest["attempts"][-1]["finished"]
    for unit in manifest["units"].values():
        unit["seconds"], unit["counts"]["forward"], unit["counts"]["cached"]
        for key in ("name", "kind", "dtype", "device", "fingerprint"):
            unit["model"][key]


def _sound(result: Result, folder: Path) -> Result:
    """The same. Raises StudyError for a result that this version cannot show."""
    probe = result.signature.get("probe", "none")
    if probe not in PROBES:
        raise StudyError(f"is of a probe this version does not know: {probe}", where=str(folder))
    lacking = sorted(_COLUMNS - set(result.summary.columns)) or sorted({"id"} - set(result.items.columns))
    lacking += [key for key in ("model", "level", "resamples", "seed") if key not in result.signature]
    if lacking:
        raise StudyError(
            f"lacks {', '.join(lacking)}", where=str(folder), hint="run the study again with this version of penchant"
        )
    return result


def _probes(units: dict[tuple[str, ...], str]) -> list[str]:
    return list(dict.fromkeys(key[0] for key in units))


def side_by_side(first: str | Path, second: str | Path) -> Outcome:
    """The results of two directories and the differences between their models, those of the first minus those of the
    second.

    Raises StudyError when no two models of a probe that both hold can be compared: they must have the same data,
    method, parameters and seed, and the error says in what they differ. Pairs of models that cannot be compared
    while others can, probes that one directory lacks, and models that both hold (the first one's result is shown) are
    noted. Within one study models scored by different methods are compared by accuracy too, because it was asked for;
    here a difference of method is taken for a mistake.
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
            key = probe, result.signature["model"]
            if key in both.results:
                both.notes.append(f"{probe}: {key[1]} is in both directories; the result in {first} is shown")
            both.results.setdefault(key, result)
    return both


def _difference(a: Result, b: Result) -> pl.DataFrame:
    if a.signature["model"] == b.signature["model"]:
        raise StudyError("these results cannot be compared: both are of the same model")
    if a.signature["probe"] == b.signature["probe"]:  # else `compare` says so
        require_comparable(a, b, free=FREE, items=[])
    return compare(a, b)
