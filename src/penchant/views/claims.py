"""Declarative claims: the questions that an instrument answers, and the verdicts on them.

The text of a claim is in `text.yaml` under `claims`: its `question`, and a sentence without a full stop for each
verdict: `above` and `below` for yes, with a value above or below the null, `within` for no, `missing` for not measured.
For the verdict cannot tell, `whether` is the clause after "It is unclear whether"; `unclear`, if present, replaces the
sentence. `place` is the phrase for the level, such as a group, that a verdict is about; it can use `place` (the level),
`direction` (above, below or ""; always "" for pairs of models), `again` (true if the sentence has named the level
before) and the claim's facts. `after` is the phrase that follows an estimate; it can use the claim's facts. `next` is
the command to continue with if nothing was measured.

Sentences can use `who` (the models), `s` (the verb ending if there is one model), `each` (the estimates), `place` and
`places` (the phrases for the first level and for all levels), `margin` (the smallest effect of interest), `slight`
(true if all effects are smaller than the margin), `count` and `of` (the number of estimates in the sentence, and of all
estimates for its models), and for pairs of models `more` and `less` (the model with the larger and the smaller value).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import polars as pl

from penchant.plurals import counted
from penchant.records import SIDES, BaseResult
from penchant.report.significance import Estimated, Shown, at_odds, is_rough, measured, told
from penchant.report.tables import fewest, is_few
from penchant.report.verdicts import CANNOT_TELL, KINDS, NO, NOT_MEASURED, YES, Answer, Verdict
from penchant.stats.equivalence import detectable
from penchant.views.row_selection import At, Line, RowSource, compared, sources
from penchant.wording.phrases import Method, read_method
from penchant.wording.templates import Text, named

MISSING = "missing"
"""The key of the text for a claim on which nothing was measured."""
MOST = 3
"""The maximum number of estimates in a sentence; the others are only counted."""
FARTHEST = 100
"""The largest ratio of needed items to available items for which the needed number is reported."""
Rows: TypeAlias = Callable[[Sequence[RowSource]], Iterable[Line]]
"""A function that selects the rows of a claim."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A question that estimates answer for each model or, if `compared`, for each pair of models.

    `at` selects the estimates; estimates without a value are skipped unless there is a text `missing`. `margin`, a
    number or a function that returns it, is the smallest effect of interest: the distance from `shown.null`, in the
    unit of the estimates, below which an effect does not matter. `place` is a column whose levels get verdicts of their
    own, or a function that returns the level. If `alone`, each model has its own sentences. Given an estimate and all
    results, `barred` returns the key of the text that says why the estimate cannot decide the claim ("missing" if
    nothing was measured), or "" if it can. `facts` returns further variables for the phrases on an estimate, and for
    sentences, where a variable is "" unless all estimates of the sentence agree on it. If the fact `mixed` is true, no
    needed number of items is reported. `figure` is as in `Answer`.
    """

    name: str
    at: At | Rows
    shown: Shown
    margin: float | Callable[[Line], float]
    compared: bool = False
    place: str | Callable[[Line], str] = ""
    figure: str = ""
    alone: bool = False
    barred: Callable[[Line, Sequence[BaseResult]], str] = lambda line, results: ""
    facts: Callable[[Line, Sequence[BaseResult]], Mapping[str, Any]] = lambda line, results: {}

    def answer(self, found: Sequence[RowSource], results: Sequence[BaseResult], text: Text) -> Answer | None:
        """Return the answer from the estimates or differences in `found`, or None if none is about the claim."""
        words = text.below("claims", self.name)
        verdicts = list(self._verdicts(found, results, missing=words.has(MISSING)))
        if not verdicts:
            return None
        each = tuple(replace(verdict, sentence=self._sentence([verdict], verdicts, words)) for verdict in verdicts)
        lacking = any(verdict.kind == NOT_MEASURED for verdict in verdicts)
        command = words.get("next") if lacking else ""
        return Answer(
            self.name, words.get("question"), list(self._sentences(each, words)), each, command, self.shown, self.figure
        )

    def _verdicts(
        self, found: Sequence[RowSource], results: Sequence[BaseResult], *, missing: bool
    ) -> Iterator[Verdict]:
        at = self.at
        for line in [line for source in found for line in source.only(at)] if isinstance(at, At) else at(found):
            models = tuple(str(line[side]) for side in SIDES) if self.compared else (line.model,)
            margin = self.margin(line) if callable(self.margin) else self.margin
            kind, margin = judged(line.row, self.shown, margin)
            barred = self.barred(line, results) or (MISSING if kind == NOT_MEASURED else "")
            if barred == MISSING and not missing:
                continue
            if barred:
                kind = NOT_MEASURED if barred == MISSING else CANNOT_TELL
            place = self.place(line) if callable(self.place) else str(line[self.place]) if self.place else ""
            side = "" if kind != YES else "above" if line["value"] > self.shown.null else "below"
            facts = self.facts(line, results)
            open_ = kind == CANNOT_TELL and not (barred or facts.get("mixed"))
            need = needed(line.row, self.shown, margin) if open_ and not at_odds(line.row, self.shown.null) else ""
            yield Verdict(self.name, kind, models, place, line.row, margin, need, barred, side, facts=facts)

    def _sentences(self, verdicts: Sequence[Verdict], words: Text) -> Iterator[str]:
        """Yield a sentence for each group of verdicts that agree, clear verdicts first.

        If `alone`, each model has its own sentences, but models that lack answers at the same levels share one.
        """
        groups: dict[tuple[object, ...], list[Verdict]] = {}
        for verdict in verdicts:
            named = verdict.models if self.alone or (self.compared and verdict.kind == YES) else ()
            groups.setdefault((KINDS.index(verdict.kind), named, verdict.direction, verdict.barred), []).append(verdict)
        if self.alone:
            for key, group in list(groups.items()):
                if group[0].kind == NOT_MEASURED or (not key[3] and self._too_few(group)):
                    levels = tuple(verdict.place for verdict in group)
                    groups.setdefault((key[0], (), levels, key[3]), []).extend(groups.pop(key))
        order = list(dict.fromkeys(named for _, named, *_ in groups)) if self.alone else []
        for key in sorted(groups, key=lambda key: (order.index(key[1]) if order else 0, str(key[0]))):
            yield self._sentence(groups[key], verdicts, words)

    def _sentence(self, verdicts: Sequence[Verdict], every: Sequence[Verdict], words: Text) -> str:
        first = verdicts[0]
        ranked = sorted(verdicts, key=lambda verdict: -self._size(verdict)) if len(verdicts) > MOST else verdicts
        models = list(dict.fromkeys(" − ".join(verdict.models) for verdict in verdicts))
        alike, missing = {verdict.models for verdict in verdicts}, first.kind == NOT_MEASURED
        shared = {
            key: fact if all(verdict.facts.get(key) == fact for verdict in verdicts) else ""
            for key, fact in first.facts.items()
        }
        facts = {
            **shared,
            "who": named(models, MOST),
            "s": "s" if len(models) == 1 else "",
            "place": self._placed(first, words),
            "places": named(list(dict.fromkeys(self._placed(each, words) for each in verdicts if each.place)), MOST),
            "count": len(verdicts),
            "of": sum(verdict.models in alike and (verdict.kind == NOT_MEASURED) == missing for verdict in every),
            "each": self._each(ranked, len(models) > 1, words),
            "margin": self.shown.amount(first.margin),
            "slight": all(self._size(verdict) < verdict.margin for verdict in verdicts),
            "row": first.row or {},
            "it": "In other comparisons it" if self._settled(verdicts, every) else "It",
        }
        if self.compared:
            less, more = first.models if first.direction == "below" else reversed(first.models)
            facts |= {"more": more, "less": less}
        needs = [verdict.needed for verdict in ranked if verdict.needed]
        of_one_noun = [each for each in needs if each.partition(" ")[2] == needs[0].partition(" ")[2]]
        most = max(of_one_noun, key=_number, default="")
        need = f" About {most} would be needed to show an effect as small as {facts['margin']}." if most else ""
        return f"{self._said(verdicts, words.given(**facts))}.{need}"

    def _said(self, verdicts: Sequence[Verdict], words: Text) -> str:
        first = verdicts[0]
        if first.barred:
            return words.get(first.barred)
        if first.kind == NO:
            return words.get("within")
        if first.kind == YES:
            return words.get(first.direction) or words.get("above")
        whether, noun = words.get("whether"), self.shown.noun
        if self._too_few(verdicts):
            n = [fewest(verdict.row) for verdict in verdicts if verdict.row]
            return f"Too few {noun} to say whether {whether} ({self._counts(n)})"
        return words.get("unclear") or f"{words.facts['it']} is unclear whether {whether}: {words.facts['each']}"

    def _too_few(self, verdicts: Sequence[Verdict]) -> bool:
        """Return whether all verdicts are "cannot tell" because their estimates have too few items."""
        open_ = all(verdict.kind == CANNOT_TELL for verdict in verdicts)
        return open_ and all(self.shown.too_few(verdict.row) for verdict in verdicts if verdict.row)

    def _settled(self, verdicts: Sequence[Verdict], every: Sequence[Verdict]) -> bool:
        """Return whether all models of `verdicts` have a clear verdict in `every`; false for pairs of models."""
        clear = {verdict.models for verdict in every if verdict.kind in (YES, NO)}
        return not self.compared and clear.issuperset(verdict.models for verdict in verdicts)

    def _size(self, verdict: Verdict) -> float:
        return 0 if verdict.row is None else abs(verdict.row["value"] - self.shown.null)

    def _each(self, verdicts: Sequence[Verdict], several: bool, words: Text) -> str:
        """Describe the first estimates, with levels (such as groups) and, if `several`, models; count the others."""
        known = [(verdict, self._shown_row(verdict)) for verdict in verdicts if verdict.row and measured([verdict.row])]
        most = len(known) if len(known) <= MOST + 1 else MOST if verdicts[0].kind == YES else 1
        parts = []
        told: set[str] = set()
        for verdict, row in known[:most]:
            place = self._placed(verdict, words, again=verdict.place in told)
            told.add(verdict.place)
            name = " − ".join(verdict.models) if several else ""
            after = words.get("after", **verdict.facts)
            number = self.shown.number(row, n=False, rough=False) + (after if after[:1] in {"", ","} else f" {after}")
            parts.append(" ".join(filter(None, [name, place, number])))
        rest = len(known) - most
        parts += [f"{rest} more" if most > 1 else f"the other {rest} are {self._nearer()}"] if rest > 0 else []
        of = [self._counts([int(row["n"]) for _, row in known])] if known else []
        of += ["approximate"] if any(is_rough(row) for _, row in known[:most]) else []
        return ", ".join(parts) + (f" ({', '.join(of)})" if of else "")

    def _counts(self, n: Sequence[int]) -> str:
        if len(n) == 2 and n[0] != n[1]:
            return f"{n[0]} and {counted(n[1], self.shown.noun)}"
        if min(n) < max(n):
            return f"{min(n)} to {counted(max(n), self.shown.noun)}"
        return f"{counted(n[0], self.shown.noun)}{' each' if len(n) > 1 else ''}"

    def _nearer(self) -> str:
        null = self.shown.null
        return f"closer to {null * self.shown.scale:g}{self.shown.unit}" if null else "smaller"

    def _placed(self, verdict: Verdict, words: Text, *, again: bool = False) -> str:
        """Return the phrase for the level, such as a group, that a verdict is about.

        `again` is true if the sentence has named the level before.
        """
        direction = "" if self.compared else verdict.direction
        known = {"place": verdict.place, "direction": direction, "again": again, **verdict.facts}
        return words.get("place", **known) or ("" if again and words.has("place") else verdict.place)

    def _shown_row(self, verdict: Verdict) -> Estimated:
        """Return the estimate for display; the sign of a clear difference between models is reversed if negative."""
        row = verdict.row or {}
        if not self.compared or verdict.direction != "below":
            return row
        return {**row, "value": -row["value"], "low": -row["high"], "high": -row["low"]}


def _number(needed: str) -> int:
    return int(needed.split()[0].replace(",", ""))


def judged(row: Estimated, how: Shown, margin: float) -> tuple[str, float]:
    """Return the verdict on an estimate, and the smallest effect of interest that it was judged by.

    The verdict is "not measured" if the estimate has no value. It is "no" if the interval lies within the margin around
    the null or, if a difference has an equivalence bound, if the interval of two one-sided tests lies within the bound.
    Otherwise, it is "yes" if interval and adjusted p-value show a difference from the null, else "cannot tell".
    """
    low, high = row["low"], row["high"]
    if (bound := row.get("bound", math.nan)) == bound:
        margin, low, high = bound, row["low_bound"], row["high_bound"]
    if not measured([row]):
        return NOT_MEASURED, margin
    if not is_few(row) and how.null - margin < low and high < how.null + margin:
        return NO, margin
    return YES if told(row, how.null) else CANNOT_TELL, margin


def needed(row: Estimated, how: Shown, margin: float) -> str:
    """Return the number of items needed to show an effect of size `margin` in 80% of studies, such as "150 pairs".

    For an estimate over a sample of groups, the number of groups is returned; for one over several crossed samples, a
    factor, as in "3 times as many items of each kind". The result is "" if the number is unknown, no larger than the
    available number, or more than `FARTHEST` times as large.
    """
    if math.isnan(row["low"]) or row["high"] <= row["low"] or is_few(row):
        return ""
    method = read_method(row["method"] or "")
    factor = (detectable(row["low"], row["high"], row["level"]) / margin) ** 2
    if not 1 < factor <= FARTHEST:
        return ""
    if method is not None and method.params.get("over"):
        return f"{math.ceil(factor)} times as many items of each kind"
    n, noun = _groups(method) or (int(row["n"]), how.noun)
    digits = 10 ** max(0, math.floor(math.log10(factor * n)) - 1)
    return counted(math.ceil(factor * n / digits) * digits, noun)


def _groups(method: Method | None) -> tuple[int, str] | None:
    """Return the number of groups that a method treats as a sample and their noun, or None if there are none."""
    while method is not None:
        if (n := method.params.get("clusters")) and (noun := method.params.get("noun")):
            return n, noun
        inner = method.params.get("within")
        method = inner if isinstance(inner, Method) else None
    return None


def answers(
    claims: Iterable[Claim], results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text
) -> list[Answer]:
    """Return an answer for each claim for which there are estimates or, if the claim compares models, differences."""
    estimates, differences = sources(results), [] if comparison is None else compared(comparison)
    asked = [claim for claim in claims if comparison is not None or not claim.compared]
    every = (claim.answer(differences if claim.compared else estimates, results, text) for claim in asked)
    return [answer for answer in every if answer is not None]
