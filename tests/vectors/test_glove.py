"""GloVe against a plain transcription of the algorithm, derivatives of its cost, and structure planted in text."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute_glove
import training_text
from builders import error_of, write
from penchant.errors import DataError, MethodError, ModelError
from penchant.vectors import glove
from penchant.vectors.glove import GloVe, cooccurrences
from penchant.vectors.human_similarity import similarity_tests
from penchant.vectors.token_file import TokenFile, Trained, read_tokens

pytest.importorskip("numba")
from penchant.vectors import training_kernels


def save(folder: Path, *lines: str, name: str = "tokens.txt") -> Path:
    return write(folder / name, "".join(f"{line}\n" for line in lines))


def zipf_text(sentences: int = 60, words: int = 12, seed: int = 0) -> list[list[str]]:
    random = Random(seed)
    shares = [1 / rank for rank in range(1, words + 1)]
    return [random.choices([f"w{i}" for i in range(words)], shares, k=random.randrange(13)) for _ in range(sentences)]


# --- vocabulary ---------------------------------------------------------------------------------------------------


def test_the_vocabulary_of_a_file(tmp_path: Path) -> None:
    corpus = read_tokens(save(tmp_path, "b a é b", "", "c  z", "a Z z 😀", "q ﬁ"), 1)
    # a, b and z twice; then by code point, while UTF-16 has 😀 before ﬁ and many a locale c before Z
    assert corpus.words == ("a", "b", "z", "Z", "c", "q", "é", "ﬁ", "😀")
    assert corpus.counts.tolist() == [2, 2, 2, 1, 1, 1, 1, 1, 1]
    assert (corpus.tokens, corpus.sentences) == (12, 4)
    assert corpus.ids.tolist() == [1, 0, 6, 1, 4, 2, 0, 3, 2, 8, 5, 7]
    assert corpus.lengths.tolist() == [4, 2, 4, 2]


def test_rare_tokens_are_counted_but_not_kept(tmp_path: Path) -> None:
    corpus = read_tokens(save(tmp_path, "b a x", "y", "a b y", "b"), 2)
    assert corpus.words == ("b", "a", "y")
    assert corpus.ids.tolist() == [0, 1, 2, 1, 0, 2, 0]
    assert corpus.lengths.tolist() == [2, 1, 3, 1]
    assert (corpus.tokens, corpus.sentences) == (8, 4)


def test_files_from_elsewhere(tmp_path: Path) -> None:
    # A byte order mark, carriage returns, no last line end.
    path = write(tmp_path / "windows.txt", "\ufeffঘর a\r\na\u00a0ঘর".encode())
    assert read_tokens(path).words == ("a", "ঘর")


@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "B", "é", "ß", "য়", "😀", "1"]), max_size=8), max_size=8),
    st.integers(1, 4),
)
@settings(max_examples=60, deadline=None)
def test_vocabularies_against_plain_counting(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[str]], min_count: int
) -> None:
    path = save(tmp_path_factory.mktemp("v"), *(" ".join(own) for own in sentences))
    expected = brute_glove.vocabulary(sentences, min_count)
    kept = {word for word, _ in expected}
    if len(kept) < 2 or all(sum(token in kept for token in own) < 2 for own in sentences):
        with pytest.raises(DataError):
            read_tokens(path, min_count)
        return
    corpus = read_tokens(path, min_count)
    assert list(zip(corpus.words, corpus.counts.tolist(), strict=True)) == expected


@pytest.mark.parametrize(
    ("content", "min_count", "message"),
    [
        (b"", 1, "contains no tokens"),
        (b"\n \n", 1, "contains no tokens"),
        (b"a b\n", 2, "fewer than two words reach the minimum count of 2"),
        (b"a b\na\n", 2, "fewer than two words reach the minimum count of 2"),
        (b"a x\nb y\na\nb\n", 2, "no sentence contains two words of the vocabulary"),
        (b"a\nb\n", 1, "no sentence contains two words of the vocabulary"),
        (b"a b\n\nc \xff\n", 1, "is not UTF-8 (byte 0xff)"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, content: bytes, min_count: int, message: str) -> None:
    path = write(tmp_path / "tokens.txt", content)
    error = error_of(lambda: read_tokens(path, min_count), DataError)
    assert (error.file, error.line) == (path, 3 if b"\xff" in content else None)
    assert error.message.startswith(message) and error.hint


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        GloVe().train(tmp_path / "none")
    with pytest.raises(DataError, match="is a directory"):
        read_tokens(tmp_path)


# --- counting -----------------------------------------------------------------------------------------------------


def as_table(found: glove.Cooccurrences) -> dict[tuple[int, int], float]:
    """Both triangles."""
    pairs = [tuple(pair) for pair in found.pairs.tolist()]
    assert pairs == sorted(set(pairs)) and all(i <= j for i, j in pairs)
    own = dict(zip(pairs, found.counts.tolist(), strict=True))
    return own | {(j, i): x for (i, j), x in own.items()}


def test_a_sentence_worked_by_hand(tmp_path: Path) -> None:
    corpus = read_tokens(save(tmp_path, "a b c a", "b"), 1)
    assert corpus.words == ("a", "b", "c")
    found = as_table(cooccurrences(corpus, 3))
    # a at 0 and 3, b at 1, c at 2: a-b 1 + 1/2, a-c 1/2 + 1, b-c 1, and each a is 3 from the other
    expected = {(0, 0): 2 / 3, (0, 1): 1.5, (1, 0): 1.5, (0, 2): 1.5, (2, 0): 1.5, (1, 2): 1.0, (2, 1): 1.0}
    assert found == pytest.approx(expected)
    assert (0, 0) not in as_table(cooccurrences(corpus, 2))


@given(
    st.lists(st.lists(st.integers(0, 5), max_size=9), min_size=1, max_size=12),
    st.integers(1, 12),
    st.sampled_from([1, 7, 40, 1 << 20]),
    st.integers(1, 20),
)
@settings(max_examples=150, deadline=None)
def test_counts_against_three_loops(sentences: list[list[int]], window: int, at_once: int, shares: int) -> None:
    """Whatever the sizes of what is held at once and of what is merged."""
    ids = np.array([word for own in sentences for word in own], np.int32)
    lengths = np.array([len(own) for own in sentences], np.int32)
    words = tuple("abcdef")
    corpus = TokenFile(words, np.bincount(ids, minlength=6), ids, lengths, len(ids), len(lengths))
    expected = brute_glove.cooccurrences(sentences, window)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(glove, "_PAIRS_AT_ONCE", at_once)
        patch.setattr(glove, "_SHARES", shares)
        assert as_table(cooccurrences(corpus, window)) == pytest.approx(expected, rel=1e-12)


def test_rare_words_are_no_distance(tmp_path: Path) -> None:
    corpus = read_tokens(save(tmp_path, "a rare b", "a odd and b"), 2)
    assert as_table(cooccurrences(corpus, 1)) == {(0, 1): 2.0, (1, 0): 2.0}


def test_a_window_that_no_code_can_hold() -> None:
    words: Any = range(1 << 31)
    corpus = TokenFile(words, np.ones(1, np.int64), np.zeros(9, np.int32), np.array([9], np.int32), 9, 1)
    assert as_table(cooccurrences(corpus, 2)) == {(0, 0): 2 * (8 + 7 / 2)}
    with pytest.raises(MethodError, match=r"window 3 is too wide for 2147483648 words: .* 2\^63 — give a smaller"):
        cooccurrences(corpus, 3)


# --- the order of visits ------------------------------------------------------------------------------------------


def order_of(pairs: Any, state: int, bits: int = 8) -> Any:
    pairs = np.array(pairs, np.int32)
    order = np.empty(2 * len(pairs) - int((pairs[:, 0] == pairs[:, 1]).sum()), np.uint32)
    training_kernels.shuffle(pairs, order, np.uint64(state), bits)
    return order


def test_every_entry_is_visited_from_both_sides_once() -> None:
    pairs = [(i, j) for i in range(80) for j in range(i, 80)]
    order = order_of(pairs, 3)
    visits = [pairs[visit >> 1][:: -1 if visit & 1 else 1] for visit in order.tolist()]
    assert sorted(visits) == list(itertools.product(range(80), repeat=2))
    assert visits != sorted(visits)
    assert order.tolist() != order_of(pairs, 4).tolist()
    assert order.tolist() == order_of(pairs, 3).tolist()


@pytest.mark.parametrize("bits", [1, 2, 8])
def test_all_orders_are_equally_likely(bits: int) -> None:
    """However few the heaps. χ² with 23 degrees of freedom: above 52.6 once in 2,500 times, were they so."""
    states = np.random.default_rng(0).integers(1 << 64, size=12_000, dtype=np.uint64)
    found = Counter(tuple(order_of([(0, 1), (2, 3)], int(state), bits).tolist()) for state in states)
    assert sum((found[order] - 500) ** 2 / 500 for order in itertools.permutations(range(4))) < 52.6


def test_places_do_not_depend_on_where_a_visit_comes_from() -> None:
    """Mean places of the first and last thousand of 60,000: sd of a mean is 17,321/√1000 = 548."""
    order = order_of([(0, 1)] * 30_000, 1)
    place = np.argsort(order)
    assert np.abs(np.array([place[:1000].mean(), place[-1000:].mean()]) - 30_000) == pytest.approx([0, 0], abs=2_000)


# --- training -----------------------------------------------------------------------------------------------------


def by_hand(how: GloVe, sentences: list[list[str]]) -> tuple[list[list[float]], list[float]]:
    """The same training, number after number: beginnings row by row, then an order for each epoch."""
    words = [word for word, _ in brute_glove.vocabulary(sentences, how.min_count)]
    ids = [[words.index(token) for token in sentence if token in words] for sentence in sentences]
    x = brute_glove.cooccurrences(ids, how.window)
    entries = sorted((i, j) for i, j in x if i <= j)
    rng = np.random.default_rng(how.seed)
    rows = [[(rng.random() - 0.5) / (how.size + 1) for _ in range(how.size + 1)] for _ in range(2 * len(words))]
    parameters = brute_glove.Parameters(rows[: len(words)], rows[len(words) :])
    losses = []
    for _ in range(how.epochs):
        state = int(rng.integers(1 << 64, dtype=np.uint64))
        costs = []
        for visit in order_of(entries, state).tolist():
            i, j = entries[visit >> 1]
            if visit & 1:
                i, j = j, i
            costs.append(parameters.visit(i, j, x[i, j], how.x_max, how.alpha, how.rate))
        losses.append(sum(costs) / len(x))
        assert len(costs) == len(x)
    return parameters.result(), losses


@pytest.mark.parametrize(
    "how",
    [
        GloVe(size=5, window=4, min_count=1, epochs=6, x_max=8.0),
        GloVe(size=16, window=10, min_count=2, epochs=3, x_max=100.0, alpha=0.5, rate=0.2, seed=7),
        GloVe(size=33, window=1, min_count=1, epochs=4, x_max=3.0, alpha=0.0),
        GloVe(size=1, window=2, min_count=3, epochs=5, alpha=1.0, seed=3),
    ],
    ids=str,
)
def test_training_against_plain_python(tmp_path: Path, how: GloVe) -> None:
    sentences = zipf_text()
    found = how.train(save(tmp_path, *map(" ".join, sentences)))
    expected, losses = by_hand(how, sentences)
    np.testing.assert_allclose(found.matrix, expected, rtol=0, atol=1e-5)
    assert found.losses == pytest.approx(losses, rel=1e-5)
    assert losses[-1] < losses[0] / 2


def test_what_comes_with_the_vectors(tmp_path: Path) -> None:
    how = GloVe(size=3, min_count=2, epochs=2)
    path = save(tmp_path, "b a x", "y", "", "a b y", "b")
    found = how.train(path)
    assert (found.words, found.counts.tolist()) == (("b", "a", "y"), [3, 2, 2])
    assert found.counts.dtype == np.int64
    assert (found.tokens, found.kept, found.sentences, len(found.losses)) == (8, 7, 4, 2)
    assert found.matrix.shape == (3, 3) and found.matrix.dtype == np.float32


def one_step(size: int, words: Any, x: float, weight: float, rate: float) -> tuple[Any, float]:
    """Parameters (word, context; vector and bias) after one visit of the entry of two words."""
    half = -(-(size + 1) // 16) * 16
    rows = np.zeros((4, 2 * half), np.float32)
    rows[:, half:] = 1
    rows[:, : size + 1] = words
    pairs, values = np.array([[0, 1]], np.int32), np.array([[math.log(x), weight]], np.float32)
    cost = training_kernels.descend(np.zeros(1, np.uint32), pairs, values, rows, size, np.float32(rate))
    return rows[:, : size + 1], cost


@pytest.mark.parametrize("x", [0.1, 3.0, 250.0])
def test_a_first_step_is_the_numerical_gradient(x: float) -> None:
    """While sums of squares are still 1, a step is the rate times the derivative of ½ f(X)(w·w̃ + b + b̃ − log X)²."""
    size, rate, x_max, alpha = 7, 0.01, 100.0, 0.75
    before = np.random.default_rng(1).normal(size=(4, size + 1)).astype(np.float32)
    weight = brute_glove.weight(x, x_max, alpha)
    after, cost = one_step(size, before, x, weight, rate)

    def objective(rows: Any) -> float:
        start = brute_glove.Parameters(rows[:2].tolist(), rows[2:].tolist())
        return start.cost([(0, 1, x)], x_max, alpha) / 2

    exact = before.astype(np.float64)
    for place in np.ndindex(4, size + 1):
        up, down = exact.copy(), exact.copy()
        up[place] += 1e-5
        down[place] -= 1e-5
        slope = (objective(up) - objective(down)) / 2e-5
        assert (before[place] - after[place]) / rate == pytest.approx(slope, rel=2e-4, abs=2e-4)
    assert cost == pytest.approx(objective(exact), rel=1e-5)
    assert objective(after.astype(np.float64)) < objective(exact)
    assert not (before[[0, 3]] == after[[0, 3]]).any()  # word 0 and context 1
    assert (before[[1, 2]] == after[[1, 2]]).all()


def test_the_cost_of_the_whole_falls(tmp_path: Path) -> None:
    losses = GloVe(size=10, min_count=1, epochs=20).train(training_text.planted(tmp_path / "text")).losses
    assert all(later < earlier for earlier, later in itertools.pairwise(losses))
    assert losses[-1] < losses[0] / 10


def test_the_same_seed_gives_the_same_vectors(tmp_path: Path) -> None:
    path = save(tmp_path, *map(" ".join, zipf_text()))
    how = GloVe(size=8, epochs=3, seed=5)
    first, second = how.train(path), how.train(path)
    assert first.matrix.tobytes() == second.matrix.tobytes() and first.losses == second.losses
    assert (GloVe(size=8, epochs=3, seed=6).train(path).matrix != first.matrix).all()


def test_progress_adds_up_to_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path, *map(" ".join, zipf_text()))
    whole: list[float] = []
    parts: list[float] = []
    expected = GloVe(epochs=4).train(path, whole.append)
    monkeypatch.setattr(glove, "_AT_ONCE", 10)
    found = GloVe(epochs=4).train(path, parts.append)
    assert whole == [0.25] * 4
    assert sum(parts) == pytest.approx(1) and len(parts) > 40
    np.testing.assert_array_equal(found.matrix, expected.matrix)  # it is cut for progress only


# --- what vectors show --------------------------------------------------------------------------------------------


def as_mapping(found: Trained) -> training_text.Vectors:
    return dict(zip(found.words, found.matrix, strict=True))


@pytest.mark.parametrize("seed", [0, 1])
def test_planted_structure(tmp_path: Path, seed: int) -> None:
    path = training_text.planted(tmp_path / "text", seed=seed)
    vectors = as_mapping(GloVe(size=20, epochs=30, seed=seed).train(path))
    assert training_text.separation(vectors) > 0.7
    assert training_text.analogies(vectors) > 0.95


@training_text.needs_corpora
def test_related_words_of_english(tmp_path: Path) -> None:
    """Half a million tokens are few, so the correlation is small; without any it would be below 0.12 in 95 of 100."""
    found = GloVe(size=50, epochs=10, x_max=10.0).train(training_text.english(tmp_path / "text", "modern_english"))
    related, _ = similarity_tests(found)
    assert related.covered > 150
    assert related.rho > 0.12


# --- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "value", "least"),
    [
        ("size window min_count epochs", 0, "at least 1"),
        ("alpha seed", -1, "at least 0"),
        ("alpha", math.nan, "at least 0"),
        ("x_max rate", 0.0, "above 0 and finite"),
        ("rate", math.inf, "above 0 and finite"),
        ("rate", math.nan, "above 0 and finite"),
    ],
)
def test_parameters_that_make_no_sense(names: str, value: Any, least: str) -> None:
    for name in names.split():
        error = error_of(lambda name=name: GloVe(**{name: value}), MethodError)  # type: ignore[misc]
        assert error.message == f"{name} must be {least}, got {value}"


def test_training_that_diverges(tmp_path: Path) -> None:
    path = save(tmp_path, *map(" ".join, zipf_text()))
    with pytest.raises(ModelError, match=r"training diverged in epoch 1 — give a rate below 1e\+30"):
        GloVe(rate=1e30).train(path)


def test_more_pairs_than_can_be_numbered() -> None:
    many = np.broadcast_to(np.array([[0, 1]], np.int32), (1 << 31, 2))
    with pytest.raises(DataError, match="there are 2,147,483,648 word pairs, more than 2,147,483,647"):
        glove._room(many)


def test_without_numba(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "penchant.vectors.training_kernels")
    monkeypatch.delattr("penchant.vectors.training_kernels")
    with pytest.raises(MethodError, match=r"the package numba is missing — pip install 'penchant\[vectors\]'"):
        GloVe().train(save(tmp_path, "a b"))


def test_neither_numba_nor_gensim_is_brought_in_before_it_is_used() -> None:
    code = (
        "import sys; from penchant.vectors import glove, word2vec, human_similarity, saving; "
        "print([m for m in ('numba', 'gensim', 'scipy', 'polars') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("error", [RuntimeError("no locator available"), OSError(28, "No space left on device")])
def test_code_that_cannot_be_kept_is_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    import numba

    compile_plainly = numba.njit

    def njit(*given: Any, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise error
        return compile_plainly(*given, **options)

    monkeypatch.setattr(numba, "njit", njit)
    assert training_kernels._compiled("int64(int64)")(lambda x: x + 1)(4) == 5
