"""Reading of the results in one directory, or in two directories for comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import polars as pl

from penchant.engine.scoring_methods import METHODS
from penchant.errors import DataError, StudyError, shortened
from penchant.instruments.base_probe import require_comparable
from penchant.instruments.probe_field_types import written
from penchant.instruments.registry import compare, instruments, told_apart, unknown
from penchant.instruments.result import Result
from penchant.plurals import first_of
from penchant.records import SETTINGS, Estimate, with_nan
from penchant.study.changes_since_start import edited
from penchant.study.manifest import FILE, TRUST, Manifest, is_edited, read_manifest
from penchant.study.outcome import Outcome
from penchant.text_io import exists, is_directory, is_file, opened
from penchant.wording.phrases import has_words

COMPARISON = "comparison.parquet"
CURVE = "curve.parquet"
SIGNATURE = "signature.txt"
SAVED = "{} contains one result without a manifest: the machine used is unknown, and edits cannot be detected"
FREE = {"model", "bos", "dtype", "case"}
"""Signature fields that may differ between the results of two models that are compared side by side."""


def read_outcome(directory: str | Path, *, trust_edited: bool = False) -> Outcome:
    """Read the results of a study, finished or not, or a single result that `Result.save` wrote.

    Raises StudyError if the directory contains no study, or contains edited files and `trust_edited` is false. With
    `trust_edited`, edited files are read and are listed in the outcome.
    """
    folder = Path(directory)
    path = folder / FILE
    if not is_file(path) and is_file(folder / SIGNATURE):
        found = _one_unit(folder, trusted=trust_edited)
        result = _sound(Result.load(folder), folder, trusted=trust_edited)
        outcome = Outcome([], found or [], notes=[SAVED.format(folder)] if found is None else [])
        outcome.results[result.signature["probe"], result.signature["model"]] = result
        return outcome
    if not is_file(path):
        hint = "create one with penchant run STUDY.yaml -o DIR" if is_directory(folder) else "give a result directory"
        what = "contains no study" if is_directory(folder) else "is a file" if exists(folder) else "no such directory"
        raise StudyError(what, where=str(folder), hint=hint)
    manifest = read_manifest(path, trust_edited=trust_edited)
    outcome = Outcome([manifest], _edited(manifest, folder, trusted=trust_edited), notes=manifest.remarks())
    places = list(dict.fromkeys(unit.probe for unit in manifest.units))
    for spec in manifest.asked.models:
        for place in places:
            unit = manifest.unit(place, spec)
            if unit is not None:
                saved = folder / unit.directory
                outcome.results[place, spec] = _sound(Result.load(saved), saved, trusted=trust_edited)
    if not outcome.results:
        raise StudyError("no model is finished yet", where=str(folder), hint="continue with penchant run … --resume")
    for place in places:
        for name, tables in ((COMPARISON, outcome.comparisons), (CURVE, outcome.curves)):
            file = folder / place / name
            if file.exists() and f"{place}/{name}" in manifest.tables:
                tables[place] = _table(file)
    return outcome


def _table(file: Path) -> pl.DataFrame:
    try:
        with opened(file) as stream:
            table = with_nan(pl.read_parquet(stream))
    except (DataError, pl.exceptions.PolarsError) as error:
        raise StudyError(f"cannot be read ({error})", where=str(file)) from error
    _require_words(table, file)
    return table


def _study_of(directory: str | Path) -> Path | None:
    """Return the study directory to which a study, probe or result directory belongs, or None if there is none."""
    folder = Path(directory).absolute()
    return next((place for place in (folder, folder.parent, folder.parent.parent) if is_file(place / FILE)), None)


def _one_unit(folder: Path, *, trusted: bool) -> list[str] | None:
    """Return the edited files of the result in `folder`, or None if the result is not part of a study.

    Raises StudyError at the first edited or missing file unless `trusted`.
    """
    study = _study_of(folder)
    if study is None:
        return None
    manifest = read_manifest(study / FILE, trust_edited=trusted)
    units = [unit for unit in manifest.every_unit() if study / unit.directory == folder.absolute()]
    if not units:
        return None
    return _edited(manifest.model_copy(update={"units": units, "tables": {}}), study, trusted=trusted)


def _edited(manifest: Manifest, folder: Path, *, trusted: bool) -> list[str]:
    """Return the edited files of a study. Raises StudyError at the first edited or missing file unless `trusted`."""
    found = [file for unit in manifest.units for file in edited(unit.files, folder / unit.directory)]
    found += edited(manifest.tables, folder)
    if trusted:
        names = [str(file.relative_to(folder)) for file in found if file.exists()]
        return [FILE, *names] if is_edited(folder / FILE) else names
    for file in found:
        raise StudyError(
            "was edited or damaged after the study wrote it" if file.exists() else "is missing",
            where=str(file),
            hint=TRUST if file.exists() else "restore it, or run the study again in a new directory",
        )
    return []


def require_unedited(directory: str | Path) -> None:
    """Raise StudyError if results of the study to which a directory belongs were edited."""
    if (study := _study_of(directory)) is not None:
        _edited(read_manifest(study / FILE), study, trusted=False)


def unshown(directory: str | Path) -> frozenset[Path]:
    """Return the directories of a study's archived results, given the directory of the study or of one probe."""
    if (study := _study_of(directory)) is None:
        return frozenset()
    return frozenset(
        study / unit.directory for record in read_manifest(study / FILE).set_aside for unit in record.units
    )


