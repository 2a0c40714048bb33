"""Repair of minimal pairs with unequal token counts by replacing the differing word."""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from penchant.errors import DataError
from penchant.grammar.grammar import Grammar
from penchant.grammar.lexicon import Entry
from penchant.instruments.minimal_pairs.build_fair_pairs import Counters, FairSet, compared_lengths
from penchant.instruments.minimal_pairs.data import PairSet, refuse_prefixes
from penchant.instruments.minimal_pairs.pair_credits import ALL
from penchant.letter_case import capitalised
from penchant.tables.rows import read_rows

EQUAL, REPAIRED, NO_WORD, UNKNOWN, NONE_FITS, DUPLICATE = (
    "equal before",
    "repaired",
    "not one word",
    "word not in the lexicon",
    "no word fits",
    "double",
)


def repaired(sets: Sequence[PairSet], grammar: Grammar, counters: Counters, *, seed: int) -> FairSet:
    """Replace the differing word of each pair of unequal length by a word with the same features.

    A replacement in the unacceptable sentence is tried first, then one in the acceptable sentence. The table counts the
    outcomes, including the reasons why pairs cannot be repaired.
    """
    refuse_prefixes(sets, "repair supports only")
    words = _Words(grammar)
    originals = [row.values for pair_set in sets for row in read_rows(pair_set.path)]
    items = [item for pair_set in sets for item in pair_set.items]
    _, _, equal = compared_lengths([item.texts for item in items], counters)
    rows: list[dict[str, Any]] = []
    outcomes: dict[str, dict[str, int]] = {}
    seen: set[tuple[str, str]] = set()
    for i, item in enumerate(items):
        good, bad = item.texts["good"], item.texts["bad"]
        outcome = EQUAL
        if not bool(np.all(equal[:, i])):
            rng = random.Random(f"{seed}/{item.id}")
            outcome, good, bad = _mended(good, bad, words, counters, rng, seen)
        if outcome in (EQUAL, REPAIRED) and (good, bad) in seen:
            outcome = DUPLICATE
        tally = outcomes.setdefault(item.labels["group"], {})
        tally[outcome] = tally.get(outcome, 0) + 1
        if outcome in (EQUAL, REPAIRED):
            seen.add((good, bad))
            rows.append(_repaired_row(originals[i], item.texts, good, bad, counters, repaired=outcome == REPAIRED))
    kinds = (EQUAL, REPAIRED, NO_WORD, UNKNOWN, NONE_FITS, DUPLICATE)
    whole = {kind: sum(tally.get(kind, 0) for tally in outcomes.values()) for kind in kinds}
    table = [
        {"group": name, "pairs": sum(tally.values()), **{kind: tally.get(kind, 0) for kind in kinds}}
        for name, tally in {**outcomes, ALL: whole}.items()
    ]
    return FairSet(rows, pl.DataFrame(table))


class _Words:
    """Words of a lexicon by form, and the possible replacements of each word."""

    def __init__(self, grammar: Grammar) -> None:
        self.language = grammar.language
        self.by_form: dict[str, list[tuple[Entry, str]]] = {}
        self.alike: dict[tuple[object, ...], list[Entry]] = {}
        for category in grammar.lexicon.values():
            for entry in category.entries:
                self.alike.setdefault(self._kind(entry), []).append(entry)
                for form, text in entry.forms.items():
                    if form in category.forms:
                        self.by_form.setdefault(text, []).append((entry, form))
        self.by_capital = {capitalised(text, self.language): entries for text, entries in self.by_form.items()}

    @staticmethod
    def _kind(entry: Entry) -> tuple[object, ...]:
        """Return the properties that interchangeable words must share: category, features and restrictions."""
        features = {k: v for k, v in entry.values.items() if k not in entry.forms and k != "category"}
        restrictions = {column: condition.text for column, condition in entry.restrictions.items()}
        return entry.category, tuple(sorted(features.items())), tuple(sorted(restrictions.items()))

    def others(self, text: str) -> list[str] | None:
        """Return the forms that can replace a form; None if the form is not in the lexicon."""
        capital = text not in self.by_form
        entries = (self.by_capital if capital else self.by_form).get(text)
        if entries is None:
            return None
        forms = {
            other.forms[form]: None
            for entry, form in entries
            for other in self.alike[self._kind(entry)]
            if form in other.forms and other.forms[form] != entry.forms[form]
        }
        return [capitalised(form, self.language) if capital else form for form in forms]


def _mended(
    good: str, bad: str, words: _Words, counters: Counters, rng: random.Random, seen: set[tuple[str, str]]
) -> tuple[str, str, str]:
    """Repair a pair of unequal length if possible; return the outcome, and the good and the bad sentence.

    Repairs that would result in a pair in `seen` are not considered.
    """
    spans = _differing_words(good, bad)
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


def _differing_words(good: str, bad: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the spans of the words in which the two sentences differ; None unless they differ in exactly one word."""
    parts = [[(at, at + len(word)) for at, word in _chunks(text)] for text in (good, bad)]
    a, b = ([text[start:end] for start, end in spans] for text, spans in zip((good, bad), parts, strict=True))
    changes = [op for op in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes() if op[0] != "equal"]
    if len(changes) != 1:
        return None
    kind, i, i_end, j, j_end = changes[0]
    if kind != "replace" or i_end - i != 1 or j_end - j != 1:
        return None
    return parts[0][i], parts[1][j]


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Yield each word and the punctuation before and after it as separate chunks, each with its start position."""
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


def _repaired_row(
    original: Mapping[str, object],
    texts: Mapping[str, str],
    good: str,
    bad: str,
    counters: Counters,
    *,
    repaired: bool,
) -> dict[str, Any]:
    """Return the row `original` with the sentences `good` and `bad` in place of those in `texts`, and token counts.

    Raises DataError if the row has no column that contains exactly the sentence to replace.
    """
    row = dict(original)
    for role, text in (("good", good), ("bad", bad)):
        columns = [name for name, value in original.items() if value == texts[role]]
        if not columns:
            raise DataError("sentences stored in several columns cannot be repaired", where=str(texts[role]))
        row[columns[0]] = text
    lengths = counters.lengths([good, bad])
    row["n_tokens_good"] = {label: counts[0] for label, counts in lengths.items()}
    row["n_tokens_bad"] = {label: counts[1] for label, counts in lengths.items()}
    return {**row, "repaired": repaired}
