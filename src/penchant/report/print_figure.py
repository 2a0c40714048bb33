"""Figures for print: PDFs at the width of one column, or of two if the fonts would be too small in one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from penchant.report.figures import Figure, converter, svg_of

COLUMN, BOTH, TALLEST = 88.0, 180.0, 240.0
"""Width of one and of two columns, and the greatest height, in millimetres."""
_POINT = 25.4 / 72
_SCALE, _LEGIBLE = 7 * _POINT / 10, 6 * _POINT / 10
"""Millimetres per pixel at which a font of 10 pixels has 7 points, and 6 points, the smallest legible size."""
_TRIES, _MARGIN = 4, 2
_FONT_SIZE = 10
_LETTER, _LEAST = 5.5, 100
"""Average width of a letter, and least width of a panel without its labels, in pixels."""
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')
_KEPT = ("data", "datasets", "values")


def print_pdf(figure: Figure) -> tuple[bytes, float]:
    """Return a figure as PDF, and the width of the PDF in millimetres.

    The first layout with legible fonts is chosen; if there is none, the layout with the largest fonts.
    """
    best, drawn = 0.0, ""
    for width, svg in _layouts(figure.spec()):
        scale = min(_SCALE, width / _size(svg)[0], TALLEST / _size(svg)[1])
        if scale > best:
            best, drawn = scale, svg
        if scale >= _LEGIBLE:
            break
    across, down = _size(drawn)
    points = f'width="{across * best / _POINT:.1f}" height="{down * best / _POINT:.1f}"'
    sized = _SIZE.sub(points, drawn, count=1)
    return bytes(converter().svg_to_pdf(sized)), across * best


def _layouts(spec: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """Yield possible layouts of a chart as (width in millimetres, SVG).

    The layouts are: one column, two columns as on the page, and two columns with stacked panels.
    """
    yield COLUMN, _fitted(spec.get("usermeta", {}).get("narrow") or spec, COLUMN / _SCALE)
    yield BOTH, svg_of(spec, _MARGIN)
    yield BOTH, _fitted(spec, BOTH / _SCALE)


def _fitted(spec: Mapping[str, Any], room: float) -> str:
    """Return a chart as SVG, narrowed up to `_TRIES` times until it is at most `room` pixels wide."""
    svg, less = "", 0.0
    for _ in range(_TRIES):
        svg = svg_of(narrowed(spec, room, less), _MARGIN)
        if (width := _size(svg)[0]) <= room:
            break
        less += width - room
    return svg


def _size(svg: str) -> tuple[float, float]:
    found = _SIZE.search(svg)
    assert found is not None
    return float(found[1]), float(found[2])


def narrowed(spec: Mapping[str, Any], width: float, less: float) -> dict[str, Any]:
    """Return a Vega-Lite specification for `width` pixels, with panels `less` pixels narrower than specified.

    As on a narrow page (`assets/narrow.js`), panels and models are stacked, legends and row names are placed above
    them, and long titles are wrapped.
    """
    legend = {"orient": "top", "columns": 1, "labelLimit": width - 60, "gradientLength": 0.6 * width}
    config = {"legend": legend, "axis": {"labelLimit": 0.4 * width}, "title": {"fontSize": 11}}
    return {**_part({**spec}, "", width, less), "config": config}


def _part(value: Any, key: str, width: float, less: float) -> Any:
    if isinstance(value, list):
        return [_part(each, key, width, less) for each in value]
    if not isinstance(value, Mapping):
        return _scalar(value, key, width, less)
    changed: dict[str, Any] = {}
    for name, inner in value.items():
        if name in _KEPT:
            changed[name] = inner
        elif name == "title":
            changed[name] = _title(inner, width * (10 if key == "y" else 0.6))
        elif name == "hconcat":
            changed["vconcat"] = _part(inner, "vconcat", width, less)
        elif name == "columns":
            changed[name] = 1
        elif name == "width" and isinstance(inner, Mapping):
            changed[name] = {"step": max(24, inner["step"] * (1 - less / (width + less)))}
        else:
            changed[name] = _part(inner, name, width, less)
    if key == "axis" and changed.get("labelAngle"):
        changed |= {"labelAngle": -90, "labelLimit": 1.5 * width}
    if key == "row":
        header = {"orient": "top", "labelAnchor": "start", "labelAlign": "left", "labelLimit": width}
        changed["header"] = {**(changed.get("header") or {}), **header}
    if key == "legend":
        changed["labelLimit"] = width - 60
    return changed


def _scalar(value: Any, key: str, width: float, less: float) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    limits = {"labelLimit": min(value, 0.4 * width), "width": max(_LEAST, value - less)}
    return limits.get(key, max(_FONT_SIZE, value) if key == "fontSize" else value)


def _title(title: Any, width: float) -> Any:
    if isinstance(title, list):
        return [line for part in title for line in _lines(part, width)]
    if isinstance(title, Mapping):
        return {name: _title(part, width) if name in ("text", "subtitle") else part for name, part in title.items()}
    return _lines(title, width) if isinstance(title, str) and len(title) * _LETTER > width else title


def _lines(text: str, width: float) -> list[str]:
    lines = [""]
    for word in re.split(r"(?<=[-/@_:, ])", text):
        if lines[-1] and len((lines[-1] + word).strip()) * _LETTER > width:
            lines.append("")
        lines[-1] += word
    return [line.strip() for line in lines]
