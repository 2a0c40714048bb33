"""Algorithm 1: distinct pairs of equal lengths, the same for a seed, however many are drawn at once."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
import yaml
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from builders import refusal
from grammar_parsing import parse
from paths import SHARED, needs_shared
from penchant.errors import DataError, MethodError, PenchantError
from penchant.grammar.generate import Statistics, generate
from penchant.grammar.grammar import BUNDLED_GRAMMARS, Grammar, bundled_grammars, read_grammar
from penchant.grammar.word_sampling import written
from penchant.instruments.minimal_pairs.build_fair_pairs import Counters, generated
from penchant.models.load import load_tokenizer
from toy_grammars import GARDEN, GARDEN_TABLES, PARADIGMS, TOYS, sentences, toy, words, write_grammar

Count = Callable[[list[str]], list[int]]


def characters(texts: list[str]) -> list[int]:
    return [len(text) for text in texts]


# Seeds --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "paradigm"), PARADIGMS)
def test_the_same_seed_gives_the_same_pairs(tmp_path: Path, name: str, paradigm: str) -> None:
    again = read_grammar(write_grammar(tmp_path, *TOYS[name]))
    one = generate(toy(name), paradigm, 8, seed=7, counters=[words])
    assert generate(again, paradigm, 8, seed=7, counters=[words]) == one
    assert generate(toy(name), paradigm, 8, seed=8, counters=[words]).pairs != one.pairs


def test_the_pairs_of_a_seed_stay_what_they_are() -> None:
    """Written down once: results that cite a seed can be repeated with a later version."""
    found = generate(toy("garden"), "causative", 3, seed=11)
    assert sentences(found) == [
        ("The children turned a teacher.", "The children existed a teacher."),
        ("These teachers melted the owls.", "These teachers laughed the owls."),
        ("The child melted the owls.", "The child laughed the owls."),
    ]
    assert [pair.context for pair in found.pairs] == [0, 1, 2]


def test_paradigms_do_not_draw_alike(tmp_path: Path) -> None:
    grammar = {**GARDEN, "paradigms": dict.fromkeys(("one", "two"), GARDEN["paradigms"]["causative"])}
    read = read_grammar(write_grammar(tmp_path, grammar, GARDEN_TABLES))
    assert sentences(generate(read, "one", 5, seed=0)) != sentences(generate(read, "two", 5, seed=0))


@pytest.mark.parametrize(("name", "paradigm"), PARADIGMS)
def test_a_longer_run_begins_with_a_shorter_one(name: str, paradigm: str) -> None:
    whole = generate(toy(name), paradigm, 12, seed=2, counters=[words])
    for n in (1, 2, 5, 11):
        part = generate(toy(name), paradigm, n, seed=2, counters=[words])
        assert part.pairs == whole.pairs[:n]


# Algorithm 1 --------------------------------------------------------------------------------------------------------


def one_by_one(
    grammar: Grammar,
    paradigm: str,
    n: int,
    seed: int,
    counters: Sequence[Callable[[list[str]], list[int]]],
    checks: int,
) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """Algorithm 1 as it is written down: one context after the other, one sentence at a time."""
    drawing = grammar.drawing(paradigm)
    pairs: list[tuple[str, str]] = []
    told = dict.fromkeys(("contexts", "given_up", "unfilled", "duplicates", "checks"), 0)
    while len(pairs) < n:
        rng = random.Random(f"{seed}/{paradigm}/{told['contexts']}")
        told["contexts"] += 1
        drawn = drawing.draw_good(rng)
        if isinstance(drawn, str):
            told["unfilled"] += 1
            continue
        good = written(drawing.paradigm.good, drawn)
        looked_at: list[str] = []
        accepted, tries = "", 0
        while not accepted and len(looked_at) < checks and tries < (20 if drawing.bad else 1):
            tries += 1
            beside = drawing.draw_bad(rng, drawn)
            bad = good if isinstance(beside, str) else written(drawing.paradigm.bad, beside)
            if bad == good or bad in looked_at:
                continue
            looked_at.append(bad)
            tries = 0 if drawing.bad else 1
            if all(count([good]) == count([bad]) for count in counters):
                accepted = bad
        told["checks"] += len(looked_at)
        if not accepted:
            told["given_up"] += 1
        elif (good, accepted) in pairs:
            told["duplicates"] += 1
        else:
            pairs.append((good, accepted))
    return pairs, told


@pytest.mark.parametrize("checks", [1, 3, 10])
@pytest.mark.parametrize("paradigm", ["causative", "animate", "nouns"])
def test_contexts_looked_at_together_give_what_they_give_one_by_one(paradigm: str, checks: int) -> None:
    counters, n = [characters, words], 6 if paradigm == "nouns" else 60
    if paradigm == "nouns":
        counters = [words]
    pairs, told = one_by_one(toy("garden"), paradigm, n, 4, counters, checks)
    found = generate(toy("garden"), paradigm, n, seed=4, counters=counters, checks=checks)
    assert sentences(found) == pairs
    own = found.statistics
    assert {name: getattr(own, name) for name in told if name != "unfilled"} == {
        name: count for name, count in told.items() if name != "unfilled"
    }
    assert sum(own.unfilled.values()) == told["unfilled"]
    assert own.contexts == own.pairs + own.duplicates + own.given_up + sum(own.unfilled.values())


@pytest.fixture(scope="module")
def tokens(zoo: Callable[[str], Path]) -> dict[str, Count]:
    """Ways to count: two plain ones, tokenizers as checkpoints have them, and one trained on the toy's sentences."""
    found: dict[str, Count] = {"words": words, "characters": characters}
    for name in ("gpt2", "xlm-roberta"):
        found[name] = load_tokenizer(zoo(name))[1].count
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel()
    texts = [text for pair in sentences(generate(toy("garden"), "causative", 200, seed=0)) for text in pair]
    trained.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=90, show_progress=False))
    found["trained"] = lambda texts: [len(encoding.ids) for encoding in trained.encode_batch(texts)]
    return found


