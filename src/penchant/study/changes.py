"""What changed since a study was begun: data, text, models or results. Looked for before anything is overwritten."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penchant._version import __version__
from penchant.corpus.text_files import TextFile
from penchant.errors import DataError, StudyError
from penchant.files import sha256_file
from penchant.instruments.base import Probe
from penchant.study.manifest import Manifest
from penchant.study.manifest_records import DataRecord, PreparedRecord, UnitRecord

Fingerprint = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Change:
    """Something that is not as it was, and the finished units that rest on it: those of some probe directories or
    models, or one unit."""

    what: str
    places: Collection[str] = ()
    specs: Collection[str] = ()
    unit: UnitRecord | None = None

    def touches(self, unit: UnitRecord) -> bool:
        """Whether a finished unit is no longer what the study would measure."""
        return unit is self.unit or unit.probe in self.places or unit.spec in self.specs


@dataclass(frozen=True, slots=True)
class Now:
    """The study as it would be measured now. `drawn` are the probe directories and models that rest on the study's own
    text; `fingerprint` gives that of a model by its name in the study, "" for one that is not to be had."""

    data: Sequence[DataRecord]
    texts: Sequence[TextFile]
    drawn: Collection[str]
    fingerprint: Fingerprint


def data_records(probes: Iterable[tuple[str, Probe[Any]]], base: Sequence[Path]) -> list[DataRecord]:
    """Every file that each probe directory reads, in order, hashed once. Raises DataError."""
    known: dict[Path, str] = {}
    records = []
    for place, probe in probes:
        for file in probe.files(base):
            if file not in known:
                known[file] = sha256_file(file)
            records.append(DataRecord(probe=place, path=str(file), sha256=known[file]))
    return records


def changes(manifest: Manifest, now: Now, folder: Path) -> list[Change]:
    """All that changed since the manifest was written."""
    return [
        *_data(manifest.data, now.data),
        *_texts(manifest.prepared, now, folder),
        *_models(manifest.units, now.fingerprint),
        *_results(manifest.units, folder),
    ]


def refuse(found: Sequence[Change], folder: Path) -> None:
    """Raise StudyError if anything changed."""
    if found:
        more = f", and {len(found) - 1} more such changes" if len(found) > 1 else ""
        raise StudyError(
            f"{found[0].what} since the study was begun{more}",
            where=str(folder),
            hint="name a new -o, or measure what changed again with --rerun",
        )


def forget(manifest: Manifest, found: Sequence[Change], folder: Path) -> list[Path]:
    """Take the units that changed out of the manifest; return the files that held them and what they rest on."""
    stale: list[Path] = []
    for unit in list(manifest.units):
        if any(change.touches(unit) for change in found):
            manifest.units.remove(unit)
            stale += [folder / unit.directory / name for name in unit.files]
    specs = {spec for change in found for spec in change.specs}
    manifest.skipped = [skip for skip in manifest.skipped if skip.spec not in specs]
    for name, record in manifest.prepared.items():
        if (folder / name).exists() and sha256_file(folder / name) != record.sha256:
            stale.append(folder / name)
    return stale


def edited(files: Mapping[str, str], folder: Path) -> Iterator[Path]:
    """The files in a folder that are not as their SHA-256 says, or not there."""
    for name, digest in files.items():
        try:
            same = sha256_file(folder / name) == digest
        except DataError:
            same = False
        if not same:
            yield folder / name


def _data(before: Sequence[DataRecord], now: Sequence[DataRecord]) -> Iterator[Change]:
    by_path = {record.path: record.sha256 for record in before if not record.probe}  # as version 0.1 wrote it
    for place in dict.fromkeys(record.probe for record in now):
        ours = [record for record in now if record.probe == place]
        theirs = [record for record in before if record.probe == place]
        if not theirs:
            theirs = [DataRecord(probe=place, path=r.path, sha256=by_path.get(r.path, r.sha256)) for r in ours]
        known = {record.sha256 for record in theirs}
        changed = next((record.path for record in ours if record.sha256 not in known), None)
        if changed is None and [r.sha256 for r in ours] != [r.sha256 for r in theirs]:
            changed = ours[0].path if len(ours) == len(theirs) else f"the number of files that {place} reads"
        if changed is not None:
            yield Change(f"{changed} changed", places=[place])


def _texts(prepared: Mapping[str, PreparedRecord], now: Now, folder: Path) -> Iterator[Change]:
    for name, record in prepared.items():
        if record.version != __version__:
            yield Change(
                f"the penchant that made {name} changed from {record.version} to {__version__}", now.drawn, now.drawn
            )
        wrong = _other_text(record, now.texts)
        if wrong:
            yield Change(f"{wrong}, of which {name} was made, changed", now.drawn, now.drawn)
        path = folder / name
        if path.exists() and sha256_file(path) != record.sha256:
            yield Change(f"{path} was edited", now.drawn, now.drawn)


def _other_text(record: PreparedRecord, texts: Sequence[TextFile]) -> str:
    """The text that is not the one recorded; of URLs only the size is looked at."""
    if len(record.texts) != len(texts):
        return "the number of texts"
    for before, text in zip(record.texts, texts, strict=True):
        local = "://" not in text.place
        if (before.name, before.size) != (text.name, text.size) or (local and before.sha256 != sha256_file(text.place)):
            return text.name
    return ""


def _models(units: Sequence[UnitRecord], fingerprint: Fingerprint) -> Iterator[Change]:
    for spec, before in {unit.spec: unit.model.fingerprint for unit in units}.items():
        now = fingerprint(spec)
        if now not in ("", before):
            yield Change(f"the model {spec} changed ({_short(before)} is now {_short(now)})", specs=[spec])


def _short(fingerprint: str) -> str:
    name, at, digest = fingerprint.rpartition("@")
    return f"{name}{at}{digest[:12]}"


def _results(units: Sequence[UnitRecord], folder: Path) -> Iterator[Change]:
    for unit in units:
        for file in edited(unit.files, folder / unit.directory):
            yield Change(f"{file} {'was edited' if file.exists() else 'was removed'}", unit=unit)
