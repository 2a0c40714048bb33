"""Whether the engine may take shortcuts: ways to the same numbers with less work.

The shortcuts are the head on gathered states, the last layer at read positions, trees of prefixes and packed weights.
Each is checked against the model's own forward pass when a model is loaded, and not taken where the answers differ.
With the environment variable `PENCHANT_PLAIN=1` none is taken and no answer comes from the cache, so that anybody can
compare.
"""

from __future__ import annotations

import os

PLAIN = "PENCHANT_PLAIN"
"""The environment variable that turns every shortcut off."""


def allowed() -> bool:
    """Whether shortcuts may be taken: `PENCHANT_PLAIN` is unset, empty or 0."""
    return os.environ.get(PLAIN, "") in ("", "0")