@pytest.mark.parametrize(
    ("name", "paradigm", "n", "names"),
    [
        ("garden", "causative", 20, ["words", "characters"]),
        ("garden", "causative", 20, ["words", "gpt2"]),
        ("garden", "animate", 20, ["words", "characters", "trained"]),
        ("garden", "animate", 8, ["gpt2", "xlm-roberta"]),
        ("garden", "nouns", 4, ["trained"]),
        ("cases", "gender", 8, ["characters", "trained"]),
    ],
)
def test_lengths_are_equal_under_every_tokenizer(
    tokens: Mapping[str, Count], name: str, paradigm: str, n: int, names: list[str]
) -> None:
    counters = [tokens[name] for name in names]
    found = generate(toy(name), paradigm, n, seed=0, counters=counters)
    assert len(set(sentences(found))) == n
    for pair in found.pairs:
        assert list(pair.lengths) == [count([pair.good])[0] for count in counters]
        assert list(pair.lengths) == [count([pair.bad])[0] for count in counters]
    # Without counters, pairs that are unequal under the last one come up, and nothing is counted.
    free = generate(toy(name), paradigm, n, seed=0).pairs
    assert any(counters[-1]([pair.good]) != counters[-1]([pair.bad]) for pair in free)
    assert all(pair.lengths == () and pair.checks == 1 for pair in free)


def test_the_unacceptable_sentence_is_drawn_anew_and_the_context_kept() -> None:
    """A counter that tells sentences apart by the verb alone: only one of three bad verbs passes."""

    def verbs(texts: list[str]) -> list[int]:
        return [1 + any(verb in text for verb in ("laughed", "existed")) for text in texts]

    seen: list[str] = []

    def noted(texts: list[str]) -> list[int]:
        seen.extend(texts)
        return verbs(texts)

    found = generate(toy("garden"), "causative", 30, seed=1, counters=[noted])
    assert all("nodded" in pair.bad for pair in found.pairs)
    assert {pair.checks for pair in found.pairs} > {1}
    bad = [text for text in seen if any(verb in text for verb in ("laughed", "existed", "nodded"))]
    assert len(seen) - len(bad) < 0.8 * len(bad)  # the good one is counted once a context, not at every check


def test_a_context_is_given_up_after_the_last_check() -> None:
    """Of six words for the slot one passes; with fewer checks than words, more contexts are given up."""
    rates = []
    for checks in (1, 2, 6):
        found = generate(toy("cases"), "gender", 10, seed=0, counters=[characters], checks=checks).statistics
        assert found.checks <= checks * found.contexts
        rates.append(found.given_up / found.contexts)
    assert rates[0] > rates[1] == rates[2] > 0  # two other genders: no third check


