"""The page of columns: it is the one that the code makes, and its calls return these columns."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import penchant as pc

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_made_from_the_code(monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(DOCS)
    made: Any = import_module("make_columns")
    assert (DOCS / "columns.md").read_text("utf-8") == made.page()


def test_calls_return_the_columns_that_the_page_names(monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(DOCS)
    made: Any = import_module("make_columns")
    lm = pc.load("bundled:modern")
    found = {
        "pc.score": pc.score(lm, ["The cat sleeps."]),
        "pc.surprisal": pc.surprisal(lm, ["The cat sleeps."], method="pll"),
        "pc.fill": pc.fill(lm, "The [MASK] sleeps."),
    }
    assert {name: ", ".join(table.columns) for name, table in found.items()} == made.CALLS
