"""Studies of models of the hub: the commit is on record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import zoo as tiny
from answers import refused
from builders import Program, Zoo, contents, succeeded, write, write_study
from hub_server import NAME, Hub, changed, files


@pytest.fixture
def study(tmp_path: Path) -> Path:
    write(tmp_path / "pairs.tsv", "good\tbad\n" + "".join(f"{good}\t{bad}\n" for good, bad in tiny.PAIRS))
    probe = {"minimal-pairs": {"data": ["pairs.tsv"], "resamples": 200}}
    return write_study(tmp_path / "study.yaml", [NAME], probe)


@pytest.mark.whole
def test_the_record_cites_the_commit(penchant: Program, hub: Hub, bert: str, study: Path) -> None:
    succeeded(penchant("run", study, "-o", "out"))
    (unit,) = json.loads((study.parent / "out" / "manifest.json").read_text())["units"]
    assert unit["model"]["name"] == f"{NAME}@{bert[:7]}"
    assert unit["model"]["fingerprint"] == f"{NAME}@{bert}"
    signature = (study.parent / "out" / unit["directory"] / "signature.txt").read_text()
    assert f"{NAME}@{bert[:7]}" in signature


@pytest.mark.whole
def test_two_commits_of_one_model_in_one_study(penchant: Program, hub: Hub, bert: str, zoo: Zoo, study: Path) -> None:
    hub.repository(NAME).refs["v1"] = bert
    other = hub.repository(NAME).commit(changed(files(zoo("bert"))))
    succeeded(penchant("run", study, "-o", "out", "-m", f"{NAME}@v1", "-m", NAME))
    units = json.loads((study.parent / "out" / "manifest.json").read_text())["units"]
    assert [unit["model"]["fingerprint"] for unit in units] == [f"{NAME}@{bert}", f"{NAME}@{other}"]
    assert all(unit["counts"]["forward"] for unit in units), "answers of one commit served the other"
    refused(penchant("run", study, "-o", "again", "-m", f"{NAME}@{other}", "-m", NAME), "both", other[:7])


@pytest.mark.whole
def test_resume_notices_that_a_branch_has_moved(penchant: Program, hub: Hub, bert: str, zoo: Zoo, study: Path) -> None:
    assert penchant("run", study, "-o", "out")[0] == 0
    out = study.parent / "out"
    before = contents(out)
    other = hub.repository(NAME).commit(changed(files(zoo("bert"))))
    refused(penchant("run", study, "-o", "out", "--resume"), NAME, bert[:7], other[:7], "--rerun")
    assert contents(out) == before
