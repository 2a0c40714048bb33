"""Files of vectors that were trained, read back by gensim, by penchant and by plain Python."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from builders import refusal
from penchant import files
from penchant.errors import ModelError, OutputError
from penchant.vectors import saving
from penchant.vectors.saving import save_vectors
from penchant.vectors.static_vectors import read_vectors
from penchant.vectors.token_file import Trained

gensim = pytest.importorskip("gensim.models")

WORDS: tuple[str, ...] = ("the", "Řekla", "ঘর", 'a"b', "''", "x,y", "#", "3.14", "-5", "1e5")
WORDS += ("\xe9", "e\u0301", "\u09df", "\u09af\u09bc", "😀")
WORDS += ("\u200d", "a\\n", "nan", "\ufeff", "\0")
MISREAD = float.fromhex("0x1.5c87fap-84")
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def trained(words: tuple[str, ...], matrix: Any) -> Trained:
    found = np.asarray(matrix, np.float32)
    return Trained(words, np.ones(len(words), np.int64), found, (), len(words), len(words), 1)


def some(words: int = len(WORDS), size: int = 50, seed: int = 0) -> Trained:
    numbers = np.random.default_rng(seed).normal(size=(words, size))
    return trained((*WORDS, *(f"w{i}" for i in range(words)))[:words], numbers)


def bits(matrix: Any) -> Any:
    return np.asarray(matrix, np.float32).view(np.uint32)


def same(words: Any, matrix: Any, expected: Trained) -> None:
    assert list(words) == list(expected.words)
    np.testing.assert_array_equal(bits(matrix), bits(expected.matrix))  # zeros keep their sign


@pytest.mark.parametrize("ending", [".txt", ".vec", ".bin", ".BIN"])
def test_both_readers_read_what_was_saved(tmp_path: Path, ending: str) -> None:
    vectors = some(1000)
    path = tmp_path / "new" / f"vectors{ending}"
    sha256 = save_vectors(vectors, path)
    assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    read = read_vectors(path)
    same(read.words, read.matrix, vectors)
    assert (read.duplicates, read.fingerprint) == (0, sha256)
    again = gensim.KeyedVectors.load_word2vec_format(str(path), binary=ending.lower() == ".bin")
    same(again.index_to_key, again.vectors, vectors)
    assert save_vectors(read, path) == sha256  # what was loaded can be saved too
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_formats_byte_by_byte(tmp_path: Path) -> None:
    vectors = trained(("a", "ঘর"), [[0.1, -2.0], [1e-7, 16777216.0]])
    save_vectors(vectors, tmp_path / "v.txt")
    assert (tmp_path / "v.txt").read_text("utf-8") == "2 2\na 0.1 -2.0\nঘর 1e-7 16777216.0\n"
    save_vectors(vectors, tmp_path / "v.bin")
    expected = b"2 2\na " + struct.pack("<2f", 0.1, -2.0) + "ঘর ".encode() + struct.pack("<2f", 1e-7, 16777216.0)
    assert (tmp_path / "v.bin").read_bytes() == expected


def plainly(path: Path) -> tuple[list[str], Any]:
    """A text file of vectors by Python's own splitting and rounding (to double precision, then to single)."""
    header, *lines = path.read_bytes().decode().removesuffix("\n").split("\n")
    fields = [line.split(" ") for line in lines]
    assert header == f"{len(lines)} {len(fields[0]) - 1}"
    return [own[0] for own in fields], [[np.float32(float(number)) for number in own[1:]] for own in fields]


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \n"), min_size=1, max_size=6).filter(
    lambda word: word.split() == [word]
)


@st.composite
def vectors(draw: st.DrawFn) -> Trained:
    names = tuple(draw(st.lists(words, min_size=1, max_size=6, unique=True)))
    shape = (len(names), draw(st.integers(1, 5)))
    return trained(names, draw(arrays.arrays(np.float32, shape, elements=NUMBERS)))


@pytest.mark.whole
@given(vectors(), st.integers(1, 12))
@example(trained(("a", "b"), [[MISREAD, 0.1], [-0.0, -MISREAD]]), 1 << 20)
@example(trained(("a", "b"), [[1e-45, 3.4028235e38], [1.1754944e-38, -1e-40]]), 2)
@settings(max_examples=100, deadline=None)
def test_whatever_is_saved_reads_back(tmp_path_factory: pytest.TempPathFactory, own: Trained, at_once: int) -> None:
    folder = tmp_path_factory.mktemp("v")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saving, "_AT_ONCE", at_once)
        for name in ("v.txt", "v.bin"):
            save_vectors(own, folder / name)
    same(*plainly(folder / "v.txt"), own)
    read = read_vectors(folder / "v.txt")
    same(read.words, read.matrix, own)
    for name in ("v.txt", "v.bin"):
        again = gensim.KeyedVectors.load_word2vec_format(str(folder / name), binary=name == "v.bin")
        same(again.index_to_key, again.vectors, own)


