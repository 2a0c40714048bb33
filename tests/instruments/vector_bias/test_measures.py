"""RND, RNSB, MAC, ECT and RIPA against values worked out by hand, against WEFE, and against plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from brute_vector_bias import (
    plain_ect,
    plain_mac,
    plain_ripa,
    plain_ripa_pairs,
    plain_rnd,
    plain_rnd_cosine,
    plain_rnsb,
)
from penchant import records
from penchant.instruments.vector_bias import measures as m
from penchant.instruments.vector_bias.exchange import Partitions, exchanged
from penchant.instruments.vector_bias.measures import (
    AGAINST,
    FIRST,
    SECOND,
    UNION,
    DrawCounts,
    Measure,
    SetVectors,
    Space,
)
from penchant.stats.inputs import Array

ROOT5 = math.sqrt(5)


def vectors(x: object, y: object, a: object, b: object, *, pairs: bool = False) -> SetVectors:
    p, q, r, s = (np.array(part, dtype=float) for part in (x, y, a, b))
    return SetVectors(p, q, r, s, pairs)


def once(v: SetVectors, measure: Measure, distance: m.Distance = "euclid") -> dict[str, float]:
    return {name: float(value[0]) for name, value in m.values(v, DrawCounts.once(v), measure, distance).items()}


# By hand ------------------------------------------------------------------------------------------------------------

PLANE = vectors([(1, 0), (3, 0)], [(0, 1), (0, 3)], [(2, 1)], [(0, 5), (4, 2)])
"""The means of X and Y are (2, 0) and (0, 2)."""


def test_rnd_by_hand() -> None:
    found = once(PLANE, "rnd")
    assert found[FIRST] == pytest.approx(1 - ROOT5)  # (2, 1) is 1 from (2, 0) and √(2² + 1²) from (0, 2)
    in_b = [math.sqrt(29) - 3, math.sqrt(8) - 4]
    assert found[SECOND] == pytest.approx(sum(in_b) / 2)
    assert found[UNION] == pytest.approx((1 - ROOT5 + sum(in_b)) / 3)
    cosine = once(PLANE, "rnd", "cosine")
    assert cosine[FIRST] == pytest.approx((1 - 2 / ROOT5) - (1 - 1 / ROOT5))
    assert cosine[SECOND] == pytest.approx(((1 - 0) - (1 - 1) + (1 - 2 / ROOT5) - (1 - 1 / ROOT5)) / 2)


def test_mac_by_hand() -> None:
    found = once(PLANE, "mac")
    assert found[FIRST] == pytest.approx(1 - (2 / ROOT5 + 1 / ROOT5) / 2)
    in_b = 1 - ((0 + 2 / ROOT5) / 2 + (1 + 1 / ROOT5) / 2) / 2
    assert found[SECOND] == pytest.approx(in_b)
    assert found[UNION] == pytest.approx((found[FIRST] + in_b) / 2)  # of the two sets, not of the three attributes


def test_ect_by_hand() -> None:
    """Attributes of length 10: their cosines with the axes are in the order of their coordinates, 1 2 3 4 and 2 1 4 3,
    so that ρ = 1 − 6·4/(4·15)."""
    a = [(1, 2, math.sqrt(95)), (2, 1, math.sqrt(95)), (3, 4, math.sqrt(75)), (4, 3, math.sqrt(75))]
    b = [(9, 1, math.sqrt(18)), (8, 5, math.sqrt(11)), (7, 6, math.sqrt(15))]
    found = once(vectors([(2, 0, 0)], [(0, 3, 0)], a, b), "ect")
    assert found[FIRST] == pytest.approx(0.6)
    assert found[SECOND] == pytest.approx(-1)
    # ranks 1 2 3 4 7 6 5 and 2.0 1.0 4 3 … : cosines with y are .2 .1 .4 .3 .1 .5 .6, the .1 of both tied
    ranks = np.array([[1, 2, 3, 4, 7, 6, 5], [3, 1.5, 5, 4, 1.5, 6, 7]])
    assert found[UNION] == pytest.approx(np.corrcoef(ranks)[0, 1])


def test_ripa_by_hand() -> None:
    """(4, 5) − (1, 1) = (3, 4), of length 5."""
    found = once(vectors([(4, 5)], [(1, 1)], [(1, 2)], [(5, -5)]), "ripa")
    assert found == pytest.approx({FIRST: 0.6 + 1.6, SECOND: 3 - 4, UNION: 0.6})
    x, y = [(4, 5), (2, 1)], [(1, 1), (0, 1)]
    two = vectors(x, y, [(1, 2)], [(5, -5)])
    across = [(3, 4), (4, 4), (1, 0), (2, 0)]  # 4 5 − 1 1, 4 5 − 0 1, 2 1 − 1 1, 2 1 − 0 1
    expected = np.mean([(u + 2 * v) / math.hypot(u, v) for u, v in across])
    assert once(two, "ripa")[FIRST] == pytest.approx(expected)
    assert once(vectors(x, y, [(1, 2)], [(5, -5)], pairs=True), "ripa")[FIRST] == pytest.approx((2.2 + 1) / 2)
    same = vectors([(1, 1)], [(1, 1)], [(1, 2)], [(5, -5)])
    assert once(same, "ripa")[FIRST] == 0


def test_rnsb_by_hand() -> None:
    """One attribute at −c and one at c: by symmetry b = 0, and w = 2c/(1 + exp(wc)). For c² = 2·ln 3 that is w = c/2,
    so that P(B) at c, 0 and −c is 3/4, 1/2 and 1/4."""
    c = math.sqrt(2 * math.log(3))
    v = vectors([(c, 0)], [(-c, 0)], [(-c, 0)], [(c, 0)])
    assert once(v, "rnsb")[AGAINST] == pytest.approx(0.75 * math.log(1.5) + 0.25 * math.log(0.5))
    _, labels, space = m.learning(vectors([(c, 0), (0, 7)], [(-c, 0)], [(-c, 0)], [(c, 0)]))
    assert space.probabilities(labels[None], np.ones((1, 2)))[0] == pytest.approx([0.75, 0.5, 0.25])
    assert m.divergence(np.array([[0.2, 0.2, 0.2]]), np.ones((1, 3)))[0] == pytest.approx(0, abs=1e-15)


# WEFE 1.0.1 ---------------------------------------------------------------------------------------------------------

SIZES = {"x": 5, "y": 5, "a": 7, "b": 6}
WEFE = {
    ("rnd", "euclid", False): (-0.27236792019435335, 0.21442832549413046, -0.04769272987659161),
    ("rnd", "euclid", True): (-0.11212047508784703, 0.1332422395547231, 0.0011238547471853404),
    ("rnd", "cosine", False): (-0.3546753908906664, 0.20412397384643555, -0.09676799178123474),
    ("rnd", "cosine", True): (-0.3104800454207829, 0.20395216842492422, -0.07304979287661038),
    ("ect", "euclid", False): (-0.39285714285714296, 0.028571428571428574, -0.5384615384615384),
    ("ect", "euclid", True): (-0.3214285714285715, 0.028571428571428574, -0.4175824175824176),
    ("ripa", "euclid", False): (0.2706905007362366, -0.13506443798542023, 0.08341898024082184),
    ("ripa", "euclid", True): (0.128309428691864, -0.04903547093272209, 0.046457938849925995),
    ("mac", "euclid", False): (0.9259220423740471, 0.8804495407534814, 0.9031857915637644),
    ("rnsb", "euclid", False): (0.14940048980151066,),
    ("rnsb", "euclid", True): (0.036267330889480455,),
}
"""By measure, distance and whether vectors are of length 1; for A, B, and both. Made by WEFE 1.0.1 with gensim's
KeyedVectors of `golden` below: RND, ECT and RIPA with the queries (X, Y; A), (X, Y; B) and (X, Y; A + B), MAC with
(X, Y; A), (X, Y; B) and (X, Y; A, B), RNSB with (X, Y; A, B), holdout=False and liblinear to a tolerance of 1e-10.
WEFE's distance "cos" of RND is the cosine, not the cosine distance: its numbers have the other sign."""


