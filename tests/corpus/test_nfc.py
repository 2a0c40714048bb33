"""Texts come out in NFC exactly as unicodedata has it, and sooner."""

from __future__ import annotations

import random
import time
import unicodedata
from collections.abc import Iterable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paths import SHARED, needs_shared
from penchant.corpus import nfc
from penchant.corpus.nfc import normalise

thorough = settings(max_examples=600, deadline=None)
SPACED = "\n" + "-" * 150
"""Between pieces, so that a long text has few suspects and only they are looked at."""

LATIN = [*"aAeiosqK1 -\u0300\u0301\u0302\u0307\u0308\u031b\u0323\u0327\u0331\u0338\u0345éêếẹệọơớỡṩṡṣḯΐωᾳᾴα"]
BENGALI = [*"কযডঢ\u09bc\u09be\u09cd\u09c7\u09cb\u09cc\u09d7\u09dc\u09dd\u09df\u0981\u200d।"]
INDIC = [
    *"नरऩ\u093c\u0958\u094d\u0b47\u0b3e\u0b56\u0bc6\u0bbe\u0cc6\u0cc2\u0cd5\u0cca\u0ccb\u0dd9\u0dcf\u0dca\u0ddc\u0ddd"
]
TIBETAN = [*"ཀྵ\u0f71\u0f72\u0f73\u0f74\u0f80\u0f81\u0fb2\u0fb3\u0f77\u0f39\u0f35ག\u0f43"]
HANGUL = [*"\u1100\u1112\u1113\u1160\u1161\u1175\u1176\u11a7\u11a8\u11c2\u11c3가각개힣"]
OTHER = [*"\u0344\u0340\u212b\u2126\u1f71\u2adc\ufb1d\ufb2c\u05b4\u05bc\u05c1か\u3099が"]
OTHER += [*"\u064e\u0651\u0654\u0627\u0653\u1b05\u1b35"]
OTHER += [*"\uf900中\U0002f800\U00011099\U000110ba\U0001109a\U00011131\U00011127\U0001d15e\U0001d165\U0001d157"]
OTHER += [*"\U0001f600\ud800\udfff\x00\xa0\x85\u2028\U0010ffff"]
GROUPS = [LATIN, BENGALI, INDIC, TIBETAN, HANGUL, OTHER]
RICH = sorted({character for group in GROUPS for character in group})


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short texts, too, are done the new way."""
    monkeypatch.setattr(nfc, "_SHORT", 0)


def same(pieces: Iterable[str], spaced: str = SPACED) -> None:
    """Also after `SPACED` every piece is normalised as unicodedata does the whole text."""
    text = spaced.join(pieces)
    ours, theirs = normalise(text), unicodedata.normalize("NFC", text)
    if ours != theirs:
        wrong = zip(text.split(spaced), ours.split(spaced), theirs.split(spaced), strict=False)
        raise AssertionError(next(ascii(each) for each in wrong if each[1] != each[2]))


# --- against unicodedata ------------------------------------------------------------------------------------------


def test_every_character() -> None:
    same((chr(code) for code in range(0x110000)), "\n")
    same(chr(code) for code in range(0x110000) if unicodedata.decomposition(chr(code)))


def test_no_character_is_left_out_of_the_table() -> None:
    """Of all of Unicode, not only of those below _END; what has no part in the table is never changed."""
    for code in range(0x110000):
        character = chr(code)
        inert = code >= len(nfc._tables().parts) or not nfc._tables().parts[code]
        if inert:
            assert not unicodedata.combining(character) and unicodedata.is_normalized("NFC", character), hex(code)


@pytest.mark.whole
def test_all_pairs_and_triples() -> None:
    same(map("".join, product(RICH, repeat=2)))
    for group in GROUPS:
        same(map("".join, product(group, repeat=3)))


def test_all_marks_after_letters_that_end_in_one() -> None:
    """As ế with a dot below, which is no pair that composes, but ệ with an acute."""
    assert normalise("\u1ebf\u0323" + SPACED * 9) == "\u1ec7\u0301" + SPACED * 9
    marks = [chr(code) for code in range(0x300, 0x363)]
    letters = [c for c in map(chr, range(0xC0, 0x2000)) if len(unicodedata.normalize("NFD", c)) > 1]
    same(letter + mark for letter in letters for mark in marks)


@pytest.mark.whole
def test_all_pairs_that_compose() -> None:
    """With every other character that has a class of its own between them and behind them."""
    classes = {unicodedata.combining(c): c for c in map(chr, range(0x30000)) if unicodedata.combining(c)}
    composed = [
        c for c in map(chr, range(0x30000)) if len(unicodedata.normalize("NFD", c)) > 1 and not "가" <= c <= "힣"
    ]
    for character in composed:
        first, *rest = unicodedata.decomposition(character).split()
        if first.startswith("<") or not rest:
            continue
        left, right = chr(int(first, 16)), chr(int(rest[0], 16))
        parts = [left + right, left + "a" + right, character + right, left + left + right]
        same(
            [*parts, *(left + mark + right for mark in classes.values()), *(left + right + m for m in classes.values())]
        )


def test_hangul() -> None:
    leads, vowels, tails = range(0x1100, 0x1113), range(0x1161, 0x1176), range(0x11A7, 0x11C4)
    same(chr(a) + chr(b) for a, b in product([*leads, 0x1113], [*vowels, 0x1160, 0x1176]))
    same(chr(a) + chr(b) for a, b in product(range(0xAC00, 0xD7A4, 7), tails))
    same(chr(a) + chr(b) for a, b in product(range(0xAC00, 0xD7A4, 28), tails))


@pytest.mark.whole
@pytest.mark.usefixtures("eager")
@thorough
@given(st.lists(st.text(st.sampled_from(RICH), max_size=6), max_size=8), st.sampled_from(["", "-", SPACED]))
def test_rich_texts(pieces: list[str], spaced: str) -> None:
    same(pieces, spaced)


@pytest.mark.whole
@pytest.mark.usefixtures("eager")
@thorough
@given(st.lists(st.one_of(st.text(), st.text(st.characters(categories=["Mn", "Mc", "Lo"]))), max_size=5))
def test_any_texts(pieces: list[str]) -> None:
    same(pieces, "")
    same(pieces)


@pytest.mark.whole
@pytest.mark.parametrize("seed", range(8))
def test_long_texts(seed: int) -> None:
    """Of several blocks, with more suspects or fewer, next to the edges of blocks too."""
    draw = random.Random(seed)
    for rare in (0.0, 0.001, 0.01, 0.1, 1.0):
        group = draw.choice([RICH, *GROUPS])
        plain = draw.choice(["ক খ", "abc ", "-", "\U0001f600 "])
        length = draw.choice([1000, 70_000, 200_000])
        text = [draw.choice(group) if draw.random() < rare else draw.choice(plain) for _ in range(length)]
        for edge in range(nfc._BLOCK, length, nfc._BLOCK):
            text[edge - 2 : edge + 2] = draw.choices(group, k=4)
        same(["".join(text)])


@pytest.mark.parametrize(
    "suspect", ["\u09c7\u09be", "\u1100\u1161", "a\u0323\u0301", "a\u0301\u0323", "\u09df", "\u212b"]
)
@pytest.mark.parametrize("place", [-3, -2, -1, 0, 1])
def test_blocks_hang_together(suspect: str, place: int) -> None:
    at = nfc._BLOCK + place
    same(["\u4e2d" * at + suspect + "\u4e2d" * nfc._BLOCK])


def test_letters_that_are_frequent() -> None:
    """Those that never occur in NFC are replaced one kind at a time, but not all kinds."""
    kinds = [c for c in map(chr, range(0xF900, 0xFA00)) if not unicodedata.is_normalized("NFC", c)]
    for repeats in (1, 3, 40):
        same(["中文".join(kinds * repeats)])
        same(["中文" * 20 + kind for kind in kinds * repeats], "")
    same(["\u09df\u09cd\u09af\u09be \u09a1\u09bc\u09c7\u09be " + "ক" * 60] * 100, "")


def test_which_letters_are_frequent() -> None:
    def left(text: str) -> set[str]:
        replaced = nfc._replaced(text, nfc._look(text))
        return {letter for letter in "\u09df\u0958" if letter in replaced}

    assert left("\u09df\u09df\u0958" + "ক" * 900) == set()
    assert left("\u09df" * 20 + "\u0958" + "ক" * 15_000) == {"\u0958"}
    assert left("\u09df" + "ক" * 1_500) == {"\u09df"}


def test_letters_that_are_frequent_in_one_half() -> None:
    """The beginning of a long text is looked at first, which may tell nothing of the rest."""
    plain, other = "কাজ ও নদী " * 20_000, "হ\u09df আ\u09dc\u09be গ\u09be\u09dd " * 20_000
    for text in (plain + other, other + plain, "ক" * (1 << 16) + "\u09be\u09df" + plain, other + "e\u0301" * 9):
        assert normalise(text) == unicodedata.normalize("NFC", text)


def test_the_text_itself_where_it_is_in_nfc() -> None:
    for text in ("abc" * 999, "কাজ " * 999, "中" * 999, "बड़ा काम " * 99, "час а\u0301 " * 99, "\ud800가각" * 999):
        assert unicodedata.is_normalized("NFC", text)
        assert normalise(text) is text


@needs_shared
@pytest.mark.parametrize("name", ["data/bangla/porjotonlipi.bn", "corpora/modern_english.txt"])
def test_real_texts(name: str) -> None:
    text = (SHARED.parent / name).read_text("utf-8")
    for form in ("NFC", "NFD", "NFKD"):
        same([unicodedata.normalize(form, text)])
    same([text, unicodedata.normalize("NFD", text[:9999]), text])
    for line in text.splitlines():
        assert normalise(line) == unicodedata.normalize("NFC", line)


# --- time -----------------------------------------------------------------------------------------------------------


@needs_shared
def test_bengali_is_done_faster() -> None:
    text = unicodedata.normalize("NFC", (SHARED / "bangla" / "porjotonlipi.bn").read_text("utf-8")) * 4
    normalise(text)
    ours, theirs = [], []
    for _ in range(3):
        start = time.perf_counter()
        normalise(text)
        middle = time.perf_counter()
        unicodedata.normalize("NFC", text)
        ours.append(middle - start)
        theirs.append(time.perf_counter() - middle)
    assert min(ours) * 3 < min(theirs)  # about 30 times


def test_tables_of_the_basic_plane_are_part_of_all() -> None:
    basic, every = nfc._tables(nfc.BASIC), nfc._tables()
    for name in ("parts", "first", "last"):
        assert np.array_equal(getattr(basic, name)[:-1], getattr(every, name)[: nfc.BASIC])
    pairs = every.pairs[(every.pairs >> 32 < nfc.BASIC) & (every.pairs % 2**32 < nfc.BASIC)]
    assert np.array_equal(basic.pairs, pairs) and len(pairs) < len(every.pairs)
