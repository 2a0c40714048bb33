"""Changes since a study was begun are noticed before anything is overwritten, and can be measured again."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from studies import change_result, change_weights, pairs_study

from answers import refused
from builders import Program, Zoo, contents, succeeded, write
from manifests import rewritten
from penchant.files import holding
from penchant.models.file_hashes import _checksum
from penchant.study.manifest import read_manifest
from penchant.study.read_results import read_outcome

PAIRS = "good\tbad\nThe cats sleep.\tThe cats sleeps.\nShe sings.\tShe sing.\n"
MORE = "The dog sleeps.\tThe dog sleep.\n"


@pytest.fixture
def study(zoo: Zoo, tmp_path: Path) -> Path:
    """A study of pairs with two models of its own directory."""
    return pairs_study(zoo, tmp_path / "here", PAIRS, "bert", "gpt2")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The place of a copy of the finished study, which the first test that needs it leaves for the others."""
    return tmp_path_factory.mktemp("finished") / "copy"


@pytest.fixture
def done(penchant: Program, study: Path, kept: Path, tmp_path: Path) -> Path:
    """That study, finished."""
    if kept.exists():
        shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    else:
        succeeded(penchant("run", study, "-o", study.parent / "out"))
        shutil.copytree(tmp_path, kept)
    return study.parent / "out"


