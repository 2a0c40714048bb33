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
from penchant.grammar.drawing import Drawing, Words, capitalised, written
from penchant.grammar.generate import generate
from penchant.grammar.grammar import read_grammar
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


def first(pairs: set[tuple[str, str]], side: int = 0) -> set[str]:
    return {pair[side] for pair in pairs}


def small(tmp_path: Path, slots: str, template: str, vary: str = "{}", bad: str = "") -> set[tuple[str, str]]:
    """All pairs of a paradigm over the garden's words; its bad sentence is the good one with a cross before it, unless
    something varies."""
    grammar = {k: v for k, v in GARDEN.items() if k != "paradigms"}
    bad = bad or (template if vary != "{}" else f"× {template}")
    paradigm = {"slots": yaml.safe_load(slots), "good": template, "bad": bad, "vary": yaml.safe_load(vary)}
    read = read_grammar(write_grammar(tmp_path, {**grammar, "paradigms": {"p": paradigm}}, GARDEN_TABLES))
    found = enumerated(read.drawing("p"))
    assert set(sentences(generate(read, "p", len(found), seed=0))) == found
    for good, bad in found:
        assert parse(read, "p", good, "good") and parse(read, "p", bad, "bad")
        assert not parse(read, "p", good[:1].lower() + good[1:], "good") or good[:1].lower() == good[:1]
    return found


def test_where_is_asked_of_the_word(tmp_path: Path) -> None:
    found = small(tmp_path, "{n: {category: noun, where: kind=food;human=yes^irregular!=yes}}", "{n}")
    assert first(found) == {"Teacher", "Rice"}


def test_where_may_ask_for_a_chosen_value(tmp_path: Path) -> None:
    slots = "{n: {category: noun, choose: {number: [singular, plural]}, where: human=yes^number=plural;kind=food}}"
    assert first(small(tmp_path, slots, "{n:number}")) == {"Teachers", "Children", "Rice"}


def test_a_value_is_chosen_where_the_form_is_there(tmp_path: Path) -> None:
    slots = "{n: {category: noun, where: kind=thing, choose: {number: [singular, plural]}}}"
    assert first(small(tmp_path, slots, "{n:number}")) == {"Axe", "Axes", "Scissors", "Rice"}
    # A value that the word has of its own is the only one it can choose.
    slots = "{d: {category: determiner, choose: {number: [singular, dual]}}}"
    assert first(small(tmp_path / "b", slots, "{d}")) == {"The", "A", "An"}


def test_words_agree(tmp_path: Path) -> None:
    slots = """
        n: {category: noun, where: kind=thing, choose: {number: [singular, plural]}}
        d: {category: determiner, agree: {number: n.number, sound: n.sound}}
    """
    assert first(small(tmp_path, slots, "{d} {n:number}")) == {
        "The axe", "An axe", "The axes", "These axes", "The scissors", "These scissors", "The rice", "A rice"
    }  # fmt: skip


def test_a_word_takes_over_the_value_it_agrees_with(tmp_path: Path) -> None:
    """From one word without a value of its own to the next."""
    slots = """
        n: {category: noun, where: lemma=owl, choose: {number: [singular, plural]}}
        d: {category: determiner, where: lemma=the, agree: {number: n.number}}
        m: {category: noun, where: lemma=child, agree: {number: d.number}}
    """
    assert first(small(tmp_path, slots, "{d} {n:number} {m:number}")) == {"The owl child", "The owls children"}


def test_words_of_several_values_share_what_is_common(tmp_path: Path) -> None:
    slots = """
        a: {category: noun, where: lemma=axe}
        b: {category: noun, agree: {kind: a.kind}}
    """
    assert first(small(tmp_path, slots, "{b}")) == {"Axe", "Scissors", "Rice"}


def test_a_word_fits_what_another_asks_for(tmp_path: Path) -> None:
    slots = """
        v: {category: verb, where: lemma=melt}
        n: {category: noun, choose: {number: [singular, plural]}, fits: v.object}
    """
    food, others = {"Rice"}, {"Owls", "Cacti", "Axes", "Scissors"}
    assert first(small(tmp_path, slots, "{n:number}")) == food | others  # those that number=plural^human!=yes admits


def test_a_word_fits_all_that_others_ask_for(tmp_path: Path) -> None:
    slots = """
        v: {category: verb, where: lemma=break}
        w: {category: verb, where: lemma=turn}
        n: {category: noun, choose: {number: [singular]}, fits: [v.object, w.subject]}
    """
    assert first(small(tmp_path, slots, "{n:number}")) == {"Axe"}  # a tool, and no plant