def test_bad_words_that_lead_nowhere_are_drawn_again(tmp_path: Path) -> None:
    """No plant goes with `an`; the context is not without words for that."""
    slots = """
        d: {category: determiner, where: number=singular}
        n: {category: noun, where: human=yes, agree: {sound: d.sound}}
    """
    paradigm = {"slots": yaml.safe_load(slots), "good": "{d} {n}", "bad": "{d} {n}"}
    paradigm["vary"] = {"d": {}, "n": {"where": "kind=plant"}}
    grammar = read_grammar(write_grammar(tmp_path, {**GARDEN, "paradigms": {"p": paradigm}}, GARDEN_TABLES))
    for seed in range(10):
        found, (pairs, told) = generate(grammar, "p", 2, seed=seed), one_by_one(grammar, "p", 2, seed, [], 10)
        assert sorted(pairs) == [("A child", "A cactus"), ("A teacher", "A cactus")]
        assert sentences(found) == pairs
        own = found.statistics
        assert (own.contexts, sum(own.unfilled.values())) == (told["contexts"], told["unfilled"])


def test_pairs_that_are_far_apart_are_waited_for() -> None:
    rng = random.Random(0)

    def seldom(texts: list[str]) -> list[int]:
        return [rng.randrange(60) for _ in texts]

    found = generate(toy("garden"), "causative", 150, seed=0, counters=[seldom], checks=1).statistics
    assert found.contexts > 7_000  # more than it would wait for one


def test_the_statistics_are_of_what_was_done() -> None:
    found = generate(toy("garden"), "causative", 40, seed=9, counters=[characters])
    own = found.statistics
    assert own.pairs == len(found.pairs) == 40
    assert own.passed == own.pairs + own.duplicates
    assert own.acceptance_rate == own.passed / own.checks
    assert own.checks_per_pair == sum(pair.checks for pair in found.pairs) / 40 > 1
    contexts = {tuple(w.forms for s, w in pair.good_words.items() if s != "verb") for pair in found.pairs}
    assert own.distinct_contexts == len(contexts) < 40
    lemmas = {
        (w.category, w.lemma) for pair in found.pairs for w in (*pair.good_words.values(), *pair.bad_words.values())
    }
    assert own.distinct_words == len(lemmas)
    assert [pair.context for pair in found.pairs] == sorted({pair.context for pair in found.pairs})
    assert found.pairs[-1].context == own.contexts - 1  # contexts beyond the last pair are not counted
    empty = Statistics(0, 0, 0, 0, {}, 0, 0, 0, 0, 0)
    assert math.isnan(empty.acceptance_rate) and math.isnan(empty.checks_per_pair)


# Limits -------------------------------------------------------------------------------------------------------------


def refused(make: Callable[[], object], kind: type[PenchantError] = DataError) -> str:
    return refusal(make, kind)


def test_more_pairs_than_there_are_is_an_error() -> None:
    message = refused(lambda: generate(toy("polite"), "level", 13, seed=0))
    assert message.startswith(f"{toy('polite').files[0]}, paradigms.level: yields 12 distinct pairs instead of 13: of ")
    assert "contexts" in message and message.endswith("add words to the tables, or request fewer pairs")


def test_what_ran_out_is_told() -> None:
    def unequal(texts: list[str]) -> list[int]:
        return [hash(text) for text in texts]

    message = refused(lambda: generate(toy("garden"), "animate", 1, seed=0, counters=[unequal], checks=2))
    assert "yields 0 distinct pairs instead of 1: of 5000 contexts" in message
    assert "had no word for a slot (most often 'agent')" in message
    assert "had no bad sentence as long as the good sentence within 2 checks" in message
    assert "request fewer pairs or tokenizers" in message


def test_no_word_beside_the_good_ones_is_told(tmp_path: Path) -> None:
    grammar = copy.deepcopy(GARDEN)
    grammar["paradigms"] = {"p": grammar["paradigms"]["causative"]}
    grammar["paradigms"]["p"]["vary"]["verb"] = {"where": "class=intransitive", "agree": {"lemma": "verb.lemma"}}
    read = read_grammar(write_grammar(tmp_path, grammar, GARDEN_TABLES))
    message = refused(lambda: generate(read, "p", 1, seed=0))
    assert "of 5000 contexts, 5000 had no word for a slot (most often 'verb')" in message


