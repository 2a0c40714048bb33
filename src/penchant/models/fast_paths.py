"""The switch for shortcuts: ways to the same numbers with less work."""

from __future__ import annotations

import os

PLAIN = "PENCHANT_PLAIN"
"""The environment variable that turns all shortcuts and the cache off, for comparison.

The shortcuts are the head on gathered states, the last layer at read positions, trees of prefixes and packed weights.
"""


def allowed() -> bool:
    """Return whether shortcuts may be taken: `PENCHANT_PLAIN` is unset, empty or 0."""
    return os.environ.get(PLAIN, "") in ("", "0")