def test_from_another_working_directory(
    penchant: Program, study: Path, done: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    given = os.path.relpath(study)
    succeeded(penchant("run", given, "-o", done, "--resume"))
    assert [len(attempt.units) for attempt in read_manifest(done / "manifest.json").attempts] == [2, 0]
    write(study.parent / "pairs.tsv", PAIRS + MORE)
    before = contents(done)
    refused(penchant("run", given, "-o", done, "--resume"), "pairs.tsv changed", "--rerun", "-o")
    assert contents(done) == before


def test_data(penchant: Program, study: Path, done: Path) -> None:
    write(study.parent / "pairs.tsv", PAIRS + MORE)
    _, err = succeeded(penchant("run", study, "-o", done, "--rerun"))
    assert "measured again" in " ".join(err.split())
    assert [len(result.items) for result in read_outcome(done).results.values()] == [3, 3]
    (fresh := study.parent / "fresh").mkdir()
    succeeded(penchant("run", study, "-o", fresh))
    for path in fresh.rglob("*.parquet"):
        assert pl.read_parquet(path).equals(pl.read_parquet(done / path.relative_to(fresh)), null_equal=True)


def test_a_model(penchant: Program, study: Path, done: Path) -> None:
    change_weights(study.parent / "bert")
    before = contents(done)
    refused(penchant("run", study, "-o", done, "--resume"), "the model ./bert changed")
    assert contents(done) == before
    succeeded(penchant("run", study, "-o", done, "--rerun"))
    manifest = read_manifest(done / "manifest.json")
    measured = [[unit.spec for unit in attempt.units] for attempt in manifest.attempts]
    assert measured == [["./bert", "./gpt2"], ["./bert"]]
    kept = {unit.directory for unit in manifest.units}
    tables = {str(path.parent.relative_to(done)) for path in done.rglob("items.parquet")}
    assert tables == kept  # the old result of the model is gone


def test_a_hash_wrongly_remembered(penchant: Program, study: Path, done: Path) -> None:
    """Nothing shows that a file changed whose path, size, times and inode did not: --rehash reads it all the same."""
    weights = study.parent / "bert" / "model.safetensors"
    os.utime(weights, (10**9, 10**9))  # long ago: what was written just now is not remembered
    command = ("run", study, "-o", done, "--resume", "--cache", "answers.sqlite")
    succeeded(penchant(*command))
    with closing(sqlite3.connect("answers.sqlite", isolation_level=None)) as db:
        [(name, stamp)] = db.execute("SELECT path, stamp FROM files WHERE path = ?", (str(weights.resolve()),))
        wrong = (_checksum(name, stamp, "0" * 64), name)
        db.execute(f"UPDATE files SET sha256 = '{'0' * 64}', checksum = ? WHERE path = ?", wrong)
    refused(penchant(*command), "the model ./bert changed")
    succeeded(penchant(*command, "--rehash"))
    succeeded(penchant(*command))


@pytest.mark.parametrize(
    "name", ["items.parquet", "summary.parquet", "signature.txt", "settings.json", "left-out.json"]
)
def test_a_result(penchant: Program, study: Path, done: Path, name: str) -> None:
    change_result(next(done.glob(f"minimal-pairs/bert*/{name}")))
    refused(penchant("report", done, done), f"{name}: was edited or damaged", "--trust-edited")
    refused(penchant("run", study, "-o", done, "--resume"), "was edited", "--rerun")
    for arguments in (("export", done, "-o", "words.csv"), ("import", done, "rated.csv", "--into", "words.csv")):
        refused(penchant("ratings", *arguments), f"{name}: was edited or damaged")
    assert not Path("words.csv").exists()
    _, err = succeeded(penchant("report", done, "--trust-edited", "-o", "page.html"))
    assert "edited after the study wrote it" in " ".join(err.split())
    page = Path("page.html").read_text("utf-8")
    assert "<strong>Edited.</strong>" in page
    assert page.count("Edited after the study wrote them") >= 2  # and at every table
    succeeded(penchant("run", study, "-o", done, "--rerun"))
    succeeded(penchant("report", done))
    assert "Edited" not in (done / "report.html").read_text("utf-8")


@pytest.mark.parametrize("text", ["{}", "[1]", '[{"code":"no-such-note"}]', "[", '[{"code":"pilot"}]'])
def test_notes_that_are_none(penchant: Program, done: Path, text: str) -> None:
    write(next(done.glob("minimal-pairs/bert*/left-out.json")), text)
    refused(penchant("report", done, "--trust-edited"), "left-out.json")


def test_a_comparison_and_the_manifest(penchant: Program, done: Path) -> None:
    path = done / "minimal-pairs" / "comparison.parquet"
    table = pl.read_parquet(path)
    table.with_columns(pl.col("value") + 1).write_parquet(path)
    refused(penchant("report", done), "comparison.parquet: was edited or damaged")
    table.write_parquet(path)
    path.unlink()
    refused(penchant("report", done), "comparison.parquet: is missing")
    manifest = done / "manifest.json"
    content = json.loads(manifest.read_text("utf-8"))
    content["units"][0]["counts"]["forward"] += 1
    for edited in (content, {key: value for key, value in content.items() if key != "sha256"}):
        write(manifest, json.dumps(edited))
        refused(penchant("report", done), "manifest.json: was edited or damaged")


@pytest.mark.parametrize("name", ["../../../foreign.txt", "/etc/foreign.txt", ".."])
@pytest.mark.parametrize("where", ["files", "directory", "tables", "prepared"])
def test_a_manifest_names_nothing_outside_its_directory(
    penchant: Program, study: Path, done: Path, where: str, name: str
) -> None:
    write(study.parent.parent / "foreign.txt", "precious")
    changes: dict[str, Callable[[dict[str, Any]], object]] = {
        "files": lambda content: content["units"][0]["files"].update({name: "0" * 64}),
        "directory": lambda content: content["units"][0].update(directory=name),
        "tables": lambda content: content["tables"].update({name: "0" * 64}),
        "prepared": lambda content: content["prepared"].update({name: {"version": "0", "texts": [], "sha256": ""}}),
    }
    rewritten(done, changes[where])
    for command in (("report", done), ("run", study, "-o", done, "--rerun"), ("report", done, "--trust-edited")):
        refused(penchant(*command), "is not inside the study directory")
    assert (study.parent.parent / "foreign.txt").read_text("utf-8") == "precious"


@pytest.mark.parametrize("cache", ["a directory", "a table"])
def test_a_cache_that_cannot_be_used_hides_no_change(
    penchant: Program, study: Path, done: Path, tmp_path: Path, cache: str
) -> None:
    change_weights(study.parent / "bert")
    (tmp_path / "a directory").mkdir()
    write(tmp_path / "a table", "a,b\n")
    refused(penchant("run", study, "-o", done, "--resume", "--cache", tmp_path / cache), "cache")


def test_a_model_that_is_damaged_now(penchant: Program, study: Path, done: Path) -> None:
    (study.parent / "bert" / "adapter_config.json").write_text("{}", "utf-8")
    refused(penchant("run", study, "-o", done, "--resume"), "adapter")
    shutil.rmtree(study.parent / "bert")
    succeeded(penchant("run", study, "-o", done, "--resume"))


def test_data_that_change_while_the_study_runs(penchant: Program, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from penchant.instruments.minimal_pairs.probe import MinimalPairs

    measure = MinimalPairs.measure

    def changing(self: Any, session: Any) -> Any:
        (study.parent / "pairs.tsv").write_text(PAIRS + MORE, "utf-8")
        return measure(self, session)

    monkeypatch.setattr(MinimalPairs, "measure", changing)
    refused(penchant("run", study, "-o", study.parent / "out"), "pairs.tsv: changed while the study ran")
    assert not list((study.parent / "out").rglob("*.parquet"))


def test_a_study_that_failed_before_its_first_result_does_not_occupy_its_directory(
    penchant: Program, study: Path
) -> None:
    right, out = study.read_text("utf-8"), study.parent / "out"
    write(study.parent / "odd.tsv", "good\tbad\nThe 漢字 sleep.\tThe cats sleeps.\n")
    for text, told in ((right.replace("pairs.tsv", "odd.tsv"), "unknown"), (right.replace("bert", "gone"), "gone")):
        write(study, text)
        refused(penchant("run", study, "-o", out), told)
    write(study, right)
    out.mkdir(exist_ok=True)
    with holding(out):
        refused(penchant("run", study, "-o", out), "another process")
    succeeded(penchant("run", study, "-o", out))
    refused(penchant("run", study, "-o", out), "already contains a study")


@pytest.mark.parametrize("column", ["method", "test_method", "notes"])
@pytest.mark.parametrize("code", ["[{", '[{"code":"nope"}]', "[1]", '[{"code":"few-clusters"}]', '{"code":"a.b"}', "5"])
def test_codes_without_words_are_refused(penchant: Program, done: Path, column: str, code: str) -> None:
    file = next(done.glob("*/*/summary.parquet"))
    pl.read_parquet(file).with_columns(pl.lit(code).alias(column)).write_parquet(file)
    refused(
        penchant("report", done, "--trust-edited"),
        f"summary.parquet: column {column} has the unknown value",
        "run the study again",
    )
