"""Figures: charts with text descriptions, and their rendering as SVG or PNG."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from penchant.errors import OutputError, undirected

INK = "#111111"
"""The neutral colour, which the page replaces with its text colour."""
FAINT = "#777777"
"""The colour of reference lines, visible on the light and on the dark page."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
"""Okabe and Ito's palette, safe for colour-blind readers; shapes or positions duplicate its information."""


@dataclass(frozen=True)
class Figure:
    """A chart with its description.

    `name` is short and suitable for a file name. `text` describes the chart for readers who cannot see it. `numbers` is
    the name of the table with the plotted numbers. `picks` contains names of item columns, separated by spaces: a click
    on a mark selects the items whose values in these columns equal the mark's fields. `narrow` is the chart for a
    narrow page, if narrower panels do not suffice. `part` is the data set (or level of another factor) that the figure
    is limited to, `n` the number of items, as in "60 sentences", and `finding` the answers that the chart shows.
    """

    name: str
    title: str
    text: str
    chart: Any
    numbers: str = ""
    picks: str = ""
    narrow: Any = None
    part: str = ""
    n: str = ""
    finding: str = ""

    @property
    def alt(self) -> str:
        """The text for readers who cannot see the figure: the finding, then the description."""
        return f"{self.finding} {self.text}".strip()

    def spec(self) -> dict[str, Any]:
        """Return the chart as Vega-Lite JSON, with `alt` as its description and `narrow` as metadata for the page."""
        return self._spec

    @cached_property
    def _spec(self) -> dict[str, Any]:
        with unchecked():
            drawn: dict[str, Any] = _drawable(self.chart.to_dict(validate=False))
            narrow = {} if self.narrow is None else _drawable(self.narrow.to_dict(validate=False))
        return {**drawn, "description": _drawable(self.alt), **({"usermeta": {"narrow": narrow}} if narrow else {})}

    @property
    def caption(self) -> str:
        """The title, the finding, the description and the number of items, as a paragraph."""
        n = f"n = {self.n}" if self.n else ""
        parts = (" ".join(part.split()).rstrip(".") for part in (self.title, self.finding, self.text, n))
        return " ".join(part if part.endswith(("?", "!")) else f"{part}." for part in parts if part)

    def svg(self) -> str:
        """Return the chart as SVG with its description, without scripts or font files."""
        label = quoteattr(self.spec()["description"])
        return self._drawing.replace("<svg ", f'<svg role="graphics-document" aria-label={label} ', 1)

    @cached_property
    def _drawing(self) -> str:
        return svg_of(self.spec())

    def png(self) -> bytes:
        """Return the chart as PNG, at two pixels per point."""
        return bytes(converter().svg_to_png(self._drawing, scale=2))


def svg_of(spec: Mapping[str, Any], padding: int | None = None) -> str:
    """Render a Vega-Lite specification as SVG, with a margin of `padding` pixels (by default `_PADDING`)."""
    padding = _PADDING if padding is None else padding
    still = {**spec, "padding": padding, "config": {**spec.get("config", {}), "font": FONT}}
    return _renumbered(str(converter().vegalite_to_svg(json.dumps(still))))


_RESERVED = 66 << 30
"""The address space in bytes that V8 requires; with less, V8 aborts the process."""


def converter() -> Any:
    """Return the vl-convert module; raise OutputError if an address-space limit is too low for its V8 engine."""
    import vl_convert

    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # not Linux
        return vl_convert
    if limit != resource.RLIM_INFINITY and limit - used < _RESERVED:
        raise OutputError(
            f"figures need {_RESERVED >> 30} GiB of address space, but the limit of this process is {limit >> 30} GiB",
            hint="run ulimit -v unlimited, or run penchant report DIR on another machine; tables are not affected",
        )
    return vl_convert


def _renumbered(svg: str) -> str:
    """Renumber the gradients of an SVG from 0, so that it does not depend on charts converted earlier."""
    numbers = {old: f"gradient_{n}" for n, old in enumerate(dict.fromkeys(re.findall(r"\bgradient_\d+\b", svg)))}
    return re.sub(r"\bgradient_\d+\b", lambda match: numbers[match[0]], svg)


@contextmanager
def unchecked() -> Iterator[None]:
    """Disable altair's slow validation against the Vega-Lite schema within a `with` block."""
    from altair.utils import schemapi

    with schemapi.debug_mode(False):
        yield


FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
"""Fonts with the same metrics as the renderer's font, so that other programs do not truncate labels."""
_PADDING = 20
"""The margin of a drawing in points, which leaves room for labels in another font."""
_BREAKS = str.maketrans({"\u2028": "␤", "\u2029": "¶"})
"""Replacements for Unicode line separators, which break string literals in Vega-Lite expressions."""
_INHERITED = re.compile(
    r"constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf"
    r"|__(define|lookup)(G|S)etter__|if"
)
"""Names inherited by all JavaScript objects, and `if`.

Vega looks up titles and sorted labels in plain objects, where these names have a meaning; a leading zero-width word
joiner prevents the conflict.
"""
_UNDRAWABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that SVG does not allow and that crash the renderer, such as control characters predicted by a model."""


def _drawable(part: Any) -> Any:
    """Make the strings of a chart specification drawable, and replace NaN and infinities with None.

    Characters that cannot be drawn are replaced with U+FFFD, and line separators with visible marks.
    """
    if isinstance(part, Mapping):
        return {_text(key): _drawable(_title(value) if key == "title" else value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_drawable(value) for value in part]
    if isinstance(part, float) and not math.isfinite(part):
        return None
    return _text(part) if isinstance(part, str) else part


def _title(title: Any) -> Any:
    """Return a title on one line and without backslashes, which Vega-Lite does not escape in expressions."""
    return " ".join(title.replace("\\", "∖").splitlines()) if isinstance(title, str) else title


def _text(text: str) -> str:
    if _INHERITED.fullmatch(text):
        return f"\N{WORD JOINER}{text}"
    return undirected(_UNDRAWABLE.sub("\N{REPLACEMENT CHARACTER}", text)).translate(_BREAKS)
