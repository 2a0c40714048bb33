"""Proxy `alt` for altair that imports the package when an attribute is first used.

A lazily loaded module object would not work: pydantic inspects every loaded module when a probe class is defined.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt
else:

    class _Altair:
        def __getattr__(self, name: str) -> Any:
            return getattr(importlib.import_module("altair"), name)

    alt = _Altair()

__all__ = ["alt", "inline"]


def inline(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Return rows as the data of an altair chart, stored as a tuple: altair copies lists whenever it copies a chart."""
    return alt.InlineData(tuple(rows))
