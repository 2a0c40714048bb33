"""Manifests as somebody may change them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penchant.study.manifest import _checksum


def rewritten(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest and give it the checksum of what it says now, as whoever means harm can."""
    path = folder / "manifest.json"
    content = json.loads(path.read_text("utf-8"))
    del content["sha256"]
    change(content)
    path.write_text(json.dumps({**content, "sha256": _checksum(content)}), "utf-8")
