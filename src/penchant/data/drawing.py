"""Drawing the words of a paradigm's slots: each uniformly among the words, with the values they choose, that fit those
drawn before."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

from penchant.data.features import Condition, Values, unify
from penchant.data.lexicon import Entry, Lexicon
from penchant.data.paradigms import Paradigm, Reference, Slot, Template, fits_column

_TRIES = 16
"""Draws before the words that differ from the others are listed."""


class Choice:
    """A word as it stands in a sentence: an entry and the values it is given there. One of a kind in a `Drawing`."""

    __slots__ = ("_texts", "entry", "given", "values")

    def __init__(self, entry: Entry, given: Values) -> None:
        self.entry, self.given = entry, given
        self.values: Values = {**entry.values, **given} if given else entry.values
        self._texts: dict[tuple[tuple[str, bool], ...], str | None] = {}

    def text(self, reference: Reference) -> str | None:
        """The form a sentence asks for; None where the word has none, or not one value of a feature it depends on."""
        if reference.parts not in self._texts:
            self._texts[reference.parts] = self._form(reference)
        return self._texts[reference.parts]

    def _form(self, reference: Reference) -> str | None:
        column: list[str] = []
        for part, feature in reference.parts:
            values = self.values.get(part, ()) if feature else (part,)
            if len(values) != 1:
                return None
            column += values
        return self.entry.forms.get(".".join(column))


Words = Mapping[str, Choice]
"""The words of a sentence by slot."""
_Agreed = tuple[tuple[str, tuple[str, ...]], ...]


class _Pool:
    """Words, and those among them that satisfy conditions. There are many conditions, and many words that they cannot
    tell apart: each is asked once of all words that have the same values in the columns it tests."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        self._choices = choices
        self._alike: dict[tuple[str, ...], dict[tuple[tuple[str, ...], ...], list[int]]] = {}

    def fitting(self, conditions: Sequence[Condition]) -> list[Choice]:
        """The words that satisfy all conditions, in their order."""
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


def _taking(choices: list[Choice], takes: Sequence[tuple[str, Choice]]) -> list[Choice]:
    """The words that ask for what others are."""
    for column, other in takes:
        asked = {condition.text: condition for condition in (c.entry.restriction(column) for c in choices)}
        met = {text for text, condition in asked.items() if condition.matches(other.values)}
        choices = [choice for choice in choices if choice.entry.restriction(column).text in met]
    return choices


