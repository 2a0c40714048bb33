"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penchant.errors import DataError, OutputError
from penchant.files import (
    cited,
    distinct,
    join_names,
    refuse_inputs,
    refuse_other,
    safe,
    sha256_file,
    split_names,
    write_bytes,
    write_json,
    write_parquet,
    write_text,
)
from penchant.records import Signature

Writer = Callable[[Path], None]
FRAME = pl.DataFrame({"word": ["rose", None, "ঘর"], "scores": [[0.1, -2.5], [], [float("nan")]]})
WRITERS: dict[str, Writer] = {
    "text": lambda path: write_text("new", path),
    "bytes": lambda path: write_bytes(b"new", path),
    "json": lambda path: write_json({"new": 1}, path),
    "parquet": lambda path: write_parquet(FRAME, path),
}
every_writer = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)


def fails(code: int) -> Callable[..., Any]:
    def raise_(*args: object, **options: object) -> None:
        raise OSError(code, os.strerror(code))

    return raise_


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_text("Řekla\r\n\u2028\x85 end", tmp_path / "a" / "b" / "text")
    assert (tmp_path / "a" / "b" / "text").read_bytes() == "Řekla\r\n\u2028\x85 end".encode()
    write_bytes(b"\x00\xff", tmp_path / "bytes")
    assert (tmp_path / "bytes").read_bytes() == b"\x00\xff"
    write_json({"naïve": [1, None, 0.1]}, tmp_path / "json")
    assert (tmp_path / "json").read_text("utf-8") == '{\n  "naïve": [\n    1,\n    null,\n    0.1\n  ]\n}\n'
    write_parquet(FRAME, tmp_path / "parquet")
    assert pl.read_parquet(tmp_path / "parquet").equals(FRAME)


@given(st.dictionaries(st.text(), st.text(st.characters())))
def test_any_json_comes_back(tmp_path_factory: pytest.TempPathFactory, value: dict[str, str]) -> None:
    path = tmp_path_factory.mktemp("json", numbered=True) / "x.json"
    write_json(value, path)
    assert json.loads(path.read_bytes()) == value


def test_json_keeps_a_file_name_that_is_not_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    write_json([name], tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text("utf-8")) == [name]


