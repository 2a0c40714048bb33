"""Fair minimal pairs: sets of pairs whose two sentences have equal numbers of tokens under several tokenizers.

Three ways to one: generate them from a grammar, keep those of a set that are equal, or repair those that are not. All
give rows in BLiMP's format with the token counts added, and a table of how it went.
"""

from __future__ import annotations

import difflib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from penchant.data.generate import Generated, generate
from penchant.data.grammar import Grammar
from penchant.data.lexicon import Entry
from penchant.data.pairs import PairSet
from penchant.data.tables import read_rows
from penchant.errors import DataError, MethodError
from penchant.models.load import load_tokenizer
from penchant.stats.intervals import accuracy

Count = Callable[[list[str]], list[int]]
ALL = "all"
_CHUNK = 4_096


@dataclass(frozen=True, slots=True)
class Counters:
    """Tokenizers by the name they are cited with; no weights are read."""

    by_name: Mapping[str, Count]

    @classmethod
    def of(cls, specs: Sequence[str], *, trust_remote_code: bool = False) -> Counters:
        """The tokenizers of models named by hub name, directory or GGUF file. Raises ModelError."""
        found: dict[str, Count] = {}
        for spec in specs:
            label, tokenizer = load_tokenizer(spec, trust_remote_code=trust_remote_code)
            if label in found:
                raise MethodError(f"two tokenizers are called {label}", hint="name each once")
            found[label] = tokenizer.count
        return cls(found)

    def lengths(self, texts: Sequence[str]) -> dict[str, list[int]]:
        """How many tokens each text has under each tokenizer, without special ones."""
        parts = [list(texts[at : at + _CHUNK]) for at in range(0, len(texts), _CHUNK)]
        return {name: [n for part in parts for n in count(part)] for name, count in self.by_name.items()}


@dataclass(frozen=True, slots=True)
class FairSet:
    """Rows in BLiMP's format, what happened by paradigm, and what to say of it."""

    rows: list[dict[str, Any]]
    table: pl.DataFrame
    notes: tuple[str, ...] = ()

    def lines(self) -> str:
        """The rows as JSON lines."""
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows)


# Generating -----------------------------------------------------------------------------------------------------------


def generated(
    grammar: Grammar, paradigms: Sequence[str], n: int, counters: Counters, *, seed: int, checks: int
) -> FairSet:
    """`n` pairs of each paradigm, equal under all tokenizers; without any, pairs of any lengths. Raises DataError."""
    rows: list[dict[str, Any]] = []
    told = []
    for name in paradigms:
        found = generate(grammar, name, n, seed=seed, counters=list(counters.by_name.values()), checks=checks)
        rows += _blimp_rows(grammar, name, found, counters)
        own = found.statistics
        told.append(
            {
                "paradigm": name,
                "pairs": own.pairs,
                "contexts": own.contexts,
                "given up": own.given_up,
                "duplicates": own.duplicates,
                "checks a pair": own.checks_per_pair,
                "accepted checks": own.acceptance_rate,
                "distinct contexts": own.distinct_contexts,
                "distinct words": own.distinct_words,
            }
        )
    return FairSet(rows, pl.DataFrame(told))


def _blimp_rows(grammar: Grammar, name: str, found: Generated, counters: Counters) -> Iterator[dict[str, Any]]:
    paradigm = grammar.paradigms[name]
    for i, pair in enumerate(found.pairs):
        tokens = dict(zip(counters.by_name, pair.lengths, strict=True))  # of either sentence
        yield {
            "sentence_good": pair.good,
            "sentence_bad": pair.bad,
            "field": paradigm.field,
            "linguistics_term": paradigm.linguistics_term,
            "UID": name,
            "simple_LM_method": True,
            "one_prefix_method": False,
            "two_prefix_method": False,
            "lexically_identical": sorted(pair.good.lower().split()) == sorted(pair.bad.lower().split()),
            "pairID": str(i),
            "tokens_good": tokens,
            "tokens_bad": tokens,
        }


# Filtering ------------------------------------------------------------------------------------------------------------


