"""Creation of a study from a user's word lists: two of targets and two of attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from penchant.corpus.stimulus_sets import read_stimuli
from penchant.errors import DataError
from penchant.instruments.associations.probe import words_of
from penchant.instruments.associations.weat_seat import WEAT
from penchant.instruments.study_from_table import Role, StudyParts, TableReader, UserTable, cells, power_sentence
from penchant.plurals import first_of
from penchant.stats.power import detectable_effect_size
from penchant.tables.data_lookup import SET_FILE
from penchant.vectors.static_vectors import StaticVectors
from penchant.wording.templates import Text

_TEXT = Text.of(WEAT.folder()).below("init")
"""Lines printed by `penchant init --from`."""
_NAMED = 6
_SIDES = ("X", "Y", "A", "B")


def _known(file: Path) -> bool:
    try:
        read_stimuli(file)
    except DataError:
        return False
    return True


def _lists(table: UserTable) -> dict[str, list[str]]:
    """Return the words of four lists by name, read from one column per list or from the columns `list` and `word`."""
    lists: dict[str, list[str]] = {}
    if {"list", "word"} <= table.columns.keys():
        for name, word in zip(table.cells("list"), table.cells("word"), strict=True):
            lists.setdefault(name.strip(), []).append(word.strip())
    else:
        lists = {name: [word.strip() for word in cells(table.rows, name)] for name in table.header if name}
    lists = {name: [word for word in words if word] for name, words in lists.items()}
    if len(lists) != len(_SIDES):
        named = ", ".join(f"'{name}'" for name in lists)
        message = f"expected two lists of targets, then two of attributes, but found {len(lists)}: {named}"
        hint = "write one column for each of the four lists, or the two columns list and word"
        raise DataError(message, file=table.path, hint=hint)
    return lists


def _parts(table: UserTable, name: str) -> StudyParts:
    if not table.columns and _known(table.path):
        return StudyParts({"data": name})
    lists = _lists(table)
    sides: Mapping[str, str] = dict(zip(_SIDES, lists, strict=True))
    content = {
        "language": "und",
        "lists": {each: {"words": words} for each, words in lists.items()},
        "categories": {"C1": {"label": _TEXT.get("label", **sides), **sides}},
    }
    head = "# A set of stimuli. penchant schema stimuli lists every key.\n"
    text = head + yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=120)
    return StudyParts({"data": "."}, {SET_FILE: text}, (_TEXT.get("tests", **sides),))


def _power(probe: WEAT, base: Sequence[Path]) -> str:
    targets = (each.lists()[:2] for each in probe.chosen(base))
    fewest = min(sum(len(part.words) for part in lists) for lists in targets)
    size = detectable_effect_size(fewest)
    return power_sentence(WEAT, n=fewest, size=None if math.isnan(size) else size)


def _about(probe: WEAT, base: Sequence[Path], model: StaticVectors) -> Sequence[str]:
    missing = [word for word in words_of(probe.chosen(base)) if word not in model and word.casefold() not in model]
    return [_TEXT.get("missing", missing=len(missing), named=first_of(missing, _NAMED))] if missing else []


USER_TABLE = TableReader(
    alias="words",
    roles=(
        Role("list", ("list", "set", "liste"), "the name of the list", needed=False),
        Role("word", ("word", "words", "wort", "mot", "palabra"), "the words", needed=False),
    ),
    parts=_parts,
    power=_power,
    known=_known,
    about=_about,
)
