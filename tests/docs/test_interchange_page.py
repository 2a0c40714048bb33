"""The page on other tools: its commands run in order, and its tables name what is there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from answers import refused
from builders import Program, succeeded, write
from pages import read, table_of
from penchant.study.every_eval_ever import SCHEMA

PAGE = "docs/interchange.md"
ROWS = "question,first,second,label\nWho sleeps?,The cat,The table,0\nWho sings?,The stone,The girl,1\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", read(PAGE), re.MULTILINE | re.DOTALL)


@pytest.mark.whole
def test_its_commands_run(penchant: Program, tmp_path: Path) -> None:
    (task,) = blocks("yaml")
    write(tmp_path / "task.yaml", task)
    write(tmp_path / "rows.csv", ROWS)
    commands = [shlex.split(line)[1:] for block in blocks("sh") for line in block.splitlines()]
    assert len(commands) == 6
    for command in commands:
        answer = penchant(*command)
        if command[-1] == "eval-results":  # the bundled model has no page
            refused(answer, "bundled:modern")
        else:
            succeeded(answer)
    (path,) = (tmp_path / "shared").glob("data/penchant_minimal-pairs/penchant/*/*[0-9a-f].json")
    log = json.loads(path.read_text("utf-8"))
    assert log["schema_version"] == SCHEMA and f"version {SCHEMA}" in read(PAGE)
    result = log["evaluation_results"][0]
    known = {*log, *result, *result["metric_config"], *result["score_details"], "instances"}
    assert {row["there"].strip("`") for row in table_of(PAGE, "there", "from the results")} <= known
    assert (tmp_path / "answers/report.html").is_file()
