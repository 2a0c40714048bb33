"""Inner loops of word-vector training, compiled with numba.

Compiled code is cached beside this file or in the user's cache directory, as determined by numba. If neither is
writable, every process compiles the code again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

_LINE = 16
"""Number of single-precision numbers in a cache line."""
_SOON = 8
"""Number of updates by which entries of the table of counts are prefetched in advance."""

_ROUNDING = {"reassoc", "nsz", "contract"}
"""Fast-math flags: sums may be reordered and multiplications and additions fused; all else follows IEEE 754."""
_STEP = np.uint64(0x9E3779B97F4A7C15)


def _compiled(signature: str, **options: Any) -> Callable[[F], F]:
    def compile_now(function: F) -> F:
        try:
            return numba.njit(signature, cache=True, **options)(function)  # type: ignore[no-any-return]
        except (RuntimeError, OSError):  # no writable cache directory, or no space in it
            return numba.njit(signature, **options)(function)  # type: ignore[no-any-return]

    return compile_now


def _prefetch(context: Any, table: Any, at: Any) -> Any:
    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = target.make_array(signature.args[0])(target, builder, arguments[0]).data
        pointer, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [pointer, integer, integer, integer])
        call = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), function_type)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), pointer)
        builder.call(call, [place, integer(1), integer(3), integer(1)])  # for writing, high locality, data cache
        return target.get_dummy_value()

    return types.none(table, types.intp), generate


prefetch: Any = intrinsic(_prefetch)
"""Prefetch the number at a flat index of a contiguous table into the cache; results are not affected."""


@_compiled(
    "float64(uint32[::1], int32[:, ::1], float32[:, ::1], float32[:, ::1], int64, float32)",
    fastmath=True,
    error_model="numpy",
)
def descend(
    order: NDArray[np.uint32],
    pairs: NDArray[np.int32],
    values: NDArray[np.float32],
    rows: NDArray[np.float32],
    size: int,
    rate: np.float32,
) -> float:
    """Make an AdaGrad update for each element of `order` in turn, and return the sum of the losses.

    `order` has 2e for entry e, or 2e + 1 for e with word and context exchanged. `pairs[e]` is (word, context) and
    `values[e]` is (log x, f(x)). `rows`: vector, bias and their squared gradients, for all words, then all contexts.
    """
    contexts, width, last = len(rows) // 2, rows.shape[1], len(order) - 1
    sums, cost = width // 2, 0.0
    for visit in range(len(order)):
        far = order[min(visit + _SOON, last)] >> 1
        prefetch(pairs, 2 * far)
        prefetch(values, 2 * far)
        near = order[min(visit + 1, last)]
        side = near & 1
        ahead = pairs[near >> 1, side] * width
        across = (contexts + pairs[near >> 1, 1 - side]) * width
        for k in range(0, width, _LINE):
            prefetch(rows, ahead + k)
            prefetch(rows, across + k)
        entry = order[visit] >> 1
        side = order[visit] & 1
        v = rows[pairs[entry, side]]
        u = rows[contexts + pairs[entry, 1 - side]]
        v_sums = v[sums:]
        u_sums = u[sums:]
        difference = v[size] + u[size] - values[entry, 0]
        for k in range(size):
            difference += v[k] * u[k]
        step = values[entry, 1] * difference
        cost += 0.5 * step * difference
        step *= rate
        for k in range(size):
            of_v = step * u[k]
            of_u = step * v[k]
            v[k] -= of_v / np.sqrt(v_sums[k])
            u[k] -= of_u / np.sqrt(u_sums[k])
            v_sums[k] += of_v * of_v
            u_sums[k] += of_u * of_u
        v[size] -= step / np.sqrt(v_sums[size])
        u[size] -= step / np.sqrt(u_sums[size])
        v_sums[size] += step * step
        u_sums[size] += step * step
    return cost


@_compiled("uint64(uint64)")
def _mixed(state: Any) -> Any:
    """Return the random number for a splitmix64 state (Steele et al. 2014); the caller advances it by `_STEP`."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@_compiled("void(int32[:, ::1], uint32[::1], uint64, int64)")
def shuffle(pairs: NDArray[np.int32], order: NDArray[np.uint32], state: np.uint64, bits: int) -> None:
    """Fill `order` with a uniformly random order of updates for `descend`.

    The updates are 2e and 2e + 1 for pair e of distinct words, or only 2e for a pair of equal words. They are
    distributed randomly over 2^bits heaps (`bits` is at least 1) that fit in the processor's cache, and each heap is
    shuffled (Rao 1961, Sandelius 1962).
    """
    heaps = 1 << bits
    shift = np.uint64(64 - bits)
    ends = np.zeros(heaps + 1, np.int64)
    first_state = state
    for e in range(len(pairs)):
        for _ in range(1 + (pairs[e, 0] != pairs[e, 1])):
            state += _STEP
            ends[(_mixed(state) >> shift) + np.uint64(1)] += 1
    for heap in range(heaps):
        ends[heap + 1] += ends[heap]
    free = ends[:heaps].copy()
    state = first_state
    for e in range(len(pairs)):
        for mirrored in range(1 + (pairs[e, 0] != pairs[e, 1])):
            state += _STEP
            chosen = _mixed(state) >> shift
            order[free[chosen]] = 2 * e + mirrored
            free[chosen] += 1
    for heap in range(heaps):
        visits = order[ends[heap] : ends[heap + 1]]
        for left in range(len(visits), 1, -1):
            state += _STEP
            drawn = ((_mixed(state) >> np.uint64(32)) * np.uint64(left)) >> np.uint64(32)
            visits[left - 1], visits[drawn] = visits[drawn], visits[left - 1]


@_compiled("int64(int64[::1], float64[::1], int64[::1], float64[::1], int64[::1], float64[::1])")
def merge(
    codes: NDArray[np.int64],
    sums: NDArray[np.float64],
    more_codes: NDArray[np.int64],
    more_sums: NDArray[np.float64],
    into_codes: NDArray[np.int64],
    into_sums: NDArray[np.float64],
) -> int:
    """Merge two tables, each sorted by code, into a third, and return its length; sums of equal codes are added."""
    i = j = at = 0
    while i < len(codes) or j < len(more_codes):
        if j == len(more_codes) or (i < len(codes) and codes[i] < more_codes[j]):
            code, value = codes[i], sums[i]
            i += 1
        elif i == len(codes) or more_codes[j] < codes[i]:
            code, value = more_codes[j], more_sums[j]
            j += 1
        else:
            code, value = codes[i], sums[i] + more_sums[j]
            i += 1
            j += 1
        into_codes[at], into_sums[at] = code, value
        at += 1
    return at
