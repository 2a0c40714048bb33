"""Paths of the data sets and real models that tests may read and the project may not contain."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

import penchant

ROOT = Path(__file__).parent.parent
"""The checkout."""
SHARED = Path(os.environ.get("PENCHANT_TEST_DATA", ROOT.parent / "shared")) / "data"

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason=f"no data sets in {SHARED}; name their parent directory in PENCHANT_TEST_DATA"
)


INSTRUMENTS = Path(penchant.__file__).parent / "instruments"


def bundled(name: str) -> Path:
    """The directory of a set that comes with one of the instruments."""
    (place,) = INSTRUMENTS.glob(f"*/sets/{name}")
    return place


def package_file(package: str, pattern: str) -> Path:
    """The first file of a pattern in an installed package; a test that needs it skips where it is not installed."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"the package {package} is not installed")
    return next(Path(spec.submodule_search_locations[0]).glob(pattern))
