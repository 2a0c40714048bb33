"""Cloze valence: the lean of a model towards one of two varieties of a language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from penchant.corpus.priority_sampling import spread
from penchant.engine.scorer import Filler, language_model
from penchant.engine.scoring_methods import method_for
from penchant.errors import DataError, MethodError
from penchant.files import cited
from penchant.instruments.base_probe import Measured, Model, beginning
from penchant.instruments.cloze.data import (
    GAP,
    SENTENCE,
    ClozeSet,
    GapSentence,
    doubtful_points,
    filled,
    read_candidates,
    read_cloze,
    read_lexicon,
)
from penchant.instruments.cloze.estimates import EVERYTHING, cloze_cautions, cloze_estimates, measured, turning
from penchant.instruments.cloze.five_point_scale import Scale, unnamed
from penchant.instruments.cloze.rater_agreement import doubtful_raters, little
from penchant.instruments.cloze.rating_formats import FIELDS, Columns, fitting, read_ratings, without_rating
from penchant.instruments.cloze.settings import ClozeSettings
from penchant.instruments.cloze.valences import PIECE, UNRATED, Lookup, Valences, by_sentence, from_corpora, is_word
from penchant.instruments.item_probes import ItemProbe
from penchant.instruments.probe_field_types import cited_columns, written
from penchant.instruments.session import Session
from penchant.instruments.unknown_tokens import known_items, signed_unknown
from penchant.letter_case import has_rules
from penchant.models.load import LanguageModel
from penchant.records import Estimate
from penchant.tables.data_cautions import name_cautions, repeated_rows
from penchant.tables.data_lookup import listed
from penchant.unicode_spellings import canonical
from penchant.wording.phrases import Note

FILL = "fill"
SUMS = ("lp", "pll", "pll-word-l2r")
"""Sentence scores that are log-probabilities, so that a softmax over candidates is meaningful."""


class Cloze(ClozeSettings, ItemProbe[ClozeSet, GapSentence]):
    """The lean of a model towards one of two varieties of a language, from the words it puts into gaps.

    `run` returns items (one row per sentence: predicted words with probability, valence and source; β, the lean; δ, how
    well β suits the sentence; and the rated share of the probability) and a summary by group: mean β, δ and rated
    share, with confidence intervals and their sensitivity to the ratings.
    """

    equivalents: ClassVar[bool] = True

    def read(self, path: Path) -> ClozeSet:
        """Read the test set. Raises DataError naming file, line and field."""
        columns = {field: str(self.columns[field]) for field in SENTENCE if field in self.columns}
        return _checked(read_cloze(path, columns))

    def items(self, read: ClozeSet) -> Sequence[GapSentence]:
        """Return the sentences."""
        return read.sentences

    def texts_of(self, item: GapSentence) -> Sequence[str]:
        """Return the text before and after the gap."""
        return [part.strip() for part in item.text.split(GAP) if part.strip()]

    def place_of(self, item: GapSentence) -> str:
        """Return the file and line of a sentence."""
        return item.item.place

    def asked(self, base: Sequence[Path] = (Path(),)) -> list[GapSentence]:
        """Return the sentences to measure: all sentences or, if `limit` is set, a sample from every group."""
        sentences = self.read_set(base).sentences
        if self.limit is None:
            return list(sentences)
        return spread(
            sentences,
            self.limit,
            seed=self.seed,
            content=lambda sentence: (sentence.item.id, sentence.text),
            group=lambda sentence: sentence.item.labels["group"],
        )

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the files of the test set and the study's own ratings, lexicons, candidates and corpora."""
        names = [*listed(self.ratings), *listed(self.lexicon), *listed(self.candidates)]
        names += [self.corpora.low, self.corpora.high] if self.corpora else []
        return [*self.read_set(base).files, *(self.find(name, base) for name in names)]

    def valences(self, base: Sequence[Path] = (Path(),)) -> Valences:
        """Return the sources of valences in order of precedence.

        Raises DataError if a file is invalid.
        """
        test_set = self.read_set(base)
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
        """Return the study's tables of ratings, then those of the test set, each list with the column names to use."""
        named = {field: self.columns[field] for field in FIELDS if field in self.columns}
        own, of_set = [self.find(name, base) for name in listed(self.ratings)], list(self.read_set(base).ratings)
        return [(own, named), (of_set, named if all(fitting(path, named) for path in of_set) else {})]

    def settle(self, model: Model) -> Self:
        """Return a copy with the method set. Raises MethodError if the model does not support it."""
        return self.model_copy(update={"method": self._method(language_model(model))})

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the entries of the signature: test set, prediction method and sources of valences."""
        lm, test_set = language_model(model), self.read_set(base)
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
            **{name: written(self, name) for name in ("unrated", "rated_only", "moved_share", "draws")},
            **signed_unknown(self.on_unknown),
        }

    def measure(self, session: Session) -> Measured:
        """Predict words for every gap and look up their valences."""
        test_set, asked, valences = self.read_set(session.base), self.asked(session.base), self.valences(session.base)
        lists = {} if self.method == FILL else self._lists(asked, session.base)
        mask = str(session.lm.tokenizer.hf.mask_token)

        def whole(sentence: GapSentence) -> list[str]:
            if self.method == FILL:
                return [sentence.text.replace(GAP, mask)]
            return [filled(sentence.text, word, test_set.language) for word in lists[sentence.item.id]]

        kept, cautions = known_items(session.lm, asked, whole, self.place_of, self.on_unknown, self.limited)
        if self.method == FILL:
            session.expect(len(kept))
            texts = ((sentence.text, sentence.item.place) for sentence in kept)
            predictions = [gaps[0] for gaps in session.scorer.fill(texts, self.k)]
        else:
            texts = ((text, sentence.item.place) for sentence in kept for text in whole(sentence))
            predictions = list(self._weighed(session, kept, [lists[sentence.item.id] for sentence in kept], texts))
        cautions = (
            *cautions,
            *([unnamed(test_set.description, test_set.path)] if test_set.scale == Scale() else []),
            *(note for tables in self._rating_tables(session.base) for note in without_rating(*tables)),
            *name_cautions((sentence.item.labels["group"] for sentence in kept), "groups"),
            *repeated_rows(((sentence.text, sentence.item.place) for sentence in kept), "sentences"),
            *doubtful_points(test_set, kept, str(self.columns.get("expected", "expected"))),
        )
        return Measured(self._table(kept, predictions, valences), cautions)

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return mean β, δ and rated share by group, and their sensitivity to the ratings."""
        return cloze_estimates(measured.items, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[Note | str]:
        """Yield cautions about raters, unrated predictions, and results that depend on `rated_only`."""
        yield from turning(estimate.row() for estimate in estimates)
        yield from little(estimates)
        yield from doubtful_raters(measured.items)
        yield from cloze_cautions(measured.items, self)

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
                f"method {name} does not give the probability of a sentence",
                hint=f"use {FILL} or one of {', '.join(SUMS)}",
            )
        return name

    def _lists(self, asked: Sequence[GapSentence], base: Sequence[Path]) -> dict[str, list[str]]:
        """Return the candidates of each sentence by id.

        Spellings that differ only in the first letter's case are one candidate if the gap comes first.
        """
        test_set = self.read_set(base)
        ids = [sentence.item.id for sentence in test_set.sentences]
        path = self.find(self.candidates, base) if self.candidates else test_set.candidates
        if path:
            candidates = read_candidates(path, ids)
        else:
            candidates = {}
            for paths, columns in self._rating_tables(base):
                for rating in read_ratings(paths, ids, columns):
                    words = candidates.setdefault(rating.sentence, [])
                    if rating.word not in words and is_word(rating.word):
                        words.append(rating.word)
        lists = {}
        for sentence in asked:
            reverse = reversed(candidates.get(sentence.item.id, []))
            distinct = {canonical(filled(sentence.text, word, test_set.language)): word for word in reverse}
            lists[sentence.item.id] = list(distinct.values())[::-1]
            if len(distinct) < 2:
                raise DataError(
                    f"fewer than two candidates for sentence {sentence.item.id}",
                    where=str(path) if path else sentence.item.place,
                    hint="name a table of candidates (sentence, word), or rate words in each sentence",
                )
        return lists

    def _weighed(
        self,
        session: Session,
        sentences: Sequence[GapSentence],
        lists: Sequence[Sequence[str]],
        texts: Iterable[tuple[str, str]],
    ) -> Iterator[list[Filler]]:
        """Yield the `k` most probable candidates of each sentence, by the softmax of the filled sentences' scores.

        `lists` has the candidates of each sentence, `texts` the sentences filled with them, each with its location.
        Raises DataError if a gap comes first and the model has no beginning-of-sequence token.
        """
        for sentence in sentences:
            if session.lm.kind == "causal" and session.lm.begin is None and sentence.text.startswith(GAP):
                raise DataError(
                    f"the gap comes first, but {session.lm.name} has no beginning token from which to score it",
                    where=sentence.item.place,
                    hint="remove the sentence, or use another model",
                )
        session.expect(sum(map(len, lists)))
        scores = session.scorer.score(texts, self.method)
        for words in lists:
            values = np.array([next(scores).score for _ in words])
            logprobs = values - np.logaddexp.reduce(values)
            order = np.argsort(-logprobs, kind="stable")[: self.k].tolist()
            yield [Filler(words[i], float(logprobs[i])) for i in order]

    def _table(
        self, sentences: Sequence[GapSentence], predictions: Sequence[list[Filler]], valences: Valences
    ) -> pl.DataFrame:
        """Return one row per sentence: labels, predicted words with valences and ratings, β, δ and rated share.

        Raters are numbered; their names are not stored.
        """
        labels = list(dict.fromkeys(label for sentence in sentences for label in sentence.item.labels))
        numbers = {rater: i for i, rater in enumerate(valences.raters())}
        rows = []
        for sentence, fillers in zip(sentences, predictions, strict=True):
            rated = [self._rated(sentence, filler, valences) for filler in fillers]
            judged = [() if f.piece else valences.judgements(sentence.item.id, f.word) for f in fillers]
            rows.append(
                {
                    "id": sentence.item.id,
                    "text": sentence.text,
                    "expected": sentence.expected,
                    **{label: sentence.item.labels.get(label, "") for label in labels},
                    "words": [filler.word for filler in fillers],
                    "probs": [float(np.exp(filler.logprob)) for filler in fillers],
                    "valences": [value for value, _ in rated],
                    "sources": [source for _, source in rated],
                    "raters": [[numbers[rater] for rater, _ in them] for them in judged],
                    "ratings": [[value for _, value in them] for them in judged],
                }
            )
        schema: dict[str, Any] = {
            "id": pl.String,
            "text": pl.String,
            "expected": pl.Float64,
            **dict.fromkeys(labels, pl.String),
            "words": pl.List(pl.String),
            "probs": pl.List(pl.Float64),
            "valences": pl.List(pl.Float64),
            "sources": pl.List(pl.String),
            "raters": pl.List(pl.List(pl.Int32)),
            "ratings": pl.List(pl.List(pl.Float64)),
        }
        return measured(pl.DataFrame(rows, schema=schema), rated_only=self.rated_only)

    def _rated(self, sentence: GapSentence, filler: Filler, valences: Valences) -> tuple[float | None, str]:
        if filler.piece:
            return None, PIECE
        value, source = valences.of(sentence.item.id, filler.word)
        if source == UNRATED and self.unrated == "error":
            raise DataError(
                f"nobody has rated '{filler.word}' in sentence {sentence.item.id}",
                where=sentence.item.place,
                hint="list the words to rate with penchant ratings export, or set unrated: zero",
            )
        return value, source

    def _cited_valences(self, test_set: ClozeSet, base: Sequence[Path]) -> dict[str, str]:
        find = partial(self.find, base=base)
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
    for sentence in test_set.sentences:
        if sentence.item.labels["group"] == EVERYTHING:
            raise DataError(
                f"the group name '{EVERYTHING}' is reserved for all sentences",
                where=sentence.item.place,
                hint="give the group another name",
            )
    return test_set
