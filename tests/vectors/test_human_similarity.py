"""Judgements of similarity against gensim's own evaluation and ranks worked out by hand."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from penchant.errors import MethodError
from penchant.vectors import human_similarity
from penchant.vectors.human_similarity import similarity_tests
from penchant.vectors.saving import save_vectors
from penchant.vectors.static_vectors import read_vectors
from penchant.vectors.token_file import Trained

gensim = pytest.importorskip("gensim.models")
datapath = pytest.importorskip("gensim.test.utils").datapath


def vectors(words: list[str], matrix: Any) -> Trained:
    return Trained(tuple(words), np.ones(len(words), np.int64), np.asarray(matrix, np.float32), (), 0, 0, 0)


def judged(file: str) -> list[tuple[str, str, float]]:
    lines = [line.split("\t") for line in Path(datapath(file)).read_text("utf-8").split("\n")[2:] if line]
    return [(one, other, float(judgement)) for one, other, judgement in lines]


def of_the_tests(share: float, seed: int = 0) -> Trained:
    """Random vectors of some of the words in both tests, in random case, some twice."""
    rng = np.random.default_rng(seed)
    known = sorted({word for file in human_similarity.FILES.values() for pair in judged(file) for word in pair[:2]})
    words = [word for word in known if rng.random() < share]
    words = [[word, word.upper(), word.title()][rng.integers(3)] for word in words]
    words += [word.lower() for word in words if not word.islower() and rng.random() < 0.5]
    words = list(dict.fromkeys(rng.permutation(words).tolist()))
    return vectors(words, rng.normal(size=(len(words), 20)) + 0.2)


@pytest.mark.parametrize("share", [0.2, 0.6, 1.0])
def test_against_gensim(share: float) -> None:
    given = of_the_tests(share)
    other = gensim.KeyedVectors(20)
    other.add_vectors(list(given.words), given.matrix)
    found = similarity_tests(given)
    assert [(own.name, own.pairs) for own in found] == [("WordSim-353", 353), ("SimLex-999", 999)]
    for own, file in zip(found, human_similarity.FILES.values(), strict=True):
        _, spearman, missing = other.evaluate_word_pairs(datapath(file))
        assert own.rho == pytest.approx(spearman.statistic, abs=1e-6)
        assert own.p == pytest.approx(spearman.pvalue, rel=1e-4)
        assert own.covered == round(own.pairs * (1 - missing / 100))
        assert (share == 1.0) == (own.covered == own.pairs)


def test_from_a_file_and_from_loaded_vectors(tmp_path: Path) -> None:
    given = of_the_tests(0.5)
    save_vectors(given, tmp_path / "v.vec")
    assert similarity_tests(tmp_path / "v.vec") == similarity_tests(given)
    assert similarity_tests(str(tmp_path / "v.vec")) == similarity_tests(read_vectors(tmp_path / "v.vec"))


def test_ranks_by_hand() -> None:
    """love–sex 6.77, tiger–cat 7.35, tiger–tiger 10.00, book–paper 7.46 and plane–car 5.77, with angles to choose."""
    angles = {"LOVE": 0, "sex": 10, "tiger": 0, "Cat": 30, "book": 0, "paper": 20, "plane": 90, "car": 50}
    matrix = [[math.cos(math.radians(a)), math.sin(math.radians(a))] for a in angles.values()]
    related, similar = similarity_tests(vectors(list(angles), matrix))
    # judgements rank 2 3 5 4 1, cosines of 10°, 30°, 0°, 20°, 40° rank 4 2 5 3 1: ρ = 1 − 6·(4 + 1 + 0 + 1 + 0)/(5·24)
    assert related.covered == 5
    assert related.rho == pytest.approx(0.7)
    assert related.p == pytest.approx(2 * stats.t.sf(0.7 * math.sqrt(3 / (1 - 0.49)), 3))
    assert similar.covered < 3 and math.isnan(similar.rho) and math.isnan(similar.p)


@pytest.mark.filterwarnings("error")
def test_what_has_no_correlation_is_nan() -> None:
    two, _ = similarity_tests(vectors(["love", "sex", "tiger"], np.random.default_rng(0).normal(size=(3, 2))))
    assert (two.covered, math.isnan(two.rho), math.isnan(two.p)) == (2, True, True)
    words = ["love", "sex", "tiger", "cat", "book", "paper"]
    same, _ = similarity_tests(vectors(words, np.ones((6, 2))))
    assert (same.covered, math.isnan(same.rho)) == (4, True)  # no cosine differs from another
    matrix = np.random.default_rng(0).normal(size=(6, 2))
    matrix[words.index("cat")] = 0
    without, _ = similarity_tests(vectors(words, matrix))
    assert without.covered == 3 and math.isfinite(without.rho)  # of tiger and cat nothing can be said


def test_without_gensim(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "gensim"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(MethodError, match="the package gensim is missing"):
        similarity_tests(vectors(["a"], [[1.0]]))
