"""Models whose weights or configuration are damaged give an error that names model and text, never a number."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answers import Answer, refused
from builders import language_model, write_study
from penchant.engine.scorer import Scorer, score
from penchant.errors import ModelError
from penchant.study.model_check import check
from zoo import altered

Program = Callable[..., Answer]
Zoo = Callable[[str], Path]


def filled(value: float, part: str = "word_embeddings", rows: slice = slice(None)) -> Callable[[Any], None]:
    """Make some rows of the weights with a part in their name `value`."""

    def change(weights: Any) -> None:
        names = [name for name in weights if part in name]
        assert names
        for name in names:
            weights[name][rows] = value

    return change


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(("name", "part"), [("bert", "word_embeddings"), ("gpt2", "wte")])
def test_embeddings_that_are_no_numbers(
    penchant: Program, zoo: Zoo, tmp_path: Path, name: str, part: str, value: float
) -> None:
    bad = altered(zoo(name), tmp_path / "bad", weights=filled(value, part))
    (tmp_path / "s.txt").write_text("The cats sleep.\n", "utf-8")
    refused(penchant("score", "-m", bad, "s.txt"), "bad@", "'", "returned nan for")
    (tmp_path / "p.tsv").write_text("good\tbad\nThe cats sleep.\tThe cats sleeps.\n", "utf-8")
    write_study(tmp_path / "study.yaml", [bad], {"minimal-pairs": {"data": "p.tsv"}})
    refused(penchant("run", "study.yaml", "-o", "out"), "returned nan for")
    code, out, err = penchant("check", "-m", bad)
    assert code == 2
    assert "nan" in out
    assert "answers" in err


def test_one_damaged_word_is_found_where_it_is_read(zoo: Zoo, tmp_path: Path) -> None:
    whole = language_model(zoo("bert"))
    token = whole.tokenizer.encode(["cats"])[0].tokens[0]
    one = filled(math.nan, rows=slice(token, token + 1))
    bad = language_model(altered(zoo("bert"), tmp_path / "bad", weights=one))
    good = list(Scorer(bad).sentence_vectors([("A dog sings.", "line 1")]))
    np.testing.assert_array_equal(good, list(Scorer(whole).sentence_vectors([("A dog sings.", "line 1")])))
    with pytest.raises(ModelError, match=r"bad@.*nan for a vector in '.*cats"):
        list(Scorer(bad).sentence_vectors([("The cats sleep.", "line 1")]))
    with pytest.raises(ModelError, match="bad@"):  # the head is tied to the embeddings
        score(bad, ["A dog sings."])


@pytest.mark.parametrize("kind", ["pll", "aul", "aula", "pll-word-l2r"])
def test_a_layer_norm_that_gives_no_number(zoo: Zoo, tmp_path: Path, kind: str) -> None:
    bad = language_model(altered(zoo("bert"), tmp_path / "bad", layer_norm_eps=math.nan))
    with pytest.raises(ModelError, match="returned nan"):
        score(bad, ["The cats sleep."], method=kind)
    assert [f.name for f in check(bad) if f.verdict == "fail"] == ["answers"]
    assert [f.name for f in check(bad, scores=False) if f.verdict == "fail"] == ["answers"]


def test_no_filler_comes_of_it(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    bad = altered(zoo("bert"), tmp_path / "bad", layer_norm_eps=math.nan)
    refused(penchant("fill", "-m", bad, "The [MASK] sleep."), "returned nan for a log-probability")


def test_a_number_format_that_is_too_small(zoo: Zoo, tmp_path: Path) -> None:
    """Activations above 65,504 are infinite in float16 alone."""
    big = altered(zoo("bert"), tmp_path / "one", weights=filled(3e4))
    big = altered(big, tmp_path / "big", weights=filled(3e4, "intermediate.dense.weight"))
    model = language_model(big, dtype="float16")
    with pytest.raises(ModelError, match="number format"):
        score(model, ["The cats sleep."])
