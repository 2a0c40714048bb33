"""The finding of cloze valence in words. Every number comes from a result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl

from penchant.instruments.cloze.agreeing import ALPHA
from penchant.instruments.cloze.compare import difference
from penchant.instruments.cloze.estimates import EVERYTHING, MEASURES, OVER_ALL, PER_RATED
from penchant.instruments.cloze.raters import SAMPLED
from penchant.records import Result
from penchant.report.finding import (
    MOST,
    NAMED,
    Shown,
    across,
    deciding,
    differences,
    listed,
    measured,
    outside,
    sentences,
    told,
    unclear,
)
from penchant.report.items import Joined
from penchant.report.tables import models
from penchant.stats.agreement import TENTATIVE

_Said: TypeAlias = tuple[bool, str]
"""Whether a sentence tells anything apart, and the sentence."""
_NUMBER = Shown("+.3f", "sentences")
LITTLE = 0.1
"""Where rated words hold less than this share of the probability, no lean is told."""


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """Towards which variety each model leans, in which groups and over all sentences; which leans more; which suits the
    sentences of which groups better; and whether raters agree too little for any of it. What can be told stands before
    what cannot."""
    low, _, high = results[0].signature["scale"].partition(" < ")
    before = ""
    leaning: list[_Said] = []
    for model, result in zip(models(results), results, strict=True):
        if _rated(result):
            over = _over(result.items)
            leaning += _leaning(model, result.summary, (low, high), over.partition(",")[0] if over == before else over)
            before = over
    said = _leans(leaning, results)
    if comparison is not None and all(map(_rated, results)):
        said += _compared(comparison, results, high)
    in_order = [text for wanted in (True, False) for clear, text in said if clear is wanted]
    return sentences(*in_order, _doubt([result for result in results if _rated(result)]))


def _leans(said: Sequence[_Said], results: Sequence[Result]) -> list[_Said]:
    """What is said of the models: a sentence each where there is much to say of one."""
    several = any((result.summary["group"] != EVERYTHING).any() for result in results)
    return list(said) if several else [(any(clear for clear, _ in said), "; ".join(text for _, text in said))]


def _over(items: pl.DataFrame) -> str:
    """What all sentences with a rated word are: a mixture of groups of a size that the author of the set chose."""
    rated = items.filter(pl.col("beta").is_not_null())
    which = f"all {len(items)} sentences"
    if len(rated) < len(items):
        which = f"the {len(rated)} of {len(items)} sentences with a rated word"
    return f"over {which}, {_mixture(rated)}"


def _mixture(items: pl.DataFrame) -> str:
    sizes = items.group_by("group", maintain_order=True).len().rows()
    named = [f"{n} {group}" for group, n in sizes] if len(sizes) <= NAMED else [f"{len(sizes)} groups"]
    return f"a mixture of {listed(named)}"


def _doubt(results: Sequence[Result]) -> str:
    """What is said where the raters of some models' words agree too little; empty where they agree."""
    alphas = {
        model: row["value"]
        for model, result in zip(models(results), results, strict=True)
        for row in measured(result.summary.filter(pl.col("measure") == ALPHA).iter_rows(named=True))
    }
    little = {model: value for model, value in alphas.items() if value < TENTATIVE}
    if not little:
        return ""
    ends = dict.fromkeys(f"{value:.2f}".replace("-", "−") for value in (min(little.values()), max(little.values())))
    whose = "" if len(little) == len(alphas) else f" over the words of {listed(list(little))}"
    return (
        f"All this stands on raters who agree too little for even tentative conclusions: Krippendorff's ordinal α is "
        f"{' to '.join(ends)}{whose}, and {TENTATIVE} is asked for"
    )


def _rated(result: Result) -> bool:
    """Whether any word that the model predicts is rated; else β is 0 without anything having been measured."""
    return any(row["value"] > 0 for row in measured(_whole(result.summary, MEASURES["rated_mass"])))


def _whole(frame: pl.DataFrame, measure: str) -> list[dict[str, Any]]:
    """The rows over all sentences, which are those of the only group where there is one."""
    rows = frame.filter(pl.col("measure") == measure)
    whole = rows.filter(pl.col("group") == EVERYTHING)
    return (whole if len(whole) else rows).to_dicts()


