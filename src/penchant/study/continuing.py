"""How a study goes on once its predictions are rated: the command that measures it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penchant.errors import StudyError
from penchant.study.manifest import FILE, read_manifest
from penchant.study.spec import Study, read_study, study_file
from penchant.tables.places import listed

ANY = "STUDY.yaml"
"""Stands for a study file that is not found."""


def after_ratings(directory: Path, ratings: Path) -> tuple[list[str], bool] | None:
    """The words of the command that measures a study again with a table of ratings, and whether the study names the
    table yet; None for results that no study wrote.

    The study file is looked for beside the ratings. What was asked for otherwise than it says, such as other models, is
    asked for again.
    """
    folder = next((place for place in (directory, directory.parent) if (place / FILE).exists()), None)
    if folder is None:
        return None
    asked = read_manifest(folder / FILE).asked
    settings = [each for probe in asked.probes for each in probe.values()]
    names = [name for each in settings for name in listed(each.get("ratings") or [])]
    file, options = _study(ratings.parent, asked.study, [name for probe in asked.probes for name in probe])
    named = ratings.name in {Path(name).name for name in names}
    return ["penchant", "run", file, "-o", str(folder), "--rerun", *options], named


def _study(place: Path, asked: dict[str, Any], probes: list[str]) -> tuple[str, list[str]]:
    """The study file in a folder, if it is the one that was run, and the options that it was run with."""
    try:
        file = study_file(place)
        study, _ = read_study(file)
    except StudyError:
        return ANY, []
    if study.study != asked.get("study"):
        return ANY, []
    return str(file), _options(study, asked, probes)


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
