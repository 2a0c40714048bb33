"""Verification of a result directory against its manifest, and of its data and models against their hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from penchant.errors import PenchantError, StudyError
from penchant.files import sha256_file
from penchant.models.file_hashes import Digests
from penchant.models.load import fingerprint
from penchant.models.model_identity import pinned
from penchant.models.score_table import SCORES, names_scores
from penchant.plurals import counted
from penchant.study.changes_since_start import edited
from penchant.study.inputs_from_corpus import TRAINED
from penchant.study.manifest import FILE, Manifest, read_manifest
from penchant.text_io import exists, is_file

_KINDS = ("result files", "data files", "models")


@dataclass(slots=True)
class Verified:
    """Numbers of unchanged files and models by kind, and the names of files and models not on this machine."""

    same: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_KINDS, 0))
    absent: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        found = [counted(n, kind) for kind, n in self.same.items() if n]
        absent = f"; not on this machine, so not checked: {', '.join(self.absent)}" if self.absent else ""
        return f"unchanged: {', '.join(found)}{absent}"


def verify(directory: str | Path) -> Verified:
    """Verify a result directory, and its data and models on this machine, against the hashes in its manifest.

    Every file is hashed again. Raises StudyError naming all files and models that changed.
    """
    folder, found = Path(directory), Verified()
    if not is_file(folder / FILE):
        raise StudyError("contains no study", where=str(folder), hint="give a directory that penchant run wrote")
    manifest = read_manifest(folder / FILE)
    others: list[str] = []
    for kind, name, same in (*_results(manifest, folder), *_data(manifest, folder), *_models(manifest, folder)):
        if same is None:
            found.absent.append(name)
        elif same:
            found.same[kind] += 1
        else:
            others.append(name)
    if others:
        raise StudyError(f"changed since the study was run: {', '.join(others)}", where=str(folder))
    return found


_Looked = Iterator[tuple[str, str, bool | None]]
"""Kind and name of a file or model, and whether it is unchanged (None if it is not on this machine)."""


def _results(manifest: Manifest, folder: Path) -> _Looked:
    files = {
        f"{unit.directory}/{name}": digest for unit in manifest.every_unit() for name, digest in unit.files.items()
    }
    files |= {name: record.sha256 for name, record in manifest.prepared.items()} | manifest.tables
    wrong = set(edited(files, folder))
    for name in files:
        yield _KINDS[0], name, folder / name not in wrong


def _data(manifest: Manifest, folder: Path) -> _Looked:
    records = [*manifest.data, *(record for aside in manifest.set_aside for record in aside.data)]
    inside = {str(folder / name) for name in manifest.prepared}
    for path, digest in {record.path: record.sha256 for record in records}.items():
        if path not in inside:
            yield _KINDS[1], path, sha256_file(path) == digest if exists(path) else None
    for name in dict.fromkeys(text.name for record in manifest.prepared.values() for text in record.texts):
        yield _KINDS[1], name, None  # only its name was kept


def _models(manifest: Manifest, folder: Path) -> _Looked:
    for spec, before in {unit.spec: unit.model.fingerprint for unit in manifest.every_unit()}.items():
        if spec.startswith(TRAINED):  # its vectors are among the tables
            continue
        parts, text = pinned(spec, before)
        if names_scores(spec) and exists(inside := folder / spec.removeprefix(SCORES)):  # a table given in Python
            parts = [f"{SCORES}{inside}"]
        here = all(exists(part.removeprefix(SCORES)) for part in parts)
        local = here or all(part.startswith("bundled:") or part in before or exists(part) for part in parts)
        place = f"{'+'.join(parts)}{text}"
        try:
            yield _KINDS[2], spec, fingerprint(place, Digests(None)) == before if local else None
        except PenchantError:
            yield _KINDS[2], spec, False if here else None