def _leaning(model: str, summary: pl.DataFrame, ends: tuple[str, str], over: str) -> list[_Said]:
    """Where the model leans: in each group, where there are several, and then over all sentences."""
    rows = {row["group"]: row for row in measured(_of(summary, MEASURES["beta"]))}
    whole = rows.pop(EVERYTHING, None)
    leans = {group: _Lean(group, row, summary) for group, row in rows.items()}
    if whole is None or not leans:
        alone = [_Lean(EVERYTHING, whole, summary)] if whole else list(leans.values())
        return [
            (lean.clear, f"{model} {lean.verb(ends)} (mean β {_NUMBER.number(lean.row)}{lean.more})") for lean in alone
        ]
    clear = sorted((lean for lean in leans.values() if lean.clear), key=lambda lean: -abs(lean.row["value"]))
    parts = [f"{lean.verb(ends)} in {lean.group} (mean β {_NUMBER.number(lean.row)}{lean.more})" for lean in clear]
    texts = [", ".join(parts)] if clear else []
    open_ = unclear((group, lean.row) for group, lean in leans.items() if lean.tested)
    if open_:
        cannot = "it cannot be told apart from 0" if clear else f"cannot be told to lean towards {ends[0]} or {ends[1]}"
        texts.append(f"{cannot} in {_groups(open_)}")
    little = [group for group, lean in leans.items() if lean.apart and not lean.clear]
    if little:
        cannot = "nor " if open_ else f"{'it ' * bool(clear)}cannot be told to lean anywhere "
        texts.append(f"{cannot}in {_groups(little)}, where rated words hold under {LITTLE:.0%} of the probability")
    untested = [group for group, lean in leans.items() if not lean.tested]
    if untested:
        texts.append(f"{'' if texts else 'has '}no interval in {_groups(untested)}, of which nothing is tested")
    mean = _NUMBER.number(whole, n=f" {whole['n']} " not in over)
    text = f"{model} {'; '.join(texts)}; {over}, its mean β is {mean}{_Lean(EVERYTHING, whole, summary).more}"
    return [(bool(clear), text)]


