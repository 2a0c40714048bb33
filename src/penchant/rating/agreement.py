"""Agreement between raters in databases of judgements, except for cloze words, which `cloze` handles."""

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
    """Return the task and the answers of databases of judgements; None for other files, or if cloze words were rated.

    Raises DataError if the databases have different tasks or are mixed with other files.
    """
    databases = [read for read in map(_read, files) if read is not None]
    if not databases:
        return None
    first = databases[0][0]
    same = all(task[name] == first[name] for task, _ in databases for name in ("question", "kind", "points"))
    if len(databases) < len(files) or not same:
        message = "the files do not all belong to one rating task"
        raise DataError(message, where=str(files[0]), hint="give the files one at a time")
    # Raters are identified by name, as their numbers differ between files.
    said = [(rater, 0, key, value) for _, each in databases for rater, _, key, value in each]
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
    """Return a table of raters, Krippendorff's α with raw agreement, a table of disputed items, and notes on raters.

    The table of raters has each rater's number of answers and, for a scale, the correlation with the other raters. α is
    computed over all items, with the ordinal metric for a scale and the nominal metric for choices. An item is disputed
    if two of its answers differ by `least` or more (for choices, if any two differ).
    """
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
        values = (correlations[rater].value for rater in raters)
        each |= {"ρ with others": [None if math.isnan(value) else value for value in values]}
        notes = [*opposed(correlations, "items"), *notes]
    return pl.DataFrame(each), (alpha, raw_agreement(counts, level=level, noun="items")), disputed, notes
