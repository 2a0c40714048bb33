"""Conditions in disjunctive normal form mean what the same condition means in Python; agreement is unification."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_grammar import Word, condition
from penchant.grammar.features import ALWAYS, Term, parse_condition, unify

COLUMNS, VALUES = ("kind", "number", "ž"), ("a", "b", "ab", "1")
cells = st.lists(st.sampled_from(VALUES), max_size=3)
tables = st.fixed_dictionaries({}, optional=dict.fromkeys(COLUMNS, cells))
terms = st.tuples(st.sampled_from(COLUMNS), st.sampled_from(("=", "!=")), st.sampled_from(("", *VALUES)))
conditions = st.lists(st.lists(terms, min_size=1, max_size=3), min_size=1, max_size=4)


@pytest.mark.whole
@settings(max_examples=400, deadline=None)
@given(tables, conditions, st.sampled_from(("", " ")))
def test_a_condition_is_any_of_all(
    table: dict[str, list[str]], clauses: list[list[tuple[str, str, str]]], gap: str
) -> None:
    text = f"{gap};{gap}".join(f"{gap}^".join(gap.join(term) for term in clause) for clause in clauses)
    word = Word("c", {name: " ".join(own) for name, own in table.items()}, set(), {})
    values = {name: tuple(own) for name, own in table.items()}
    found = parse_condition(text)
    assert found.matches(values) == eval(condition(text), {"has": word.has})
    assert found.terms() == [Term(column, value, sign == "=") for clause in clauses for column, sign, value in clause]


def test_and_binds_more_closely_than_or() -> None:
    found = parse_condition("kind=food^number!=plural;human=yes")
    assert found.matches({"kind": ("thing", "food")})
    assert not found.matches({"kind": ("food",), "number": ("plural",)})
    assert found.matches({"kind": ("food",), "number": ("plural",), "human": ("yes",)})
    assert not found.matches({})


def test_a_value_is_compared_whole_and_may_have_spaces() -> None:
    found = parse_condition("lemma=in the open")
    assert found.matches({"lemma": ("in the open",)})
    assert not found.matches({"lemma": ("in", "the", "open")})
    assert not parse_condition("kind=foo").matches({"kind": ("food",)})


def test_no_value_asks_for_an_empty_column() -> None:
    assert parse_condition("kind=").matches({"kind": ()}) and parse_condition("kind=").matches({})
    assert not parse_condition("kind=").matches({"kind": ("food",)})
    assert parse_condition("kind!=").matches({"kind": ("food",)})
    assert not parse_condition("kind!=").matches({})


def test_a_blank_condition_always_holds() -> None:
    assert parse_condition(" ") == ALWAYS
    assert ALWAYS.matches({}) and not ALWAYS.terms()


@pytest.mark.parametrize(
    ("text", "at", "shown"),
    [
        ("human", 1, "'human'"),
        ("human=yes;", 11, "nothing"),
        ("human=yes;;kind=food", 11, "nothing"),
        ("human=yes^ ;kind=food", 11, "nothing"),
        ("^human=yes", 1, "nothing"),
        ("kind=food;=yes", 11, "'=yes'"),
        ("kind=food^!=yes", 11, "'!=yes'"),
        ("kind=food^kind==food", 11, "'kind==food'"),
        ("a=b=c", 1, "'a=b=c'"),
        ("a=b;c!d=e", 5, "'c!d=e'"),
        ("a=!b", 1, "'a=!b'"),
    ],
)
def test_what_is_no_condition_is_told_with_its_place(text: str, at: int, shown: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"at character {at} of '{text}', found {shown}")):
        parse_condition(text)


@given(st.lists(st.sampled_from(VALUES), unique=True), st.lists(st.sampled_from(VALUES), unique=True))
def test_words_that_agree_share_what_is_common_to_both(one: list[str], other: list[str]) -> None:
    common = unify(tuple(one), tuple(other))
    if not one or not other:
        assert common == tuple(one or other)  # no value agrees with any
    else:
        assert set(common or ()) == set(one) & set(other)
        assert (common is None) == set(one).isdisjoint(other)