_COLUMNS = {*Estimate("", 0, 0).row(), "signature"}


def _sound(result: Result, folder: Path, *, trusted: bool) -> Result:
    probe = result.signature.get("probe", "none")
    if probe not in instruments():
        raise StudyError(f"the probe of this result is not installed: {unknown(probe)}", where=str(folder))
    lacking = sorted(_COLUMNS - set(result.summary.columns)) or sorted({"id"} - set(result.items.columns))
    lacking += [key for key in ("model", "level", "resamples", "seed") if key not in result.signature]
    if lacking:
        raise StudyError(
            f"lacks columns or settings: {', '.join(lacking)}",
            where=str(folder),
            hint="run the study again with this version of penchant",
        )
    _require_words(result.summary, folder / "summary.parquet")
    _require_settings(result, folder, trusted=trusted)
    return result


def _require_words(table: pl.DataFrame, file: Path) -> None:
    for column in ("method", "test_method", "notes"):
        for text in table[column].unique() if column in table.columns else ():
            if not has_words(text, notes=column == "notes"):
                hint = "run the study again with this version of penchant"
                raise StudyError(f"column {column} has the unknown value {shortened(text)}", where=str(file), hint=hint)


def _require_settings(result: Result, folder: Path, *, trusted: bool) -> None:
    """Raise StudyError if a result has settings that its probe does not have.

    Unless `trusted`, also raise StudyError if the settings differ from those in the signature.
    """
    probe = instruments()[result.signature["probe"]].probe
    try:
        settings = probe.of(result.settings)
    except StudyError as error:
        where = f"{folder / SETTINGS}, {error.where.partition(', ')[2]}".removesuffix(", ")
        raise StudyError(error.message, where=where, hint=error.hint) from None
    for key in ("level", "resamples", "seed", "equivalence", "limit"):
        if not trusted and result.signature.get(key, written(settings, key)) != written(settings, key):
            message = f"has the {key} {written(settings, key)}, but the signature has {result.signature[key]}"
            raise StudyError(message, where=str(folder / SETTINGS), hint="measure again")


