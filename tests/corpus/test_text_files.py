"""Texts are found by what stands for them, and read whole, in blocks of any size, whatever they are compressed with."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import random
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import fsspec
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import brute_extraction as brute
from penchant.corpus import block_reader, text_files
from penchant.corpus.block_reader import Reader
from penchant.corpus.lines_and_sentences import units
from penchant.corpus.text_files import LAYOUTS, Block, TextFile, find_texts
from penchant.errors import DataError, MethodError

zstd: Any = pytest.importorskip(
    "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd", reason="no package for zstandard"
)

Layout = Literal["paragraphs", "sentences", "wrapped"]
Write = Callable[[str, object], Path]

LINES = ["একটি নদী।", "Ein Satz — ä e\u0301.", "", "  ", "line\twith tab ", "日本 😀", "ব\u09df\u09a1\u09bc"]
LINES += ["x" * 90, "{}"]
TEXT = "\n".join(f"{i * i:x} {line}" if line.strip() else line for i, line in enumerate(LINES * 40)) + "\n"


def zst(data: bytes) -> bytes:
    """A frame with a checksum, as the program zstd writes it."""
    whole: bytes = zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
    return whole


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zst,
}


def one(path: Path) -> TextFile:
    (file,) = find_texts([path])
    return file


def read(path: Path, layout: Layout = "paragraphs", field: str = "text") -> tuple[brute.Lines, list[Block], str]:
    """Return the lines of a file, its blocks, and its hash."""
    file = one(path)
    reader = Reader(file, 7, layout=layout, field=field)
    blocks = list(reader.blocks())
    found = brute.Lines()
    for block in blocks:
        assert block.file == 7
        own = units(block, file.kind, layout=layout, field=field)
        lines = own.text.split("\n") if own.text or len(own.numbers) else []
        assert len(lines) == len(own.numbers) or own.text == ""
        for number, line in zip(own.numbers, lines, strict=False):
            found.parts.append((number, 1, line))
        found.records += own.records
        if own.skipped:
            assert own.bad >= block.first
            found.skipped += [own.bad] + [0] * (own.skipped - 1)  # only the first is told
        else:
            assert own.bad == 0
    return found, blocks, reader.sha256


def assert_same(found: brute.Lines, expected: brute.Lines) -> None:
    assert found.nonblank() == expected.nonblank()
    assert found.records == expected.records
    assert len(found.skipped) == len(expected.skipped)
    assert {number for number in found.skipped if number} <= set(expected.skipped)


def small_blocks(monkeypatch: pytest.MonkeyPatch, size: int = 64) -> None:
    """Blocks of about so many bytes, also of compressed text."""
    monkeypatch.setattr(block_reader, "BLOCK", size)
    monkeypatch.setattr(block_reader, "_PACKED", 16)


def refused(path: Path, *parts: str, line: int | None = None, field: str = "text") -> None:
    """One line that names the file and holds all parts."""
    with pytest.raises(DataError) as caught:
        read(path, field=field)
    assert caught.value.file == str(path) and caught.value.line == line
    for part in parts:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


# Finding ----------------------------------------------------------------------------------------------------------


def names(given: Sequence[str | Path], base: Sequence[Path] = (Path(),)) -> list[str]:
    return [file.name for file in find_texts(given, base)]


@pytest.fixture
def tree(tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with texts in it and below."""
    for name in ("b.txt", "a.txt", "c.jsonl.gz", "deep/e.txt", "deep/er/d.txt", ".hid.txt", "deep/.hid", ".git/f.txt"):
        write(f"tree/{name}", name)
    monkeypatch.chdir(tmp_path / "tree")
    return tmp_path / "tree"


def test_a_file(tree: Path) -> None:
    for place in ("a.txt", tree / "a.txt", "./a.txt", "deep/../a.txt"):
        (file,) = find_texts([place])
        assert (file.name, file.size, file.kind) == ("a.txt", 5, "text")
        assert Path(file.place).is_absolute() and Path(file.place).read_text() == "a.txt"


