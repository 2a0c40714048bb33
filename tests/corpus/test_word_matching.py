"""Words are found as one regular expression a form finds them, and a window of L words has L words."""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from paths import SHARED
from penchant.corpus.nfc import normalise
from penchant.corpus.word_matching import Match, Matcher, count_words, count_words_of, window, word_spans
from penchant.errors import DataError

BANGLA = SHARED / "bangla"
JOINERS = "\u200c\u200d"
NO_WORD_BEFORE, NO_WORD_AFTER = rf"(?<![\p{{L}}\p{{M}}\p{{N}}{JOINERS}])", rf"(?![\p{{L}}\p{{M}}\p{{N}}{JOINERS}])"

thorough = settings(max_examples=400, deadline=None)


def reference(forms: Mapping[str, Sequence[str]], text: str) -> list[Match]:
    """One regular expression a form, with its boundaries spelled out; the longest of a word at a start."""
    first = regex.search(rf"[\p{{L}}\p{{M}}\p{{N}}{JOINERS}]", text)
    beginning = first.start() if first else -1
    longest: dict[tuple[str, int], int] = {}
    for word, surfaces in forms.items():
        for form in (unicodedata.normalize("NFC", surface) for surface in surfaces):
            capital = unicodedata.normalize("NFC", form[0].upper() + form[1:]) if form[0].islower() else form
            for surface, anywhere in ((form, True), (capital, False)):
                pattern = NO_WORD_BEFORE + regex.escape(surface) + NO_WORD_AFTER
                for hit in regex.finditer(pattern, text, overlapped=True):
                    if anywhere or hit.start() == beginning:
                        longest[word, hit.start()] = max(hit.end(), longest.get((word, hit.start()), 0))
    order = list(forms)
    matches = [Match(word, start, end) for (word, start), end in longest.items()]
    return sorted(matches, key=lambda match: (match.start, match.end, order.index(match.word)))


def found(forms: Mapping[str, Sequence[str]], text: str) -> list[tuple[str, str]]:
    """The words found in a text, each with its form, checked against the reference."""
    text = normalise(text)
    matches = Matcher(forms).find(text)
    assert matches == reference(forms, text)
    return [(match.word, text[match.start : match.end]) for match in matches]


# --- against one regular expression a form ------------------------------------------------------------------------

PIECES = ["a", "A", "b", "é", "e\u0301", "E", "ß", "1", "_", " ", "  ", "-", "'", ",", "।", "“", "\n"]
PIECES += ["ক", "য", "\u09bc", "\u09df", "ি", "ে", "া", "্", "\u200d", "\u200c", "\u0301"]
SURFACE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
FORMS = st.dictionaries(
    st.sampled_from("xyz"),
    st.lists(SURFACE.filter(lambda form: regex.search(rf"[\p{{L}}\p{{M}}\p{{N}}{JOINERS}]", form)), max_size=4),
    min_size=1,
)


@pytest.mark.whole
@thorough
@given(FORMS, st.data())
def test_matches_are_those_of_one_expression_a_form(forms: dict[str, list[str]], data: st.DataObject) -> None:
    parts = PIECES + 3 * [form for surfaces in forms.values() for form in surfaces] + 8 * [" "]
    text = normalise("".join(data.draw(st.lists(st.sampled_from(parts), max_size=12))))
    assert Matcher(forms).find(text) == reference(forms, text)


@thorough
@given(st.lists(st.sampled_from(["new", "York", "New", "york", "new york"]), min_size=1), st.text(" -‘N", max_size=2))
def test_phrases_and_capitals(parts: list[str], before: str) -> None:
    forms = {"city": ["new york", "New York"], "county": ["york"], "age": ["new", "new york new"]}
    text = before + " ".join(parts)
    assert Matcher(forms).find(text) == reference(forms, text)


@pytest.mark.whole
@pytest.mark.skipif(not BANGLA.is_dir(), reason=f"no data set in {BANGLA}; see tests/paths.py")
def test_bangla_text() -> None:
    suffixes = json.loads((BANGLA / "weatWordsWithSuffix.jsonl").read_text("utf-8"))
    forms = {word: [word, *(word + suffix for suffix in suffixes[word])] for word in suffixes}
    text = normalise((BANGLA / "porjotonlipi.bn").read_text("utf-8"))
    matcher = Matcher(forms)
    whole = matcher.find(text)
    assert len({match.word for match in whole}) > 30 and len(whole) > 400
    assert whole == reference(forms, text)
    # Line by line the same: no form runs over the end of a line.
    lines, start = [], 0
    for line in text.split("\n"):
        lines += [Match(word, start + begin, start + end) for word, begin, end in matcher.find(line)]
        start += len(line) + 1
    assert lines == whole


