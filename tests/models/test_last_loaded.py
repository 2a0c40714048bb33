"""A model that calls name again is read once, and anew as soon as its files, its name or a setting differ."""

from __future__ import annotations

import gc
import os
import shutil
import time
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

import penchant as pc
import zoo as tiny
from builders import refusal, write
from penchant.models import last_loaded as kept
from penchant.models.last_loaded import loaded, release
from penchant.models.load import Model

Zoo = Callable[[str], Path]
TEXT = "The keys to the cabinet are on the table."


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names whose weights are read, in order."""
    names: list[str] = []

    def load(spec: str | Path, **options: object) -> Model:
        names.append(Path(spec).name)
        return pc.load(spec, **options)  # type: ignore[arg-type]

    def load_vectors(path: str | Path) -> Model:
        names.append(Path(path).name)
        return pc.load_vectors(path)

    monkeypatch.setattr(kept, "load", load)
    monkeypatch.setattr(kept, "load_vectors", load_vectors)
    release()
    yield names
    release()


def alone(model: Path) -> float:
    return float(pc.score(pc.load(model), TEXT)["score"][0])


def test_every_kind_of_call_shares_one_reading(zoo: Zoo, reads: list[str]) -> None:
    name = str(zoo("bert"))
    assert pc.score(name, TEXT)["score"][0] == alone(zoo("bert"))
    pc.surprisal(name, TEXT)
    pc.fill(name, "The [MASK] sleeps.")
    pc.embed(name, [TEXT])
    pc.check(name)
    pc.MinimalPairs(tiny.PAIRS).run(name)
    assert reads == ["bert"]


def test_one_model_is_kept_and_the_one_before_let_go(zoo: Zoo, reads: list[str]) -> None:
    first = weakref.ref(loaded(zoo("bert")).network)  # type: ignore[union-attr]
    loaded(zoo("gpt2"))
    gc.collect()
    assert first() is None
    loaded(zoo("gpt2"))
    loaded(zoo("bert"))
    assert reads == ["bert", "gpt2", "bert"]


def test_a_study_needs_the_memory(zoo: Zoo, reads: list[str], tmp_path: Path) -> None:
    first = weakref.ref(loaded(zoo("bert")).network)  # type: ignore[union-attr]
    pairs = write(tmp_path / "pairs.tsv", "good\tbad\n" + "".join(f"{a}\t{b}\n" for a, b in tiny.PAIRS))
    probes = [{"minimal-pairs": {"data": str(pairs)}}]
    pc.run({"study": "s", "models": [str(zoo("gpt2"))], "probes": probes}, tmp_path / "out")
    gc.collect()
    assert first() is None


@pytest.mark.parametrize("age", [0, 3600])
def test_other_weights_in_the_same_place_are_read(zoo: Zoo, reads: list[str], tmp_path: Path, age: int) -> None:
    model = shutil.copytree(zoo("bert"), tmp_path / "model")
    before = time.time() - age
    os.utime(model / "model.safetensors", (before, before))
    first = pc.score(model, TEXT)["score"][0]
    weights = load_file(model / "model.safetensors")
    save_file({name: weight * 1.5 for name, weight in weights.items()}, model / "model.safetensors", {"format": "pt"})
    os.utime(model / "model.safetensors", (before, before))
    assert pc.score(model, TEXT)["score"][0] == alone(model) != first
    assert reads == ["model", "model"]


def test_a_copy_is_called_by_its_own_name(zoo: Zoo, reads: list[str], tmp_path: Path) -> None:
    shutil.copytree(zoo("bert"), tmp_path / "twin")
    assert loaded(zoo("bert")).name.startswith("bert@")
    assert loaded(tmp_path / "twin").name.startswith("twin@")
    assert reads == ["bert", "twin"]


def test_settings_tell_models_apart(zoo: Zoo, reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(zoo("bert"))
    assert loaded(zoo("bert"), dtype="float64").dtype == "float64"  # type: ignore[union-attr]
    loaded(zoo("bert"), dtype="float64", device="cpu")
    monkeypatch.setenv("PENCHANT_PLAIN", "1")
    loaded(zoo("bert"), dtype="float64", device="cpu")
    assert len(reads) == 4


def test_word_vectors_are_kept_too(reads: list[str], tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("2 2\nking 1 0\nqueen 0 1\n", "utf-8")
    assert loaded(tmp_path / "v.txt") is loaded(tmp_path / "v.txt")
    assert reads == ["v.txt"]


def test_a_name_of_nothing_says_what_load_says(zoo: Zoo, reads: list[str], tmp_path: Path) -> None:
    loaded(zoo("bert"))
    for name in (tmp_path / "none", "bundled:none"):
        assert refusal(partial(pc.score, name, TEXT)) == refusal(partial(pc.load, name), pc.ModelError)
