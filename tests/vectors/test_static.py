"""Word vectors, against gensim's reader and writer of the same formats and against NumPy."""

from __future__ import annotations

import gzip
import hashlib
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import refusal, write
from penchant.errors import ModelError, ModelWarning
from penchant.models.load import load, load_vectors
from penchant.plurals import counted
from penchant.text_io import saved_as_utf8, words_read_as
from penchant.vectors import sniffing, static_vectors
from penchant.vectors.static_vectors import StaticVectors, looks_like_vectors, read_vectors

# No-break space, line and paragraph separators, combining signs, and words that are numbers.
WORDS = ["the", "Řekla", "ঘর", "a\xa0b", "x\u2028y\x85z", "য়", "3.14", "-5", "é", "é", "\x1c", "😀", "1e5"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vectors")


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of one line and blocks smaller than one, so that every boundary is crossed."""
    monkeypatch.setattr(static_vectors, "_BLOCK", 7)
    monkeypatch.setattr(sniffing, "_SAMPLE", 180)


def matrix_for(words: list[str], dimension: int = 6, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(seed).normal(size=(len(words), dimension)).astype(np.float32)


def line(word: str, row: Any) -> str:
    return f"{word} {' '.join(str(float(x)) for x in row)}"


def save(folder: Path, content: str | bytes, name: str = "vectors.txt") -> Path:
    return write(folder / name, content if isinstance(content, bytes) else content.encode("utf-8"))


def binary(words: list[str], rows: Any, between: bytes = b"") -> bytes:
    body = b"".join(w.encode() + b" " + struct.pack(f"<{len(r)}f", *r) + between for w, r in zip(words, rows))  # noqa: B905
    return f"{len(words)} {len(rows[0])}\n".encode() + body


def refused(path: Path, **options: Any) -> str:
    message = refusal(lambda: read_vectors(path, **options), ModelError)
    assert message.startswith(str(path.parent))
    return message.removeprefix(str(path))


# --- against gensim -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_binary", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_what_gensim_writes(folder: Path, is_binary: bool, packed: bool) -> None:
    gensim = pytest.importorskip("gensim.models")
    words = [word for word in WORDS if word != "\x1c"]  # which gensim strips off
    expected = matrix_for(words, 50)
    vectors = gensim.KeyedVectors(50)
    vectors.add_vectors(words, expected)
    path = folder / f"gensim-{is_binary}{'.gz' if packed else '.vec'}"
    vectors.save_word2vec_format(str(path), binary=is_binary)
    found = read_vectors(path)
    assert found.words == tuple(words)
    np.testing.assert_array_equal(found.matrix, expected)
    again = gensim.KeyedVectors.load_word2vec_format(str(path), binary=is_binary)
    assert list(found.words) == again.index_to_key
    np.testing.assert_array_equal(found.matrix, again.vectors)


def test_what_gensim_reads_as_glove(folder: Path) -> None:
    gensim = pytest.importorskip("gensim.models")
    words = [f"w{i}" for i in range(3000)]
    rows = np.random.default_rng(1).normal(size=(3000, 50))
    path = save(folder, "\n".join(line(w, r) for w, r in zip(words, rows, strict=True)) + "\n", "glove.txt")
    reference = gensim.KeyedVectors.load_word2vec_format(str(path), binary=False, no_header=True)
    found = read_vectors(path)
    assert list(found.words) == reference.index_to_key
    np.testing.assert_array_equal(found.matrix, reference.vectors)


# --- formats and their details ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("end", ["\n", " \n", "\r\n", " \r\n"])
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("tail", [True, False])
def test_text_across_block_boundaries(folder: Path, end: str, header: bool, tail: bool) -> None:
    expected = matrix_for(WORDS)
    lines = [f"{len(WORDS)} 6"] * header + [line(w, r) for w, r in zip(WORDS, expected, strict=True)]
    found = read_vectors(save(folder, end.join(lines) + end * tail))
    assert found.words == tuple(WORDS)
    np.testing.assert_array_equal(found.matrix, expected)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("between", [b"", b"\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_binary_across_block_boundaries(folder: Path, between: bytes, packed: bool) -> None:
    expected = matrix_for(WORDS)
    data = binary(WORDS, expected, between)
    found = read_vectors(save(folder, gzip.compress(data) if packed else data, "v.bin"))
    assert found.words == tuple(WORDS)
    np.testing.assert_array_equal(found.matrix, expected)


def test_blank_lines_at_the_end_and_a_byte_order_mark(folder: Path) -> None:
    for start in ("", "2 2\n"):
        found = read_vectors(save(folder, f"\ufeff{start}a 1.0 2.0\nb 3.0 4.0\n\n\r\n\n"))
        assert found.words == ("a", "b")


def test_words_that_hold_spaces(folder: Path, small_blocks: None) -> None:
    words = [". . .", "the", "at name@domain.com", "of", "a", "New York 2", "version 2.0 beta"]
    expected = matrix_for(words, 5)
    text = "\n".join(line(w, r) for w, r in zip(words, expected, strict=True))
    for content in (text, f"7 5\n{text}"):
        found = read_vectors(save(folder, content))
        assert found.words == tuple(words)
        np.testing.assert_array_equal(found.matrix, expected)


def test_the_first_words_may_be_numbers(folder: Path) -> None:
    found = read_vectors(save(folder, "1 0.5 -0.5\n2 1e-3 +7.\n.5 .25 1E2\n"))
    assert found.words == ("1", "2", ".5")
    np.testing.assert_array_equal(found.matrix, np.array([[0.5, -0.5], [1e-3, 7], [0.25, 100]], np.float32))


def test_one_line_and_one_dimension(folder: Path) -> None:
    assert read_vectors(save(folder, "a 1.5")).matrix.tolist() == [[1.5]]
    assert read_vectors(save(folder, "1 1\na 1.5")).matrix.tolist() == [[1.5]]


def test_duplicates_keep_the_first_and_are_counted(folder: Path, small_blocks: None) -> None:
    words, rows = ["a", "b", "a", "c", "b", "a"], np.arange(12, dtype=np.float32).reshape(6, 2)
    text = "\n".join(line(w, r) for w, r in zip(words, rows, strict=True)) + "\n"
    for content in (text, f"6 2\n{text}", binary(words, rows)):
        found = read_vectors(save(folder, content))
        assert (found.words, found.duplicates) == (("a", "b", "c"), 3)
        assert found.matrix.tolist() == [[0, 1], [2, 3], [6, 7]]
        assert [found.index[word] for word in found.words] == [0, 1, 2]
    assert read_vectors(save(folder, "a 1.0\n")).duplicates == 0


def test_composed_and_decomposed_are_two_words(folder: Path) -> None:
    found = read_vectors(save(folder, "é 1.0\ne\u0301 2.0\n"))
    assert found.duplicates == 0 and found.vector("é")[0] == 1 and found.vector("e\u0301")[0] == 2


@pytest.mark.parametrize("suffix", [".vocab", ".txt"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", ">f4"])
def test_numpy_with_a_vocabulary(tmp_path: Path, suffix: str, end: str, dtype: str) -> None:
    words = [*WORDS, "New York"]
    expected = np.round(8 * matrix_for(words)).astype(dtype)
    np.save(tmp_path / "v.npy", expected)
    save(tmp_path, end.join(words) + end * (suffix == ".txt"), f"v{suffix}")
    found = read_vectors(tmp_path / "v.npy")
    assert found.words == tuple(words) and found.matrix.dtype == np.float32
    np.testing.assert_array_equal(found.matrix, expected.astype(np.float32))


def test_numpy_with_a_named_vocabulary(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([[1], [2]], np.float32))
    save(tmp_path, "a\nb\n", "v.vocab")
    other = save(tmp_path, "c\nd\n", "other")
    assert read_vectors(tmp_path / "v.npy").words == ("a", "b")
    assert read_vectors(tmp_path / "v.npy", vocabulary=other).words == ("c", "d")


ANY_WORD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \n\r"), min_size=1)
ANY_NUMBER = st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_anything_comes_back(folder: Path, data: st.DataObject) -> None:
    words = data.draw(st.lists(ANY_WORD, min_size=1, max_size=8, unique=True))
    dimension = data.draw(st.integers(1, 5))
    numbers = st.lists(ANY_NUMBER, min_size=dimension, max_size=dimension)
    expected = np.array([data.draw(numbers) for _ in words], np.float32)
    text = f"{len(words)} {dimension}\n" + "".join(line(w, r) + "\n" for w, r in zip(words, expected, strict=True))
    found = read_vectors(save(folder, text))
    assert found.words == tuple(word for word in words)
    np.testing.assert_array_equal(found.matrix, expected)


# --- the object ---------------------------------------------------------------------------------------------------


def test_what_is_asked_of_vectors(folder: Path) -> None:
    found = read_vectors(save(folder, "a 1.0 2.0\nb 3.0 4.0\n"))
    assert isinstance(found, StaticVectors) and found.kind == "static"
    assert "a" in found and "c" not in found and 3 not in found and len(found) == 2
    np.testing.assert_array_equal(found.vector("b"), [3, 4])
    with pytest.raises(ModelError, match="no vector for 'c'"):
        found.vector("c")
    with pytest.raises(ValueError, match="read-only"):
        found.matrix[0, 0] = 9
    assert len(repr(found)) < 200


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("glove.6B.50d.txt", "glove.6B.50d"),
        ("wiki.bn.vec.gz", "wiki.bn"),
        ("v.w2v", "v"),
        ("plain", "plain"),
        ("glove.6B", "glove.6B"),
    ],
)
def test_name_and_fingerprint(folder: Path, file: str, name: str) -> None:
    content = b"a 1.0\n"
    data = gzip.compress(content) if file.endswith(".gz") else content
    digest = hashlib.sha256(data).hexdigest()
    found = read_vectors(save(folder, data, file))
    assert (found.fingerprint, found.name) == (digest, f"{name}@{digest[:7]}")


def test_the_vocabulary_is_part_of_the_fingerprint(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([[1], [2]], np.float32))
    prints = set()
    for words in ("a\nb\n", "b\na\n"):
        save(tmp_path, words, "v.vocab")
        prints.add(read_vectors(tmp_path / "v.npy").fingerprint)
    np.save(tmp_path / "v.npy", np.array([[1], [3]], np.float32))
    prints.add(read_vectors(tmp_path / "v.npy").fingerprint)
    assert len(prints) == 3


def test_looks_like_vectors(tmp_path: Path) -> None:
    for suffix in (".vec", ".txt", ".bin", ".npy", ".gz", ".glove", ".w2v", ".TXT"):
        assert looks_like_vectors(save(tmp_path, "", f"v{suffix}"))
    assert not looks_like_vectors(save(tmp_path, "", "v.safetensors"))
    assert not looks_like_vectors(tmp_path / "none.vec")
    (tmp_path / "directory.bin").mkdir()
    assert not looks_like_vectors(tmp_path / "directory.bin")


# --- bad input ----------------------------------------------------------------------------------------------------


def test_missing_directory_empty(folder: Path) -> None:
    assert refused(folder / "none.vec") == ": no such file"
    assert refused(folder) == ": is a directory — give the path of a file"
    for content in (b"", b" \n\n", gzip.compress(b"")):
        assert refused(save(folder, content)) == ": the file is empty"


HINT = " — each line is a word and its numbers, separated by single spaces"


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("b 3.0", "1 field after the word, expected 2"),
        ("b", "0 fields after the word, expected 2"),
        ("", "0 fields after the word, expected 2"),
        ("b 3.0 4.0 5.0", "3 fields after the word, expected 2"),
        ("b c 3.0 4.0 -5e-1 6.0", None),  # a word of its own, "b c 3.0 4.0": only numbers throughout are seen through
        ("b x 4.0", "'x' is not a number"),
        ("b 3.0 4.0x", "'4.0x' is not a number"),
        ("b 3,5 4.0", "'3,5' is not a number"),
        ("b 3.0  4.0", "3 fields after the word, expected 2"),
        ("b  4.0", "'' is not a number"),
        ("b 3.0-4.0 5.0", "'3.0-4.0' is not a number"),
        ("b  3.0-4.0", "'' is not a number"),
        ("b 0x10 4.0", "'0x10' is not a number"),
        ("b 1_0 4.0", "'1_0' is not a number"),
        ("b  3.0\t4.0", "'' is not a number"),
        ("b  3.0\r4.0", "'' is not a number"),
        ("b 3.0\t4.0", "1 field after the word, expected 2"),
        ("b\u00a03.0 4.0", "1 field after the word, expected 2"),
        ("b ৩ 4.0", "'৩' is not a number"),
    ],
)
@pytest.mark.parametrize("header", ["", "4 2\n"])
def test_a_line_that_does_not_fit(folder: Path, header: str, second: str, message: str | None) -> None:
    lines = ["a 1.0 2.0", "a2 1.0 2.0", second, "c 5.0 6.0"]
    path = save(folder, header + "\n".join(lines) + "\n")
    if message is None:
        assert read_vectors(path).words[2] == "b c 3.0 4.0"
    else:
        assert refused(path) == f", line {4 if header else 3}: {message}{HINT}"


def test_a_bad_line_far_into_a_large_file(folder: Path) -> None:
    good = [line(f"w{i}", [i, -i, 0.5]) for i in range(5000)]
    bad = [*good[:4000], "oops 1.0 2.0", *good[4000:]]
    assert refused(save(folder, "\n".join(bad))).startswith(", line 4001: 2 fields after the word, expected 3")
    assert refused(save(folder, "5001 3\n" + "\n".join(bad))).startswith(", line 4002: 2 fields after the word")


def test_a_short_line_does_not_take_its_word_for_a_number(folder: Path) -> None:
    text = "1 0.5 0.25\n2 0.5 0.25\n3 0.5\n4 0.5 0.25\n"
    for header, place in (("", 3), ("4 2\n", 4)):
        assert refused(save(folder, header + text)) == f", line {place}: 1 field after the word, expected 2{HINT}"


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-inf", "Infinity", "1e39"])
def test_a_value_that_is_not_finite(folder: Path, value: str) -> None:
    for header in ("", "2 2\n"):
        message = refused(save(folder, f"{header}a 1.0 2.0\nb 3.0 {value}\n"))
        place = 3 if header else 2
        assert message == f", line {place}: the vector of 'b' contains a value that is not finite"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_not_finite_in_binary(tmp_path: Path, value: float) -> None:
    rows = [[1.0, 2.0], [3.0, value]]
    path = save(tmp_path, binary(["a", "b"], rows), "v.bin")
    assert refused(path) == ", word 2: the vector of 'b' contains a value that is not finite"
    np.save(tmp_path / "v.npy", np.array(rows, np.float32))
    save(tmp_path, "a\nb\n", "v.vocab")
    assert "v.vocab, line 2: the vector of 'b' contains" in refused(tmp_path / "v.npy")


def test_a_number_too_large_for_float32(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([[1e300]]))
    save(tmp_path, "a\n", "v.vocab")
    assert "not finite" in refused(tmp_path / "v.npy")


@pytest.mark.parametrize("count", [1, 4, 10**11])
def test_a_header_that_counts_wrong(folder: Path, count: int) -> None:
    message = refused(save(folder, f"{count} 2\na 1.0 2.0\nb 3.0 4.0\nc 5.0 6.0\n"))
    assert message.startswith(f", line 1: the header declares {counted(count, 'words')}, but the file contains 3")


@pytest.mark.parametrize(("header", "place"), [("0 3", 1), ("2 0", 1), ("5 3", 1), ("2 4", 2), ("2 99", 2), ("2 2", 2)])
def test_a_header_that_does_not_fit(folder: Path, header: str, place: int) -> None:
    message = refused(save(folder, f"{header}\na 1.0 2.0 3.0\nb 1.0 2.0 3.0\n"))
    expected = f"3 fields after the word, expected {header[2:]}{HINT}" if place == 2 else "the header declares "
    assert message.startswith(f", line {place}: {expected}")
    assert "the header declares 5 words, but the file contains 0" in refused(save(folder, "5 2\n"))


@pytest.mark.usefixtures("small_blocks")
def test_a_binary_file_cut_short_or_too_long(folder: Path) -> None:
    data = binary(WORDS, matrix_for(WORDS))
    for cut in (1, 24, 25, 30, 200):
        message = refused(save(folder, data[:-cut], "v.bin"))
        assert message.startswith(": the file ends after ") and message.endswith("words declared in its header")
    assert refused(save(folder, data[:-1], "v.bin")).startswith(f": the file ends after {len(WORDS) - 1} of the")
    message = refused(save(folder, data + b"more", "v.bin"))
    assert message == f", line 1: there are data after the {len(WORDS)} words declared in the header"


def test_words_that_are_not_utf8(folder: Path) -> None:
    told = ": 2 words are not UTF-8: it looks like Latin-1 or Windows-1252; the first is b'caf\\xe9' — "
    hint = saved_as_utf8("Latin-1 or Windows-1252")
    assert refused(save(folder, b"a 1.0\ncaf\xe9 2.0\n\xe9t\xe9 3.0\n")) == f", line 2{told}{hint}"
    assert refused(save(folder, b"3 1\na 1.0\ncaf\xe9 2.0\n\xe9t\xe9 3.0\n")) == f", line 3{told}{hint}"
    data = binary(["a", "cafe", "ete"], [[1.0, 2.0]] * 3).replace(b"cafe", b"caf\xe9").replace(b"ete", b"\xe9t\xe9")
    assert refused(save(folder, data)) == f", word 2{told}{words_read_as('Latin-1 or Windows-1252')}"
    assert "encoding='cp1252'" in words_read_as("Latin-1 or Windows-1252")


GOOD = ["গোলাপ", "café", "naïve", "été", "no"]


@pytest.mark.parametrize("cut", ["café".encode()[:-1], "সাংবাদিকতা".encode()[:-1], "\U0001f600".encode()[:2]])
def test_a_word_cut_in_a_letter_is_left_out(folder: Path, cut: bytes) -> None:
    rows = [[float(number), 1.0] for number in range(len(GOOD) + 1)]
    text = b"".join(b"%s %d 1\n" % (word, number) for number, word in enumerate([*map(str.encode, GOOD), cut]))
    packed = binary([*GOOD, "X"], rows).replace(b"X", cut)
    for data, place in ((text, "line 6"), (packed, "word 6")):
        found = read_vectors(save(folder, data))
        assert (found.words, found.duplicates, len(found.broken)) == (tuple(GOOD), 0, 1)
        assert place in found.broken[0] and found.matrix[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    with pytest.warns(ModelWarning) as warned:
        load_vectors(save(folder, packed))
    assert len(warned) == 1


def test_how_many_broken_words_are_too_many(folder: Path) -> None:
    def vectors(good: int, broken: int, plain: int = 0) -> bytes:
        words = [*(f"é{n}".encode() for n in range(good)), *(f"a{n}".encode() for n in range(plain))]
        return b"".join(word + b" 1 2\n" for word in [*words, *(f"caf{n}é".encode()[:-1] for n in range(broken))])

    assert len(read_vectors(save(folder, vectors(good=3, broken=3))).broken) == 3
    assert "4 words are not UTF-8" in refused(save(folder, vectors(good=3, broken=4)))
    assert len(read_vectors(save(folder, vectors(good=0, broken=1, plain=1))).broken) == 1
    assert "1 word is not UTF-8" in refused(save(folder, vectors(good=0, broken=1)))
    bengali = b"".join(b"%s%d 1 2\n" % ("সাংবাদিকতা".encode()[:-1], number) for number in range(2))
    assert len(read_vectors(save(folder, vectors(good=0, broken=0, plain=20) + bengali)).broken) == 2
    assert "2 words are not UTF-8" in refused(save(folder, vectors(good=0, broken=0, plain=19) + bengali))


def numpy_file(folder: Path, array: Any, words: str | None = "a\nb\n") -> Path:
    np.save(folder / "v.npy", array, allow_pickle=True)
    if words is not None:
        save(folder, words, "v.vocab")
    return folder / "v.npy"


@pytest.mark.parametrize(
    "array",
    [
        np.ones(3),
        np.ones((2, 2, 2)),
        np.ones((2, 0)),
        np.float32(1),
        np.array([["a"], ["b"]]),
        np.ones((2, 2), complex),
        np.ones((2, 2), bool),
    ],
    ids=["1-d", "3-d", "no columns", "scalar", "text", "complex", "bool"],
)
def test_numpy_of_the_wrong_shape_or_kind(tmp_path: Path, array: Any) -> None:
    assert refused(numpy_file(tmp_path, array)).startswith(": expected a matrix of numbers, found ")


def test_numpy_that_is_pickled_or_damaged(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
            return pytest.fail, ("a pickle was loaded",)

    path = numpy_file(tmp_path, np.array([[Trap()], [1]], object))
    assert refused(path).startswith(": cannot be read as a NumPy array: Object arrays cannot be loaded")
    path = numpy_file(tmp_path, np.ones((2, 100)))
    for length in (7, 60, 500):
        path.write_bytes(path.read_bytes()[:length] if length < 500 else b"\x93NUMPY\x01\x00" + bytes(200))
        assert refused(path).startswith(": cannot be read as a NumPy array")
        numpy_file(tmp_path, np.ones((2, 100)))


def test_numpy_and_its_vocabulary(tmp_path: Path) -> None:
    path = numpy_file(tmp_path, np.ones((2, 2)), None)
    assert refused(path) == (
        f": there is no vocabulary file {tmp_path / 'v.vocab'} or {tmp_path / 'v.txt'} — "
        "give a text file with one word per line"
    )
    assert "there is no vocabulary file elsewhere" in refused(path, vocabulary="elsewhere")
    for words, count in (("a\n", 1), ("a\nb\nc\n", 3), ("", 0), ("a\nb\n\n", 3)):
        save(tmp_path, words, "v.vocab")
        assert f"v.vocab: contains {counted(count, 'words')}, but v.npy has 2 rows" in refused(path)
    save(tmp_path, b"\xfe\n\xff\n", "v.vocab")
    assert "v.vocab, line 1: 2 words are not UTF-8" in refused(path)
    save(tmp_path, "a\nb\n", "v.vocab")
    text = save(tmp_path, "a 1.0\n", "text.vec")
    assert "a vocabulary can be given only for a .npy file" in refused(text, vocabulary=tmp_path / "v.vocab")


def test_numpy_without_rows(tmp_path: Path) -> None:
    assert "contains no vectors" in refused(numpy_file(tmp_path, np.ones((0, 3)), ""))


def test_gzip_that_is_damaged(folder: Path) -> None:
    packed = gzip.compress(
        "".join(line(f"w{i}", np.random.default_rng(i).normal(size=9)) + "\n" for i in range(500)).encode()
    )
    middle = len(packed) // 2
    spoiled = packed[:middle] + bytes(50) + packed[middle + 50 :]
    for data in (packed[:middle], packed[:-1], spoiled, b"\x1f\x8b\xff\xff"):
        assert "the gzip file is damaged or truncated" in refused(save(folder, data, "v.gz"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04rest", "is a zip archive or a PyTorch checkpoint"),
        (pickle.dumps({"a": [1.0]}), "is a Python pickle, which is never loaded"),
        (b"\xba\x16\x4f\x2f" + bytes(50), "is in fastText's binary format — use the .vec file"),
        (gzip.compress(b"\x93NUMPY\x01\x00", mtime=0), "is a NumPy array inside gzip — unpack it"),
        (b"Once upon a time\nthere was a text\n", "is not a word-vector file: its lines do not end in numbers"),
        (b"a\t1.0\t2.0\nb\t3.0\t4.0\n", "is not a word-vector file: its lines do not end in numbers"),
        (bytes(range(256)) * 10, "is not a word-vector file"),
    ],
)
def test_files_of_another_kind(folder: Path, content: bytes, words: str) -> None:
    assert words in refused(save(folder, content, "v.bin"))


@pytest.mark.parametrize(
    ("name", "content", "mend"),
    [
        ("v.zip", b"PK\x03\x04rest", "unpack it and give the file in it"),
        ("v.kv", pickle.dumps([1.0]), "KeyedVectors.load(FILE).save_word2vec_format('vectors.txt')"),
        ("v.model", pickle.dumps([1.0]), "Word2Vec.load(FILE).wv.save_word2vec_format('vectors.txt')"),
        ("v.ftz", b"\xba\x16\x4f\x2f" + bytes(50), "load_facebook_vectors(FILE)"),
        ("spm.model", b"\x0a\x0e\x0a\x05<unk>\x15", "give the directory of the model"),
    ],
)
def test_files_of_another_kind_under_other_names(folder: Path, name: str, content: bytes, mend: str) -> None:
    with pytest.raises(ModelError) as caught:
        load(save(folder, content, name))
    assert mend in caught.value.hint


def test_one_short_line_among_the_first_does_not_set_the_dimension(folder: Path) -> None:
    lines = ["w0 1.0", *(line(f"w{i}", [1.0, 2.0, 3.0]) for i in range(1, 10))]
    assert refused(save(folder, "\n".join(lines))) == f", line 1: 1 field after the word, expected 3{HINT}"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a 1 2\nb 3 4\n", ""),
        (b"2 2\na 1 2\nb 3 4\n", ""),
        (gzip.compress(b"a 1 2\nb 3 4\n", mtime=0), ""),
        (b"a 1 2\nb 3\n" * 5, ""),  # what is wrong further on is told where it is read
        (b"some words\nand more\n", "is not a word-vector file"),
        (gzip.compress(b"some words\nand more\n", mtime=0), "is not a word-vector file"),
        (b"0 5\n", "the header declares 0 words"),
        (b"\n", "the file is empty"),
        (b"PK\x03\x04 and so on", "is a zip archive"),
        (b"\x93NUMPY and so on", "there is no vocabulary file"),
    ],
)
def test_the_beginning_tells_what_is_no_file_of_vectors(tmp_path: Path, content: bytes, told: str) -> None:
    path = write(tmp_path / "words.vec", content)
    if not told:
        sniffing.begins_as_vectors(path)
        return
    for read in (sniffing.begins_as_vectors, read_vectors):
        with pytest.raises(ModelError, match=told):
            read(path)
