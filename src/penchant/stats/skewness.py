"""What to know of the t interval of a mean whose values are skew.

Where a sample may lack the few items that make a mean what it is, no interval can know: see `HELD`.
"""

from __future__ import annotations

import numpy as np

from penchant.stats.inputs import Array
from penchant.wording.phrases import Note

HELD = {
    1.2: {10: 0.885, 20: 0.921, 40: 0.940},
    2.0: {10: 0.656, 20: 0.882, 40: 0.912, 60: 0.929, 120: 0.938},
    3.2: {10: 0.510, 20: 0.644, 40: 0.878, 60: 0.896, 120: 0.926, 240: 0.943},
    4.7: {10: 0.842, 20: 0.737, 40: 0.688, 60: 0.736, 120: 0.899, 240: 0.922, 480: 0.932},
}
"""By least skewness and number of items: the share of 95 % t intervals that hold the mean of unfavourable values.

Those are 1 for a share of .2, .1, .05 or .02 of all items (skewness 1.5, 2.5, 3.8 and 5.7) and normal about 0 with sd
.05 for the others, 4,000 data sets each, seed 7. Intervals that miss are from samples without such an item, which show
no skewness. From as many items as end a row on, shares are .93 to .95."""
ENOUGH = 0.93
FEWEST = 10


def skew(parts: list[Array], noun: str) -> Note | None:
    """Return how often intervals from so few values that are so skew hold their mean; None where enough of them do."""
    centred = np.concatenate([part - part.mean() for part in parts])
    items, skewness = len(centred), abs(float(np.mean(centred**3)) / float(np.mean(centred**2)) ** 1.5)
    measured = next((row for least, row in reversed(HELD.items()) if skewness >= least), {})
    held = next((share for n, share in reversed(measured.items()) if n <= max(items, FEWEST)), ENOUGH)
    if held >= ENOUGH:
        return None
    enough = next(n for n, share in measured.items() if share >= ENOUGH and n > items)
    return Note("skew", held=held, have=items, noun=noun, would_do=enough)
