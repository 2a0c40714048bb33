"""Whatever a study names, its results lie in its directory, each in a place of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import yaml

import zoo as tiny
from penchant.instruments.running import Run
from penchant.study.results import read_outcome
from penchant.study.run import run_study
from penchant.study.spec import read_study

Zoo = Callable[[str], Path]
NAMES = ("../../escaped", "..", "", "con", "a b", "a_b", "A_b", "x" * 300, "x" * 299 + "/")


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.whole
def test_models_of_like_names_have_a_directory_each(zoo: Zoo, tmp_path: Path) -> None:
    """Names that differ only in what a file name does not show, on some system."""
    names = ("a model", "a_model", "A_model", "a:model")
    for name in names:  # copies, which have the same fingerprint in their names
        shutil.copytree(zoo("gpt2"), tmp_path / name)
    (tmp_path / "pairs.tsv").write_text("good\tbad\n" + "".join(f"{a}\t{b}\n" for a, b in tiny.PAIRS[:6]), "utf-8")
    content = {
        "study": "names",
        "models": [str(tmp_path / name) for name in names],
        "probes": [{"minimal-pairs": {"data": ["pairs.tsv"], "resamples": 100}}],
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(content))
    study, probes = read_study(tmp_path / "study.yaml")
    outcome = run_study(study, probes, tmp_path / "out", Run.of_study(base=[tmp_path]))
    units = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["units"]
    assert len({unit["directory"].casefold() for unit in units}) == len(names)
    again = read_outcome(tmp_path / "out")
    for key, result in outcome.results.items():
        assert again.results[key].items.equals(result.items)
        assert again.results[key].signature == result.signature
    resumed = run_study(study, probes, tmp_path / "out", Run.of_study(base=[tmp_path], resume=True))
    assert resumed.results.keys() == outcome.results.keys()


@pytest.mark.whole
def test_vectors_of_any_name_are_trained_inside_the_directory(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "er"
    home.mkdir(parents=True)
    text = "the rose and the tulip are lovely but the ant and the wasp are ugly in the old garden\n" * 300
    (home / "text.txt").write_text(text)
    sets = {"targ1": "rose tulip", "targ2": "ant wasp", "attr1": "lovely garden", "attr2": "ugly old"}
    stimuli = {name: {"category": name, "examples": words.split()} for name, words in sets.items()}
    (home / "stimuli.json").write_text(json.dumps(stimuli))
    content = {
        "study": "names",
        "corpus": {"text": "text.txt", "language": "en"},
        "vectors": {name: {"method": "word2vec", "size": 4 + i, "epochs": 1} for i, name in enumerate(NAMES)},
        "models": [f"trained:{name}" for name in NAMES],
        "probes": [{"weat": {"data": "stimuli.json", "resamples": 100}}],
    }
    (home / "study.yaml").write_text(yaml.safe_dump(content), "utf-8")
    study, probes = read_study(home / "study.yaml")
    outcome = run_study(study, probes, home / "out", Run.of_study(base=[home]))
    assert len(outcome.results) == len(NAMES)
    assert files(tmp_path) == files(home / "out") | {home / name for name in ("text.txt", "stimuli.json", "study.yaml")}
    made = {path.stem.casefold() for path in (home / "out" / "vectors").glob("*.txt")}
    assert len(made) == len(NAMES)
    for i, path in enumerate(
        sorted((home / "out" / "vectors").glob("*.txt"), key=lambda path: path.stat().st_mtime_ns)
    ):
        assert int(path.read_text("utf-8").split()[1]) == 4 + i
    before = {path: path.stat().st_mtime_ns for path in (home / "out" / "vectors").iterdir()}
    run_study(study, probes, home / "out", Run.of_study(base=[home], resume=True))  # nothing is trained again
    assert {path: path.stat().st_mtime_ns for path in (home / "out" / "vectors").iterdir()} == before


def test_a_result_keeps_its_recipe_whatever_its_names_hold(tmp_path: Path) -> None:
    """A line separator in the name of a model or in a caution does not end the line of signature.txt."""
    from penchant.records import Result as Plain
    from penchant.records import Signature, read_result

    signature = Signature.of("cloze", model="a\u2028b\x85c\nd", data="e\u2029f")
    frame = pl.DataFrame({"id": ["a"]})
    Plain(signature, frame, frame, ("one\u2028caution\n", "another")).save(tmp_path)
    read = read_result(tmp_path)
    assert read.signature == signature
    assert read.cautions == ("one caution", "another")
