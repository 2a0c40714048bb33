"""What tests of the corpus share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import builders


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, object], Path]:
    """Write a file of this name below the temporary directory."""
    return lambda name, content: builders.write(tmp_path / name, content)