def filtered(sets: Sequence[PairSet], counters: Counters, *, level: float = 0.95) -> FairSet:
    """The pairs that are equal under all tokenizers, as they were, and the share kept of each paradigm.

    Whether paradigms lose different shares is tested by χ² over paradigms; such a set says something else than the
    whole one did.
    """
    pairs = [(pair_set, item) for pair_set in sets for item in pair_set.items]
    good, bad, equal = _compared([item.texts for _, item in pairs], counters)
    every: NDArray[np.bool_] = np.logical_and.reduce(equal)
    originals = [row.values for pair_set in sets for row in read_rows(pair_set.path)]
    rows = [{**originals[i], "tokens_good": good[i], "tokens_bad": bad[i]} for i in np.flatnonzero(every).tolist()]
    paradigms = [item.labels["paradigm"] for _, item in pairs]
    told = []
    for name in (*dict.fromkeys(paradigms), ALL):
        inside = np.array([name in (ALL, own) for own in paradigms])
        kept = every[inside]
        share = accuracy(kept.astype(float), level=level)
        each = {f"equal under {label}": float(equal[j, inside].mean()) for j, label in enumerate(counters.by_name)}
        told.append(
            {
                "paradigm": name,
                "pairs": len(kept),
                "kept": int(kept.sum()),
                "share": share.value,
                "low": share.low,
                "high": share.high,
                **each,
            }
        )
    return FairSet(rows, pl.DataFrame(told), tuple(_unevenness(paradigms, every)))


def _compared(
    texts: Sequence[Mapping[str, str]], counters: Counters
) -> tuple[list[dict[str, int]], list[dict[str, int]], NDArray[np.bool_]]:
    """Token counts of both sentences by tokenizer, and whether they are equal, (tokenizers, pairs)."""
    lengths = {role: counters.lengths([own[role] for own in texts]) for role in ("good", "bad")}
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
        yield f"nothing is left of {', '.join(lost)}"
    if len(names) > 1 and (table.sum(axis=1) > 0).all():
        found = stats.chi2_contingency(table, correction=False)
        shares = table[0] / table.sum(axis=0)
        few = "; some expected counts are below 5" if found.expected_freq.min() < 5 else ""
        yield (
            f"paradigms keep from {shares.min():.0%} to {shares.max():.0%} of their pairs "
            f"(χ² = {found.statistic:.1f}, {found.dof} degrees of freedom, p = {found.pvalue:.2g}{few})"
        )


# Repairing ------------------------------------------------------------------------------------------------------------

EQUAL, REPAIRED, NO_WORD, UNKNOWN, NONE_FITS, DUPLICATE = (
    "equal before",
    "repaired",
    "not one word",
    "word not in the lexicon",
    "no word fits",
    "double",
)


def repaired(sets: Sequence[PairSet], grammar: Grammar, counters: Counters, *, seed: int) -> FairSet:
    """The pairs with the word that differs replaced, where lengths differ, by another with the same features.

    The unacceptable sentence's word is replaced; where no word fits, the acceptable one's. A pair that cannot be made
    equal is left out and counted, by reason.
    """
    words = _Words(grammar)
    originals = [row.values for pair_set in sets for row in read_rows(pair_set.path)]
    items = [item for pair_set in sets for item in pair_set.items]
    _, _, equal = _compared([item.texts for item in items], counters)
    rows: list[dict[str, Any]] = []
    outcomes: dict[str, dict[str, int]] = {}
    seen: set[tuple[str, str]] = set()
    for i, item in enumerate(items):
        good, bad = item.texts["good"], item.texts["bad"]
        what = EQUAL
        if not bool(np.all(equal[:, i])):
            rng = random.Random(f"{seed}/{item.id}")
            what, good, bad = _mended(good, bad, words, counters, rng, seen)
        if what in (EQUAL, REPAIRED) and (good, bad) in seen:
            what = DUPLICATE
        tally = outcomes.setdefault(item.labels["paradigm"], {})
        tally[what] = tally.get(what, 0) + 1
        if what in (EQUAL, REPAIRED):
            seen.add((good, bad))
            rows.append(_replaced(originals[i], item.texts, good, bad, counters, repaired=what == REPAIRED))
    kinds = (EQUAL, REPAIRED, NO_WORD, UNKNOWN, NONE_FITS, DUPLICATE)
    whole = {kind: sum(own.get(kind, 0) for own in outcomes.values()) for kind in kinds}
    told = [
        {"paradigm": name, "pairs": sum(own.values()), **{kind: own.get(kind, 0) for kind in kinds}}
        for name, own in {**outcomes, ALL: whole}.items()
    ]
    return FairSet(rows, pl.DataFrame(told))


