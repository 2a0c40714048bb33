"""The words of a sentence are just those its grammar allows, each as likely as any other; parsing finds them again."""

from __future__ import annotations

import copy
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_grammar import Brute, sentence
from grammar_parsing import parse
from penchant.errors import DataError
from penchant.grammar.generate import generate
from penchant.grammar.grammar import read_grammar
from penchant.grammar.word_sampling import Drawing, Words, capitalised, written
from toy_grammars import CASES_TABLES, GARDEN, GARDEN_TABLES, PARADIGMS, TOYS, sentences, toy, words, write_grammar

# What a grammar allows --------------------------------------------------------------------------------------------


@pytest.mark.whole
@pytest.mark.parametrize(("name", "paradigm"), PARADIGMS)
def test_all_pairs_come_up_and_no_others(name: str, paradigm: str) -> None:
    """Those found by trying every word in every slot."""
    pairs = Brute(*TOYS[name], paradigm).pairs()
    found = generate(toy(name), paradigm, len(pairs), seed=3)
    assert set(sentences(found)) == pairs
    assert len(found.pairs) == len(pairs)


@pytest.mark.whole
@pytest.mark.parametrize(("name", "paradigm"), PARADIGMS)
def test_a_sentence_is_parsed_if_it_can_be_given(name: str, paradigm: str) -> None:
    """Every string that fits the template with any forms of any words, right or wrong, is tried."""
    brute = Brute(*TOYS[name], paradigm)
    good = {sentence(brute.paradigm["good"], drawn) for drawn in brute.goods()}
    bad = {bad for _, bad in brute.pairs()}
    for side, allowed in (("good", good), ("bad", bad)):
        strings = sorted(brute.strings(side))
        tried = random.Random(0).sample(strings, min(2_500, len(strings)))
        assert len(allowed.intersection(strings)) == len(allowed)
        for text in {*tried, *allowed}:
            assert parse(toy(name), paradigm, text, side) == (text in allowed), text  # type: ignore[arg-type]


def enumerated(drawing: Drawing) -> set[tuple[str, str]]:
    """Every pair the rules allow, without drawing."""

    def filled(rules: Sequence[Any], words: Words) -> list[Words]:
        if not rules:
            return [words]
        (name, rule), rest = rules[0], rules[1:]
        fitting = [choice for choice in rule.candidates(words) if rule.differs(choice, words)]
        return [whole for choice in fitting for whole in filled(rest, {**words, name: choice})]

    paradigm = drawing.paradigm
    return {
        (written(paradigm.good, good), written(paradigm.bad, bad))
        for good in filled(list(drawing.good.items()), {})
        for bad in filled(list(drawing.bad.items()), good)
    }


def cells(column: str) -> st.SearchStrategy[str]:
    """A cell of the toy's column, or an empty one where that is allowed."""
    every = (rows for _, tables in TOYS.values() for rows in tables.values())
    return st.sampled_from(sorted({"", *(row[column] for rows in every for row in rows if column in row)}))


@pytest.mark.whole
@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PARADIGMS), st.data())
def test_any_table_gives_what_brute_force_finds(case: tuple[str, str], data: st.DataObject) -> None:
    """Cells of the tables are mixed at random: forms that are missing, several values, restrictions of other words."""
    name, paradigm = case
    grammar, tables = TOYS[name]
    tables = copy.deepcopy(tables)
    for rows in tables.values():
        for column in [column for column in rows[0] if column != "lemma"]:
            for row in rows:
                if data.draw(st.integers(0, 3)) == 0:
                    row[column] = data.draw(cells(column))
    brute = Brute(grammar, tables, paradigm).pairs()
    only = {**grammar, "paradigms": {paradigm: grammar["paradigms"][paradigm]}}
    with tempfile.TemporaryDirectory() as directory:
        try:
            read = read_grammar(write_grammar(Path(directory), only, tables))
        except DataError as error:
            assert "can be drawn" in str(error) or "is already listed" in str(error)
            assert "is already listed" in str(error) or not brute
            return
    assert {(good, bad) for good, bad in enumerated(read.drawing(paradigm)) if good != bad} == brute
    if brute:
        few = generate(read, paradigm, 1, seed=0, counters=[words])
        assert set(sentences(few)) <= brute
        assert parse(read, paradigm, few.pairs[0].good, "good") and parse(read, paradigm, few.pairs[0].bad, "bad")


