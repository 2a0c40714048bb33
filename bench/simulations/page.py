"""docs/validity.md from the table of counts: text, then one table a section."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

LOW, HIGH = 93.0, 97.0
LEAST, MOST = 3.5, 6.5
POWER = ("Where no difference is found", "Verdicts")
"""The sections whose last column is not the size of a test."""


def page(found: pl.DataFrame, template: Path) -> str:
    """The page: the template, its @TABLES@ replaced by the tables."""
    sections = found["section"].unique(maintain_order=True).to_list()
    tables = "\n\n".join("\n".join(_section(name, found.filter(section=name))) for name in sections)
    most, least = max(found["sets"].to_list()), min(found["sets"].to_list())
    sets = f"{least:,} to {most:,}"
    return template.read_text("utf-8").replace("@TABLES@", tables).replace("@SETS@", sets)


def _section(name: str, rows: pl.DataFrame) -> Iterator[str]:
    yield f"### {name}"
    for (shown, interval, test), part in rows.group_by("shown", "interval", "test", maintain_order=True):
        yield ""
        yield f"**{str(shown).replace('; ', ', ')}**: {_methods(str(interval), str(test))}"
        yield ""
        yield from _table(part, bool(interval), bool(test), power=name in POWER)


def _methods(interval: str, test: str) -> str:
    named = [interval.replace("#", "n"), f"test: {test.replace('#', 'n')}" if test else ""]
    return "; ".join(filter(None, named)) or "no interval"


def _table(rows: pl.DataFrame, interval: bool, test: bool, *, power: bool) -> Iterator[str]:
    heads = ["data", "size"]
    heads += ["holds", "truth below", "truth above", "none"] if interval else []
    heads += ["found" if power else "rejects"] if test else []
    heads += ["note"]
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows.iter_rows(named=True):
        cells = [row["data"], row["size"]]
        made = row["asked"] - row["without"]
        if interval:
            share = _share(row["held"], made)
            cells.append(_marked(share, LOW, HIGH))
            cells += [_percent(_share(row["below"], made)), _percent(_share(row["above"], made))]
            cells.append(_percent(_share(row["without"], row["asked"])) if row["without"] else "–")
        if test:
            rejected = _share(row["rejected"], row["tested"])
            cells.append(_percent(rejected) if power else _marked(rejected, LEAST, MOST))
        cells.append(_percent(_share(row["noted"], row["sets"])) if row["noted"] else "–")
        yield f"| {' | '.join(cells)} |"


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else float("nan")


def _percent(share: float) -> str:
    return "–" if share != share else f"{share:.1f}"


def _marked(share: float, low: float, high: float) -> str:
    """In bold where it lies outside."""
    return _percent(share) if share != share or low <= round(share, 1) <= high else f"**{share:.1f}**"


def outside(row: Mapping[str, Any]) -> list[str]:
    """Return the parts of a row that lie outside the limits: `interval`, `test`."""
    made = row["asked"] - row["without"]
    held, rejected = _share(row["held"], made), _share(row["rejected"], row["tested"])
    return [
        *(["interval"] if row["interval"] and not LOW <= round(held, 1) <= HIGH else []),
        *(["test"] if row["test"] and not LEAST <= round(rejected, 1) <= MOST else []),
    ]
