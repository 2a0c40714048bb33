"""Minimal pairs: does the model prefer the acceptable sentence, and how much of that is token length?

A pair counts 1 if score(acceptable) > score(unacceptable), ½ if they tie, else 0. Accuracy is the mean. Ueda et al.
(LREC-COLING 2024) split the pairs by the tokens of the acceptable (A) and unacceptable (U) sentence: under an unbiased
score the accuracies of A=U, A>U and A<U agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import polars as pl
from pydantic import Field, PrivateAttr

from penchant.data.pairs import PairSet, read_many
from penchant.data.registry import find_data
from penchant.engine.methods import NORMALISATIONS, PEN_ALPHA, check_normalise, method_for
from penchant.engine.scorer import Scorer, SentenceScore, language_model
from penchant.probes.base import Model, Probe, Run, beginning
from penchant.probes.pair_summary import summarise
from penchant.records import Item, Result, Signature

Normalisation = Literal["none", "mean", "pen"]


class PairProbe(Probe):
    """How pairs are scored and estimates made, whatever the sets of pairs."""

    method: str | None = None
    """How a sentence is scored (`penchant list methods`); default lp for causal, pll for masked models."""
    normalise: Normalisation | list[Normalisation] | None = None
    """Which normalisations to report, all from one scoring pass; default all that apply to the method."""
    acceptable: Literal["sent_more", "sent_less"] = "sent_more"
    """CrowS-Pairs: the sentence that plays the acceptable one."""
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """Confidence level of the intervals."""
    resamples: Annotated[int, Field(ge=100)] = 10_000
    """Bootstrap resamples and randomisation draws."""
    seed: int = 0


class MinimalPairs(PairProbe):
    """Accuracy on minimal pairs with the token-length bias laid open.

    `run` gives items (one row a pair) and a summary: accuracy by paradigm, phenomenon and data set, for all pairs and
    by token-length split, gaps to A=U with tests, accuracy by |A|−|U|, and the length-adjusted accuracy.
    """

    name: ClassVar[str] = "minimal-pairs"

    data: str | Annotated[list[str], Field(min_length=1)]
    """Files or directories of pairs: BLiMP, CrowS-Pairs, COMPS or a plain table, found by content."""

    _read: dict[tuple[Path, ...], list[PairSet]] = PrivateAttr(default_factory=dict)

    def pair_sets(self, base: Sequence[Path] = (Path(),)) -> list[PairSet]:
        """The pairs, read once and checked. Raises DataError naming file, line and field."""
        places = tuple(find_data(name, base=base) for name in _listed(self.data))
        if places not in self._read:
            self._read[places] = read_many(places, acceptable=self.acceptable)
        return self._read[places]

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Both sentences of every pair, with their places."""
        return [
            (item.texts[role], item.place)
            for pair_set in self.pair_sets(base)
            for item in pair_set.items
            for role in ("good", "bad")
        ]

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The files the pairs are read from."""
        return [pairs.path for pairs in self.pair_sets(base)]

    def run(self, model: Model, run: Run | None = None) -> Result:
        """Score every pair with one model and summarise."""
        run = run or Run()
        lm = language_model(model)
        method = method_for(self.method, lm, pair=True)
        wanted = _listed(self.normalise) or [how for how in NORMALISATIONS if how == "none" or not method.normalised]
        for how in wanted:
            check_normalise(how, method)
        pair_sets = self.pair_sets(run.base)
        items = [(collection(pairs), item) for pairs in pair_sets for item in pairs.items]

        def progress(done: float) -> None:
            run.progress(done / 2, len(items))

        scorer = Scorer(lm, cache=run.cache, batch_tokens=run.batch_tokens, progress=progress)
        try:
            triples = ((item.texts["good"], item.texts["bad"], item.place) for _, item in items)
            table = _table(items, list(scorer.score_pairs(triples, method.name)))
        finally:
            run.counts = scorer.counts
            scorer.close()
        signature = Signature.of(
            self.name,
            model=lm.name,
            data=_cite(pair_sets),
            method=method.name,
            normalise=",".join(wanted),
            **({"pen-alpha": PEN_ALPHA} if "pen" in wanted else {}),
            bos=beginning(lm),
            dtype=lm.dtype,
            acceptable=self.acceptable if any(p.kind == "crows-pairs" for p in pair_sets) else "good",
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
        )
        return self.result(table, signature, tuple(c for pairs in pair_sets for c in pairs.cautions))

    def result(self, items: pl.DataFrame, signature: Signature, cautions: tuple[str, ...] = ()) -> Result:
        """The summary of scored items; needs no model."""
        summary, found = summarise(items, signature, level=self.level, resamples=self.resamples, seed=self.seed)
        return Result(signature, items, summary, tuple(dict.fromkeys((*cautions, *found))))


def _listed(value: str | Sequence[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def collection(pairs: PairSet) -> str:
    """The data set a file belongs to: all BLiMP files make one, a plain table is its own."""
    return pairs.name if pairs.kind == "plain" else pairs.kind


def _cite(pair_sets: Sequence[PairSet]) -> str:
    """The data in a signature: name and hash of each collection's files."""
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
    return "+".join(parts)


def _table(items: Sequence[tuple[str, Item]], scores: Sequence[tuple[SentenceScore, SentenceScore]]) -> pl.DataFrame:
    """One row a pair: labels, texts, token counts, scores, and every token's log-probability."""
    labels = sorted({label for _, item in items for label in item.labels} - {"dataset"})
    columns: dict[str, pl.Series] = {
        "dataset": pl.Series([name for name, _ in items], dtype=pl.String),
        "file": pl.Series([item.labels["dataset"] for _, item in items], dtype=pl.String),
        "id": pl.Series([item.id for _, item in items], dtype=pl.String),
    }
    for label in labels:
        columns[label] = pl.Series([item.labels.get(label, "") for _, item in items], dtype=pl.String)
    for side, role in enumerate(("good", "bad")):
        chosen = [pair[side] for pair in scores]
        columns[role] = pl.Series([s.text for s in chosen], dtype=pl.String)
        columns[f"tokens_{role}"] = pl.Series([s.n for s in chosen], dtype=pl.Int32)
        columns[f"score_{role}"] = pl.Series([s.score for s in chosen], dtype=pl.Float64)
        columns[f"pieces_{role}"] = pl.Series([list(s.tokens) for s in chosen], dtype=pl.List(pl.String))
        columns[f"logprobs_{role}"] = pl.Series(
            [[None if v != v else v for v in s.token_logprobs.tolist()] for s in chosen],
            dtype=pl.List(pl.Float32),
        )
    return pl.DataFrame(columns).with_columns((pl.col("tokens_good") - pl.col("tokens_bad")).alias("difference"))