# Each key counts ----------------------------------------------------------------------------------------------------


KEYS = yaml.safe_load("""
where is asked of the word:
  slots: {n: {category: noun, where: kind=food;human=yes^irregular!=yes}}
  good: "{n}"
  gives: [Teacher, Rice]
where may ask for a chosen value:
  slots: {n: {category: noun, choose: {number: [singular, plural]}, where: human=yes^number=plural;kind=food}}
  good: "{n:number}"
  gives: [Teachers, Children, Rice]
a value is chosen where the form is there:
  slots: {n: {category: noun, where: kind=thing, choose: {number: [singular, plural]}}}
  good: "{n:number}"
  gives: [Axe, Axes, Scissors, Rice]
a value that the word has of its own is the only one it can choose:
  slots: {d: {category: determiner, choose: {number: [singular, dual]}}}
  good: "{d}"
  gives: [The, A, An]
words agree:
  slots:
    n: {category: noun, where: kind=thing, choose: {number: [singular, plural]}}
    d: {category: determiner, agree: {number: n.number, sound: n.sound}}
  good: "{d} {n:number}"
  gives: [The axe, An axe, The axes, These axes, The scissors, These scissors, The rice, A rice]
a word takes over the value it agrees with, and hands it on:
  slots:
    n: {category: noun, where: lemma=owl, choose: {number: [singular, plural]}}
    d: {category: determiner, where: lemma=the, agree: {number: n.number}}
    m: {category: noun, where: lemma=child, agree: {number: d.number}}
  good: "{d} {n:number} {m:number}"
  gives: [The owl child, The owls children]
words of several values share what is common:
  slots: {a: {category: noun, where: lemma=axe}, b: {category: noun, agree: {kind: a.kind}}}
  good: "{b}"
  gives: [Axe, Scissors, Rice]
a word fits what another asks for, food or number=plural^human!=yes:
  slots:
    v: {category: verb, where: lemma=melt}
    n: {category: noun, choose: {number: [singular, plural]}, fits: v.object}
  good: "{n:number}"
  gives: [Rice, Owls, Cacti, Axes, Scissors]
a word fits all that others ask for, a tool and no plant:
  slots:
    v: {category: verb, where: lemma=break}
    w: {category: verb, where: lemma=turn}
    n: {category: noun, choose: {number: [singular]}, fits: [v.object, w.subject]}
  good: "{n:number}"
  gives: [Axe]
a word asks for what another is:
  slots: {n: {category: noun, where: lemma=owl}, v: {category: verb, takes: {subject: n}}}
  good: "{v:past}"
  gives: [Broke, Melted, Turned, Existed]
a word differs from another:
  slots: {a: {category: name}, b: {category: name, differs: a}}
  good: "{a} {b}"
  gives: [Mary Omar, Omar Mary]
a word differs in a feature and in its lemma:
  slots: {a: {category: noun, where: lemma=owl}, b: {category: noun, differs: [a.sound, a]}}
  good: "{b}"
  gives: [Teacher, Child, Cactus, Scissors, Rice]
what is unknown does not differ, as the sound of the and these:
  slots: {a: {category: noun, where: lemma=axe}, d: {category: determiner, differs: [a.sound]}}
  good: "{d}"
  gives: [A]
a varied slot keeps its conditions and chosen values:
  slots: &people {n: {category: noun, where: human=yes, choose: {number: [singular, plural]}}}
  good: "{n:number}"
  vary: {n: {where: kind=tool}}
  pairs: {Teacher: [Axe], Child: [Axe], Teachers: [Axes, Scissors], Children: [Axes, Scissors]}
a varied slot may choose anew:
  slots: *people
  good: "{n:number}"
  vary: {n: {where: kind=tool, choose: {number: [singular, plural]}}}
  pairs: {Teacher: &tools [Axe, Axes, Scissors], Child: *tools, Teachers: *tools, Children: *tools}
a varied slot may change its category:
  slots: {n: {category: noun, where: human=yes, choose: {number: [singular]}}}
  good: "{n:number}"
  vary: {n: {category: name, where: ''}}
  pairs: {Teacher: [Mary, Omar], Child: [Mary, Omar]}
a varied slot may have forms that the good one has not:
  slots: {n: {category: noun, where: lemma=owl}}
  good: "{n:singular}"
  vary: {n: {category: verb, where: class=change}}
  bad: "{n:past}"
  pairs: {Owl: [Broke, Melted, Turned]}
a sentence may begin with a mark:
  slots: {n: {category: name}}
  good: “the friend of {n}”
  pairs: {“The friend of Mary”: [× “The friend of Mary”], “The friend of Omar”: [× “The friend of Omar”]}
a varied slot is held against its word in the good sentence:
  slots: {n: {category: noun, where: kind=thing^plural!=}}
  good: "{n:plural}"
  vary: {n: {differs: n}}
  pairs: {Axes: [Scissors], Scissors: [Axes]}
slots that vary together go by each other:
  slots:
    n: {category: noun, where: human=yes}
    d: {category: determiner, where: number=singular, agree: {sound: n.sound}}
  good: "{d} {n}"
  vary: {d: {}, n: {where: kind=animal;kind=plant}}
  pairs: {A teacher: [An owl, A cactus], A child: [An owl, A cactus]}
a shared word has the forms of both sentences:
  slots: {n: {category: noun, where: kind=thing}}
  good: "{n:singular}"
  bad: "{n:plural}"
  pairs: {Axe: [Axes]}
a varied word has the forms of its own sentence:
  slots: {n: {category: noun, where: kind=thing}}
  good: "{n:plural}"
  vary: {n: {where: kind=food}}
  bad: "{n:singular}"
  pairs: {Axes: [Rice], Scissors: [Rice]}
""")
"""Paradigms over the garden's words, with all good sentences or all pairs that they give. A bad sentence that is not
told is the good one, with a cross before it unless something varies."""