def golden(*, normalise: bool) -> SetVectors:
    """The vectors, rounded as the file of vectors that WEFE read."""
    names = [name for name, size in SIZES.items() for _ in range(size)]
    rows = [
        [
            round(math.sin(7.3 * (i + 1) ** 2 + 3.1 * (j + 1) * (i + 2)), 3)
            + (0.4 if name in "xa" else -0.1) * (j == 0)
            + 0.3 * (j == 1)
            for j in range(6)
        ]
        for i, name in enumerate(names)
    ]
    whole = np.array(rows, dtype=np.float32).astype(float)
    if normalise:
        whole /= np.linalg.norm(whole, axis=1, keepdims=True)
    x, y, a, b = np.split(whole, np.cumsum(list(SIZES.values()))[:-1])
    return SetVectors(x, y, a, b, pairs=True)  # WEFE's RIPA takes targets by position


@pytest.mark.parametrize("key", WEFE, ids=lambda key: " ".join(map(str, key)))
def test_the_numbers_are_those_of_wefe(key: tuple[Measure, m.Distance, bool]) -> None:
    measure, distance, normalise = key
    found = once(golden(normalise=normalise), measure, distance)
    assert list(found.values()) == pytest.approx(WEFE[key], abs=5e-7)  # WEFE computes in float32


