"""The page for Python: its lines are run, and its tables are those of the results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pages import read, table_of

PAGE = "docs/python.md"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names of the page after its lines were run, in an empty folder but for some vectors."""
    names: dict[str, Any] = {}
    rng = np.random.default_rng(0)
    words = ["rose", "lily", "tulip", "ant", "flea", "wasp", "love", "peace", "joy", "pain", "hate", "war"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        lines = [f"{word} " + " ".join(f"{x:.3f}" for x in rng.normal(size=4)) for word in words]
        Path("vectors.txt").write_text("\n".join(lines), "utf-8")
        for block in re.findall(r"^```python\n(.*?)^```", read(PAGE), re.MULTILINE | re.DOTALL):
            exec(compile(block, PAGE, "exec"), names)
    return names


@pytest.mark.whole
def test_every_headline_is_what_its_filter_gives(run: dict[str, Any]) -> None:
    counts = {"by_kind": 2, "effect": 1, "gained": 1}
    assert {name: run[name].height for name in counts} == counts
    assert set(run["valence"]["group"]) >= {"early", "modern", "neutral"} and run["valence"]["value"].is_not_nan().all()
    keys = run["rating"].select("variant", "group")
    assert run["rating"].height == keys.n_unique() > 0
    assert run["scored"].height == 4 and len(run["tables"]) == 2 and run["difference"].height > 0
    assert run["differences"].height > 0 and run["modern"].items.height == 4
    assert run["told"].endswith("(… and 1 more like it)") and len(run["others"]) == 1


@pytest.mark.whole
def test_the_tables_are_those_of_the_results(run: dict[str, Any]) -> None:
    shared = [
        name for row in table_of(PAGE, "of every summary") for name in re.findall(r"`(\w+)`", row["of every summary"])
    ]
    results = {"MinimalPairs": "pairs", "Cloze": "cloze", "Values": "values", "WEAT": "weat"}
    rows = table_of(PAGE, "headline `measure`")
    assert [row["instrument"].strip("`") for row in rows] == list(results)
    for row in rows:
        result = run[results[row["instrument"].strip("`")]]
        keys = row["what an estimate is of"].split(", ")
        assert set(result.summary.columns) == {*keys, *shared}
        assert row["headline `measure`"] in result.summary["measure"]
        named = set(re.findall(r"\w+", row["a row of `items`"])) & set(result.items.columns)
        assert len(named) >= 4
