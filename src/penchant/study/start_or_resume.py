"""Start or continuation of a study in a directory: the lock, the manifest, and archived or restored models."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penchant.errors import StudyError
from penchant.files import holding, occupied
from penchant.instruments.base_probe import Probe
from penchant.study.changes_since_start import Change, asked_otherwise, difference
from penchant.study.inputs_from_corpus import trained_files
from penchant.study.manifest import FILE, TABLES, AskedRecord, Manifest, now, read_manifest
from penchant.study.manifest_records import AsideRecord, AttemptRecord
from penchant.study.study_file import Study

FREE = ("question", "names", "models", "families")
"""Keys of a study that affect no model's results, only their presentation or the choice of models."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a directory so that no other process runs a study in it.

    Raises StudyError if another process has locked the directory, or if the path is not a directory.
    """
    new = not occupied(folder)
    if not new and not folder.is_dir():
        raise _not_empty(folder)
    with suppress(OSError):  # reported when the first file is written
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with holding(folder):
            yield
    except BlockingIOError as error:
        raise StudyError(
            "another process is running a study here", where=str(folder), hint="wait until it ends"
        ) from error
    finally:
        if new:
            with suppress(OSError):  # not empty if anything was written
                folder.rmdir()


def hub_commits(folder: Path) -> dict[str, str]:
    """Return the commit of each hub data set that the study in a directory used, by OWNER/NAME@REVISION.

    Raises StudyError if the manifest is invalid.
    """
    path = folder / FILE
    return dict(read_manifest(path).hub) if path.exists() else {}


@dataclass(frozen=True, slots=True)
class Begun:
    """A study that was started or is continued.

    `manifest` is new, or is the manifest of the continued study; `otherwise` lists the changes in parameters, which
    only a rerun allows; `other_models` is true if the list of models changed; `taken_up` lists the records of models
    restored from the archive.
    """

    manifest: Manifest
    otherwise: Sequence[Change] = ()
    other_models: bool = False
    taken_up: Sequence[AsideRecord] = ()


def begun(
    folder: Path, study: Study, probes: Sequence[Probe[Any]], places: Sequence[str], *, resume: bool, rerun: bool
) -> Begun:
    """Start or continue a study in a directory.

    `places` are the directories of the probes. Raises StudyError if the directory `folder` contains another study or
    other files. A study that failed before its first result may be replaced by another study.
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
            hint = "continue with --resume, or give another directory"
            raise StudyError("already contains a study", where=str(folder), hint=hint)
        return Begun(Manifest.new(asked))
    manifest = read_manifest(path)
    before, after = _measured(manifest.asked), _measured(asked)
    otherwise = _otherwise(before, after, places)
    if before != after and not (rerun and otherwise):
        if not manifest.units and not manifest.set_aside:
            return Begun(Manifest.new(asked))
        again = "repeat the affected measurements with --rerun, " if otherwise else ""
        raise StudyError(
            f"contains a different study ({_difference(before, after)})",
            where=str(folder),
            hint=f"{again}give another directory, or run the study with its original settings",
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
    """Move the units of all models except `models` into a manifest's archive, with the records of their data.

    Nothing changes on disk. `trained` has the vector files of trained models, by model.
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
    """Restore the archived results of `models`; return the records of these models, not yet checked for changes."""
    taken = [record for record in manifest.set_aside if record.spec in models]
    manifest.set_aside = [record for record in manifest.set_aside if record.spec not in models]
    for record in taken:
        manifest.units += record.units
        manifest.skipped += record.skipped
    return taken


def _measured(asked: AskedRecord) -> AskedRecord:
    """Return a copy of a study's record without the keys that may change when the study is continued."""
    kept = {key: value for key, value in asked.study.items() if key not in FREE}
    return asked.model_copy(update={"study": kept})


def _otherwise(before: AskedRecord, after: AskedRecord, places: Sequence[str]) -> list[Change]:
    """Return the changes in the probes' parameters, or an empty list if anything else in the study changed."""
    rest = [{key: value for key, value in asked.study.items() if key != "probes"} for asked in (before, after)]
    if rest[0] != rest[1] or _names(before) != _names(after):
        return []
    return asked_otherwise(places, before.probes, after.probes)


def _difference(before: AskedRecord, after: AskedRecord) -> str:
    """Describe the first setting in which two studies differ, with both values; probe settings come first."""
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
    return StudyError("is not an empty directory", where=str(folder), hint="give another directory")


def _has_results(path: Path) -> bool:
    try:
        manifest = read_manifest(path)
        return bool(manifest.units or manifest.set_aside)
    except StudyError:  # something is there, though it cannot be read
        return True