# Loops --------------------------------------------------------------------------------------------------------------


PLAIN: dict[str, tuple[Measure, m.Distance, bool, Callable[[Array, Array, Array], float]]] = {
    "rnd": ("rnd", "euclid", False, plain_rnd),
    "rnd cosine": ("rnd", "cosine", False, plain_rnd_cosine),
    "mac": ("mac", "euclid", False, plain_mac),
    "ect": ("ect", "euclid", False, plain_ect),
    "ripa": ("ripa", "euclid", False, plain_ripa),
    "ripa pairs": ("ripa", "euclid", True, plain_ripa_pairs),
}


def drawn(sizes: tuple[int, int, int, int], seed: int, *, pairs: bool = False) -> SetVectors:
    rng = np.random.default_rng(seed)
    x, y, a, b = (rng.normal(side, 1, (size, 4)) for side, size in zip((0.3, 0, 0.2, 0), sizes, strict=True))
    return SetVectors(x, y, a, b, pairs)


@pytest.mark.parametrize("name", PLAIN)
def test_resamples_are_those_of_the_words_repeated(name: str) -> None:
    measure, distance, pairs, plain = PLAIN[name]
    v = drawn((5, 5, 6, 8) if pairs else (5, 4, 6, 8), 1, pairs=pairs)
    counts = DrawCounts.drawn(v, 7, [(1,), (2,), (3,), (4,)])
    assert (counts.x.sum(1) == 5).all() and (counts.b.sum(1) == 8).all()
    assert pairs == np.array_equal(counts.x, counts.y)
    found = m.values(v, counts, measure, distance)
    for i in range(7):
        x, y, a, b = (
            np.repeat(part, each[i].astype(int), axis=0)
            for part, each in zip(v.sets, (counts.x, counts.y, counts.a, counts.b), strict=True)
        )
        x, y = (v.x, v.y) if measure == "ect" else (x, y)
        assert found[FIRST][i] == pytest.approx(plain(x, y, a))
        assert found[SECOND][i] == pytest.approx(plain(x, y, b))
        both = (plain(x, y, a) + plain(x, y, b)) / 2 if measure == "mac" else plain(x, y, np.concatenate([a, b]))
        assert found[UNION][i] == pytest.approx(both)


