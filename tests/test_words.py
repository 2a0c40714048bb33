"""The language of the house: docstrings say what is done, and no riddle of earlier versions comes back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = sorted(
    path
    for folder in ("src", "tests", "bench", "scripts", "training", "docs")
    for path in (ROOT / folder).rglob("*.py")
)
PROSE = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".yaml", ".html", ".js", ".md"))
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
QUESTION = re.compile(r"(What|Which|Whether|How|Who|Whose|Where|When|Why)\b")
RIDDLES = (
    r"cannot be told apart",
    r"cannot be told to lean",
    r"as they are\b.{0,20}\bscope|scope.{0,20}\bas they are\b|paradigms as they are|types as they are",
    r"if other (paradigms|groups) were drawn",
    r"raters sampled",
    r"rated mass",
    r"renormalise(?!\")",
    r"per rated probability",
    r"would (be|have been) found",
    r"ratings moved",
    r"(\}\}|\d) would do\b",
    r"asked otherwise",
    r"\bset aside\b",
    r"\btaken up\b",
    r"with nothing rated",
    r"raters? worth|worth [\d{]+.{0,30}raters",
    r"happen to be alike",
)
"""Phrases that readers could not understand."""


def docstrings() -> Iterator[tuple[str, str]]:
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    yield f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'module')}", text


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_no_docstring_opens_with_a_question_word() -> None:
    assert not [(place, text) for place, text in docstrings() if QUESTION.match(text)]


@pytest.mark.parametrize("riddle", RIDDLES)
def test_phrases_that_nobody_understands_do_not_come_back(riddle: str) -> None:
    pattern = re.compile(riddle, re.IGNORECASE)
    found = []
    for path in (*PROSE, *PAGES):
        name = path.relative_to(ROOT)
        lines = enumerate(path.read_text("utf-8").splitlines(), 1)
        found += [f"{name}:{number}: {line.strip()}" for number, line in lines if pattern.search(line)]
    assert not found, "\n".join(found)
