"""How a study goes on once its predictions are rated: the command that measures it again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penchant.errors import PenchantError
from penchant.study.manifest import FILE, read_manifest
from penchant.study.spec import Study, read_study, study_file
from penchant.tables.places import listed

ANY = "STUDY.yaml"
"""Stands for a study file that is not found."""


@dataclass(frozen=True, slots=True)
class Next:
    """The words of the command that measures a study again, and the entry for a table of ratings that the study does
    not name yet; empty where it does."""

    words: list[str]
    entry: str = ""


def after_ratings(directory: Path, ratings: Path) -> Next | None:
    """How a study goes on with a table of ratings; None for results that no study wrote.

    The study file is looked for beside the ratings, beside the data that the study read, beside the results and where
    the user is. What was asked for otherwise than it says, such as other models, is asked for again.
    """
    folder = next((place for place in (directory, directory.parent) if (place / FILE).exists()), None)
    if folder is None:
        return None
    manifest = read_manifest(folder / FILE)
    asked = manifest.asked
    settings = [each for probe in asked.probes for each in probe.values()]
    names = [name for each in settings for name in listed(each.get("ratings") or [])]
    places = [ratings.parent, *(Path(each.path).parent for each in manifest.data), folder.parent, Path()]
    probes = [name for probe in asked.probes for name in probe]
    for place in dict.fromkeys(places):
        file, options = _study(place, asked.study, probes)
        if file is not None:
            named = any((file.parent / name).resolve() == ratings.resolve() for name in names)
            path = Path(os.path.relpath(ratings.resolve(), file.parent.resolve())).as_posix()
            entry = "" if named else f"ratings: {path} under cloze in {file}"
            return Next(["penchant", "run", str(file), "-o", str(folder), "--rerun", *options], entry)
    named = ratings.name in {Path(name).name for name in names}
    told = (
        f"ratings: {ratings.name} (its path from there) under cloze in the file of the study '{asked.study['study']}'"
    )
    return Next(["penchant", "run", ANY, "-o", str(folder), "--rerun"], "" if named else told)


def _study(place: Path, asked: dict[str, Any], probes: list[str]) -> tuple[Path | None, list[str]]:
    """The study file in a folder that is the one that was run, and the options that it was run with."""
    if not place.is_dir():
        return None, []
    for file in sorted(each for each in place.iterdir() if each.suffix in (".yaml", ".yml")):
        try:
            study, _ = read_study(study_file(file))
        except PenchantError:
            continue
        if study.study == asked.get("study"):
            return file, _options(study, asked, probes)
    return None, []


def _options(study: Study, asked: dict[str, Any], probes: list[str]) -> list[str]:
    says = study.model_dump(mode="json")
    options = []
    if says["models"] != asked.get("models"):
        options += [word for model in asked.get("models") or [] for word in ("-m", str(model))]
    if [name for probe in says["probes"] for name in probe] != probes:
        options += [word for name in dict.fromkeys(probes) for word in ("--probe", name)]
    for key in ("limit", "dtype", "device"):
        if says[key] != asked.get(key) is not None:
            options += [f"--{key}", str(asked[key])]
    return options
