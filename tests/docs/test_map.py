"""The picture of the rooms is the one that the imports give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from paths import ROOT


def test_the_picture_shows_the_imports(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "map", tmp_path / "map.svg"], check=True)
    made = (tmp_path / "map.svg").read_text("utf-8")
    assert (ROOT / "docs" / "map.svg").read_text("utf-8") == made, "run scripts/map"
    assert made.count("<path") > 20
