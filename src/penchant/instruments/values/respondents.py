"""What the rows of a survey say about respondents: who is left out, who may count twice, and weights that are not used.

Only cautions follow: no row is dropped or weighted here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from penchant.errors import Case, SheetRow
from penchant.tables.row import Row

_MOST = 5
"""The lines that a caution lists."""
_WEIGHT = re.compile(
    r"(?:^|[_\W\d])(?:(?:d|p|ps|psp|a|an|s|w|pop|design|survey|sample|person|final|base)?(?:weights?|weighting|wgh?ts?|wt)"
    r"|wtss\w*|gewicht\w*|\w*gewichtung"
    r"|poids|pond[eé]ration|ponderaci[oó]n|peso|v[aá]h[ay])(?:$|[_\W\d])",
    re.IGNORECASE,
)
_BODY = re.compile(r"\b(body|birth|own|kg|kilo\w*|pounds?|lbs?|körper\w*|height)\b", re.IGNORECASE)
"""A weight that a scale in a bathroom shows."""


def weights(header: Sequence[str], labels: Mapping[str, str], used: Collection[str]) -> Iterator[str]:
    """A caution about columns that are not `used` and whose name or label is that of a survey weight."""
    found = [
        f"{name} ({labels[name]})" if labels.get(name) else name
        for name in header
        if name not in used
        and any(_WEIGHT.search(text) and not _BODY.search(text) for text in (name, labels.get(name, "")))
    ]
    if found:
        noun = "column {} looks" if len(found) == 1 else "columns {} look"
        yield (
            f"weights are not used: {noun.format(', '.join(found[:_MOST]))} like survey weights, and every respondent "
            "counts once"
        )


def repeated(rows: Sequence[Row]) -> Iterator[str]:
    """A caution about rows that are alike in every column, unless one pair of such rows or more would be expected of
    respondents who answer at random, each column as often as it was answered so."""
    lines: dict[tuple[str, ...], list[int]] = {}
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    for row in rows:
        lines.setdefault(tuple(str(row.values.get(name)) for name in names), []).append(row.line)
    alike = [same for same in lines.values() if len(same) > 1]
    more = sum(len(same) - 1 for same in alike)
    if not more or _by_chance(lines, len(rows)) >= 1:
        return
    noun = {SheetRow: "rows", Case: "cases"}.get(type(rows[0].line), "lines")
    shown = [" and ".join(f"{line:d}" for line in same[:2]) for same in alike[:_MOST]]
    rest = ", …" if len(alike) > _MOST else ""
    yield (
        f"{more} of {len(rows)} respondents are the same as an earlier one in every column ({noun} "
        f"{', '.join(shown)}{rest}): look whether somebody counts twice; none was left out for that"
    )


def _by_chance(lines: Mapping[tuple[str, ...], Sequence[int]], n: int) -> float:
    """How many pairs of n rows would be alike if columns were independent: C(n, 2) · Π Σ share²."""
    expected = n * (n - 1) / 2
    for cells in zip(*lines, strict=True):
        counts: Counter[str] = Counter()
        for cell, same in zip(cells, lines.values(), strict=True):
            counts[cell] += len(same)
        expected *= sum((count / n) ** 2 for count in counts.values())
    return expected