class Rule:
    """Which words a slot may have in a sentence, given those of other slots. `references` are the places they fill."""

    def __init__(self, slot: Slot, references: Sequence[Reference], drawing: Drawing) -> None:
        self.slot = slot
        self.references = tuple(dict.fromkeys(references))
        self.options = drawing.options(slot)
        self._drawing = drawing
        self._agreed: dict[_Agreed, _Pool] = {}
        self._found: dict[object, list[Choice]] = {}

    def candidates(self, words: Words) -> list[Choice]:
        """All words that fit, but for `differs`."""
        slot = self.slot
        agreed = tuple(
            (own, words[other].values.get(feature, ())) for own, pairs in slot.agree.items() for other, feature in pairs
        )
        fits = [words[other].entry.restriction(column) for other, column in slot.fits]
        takes = [(column, words[other]) for column, other in slot.takes.items()]
        key = (agreed, tuple(condition.text for condition in fits), tuple(takes))
        found = self._found.get(key)
        if found is None:
            pool = self._agreed.get(agreed)
            if pool is None:
                agreeing = (self._agreeing(option, agreed) for option in self.options)
                pool = self._agreed[agreed] = _Pool([choice for choice in agreeing if choice is not None])
            found = self._found[key] = _taking(pool.fitting(fits), takes)
        return found

    def _agreeing(self, option: Choice, agreed: Sequence[tuple[str, tuple[str, ...]]]) -> Choice | None:
        """The word with the values it shares with the others; None where it disagrees or lacks a form."""
        given = dict(option.given)
        for feature, other in agreed:
            common = unify(option.values.get(feature, ()), other)
            if common is None:
                return None
            given[feature] = common
        choice = self._drawing.choice(option.entry, given)
        return None if any(choice.text(reference) is None for reference in self.references) else choice

    def differs(self, choice: Choice, words: Words) -> bool:
        """Whether a word has another lemma, or other values, than the slots it must differ from. Without a value on
        either side there is no difference."""
        for name, feature in self.slot.differs:
            own, other = choice.values.get(feature, ()), words[name].values.get(feature, ())
            if not own or not other or not set(own).isdisjoint(other):
                return False
        return True

    def draw(self, rng: random.Random, words: Words) -> Choice | None:
        """One of the words that fit, each as likely as any other; None where there is none."""
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
    """The rules of a paradigm over a lexicon: `good` for every slot, `bad` for those the bad sentence draws anew, both
    in the order of drawing."""

    def __init__(self, lexicon: Lexicon, paradigm: Paradigm) -> None:
        self.paradigm = paradigm
        self._lexicon = lexicon
        self._choices: dict[object, Choice] = {}
        self._texts: dict[tuple[Reference, bool], tuple[str, ...]] = {}
        good, bad = paradigm.good.references, paradigm.bad.references
        # A word that both sentences share needs the forms of both.
        shared = good + [reference for reference in bad if reference.slot not in paradigm.vary]
        self.good = {name: self._rule(slot, shared) for name, slot in paradigm.slots.items()}
        self.bad = {name: self._rule(slot, bad) for name, slot in paradigm.vary.items()}

    def _rule(self, slot: Slot, references: Sequence[Reference]) -> Rule:
        return Rule(slot, [r for r in references if r.slot == slot.name], self)

    def options(self, slot: Slot) -> list[Choice]:
        """The words of a slot with the values they may choose, whatever the other slots hold."""
        found = []
        early = slot.choose.keys().isdisjoint(slot.where.columns())
        for category in slot.categories:
            for entry in self._lexicon[category].entries:
                if early and not slot.where.matches(entry.values):
                    continue
                for values in itertools.product(*slot.choose.values()):
                    chosen = dict(zip(slot.choose, values, strict=True))
                    if all(value in entry.values.get(name, (value,)) for name, value in chosen.items()):
                        choice = self.choice(entry, {name: (value,) for name, value in chosen.items()})
                        if early or slot.where.matches(choice.values):
                            found.append(choice)
        return found

    def choice(self, entry: Entry, given: Values) -> Choice:
        """The one Choice of an entry and given values."""
        key = (entry, tuple(sorted(given.items())))
        choice = self._choices.get(key)
        if choice is None:
            choice = self._choices[key] = Choice(entry, given)
        return choice

    def draw_good(self, rng: random.Random) -> dict[str, Choice] | str:
        """Words for the good sentence, or the name of the slot for which there is none."""
        return _draw(self.good, rng, {})

    def draw_bad(self, rng: random.Random, good: Words) -> dict[str, Choice] | str:
        """Words for the bad sentence beside a good one."""
        return _draw(self.bad, rng, good)

    def texts(self, reference: Reference, *, bad: bool) -> tuple[str, ...]:
        """Every text that may stand at a place of the good or the bad sentence, whatever the other slots hold."""
        key = (reference, bad)
        if key not in self._texts:
            varied = bad and reference.slot in self.bad
            slot = self.paradigm.vary[reference.slot] if varied else self.paradigm.slots[reference.slot]
            values = [None if feature else part for part, feature in reference.parts]
            found = {
                text: None
                for category in slot.categories
                for entry in self._lexicon[category].entries
                for column, text in entry.forms.items()
                if fits_column(column, values)
            }
            self._texts[key] = tuple(found)
        return self._texts[key]


def _draw(rules: Mapping[str, Rule], rng: random.Random, given: Words) -> dict[str, Choice] | str:
    words = dict(given)
    for name, rule in rules.items():
        choice = rule.draw(rng, words)
        if choice is None:
            return name
        words[name] = choice
    return words


def pick(rng: random.Random, count: int) -> int:
    """A number below `count`. Of Python's generator, `random()` alone is the same in every version."""
    return int(rng.random() * count)


def written(template: Template, words: Words) -> str:
    """The sentence with its slots filled and its first letter in upper case."""
    pieces = (piece if isinstance(piece, str) else words[piece.slot].text(piece) or "" for piece in template.pieces)
    return capitalised("".join(pieces))


def capitalised(text: str) -> str:
    """The text with its first letter in upper case, in any script; what stands before a letter is left alone, and so
    is a text that begins with a number."""
    at = first_letter(text)
    return text if at is None else text[:at] + upper(text[at]) + text[at + 1 :]


def first_letter(text: str) -> int | None:
    """Where the first letter, or a digit before it, stands."""
    return next((at for at, character in enumerate(text) if character.isalnum()), None)


def upper(character: str) -> str:
    """The upper case of a character where it is one character too."""
    return character.upper() if len(character.upper()) == 1 else character