@pytest.mark.whole
def test_many_forms_take_no_longer() -> None:
    text = normalise("the river runs past the old town and the new town by the sea. " * 4_000)
    few = {"old": ["the old town"]}
    many = few | {str(i): [f"river{i}", f"the x{i}", f"word{i} of the river"] for i in range(30_000)}
    seconds = []
    for matcher in (Matcher(few), Matcher(many)):
        start = time.perf_counter()
        assert len(matcher.find(text)) == 4_000
        seconds.append(time.perf_counter() - start)
    assert seconds[1] < 20 * seconds[0] + 0.2  # one look at every form would be 30 000 times as much


# --- cases --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "two"), [("\u09df", "\u09af\u09bc"), ("\u09dc", "\u09a1\u09bc"), ("\u09dd", "ঢ\u09bc")]
)
def test_bengali_letters_of_one_and_two_characters(one: str, two: str) -> None:
    for form in (one, two):
        for letter in (one, two):
            assert found({"w": [f"আ{form}"]}, f"আ{letter} আ{letter}ে") == [("w", f"আ{two}")]
    assert found({"w": ["আ\u09af"]}, f"আ{one} আ{two}") == []  # the dot below is part of the letter


def test_accents_of_one_and_two_characters() -> None:
    for form in ("café", "cafe\u0301"):
        for text in ("un café.", "un cafe\u0301."):
            assert found({"w": [form]}, text) == [("w", "café")]
    assert found({"w": ["cafe"]}, "un cafe\u0301, un cafe\u0323") == []


def test_a_vowel_sign_is_part_of_the_word() -> None:
    assert found({"মা": ["মা"]}, "মা মাি মামা মার মা। ামা") == [("মা", "মা"), ("মা", "মা")]
    assert found({"ক": ["ক"]}, "কি কে কা ক্ষ ক") == [("ক", "ক")]


def test_joiners_are_part_of_the_word() -> None:
    assert found({"w": ["می"]}, "می\u200cخواهم می") == [("w", "می")]
    assert found({"w": ["می\u200cخواهم"]}, "می\u200cخواهم میخواهم") == [("w", "می\u200cخواهم")]


def test_a_suffix_makes_another_word() -> None:
    forms = {"মা": ["মা", "মালা"], "মালা": ["মালা", "মালার"]}
    assert found(forms, "মালা মা মালার") == [("মা", "মালা"), ("মালা", "মালা"), ("মা", "মা"), ("মালা", "মালার")]


def test_the_longest_form_of_a_word_and_every_word() -> None:
    forms = {"city": ["New", "New York", "New York City"], "county": ["York"], "hall": ["City Hall"]}
    assert found(forms, "in New York City Hall") == [
        ("city", "New York City"),
        ("county", "York"),
        ("hall", "City Hall"),
    ]
    assert found(forms, "in New Yorkshire") == [("city", "New")]
    assert found({"w": ["a a"]}, "so a a a") == [("w", "a a"), ("w", "a a")]


def test_hyphens_and_apostrophes_are_boundaries() -> None:
    forms = {"law": ["mother-in-law"], "mother": ["mother"], "t": ["t"]}
    assert found(forms, "my mother-in-law don't") == [("mother", "mother"), ("law", "mother-in-law"), ("t", "t")]
    assert found(forms, "my mother-in-laws, grandmother_mother") == [("mother", "mother")] * 2


def test_forms_that_begin_or_end_in_punctuation() -> None:
    forms = {"c": ["C++"], "clock": ["'t", "'t is"], "mister": ["Mr."]}
    assert found(forms, "'t is C++, C++11 don't, Mr. Mr.X") == [("clock", "'t is"), ("c", "C++"), ("mister", "Mr.")]
    assert found({"w": ["--b", "a-b"]}, "so a-b --b") == [("w", "a-b"), ("w", "--b")]


def test_the_first_word_may_have_a_capital() -> None:
    forms = {"rose": ["rose", "roses"]}
    assert found(forms, "Rose and Rose") == [("rose", "Rose")]
    assert found(forms, "“Roses,” said Rose") == [("rose", "Roses")]
    assert found(forms, "ROSE rose") == [("rose", "rose")]
    assert found({"Rose": ["Rose"]}, "rose Rose") == [("Rose", "Rose")]
    assert found({"rose": ["rose", "Rose"]}, "Rose") == [("rose", "Rose")]
    assert found({"rose": ["rose"], "Rose": ["Rose"]}, "Rose") == [("rose", "Rose"), ("Rose", "Rose")]
    assert found({"w": ["iPhone case"]}, "IPhone case, iPhone case") == [("w", "IPhone case"), ("w", "iPhone case")]
    assert found({"écho": ["e\u0301cho"]}, "— E\u0301cho") == [("écho", "Écho")]


def test_ends_of_the_text_and_punctuation() -> None:
    for mark in ("।", ",", "?", "!", "—", "“", "”", "(", "…", "॥", "\u00a0", "\t"):
        for text in (f"নদী{mark}", f"{mark}নদী", f"{mark}নদী{mark}নদী", "নদী"):
            assert found({"নদী": ["নদী"]}, text) == [("নদী", "নদী")] * text.count("নদী")
    assert found({"নদী": ["নদী"]}, "") == [] == found({"নদী": ["নদী"]}, "।")


