"""Questions with options: orders, the reading of replies, and how steady answers are."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
import polars as pl
import pytest
import scipy

from penchant.errors import MethodError
from penchant.instruments.answer_steadiness import MISMATCH, OVER_ORDERS, OVER_REPLIES, SHARES, TURNED, steadiness
from penchant.instruments.elicitation import (
    HEDGED,
    OPTION,
    REFUSED,
    UNREAD,
    ChoiceQuestion,
    orders_of,
    phrases_of,
    reading,
)

LIKERT = ("strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree")
ENGLISH = phrases_of("en")
CZECH = phrases_of("cs-CZ")


@pytest.mark.parametrize("options", range(2, 8))
def test_in_balanced_orders_every_option_stands_equally_often_in_each_place(options: int) -> None:
    orders = orders_of(options, "balanced")
    assert len(orders) == len(set(orders)) == (2 if options == 2 else 2 * options)
    for place in range(options):
        assert set(Counter(order[place] for order in orders).values()) == {len(orders) // options}
    assert {order[::-1] for order in orders} == set(orders)


def test_all_orders_and_too_many_options() -> None:
    assert orders_of(4, "all") == list(permutations(range(4)))
    for options, how in ((7, "all"), (11, "balanced"), (1, "balanced")):
        with pytest.raises(MethodError):
            orders_of(options, how)


def test_a_prompt_lists_the_options_in_its_order() -> None:
    assert ENGLISH is not None
    question = ChoiceQuestion("Which?", ("red", "green", "blue"), "x")
    assert question.prompt((2, 0, 1), "label", ENGLISH).user == f"Which?\nA. blue\nB. red\nC. green\n{ENGLISH.label}"
    assert question.replies((2, 0, 1), "label") == ["B", "C", "A"]
    assert question.prompt((2, 0, 1), "text", ENGLISH).user == f"Which?\n- blue\n- red\n- green\n{ENGLISH.text}"
    assert question.replies((2, 0, 1), "text") == ["red", "green", "blue"]


ORDER = (4, 3, 2, 1, 0)  # A is strongly agree


@pytest.mark.parametrize(
    ("reply", "code", "option"),
    [
        ("A", OPTION, 4),
        ("a.", OPTION, 4),
        ("(B)", OPTION, 3),
        ("**C**", OPTION, 2),
        ("D: disagree", OPTION, 1),
        ("E) I think so", OPTION, 0),
        ("My answer is E. Strongly disagree.", OPTION, 0),
        ("The answer is: B", OPTION, 3),
        ("B - agree", OPTION, 3),
        ("B. Strongly disagree", UNREAD, None),  # the letter of one option and the text of another
        ("Strongly agree", OPTION, 4),
        ("I agree with this.", OPTION, 3),
        ("I strongly disagree, since", OPTION, 0),
        ('"Neither agree nor disagree"', OPTION, 2),
        ("A man walks into a bar", UNREAD, None),
        ("I do not agree", UNREAD, None),
        ("I'm sorry, but I cannot choose.", REFUSED, None),
        ("As an AI, I do not have opinions. Agree.", REFUSED, None),
        ("It depends on the person.", HEDGED, None),
        ("Agreement is good", UNREAD, None),
        ("F", UNREAD, None),
        ("", UNREAD, None),
    ],
)
def test_replies_are_read(reply: str, code: str, option: int | None) -> None:
    assert ENGLISH is not None
    assert reading(reply, LIKERT, ORDER, ENGLISH) == (code, option)


def test_czech_replies_are_read() -> None:
    assert CZECH is not None and phrases_of("fi") is None
    options = ("rozhodně nesouhlasím", "spíše nesouhlasím", "spíše souhlasím", "rozhodně souhlasím")
    order = (0, 1, 2, 3)
    assert reading("Odpověď: C", options, order, CZECH) == (OPTION, 2)
    assert reading("Spíše nesouhlasím.", options, order, CZECH) == (OPTION, 1)
    assert reading("Bohužel nemohu odpovědět.", options, order, CZECH) == (REFUSED, None)
    assert reading("Záleží na okolnostech.", options, order, CZECH) == (HEDGED, None)


def test_steadiness_by_hand() -> None:
    steady = [[0.1, 0.9], [0.2, 0.8]]
    turned = [[0.9, 0.1], [0.1, 0.9]]
    items = pl.DataFrame(
        {
            "order_probabilities": [steady, turned, steady, steady],
            "probabilities": [[0.15, 0.85], [0.5, 0.5], [0.15, 0.85], [0.15, 0.85]],
            "readings": [[OPTION] * 3, [OPTION, OPTION, REFUSED], [UNREAD, HEDGED, REFUSED], [OPTION] * 3],
            "chosen": [[1, 1, 1], [0, 1, None], [None] * 3, [0, 0, 1]],
        }
    )
    found = {each.measure: each for each in steadiness(items, np.array([1.0, 5.0]), 0.95, "statements")}
    # expected answers: 4.6 and 4.2 (sd 0.4/√2), or 1.4 and 4.6 (sd 3.2/√2)
    assert found[OVER_ORDERS].value == pytest.approx((3 * 0.4 + 3.2) / math.sqrt(2) / 4)
    assert (found[TURNED].value, found[TURNED].n) == (0.25, 4)
    assert {code: found[measure].value for code, measure in SHARES.items()} == pytest.approx(
        {OPTION: 8 / 12, REFUSED: 2 / 12, HEDGED: 1 / 12, UNREAD: 1 / 12}
    )
    # sd of 5, 5, 5; of 1, 5; of 1, 1, 5
    assert found[OVER_REPLIES].value == pytest.approx((0 + math.sqrt(8) + math.sqrt(16 / 3)) / 3)
    # the first item agrees; the second has two usual replies, of which the first option is one; the last differs
    assert found[MISMATCH].value == pytest.approx((0 + 0.5 + 1) / 3) and found[MISMATCH].n == 3
    low, high = scipy.stats.binomtest(1, 4).proportion_ci(method="wilson")
    assert (found[TURNED].low, found[TURNED].high) == pytest.approx((low, high))
