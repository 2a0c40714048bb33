"""The log-probability bias score: how much more probable an attribute makes a target.

In a sentence with a target and an attribute, fill is the log-probability of the target where it is masked, prior the
same with the attribute masked too; their difference is the corrected score (Kurita et al. 2019). Aggregated over the
targets of two sets it tells, for every attribute, towards which of them the model leans; an effect size compares the
attributes of two sets. Sentences come in structures of growing context (Sadhu et al. 2024).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from penchant.data.matching import Matcher
from penchant.data.stimuli import Category, WordList
from penchant.engine.scorer import Scorer, SpanScore, language_model
from penchant.errors import DataError, MethodError
from penchant.probes.association import FAMILY, Association
from penchant.probes.association_summary import EFFECT, Cell, Settings, Stimuli, effect, lost_words, towards, with_holm
from penchant.probes.base import Model, Run
from penchant.records import Estimate, Result, Signature, summary_table
from penchant.stats.calibration import expanded_interval
from penchant.stats.sampled_effects import Sides, resampled_contrasts

EVERY = "all"
SCORES = ("fill", "prior", "corrected")
ASSOCIATION = "association"


def difference(score: str) -> str:
    """The name of the estimate: the mean score of the first set of targets minus that of the second."""
    return f"difference of {score} scores"


class LogProbBias(Association):
    """The log-probability bias score of masked models.

    `run` gives items (one row a sentence: fill, prior and corrected score of its target) and a summary: for every
    category and structure of sentences the effect size over attributes, the differences of fill, prior and corrected
    scores between the two sets of targets, and every attribute's own association. A word that stands twice in a list,
    where that is allowed, counts once.
    """

    name: ClassVar[str] = "logprob-bias"
    kinds: ClassVar[tuple[str, ...]] = ("masked",)
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"first-piece": {"pieces": "first"}}

    pieces: Literal["all", "first"] = "all"
    """A word of m pieces has m masks, whose log-probabilities are summed; `first` has one mask, read for the first
    piece, as older code does."""

    def chosen(self, base: Sequence[Path] = (Path(),)) -> tuple[Category, ...]:
        """The categories that have contexts, or those asked for. Raises DataError for one that has none."""
        found = super().chosen(base)
        kept = tuple(category for category in found if category.contexts)
        for category in found:
            if not category.contexts and (not kept or self.categories is not None):
                raise DataError("has no contexts", where=category.place, hint="see penchant schema stimuli")
            if category.paired and (word := _twice(category)):
                raise DataError(
                    f"'{word}' stands twice in a list of pairs", where=category.place, hint="leave one of its pairs out"
                )
        return kept

    def run(self, model: Model, run: Run | None = None) -> Result:
        """Score every sentence with one model and summarise."""
        run = run or Run()
        lm = language_model(model)
        if lm.kind != "masked":
            raise MethodError(f"logprob-bias is for masked models and {lm.name} is {lm.kind}")
        given, categories = self.stimuli(run.base), self.chosen(run.base)
        signature = self.signature(lm, given, pieces=self.pieces)
        total = sum(map(_size, categories))
        scorer = Scorer(
            lm, cache=run.cache, batch_tokens=run.batch_tokens, progress=lambda done: run.progress(done / 2, total)
        )
        found: dict[str, Stimuli] = {}
        tables = []
        try:
            for category in categories:
                found[category.id] = _present(category, scorer, self.max_missing)
                tables.append(_scored(category, found[category.id], scorer, self.pieces))
        finally:
            run.counts = scorer.counts
            scorer.close()
        items = pl.concat(tables)
        estimates = summarise(items, categories, found, signature)
        where = f"the vocabulary of {lm.name}" + (
            ", or their pairs are not" if any(c.paired for c in categories) else ""
        )
        cautions = [*self._left_out(run.base), *lost_words(found, where), *_cautions(items)]
        return Result(signature, items, summary_table((row, signature) for row in estimates), tuple(cautions))

    def _left_out(self, base: Sequence[Path]) -> Iterator[str]:
        bare = [category.id for category in super().chosen(base) if not category.contexts]
        if bare:
            yield f"{len(bare)} categories have no contexts and are left out: {', '.join(bare)}"


def _twice(category: Category) -> str | None:
    """A word that stands twice in one of the lists that fill the target slot."""
    return next((word for part in _slots(category)[1][:2] for word in part.words if part.words.count(word) > 1), None)


def _slots(category: Category) -> tuple[tuple[str, ...], tuple[WordList, ...]]:
    """The sets and lists that fill the target slot, then those that fill the attribute slot."""
    if category.target == "targets":
        return ("X", "Y", "A", "B"), (category.x, category.y, category.a, category.b)
    return ("A", "B", "X", "Y"), (category.a, category.b, category.x, category.y)


def _size(category: Category) -> int:
    lists = _slots(category)[1]
    return (
        len(category.contexts)
        * (len(lists[0].words) + len(lists[1].words))
        * (len(lists[2].words) + len(lists[3].words))
    )


def _present(category: Category, scorer: Scorer, max_missing: float) -> Stimuli:
    """The words that the model can read in every sentence; of pairs, both or none."""
    lists = _slots(category)[1]
    words = [[*lists[0].words, *lists[1].words], [*lists[2].words, *lists[3].words]]
    asked: list[tuple[str, tuple[str, tuple[int, int], str]]] = []
    for context in category.contexts:
        for slot, (own, other) in enumerate((words, words[::-1])):
            for word in own:
                text, *spans = context.sentence(word, other[0]) if slot == 0 else context.sentence(other[0], word)
                asked.append((word, (text, spans[slot], category.place)))
    why = scorer.usable(place for _, place in asked)
    lost = {word for (word, _), reason in zip(asked, why, strict=True) if reason}
    if category.paired:
        for one, other_word in zip(lists[0].words, lists[1].words, strict=True):
            if {one, other_word} & lost:
                lost |= {one, other_word}
    return Stimuli.of(category, {*words[0], *words[1]} - lost, max_missing)


def _scored(category: Category, stimuli: Stimuli, scorer: Scorer, pieces: Literal["all", "first"]) -> pl.DataFrame:
    """One row for every sentence of a category."""
    sides, _ = _slots(category)
    sets = dict(zip("XYAB", stimuli.sets, strict=True))
    targets = list(dict.fromkeys((side, word) for side in sides[:2] for word in sets[side]))
    attributes = list(dict.fromkeys((side, word) for side in sides[2:] for word in sets[side]))
    rows: list[dict[str, Any]] = []
    places = []
    leaking = Matcher({word: [word] for _, word in attributes})
    for number, context in enumerate(category.contexts):
        rest = context.text.replace("{target}", " ").replace("{attribute}", " ")
        leaks = {match.word for match in leaking.find(rest)}
        for attribute_side, attribute in attributes:
            for target_side, target in targets:
                text, at, other = context.sentence(target, attribute)
                places += [(text, at, (), category.place), (text, at, (other,), category.place)]
                rows.append(
                    {
                        "id": f"{category.id} {context.structure}.{number} {target} {attribute}",
                        "category": category.id,
                        "label": category.label,
                        "context": context.structure,
                        "template": context.text,
                        "target": target,
                        "target_side": target_side,
                        "attribute": attribute,
                        "attribute_side": attribute_side,
                        "paired": category.paired,
                        "sentence": text,
                        "leaks": attribute in leaks or attribute == target,
                    }
                )
    scores = scorer.masked(places, pieces=pieces)
    for row, (fill, prior) in zip(rows, _by_two(scores), strict=True):
        row |= {
            "fill": fill.score,
            "prior": prior.score,
            "corrected": fill.score - prior.score,
            "tokens": fill.n,
            "reaches": fill.reaches,
            "pieces": list(fill.tokens),
            "logprobs_fill": _listed(fill),
            "logprobs_prior": _listed(prior),
        }
    schema: dict[str, Any] = {
        **dict.fromkeys(("id", "category", "label", "context", "template", "target", "target_side"), pl.String),
        **dict.fromkeys(("attribute", "attribute_side"), pl.String),
        "paired": pl.Boolean,
        "sentence": pl.String,
        "leaks": pl.Boolean,
        **dict.fromkeys(SCORES, pl.Float64),
        "tokens": pl.Int64,
        "reaches": pl.Boolean,
        "pieces": pl.List(pl.String),
        **dict.fromkeys(("logprobs_fill", "logprobs_prior"), pl.List(pl.Float32)),
    }
    return pl.DataFrame(rows, schema=schema)


def _by_two(scores: Iterator[SpanScore]) -> Iterator[tuple[SpanScore, SpanScore]]:
    return zip(scores, scores, strict=True)


def _listed(score: SpanScore) -> list[float | None]:
    return [None if math.isnan(value) else value for value in score.token_logprobs.tolist()]


def summarise(
    items: pl.DataFrame, categories: Sequence[Category], found: Mapping[str, Stimuli], signature: Signature
) -> list[Estimate]:
    """All estimates of scored sentences; needs no model."""
    settings = Settings.of(signature)
    rows: list[Estimate] = []
    for category in categories:
        own, stimuli = items.filter(pl.col("category") == category.id), found[category.id]
        if not all(stimuli.sets):
            rows += _nothing(category, stimuli, settings)
            continue
        for cells, words in contexts(own):
            rows.append(effect(cells["corrected"], settings, note=stimuli.note))
            rows += _differences(cells, words, settings)
            rows += _associations(cells["corrected"], words, settings)
    return with_holm(rows, EFFECT, FAMILY)


def _nothing(category: Category, stimuli: Stimuli, settings: Settings) -> Iterator[Estimate]:
    """The estimates of a category that lacks a whole list."""
    for structure in _structures([context.structure for context in category.contexts]):
        by = _by(category.id, category.label, structure)
        yield Estimate(EFFECT, math.nan, 0, level=settings.level, note=stimuli.note or "a list is empty", by=by)


def _by(category: str, label: str, structure: str) -> dict[str, str]:
    return {"category": category, "label": label, "layer": "", "context": structure, "side": "", "stimulus": ""}


def _structures(of_templates: Sequence[str]) -> tuple[str, ...]:
    """The structures of some templates, and what stands for all of them together if they are several."""
    found = tuple(dict.fromkeys(of_templates))
    return (*found, EVERY) if len(found) > 1 else found


def contexts(items: pl.DataFrame) -> Iterator[tuple[dict[str, Cell], list[tuple[str, str]]]]:
    """For every structure of one category, and for all, a cell of each score, attributes down and targets across, and
    the attributes with their sides."""
    if not len(items):
        return
    attributes = items.select("attribute_side", "attribute").unique(maintain_order=True).rows()
    targets = items.select("target_side", "target").unique(maintain_order=True).rows()
    rows, columns = _sides(attributes), _sides(targets)
    label, paired = items["label"][0], bool(items["paired"][0])
    if min(len(sides.units(side)) for sides in (rows, columns) for side in (0, 1)) == 0:
        return
    for structure in _structures(items["context"].to_list()):
        own = items if structure == EVERY else items.filter(pl.col("context") == structure)
        shape = (-1, len(attributes), len(targets))
        by = _by(items["category"][0], label, structure)
        yield (
            {
                score: Cell(by, own[score].to_numpy().reshape(shape).mean(axis=0)[None], rows, columns, paired)
                for score in SCORES
            },
            attributes,
        )


def _sides(stimuli: Sequence[tuple[str, str]]) -> Sides:
    first = stimuli[0][0]
    return Sides.of(
        [word for side, word in stimuli if side == first], [word for side, word in stimuli if side != first]
    )


def _differences(cells: Mapping[str, Cell], words: Sequence[tuple[str, str]], settings: Settings) -> Iterator[Estimate]:
    """For every score its mean over the first set of targets minus that over the second, over the attributes of each
    set."""
    cell = cells[SCORES[0]]
    draws = resampled_contrasts(
        np.stack([cells[score].tables[0] for score in SCORES]),
        cell.rows,
        cell.columns,
        seed=settings.seed,
        resamples=settings.resamples,
        paired=cell.paired,
    )
    how = (
        f"expanded percentile bootstrap over attributes and {'pairs of ' if cell.paired else ''}targets, "
        f"{settings.resamples} resamples, seed {settings.seed}"
    )
    for score, *drawn in zip(SCORES, *draws, strict=True):
        s = cells[score].s()
        for side in (0, 1):
            own = s[cell.rows.side == side]
            smallest = min(len(cell.rows.units(side)), *(len(cell.columns.units(i)) for i in (0, 1)))
            low, high = expanded_interval(drawn[side], smallest, settings.level)
            note = "no interval: a set has one stimulus" if math.isnan(low) else ""
            by = {**cell.by, "side": words[0 if side == 0 else -1][0]}
            found = Estimate(difference(score), float(own.mean()), len(own), low, high, settings.level, by=by)
            yield replace(found, how="" if note else how, note=note)


def _associations(cell: Cell, words: Sequence[tuple[str, str]], settings: Settings) -> Iterator[Estimate]:
    n = len(cell.columns.side)
    for (side, word), value in zip(words, towards(cell)[0].tolist(), strict=True):
        by = {**cell.by, "side": side, "stimulus": word}
        yield Estimate(ASSOCIATION, value, n, level=settings.level, by=by)


def _cautions(items: pl.DataFrame) -> Iterator[str]:
    leaks = items.filter("leaks").select("category", "template", "attribute").unique(maintain_order=True)
    if len(leaks):
        category, template, attribute = leaks.row(0)
        yield (
            f"{len(leaks)} pairs of template and attribute hold the attribute a second time, which leaks into the "
            f"prior, such as {category}: '{attribute}' in '{template}'"
        )
    reaching = int(items["reaches"].sum())
    if reaching:
        yield f"in {reaching:,} of {len(items):,} sentences a token holds a part of the target and of its suffix"
    lengths = (
        items.group_by("category", "target_side", maintain_order=True)
        .agg(pl.col("tokens").mean())
        .group_by("category", maintain_order=True)
        .agg("target_side", "tokens")
    )
    uneven = [
        f"{category} {tokens[0]:.2f} and {tokens[1]:.2f}"
        for category, _, tokens in lengths.iter_rows()
        if len(tokens) == 2 and abs(tokens[0] - tokens[1]) > 0.1
    ]
    if uneven:
        yield (
            "the two sets of targets have unequal numbers of tokens on average, which fill and prior scores depend on "
            f"and corrected ones hardly ({'; '.join(uneven)})"
        )
