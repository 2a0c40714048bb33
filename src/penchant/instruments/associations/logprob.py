"""The log-probability bias score: how much more probable an attribute makes a target."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import polars as pl
from pydantic import PrivateAttr

from penchant.corpus.association_categories import Category, WordList
from penchant.corpus.stimulus_sets import StimulusSet, read_stimuli, with_contexts
from penchant.corpus.word_matching import Matcher
from penchant.engine.scorer import Scorer, SpanScore
from penchant.errors import DataError
from penchant.instruments.associations.estimates import CAUTIONS, Stimuli, lost_words
from penchant.instruments.associations.logprob_estimates import SCORES, bias_cautions, bias_estimates
from penchant.instruments.associations.probe import Association, respelt
from penchant.instruments.associations.settings import LogProbBiasSettings
from penchant.instruments.base_probe import Measured, Model
from penchant.instruments.session import Session, require_masked
from penchant.records import Estimate
from penchant.unicode_spellings import canonical

Place = tuple[str, tuple[int, int], tuple[tuple[int, int], ...], str]
"""A text, the span of the target, the spans of other masked words, and the source of the sentence."""
_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "category", "label", "context", "template"), pl.String),
    **dict.fromkeys(("target", "target_side", "target_list"), pl.String),
    **dict.fromkeys(("attribute", "attribute_side", "attribute_list"), pl.String),
    "paired": pl.Boolean,
    "sentence": pl.String,
    "leaks": pl.Boolean,
    **dict.fromkeys(SCORES, pl.Float64),
    "n_tokens": pl.Int64,
    "reaches": pl.Boolean,
    "tokens": pl.List(pl.String),
    **dict.fromkeys(("logprobs_fill", "logprobs_prior"), pl.List(pl.Float32)),
}


def _repeated_word(category: Category) -> str | None:
    return next((word for part in _slots(category)[1][:2] for word in part.words if part.words.count(word) > 1), None)


def _slots(category: Category) -> tuple[tuple[str, ...], tuple[WordList, ...]]:
    """Return the names and lists of the four sets: two that fill the target slot, then two for the attribute slot."""
    if category.target == "targets":
        return ("X", "Y", "A", "B"), (category.x, category.y, category.a, category.b)
    return ("A", "B", "X", "Y"), (category.a, category.b, category.x, category.y)


def _sentence_count(category: Category) -> int:
    first, second, third, fourth = (len(part.words) for part in _slots(category)[1])
    return len(category.contexts) * (first + second) * (third + fourth)


def _readable_stimuli(category: Category, scorer: Scorer, max_missing: float) -> Stimuli:
    """Select the words that the model can score in every sentence; of a pair, both words or neither."""
    lists = _slots(category)[1]
    targets, attributes = [*lists[0].words, *lists[1].words], [*lists[2].words, *lists[3].words]
    words: list[str] = []
    places: list[tuple[str, tuple[int, int], str]] = []
    for context in category.contexts:
        for target in targets:
            text, span, _ = context.sentence(target, attributes[0])
            words.append(target)
            places.append((text, span, category.place))
        for attribute in attributes:
            text, _, span = context.sentence(targets[0], attribute)
            words.append(attribute)
            places.append((text, span, category.place))
    lost = {word for word, reason in zip(words, scorer.usable(places), strict=True) if reason}
    if category.paired:
        for pair in zip(lists[0].words, lists[1].words, strict=True):
            if lost.intersection(pair):
                lost.update(pair)
    return Stimuli.of(category, {*targets, *attributes} - lost, max_missing)


def _scored_sentences(
    category: Category, stimuli: Stimuli, scorer: Scorer, pieces: Literal["all", "first"], language: str
) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    places: list[Place] = []
    for row, (target, attribute) in _unscored(category, stimuli, language):
        text = row["sentence"]
        places += [(text, target, (), category.place), (text, target, (attribute,), category.place)]
        rows.append(row)
    scores = scorer.masked(places, pieces=pieces)
    for row, fill, prior in zip(rows, scores, scores, strict=True):
        row |= {
            "fill": fill.score,
            "prior": prior.score,
            "corrected": fill.score - prior.score,
            "n_tokens": fill.n,
            "reaches": fill.reaches,
            "tokens": list(fill.tokens),
            "logprobs_fill": _listed(fill),
            "logprobs_prior": _listed(prior),
        }
    return pl.DataFrame(rows, schema=_SCHEMA)


def _unscored(
    category: Category, stimuli: Stimuli, language: str
) -> Iterator[tuple[dict[str, Any], tuple[tuple[int, int], tuple[int, int]]]]:
    targets, attributes = _fillers(category, stimuli)
    labels, called = category.labels(), _called([*targets, *attributes])
    matcher = Matcher({word: [word] for _, word in attributes}, language)
    for number, context in enumerate(category.contexts):
        rest = context.text.replace("{target}", " ").replace("{attribute}", " ")
        leaks = {match.word for match in matcher.find(canonical(rest))}
        place = f"{category.id} {context.structure}.{number}"
        for (attribute_side, attribute), (target_side, target) in product(attributes, targets):
            text, *spans = context.sentence(target, attribute)
            row = {
                "id": f"{place} {called[target_side, target]} {called[attribute_side, attribute]}",
                "category": category.id,
                "label": category.label,
                "context": context.structure,
                "template": context.text,
                "target": target,
                "target_side": target_side,
                "target_list": labels[target_side],
                "attribute": attribute,
                "attribute_side": attribute_side,
                "attribute_list": labels[attribute_side],
                "paired": category.paired,
                "sentence": text,
                "leaks": attribute in leaks or attribute == target,
            }
            yield row, (spans[0], spans[1])


def _fillers(category: Category, stimuli: Stimuli) -> list[list[tuple[str, str]]]:
    sides, _ = _slots(category)
    words = dict(zip("XYAB", stimuli.sets, strict=True))
    return [
        list(dict.fromkeys((side, word) for side in slot for word in words[side])) for slot in (sides[:2], sides[2:])
    ]


def _called(fillers: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the name of each (set, word) in item ids: the word, with its set if both sets of a slot have it."""
    sides = Counter(("XY" if side in "XY" else "AB", word) for side, word in fillers)
    return {
        (side, word): f"{word} ({side})" if sides["XY" if side in "XY" else "AB", word] > 1 else word
        for side, word in fillers
    }


