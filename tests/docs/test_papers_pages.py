"""The page of each paper is what its script writes from the paper's description."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from paths import ROOT
from penchant.papers.paper import paper, papers


@pytest.mark.parametrize("name", papers())
def test_the_page_is_up_to_date(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    script: Any = import_module("make_papers")
    written = (ROOT / "docs" / f"paper-{name}.md").read_text("utf-8")
    measured = written[written.index(script.MEASURED) :] if script.MEASURED in written else ""
    assert written == script.page(paper(name), measured)
