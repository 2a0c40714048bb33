"""Switch for shortcuts, which compute the same results with less work."""

from __future__ import annotations

import os

PLAIN = "PENCHANT_PLAIN"
"""Environment variable that disables all shortcuts and the answer cache, for comparison.

The shortcuts are: applying the head to gathered states, computing the last layer at requested positions only, prefix
trees, and packed weights.
"""


def allowed() -> bool:
    """Return whether shortcuts are enabled: true if `PENCHANT_PLAIN` is unset, empty or 0."""
    return os.environ.get(PLAIN, "") in ("", "0")
