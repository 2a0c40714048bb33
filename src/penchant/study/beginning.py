"""How a study begins: its directory held against other processes, and the manifest to fill or to go on with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from penchant.errors import StudyError
from penchant.files import holding, occupied
from penchant.instruments.base import Probe
from penchant.study.aside import set_aside, take_up
from penchant.study.changes import Change, asked_otherwise, difference
from penchant.study.manifest import FILE, AskedRecord, Manifest, read_manifest
from penchant.study.manifest import now as timestamp
from penchant.study.manifest_records import AsideRecord, AttemptRecord
from penchant.study.preparation import trained_files
from penchant.study.spec import Study

Probes = Sequence[Probe[Any]]


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes from running a study in the same directory at the same time; one that was killed leaves
    nothing that does. Raises StudyError."""
    new = not occupied(folder)
    if not new and not folder.is_dir():
        raise _not_empty(folder)
    with suppress(OSError):  # what cannot be written is told where it is written
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with holding(folder):
            yield
    except BlockingIOError as error:
        raise StudyError("another process is running a study here", where=str(folder), hint="wait for it") from error
    finally:
        if new:
            with suppress(OSError):  # it stays where anything was written
                folder.rmdir()


def hub_commits(folder: Path) -> dict[str, str]:
    """The commits of the data sets on the hub that a study in a directory read; none where there is no study. Raises
    StudyError for a manifest that cannot be read."""
    path = folder / FILE
    return dict(read_manifest(path).hub) if path.exists() else {}


@dataclass(frozen=True, slots=True)
class Begun:
    """A new manifest, or the one to go on with; the probes that are now asked `otherwise`, which only a rerun allows;
    whether it goes on with `other_models`, and which of them were set aside and are `taken_up` again."""

    manifest: Manifest
    otherwise: Sequence[Change] = ()
    other_models: bool = False
    taken_up: Sequence[AsideRecord] = ()


def begun(folder: Path, study: Study, probes: Probes, places: Sequence[str], *, resume: bool, rerun: bool) -> Begun:
    """How a study begins or goes on in a directory. Raises StudyError when that holds anything else.

    A study that failed before its first result does not occupy its directory.
    """
    path = folder / FILE
    asked = AskedRecord(
        study=study.model_dump(mode="json"), probes=[{probe.name: probe.model_dump(mode="json")} for probe in probes]
    )
    if not path.exists():
        if folder.exists() and any(folder.iterdir()):
            raise _not_empty(folder)
        return Begun(Manifest.new(asked))
    if not resume:
        if _has_results(path):
            hint = "go on with --resume, or name another directory"
            raise StudyError("already holds a study", where=str(folder), hint=hint)
        return Begun(Manifest.new(asked))
    manifest = read_manifest(path)
    completed = _completed(manifest.asked, study, probes)
    before, now = _measured(completed), _measured(asked)
    otherwise = _otherwise(before, now, places)
    if before != now and not (rerun and otherwise):
        if not manifest.units and not manifest.set_aside:
            return Begun(Manifest.new(asked))
        again = "measure it again with --rerun, " if otherwise else ""
        raise StudyError(
            f"holds a different study ({_difference(before.model_dump(), now.model_dump())})",
            where=str(folder),
            hint=f"{again}name another directory, or run it as it was begun",
        )
    return _gone_on(manifest, completed, asked, otherwise, study, probes)


def _gone_on(
    manifest: Manifest,
    before: AskedRecord,
    asked: AskedRecord,
    otherwise: Sequence[Change],
    study: Study,
    probes: Probes,
) -> Begun:
    """The manifest with a new attempt, and with the models that are asked for now."""
    other_models = manifest.asked.models != asked.models
    if other_models:
        manifest.notes = []
    set_aside(manifest, before.probes, asked.models, trained_files(study.vectors, Path()))
    taken = [
        record.model_copy(
            update={"probes": _completed(AskedRecord(study=asked.study, probes=record.probes), study, probes).probes}
        )
        for record in take_up(manifest, asked.models)
    ]
    manifest.asked = asked
    manifest.attempts.append(AttemptRecord(started=timestamp()))
    manifest.status = "running"
    return Begun(manifest, otherwise, other_models, taken)


def _otherwise(before: AskedRecord, now: AskedRecord, places: Sequence[str]) -> list[Change]:
    """The probes that are asked otherwise, in a study that is the same in everything else; none where it is not."""
    rest = [{key: value for key, value in asked.study.items() if key != "probes"} for asked in (before, now)]
    if rest[0] != rest[1] or [list(entry) for entry in before.probes] != [list(entry) for entry in now.probes]:
        return []
    return asked_otherwise(places, before.probes, now.probes)


FREE = ("question", "names", "models", "families")
"""Keys of a study that change no number of a model: what is printed with them, and which other models there are."""


def _measured(asked: AskedRecord) -> AskedRecord:
    """What a study asked of each model, without what may change while it goes on."""
    kept = {key: value for key, value in asked.study.items() if key not in FREE}
    return asked.model_copy(update={"study": kept})


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The first setting that two studies differ in, with its values: those of probes, else those of the study."""
    if [list(entry) for entry in before["probes"]] != [list(entry) for entry in now["probes"]]:
        return "with other probes"
    pairs = [(a[name], b[name]) for a, b in zip(before["probes"], now["probes"], strict=True) for name in a]
    for ours, theirs in (*pairs, (before["study"], now["study"])):
        if found := difference(ours, theirs):
            return found
    return "with settings written otherwise"


def _not_empty(folder: Path) -> StudyError:
    return StudyError("is not an empty directory", where=str(folder), hint="name another directory")


def _completed(asked: AskedRecord, study: Study, probes: Probes) -> AskedRecord:
    """What an earlier version was asked, with the defaults of settings that it did not have."""

    def defaults(model: BaseModel) -> dict[str, Any]:
        return type(model).model_construct().model_dump(mode="json", warnings=False)

    if [list(entry) for entry in asked.probes] != [[probe.name] for probe in probes]:
        return asked
    return AskedRecord(
        study={**defaults(study), **asked.study},
        probes=[
            {probe.name: {**defaults(probe), **entry[probe.name]}}
            for probe, entry in zip(probes, asked.probes, strict=True)
        ],
    )


def _has_results(path: Path) -> bool:
    """Whether there is a study with results, or one that cannot be read."""
    try:
        manifest = read_manifest(path)
        return bool(manifest.units or manifest.set_aside)
    except StudyError:
        return True
