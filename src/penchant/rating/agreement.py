"""Agreement between raters in databases of judgements of anything but words in gaps, whose tables `cloze` reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from penchant.errors import DataError
from penchant.rating.reversed_raters import each_with_others, newcomers, opposed
from penchant.rating.tasks import FIRST, SECOND
from penchant.records import Estimate
from penchant.stats.agreement import krippendorff_alpha, raw_agreement
from penchant.tables.judgement_database import MAGIC, Said, is_judgements, judgements, refuse_open
from penchant.text_io import opened


def judged(files: Sequence[Path]) -> tuple[dict[str, Any], list[Said]] | None:
    """Read what was asked and said in databases of one task that is not of words in gaps; None for other files. Raises
    DataError for databases of different tasks, or of tasks beside other files."""
    found = [read for read in map(_read, files) if read is not None]
    if not found:
        return None
    first = found[0][0]
    same = all(task[name] == first[name] for task, _ in found for name in ("question", "kind", "points"))
    if len(found) < len(files) or not same:
        told = "agreement is that on one set of items, and these files are of several"
        raise DataError(told, where=str(files[0]), hint="name them one by one")
    # Raters are known by name, as numbers begin anew in every file.
    said = [(rater, 0, key, value) for _, each in found for rater, _, key, value in each]
    return first, said


def _read(file: Path) -> tuple[dict[str, Any], list[Said]] | None:
    with opened(file) as stream:
        if not is_judgements(stream.read(len(MAGIC))):
            return None
        refuse_open(stream, file)
        task, said = judgements(stream.read(), file)
    return None if any("word" in key for _, _, key, _ in said) else (task, said)


def agreement(
    task: dict[str, Any], said: Sequence[Said], *, least: float, seed: int, resamples: int, level: float
) -> tuple[pl.DataFrame, tuple[Estimate, Estimate], pl.DataFrame, list[str]]:
    """Return how much each rater said, and on a scale its correlation with the others; Krippendorff's α over all items
    (ordinal on a scale, nominal for choices) and raw agreement; the items whose answers lie `least` or more apart (all
    that are disputed, for choices); and notes on raters."""
    choice = task["kind"] == "choice"
    answers: list[float | str] = [FIRST, SECOND] if choice else [float(point["value"]) for point in task["points"]]
    items: dict[str, dict[str, float | str]] = {}
    raters: dict[str, int] = {}
    for rater, _, key, value in said:
        item = " | ".join(str(part) for part in key.values())
        items.setdefault(item, {})[rater] = value if choice else float(value)
        raters[rater] = raters.get(rater, 0) + 1
    rows_of = [[list(of.values()).count(answer) for answer in answers] for of in items.values()]
    counts = np.array(rows_of, dtype=np.int64).reshape(-1, len(answers))
    alpha = krippendorff_alpha(
        counts,
        domain=list(range(len(answers))) if choice else answers,
        scale="nominal" if choice else "ordinal",
        seed=seed,
        resamples=resamples,
        level=level,
    )
    rows = [
        {"item": item, "answers": ", ".join(f"{rater} {answer}" for rater, answer in of.items())}
        for item, of in items.items()
        if (len(set(of.values())) > 1 if choice else max(of.values()) - min(of.values()) >= least)  # type: ignore[operator]
    ]
    disputed = pl.DataFrame(rows, schema={"item": pl.String, "answers": pl.String})
    each = {"rater": list(raters), "answers": list(raters.values())}
    if choice:
        each |= {f"chose {FIRST}": [sum(s[0] == r and s[3] == FIRST for s in said) / n for r, n in raters.items()]}
    notes = list(filter(None, [newcomers(raters, len(items), "items")]))
    if not choice:
        rated = [{rater: float(value) for rater, value in of.items()} for of in items.values()]
        correlations = each_with_others(rated)
        found = (correlations[rater].value for rater in raters)
        each |= {"ρ with others": [None if math.isnan(value) else value for value in found]}
        notes = [*opposed(correlations, "items"), *notes]
    return pl.DataFrame(each), (alpha, raw_agreement(counts, level=level, noun="items")), disputed, notes
