"""No output replaces an input, a device, a directory, or a file that penchant did not write there."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import zoo as tiny
from answers import refused
from builders import Program, Zoo, succeeded, write, write_study
from manifests import rewritten
from penchant.errors import OutputError
from penchant.grammar.blimp_vocabulary import import_blimp
from penchant.instruments.cloze.rating_formats import Rating
from penchant.instruments.cloze.ratings import COLUMNS, write_ratings
from penchant.instruments.run_options import Run
from penchant.study.run import run_study
from penchant.study.study_file import read_study

TEXT = "the rose grows in the garden by the old house\n" * 200
WAYS: dict[str, Callable[[Path], Path]] = {
    "itself": lambda path: path,
    "relative": lambda path: Path(os.path.relpath(path)),
    "roundabout": lambda path: path.parent / "below" / ".." / path.name,
    "through what is not there": lambda path: path.parent / "none" / ".." / path.name,
    "link": lambda path: path.with_name("soft.txt"),
    "hard link": lambda path: path.with_name("hard.txt"),
}


@pytest.fixture(scope="module")
def run(zoo: Zoo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result directory of tiny pairs and one model."""
    home = tmp_path_factory.mktemp("run")
    write(home / "pairs.tsv", "good\tbad\n" + "".join(f"{a}\t{b}\n" for a, b in tiny.PAIRS))
    probe = {"minimal-pairs": {"data": ["pairs.tsv"], "resamples": 100}}
    study = write_study(home / "study.yaml", [zoo("gpt2")], probe)
    run_study(*read_study(study), home / "out", Run(base=[home]))
    return home / "out"


@pytest.fixture
def mine(run: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(run, tmp_path / "out"))


@pytest.fixture
def special(tmp_path: Path) -> Iterator[list[Path]]:
    """Make paths that are not regular files: a device by a link, a pipe, a socket, a directory.

    The device is a terminal of the test's own: a mistake in the program does no harm to /dev/null.
    """
    ours, theirs = os.openpty()
    (tmp_path / "device").symlink_to(os.ttyname(theirs))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    with socket.socket(socket.AF_UNIX) as unix, pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        unix.bind("socket")
        yield [tmp_path / name for name in ("device", "pipe", "socket", "directory")]
    os.close(ours)
    os.close(theirs)


def kinds(paths: list[Path]) -> list[tuple[int, int]]:
    return [(path.lstat().st_mode, path.stat().st_mode) for path in paths]


def foreign(path: Path, text: str = "my own words, years of work\n") -> bytes:
    return write(path, text).read_bytes()


