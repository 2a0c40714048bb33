"""The file of judgements: one process has it by whatever name, and a part of it is not taken for the whole."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from answers import Answer
from penchant.errors import DataError, OutputError, StudyError
from penchant.rating import database_file
from penchant.rating.judgement_store import Store
from penchant.tables.rows import read_rows
from rating_client import following, scale_task

TASK = scale_task(4, repeat=0)


def say(store: Store, times: int = 1) -> None:
    """Have the first rater answer the next items with the first answer."""
    rater = store.raters()[0]
    for _ in range(times):
        shown = following(store, rater)
        assert shown is not None
        assert store.answer(rater, shown, -1.0)


def done(file: Path) -> int:
    """Return the number of answers in a database that is served again."""
    with Store.open(file, TASK) as store:
        return store.progress(store.raters()[0]).done


def elsewhere(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Python in another process, since SQLite's locks are those of a process."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)


KILLED = """
import os, sys
sys.path[:0] = [sys.argv[3]]
from pathlib import Path
from test_database_file import TASK, Store, say
store = Store.open(sys.argv[1], TASK, raters=["anna"])
say(store, int(sys.argv[2]))
os._exit(9)
"""


def killed(file: Path, times: int = 3) -> Path:
    """A database whose server was killed after so many answers."""
    tests = Path(__file__).parent
    code = f"import sys; sys.path[:0] = {[str(tests.parent), *sys.path]!r}\n{KILLED}"
    command = [sys.executable, "-c", code, str(file), str(times), str(tests)]
    assert subprocess.run(command, check=False, timeout=60).returncode == 9
    return file


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_database_is_held_by_whatever_name(tmp_path: Path, link: Callable[..., None]) -> None:
    file, other = tmp_path / "r.sqlite", tmp_path / "other.sqlite"
    with Store.open(file, TASK, raters=["anna"]) as store:
        link(file, other)
        say(store)
        with pytest.raises(OutputError):
            Store.open(other, TASK)
        say(store)
    if link is os.link:
        for name in (file, other):
            with pytest.raises(OutputError):
                Store.open(name, TASK)
        other.unlink()
        assert done(file) == 2
    else:
        assert done(other) == 2
        assert not (tmp_path / "other.sqlite-wal").exists()


def test_a_link_to_a_database_that_was_killed(tmp_path: Path) -> None:
    """The files beside the database are found through a symbolic link too, and a new name does not lose them."""
    file = killed(tmp_path / "r.sqlite")
    (tmp_path / "link.sqlite").symlink_to(file)
    with pytest.raises(DataError):
        read_rows(tmp_path / "link.sqlite")
    assert done(tmp_path / "link.sqlite") == 3
    file = killed(tmp_path / "s.sqlite")
    file.rename(tmp_path / "moved.sqlite")
    with pytest.raises(DataError):
        Store.open(tmp_path / "moved.sqlite", TASK)
    (tmp_path / "moved.sqlite").rename(file)
    assert done(file) == 3


def test_another_program_that_looks_in_takes_nothing_away(tmp_path: Path) -> None:
    """The lock on the file does not take SQLite's own away: what closes the database beside us leaves FILE-wal."""
    file = tmp_path / "r.sqlite"
    look = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); print(c.execute('SELECT COUNT(*) FROM answers').fetchone()[0]); c.close()"  # noqa: E501
    with Store.open(file, TASK, raters=["anna"]) as store:
        say(store)
        before = (tmp_path / "r.sqlite-wal").stat().st_ino
        assert elsewhere(look, file).stdout == "1\n"
        assert (tmp_path / "r.sqlite-wal").stat().st_ino == before
        say(store, 2)
        assert elsewhere(look, file).stdout == "3\n"
    assert done(file) == 3
    file = killed(tmp_path / "k.sqlite")
    assert elsewhere(look, file).stdout == "3\n"  # which brings everything into the file
    assert not (tmp_path / "k.sqlite-wal").exists()
    assert done(file) == 3


