"""The door through which the files come in that users name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import error_of
from penchant.corpus.block_reader import Reader
from penchant.corpus.stimulus_sets import read_stimuli
from penchant.corpus.suffix_usage import read_words
from penchant.corpus.text_files import find_texts
from penchant.corpus.word_segmentation import count_words
from penchant.errors import DataError, PenchantError
from penchant.files import sha256_file
from penchant.instruments.minimal_pairs.data import read_many
from penchant.study.study_file import read_study
from penchant.tables.rows import read_rows
from penchant.tables.yaml_json_documents import read_yaml
from penchant.text_io import LONGEST_LINE, decoded, guessed_encoding, lines, opened, read_text, saved_as_utf8
from penchant.vectors.static_vectors import read_vectors
from penchant.vectors.token_file import read_tokens

READERS: list[Callable[[Path], object]] = [
    read_text,
    read_yaml,
    read_rows,
    read_words,
    read_tokens,
    read_study,
    read_vectors,
    count_words,
    sha256_file,
    lambda path: read_many([path]),
    lambda path: [*Reader(find_texts([path])[0], 0, layout="paragraphs", field="text").blocks()],
]


def refusal(call: Callable[[], object]) -> PenchantError:
    return error_of(call, PenchantError)


@pytest.mark.parametrize("read", READERS)
def test_only_regular_files_are_read(read: Callable[[Path], object], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        for path, kind in (
            (tmp_path / "pipe", "a pipe"),
            (tmp_path / "s", "a socket"),
            (Path("/dev/zero"), "a device"),
        ):
            assert f"{path}: cannot be read: it is {kind}" in str(refusal(lambda path=path: read(path)))  # type: ignore[misc]


def test_a_link_to_a_device_is_a_device(tmp_path: Path) -> None:
    (tmp_path / "a.csv").symlink_to("/dev/zero")
    assert "it is a device" in str(refusal(lambda: read_stimuli(tmp_path / "a.csv")))


def test_a_line_too_long_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as stream:
        stream.write(b'{"good": "a", "bad": "b"}\n{"good": "')
        stream.seek(1 << 34)  # sixteen gigabytes, which take no place
        stream.write(b'"}\n')
    began = time.monotonic()
    error = refusal(lambda: read_rows(path))
    assert isinstance(error, DataError) and (error.message, error.line) == ("the line is longer than 16 MiB", 2)
    assert time.monotonic() - began < 5
    whole = b"x" * (LONGEST_LINE - 1) + b"\n"
    assert [number for number, _ in lines(io.BytesIO(whole * 2), "x")] == [1, 2]


@pytest.mark.parametrize("name", ["x" * 5_000, "a\0b", "\ud800", "a/" * 3_000])
def test_names_that_no_file_has(name: str) -> None:
    for read in (read_text, read_rows, sha256_file, read_vectors, read_study):
        assert refusal(lambda read=read: read(name)).message  # type: ignore[misc]


@pytest.mark.parametrize(
    ("data", "line", "guess"),
    [
        ("naïve\n".encode("utf-16"), 1, "UTF-16"),
        ("naive text\n".encode("utf-16-le"), 1, "UTF-16"),
        ("naive text\n".encode("utf-16-be"), 1, "UTF-16"),
        ("naïve\n".encode("utf-32"), 1, "UTF-32"),
        ("plain\nfinanciële carrière, d’accord\n".encode("mac_roman"), 2, "Mac OS Roman"),
        ("plain\nfinanciële carrière, d’accord\n".encode("cp1252"), 2, "Windows-1252"),
        ("plain\nnaïve café\n".encode("latin-1"), 2, "Latin-1 or Windows-1252"),
        ("plain\n“naïve”\n".encode("cp1252"), 2, "Windows-1252"),
        ("čeština je krásná\n".encode() + b"\xff\n", 2, ""),
    ],
)
def test_other_encodings_are_guessed(data: bytes, line: int, guess: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    error = refusal(lambda: read_text(path))
    assert isinstance(error, DataError) and (error.line, error.hint) == (line, saved_as_utf8(guess))
    assert error.message.startswith("is not UTF-8") and error.message.endswith(guess and f"it looks like {guess}")
    assert error.hint.startswith('save it as UTF-8: in Excel as "CSV UTF-8"')
    codec = {"UTF-16": "UTF-16", "UTF-32": "UTF-32", "Mac OS Roman": "MACINTOSH", "": ""}.get(guess, "CP1252")
    assert (f"iconv -f {codec} -t UTF-8" in error.hint) == bool(guess)
    if codec in ("CP1252", "MACINTOSH"):  # what the hint says gives the text back
        words = "plain\nnaïve café\n", "plain\n“naïve”\n", "plain\nfinanciële carrière, d’accord\n"
        assert data.decode(codec) in words


@pytest.mark.parametrize(
    ("pack", "mend"), [(gzip.compress, "gunzip -k"), (bz2.compress, "bunzip2 -k"), (lzma.compress, "unxz -k")]
)
def test_a_compressed_file_is_no_text(pack: Callable[[bytes], bytes], mend: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(pack(b"good,bad\nShe sings.,She sing.\n" * 50))
    for read in (read_text, read_rows):
        error = refusal(lambda read=read: read(tmp_path / "a.csv"))  # type: ignore[misc]
        assert error.message.startswith("is compressed with ") and mend in error.hint


@given(st.text())
def test_utf_8_is_read_and_never_guessed_to_be_another(text: str) -> None:
    data = text.encode("utf-8", "ignore")
    if "\0" not in text:
        assert guessed_encoding(data) == ""
        assert decoded(data, "x") == data.decode("utf-8-sig")


def test_a_file_that_goes_away_while_it_is_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    with pytest.raises(DataError, match="a: cannot be read: Input/output error"), opened(tmp_path / "a"):
        raise OSError(5, "Input/output error")
