"""How a study begins: its directory held against other processes, and the manifest to fill or to go on with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from penchant.errors import StudyError, shortened
from penchant.files import holding, occupied
from penchant.instruments.base import Probe
from penchant.study.changes import Change
from penchant.study.manifest import FILE, AskedRecord, Manifest, now, read_manifest
from penchant.study.manifest_records import AttemptRecord
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


def begun(
    folder: Path, study: Study, probes: Probes, places: Sequence[str], *, resume: bool, rerun: bool
) -> tuple[Manifest, list[Change]]:
    """A new manifest, or the one to go on with, and which probes are now asked otherwise, which only `rerun` allows.
    Raises StudyError when the directory holds anything else.

    A study that failed before its first result does not occupy its directory.
    """
    path = folder / FILE
    asked = AskedRecord(
        study=study.model_dump(mode="json"), probes=[{probe.name: probe.model_dump(mode="json")} for probe in probes]
    )
    if not path.exists():
        if folder.exists() and any(folder.iterdir()):
            raise _not_empty(folder)
        return Manifest.new(asked), []
    if not resume:
        if _has_results(path):
            hint = "go on with --resume, or name another directory"
            raise StudyError("already holds a study", where=str(folder), hint=hint)
        return Manifest.new(asked), []
    manifest = read_manifest(path)
    before = _measured(_completed(manifest.asked, study, probes))
    otherwise = _otherwise(before, _measured(asked), places)
    if before != _measured(asked) and not (rerun and otherwise):
        if not manifest.units:
            return Manifest.new(asked), []
        again = "measure it again with --rerun, " if otherwise else ""
        raise StudyError(
            f"holds a different study ({_difference(before.model_dump(), _measured(asked).model_dump())})",
            where=str(folder),
            hint=f"{again}name another directory, or run it as it was begun",
        )
    manifest.asked = asked
    manifest.attempts.append(AttemptRecord(started=now()))
    manifest.status = "running"
    return manifest, otherwise


def _otherwise(before: AskedRecord, now: AskedRecord, places: Sequence[str]) -> list[Change]:
    """The probes that are asked otherwise, in a study that is the same in everything else; none where it is not."""
    rest = [{key: value for key, value in asked.study.items() if key != "probes"} for asked in (before, now)]
    if rest[0] != rest[1] or [list(entry) for entry in before.probes] != [list(entry) for entry in now.probes]:
        return []
    return [
        Change(f"{place} is asked otherwise: {_difference_of(ours[name], theirs[name])}", places=[place])
        for place, ours, theirs in zip(places, before.probes, now.probes, strict=True)
        for name in ours
        if ours != theirs
    ]


PRINTED = ("question", "names")
"""Keys of a study that change no number, only what is printed with them."""


def _measured(asked: AskedRecord) -> AskedRecord:
    """What a study asked, without what only concerns print."""
    kept = {key: value for key, value in asked.study.items() if key not in PRINTED}
    return asked.model_copy(update={"study": kept})


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The first setting that two studies differ in, with its values: those of probes, else those of the study."""
    if [list(entry) for entry in before["probes"]] != [list(entry) for entry in now["probes"]]:
        return "with other probes"
    pairs = [(a[name], b[name]) for a, b in zip(before["probes"], now["probes"], strict=True) for name in a]
    for ours, theirs in (*pairs, (before["study"], now["study"])):
        if found := _difference_of(ours, theirs):
            return found
    return "with settings written otherwise"


def _difference_of(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """The first key whose value differs, with both values."""
    for key in {**ours, **theirs}:
        if key != "probes" and ours.get(key) != theirs.get(key):
            return f"its {key} was {_shown(ours.get(key))} and is now {_shown(theirs.get(key))}"
    return ""


def _shown(value: object) -> str:
    return "not set" if value is None else shortened(value)


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
        return bool(read_manifest(path).units)
    except StudyError:
        return True
