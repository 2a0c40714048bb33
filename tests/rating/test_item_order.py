"""Everybody's own order: everything once, some of it twice, and the same again from the same seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from penchant.rating.item_order import plan
from penchant.rating.tasks import Question
from rating_client import choice_task, scale_task


@given(st.integers(1, 80), st.integers(0, 3), st.integers(0, 4), st.floats(0, 1), st.integers(0, 5), st.integers(1, 5))
def test_everything_once_and_a_share_twice(
    n: int, practice: int, watch: int, share: float, seed: int, who: int
) -> None:
    task = scale_task(n, repeat=share, seed=seed)
    added = [Question({}, "p", kind="practice", right=0.0)] * practice
    added += [Question({}, "a", kind="attention", right=1.0)] * watch
    task = replace(task, items=(*task.items, *added))
    places = plan(task, who)
    assert places == plan(task, who)
    once = [place.item for place in places if not place.repeated]
    assert sorted(once) == list(range(n + practice + watch))
    assert [place.item for place in places[:practice]] == list(range(n, n + practice))
    again = Counter(place.item for place in places if place.repeated)
    assert sum(again.values()) <= round(share * n)
    assert all(times == 1 and item < n for item, times in again.items())
    for position, place in enumerate(places):
        assert not place.repeated or place.item in [other.item for other in places[:position]]


def test_raters_have_orders_of_their_own() -> None:
    task = choice_task(40)
    orders = {tuple(place.item for place in plan(task, who)) for who in range(1, 6)}
    assert len(orders) == 5
    turned = sum(place.turned for who in range(1, 26) for place in plan(task, who))
    assert 0.4 < turned / (25 * 42) < 0.6
    assert not any(place.turned for place in plan(scale_task(40), 1))
    for who in range(1, 26):
        sides = [place.turned for place in plan(task, who)]
        blocks = [sides[i : i + 10] for i in range(0, len(sides), 10)]
        assert all(abs(2 * sum(block) - len(block)) <= len(block) % 2 for block in blocks), "half of every ten"
    assert len({tuple(place.turned for place in plan(task, who))[:10] for who in range(1, 26)}) > 10


def test_a_repeated_item_comes_ten_others_later() -> None:
    places = plan(scale_task(200, repeat=0.2), 1)
    where = {place.item: n for n, place in enumerate(places) if not place.repeated}
    again = [(n, place.item) for n, place in enumerate(places) if place.repeated]
    assert len(again) == 40
    assert all(n - where[item] > 10 for n, item in again)
