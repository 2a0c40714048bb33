"""The lexicon of BLiMP's generator becomes a grammar's table: every row, and every condition as it was."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
import yaml

from brute_grammar import Word, condition
from grammar_parsing import parse
from paths import SHARED
from penchant.errors import DataError, OutputError
from penchant.grammar.blimp_vocabulary import import_blimp, read_blimp_vocabulary
from penchant.grammar.features import parse_condition
from penchant.grammar.generate import generate
from penchant.grammar.grammar import Grammar, read_grammar

VOCABULARY = SHARED / "blimp_generator" / "vocabulary.csv"
needs_vocabulary = pytest.mark.skipif(not VOCABULARY.is_file(), reason=f"there is no {VOCABULARY}")

# Written for this test; only the names of the columns are the generator's.
SMALL = r"""expression,category,category_2,sg,animate,pluralform,adjs,root,arg_1,arg_2
gardener,N,N,1,1,gardeners,kind;old,,,
out-of-doors shed,N,N,1,0,out-of-doors sheds,,,,
pruned,(S\NP)/NP,TV,,,,,cut back_(S\NP)/NP,animate=1^sg=1;root=cut back_(S\NP)/NP,expression=out-of-doors shed
,,,,1,,,,,
,,,,,,,,,
them,,proACC,,,,,,,present=1
gardener,N,N,1,1,gardeners,kind;old,,,
"""
PARADIGM: dict[str, Any] = {
    "slots": {
        "subject": {"category": "N", "where": "animate=1"},
        "verb": {"category": r"(S\NP)/NP", "takes": {"arg_1": "subject"}},
        "object": {"category": "N", "fits": "verb.arg_2"},
    },
    "good": "the {subject} {verb} the {object}.",
    "bad": "the {subject:pluralform} {verb} the {object}.",
}


def with_paradigm(directory: Path, paradigm: dict[str, Any]) -> Grammar:
    file = directory / "grammar.yaml"
    head = yaml.safe_load(file.read_text("utf-8"))
    assert head["paradigms"] == {}
    file.write_text(yaml.safe_dump({**head, "paradigms": {"toy": paradigm}}, sort_keys=False), "utf-8")
    return read_grammar(directory)


def test_rows_become_rows_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "vocabulary.csv"
    file.write_text(SMALL, "utf-8")
    gardener, shed, pruned, empty, them, _ = read_blimp_vocabulary(file)
    assert (gardener.line, gardener.category, gardener.lemma) == (2, "N", "gardener")
    assert gardener.forms == {"pluralform": "gardeners"}
    assert gardener.features == {"category_2": "N", "sg": "1", "animate": "1", "adjs": "kind old", "root": ""}
    assert gardener.restrictions == {"arg_1": "", "arg_2": ""}
    assert shed.lemma == "out-of-doors shed"
    assert pruned.features["root"] == r"cut_back_(S\NP)/NP"
    assert pruned.restrictions == {
        "arg_1": r"animate=1^sg=1;root=cut_back_(S\NP)/NP",
        "arg_2": "lemma=out-of-doors shed",
    }
    assert (empty.lemma, them.category) == ("", "proACC")


def test_what_is_imported_can_be_read_and_drawn_from(tmp_path: Path) -> None:
    file, directory = tmp_path / "vocabulary.csv", tmp_path / "blimp"
    file.write_text(SMALL, "utf-8")
    told = import_blimp(file, directory)
    assert (told.words, told.without_expression, told.repeated, told.added) == (4, (5,), (8,), ("present",))
    assert "licence" in (directory / "grammar.yaml").read_text("utf-8").splitlines()[0]
    read = with_paradigm(directory, PARADIGM)
    assert (read.name, read.language) == ("blimp-vocabulary", "en")
    assert [entry.lemma for entry in read.lexicon["N"].entries] == ["gardener", "out-of-doors shed"]
    assert "present" in read.lexicon["proACC"].features
    (pair,) = generate(read, "toy", 1, seed=0).pairs
    assert pair.good == "The gardener pruned the out-of-doors shed."
    assert pair.bad == "The gardeners pruned the out-of-doors shed."


def test_a_grammar_that_is_there_is_kept(tmp_path: Path) -> None:
    file, directory = tmp_path / "vocabulary.csv", tmp_path / "blimp"
    file.write_text(SMALL, "utf-8")
    import_blimp(file, directory)
    before = (directory / "grammar.yaml").read_bytes()
    with pytest.raises(OutputError, match="already contains a grammar"):
        import_blimp(file, directory)
    assert (directory / "grammar.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word,category\na,N\n", "is not the vocabulary of BLiMP's generator: there is no column 'expression'"),
        ("expression,category,arg_1\na,N,sg=1\nb,N,sg=1^=2\n", ", line 3, field 'arg_1': expected a test such as"),
        ("expression,category\n,N\n", "no row has an expression"),
    ],
)
def test_what_is_no_vocabulary_is_told(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "vocabulary.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(DataError) as caught:
        import_blimp(file, tmp_path / "blimp")
    assert str(caught.value).startswith(str(file)) and message in str(caught.value)
    assert not (tmp_path / "blimp").exists()


# The vocabulary itself, where it is -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def vocabulary() -> list[dict[str, str]]:
    with VOCABULARY.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@needs_vocabulary
def test_every_condition_of_the_vocabulary_parses_and_means_the_same(vocabulary: list[dict[str, str]]) -> None:
    """Against Python's own reading of each condition, over every 40th row."""
    rows = read_blimp_vocabulary(VOCABULARY)
    assert len(rows) == len(vocabulary)
    assert set(rows[0].restrictions) == {"arg_1", "arg_2", "arg_3", "arg_clause", "initial_state"}
    texts: dict[str, str] = {}
    for ours, theirs in zip(rows, vocabulary, strict=True):
        assert ours.lemma == theirs["expression"]
        texts |= {theirs[column]: text for column, text in ours.restrictions.items() if text}
    assert len(texts) > 150
    sample = list(zip(rows, vocabulary, strict=True))[::40]
    for written, text in texts.items():
        test = condition(written)
        for ours, theirs in sample:
            word = Word(theirs["category"], theirs, set(theirs), {})
            values = {name: tuple(cell.split()) for name, cell in ours.features.items()}
            values |= {"lemma": (ours.lemma,), "category": (ours.category,)}
            if theirs["category"] and ours.lemma:
                assert parse_condition(text).matches(values) == eval(test, {"has": word.has}), (written, ours)


@needs_vocabulary
def test_a_grammar_over_the_vocabulary_generates(tmp_path: Path, vocabulary: list[dict[str, str]]) -> None:
    told = import_blimp(VOCABULARY, tmp_path / "blimp")
    assert told.words + len(told.without_expression) + len(told.repeated) == len(vocabulary)
    paradigm = {
        "slots": {
            "verb": {"category": r"(S\NP)/NP", "where": "past=1"},
            "subject": {"category": "N", "where": "properNoun!=1", "fits": "verb.arg_1"},
            "object": {"category": "N", "where": "properNoun!=1", "fits": "verb.arg_2", "differs": "subject"},
            "det": {"category": r"(S/(S\NP))/N", "takes": {"arg_1": "subject"}},
        },
        "good": "{det} {subject} {verb} the {object}.",
        "bad": "{det} {subject} {verb} the {object}.",
        "vary": {"verb": {"category": r"S\NP", "where": "past=1^causative!=1", "takes": {"arg_1": "subject"}}},
    }
    read = with_paradigm(tmp_path / "blimp", paradigm)
    for pair in generate(read, "toy", 25, seed=0).pairs:
        assert parse(read, "toy", pair.good, "good") and parse(read, "toy", pair.bad, "bad")