def test_two_sentences_that_come_out_the_same_are_no_pair(tmp_path: Path) -> None:
    tables = copy.deepcopy(GARDEN_TABLES)
    tables["noun"] = [{**row, "plural": row["singular"]} for row in tables["noun"] if row["singular"]]
    read = read_grammar(write_grammar(tmp_path, {**GARDEN, "paradigms": {"p": GARDEN["paradigms"]["nouns"]}}, tables))
    assert "yields 0 distinct pairs instead of 1" in refused(lambda: generate(read, "p", 1, seed=0))


def test_what_cannot_be_asked_for_is_told() -> None:
    for n, checks, name in ((0, 10, "n"), (1, 0, "checks")):
        ask = lambda n=n, checks=checks: generate(toy("polite"), "level", n, seed=0, checks=checks)  # noqa: E731
        assert refused(ask, MethodError).startswith(f"{name} must be at least 1, got 0")
    message = refused(lambda: generate(toy("garden"), "causitive", 1, seed=0))
    assert message.endswith("grammar 'garden' has no paradigm 'causitive' — did you mean causative?")
    short = refused(lambda: generate(toy("polite"), "level", 1, seed=0, counters=[lambda texts: [1]]), MethodError)
    assert "a counter returned 1 lengths for" in short


# Bundled grammars ---------------------------------------------------------------------------------------------------


def bundled_paradigms() -> list[tuple[str, str]]:
    files = [(name, BUNDLED_GRAMMARS / name / "grammar.yaml") for name in bundled_grammars()]
    return [
        (name, paradigm) for name, file in files for paradigm in yaml.safe_load(file.read_text("utf-8"))["paradigms"]
    ]


@pytest.mark.parametrize(("name", "paradigm"), bundled_paradigms())
def test_bundled_grammars_give_what_they_allow(name: str, paradigm: str) -> None:
    read = read_grammar(BUNDLED_GRAMMARS / name)
    for pair in generate(read, paradigm, 30, seed=0, counters=[words]).pairs:
        assert parse(read, paradigm, pair.good, "good"), pair.good
        assert parse(read, paradigm, pair.bad, "bad"), pair.bad
        assert not parse(read, paradigm, pair.bad, "good"), pair.bad


BLIMP_MARKS = ("field", "linguistics_term", "simple_LM_method", "one_prefix_method", "two_prefix_method")
RAISING = {"unlikely", "soon", "apt", "about", "likely", "certain", "sure", "bound"}


@needs_shared
@pytest.mark.parametrize("name", sorted(read_grammar(BUNDLED_GRAMMARS / "en").paradigms))
def test_rows_are_marked_as_blimp_marks_them(name: str) -> None:
    lines = (SHARED / "blimp" / f"{name}.jsonl").read_text("utf-8").splitlines()
    own = generated(read_grammar(BUNDLED_GRAMMARS / "en"), [name], 20, Counters({"words": words}), seed=0, checks=10)
    (theirs,) = {tuple(json.loads(line)[key] for key in (*BLIMP_MARKS, "lexically_identical")) for line in lines}
    (ours,) = {tuple(row[key] for key in (*BLIMP_MARKS, "lexically_identical")) for row in own.rows}
    assert ours == theirs


def test_raising_adjectives_are_those_of_blimp() -> None:
    found = generate(read_grammar(BUNDLED_GRAMMARS / "en"), "tough_vs_raising_1", 300, seed=1)
    assert {pair.bad_words["adjective"].lemma for pair in found.pairs} == RAISING


def test_marks_come_from_the_grammar_or_the_words(tmp_path: Path) -> None:
    marked = copy.deepcopy(GARDEN)
    marked["paradigms"]["causative"] |= {"one_prefix_method": True, "lexically_identical": True}
    rows = {
        name: generated(grammar, ["causative"], 5, Counters({}), seed=0, checks=1).rows
        for name, grammar in (
            ("plain", toy("garden")),
            ("marked", read_grammar(write_grammar(tmp_path, marked, GARDEN_TABLES))),
        )
    }
    for name, marks in (("plain", (False, False, False)), ("marked", (True, False, True))):
        keys = ("one_prefix_method", "two_prefix_method", "lexically_identical")
        assert {tuple(row[key] for key in keys) for row in rows[name]} == {marks}
