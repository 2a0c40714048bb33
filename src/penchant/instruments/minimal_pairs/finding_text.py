"""Text of the finding: preferences of models, the effect of token length, and differences from people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import polars as pl

from penchant.instruments.minimal_pairs.compare import EQUAL
from penchant.instruments.minimal_pairs.estimates import ACCURACY, GAP, UNEQUAL
from penchant.instruments.minimal_pairs.formats import DIRECTIONS
from penchant.instruments.minimal_pairs.human_estimates import (
    AGAINST_MAJORITY,
    ALPHAS,
    CEILING,
    MINUS_PEOPLE,
    RAW,
    lone,
)
from penchant.instruments.minimal_pairs.pair_credits import ALL, HALF, STEREOTYPE, of_stereotypes
from penchant.instruments.minimal_pairs.these_groups import THESE, of_groups, sampled
from penchant.records import SIDES, BaseResult, Signature, pair_of
from penchant.report.finding import MOST, NAMED, Shown, across, differences, levels, measured, told
from penchant.views.rows import FIRST, At, Line, RowSource, compared, parted, sources
from penchant.wording.templates import Text

_SHARE = Shown(".1f", "pairs", "%", 100, 0.5, (0, 1))
_STEREOTYPE = Shown(".1f", "pairs", "%", 1, 50, (0, 100))
POINTS = Shown("+.1f", "pairs", " points", 100, 0, (-1, 1))
_ALPHA = Shown("+.2f", "pairs")
Named: TypeAlias = tuple[str, Line]
"""A model name and one line of its numbers."""


def preferring(results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
    """Yield the finding on each data set by the first score, then the comparison with people."""
    words = text.below("prose", "finding")
    sets = list(parted(results, "dataset"))
    parts = []
    for name, each in sets[:MOST]:
        pairs = None if comparison is None else comparison.filter(dataset=name)
        having = [result for result in each if len(result.summary)]
        parts.append(_Part(name, having, pairs, words.given(name=name, several=len(sets) > 1)))
    yield from (said for part in parts for said in part.of_models())
    rest = len(sets) - MOST
    yield words.get("more-sets", rest=rest) if rest > 0 else ""
    yield from (said for part in parts for said in part.of_people())


def levels_of(rows: Iterable[Named], fixed: Iterable[Named], how: Shown, apart: str, words: Text) -> Iterator[str]:
    """Yield the values of all models; if there are few groups, first for exactly these, then for similar groups."""
    start = "start"
    for group, over in ((list(fixed), True), (list(rows), False)):
        if each := levels([(model, line.row) for model, line in group], how, apart):
            of = _groups([line.row for _, line in group], words, these=over)
            yield words.get(start, over=of, each=each)
            start = "again"


def _groups(rows: Sequence[Mapping[str, Any]], words: Text, *, these: bool) -> str:
    """Return a phrase for the groups of some estimates: exactly these or similar ones; empty if there are none."""
    n, noun = next(filter(None, map(sampled, rows)), (0, ""))
    if these:
        noun = str(rows[0]["measure"]).rpartition(", ")[2].removeprefix("these ")
    return words.get("over", noun=noun, n=n, these=these) if noun else ""


class _Part:
    def __init__(self, name: str, results: Sequence[BaseResult], pairs: pl.DataFrame | None, words: Text) -> None:
        self.found, self.pairs = sources(results), pairs
        self.kinds = of_stereotypes(results[0].summary, name)
        self.measure = STEREOTYPE if self.kinds else ACCURACY
        self.words = words.given(kinds=self.kinds)

    def _rows(self, **levels: object) -> list[Named]:
        """Return the first line of each model with the given levels."""
        lines = ((source.model, source.only(At(**levels))) for source in self.found)
        return [(model, found[0]) for model, found in lines if found]

    def of_models(self) -> Iterator[str]:
        """Yield the effect of length, the accuracies, the model differences, and the differences from one half."""
        clear, gaps = self._gaps()
        yield gaps if clear else ""
        how = _STEREOTYPE if self.kinds else _SHARE
        rows = self._rows(measure=self.measure, scope=("overall", "stereotype"), group=ALL, split=ALL)
        fixed = self._rows(measure=of_groups(self.measure), scope=THESE)
        yield from levels_of(rows, fixed, how, "50%", self.words.below("share"))
        if self.pairs is not None:
            yield from ordered(self.pairs, self.words.below("differences"))
            yield from self._paradigms_apart(self.pairs)
        yield "" if clear else gaps
        yield from self._by_paradigm()

    def _gaps(self) -> tuple[bool, str]:
        """Return whether accuracy clearly depends on token length, and a sentence on the gaps by length."""
        own, alone, gaps = self.words.below("gaps"), len(self.found) == 1, []
        for source in self.found:
            for split in UNEQUAL:
                at = At(measure=GAP, scope="overall", split=split, normalise=FIRST)
                place = own.get("place", model="" if alone else source.model, split=split)
                gaps += [(place, line.row) for line in source.only(at)]
        return any(told(row) for _, row in gaps), across(gaps, POINTS, own.get("noun", alone=alone), own.get("what"))

    def _by_paradigm(self) -> Iterator[str]:
        """Yield sentences on the paradigms (or kinds of bias) in which each model clearly differs from one half."""
        own, how = self.words.below("paradigms"), _STEREOTYPE if self.kinds else _SHARE
        chosen = {"scope": "stereotype", "group": lambda group: group not in (ALL, *DIRECTIONS)}
        at = At(measure=self.measure, split=ALL, normalise=FIRST, **(chosen if self.kinds else {"scope": "group"}))
        said: dict[str, list[str]] = {}
        for source in self.found[:MOST]:
            lines = source.only(at)
            if len(lines) > 1 and any(line["p"] == line["p"] for line in lines):
                n = sum(int(line["n"]) for line in lines) if _unequal(source) and not self.kinds else 0
                rows = [(line["group"], line.row) for line in lines]
                what = f" {own.get('over', n=n)}" if n else ""
                each = across(rows, how, own.get("noun"), what, apart="50%", more=own.get("more"))
                below = [group for group, row in rows if told(row, HALF) and row["value"] < HALF]
                named = own.get("below", below=below[:NAMED]) if below and not self.kinds else ""
                said.setdefault(each + named, []).append(source.model)
        for each, alike in said.items():
            yield own.get("what", models=alike, each=each) if each else ""

    def _paradigms_apart(self, comparison: pl.DataFrame) -> Iterator[str]:
        """Yield sentences on the paradigms in which two models differ, for the pairs of their overall difference."""
        own = self.words.below("apart")
        for _, part in list(comparison.group_by(SIDES, maintain_order=True))[:MOST]:
            headline = _headline(part)
            (source,) = compared(part)
            every = source.only(At(scope="group", split=ALL, normalise=headline["normalise"]))
            first = source.only(At(scope="group", split=headline["split"], normalise=headline["normalise"]))
            if len(every) > 1 and first and not self.kinds:
                equal = headline["split"] == EQUAL
                what = own.get("what", comparison=pair_of(headline), n=int(headline["n"]) if equal else 0)
                rows = [(line["group"], line.row) for line in first]
                lacking = [line["group"] for line in every if line["group"] not in dict(rows)]
                each = across(rows, _points(equal, own), own.get("noun"), what, more=own.get("more"))
                yield each + (own.get("lacking", groups=lacking) if 0 < len(lacking) <= NAMED else "")

    # People ----------------------------------------------------------------------------------------------------------

    def of_people(self) -> Iterator[str]:
        """Yield models' agreement with most raters, their difference from people, and the raters' agreement."""
        known = self._rows(measure=AGAINST_MAJORITY, scope="overall")
        if not known or not measured([line.row for _, line in known]):
            return
        first = known[0][1]
        assert first.source.result is not None
        alone = lone(first.source.result.items)
        words = self.words.below("people").given(raters=int(first["raters"]), lone=alone)
        fixed = self._rows(measure=of_groups(AGAINST_MAJORITY), scope=THESE)
        yield from levels_of(known, fixed, _SHARE, "50%", words.below("majority"))
        fixed = self._rows(measure=of_groups(MINUS_PEOPLE), scope=THESE)
        minus = self._rows(measure=MINUS_PEOPLE, scope="overall")
        yield from levels_of(minus, fixed, POINTS, "0", words.below("minus"))
        yield from self._agreement(first, words)

    def _agreement(self, line: Line, words: Text) -> Iterator[str]:
        """Yield the number of raters, their agreement, and one rater's agreement with the others."""
        lines = {each["measure"]: each for each in line.source.only(At(scope=("overall", THESE)))}
        some = {name: each for name, each in lines.items() if measured([each.row])}
        alpha = next((some[name] for name in ALPHAS.values() if name in some), None)
        raw = _SHARE.number(some[RAW].row) if RAW in some else ""
        if alpha is not None:
            yield words.get("agreement", raters=int(alpha["raters"]), alpha=_ALPHA.number(alpha.row), raw=raw)
        fixed = next((lines[name] for name in of_groups(CEILING) if name in lines), None)
        ceiling = fixed or lines.get(CEILING)
        if ceiling is not None and measured([ceiling.row]):
            over = _groups([ceiling.row], words, these=True) if fixed else ""
            yield words.get("ceiling", over=over, number=_SHARE.number(ceiling.row))