@pytest.mark.parametrize("name", KEYS)
def test_each_key_counts(tmp_path: Path, name: str) -> None:
    case = KEYS[name]
    good, vary = case["good"], case.get("vary", {})
    paradigm = {"slots": case["slots"], "good": good, "vary": vary}
    paradigm["bad"] = case.get("bad", good if vary else f"× {good}")
    read = read_grammar(write_grammar(tmp_path, {**GARDEN, "paradigms": {"p": paradigm}}, GARDEN_TABLES))
    found = enumerated(read.drawing("p"))
    assert set(sentences(generate(read, "p", len(found), seed=0))) == found
    for good, bad in found:
        assert parse(read, "p", good, "good") and parse(read, "p", bad, "bad")
        assert not parse(read, "p", good[:1].lower() + good[1:], "good") or good[:1].lower() == good[:1]
    if "gives" in case:
        assert {good for good, _ in found} == set(case["gives"])
    else:
        assert found == {(good, bad) for good, several in case["pairs"].items() for bad in several}


def test_the_one_word_that_differs_is_found(tmp_path: Path) -> None:
    """However many do not."""
    tables = copy.deepcopy(GARDEN_TABLES)
    tables["noun"] += [{**tables["noun"][0], "plural": f"teachers{i}"} for i in range(200)]
    slots = {"a": {"category": "noun", "where": "lemma=teacher"}}
    slots["b"] = {"category": "noun", "where": "lemma=teacher;lemma=owl", "differs": "a"}
    paradigm = {"slots": slots, "good": "{b:plural}", "bad": "× {b:plural}"}
    drawing = read_grammar(write_grammar(tmp_path, {**GARDEN, "paradigms": {"p": paradigm}}, tables)).drawing("p")
    for seed in range(20):
        drawn = drawing.draw_good(random.Random(seed))
        assert not isinstance(drawn, str) and drawn["b"].entry.lemma == "owl"


def test_only_the_varied_slot_differs() -> None:
    for name, paradigm in PARADIGMS:
        read = toy(name).paradigms[paradigm]
        for pair in generate(toy(name), paradigm, 12, seed=5).pairs:
            assert pair.good != pair.bad
            assert list(pair.good_words) == list(pair.bad_words) == list(read.slots)
            changed = {slot for slot in read.slots if pair.good_words[slot] != pair.bad_words[slot]}
            if read.vary:
                assert changed == set(read.vary)
                rest = [replace(pair.good_words[slot], forms=()) for slot in read.slots if slot not in changed]
                assert rest == [replace(pair.bad_words[slot], forms=()) for slot in read.slots if slot not in changed]


