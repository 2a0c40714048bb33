"""The inner loops of training word vectors, compiled by numba, which importing this module brings in.

Compiled code is kept beside this file or in the user's cache directory (numba's rule). Where neither can be written it
is compiled afresh in every process, which takes about two seconds.
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
"""Numbers of single precision in a line of the processor's cache."""
_SOON = 8
"""How many visits ahead the entries of the table of counts are asked for."""

_ROUNDING = {"reassoc", "nsz", "contract"}
"""Sums may be taken in any order and a product added without rounding in between; all else is as IEEE 754 has it."""
_STEP = np.uint64(0x9E3779B97F4A7C15)


def _compiled(signature: str, **options: Any) -> Callable[[F], F]:
    def compile_now(function: F) -> F:
        try:
            return numba.njit(signature, cache=True, **options)(function)  # type: ignore[no-any-return]
        except (RuntimeError, OSError):  # no directory to keep the code in, or no room in it
            return numba.njit(signature, **options)(function)  # type: ignore[no-any-return]

    return compile_now


def _prefetch(context: Any, table: Any, at: Any) -> Any:
    def generate(own: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = own.make_array(signature.args[0])(own, builder, arguments[0]).data
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        call = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), pointer)
        builder.call(call, [place, number(1), number(3), number(1)])  # to be written, soon used again, data
        return own.get_dummy_value()

    return types.none(table, types.intp), generate


prefetch: Any = intrinsic(_prefetch)
"""Ask for the number at a flat position of a contiguous table, without waiting for it; changes no result."""


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
    """Visit entries of the table of counts and take GloVe's step at each; returns the sum of ½ f(x)·difference².

    `order` holds 2e for entry e, and 2e + 1 for the same with word and context exchanged; `pairs[e]` is (word,
    context), `values[e]` (log x, f(x)). Of V words `rows` (2V × width) has the words first, then the contexts: a row
    holds vector and bias, and from its middle on their sums of squares.
    """
    contexts = len(rows) // 2
    width = rows.shape[1]
    sums = width // 2
    last = len(order) - 1
    cost = 0.0
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
    """The random number of a state that goes up by `_STEP` (splitmix64; Steele, Lea and Flood 2014)."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@_compiled("void(int32[:, ::1], uint32[::1], uint64, int64)")
def shuffle(pairs: NDArray[np.int32], order: NDArray[np.uint32], state: np.uint64, bits: int) -> None:
    """Fill `order` with an order of visits for `descend`, each equally likely: 2e and 2e + 1 for each of the `pairs`,
    but 2e alone where both are the same word.

    The visits are dealt out to 2^bits heaps (`bits` at least 1), small enough for the processor's cache, and each heap
    is shuffled (Rao 1961, Sandelius 1962); a shuffle of all at once takes ten times as long.
    """
    heaps = 1 << bits
    low = np.uint64(64 - bits)
    ends = np.zeros(heaps + 1, np.int64)
    begin = state
    for e in range(len(pairs)):
        for _ in range(1 + (pairs[e, 0] != pairs[e, 1])):
            state += _STEP
            ends[(_mixed(state) >> low) + np.uint64(1)] += 1
    for heap in range(heaps):
        ends[heap + 1] += ends[heap]
    free = ends[:heaps].copy()
    state = begin
    for e in range(len(pairs)):
        for mirrored in range(1 + (pairs[e, 0] != pairs[e, 1])):
            state += _STEP
            own_heap = _mixed(state) >> low
            order[free[own_heap]] = 2 * e + mirrored
            free[own_heap] += 1
    for heap in range(heaps):
        own = order[ends[heap] : ends[heap + 1]]
        for left in range(len(own), 1, -1):
            state += _STEP
            drawn = ((_mixed(state) >> np.uint64(32)) * np.uint64(left)) >> np.uint64(32)
            own[left - 1], own[drawn] = own[drawn], own[left - 1]


@_compiled("int64(int64[::1], float64[::1], int64[::1], float64[::1], int64[::1], float64[::1])")
def merge(
    codes: NDArray[np.int64],
    sums: NDArray[np.float64],
    more_codes: NDArray[np.int64],
    more_sums: NDArray[np.float64],
    into_codes: NDArray[np.int64],
    into_sums: NDArray[np.float64],
) -> int:
    """Merge two tables with rising codes into a third, adding the sums of codes that both have; returns its length."""
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