def side_by_side(first: str | Path, second: str | Path, *, trust_edited: bool = False) -> Outcome:
    """Return the results of two directories and the differences between their models, first minus second.

    Two models must have been measured with the same data, method, parameters and seed; otherwise, the error names what
    differs. A model that is in both directories is compared with itself, and the setting that differs, such as the
    method, is added to its name. If only some pairs of results can be compared, the others are listed in the notes, as
    are probes that are in one directory only. Raises StudyError if no two results of a shared probe can be compared.
    """
    a, b = read_outcome(first, trust_edited=trust_edited), read_outcome(second, trust_edited=trust_edited)
    both = Outcome([*a.manifests, *b.manifests], [*a.edited, *b.edited])
    for directory, outcome in ((first, a), (second, b)):
        both.notes += [f"{directory}: {remark}" for manifest in outcome.manifests for remark in manifest.not_shown()]
    ours, theirs = a.by_place(), b.by_place()
    shared = [place for place in ours if place in theirs]
    if not shared:
        raise StudyError(
            f"no probe is in both directories: {first} contains {', '.join(ours)}, and {second} contains "
            f"{', '.join(theirs)}"
        )
    for place in {**ours, **theirs}:
        if place not in shared:
            both.notes.append(f"{place} is only in {first if place in ours else second} and is not shown")
    for place in shared:
        tables, reasons = _differences(place, ours[place], theirs[place])
        if not tables:
            raise StudyError(reasons[0], where=f"{first} and {second}")
        both.notes += reasons
        both.comparisons[place] = pl.concat(tables)
        for result in (*ours[place], *theirs[place]):
            both.results.setdefault((place, result.signature["model"]), result)
    return both


def read_for_report(
    directory: str | Path, other: str | Path | None, out: str | Path | None, *, trust_edited: bool = False
) -> tuple[Outcome, Path]:
    """Return the results of one directory, or of two for comparison, and the path of the report page.

    The page is `report.html` in the directory, or `comparison.html` in the current directory if `other` is given,
    unless `out` gives another path. Raises StudyError if results cannot be read or compared.
    """
    if other is None:
        outcome, page = read_outcome(directory, trust_edited=trust_edited), Path(directory) / "report.html"
    else:
        outcome, page = side_by_side(directory, other, trust_edited=trust_edited), Path("comparison.html")
    return outcome, page if out is None else Path(out)


def _differences(place: str, ours: list[Result], theirs: list[Result]) -> tuple[list[pl.DataFrame], list[str]]:
    """Compare a probe's results in two directories pairwise; return tables of differences and reasons for failures.

    Two comparable results of the same model are replaced in `ours` and `theirs` by copies with distinct model names.
    """
    tables: dict[tuple[int, int], pl.DataFrame] = {}
    reasons: list[str] = []
    pairs = list(product(range(len(ours)), range(len(theirs))))
    of_one = [(i, j) for i, j in pairs if ours[i].signature["model"] == theirs[j].signature["model"]]
    for i, j in of_one:
        try:
            a, b = told_apart(ours[i], theirs[j])
            tables[i, j] = compare(a, b)
            ours[i], theirs[j] = a, b
        except StudyError as error:
            reasons.append(f"{place}, {ours[i].signature['model']}: {error}; only the first of the results is shown")
    unlike: dict[str, list[str]] = {}
    for i, j in pairs:
        if (i, j) in of_one:
            continue
        try:
            tables[i, j] = _between_models(ours[i], theirs[j])
        except StudyError as error:
            models = f"{ours[i].signature['model']} and {theirs[j].signature['model']}"
            unlike.setdefault(str(error), []).append(models)
    return [tables[pair] for pair in pairs if pair in tables], reasons + not_compared(place, unlike)


def not_compared(place: str, reasons: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for each reason why models are not compared, given the pairs of models by reason."""
    return [f"{place}, {first_of(pairs, 3, separator='; ')}: {reason}" for reason, pairs in reasons.items()]


def _between_models(a: Result, b: Result) -> pl.DataFrame:
    if a.signature["probe"] == b.signature["probe"]:  # else `compare` says so
        kinds = {METHODS[method].kind for each in (a, b) if (method := each.signature.get("method", "")) in METHODS}
        # No method fits a causal and a masked model; two of one kind could have had the same one.
        require_comparable(a, b, free=FREE | ({"method"} if len(kinds) > 1 else set()), items=[])
    return compare(a, b)
