"""The README covers every command, names files that exist, and its test command is the one CI calls."""

from __future__ import annotations

import re

from paths import ROOT
from penchant.cli.app import app

README = (ROOT / "README.md").read_text("utf-8")


def test_every_command_is_in_the_readme() -> None:
    names = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
    assert len(names) >= 8
    for name in names:
        assert f"penchant {name}" in README, name


def test_files_the_docs_name_are_there() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "bench" / "README.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} names {target}"


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert re.search(r"^scripts/test$", README, re.MULTILINE)
    assert re.search(r"^scripts/test ", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