def test_json_that_json_lacks_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json([float("nan")], tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []


@every_writer
def test_replaces_whole_and_leaves_no_other_file(tmp_path: Path, write: Writer) -> None:
    target = tmp_path / "out"
    target.write_text("old and longer than what is new")
    write(target)
    assert b"old" not in target.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@every_writer
@pytest.mark.parametrize(
    ("step", "code", "words"),
    [
        ("os.fsync", errno.ENOSPC, ("No space left", "free some space")),
        ("pathlib.Path.replace", errno.EACCES, ("Permission denied", "choose a directory")),
        ("pathlib.Path.open", errno.EROFS, ("Read-only file system", "choose a directory")),
        ("pathlib.Path.mkdir", errno.EACCES, ("Permission denied", "choose a directory")),
    ],
)
def test_a_failure_keeps_the_old_file_and_leaves_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Writer, step: str, code: int, words: tuple[str, str]
) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(step, fails(code))
        with pytest.raises(OutputError) as caught:
            write(target)
    message = str(caught.value)
    assert message.startswith(f"{target}: cannot be written: {words[0]}") and words[1] in message
    assert "\n" not in message
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_interruption_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text("new", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_grows_too_large_half_way(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OutputError, match="cannot be written: File too large"):
            write_bytes(bytes(2000), tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written_to(tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(OutputError, match="Permission denied — choose a directory"):
            write_text("new", tmp_path / "out")
    finally:
        tmp_path.chmod(stat.S_IRWXU)


def test_a_file_or_a_directory_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "directory").mkdir()
    with pytest.raises(OutputError, match="is a file, not a directory"):
        write_text("new", tmp_path / "file" / "out")
    with pytest.raises(OutputError, match="give the path of a file"):
        write_text("new", tmp_path / "directory")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["directory", "file"]
    assert list((tmp_path / "directory").iterdir()) == []


def test_text_that_utf8_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="character 2 is half of a surrogate pair"):
        write_text("a\ud800", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_the_longest_name_and_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_text("new", tmp_path / ("n" * 255))
    assert (tmp_path / ("n" * 255)).stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_writes_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text("new", tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"


def kept(path: Path) -> tuple[int, ...]:
    """Return the properties of a path that do not change when it is only looked at."""
    now = path.lstat()
    return now.st_mode, now.st_ino, now.st_size, now.st_mtime_ns


@every_writer
def test_what_is_no_file_is_refused_and_left(tmp_path: Path, write: Writer) -> None:
    os.mkfifo(tmp_path / "pipe")
    ours, theirs = os.openpty()  # a device that is the test's own
    (tmp_path / "link").symlink_to(os.ttyname(theirs))
    for name in ("pipe", "link"):
        before = kept(tmp_path / name)
        with pytest.raises(OutputError, match=f"{name}: is a device, a pipe or a socket — give the path"):
            write(tmp_path / name)
        assert kept(tmp_path / name) == before
    os.close(ours)
    os.close(theirs)
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OutputError, match="cannot be written: Too many levels of symbolic links"):
        write(tmp_path / "round")
    assert (tmp_path / "round").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "round"]


def test_an_input_is_known_by_any_path(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("words")
    (tmp_path / "soft").symlink_to("in")
    (tmp_path / "hard").hardlink_to(tmp_path / "in")
    (tmp_path / "below").mkdir()
    for name in ("in", "soft", "hard", "below/../in", "none/../in"):
        with pytest.raises(OutputError, match="is one of the input files"):
            refuse_inputs(tmp_path / name, ["none", tmp_path / "in"])
    refuse_inputs(tmp_path / "out", ["none", tmp_path / "in"])


def test_only_a_file_of_its_kind_is_replaced(tmp_path: Path) -> None:
    def refuse(name: str, own: bool) -> None:
        refuse_other(tmp_path / name, "a report", lambda path: own)

    (tmp_path / "file").write_text("words")
    (tmp_path / "empty").touch()
    refuse("none", False)
    refuse("empty", False)
    refuse("file", True)
    with pytest.raises(OutputError, match="file: already exists and is not a report — move it away"):
        refuse("file", False)
    with pytest.raises(OutputError, match="file: already exists"):
        refuse("none/../file", False)
    with pytest.raises(OutputError, match="is a directory"):
        refuse_other(tmp_path, "a report", lambda path: True)


NAMES = st.text(st.one_of(st.sampled_from("./\\:~a_A\x00 éß\u0301"), st.characters()), max_size=300)
WINDOWS = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


@given(NAMES)
def test_a_safe_name_is_a_file_in_its_directory(name: str) -> None:
    kept = safe(name)
    path = Path("/folder") / f"{kept}.parquet"
    assert path.parent == Path(os.path.normpath(path)).parent == Path("/folder")
    assert 0 < len(kept.encode()) <= 100
    assert not set(kept) & set('<>:"/\\|?*\0\n') and kept.isprintable()
    assert kept[0] != "." and kept[-1] not in ". "
    assert not WINDOWS.fullmatch(kept)
    assert safe(kept) == kept


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("bert-base-uncased@86b5e09", "bert-base-uncased@86b5e09"),
        ("google/electra", "google_electra"),
        ("vectors.txt", "vectors.txt"),
        ("নদী", "নদী"),
        ("../../X", "__.._X"),
        ("..", "_"),
        (".", "_"),
        ("", "_"),
        ("a.", "a_"),
        ("CON", "_CON"),
        ("aux.txt", "_aux.txt"),
        ("\u202etxt.exe", "_txt.exe"),
    ],
)
def test_safe_names(name: str, kept: str) -> None:
    assert safe(name) == kept


@given(st.lists(NAMES, max_size=8))
def test_distinct_names_are_distinct_files(names: list[str]) -> None:
    taken: list[str] = []
    for name in [*names, *names]:
        taken.append(distinct(name, taken))
    folded = {unicodedata.normalize("NFC", name).casefold() for name in taken}
    assert len(folded) == len(taken) == 2 * len(names)


def test_long_names_differ_in_their_ends(tmp_path: Path) -> None:
    one, other = safe("é" * 300), safe("é" * 299 + "e")
    assert one != other
    write_text("new", tmp_path / f"{one}-items.parquet")


def test_sha256(tmp_path: Path) -> None:
    # SHA-256 of "abc": the example of FIPS 180-2, appendix B.1.
    write_bytes(b"abc", tmp_path / "abc")
    assert sha256_file(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    data = os.urandom(1 << 20) * 3
    write_bytes(data, tmp_path / "large")
    assert sha256_file(str(tmp_path / "large")) == hashlib.sha256(data).hexdigest()
    with pytest.raises(DataError, match="no such file"):
        sha256_file(tmp_path / "none")
    with pytest.raises(DataError, match="is a directory"):
        sha256_file(tmp_path)


@given(st.lists(st.text(), min_size=1), st.sampled_from("+,"))
def test_names_in_a_list_come_back_from_a_signature(names: list[str], separator: str) -> None:
    text = join_names(names, separator)
    again = Signature.parse(str(Signature.of("cloze", data=text)))["data"]
    assert split_names(again, separator) == names


def test_a_plus_in_a_name_is_not_one_between_names(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a+b.csv", "c%2B.csv", "d.csv")]
    for file in files:
        file.write_text("x", "utf-8")
    names, _, digest = cited(files).rpartition("#")
    assert names == "a%2Bb+c%252B+d" and len(digest) == 6
    assert split_names(names) == [file.stem for file in files]
