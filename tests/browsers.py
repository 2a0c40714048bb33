"""A real browser for pages, and what axe-core says of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from paths import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = Path(os.environ.get("PENCHANT_AXE", ROOT / "node_modules/axe-core/axe.min.js"))
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def violations(page: Page, *, colours: bool = False) -> list[tuple[str, ...]]:
    """Return the serious and critical findings of axe-core, with all details open, on a wide and on a narrow screen.

    The many marks of charts count once. `colours` checks contrast only, for a page that differs in nothing else.
    """
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    page.evaluate(AXE.read_text("utf-8"))
    serious: list[tuple[str, ...]] = []
    rules = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}} if colours else {}
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        left_out = [] if width > 1000 else [[".chart"]]
        found = page.evaluate(
            "([exclude, rules]) => axe.run({exclude}, {...rules, resultTypes: ['violations']})", [left_out, rules]
        )  # passes keep one node each
        assert len(found["passes"]) > (0 if colours else 10)
        serious += [
            (str(width), violation["id"], node["html"], node["failureSummary"])
            for violation in found["violations"]
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
        ]
    return serious
