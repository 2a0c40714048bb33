"""Generation of minimal pairs of equal token length from a grammar."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from penchant.errors import DataError, MethodError
from penchant.grammar.grammar import Grammar
from penchant.grammar.lexicon import CATEGORY, LEMMA
from penchant.grammar.paradigms import SentenceTemplate
from penchant.grammar.word_sampling import Drawing, Words, written
from penchant.plurals import for_one

CHECKS = 10
"""Maximum number of bad sentences checked per context, as in Ueda et al. (2024)."""
_TRIES = 20
"""Number of consecutive draws without a new bad sentence after which a context is abandoned."""
_PATIENCE = 5_000
"""Number of consecutive contexts without a new pair after which generation stops; each pair found allows ten more."""
_BLOCK = 2_048

Lengths = Callable[[list[str]], list[int]]
"""Function that returns the number of tokens in each text."""


@dataclass(frozen=True, slots=True)
class SlotWord:
    """Word in a slot, with its features and forms in the sentence.

    `features` maps each feature that was chosen or determined by agreement to its values, separated by spaces; `forms`
    are the forms inserted into the sentence.
    """

    lemma: str
    category: str
    features: Mapping[str, str]
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GeneratedPair:
    """Acceptable and unacceptable sentence of a minimal pair, with their words by slot.

    `lengths` has the number of tokens under each tokenizer, which is equal for both sentences; `context` is the index
    of the context from which the pair was drawn, and `checks` the number of bad sentences checked in this context.
    """

    good: str
    bad: str
    paradigm: str
    good_words: Mapping[str, SlotWord]
    bad_words: Mapping[str, SlotWord]
    lengths: tuple[int, ...]
    context: int
    checks: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics on the generation of pairs for a paradigm.

    Every context yields a pair or is counted in one of `duplicates` (of an earlier pair), `given_up` (if no bad
    sentence had the required lengths), and `unfilled` (by the slot for which there was no word). `checks` is the number
    of comparisons of sentence lengths in all contexts, and `passed` the number with equal lengths. `accepted_checks` is
    the number of comparisons in contexts that yielded a pair, and `distinct_contexts` the number of different
    combinations of words that both sentences of a pair share.
    """

    pairs: int
    contexts: int
    duplicates: int
    given_up: int
    unfilled: Mapping[str, int]
    checks: int
    passed: int
    accepted_checks: int
    distinct_contexts: int
    distinct_words: int

    @property
    def acceptance_rate(self) -> float:
        """The proportion of checks with equal sentence lengths."""
        return self.passed / self.checks if self.checks else float("nan")

    @property
    def checks_per_pair(self) -> float:
        """The mean number of checks per context that yielded a pair."""
        return self.accepted_checks / self.pairs if self.pairs else float("nan")


@dataclass(frozen=True, slots=True)
class Generated:
    """Distinct generated pairs in the order of their contexts, and the statistics of generation."""

    pairs: tuple[GeneratedPair, ...]
    statistics: Statistics


def generate(
    grammar: Grammar,
    paradigm: str,
    n: int,
    *,
    seed: int,
    counters: Sequence[Lengths] = (),
    checks: int = CHECKS,
) -> Generated:
    """Generate `n` distinct minimal pairs of a paradigm whose sentences have equal lengths under every counter.

    Algorithm 1 of Ueda et al. (LREC-COLING 2024): a context is drawn with an acceptable sentence; then up to `checks`
    distinct unacceptable sentences are drawn until one has the same length. Each of `counters` returns the number of
    tokens in each of a list of texts (`Tokenizer.count`); without counters, every pair is accepted. With the same seed,
    the pairs for a smaller `n` are the first pairs for a larger `n`. Raises MethodError if a parameter is invalid, and
    DataError if the grammar does not yield `n` pairs.
    """
    if n < 1 or checks < 1:
        name, value = ("n", n) if n < 1 else ("checks", checks)
        raise MethodError(f"{name} must be at least 1, got {value}")
    drawing = grammar.drawing(paradigm)
    tally = _Tally()
    number = 0
    while tally.wanting(n):
        # Enough contexts for the missing pairs at the yield so far; contexts after the last pair are not counted.
        share = (len(tally.pairs) + 1) / (tally.contexts + 1)
        size = min(_BLOCK, 64 + int(1.1 * (n - len(tally.pairs)) / share))
        block = [_Context(drawing, seed, at) for at in range(number, number + size)]
        number += size
        _check(block, counters, checks)
        for context in block:
            if tally.wanting(n):
                tally.add(context)
    if len(tally.pairs) < n:
        raise _too_few(grammar, paradigm, n, tally.statistics(), checks)
    return Generated(tuple(tally.pairs.values()), tally.statistics())


class _Context:
    """Context of a pair: its random-number generator, its good sentence, and the bad sentence being checked."""

    def __init__(self, drawing: Drawing, seed: int, number: int) -> None:
        self.drawing, self.number = drawing, number
        self.rng = random.Random(f"{seed}/{drawing.paradigm.name}/{number}")
        drawn = drawing.draw_good(self.rng)
        self.unfilled = drawn if isinstance(drawn, str) else ""
        self.good_words: Words = {} if isinstance(drawn, str) else drawn
        self.bad_words: Words = {}
        self.good = "" if self.unfilled else written(drawing.paradigm.good, self.good_words, drawing.language)
        self.bad = ""
        self.seen = {self.good}
        self.good_lengths: dict[int, int] = {}
        self.lengths: list[int] = []
        self.checks = 0
        self.passed = False

    def redraw(self) -> bool:
        """Draw a bad sentence that has not been checked yet; return False if none is found."""
        for _ in range(_TRIES if self.drawing.bad else 1):
            drawn = self.drawing.draw_bad(self.rng, self.good_words)
            if isinstance(drawn, str):
                if not self.checks:
                    self.unfilled = drawn
                continue
            text = written(self.drawing.paradigm.bad, drawn, self.drawing.language)
            if text not in self.seen:
                self.unfilled = ""
                self.seen.add(text)
                self.bad_words, self.bad = drawn, text
                self.checks += 1
                self.lengths = []
                return True
        return False


