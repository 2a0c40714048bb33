"""Nearly equal sentences are left out: never one that is unlike all kept ones, and of the like ones nearly all."""

from __future__ import annotations

import functools
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paths import SHARED, needs_shared
from penchant.corpus.near_duplicates import BANDS, ROWS, THRESHOLD, NearDuplicates, _Masks
from penchant.corpus.text_folding import fold, fold_all
from penchant.errors import MethodError

thorough = settings(max_examples=300, deadline=None)


# --- the naive way ------------------------------------------------------------------------------------------------


def naive_fold(text: str) -> str:
    """Word by word, character by character."""
    words = regex.findall(r"[\p{L}\p{M}\p{N}\u200c\u200d]+", text)
    folded = " ".join("".join("0" if regex.match(r"\p{Nd}", c) else c.casefold() for c in word) for word in words)
    while "00" in folded or "0 0" in folded:
        folded = folded.replace("0 0", "0").replace("00", "0")
    return folded


@functools.cache
def naive_shingles(text: str) -> frozenset[str]:
    folded = naive_fold(text)
    return frozenset(folded[i : i + 5] for i in range(len(folded) - 4)) if len(folded) >= 5 else frozenset({folded})


def jaccard(one: str, other: str) -> float:
    a, b = naive_shingles(one), naive_shingles(other)
    return len(a & b) / len(a | b)


def checked(texts: Iterable[str]) -> tuple[list[bool], list[float]]:
    """Return which texts are kept, and the similarities of those kept despite a similar one; compare all pairs."""
    near = NearDuplicates()
    added: list[bool] = []
    missed: list[float] = []
    kept: list[str] = []
    for text in texts:
        most = max((jaccard(text, other) for other in kept), default=0.0)
        added.append(near.add(text))
        if not added[-1]:
            assert most >= THRESHOLD, (text, most)  # nothing is thrown away wrongly
            continue
        kept.append(text)
        if most >= THRESHOLD:
            missed.append(most)
    return added, missed


def sentences(name: str, count: int, seed: int = 1) -> list[str]:
    if name == "bangla":
        lines = (SHARED / "bangla" / "porjotonlipi.bn").read_text("utf-8").splitlines()
    else:
        lines = re.split(r"(?<=[.!?])\s+", (SHARED.parent / "corpora" / "modern_english.txt").read_text("utf-8"))
    distinct = sorted({line for line in lines if len(line) > 30})
    return random.Random(seed).sample(distinct, count)


def edited(text: str, words: Sequence[str], draw: random.Random) -> str:
    """With one to four words changed, added, left out or swapped, or with changes that folding undoes."""
    parts = text.split()
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(parts))
        match draw.randrange(6):
            case 0:
                parts[place] = draw.choice(words)
            case 1:
                parts.insert(place, draw.choice(words))
            case 2 if len(parts) > 1:
                del parts[place]
            case 3:
                parts[place] = parts[place].upper() + ","
            case 4:
                parts[place], parts[0] = parts[0], parts[place]
            case _:
                parts[place] = parts[place][:-1] + draw.choice(words)[0]
    return draw.choice([" ", "  "]).join(parts)


# --- folding --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("The Cat — sat; on  the mat!", "the cat sat on the mat"),
        ("It's half-past 12.", "it s half past 0"),
        ("In 1999, 1,234.5 or 12/05/2019 and 7", "in 0 or 0 and 0"),
        ("Straße, STRASSE", "strasse strasse"),
        ("covid19 b2b", "covid0 b0b"),
        ("২০১৯ সালে কাজ়, कुल ५० لـ ٣٤", "0 সালে কাজ় कुल 0 لـ 0"),
        ("½ Ⅷ", "½ ⅷ"),
        ("ক্\u200dষ\u200c।", "ক্\u200dষ\u200c"),
        ("中文，测试\u3000𝟘𐒠😀𐐀", "中文 测试 0 𐐨"),
        ("a\ud800b\x00c", "a b c"),
        (" \n", ""),
        ("?!", ""),
    ],
)
def test_folding(text: str, folded: str) -> None:
    assert fold(text) == naive_fold(text) == folded


