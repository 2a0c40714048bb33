"""Two models that compute different things have different fingerprints; a checkpoint is read whole or refused."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from builders import language_model, refusal
from penchant.errors import CacheError, ModelError
from penchant.files import sha256_file
from penchant.models.file_hashes import Digests
from penchant.models.load import fingerprint, load, load_vectors
from penchant.study.model_check import check
from zoo import altered

Zoo = Callable[[str], Path]


@pytest.fixture
def sharded(zoo: Zoo, tmp_path: Path) -> Path:
    """A model in two parts that an index names, one of them in a subfolder."""
    folder = tmp_path / "sharded"
    shutil.copytree(zoo("bert"), folder)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    (folder / "parts").mkdir()
    names = sorted(weights)
    where: dict[str, str] = {}
    for file, chosen in (("one.safetensors", names[::2]), ("parts/two.safetensors", names[1::2])):
        save_file({name: weights[name] for name in chosen}, folder / file, {"format": "pt"})
        where |= dict.fromkeys(chosen, file)
    index = {"metadata": {"total_size": 0}, "weight_map": where}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")
    return folder


def test_every_part_that_the_index_names_counts(sharded: Path) -> None:
    before = fingerprint(str(sharded), Digests(None))
    model = language_model(sharded)
    assert model.fingerprint == before
    weights = load_file(sharded / "parts" / "two.safetensors")
    name = next(iter(weights))
    weights[name].view(-1)[0] += 1
    save_file(weights, sharded / "parts" / "two.safetensors", {"format": "pt"})
    assert fingerprint(str(sharded), Digests(None)) != before


def test_a_part_that_is_not_there_or_lies_outside(sharded: Path, tmp_path: Path) -> None:
    shutil.move(sharded / "parts" / "two.safetensors", tmp_path / "two.safetensors")
    for loader in (load, lambda spec: fingerprint(str(spec), Digests(None))):
        with pytest.raises(ModelError, match=r"two\.safetensors"):
            loader(sharded)
    index = sharded / "model.safetensors.index.json"
    index.write_text(index.read_text("utf-8").replace("parts/two", "../two"), "utf-8")
    with pytest.raises(ModelError, match="outside"):
        fingerprint(str(sharded), Digests(None))


@pytest.mark.parametrize(
    "name",
    ["tokenizer.json", "config.json", "tokenizer_config.json", "bpe.codes", "source.spm", "vocab.pkl", "code/model.py"],
)
def test_every_setting_counts(zoo: Zoo, tmp_path: Path, name: str) -> None:
    shutil.copytree(zoo("bert"), tmp_path / "m")
    (tmp_path / "m" / "code").mkdir()
    with (tmp_path / "m" / name).open("a", encoding="utf-8") as stream:
        stream.write(" ")
    before = fingerprint(str(tmp_path / "m"), Digests(None))
    with (tmp_path / "m" / name).open("a", encoding="utf-8") as stream:
        stream.write(" ")
    assert fingerprint(str(tmp_path / "m"), Digests(None)) != before


@pytest.mark.parametrize("name", ["bert", "gpt2", "roberta", "distilbert", "llama", "modernbert", "bert-headless"])
def test_layers_that_the_configuration_leaves_out(zoo: Zoo, tmp_path: Path, name: str) -> None:
    key = {"gpt2": "n_layer", "distilbert": "n_layers"}.get(name, "num_hidden_layers")
    assert json.loads((zoo(name) / "config.json").read_text("utf-8"))[key] > 1
    fewer: dict[str, Any] = {key: 1, "layer_types": None}
    altered(zoo(name), tmp_path / "m", **fewer)
    with pytest.raises(ModelError, match="omits"):
        load(tmp_path / "m")


def test_a_head_that_is_left_behind_is_said(zoo: Zoo, tmp_path: Path) -> None:
    """As in a checkpoint of pre-training, whose head for the next sentence nothing here reads."""

    def head(weights: Any) -> None:
        weights["cls.seq_relationship.weight"] = weights["cls.predictions.bias"].clone()

    model = language_model(altered(zoo("bert"), tmp_path / "m", weights=head))
    assert model.unused == ("cls.seq_relationship.weight",)
    assert any("cls.seq_relationship.weight" in finding.detail for finding in check(model))
    for name in ("bert", "gpt2", "roberta", "albert", "electra-generator"):
        assert language_model(zoo(name)).unused == ()


def test_adapters_are_refused(zoo: Zoo, tmp_path: Path) -> None:
    shutil.copytree(zoo("gpt2"), tmp_path / "a")
    (tmp_path / "a" / "adapter_config.json").write_text("{}", "utf-8")
    assert "adapter" in refusal(lambda: load(tmp_path / "a"), ModelError)


def test_a_numpy_matrix_of_any_name_has_one_fingerprint(tmp_path: Path) -> None:
    with (tmp_path / "v.bin").open("wb") as stream:
        np.save(stream, np.eye(2, dtype=np.float32))
    (tmp_path / "v.vocab").write_text("a\nb\n", "utf-8")
    assert load_vectors(tmp_path / "v.bin").fingerprint == fingerprint(str(tmp_path / "v.bin"), Digests(None))


def test_code_of_another_repository_is_refused(zoo: Zoo, tmp_path: Path) -> None:
    altered(zoo("bert"), tmp_path / "m", auto_map={"AutoModelForMaskedLM": "somebody/else--modeling.Model"})
    load(tmp_path / "m")  # no code is run
    with pytest.raises(ModelError, match="somebody/else"):
        load(tmp_path / "m", trust_remote_code=True)


class TestDigests:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "weights"
        path.write_bytes(b"one")
        old = time.time() - 60
        os.utime(path, (old, old))
        return path

    def test_a_file_is_read_once(self, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        memory = Digests(tmp_path / "c.sqlite")
        digest = memory.sha256(file)
        monkeypatch.setattr("penchant.models.file_hashes.sha256_file", lambda path: "read again")
        assert Digests(tmp_path / "c.sqlite").sha256(file) == digest
        assert Digests(tmp_path / "c.sqlite", forced=True).sha256(file) == "read again"

    @pytest.mark.parametrize("same_time", [True, False])
    def test_a_file_that_changed_is_read_again(self, file: Path, tmp_path: Path, same_time: bool) -> None:
        memory = Digests(tmp_path / "c.sqlite")
        before, stat = memory.sha256(file), file.stat()
        file.write_bytes(b"two")
        if same_time:  # the time of change of the inode shows it all the same
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert memory.sha256(file) != before

    def test_a_damaged_memory_is_not_believed(self, file: Path, tmp_path: Path) -> None:
        memory = Digests(tmp_path / "c.sqlite")
        digest = memory.sha256(file)
        with sqlite3.connect(tmp_path / "c.sqlite") as db:
            db.execute("UPDATE files SET sha256 = 'f' || substr(sha256, 2)")
        assert memory.sha256(file) == digest

    @pytest.mark.parametrize("name", ["answers", "files"])
    def test_a_view_that_never_ends_is_no_table(self, file: Path, tmp_path: Path, name: str) -> None:
        with sqlite3.connect(tmp_path / "c.sqlite") as db:
            endless = "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
            db.execute(f"CREATE VIEW {name} AS {endless}")
        with pytest.raises(CacheError, match="other tables"):
            Digests(tmp_path / "c.sqlite").sha256(file)

    def test_it_shares_the_file_of_answers(self, file: Path, tmp_path: Path) -> None:
        from penchant.engine.answer_cache import Cache

        Digests(tmp_path / "c.sqlite").sha256(file)
        Cache(tmp_path / "c.sqlite", "m", "float32").close()
        Digests(tmp_path / "c.sqlite").sha256(file)

    @pytest.mark.parametrize(
        "command", [["score", "LINES"], ["embed", "LINES"], ["surprisal", "LINES"], ["fill", "A [MASK]."], ["check"]]
    )
    def test_every_command_with_a_model_remembers(
        self,
        command: list[str],
        penchant: Any,
        zoo: Zoo,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        folder, lines = tmp_path / "copy", tmp_path / "lines.txt"
        shutil.copytree(zoo("bert"), folder)
        lines.write_text("One sentence.\n", "utf-8")
        old = time.time() - 60
        for file in folder.iterdir():
            os.utime(file, (old, old))
        read: list[Path] = []

        def hashed(path: Path) -> str:
            read.append(path)
            return sha256_file(path)

        monkeypatch.setattr("penchant.models.file_hashes.sha256_file", hashed)
        arguments = [str(lines) if part == "LINES" else part for part in command]
        for expected in (["model.safetensors"], [], ["model.safetensors"]):
            assert penchant(arguments[0], "-m", folder, *arguments[1:])[0] == 0
            assert [path.name for path in read if path.suffix == ".safetensors"] == expected
            if not expected:
                os.utime(folder / "model.safetensors", (old + 1, old + 1))
            read.clear()