def _listed(score: SpanScore) -> list[float | None]:
    return [None if math.isnan(value) else value for value in score.token_logprobs.tolist()]


@dataclass(frozen=True)
class ScoredSentences(Measured):
    """Scored sentences, their categories, and the stimuli of each category that the model knows."""

    categories: tuple[Category, ...] = ()
    stimuli: Mapping[str, Stimuli] = field(default_factory=dict)


class LogProbBias(LogProbBiasSettings, Association[ScoredSentences]):
    """The log-probability bias score of masked models.

    `run` returns items (one row per sentence: the score of its target with the attribute visible, in `fill`, the score
    with the attribute masked, in `prior`, and the difference of these two, in `corrected`) and a summary: for every
    category and sentence structure the effect size over attributes, the differences of the three scores between the two
    sets of targets, and the association of every attribute. A word that occurs twice in a list, if `duplicates` allows
    it, counts once.
    """

    kinds: ClassVar[tuple[str, ...]] = ("masked",)

    _borrowed: dict[tuple[Path, str], StimulusSet] = PrivateAttr(default_factory=dict)

    def stimuli(self, base: Sequence[Path] = (Path(),)) -> StimulusSet:
        """Return the stimuli, with the contexts of the set named in `contexts`, if any. Raises DataError if invalid."""
        stimuli = super().stimuli(base)
        if self.contexts is None:
            return stimuli
        key = (self.find(self.contexts, base), stimuli.sha256)
        if key not in self._borrowed:
            self._borrowed[key] = with_contexts(stimuli, read_stimuli(key[0]))
        return self._borrowed[key]

    def particulars(self, base: Sequence[Path]) -> dict[str, object]:
        """Return the signature fields of this instrument's own parameters, and the set named in `contexts`, if any."""
        own = super().particulars(base)
        if self.contexts is None:
            return {name: value for name, value in own.items() if name != "contexts"}
        source = read_stimuli(self.find(self.contexts, base))
        return {**own, "contexts": f"{source.name}#{source.sha256[:6]}"}

    def chosen(self, base: Sequence[Path] = (Path(),)) -> tuple[Category, ...]:
        """Return the selected categories, or all that have contexts. Raises DataError if a selected one has none."""
        named = super().chosen(base)
        with_contexts = tuple(category for category in named if category.contexts)
        for category in named:
            if not category.contexts and (not with_contexts or self.categories is not None):
                raise DataError("has no contexts", where=category.place, hint="see penchant schema stimuli")
            if category.paired and (word := _repeated_word(category)):
                raise DataError(
                    f"'{word}' occurs twice in a list of pairs", where=category.place, hint="remove one of its pairs"
                )
        return with_contexts

    def settle(self, model: Model) -> Self:
        """Return the probe unchanged. Raises MethodError if the model is not a masked language model."""
        require_masked(self.name, model)
        return self

    def measure(self, session: Session) -> ScoredSentences:
        """Score the target of every sentence, with the attribute visible and masked."""
        categories = self.chosen(session.base)
        session.expect(sum(map(_sentence_count, categories)), inputs=2)
        stimuli: dict[str, Stimuli] = {}
        language = self.stimuli(session.base).language
        tables = []
        for category in categories:
            stimuli[category.id] = _readable_stimuli(category, session.scorer, self.max_missing)
            tables.append(_scored_sentences(category, stimuli[category.id], session.scorer, self.pieces, language))
        pairs = ", or their pairs are not" if any(c.paired for c in categories) else ""
        cautions = (
            *self._left_out(session.base),
            *lost_words(stimuli, f"the vocabulary of {session.lm.name}{pairs}"),
            *respelt(session.lm, categories),
            *(caution for category in categories for caution in category.cautions()),
        )
        return ScoredSentences(pl.concat(tables), cautions, categories, stimuli)

    def summarise(self, measured: ScoredSentences) -> Iterable[Estimate]:
        """Return effect sizes over attributes, differences of scores, and the association of every attribute."""
        return bias_estimates(measured.items, measured.categories, measured.stimuli, self)

    def cautions(self, measured: ScoredSentences, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Yield cautions about attributes that leak, tokens that extend into suffixes, and unequal target lengths.

        An attribute leaks if its sentence also contains it outside its slot.
        """
        return bias_cautions(measured.items)

    def _left_out(self, base: Sequence[Path]) -> Iterator[str]:
        bare = [category.id for category in super().chosen(base) if not category.contexts]
        if bare:
            yield CAUTIONS.get("no-contexts", categories=bare)
