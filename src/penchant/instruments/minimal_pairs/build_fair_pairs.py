"""Fair minimal pairs: pairs whose two sentences have equal numbers of tokens under several tokenizers.

Such a set is generated from a grammar, filtered from an existing set, or made by repairing the unequal pairs of an
existing set (see `repair_lengths`). The result consists of rows with token counts, in BLiMP's format or that of the
existing set, and a table of outcomes by paradigm.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from penchant.errors import MethodError
from penchant.grammar.generate import Generated, generate
from penchant.grammar.grammar import Grammar
from penchant.instruments.minimal_pairs.data import PairSet, refuse_prefixes
from penchant.instruments.minimal_pairs.formats import GRAMMAR
from penchant.instruments.minimal_pairs.pair_credits import ALL
from penchant.models.load import load_tokenizer
from penchant.stats.intervals import accuracy
from penchant.tables.rows import read_rows
from penchant.wording.templates import Text

Count = Callable[[list[str]], list[int]]
WORDS = Text.of(Path(__file__).parent).below("making")
LEVEL = 0.95
"""Confidence level of the intervals for the proportion of pairs kept."""
_CHUNK = 4_096
"""Number of texts tokenized at once."""


@dataclass(frozen=True, slots=True)
class Counters:
    """Token-counting functions by tokenizer name; no model weights are loaded."""

    by_name: Mapping[str, Count]

    @classmethod
    def of(cls, specs: Sequence[str], *, trust_remote_code: bool = False) -> Counters:
        """Return token counters for the models given by hub id, directory or GGUF file.

        Raises MethodError if two tokenizers have the same name, and ModelError if one cannot be loaded.
        """
        counts: dict[str, Count] = {}
        for spec in specs:
            label, tokenizer = load_tokenizer(spec, trust_remote_code=trust_remote_code)
            if label in counts:
                raise MethodError(f"two tokenizers are called {label}", hint="give each tokenizer once")
            counts[label] = tokenizer.count
        return cls(counts)

    def lengths(self, texts: Sequence[str]) -> dict[str, list[int]]:
        """Return the number of tokens of each text under each tokenizer, without special tokens."""
        parts = [list(texts[at : at + _CHUNK]) for at in range(0, len(texts), _CHUNK)]
        return {name: [n for part in parts for n in count(part)] for name, count in self.by_name.items()}


@dataclass(frozen=True, slots=True)
class FairSet:
    """A set of generated, selected or repaired pairs: its `rows`, a `table` of outcomes by paradigm, and `notes`."""

    rows: list[dict[str, Any]]
    table: pl.DataFrame
    notes: tuple[str, ...] = ()

    def lines(self) -> str:
        """Return the rows as JSON lines."""
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows)


# Generating -----------------------------------------------------------------------------------------------------------


def generated(
    grammar: Grammar, paradigms: Sequence[str], n: int, counters: Counters, *, seed: int, checks: int
) -> FairSet:
    """Generate `n` pairs of each paradigm, with equal lengths under all tokenizers.

    For `checks`, see `penchant.grammar.generate.generate`. Raises DataError if the grammar does not yield `n` pairs.
    """
    rows: list[dict[str, Any]] = []
    outcomes = []
    for name in paradigms:
        generation = generate(grammar, name, n, seed=seed, counters=list(counters.by_name.values()), checks=checks)
        rows += _blimp_rows(grammar, name, generation, counters)
        statistics = generation.statistics
        outcomes.append(
            {
                "group": name,
                "pairs": statistics.pairs,
                "contexts": statistics.contexts,
                "given up": statistics.given_up,
                "duplicates": statistics.duplicates,
                "checks a pair": statistics.checks_per_pair,
                "accepted checks": statistics.acceptance_rate,
                "distinct contexts": statistics.distinct_contexts,
                "distinct words": statistics.distinct_words,
            }
        )
    return FairSet(rows, pl.DataFrame(outcomes))


def _blimp_rows(grammar: Grammar, name: str, generated: Generated, counters: Counters) -> Iterator[dict[str, Any]]:
    paradigm = grammar.paradigms[name]
    for i, pair in enumerate(generated.pairs):
        tokens = dict(zip(counters.by_name, pair.lengths, strict=True))  # the same for both sentences
        yield {
            "sentence_good": pair.good,
            "sentence_bad": pair.bad,
            "field": paradigm.field,
            "linguistics_term": paradigm.linguistics_term,
            "UID": name,
            "simple_LM_method": True,
            "lexically_identical": sorted(pair.good.lower().split()) == sorted(pair.bad.lower().split()),
            **paradigm.marks,
            "pairID": str(i),
            GRAMMAR: grammar.name,
            "n_tokens_good": tokens,
            "n_tokens_bad": tokens,
        }


# Filtering ------------------------------------------------------------------------------------------------------------


def filtered(sets: Sequence[PairSet], counters: Counters) -> FairSet:
    """Return the pairs of equal length under all tokenizers.

    The table has the proportion of pairs kept in each paradigm; a note reports a χ² test for differences between
    paradigms.
    """
    refuse_prefixes(sets, "filtering supports only")
    pairs = [(pair_set, item) for pair_set in sets for item in pair_set.items]
    good, bad, equal = compared_lengths([item.texts for _, item in pairs], counters)
    every: NDArray[np.bool_] = np.logical_and.reduce(equal)
    originals = [row.values for pair_set in sets for row in read_rows(pair_set.path)]
    rows = [{**originals[i], "n_tokens_good": good[i], "n_tokens_bad": bad[i]} for i in np.flatnonzero(every).tolist()]
    paradigms = [item.labels["group"] for _, item in pairs]
    outcomes = []
    for name in (*dict.fromkeys(paradigms), ALL):
        inside = np.array([name in (ALL, paradigm) for paradigm in paradigms])
        kept = every[inside]
        share = accuracy(kept.astype(float), level=LEVEL)
        each = {f"equal under {label}": float(equal[j, inside].mean()) for j, label in enumerate(counters.by_name)}
        outcomes.append(
            {
                "group": name,
                "pairs": len(kept),
                "kept": int(kept.sum()),
                "share": share.value,
                "low": share.low,
                "high": share.high,
                **each,
            }
        )
    return FairSet(rows, pl.DataFrame(outcomes), tuple(_unevenness(paradigms, every)))


def compared_lengths(
    texts: Sequence[Mapping[str, str]], counters: Counters
) -> tuple[list[dict[str, int]], list[dict[str, int]], NDArray[np.bool_]]:
    """Return the token counts of each good and each bad sentence by tokenizer, and a mask of equal counts.

    The mask has the shape (tokenizers, pairs).
    """
    lengths = {role: counters.lengths([pair[role] for pair in texts]) for role in ("good", "bad")}
    each = [
        [{label: counts[i] for label, counts in lengths[role].items()} for i in range(len(texts))]
        for role in ("good", "bad")
    ]
    equal = np.array([[a[label] == b[label] for a, b in zip(*each, strict=True)] for label in counters.by_name])
    return each[0], each[1], equal


def _unevenness(paradigms: Sequence[str], kept: NDArray[np.bool_]) -> Iterator[str]:
    names = list(dict.fromkeys(paradigms))
    codes = np.array([names.index(name) for name in paradigms])
    table = np.array([np.bincount(codes[kept], minlength=len(names)), np.bincount(codes[~kept], minlength=len(names))])
    lost = [name for name, n in zip(names, table[0].tolist(), strict=True) if not n]
    if lost:
        yield WORDS.get("nothing-left", names=", ".join(lost))
    if len(names) > 1 and (table.sum(axis=1) > 0).all():
        test = scipy.stats.chi2_contingency(table, correction=False)
        shares = table[0] / table.sum(axis=0)
        found = {"chi2": float(test.statistic), "df": test.dof, "p": float(test.pvalue)}
        few = bool(test.expected_freq.min() < 5)
        yield WORDS.get("uneven", low=float(shares.min()), high=float(shares.max()), few=few, **found)
