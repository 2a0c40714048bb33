"""Figures: a chart, what it shows in words, and its drawing as SVG or PNG."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

INK = "#111111"
"""The colour of what is neither this nor that; the page replaces it by the colour of its text."""
FAINT = "#777777"
"""Lines of reference: told from paper by readers of the light and of the dark page."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
"""Okabe and Ito's, told apart by readers who see few colours; shapes or places repeat what colours say."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart. `name` is short and fit for a file name, `text` says what is drawn, for who cannot see it.

    `numbers` names the table that holds what is drawn. `picks` are the columns of items, with spaces between, that a
    click on a mark chooses from, by the mark's own fields of those names.
    """

    name: str
    title: str
    text: str
    chart: Any
    numbers: str = ""
    picks: str = ""

    def spec(self) -> dict[str, Any]:
        """The chart in Vega-Lite's JSON, its text as the description."""
        drawn: dict[str, Any] = _drawable(self.chart.to_dict())
        return {**drawn, "description": _drawable(self.text)}

    def svg(self) -> str:
        """The drawing, the same everywhere: no script, no font file."""
        import vl_convert

        return str(vl_convert.vegalite_to_svg(self._still()))

    def png(self, scale: float = 2) -> bytes:
        """The drawing in pixels, `scale` of them to a point."""
        import vl_convert

        return bytes(vl_convert.vegalite_to_png(self._still(), scale=scale))

    def _still(self) -> str:
        spec = self.spec()
        return json.dumps({**spec, "padding": _PADDING, "config": {**spec.get("config", {}), "font": _FONT}})


_FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
"""Fonts that are as wide as what the renderer lays labels out by, so that none is cut off where a file is opened."""
_PADDING = 20
"""Points around a drawing, for labels in another font where those are not there."""
_UNDRAWABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What an SVG cannot hold, such as a control character that a model predicts: the renderer dies of it."""


def _drawable(part: Any) -> Any:
    """A chart with a sign in place of every character that cannot be drawn, and null for what is no number."""
    if isinstance(part, Mapping):
        return {key: _drawable(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_drawable(value) for value in part]
    if isinstance(part, float) and not math.isfinite(part):
        return None
    return _UNDRAWABLE.sub("\N{REPLACEMENT CHARACTER}", part) if isinstance(part, str) else part
