"""The files of a model are looked at while it is in use: no number and no stored answer of others."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import penchant as pc
from builders import language_model
from penchant.engine.batch_plan import Batch
from penchant.engine.local_backend import LocalBackend
from penchant.errors import DataError, StudyError
from penchant.models import load
from penchant.models.load import LanguageModel, read_model
from penchant.models.model_identity import ModelSource
from penchant.text_io import opened

Zoo = Callable[[str], Path]
TEXTS = ["The cat sleeps.", "A rose by the gate."]
OTHERS = ["The king sleeps.", "A gate by the rose."]


@pytest.fixture
def folder(zoo: Zoo, tmp_path: Path) -> Path:
    return shutil.copytree(zoo("gpt2"), tmp_path / "model")


def overwrite(folder: Path) -> bytes:
    """Write zeros over the second half of the weights, in place; return what was there."""
    file = folder / "model.safetensors"
    before = file.read_bytes()
    with file.open("r+b") as stream:
        stream.seek(len(before) // 2)
        stream.write(bytes(len(before) - len(before) // 2))
    return before


def cut(folder: Path) -> bytes:
    file = folder / "model.safetensors"
    before = file.read_bytes()
    os.truncate(file, 1000)
    return before


def scores(model: LanguageModel | Path, texts: list[str], cache: Path) -> Any:
    return pytest.approx(pc.score(model, texts, cache=cache)["score"].to_list(), abs=1e-4)  # rounding in other batches


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("harm", [overwrite, cut])
def test_no_answer_of_other_weights_is_given_or_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], bytes], *, mapped: bool
) -> None:
    if mapped and harm is cut:
        pytest.skip("ends the process: large weights are mapped")
    if mapped:
        monkeypatch.setattr(load, "_SMALL", 0)
    right = scores(folder, [*TEXTS, *OTHERS], tmp_path / "other.sqlite")
    model, cache = language_model(folder), tmp_path / "cache.sqlite"
    assert scores(model, TEXTS, cache) == right.expected[:2]
    before = harm(folder)
    with pytest.raises(StudyError) as refused:
        scores(model, OTHERS, cache)
    assert refused.value.where.endswith("model.safetensors")
    (folder / "model.safetensors").write_bytes(before)  # in place, so that the model is itself again
    assert scores(model, OTHERS, cache) == right.expected[2:]
    assert scores(folder, [*TEXTS, *OTHERS], cache) == right.expected


def test_a_file_that_was_touched_alone_is_the_same(folder: Path, tmp_path: Path) -> None:
    model = language_model(folder)
    for file in folder.iterdir():
        os.utime(file)
    assert scores(model, TEXTS, tmp_path / "cache.sqlite").expected


def test_weights_that_change_while_they_are_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ModelSource.fingerprint

    def late(self: ModelSource, digests: Any) -> str:
        found = plain(self, digests)
        overwrite(folder)
        return found

    monkeypatch.setattr(ModelSource, "fingerprint", late)
    with pytest.raises(StudyError):
        read_model(folder)


def test_pickled_weights_beside_others_are_part_of_a_model(folder: Path) -> None:
    first = read_model(folder).fingerprint
    (folder / "pytorch_model.bin").write_bytes(b"weights")
    assert read_model(folder).fingerprint != first


@pytest.mark.parametrize("harm", [overwrite, cut])
def test_a_study_keeps_nothing_of_weights_that_changed(
    folder: Path, tmp_path: Path, penchant: Any, harm: Callable[[Path], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The weights change while the second of two probes is measured; resumed with the right ones, the tables are those
    of an undisturbed run."""
    for name, verb in (("one", "sleep"), ("two", "rise")):
        lines = ({"good": f"The cats of {i} {verb}.", "bad": f"The cats of {i} {verb}s."} for i in range(40))
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    probes = "probes: [minimal-pairs: {data: one.jsonl}, minimal-pairs: {data: two.jsonl}]"
    study = tmp_path / "study.yaml"
    study.write_text(f"study: s\nmodels: [{folder}]\n{probes}\n")
    assert penchant("run", study, "-o", "right", "--cache", "none", "--batch-tokens", 128)[0] == 0
    plain, before = LocalBackend._answers, b""

    def disturbed(self: LocalBackend, batch: Batch) -> Any:
        nonlocal before
        if (tmp_path / "out" / "minimal-pairs").exists() and not before:  # the first probe is finished
            before = harm(folder)
        return plain(self, batch)

    monkeypatch.setattr(LocalBackend, "_answers", disturbed)
    code, _, err = penchant("run", study, "-o", "out", "--batch-tokens", 128)
    assert (code, err.count("model.safetensors")) == (2, 1), err
    assert penchant("run", study, "-o", "out", "--resume")[0] == 2  # the weights are still others
    (folder / "model.safetensors").write_bytes(before)
    assert penchant("run", study, "-o", "out", "--resume")[0] == 0
    for file in ("minimal-pairs", "minimal-pairs-2"):
        (right,), (found,) = ([*(tmp_path / out / file).glob("*/items.parquet")] for out in ("right", "out"))
        assert_frame_equal(pl.read_parquet(found), pl.read_parquet(right), abs_tol=4e-5)


def test_a_table_that_is_written_to_while_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("a,b\n")
    with pytest.raises(DataError), opened(file) as stream:
        stream.read(1)
        file.write_text("c,d,e\n")