def test_a_word_may_stand_twice_in_a_sentence(tmp_path: Path) -> None:
    slots = {"n": {"category": "noun"}}
    paradigm = {"slots": slots, "good": "“{n}, {n}” means: {n:plural}.", "bad": "{n} {n}!"}
    read = read_grammar(write_grammar(tmp_path, {**GARDEN, "paradigms": {"p": paradigm}}, GARDEN_TABLES))
    assert parse(read, "p", "“Owl, owl” means: owls.", "good") and parse(read, "p", "Owl owl!", "bad")
    for text in ("“Owl, axe” means: owls.", "“Owl, owl” means: axes.", "“owl, owl” means: owls."):
        assert not parse(read, "p", text, "good")
    assert not parse(read, "p", "Owl axe!", "bad")


# Sentences ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "capital"),
    [
        ("the owl.", "The owl."), ("Owl", "Owl"), ("¿qué?", "¿Qué?"), ("“žena”", "“Žena”"), ("আপনি যান।", "আপনি যান।"),
        ("1st of all", "1st of all"), ("ßa", "ßa"), ("", ""), ("…", "…"), ("ωμέγα", "Ωμέγα"), ("ﬁn", "ﬁn"),
    ],
)  # fmt: skip
def test_the_first_letter_is_a_capital(text: str, capital: str) -> None:
    assert capitalised(text) == capital
    assert capitalised(capital) == capital and len(capital) == len(text)


def test_the_words_are_told_by_slot() -> None:
    pair = generate(toy("cases"), "gender", 1, seed=0).pairs[0]
    good, bad = pair.good_words, pair.bad_words
    assert pair.good == capitalised(f"{good['subject'].forms[0]} {good['verb'].forms[0]} za {good['object'].forms[0]}.")
    assert pair.bad == capitalised(f"{bad['subject'].forms[0]} {bad['verb'].forms[0]} za {bad['object'].forms[0]}.")
    assert good["verb"].lemma == bad["verb"].lemma and good["verb"].category == "verb"
    gender = {row["lemma"]: row["gender"] for row in CASES_TABLES["noun"]}[good["subject"].lemma]
    number = good["subject"].features["number"]
    assert good["subject"].features == bad["subject"].features == {"number": number}
    assert good["verb"].features == {"gender": gender, "number": number}
    assert bad["verb"].features.keys() == {"gender", "number"}
    assert bad["verb"].features["number"] == number and bad["verb"].features["gender"] != gender


# Drawing ------------------------------------------------------------------------------------------------------------


def test_words_are_drawn_uniformly(tmp_path: Path) -> None:
    """Pearson's χ² of 12,000 draws over the words that fit, with `differs` too."""
    slots = """
        a: {category: noun, choose: {number: [singular, plural]}}
        b: {category: noun, where: plural!=, differs: [a]}
    """
    paradigm = {"slots": yaml.safe_load(slots), "good": "{a:number} {b:plural}", "bad": "× {a:number}"}
    read = read_grammar(write_grammar(tmp_path, {**GARDEN, "paradigms": {"p": paradigm}}, GARDEN_TABLES))
    drawing, n = read.drawing("p"), 12_000
    draws = [drawing.draw_good(random.Random(seed)) for seed in range(n)]
    pairs = Counter(written(drawing.paradigm.good, drawn) for drawn in draws if not isinstance(drawn, str))
    chosen = Counter(text.split()[0] for text in pairs.elements())
    assert len(chosen) == 12  # five nouns of two forms, two of one
    assert sum((count - n / 12) ** 2 / (n / 12) for count in chosen.values()) < 31.3  # 0.1 % of 11 degrees of freedom
    for first_word, count in chosen.items():
        own = [pairs[text] for text in pairs if text.split()[0] == first_word]
        expected = count / len(own)
        assert len(own) == 5 or first_word == "Rice"
        assert sum((each - expected) ** 2 / expected for each in own) < 20.6  # 0.1 % of 5 degrees of freedom
