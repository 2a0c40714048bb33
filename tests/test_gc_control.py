"""The collector of reference cycles is off while a program imports and loads, and only then."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import penchant as pc
from penchant.gc_control import uncollected
from penchant.models import checkpoint_config
from penchant.models.load import LanguageModel


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("error", [None, KeyError("x")])
def test_the_collector_is_off_in_a_block_and_then_as_before(enabled: bool, error: Exception | None) -> None:
    before = gc.isenabled()
    inside: list[bool] = []

    @uncollected()
    def work() -> None:
        inside.append(gc.isenabled())
        if error is not None:
            raise error

    try:
        gc.enable() if enabled else gc.disable()
        for _ in range(2):
            if error is None:
                work()
            else:
                with pytest.raises(KeyError):
                    work()
            assert gc.isenabled() == enabled
    finally:
        gc.enable() if before else gc.disable()
    assert inside == [False, False]


def test_it_is_off_while_a_model_is_loaded_and_on_while_it_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    during: list[bool] = []
    read = checkpoint_config.read_config

    def seen(*given: Any) -> Any:
        during.append(gc.isenabled())
        return read(*given)

    monkeypatch.setattr("penchant.models.load.read_config", seen)
    assert gc.isenabled()
    model = pc.load("bundled:modern")
    assert during == [False]
    assert gc.isenabled()
    assert isinstance(model, LanguageModel)
    with pytest.raises(pc.PenchantError):
        pc.load("bundled:none")
    assert gc.isenabled()
    assert len(pc.score(model, ["The cats sleep."])) == 1


CALLED = """
import atexit, gc, sys
atexit.register(lambda: print(*[name for name in WATCHED if name in sys.modules], gc.get_freeze_count() > 1000))
WATCHED = sys.argv.pop(1).split()
from penchant.cli.app import main
main()
"""


def ended(watched: str, *arguments: str | Path) -> list[str]:
    """Return the watched modules that a command had imported at its end, and whether it left all objects to the end."""
    command = [sys.executable, "-c", CALLED, watched, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()


def test_a_command_that_ends_is_not_looked_through_once_more() -> None:
    assert ended("penchant torch", "--version") == ["penchant", "True"]


def test_scoring_lines_of_text_imports_no_tables(tmp_path: Path) -> None:
    """polars, pydantic's models of data and scipy.stats are for others; torch must be there for the test to mean it."""
    (tmp_path / "one.txt").write_text("One sentence.\n", "utf-8")
    watched = "torch polars scipy.stats penchant.instruments.base_probe"
    assert ended(watched, "score", "-m", "bundled:modern", tmp_path / "one.txt") == ["torch", "True"]


def test_an_extraction_with_stimuli_of_a_file_imports_no_instrument(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("A teacher greets the nurse.\n", "utf-8")
    lists = "".join(f"  l{name}: {{words: [{word}]}}\n" for name, word in zip("XYAB", "abcd", strict=True))
    sets = "language: en\nlists:\n" + lists + "categories:\n  all: {X: lX, Y: lY, A: lA, B: lB}\n"
    (tmp_path / "set.yaml").write_text(sets, "utf-8")
    extract = ("corpus", "extract", tmp_path / "text.txt", "--workers", "1", "-o")
    watched = "polars penchant.instruments.base_probe"
    own = ended(watched, *extract, tmp_path / "out.parquet", "--data", tmp_path / "set.yaml")
    assert own == ["polars", "True"]
    bundled = ended(watched, *extract, tmp_path / "other.parquet", "--data", "associations-bn")
    assert bundled == ["polars", "penchant.instruments.base_probe", "True"]
