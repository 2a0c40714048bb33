"""Minimal pairs: does the model prefer the acceptable sentence, and how much of that is token length?

A pair counts 1 if score(acceptable) > score(unacceptable), ½ if they tie, else 0. Accuracy is the mean. Ueda et al.
(LREC-COLING 2024) split the pairs by the tokens of the acceptable (A) and unacceptable (U) sentence: under an unbiased
score the accuracies of A=U, A>U and A<U agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import polars as pl
from pydantic import AfterValidator, Field, PrivateAttr, model_validator

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
from penchant.instruments.fields import CITED, Table, Written, cited_columns, written
from penchant.instruments.minimal_pairs.columns import PairColumns
from penchant.instruments.minimal_pairs.data import PAIR, PairSet, pair_rows, read_many, whole
from penchant.instruments.minimal_pairs.estimates import DIFFERENCES, TIE, line_cautions, pair_cautions, pair_estimates
from penchant.instruments.minimal_pairs.formats import STEREOTYPES
from penchant.instruments.minimal_pairs.human import COLUMNS, Judgements, read_judgements
from penchant.instruments.minimal_pairs.human_estimates import human_cautions, human_estimates, length_cautions
from penchant.instruments.minimal_pairs.marks import Marks
from penchant.instruments.minimal_pairs.scoring import (
    ROLES,
    prefix_cautions,
    prefixed,
    scored_pairs,
    unigram_cautions,
    with_unigrams,
)
from penchant.instruments.parameters import Columns, Data, Files, Given, default_of
from penchant.instruments.session import Session
from penchant.instruments.unknown import OnUnknown, known_items, known_texts, signed_unknown
from penchant.models.load import LanguageModel
from penchant.records import Estimate, Signature
from penchant.report.no_difference import Scale
from penchant.tables.documents import distinct
from penchant.tables.places import listed

Normalisation = Literal["none", "mean", "pen", "slln", "slor", "pmi"]
Paths = str | Annotated[list[str], Field(min_length=1)]
PAIRS = Table(PAIR, pair_rows)
"""Pairs given in Python."""


Normalisations = Normalisation | Annotated[list[Normalisation], Field(min_length=1)] | None


def _each_once(names: Normalisations) -> Normalisations:
    return distinct(names) if isinstance(names, list) else names


def _applying(method: Method, *, unigrams: bool) -> list[str]:
    """The usual normalisations that apply to a method, and with `unigrams` those that need them."""
    return ["none"] if method.normalised else [*USUAL, *(FREQUENCY if unigrams else ())]


class PairProbe(Probe):
    """The base of probes on minimal pairs: how pairs are scored and estimates made."""

    limited: ClassVar[str] = "pairs"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "lm-eval": {"normalise": "none", "space": "front", "ties": "good"},
        "babylm": {"normalise": "none", "ties": "good"},
    }
    difference_scale: ClassVar[Scale] = Scale(
        dict.fromkeys(DIFFERENCES, 1),
        "give a share of pairs, such as 0.05 for 5 points",
        100,
        "percentage points",
        ".1f",
    )

    method: str | None = None
    """How a sentence is scored; see `penchant list methods`. Default: lp for causal, pll for masked models."""
    normalise: Annotated[
        Given[Normalisations, Normalisation | Iterable[Normalisation] | None],
        AfterValidator(_each_once),
        Written(separator=","),
    ] = default_of(default=None)
    """Normalisations to report, all from one scoring pass: `none`, `mean`, `pen`, `slln`, `slor`, `pmi` (see penchant
    list methods). Default: none, mean and pen, if they apply to the method, and slor where `unigrams` are named."""
    unigrams: Annotated[Given[Paths | None, Files | None], CITED] = default_of(default=None)
    """Tables of penchant corpus unigrams, of which each model takes the one of its own tokenizer; slor needs them.
    Default: none."""
    neutral: str = ""
    """For `pmi`: the text after which sentences are read without their prefix, such as one of the same domain, as it is
    written. Default: none, so that they stand at the beginning."""
    acceptable: Annotated[Literal["sent_more", "sent_less"], Written(elsewhere=("good",))] = "sent_more"
    """CrowS-Pairs only: the column of the sentence that counts as the acceptable one. Default: sent_more."""
    compat: str | None = None
    """Whose conventions fill the parameters that are not set: `lm-eval` or `babylm`; see `penchant list compat`.
    Default: none."""
    space: Literal["none", "front"] = "none"
    """Whether causal models read a space in `front` of each sentence, as in lm-eval, or `none` (default). Masked models
    read none."""
    ties: Literal["half", "good"] = "half"
    """What a pair counts whose sentences score the same: `half` (default), or as the acceptable one being preferred
    (`good`), as where an argmax takes the first."""
    marks: Marks = "refuse"
    """Whether marks of acceptability (*, ?, ??, #, %) at the beginning of one sentence of a pair alone are refused
    (default), since a model scores them as text, or are taken out of all sentences and counted (`strip`)."""
    on_unknown: OnUnknown = "stop"
    """Whether pairs that hold something the tokenizer does not know `stop` the study, which lists them (default),
    or are left out and counted (`skip`)."""

    _read: dict[tuple[tuple[Path, ...], tuple[tuple[str, str], ...]], list[PairSet]] = PrivateAttr(default_factory=dict)
    _unigrams: dict[tuple[tuple[Path, ...], str], Unigrams] = PrivateAttr(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _compatible(cls, fields: Any) -> Any:
        """Fill parameters that are not set from the preset."""
        name = fields.get("compat") if isinstance(fields, dict) else None
        if not isinstance(name, str):
            return fields
        if name not in cls.presets:
            raise ValueError(f"unknown compat '{name}'; use one of {', '.join(cls.presets)}")
        return {**cls.presets[name], **fields}

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

    def normalisations(self) -> list[str]:
        """The normalisations as a list; empty where they are not set."""
        return listed(self.normalise)

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

    def scored(self, session: Session, pair_sets: Sequence[PairSet]) -> tuple[pl.DataFrame, tuple[str, ...]]:
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


class MinimalPairs(PairProbe):
    """Accuracy on minimal pairs, with the effect of token length.

    `run` returns items (one row per pair) and a summary: accuracy by paradigm, phenomenon and data set, for all pairs
    and by token-length split, gaps to A=U with tests, accuracy by |A|−|U|, and the length-adjusted accuracy.
    """

    name: ClassVar[str] = "minimal-pairs"

    data: Annotated[Given[Paths, Data], CITED, PAIRS] = Field(kw_only=False)
    """Files, directories or patterns of pairs: BLiMP, RuBLiMP, TurBLiMP, SLING, MultiBLiMP, CrowS-Pairs, COMPS, a plain
    table, or one of stereotypes, recognised by their columns. In Python, also pairs of two sentences, the good one
    first; with a group they are mappings, or a frame, with the columns good, bad and group."""
    columns: Annotated[Given[PairColumns, PairColumns | Columns], CITED] = default_of(default=PairColumns())
    """The columns of a plain table, where they are not called good, bad, group and id, or of one of stereotypes, where
    they are not called more, less, kind and direction; naming any makes the files such tables."""
    human: Annotated[Given[Paths | None, Data | None], CITED, Table(COLUMNS)] = default_of(default=None)
    """Tables of people's judgements of all pairs or some: columns pair (its id) and rater, and either choice (good or
    bad) or rating_good and rating_bad (numbers, higher is better); dataset (the name of the pairs' file without its
    suffix) where files have pairs of the same id; good and bad, by which a pair is found that has another name there,
    must be unchanged. An empty cell is no judgement. The model is then held against the majority of the raters and
    correlated with them. Default: none."""

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
        cautions = tuple(caution for pairs in pair_sets for caution in pairs.cautions)
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