@pytest.mark.parametrize(
    ("given_names", "expected"),
    [
        ("b.txt a.txt", "b.txt a.txt"),
        ("deep/er/d.txt a.txt deep/e.txt", "deep/er/d.txt a.txt deep/e.txt"),
        ("[ab].txt", "a.txt b.txt"),
        ("?.txt deep/e.txt", "a.txt b.txt deep/e.txt"),
        ("deep/*", "e.txt"),  # no directory, nothing below
        ("**/d.txt", "d.txt"),
        (".", "a.txt b.txt c.jsonl.gz deep/e.txt deep/er/d.txt"),
        ("deep", "e.txt er/d.txt"),
        (".hid.txt", ".hid.txt"),  # what is named is meant
        (".git", "f.txt"),
        ("*.txt", "a.txt b.txt"),
        ("**/*.txt", "a.txt b.txt deep/e.txt deep/er/d.txt"),
    ],
)
def test_files_patterns_and_directories(tree: Path, given_names: str, expected: str) -> None:
    assert names(given_names.split()) == expected.split()


def test_paths_are_found_as_fsspec_finds_them(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and directories are looked up without fsspec, which takes long to import."""
    given = [".", "deep", "deep/", "deep/../deep", "a.txt", "./deep/../a.txt", str(tree), str(tree / "deep")]
    quick = [find_texts([name]) for name in given]
    looked_up = [text_files._plain_files(name, [Path()]) for name in given]
    assert all(looked_up)
    monkeypatch.setattr(text_files, "_plain_files", lambda name, base: [])
    assert [find_texts([name]) for name in given] == quick


def test_a_directory_with_a_link_is_left_to_fsspec(tree: Path) -> None:
    (tree / "deep" / "link.txt").symlink_to(tree / "a.txt")
    assert not text_files._plain_files("deep", [Path()])
    assert "link.txt" in names(["deep"])


def test_a_file_whose_name_is_a_pattern(tree: Path, write: Write) -> None:
    write("tree/[ab].txt", "")
    assert names(["[ab].txt"]) == ["[ab].txt"]


def test_directories_that_are_looked_in(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert names(["e.txt"], [tmp_path / "empty", tree / "deep", tree]) == ["e.txt"]
    assert names(["*.txt"], [tmp_path / "none", tree / "deep", tree]) == ["e.txt"]  # the first that has any
    with pytest.raises(DataError):
        names(["e.txt"], [tree])


def test_what_stands_for_no_file(tree: Path) -> None:
    (tree / "void").mkdir()
    for place in ("none.txt", "*.csv", "void", "deep/none/", "file:///none/at/all", "memory://none", ""):
        with pytest.raises(DataError, match="no files found") as caught:
            find_texts(["a.txt", place])
        assert caught.value.where == place
    with pytest.raises(DataError, match="no text is given"):
        find_texts([])


def test_a_file_that_is_named_twice(tree: Path) -> None:
    (tree / "link.txt").symlink_to("a.txt")
    same = ("a.txt", "*.txt", tree / "a.txt", "deep/../a.txt", f"file://{tree}/a.txt", "link.txt")
    for twice in (*(("a.txt", name) for name in same), (".", "deep/e.txt")):
        with pytest.raises(DataError, match="given twice"):
            find_texts(twice)


def test_urls() -> None:
    files = fsspec.filesystem("memory")
    for name in ("texts/one.txt", "texts/sub/two.txt.gz", "texts/.hid"):
        files.pipe(f"/corpus-{name}", b"a rose\n" if name.endswith("one.txt") else gzip.compress(b"a rose\n"))
    try:
        assert names(["memory://corpus-texts"]) == ["one.txt", "sub/two.txt.gz"]
        assert names(["memory://corpus-texts/*.txt"]) == ["one.txt"]
        found = find_texts(["memory://corpus-texts/sub/two.txt.gz"])
        assert found[0].size == len(gzip.compress(b"a rose\n"))
        for file in find_texts(["memory://corpus-texts"]):
            reader = Reader(file, 0, layout="paragraphs", field="text")
            assert [block.data for block in reader.blocks()] == [b"a rose\n"]
            assert reader.sha256 == hashlib.sha256(files.cat(file.place)).hexdigest()
        with pytest.raises(DataError, match="the file is given twice"):
            find_texts(["memory://corpus-texts", "memory://corpus-texts/one.txt"])
    finally:
        files.rm("/corpus-texts", recursive=True)


def test_parquet_at_a_url(tmp_path: Path) -> None:
    table = pl.DataFrame({"text": ["a rose", None, "b"]})
    table.write_parquet(tmp_path / "a.parquet")
    (file,) = find_texts([f"file://{tmp_path}/a.parquet"])
    reader = Reader(file, 0, layout="paragraphs", field="text")
    assert [(block.first, block.data) for block in reader.blocks()] == [(1, ["a rose", None, "b"])]
    assert reader.sha256 == hashlib.sha256((tmp_path / "a.parquet").read_bytes()).hexdigest()


def test_a_package_for_a_url_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(MethodError, match="a package is missing"):
        find_texts(["gs://bucket/a.txt"])


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("text", "a.txt a a.bn a.parquet.txt a.jsonl.txt a.gz a.jsonl/b.txt"),
        ("jsonl", "a.jsonl a.ndjson.ZST a.json.bz2 a.JSONL.xz"),
        ("parquet", "a.parquet"),
    ],
)
def test_kinds(kind: str, names: str) -> None:
    assert {name: TextFile(f"/x/{name}", name, 1).kind for name in names.split()} == dict.fromkeys(names.split(), kind)


# Plain text -------------------------------------------------------------------------------------------------------


def test_lines_of_text(write: Write) -> None:
    path = write("a.txt", "\ufeffone\r\n\ntwo e\u0301\n  \nব\u09df")
    found, blocks, sha256 = read(path)
    assert found.nonblank() == [(1, "one\r"), (3, "two é"), (5, "ব\u09af\u09bc")]
    assert (found.records, found.skipped) == (5, [])
    assert [(block.first, block.at) for block in blocks] == [(1, path.stat().st_size)]
    assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_nothing_but_the_line_feed_ends_a_line(write: Write) -> None:
    text = "one\rtwo\x0bthree\x0cfour\x85five\u2028six\u2029\x1cseven"
    assert read(write("a.txt", text))[0].nonblank() == [(1, text)]


def test_wrapped_text(write: Write) -> None:
    text = "\n \n  a long\nparagraph \r\nof three\n\nsecond\n\t\n\u00a0\n\nthird\nend"
    found, _, _ = read(write("a.txt", text), "wrapped")
    assert found.nonblank() == [(3, "a long paragraph of three"), (7, "second"), (11, "third end")]
    assert found.records == 12  # lines, as what cannot be read is counted


def test_an_empty_file(write: Write) -> None:
    for layout in LAYOUTS:
        for name in ("a.txt", "b.jsonl"):
            found, _, sha256 = read(write(name, b""), layout)  # type: ignore[arg-type]
            assert found == brute.Lines()
            assert sha256 == hashlib.sha256(b"").hexdigest()


def test_bytes_that_are_not_utf_8(write: Write) -> None:
    data = "eins\nzwei ä\n".encode() + b"dr\xffei\nvier\n\xc3\n" + "fünf\n".encode() + b"\xed\xa0\x80\n" + b"end"
    found, _, _ = read(write("a.txt", data))
    assert found.nonblank() == [(1, "eins"), (2, "zwei ä"), (4, "vier"), (6, "fünf"), (8, "end")]
    assert (found.records, len(found.skipped), found.skipped[0]) == (8, 3, 3)
    # A line that cannot be read parts paragraphs; what was skipped is counted as what was read.
    found, _, _ = read(write("a.txt", data), "wrapped")
    assert found.nonblank() == [(1, "eins zwei ä"), (4, "vier"), (6, "fünf"), (8, "end")]
    assert len(found.skipped) <= found.records


def test_utf_16_is_not_taken_for_text(write: Write) -> None:
    found, _, _ = read(write("a.txt", "a rose\na rose\n".encode("utf-16")))
    assert found.skipped and found.skipped[0] == 1


LINE = st.lists(
    st.sampled_from([b"a", "ä".encode(), "e\u0301".encode(), "নদী".encode(), "😀".encode(), b" ", b"\r", b"\t"])
    | st.sampled_from([b"\xff", b"\xc3", b"\x80", "\u3000".encode(), b"\xef\xbb\xbf", b"\x1c"]),
    max_size=5,
).map(b"".join)
DATA = st.lists(LINE | st.just(b""), max_size=14).map(b"\n".join)
small = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@small
@given(DATA, st.integers(1, 40), st.sampled_from(LAYOUTS))
def test_blocks_of_any_size_hold_the_same_lines(tmp_path: Path, data: bytes, size: int, layout: Layout) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    expected = brute.text_lines(data, wrapped=layout == "wrapped")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_reader, "BLOCK", size)
        found, blocks, sha256 = read(path, layout)
    assert_same(found, expected)
    assert sha256 == hashlib.sha256(data).hexdigest()
    assert_in_order(blocks, len(data))


def assert_in_order(blocks: Sequence[Block], size: int, *, to_the_end: bool = True) -> None:
    """Blocks follow one another, to the end of the file where nothing comes behind the text."""
    ends = [block.at for block in blocks]
    assert ends == sorted(ends)
    assert (ends[-1:] or [size]) == [size] if to_the_end else ends[-1] <= size
    firsts = [block.first for block in blocks]
    assert firsts == sorted(set(firsts)) and firsts[:1] in ([], [1])


def test_a_paragraph_of_many_blocks(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_reader, "BLOCK", 64)
    long = [f"line {i} of a paragraph that is longer than a block" for i in range(50)]
    data = "\n".join(["first", "", *long, "", " ", "", "last", "lines"]).encode()
    found, blocks, _ = read(write("a.txt", data), "wrapped")
    assert found.nonblank() == [(1, "first"), (3, " ".join(long)), (56, "last lines")]
    assert len(blocks) > 1


@pytest.mark.parametrize("blank", ["", " ", "\t \r"])
def test_blocks_end_with_a_paragraph(write: Write, monkeypatch: pytest.MonkeyPatch, blank: str) -> None:
    monkeypatch.setattr(block_reader, "BLOCK", 64)
    paragraphs = [f"paragraph {i}\nof two lines" for i in range(40)]
    found, blocks, _ = read(write("a.txt", f"\n{blank}\n".join(paragraphs)), "wrapped")
    assert [text for _, text in found.nonblank()] == [text.replace("\n", " ") for text in paragraphs]
    assert len(blocks) > 10


def test_blocks_end_with_a_line(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_reader, "BLOCK", 64)
    path = write("a.txt", TEXT)
    _, blocks, _ = read(path)
    assert b"".join(block.data for block in blocks if isinstance(block.data, bytes)) == TEXT.encode()
    assert len(blocks) > 50
    lengths = [len(block.data) for block in blocks]
    assert max(lengths) <= 64 + 100  # as large as asked for and a line
    for block in blocks:
        assert isinstance(block.data, bytes) and block.data.endswith(b"\n")
        assert block.first == TEXT.encode()[: sum(lengths[: blocks.index(block)])].count(b"\n") + 1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.jsonl", "a.parquet"])
def test_blocks_after_some(write: Write, monkeypatch: pytest.MonkeyPatch, layout: Layout, name: str) -> None:
    small_blocks(monkeypatch)
    monkeypatch.setattr(block_reader, "_ROWS", 8)
    texts = [f"line {i}" + "\n" * (i % 3) for i in range(60)]
    data = "\n".join(texts) if ".txt" in name else "".join(json.dumps({"text": text}) + "\n" for text in texts)
    path = write(name, gzip.compress(data.encode()) if name.endswith(".gz") else data)
    if name.endswith(".parquet"):
        pl.DataFrame({"text": texts}).write_parquet(path)
    file = one(path)
    whole = list(Reader(file, 0, layout=layout, field="text").blocks())
    assert len(whole) > 4
    for after in (0, 1, 3, len(whole) - 1, len(whole)):
        reader = Reader(file, 0, layout=layout, field="text")
        assert list(reader.blocks(after)) == whole[after:]
        assert reader.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_line_that_is_too_long(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_reader, "BLOCK", 64)
    monkeypatch.setattr(block_reader, "_LONGEST", 1 << 10)
    path = write("a.txt", "short\n" + "x" * 1100 + "\nshort\n")
    refused(path, "contains a line or paragraph longer than", line=2)
    assert read(write("b.txt", "short\n" + "x" * 800 + "\nshort\n"))[0].records == 3


# Compressed -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_compressed_text_is_the_same(
    write: Write, monkeypatch: pytest.MonkeyPatch, ending: str, layout: Layout
) -> None:
    small_blocks(monkeypatch, 200)
    data = TEXT.encode()
    plain, _, _ = read(write("a.txt", data), layout)
    cuts = [0, 50, 51, 51, *range(100, len(data), 400), len(data)]
    pieces = [data[start:end] for start, end in pairwise(cuts)]  # one of them empty
    for content in (COMPRESS[ending](data), b"".join(map(COMPRESS[ending], pieces))):
        path = write(f"a.txt.{ending}", content)
        found, blocks, sha256 = read(path, layout)
        assert_same(found, plain)
        assert b"".join(block.data for block in blocks if isinstance(block.data, bytes)) == data
        assert blocks == read(path, layout)[1]  # the same again
        assert sha256 == hashlib.sha256(content).hexdigest()
        assert_in_order(blocks, len(content), to_the_end=False)
    assert len(blocks) > 10


@pytest.mark.parametrize("ending", COMPRESS)
def test_compressed_json_lines_are_the_same(write: Write, ending: str) -> None:
    data = "".join(json.dumps({"text": line}) + "\n" for line in LINES).encode()
    plain, _, _ = read(write("a.jsonl", data))
    assert plain.nonblank()
    assert_same(read(write(f"a.jsonl.{ending.upper()}", COMPRESS[ending](data)))[0], plain)


def test_one_member_after_another_by_other_makers(write: Write) -> None:
    """Padding, skippable frames, empty members and large windows, as pigz, pbzip2, pzstd and zstd --long write them."""
    data = b"one\ntwo\n"
    skippable = (0x184D2A50).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"12345"
    assert read(write("a.gz", gzip.compress(data) + b"\0" * 100))[0].records == 2
    padded = b"".join(member + b"\0" * 150_000 for member in (gzip.compress(data), gzip.compress(data)))
    assert read(write("a.gz", padded))[0].records == 4
    assert read(write("a.zst", skippable + zst(data) + skippable + zst(data)))[0].records == 4
    buffer = io.BytesIO()
    with zstd.ZstdFile(buffer, "w") as stream:  # a frame that does not tell its size
        for _ in range(1000):
            stream.write(data)
            stream.flush()
    assert read(write("b.zst", buffer.getvalue()))[0].records == 2000
    buffer = io.BytesIO()
    with zstd.ZstdFile(buffer, "w", options={zstd.CompressionParameter.window_log: 31}) as stream:
        for _ in range(3):
            stream.write(data)
            stream.flush()
    assert read(write("c.zst", buffer.getvalue()))[0].records == 6


def content_of(path: Path) -> bytes | None:
    """The text, or None where the file is refused."""
    try:
        file = TextFile(str(path), path.name, path.stat().st_size)
        blocks = list(Reader(file, 0, layout="paragraphs", field="text").blocks())
    except DataError as error:
        assert error.file == str(path)
        assert any(what in str(error) for what in ("is damaged", "is truncated", "is empty"))
        return None
    return b"".join(block.data for block in blocks if isinstance(block.data, bytes))


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_file_cut_short_is_refused(write: Write, ending: str) -> None:
    data = random.Random(3).randbytes(900).hex().encode()
    first, second = COMPRESS[ending](data[:700]), COMPRESS[ending](data[700:])
    for cut in range(1, len(first + second), 2):
        found = content_of(write("a.txt." + ending, (first + second)[:cut]))
        # Where a member ends nothing tells that another should follow.
        assert found is None or (cut == len(first) and found == data[:700]), cut


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_damaged_file_is_refused_or_read_whole(write: Write, ending: str) -> None:
    rng = random.Random(7)
    data = rng.randbytes(900).hex().encode()
    members = [COMPRESS[ending](data[:700]), COMPRESS[ending](data[700:])]
    whole = b"".join(members)
    refusals = 0
    for at in range(0, len(whole), 2):
        content = bytearray(whole)
        content[at] ^= rng.randrange(1, 256)
        found = content_of(write("a.txt." + ending, bytes(content)))
        assert found in (None, data), at  # a changed date in a header harms nobody
        refusals += found is None
    assert refusals > 0.4 * len(whole)


@pytest.mark.parametrize("ending", COMPRESS)
def test_junk_is_refused_or_read_to_its_end(write: Write, ending: str) -> None:
    """Bytes behind the last member belong to the file, although xz and bz2 would not read them."""
    data = b"one\ntwo\n"
    for junk in (b"junk", b"junk" * 50_000, COMPRESS[ending](data)[:1]):
        path = write("a.txt." + ending, COMPRESS[ending](data) + junk)
        assert content_of(path) is None
    path = write("b.txt." + ending, data * 10)
    assert content_of(path) is None
    path = write("c.txt." + ending, b"")
    assert content_of(path) is None


def test_a_package_for_zstandard_that_is_missing(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    package, name = zstd.__name__.rsplit(".", 1)
    monkeypatch.setitem(sys.modules, zstd.__name__, None)
    monkeypatch.delattr(sys.modules[package], name)
    path = write("a.zst", zst(b"text\n"))
    with pytest.raises(MethodError, match=r"backports.zstd is missing — pip install 'penchant\[corpus\]'"):
        read(path)


# JSON lines -------------------------------------------------------------------------------------------------------


def test_json_lines(write: Write) -> None:
    data = '\ufeff{"text": "one\\ntwo\\n\\nthree", "id": 3}\r\n\n{"id": 1, "text": ""}\n'
    data += '{"text": "e\\u0301 \\ud83d\\ude00"}'
    found, _, _ = read(write("a.jsonl", data))
    assert found.nonblank() == [(1, "one"), (1, "two"), (1, "three"), (4, "é 😀")]
    assert (found.records, found.skipped) == (3, [])  # a blank line is none
    found, _, _ = read(write("a.jsonl", data), "wrapped")
    assert found.nonblank() == [(1, "one two"), (1, "three"), (4, "é 😀")]


def test_another_field(write: Write) -> None:
    path = write("a.jsonl", '{"text": "a", "body": "b"}\n{"text": "a"}\n')
    found, _, _ = read(path, field="body")
    assert (found.nonblank(), found.skipped) == ([(1, "b")], [2])


BAD = [
    *[b"{", b"[]", b'"text"', b"3", b'{"text": 3}', b'{"text": null}', b'{"text": ["a"]}', b'{"txt": "a"}'],
    *[b'{"text": "\xff"}', b'{"text": "\\ud800"}', b'{"text": "\xed\xa0\x80"}'],
    *[b"[" * 100_000, b'{"text": "a"} {"text": "b"}', b"null", b'{"text": {"text": "a"}}'],
]


def test_bad_json_lines_are_counted(write: Write) -> None:
    good = b'{"text": "good"}'
    for bad in BAD:
        found, _, _ = read(write("a.jsonl", b"\n".join([good, bad, good, b"", bad, good])))
        assert found.nonblank() == [(1, "good"), (3, "good"), (6, "good")], bad[:40]
        assert (found.records, found.skipped) == (5, [2, 0])
        found, _, _ = read(write("a.jsonl", bad + b"\n" + good))
        assert (found.nonblank(), found.skipped) == ([(2, "good")], [1])


RECORD = st.text(st.sampled_from("ab \n\rনী\u09df\u0301é😀\u2028"), max_size=8)
JSON_LINE = st.builds(
    lambda text, ascii: json.dumps({"text": text}, ensure_ascii=ascii).encode(), RECORD, st.booleans()
) | st.sampled_from([*BAD[:11], b"", b" ", b"\r"])


@small
@given(st.lists(JSON_LINE, max_size=12), st.booleans(), st.integers(1, 60), st.sampled_from(LAYOUTS))
def test_blocks_of_json_lines(tmp_path: Path, lines: list[bytes], last: bool, size: int, layout: Layout) -> None:
    data = b"\n".join(lines) + b"\n" * last
    (tmp_path / "a.jsonl").write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_reader, "BLOCK", size)
        found, blocks, _ = read(tmp_path / "a.jsonl", layout)
    assert_same(found, brute.json_lines(data, wrapped=layout == "wrapped"))
    assert_in_order(blocks, len(data))


# Parquet ----------------------------------------------------------------------------------------------------------


@pytest.mark.whole
@small
@given(st.lists(st.none() | RECORD, max_size=12), st.integers(1, 5), st.sampled_from(LAYOUTS))
def test_blocks_of_rows(tmp_path: Path, texts: list[str | None], size: int, layout: Layout) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"text": texts, "n": range(len(texts))}, schema={"text": pl.String, "n": pl.Int8}).write_parquet(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_reader, "_ROWS", size)
        found, blocks, sha256 = read(path, layout)
    assert_same(found, brute.rows(texts, wrapped=layout == "wrapped"))
    assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert [block.data for block in blocks] == [texts[start : start + size] for start in range(0, len(texts), size)]
    if texts:
        assert_in_order(blocks, path.stat().st_size)


def test_columns_of_parquet(write: Write) -> None:
    path = write("a.parquet", b"")
    pl.DataFrame({"body": ["a rose"], "title": ["b"], "n": [1]}).write_parquet(path)
    refused(path, "has no text column 'text'", "--field", "body, title")
    refused(path, "has no text column 'n'", field="n")
    assert read(path, field="body")[0].nonblank() == [(1, "a rose")]


def test_a_damaged_table(write: Write) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"text": [f"text {i}" for i in range(2000)]}).write_parquet(buffer)
    whole = buffer.getvalue()
    for cut in (0, 3, 20, len(whole) // 2, len(whole) - 1):
        refused(write("a.parquet", whole[:cut]), "is not a Parquet file")
    refused(write("a.parquet", b"a rose\n" * 100), "is not a Parquet file")


# What cannot be read ----------------------------------------------------------------------------------------------


def test_a_file_that_goes_away(write: Write) -> None:
    for name in ("a.txt", "a.gz", "a.parquet"):
        path = write(name, b"text")
        file = one(path)
        path.unlink()
        with pytest.raises(DataError, match="no such file") as caught:
            list(Reader(file, 0, layout="paragraphs", field="text").blocks())
        assert caught.value.file == str(path)