def _check(block: Sequence[_Context], counters: Sequence[Lengths], checks: int) -> None:
    """Draw up to `checks` bad sentences in each context until one is as long as the good one for all `counters`.

    In each round, the sentences of all contexts are tokenized as one batch.
    """
    pending = [context for context in block if not context.unfilled]
    for _ in range(checks):
        pending = [context for context in pending if context.redraw()]
        if not pending:
            return
        equal = pending
        for at, count in enumerate(counters):
            equal = _equal(equal, at, count)
        for context in equal:
            context.passed = True
        pending = [context for context in pending if not context.passed]


def _equal(contexts: Sequence[_Context], at: int, count: Lengths) -> list[_Context]:
    new = [context for context in contexts if at not in context.good_lengths]
    texts = [context.good for context in new] + [context.bad for context in contexts]
    lengths = count(texts) if texts else []
    if len(lengths) != len(texts):
        raise MethodError(f"a counter returned {len(lengths)} lengths for {len(texts)} texts")
    for context, length in zip(new, lengths, strict=False):
        context.good_lengths[at] = length
    equal = []
    for context, length in zip(contexts, lengths[len(new) :], strict=True):
        if context.good_lengths[at] == length:
            context.lengths.append(length)
            equal.append(context)
    return equal


@dataclass(slots=True)
class _Tally:
    pairs: dict[tuple[str, str], GeneratedPair] = field(default_factory=dict)
    contexts: int = 0
    duplicates: int = 0
    given_up: int = 0
    unfilled: Counter[str] = field(default_factory=Counter)
    checks: int = 0
    accepted_checks: int = 0
    since_last: int = 0
    shared: set[tuple[tuple[str, ...], ...]] = field(default_factory=set)

    def wanting(self, n: int) -> bool:
        return len(self.pairs) < n and self.since_last < _PATIENCE + 10 * len(self.pairs)

    def add(self, context: _Context) -> None:
        self.contexts += 1
        self.since_last += 1
        self.checks += context.checks
        if context.unfilled:
            self.unfilled[context.unfilled] += 1
        elif not context.passed:
            self.given_up += 1
        elif (context.good, context.bad) in self.pairs:
            self.duplicates += 1
        else:
            pair = self.pairs[context.good, context.bad] = _pair(context)
            varied = context.drawing.paradigm.vary
            self.shared.add(tuple(word.forms for slot, word in pair.good_words.items() if slot not in varied))
            self.accepted_checks += context.checks
            self.since_last = 0

    def statistics(self) -> Statistics:
        pairs = list(self.pairs.values())
        words = [word for pair in pairs for side in (pair.good_words, pair.bad_words) for word in side.values()]
        return Statistics(
            pairs=len(pairs),
            contexts=self.contexts,
            duplicates=self.duplicates,
            given_up=self.given_up,
            unfilled=dict(self.unfilled),
            checks=self.checks,
            passed=len(pairs) + self.duplicates,
            accepted_checks=self.accepted_checks,
            distinct_contexts=len(self.shared),
            distinct_words=len({(word.category, word.lemma) for word in words if word.forms}),
        )


def _pair(context: _Context) -> GeneratedPair:
    paradigm = context.drawing.paradigm
    return GeneratedPair(
        context.good,
        context.bad,
        paradigm.name,
        _words(paradigm.good, context.good_words),
        _words(paradigm.bad, context.bad_words),
        tuple(context.lengths),
        context.number,
        context.checks,
    )


def _words(template: SentenceTemplate, words: Words) -> dict[str, SlotWord]:
    by_slot = {}
    for slot, choice in words.items():
        assigned = (item for item in choice.assigned.items() if item[0] not in (LEMMA, CATEGORY))
        features = {feature: " ".join(values) for feature, values in assigned if values}
        forms = (choice.text(reference) for reference in template.references if reference.slot == slot)
        by_slot[slot] = SlotWord(
            choice.entry.lemma, choice.entry.category, features, tuple(form for form in forms if form is not None)
        )
    return by_slot


def _too_few(grammar: Grammar, paradigm: str, n: int, statistics: Statistics, checks: int) -> DataError:
    reasons = []
    if statistics.unfilled:
        slot = max(statistics.unfilled, key=lambda name: statistics.unfilled[name])
        reasons.append(f"{sum(statistics.unfilled.values())} had no word for a slot (most often '{slot}')")
    if statistics.given_up:
        reasons.append(
            f"{statistics.given_up} had no bad sentence as long as the good sentence within {checks} "
            f"{for_one(checks, 'checks')}"
        )
    if statistics.duplicates:
        reasons.append(f"{statistics.duplicates} repeated an earlier pair")
    message = (
        f"yields {statistics.pairs} distinct pairs instead of {n}: of {statistics.contexts} "
        f"{for_one(statistics.contexts, 'contexts')}, {', '.join(reasons)}"
    )
    hint = "add words to the tables, or request fewer pairs" + (" or tokenizers" if statistics.given_up else "")
    return DataError(message, where=f"{grammar.files[0]}, paradigms.{paradigm}", hint=hint)