def test_a_word_asks_for_what_another_is(tmp_path: Path) -> None:
    slots = """
        n: {category: noun, where: lemma=owl}
        v: {category: verb, takes: {subject: n}}
    """
    assert first(small(tmp_path, slots, "{v:past}")) == {"Broke", "Melted", "Turned", "Existed"}


def test_a_word_differs_from_another(tmp_path: Path) -> None:
    slots = "{a: {category: name}, b: {category: name, differs: a}}"
    assert first(small(tmp_path, slots, "{a} {b}")) == {"Mary Omar", "Omar Mary"}
    slots = """
        a: {category: noun, where: lemma=owl}
        b: {category: noun, differs: [a.sound, a]}
    """
    assert first(small(tmp_path / "b", slots, "{b}")) == {"Teacher", "Child", "Cactus", "Scissors", "Rice"}


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


def test_what_is_unknown_does_not_differ(tmp_path: Path) -> None:
    slots = "{a: {category: noun, where: lemma=axe}, d: {category: determiner, differs: [a.sound]}}"
    assert first(small(tmp_path, slots, "{d}")) == {"A"}  # the, these have no sound


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


def test_a_varied_slot_keeps_its_conditions_and_chosen_values(tmp_path: Path) -> None:
    slots = "{n: {category: noun, where: human=yes, choose: {number: [singular, plural]}}}"
    vary = "{n: {where: kind=tool}}"
    assert small(tmp_path, slots, "{n:number}", vary) == {
        ("Teacher", "Axe"), ("Child", "Axe"), ("Teachers", "Axes"), ("Children", "Axes"), ("Teachers", "Scissors"),
        ("Children", "Scissors"),
    }  # fmt: skip
    vary = "{n: {where: kind=tool, choose: {number: [singular, plural]}}}"
    found = small(tmp_path / "b", slots, "{n:number}", vary)
    assert ("Teacher", "Scissors") in found and ("Teachers", "Axe") in found


def test_a_varied_slot_may_change_its_category(tmp_path: Path) -> None:
    slots = "{n: {category: noun, where: human=yes, choose: {number: [singular]}}}"
    found = small(tmp_path, slots, "{n:number}", "{n: {category: name, where: ''}}")
    assert first(found, 1) == {"Mary", "Omar"}


def test_a_varied_slot_may_have_forms_that_the_good_one_has_not(tmp_path: Path) -> None:
    slots = "{n: {category: noun, where: lemma=owl}}"
    found = small(tmp_path, slots, "{n:singular}", "{n: {category: verb, where: class=change}}", bad="{n:past}")
    assert found == {("Owl", "Broke"), ("Owl", "Melted"), ("Owl", "Turned")}


def test_a_sentence_may_begin_with_a_mark(tmp_path: Path) -> None:
    found = small(tmp_path, "{n: {category: name}}", "“the friend of {n}”")
    assert found == {(f"“The friend of {n}”", f"× “The friend of {n}”") for n in ("Mary", "Omar")}


def test_a_varied_slot_is_held_against_its_word_in_the_good_sentence(tmp_path: Path) -> None:
    slots = "{n: {category: noun, where: kind=thing^plural!=}}"
    found = small(tmp_path, slots, "{n:plural}", "{n: {differs: n}}")
    assert found == {("Axes", "Scissors"), ("Scissors", "Axes")}


def test_slots_that_vary_together_go_by_each_other(tmp_path: Path) -> None:
    slots = """
        n: {category: noun, where: human=yes}
        d: {category: determiner, where: number=singular, agree: {sound: n.sound}}
    """
    vary = "{d: {}, n: {where: kind=animal;kind=plant}}"
    found = small(tmp_path, slots, "{d} {n}", vary)
    assert found == {(f"A {n}", bad) for n in ("teacher", "child") for bad in ("An owl", "A cactus")}


def test_a_shared_word_has_the_forms_of_both_sentences(tmp_path: Path) -> None:
    found = small(tmp_path, "{n: {category: noun, where: kind=thing}}", "{n:singular}", bad="{n:plural}")
    assert found == {("Axe", "Axes")}


def test_a_varied_word_has_the_forms_of_its_own_sentence(tmp_path: Path) -> None:
    slots = "{n: {category: noun, where: kind=thing}}"
    found = small(tmp_path, slots, "{n:plural}", "{n: {where: kind=food}}", bad="{n:singular}")
    assert found == {("Axes", "Rice"), ("Scissors", "Rice")}


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
