"""Cloze valence: how a model leans between two varieties of a language.

A sentence s with one gap calls for a point ρ(s) of a scale from −1 (one variety) to 1 (the other). The model's k most
probable words w have probabilities p and valences σ(w, s) on the scale:

    β = Σ σ·p          where the model leans
    δ = 1 − ½|ρ − β|   how well that suits the sentence

Source: Cuscito et al. 2024, "How BERT Speaks Shakespearean English?". A word that nobody rated adds nothing to β; the
rated mass, Σ p over rated words, is reported with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import PrivateAttr

from penchant.corpus.sampling import spread
from penchant.engine.methods import method_for
from penchant.engine.scorer import Filler, Scorer, language_model
from penchant.errors import DataError, MethodError
from penchant.files import cited
from penchant.instruments.base import Measured, Model, Probe, beginning
from penchant.instruments.cloze.agreeing import doubtful_raters, little
from penchant.instruments.cloze.cautions import cloze_cautions, turning
from penchant.instruments.cloze.data import (
    GAP,
    SENTENCE,
    ClozeSet,
    Sentence,
    doubtful_points,
    filled,
    read_candidates,
    read_cloze,
    read_lexicon,
    read_texts,
)
from penchant.instruments.cloze.estimates import EVERYTHING, cloze_estimates, measured
from penchant.instruments.cloze.rating_tables import FIELDS, Columns, fitting, read_ratings, without_rating
from penchant.instruments.cloze.scale import Scale as Ends
from penchant.instruments.cloze.scale import unnamed
from penchant.instruments.cloze.settings import ClozeSettings
from penchant.instruments.cloze.valences import PIECE, UNRATED, Lookup, Valences, by_sentence, from_corpora, is_word
from penchant.instruments.fields import cited_columns, written
from penchant.instruments.session import Session
from penchant.instruments.unknown import known_items, known_texts, signed_unknown
from penchant.letter_case import has_rules
from penchant.models.load import LanguageModel
from penchant.records import Estimate
from penchant.spellings import canonical
from penchant.tables.cautions import name_cautions, repeated_rows
from penchant.tables.places import listed

FILL = "fill"
SUMS = ("lp", "pll", "pll-word-l2r")
"""The scores of whole sentences that are log-probabilities, so that a softmax over candidates is meaningful."""


class Cloze(ClozeSettings, Probe):
    """Leaning between two varieties of a language, from the words a model puts into gaps.

    `run` returns items (one row per sentence: the predicted words with probability, valence and its source, β, δ and
    rated mass) and a summary: mean β, δ and rated mass by group, with bootstrap intervals and with their range if some
    ratings had been half a point higher or lower.
    """

    equivalents: ClassVar[bool] = True

    _read: dict[Path, ClozeSet] = PrivateAttr(default_factory=dict)

    def test_set(self, base: Sequence[Path] = (Path(),)) -> ClozeSet:
        """The test set, checked and cached. Raises DataError naming file, line and field."""
        place = self.find(self.data, base)
        if place not in self._read:
            of_sentences = {field: str(self.columns[field]) for field in SENTENCE if field in self.columns}
            self._read[place] = _checked(read_cloze(place, of_sentences))
        return self._read[place]

    def asked(self, base: Sequence[Path]) -> ClozeSet:
        """The test set with the sentences that are measured: all, or in a pilot some of every group."""
        test_set = self.test_set(base)
        if self.limit is None:
            return test_set
        drawn = spread(
            test_set.sentences,
            self.limit,
            seed=self.seed,
            content=lambda sentence: (sentence.item.id, sentence.text),
            group=lambda sentence: sentence.item.labels["group"],
        )
        return replace(test_set, sentences=tuple(drawn))

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """The text before and after each gap, with its place."""
        sentences = self.asked(base).sentences
        parts = ((part.strip(), s.item.place) for s in sentences for part in s.text.split(GAP))
        return [(part, place) for part, place in parts if part]

    def read_by(self, model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """The texts, without those that are left out."""
        return known_texts(model, texts, self.on_unknown)

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The files of the test set and those that the study names."""
        return [*self.test_set(base).files, *self._named(base)]

    def _named(self, base: Sequence[Path]) -> list[Path]:
        names = [*listed(self.ratings), *listed(self.lexicon)]
        names += [self.candidates] if self.candidates else []
        names += [self.corpora.low, self.corpora.high] if self.corpora else []
        return [self.find(name, base) for name in names]

    def valences(self, base: Sequence[Path] = (Path(),)) -> Valences:
        """All sources of valences, in order of precedence. Raises DataError."""
        test_set = self.test_set(base)
        texts = {sentence.item.id: sentence.text for sentence in test_set.sentences}
        find = partial(self.find, base=base)
        own, of_set = (read_ratings(paths, texts, columns) for paths, columns in self._rating_tables(base))
        lookup = partial(Lookup.of, language=test_set.language)
        sources = [
            ("ratings", by_sentence(own, test_set.language)),
            ("set ratings", by_sentence(of_set, test_set.language)),
            ("lexicon", {"": lookup(read_lexicon(map(find, listed(self.lexicon))))}),
            ("set lexicon", {"": lookup(read_lexicon(test_set.lexicon))}),
        ]
        if self.corpora:
            numbers = self.corpora.model_dump(exclude={"low", "high"})
            low, high = find(self.corpora.low), find(self.corpora.high)
            estimated = from_corpora(low, high, **numbers, language=test_set.language)
            sources.append(("corpora", {"": lookup(estimated)}))
        return Valences(sources)

    def _rating_tables(self, base: Sequence[Path]) -> list[tuple[list[Path], Columns]]:
        """The tables of ratings that the study names and those of the set, which may have other columns."""
        named = {field: self.columns[field] for field in FIELDS if field in self.columns}
        own, of_set = [self.find(name, base) for name in listed(self.ratings)], list(self.test_set(base).ratings)
        return [(own, named), (of_set, named if all(fitting(path, named) for path in of_set) else {})]

    def settle(self, model: Model) -> Self:
        """The probe with its method decided. Raises MethodError where it does not fit the model."""
        return self.model_copy(update={"method": self._method(language_model(model))})

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """The test set and its scale, how words are predicted, and where their valences come from."""
        lm, test_set = language_model(model), self.test_set(base)
        return {
            "data": f"{test_set.name}#{test_set.sha256[:6]}",
            **cited_columns(self.columns),
            "scale": str(test_set.scale),
            **({"language": test_set.language} if has_rules(test_set.language) else {}),
            "method": self.method,
            "k": self.k,
            **({"candidates": self._cited_candidates(test_set, base)} if self.method != FILL else {}),
            **({"bos": beginning(lm)} if lm.kind == "causal" else {}),
            **self._cited_valences(test_set, base),
            **{name: written(self, name) for name in ("unrated", "renormalise", "moved_share", "draws")},
            **signed_unknown(self.on_unknown),
        }

    def measure(self, session: Session) -> Measured:
        """Predict and rate the words of every gap."""
        test_set, valences = self.asked(session.base), self.valences(session.base)
        lists = {} if self.method == FILL else self._lists(test_set, session.base)
        kept, cautions = known_items(
            session.lm,
            test_set.sentences,
            partial(read_texts, str(session.lm.tokenizer.hf.mask_token), lists, test_set.language),
            lambda sentence: sentence.item.place,
            self.on_unknown,
            "sentences",
        )
        test_set = replace(test_set, sentences=tuple(kept))
        if self.method == FILL:
            session.expect(len(kept))
            predictions = self._filled(session.scorer, test_set)
        else:
            words = [lists[sentence.item.id] for sentence in kept]
            session.expect(sum(map(len, words)))
            predictions = self._weighed(session.scorer, test_set, words)
        cautions += (unnamed(test_set.description, test_set.path),) if test_set.scale == Ends() else ()
        for paths, columns in self._rating_tables(session.base):
            cautions += tuple(without_rating(paths, columns))
        cautions += tuple(name_cautions((sentence.item.labels["group"] for sentence in kept), "groups"))
        cautions += tuple(repeated_rows(((s.item.texts["text"], s.item.place) for s in kept), "sentences"))
        cautions += tuple(doubtful_points(test_set, kept, str(self.columns.get("expected", "expected"))))
        return Measured(self._items(test_set, list(predictions), valences), cautions)

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Mean β, δ and rated mass by group, and their sensitivity to the ratings."""
        return cloze_estimates(measured.items, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Cautions about predictions that nobody rates, raters who agree little, and what turns on `renormalise`."""
        of_raters = *little(estimates), *doubtful_raters(measured.items)
        of_words = *cloze_cautions(measured.items, self), *turning(estimate.row() for estimate in estimates)
        return map(str, (*of_raters, *of_words))

    def _method(self, lm: LanguageModel) -> str:
        default = method_for(None, lm).name
        if self.method == FILL or (self.method is None and lm.kind == "masked"):
            if lm.kind != "masked":
                raise MethodError(
                    f"{lm.name} is {lm.kind} and cannot fill a gap inside a sentence",
                    hint=f"use method {default}, which takes a list of candidates",
                )
            return FILL
        name = method_for(self.method, lm).name
        if name not in SUMS:
            raise MethodError(
                f"method {name} gives no probability of a sentence", hint=f"use {FILL} or one of {', '.join(SUMS)}"
            )
        return name

    def _lists(self, test_set: ClozeSet, base: Sequence[Path]) -> dict[str, list[str]]:
        """The candidates of each sentence, by its id."""
        ids = [sentence.item.id for sentence in self.test_set(base).sentences]
        path = self.find(self.candidates, base) if self.candidates else test_set.candidates
        if path:
            candidates = read_candidates(path, ids)
        else:
            candidates = {}
            tables = self._rating_tables(base)
            for rating in (each for paths, columns in tables for each in read_ratings(paths, ids, columns)):
                words = candidates.setdefault(rating.sentence, [])
                if rating.word not in words and is_word(rating.word):
                    words.append(rating.word)
        lists = {}
        for sentence in test_set.sentences:
            # Spellings that are the same once they fill a gap at the start are one candidate.
            listed_words = reversed(candidates.get(sentence.item.id, []))
            distinct = {canonical(filled(sentence.text, word, test_set.language)): word for word in listed_words}
            lists[sentence.item.id] = list(distinct.values())[::-1]
            if len(distinct) < 2:
                raise DataError(
                    f"fewer than two candidates for sentence {sentence.item.id}",
                    where=str(path) if path else sentence.item.place,
                    hint="name a table of candidates (sentence, word), or rate words in each sentence",
                )
        return lists

    def _filled(self, scorer: Scorer, test_set: ClozeSet) -> Iterator[list[Filler]]:
        texts = ((sentence.text, sentence.item.place) for sentence in test_set.sentences)
        return (gaps[0] for gaps in scorer.fill(texts, self.k))

    def _weighed(self, scorer: Scorer, test_set: ClozeSet, lists: list[list[str]]) -> Iterator[list[Filler]]:
        """The candidates of each sentence with the softmax of the scores of the filled sentences.

        Raises DataError at a gap that comes first if the model has no beginning token and so cannot score it.
        """
        for sentence in test_set.sentences:
            if scorer.model.kind == "causal" and scorer.model.begin is None and sentence.text.startswith(GAP):
                raise DataError(
                    f"the gap comes first, and {scorer.model.name} has no beginning token to score a first word from",
                    where=sentence.item.place,
                    hint="remove the sentence, or use another model",
                )
        texts = [
            (filled(sentence.text, word, test_set.language), sentence.item.place)
            for sentence, words in zip(test_set.sentences, lists, strict=True)
            for word in words
        ]
        scores = scorer.score(texts, self.method)
        for words in lists:
            values = np.array([next(scores).score for _ in words])
            logprobs = values - np.logaddexp.reduce(values)
            order = np.argsort(-logprobs, kind="stable")[: self.k].tolist()
            yield [Filler(words[i], float(logprobs[i])) for i in order]

    def _items(self, test_set: ClozeSet, predictions: list[list[Filler]], valences: Valences) -> pl.DataFrame:
        """One row per sentence: labels, predicted words with valences, sources and ratings, β, δ and rated mass."""
        columns: dict[str, list[Any]] = {"id": [], "text": [], "expected": []}
        labels = list(dict.fromkeys(label for s in test_set.sentences for label in s.item.labels))
        columns |= {label: [] for label in labels}
        columns |= {"words": [], "probs": [], "valences": [], "sources": [], "raters": [], "ratings": []}
        numbers = {rater: i for i, rater in enumerate(valences.raters())}  # a rater's name stays in the file of ratings
        for sentence, fillers in zip(test_set.sentences, predictions, strict=True):
            rated = [self._rated(sentence, filler, valences) for filler in fillers]
            columns["id"].append(sentence.item.id)
            columns["text"].append(sentence.text)
            columns["expected"].append(sentence.expected)
            for label in labels:
                columns[label].append(sentence.item.labels.get(label, ""))
            columns["words"].append([filler.word for filler in fillers])
            columns["probs"].append([float(np.exp(filler.logprob)) for filler in fillers])
            columns["valences"].append([value for value, _ in rated])
            columns["sources"].append([source for _, source in rated])
            judged = [() if f.piece else valences.judgements(sentence.item.id, f.word) for f in fillers]
            columns["raters"].append([[numbers[rater] for rater, _ in them] for them in judged])
            columns["ratings"].append([[value for _, value in them] for them in judged])
        kinds: dict[str, Any] = {
            "expected": pl.Float64,
            "words": pl.List(pl.String),
            "probs": pl.List(pl.Float64),
            "valences": pl.List(pl.Float64),
            "sources": pl.List(pl.String),
            "raters": pl.List(pl.List(pl.Int32)),
            "ratings": pl.List(pl.List(pl.Float64)),
        }
        return measured(pl.DataFrame(columns, schema_overrides=kinds), renormalise=self.renormalise)

    def _rated(self, sentence: Sentence, filler: Filler, valences: Valences) -> tuple[float | None, str]:
        if filler.piece:
            return None, PIECE
        value, source = valences.of(sentence.item.id, filler.word)
        if source == UNRATED and self.unrated == "error":
            raise DataError(
                f"nobody rates '{filler.word}' in sentence {sentence.item.id}",
                where=sentence.item.place,
                hint="penchant ratings export lists what to rate; unrated: zero lets it add nothing",
            )
        return value, source

    def _cited_valences(self, test_set: ClozeSet, base: Sequence[Path]) -> dict[str, str]:
        find: Callable[[str], Path] = partial(self.find, base=base)
        texts = [find(self.corpora.low), find(self.corpora.high)] if self.corpora else []
        numbers = self.corpora.model_dump(exclude={"low", "high"}).values() if self.corpora else ()
        return {
            "ratings": cited([*map(find, listed(self.ratings)), *test_set.ratings]),
            "lexicon": cited([*map(find, listed(self.lexicon)), *test_set.lexicon]),
            "corpora": ",".join([cited(texts), *(f"{number:g}" for number in numbers)]),
        }

    def _cited_candidates(self, test_set: ClozeSet, base: Sequence[Path]) -> str:
        path = self.find(self.candidates, base) if self.candidates else test_set.candidates
        return cited([path]) if path else "rated"


def _checked(test_set: ClozeSet) -> ClozeSet:
    """The test set unchanged. Raises DataError for a group whose name is reserved for the summary."""
    for sentence in test_set.sentences:
        if sentence.item.labels["group"] == EVERYTHING:
            raise DataError(
                f"a group cannot be called '{EVERYTHING}', which stands for all sentences",
                where=sentence.item.place,
                hint="give the group another name",
            )
    return test_set
