"""scripts/same_report: what readers see of two result directories, and every difference with its place."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import penchant as pc
from paths import ROOT
from penchant.study.catalogue import write_template

SCRIPTS = ROOT / "scripts"
Changed = Callable[[Callable[[Any], object]], list[str]]


def compared(*places: Path) -> tuple[int, list[str], list[str]]:
    command: list[str | Path] = [sys.executable, SCRIPTS / "same_report", *places]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("same_report")
    write_template("weat", folder)
    pc.run(folder / "weat.yaml", folder / "results", cache="none", progress=False)
    return folder / "results"


@pytest.fixture(scope="module")
def frozen(results: Path) -> Path:
    file = results.parent / "frozen.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPTS)
        file.write_text(json.dumps(importlib.import_module("reports").shown(results)), "utf-8")
    return file


@pytest.fixture
def changed(frozen: Path, tmp_path: Path) -> Changed:
    """The places of the differences that a change makes."""

    def places(change: Callable[[Any], object]) -> list[str]:
        content = json.loads(frozen.read_text("utf-8"))
        change(content)
        (tmp_path / "after.json").write_text(json.dumps(content), "utf-8")
        code, lines, problems = compared(frozen, tmp_path / "after.json")
        assert (code, problems) == (1, [])
        return [line.partition(":")[0] for line in lines[:-1]]

    return places


def test_the_same_directory_is_the_same(results: Path, frozen: Path) -> None:
    assert compared(results, frozen) == (0, ["the same"], [])


def test_a_changed_number_is_named(changed: Changed) -> None:
    def change(content: Any) -> None:
        content["csv"]["weat-summary.csv"][0]["value"] += "1"
        content["page"]["tables"]["s0-effects"][1]["d"] = "0"

    assert changed(change) == ["csv / weat-summary.csv / 0 / value", "page / tables / s0-effects / 1 / d"]


def test_a_changed_and_a_lost_note_are_named(changed: Changed) -> None:
    def change(content: Any) -> None:
        content["csv"]["weat-effects.csv"][0]["note"] += "!"
        del content["page"]["texts"]["s0 Estimates"][2]
        content["terminal"]["notes"].append("note: more")

    found = changed(change)
    assert {"csv / weat-effects.csv / 0 / note", "page / texts / s0 Estimates / 2"} < set(found)
    assert len(found) == 3 and any(place.startswith("terminal / notes / ") for place in found)


def test_a_changed_figure_is_named_by_a_pointer(changed: Changed) -> None:
    def change(content: Any) -> None:
        spec = content["page"]["figures"]["s0-figure-effects"]["spec"]
        spec["layer"][0]["mark"]["a/b"] = 1

    assert changed(change) == ["page / figures / s0-figure-effects / spec /layer/0/mark/a~1b"]


def test_items_are_compared(changed: Changed) -> None:
    def change(content: Any) -> None:
        content["page"]["items"]["items-0-table"]["columns"]["0 stimulus"]["values"][3] = "other"

    assert changed(change) == ["page / items / items-0-table / columns / 0 stimulus / values / 3"]


@pytest.mark.parametrize("places", [[], ["there is none", "nor here"]])
def test_bad_usage_is_one_line(places: list[str]) -> None:
    code, lines, problems = compared(*map(Path, places))
    assert (code, lines, len(problems)) == (2, [], 1)


def test_edited_results_are_one_line(results: Path, frozen: Path, tmp_path: Path) -> None:
    shutil.copytree(results, tmp_path / "edited")
    next((tmp_path / "edited").rglob("summary.parquet")).write_bytes(b"")
    code, lines, problems = compared(frozen, tmp_path / "edited")
    assert (code, lines, len(problems)) == (2, [], 1)
