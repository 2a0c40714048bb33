"""Streams of texts on a cluster, from the command line: every input has a score or a place among the rejects."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import fsspec
import polars as pl
import pytest
from fsspec import AbstractFileSystem

import penchant as pc
from builders import succeeded
from penchant.cluster.shard_scoring import texts
from penchant.corpus.text_files import Block

pytestmark = pytest.mark.whole
WORDS = ("cat", "dog", "king", "man", "house", "tree")


def sentences(first: str, n: int) -> list[str]:
    return [f"The {first} and the {WORDS[i % 6]} of the {WORDS[i // 6 % 6]}." for i in range(n)]


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """The same kind of texts in every form that is read."""
    folder = tmp_path / "shards"
    folder.mkdir()
    (folder / "a.txt").write_text("\n".join(sentences("cat", 30)) + "\n", "utf-8")
    (folder / "b.txt.gz").write_bytes(gzip.compress("\r\n".join(sentences("dog", 20)).encode()))
    rows = "".join(json.dumps({"text": text, "n": n}) + "\n" for n, text in enumerate(sentences("king", 25)))
    (folder / "c.jsonl").write_text(rows, "utf-8")
    pl.DataFrame({"text": sentences("man", 15)}).write_parquet(folder / "d.parquet")
    return folder


def tables(out: Path) -> dict[str, pl.DataFrame]:
    """Scores by the name of their shard."""
    files = [file for file in out.glob("*.parquet") if ".rejects" not in file.name]
    return {file.name.rpartition("-")[0]: pl.read_parquet(file) for file in files}


def test_a_table_a_shard_equals_scores_of_one_machine(
    penchant: Any, machines: Any, zoo: Any, shards: Path, tmp_path: Path
) -> None:
    model, out = zoo("gpt2"), tmp_path / "out"
    score = ("score", "-m", model, shards, "--on", machines.address, "-o", out)
    _, err = succeeded(penchant(*score, "--batch-tokens", "64"))
    assert "90 inputs = 90 scores, in 4 shards" in err
    found = tables(out)
    assert set(found) == {"a.txt", "b.txt.gz", "c.jsonl", "d.parquet"}
    for name, word, n in (("a.txt", "cat", 30), ("b.txt.gz", "dog", 20), ("c.jsonl", "king", 25)):
        here = pc.score(str(model), sentences(word, n))
        assert found[name]["text"].to_list() == sentences(word, n)
        assert found[name]["record"].to_list() == list(range(1, n + 1))
        assert found[name]["score"].to_list() == pytest.approx(here["score"].to_list(), abs=1e-4)
        assert found[name].columns == ["record", *here.columns]
    assert json.loads((out / "stream.json").read_text("utf-8"))["status"] == "finished"

    code, _, err = penchant(*score)
    assert code == 2
    assert "already contains scores" in err
    code, _, err = penchant(*score, "--resume", "--normalise", "mean")
    assert code == 2
    assert "normalise was none and is now mean" in err


def test_what_cannot_be_scored_stops_or_is_listed(
    penchant: Any, machines: Any, zoo: Any, shards: Path, tmp_path: Path
) -> None:
    bad = shards / "e.txt"
    bad.write_bytes(b"The cat.\n\nThe \xff dog.\nThe king.\n" + b"the " * 400 + b"\n")
    base = ("score", "-m", zoo("gpt2"), shards, "--on", machines.address, "--workers", "1", "-o")
    code, _, err = penchant(*base, tmp_path / "stop")
    assert code == 2
    assert f"{bad}, line 2: the text has no tokens" in err
    code, _, err = penchant(*base, tmp_path / "reject", "--on-error", "reject")
    assert code == 0, err
    assert "95 inputs = 92 scores + 3 rejects, in 5 shards" in err
    (file,) = (tmp_path / "reject").glob("e.txt-*.rejects.parquet")
    assert pl.read_parquet(file)["record"].to_list() == [2, 3, 5]
    assert pl.read_parquet(file)["reason"].to_list()[1] == "is not UTF-8"
    assert tables(tmp_path / "reject")["e.txt"]["record"].to_list() == [1, 4]

    finished = set(tables(tmp_path / "stop"))
    assert "e.txt" not in finished
    bad.write_text("The cat.\nThe king.\n", "utf-8")  # mended
    (shards / "a.txt").write_text("The dog.\n", "utf-8")  # changed
    code, _, err = penchant(*base, tmp_path / "stop", "--resume")
    assert code == 0, err
    before = len(finished - {"a.txt"})
    assert "63 inputs = 63 scores, in 5 shards" + (f", {before} of them before" if before else "") in err
    assert tables(tmp_path / "stop")["a.txt"]["text"].to_list() == ["The dog."]
    assert len(list((tmp_path / "stop").glob("*.parquet"))) == 5


def test_occurrences_are_the_same_bytes(penchant: Any, machines: Any, tmp_path: Path) -> None:
    penchant("init", "ceat", tmp_path / "c")
    lines = (tmp_path / "c" / "sentences.txt").read_text("utf-8").splitlines()
    for n in range(5):
        part = [f"{line} It was {n}." if n % 2 else line for line in lines[n::2]]
        (tmp_path / f"part{n}.txt").write_text("\n".join(part), "utf-8")
    sampling = ("--per-word", 5, "--segments", "4,9,>9")
    made = ("corpus", "extract", tmp_path / "part*.txt", "--data", tmp_path / "c", *sampling)
    here, _ = succeeded(penchant(*made, "-o", tmp_path / "here.parquet"))
    there, _ = succeeded(penchant(*made, "-o", tmp_path / "there.parquet", "--on", machines.address))
    assert here == there
    assert (tmp_path / "here.parquet").read_bytes() == (tmp_path / "there.parquet").read_bytes()


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
def test_lines_are_read_as_they_are(ending: bytes) -> None:
    block = Block(0, 7, b"one\r\n\n two \xff" + ending, 0)
    assert list(texts(block, "text", "text")) == [(7, "one"), (8, ""), (9, None)]
    rows = Block(0, 1, b'{"t": "a"}\n\n{"t": 3}\n[]\n{"t": "\\ud800"}' + ending, 0)
    assert list(texts(rows, "jsonl", "t")) == [(1, "a"), (3, None), (4, None), (5, None)]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["a.csv", "--on", "ray", "-o", "o"], "a.csv: is not text, JSON lines or Parquet"),
        (["a.txt", "--on", "ray"], "give a directory for the tables with -o"),
        (["--on", "ray", "-o", "o"], "--on needs input files"),
        (["-", "--on", "ray", "-o", "o"], "--on needs input files"),
        ([".", "--on", "ray", "-o", "o"], "o: is inside an input directory"),
        (["a.txt", "--on", "ray", "-o", "o", "--on-error", "skip"], "unknown value 'skip' for --on-error"),
        (["a.txt", "b.txt"], "several files need --on"),
        (["a.txt", "-o", "o"], "add --on, for example: --on ray"),
        (["a.txt", "--resume"], "add --on, for example: --on ray"),
        (["nowhere*.txt", "--on", "ray", "-o", "o"], "nowhere*.txt: no files found"),
        (["broken://a.txt", "--on", "ray", "-o", "o"], "broken://a.txt: cannot be read: no credentials"),
    ],
)
def test_what_cannot_be_a_stream_is_one_line(
    penchant: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    fsspec.register_implementation("broken", Broken, clobber=True)
    for name in ("a.csv", "a.txt", "b.txt"):
        Path(name).write_text("The cat.\n", "utf-8")
    code, out, err = penchant("score", "-m", "bundled:modern", *given)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
    assert not Path("o").exists()


class Broken(AbstractFileSystem):  # type: ignore[misc]
    """A store with an error of its own, which is no OSError."""

    protocol = "broken"

    def isdir(self, path: str) -> bool:
        raise LookupError("no credentials")
