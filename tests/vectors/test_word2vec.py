"""word2vec as gensim trains it, whatever the hash seed and the length of sentences, and structure planted in text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import training_text
from builders import error_of, write
from penchant.errors import DataError, MethodError
from penchant.vectors.token_file import read_tokens
from penchant.vectors.word2vec import Word2Vec

gensim = pytest.importorskip("gensim.models")


def save(folder: Path, *lines: str) -> Path:
    return write(folder / "tokens.txt", "".join(f"{line}\n" for line in lines))


def text(sentences: int = 300, seed: int = 0) -> list[list[str]]:
    """Words w0 to w8, of which no two are equally frequent."""
    random = Random(seed)
    return [random.choices([f"w{i}" for i in range(9)], [2.0**-i for i in range(9)], k=9) for _ in range(sentences)]


def beginnings(words: int, how: Word2Vec) -> Any:
    """The vectors before training, which gensim draws between −1/size and 1/size."""
    numbers = np.random.default_rng(how.seed).random((words, how.size), dtype=np.float32)
    return (2 * numbers - 1) / how.size


@pytest.mark.parametrize("skip_gram", [True, False])
def test_as_gensim_trains_on_lists(tmp_path: Path, skip_gram: bool) -> None:
    """Given a text so short that the rate falls by epochs only; gensim counts words and orders them by itself."""
    how = Word2Vec(size=12, window=3, min_count=2, epochs=4, negative=3, skip_gram=skip_gram, sample=0.01, seed=9)
    sentences = text()
    found = how.train(save(tmp_path, *map(" ".join, sentences)))
    expected = gensim.Word2Vec(
        sentences,
        vector_size=12,
        window=3,
        min_count=2,
        epochs=4,
        negative=3,
        sg=int(skip_gram),
        sample=0.01,
        seed=9,
        workers=1,
    ).wv
    assert list(found.words) == expected.index_to_key
    assert found.counts.tolist() == [expected.get_vecattr(word, "count") for word in found.words]
    np.testing.assert_array_equal(found.matrix, expected.vectors)
    assert np.abs(found.matrix - beginnings(len(found.words), how)).max() > 0.01


def test_what_comes_with_the_vectors(tmp_path: Path) -> None:
    path = save(tmp_path, "b a x", "y", "", "a b y é", "b é")
    found = Word2Vec(size=3, min_count=2, epochs=2).train(path)
    assert (found.words, found.counts.tolist()) == (("b", "a", "y", "é"), [3, 2, 2, 2])
    assert (found.tokens, found.kept, found.sentences, found.losses) == (10, 9, 4, ())
    assert found.matrix.shape == (4, 3) and found.matrix.dtype == np.float32


CODE = """
import sys
from penchant.vectors.word2vec import Word2Vec
sys.stdout.buffer.write(Word2Vec(size=10, epochs=2, min_count=1).train(sys.argv[1]).matrix.tobytes())
"""


def test_the_same_vectors_in_every_process(tmp_path: Path) -> None:
    path = save(tmp_path, *map(" ".join, text()))
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", CODE, str(path)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    ]
    first, second = (run.communicate()[0] for run in runs)
    assert [run.returncode for run in runs] == [0, 0]
    here = Word2Vec(size=10, epochs=2, min_count=1).train(path).matrix.tobytes()
    assert len(here) == 9 * 10 * 4 and first == second == here
    assert Word2Vec(size=10, epochs=2, min_count=1, seed=1).train(path).matrix.tobytes() != here


@pytest.mark.parametrize("skip_gram", [True, False])
def test_no_token_of_a_long_sentence_is_lost(tmp_path: Path, skip_gram: bool) -> None:
    """gensim passes over what follows the first 10,000 words of a sentence."""
    words = [f"w{i // 100}" for i in range(25_000)]
    how = Word2Vec(size=4, min_count=1, epochs=1, sample=0.0, skip_gram=skip_gram)
    found = how.train(save(tmp_path, " ".join(words)))
    order = [int(word[1:]) for word in found.words]
    assert sorted(order) == list(range(250)) and found.kept == 25_000
    assert (found.matrix != beginnings(250, how)).any(axis=1).all()


def test_sentences_are_given_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from penchant.vectors import word2vec

    corpus = read_tokens(save(tmp_path, "a b rare a b a b", "a", "rarer", "b b a"), 2)
    sentences = word2vec._Sentences(corpus)
    expected = [["a", "b", "a", "b", "a", "b"], ["a"], ["b", "b", "a"]]
    assert [list(sentences), list(sentences)] == [expected, expected]
    monkeypatch.setattr(word2vec, "_LONGEST", 4)
    assert list(sentences) == [["a", "b", "a", "b"], ["a", "b"], ["a"], ["b", "b", "a"]]


def test_progress_by_epoch(tmp_path: Path) -> None:
    shares: list[float] = []
    Word2Vec(size=2, epochs=4).train(save(tmp_path, "a b " * 9), shares.append)
    assert shares == [0.25] * 4


@pytest.mark.parametrize("skip_gram", [True, False])
def test_planted_structure(tmp_path: Path, skip_gram: bool) -> None:
    found = Word2Vec(size=20, epochs=10, sample=0.0, skip_gram=skip_gram).train(
        training_text.planted(tmp_path / "text")
    )
    vectors = dict(zip(found.words, found.matrix, strict=True))
    assert training_text.separation(vectors) > 0.4
    assert training_text.analogies(vectors) > 0.95


@pytest.mark.slow
@training_text.needs_corpora
def test_similar_words_of_english(tmp_path: Path) -> None:
    """Two million tokens are few: correlations are small, but without any they would be below 0.14 and 0.08 in 95 of
    100."""
    from penchant.vectors.human_similarity import similarity_tests

    path = training_text.english(tmp_path / "text", "modern_english", "early_modern_english")
    related, similar = similarity_tests(Word2Vec().train(path))
    assert related.covered > 200 and related.rho > 0.14
    assert similar.covered > 700 and similar.rho > 0.12


@pytest.mark.parametrize(
    ("names", "value", "message"),
    [
        ("size window min_count epochs negative workers", 0, "must be at least 1"),
        ("seed", -1, "must be at least 0"),
        ("seed", 1 << 32, "must be below 4294967296"),
        ("sample", -0.1, "must be at least 0 and below 1"),
        ("sample", 1.0, "must be at least 0 and below 1"),
    ],
)
def test_parameters_that_make_no_sense(names: str, value: Any, message: str) -> None:
    for name in names.split():
        error = error_of(lambda name=name: Word2Vec(**{name: value}), MethodError)  # type: ignore[misc]
        assert error.message.endswith(f"{name} {message}, got {value}")


def test_the_largest_seed_works(tmp_path: Path) -> None:
    Word2Vec(size=2, seed=(1 << 32) - 1).train(save(tmp_path, "a b " * 9))


def test_texts_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="fewer than two words reach the minimum count of 5"):
        Word2Vec().train(save(tmp_path, "a b c"))


def test_without_gensim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "gensim"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(MethodError, match=r"the package gensim is missing — pip install 'penchant\[vectors\]'"):
        Word2Vec().train(save(tmp_path, "a b"))
