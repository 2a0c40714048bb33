"""The plan loses, swaps and repeats nothing: tested with a backend whose answers name the read they belong to."""

from __future__ import annotations

import math
import multiprocessing
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from builders import refusal
from fake_backend import FakeBackend, Shuffling, fill
from penchant.engine.answer_cache import Cache
from penchant.engine.batch_plan import Input, length_batches, merge, tree_batches
from penchant.engine.engine import Engine
from penchant.engine.forward_requests import TOP, LogProbs, Read, VectorRead
from penchant.errors import CacheError


@st.composite
def reads(draw: st.DrawFn) -> LogProbs:
    ids = draw(st.lists(st.integers(0, 3), min_size=1, max_size=9))  # a small alphabet: many shared prefixes
    at = draw(st.lists(st.integers(0, len(ids) - 1), min_size=1, max_size=4))
    tokens = draw(st.lists(st.integers(0, 2), min_size=len(at), max_size=len(at)))
    return LogProbs(tuple(ids), tuple(at), tuple(tokens))


def expected(read: LogProbs, *, causal: bool) -> NDArray[np.float64]:
    values = [
        FakeBackend.value(list(read.ids[: at + 1] if causal else read.ids), at, token)
        for at, token in zip(read.at, read.tokens, strict=True)
    ]
    return np.array(values)


@pytest.mark.whole
@settings(max_examples=300, deadline=None)
@given(
    st.lists(reads(), max_size=40),
    st.integers(1, 50),
    st.sampled_from([0, 3, 100]),
    st.integers(1, 120),
)
def test_every_read_gets_its_own_answer_in_order(asked: list[LogProbs], budget: int, packs: int, window: int) -> None:
    engine = Engine(FakeBackend(packs=packs), budget=budget, window=window)
    answers = list(engine.answer(asked))
    assert len(answers) == len(asked)
    for read, answer in zip(asked, answers, strict=True):
        np.testing.assert_allclose(np.asarray(answer, np.float64), expected(read, causal=packs > 0), atol=1e-7)


@pytest.mark.whole
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(reads(), st.lists(st.integers(0, 3), min_size=1, max_size=3)), max_size=40),
    st.integers(1, 50),
    st.sampled_from([0, 100]),
    st.integers(1, 120),
)
def test_every_vector_is_of_its_position_and_layers(
    given: list[tuple[LogProbs, list[int]]], budget: int, packs: int, window: int
) -> None:
    asked = [VectorRead(read.ids, read.at, tuple(layers)) for read, layers in given]
    backend = FakeBackend(packs=packs)
    answers = list(Engine(backend, budget=budget, window=window).answer(asked))
    assert all(batch.trees is None for batch in backend.batches)  # never in trees: masks made by hand may not fit
    for read, answer in zip(asked, answers, strict=True):
        found = np.asarray(answer, np.float64)
        assert found.shape == (len(read.at), len(read.layers), 1)
        for i, layer in enumerate(read.layers):
            one = LogProbs(read.ids, read.at, (layer,) * len(read.at))
            np.testing.assert_allclose(found[:, i, 0], expected(one, causal=packs > 0), atol=1e-7)


@settings(max_examples=100, deadline=None)
@given(st.lists(reads(), min_size=1, max_size=40), st.integers(1, 60), st.integers(1, 60))
def test_batches_hold_every_input_once_within_the_budget(asked: list[LogProbs], budget: int, row: int) -> None:
    for tree in (False, True):
        inputs = merge(asked).inputs
        batches = list(tree_batches(inputs, budget, row) if tree else length_batches(inputs, budget))
        held = [source.ids for batch in batches for source in batch.inputs]
        assert sorted(held) == sorted({read.ids for read in asked})
        for batch in batches:
            rows, width = batch.tokens.shape
            assert rows == 1 or rows * width <= budget
            if tree and len(batch.inputs) > rows:
                assert width <= max(row, max(len(source.ids) for source in batch.inputs))
            positions = list(zip(batch.rows.tolist(), batch.cols.tolist(), strict=True))
            assert len(positions) == len(set(positions))


def test_a_tree_holds_each_prefix_once() -> None:
    rng = random.Random(0)
    asked = [LogProbs(tuple(rng.choices(range(3), k=8)), (7,), (0,)) for _ in range(60)]
    batches = list(tree_batches(merge(asked).inputs, 10_000, 10_000))
    prefixes = {read.ids[: i + 1] for read in asked for i in range(8)}
    assert sum(int(batch.lengths.sum()) for batch in batches) == len(prefixes)


def test_a_tree_drawn_by_hand() -> None:
    # 7 ─ 8 ─ 5      and a second root 9; the row beside it is longer by one
    #      └─ 6
    drawn = [LogProbs(ids, (len(ids) - 1,), (0,)) for ids in ((9,), (7, 8, 6), (7, 8, 5))]
    longer = [LogProbs((9, 9, 9, 9, 9, 9), (5,), (0,))]
    (batch,) = tree_batches(merge([*drawn, *longer]).inputs, 100, 6)
    assert batch.tokens.tolist() == [[9, 9, 9, 9, 9, 9], [7, 8, 5, 6, 9, 0]]
    assert batch.trees is not None
    assert batch.trees.depths.tolist() == [[0, 1, 2, 3, 4, 5], [0, 1, 2, 2, 0, 0]]
    seen = batch.trees.seen(torch.device("cpu"))[1].numpy()
    assert [np.flatnonzero(row).tolist() for row in seen] == [[0], [0, 1], [0, 1, 2], [0, 1, 3], [4], [5]]


