"""The record of a study: versioned, typed, and readable where version 0.1 wrote it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from answers import Answer, refused
from manifests import rewritten
from penchant.errors import StudyError
from penchant.instruments.running import Run
from penchant.study.manifest import Manifest, read_manifest
from penchant.study.results import read_outcome
from penchant.study.run import run_study
from penchant.study.spec import read_study

Program = Callable[..., Answer]
STUDY = "study: mine\nquestion: Which?\nmodels: ['bundled:modern', 'bundled:early-modern']\nprobes:\n"
PAIRS = "good\tbad\tgroup\nThe cats sleep.\tThe cats sleeps.\ta\nShe sings.\tShe sing.\ta\n"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small study, run in this format."""
    folder = tmp_path_factory.mktemp("manifest")
    (folder / "pairs.tsv").write_text(PAIRS, "utf-8")
    (folder / "s.yaml").write_text(f"{STUDY}  - minimal-pairs: {{data: pairs.tsv, resamples: 100}}\n", "utf-8")
    spec, probes = read_study(folder / "s.yaml")
    run_study(spec, probes, folder / "out", Run.of_study(base=[folder]))
    return folder


@pytest.fixture
def finished(once: Path, tmp_path: Path) -> Path:
    """A copy of it, in the working directory."""
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


def as_0_1(content: dict[str, Any]) -> dict[str, Any]:
    """The manifest as version 0.1 wrote it: no format, units and skipped models told apart by "probe | model"."""
    old = {key: value for key, value in content.items() if key != "format"}

    def key(record: dict[str, Any]) -> str:
        return f"{record['probe']} | {record['spec']}"

    def rest(record: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in record.items() if name not in ("probe", "spec", "files")}

    old["units"] = {key(unit): rest(unit) for unit in content["units"]}
    old["skipped"] = {key(skip): skip["model"] for skip in content["skipped"]}
    old["data"] = {record["path"]: record["sha256"] for record in content["data"]}
    del old["tables"]
    for attempt in old["attempts"]:
        attempt["units"] = [{"unit": key(unit), **rest(unit)} for unit in attempt["units"]]
    return old


def content(folder: Path) -> dict[str, Any]:
    """What the manifest says, without its checksum."""
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    del found["sha256"]
    return found


def test_it_says_its_format_and_comes_back(finished: Path) -> None:
    written = content(finished)
    assert written["format"] == 1
    manifest = read_manifest(finished / "manifest.json")
    assert json.loads(manifest.model_dump_json()) == written
    assert [(unit.probe, unit.spec) for unit in manifest.units] == [
        ("minimal-pairs", "bundled:modern"),
        ("minimal-pairs", "bundled:early-modern"),
    ]
    assert manifest.asked.models == ["bundled:modern", "bundled:early-modern"]
    assert manifest.asked.probes[0]["minimal-pairs"]["resamples"] == 100


def test_what_0_1_wrote_is_read_resumed_and_reported(penchant: Program, finished: Path) -> None:
    now = read_manifest(finished / "manifest.json")

    def reported() -> tuple[str, str]:
        """But for the hash of the results, which 0.1 did not write down."""
        printed = penchant("report", finished)[1]
        page = (finished / "report.html").read_text("utf-8")
        return printed, re.sub('<meta name="penchant-results" content="[0-9a-f]*">\n', "", page)

    report = reported()
    (finished / "manifest.json").write_text(json.dumps(as_0_1(content(finished))), "utf-8")
    old = read_manifest(finished / "manifest.json")
    assert [record.model_copy(update={"probe": ""}) for record in now.data] == old.data
    assert [unit.model_copy(update={"files": {}}) for unit in now.units] == old.units
    assert now.model_copy(update={"data": [], "units": [], "tables": {}}) == old.model_copy(
        update={"data": [], "units": []}
    )
    assert reported() == report
    assert len(read_outcome(finished).results) == 2
    code, _, err = penchant("run", "s.yaml", "-o", "out", "--resume")
    assert code == 0, err
    resumed = content(finished)
    assert resumed["format"] == 1
    assert [len(attempt["units"]) for attempt in resumed["attempts"]] == [2, 0]


def test_what_0_1_skipped_stays_skipped(finished: Path) -> None:
    old = as_0_1(content(finished))
    old["skipped"] = {"weat | a | b": "x (masked)"}  # a model may have the sign in its name
    (finished / "manifest.json").write_text(json.dumps(old), "utf-8")
    manifest = read_manifest(finished / "manifest.json")
    assert manifest.skips("weat", "a | b")
    told = "weat does not read x (masked): it reads static word vectors"
    assert manifest.left_out({"weat": "static word vectors"}) == [told]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": 2}, "format: input should be 1, got 2"),
        ({"units": None}, "units: input should be a valid list"),
        ({"status": "lost"}, "status: input should be 'running' or 'finished', got 'lost'"),
        ({"more": 1}, "more: unknown key"),
        ({"attempts": []}, "attempts: list should have at least 1 item"),
    ],
)
def test_a_damaged_one_is_one_line(penchant: Program, finished: Path, change: dict[str, object], told: str) -> None:
    rewritten(finished, lambda written: written.update(change))
    for command in (
        ("report", finished),
        ("export", finished, "--to", "csv"),
        ("run", "s.yaml", "-o", finished, "--resume"),
    ):
        refused(penchant(*command), f"manifest.json: is not the record of a study ({told}")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"units": {}}', '{"units": {"a": 1}, "attempts": [1]}', "\x00"]
)
def test_anything_else_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text, "utf-8")
    with pytest.raises(StudyError, match="is not the record of a study"):
        read_manifest(tmp_path / "manifest.json")


def test_every_field_of_the_record_has_a_type() -> None:
    """No bag of anything beyond the study as it was asked, whose keys are those of the study file."""
    loose = []
    for name, part in Manifest.model_json_schema()["$defs"].items():
        loose += [
            f"{name}.{key}" for key, field in part["properties"].items() if not {"type", "$ref", "anyOf"} & set(field)
        ]
    assert loose == []