def test_places_count_characters() -> None:
    assert Matcher({"নদী": ["নদীর"], "y": ["y"]}).find("😀 নদীর (y)") == [Match("নদী", 2, 6), Match("y", 8, 9)]


@pytest.mark.parametrize("form", ["", " ", "—", "!?"])
def test_a_form_without_letters(form: str) -> None:
    with pytest.raises(DataError, match="of 'w' contains no letter or digit"):
        Matcher({"w": ["w", form]})


# --- words and windows --------------------------------------------------------------------------------------------

WORDS = ["a", "bc,", "(নদীর", "ি", "e-f", "7", "“g”.", "h—i"]
ALONE = ["—", "।", "...", "😀"]
SPACE = ["", " ", "  ", "\n", "\u00a0", "\x1f "]


@given(st.lists(st.tuples(st.sampled_from(WORDS + ALONE), st.sampled_from(SPACE[1:]))), st.sampled_from(SPACE))
def test_words_are_what_white_space_separates(chunks: list[tuple[str, str]], before: str) -> None:
    text = before + "".join(chunk + space for chunk, space in chunks)
    words = [chunk for chunk, _ in chunks if chunk in WORDS]
    spans = word_spans(text)
    assert [text[start:end] for start, end in spans] == words
    assert count_words(text) == len(words)
    assert count_words_of(["7 a", text, "", text]).tolist() == [2, len(words), 0, len(words)]
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_words_of_every_character() -> None:
    texts = [
        f"a{character}b 1 {character}"
        for character in map(chr, [*range(0x20000), *range(0x20000, 0x110000, 97)])
        if not 0xD800 <= ord(character) < 0xE000
    ]
    assert count_words_of(texts).tolist() == list(map(count_words, texts))
    assert count_words_of([]).tolist() == []


@st.composite
def places(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]], int, int]:
    """A text, the places of its words, and the first and last word of an occurrence."""
    text, spans = draw(st.sampled_from(SPACE)), []
    chunks = st.lists(st.sampled_from(WORDS * 2 + ALONE), max_size=25).filter(lambda chunks: set(chunks) & set(WORDS))
    for chunk in draw(chunks):
        if chunk in WORDS:
            spans.append((len(text), len(text) + len(chunk)))
        text += chunk + draw(st.sampled_from(SPACE[1:]))
    first = draw(st.integers(0, len(spans) - 1))
    return text, spans, first, draw(st.integers(first, min(first + 2, len(spans) - 1)))


def best(spans: Sequence[tuple[int, int]], first: int, last: int, length: int) -> tuple[int, int] | None:
    """Of all windows of `length` words that hold the occurrence, the one that is most even, of two the left one."""
    starts = [start for start in range(len(spans) - length + 1) if start <= first and last < start + length]
    if not starts:
        return None
    start = min(starts, key=lambda start: (abs((first - start) - (start + length - 1 - last)), start))
    return spans[start][0], spans[start + length - 1][1]


@pytest.mark.whole
@thorough
@given(places(), st.integers(1, 12), st.data())
def test_a_window_has_exactly_its_words(
    place: tuple[str, list[tuple[int, int]], int, int], length: int, data: st.DataObject
) -> None:
    text, spans, first, last = place
    start = data.draw(st.integers(spans[first][0], spans[first][1] - 1))
    end = data.draw(st.integers(max(start, spans[last][0]) + 1, spans[last][1]))
    expected = best(spans, first, last, length)
    part = window(text, start, end, length)
    if expected is None:
        assert part is None and (len(spans) < length or last - first >= length)
        return
    assert part is not None
    cut, begin, stop = part
    assert sum(chunk in WORDS for chunk in cut.split()) == length  # not one less
    assert cut[begin:stop] == text[start:end]
    assert (cut, begin, stop) == (text[slice(*expected)], start - expected[0], end - expected[0])


def test_what_stands_alone_is_kept_and_not_counted() -> None:
    text = "যমুনা — নদীর তীরে । জেলা ।"
    start = text.index("নদীর")
    assert window(text, start, start + 4, 3) == ("যমুনা — নদীর তীরে", 8, 12)
    assert window(text, start, start + 4, 4) == ("যমুনা — নদীর তীরে । জেলা", 8, 12)
    assert window(text, start, start + 4, 5) is None
    assert window("so — Yahoo ! — it is", 5, 12, 1) == ("Yahoo !", 0, 7)  # the form ends in what stands alone
    assert window("so — ¡ Yahoo — it", 5, 12, 1) == ("¡ Yahoo", 0, 7)
    assert window("so — it is", 3, 4, 2) is None  # no word there


def test_an_occurrence_longer_than_its_window() -> None:
    assert window("in New York City now", 3, 16, 2) is None
    assert window("in New York City now", 3, 16, 3) == ("New York City", 0, 13)
    assert window("in New York City now", 3, 16, 4) == ("in New York City", 3, 16)
    assert window("pre-war(ish) town", 4, 7, 1) == ("pre-war(ish)", 4, 7)
