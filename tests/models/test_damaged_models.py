"""Models whose weights or configuration are damaged give an error that names model and text, never a number."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from answers import Answer, refused
from penchant.engine.scorer import Scorer, score
from penchant.errors import ModelError
from penchant.models.load import LanguageModel, load
from penchant.study.check import check

Program = Callable[..., Answer]
Zoo = Callable[[str], Path]


def with_weights(model: Path, to: Path, value: float, *, part: str = "word_embeddings", rows: slice) -> Path:
    """A copy of a checkpoint in which some rows of a weight are `value`."""
    shutil.copytree(model, to)
    weights = load_file(to / "model.safetensors")
    names = [name for name in weights if part in name]
    assert names
    for name in names:
        weights[name][rows] = value
    save_file(weights, to / "model.safetensors", {"format": "pt"})
    return to


def configured(model: Path, to: Path, **values: object) -> Path:
    """A copy of a checkpoint with other values in its configuration."""
    shutil.copytree(model, to)
    content = json.loads((to / "config.json").read_text("utf-8"))
    (to / "config.json").write_text(json.dumps({**content, **values}), "utf-8")
    return to


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(("name", "part"), [("bert", "word_embeddings"), ("gpt2", "wte")])
def test_embeddings_that_are_no_numbers(
    penchant: Program, zoo: Zoo, tmp_path: Path, name: str, part: str, value: float
) -> None:
    bad = with_weights(zoo(name), tmp_path / "bad", value, part=part, rows=slice(None))
    (tmp_path / "s.txt").write_text("The cats sleep.\n", "utf-8")
    refused(penchant("score", "-m", bad, "s.txt"), "bad@", "'", "damaged")
    (tmp_path / "p.tsv").write_text("good\tbad\nThe cats sleep.\tThe cats sleeps.\n", "utf-8")
    (tmp_path / "study.yaml").write_text(
        f"study: s\nmodels: ['{bad}']\nprobes: [{{minimal-pairs: {{data: p.tsv}}}}]\n", "utf-8"
    )
    refused(penchant("run", "study.yaml", "-o", "out"), "answers nan for")
    code, out, err = penchant("check", "-m", bad)
    assert code == 2
    assert "nan" in out
    assert "answers" in err


def test_one_damaged_word_is_found_where_it_is_read(zoo: Zoo, tmp_path: Path) -> None:
    whole = load(zoo("bert"))
    assert isinstance(whole, LanguageModel)
    token = whole.tokenizer.encode(["cats"])[0].tokens[0]
    bad = load(with_weights(zoo("bert"), tmp_path / "bad", math.nan, rows=slice(token, token + 1)))
    assert isinstance(bad, LanguageModel)
    good = list(Scorer(bad).sentence_vectors([("A dog sings.", "line 1")]))
    np.testing.assert_array_equal(good, list(Scorer(whole).sentence_vectors([("A dog sings.", "line 1")])))
    with pytest.raises(ModelError, match=r"bad@.*nan for a vector in '.*cats"):
        list(Scorer(bad).sentence_vectors([("The cats sleep.", "line 1")]))
    with pytest.raises(ModelError, match="bad@"):  # the head is tied to the embeddings
        score(bad, ["A dog sings."])


@pytest.mark.parametrize("kind", ["pll", "aul", "aula", "pll-word-l2r"])
def test_a_layer_norm_that_gives_no_number(zoo: Zoo, tmp_path: Path, kind: str) -> None:
    bad = load(configured(zoo("bert"), tmp_path / "bad", layer_norm_eps=math.nan))
    assert isinstance(bad, LanguageModel)
    with pytest.raises(ModelError, match="answers nan"):
        score(bad, ["The cats sleep."], method=kind)
    assert [f.name for f in check(bad) if f.verdict == "fail"] == ["answers"]
    assert [f.name for f in check(bad, scores=False) if f.verdict == "fail"] == ["answers"]


def test_no_filler_comes_of_it(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    bad = configured(zoo("bert"), tmp_path / "bad", layer_norm_eps=math.nan)
    refused(penchant("fill", "-m", bad, "The [MASK] sleep."), "answers nan for a log-probability")


def test_a_number_format_that_is_too_small(zoo: Zoo, tmp_path: Path) -> None:
    """Activations above 65,504 are infinite in float16 alone."""
    big = with_weights(zoo("bert"), tmp_path / "big", 3e4, part="word_embeddings", rows=slice(None))
    weights = load_file(big / "model.safetensors")
    for name in [name for name in weights if "intermediate.dense.weight" in name]:
        weights[name] = torch.full_like(weights[name], 3e4)
    save_file(weights, big / "model.safetensors", {"format": "pt"})
    model = load(big, dtype="float16")
    assert isinstance(model, LanguageModel)
    with pytest.raises(ModelError, match="number format"):
        score(model, ["The cats sleep."])