def test_another_program_that_goes_on_reading_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes stay beside the file meanwhile."""
    monkeypatch.setattr(database_file, "_EVERY", 2)
    file = tmp_path / "r.sqlite"
    with Store.open(file, TASK, raters=["anna"]) as store, closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN")
        assert other.execute("SELECT COUNT(*) FROM answers").fetchone() == (0,)
        say(store, 4)
        shutil.copy(file, tmp_path / "copy.sqlite")
        shutil.copy(f"{file}-wal", tmp_path / "copy.sqlite-wal")
        assert done(tmp_path / "copy.sqlite") == 4
        assert other.execute("SELECT COUNT(*) FROM answers").fetchone() == (0,)
    assert done(file) == 4


@pytest.mark.parametrize("every", [1, 2, 500])
def test_a_copy_that_lacks_answers_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    monkeypatch.setattr(database_file, "_EVERY", every)
    file, copy = tmp_path / "r.sqlite", tmp_path / "copy.sqlite"
    with Store.open(file, TASK, raters=["anna"]) as store:
        for said in range(1, 4):
            say(store)
            elsewhere("import shutil, sys; shutil.copy(*sys.argv[1:])", file, copy)
            with pytest.raises(DataError):
                Store.open(copy, TASK)
            with pytest.raises(DataError):
                read_rows(copy)
            elsewhere("import shutil, sys; shutil.copy(*sys.argv[1:])", f"{file}-wal", f"{copy}-wal")
            assert done(copy) == said
            assert len(read_rows(copy)) == said
    shutil.copy(file, copy)
    assert done(copy) == 3


def test_a_file_and_what_stands_beside_it_are_of_one_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy put in the place of a database that was killed does not get the other's answers, nor a file copied before
    its changes were brought in those after it."""
    file, copy = tmp_path / "r.sqlite", tmp_path / "copy.sqlite"
    with Store.open(file, TASK, raters=["anna"]) as store:
        say(store)
    shutil.copy(file, copy)
    killed(file, 2)
    shutil.copy(f"{file}-wal", f"{copy}-wal")
    whole = copy.read_bytes()
    with pytest.raises(DataError):
        Store.open(copy, TASK)
    assert copy.read_bytes() == whole
    Path(f"{copy}-wal").unlink()
    assert done(copy) == 1
    assert done(file) == 3


def test_a_killed_server_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "r.sqlite"
    for _ in range(3):
        killed(file, 1)
        with pytest.raises(DataError):
            read_rows(file)
    assert done(file) == 3
    assert len(read_rows(file)) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.sqlite"]


def test_a_damaged_database_is_not_served(tmp_path: Path) -> None:
    file = tmp_path / "r.sqlite"
    with Store.open(file, TASK, raters=["anna"]) as store:
        say(store, 3)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        other = "CREATE INDEX answered ON answers (position, rater)"
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'answered'", (other,))
    with pytest.raises(DataError):
        Store.open(file, TASK)


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", tmp_path):
        with pytest.raises(OutputError):
            Store.open(name, TASK)
    with pytest.raises(StudyError):
        Store.open(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


def test_a_backup_is_whole(penchant: Callable[..., Answer], tmp_path: Path) -> None:
    """Also of a database that is served, and of one that was killed; it replaces nothing."""
    code = "import sys; from penchant.rating.database_file import back_up; back_up(*sys.argv[1:])"
    with Store.open(tmp_path / "r.sqlite", TASK, raters=["anna"]) as store:
        for said in (1, 2):
            say(store)
            elsewhere(code, tmp_path / "r.sqlite", tmp_path / f"{said}.sqlite")
            assert stat.S_IMODE((tmp_path / f"{said}.sqlite").stat().st_mode) == 0o600
            assert len(read_rows(tmp_path / f"{said}.sqlite")) == said
    for said in (1, 2):
        assert done(tmp_path / f"{said}.sqlite") == said
    killed(tmp_path / "k.sqlite")
    before = sorted(path.name for path in tmp_path.iterdir())
    for to in ("1.sqlite", "r.sqlite"):
        assert penchant("rate", "anything", "-o", "k.sqlite", "--backup", to)[0] == 2
    (tmp_path / "p.csv").write_text("good,bad\n")
    os.mkfifo(tmp_path / "pipe")
    for source in ("none.sqlite", "p.csv", "pipe"):
        assert penchant("rate", "anything", "-o", source, "--backup", "new.sqlite")[0] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*before, "p.csv", "pipe"])
    assert penchant("rate", "anything", "-o", "k.sqlite", "--backup", "new.sqlite")[0] == 0
    assert done(tmp_path / "new.sqlite") == done(tmp_path / "k.sqlite") == 3
    shutil.copy(killed(tmp_path / "l.sqlite"), tmp_path / "part.sqlite")
    assert penchant("rate", "anything", "-o", "part.sqlite", "--backup", "no.sqlite")[0] == 2
