"""Paradigms of a grammar, with every name in them checked: slots, how their words are drawn, and two sentences."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from penchant.data.features import Condition, parse_condition
from penchant.data.grammar_file import ParadigmEntry, SlotEntry, Source, VaryEntry
from penchant.data.lexicon import CATEGORY, LEMMA, Category, Lexicon, near
from penchant.errors import DataError

_BRACES = re.compile(r"\{([^{}:]*)(?::([^{}:]*))?\}")
_SLOT_NAME = re.compile(r"[^\s{}:.]+")


@dataclass(frozen=True, slots=True)
class Reference:
    """A place in a sentence that a slot's word fills. The parts, joined by dots, name the column of the form; a part
    that is marked is a feature, which stands for its value."""

    slot: str
    parts: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with places for words."""

    text: str
    pieces: tuple[str | Reference, ...]

    @property
    def references(self) -> list[Reference]:
        return [piece for piece in self.pieces if isinstance(piece, Reference)]


@dataclass(frozen=True, slots=True)
class Slot:
    """How a slot's word is drawn (see `SlotEntry`). Other slots' features are pairs (slot, feature)."""

    name: str
    categories: tuple[str, ...]
    where: Condition
    choose: Mapping[str, tuple[str, ...]]
    agree: Mapping[str, tuple[tuple[str, str], ...]]
    fits: tuple[tuple[str, str], ...]
    takes: Mapping[str, str]
    differs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Paradigm:
    """A kind of minimal pair. `vary` holds the slots that are drawn anew for the bad sentence, in the order of
    `slots`; there, a slot's own name stands for its word in the good one."""

    name: str
    field: str
    linguistics_term: str
    slots: Mapping[str, Slot]
    good: Template
    bad: Template
    vary: Mapping[str, Slot]

    def given_features(self) -> set[str]:
        """Features that words are given in a sentence, whether or not they have a column for them."""
        slots = (*self.slots.values(), *self.vary.values())
        return {name for slot in slots for name in (*slot.choose, *slot.agree)}


def read_paradigm(name: str, given: ParadigmEntry, lexicon: Lexicon, source: Source) -> Paradigm:
    """A paradigm of grammar.yaml. Raises DataError naming file, line and key."""
    return _Reader(name, given, lexicon, source).paradigm()


