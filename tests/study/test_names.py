"""Whatever a study names, its results lie in its directory, each in a place of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from studies import trained_study

import zoo as tiny
from builders import Zoo, contents, write, write_study
from penchant.instruments.run_options import Run
from penchant.study.read_results import read_outcome
from penchant.study.run import run_study
from penchant.study.study_file import read_study

NAMES = ("../../escaped", "..", "", "con", "a b", "a_b", "A_b", "x" * 300, "x" * 299 + "/")


@pytest.mark.whole
def test_models_of_like_names_have_a_directory_each(zoo: Zoo, tmp_path: Path) -> None:
    """Names that differ only in what a file name does not show, on some system."""
    names = ("a model", "a_model", "A_model", "a:model")
    for name in names:  # copies, which have the same fingerprint in their names
        shutil.copytree(zoo("gpt2"), tmp_path / name)
    write(tmp_path / "pairs.tsv", "good\tbad\n" + "".join(f"{a}\t{b}\n" for a, b in tiny.PAIRS[:6]))
    probe = {"minimal-pairs": {"data": ["pairs.tsv"], "resamples": 100}}
    study, probes = read_study(write_study(tmp_path / "study.yaml", [tmp_path / name for name in names], probe))
    outcome = run_study(study, probes, tmp_path / "out", Run(base=[tmp_path]))
    units = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["units"]
    assert len({unit["directory"].casefold() for unit in units}) == len(names)
    again = read_outcome(tmp_path / "out")
    for key, result in outcome.results.items():
        assert again.results[key].items.equals(result.items)
        assert again.results[key].signature == result.signature
    resumed = run_study(study, probes, tmp_path / "out", Run(base=[tmp_path], resume=True))
    assert resumed.results.keys() == outcome.results.keys()


@pytest.mark.whole
def test_vectors_of_any_name_are_trained_inside_the_directory(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "er"
    study, probes = read_study(trained_study(home, {name: 4 + i for i, name in enumerate(NAMES)}))
    outcome = run_study(study, probes, home / "out", Run(base=[home]))
    assert len(outcome.results) == len(NAMES)
    inside = {f"deep/er/out/{name}" for name in contents(home / "out")}
    assert set(contents(tmp_path)) == inside | {f"deep/er/{n}" for n in ("text.txt", "stimuli.json", "study.yaml")}
    made = {path.stem.casefold() for path in (home / "out" / "vectors").glob("*.txt")}
    assert len(made) == len(NAMES)
    made_in_order = sorted((home / "out" / "vectors").glob("*.txt"), key=lambda path: path.stat().st_mtime_ns)
    assert [int(path.read_text("utf-8").split()[1]) for path in made_in_order] == [4 + i for i in range(len(NAMES))]
    before = {path: path.stat().st_mtime_ns for path in (home / "out" / "vectors").iterdir()}
    run_study(study, probes, home / "out", Run(base=[home], resume=True))  # nothing is trained again
    assert {path: path.stat().st_mtime_ns for path in (home / "out" / "vectors").iterdir()} == before


def test_a_result_keeps_its_recipe_whatever_its_names_hold(tmp_path: Path) -> None:
    """A line separator in the name of a model or in a caution does not end the line of signature.txt."""
    from penchant.records import BaseResult as Plain
    from penchant.records import Signature, read_result

    signature = Signature.of("cloze", model="a\u2028b\x85c\nd", data="e\u2029f")
    frame = pl.DataFrame({"id": ["a"]})
    Plain(signature, frame, frame, ("one\u2028caution\n", "another")).save(tmp_path)
    read = read_result(tmp_path)
    assert read.signature == signature
    assert read.cautions == ("one caution", "another")


def test_names_that_look_like_numbers(tmp_path: Path) -> None:
    """They are the text that stands there, whatever YAML reads it as."""
    text = """
study: 010
models: [1.10, {family: 7e1, revisions: {010: 0x10, 20: 1_0}}]
names: {1.10: on}
seed: 010
probes:
- minimal-pairs: {data: 2024-01-01, resamples: 0100, level: 0.950}
"""
    study, (probe,) = read_study(write(tmp_path / "study.yaml", text))
    assert (study.study, study.seed, study.models) == ("010", 10, ["1.10", "7e1@0x10", "7e1@1_0"])
    assert study.names["1.10"] == "on" and study.families == {"7e1": {"7e1@0x10": 10, "7e1@1_0": 20}}
    settings = probe.model_dump()
    assert (settings["data"], settings["resamples"], settings["level"]) == ("2024-01-01", 100, 0.95)
