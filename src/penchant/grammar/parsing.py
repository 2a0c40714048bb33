"""Test whether a paradigm can produce a sentence: the reverse of drawing, to check grammars and pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from penchant.grammar.drawing import Choice, Drawing, Rule, Words, capitalised, first_letter, written
from penchant.grammar.grammar import Grammar
from penchant.grammar.paradigms import Reference, Template

Side = Literal["good", "bad"]
_Texts = Mapping[Reference, str]
"""The text at each place of a sentence."""


def parse(grammar: Grammar, paradigm: str, sentence: str, side: Side) -> bool:
    """Whether a paradigm can produce the sentence on this side, under all its conditions. A bad sentence needs a
    different good one to go with it. Raises DataError if there is no such paradigm."""
    drawing = grammar.drawing(paradigm)
    template = drawing.paradigm.good if side == "good" else drawing.paradigm.bad
    places = _Places(drawing, template, sentence, bad=side == "bad")
    fill = _good if side == "good" else _bad
    return any(fill(drawing, sentence, texts) for texts in places.splits())


class _Places:
    """The ways to split a sentence into the texts and word forms of a template."""

    def __init__(self, drawing: Drawing, template: Template, sentence: str, *, bad: bool) -> None:
        self.drawing, self.pieces, self.sentence, self.bad = drawing, template.pieces, sentence, bad
        self.first = first_letter(sentence)

    def splits(self, number: int = 0, at: int = 0, texts: _Texts | None = None) -> Iterator[_Texts]:
        """Yield the possible texts of the places, from piece `number` of the template and character `at` onwards."""
        texts = texts or {}
        if number == len(self.pieces):
            if at == len(self.sentence):
                yield texts
            return
        piece = self.pieces[number]
        if isinstance(piece, str):
            if self._matches_at(piece, at):
                yield from self.splits(number + 1, at + len(piece), texts)
            return
        candidates = (texts[piece],) if piece in texts else self.drawing.texts(piece, bad=self.bad)
        for text in candidates:
            if self._matches_at(text, at):
                yield from self.splits(number + 1, at + len(text), {**texts, piece: text})

    def _matches_at(self, text: str, at: int) -> bool:
        if self.first is not None and at <= self.first < at + len(text):
            inside = self.first - at
            text = text[:inside] + capitalised(text[inside:], self.drawing.language)
        return self.sentence.startswith(text, at)


def _good(drawing: Drawing, sentence: str, texts: _Texts) -> bool:
    return _fill(list(drawing.good.items()), {}, texts, lambda words: True)


def _bad(drawing: Drawing, sentence: str, texts: _Texts) -> bool:
    """Match the shared places of the bad sentence to a good one, whose other words may be any, then the varied ones."""
    shared = {place: text for place, text in texts.items() if place.slot not in drawing.bad}
    varied = {place: text for place, text in texts.items() if place.slot in drawing.bad}

    def beside(good: Words) -> bool:
        if written(drawing.paradigm.good, good, drawing.language) == sentence:
            return False
        return _fill(list(drawing.bad.items()), good, varied, lambda words: True)

    return _fill(list(drawing.good.items()), {}, shared, beside)


def _fill(rules: Sequence[tuple[str, Rule]], words: Words, texts: _Texts, then: Callable[[Words], bool]) -> bool:
    """Whether the slots have words that fit the texts of their places and satisfy `then`."""
    if not rules:
        return then(words)
    (name, rule), rest = rules[0], rules[1:]
    required = [(place, text) for place, text in texts.items() if place.slot == name]
    return any(
        _fill(rest, {**words, name: choice}, texts, then)
        for choice in rule.candidates(words)
        if _has_forms(choice, required) and rule.differs(choice, words)
    )


def _has_forms(choice: Choice, required: Sequence[tuple[Reference, str]]) -> bool:
    return all(choice.text(place) == text for place, text in required)
