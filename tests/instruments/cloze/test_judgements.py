"""Statements of a report of cloze valence about the words and their raters: exactly what was used."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_cloze import judged, quick, result

from penchant.instruments.cloze.instrument import CLOZE
from penchant.instruments.cloze.valence_labels import worth

FRACTIONS = {"¼": 0.25, "½": 0.5, "¾": 0.75}


@pytest.mark.parametrize(
    ("value", "ratings", "shown"),
    [
        (0.25, [0.0, 0.5], "¼ (0, ½)"),  # was ½
        (-0.75, [-1.0, -0.5], "−¾ (−1, −½)"),
        (0.0, [-1.0, 1.0], "0 (−1, 1)"),
        (1 / 3, [0.0, 0.0, 1.0], "0.333 (0, 0, 1)"),
        (-1 / 6, [-0.5, 0.0, 0.0], "−0.167 (−½, 0, 0)"),
        (1.0, [1.0, 1.0], "1"),
        (0.5, [0.5], "½"),
        (-1.0, [], "−1"),
        (None, [], "unrated"),
    ],
)
def test_a_valence_is_written_as_it_is_used(value: float | None, ratings: list[float], shown: str) -> None:
    assert worth(value, ratings) == shown


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=7))
@quick
def test_what_is_shown_is_the_mean(ratings: Sequence[float]) -> None:
    mean = float(sum(map(Fraction, ratings), Fraction()) / len(ratings))
    written = worth(sum(ratings) / len(ratings)).replace("−", "-")
    sign, digits = (-1, written[1:]) if written.startswith("-") else (1, written)
    assert sign * (FRACTIONS[digits] if digits in FRACTIONS else float(digits)) == pytest.approx(mean, abs=5e-4)


def test_the_sentences_show_the_mean_and_what_each_rater_said() -> None:
    table = judged([("g", 1.0, [("was", 0.5, {0: 0.0, 1: 0.5}), ("is", 0.2, {0: 1.0, 1: 1.0}), ("x", 0.1, {})])])
    assert CLOZE.section.items is not None
    shown = CLOZE.section.items([result(table)])
    assert shown.strips[0].tokens.to_list() == [["was ¼ (0, ½)", "is 1", "x unrated"]]
    figure = next(figure for figure in CLOZE.section.figures([result(table)]) if figure.name == "sentences")
    drawn = json.dumps(json.loads(figure.chart.to_json()), ensure_ascii=False)
    for part in ('"valence": 0.25, "word": "was", "worth": "¼ (0, ½)"', '"valence": null, "word": "x"'):
        assert part in drawn
