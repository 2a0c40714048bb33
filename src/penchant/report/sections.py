"""What each instrument shows: tables for a terminal, and charts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from penchant.files import write_text
from penchant.records import Result
from penchant.report import charts, cloze, tables


@dataclass(frozen=True, slots=True)
class Section:
    """`table` shows the results of several models, `comparison` two against each other, `charts` makes charts."""

    table: Callable[[Sequence[Result]], str]
    comparison: Callable[[pl.DataFrame], str]
    charts: Callable[[Sequence[Result]], Mapping[str, Any]]


SECTIONS: Mapping[str, Section] = {
    "minimal-pairs": Section(tables.pair_table, tables.comparison_table, charts.charts),
    "cloze": Section(cloze.table, cloze.comparison, cloze.charts),
}


_UNDRAWABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What an SVG cannot hold, such as a control character that a model predicts: the renderer dies of it."""


def write_charts(probe: str, results: Sequence[Result], folder: Path) -> list[Path]:
    """Every chart of an instrument as SVG, in `folder`."""
    import vl_convert

    paths = []
    for name, chart in SECTIONS[probe].charts(results).items():
        path = folder / f"{name}.svg"
        write_text(vl_convert.vegalite_to_svg(json.dumps(_drawable(chart.to_dict()))), path)
        paths.append(path)
    return paths


def _drawable(part: Any) -> Any:
    """A chart with a sign in place of every character that cannot be drawn."""
    if isinstance(part, Mapping):
        return {key: _drawable(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_drawable(value) for value in part]
    return _UNDRAWABLE.sub("\N{REPLACEMENT CHARACTER}", part) if isinstance(part, str) else part
