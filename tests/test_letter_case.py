"""Small and capital letters, against the mappings of Unicode's SpecialCasing.txt and words of each language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penchant.letter_case import capitalised, folded, lowered


@pytest.mark.parametrize(
    ("language", "text", "small"),
    [
        # SpecialCasing.txt: tr and az
        ("tr", "\u0130", "i"),
        ("tr", "I", "\u0131"),
        ("tr", "I\u0307", "i"),
        ("tr", "I\u0323\u0307", "i\u0323"),
        ("tr", "I\u0301\u0307", "\u0131\u0301\u0307"),
        ("az", "\u0130", "i"),
        ("az-Latn-AZ", "IĞ", "ığ"),
        ("TR_tr", "IŞIK İYİ Diyarbakır", "ışık iyi diyarbakır"),
        # SpecialCasing.txt: lt
        ("lt", "I\u0300", "i\u0307\u0300"),
        ("lt", "J\u0301", "j\u0307\u0301"),
        ("lt", "\u012e\u0303", "\u012f\u0307\u0303"),
        ("lt", "\u00cc", "i\u0307\u0300"),
        ("lt", "\u00cd", "i\u0307\u0301"),
        ("lt", "\u0128", "i\u0307\u0303"),
        ("lt", "I J \u012e", "i j \u012f"),
        ("lt", "I\u0323", "i\u0323"),
        # SpecialCasing.txt: without a language
        ("und", "\u0130", "i\u0307"),
        ("en", "I", "i"),
        ("el", "ΟΔΟΣ ΣΑΣ.", "οδος σας."),
        ("nl", "IJS", "ijs"),
    ],
)
def test_small_letters(language: str, text: str, small: str) -> None:
    assert lowered(text, language) == small


@pytest.mark.parametrize(
    ("language", "text", "capital"),
    [
        ("tr", "ilk", "İlk"),
        ("tr", "ılık", "Ilık"),
        ("az", "iyun", "İyun"),
        ("en", "ilk", "Ilk"),
        ("nl", "ijs", "IJs"),
        ("nl-BE", "íj\u0301s", "ÍJ\u0301s"),
        ("nl", "ík", "Ík"),
        ("en", "ijs", "Ijs"),
        ("lt", "i\u0307\u0300", "I\u0300"),
        ("el", "άνθρωπος", "Άνθρωπος"),
        ("ka", "ქართული", "ქართული"),
        ("de", "ßa", "Ssa"),
        ("hr", "\u01c6ep", "\u01c5ep"),
        ("und", "", ""),
    ],
)
def test_capitals_at_the_beginning(language: str, text: str, capital: str) -> None:
    assert capitalised(text, language) == capital


def test_words_compared_without_case() -> None:
    assert folded("İlk", "tr") == folded("ilk", "tr") != folded("Ilk", "tr")
    assert folded("ΟΔΟΣ") == folded("οδος") == folded("οδοσ")


@given(st.text(), st.sampled_from(["und", "en", "de", "el"]))
def test_other_languages_have_the_letters_of_python(text: str, language: str) -> None:
    assert lowered(text, language) == text.lower()
    assert folded(text, language) == text.casefold()
