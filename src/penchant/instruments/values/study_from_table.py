"""Creation of a study from a user's table of value statements."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import yaml

from penchant.errors import DataError
from penchant.instruments.study_from_table import ID, Role, StudyParts, TableReader, UserTable, csv_text, power_sentence
from penchant.instruments.values.data import SETS, StatementRow, read_values
from penchant.instruments.values.probe import Values
from penchant.stats.power import detectable_mean
from penchant.tables.data_lookup import SET_FILE, bundled
from penchant.wording.templates import Text

SPREAD = 1.0
"""The standard deviation of ratings between statements of one value, assumed in computing the expected power."""
_TEXT = Text.of(Values.folder()).below("init")
"""Lines printed by `penchant init --from`."""
_WORD = re.compile(r"[^\W\d_]+")
_COMMONEST = 40
_SHARE = 0.15
"""Share of a user's words among the commonest words of a bundled set below which their languages differ."""


def _long(cells: Sequence[str]) -> bool:
    return sum(len(cell.split()) for cell in cells) >= 3 * len(cells)


def _few(cells: Sequence[str]) -> bool:
    return all(cells) and len(set(cells)) <= max(1, len(cells) // 2)


def _words(texts: Sequence[str]) -> list[str]:
    return [word for text in texts for word in _WORD.findall(text.casefold())]


def _like(table: UserTable) -> str:
    """Return the name of the bundled set in the statements' language. Raises DataError if there is none."""
    own = _words(table.cells("text"))
    shares = {}
    for name in bundled(SETS, SET_FILE):
        theirs = Counter(_words([each.text for each in read_values(SETS / name).clauses()]))
        common = {word for word, _ in theirs.most_common(_COMMONEST)}
        shares[name] = sum(word in common for word in own) / max(1, len(own))
    best = max(shares, key=lambda name: shares[name])
    if shares[best] < _SHARE:
        message = "there are no bundled neutral statements and templates in the language of these statements"
        languages = ", ".join(sorted(read_values(SETS / name).language for name in shares))
        hint = f"they exist in {languages}; for others, write calibration.csv and templates as in penchant init values"
        raise DataError(message, file=table.path, hint=hint)
    return best


def _parts(table: UserTable, name: str) -> StudyParts:
    like, fields = _like(table), [field for field in StatementRow.model_fields if field in table.columns]
    files = {}
    if "id" in table.columns:
        columns = table.renamed(fields)
        named = {"statements": name} | ({"columns": {"statements": columns}} if columns else {})
    else:
        rows = zip(*(table.cells(field) for field in fields), strict=True)
        numbered = ([f"s{n}", *row] for n, row in enumerate(rows, 1))
        files["statements.csv"] = csv_text(["id", *fields], numbered)
        named = {"statements": "statements.csv"}
    content = {"language": read_values(SETS / like).language, **named, "like": like}
    files[SET_FILE] = "# A set of statements. penchant schema values lists every key.\n" + yaml.safe_dump(
        content, allow_unicode=True, sort_keys=False
    )
    return StudyParts({"data": "."}, files, (_TEXT.get("like", like=like, reversed="reversed" in fields),))


def _power(probe: Values, base: Sequence[Path]) -> str:
    values = Counter(each.value for each in probe.statements(base).statements)
    fewest = min(values.values())
    size = detectable_mean(fewest, SPREAD)
    known = None if math.isnan(size) or size > 2 else size
    return power_sentence(Values, n=values.total(), values=len(values), fewest=fewest, size=known, spread=SPREAD)


USER_TABLE = TableReader(
    alias="statements",
    roles=(
        Role("text", ("text", "statement", "clause", "aussage", "item_text", "wording"), "the statements", like=_long),
        Role("value", ("value", "scale", "dimension", "construct", "wert", "factor"), "the value", like=_few),
        ID,
        Role("reversed", ("reversed", "reverse", "keyed", "recode"), "whether it speaks against it", needed=False),
        Role("negation", ("negation", "negated"), "the negated statement", needed=False),
    ),
    parts=_parts,
    power=_power,
)