def _unequal(source: RowSource) -> int:
    at = At(measure=ACCURACY, scope="overall", split=UNEQUAL, normalise=FIRST)
    return sum(int(line["n"]) for line in source.only(at))


# Differences between models ------------------------------------------------------------------------------------------


def ordered(comparison: pl.DataFrame, words: Text) -> Iterator[str]:
    """Yield differences between models on a data set; if there are few groups, first for exactly these."""
    rows: list[dict[str, Any]] = []
    fixed: list[dict[str, Any]] = []
    for _, part in comparison.group_by(SIDES, maintain_order=True):
        row = _signed(_headline(part))
        rows.append(row)
        same = part.filter(scope=THESE, split=row["split"], normalise=row["normalise"])
        fixed += map(_signed, same.iter_rows(named=True))
    how = _points(all(row["split"] == EQUAL for row in rows), words)
    beside = replace(how, beside=lambda row: _apart(row, words))
    for group, these, shown in ((fixed, True, beside), (rows, False, how if fixed else beside)):
        if group and (order := differences(group, shown, words.get("higher"))):
            yield words.get("said", over=_groups(group, words, these=these), order=order)


def _points(equal: bool, words: Text) -> Shown:
    return replace(POINTS, noun=words.get("equal")) if equal else POINTS


def _signed(row: dict[str, Any]) -> dict[str, Any]:
    if Signature.parse(row["signature"]).get("acceptable") == "sent_less":  # accuracy then counts the other one
        return row | {"value": -row["value"], "low": -row["high"], "high": -row["low"]}
    return row


def _apart(row: Mapping[str, Any], words: Text) -> str:
    """Return a phrase with the numbers of pairs that only one of two models gets right, the larger number first."""
    counts = sorted((row["first_better"], row["second_better"]), reverse=True)
    return words.get("counts", more=counts[0], fewer=counts[1]) if counts[0] else ""


def _headline(part: pl.DataFrame) -> dict[str, Any]:
    """Return the main overall difference: if lengths differ, that for pairs of equal length under both models."""
    first = part.filter(pl.col("normalise") == part["normalise"][0])
    overall = first.filter(pl.col("scope") == "overall")
    shown = overall if len(overall) else first  # of one paradigm
    whole, equal = (shown.filter(pl.col("split") == split) for split in (ALL, EQUAL))
    return (equal if len(equal) and 0 < equal["n"][0] < whole["n"][0] else whole).row(0, named=True)