class _Reader:
    """One paradigm being read."""

    def __init__(self, name: str, given: ParadigmEntry, lexicon: Lexicon, source: Source) -> None:
        self.name, self.given, self.lexicon, self.source = name, given, lexicon, source
        self.slots: dict[str, Slot] = {}
        self.vary: dict[str, Slot] = {}

    def error(self, key: Sequence[str], message: str, hint: str = "") -> DataError:
        return self.source.error(("paradigms", self.name, *key), message, hint)

    def paradigm(self) -> Paradigm:
        given = self.given
        for name, entry in given.slots.items():
            if not _SLOT_NAME.fullmatch(name):
                raise self.error(("slots", name), "the name of a slot holds no space, brace, colon or full stop")
            self.slots[name] = self._slot(name, entry)
        for name in given.vary:
            if name not in self.slots:
                raise self.error(("vary", name), f"there is no slot '{name}'", near(name, self.slots))
        for name in self.slots:
            if name in given.vary:
                self.vary[name] = self._varied(name, given.vary[name])
        good = self._template("good", given.good, {})
        bad = self._template("bad", given.bad, self.vary)
        self._check_use(good, bad)
        return Paradigm(self.name, given.field or "", given.linguistics_term or "", self.slots, good, bad, self.vary)

    # Slots

    def _slot(self, name: str, given: SlotEntry) -> Slot:
        key, before = ("slots", name), tuple(self.slots)
        slot = Slot(name, self._categories(key, given.category), parse_condition(""), {}, {}, (), {}, ())
        return self._with(slot, given, key, before)

    def _varied(self, name: str, given: VaryEntry) -> Slot:
        """The slot as the bad sentence draws it. It may refer to shared slots, varied ones before it, and its own
        word in the good sentence, of which it keeps the chosen values unless it is given a choice again."""
        key, slot = ("vary", name), self.slots[name]
        before = [other for other in self.slots if other not in self.given.vary or other in self.vary or other == name]
        if given.category is not None:
            slot = replace(slot, categories=self._categories(key, given.category))
        varied = self._with(slot, given, key, before)
        if given.choose is not None:
            return varied
        kept = [feature for feature in varied.choose if feature not in (given.agree or {})]
        own = {feature: (*varied.agree.get(feature, ()), (name, feature)) for feature in kept}
        return replace(varied, agree={**varied.agree, **own})

    def _with(self, slot: Slot, given: SlotEntry | VaryEntry, key: tuple[str, ...], before: Collection[str]) -> Slot:
        """The slot with everything that is given; what is not stays as it was."""
        if given.choose is not None:
            slot = replace(slot, choose=self._choose(slot, given.choose, (*key, "choose")))
        if given.agree is not None:
            place = (*key, "agree")
            agree = {own: (self._feature(text, (*place, own), before),) for own, text in given.agree.items()}
            slot = replace(slot, agree=agree)
        if given.where is not None:
            slot = replace(slot, where=self._where(slot, given.where, (*key, "where")))
        if given.fits is not None:
            slot = replace(slot, fits=tuple(self._restriction(text, (*key, "fits"), before) for text in given.fits))
        if given.takes is not None:
            slot = replace(slot, takes=self._takes(slot, given.takes, (*key, "takes"), before))
        if given.differs is not None:
            place = (*key, "differs")
            differs = (
                self._feature(text if "." in text else f"{text}.{LEMMA}", place, before) for text in given.differs
            )
            slot = replace(slot, differs=tuple(differs))
        for _, feature in slot.differs:
            if feature not in self._features(slot):
                message = f"the words of slot '{slot.name}' have no feature '{feature}'"
                raise self.error((*key, "differs"), message, near(feature, sorted(self._features(slot))))
        return slot

    def _categories(self, key: tuple[str, ...], names: Sequence[str]) -> tuple[str, ...]:
        for name in names:
            if name not in self.lexicon:
                raise self.error((*key, "category"), f"there is no category '{name}'", near(name, self.lexicon))
        return tuple(dict.fromkeys(names))

    def _of(self, slot: Slot) -> list[Category]:
        return [self.lexicon[name] for name in slot.categories]

    def _features(self, slot: Slot) -> set[str]:
        """What a slot's words can agree in."""
        own = {LEMMA, CATEGORY, *slot.choose, *slot.agree}
        return own.union(*(category.features for category in self._of(slot)))

    def _forms(self, slot: Slot) -> set[str]:
        return set().union(*(category.forms for category in self._of(slot)))

    def _choose(
        self, slot: Slot, given: Mapping[str, Sequence[str]], key: tuple[str, ...]
    ) -> dict[str, tuple[str, ...]]:
        for feature, values in given.items():
            if feature in self._forms(slot) or feature == CATEGORY:
                raise self.error((*key, feature), f"'{feature}' is a form or the category, which cannot be chosen")
            spaced = next((value for value in values if len(value.split()) > 1), None)
            if spaced is not None:
                raise self.error((*key, feature), f"a value has no space in it, '{spaced}' has")
        return {feature: tuple(dict.fromkeys(values)) for feature, values in given.items()}

    def _where(self, slot: Slot, text: str, key: tuple[str, ...]) -> Condition:
        condition = parse_condition(text)
        known = {LEMMA, CATEGORY, *slot.choose} | self._forms(slot)
        known = known.union(*(category.features for category in self._of(slot)))
        for term in condition.terms():
            if term.column not in known:
                message = f"the words of slot '{slot.name}' have no column '{term.column}'"
                raise self.error(key, message, near(term.column, sorted(known)))
        return condition

    # References to other slots

    def _earlier(self, name: str, key: tuple[str, ...], before: Collection[str]) -> Slot:
        if name in before:
            return self.vary.get(name, self.slots[name])
        if name not in self.given.slots:
            raise self.error(key, f"there is no slot '{name}'", near(name, self.given.slots))
        message = f"slot '{name}' is not drawn before this one"
        raise self.error(key, message, f"drawn by then: {', '.join(before) or 'none'}")

    def _feature(self, text: str, key: tuple[str, ...], before: Collection[str]) -> tuple[str, str]:
        """slot.feature of a slot drawn before."""
        name, dot, feature = text.partition(".")
        slot = self._earlier(name, key, before)
        if not dot:
            raise self.error(key, f"a feature of a slot is wanted, such as {name}.number, got '{text}'")
        if feature not in self._features(slot):
            message = f"the words of slot '{name}' have no feature '{feature}'"
            raise self.error(key, message, near(feature, sorted(self._features(slot))))
        return name, feature

    def _restriction(self, text: str, key: tuple[str, ...], before: Collection[str]) -> tuple[str, str]:
        """slot.restriction of a slot drawn before."""
        name, dot, column = text.partition(".")
        slot = self._earlier(name, key, before)
        if not dot:
            raise self.error(key, f"a restriction of a slot is wanted, such as {name}.object, got '{text}'")
        self._check_restriction(slot, column, key)
        return name, column

    def _takes(
        self, slot: Slot, given: Mapping[str, str], key: tuple[str, ...], before: Collection[str]
    ) -> dict[str, str]:
        for column, name in given.items():
            self._check_restriction(slot, column, (*key, column))
            self._earlier(name, (*key, column), before)
        return dict(given)

    def _check_restriction(self, slot: Slot, column: str, key: tuple[str, ...]) -> None:
        known = set().union(*(category.restrictions for category in self._of(slot)))
        if column not in known:
            message = f"the words of slot '{slot.name}' have no restriction '{column}'"
            raise self.error(key, message, near(column, sorted(known)))

    # Sentences

    def _template(self, key: str, text: str, vary: Mapping[str, Slot]) -> Template:
        pieces: list[str | Reference] = []
        end = 0
        for match in _BRACES.finditer(text):
            pieces += [text[end : match.start()], self._reference(key, match[1], match[2], vary)]
            end = match.end()
        pieces.append(text[end:])
        if any(mark in piece for piece in pieces if isinstance(piece, str) for mark in "{}"):
            raise self.error((key,), f"braces hold a slot, or a slot and a form, such as {{noun:plural}}: {text!r}")
        return Template(text, tuple(piece for piece in pieces if piece != ""))

    def _reference(self, key: str, name: str, path: str | None, vary: Mapping[str, Slot]) -> Reference:
        if name not in self.slots:
            raise self.error((key,), f"there is no slot '{name}'", near(name, self.slots))
        slot = vary.get(name, self.slots[name])
        forms, features = self._forms(slot), self._features(slot)
        column = LEMMA if path is None else path
        if column in forms:
            return Reference(name, ((column, False),))
        parts = tuple((part, part in features) for part in column.split("."))
        if not any(feature for _, feature in parts):
            message = f"the words of slot '{name}' have no form or feature '{column}'"
            raise self.error((key,), message, near(column, sorted(forms | features)))
        self._check_forms(key, slot, parts, forms)
        return Reference(name, parts)

    def _check_forms(self, key: str, slot: Slot, parts: Sequence[tuple[str, bool]], forms: Collection[str]) -> None:
        """Every value that is chosen leads to a column of forms; values of other features may be any."""
        options = [slot.choose.get(part, (None,)) if feature else (part,) for part, feature in parts]
        for values in itertools.product(*options):
            if not any(fits_column(form, values) for form in forms):
                shown = ".".join(value or f"<{part}>" for value, (part, _) in zip(values, parts, strict=True))
                message = f"the words of slot '{slot.name}' have no form '{shown}'"
                raise self.error((key,), message, near(shown, sorted(forms)))

    def _check_use(self, good: Template, bad: Template) -> None:
        if not self.vary and good.pieces == bad.pieces:
            raise self.error(("bad",), "the bad sentence is the good one", "name the slots that differ under vary")
        read = {reference.slot for reference in bad.references}
        for slot in self.vary.values():
            read |= {name for pairs in slot.agree.values() for name, _ in pairs if name != slot.name}
            read |= {name for name, _ in (*slot.fits, *slot.differs)} | set(slot.takes.values())
        for name in self.vary:
            if name not in read:
                raise self.error(("vary", name), f"the bad sentence does not have slot '{name}'")
        for label, slots in (("slots", self.slots), ("vary", self.vary)):
            for name, slot in slots.items():
                for feature in slot.agree:
                    if not self._known(name, feature, (good, bad)):
                        message = f"the words of slot '{name}' have no feature '{feature}'"
                        known = sorted(self._features(replace(slot, agree={})))
                        raise self.error((label, name, "agree", feature), message, near(feature, known))

    def _known(self, name: str, feature: str, templates: Sequence[Template]) -> bool:
        """Whether a feature that a slot takes over from another is its own too, or is read somewhere."""
        slots = [*self.slots.values(), *self.vary.values()]
        if any(feature in self._features(replace(slot, agree={})) for slot in slots if slot.name == name):
            return True
        read = {pair for slot in slots for pairs in (*slot.agree.values(), slot.differs) for pair in pairs}
        for reference in (reference for template in templates for reference in template.references):
            read |= {(reference.slot, part) for part, marked in reference.parts if marked}
        return (name, feature) in read


def fits_column(column: str, values: Sequence[str | None]) -> bool:
    """Whether a column of forms has these parts, None standing for any."""
    parts = column.split(".") if len(values) > 1 else [column]
    return len(parts) == len(values) and all(value in (None, part) for part, value in zip(parts, values, strict=True))