# Inputs ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_vectors_never_replace_the_text_they_are_trained_on(penchant: Program, tmp_path: Path, way: str) -> None:
    text = tmp_path / "a.txt"
    text.write_text(TEXT)
    (tmp_path / "below").mkdir()
    (tmp_path / "soft.txt").symlink_to(text)
    (tmp_path / "hard.txt").hardlink_to(text)
    before = sorted(path.name for path in tmp_path.iterdir())
    refused(penchant("vectors", "train", "a.txt", "-o", WAYS[way](text)), "is one of the input files")
    assert text.read_text() == TEXT
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_the_card_of_vectors_never_replaces_the_text_either(penchant: Program, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    refused(penchant("vectors", "train", "a.md", "-o", "a.txt"), "a.md: is one of the input files")
    assert (tmp_path / "a.md").read_text() == TEXT


def test_pairs_never_replace_the_pairs_they_are_made_of(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    lines = [json.dumps({"good": a, "bad": b}) for a, b in tiny.PAIRS]
    (tmp_path / "data").mkdir()
    (tmp_path / "blimp.jsonl").write_text("\n".join(lines))
    pairs = ("pairs", "filter", "-t", zoo("gpt2"))
    assert penchant(*pairs, "blimp.jsonl", "-o", "data/fair.jsonl")[0] == 0
    before = (tmp_path / "data" / "fair.jsonl").read_bytes()
    assert before
    (tmp_path / "link.jsonl").symlink_to("data/fair.jsonl")
    refused(penchant(*pairs, "data", "-o", "link.jsonl"), "link.jsonl: is one of the input files")
    refused(penchant(*pairs, "data", "-o", "blimp.jsonl"), "blimp.jsonl: already exists and is not")
    assert (tmp_path / "data" / "fair.jsonl").read_bytes() == before
    assert penchant(*pairs, "blimp.jsonl", "-o", "data/fair.jsonl")[0] == 0  # what these commands wrote, they replace


@pytest.mark.whole
def test_a_score_is_not_appended_to_its_sentences(zoo: Zoo, tmp_path: Path) -> None:
    """Every score would be read as the next sentence, without end."""
    file = tmp_path / "a.txt"
    file.write_text("The cat sleeps.\n")
    for argument in ("a.txt", "-"):
        with file.open() as source, file.open("a") as target:
            ended = subprocess.run(
                [sys.executable, "-m", "penchant.cli.app", "score", "-m", zoo("gpt2"), "--cache", "none", argument],
                stdin=source,
                stdout=target,
                stderr=subprocess.PIPE,
                cwd=tmp_path,
                timeout=120,
                check=False,
                text=True,
            )
        assert (ended.returncode, file.read_text()) == (2, "The cat sleeps.\n")
        assert "is both input and output" in ended.stderr


def test_a_vocabulary_is_not_replaced_by_the_grammar_made_of_it(tmp_path: Path) -> None:
    before = foreign(tmp_path / "lexicon.csv", "expression,category\ncat,N\n")
    with pytest.raises(OutputError, match=r"lexicon\.csv: already exists"):
        import_blimp(tmp_path / "lexicon.csv", tmp_path)
    assert (tmp_path / "lexicon.csv").read_bytes() == before


# Devices, pipes, directories --------------------------------------------------------------------------------------


def test_what_is_no_file_is_refused_and_left(penchant: Program, mine: Path, special: list[Path]) -> None:
    before = kinds(special)
    for path in special:
        refused(penchant("report", mine, "-o", path), str(path))
        refused(penchant("pairs", "generate", "-n", "1", "-o", path), str(path))
        refused(penchant("ratings", "export", mine, "-o", path), str(path))
        (path.parent / f"{path.name}.txt").symlink_to(path)
        (path.parent / f"{path.name}.parquet").symlink_to(path)
        (path.parent / "a.text").write_text(TEXT)
        refused(penchant("vectors", "train", "a.text", "-o", f"{path.name}.txt"), f"{path.name}.txt: is a")
    assert kinds(special) == before


def test_a_cache_that_is_no_file_is_refused(penchant: Program, zoo: Zoo, special: list[Path]) -> None:
    before = kinds(special)
    for path in special:
        refused(penchant("score", "-m", zoo("gpt2"), "--cache", path, stdin="A cat.\n"), f"{path}: cannot be used")
    assert kinds(special) == before


def test_a_cache_leaves_the_databases_of_others_alone(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    for statement in ("CREATE TABLE bookmarks (url)", "CREATE TABLE answers (key BLOB PRIMARY KEY, wants, mine)"):
        path = tmp_path / "other.sqlite"
        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as db:
            db.execute(statement)
        db.close()
        before = path.read_bytes()
        refused(penchant("score", "-m", zoo("gpt2"), "--cache", path, stdin="A cat.\n"), "it contains other tables")
        assert path.read_bytes() == before
        assert not path.with_name("other.sqlite-wal").exists()


def test_a_name_that_no_file_can_have(penchant: Program, mine: Path, tmp_path: Path) -> None:
    write(tmp_path / "a.text", TEXT)
    write(tmp_path / "pairs.tsv", "good\tbad\nThe cat sleeps.\tThe cat sleep.\n")
    long = "x" * 300
    write_study(tmp_path / "study.yaml", ["bundled:modern"], {"minimal-pairs": {"data": ["pairs.tsv"]}})
    for arguments in (
        ("run", "study.yaml", "-o", long),
        ("report", mine, "-o", long),
        ("export", mine, "--to", "csv", "-o", long),
        ("init", "cloze", long),
        ("ratings", "export", mine, "-o", long),
        ("pairs", "generate", "-n", "1", "-o", long),
        ("vectors", "train", "a.text", "-o", f"{long}.txt"),
    ):
        refused(penchant(*arguments), "cannot be written: File name too long")


# Foreign files ------------------------------------------------------------------------------------------------------


@pytest.mark.whole
def test_a_report_replaces_a_report_and_nothing_else(penchant: Program, mine: Path, tmp_path: Path) -> None:
    assert penchant("report", mine)[0] == 0
    assert penchant("report", mine)[0] == 0
    kept = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    thesis = tmp_path / "thesis.html"
    kept[thesis] = foreign(thesis, "<!doctype html><title>My thesis</title>")
    for path in (thesis, mine / "manifest.json", next(mine.rglob("items.parquet"))):
        refused(penchant("report", mine, "-o", path), f"{path}: already exists and is not a penchant", "move it away")
    assert {path: path.read_bytes() for path in kept} == kept
    (tmp_path / "new.html").touch()  # an empty file, as mktemp leaves one
    assert penchant("report", mine, "-o", "new.html")[0] == 0


def test_a_report_removes_only_what_reports_wrote(penchant: Program, mine: Path) -> None:
    beside = mine / "report-items"
    beside.mkdir()
    own, other = beside / "items-0-0123456789-0.js", beside / "items-mine.js"
    own.write_text('penchantBlock("x","y");\n')
    before = foreign(other, "alert('mine')")
    assert penchant("report", mine)[0] == 0
    assert not own.exists()
    assert other.read_bytes() == before


@pytest.mark.parametrize("form", ["latex", "csv", pytest.param("figures", marks=pytest.mark.whole)])
def test_an_export_replaces_only_what_it_wrote(penchant: Program, mine: Path, tmp_path: Path, form: str) -> None:
    paper = tmp_path / "paper"
    out, _ = succeeded(penchant("export", mine, "--to", form, "-o", paper))
    names = [Path(line).name for line in out.splitlines()]
    assert names
    assert penchant("export", mine, "--to", form, "-o", paper)[0] == 0
    last = paper / names[-1]
    before = foreign(last)  # changed since
    refused(
        penchant("export", mine, "--to", form, "-o", paper),
        f"{last}: already exists",
        "not an unmodified penchant export",
    )
    assert last.read_bytes() == before
    # In a folder where the author has a file of that name nothing is written at all.
    (tmp_path / "mine").mkdir()
    before = foreign(tmp_path / "mine" / names[-1])
    refused(penchant("export", mine, "--to", form, "-o", tmp_path / "mine"), names[-1], "give another file")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == [names[-1]]
    assert (tmp_path / "mine" / names[-1]).read_bytes() == before


def test_an_export_stays_in_its_folder(penchant: Program, mine: Path, tmp_path: Path) -> None:
    """A result directory may come from somebody else, with any names in its manifest."""
    rewritten(mine, lambda manifest: [unit.update(probe="../../escaped/x") for unit in manifest["units"]])
    for form in ("csv", "latex"):
        out, _ = succeeded(penchant("export", mine, "--to", form, "-o", tmp_path / "deep" / "er" / form))
        assert {Path(line).parent for line in out.splitlines()} == {tmp_path / "deep" / "er" / form}
    assert not (tmp_path / "escaped").exists() and not (tmp_path / "deep" / "escaped").exists()


@pytest.mark.parametrize(
    "content",
    [
        "one line and no more\n",
        "sentence,word,rater,rating,comment\n",
        "sentence\tword\n",
        "{}\n",
        '{"sentence": "s1", "word": "cat", "rater": "anna", "rating": 1}\n',
    ],
)
def test_ratings_replace_only_their_own_table(tmp_path: Path, content: str) -> None:
    path = tmp_path / "ratings.csv"
    before = foreign(path, content)
    with pytest.raises(OutputError, match="already exists and is not a CSV table of ratings with the columns"):
        write_ratings([Rating("s1", "cat", "anna", 1.0, "")], path)
    assert path.read_bytes() == before
    path.write_text(f"{','.join(COLUMNS)}\ns2,dog,ben,0\n")
    write_ratings([Rating("s1", "cat", "anna", 1.0, "")], path)
    assert path.read_text() == "sentence,word,rater,rating\ns1,cat,anna,1\n"


def test_vectors_replace_only_vectors_with_their_card(penchant: Program, tmp_path: Path) -> None:
    (tmp_path / "a.text").write_text(TEXT)
    train = ("vectors", "train", "a.text", "--size", "4", "--epochs", "1", "--workers", "1", "-o")
    assert penchant(*train, "v.txt")[0] == 0
    assert penchant(*train, "v.txt")[0] == 0
    refused(penchant(*train, "v.bin"), "v.md: already exists and is not the card of these vectors")
    (tmp_path / "v.txt").write_text((tmp_path / "v.txt").read_text() + "one 1 2 3 4\n")
    refused(penchant(*train, "v.txt"), "v.txt: already exists and is not a vector file with a matching card")
    for name, written in (("README.md", "README.txt"), ("news.bin", "news.bin")):
        before = foreign(tmp_path / name)
        refused(penchant(*train, written), f"{name}: already exists")
        assert (tmp_path / name).read_bytes() == before
    refused(penchant(*train, "v.npy"), "'.npy' is not a file extension for word vectors")


@pytest.fixture
def extract(tmp_path: Path) -> tuple[str, ...]:
    """A command that extracts sentences from text."""
    words = {"targ1": "rose", "targ2": "house", "attr1": "old", "attr2": "garden"}
    sets = {name: {"category": name, "examples": [word]} for name, word in words.items()}
    write(tmp_path / "set.json", json.dumps(sets))
    write(tmp_path / "a.txt", TEXT)
    return "corpus", "extract", "a.txt", "--data", "set.json", "--workers", "1", "-o", "s.parquet"


def test_sentences_replace_only_a_table_of_sentences(
    penchant: Program, tmp_path: Path, extract: tuple[str, ...]
) -> None:
    assert penchant(*extract)[0] == 0
    assert penchant(*extract)[0] == 0
    pl.DataFrame({"mine": [1]}).write_parquet(tmp_path / "s.parquet")
    before = (tmp_path / "s.parquet").read_bytes()
    refused(penchant(*extract), "s.parquet: already exists and is not a table of penchant corpus extract")
    assert (tmp_path / "s.parquet").read_bytes() == before
    # The folder for saved progress, which is removed in the end, holds what somebody put there.
    (tmp_path / "s.parquet").unlink()
    (tmp_path / ".s.parquet.partial").mkdir()
    foreign(tmp_path / ".s.parquet.partial" / "thesis.txt")
    refused(penchant(*extract), ".s.parquet.partial: contains files that penchant did not write")
    assert (tmp_path / ".s.parquet.partial" / "thesis.txt").exists()


def test_a_chart_replaces_only_a_chart(penchant: Program, tmp_path: Path, extract: tuple[str, ...]) -> None:
    assert penchant(*extract)[0] == 0
    for name in ("c.svg", "c.html"):
        stats = ("corpus", "stats", "s.parquet", "--chart", name)
        assert penchant(*stats)[0] == 0
        assert penchant(*stats)[0] == 0
        before = foreign(tmp_path / name, "<svg><!-- my logo --></svg>")
        refused(penchant(*stats), f"{name}: already exists and is not a chart")
        assert (tmp_path / name).read_bytes() == before
