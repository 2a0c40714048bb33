"""The record of a study: versioned and typed, and anything else in its place is one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from answers import refused
from builders import Program, write, write_study
from manifests import rewritten
from penchant.errors import StudyError
from penchant.instruments.run_options import Run
from penchant.study.manifest import Manifest, read_manifest
from penchant.study.run import run_study
from penchant.study.study_file import read_study

MODELS = ["bundled:modern", "bundled:early-modern"]
PAIRS = "good\tbad\tgroup\nThe cats sleep.\tThe cats sleeps.\ta\nShe sings.\tShe sing.\ta\n"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manifest")
    write(folder / "pairs.tsv", PAIRS)
    file = write_study(folder / "s.yaml", MODELS, {"minimal-pairs": {"data": "pairs.tsv", "resamples": 100}})
    run_study(*read_study(file), folder / "out", Run(base=[folder]))
    return folder


@pytest.fixture
def finished(once: Path, tmp_path: Path) -> Path:
    """A copy of a small finished study, in the working directory."""
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


def test_it_says_its_format_and_comes_back(finished: Path) -> None:
    written = json.loads((finished / "manifest.json").read_text("utf-8"))
    del written["sha256"]
    assert written["format"] == 2
    manifest = read_manifest(finished / "manifest.json")
    assert json.loads(manifest.model_dump_json()) == written
    assert [(unit.probe, unit.spec) for unit in manifest.units] == [("minimal-pairs", model) for model in MODELS]
    assert manifest.asked.models == MODELS
    assert manifest.asked.probes[0]["minimal-pairs"]["resamples"] == 100


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"format": 1}, "format"),
        ({"units": None}, "units"),
        ({"status": "lost"}, "status"),
        ({"more": 1}, "more"),
        ({"attempts": []}, "attempts"),
    ],
)
def test_a_damaged_one_is_one_line(penchant: Program, finished: Path, change: dict[str, object], place: str) -> None:
    rewritten(finished, lambda written: written.update(change))
    for command in (
        ("report", finished),
        ("export", finished, "--to", "csv"),
        ("run", "s.yaml", "-o", finished, "--resume"),
    ):
        refused(penchant(*command), f"manifest.json: is not a study manifest ({place}: ")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"units": {}}', '{"units": {"a": 1}, "attempts": [1]}', "\x00"]
)
def test_anything_else_is_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(StudyError, match="is not a study manifest"):
        read_manifest(write(tmp_path / "manifest.json", text))


def test_every_field_of_the_record_has_a_type() -> None:
    """No bag of anything beyond the study as it was asked, whose keys are those of the study file."""
    parts = Manifest.model_json_schema()["$defs"].items()
    fields = [(f"{name}.{key}", field) for name, part in parts for key, field in part["properties"].items()]
    assert [name for name, field in fields if not {"type", "$ref", "anyOf"} & set(field)] == []
