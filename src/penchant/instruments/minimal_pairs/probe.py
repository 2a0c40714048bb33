"""Minimal pairs: does the model prefer the acceptable sentence, and how much of that is token length?

A pair counts 1 if score(acceptable) > score(unacceptable), ½ if they tie, else 0. Accuracy is the mean. Ueda et al.
(LREC-COLING 2024) split the pairs by the tokens of the acceptable (A) and unacceptable (U) sentence: under an unbiased
score the accuracies of A=U, A>U and A<U agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import polars as pl
from pydantic import PrivateAttr

from penchant.corpus.sampling import spread
from penchant.engine.methods import METHODS, Method, method_for
from penchant.engine.normalising import (
    CONSTANTS,
    FREQUENCY,
    PREFIXED,
    USUAL,
    check_normalise,
    check_prefix,
    check_unigrams,
    constants,
)
from penchant.engine.scorer import language_model
from penchant.engine.unigrams import Unigrams, fitting
from penchant.errors import MethodError
from penchant.files import cited, join_names
from penchant.instruments.base import Measured, Model, Probe, beginning
from penchant.instruments.fields import cited_columns, written
from penchant.instruments.minimal_pairs.columns import PairColumns
from penchant.instruments.minimal_pairs.data import PairSet, read_many, whole
from penchant.instruments.minimal_pairs.estimates import TIE, line_cautions, pair_cautions, pair_estimates
from penchant.instruments.minimal_pairs.formats import STEREOTYPES
from penchant.instruments.minimal_pairs.human import Judgements, read_judgements
from penchant.instruments.minimal_pairs.human_estimates import human_cautions, human_estimates, length_cautions
from penchant.instruments.minimal_pairs.scoring import (
    ROLES,
    prefix_cautions,
    prefixed,
    scored_pairs,
    unigram_cautions,
    with_unigrams,
)
from penchant.instruments.minimal_pairs.settings import MinimalPairsSettings, PairSettings
from penchant.instruments.session import Session
from penchant.instruments.unknown import known_items, known_texts, signed_unknown
from penchant.models.load import LanguageModel
from penchant.records import Estimate, Signature
from penchant.tables.places import listed
from penchant.wording.phrases import Note


def _applying(method: Method, *, unigrams: bool) -> list[str]:
    """The usual normalisations that apply to a method, and with `unigrams` those that need them."""
    return ["none"] if method.normalised else [*USUAL, *(FREQUENCY if unigrams else ())]


class PairProbe(PairSettings, Probe):
    """The base of probes on minimal pairs: how pairs are scored and estimates made."""

    _read: dict[tuple[tuple[Path, ...], tuple[tuple[str, str], ...]], list[PairSet]] = PrivateAttr(default_factory=dict)
    _unigrams: dict[tuple[tuple[Path, ...], str], Unigrams] = PrivateAttr(default_factory=dict)

    def settle(self, model: Model) -> Self:
        """The probe with method, normalisations and the space in front decided. Raises MethodError where they do not
        fit the model."""
        lm = language_model(model)
        method = method_for(self.method, lm, pair=True)
        hows = self.normalisations() or _applying(method, unigrams=self.unigrams is not None)
        for how in hows:
            check_normalise(how, method)
        check_unigrams(hows, self.unigrams is not None)
        space = self.space if lm.kind == "causal" else "none"
        return self.model_copy(update={"method": method.name, "normalise": hows, "space": space})

    @classmethod
    def implied(cls, signature: Signature) -> Collection[str]:
        """The constants of normalisations, and these where they are all that apply to the method."""
        method = METHODS.get(signature.get("method", ""))
        named = "unigrams" in signature
        usual = method is not None and signature.get("normalise") == ",".join(_applying(method, unigrams=named))
        return {*(f"{how}-alpha" for how in CONSTANTS), *(("normalise",) if usual else ())}

    def signed(self, estimate: Estimate, signature: Signature) -> Signature:
        """The signature with the normalisation of the estimate; one about people alone has none."""
        how = estimate.by["normalise"]
        return signature.with_(normalise=how) if how else signature

    def pairs_in(
        self, data: str | Sequence[str], base: Sequence[Path], columns: PairColumns | None = None
    ) -> list[PairSet]:
        """The pairs of some files, checked and cached. Raises DataError naming file, line and field."""
        places = tuple(file for name in listed(data) for file in self.find_all(name, base))
        named = tuple(dict(columns or PairColumns()).items())
        if (places, named) not in self._read:
            self._read[places, named] = read_many(places, dict(named), acceptable=self.acceptable, marks=self.marks)
        return self._read[places, named]

    def asked(self, pair_sets: Sequence[PairSet]) -> list[PairSet]:
        """The sets with the pairs that are scored: all, or in a pilot some of every paradigm. Which, depends on their
        sentences alone, so that sets that share pairs mostly keep the same ones."""
        if self.limit is None:
            return list(pair_sets)
        drawn = spread(
            [(number, item) for number, pairs in enumerate(pair_sets) for item in pairs.items],
            self.limit,
            seed=self.seed,
            content=lambda one: [*one[1].texts.values()],
            group=lambda one: one[1].labels["paradigm"],
        )
        return [
            replace(pairs, items=items)
            for number, pairs in enumerate(pair_sets)
            if (items := tuple(item for place, item in drawn if place == number))
        ]

    def scored(self, session: Session, pair_sets: Sequence[PairSet]) -> tuple[pl.DataFrame, tuple[Note | str, ...]]:
        """The scores of the pairs of some sets, one row per pair, and what must be said of those left out."""
        items, cautions = known_items(
            session.lm,
            [(collection(pairs), item) for pairs in pair_sets for item in pairs.items],
            lambda pair: [whole(pair[1], role) for role in ROLES],
            lambda pair: pair[1].place,
            self.on_unknown,
            "pairs",
        )
        front = " " if self.space == "front" else ""
        neutral = self.neutral if set(PREFIXED) & set(self.normalisations()) else None
        table, scores = scored_pairs(session.scorer, items, self.method, front=front, neutral=neutral)
        cautions = (*cautions, *prefix_cautions(item for _, item in items))
        if (unigrams := self.frequencies(session.lm, session.base)) is not None:
            table = with_unigrams(table, scores, unigrams)
            cautions = (*cautions, *unigram_cautions(table))
        return table if self.ties == "half" else table.with_columns(pl.lit(1.0).alias(TIE)), cautions

    def frequencies(self, model: Model, base: Sequence[Path]) -> Unigrams | None:
        """The unigrams of the model's own tokenizer; None where none are named. Raises DataError."""
        lm, files = language_model(model), tuple(self.unigram_files(base))
        key = files, lm.tokenizer.pieces_digest
        if files and key not in self._unigrams:
            self._unigrams[key] = fitting(files, lm.tokenizer, lm.name)
        return self._unigrams[key] if files else None

    def unigram_files(self, base: Sequence[Path]) -> list[Path]:
        """The tables of unigrams. Raises DataError."""
        return [self.find(name, base) for name in listed(self.unigrams)]

    def read_by(self, model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """The texts, without those that are left out."""
        return known_texts(model, texts, self.on_unknown)

    def how(self, lm: Model, pair_sets: Sequence[PairSet], base: Sequence[Path]) -> dict[str, object]:
        """The part of a signature about scoring and about which sentence counts as acceptable."""
        lm = language_model(lm)
        unigrams, hows = self.frequencies(lm, base), self.normalisations()
        self._check_prefixes(pair_sets)
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

    def _check_prefixes(self, pair_sets: Sequence[PairSet]) -> None:
        """Raise MethodError where parameters do not fit pairs with a prefix, or pairs without."""
        items = [item for pairs in pair_sets for item in pairs.items]
        check_prefix(self.normalisations(), all(item.texts.get("prefix") for item in items), self.neutral)
        if not prefixed(items):
            return
        if METHODS[self.method or ""].pair:
            raise MethodError(f"method '{self.method}' does not take pairs with a prefix", hint="use pll")
        if self.space == "front":
            raise MethodError("space: front does not take pairs with a prefix", hint="write the space before them")


class MinimalPairs(MinimalPairsSettings, PairProbe):
    """Accuracy on minimal pairs, with the effect of token length.

    `run` returns items (one row per pair) and a summary: accuracy by paradigm, phenomenon and data set, for all pairs
    and by token-length split, gaps to A=U with tests, accuracy by |A|−|U|, and the length-adjusted accuracy.
    """

    _judged: dict[tuple[Path, ...], Judgements] = PrivateAttr(default_factory=dict)

    def pair_sets(self, base: Sequence[Path] = (Path(),)) -> list[PairSet]:
        """The pairs, checked and cached. Raises DataError naming file, line and field."""
        return self.pairs_in(self.data, base, self.columns)

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The files that the pairs, the judgements of them and the frequencies of tokens are read from."""
        return [*(pairs.path for pairs in self.pair_sets(base)), *self._tables(base), *self.unigram_files(base)]

    def _tables(self, base: Sequence[Path]) -> list[Path]:
        return [self.find(name, base) for name in listed(self.human)]

    def judgements(self, base: Sequence[Path] = (Path(),)) -> Judgements | None:
        """What people judged of the pairs, checked and cached; None where no table is named. Raises DataError naming
        file, line and field."""
        files = tuple(self._tables(base))
        if files and files not in self._judged:
            self._judged[files] = read_judgements(files, self.pair_sets(base))
        return self._judged[files] if files else None

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Both sentences of every pair, with their places. What people judged of them is checked, too."""
        self.judgements(base)
        return list(sentences(self.asked(self.pair_sets(base))))

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """The pairs, then how they are scored."""
        pair_sets = self.pair_sets(base)
        human = {"human": cited(self._tables(base))} if self.judgements(base) else {}
        return {
            "data": cite(pair_sets),
            **cited_columns(dict(self.columns)),
            **human,
            **self.how(model, pair_sets, base),
        }

    def measure(self, session: Session) -> Measured:
        """Score every pair, and put beside it what people judged of it."""
        judged = self.judgements(session.base)
        pair_sets = self.asked(self.pair_sets(session.base))
        session.expect(sum(len(pairs.items) for pairs in pair_sets), inputs=2)
        cautions: tuple[Note | str, ...] = tuple(caution for pairs in pair_sets for caution in pairs.cautions)
        items, left_out = self.scored(session, pair_sets)
        cautions = (*cautions, *left_out)
        return (
            Measured(items, cautions) if judged is None else Measured(judged.on(items), (*cautions, *judged.cautions))
        )

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Accuracies, splits, gaps and length adjustment, by normalisation and data set; then what people say."""
        yield from pair_estimates(measured.items, self)
        yield from human_estimates(measured.items, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Cautions about unequal token lengths, ties, small paradigms, and lines that do not fit."""
        yield from pair_cautions(measured.items)
        yield from line_cautions(estimates)
        yield from human_cautions(measured.items)
        method = METHODS.get(self.method or "")
        if method is None or not method.normalised:
            yield from length_cautions(measured.items, estimates)


def sentences(pair_sets: Sequence[PairSet]) -> Iterator[tuple[str, str]]:
    """Both sentences of every pair, with their places."""
    for pairs in pair_sets:
        for item in pairs.items:
            for role in ROLES:
                yield whole(item, role), item.place


def collection(pairs: PairSet) -> str:
    """The data set a file belongs to: all files of one kind, such as BLiMP, make one; every plain table is its own, and
    so is every language of MultiBLiMP."""
    return pairs.name if pairs.kind in ("plain", "multiblimp", "stereotypes") else pairs.kind


def cite(pair_sets: Sequence[PairSet]) -> str:
    """The data as cited in a signature: name and hash of the files of each collection."""
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
