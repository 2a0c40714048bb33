"""The page of replications is what its script writes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from paths import ROOT, SHARED, needs_shared


@pytest.mark.slow
@needs_shared
def test_the_page_is_what_its_script_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    made: Any = import_module("make_replications")
    assert (ROOT / "docs" / "replications.md").read_text("utf-8") == made.page(SHARED)
