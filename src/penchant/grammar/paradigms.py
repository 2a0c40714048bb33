"""Validated paradigms of a grammar: slots, rules for drawing their words, and the two sentence templates."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from penchant.errors import DataError
from penchant.grammar.features import Condition, parse_condition
from penchant.grammar.grammar_file import ParadigmEntry, SlotEntry, VaryEntry
from penchant.grammar.lexicon import CATEGORY, LEMMA, Lexicon, WordCategory, near
from penchant.tables.yaml_json_documents import YamlDocument

_BRACES = re.compile(r"\{([^{}:]*)(?::([^{}:]*))?\}")
_SLOT_NAME = re.compile(r"[^\s{}:.]+")


@dataclass(frozen=True, slots=True)
class FormReference:
    """Reference to a form of a slot's word in a sentence template.

    The parts, joined by dots, are the name of the form's column; a part marked True is a feature, which is replaced by
    its value.
    """

    slot: str
    parts: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class SentenceTemplate:
    """Sentence template: its text, and the same text divided into strings and references to forms."""

    text: str
    pieces: tuple[str | FormReference, ...]

    @property
    def references(self) -> list[FormReference]:
        """The references to forms, in the order of the sentence."""
        return [piece for piece in self.pieces if isinstance(piece, FormReference)]


@dataclass(frozen=True, slots=True)
class Slot:
    """Rules for drawing the word of a slot (see `SlotEntry`); features of other slots are pairs (slot, feature)."""

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
    """Paradigm of minimal pairs.

    `vary` has the slots redrawn for the bad sentence, in the order of `slots`; in their rules, the slot's own name
    refers to its word in the good sentence. `marks` are BLiMP's flags that apply to all pairs of the paradigm.
    """

    name: str
    field: str
    linguistics_term: str
    marks: Mapping[str, bool]
    slots: Mapping[str, Slot]
    good: SentenceTemplate
    bad: SentenceTemplate
    vary: Mapping[str, Slot]

    def given_features(self) -> set[str]:
        """Return the names of the features that `choose` or `agree` assigns to words."""
        slots = (*self.slots.values(), *self.vary.values())
        return {name for slot in slots for name in (*slot.choose, *slot.agree)}


def read_paradigm(name: str, entry: ParadigmEntry, lexicon: Lexicon, source: YamlDocument) -> Paradigm:
    """Return a validated paradigm of grammar.yaml. Raises DataError with the file, line and key if it is invalid."""
    return _Reader(name, entry, lexicon, source).paradigm()


class _Reader:
    def __init__(self, name: str, entry: ParadigmEntry, lexicon: Lexicon, source: YamlDocument) -> None:
        self.name, self.entry, self.lexicon, self.source = name, entry, lexicon, source
        self.slots: dict[str, Slot] = {}
        self.vary: dict[str, Slot] = {}

    def error(self, key: Sequence[str], message: str, hint: str = "") -> DataError:
        return self.source.error(("paradigms", self.name, *key), message, hint)

    def paradigm(self) -> Paradigm:
        entry = self.entry
        for name, slot_entry in entry.slots.items():
            if not _SLOT_NAME.fullmatch(name):
                raise self.error(
                    ("slots", name), "the name of a slot must not contain a space, brace, colon or full stop"
                )
            self.slots[name] = self._slot(name, slot_entry)
        for name in entry.vary:
            if name not in self.slots:
                raise self.error(("vary", name), f"there is no slot '{name}'", near(name, self.slots))
        for name in self.slots:
            if name in entry.vary:
                self.vary[name] = self._varied(name, entry.vary[name])
        good = self._template("good", entry.good, {})
        bad = self._template("bad", entry.bad, self.vary)
        self._check_use(good, bad)
        marks = {"one_prefix_method": entry.one_prefix_method, "two_prefix_method": entry.two_prefix_method}
        if entry.lexically_identical is not None:
            marks["lexically_identical"] = entry.lexically_identical
        phenomenon = entry.linguistics_term or ""
        return Paradigm(self.name, entry.field or "", phenomenon, marks, self.slots, good, bad, self.vary)

    # Slots

    def _slot(self, name: str, entry: SlotEntry) -> Slot:
        key, before = ("slots", name), tuple(self.slots)
        slot = Slot(name, self._categories(key, entry.category), parse_condition(""), {}, {}, (), {}, ())
        return self._with(slot, entry, key, before)

    def _varied(self, name: str, entry: VaryEntry) -> Slot:
        """Return the rules for redrawing a slot for the bad sentence.

        The rules may refer to shared slots, earlier varied slots, and the slot's own word in the good sentence. The
        values chosen for that word are kept unless the entry has `choose`.
        """
        key, slot = ("vary", name), self.slots[name]
        before = [s for s in self.slots if s not in self.entry.vary or s in self.vary or s == name]
        if entry.category is not None:
            slot = replace(slot, categories=self._categories(key, entry.category))
        varied = self._with(slot, entry, key, before)
        if entry.choose is not None:
            return varied
        kept = [feature for feature in varied.choose if feature not in (entry.agree or {})]
        added = {feature: (*varied.agree.get(feature, ()), (name, feature)) for feature in kept}
        return replace(varied, agree={**varied.agree, **added})

    def _with(self, slot: Slot, entry: SlotEntry | VaryEntry, key: tuple[str, ...], before: Collection[str]) -> Slot:
        if entry.choose is not None:
            slot = replace(slot, choose=self._choose(slot, entry.choose, (*key, "choose")))
        if entry.agree is not None:
            place = (*key, "agree")
            agree = {
                feature: (self._feature(text, (*place, feature), before),) for feature, text in entry.agree.items()
            }
            slot = replace(slot, agree=agree)
        if entry.where is not None:
            slot = replace(slot, where=self._where(slot, entry.where, (*key, "where")))
        if entry.fits is not None:
            slot = replace(slot, fits=tuple(self._restriction(text, (*key, "fits"), before) for text in entry.fits))
        if entry.takes is not None:
            slot = replace(slot, takes=self._takes(slot, entry.takes, (*key, "takes"), before))
        if entry.differs is not None:
            place = (*key, "differs")
            differs = (
                self._feature(text if "." in text else f"{text}.{LEMMA}", place, before) for text in entry.differs
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

    def _of(self, slot: Slot) -> list[WordCategory]:
        return [self.lexicon[name] for name in slot.categories]

    def _features(self, slot: Slot) -> set[str]:
        added = {LEMMA, CATEGORY, *slot.choose, *slot.agree}
        return added.union(*(category.features for category in self._of(slot)))

    def _forms(self, slot: Slot) -> set[str]:
        return set().union(*(category.forms for category in self._of(slot)))

    def _choose(
        self, slot: Slot, choices: Mapping[str, Sequence[str]], key: tuple[str, ...]
    ) -> dict[str, tuple[str, ...]]:
        for feature, values in choices.items():
            if feature in self._forms(slot) or feature == CATEGORY:
                raise self.error((*key, feature), f"'{feature}' is a form or the category, which cannot be chosen")
            spaced = next((value for value in values if len(value.split()) > 1), None)
            if spaced is not None:
                raise self.error((*key, feature), f"values must not contain spaces: '{spaced}'")
        return {feature: tuple(dict.fromkeys(values)) for feature, values in choices.items()}

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
        if name not in self.entry.slots:
            raise self.error(key, f"there is no slot '{name}'", near(name, self.entry.slots))
        message = f"slot '{name}' is not drawn before this one"
        raise self.error(key, message, f"slots drawn before it: {', '.join(before) or 'none'}")

    def _feature(self, text: str, key: tuple[str, ...], before: Collection[str]) -> tuple[str, str]:
        name, dot, feature = text.partition(".")
        slot = self._earlier(name, key, before)
        if not dot:
            raise self.error(key, f"expected a slot feature, such as {name}.number, got '{text}'")
        if feature not in self._features(slot):
            message = f"the words of slot '{name}' have no feature '{feature}'"
            raise self.error(key, message, near(feature, sorted(self._features(slot))))
        return name, feature

    def _restriction(self, text: str, key: tuple[str, ...], before: Collection[str]) -> tuple[str, str]:
        name, dot, column = text.partition(".")
        slot = self._earlier(name, key, before)
        if not dot:
            raise self.error(key, f"expected a slot restriction, such as {name}.object, got '{text}'")
        self._check_restriction(slot, column, key)
        return name, column

    def _takes(
        self, slot: Slot, taken: Mapping[str, str], key: tuple[str, ...], before: Collection[str]
    ) -> dict[str, str]:
        for column, name in taken.items():
            self._check_restriction(slot, column, (*key, column))
            self._earlier(name, (*key, column), before)
        return dict(taken)

    def _check_restriction(self, slot: Slot, column: str, key: tuple[str, ...]) -> None:
        known = set().union(*(category.restrictions for category in self._of(slot)))
        if column not in known:
            message = f"the words of slot '{slot.name}' have no restriction '{column}'"
            raise self.error(key, message, near(column, sorted(known)))

    # Sentences

    def _template(self, key: str, text: str, vary: Mapping[str, Slot]) -> SentenceTemplate:
        pieces: list[str | FormReference] = []
        end = 0
        for match in _BRACES.finditer(text):
            pieces += [text[end : match.start()], self._reference(key, match[1], match[2], vary)]
            end = match.end()
        pieces.append(text[end:])
        if any(mark in piece for piece in pieces if isinstance(piece, str) for mark in "{}"):
            raise self.error(
                (key,), f"braces may contain only a slot, or a slot and a form, such as {{noun:plural}}: {text!r}"
            )
        return SentenceTemplate(text, tuple(piece for piece in pieces if piece != ""))

    def _reference(self, key: str, name: str, path: str | None, vary: Mapping[str, Slot]) -> FormReference:
        if name not in self.slots:
            raise self.error((key,), f"there is no slot '{name}'", near(name, self.slots))
        slot = vary.get(name, self.slots[name])
        forms, features = self._forms(slot), self._features(slot)
        column = LEMMA if path is None else path
        if column in forms:
            return FormReference(name, ((column, False),))
        parts = tuple((part, part in features) for part in column.split("."))
        if not any(feature for _, feature in parts):
            message = f"the words of slot '{name}' have no form or feature '{column}'"
            raise self.error((key,), message, near(column, sorted(forms | features)))
        self._check_forms(key, slot, parts, forms)
        return FormReference(name, parts)

    def _check_forms(self, key: str, slot: Slot, parts: Sequence[tuple[str, bool]], forms: Collection[str]) -> None:
        options = [slot.choose.get(part, (None,)) if feature else (part,) for part, feature in parts]
        for values in itertools.product(*options):
            if not any(fits_column(form, values) for form in forms):
                shown = ".".join(value or f"<{part}>" for value, (part, _) in zip(values, parts, strict=True))
                message = f"the words of slot '{slot.name}' have no form '{shown}'"
                raise self.error((key,), message, near(shown, sorted(forms)))

    def _check_use(self, good: SentenceTemplate, bad: SentenceTemplate) -> None:
        if not self.vary and good.pieces == bad.pieces:
            raise self.error(("bad",), "the bad sentence equals the good one", "list under vary the slots that differ")
        read = {reference.slot for reference in bad.references}
        for slot in self.vary.values():
            read |= {name for pairs in slot.agree.values() for name, _ in pairs if name != slot.name}
            read |= {name for name, _ in (*slot.fits, *slot.differs)} | set(slot.takes.values())
        for name in self.vary:
            if name not in read:
                raise self.error(("vary", name), f"the bad sentence does not use slot '{name}'")
        for label, slots in (("slots", self.slots), ("vary", self.vary)):
            for name, slot in slots.items():
                for feature in slot.agree:
                    if not self._known(name, feature, (good, bad)):
                        message = f"the words of slot '{name}' have no feature '{feature}'"
                        known = sorted(self._features(replace(slot, agree={})))
                        raise self.error((label, name, "agree", feature), message, near(feature, known))

    def _known(self, name: str, feature: str, templates: Sequence[SentenceTemplate]) -> bool:
        slots = [*self.slots.values(), *self.vary.values()]
        if any(feature in self._features(replace(slot, agree={})) for slot in slots if slot.name == name):
            return True
        read = {pair for slot in slots for pairs in (*slot.agree.values(), slot.differs) for pair in pairs}
        for reference in (reference for template in templates for reference in template.references):
            read |= {(reference.slot, part) for part, marked in reference.parts if marked}
        return (name, feature) in read


def fits_column(column: str, values: Sequence[str | None]) -> bool:
    """Return True if the parts of a column name, separated by dots, equal `values`; None matches any part."""
    parts = column.split(".") if len(values) > 1 else [column]
    return len(parts) == len(values) and all(value in (None, part) for part, value in zip(parts, values, strict=True))
