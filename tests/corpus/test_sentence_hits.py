"""Words found in sentences at once are those found in each sentence by itself."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_extraction import in_word
from paths import SHARED, needs_shared
from penchant.corpus import sentence_hits as hits_module
from penchant.corpus.lines_and_sentences import splitter
from penchant.corpus.sentence_hits import HitFinder
from penchant.corpus.text_files import Layout
from penchant.corpus.word_matching import Matcher

pytest.importorskip("ahocorasick_rs", reason="no package for the automaton")
pytest.importorskip("sentencex", reason="no package for sentences")

Found = list[tuple[int, int, str, list[tuple[str, int, int]]]]
"""By sentence: line, number in the line, text, and the words in it with start and end."""
PIECES = ["a", "A", "é", "É", "e\u0301", " ", "-", "'", "।", "ক", "ি", "য\u09bc", "\u200d", "\u0301", "1", "New", "new"]
ENDS = [". ", "। ", "! ", "\n", "\r", "  ", "\u2028", " \n"]
FORM = st.text(st.sampled_from([*"aAbক .-।", "é", "ি", "😀"]), min_size=1, max_size=4)


def at_once(forms: Mapping[str, Iterable[str]], text: str, language: str, layout: Layout) -> Found:
    words, finder = list(forms), HitFinder(forms, language, layout)
    sentences, hits = finder.find(text)
    found: Found = [
        (line, number, sentence, [])
        for sentence, line, number in zip(
            sentences.texts, sentences.lines.tolist(), sentences.numbers.tolist(), strict=True
        )
    ]
    for sentence, word, form, start, end in zip(*(column.tolist() for column in hits), strict=True):
        assert found[sentence][2][start:end] == finder.forms[form]
        found[sentence][3].append((words[word], start, end))
    return found


def one_by_one(forms: Mapping[str, Iterable[str]], text: str, language: str, layout: Layout) -> Found:
    matcher, split = Matcher(forms), splitter(language, layout)
    every = [
        (line, number, sentence, [(match.word, match.start, match.end) for match in matcher.find(sentence)])
        for line, whole in enumerate(text.split("\n"))
        for number, sentence in enumerate(split(whole), 1)
    ]
    return [found for found in every if found[3]]


def whole(forms: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Without forms that no line or no word contains."""
    return {word: [form for form in own if any(map(in_word, form)) and "\n" not in form] for word, own in forms.items()}


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(st.sampled_from("xyz"), st.lists(FORM | st.sampled_from(PIECES), max_size=4)),
    st.sampled_from(["en", "bn"]),
    st.sampled_from(["paragraphs", "sentences"]),
    st.data(),
)
def test_the_sentences_and_words_of_any_text(
    forms: dict[str, list[str]], language: str, layout: Layout, data: st.DataObject
) -> None:
    kept = whole(forms)
    drawn = [form for own in kept.values() for form in own]
    parts = [*PIECES, *ENDS, *drawn, *(form.capitalize() for form in drawn), *drawn]
    text = unicodedata.normalize("NFC", "".join(data.draw(st.lists(st.sampled_from(parts), max_size=30))))
    assert at_once(kept, text, language, layout) == one_by_one(kept, text, language, layout)


@needs_shared
@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("data/bangla/porjotonlipi.bn", "bn"),
        ("corpora/modern_english.txt", "en"),
        ("corpora/early_modern_english.txt", "de"),
    ],
)
def test_real_texts(name: str, language: str) -> None:
    text = unicodedata.normalize("NFC", (SHARED.parent / name).read_text("utf-8")[:200_000])
    draw = random.Random(name)
    tokens = sorted(set(text.split()))
    forms = whole({token: [token, *draw.sample(tokens, 2)] for token in draw.sample(tokens, 300)})
    found = at_once(forms, text, language, "paragraphs")
    assert found == one_by_one(forms, text, language, "paragraphs") and len(found) > 300


def test_text_that_is_lost_between_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences are then looked for one after the other, and what is in none is not found."""

    def lossy(language: str, layout: Layout) -> object:
        return lambda line: [" ", *(f" {part}" for part in line.split("|")[1::2])]

    monkeypatch.setattr(hits_module, "divider", lossy)
    text = "a| b a|a| c|a\n|a|a| a\nb"
    assert at_once({"x": ["a"]}, text, "en", "paragraphs") == [
        (0, 1, "b a", [("x", 2, 3)]),
        (1, 1, "a", [("x", 0, 1)]),
        (1, 2, "a", [("x", 0, 1)]),
    ]


def test_nothing_is_found() -> None:
    assert at_once({"x": ["a"]}, "b\n\n c", "en", "paragraphs") == at_once({}, "a", "en", "sentences") == []


def test_a_sentence_may_end_between_a_form_and_a_word() -> None:
    """Without a space behind it; within a sentence, the form is no whole word there."""
    forms = {"x": ["é."], "y": ["A"]}
    assert at_once(forms, "é.A", "en", "paragraphs") == [(0, 1, "é.", [("x", 0, 2)]), (0, 2, "A", [("y", 0, 1)])]
    assert at_once({"x": ["é."]}, "b é.A", "en", "paragraphs") == [(0, 1, "b é.", [("x", 2, 4)])]
    assert at_once(forms, "é.A", "en", "sentences") == [(0, 1, "é.A", [("y", 2, 3)])]
    assert at_once(forms, "é.b", "en", "paragraphs") == []