def test_one_input_runs_once_in_a_study() -> None:
    read = LogProbs((1, 2, 3), (1,), (5,))
    other = LogProbs((1, 2, 3), (1, 2), (5, 6))
    backend = FakeBackend()
    engine = Engine(backend)
    list(engine.answer([read, other, read]))
    assert engine.counts.forward == 1
    assert engine.counts.reads == 3
    assert len(backend.batches[0].targets) == 2


class Stream:
    """Reads that are made one at a time; `taken` says how many were asked for."""

    def __init__(self, read: Callable[[int], Read]) -> None:
        self.read, self.taken = read, 0

    def __iter__(self) -> Iterator[Read]:
        while self.taken < 100_000:
            self.taken += 1
            yield self.read(self.taken)


def short(i: int) -> LogProbs:
    return LogProbs((i, i + 1), (0,), (1,))


def long(i: int) -> LogProbs:
    return LogProbs(tuple(range(i, i + 1_000)), (0,), (1,))


def many_vectors(i: int) -> VectorRead:
    return VectorRead((i, 1), (0, 1), tuple(range(25)))


@pytest.mark.parametrize(
    ("read", "backend", "settings", "least", "most"),
    [
        (short, FakeBackend(), {"window": 1000}, 1, 1999),
        (long, FakeBackend(), {"budget": 1 << 24}, 1, 2_999),
        (long, FakeBackend(budget=16_384), {}, 64 * 16.384, 64 * 16.384 + 64),
        (long, FakeBackend(budget=512), {}, 2**18 / 1000, 2**18 / 1000 + 64),
        (many_vectors, FakeBackend(budget=16_384), {}, 65_536 / 50, 65_536 / 50 + 64),
    ],
)
def test_reads_are_taken_a_window_at_a_time(
    read: Callable[[int], Read], backend: FakeBackend, settings: dict[str, Any], least: float, most: float
) -> None:
    """A window is large beside the batches of a card, and holds no more vectors than memory is planned for."""
    stream = Stream(read)
    next(Engine(backend, **settings).answer(stream))
    assert least <= stream.taken <= most


@settings(max_examples=100, deadline=None)
@given(
    st.lists(reads(), max_size=60),
    st.integers(2, 9),
    st.integers(1, 30),
    st.integers(1, 200),
    st.integers(0, 99),
    st.booleans(),
)
def test_answers_that_come_in_any_order_are_given_in_the_order_of_the_reads(
    asked: list[LogProbs], slots: int, budget: int, window: int, shuffled: int, causal: bool
) -> None:
    packs = 100 * causal
    backend = Shuffling(slots=slots, seed=shuffled, packs=packs)
    engine = Engine(backend, budget=budget, window=window)
    in_turn = Engine(FakeBackend(packs=packs), budget=budget, window=window)
    answers = list(engine.answer(asked))
    for answer, alone in zip(answers, in_turn.answer(asked), strict=True):
        assert answer.tobytes() == alone.tobytes()
    assert engine.counts == in_turn.counts
    assert backend.most <= slots


def test_a_backend_that_takes_several_batches_is_kept_busy_across_windows() -> None:
    stream, backend = Stream(short), Shuffling(slots=4, budget=200)
    answers = Engine(backend, window=1000).answer(stream)
    for _ in range(2_000):
        next(answers)
    assert backend.most == 4
    assert stream.taken < 5 * 500 + 64


def test_one_stream_of_answers_does_not_disturb_another() -> None:
    one = [LogProbs((1, i), (0, 1), (i, 2)) for i in range(300)]
    two = [LogProbs((2, i), (1,), (3,)) for i in range(200)]
    engine = Engine(Shuffling(slots=3), budget=8, window=100)
    begun = engine.answer(one)
    first = [next(begun) for _ in range(10)]
    left = engine.answer(two)
    next(left)
    del left  # somebody stops reading
    second = list(engine.answer(two))
    rest = list(begun)
    for read, answer in zip([*one, *two], [*first, *rest, *second], strict=True):
        np.testing.assert_allclose(np.asarray(answer, np.float64), expected(read, causal=False), atol=1e-7)


