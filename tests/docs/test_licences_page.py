"""The page of licences lists what is installed."""

from __future__ import annotations

import runpy

from paths import ROOT


def test_the_page_is_what_the_packages_say() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "make_licences.py"))["page"]()
    assert page == (ROOT / "docs" / "licences.md").read_text("utf-8"), "run docs/make_licences.py"
    assert page.count("\n| ") > 50 and "| not stated |" not in page