def _groups(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= NAMED else f"{len(names)} groups"


class _Lean:
    """What can be told of a mean β: nothing of a lean where little of what the model predicts is rated, since the rest
    counts as none; and whether it holds for other raters, who are a sample as sentences are."""

    def __init__(self, group: str, row: Mapping[str, Any], summary: pl.DataFrame) -> None:
        self.group, self.row = group, row
        mass, *_ = [r["value"] for r in _of(summary, MEASURES["rated_mass"]) if r["group"] == group]
        sampled = [r for r in _of(summary, SAMPLED.format(MEASURES["beta"])) if r["group"] == group]
        self.apart, self.mass = told(row), mass
        self.by_these = [r for r in sampled if not math.isnan(r["low"]) and not outside(r)][:1] if self.clear else []

    @property
    def tested(self) -> bool:
        """Whether there is an interval; one sentence has none."""
        return not math.isnan(self.row["low"])

    @property
    def clear(self) -> bool:
        """Whether a lean is told."""
        return self.apart and self.mass >= LITTLE

    @property
    def more(self) -> str:
        """What is said of other raters."""
        return "".join(
            f"; with raters sampled, {_NUMBER.number(row, n=False)}: by others it need not" for row in self.by_these
        )

    def verb(self, ends: tuple[str, str]) -> str:
        """Where the model leans."""
        if self.apart and not self.clear:
            return f"cannot be told to lean anywhere: the rated words hold {self.mass:.0%} of the probability"
        if not self.tested:
            return "has no interval, so that nothing is tested"
        if not self.clear:
            return f"cannot be told to lean towards {ends[0]} or {ends[1]}"
        return f"leans towards {ends[self.row['value'] > 0]}{' by these raters' if self.by_these else ''}"


def _of(frame: pl.DataFrame, measure: str) -> list[dict[str, Any]]:
    return frame.filter(pl.col("measure") == measure).to_dicts()


def _compared(comparison: pl.DataFrame, results: Sequence[Result], high: str) -> list[_Said]:
    """The differences of β, then those of δ, each by group and then over all. Where sentences call for opposite ends,
    leaning towards one of them suits some and not the others, and a mean δ over all would cancel: it is then told by
    group only, and of no group that itself holds both ends, which is said. Last, where the difference of β turns on
    `renormalise`."""
    joined = Joined.of([result.items for result in results])
    items = joined.items
    each = joined.each([result.items for result in results])
    shared = items.filter(pl.all_horizontal(table["beta"].is_not_null() for table in each))
    beta, delta = (difference(MEASURES[column]) for column in ("beta", "delta"))
    ends = dict(items.group_by("group", maintain_order=True).agg(pl.col("expected").sign().unique()).iter_rows())
    mixed = [group for group, of in ends.items() if _both_ends(of)]
    texts = _by_group(comparison, beta, "mean β", list(ends))
    texts.append(_overall(comparison, beta, f"leans more towards {high} than", "mean β", shared))
    texts += _by_group(comparison, delta, "mean δ", [group for group in ends if group not in mixed])
    if not _both_ends(items["expected"].sign().unique().to_list()):
        texts.append(_overall(comparison, delta, "suits the sentences better than", "mean δ", shared))
    if mixed and _whole(comparison, delta):
        of_delta = f"No difference of δ is told in {_groups(mixed)}, where sentences call for both ends of the scale"
        texts.append((False, of_delta))
    return [*texts, *_turning(comparison, beta)]


def _turning(comparison: pl.DataFrame, beta: str) -> list[_Said]:
    """Where one choice of `renormalise` tells a difference of β and the other does not, or the opposite one."""
    parts = []
    for name in (PER_RATED, OVER_ALL):
        others = {(row["comparison"], row["group"]): row for row in _of(comparison, name.format(beta))}
        for row in measured(_of(comparison, beta)):
            other = others.get((row["comparison"], row["group"]))
            if other is None or math.isnan(deciding(row) + deciding(other)) or _side(row) == _side(other):
                continue
            over_all, per_rated = (other, row) if name == OVER_ALL else (row, other)
            numbers = [_NUMBER.number(each, n=False) for each in (over_all, per_rated)]
            place = "over all sentences" if row["group"] == EVERYTHING else f"in {row['group']}"
            parts.append(f"{row['comparison']} {place} {numbers[0]} over all probability, {numbers[1]} per rated one")
    more = [f"{len(parts) - MOST} more in the table"] if len(parts) > MOST else []
    listing = "; ".join([*parts[:MOST], *more])
    return [(False, f"What is told of mean β turns on whether unrated words count: {listing}")] if parts else []


def _side(row: Mapping[str, Any]) -> int:
    """−1 or 1 where an estimate is told to be below or above 0, else 0."""
    return (1 if row["value"] > 0 else -1) * told(row)


def _overall(comparison: pl.DataFrame, measure: str, higher: str, what: str, items: pl.DataFrame) -> _Said:
    """The differences over all sentences, which are said to be a mixture where there are several groups."""
    rows = _whole(comparison, measure)
    text = differences(rows, _NUMBER, higher, what=what)
    several = (comparison.filter(pl.col("measure") == measure)["group"] != EVERYTHING).any()
    over = f"Over all sentences, {_mixture(items)}, " if text and several else ""
    return any(map(told, measured(rows))), f"{over}{text}"


def _both_ends(signs: Sequence[float]) -> bool:
    return {-1.0, 1.0} <= set(signs)


def _by_group(comparison: pl.DataFrame, measure: str, what: str, groups: Sequence[str]) -> list[_Said]:
    """The groups in which two models differ; nothing where there are more than two models, or one group."""
    rows = comparison.filter((pl.col("measure") == measure) & (pl.col("group") != EVERYTHING))
    pairs = rows["comparison"].unique().to_list()
    if len(pairs) != 1 or rows["group"].n_unique() < 2:
        return []
    known = [row for row in measured(rows.iter_rows(named=True)) if row["group"] in groups]
    tested = [row for row in known if not math.isnan(row["low"])]
    text = across(((row["group"], row) for row in tested), _NUMBER, "groups", f"Difference of {what}, {pairs[0]}")
    untested = [row["group"] for row in known if math.isnan(row["low"])]
    if text and untested:
        text += f"; it has no interval in {_groups(untested)}, where nothing is tested"
    return [(any(map(told, tested)), text)]
