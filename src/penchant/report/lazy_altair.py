"""Altair as `alt`, loaded when the first chart is drawn.

A module that loads itself lazily would not do: pydantic looks at every loaded module when a probe is defined.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt
else:

    class _Altair:
        def __getattr__(self, name: str) -> Any:
            return getattr(importlib.import_module("altair"), name)

    alt = _Altair()

__all__ = ["alt"]
