"""The columns of a sheet that a rater returns, where some are called otherwise than in the exported one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penchant.errors import DataError
from penchant.instruments.cloze.data import GAP
from penchant.instruments.cloze.rating_tables import FIELDS, Columns, rating_columns
from penchant.instruments.cloze.valences import folded, is_word
from penchant.report.finding import listed
from penchant.tables.places import listed as one_or_several
from penchant.tables.places import suggestion
from penchant.tables.rows import lacking, read_rows

TEXT, FILLED = "text", "filled"
"""The columns of the sentence and of the sentence with the word in its gap, by which rows are checked."""
_OPTIONS = {"sentence": "--sentence", "word": "--word", "rater": "--rater-column", "rating": "--rating"}
_LOOKED_AT = 200
"""How many rows of a sheet are looked at to see what its columns hold."""


@dataclass(frozen=True, slots=True)
class Read:
    """The columns by which a sheet is read, and what is said of them."""

    columns: Columns
    told: tuple[str, ...]


def columns_of(file: Path, columns: Columns, texts: Mapping[str, str]) -> Read:
    """The columns of a table. One that has none of those that the user named is read by that of `penchant ratings
    export`; those of the sentence and of the filled sentence are known by what they hold. `texts` are the sentences by
    id. Raises DataError with all columns that are missing, but for what a file need not have."""
    rows = [row.values for row in read_rows(file)]
    header = list(dict.fromkeys(name for row in rows for name in row))
    chosen, told = _named(file, header, columns)
    taken = {str(chosen.get(field, field)) for field in FIELDS} | set(rating_columns(chosen))
    id_ = str(chosen.get("sentence", "sentence"))
    known = _by_content(rows, [name for name in header if name not in taken], id_, texts)
    if any(field != name for field, name in known.items()):
        what = {TEXT: "the sentences", FILLED: "the filled sentences"}
        parts = [f"{what[field]} are read from its column '{name}'" for field, name in known.items()]
        told.append(f"{file}: {listed(parts)}")
    if rows and not known:
        told.append(
            f"{file}: text not checked, as no column holds the sentences or the filled ones: nothing shows whether a "
            "row is about the sentence that it names"
        )
    return Read({**chosen, **{field: name for field, name in known.items() if field != name}}, tuple(told))


def _named(file: Path, header: list[str], columns: Columns) -> tuple[dict[str, str | Sequence[str]], list[str]]:
    """The columns that the user named and the file has, and which are read instead of others."""
    chosen: dict[str, str | Sequence[str]] = {}
    missing: list[tuple[str, str]] = []
    instead: list[str] = []
    for field in FIELDS:
        named = one_or_several(columns.get(field, field))
        if all(name in header for name in named):
            chosen |= {field: columns[field]} if field in columns else {}
        elif field in header and not any(name in header for name in named):
            instead.append(f"{file} has no column '{named[0]}' and is read by its column '{field}'")
        elif field in columns or field != "rater":
            missing += [(field, name) for name in named if name not in header]
    if len(missing) > 1:
        options = dict.fromkeys(f"{_OPTIONS[field]} NAME" for field, _ in missing)
        told = f"there are no columns {listed([repr(name) for _, name in missing])}"
        hint = f"the columns are {', '.join(header)}; say which hold them: {', '.join(options)}"
        raise DataError(told, file=file, hint=hint)
    for field, name in missing:
        if field in columns:
            lacking([name], header, file)
        if field == "rating":
            hint = f"{suggestion(name, header)}; call the column of the ratings 'rating', or name it: --rating NAME"
            raise DataError("there is no column 'rating'", file=file, hint=hint)
    return chosen, instead


def _by_content(
    rows: Sequence[Mapping[str, Any]], names: Iterable[str], id_: str, texts: Mapping[str, str]
) -> dict[str, str]:
    """The columns of the sentence and of the filled one: those that are called so, else those of which more than half
    of the rows hold a text with one gap, or the sentence of the row with a word in its gap."""
    looked_at = rows[:: max(1, len(rows) // _LOOKED_AT)]
    left = list(names)
    found: dict[str, str] = {}
    for field in (TEXT, FILLED):
        if field in left:
            found[field] = field
            continue
        shares = {}
        for name in left:
            cells = [str(row.get(name) or "") for row in looked_at]
            if field == TEXT:
                shares[name] = sum(cell.count(GAP) == 1 for cell in cells)
            else:
                own = [str(row.get(found.get(TEXT, "")) or "") for row in looked_at]
                asked = [texts.get(str(row.get(id_) or "").strip(), "") for row in looked_at]
                frames = zip(cells, own, asked, strict=True)
                shares[name] = sum(any(_fills(cell, text) for text in pair) for cell, *pair in frames)
        best = max(shares, key=lambda name: shares[name], default=None)
        if best is not None and shares[best] > len(looked_at) / 2:
            found[field] = best
            left.remove(best)
    return found


def _fills(cell: str, text: str) -> bool:
    """Whether a cell is a text with a word in its gap, whichever."""
    if text.count(GAP) != 1:
        return False
    before, after = map(letters, text.split(GAP))
    plain = letters(cell)
    within = plain[len(before) : len(plain) - len(after)]
    return plain.startswith(before) and plain.endswith(after) and is_word(within) and letters(GAP) not in within


def letters(text: str) -> str:
    """A text without what spreadsheets change: white space, and the case of the first letter."""
    return folded("".join(unicodedata.normalize("NFC", text).split()))
