"""A parser for the sentences of a paradigm: the reverse of drawing, to check grammars and pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Literal

from penchant.grammar.grammar import Grammar
from penchant.grammar.paradigms import FormReference, fits_column
from penchant.grammar.word_sampling import Drawing, Rule, Words, capitalised, first_letter, written

Side = Literal["good", "bad"]
Texts = Mapping[FormReference, str]
"""The text at each place of a sentence."""


def parse(grammar: Grammar, paradigm: str, sentence: str, side: Side) -> bool:
    """True if the sentence can be drawn on this side; a bad one needs a different good one to go with it."""
    drawing = grammar.drawing(paradigm)
    fill = _good if side == "good" else _bad
    return any(fill(drawing, sentence, texts) for texts in _splits(drawing, sentence, side, 0, 0, {}))


def _splits(drawing: Drawing, sentence: str, side: Side, number: int, at: int, texts: Texts) -> Iterator[Texts]:
    """The texts that the places may have, from piece `number` of the template and character `at` on."""
    pieces = (drawing.paradigm.good if side == "good" else drawing.paradigm.bad).pieces
    if number == len(pieces):
        if at == len(sentence):
            yield texts
        return
    piece = pieces[number]
    if isinstance(piece, str):
        candidates: tuple[str, ...] = (piece,)
    else:
        candidates = (texts[piece],) if piece in texts else _forms(drawing, piece, side)
    for text in candidates:
        if _stands_at(text, sentence, at, drawing.language):
            more = {} if isinstance(piece, str) else {piece: text}
            yield from _splits(drawing, sentence, side, number + 1, at + len(text), {**texts, **more})


@cache
def _forms(drawing: Drawing, reference: FormReference, side: Side) -> tuple[str, ...]:
    """Every form that may fill a place, regardless of other slots."""
    varied = side == "bad" and reference.slot in drawing.bad
    rule = (drawing.bad if varied else drawing.good)[reference.slot]
    values = [None if feature else part for part, feature in reference.parts]
    entries = dict.fromkeys(option.entry for option in rule.options)
    forms = (form for entry in entries for form in entry.forms.items())
    return tuple(dict.fromkeys(text for column, text in forms if fits_column(column, values)))


def _stands_at(text: str, sentence: str, at: int, language: str) -> bool:
    first = first_letter(sentence)
    if first is not None and at <= first < at + len(text):
        text = text[: first - at] + capitalised(text[first - at :], language)
    return sentence.startswith(text, at)


def _good(drawing: Drawing, sentence: str, texts: Texts) -> bool:
    return _fill(list(drawing.good.items()), {}, texts, lambda words: True)


def _bad(drawing: Drawing, sentence: str, texts: Texts) -> bool:
    """Match the shared places of the bad sentence to a good one, whose other words may be any, then the varied ones."""
    shared = {place: text for place, text in texts.items() if place.slot not in drawing.bad}
    varied = {place: text for place, text in texts.items() if place.slot in drawing.bad}

    def beside(good: Words) -> bool:
        if written(drawing.paradigm.good, good, drawing.language) == sentence:
            return False
        return _fill(list(drawing.bad.items()), good, varied, lambda words: True)

    return _fill(list(drawing.good.items()), {}, shared, beside)


def _fill(rules: Sequence[tuple[str, Rule]], words: Words, texts: Texts, then: Callable[[Words], bool]) -> bool:
    """True if the slots have words that fit the texts of their places and satisfy `then`."""
    if not rules:
        return then(words)
    (name, rule), rest = rules[0], rules[1:]
    places = [place for place in texts if place.slot == name]
    return any(
        _fill(rest, {**words, name: choice}, texts, then)
        for choice in rule.candidates(words)
        if all(choice.text(place) == texts[place] for place in places) and rule.differs(choice, words)
    )
