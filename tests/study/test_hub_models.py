"""Studies of models of the hub: the commit is on record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import zoo as tiny
from answers import Answer, refused
from hub_server import NAME, Hub, changed, files

Zoo = Callable[[str], Path]
Penchant = Callable[..., Answer]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    lines = ["good\tbad", *(f"{good}\t{bad}" for good, bad in tiny.PAIRS)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    probes = [{"minimal-pairs": {"data": ["pairs.tsv"], "resamples": 200}}]
    content = {"study": "tiny", "models": [NAME], "probes": probes}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return tmp_path / "study.yaml"


@pytest.mark.whole
def test_the_record_cites_the_commit(penchant: Penchant, hub: Hub, bert: str, study: Path) -> None:
    code, _, err = penchant("run", study, "-o", "out")
    assert code == 0, err
    (unit,) = json.loads((study.parent / "out" / "manifest.json").read_text())["units"]
    assert unit["model"]["name"] == f"{NAME}@{bert[:7]}"
    assert unit["model"]["fingerprint"] == f"{NAME}@{bert}"
    signature = (study.parent / "out" / unit["directory"] / "signature.txt").read_text()
    assert f"{NAME}@{bert[:7]}" in signature


@pytest.mark.whole
def test_two_commits_of_one_model_in_one_study(penchant: Penchant, hub: Hub, bert: str, zoo: Zoo, study: Path) -> None:
    hub.repository(NAME).refs["v1"] = bert
    other = hub.repository(NAME).commit(changed(files(zoo("bert"))))
    code, _, err = penchant("run", study, "-o", "out", "-m", f"{NAME}@v1", "-m", NAME)
    assert code == 0, err
    units = json.loads((study.parent / "out" / "manifest.json").read_text())["units"]
    assert [unit["model"]["fingerprint"] for unit in units] == [f"{NAME}@{bert}", f"{NAME}@{other}"]
    assert all(unit["counts"]["forward"] for unit in units), "answers of one commit served the other"
    refused(penchant("run", study, "-o", "again", "-m", f"{NAME}@{other}", "-m", NAME), "both", other[:7])


@pytest.mark.whole
def test_resume_notices_that_a_branch_has_moved(penchant: Penchant, hub: Hub, bert: str, zoo: Zoo, study: Path) -> None:
    assert penchant("run", study, "-o", "out")[0] == 0
    out = study.parent / "out"
    before = {path: path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    other = hub.repository(NAME).commit(changed(files(zoo("bert"))))
    refused(penchant("run", study, "-o", "out", "--resume"), NAME, bert[:7], other[:7], "-o")
    assert {path: path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()} == before