@thorough
@given(st.one_of(st.text(), st.text(st.sampled_from("aA0 ৯٣9-.,ßİক\u09bc\u200d\u0301Ⅷ\n中😀"))))
def test_folding_is_done_as_character_by_character(text: str) -> None:
    assert fold(text) == naive_fold(text)


@thorough
@given(st.lists(st.one_of(st.text(), st.text(st.sampled_from("aA0 ৯٣9-.,ßİক\u09bc\u200d\u0301Ⅷ\n中😀\ud800")))))
@example(["", " ", "0 0", "0", " a", "ß", "b "])
@example([])
def test_many_are_folded_as_each(texts: list[str]) -> None:
    assert fold_all(texts) == list(map(naive_fold, texts))
    lines = [text.replace("\n", " ") for text in texts]
    assert fold_all(lines) == list(map(naive_fold, lines))


def test_folding_every_character() -> None:
    text = "x ".join(map(chr, range(0x110000)))
    words = " ".join(regex.findall(r"[\p{L}\p{M}\p{N}\u200c\u200d]+", text)).casefold()
    assert fold(text) == re.sub("0+", "0", regex.sub(r"\p{Nd}", "0", words))
    codes = [*range(ord("\n")), *range(ord("\n") + 1, 0x20000), *range(0x20000, 0x110000, 97)]
    characters = list(map(chr, codes))
    assert fold_all(characters) == [fold(character) for character in characters]


# --- what is kept ---------------------------------------------------------------------------------------------------


@needs_shared
@pytest.mark.parametrize("name", ["bangla", "english"])
def test_planted_edits(name: str) -> None:
    draw = random.Random(name)
    texts = sentences(name, 130)
    words = " ".join(texts).split()
    texts += [edited(draw.choice(texts), words, draw) for _ in range(350)]
    draw.shuffle(texts)
    added, missed = checked(texts)
    dropped = len(added) - sum(added)
    assert dropped > 30 and sum(added) > 130
    assert len(missed) <= 0.02 * (dropped + len(missed)) and all(each < THRESHOLD + 0.1 for each in missed)


@needs_shared
@pytest.mark.parametrize("name", ["bangla", "english"])
def test_recall_close_above_the_threshold(name: str) -> None:
    """Of pairs of a similarity from 0.8 to 0.9, where the bands miss most; each pair is alone."""
    draw = random.Random(7)
    texts = sentences(name, 700)
    words = " ".join(texts).split()
    found = total = 0
    while total < 1200:
        text = draw.choice(texts)
        other = edited(text, words, draw)
        if 0.8 <= jaccard(text, other) <= 0.9:
            near = NearDuplicates()
            assert near.add(text)
            found += not near.add(other)
            total += 1
    assert found / total >= 0.99


SENTENCES = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.text(st.sampled_from("abc "), min_size=5, max_size=40),
        st.text(st.sampled_from("কখগ\u09cdি ।"), min_size=5, max_size=40),
    ),
    max_size=12,
)


