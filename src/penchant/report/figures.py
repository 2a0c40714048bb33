"""Figures: a chart, what it shows in words, and its drawing as SVG or PNG."""

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
    """A chart. `name` is short and fit for a file name; `text` describes the chart for those who cannot see it.

    `numbers` names the table that holds the numbers drawn. `picks` names columns of items, separated by spaces: a click
    on a mark selects the items that agree with the mark's fields of those names.
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
"""Bytes of addresses that V8 reserves, and ends the process where it cannot: 64 GiB and some."""


def converter() -> Any:
    """Return vl-convert, which draws with V8. Raises OutputError where a limit on addresses, as `ulimit -v` sets it,
    leaves too few."""
    import vl_convert

    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # not Linux
        return vl_convert
    if limit != resource.RLIM_INFINITY and limit - used < _RESERVED:
        raise OutputError(
            f"figures need {_RESERVED >> 30} GiB of addresses, and this process may have {limit >> 30}",
            hint="tables are kept; ulimit -v unlimited, or penchant report DIR on another machine, draws them",
        )
    return vl_convert


def _renumbered(svg: str) -> str:
    """Number gradients from 0: the converter goes on counting from one drawing to the next."""
    numbers = {old: f"gradient_{n}" for n, old in enumerate(dict.fromkeys(re.findall(r"\bgradient_\d+\b", svg)))}
    return re.sub(r"\bgradient_\d+\b", lambda match: numbers[match[0]], svg)


@contextmanager
def unchecked() -> Iterator[None]:
    """Make charts without checking every part against Vega-Lite's schema, which takes as long as all else in a page."""
    from altair.utils import schemapi

    with schemapi.debug_mode(False):
        yield


_FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
"""Fonts as wide as the one that the renderer measures labels with, so that none are cut off in other programs."""
_PADDING = 20
"""Points around a drawing, for labels in another font where those are missing."""
_BREAKS = str.maketrans({"\u2028": "␤", "\u2029": "¶"})
"""Line and paragraph separators, which end a string in Vega's expressions, where Vega-Lite writes sorted labels."""
_INHERITED = re.compile(
    r"constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf"
    r"|__(define|lookup)(G|S)etter__|if"
)
"""What every object of JavaScript has. Vega looks up titles and the labels that are sorted in plain objects and takes
these for its own, and `if` for its function; it does not with a word joiner, which has no width, in front."""
_UNDRAWABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that an SVG cannot hold and that crash the renderer, such as a control character that a model predicts."""


def _drawable(part: Any) -> Any:
    """Return a part of a chart with texts that Vega can draw, field names among them (U+FFFD for what it cannot, marks
    for line separators), and None for NaN and infinities."""
    if isinstance(part, Mapping):
        return {_text(key): _drawable(_title(value) if key == "title" else value) for key, value in part.items()}
    if isinstance(part, list):
        return [_drawable(value) for value in part]
    if isinstance(part, float) and not math.isfinite(part):
        return None
    return _text(part) if isinstance(part, str) else part


def _title(title: Any) -> Any:
    """Return a title as one line without backslashes: Vega-Lite writes it into expressions, escaping quotes alone."""
    return " ".join(title.replace("\\", "∖").splitlines()) if isinstance(title, str) else title


def _text(text: str) -> str:
    if _INHERITED.fullmatch(text):
        return f"\N{WORD JOINER}{text}"
    return undirected(_UNDRAWABLE.sub("\N{REPLACEMENT CHARACTER}", text)).translate(_BREAKS)
