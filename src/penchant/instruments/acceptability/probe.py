"""Acceptability: the agreement of a model's scores with people's judgements of sentences.

The log-probability favours short sentences with frequent words. SLOR subtracts frequency and divides by length; MORCELA
fits the weights of both to the judgements (Tjuatja, Neubig, Linzen & Hao 2025).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Self

import polars as pl
from pydantic import PrivateAttr

from penchant.engine.conditional_scores import touching_cautions
from penchant.engine.normalisations import (
    CONSTANTS,
    FREQUENCY,
    PREFIXED,
    check_normalise,
    check_prefix,
    check_unigrams,
    constants,
)
from penchant.engine.scorer import language_model, sentence_model
from penchant.engine.scoring_methods import METHODS, ScoringMethod, method_for
from penchant.engine.unigrams import Unigrams, fitting
from penchant.files import cited
from penchant.instruments.acceptability.data import JudgedSentence, JudgedSet, read_judged
from penchant.instruments.acceptability.estimates import MORCELA, cautions_of, estimates_of
from penchant.instruments.acceptability.settings import AcceptabilitySettings
from penchant.instruments.base_probe import SENTENCES, Measured, Model, beginning
from penchant.instruments.item_probes import ItemProbe
from penchant.instruments.probe_field_types import cited_columns, written
from penchant.instruments.session import Session
from penchant.instruments.unknown_tokens import signed_unknown
from penchant.models.score_table import Scores
from penchant.records import Estimate, Signature
from penchant.tables.data_lookup import listed


def _usual(method: ScoringMethod, *, unigrams: bool, counted: bool = True) -> list[str]:
    if method.normalised or not counted:
        return ["none"]
    return ["none", "mean", *((*FREQUENCY, MORCELA) if unigrams else ())]


class Acceptability(AcceptabilitySettings, ItemProbe[JudgedSet, JudgedSentence]):
    """Correlation of a model's scores with judgements of sentences; SLOR and MORCELA are among the scores.

    `run` returns items (one row per sentence: score, tokens, unigrams, judgements) and a summary: Pearson's r and
    Spearman's ρ between each score and the mean judgement, differences between scores, and MORCELA's β and γ.
    """

    kinds: ClassVar[tuple[str, ...]] = SENTENCES

    _unigrams: dict[tuple[tuple[Path, ...], str], Unigrams] = PrivateAttr(default_factory=dict)

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the arguments of `read`: the path of the table, looked up in `base`, and its column names."""
        return self.find(self.data, base), *dict(self.columns).values()

    def read(self, path: Path, *columns: str) -> JudgedSet:
        """Read the sentences with their judgements. Raises DataError naming file, line and field."""
        return read_judged(path, self.columns)

    def items(self, read: JudgedSet) -> Sequence[JudgedSentence]:
        """Return the sentences of a table, with their judgements."""
        return read.sentences

    def texts_of(self, item: JudgedSentence) -> Sequence[str]:
        """Return a sequence of one text, the sentence preceded by its prefix."""
        return (item.prefix + item.sentence,)

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the paths, looked up in `base`, of the table of sentences and of any tables of unigram counts."""
        return [self.read_set(base).path, *self._tables(base)]

    def _tables(self, base: Sequence[Path]) -> list[Path]:
        return [self.find(name, base) for name in listed(self.unigrams)]

    def settle(self, model: Model) -> Self:
        """Return a copy of the probe in which the method and the scores, if unset, are chosen for the model.

        Raises MethodError if the method or a score does not suit the model.
        """
        lm = sentence_model(model)
        method, counted = method_for(self.method, lm), not isinstance(lm, Scores) or lm.counted
        hows = self.normalisations() or _usual(method, unigrams=self.unigrams is not None, counted=counted)
        for how in hows:
            check_normalise(FREQUENCY[0] if how == MORCELA else how, method, lm)
        check_unigrams([FREQUENCY[0] if how == MORCELA else how for how in hows], self.unigrams is not None)
        return self.model_copy(update={"method": method.name, "normalise": hows})

    @classmethod
    def implied(cls, signature: Signature) -> Collection[str]:
        """Return the implied signature keys: constants such as `pen-alpha`, and `normalise` if it has its default."""
        method, named = METHODS.get(signature.get("method", "")), "unigrams" in signature
        usual = method is not None and signature.get("normalise") == ",".join(_usual(method, unigrams=named))
        return {*(f"{how}-alpha" for how in CONSTANTS), *(("normalise",) if usual else ())}

    def frequencies(self, model: Model, base: Sequence[Path]) -> Unigrams | None:
        """Return the unigram counts for the model's tokenizer; None if `unigrams` is not set.

        Raises DataError unless exactly one table matches the tokenizer.
        """
        files = tuple(self._tables(base))
        if not files:
            return None
        lm = language_model(model)
        key = files, lm.tokenizer.pieces_digest
        if key not in self._unigrams:
            self._unigrams[key] = fitting(files, lm.tokenizer, lm.name)
        return self._unigrams[key]

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the signature fields for data and scoring.

        Raises MethodError if a score does not suit the sentences.
        """
        lm, hows, read = sentence_model(model), self.normalisations(), self.read_set(base)
        check_prefix(hows, all(each.prefix for each in read.sentences), self.neutral)
        unigrams = self.frequencies(model, base)
        return {
            "data": cited([read.path]),
            **cited_columns(dict(self.columns)),
            "method": self.method,
            "normalise": written(self, "normalise"),
            **constants(hows),
            **({"unigrams": cited([unigrams.file])} if unigrams is not None and unigrams.file else {}),
            **({"folds": self.folds} if MORCELA in hows else {}),
            **({"neutral": self.neutral} if self.neutral else {}),
            "bos": beginning(lm),
            "dtype": lm.numbers,
            **signed_unknown(self.on_unknown),
        }

    def signed(self, estimate: Estimate, signature: Signature) -> Signature:
        """Return the signature of one estimate, which names only the score of the estimate."""
        how = estimate.by["score"]
        return signature.with_(normalise=how) if how in self.normalisations() else signature

    def measure(self, session: Session) -> Measured:
        """Score the sentences; return a table of them with scores and judgements, and cautions about the data."""
        asked = self.asked(session.base)
        prefixed = any(each.prefix for each in asked)
        session.expect(len(asked), inputs=1 + bool(set(PREFIXED) & set(self.normalisations())))
        kept, left_out = self.known(session, asked)
        texts = [(each.prefix, each.sentence, each.place) for each in kept]
        if prefixed:
            session.scorer.check_prefixed(texts)
            scores = list(session.scorer.given(texts, self.method))
        else:
            scores = list(session.scorer.score(((text, where) for _, text, where in texts), self.method))
        columns = {
            "id": pl.Series([each.id for each in kept], dtype=pl.String),
            "sentence": pl.Series([each.sentence for each in kept], dtype=pl.String),
            "prefix": pl.Series([each.prefix for each in kept], dtype=pl.String),
            "rating": pl.Series([_mean(each) for each in kept], dtype=pl.Float64),
            "raters": pl.Series([[rater for rater, _ in each.ratings] for each in kept], dtype=pl.List(pl.Int32)),
            "ratings": pl.Series([[value for _, value in each.ratings] for each in kept], dtype=pl.List(pl.Float64)),
            "n_tokens": pl.Series([score.n for score in scores], dtype=pl.Int32),
            "score": pl.Series([score.score for score in scores], dtype=pl.Float64),
            "tokens": pl.Series([list(score.tokens) for score in scores], dtype=pl.List(pl.String)),
            "logprobs": pl.Series(
                [[None if v != v else v for v in score.token_logprobs.tolist()] for score in scores],
                dtype=pl.List(pl.Float32),
            ),
        }
        if (unigrams := self.frequencies(session.model, session.base)) is not None:
            columns["unigrams"] = pl.Series([score.as_unigrams(unigrams) for score in scores], dtype=pl.Float64)
            columns["unseen"] = pl.Series([unigrams.unseen(score.scored) for score in scores], dtype=pl.Int32)
        if set(PREFIXED) & set(self.normalisations()):
            without = session.scorer.without(texts, self.method, neutral=self.neutral)
            columns["neutral"] = pl.Series([score.score for score in without], dtype=pl.Float64)
        told = touching_cautions(texts, "sentences") if prefixed else ()
        return Measured(pl.DataFrame(columns), (*self.read_set(session.base).cautions, *left_out, *told))

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return correlations of scores with judgements, differences, MORCELA's parameters, and rater agreement."""
        return estimates_of(measured.items, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Return cautions about unseen tokens, few raters, and the fit of MORCELA."""
        return cautions_of(measured.items, estimates)


def _mean(each: JudgedSentence) -> float:
    return sum(value for _, value in each.ratings) / len(each.ratings)
