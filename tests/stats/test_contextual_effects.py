"""Effect sizes from samples of contextual vectors, against one word at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial import distance

from penchant.errors import DataError
from penchant.instruments.associations.contextual_effects import Contextual, VectorPool, _widen, contextual_effects

Array = NDArray[np.float64]
Grid = list[list[Fraction]]

quick = settings(max_examples=80, deadline=None)
ddofs = st.integers(0, 1)
counts = st.integers(1, 4)


Picked = tuple[NDArray[np.floating], NDArray[np.intp]]
Sets = tuple[list[Picked], list[Picked], list[Picked], list[Picked]]


def sample(sets: Sets, *, ddof: int = 1, keep: int = 200) -> Contextual:
    x, y, a, b = ([VectorPool(lambda own=own: own, picks) for own, picks in part] for part in sets)  # type: ignore[misc]
    return contextual_effects((x, y), (a, b), ddof=ddof, keep=keep)


def agrees(found: Contextual, sets: Sets, *, ddof: int = 1, keep: int = 200) -> None:
    """One sample, one word and one cosine at a time, in float64. Single precision allows a few parts in ten million of
    a cosine, hence as much, over the sd, of an effect size."""
    x, y, a, b = sets
    n = len(x[0][1])
    each = np.empty((n, len(x) + len(y)))
    for i in range(n):
        vectors = [[np.asarray(own[picks[i]], dtype=np.float64) for own, picks in part] for part in sets]
        targets, attributes = vectors[0] + vectors[1], vectors[2] + vectors[3]
        cosines = np.array([[1 - float(distance.cosine(t, w)) for w in attributes] for t in targets])
        s = np.array([row[: len(a)].mean() - row[len(a) :].mean() for row in cosines])
        each[i] = s
        if i < keep:
            np.testing.assert_allclose(found.cosines[i], cosines, atol=3e-6)
        if len(s) <= ddof:
            assert math.isnan(found.variances[i]) and math.isnan(found.effects[i])
            continue
        variance = s.var(ddof=ddof)
        assert found.variances[i] == pytest.approx(variance, rel=1e-5, abs=1e-5 * math.sqrt(variance) + 1e-12)
        if variance < 1e-13:
            assert math.isnan(found.effects[i])
        else:
            d = (s[: len(x)].mean() - s[len(x) :].mean()) / math.sqrt(variance)
            assert found.effects[i] == pytest.approx(d, abs=3e-6 / math.sqrt(variance) + 1e-6)
    np.testing.assert_allclose(found.s, each.mean(axis=0), atol=3e-6)
    assert found.cosines.shape == (min(keep, n), len(x) + len(y), len(a) + len(b))
    assert found.cosines.dtype == np.float32


def made(
    seed: int,
    n: int,
    *,
    sizes: Sequence[int] = (3, 2, 2, 4),
    pools: Callable[[np.random.Generator], int] = lambda rng: int(rng.integers(1, 9)),
    width: int = 5,
    dtype: type[np.floating] = np.float32,
) -> Sets:
    """Pools around a mean of their own, of different sizes, and picks with repetition, in no order."""
    rng = np.random.default_rng(seed)

    def pool() -> Picked:
        rows = pools(rng)
        vectors = rng.normal(size=width) + rng.normal(0, 0.7, (rows, width))
        return vectors.astype(dtype), rng.integers(0, rows, n)

    x, y, a, b = ([pool() for _ in range(size)] for size in sizes)
    return x, y, a, b


@pytest.mark.whole
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 255, 256, 257, 600])
def test_samples_one_word_at_a_time(n: int, dtype: type[np.floating]) -> None:
    sets = made(n, n, dtype=dtype)
    agrees(sample(sets), sets)


@pytest.mark.parametrize("rows", [255, 256, 257, 700])
def test_pools_larger_than_a_block(rows: int) -> None:
    """One after the other, of different sizes, so that each is read from memory that others have used."""
    sizes = iter([3, rows, 1, 2 * rows, 5, rows, 2])
    sets = made(rows, 40, sizes=(2, 2, 1, 2), pools=lambda rng: next(sizes), dtype=np.float16)
    agrees(sample(sets), sets)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 5),
    st.tuples(counts, counts, counts, counts),
    st.integers(1, 4),
    ddofs,
    st.integers(1, 7),
    st.sampled_from([np.float16, np.float32, np.float64]),
)
@example(0, 1, (1, 1, 1, 1), 1, 1, 1, np.float16)
def test_samples_of_any_shape(
    seed: int,
    n: int,
    sizes: tuple[int, int, int, int],
    width: int,
    ddof: int,
    keep: int,
    dtype: type[np.floating],
) -> None:
    sets = made(seed, n, sizes=sizes, width=width, dtype=dtype)
    agrees(sample(sets, ddof=ddof, keep=keep), sets, ddof=ddof, keep=keep)


def identical(one: Contextual, other: Contextual) -> None:
    for name in ("effects", "variances", "s", "cosines"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def mapped(sets: Sets, change: Callable[[NDArray[np.floating]], NDArray[np.floating]], of: Sequence[int]) -> Sets:
    x, y, a, b = ([(change(own) if i in of else own, picks) for own, picks in part] for i, part in enumerate(sets))
    return x, y, a, b


def test_the_same_numbers_in_another_format_give_the_same_bits() -> None:
    sets = made(3, 300, dtype=np.float16)
    one = sample(sets)
    identical(one, sample(mapped(sets, lambda v: v.astype(np.float32), range(4))))
    identical(one, sample(mapped(sets, lambda v: v.astype(np.float64), range(4))))
    # A view of one layer of several, as they lie in the store.
    layered = mapped(sets, lambda v: np.stack([v + np.float16(1), v, -v], axis=1)[:, 1], range(4))
    assert not layered[0][0][0].flags.c_contiguous
    identical(one, sample(layered))
    # Powers of two change no digit.
    identical(one, sample(mapped(sets, lambda v: v * np.float16(4), range(4))))
    read_only = mapped(sets, lambda v: np.frombuffer(v.tobytes(), v.dtype).reshape(v.shape), range(4))
    identical(one, sample(read_only))


@pytest.mark.whole
@quick
@given(st.integers(0, 10_000), st.floats(1e-6, 1e6), st.randoms(use_true_random=False))
def test_what_leaves_samples_as_they_are_and_what_turns_their_sign(seed: int, factor: float, random: Random) -> None:
    sets = made(seed, 7, width=6)
    x, y, a, b = sets
    one = sample(sets)
    steady = 3e-6 / np.sqrt(one.variances) + 1e-6

    def same(other: Contextual, sign: float = 1) -> None:
        assert (np.abs(other.effects - sign * one.effects) < steady).all()
        np.testing.assert_allclose(other.variances, one.variances, rtol=1e-5, atol=1e-7)

    for of in ((0,), (1, 2), (0, 1, 2, 3)):
        same(sample(mapped(sets, lambda v: v * np.float32(factor), of)))
    shuffled = [random.sample(part, len(part)) for part in sets]
    same(sample((shuffled[0], shuffled[1], shuffled[2], shuffled[3])))
    same(sample((y, x, a, b)), -1)
    same(sample((x, y, b, a)), -1)
    same(sample((y, x, b, a)))
    same(sample(mapped(sets, np.negative, (0, 1))), -1)
    same(sample(mapped(sets, np.negative, (2, 3))), -1)
    same(sample(mapped(sets, np.negative, (0, 1, 2, 3))))
    # Every stimulus twice: the same means, and the sd over n − 1 of 2n.
    twice = sample((x * 2, y * 2, a * 2, b * 2), ddof=0)
    once = sample(sets, ddof=0)
    assert (np.abs(twice.effects - once.effects) < 2 * steady).all()
    # A sample takes its own picks and no others.
    order = np.array(random.sample(range(7), 7))
    x, y, a, b = ([(own, picks[order]) for own, picks in part] for part in sets)
    assert sample((x, y, a, b)).effects.tolist() == one.effects[order].tolist()


def test_where_associations_vary_by_no_more_than_rounding_there_is_no_effect_size() -> None:
    """Also where equal directions come with different lengths, or A and B hold the same vectors in another order: what
    single precision leaves of a difference is no association."""
    sets = made(5, 300, sizes=(3, 2, 3, 3), width=64)
    x, y, a, b = sets
    scale = np.random.default_rng(0).uniform(0.1, 10, 5).astype(np.float32)
    own, picks = x[0]
    equal = [(own * factor, picks) for factor in scale]
    for case in ((x[:1] * 3, x[:1] * 2, a, b), (equal[:3], equal[3:], a, b), (x, y, a, [a[2], a[0], a[1]])):
        found = sample(case)
        assert np.isnan(found.effects).all()
        assert (found.variances < 1e-12).all()
    # A small difference that is in the vectors is still found.
    near = [(own + np.float32(1e-3) * other, picks) for other, _ in (*x, *y) for other in [np.resize(other, own.shape)]]
    case = (near[:3], near[3:], a, b)
    assert not np.isnan(sample(case).effects).any()
    agrees(sample(case), case)


def test_vectors_without_direction_are_refused() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        for bad in (0.0, -0.0, math.nan, math.inf, -math.inf):
            for at in (0, 299):
                sets = made(6, 400, sizes=(1, 1, 2, 1), dtype=dtype)
                vectors, picks = sets[2][1]
                vectors[picks[at]] = 0
                vectors[picks[at], 1] = bad
                with pytest.raises(DataError, match="a contextual vector is zero or not finite"):
                    sample(sets)
    # The largest and the smallest numbers of float16 have one.
    sets = made(6, 3, dtype=np.float16)
    sets[0][0][0][:] = 65504
    sets[2][1][0][:] = np.float16(6e-8)
    agrees(sample(sets), sets)


def test_float16_is_widened_exactly() -> None:
    """Every finite bit pattern: numbers, subnormals and both zeros, in blocks of rows and as a view with gaps."""
    bits = np.arange(65_536, dtype=np.uint32).astype(np.uint16)
    half = bits.view(np.float16)
    half = half[np.isfinite(half)]
    assert len(half) == 65_536 - 2 * 1024
    for given_ in (half.reshape(-1, 64), np.repeat(half, 2).reshape(-1, 64, 2)[..., 0]):
        out = np.full(given_.shape, np.nan, np.float32)
        _widen(given_, out)
        np.testing.assert_array_equal(out.view(np.uint32), given_.astype(np.float32).view(np.uint32))
