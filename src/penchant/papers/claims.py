"""Decisions on a paper's claims, from the estimates and differences of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penchant.papers.paper import ClaimCheck, Paper, PaperClaim
from penchant.records import SIDES
from penchant.report.sections import StudySection
from penchant.report.tables import DECIDES, Number, is_few, scaled, with_minus
from penchant.stats.hypothesis_tests import holm
from penchant.views.row_selection import At, RowSource, sources

HOLDS, FAILS, UNCLEAR, UNCHECKED = "holds", "fails", "unclear", "unchecked"


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim, the verdict on it, and, as text, the estimates behind the verdict or the reason why there are none."""

    claim: PaperClaim
    verdict: str
    found: str = ""


@dataclass(frozen=True, slots=True)
class _Fact:
    """An estimate that a claim is about, with the index of the claim and the estimate's name in the report."""

    claim: int
    check: ClaimCheck
    name: str
    row: Mapping[str, Any]

    def __str__(self) -> str:
        value, low, high = (scaled(self.row[name], self.check.scale) for name in ("value", "low", "high"))
        return f"{self.name} {with_minus(str(Number(value, low, high, form=self.check.form)))}"


def checked(paper: Paper, sections: Sequence[StudySection], asked: Mapping[str, str]) -> list[CheckedClaim]:
    """Return the verdict on each claim.

    A claim holds if all estimates lie on the claimed side of the null and differ clearly from it (p adjusted by Holm
    over all claims of the paper), fails if an estimate clearly lies on the other side, is unchecked if there are no
    estimates, and is unclear otherwise. `asked` maps the names of models in the results to their names in the study.
    """
    facts = [
        fact
        for number, claim in enumerate(paper.claims)
        for check in claim.checks
        for fact in _facts(number, check, paper, sections, asked)
    ]
    adjusted = holm([fact.row["p"] for fact in facts]).tolist() if facts else []
    verdicts = []
    for number, claim in enumerate(paper.claims):
        own = [(fact, p) for fact, p in zip(facts, adjusted, strict=True) if fact.claim == number]
        if not own:
            verdicts.append(CheckedClaim(claim, UNCHECKED, claim.why))
            continue
        signs = [_sign(fact, p) for fact, p in own]
        verdict = FAILS if -1 in signs else HOLDS if all(sign == 1 for sign in signs) else UNCLEAR
        shown = "; ".join(map(str, _told_apart([fact for fact, _ in own])))
        verdicts.append(CheckedClaim(claim, verdict, shown))
    return verdicts


def _told_apart(facts: Sequence[_Fact]) -> list[_Fact]:
    """Return the estimates, with the levels that differ between their checks added to their names."""
    levels = [fact.check.at for fact in facts]
    several = [name for name in levels[0] if len({str(at.get(name)) for at in levels}) > 1]
    return [replace(fact, name=" ".join([fact.name, *(fact.check.at[n] for n in several)])) for fact in facts]


def _sign(fact: _Fact, p: float) -> int:
    """Return 1 if the estimate is clearly on the claimed side, -1 if clearly on the other, else 0."""
    row, check = fact.row, fact.check
    clear = p <= DECIDES if p == p else not row["low"] <= check.null <= row["high"]
    if is_few(row) or not clear:
        return 0
    return 1 if (row["value"] > check.null) == (check.expect == "above") else -1


def _facts(
    number: int, check: ClaimCheck, paper: Paper, sections: Sequence[StudySection], asked: Mapping[str, str]
) -> Iterator[_Fact]:
    """Yield the estimates for a check of claim `number`, counted from 0, in the first section of the check's probe.

    `asked` maps the names of models in the results to their names in the study.
    """
    for section in [section for section in sections if _is_of(section, check.probe)][:1]:
        names = {r.signature["model"]: paper.label(asked.get(r.signature["model"], "")) for r in section.results}
        if check.model:
            yield from _differences(number, check, section, names)
            continue
        lines = [
            line
            for source in sources(section.results)
            if names[source.model] not in check.but
            for line in source.only(At(**check.at))
        ]
        varying = [name for source in {line.source for line in lines} for name in source.names]
        several = [n for n in dict.fromkeys(varying) if len({line.row.get(n) for line in lines}) > 1 and n != "model"]
        for line in lines:
            yield _Fact(number, check, " ".join([line.model, *(str(line[name]) for name in several)]), line.row)


def _is_of(section: StudySection, probe: str) -> bool:
    return (
        section.section.items is not None and bool(section.results) and section.results[0].signature["probe"] == probe
    )


def _differences(number: int, check: ClaimCheck, section: StudySection, names: Mapping[str, str]) -> Iterator[_Fact]:
    """Yield the differences between the model that a claim is about and the paper's other models.

    `number` is the index of the claim; `names` maps the names of models in the results to the paper's labels.
    """
    if section.comparison is None:
        return
    for line in RowSource("", section.comparison).only(At(**check.at)):
        row = line.row
        labels = [names.get(row[side], "") for side in SIDES]
        if check.model not in labels or not all(labels):
            continue
        if labels[0] != check.model:
            row = {**row, "value": -row["value"], "low": -row["high"], "high": -row["low"]}
        other = SIDES[labels[0] == check.model]
        yield _Fact(number, check, f"{check.model} − {line.row[other]}", row)
