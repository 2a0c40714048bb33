"""The finding of cloze valence: the lean of each model towards a variety, and the differences between two models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import polars as pl

from penchant.instruments.cloze.estimates import EVERYTHING, MEASURES, SHOWN, turns
from penchant.instruments.cloze.rater_agreement import ALPHA, SAMPLED
from penchant.instruments.comparison import difference
from penchant.records import BaseResult
from penchant.report.finding import MOST, across, differences, measured, outside, told, unclear
from penchant.report.item_browser import Joined
from penchant.stats.agreement import TENTATIVE
from penchant.views.rows import At, Line, RowSource, compared, sources
from penchant.wording.templates import Text

BETA, DELTA, MASS = MEASURES.values()
Said: TypeAlias = tuple[bool, str]
"""True for a clear result, and its sentence."""
LITTLE = 0.1
"""Share of the probability of rated words below which no lean is reported."""


def leaning(results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
    """Yield the sentences of the finding, with clear results before unclear ones.

    They are about the lean of each model by group and over all sentences, the differences between two models in β and
    in δ, and raters who agree too little.
    """
    words = text.below("prose", "finding")
    rated = [source for source in sources(results) if any(line["value"] > 0 for line in source.only(At(measure=MASS)))]
    found = list(_leans(rated, words))
    if comparison is not None and len(rated) == len(results):
        (source,) = compared(comparison)
        found += _compared(source, results, words)
    yield from (said for wanted in (True, False) for clear, said in found if clear is wanted)
    yield _doubt(rated, words)


class Lean:
    """The parts of a sentence about a mean β.

    There is no lean if little of the predicted probability is rated, since the rest counts as none. `more` is set if
    the lean is not clear for other raters, who are a sample like the sentences.
    """

    def __init__(self, line: Line, words: Text) -> None:
        mass, others = line.at(measure=MASS), line.at(measure=SAMPLED.format(BETA))
        self.row, self.group = line.row, line["group"]
        self.number, self.mean = SHOWN.number(line.row), SHOWN.number(line.row, n=False)
        self.mass = 0.0 if mass is None else mass["value"]
        self.tested = not math.isnan(line["low"])
        self.little = told(line.row) and self.mass < LITTLE
        self.clear = told(line.row) and not self.little
        self.end = words.facts["high" if line["value"] > 0 else "low"]
        by_these = self.clear and others is not None and not math.isnan(others["low"]) and not outside(others.row)
        self.more = words.get("others", number=SHOWN.number(others.row, n=False)) if by_these and others else ""


def _leans(found: Sequence[RowSource], words: Text) -> Iterator[Said]:
    """Yield the lean of each model: in each group, if there are several, and then over all sentences."""
    before = ""
    for source in found:
        assert source.result is not None
        lines = [line for line in source.only(At(measure=BETA)) if measured([line.row])]
        leans = {line["group"]: Lean(line, words) for line in lines}
        whole = leans.pop(EVERYTHING, None)
        own = words.given(model=source.model)
        if whole is None or not leans:
            for lean in [whole] if whole else leans.values():
                yield lean.clear, own.get("alone", lean=lean, leans=words.get("leans", lean=lean, group=""))
            continue
        items = source.result.items
        rated = items.drop_nulls("beta")
        mixture = _mixture(rated, words)
        clear = sorted((lean for lean in leans.values() if lean.clear), key=lambda lean: -abs(lean.row["value"]))
        said = own.get(
            "by-group",
            clear=[words.get("leans", lean=lean, group=lean.group) for lean in clear],
            open=unclear((group, lean.row) for group, lean in leans.items() if lean.tested),
            little=[group for group, lean in leans.items() if lean.little],
            untested=[group for group, lean in leans.items() if not lean.tested],
            least=LITTLE,
            rated=len(rated),
            of=len(items),
            whole=whole,
            mixture="" if mixture == before else mixture,
        )
        yield bool(clear), said
        before = mixture


def _mixture(items: pl.DataFrame, words: Text) -> str:
    sizes = items.group_by("group", maintain_order=True).len().rows()
    return words.get("mixture", groups=[f"{n} {group}" for group, n in sizes])


def _compared(source: RowSource, results: Sequence[BaseResult], words: Text) -> Iterator[Said]:
    """Yield the differences of β, then those of δ, each by group and then over all sentences.

    If sentences expect opposite ends, leaning towards one of them suits some and not the others, and a mean δ over all
    would cancel: it is then reported by group only, leaving out groups that expect both ends, which are named. Last
    come the differences of β that depend on `rated_only`.
    """
    joined = Joined.of([result.items for result in results])
    each = joined.each([result.items for result in results])
    shared = joined.items.filter(pl.all_horizontal(table["beta"].is_not_null() for table in each))
    ends = dict(joined.items.group_by("group", maintain_order=True).agg(pl.col("expected").sign().unique()).iter_rows())
    mixed = [group for group, signs in ends.items() if _both_ends(signs)]
    yield _by_group(source, BETA, list(ends), words, words.below("beta"))
    yield _overall(source, BETA, shared, words, words.below("beta"))
    yield _by_group(source, DELTA, [group for group in ends if group not in mixed], words, words.below("delta"))
    if not _both_ends(joined.items["expected"].sign().to_list()):
        yield _overall(source, DELTA, shared, words, words.below("delta"))
    if mixed:
        yield False, words.get("both-ends", groups=mixed)
    parts = list(turns(line.row for line in source.lines))
    if parts:
        yield False, words.get("turns", first=parts[:MOST], more=len(parts) - MOST)


def _both_ends(signs: Sequence[float]) -> bool:
    return {-1.0, 1.0} <= set(signs)


def _by_group(source: RowSource, measure: str, groups: Sequence[str], words: Text, own: Text) -> Said:
    """Return the groups in which two models differ; empty for more than two models, or for one group."""
    lines = [line for line in source.only(At(measure=difference(measure))) if line["group"] != EVERYTHING]
    pairs = {line.model for line in lines}
    if len(pairs) != 1 or len(lines) < 2:
        return False, ""
    rows = {line["group"]: line.row for line in lines if line["group"] in groups and measured([line.row])}
    untested = [group for group, row in rows.items() if math.isnan(row["low"])]
    tested = {group: row for group, row in rows.items() if group not in untested}
    words = words.below("across")
    said = across(tested.items(), SHOWN, words.get("noun"), words.get("what", of=own.get("what"), pair=pairs.pop()))
    more = words.get("untested", groups=untested) if said and untested else ""
    return any(map(told, tested.values())), "; ".join(filter(None, (said, more)))


def _overall(source: RowSource, measure: str, items: pl.DataFrame, words: Text, own: Text) -> Said:
    """Return the differences over all sentences, described as a mixture if there are several groups."""
    lines = [line for line in source.only(At(measure=difference(measure))) if line.at(group=EVERYTHING) in (None, line)]
    rows = measured(line.row for line in lines)
    said = differences(rows, SHOWN, own.get("higher"), own.get("what"))
    if said and items["group"].n_unique() > 1:
        said = words.get("overall", mixture=_mixture(items, words), said=said)
    return any(map(told, rows)), said


def _doubt(found: Sequence[RowSource], words: Text) -> str:
    """Return the sentence on models whose words' raters agree too little; empty if there are none."""
    alphas = {
        source.model: line["value"]
        for source in found
        for line in source.only(At(measure=ALPHA))
        if measured([line.row])
    }
    little = {model: value for model, value in alphas.items() if value < TENTATIVE}
    if not little:
        return ""
    ends = dict.fromkeys(f"{value:.2f}".replace("-", "−") for value in (min(little.values()), max(little.values())))
    models = [] if len(little) == len(alphas) else list(little)
    return words.get("doubt", alphas=list(ends), models=models, least=TENTATIVE)
