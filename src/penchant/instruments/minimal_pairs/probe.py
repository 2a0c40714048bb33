"""Minimal pairs: a model's accuracy in preferring the acceptable sentence, and the effect of token length.

The credit of a pair is 1 if score(acceptable) > score(unacceptable), ½ for a tie, 0 otherwise; accuracy is the mean
credit. Ueda et al. (LREC-COLING 2024) split the pairs by the numbers of tokens of the acceptable (A) and the
unacceptable (U) sentence: under an unbiased score, the accuracies for A=U, A>U and A<U are equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Generic, Self, TypeVar

import polars as pl
from pydantic import PrivateAttr

from penchant.corpus.priority_sampling import spread
from penchant.engine.normalisations import (
    CONSTANTS,
    FREQUENCY,
    PREFIXED,
    check_normalise,
    check_prefix,
    check_unigrams,
    constants,
    usual,
)
from penchant.engine.scorer import language_model, sentence_model
from penchant.engine.scoring_methods import METHODS, ScoringMethod, method_for
from penchant.engine.unigrams import Unigrams, fitting
from penchant.errors import MethodError
from penchant.files import cited, join_names
from penchant.instruments.answer_steadiness import steadiness_cautions
from penchant.instruments.base_probe import SENTENCES, Measured, Model, beginning
from penchant.instruments.elicitation import require_chat, signed_elicitation, signed_phrases, spoken
from penchant.instruments.item_probes import ItemProbe
from penchant.instruments.minimal_pairs.cautions import (
    human_cautions,
    length_cautions,
    line_cautions,
    pair_cautions,
    unigram_cautions,
)
from penchant.instruments.minimal_pairs.chat_questions import asked_estimates, asked_pairs, phrases, questions
from penchant.instruments.minimal_pairs.data import PairSet, read_many, whole
from penchant.instruments.minimal_pairs.estimates import pair_estimates
from penchant.instruments.minimal_pairs.fitted_exponents import FITTED, refuse_alone, with_exponents
from penchant.instruments.minimal_pairs.formats import ROLES, STEREOTYPES, PairColumns
from penchant.instruments.minimal_pairs.human_estimates import human_estimates
from penchant.instruments.minimal_pairs.human_judgements import Judgements, read_judgements
from penchant.instruments.minimal_pairs.pair_credits import TIE
from penchant.instruments.minimal_pairs.scored_pairs import prefix_cautions, prefixed, scored_pairs, with_unigrams
from penchant.instruments.minimal_pairs.settings import MinimalPairsSettings, PairSettings
from penchant.instruments.probe_field_types import cited_columns, written
from penchant.instruments.session import Session
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import signed_unknown
from penchant.models.load import LanguageModel
from penchant.models.score_table import Scores
from penchant.records import Estimate, Item, Signature
from penchant.tables.data_lookup import listed
from penchant.wording.phrases import Note

D = TypeVar("D")
_OF_QUESTIONS = {"acceptable", "on_unknown", "marks", "ties"}
"""Parameters for scoring pairs that also apply to asking about them."""
Drawn = tuple[PairSet, Item]
"""A pair with the set that contains it."""


def _applying(method: ScoringMethod, model: LanguageModel | Scores | None, *, unigrams: bool) -> list[str]:
    """Return the default normalisations for a method and model, with those based on unigrams if `unigrams` is true."""
    return ["none"] if method.normalised else [*usual(model), *(FREQUENCY if unigrams else ())]


def _content(pair: Drawn) -> Sequence[str]:
    return list(pair[1].texts.values())


class PairProbe(PairSettings, ItemProbe[D, Drawn], Generic[D]):
    """Base class for probes that score minimal pairs and compute estimates from the scores."""

    kinds: ClassVar[tuple[str, ...]] = SENTENCES
    noun: ClassVar[str] = "pairs"

    _unigrams: dict[tuple[tuple[Path, ...], str], Unigrams] = PrivateAttr(default_factory=dict)

    def texts_of(self, item: Drawn) -> Sequence[str]:
        """Return the two sentences of a pair, each preceded by its prefix."""
        return [whole(item[1], role) for role in ROLES]

    def place_of(self, item: Drawn) -> str:
        """Return the location of a pair."""
        return item[1].place

    def group(self, item: Drawn) -> str:
        """Return the paradigm of a pair."""
        return item[1].labels["group"]

    def chosen(self, pair_sets: Iterable[PairSet]) -> list[Drawn]:
        """Return the pairs to score: all pairs or, if `limit` is set, a sample from every paradigm.

        The sample depends only on the seed and the sentences, so that sets with common pairs mostly keep the same
        pairs.
        """
        pairs = [(each, item) for each in pair_sets for item in each.items]
        if self.limit is None:
            return pairs
        return spread(pairs, self.limit, seed=self.seed, content=_content, group=self.group)

    def settle(self, model: Model) -> Self:
        """Return the probe with its model-dependent parameters set. Raises MethodError if one does not suit `model`."""
        lm = sentence_model(model)
        method = method_for(self.method, lm, pair=True)
        hows = self.normalisations() or _applying(method, lm, unigrams=self.unigrams is not None)
        for how in hows:
            check_normalise("slln" if how == FITTED else how, method, lm)
        check_unigrams(hows, self.unigrams is not None)
        space = self.space if lm.kind == "causal" else "none"
        return self.model_copy(update={"method": method.name, "normalise": hows, "space": space})

    @classmethod
    def implied(cls, signature: Signature) -> Collection[str]:
        """Return the signature keys that the method implies.

        They are `pen-alpha` and `slln-alpha`, the exponents of normalisations, and `normalise` if its value is the
        method's default.
        """
        method = METHODS.get(signature.get("method", ""))
        named = "unigrams" in signature
        usual = method is not None and signature.get("normalise") == ",".join(_applying(method, None, unigrams=named))
        return {*(f"{how}-alpha" for how in CONSTANTS), *(("normalise",) if usual else ())}

    def signed(self, estimate: Estimate, signature: Signature) -> Signature:
        """Return `signature` with only the normalisation of `estimate`, or unchanged if this is about people alone."""
        how = estimate.by["normalise"]
        return signature.with_(normalise=how) if how else signature

    def files_of(self, *names: str | Sequence[str], base: Sequence[Path]) -> tuple[tuple[Path, ...], ...]:
        """Return the files of each set of pairs in `names`, looked up in the directories `base`."""
        return tuple(tuple(file for name in listed(each) for file in self.find_all(name, base)) for each in names)

    def pairs_of(self, files: Iterable[Path], columns: PairColumns) -> list[PairSet]:
        """Read the pairs of some files. Raises DataError naming file, line and field."""
        return read_many(files, dict(columns), acceptable=self.acceptable, marks=self.marks)

    def scored(self, session: Session, drawn: Sequence[Drawn]) -> tuple[pl.DataFrame, tuple[Note | str, ...]]:
        """Return a table of scored pairs, one row each, and cautions about the files and skipped pairs."""
        if FITTED in self.normalisations():
            refuse_alone(pair.labels["group"] for _, pair in drawn)
        known, left_out = self.known(session, drawn)
        items = [(collection(pairs), item) for pairs, item in known]
        of_files = {pairs.name: pairs.cautions for pairs, _ in drawn}
        cautions: list[Note | str] = [*(caution for each in of_files.values() for caution in each), *left_out]
        front = " " if self.space == "front" else ""
        neutral = self.neutral if set(PREFIXED) & set(self.normalisations()) else None
        table, scores = scored_pairs(session.scorer, items, self.method, front=front, neutral=neutral)
        cautions += prefix_cautions(item for _, item in items)
        if (unigrams := self.frequencies(session.model, session.base)) is not None:
            table = with_unigrams(table, scores, unigrams)
            cautions += unigram_cautions(table)
        if FITTED in self.normalisations():
            table = with_exponents(table)
        table = table if self.ties == "half" else table.with_columns(pl.lit(1.0).alias(TIE))
        return table, tuple(cautions)

    def frequencies(self, model: Model, base: Sequence[Path]) -> Unigrams | None:
        """Return the unigram counts for the model's tokenizer; None if `unigrams` is not set.

        Raises DataError unless exactly one table matches the tokenizer.
        """
        files = tuple(self.unigram_files(base))
        if not files:
            return None
        lm = language_model(model)
        key = files, lm.tokenizer.pieces_digest
        if key not in self._unigrams:
            self._unigrams[key] = fitting(files, lm.tokenizer, lm.name)
        return self._unigrams[key]

    def unigram_files(self, base: Sequence[Path]) -> list[Path]:
        """Return the files of unigram counts, looked up in `base`. Raises DataError if one is not found."""
        return [self.find(name, base) for name in listed(self.unigrams)]

    def how(self, lm: Model, pair_sets: Sequence[PairSet], base: Sequence[Path]) -> dict[str, object]:
        """Return the signature fields for the scoring and for the column treated as acceptable."""
        lm = sentence_model(lm)
        unigrams, hows = self.frequencies(lm, base), self.normalisations()
        self._check_prefixes(pair_sets, lm)
        stereotypes = any(pairs.kind in STEREOTYPES for pairs in pair_sets)
        return {
            "method": self.method,
            "normalise": written(self, "normalise"),
            **constants(hows),
            **({"unigrams": cited([unigrams.file])} if unigrams is not None and unigrams.file else {}),
            **({"neutral": self.neutral} if set(PREFIXED) & set(hows) and self.neutral else {}),
            "bos": beginning(lm),
            "dtype": lm.numbers,
            "acceptable": self.acceptable if stereotypes else "good",
            **({"space": self.space} if self.space != "none" else {}),
            **({"ties": self.ties} if self.ties != "half" else {}),
            **({} if self.marks == "refuse" else {"marks": self.marks}),
            **signed_unknown(self.on_unknown),
        }

    def _check_prefixes(self, pair_sets: Sequence[PairSet], model: LanguageModel | Scores) -> None:
        """Raise MethodError if a parameter is incompatible with the presence or absence of prefixes."""
        items = [item for pairs in pair_sets for item in pairs.items]
        check_prefix(self.normalisations(), all(item.texts.get("prefix") for item in items), self.neutral)
        if not prefixed(items):
            return
        if isinstance(model, Scores):
            message = "pairs with a prefix need scores given the prefix, but a table has only scores of whole texts"
            raise MethodError(message, where=model.name, hint="measure a model, or leave these pairs out")
        if METHODS[self.method or ""].pair:
            raise MethodError(f"method '{self.method}' does not support pairs with a prefix", hint="use pll")
        if self.space == "front":
            hint = "begin the sentences with a space"
            raise MethodError("space: front does not support pairs with a prefix", hint=hint)


class MinimalPairs(MinimalPairsSettings, PairProbe[list[PairSet]]):
    """Accuracy on minimal pairs, with the effect of token length.

    `run` returns items (one row per pair) and a summary: accuracy by paradigm, phenomenon and data set, for all pairs
    and by relative token length; differences from the accuracy at A=U, with tests; accuracy by |A|−|U|; and the
    length-adjusted accuracy.
    """

    _judged: dict[tuple[Path, ...], Judgements] = PrivateAttr(default_factory=dict)

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the arguments of `read`: the files of pairs, looked up in `base`, then their column names."""
        return self.files_of(self.data, base=base)[0], *dict(self.columns).values()

    def read(self, files: tuple[Path, ...], *columns: str) -> list[PairSet]:
        """Read the pairs. Raises DataError naming file, line and field."""
        return self.pairs_of(files, self.columns)

    def items(self, read: list[PairSet]) -> Sequence[Drawn]:
        """Return the pairs to score."""
        return self.chosen(read)

    def pair_sets(self, base: Sequence[Path] = (Path(),)) -> list[PairSet]:
        """Return the sets of pairs, read at the first call. Raises DataError naming file, line and field."""
        return self.read_set(base)

    def asked(self, base: Sequence[Path] = (Path(),)) -> list[Drawn]:
        """Return the pairs to score, after checking people's judgements of them."""
        self.judgements(base)
        return self.chosen(self.pair_sets(base))

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the files of pairs, judgements and unigram counts, looked up in the directories `base`."""
        return [*(pairs.path for pairs in self.pair_sets(base)), *self._tables(base), *self.unigram_files(base)]

    def _tables(self, base: Sequence[Path]) -> list[Path]:
        return [self.find(name, base) for name in listed(self.human)]

    def judgements(self, base: Sequence[Path] = (Path(),)) -> Judgements | None:
        """Return people's judgements of the pairs; None if there are none.

        Raises DataError if they are invalid.
        """
        files = tuple(self._tables(base))
        if files and files not in self._judged:
            self._judged[files] = read_judgements(files, self.pair_sets(base))
        return self._judged[files] if files else None

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Return the sentences of the pairs, or the questions to a chat model, each with the location of its pair."""
        if not self.asks:
            return super().texts(base)
        asked = questions([item for _, item in self.asked(base)], self)
        return list(spoken(asked, phrases(self)))

    def settle(self, model: Model) -> Self:
        """Return the probe with its model-dependent parameters set. Raises MethodError if one does not suit `model`."""
        if not self.asks:
            return super().settle(model)
        given = self.model_fields_set & {*PairSettings.model_fields} - {*Settings.model_fields} - _OF_QUESTIONS
        if given:
            message = f"{min(given)} applies only to sentence scores, but elicit is {self.elicit}"
            raise MethodError(message, hint=f"remove {min(given)}, or use elicit: sentence")
        phrases(self)
        require_chat(self, language_model(model))
        return self.model_copy(update={"method": self.elicit, "normalise": ["none"]})

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the signature fields for the data and the scoring."""
        pair_sets = self.pair_sets(base)
        human = {"human": cited(self._tables(base))} if self.judgements(base) else {}
        data = {"data": cite(pair_sets), **cited_columns(dict(self.columns))}
        if self.asks:
            return {**data, **human, **self._asking(language_model(model), pair_sets)}
        return {**data, **human, **self.how(model, pair_sets, base)}

    def measure(self, session: Session) -> Measured:
        """Score all pairs, and add people's judgements."""
        drawn, judged = self.asked(session.base), self.judgements(session.base)
        session.expect(len(drawn), inputs=2)
        items, cautions = (self._answered if self.asks else self.scored)(session, drawn)
        if judged is None:
            return Measured(items, cautions)
        return Measured(judged.on(items), (*cautions, *judged.cautions))

    def _asking(self, lm: LanguageModel, pair_sets: Sequence[PairSet]) -> dict[str, object]:
        if prefixed(item for pairs in pair_sets for item in pairs.items):
            raise MethodError("pairs with a prefix cannot be put to a model as questions", hint="use elicit: sentence")
        stereotypes = any(pairs.kind in STEREOTYPES for pairs in pair_sets)
        return {
            "method": self.elicit,
            "normalise": "none",
            "question": hashlib.sha256(self.question.encode()).hexdigest()[:6],
            **signed_phrases(phrases(self)),
            **signed_elicitation(self, lm),
            "acceptable": self.acceptable if stereotypes else "good",
            **signed_unknown(self.on_unknown),
        }

    def _answered(self, session: Session, drawn: Sequence[Drawn]) -> tuple[pl.DataFrame, tuple[Note | str, ...]]:
        known, left_out = self.known(session, drawn)
        table, lost = asked_pairs(session, [(collection(pairs), item) for pairs, item in known], self)
        return table, (*left_out, *lost)

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Yield the steadiness of answers, accuracies, gaps, length adjustments, and estimates about people."""
        if self.asks:
            yield from asked_estimates(measured.items, self)
        yield from pair_estimates(measured.items, self)
        yield from human_estimates(measured.items, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[Note | str]:
        """Yield cautions about unsteady answers, token lengths, ties, poor linear fits, and people's judgements."""
        yield from steadiness_cautions(estimates, "pairs")
        yield from pair_cautions(measured.items)
        yield from line_cautions(estimates)
        yield from human_cautions(measured.items)
        method = METHODS.get(self.method or "")
        if method is None or not method.normalised:
            yield from length_cautions(measured.items, estimates)


def collection(pairs: PairSet) -> str:
    """Return the name of the data set that a file belongs to.

    It is the name of the file for plain tables, stereotypes and MultiBLiMP, otherwise the kind of file.
    """
    return pairs.name if pairs.kind in ("plain", "multiblimp", "stereotypes") else pairs.kind


def cite(pair_sets: Sequence[PairSet]) -> str:
    """Return the entry for the data in a signature.

    A data set with one file is cited by the name and hash of the file, one with several files by its own name, the
    number of files and a common hash.
    """
    files: dict[str, list[PairSet]] = {}
    for pairs in pair_sets:
        files.setdefault(collection(pairs), []).append(pairs)
    parts = []
    for name, members in files.items():
        if len(members) == 1:
            parts.append(f"{members[0].name}#{members[0].sha256[:6]}")
        else:
            digest = hashlib.sha256("".join(sorted(p.sha256 for p in members)).encode()).hexdigest()
            parts.append(f"{name}({len(members)})#{digest[:6]}")
    return join_names(parts)
