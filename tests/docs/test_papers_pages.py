"""The page of each paper is what its script writes from the paper's description."""

from __future__ import annotations

import importlib.util

import pytest

from paths import ROOT
from penchant.papers.paper import paper, papers


@pytest.mark.parametrize("name", papers())
def test_the_page_is_up_to_date(name: str) -> None:
    spec = importlib.util.spec_from_file_location("make_papers", ROOT / "docs" / "make_papers.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    written = (ROOT / "docs" / f"paper-{name}.md").read_text("utf-8")
    measured = written[written.index(script.MEASURED) :] if script.MEASURED in written else ""
    assert written == script.page(paper(name), measured)
