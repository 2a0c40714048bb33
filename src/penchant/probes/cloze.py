"""Cloze valence: how a model leans between two varieties of a language.

A sentence s with one gap calls for a point ρ(s) of a scale from −1 (one variety) to 1 (the other). The model's k most
probable words w have probabilities p and are worth σ(w, s) on the scale:

    β = Σ σ·p          where the model leans
    δ = 1 − ½|ρ − β|   how well that suits the sentence

Source: Cuscito et al. 2024, "How BERT Speaks Shakespearean English?". A word nobody rated adds nothing to β; the
rated mass, Σ p over rated words, stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from penchant.data.cloze import (
    GAP,
    ClozeSet,
    Sentence,
    cited,
    read_candidates,
    read_cloze,
    read_lexicon,
    read_ratings,
)
from penchant.data.registry import find_data
from penchant.engine.methods import method_for
from penchant.engine.scorer import Filler, Scorer, language_model
from penchant.errors import DataError, MethodError
from penchant.models.load import LanguageModel
from penchant.probes.base import Model, Probe, Run, beginning
from penchant.probes.cloze_summary import EVERYTHING, measured, summarise
from penchant.probes.valences import PIECE, UNRATED, Lookup, Valences, by_sentence, from_corpora
from penchant.records import Result, Signature
from penchant.stats.log_odds import SIGNIFICANT, STRONG, WEAK

FILL = "fill"
SUMS = ("lp", "pll", "pll-word-l2r")
"""Scores of whole sentences that are log-probabilities, so that a softmax over candidates means something."""


class Corpora(BaseModel):
    """Two texts to estimate valences from: words typical of `low` are worth less than 0."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    low: str
    high: str
    minimum: Annotated[int, Field(ge=1)] = 10
    """Words that occur fewer times in both texts together stay unrated."""
    prior_size: Annotated[float, Field(gt=0)] = 10_000
    """Words that the prior (both texts together) is worth in each text."""
    significant: Annotated[float, Field(ge=0)] = SIGNIFICANT
    """|z| below which a word is worth 0."""
    weak: Annotated[float, Field(ge=0)] = WEAK
    """|log-odds| below which a word is worth 0."""
    strong: Annotated[float, Field(ge=0)] = STRONG
    """|log-odds| from which a word is worth ±1 and not ±½."""