def test_resamples_of_rnsb_are_those_of_the_words_repeated() -> None:
    v = drawn((5, 4, 6, 8), 1)
    counts = DrawCounts.drawn(v, 4, [(1,), (2,), (3,), (4,)])
    found = m.rnsb(v, counts)
    for i in range(4):
        parts = zip(v.sets, (counts.x, counts.y, counts.a, counts.b), strict=True)
        expected = plain_rnsb(*(np.repeat(part, each[i].astype(int), axis=0) for part, each in parts))
        assert found[i] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_the_classifier_ends_at_the_minimum(scale: float) -> None:
    """Also where vectors are long, so that Newton's steps would go too far."""
    rng = np.random.default_rng(5)
    rows, labels = scale * rng.normal(size=(30, 50)), rng.integers(0, 2, (3, 30)).astype(float)
    counts = rng.multinomial(30, np.full(30, 1 / 30), 3).astype(float)
    p = Space.of(rows, rows).probabilities(labels, counts)
    # At the minimum the weights are −Σ c(p − y)(x, 1), and give these p.
    whole = np.column_stack([rows, np.ones(30)])
    weights = -(counts * (p - labels)) @ whole
    assert 1 / (1 + np.exp(-weights @ whole.T)) == pytest.approx(p, abs=1e-6)


# Tests --------------------------------------------------------------------------------------------------------------


def shown(test: records.Test | None) -> Any:
    assert test is not None
    return test.p, str(test.method)


@pytest.mark.parametrize("name", ["rnd", "rnd cosine", "ect", "ripa"])
def test_targets_are_exchanged_in_all_ways(name: str) -> None:
    measure, distance, _, plain = PLAIN[name]
    v = drawn((3, 4, 5, 6), 3)
    targets = v.targets
    every = []
    for first in combinations(range(7), 3):
        rest = [i for i in range(7) if i not in first]
        every.append(plain(targets[list(first)], targets[rest], v.a))
    values = np.array(every)  # the first partition is that of the data
    centre = values.mean()
    extreme = values <= values[0] + 1e-9 if name == "ect" else abs(values - centre) >= abs(values[0] - centre) - 1e-9
    tested = exchanged(v, once(v, measure, distance), measure, distance, draws=100, refits=100, seed=0)
    side = "low values" if name == "ect" else "two-sided"
    assert shown(tested[FIRST]) == (pytest.approx(extreme.mean()), f"permutation of targets, all 35 partitions, {side}")


def test_labels_are_exchanged_in_all_ways() -> None:
    v = drawn((3, 4, 3, 3), 3)
    both = v.attributes
    every = []
    for first in combinations(range(6), 3):
        rest = [i for i in range(6) if i not in first]
        every.append(plain_rnsb(v.x, v.y, both[list(first)], both[rest]))
    tested = exchanged(v, once(v, "rnsb"), "rnsb", "euclid", draws=100, refits=100, seed=0)
    expected = pytest.approx((np.array(every) >= every[0] - 1e-7).mean())
    assert shown(tested[AGAINST]) == (
        expected,
        "permutation of the labels of attributes, all 20 partitions, high values",
    )


def test_pairs_are_exchanged_within_pairs() -> None:
    v = drawn((6, 6, 5, 4), 3, pairs=True)
    means = np.array([plain_ripa_pairs(v.x[i : i + 1], v.y[i : i + 1], v.b) for i in range(6)])
    signs = np.array(np.meshgrid(*[[1, -1]] * 6)).reshape(6, -1).T
    expected = (abs(signs @ means) >= abs(means.sum()) - 1e-12).mean()
    tested = exchanged(v, once(v, "ripa"), "ripa", "euclid", draws=100, refits=100, seed=0)
    assert shown(tested[SECOND]) == (pytest.approx(expected), "sign-flip over 6 pairs")


def test_mac_has_no_test() -> None:
    tested = exchanged(PLANE, once(PLANE, "mac"), "mac", "euclid", draws=100, refits=100, seed=0)
    assert set(tested.values()) == {None}


def test_drawn_partitions_come_near_to_all() -> None:
    v = drawn((8, 8, 5, 5), 2)
    every, some = (Partitions.of(8, 8, draws=4_000, seed=1, exact=exact) for exact in (20_000, 10))
    assert (len(every.first), every.exact, len(some.first), some.exact) == (12_870, True, 4_000, False)
    assert (some.first.sum(1) == 8).all()
    statistic = v.targets[:, 0]
    observed = float(every.first[0] @ statistic)
    p, near = (each.p(observed, each.first @ statistic, tail="both") for each in (every, some))
    assert near == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 4_000))
    assert Partitions.of(8, 8, draws=99, seed=1, exact=10).p(1e9, np.zeros(99), tail="high") == 0.01
