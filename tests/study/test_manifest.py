"""The record of a study: versioned and typed, and anything else in its place is one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM

from answers import refused
from builders import Program, succeeded, write, write_study
from manifests import rewritten
from penchant.errors import StudyError
from penchant.instruments.run_options import Run
from penchant.models.load import load, load_vectors
from penchant.study.manifest import Manifest, read_manifest
from penchant.study.manifest_records import ModelRecord
from penchant.study.run import run_study
from penchant.study.study_file import read_study
from penchant.tables.data_lookup import PACKAGE

BUNDLED = PACKAGE / "bundled"
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


def test_it_says_what_the_models_are(penchant: Program, finished: Path) -> None:
    units = read_manifest(finished / "manifest.json").units
    for unit, text in zip(units, ("WikiText-2", "the King James Bible"), strict=True):
        folder = BUNDLED / unit.spec.removeprefix("bundled:")
        parameters = json.loads((folder / "training.json").read_text("utf-8"))["parameters"]
        assert text in unit.model.about and f", {parameters:,} parameters" in unit.model.about
        assert unit.model.about in unit.model.line()
        old = unit.model.model_copy(update={"about": ""})  # as a draft of penchant wrote it
        assert old.line().startswith("masked, float32 on cpu, fingerprint ")
    out = succeeded(penchant("report", finished, "--full"))[0].partition("\nModels\n")[2]
    assert [line.partition(",")[0] for line in out.splitlines() if line[:2] == "- "] == [f"- {name}" for name in MODELS]


def test_a_model_and_a_file_of_vectors_are_described(zoo: Callable[[str], Path], tmp_path: Path) -> None:
    weights = AutoModelForCausalLM.from_pretrained(zoo("gpt2")).num_parameters()  # a tied head is counted once
    assert ModelRecord.of(load(zoo("gpt2"))).about == f"a causal model, {weights:,} parameters"
    write(tmp_path / "v.vec", "2 3\nthe 1 2 3\nof 1 2 4\n")
    vectors = ModelRecord.of(load_vectors(tmp_path / "v.vec"))
    assert vectors.about == "word vectors v.vec, 2 words × 3"
    assert vectors.line() == f"{vectors.about}, fingerprint {vectors.fingerprint}"


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
