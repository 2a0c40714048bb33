"""Creation of a study from a user's table of sentences with gaps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import yaml

from penchant.instruments.cloze.data import GAP, OTHER_GAP, SENTENCE
from penchant.instruments.cloze.five_point_scale import point_of
from penchant.instruments.cloze.probe import Cloze
from penchant.instruments.study_from_table import ID, Role, StudyParts, TableReader, UserTable, csv_text, power_sentence
from penchant.stats.power import detectable_mean
from penchant.wording.templates import Text

SPREAD = 0.3
"""The standard deviation of β between sentences of one group that is assumed for the expected power.

In the bundled study it lies between 0.02 (neutral sentences) and 0.34 (sentences in the variety of the training text).
"""
_TEXT = Text.of(Cloze.folder()).below("init")
"""Lines printed by `penchant init --from`."""
_DEFAULT_GROUPS = {-1.0: "low", 1.0: "high"}


def _gapped(cells: Sequence[str]) -> bool:
    return any(cells) and sum(GAP in cell or OTHER_GAP.search(cell) is not None for cell in cells) * 2 > len(cells)


def _points(cells: Sequence[str]) -> bool:
    points = set(map(_point, cells))
    return None not in points and len(points) > 1


def _point(cell: str) -> float | None:
    try:
        return point_of(cell)
    except ValueError:
        return None


def _with_gap(text: str) -> str:
    """Return a text whose only gap is marked otherwise, as by ___, with [MASK] there, or any other text unchanged."""
    return OTHER_GAP.sub(GAP, text) if GAP not in text and len(OTHER_GAP.findall(text)) == 1 else text


def _few(cells: Sequence[str]) -> bool:
    return all(cells) and 1 < len(set(cells)) <= max(2, len(cells) // 2)


def _parts(table: UserTable, name: str) -> StudyParts:
    texts = table.cells("text")
    own = {"id", "group"} <= table.columns.keys() and all(GAP in text for text in texts)
    points = [_point(cell) for cell in table.cells("expected")]
    groups = (
        table.cells("group") if "group" in table.columns else [_DEFAULT_GROUPS.get(p or 0, "middle") for p in points]
    )
    parameters: dict[str, object] = {"data": "."}
    files, lines = {}, []
    if own:
        columns = table.renamed(SENTENCE)
        parameters |= {"columns": columns} if columns else {}
    else:
        ids = table.cells("id") if "id" in table.columns else [f"s{n}" for n in range(1, len(texts) + 1)]
        rows = zip(ids, map(_with_gap, texts), table.cells("expected"), groups, strict=True)
        files["sentences.csv"] = csv_text(SENTENCE, rows)
        lines.append(_TEXT.get("copied", gap=GAP))
    low, high = (_end(groups, points, at) for at in (-1.0, 1.0))
    scale = yaml.safe_dump({"low": low, "high": high}, allow_unicode=True, default_flow_style=True).strip()
    where = "sentences.csv" if files else name
    files["set.yaml"] = (
        "# Sentences with one gap on a scale from -1 (low) to 1 (high). penchant schema cloze lists every key.\n"
        f"language: und           # of the sentences, such as en or cs\nscale: {scale}\nsentences: {_quoted(where)}\n"
    )
    return StudyParts(parameters, files, (*lines, _TEXT.get("scale", low=low, high=high)))


def _end(groups: Sequence[str], points: Sequence[float | None], at: float) -> str:
    """Return the name of the only group expected at an end of the scale (`at` −1 or 1), else "low" or "high"."""
    there = {group for group, point in zip(groups, points, strict=True) if point == at}
    return there.pop() if len(there) == 1 else "low" if at < 0 else "high"


def _quoted(name: str) -> str:
    return yaml.safe_dump(name, allow_unicode=True).splitlines()[0]


def _power(probe: Cloze, base: Sequence[Path]) -> str:
    groups = Counter(sentence.item.labels["group"] for sentence in probe.asked(base))
    fewest = min(groups.values())
    size = detectable_mean(fewest, SPREAD)
    known = None if math.isnan(size) or size > 1 else size
    return power_sentence(Cloze, n=groups.total(), groups=len(groups), fewest=fewest, size=known, spread=SPREAD)


USER_TABLE = TableReader(
    alias="gaps",
    roles=(
        Role("text", ("text", "sentence", "satz", "phrase", "stimulus"), "the sentences with a gap", like=_gapped),
        Role(
            "expected",
            ("expected", "scale", "point", "variety", "erwartet"),
            "the end of the scale that suits each sentence (−1, −0.5, 0, 0.5 or 1)",
            like=_points,
        ),
        Role("group", ("group", "kind", "genre", "register", "gruppe"), "the group", like=_few, needed=False),
        ID,
    ),
    parts=_parts,
    power=_power,
)