class TestCache:
    def test_second_time_nothing_runs_and_answers_are_the_same_bits(self, tmp_path: Path) -> None:
        asked = [LogProbs((1, 2, i), (0, 2), (i, 7)) for i in range(50)]
        first = Engine(FakeBackend(), cache=Cache(tmp_path / "c.sqlite", "model", "float32"))
        before = list(first.answer(asked))
        second = Engine(FakeBackend(), cache=Cache(tmp_path / "c.sqlite", "model", "float32"))
        after = list(second.answer(reversed(asked)))[::-1]
        assert second.counts.forward == 0
        assert second.counts.cached == 50
        for a, b in zip(before, after, strict=True):
            assert a.tobytes() == b.tobytes()

    @pytest.mark.parametrize("other", [("another", "float32"), ("model", "bfloat16")])
    def test_models_and_formats_share_no_answer(self, tmp_path: Path, other: tuple[str, str]) -> None:
        asked = [LogProbs((1, 2, 3), (0,), (1,))]
        list(Engine(FakeBackend(), cache=Cache(tmp_path / "c", "model", "float32")).answer(asked))
        engine = Engine(FakeBackend(), cache=Cache(tmp_path / "c", *other))
        list(engine.answer(asked))
        assert engine.counts.forward == 1

    def test_a_new_question_about_a_known_input_keeps_the_old_answer(self, tmp_path: Path) -> None:
        def forward(read: LogProbs) -> int:
            engine = Engine(FakeBackend(), cache=Cache(tmp_path / "c", "m", "float32"))
            (answer,) = engine.answer([read])
            np.testing.assert_allclose(np.asarray(answer, np.float64), expected(read, causal=False), atol=1e-7)
            return engine.counts.forward

        one, two = LogProbs((1, 2), (0,), (1,)), LogProbs((1, 2), (1, 0), (3, 2))
        assert [forward(one), forward(two), forward(one), forward(two)] == [1, 1, 0, 0]

    def test_what_was_finished_survives_a_stop(self, tmp_path: Path) -> None:
        class Stops(FakeBackend):
            def run(self, batch):  # type: ignore[no-untyped-def]
                if len(self.batches) == 3:
                    raise KeyboardInterrupt
                return super().run(batch)

        asked = [LogProbs((i, 2), (0,), (1,)) for i in range(40)]
        engine = Engine(Stops(), budget=8, cache=Cache(tmp_path / "c", "m", "float32"))
        with pytest.raises(KeyboardInterrupt):
            list(engine.answer(asked))
        again = Engine(FakeBackend(), budget=8, cache=Cache(tmp_path / "c", "m", "float32"))
        list(again.answer(asked))
        assert again.counts.cached == 12
        assert again.counts.forward == 28

    @pytest.mark.parametrize("content", [b"not a database at all, but long enough to be looked at" * 99, b"x"])
    def test_damaged_file_is_named(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "c").write_bytes(content)
        assert str(tmp_path / "c") in refusal(lambda: Cache(tmp_path / "c", "m", "float32"), CacheError)

    @pytest.mark.parametrize(
        "change",
        [
            "answer = x'00'",
            "answer = NULL",
            "answer = 'text'",
            "answer = zeroblob(4)",
            "answer = x'0000C07F'",  # NaN
            "answer = x'0000A040'",  # 5
            "wants = NULL",
            "wants = zeroblob(8)",
            "wants = x'00'",
            "checksum = NULL",
            "checksum = zeroblob(8)",
        ],
    )
    def test_a_damaged_row_is_computed_again(self, tmp_path: Path, change: str) -> None:
        cache = Cache(tmp_path / "c", "m", "float32")
        read = LogProbs((1, 2), (0,), (1,))
        (before,) = Engine(FakeBackend(), cache=cache).answer([read])
        cache._db.execute(f"UPDATE answers SET {change}")
        for damaged, forward in ((1, 1), (0, 0)):
            engine = Engine(FakeBackend(), cache=Cache(tmp_path / "c", "m", "float32"))
            (after,) = engine.answer([read])
            assert after.tobytes() == before.tobytes()
            assert (engine.counts.damaged, engine.counts.forward) == (damaged, forward)

    @pytest.mark.parametrize(("kind", "answer"), [("logprob", [math.nan]), ("logprob", [5.0]), ("topk", [(3, 5.0)])])
    def test_an_impossible_row_is_computed_again_whatever_its_checksum(
        self, tmp_path: Path, kind: str, answer: list[object]
    ) -> None:
        source = Input((kind, 0 if kind == "logprob" else 1), (1, 2), {(0, 1 if kind == "logprob" else 0): 0})
        dtype = TOP if kind == "topk" else np.float32
        source.answer = np.array(answer, dtype).reshape((1,) if kind == "logprob" else (1, 1))
        cache = Cache(tmp_path / "c", "m", "float32")
        cache.store([source])
        again = Input(source.kind, source.ids, dict(source.slots))
        assert cache.fill([again]) == [again]
        assert cache.damaged == 1

    @pytest.mark.whole
    def test_several_processes_write_one_file(self, tmp_path: Path) -> None:
        with multiprocessing.get_context("spawn").Pool(3) as pool:
            counts = pool.starmap(fill, [(tmp_path / "c", start) for start in (0, 50, 100)])
        assert sum(counts) >= 200
        engine = Engine(FakeBackend(), cache=Cache(tmp_path / "c", "m", "float32"))
        list(engine.answer([LogProbs((i, 2), (0,), (1,)) for i in range(200)]))
        assert engine.counts.cached == 200
