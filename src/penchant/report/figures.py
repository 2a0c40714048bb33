"""Figures: a chart, its description in words, and its drawing as SVG or PNG."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penchant.errors import OutputError, undirected

INK = "#111111"
"""The neutral colour; the page replaces it with the colour of its text."""
FAINT = "#777777"
"""The colour of reference lines, visible on the light and on the dark page."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
"""Okabe and Ito's palette, distinguishable for colour-blind readers; shapes or positions repeat what colours say."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its description.

    `name` is short and fit for a file name; `text` describes the chart for those who cannot see it. `numbers` names the
    table that holds the numbers drawn. `picks` names columns of items, separated by spaces: a click on a mark selects
    the items that agree with the mark's fields of those names.
    """

    name: str
    title: str
    text: str
    chart: Any
    numbers: str = ""
    picks: str = ""

    def spec(self) -> dict[str, Any]:
        """Return the chart as Vega-Lite JSON, with its text as the description."""
        with unchecked():
            drawn: dict[str, Any] = _drawable(self.chart.to_dict(validate=False))
        return {**drawn, "description": _drawable(self.text)}

    def svg(self) -> str:
        """Return the chart as SVG, without script or font file."""
        return _renumbered(str(converter().vegalite_to_svg(self._still())))

    def png(self) -> bytes:
        """Return the chart as PNG, with two pixels per point."""
        return bytes(converter().vegalite_to_png(self._still(), scale=2))

    def _still(self) -> str:
        spec = self.spec()
        return json.dumps({**spec, "padding": _PADDING, "config": {**spec.get("config", {}), "font": _FONT}})


_RESERVED = 66 << 30
"""Bytes of address space that V8 reserves, ending the process if it cannot: 64 GiB and some."""


def converter() -> Any:
    """Return vl-convert, which draws with V8. Raises OutputError if a limit such as `ulimit -v` is too low for it."""
    import vl_convert

    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # not Linux
        return vl_convert
    if limit != resource.RLIM_INFINITY and limit - used < _RESERVED:
        raise OutputError(
            f"figures need {_RESERVED >> 30} GiB of address space, and this process is limited to {limit >> 30}",
            hint="tables are kept; for figures, run ulimit -v unlimited, or penchant report DIR on another machine",
        )
    return vl_convert


def _renumbered(svg: str) -> str:
    """Number gradients from 0, because the converter goes on counting from one drawing to the next."""
    numbers = {old: f"gradient_{n}" for n, old in enumerate(dict.fromkeys(re.findall(r"\bgradient_\d+\b", svg)))}
    return re.sub(r"\bgradient_\d+\b", lambda match: numbers[match[0]], svg)


@contextmanager
def unchecked() -> Iterator[None]:
    """Skip the check of charts against Vega-Lite's schema, which takes as long as the rest of a page."""
    from altair.utils import schemapi

    with schemapi.debug_mode(False):
        yield


_FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
"""Fonts as wide as the one that the renderer measures labels with, so that other programs cut off none."""
_PADDING = 20
"""Points around a drawing, so that labels fit in another font."""
_BREAKS = str.maketrans({"\u2028": "␤", "\u2029": "¶"})
"""Line and paragraph separators, which would end a string in Vega-Lite's expressions for sorted labels."""
_INHERITED = re.compile(
    r"constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf"
    r"|__(define|lookup)(G|S)etter__|if"
)
"""The names that every object of JavaScript has, and `if`.

Vega looks up titles and sorted labels in plain objects, and mistakes these names for its own; a word joiner in front,
which has no width, prevents that.
"""
_UNDRAWABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that an SVG cannot hold and that crash the renderer, such as a control character that a model predicts."""


def _drawable(part: Any) -> Any:
    """Return a part of a chart with texts and field names that Vega can draw, and None for NaN and infinities.

    U+FFFD replaces characters that cannot be drawn, and marks replace line separators.
    """
    if isinstance(part, Mapping):
        return {_text(key): _drawable(_title(value) if key == "title" else value) for key, value in part.items()}
    if isinstance(part, list):
        return [_drawable(value) for value in part]
    if isinstance(part, float) and not math.isfinite(part):
        return None
    return _text(part) if isinstance(part, str) else part


def _title(title: Any) -> Any:
    """Return a title as one line without backslashes, which Vega-Lite does not escape in expressions."""
    return " ".join(title.replace("\\", "∖").splitlines()) if isinstance(title, str) else title


def _text(text: str) -> str:
    if _INHERITED.fullmatch(text):
        return f"\N{WORD JOINER}{text}"
    return undirected(_UNDRAWABLE.sub("\N{REPLACEMENT CHARACTER}", text)).translate(_BREAKS)
