"""Sampling of words for a paradigm's slots, uniformly among the words that fit the words already drawn."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

from penchant import letter_case
from penchant.grammar.features import Condition, Values, unify
from penchant.grammar.lexicon import Entry, Lexicon
from penchant.grammar.paradigms import FormReference, Paradigm, SentenceTemplate, Slot

_TRIES = 16
"""Number of random draws of a word before all words that satisfy `differs` are enumerated."""


class WordChoice:
    """Word as used in a sentence: an entry and the values assigned to it; instances are unique within a `Drawing`."""

    __slots__ = ("_texts", "assigned", "entry", "values")

    def __init__(self, entry: Entry, assigned: Values) -> None:
        self.entry, self.assigned = entry, assigned
        self.values: Values = {**entry.values, **assigned} if assigned else entry.values
        self._texts: dict[tuple[tuple[str, bool], ...], str | None] = {}

    def text(self, reference: FormReference) -> str | None:
        """Return the form for a reference, or None if the word lacks the form or a feature has no value or several."""
        if reference.parts not in self._texts:
            self._texts[reference.parts] = self._form(reference)
        return self._texts[reference.parts]

    def _form(self, reference: FormReference) -> str | None:
        column: list[str] = []
        for part, feature in reference.parts:
            values = self.values.get(part, ()) if feature else (part,)
            if len(values) != 1:
                return None
            column += values
        return self.entry.forms.get(".".join(column))


Words = Mapping[str, WordChoice]
"""Words of a sentence by slot."""
_Agreed = tuple[tuple[str, tuple[str, ...]], ...]


class _Pool:
    """Index of words for lookup by conditions."""

    def __init__(self, choices: Sequence[WordChoice]) -> None:
        self._choices = choices
        self._alike: dict[tuple[str, ...], dict[tuple[tuple[str, ...], ...], list[int]]] = {}

    def fitting(self, conditions: Sequence[Condition]) -> list[WordChoice]:
        """Return the words that satisfy all conditions, in the order of the index."""
        places = set(range(len(self._choices))).intersection(*map(self._satisfying, conditions))
        return [self._choices[at] for at in sorted(places)]

    def _satisfying(self, condition: Condition) -> set[int]:
        columns = condition.columns()
        alike = self._alike.get(columns)
        if alike is None:
            alike = self._alike[columns] = {}
            for at, choice in enumerate(self._choices):
                alike.setdefault(tuple(choice.values.get(column, ()) for column in columns), []).append(at)
        kinds = ((dict(zip(columns, values, strict=True)), places) for values, places in alike.items())
        return {at for values, places in kinds if condition.matches(values) for at in places}


def _taking(choices: list[WordChoice], takes: Sequence[tuple[str, WordChoice]]) -> list[WordChoice]:
    for column, taken in takes:
        conditions = {condition.text: condition for condition in (c.entry.restriction(column) for c in choices)}
        met = {text for text, condition in conditions.items() if condition.matches(taken.values)}
        choices = [choice for choice in choices if choice.entry.restriction(column).text in met]
    return choices


class Rule:
    """Rule for drawing a slot's word, which must fit the words of other slots and have the forms in `references`."""

    def __init__(self, slot: Slot, references: Sequence[FormReference], drawing: Drawing) -> None:
        self.slot = slot
        self.references = tuple(dict.fromkeys(references))
        self.options = drawing.options(slot)
        self._drawing = drawing
        self._agreed: dict[_Agreed, _Pool] = {}
        self._candidates: dict[object, list[WordChoice]] = {}

    def candidates(self, words: Words) -> list[WordChoice]:
        """Return all words that fit the given words of other slots, disregarding the slot's rule `differs`."""
        slot = self.slot
        agreed = tuple(
            (feature, words[name].values.get(source, ()))
            for feature, pairs in slot.agree.items()
            for name, source in pairs
        )
        restrictions = [words[name].entry.restriction(column) for name, column in slot.fits]
        taken = [(column, words[name]) for column, name in slot.takes.items()]
        key = (agreed, tuple(condition.text for condition in restrictions), tuple(taken))
        candidates = self._candidates.get(key)
        if candidates is None:
            pool = self._agreed.get(agreed)
            if pool is None:
                agreeing = (self._agreeing(option, agreed) for option in self.options)
                pool = self._agreed[agreed] = _Pool([choice for choice in agreeing if choice is not None])
            candidates = self._candidates[key] = _taking(pool.fitting(restrictions), taken)
        return candidates

    def _agreeing(self, option: WordChoice, agreed: Sequence[tuple[str, tuple[str, ...]]]) -> WordChoice | None:
        """Return the word `option` with its features unified with the (feature, values) pairs `agreed`.

        Returns None if values disagree or the word lacks a required form.
        """
        assigned = dict(option.assigned)
        for feature, theirs in agreed:
            common = unify(option.values.get(feature, ()), theirs)
            if common is None:
                return None
            assigned[feature] = common
        choice = self._drawing.choice(option.entry, assigned)
        return None if any(choice.text(reference) is None for reference in self.references) else choice

    def differs(self, choice: WordChoice, words: Words) -> bool:
        """Return True if a word differs from the words of the slots listed in the rule `differs`.

        For each listed slot and feature (by default the lemma), both words must have values, but none in common.
        """
        for name, feature in self.slot.differs:
            here, there = choice.values.get(feature, ()), words[name].values.get(feature, ())
            if not here or not there or not set(here).isdisjoint(there):
                return False
        return True

    def draw(self, rng: random.Random, words: Words) -> WordChoice | None:
        """Return a word drawn uniformly from the words that fit, or None if no word fits."""
        candidates = self.candidates(words)
        if not candidates:
            return None
        for _ in range(_TRIES if self.slot.differs else 1):
            choice = candidates[pick(rng, len(candidates))]
            if self.differs(choice, words):
                return choice
        rest = [choice for choice in candidates if self.differs(choice, words)]
        return rest[pick(rng, len(rest))] if rest else None


