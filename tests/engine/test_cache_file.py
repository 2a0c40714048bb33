"""A cache that cannot be used, or is in use, is named with what mends it."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from penchant.engine.answer_cache import Cache
from penchant.errors import CacheError, CacheWarning
from penchant.models import answer_cache_file
from penchant.models.answer_cache_file import unusable


@contextmanager
def held(path: Path, seconds: float) -> Iterator[None]:
    """Hold a cache for so many seconds, or to the end of the block."""
    Cache(path, "m", "float32").close()
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        free = threading.Timer(seconds, lambda: other.execute("COMMIT"))
        free.start()
        try:
            yield
        finally:
            free.cancel()
            free.join()


def test_waiting_is_said_and_ends_when_the_file_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_cache_file, "PATIENCE", 0.2)
    with held(tmp_path / "c", 1), pytest.warns(CacheWarning) as said:
        Cache(tmp_path / "c", "m", "float32").close()
    assert len(said) == 1


@pytest.mark.filterwarnings("default::penchant.errors.CacheWarning")
def test_the_program_says_once_that_it_waits(
    penchant: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_cache_file, "PATIENCE", 0.2)
    ask = ("fill", "-m", "bundled:modern", "The [MASK] king.", "--cache", "held.sqlite")
    right = penchant(*ask)
    with held(tmp_path / "held.sqlite", 1):
        code, out, err = penchant(*ask)
    assert (code, out) == right[:2], err
    assert err.count("held.sqlite") == 1


def test_a_file_that_is_held_for_long_is_an_error_of_the_holder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_cache_file, "PATIENCE", 0.01)
    with held(tmp_path / "c", 60), pytest.warns(CacheWarning), pytest.raises(CacheError) as refused:
        Cache(tmp_path / "c", "m", "float32")
    assert "delete" not in refused.value.hint


def test_only_a_broken_file_is_to_be_deleted(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    Cache(path, "m", "float32").close()
    with (
        closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db,
        pytest.raises(sqlite3.Error) as read_only,
    ):
        db.execute("CREATE TABLE t (a)")
    assert "delete" not in unusable(path, read_only.value).hint
    assert "delete" not in unusable(path, PermissionError(13, "Permission denied")).hint
    path.write_bytes(b"SQLite format 3\0" + os.urandom(5000))
    with pytest.raises(CacheError) as refused:
        Cache(path, "m", "float32")
    assert "delete" in refused.value.hint
