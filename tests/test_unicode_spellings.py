"""Canonically equivalent spellings, against unicodedata and Unicode's list of characters that are not composed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penchant.unicode_spellings import Alignment, Spelled, canonical, spellings

LETTERS = [
    *"aIx ",
    *("é", "e\u0301", "e\u0323\u0301", "e\u0301\u0323", "\u1ec7"),  # French, Vietnamese
    *("\u09df", "\u09af\u09bc", "\u09cb", "\u09c7\u09be", "\u0958", "\u0915\u093c"),  # Bengali, Devanagari
    *("\ufb2a", "\u05e9\u05c1", "\u05e9\u05c1\u05bc", "\ufb2c"),  # Hebrew
    *("\ud55c", "\u1112\u1161\u11ab", "\u1112\u1161"),  # Hangul
    *("\u212b", "\u00c5", "\u1f71", "\u03ac", "\uf900", "\u8c48", "\u0301"),
]
texts = st.lists(st.sampled_from(LETTERS), max_size=8).map("".join)


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@given(texts)
@settings(deadline=None)
def test_spellings_are_equivalent(text: str) -> None:
    found = spellings(text)
    assert text not in found and len(set(found)) == len(found)
    assert {nfc(text), unicodedata.normalize("NFD", text)} <= {text, *found}
    assert {nfc(other) for other in found} <= {nfc(text)} == {canonical(text)}


@pytest.mark.parametrize(  # CompositionExclusions.txt, script by script
    "letter",
    [
        *map(chr, (*range(0x0958, 0x0960), 0x09DC, 0x09DD, 0x09DF, 0x0A33, 0x0A36, *range(0x0A59, 0x0A5C), 0x0A5E)),
        *map(chr, (0x0B5C, 0x0B5D, 0x0F43, 0x0F4D, *range(0xFB2A, 0xFB37), *range(0xFB38, 0xFB3D), 0xFB4E, 0x2ADC)),
    ],
)
def test_letters_that_nfc_takes_apart_are_put_together(letter: str) -> None:
    assert letter in spellings(nfc(letter)) and nfc(letter) != letter
    assert f"x{letter}y{letter}" in spellings(nfc(f"x{letter}y{letter}"))


def test_a_mark_in_between_is_no_obstacle() -> None:
    assert "\ufb2c\u05b7" in spellings("\u05e9\u05b7\u05bc\u05c1")  # shin, patah, dagesh, shin dot


@given(texts, st.sampled_from(["NFC", "NFD"]), st.data())
def test_places_in_another_spelling(text: str, form: str, data: st.DataObject) -> None:
    other = unicodedata.normalize(form, text)  # type: ignore[arg-type]
    place = Alignment(text, other)
    assert place.span(0, len(text)) == (0, len(other))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first, last = place.span(start, end)
    parts = (text[:start], text[start:end], text[end:])
    if "".join(map(nfc, parts)) == nfc(text) and start < end:  # no letter is cut: exactly the same letters
        cut = (other[:first], other[first:last], other[last:])
        if "".join(map(nfc, cut)) == nfc(other):
            assert nfc(text[start:end]) in nfc(other[first:last])
    assert 0 <= first <= last <= len(other)


@given(texts, texts.filter(lambda text: text and not unicodedata.combining(text[0])), texts)
@settings(deadline=None)
def test_whole_letters_have_whole_places(before: str, word: str, after: str) -> None:
    text = f"{before} {word}x{after}"
    for other in spellings(text):
        first, last = Alignment(text, other).span(len(before) + 1, len(before) + 1 + len(word))
        assert nfc(other[first:last]) == nfc(word)


def test_a_word_as_it_is_written_comes_first_then_the_first_equivalent() -> None:
    words = ["e\u0323\u0301", "\u1eb9\u0301", "e\u0301\u0323", "\u09df", "K", "plain"]
    spelled = Spelled({word: number for number, word in enumerate(words)})
    assert [spelled(word) for word in words] == words
    assert spelled("\u1eb9\u0301") == "\u1eb9\u0301" and spelled("\u00e9\u0323") == words[0]
    assert spelled("\u09af\u09bc") == "\u09df"
    assert (spelled("other"), spelled("K"), spelled("é"), spelled("\u212a")) == (None, "K", None, "K")


def test_nothing_is_normalised_as_long_as_words_are_there() -> None:
    spelled = Spelled({"é": 0, "e\u0301x": 1})
    assert spelled("é") == "é" and spelled("none") is None and spelled._others is None
    assert spelled("éx") == "e\u0301x" and spelled._others == {"éx": "e\u0301x"}
