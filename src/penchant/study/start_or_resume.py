"""A study begun or continued in a directory: the lock on it, its manifest, and the models archived or restored."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penchant.errors import StudyError
from penchant.files import holding, occupied
from penchant.instruments.base import Probe
from penchant.study.changes_since_start import Change, asked_otherwise, difference
from penchant.study.manifest import FILE, TABLES, AskedRecord, Manifest, now, read_manifest
from penchant.study.manifest_records import AsideRecord, AttemptRecord
from penchant.study.study_file import Study
from penchant.study.text_preparation import trained_files

FREE = ("question", "names", "models", "families")
"""Keys of a study that change no number of a model, only what is printed with it or which models are measured."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes from running a study in the same directory. Raises StudyError."""
    new = not occupied(folder)
    if not new and not folder.is_dir():
        raise _not_empty(folder)
    with suppress(OSError):  # reported when the first file is written
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with holding(folder):
            yield
    except BlockingIOError as error:
        raise StudyError("another process is running a study here", where=str(folder), hint="wait for it") from error
    finally:
        if new:
            with suppress(OSError):  # not empty if anything was written
                folder.rmdir()


def hub_commits(folder: Path) -> dict[str, str]:
    """Return the commits of the data sets on the hub that a study in a directory read. Raises StudyError."""
    path = folder / FILE
    return dict(read_manifest(path).hub) if path.exists() else {}


@dataclass(frozen=True, slots=True)
class Begun:
    """A study that was started, or is continued.

    `manifest` is a new one, or the one to go on with; `otherwise` are the changes of parameters, which only a rerun
    allows; `other_models` is true if the models changed; `taken_up` are the models restored from the archive.
    """

    manifest: Manifest
    otherwise: Sequence[Change] = ()
    other_models: bool = False
    taken_up: Sequence[AsideRecord] = ()


def begun(
    folder: Path, study: Study, probes: Sequence[Probe[Any]], places: Sequence[str], *, resume: bool, rerun: bool
) -> Begun:
    """Start a study in a directory, or go on with it. Raises StudyError if the directory holds anything else.

    A study that failed before its first result does not occupy its directory.
    """
    path = folder / FILE
    asked = AskedRecord(
        study=study.model_dump(mode="json"), probes=[{probe.name: probe.model_dump(mode="json")} for probe in probes]
    )
    if not path.exists():
        if folder.exists() and any(each.name != TABLES for each in folder.iterdir()):
            raise _not_empty(folder)
        return Begun(Manifest.new(asked))
    if not resume:
        if _has_results(path):
            hint = "go on with --resume, or name another directory"
            raise StudyError("already holds a study", where=str(folder), hint=hint)
        return Begun(Manifest.new(asked))
    manifest = read_manifest(path)
    before, after = _measured(manifest.asked), _measured(asked)
    otherwise = _otherwise(before, after, places)
    if before != after and not (rerun and otherwise):
        if not manifest.units and not manifest.set_aside:
            return Begun(Manifest.new(asked))
        again = "measure it again with --rerun, " if otherwise else ""
        raise StudyError(
            f"holds a different study ({_difference(before, after)})",
            where=str(folder),
            hint=f"{again}name another directory, or run the study with its first settings",
        )
    other_models = manifest.asked.models != asked.models
    if other_models:
        manifest.notes = []
    archive(manifest, asked.models, trained_files(study.vectors, Path()))
    restored = restore(manifest, asked.models)
    manifest.asked = asked
    manifest.attempts.append(AttemptRecord(started=now()))
    manifest.status = "running"
    return Begun(manifest, otherwise, other_models, restored)


def archive(manifest: Manifest, models: Collection[str], trained: Mapping[str, Path]) -> None:
    """Move the units of all models but the named ones into a manifest's archive, with the records of their data.

    Nothing on the disk changes. `trained` are the files of trained vectors by model.
    """
    gone = dict.fromkeys(unit.spec for unit in manifest.units if unit.spec not in models)
    for spec in gone:
        units = [unit for unit in manifest.units if unit.spec == spec]
        places = {unit.probe for unit in units}
        others = {path.as_posix() for name, path in trained.items() if name != spec}
        manifest.set_aside.append(
            AsideRecord(
                spec=spec,
                units=units,
                skipped=[skip for skip in manifest.skipped if skip.spec == spec],
                data=[record for record in manifest.data if record.probe in places],
                prepared={name: record for name, record in manifest.prepared.items() if name not in others},
                probes=list(manifest.asked.probes),
            )
        )
    manifest.units = [unit for unit in manifest.units if unit.spec not in gone]
    manifest.skipped = [skip for skip in manifest.skipped if skip.spec in models]


def restore(manifest: Manifest, models: Collection[str]) -> list[AsideRecord]:
    """Restore the archived results of some models; return their records, which are still to be checked."""
    taken = [record for record in manifest.set_aside if record.spec in models]
    manifest.set_aside = [record for record in manifest.set_aside if record.spec not in models]
    for record in taken:
        manifest.units += record.units
        manifest.skipped += record.skipped
    return taken


def _measured(asked: AskedRecord) -> AskedRecord:
    """Return a copy of a study's record without the keys that may change while it goes on."""
    kept = {key: value for key, value in asked.study.items() if key not in FREE}
    return asked.model_copy(update={"study": kept})


def _otherwise(before: AskedRecord, after: AskedRecord, places: Sequence[str]) -> list[Change]:
    """Return the changes of the probes' parameters; none if anything else of the study changed."""
    rest = [{key: value for key, value in asked.study.items() if key != "probes"} for asked in (before, after)]
    if rest[0] != rest[1] or _names(before) != _names(after):
        return []
    return asked_otherwise(places, before.probes, after.probes)


def _difference(before: AskedRecord, after: AskedRecord) -> str:
    """Describe the first setting in which two studies differ, with its values; those of probes come first."""
    if _names(before) != _names(after):
        return "with other probes"
    pairs = [(a[name], b[name]) for a, b in zip(before.probes, after.probes, strict=True) for name in a]
    for ours, theirs in (*pairs, (before.study, after.study)):
        if found := difference(ours, theirs):
            return found
    return "with settings in another form"


def _names(asked: AskedRecord) -> list[list[str]]:
    return [list(entry) for entry in asked.probes]


def _not_empty(folder: Path) -> StudyError:
    return StudyError("is not an empty directory", where=str(folder), hint="name another directory")


def _has_results(path: Path) -> bool:
    try:
        manifest = read_manifest(path)
        return bool(manifest.units or manifest.set_aside)
    except StudyError:  # something is there, though it cannot be read
        return True
