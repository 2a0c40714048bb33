"""Command that reruns a study after its predictions have been rated."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from penchant.errors import PenchantError
from penchant.study.manifest import FILE, AskedRecord, read_manifest
from penchant.study.study_file import Study, read_study, study_file
from penchant.tables.data_lookup import listed

ANY = "STUDY.yaml"
"""Placeholder for the name of a study file that was not found."""


@dataclass(frozen=True, slots=True)
class Next:
    """Command that reruns a study, and the study-file entry for a table of ratings ("" if the file already has it)."""

    words: list[str]
    entry: str = ""


def after_ratings(directory: Path, ratings: Path) -> Next | None:
    """Return the command that reruns a study with a table of ratings, or None if no study wrote `directory`.

    The study file is searched for in the directories that contain the ratings, the study's data or its result
    directory, and in the current directory. Options of the command repeat settings of the last run that differ from the
    file, such as models.
    """
    folder = next((place for place in (directory, directory.parent) if (place / FILE).exists()), None)
    if folder is None:
        return None
    manifest = read_manifest(folder / FILE)
    settings = (each for probe in manifest.asked.probes for each in probe.values())
    names = [name for each in settings for name in listed(each.get("ratings") or [])]
    places = [ratings.parent, *(Path(each.path).parent for each in manifest.data), folder.parent, Path()]
    found = next(filter(None, (_study(place, manifest.asked.name) for place in dict.fromkeys(places))), None)
    if found is None:
        named = ratings.name in {Path(name).name for name in names}
        entry = f"{ratings.name} (relative to that file) under cloze in the file of the study '{manifest.asked.name}'"
        file, options = ANY, []
    else:
        file, options = str(found[0]), _options(found[1], manifest.asked)
        named = any((found[0].parent / name).resolve() == ratings.resolve() for name in names)
        path = Path(os.path.relpath(ratings.resolve(), found[0].parent.resolve())).as_posix()
        entry = f"{path} under cloze in {file}"
    command = ["penchant", "run", file, "-o", str(folder), "--rerun", *options]
    return Next(command, "" if named else f"ratings: {entry}")


def _study(place: Path, name: str) -> tuple[Path, Study] | None:
    for file in sorted(place.iterdir()) if place.is_dir() else ():
        if file.suffix in (".yaml", ".yml"):
            with suppress(PenchantError):
                study, _ = read_study(study_file(file))
                if study.study == name:
                    return file, study
    return None


def _options(study: Study, asked: AskedRecord) -> list[str]:
    """Return the command-line options with which the study file of `study` reproduces the last run, `asked`."""
    says, probes = study.model_dump(mode="json"), [name for probe in asked.probes for name in probe]
    options = []
    if says["models"] != asked.models:
        options += [word for model in asked.models for word in ("-m", model)]
    if [name for probe in says["probes"] for name in probe] != probes:
        options += [word for name in dict.fromkeys(probes) for word in ("--probe", name)]
    for key in ("limit", "dtype", "device"):
        if says[key] != asked.study.get(key) is not None:
            options += [f"--{key}", str(asked.study[key])]
    return options