class Cloze(Probe):
    """Leaning between two varieties of a language, from the words a model puts into gaps.

    `run` gives items (one row a sentence: the predicted words with probability, valence and its source, β, δ, rated
    mass) and a summary: mean β, δ and rated mass by group, with bootstrap intervals and with what they would be had
    some ratings been half a point higher or lower.
    """

    name: ClassVar[str] = "cloze"

    data: str
    """A test set: a bundled name, a directory with set.yaml, or a table of sentences."""
    method: str | None = None
    """`fill` takes the k most probable tokens at the gap (the default; masked models). A sentence score (lp, pll or
    pll-word-l2r; lp is the default for causal models) takes a closed list of candidates, with the softmax of the
    scores of the whole sentences as their probabilities."""
    k: Annotated[int, Field(ge=1)] = 10
    """How many of the most probable words count."""
    ratings: str | list[str] | None = None
    """Tables of ratings, before those of the test set."""
    lexicon: str | list[str] | None = None
    """Lexicons, before those of the test set."""
    corpora: Corpora | None = None
    """Two texts to estimate the valence of words from that nothing else rates."""
    candidates: str | None = None
    """A table of candidates for sentence scores; default the test set's own, else the words rated in each sentence."""
    renormalise: bool = False
    """Divide β by the rated mass, as if unrated words had not been predicted."""
    unrated: Literal["zero", "error"] = "zero"
    """Whether an unrated word adds nothing to β or stops the study."""
    moves: Annotated[int, Field(ge=1)] = 50
    """Sensitivity: how many ratings are moved by half a point in each draw."""
    draws: Annotated[int, Field(ge=1)] = 1000
    """Sensitivity: how many draws."""
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    resamples: Annotated[int, Field(ge=100)] = 10_000
    seed: int = 0

    _read: dict[Path, ClozeSet] = PrivateAttr(default_factory=dict)

    def test_set(self, base: Sequence[Path] = (Path(),)) -> ClozeSet:
        """The sentences, read once and checked. Raises DataError naming file, line and field."""
        place = find_data(self.data, base=base)
        if place not in self._read:
            self._read[place] = _checked(read_cloze(place))
        return self._read[place]

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """What stands before and after each gap, with its place."""
        sentences = self.test_set(base).sentences
        parts = ((part.strip(), s.item.place) for s in sentences for part in s.text.split(GAP))
        return [(part, place) for part, place in parts if part]

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The test set's own files and those the study names."""
        return [*self.test_set(base).files, *self._named(base)]

    def _named(self, base: Sequence[Path]) -> list[Path]:
        names = [*_listed(self.ratings), *_listed(self.lexicon)]
        names += [self.candidates] if self.candidates else []
        names += [self.corpora.low, self.corpora.high] if self.corpora else []
        return [find_data(name, base=base) for name in names]

    def valences(self, base: Sequence[Path] = (Path(),)) -> Valences:
        """Every source of valences, in the order of precedence. Raises DataError."""
        test_set = self.test_set(base)
        ids = [sentence.item.id for sentence in test_set.sentences]
        find = partial(find_data, base=base)
        sources = [
            ("ratings", by_sentence(read_ratings(map(find, _listed(self.ratings)), ids))),
            ("set ratings", by_sentence(read_ratings(test_set.ratings, ids))),
            ("lexicon", {"": Lookup.of(read_lexicon(map(find, _listed(self.lexicon))))}),
            ("set lexicon", {"": Lookup.of(read_lexicon(test_set.lexicon))}),
        ]
        if self.corpora:
            numbers = self.corpora.model_dump(exclude={"low", "high"})
            found = from_corpora(find(self.corpora.low), find(self.corpora.high), **numbers)
            sources.append(("corpora", {"": Lookup.of(found)}))
        return Valences(sources)

    def run(self, model: Model, run: Run | None = None) -> Result:
        """Predict, rate and summarise with one model."""
        run = run or Run()
        lm = language_model(model)
        method = self._method(lm)
        test_set = self.test_set(run.base)
        valences = self.valences(run.base)
        lists = None if method == FILL else self._lists(test_set, run.base)

        def progress(done: float) -> None:
            total = len(test_set.sentences) if lists is None else sum(map(len, lists))
            run.progress(done, total)

        scorer = Scorer(lm, cache=run.cache, batch_tokens=run.batch_tokens, progress=progress)
        try:
            predict = (
                self._filled(scorer, test_set) if lists is None else self._weighed(scorer, test_set, lists, method)
            )
            items = self._table(test_set, list(predict), valences)
        finally:
            run.counts = scorer.counts
            scorer.close()
        signature = Signature.of(
            self.name,
            model=lm.name,
            data=f"{test_set.name}#{test_set.sha256[:6]}",
            scale=f"{test_set.scale.low} < {test_set.scale.high}",
            method=method,
            k=self.k,
            **({"candidates": self._cited_candidates(test_set, run.base)} if lists is not None else {}),
            **({"bos": beginning(lm)} if lm.kind == "causal" else {}),
            **self._cited_valences(test_set, run.base),
            unrated=self.unrated,
            renormalise="yes" if self.renormalise else "no",
            moves=self.moves,
            draws=self.draws,
            dtype=lm.dtype,
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
        )
        return self.result(items, signature)

    def result(self, items: pl.DataFrame, signature: Signature) -> Result:
        """The summary of rated predictions; needs no model."""
        summary, cautions = summarise(items, signature)
        return Result(signature, items, summary, cautions)

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

    def _lists(self, test_set: ClozeSet, base: Sequence[Path]) -> list[list[str]]:
        """The candidates of each sentence."""
        ids = [sentence.item.id for sentence in test_set.sentences]
        path = find_data(self.candidates, base=base) if self.candidates else test_set.candidates
        if path:
            found = read_candidates(path, ids)
        else:
            files = [*(find_data(name, base=base) for name in _listed(self.ratings)), *test_set.ratings]
            found = {}
            for rating in read_ratings(files, ids):
                words = found.setdefault(rating.sentence, [])
                if rating.word not in words and any(c.isalnum() for c in rating.word):
                    words.append(rating.word)
        lists = []
        for sentence in test_set.sentences:
            # Two spellings that fill a gap at the start alike are one candidate.
            distinct = {filled(sentence.text, word): word for word in reversed(found.get(sentence.item.id, []))}
            lists.append(list(distinct.values())[::-1])
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

    def _weighed(
        self, scorer: Scorer, test_set: ClozeSet, lists: list[list[str]], method: str
    ) -> Iterator[list[Filler]]:
        """Each sentence's candidates with the softmax of the scores of the filled sentences.

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
            (filled(sentence.text, word), sentence.item.place)
            for sentence, words in zip(test_set.sentences, lists, strict=True)
            for word in words
        ]
        scores = scorer.score(texts, method)
        for words in lists:
            values = np.array([next(scores).score for _ in words])
            logprobs = values - np.logaddexp.reduce(values)
            order = np.argsort(-logprobs, kind="stable")[: self.k].tolist()
            yield [Filler(words[i], float(logprobs[i])) for i in order]

    def _table(self, test_set: ClozeSet, predictions: list[list[Filler]], valences: Valences) -> pl.DataFrame:
        """One row a sentence: labels, what was predicted, what it is worth and who says so, β, δ, rated mass."""
        columns: dict[str, list[Any]] = {"id": [], "text": [], "expected": []}
        labels = list(dict.fromkeys(label for s in test_set.sentences for label in s.item.labels))
        columns |= {label: [] for label in labels}
        columns |= {"words": [], "probs": [], "valences": [], "sources": []}
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
        kinds: dict[str, Any] = {
            "expected": pl.Float64,
            "words": pl.List(pl.String),
            "probs": pl.List(pl.Float64),
            "valences": pl.List(pl.Float64),
            "sources": pl.List(pl.String),
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
        find: Callable[[str], Path] = partial(find_data, base=base)
        texts = [find(self.corpora.low), find(self.corpora.high)] if self.corpora else []
        numbers = self.corpora.model_dump(exclude={"low", "high"}).values() if self.corpora else ()
        return {
            "ratings": cited([*map(find, _listed(self.ratings)), *test_set.ratings]),
            "lexicon": cited([*map(find, _listed(self.lexicon)), *test_set.lexicon]),
            "corpora": ",".join([cited(texts), *(f"{number:g}" for number in numbers)]),
        }

    def _cited_candidates(self, test_set: ClozeSet, base: Sequence[Path]) -> str:
        path = find_data(self.candidates, base=base) if self.candidates else test_set.candidates
        return cited([path]) if path else "rated"


def _checked(test_set: ClozeSet) -> ClozeSet:
    """The same. Raises DataError for a group whose name the summary needs for itself."""
    for sentence in test_set.sentences:
        if sentence.item.labels["group"] == EVERYTHING:
            raise DataError(
                f"a group cannot be called '{EVERYTHING}', which stands for all sentences",
                where=sentence.item.place,
                hint="give the group another name",
            )
    return test_set


def filled(text: str, word: str) -> str:
    """The sentence with the word in its gap, with a capital where the gap comes first."""
    initial = text.lstrip().startswith(GAP)
    return text.replace(GAP, word[:1].upper() + word[1:] if initial else word)


def _listed(value: str | Sequence[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())