class _Words:
    """The words of a lexicon by form, and those that could stand in their place."""

    def __init__(self, grammar: Grammar) -> None:
        self.by_form: dict[str, list[tuple[Entry, str]]] = {}
        self.alike: dict[tuple[object, ...], list[Entry]] = {}
        for category in grammar.lexicon.values():
            for entry in category.entries:
                self.alike.setdefault(self._kind(entry), []).append(entry)
                for form, text in entry.forms.items():
                    if form in category.forms:
                        self.by_form.setdefault(text, []).append((entry, form))

    @staticmethod
    def _kind(entry: Entry) -> tuple[object, ...]:
        """What two words must have in common to stand for each other: category, features and restrictions."""
        features = {k: v for k, v in entry.values.items() if k not in entry.forms and k != "category"}
        restrictions = {column: condition.text for column, condition in entry.restrictions.items()}
        return entry.category, tuple(sorted(features.items())), tuple(sorted(restrictions.items()))

    def others(self, text: str) -> list[str] | None:
        """The forms that may stand for a form; None where the lexicon does not have it."""
        capital = text[:1].upper() == text[:1] and text not in self.by_form
        own = self.by_form.get(text[:1].lower() + text[1:] if capital else text)
        if own is None:
            return None
        found = {
            other.forms[form]: None
            for entry, form in own
            for other in self.alike[self._kind(entry)]
            if form in other.forms and other.forms[form] != entry.forms[form]
        }
        return [form[:1].upper() + form[1:] if capital else form for form in found]


def _mended(
    good: str, bad: str, words: _Words, counters: Counters, rng: random.Random, seen: set[tuple[str, str]]
) -> tuple[str, str, str]:
    """What came of a pair, and its two sentences."""
    spans = _differing(good, bad)
    if spans is None:
        return NO_WORD, good, bad
    known = False
    for side, text, (start, end) in ((1, bad, spans[1]), (0, good, spans[0])):
        others = words.others(text[start:end])
        known = known or others is not None
        rng.shuffle(others := others or [])
        pairs = []
        for other in others:
            new = text[:start] + other + text[end:]
            pair = (good, new) if side else (new, bad)
            if pair[0] != pair[1] and pair not in seen:
                pairs.append(pair)
        lengths = [counters.lengths([pair[role] for pair in pairs]) for role in (0, 1)]
        for i, pair in enumerate(pairs):
            if all(lengths[0][label][i] == lengths[1][label][i] for label in counters.by_name):
                return REPAIRED, *pair
    return (NONE_FITS if known else UNKNOWN), good, bad


def _differing(good: str, bad: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the one word stands, in characters of each sentence, that differs; None where more differs."""
    parts = [[(at, at + len(word)) for at, word in _chunks(text)] for text in (good, bad)]
    a, b = ([text[start:end] for start, end in own] for text, own in zip((good, bad), parts, strict=True))
    changes = [op for op in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes() if op[0] != "equal"]
    if len(changes) != 1:
        return None
    kind, i, i_end, j, j_end = changes[0]
    if kind != "replace" or i_end - i != 1 or j_end - j != 1:
        return None
    return parts[0][i], parts[1][j]


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Words without the punctuation around them, and that punctuation, with their places."""
    at = 0
    for part in text.split():
        start = text.index(part, at)
        at = start + len(part)
        inner = part.strip(".,;:!?\"'()“”‘’।—")
        if not inner:
            yield start, part
            continue
        lead = part.index(inner)
        if lead:
            yield start, part[:lead]
        yield start + lead, inner
        if lead + len(inner) < len(part):
            yield start + lead + len(inner), part[lead + len(inner) :]


def _replaced(
    original: Mapping[str, object],
    texts: Mapping[str, str],
    good: str,
    bad: str,
    counters: Counters,
    *,
    repaired: bool,
) -> dict[str, Any]:
    """The row with its two sentences exchanged, wherever the file keeps them."""
    row = dict(original)
    for role, text in (("good", good), ("bad", bad)):
        columns = [name for name, value in original.items() if value == texts[role]]
        if not columns:
            raise DataError("the file keeps its sentences in parts, which cannot be repaired", where=str(texts[role]))
        row[columns[0]] = text
    lengths = counters.lengths([good, bad])
    row["tokens_good"] = {label: counts[0] for label, counts in lengths.items()}
    row["tokens_bad"] = {label: counts[1] for label, counts in lengths.items()}
    return {**row, "repaired": repaired}
