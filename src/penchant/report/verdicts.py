"""Verdicts on claims about models: yes, no, cannot tell or not measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from penchant.report.significance import Shown

YES, NO, CANNOT_TELL, NOT_MEASURED = "yes", "no", "cannot tell", "not measured"
KINDS = (YES, NO, CANNOT_TELL, NOT_MEASURED)
"""The kinds of verdicts, in the order in which they are displayed."""
_NUMBERS = ("value", "low", "high", "level", "p", "p_holm")
SCHEMA = {
    **dict.fromkeys(("claim", "verdict", "direction", "model", "second", "place"), pl.String),
    **dict.fromkeys(_NUMBERS, pl.Float64),
    "n": pl.Int64,
    "tests": pl.Int64,
    "margin": pl.Float64,
    **dict.fromkeys(("needed", "answer", "signature"), pl.String),
}
"""The columns of a table of verdicts."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a claim about a model, or about a pair of models.

    `row` is the estimate, `margin` the smallest effect of interest, and `needed` the number of items that would settle
    the claim if the verdict is "cannot tell". `place` is the level of a factor, such as one of several groups, that the
    verdict is about, or "". `facts` are variables for the text of the verdict. `barred` is the key of the text that
    says why the estimate cannot decide the claim, or "". `direction` is "above" or "below" (the null) if the verdict is
    "yes". `sentence` states the verdict.
    """

    claim: str
    kind: str
    models: tuple[str, ...]
    place: str = ""
    row: Mapping[str, Any] | None = field(default=None, repr=False)
    margin: float = math.nan
    needed: str = ""
    barred: str = ""
    direction: str = ""
    sentence: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a claim's question: sentences about all models, and the verdicts that they summarise.

    `figure` contains the names of the figures that show the estimates, separated by spaces; if it is empty, the
    first answer of a section is shown by the first figure. `next` is the command to continue with if something was not
    measured, with DIR in place of the result directory. `shown` is the format of the estimates.
    """

    claim: str
    question: str
    sentences: list[str]
    verdicts: tuple[Verdict, ...]
    next: str = ""
    shown: Shown | None = None
    figure: str = ""

    @property
    def compares(self) -> bool:
        """True if the claim is about pairs of models."""
        return any(len(verdict.models) > 1 for verdict in self.verdicts)

    def about(self, place: str) -> list[str]:
        """Return the sentences of the verdicts about `place`, such as a group, or all sentences if there are none."""
        return [verdict.sentence for verdict in self.verdicts if place and verdict.place == place] or self.sentences


def table(answers: Iterable[Answer]) -> pl.DataFrame:
    """Return the verdicts as a table; in a comparison, `second` is the second model and numbers are differences."""
    rows = []
    for verdict in (verdict for answer in answers for verdict in answer.verdicts):
        row = verdict.row or {}
        numbers = {name: _number(row.get(name)) for name in _NUMBERS}
        rows.append(
            {
                "claim": verdict.claim,
                "verdict": verdict.kind,
                "direction": verdict.direction,
                "model": verdict.models[0],
                "second": verdict.models[1] if len(verdict.models) > 1 else None,
                "place": verdict.place,
                **numbers,
                "n": row.get("n"),
                "tests": row.get("tests"),
                "margin": _number(verdict.margin),
                "needed": verdict.needed,
                "answer": verdict.sentence,
                "signature": row.get("signature"),
            }
        )
    return pl.DataFrame(rows, SCHEMA)


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)
