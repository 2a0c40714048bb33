"""Spelling checks of stimuli, for problems that are invisible to readers but change the tokens."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import regex

from penchant.corpus.association_categories import WordList
from penchant.corpus.stimulus_sets import StimulusSet
from penchant.corpus.word_segmentation import WORD
from penchant.unicode_spellings import canonical

SCRIPTS = {
    language: script
    for script, languages in {
        "LATIN": "cs de en es fr it nl pl pt sk sv",
        "BENGALI": "as bn",
        "CYRILLIC": "bg ru uk",
        "DEVANAGARI": "hi mr ne",
        "GREEK": "el",
    }.items()
    for language in languages.split()
}
"""Script of each language, as in the Unicode names of its characters; other languages are not checked."""
_TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HANGUL": "CJK"}  # scripts that may be mixed in a word
_SLOT = regex.compile(r"\{(word|target|attribute)\}([\p{L}\p{M}\u200c\u200d]*)")
_HIDDEN = regex.compile(r"[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]")
_JOINER = regex.compile(
    r"(?<=\p{L}\p{M}*\p{InSC=Virama})[\u200c\u200d](?=\p{L})"
    r"|(?<=\u09b0)\u200d(?=\u09cd\u09af)"  # Bengali ra with ya-phala: র‍্যা, not র্যা
)
_SCRIPTED = regex.compile(r"[[\p{L}\p{M}]--[\p{Script=Common}\p{Script=Inherited}]]", regex.V1)
_LONE_MARK = regex.compile(r"(?<![\p{L}\p{M}\p{N}\u200c\u200d}])\p{M}")
_LONE_VOWEL = regex.compile(  # a Bengali vowel sign without a consonant, such as one after another vowel sign
    r"(?<=[\p{Script=Bengali}\u200c\u200d])(?<![\u0995-\u09b9\u09bc\u09dc-\u09df\u09f0\u09f1])[\u09be-\u09cc\u09d7]"
)


def orthography(stimuli: StimulusSet) -> list[str]:
    """Return the spelling problems of words, word forms, templates and contexts, one line per problem.

    Problems are invisible characters (except joiners inside Indic conjuncts), words that mix scripts or have letters
    from a script other than the language's, marks without a letter, vowel signs without a consonant, spaces at the
    beginning or end, two spaces in a row, and words that occur twice in a category's X and Y, or in its A and B.
    """
    subtags = regex.fullmatch(r"(\p{L}+)(?:-\p{Lu}{2})?", stimuli.language)  # bn-Latn, say, is not in Bengali script
    script = SCRIPTS.get(subtags[1].lower()) if subtags else None
    faults = [
        f"{kind} {text!r} {problem}"
        for kind, text in dict.fromkeys(_texts(stimuli))
        for problem in _problems(text, script)
    ]
    for word, suffix in dict.fromkeys(_suffixed(stimuli)):
        known = _problems(word, script)
        faults += [f"form {word + suffix!r} {p}" for p in _problems(word + suffix, script) if p not in known]
    for category in stimuli.categories:
        faults += [f"{category.id}: {word!r} occurs twice in X and Y, or in A and B" for word in category.repeated()]
    return faults


def _texts(stimuli: StimulusSet) -> Iterator[tuple[str, str]]:
    for word in stimuli.words():
        yield "word", word
    for category in stimuli.categories:
        for words in category.lists():
            yield from (("template", text) for text in words.templates)
        yield from (("context", context.text) for context in category.contexts)


def _suffixed(stimuli: StimulusSet) -> Iterator[tuple[str, str]]:
    """Yield (word, ending) pairs; an ending is a suffix of the word, or directly follows a slot that the word fills."""
    for word in stimuli.words():
        yield from ((word, suffix) for suffix in stimuli.endings(word))
    for category in stimuli.categories:
        targets, attributes = (category.x, category.y), (category.a, category.b)
        if category.target == "attributes":
            targets, attributes = attributes, targets
        filled: list[tuple[str, str, tuple[WordList, ...]]] = []
        filled += [(text, "word", (word_list,)) for word_list in category.lists() for text in word_list.templates]
        filled += [(c.text, "target", targets) for c in category.contexts]
        filled += [(c.text, "attribute", attributes) for c in category.contexts]
        for text, slot, lists in filled:
            for name, suffix in _SLOT.findall(text):
                if name == slot and suffix:
                    yield from ((word, suffix) for word_list in lists for word in word_list.words)


def _problems(text: str, script: str | None) -> list[str]:
    problems = []
    text = canonical(text)
    shown = _SLOT.sub(r"{}\2", text)
    problems += [f"holds {_name(c)}" for c in dict.fromkeys(_HIDDEN.findall(_JOINER.sub("", shown)))]
    if text != text.strip():
        problems.append("begins or ends with a space")
    if regex.search(r"\s\s", text):
        problems.append("holds two spaces in a row")
    problems += [f"has a mark without a letter, {_name(c)}" for c in dict.fromkeys(_LONE_MARK.findall(shown))]
    problems += [f"has a vowel sign without a consonant, {_name(c)}" for c in dict.fromkeys(_LONE_VOWEL.findall(shown))]
    words = [(word, _scripts(word)) for word in WORD.findall(shown)]
    problems += [f"mixes scripts in {word!r}: {', '.join(scripts)}" for word, scripts in words if len(scripts) > 1]
    foreign_scripts = dict.fromkeys(name for _, scripts in words for name in scripts if script not in (None, name))
    return problems + [f"has letters of another script than {script}: {foreign}" for foreign in foreign_scripts]


def _scripts(word: str) -> list[str]:
    names = (unicodedata.name(c, "unnamed").split()[0] for c in _SCRIPTED.findall(word))
    return list(dict.fromkeys(_TOGETHER.get(name, name) for name in names))


def _name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".strip()