class Drawing:
    """Rules of a paradigm for drawing words from a lexicon, in the order of drawing.

    `good` has a rule for every slot, and `bad` for every slot that is redrawn for the bad sentence.
    """

    def __init__(self, lexicon: Lexicon, paradigm: Paradigm, language: str = "und") -> None:
        self.paradigm = paradigm
        self.language = language
        self._lexicon = lexicon
        self._choices: dict[object, WordChoice] = {}
        good, bad = paradigm.good.references, paradigm.bad.references
        # A word shared by both sentences needs the forms of both.
        shared = good + [reference for reference in bad if reference.slot not in paradigm.vary]
        self.good = {name: self._rule(slot, shared) for name, slot in paradigm.slots.items()}
        self.bad = {name: self._rule(slot, bad) for name, slot in paradigm.vary.items()}

    def _rule(self, slot: Slot, references: Sequence[FormReference]) -> Rule:
        return Rule(slot, [r for r in references if r.slot == slot.name], self)

    def options(self, slot: Slot) -> list[WordChoice]:
        """Return the possible words of a slot with each combination of chosen values, regardless of other slots."""
        choices = []
        before_choosing = slot.choose.keys().isdisjoint(slot.where.columns())
        for category in slot.categories:
            for entry in self._lexicon[category].entries:
                if before_choosing and not slot.where.matches(entry.values):
                    continue
                for values in itertools.product(*slot.choose.values()):
                    chosen = dict(zip(slot.choose, values, strict=True))
                    if all(value in entry.values.get(name, (value,)) for name, value in chosen.items()):
                        choice = self.choice(entry, {name: (value,) for name, value in chosen.items()})
                        if before_choosing or slot.where.matches(choice.values):
                            choices.append(choice)
        return choices

    def choice(self, entry: Entry, assigned: Values) -> WordChoice:
        """Return the unique WordChoice for an entry and the values assigned to it."""
        key = (entry, tuple(sorted(assigned.items())))
        choice = self._choices.get(key)
        if choice is None:
            choice = self._choices[key] = WordChoice(entry, assigned)
        return choice

    def draw_good(self, rng: random.Random) -> dict[str, WordChoice] | str:
        """Return the words drawn for a good sentence, or the name of a slot if no word fits this slot."""
        return _draw(self.good, rng, {})

    def draw_bad(self, rng: random.Random, good: Words) -> dict[str, WordChoice] | str:
        """Return the words drawn for the bad sentence of a pair, or the name of a slot if no word fits this slot."""
        return _draw(self.bad, rng, good)


def _draw(rules: Mapping[str, Rule], rng: random.Random, earlier: Words) -> dict[str, WordChoice] | str:
    words = dict(earlier)
    for name, rule in rules.items():
        choice = rule.draw(rng, words)
        if choice is None:
            return name
        words[name] = choice
    return words


def pick(rng: random.Random, count: int) -> int:
    """Return a random integer below `count`, drawn with `random()`, which is reproducible across Python versions."""
    return int(rng.random() * count)


def written(template: SentenceTemplate, words: Words, language: str = "und") -> str:
    """Return the sentence with its slots filled and its first letter capitalised by the rules of the language."""
    pieces = (piece if isinstance(piece, str) else words[piece.slot].text(piece) or "" for piece in template.pieces)
    return capitalised("".join(pieces), language)


def capitalised(text: str, language: str = "und") -> str:
    """Return the text with its first letter capitalised, in any script.

    Preceding characters are unchanged. Texts that begin with a number, or with a letter whose capital has several
    characters, are returned unchanged.
    """
    at = first_letter(text)
    if at is None or len(text[at].title()) > 1:
        return text
    return text[:at] + letter_case.capitalised(text[at:], language)


def first_letter(text: str) -> int | None:
    """Return the character offset of the first letter or digit, or None if there is none."""
    return next((at for at, character in enumerate(text) if character.isalnum()), None)
