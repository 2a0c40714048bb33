"""Changes in the data, text, models or results of a study since the study was started."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from penchant._version import __version__
from penchant.corpus.text_files import TextFile
from penchant.errors import DataError, StudyError, shortened
from penchant.files import sha256_file
from penchant.hub.data_sets import address
from penchant.instruments.base_probe import Probe
from penchant.records import SETTINGS
from penchant.study.inputs_from_corpus import changed_text
from penchant.study.manifest import Manifest
from penchant.study.manifest_records import AsideRecord, DataRecord, PreparedRecord, UnitRecord

Settings: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Mapping from the name of one probe to its parameters."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change since the start of a study, and the finished units (pairs of probe and model) that it makes outdated.

    `what` describes the change. The outdated units are those of the probe directories `places`, those of the models
    `specs`, and the single `unit`; if `of` is given, they are limited to the models in `of`.
    """

    what: str
    places: Collection[str] = ()
    specs: Collection[str] = ()
    unit: UnitRecord | None = None
    of: Collection[str] | None = None

    def touches(self, unit: UnitRecord) -> bool:
        """Return whether the change makes a finished unit outdated."""
        found = unit is self.unit or unit.probe in self.places or unit.spec in self.specs
        return found and (self.of is None or unit.spec in self.of)


@dataclass(frozen=True, slots=True)
class Now:
    """The current inputs of a study.

    `places` are the probe directories, `data` the records of their data files, and `texts` the study's text files;
    `drawn` are the probe directories and models that depend on these texts. `fingerprint` returns the fingerprint of a
    model, given its name in the study, or "" if the model cannot be read.
    """

    places: Sequence[str]
    data: Sequence[DataRecord]
    texts: Sequence[TextFile]
    drawn: Collection[str]
    fingerprint: Callable[[str], str]


def data_records(probes: Iterable[tuple[str, Probe[Any]]], base: Sequence[Path]) -> list[DataRecord]:
    """Return a record of every data file of each (probe directory, probe) pair, in the order of the pairs.

    Files are looked up in the directories `base`, and hashed once. Raises DataError if a file cannot be read.
    """
    known: dict[Path, str] = {}
    records = []
    for place, probe in probes:
        for file in probe.files(base):
            if file not in known:
                known[file] = sha256_file(file)
            records.append(DataRecord(probe=place, path=address(file) or str(file), sha256=known[file]))
    return records


def changes(
    manifest: Manifest,
    now: Now,
    folder: Path,
    otherwise: Sequence[Change] = (),
    taken_up: Sequence[AsideRecord] = (),
) -> list[Change]:
    """Return all changes in parameters, data, texts, models and results since the manifest was written.

    `otherwise` lists the changes in parameters. `taken_up` lists the records of restored models, which were measured at
    another time; their inputs are compared with these records.
    """
    data, texts = list(_data(manifest.data, now.data)), list(_texts(manifest.prepared, now, folder))
    if taken_up:
        others = {unit.spec for unit in manifest.units} - {record.spec for record in taken_up}
        otherwise, data, texts = ([replace(change, of=others) for change in part] for part in (otherwise, data, texts))
        data = [change for change in data if any(map(change.touches, manifest.units))]
    again = {place for change in otherwise for place in change.places}
    shared = [*otherwise, *(change for change in (*data, *texts) if not again.issuperset(change.places or [""]))]
    return [
        *shared,
        *_since(manifest, now, folder, taken_up),
        *_models(manifest.units, now.fingerprint),
        *_results(manifest.units, folder),
    ]


def _since(manifest: Manifest, now: Now, folder: Path, taken_up: Sequence[AsideRecord]) -> Iterator[Change]:
    """Yield the changes that affect the results of the restored models `taken_up`, since each was measured."""
    for record in taken_up:
        for change in (
            *asked_otherwise(now.places, record.probes, manifest.asked.probes),
            *_data(record.data, now.data),
            *_texts(record.prepared, now, folder),
        ):
            if any(change.touches(unit) for unit in record.units):
                yield replace(change, of={record.spec})


def asked_otherwise(places: Sequence[str], before: Sequence[Settings], now: Sequence[Settings]) -> list[Change]:
    """Return a change for each probe directory whose parameters differ between `before` and `now`."""
    return [
        Change(f"the parameters of {place} changed ({difference(ours[name], theirs[name])})", places=[place])
        for place, ours, theirs in zip(places, before, now, strict=True)
        for name in ours
        if ours != theirs
    ]


def difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """Return a description of the first key other than `probes` with two different values, or "" if there is none."""
    for key in {**ours, **theirs}:
        if key != "probes" and ours.get(key) != theirs.get(key):
            return f"its {key} was {_shown(ours.get(key))} and is now {_shown(theirs.get(key))}"
    return ""


def _shown(value: object) -> str:
    return "not set" if value is None else shortened(value)


def refuse(found: Sequence[Change], folder: Path) -> None:
    """Raise StudyError, which describes the first change, if `found` contains any changes."""
    if found:
        first, *others = dict.fromkeys(change.what for change in found)
        more = f", and {len(others)} more" if others else ""
        raise StudyError(
            f"{first} since the study was started{more}",
            where=str(folder),
            hint="give another directory, or repeat the affected measurements with --rerun",
        )


def forget(manifest: Manifest, found: Sequence[Change], folder: Path) -> list[Path]:
    """Remove the units outdated by the changes `found` from the manifest; return the paths of outdated files.

    Outdated files are those of the removed units, and edited files that were prepared from the study's text.
    """
    stale: list[Path] = []
    for unit in list(manifest.units):
        if any(change.touches(unit) for change in found):
            manifest.units.remove(unit)
            stale += [folder / unit.directory / name for name in unit.files]
    specs = {spec for change in found for spec in change.specs if change.of is None or spec in change.of}
    manifest.skipped = [skip for skip in manifest.skipped if skip.spec not in specs]
    for name, record in manifest.prepared.items():
        if (folder / name).exists() and sha256_file(folder / name) != record.sha256:
            stale.append(folder / name)
    return stale


def edited(files: Mapping[str, str], folder: Path) -> Iterator[Path]:
    """Yield the paths of files in a folder that are missing or whose SHA-256 differs from their entry in `files`."""
    for name, digest in files.items():
        try:
            same = sha256_file(folder / name) == digest
        except DataError:
            same = False
        if not same:
            yield folder / name


def _data(before: Sequence[DataRecord], now: Sequence[DataRecord]) -> Iterator[Change]:
    for place in dict.fromkeys(record.probe for record in now):
        ours = [record for record in now if record.probe == place]
        theirs = [record for record in before if record.probe == place]
        if not theirs:
            continue  # a new study has no records yet
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
                f"the version of penchant that prepares {name} changed from {record.version} to {__version__}",
                now.drawn,
                now.drawn,
            )
        if wrong := changed_text([text.model_dump() for text in record.texts], now.texts):
            yield Change(f"{wrong}, from which {name} was made, changed", now.drawn, now.drawn)
        path = folder / name
        if path.exists() and sha256_file(path) != record.sha256:
            yield Change(f"{path} was edited", now.drawn, now.drawn)


def _models(units: Sequence[UnitRecord], fingerprint: Callable[[str], str]) -> Iterator[Change]:
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
        if SETTINGS not in unit.files and (unit.files or not (folder / unit.directory / SETTINGS).exists()):
            yield Change(f"the files of a result changed ({folder / unit.directory} has no {SETTINGS})", unit=unit)