@thorough
@given(SENTENCES, st.randoms(use_true_random=False))
@example(["", "a", "?!", "A.", "abcd", "abcde", "abcdef", "ABCD"], random.Random(1))
def test_any_texts(texts: list[str], draw: random.Random) -> None:
    texts += [text[: len(text) * 9 // 10] + draw.choice(["", "x"]) for text in texts]
    draw.shuffle(texts)
    added, missed = checked(texts)
    assert all(each < 1 for each in missed)
    kept = [naive_fold(text) for text, new in zip(texts, added, strict=True) if new]
    assert len(kept) == len(set(kept)) and set(kept) <= set(map(naive_fold, texts))


# --- which are compared at all --------------------------------------------------------------------------------------


def near_one_another(texts: Sequence[str]) -> list[bool]:
    """Return which texts have another at or above the threshold; all pairs are compared."""
    return [
        any(jaccard(text, texts[j]) >= THRESHOLD for j in range(len(texts)) if j != i) for i, text in enumerate(texts)
    ]


@thorough
@given(SENTENCES, st.randoms(use_true_random=False))
@example(["abcdefghijklm", "bcdefghijklmn", ""], random.Random(1))
@example([], random.Random(1))
def test_all_that_have_a_like_one_are_possible(texts: list[str], draw: random.Random) -> None:
    texts = [*texts, *(text[: len(text) * 9 // 10] + draw.choice(["", "x"]) for text in texts)]
    possible = NearDuplicates().possible(texts).tolist()
    assert all(seen for seen, near in zip(possible, near_one_another(texts), strict=True) if near)


@needs_shared
def test_what_is_kept_of_the_possible_is_what_is_kept_of_all() -> None:
    draw = random.Random(8)
    texts = sentences("bangla", 150)
    words = " ".join(texts).split()
    texts += [edited(draw.choice(texts[:50]), words, draw) for _ in range(80)]
    draw.shuffle(texts)
    possible = NearDuplicates().possible(texts).tolist()
    assert all(seen for seen, near in zip(possible, near_one_another(texts), strict=True) if near)
    every, some = NearDuplicates(), NearDuplicates()
    added = [not seen or some.add(text) for text, seen in zip(texts, possible, strict=True)]
    assert added == list(map(every.add, texts)) and not all(added)


def test_few_are_possible_among_the_unlike() -> None:
    draw = random.Random(2)
    texts = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyzàáâãäå", k=90)) for _ in range(3_000)]
    assert NearDuplicates().possible(texts).sum() < 30
    assert NearDuplicates().possible([*texts, *texts]).all()


def test_what_recurs_in_unlike_texts_alone_is_not_possible() -> None:
    """All of a text, its middle excepted, recurs in two others, each of which is for the most part its own."""
    draw = random.Random(3)

    def some(length: int) -> str:
        return "".join(draw.choices("abcdefghijklmnopqrstuvwxyzàáâãäå", k=length))

    texts = [
        text
        for one, other in ((some(60), some(60)) for _ in range(50))
        for text in (one + other, one + some(60), other + some(60))
    ]
    assert not NearDuplicates().possible(texts).any()
    same = NearDuplicates().possible([*texts, texts[0], texts[1]])
    assert np.flatnonzero(same).tolist() == [0, 1, len(texts), len(texts) + 1]


BITS = st.sampled_from([True, False])
"""Whether numpy can count bits, which it could not before version 2."""


@thorough
@given(SENTENCES, st.randoms(use_true_random=False), BITS)
@example(
    ["", "a", "abcd", "abcde", "abcdeabcde", "ab" * 900, "".join(map(chr, range(97, 3_000)))], random.Random(1), True
)
def test_no_pair_is_more_similar_than_its_masks_say(texts: list[str], draw: random.Random, counts: bool) -> None:
    """A pair below the threshold by this bound is not compared."""
    texts = [fold(text) for text in [*texts, *(text[: len(text) * 9 // 10] + draw.choice(["", "x"]) for text in texts)]]
    with pytest.MonkeyPatch.context() as patch:
        if not counts:
            patch.delattr(np, "bitwise_count", raising=False)
        together, grown = _Masks.of(texts), _Masks.empty()
        for text in texts:
            grown.append(_Masks.of([text]))
        keys = np.arange(len(texts))
        for i, text in enumerate(texts):
            bounds = together.at(i).highest_similarities(grown, keys)
            for other, bound in zip(texts, bounds.tolist(), strict=True):
                if text != other or len(text) >= 5:  # equal ones are never compared
                    assert jaccard(text, other) <= bound <= 1
        sizes = [len(naive_shingles(text)) for text in texts]
        assert all(low <= size for low, size in zip(together.least.tolist(), sizes, strict=True))


def test_masks_tell_most_of_the_unlike_apart() -> None:
    draw = random.Random(5)
    texts = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz ", k=100)) for _ in range(200)]
    masks = _Masks.of([fold(text) for text in texts])
    bounds = np.array([masks.at(i).highest_similarities(masks, np.arange(200)) for i in range(200)])
    assert (bounds.diagonal() >= 0.99).all()
    assert np.median(bounds) < 0.1 and (bounds >= 0.5).sum() == 200


@needs_shared
@pytest.mark.parametrize("name", ["bangla", "english"])
def test_of_the_candidates_those_at_the_threshold_are_dropped(name: str) -> None:
    """As by comparing the shingles of every candidate, prepared or not."""
    draw = random.Random(name)
    texts = sentences(name, 100)
    words = " ".join(texts).split()
    texts += [edited(draw.choice(texts[:40]), words, draw) for _ in range(400)]
    draw.shuffle(texts)

    class Compared(NearDuplicates):
        def _has_similar(self, pieces: Sequence[str], mask: object, keys: Iterable[int]) -> bool:
            return any(
                jaccard(self._kept[key], "".join([pieces[0], *(p[-1] for p in pieces[1:])])) >= THRESHOLD
                for key in keys
            )

    prepared, plain, compared = NearDuplicates(), NearDuplicates(), Compared()
    prepared.possible(texts)
    expected = list(map(compared.add, texts))
    assert list(map(prepared.add, texts)) == list(map(plain.add, texts)) == expected
    assert 50 < sum(expected) < len(texts) - 20


# --- one by one -----------------------------------------------------------------------------------------------------


def test_equal_but_for_case_signs_spacing_and_numbers() -> None:
    near = NearDuplicates()
    texts = ["On 3 May 2019, she left.", "on 12 May — 2020: SHE LEFT", "On  May 2019 she left", "On 3 May she left, 7."]
    assert list(map(near.add, texts)) == [True, False, True, True]


def test_short_texts_are_one_shingle() -> None:
    near = NearDuplicates()
    texts = ["", "...", "abc", "ABC!", "abcd", "abcde", "abcdef", "bcdef"]
    assert list(map(near.add, texts)) == [True, False, True, False, True, True, True, True]


def test_exactly_at_the_threshold() -> None:
    """8 of 10 shingles are common: 12 characters have 8, and one more at either end makes 9, 10 in all."""
    one, other = "abcdefghijklm", "bcdefghijklmn"
    assert jaccard(one, other) == 8 / 10
    near = NearDuplicates()
    assert near.add(one) and not near.add(other)
    near = NearDuplicates()  # 7 of 9
    assert near.add(one[:-1]) and near.add(other[:-1])


def test_only_kept_sentences_count() -> None:
    """The second is like the first and dropped; the third is like the second only."""
    words = [f"word{letter}{letter}" for letter in "abcdefghijklmnopqrst"]
    first, second, third = (" ".join(words[start : start + 18]) for start in range(3))
    assert jaccard(first, second) >= THRESHOLD > jaccard(first, third) and jaccard(second, third) >= THRESHOLD
    near = NearDuplicates()
    assert list(map(near.add, [first, second, third, second, third])) == [True, False, True, False, False]
    near = NearDuplicates()
    assert list(map(near.add, [second, first, third])) == [True, False, False]


def test_templates() -> None:
    """Templates have many candidates close below the threshold."""
    draw = random.Random(2)
    names = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9))) for _ in range(300)]
    made = [
        f"{draw.choice(names)} is a village in the {draw.choice(names)} district of {draw.choice(names[:3])}, with "
        f"{draw.randint(10, 9999)} inhabitants in {draw.randint(1990, 2020)}"
        for _ in range(350)
    ]
    added, missed = checked(made)
    dropped = len(added) - sum(added)
    assert 20 < dropped < 330 and len(missed) <= 0.02 * dropped


def test_long_texts() -> None:
    """Of more shingles than masks have bits."""
    draw = random.Random(3)
    whole = "".join(draw.choices("abcdefghijklmnopqrstuvwxyz ", k=12_000))
    other = "".join(draw.choices("abcdefghijklmnopqrstuvwxyz ", k=12_000))
    texts = [whole, other, whole[:11_000], whole[:6_000] + other[:6_000], other[3000:], "x" + whole[1:]]
    added, missed = checked(texts)
    assert added == [True, True, False, True, True, False] and not missed


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "রহিম ২০১৯ সালে ঢাকায় একটি নতুন বাড়ি কিনেছিলেন এবং সেখানে থাকতেন।",
            "রহিম ২০২০ সালে ঢাকায় একটি নতুন বাড়ি কিনেছিলেন, এবং সেখানে থাকতেন!",
        ),
        ("उसने दिल्ली में एक नया घर ख़रीदा और वहीं रहने लगी।", "उसने दिल्ली में एक नया घर ख़रीदा, और वहीं रहने लगी थी।"),
        ("她去年在北京买了一套新房子并且一直住在那里工作", "她去年在北京买了一套新房子并且一直住在那里工作了。"),
        ("اشترت بيتا جديدا في القاهرة سنة ٢٠١٩ وعاشت هناك", "اشترت بيتا جديدا في القاهرة سنة ١٩٨ وعاشت هناك."),
        ("Она купила новый дом в Москве в прошлом году", "ОНА КУПИЛА НОВЫЙ ДОМ В МОСКВЕ В ПРОШЛОМ ГОДУ!"),
    ],
)
def test_scripts(one: str, other: str) -> None:
    unlike = " ".join(reversed(one.split())) if " " in one else one[::-1]
    added, missed = checked([one, unlike, other, one + " x"])
    assert added == [True, True, False, False] and not missed


# --- bands ----------------------------------------------------------------------------------------------------------


def test_the_bands() -> None:
    """0.8⁵ = 0.32768, and 0.67232¹⁴ = 0.0038; bands of six with 72 hashes would miss more than 0.005."""
    assert pytest.approx(0.32768) == THRESHOLD**ROWS and BANDS * ROWS <= 72
    assert pytest.approx(0.0038, rel=0.02) == (1 - THRESHOLD**ROWS) ** BANDS
    assert (1 - THRESHOLD ** (ROWS + 1)) ** (72 // (ROWS + 1)) > 0.005


# --- the same everywhere --------------------------------------------------------------------------------------------

REPEATED = """
import json, random, sys
from penchant.corpus.near_duplicates import NearDuplicates
draw = random.Random(4)
words = ["".join(draw.choices("কখগঘঙচছজঝঞািীুূ", k=draw.randint(2, 6))) for _ in range(60)]
texts = [" ".join(draw.choices(words, k=14)) for _ in range(200)]
for _ in range(800):
    parts = draw.choice(texts).split()
    for _ in range(draw.randint(1, 3)):
        parts[draw.randrange(len(parts))] = draw.choice(words)
    texts.append(" ".join(parts))
print(json.dumps(list(map(NearDuplicates().add, texts))))
"""


def test_no_dependence_on_the_seed_of_hashes() -> None:
    answers = []
    for seed in ("0", "1", "77"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", REPEATED], env=environment, capture_output=True, text=True, check=True
        )
        answers.append(json.loads(done.stdout))
    assert answers[0] == answers[1] == answers[2]
    assert 100 < sum(answers[0]) < 999


# --- the package ----------------------------------------------------------------------------------------------------


def test_the_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rensa", None)
    with pytest.raises(MethodError, match=r"the package rensa is missing — pip install 'penchant\[corpus\]'"):
        NearDuplicates()
    assert fold("Still, this.") == "still this"
