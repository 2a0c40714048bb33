"""Creation of a study from a user's table of minimal pairs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penchant.errors import DataError
from penchant.instruments.minimal_pairs.data import read_pairs
from penchant.instruments.minimal_pairs.length_audit import audit
from penchant.instruments.minimal_pairs.pair_credits import ALL
from penchant.instruments.minimal_pairs.probe import MinimalPairs
from penchant.instruments.study_from_table import ID, Role, StudyParts, TableReader, UserTable, power_sentence
from penchant.models.load import LanguageModel
from penchant.stats.power import detectable_share
from penchant.wording.templates import Text

_TEXT = Text.of(MinimalPairs.folder())


def _known(file: Path) -> bool:
    try:
        return read_pairs(file).kind != "plain"
    except DataError:
        return False


def _parts(table: UserTable, name: str) -> StudyParts:
    columns = table.renamed(("good", "bad", "group", "id"))
    parameters: dict[str, Any] = {"data": [name]} | ({"columns": columns} if columns else {})
    return StudyParts(parameters)


def _power(probe: MinimalPairs, base: Sequence[Path]) -> str:
    items = [item for pairs in probe.pair_sets(base) for item in pairs.items]
    groups = Counter(item.labels["group"] for item in items)
    share = detectable_share(len(items))
    return power_sentence(
        MinimalPairs,
        n=len(items),
        groups=len(groups),
        fewest=min(groups.values()),
        most=max(groups.values()),
        share=None if math.isnan(share) else share,
    )


def _about(probe: MinimalPairs, base: Sequence[Path], model: LanguageModel) -> Sequence[str]:
    rows = audit(model, probe.pair_sets(base)).filter(group=ALL)
    return [_TEXT.get("init", "lengths", row=row) for row in rows.iter_rows(named=True)]


USER_TABLE = TableReader(
    alias="pairs",
    roles=(
        Role(
            "good",
            (
                *("good", "acceptable", "grammatical", "correct", "right", "sentence_good", "good_sentence"),
                *("gut", "akzeptabel", "grammatisch", "korrekt", "richtig", "bon", "bonne", "correcto", "correcta"),
            ),
            "the acceptable sentence",
        ),
        Role(
            "bad",
            (
                *("bad", "unacceptable", "ungrammatical", "incorrect", "wrong", "sentence_bad", "bad_sentence"),
                *("schlecht", "inakzeptabel", "ungrammatisch", "inkorrekt", "falsch", "mauvais", "incorrecto"),
            ),
            "the unacceptable sentence",
        ),
        Role(
            "group",
            (
                *("group", "paradigm", "phenomenon", "condition", "category", "type", "construction"),
                *("gruppe", "paradigma", "phänomen", "bedingung", "kategorie", "konstruktion", "phénomène"),
            ),
            "the paradigm",
            needed=False,
        ),
        ID,
    ),
    parts=_parts,
    power=_power,
    known=_known,
    about=_about,
)
