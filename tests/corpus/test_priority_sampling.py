"""A sample is the smallest of uniform priorities, whatever the order; it is uniform, and tells how many there were."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from itertools import compress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from penchant.corpus.priority_sampling import SPACE, Smallest, priorities, priority

modest = settings(max_examples=150, deadline=None)
TOP = 2**64 - 1


# Priorities -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "parts", "told"),
    [
        (0, ("rose", "0", "A rose."), b"0\x00rose\x000\x00A rose."),
        (-12, ("নদী",), "-12\x00নদী".encode()),
        (7, (), b"7"),
        (7, ("",), b"7\x00"),
        (1, ("a\ud800b",), b"1\x00a\xed\xa0\x80b"),
    ],
)
def test_priorities_are_stable(seed: int, parts: tuple[str, ...], told: bytes) -> None:
    digest = hashlib.blake2b(told, digest_size=8).digest()
    assert priority(seed, *parts) == int.from_bytes(digest, "little") < SPACE == 2**64


def test_a_priority_that_never_changes() -> None:
    assert priority(0, "rose", "0", "A rose.") == 11_803_627_761_340_327_925


def test_parts_stay_apart() -> None:
    told = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc")]
    assert len({priority(1, *parts) for parts in told} | {priority(11, *parts) for parts in told}) == 10


def test_many_priorities_are_those_of_each() -> None:
    items = [("rose", 0, "A rose."), ("নদী", 2, "নদী"), ("rose", 1, "A rose."), ("rose", 0, ""), ("নদী", 2, "a\0b")]
    words, nths, contents = zip(*items, strict=True)
    found = priorities(5, words, nths, [content.encode() for content in contents])
    assert found.dtype == np.uint64
    assert found.tolist() == [priority(5, word, str(nth), content) for word, nth, content in items]
    assert priorities(5, [], [], []).tolist() == []


# The smallest -----------------------------------------------------------------------------------------------------


def add(samples: Smallest, cell: int, *values: int) -> list[bool]:
    added: list[bool] = samples.add(np.full(len(values), cell), np.array(values, np.uint64)).tolist()
    return added


STREAM = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30) | st.integers(0, TOP)), max_size=60)


@modest
@given(st.lists(STREAM, max_size=5), st.integers(1, 12))
def test_the_smallest_of_a_stream(stream: list[list[tuple[int, int]]], k: int) -> None:
    samples = Smallest(3, k)
    seen: list[set[int]] = [set(), set(), set()]
    taken: list[list[int]] = [[], [], []]
    for items in stream:
        cells = np.array([cell for cell, _ in items], np.int64)
        added = samples.add(cells, np.array([own for _, own in items], np.uint64)).tolist()
        for (cell, own), new in zip(items, added, strict=True):
            if new:
                assert own not in seen[cell]  # nothing is taken in twice
                taken[cell].append(own)
            seen[cell].add(own)
        for each in range(3):
            assert samples.highest[each] >= (sorted(seen[each])[:k] or [0])[-1]
    for cell in range(3):
        expected = sorted(seen[cell])[:k]
        assert samples.sample(cell).tolist() == expected
        assert samples.sample(cell).dtype == np.uint64
        assert set(expected) <= set(taken[cell])
        if len(seen[cell]) >= k:
            assert samples.highest[cell] == expected[-1]
        else:
            assert samples.highest[cell] == TOP and samples.distinct(cell) == (len(seen[cell]), True)


@pytest.mark.parametrize("k", [1, 3, 100, 400])
def test_a_long_stream_in_any_order(k: int) -> None:
    """Long enough for the sample to be put in order many times, and for most to be refused at once."""
    rng = random.Random(k)
    items = [rng.randrange(2**64) for _ in range(3_000)]
    items += [*rng.choices(items, k=3_000), 0, TOP, TOP]
    expected = sorted(set(items))[:k]
    found = []
    for _ in range(3):
        rng.shuffle(items)
        samples = Smallest(1, k)
        taken: list[int] = []
        for start in range(0, len(items), 100):
            part = items[start : start + 100]
            taken += compress(part, add(samples, 0, *part))
        assert len(taken) == len(set(taken)) and set(expected) <= set(taken)
        assert len(taken) < 2_500  # those that can belong to no sample are let go
        assert samples.sample(0).tolist() == expected
        found.append(samples.distinct(0) if k > 2 else None)
    assert len(set(found)) == 1


@pytest.mark.whole
@modest
@given(STREAM, STREAM, st.integers(3, 12))
def test_parts_put_together(first: list[tuple[int, int]], second: list[tuple[int, int]], k: int) -> None:
    """A sample that is taken up again is the one that was never left."""
    whole, again = Smallest(3, k), Smallest(3, k)
    for cell, own in first:
        add(whole, cell, own)
    for cell in range(3):
        again.extend(cell, np.array([own for each, own in first if each == cell], dtype=np.uint64))
    for cell, own in second:
        add(whole, cell, own)
        add(again, cell, own)
    for cell in range(3):
        assert again.sample(cell).tolist() == whole.sample(cell).tolist()
        assert again.distinct(cell) == whole.distinct(cell) and again.highest[cell] == whole.highest[cell]


# What a sample says of all ----------------------------------------------------------------------------------------


def test_each_is_drawn_as_often_as_any_other() -> None:
    """χ² over 30 items of which 5 are drawn 2000 times, not put back, so that counts vary less by (n − k)/(n − 1)."""
    n, k, times = 30, 5, 2_000
    drawn: Counter[int] = Counter()
    together: Counter[tuple[int, int]] = Counter()
    for seed in range(times):
        samples = Smallest(1, k)
        owners = {priority(seed, f"sentence {i}"): i for i in range(n)}
        for own in owners:
            add(samples, 0, own)
        chosen = sorted(owners[own] for own in samples.sample(0).tolist())
        assert len(chosen) == k
        drawn.update(chosen)
        together[chosen[0] // 10, chosen[-1] // 10] += 1
    expected = times * k / n
    squares = sum((drawn[i] - expected) ** 2 / expected for i in range(n)) * (n - 1) / (n - k)
    assert 0.001 < stats.chi2(n - 1).sf(squares) < 0.999
    assert together[0, 0] / times == pytest.approx(252 / 142_506, abs=0.004)  # all five of the first ten


def test_seeds_draw_apart() -> None:
    ranks = [sorted(range(200), key=lambda i, seed=seed: priority(seed, str(i))) for seed in range(40)]  # type: ignore[misc]
    overlaps = [len(set(a[:20]) & set(b[:20])) for a in ranks for b in ranks if a is not b]
    assert np.mean(overlaps) == pytest.approx(2, abs=0.2)  # 20 · 20 / 200


@pytest.mark.whole
@pytest.mark.parametrize(("k", "n"), [(10, 200), (66, 1_000), (66, 70)])
def test_the_number_of_distinct_items(k: int, n: int) -> None:
    """(k − 1)/u has no bias and a relative standard error of about √((n − k + 1)/n)/√(k − 2)."""
    found = []
    for seed in range(300):
        samples = Smallest(1, k)
        for _ in range(2):
            add(samples, 0, *(priority(seed, str(i)) for i in range(n)))
        number, exact = samples.distinct(0)
        assert not exact
        found.append(number / n)
    error = np.sqrt((n - k + 1) / n / (k - 2))
    assert np.mean(found) == pytest.approx(1, abs=3 * error / np.sqrt(300))
    assert np.std(found) == pytest.approx(error, rel=0.2)


def test_few_are_counted() -> None:
    samples = Smallest(2, 4)
    assert add(samples, 0, 5, 3, 5, 9) == [True, True, False, True]
    assert samples.distinct(0) == (3, True)
    assert samples.distinct(1) == (0, True)
    add(samples, 0, SPACE // 2)
    assert samples.distinct(0) == (6, False)  # 3 / (1/2)
