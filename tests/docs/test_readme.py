"""The README: its length, pictures, instruments and lines of Python, and that it shows what the demo prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import penchant as pc
from builders import Program, succeeded
from pages import read, table_of
from paths import ROOT
from penchant.instruments.registry import instruments

README = "README.md"


def answers(text: str) -> list[str]:
    """Return the answers that a text lists, each on one line."""
    return re.findall(r"^- (.*?)$", re.sub(r"\n  (?=\S)", " ", text), re.MULTILINE)


def block(page: str, language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", read(page), re.MULTILINE | re.DOTALL)
    return str(found)


def test_it_is_short() -> None:
    assert len(read(README).splitlines()) <= 110
    assert len(block(README, "python").splitlines()) <= 12


def test_its_pictures_are_there() -> None:
    pictures = re.findall(r'<img src="([^"]+)"', read(README))
    linked = re.findall(r'<a href="([^"]+)"', read(README))
    assert len(pictures) == len(linked) == 6
    assert all((ROOT / path).is_file() for path in (*pictures, *linked))


def test_every_instrument_has_a_line() -> None:
    rows = table_of(README, "question", "instrument", "guide")
    assert [*set(instruments()) - {row["instrument"].strip("`") for row in rows}] == []
    assert len(rows) == len(instruments()) + 1


def test_it_shows_the_answers_of_the_page_of_the_demo() -> None:
    shown = answers(block(README, "text").split("note: ")[0])
    page = read("docs/demo.md").split("## The answers")[1].split("## ")[0]
    whole = answers(page)
    assert len(shown) == len(whole) == 5
    for said, full in zip(shown, whole, strict=True):
        assert full == said or (said.endswith(" …") and full.startswith(said.removesuffix(" …")))


@pytest.mark.whole
def test_the_demo_prints_what_it_shows(penchant: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    out, err = succeeded(penchant("demo"))
    last = [line for line in err.splitlines() if line.startswith(("note: ", "report: ", "next: "))]
    # The last digit of a number may differ on another machine.
    printed, shown = (re.sub(r"\d", "0", text) for text in (f"{out}{chr(10).join(last)}\n", block(README, "text")))
    assert printed == shown


@pytest.mark.whole
def test_its_lines_of_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(block(README, "python"), README, "exec"), names)
    assert set(names["res"].verdicts["verdict"]) <= {"cannot tell", "not measured"}  # of two pairs
    assert (tmp_path / "out" / "latex" / "methods.tex").is_file()


@pytest.mark.parametrize("page", [README, "docs/scores.md"])
def test_the_names_in_its_lines_of_python_are_there(page: str) -> None:
    used = set(re.findall(r"\bpc\.(\w+)", block(page, "python")))
    assert len(used) >= 5 and all(hasattr(pc, name) for name in used)