def test_numbers_of_all_sizes_have_the_shortest_digits(tmp_path: Path) -> None:
    """Any pattern of bits that is a number; NumPy's own digits are shortest too."""
    patterns = np.random.default_rng(0).integers(1 << 32, size=60_000, dtype=np.uint32).view(np.float32)
    numbers = patterns[np.isfinite(patterns)][:40_000].reshape(-1, 40)
    vectors = trained(tuple(f"w{i}" for i in range(len(numbers))), numbers)
    save_vectors(vectors, tmp_path / "v.vec")
    same(*plainly(tmp_path / "v.vec"), vectors)
    written = (tmp_path / "v.vec").read_text().split("\n")[1].split(" ")[1:]

    def digits(number: str) -> str:
        return number.split("e")[0].replace(".", "").strip("-0")

    assert [digits(own) for own in written] == [digits(str(x)) for x in numbers[0]]


def test_the_number_both_readers_misread(tmp_path: Path) -> None:
    """Its shortest digits lie just beyond the middle between two numbers, but not in double precision."""
    assert np.float32(float(str(np.float32(MISREAD)))) != np.float32(MISREAD)
    save_vectors(trained(("a", "b"), [[MISREAD, 0.1], [1.0, -MISREAD]]), tmp_path / "v.txt")
    assert (tmp_path / "v.txt").read_text() == f"2 2\na {MISREAD!r} 0.1\nb 1.0 {-MISREAD!r}\n"


@pytest.mark.parametrize(
    ("words", "matrix", "message"),
    [
        (("a b",), [[1.0]], "the word 'a b' cannot be saved: words must not be empty or contain spaces or newlines"),
        (("a\nb",), [[1.0]], "the word 'a\\nb' cannot be saved: words must not be empty or contain spaces or newlines"),
        (("",), [[1.0]], "the word '' cannot be saved: words must not be empty or contain spaces or newlines"),
        (("a", "\ud800"), [[1.0], [2.0]], "the word '\\ud800' cannot be written as UTF-8"),
        (("a", "b"), [[1.0], [np.nan]], "the vector of 'b' contains a value that is not finite"),
        (("a", "b"), [[-np.inf], [1.0]], "the vector of 'a' contains a value that is not finite"),
        (("a", "a"), [[1.0], [2.0]], "the vocabulary lists 'a' twice"),
        (("a", "b"), [[1.0]], "expected a non-empty matrix with one row per word, got the shape 1×1 for 2 words"),
        (("a",), [[]], "expected a non-empty matrix with one row per word, got the shape 1×0 for 1 word"),
        ((), np.empty((0, 3)), "expected a non-empty matrix with one row per word, got the shape 0×3 for 0 words"),
    ],
)
@pytest.mark.parametrize("ending", [".txt", ".bin"])
def test_what_would_not_read_back_is_refused(
    tmp_path: Path, words: tuple[str, ...], matrix: Any, message: str, ending: str
) -> None:
    assert refusal(lambda: save_vectors(trained(words, matrix), tmp_path / f"v{ending}"), ModelError) == message
    assert not list(tmp_path.iterdir())


def test_endings_that_are_not_known(tmp_path: Path) -> None:
    for name in ("v.npy", "v", "v.txt.gz"):
        told = refusal(lambda name=name: save_vectors(some(), tmp_path / name), OutputError)  # type: ignore[misc]
        assert told.startswith(f"{tmp_path / name}: '{Path(name).suffix}' is not a file extension")
    assert not list(tmp_path.iterdir())


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v.txt"
    save_vectors(some(), path)
    before = path.read_bytes()
    monkeypatch.setattr(saving, "_AT_ONCE", 100)
    finish = saving._text
    calls = []

    def stop(*given: Any) -> bytes:
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return finish(*given)

    monkeypatch.setattr(saving, "_text", stop)
    with pytest.raises(KeyboardInterrupt):
        save_vectors(some(seed=1), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    (tmp_path / "taken").write_text("")
    with pytest.raises(OutputError, match="a part of it is a file"):
        save_vectors(some(), tmp_path / "taken" / "v.txt")
    assert files.sha256_file(path) == hashlib.sha256(before).hexdigest()
