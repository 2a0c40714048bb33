"""Planning of batches: merging of requests, packing of inputs into batches, and assignment of answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from penchant.engine.forward_requests import Kind, Read
from penchant.models.prefix_trees import Trees, whole
from penchant.models.verified_properties import Batching


@dataclass(slots=True)
class Input:
    """A distinct input with requests of one `Kind`; `slots` maps each (position, token) to its index in the answer."""

    kind: Kind
    ids: tuple[int, ...]
    slots: dict[tuple[int, int], int] = field(default_factory=dict)
    weight: float = 0.0
    answer: NDArray[np.generic] | None = None

    @property
    def wants(self) -> list[tuple[int, int]]:
        """The requested (position, token) pairs, in slot order."""
        return list(self.slots)


@dataclass(frozen=True, slots=True)
class MergedReads:
    """The distinct inputs of a sequence of requests, with the input (`owner`) and answer slots of each request."""

    inputs: list[Input]
    owner: list[Input]
    slots: list[list[int]]

    def restore(self) -> Iterator[NDArray[np.generic]]:
        """Yield the answer to each request, in the order of the requests.

        The requested values are on the last axis of an attention answer, and on the first axis of any other answer.
        """
        for source, slots in zip(self.owner, self.slots, strict=True):
            assert source.answer is not None
            yield source.answer[:, slots] if source.kind[0] == "attention" else source.answer[slots]


def merge(reads: Iterable[Read]) -> MergedReads:
    """Merge all requests for the same input into one, in which each (position, token) pair occurs once."""
    inputs: dict[tuple[Kind, tuple[int, ...]], Input] = {}
    owner: list[Input] = []
    slots: list[list[int]] = []
    for read in reads:
        key = (read.kind, read.ids)
        source = inputs.get(key)
        if source is None:
            source = inputs[key] = Input(*key)
        known = source.slots
        slots.append([known.setdefault(want, len(known)) for want in zip(read.at, read.tokens, strict=True)])
        owner.append(source)
        source.weight += read.weight
    return MergedReads(list(inputs.values()), owner, slots)


@dataclass(frozen=True, slots=True)
class Batch:
    """The inputs and outputs of one forward pass.

    `tokens`, of shape (B, L), are the inputs, padded on the right with 0; `lengths` are the numbers of tokens in the B
    rows. `trees` is None for ordinary rows; for rows that are prefix trees it contains the depths and ends of their
    nodes. `rows` and `cols` are the row and column of each distinct requested position. Requested value w is the
    output for token `targets[w]` at the position with index `outputs[w]` in `rows` and `cols` (non-decreasing in w); it
    fills slot `want_slot[w]` of input `want_input[w]`.
    """

    kind: Kind
    inputs: Sequence[Input]
    tokens: NDArray[np.int64]
    lengths: NDArray[np.int64]
    trees: Trees | None
    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    outputs: NDArray[np.int64]
    targets: NDArray[np.int64]
    want_input: NDArray[np.int64]
    want_slot: NDArray[np.int64]

    def deliver(self, values: NDArray[np.generic]) -> None:
        """Set the inputs' answers from the batch's `values`, in the layout that `InTurn.run` returns."""
        last = self.kind[0] == "attention"
        order = np.lexsort((self.want_slot, self.want_input))
        ends = np.cumsum(np.bincount(self.want_input, minlength=len(self.inputs)))
        begin = 0
        for source, end in zip(self.inputs, ends, strict=True):
            chosen = order[begin:end]
            source.answer = values[:, chosen] if last else values[chosen]
            begin = int(end)


def halves(batch: Batch) -> tuple[Batch, Batch]:
    """Return the first and the second half of a batch's rows as two batches with empty `inputs`.

    The batch must have at least two rows. The concatenated answers of the halves are the answers of the batch.
    """
    middle = len(batch.tokens) // 2
    cut = int(np.searchsorted(batch.rows, middle))
    wants = int(np.searchsorted(batch.outputs, cut))
    parts = []
    for rows, places, wanted in (
        (slice(0, middle), slice(0, cut), slice(0, wants)),
        (slice(middle, None), slice(cut, None), slice(wants, None)),
    ):
        width = int(batch.lengths[rows].max())
        parts.append(
            replace(
                batch,
                inputs=(),
                tokens=batch.tokens[rows, :width],
                lengths=batch.lengths[rows],
                trees=batch.trees and batch.trees.part(rows, width),
                rows=batch.rows[places] - rows.start,
                cols=batch.cols[places],
                outputs=batch.outputs[wanted] - places.start,
                targets=batch.targets[wanted],
                want_input=batch.want_input[wanted],
                want_slot=batch.want_slot[wanted],
            )
        )
    first, second = parts
    return first, second


def length_batches(inputs: Sequence[Input], budget: int, batching: Batching = "padded") -> Iterator[Batch]:
    """Yield batches of inputs of similar length, longest first, with at most `budget` tokens including padding.

    An input longer than `budget` gets a batch of its own. `batching` may require inputs of equal length, or one input
    per batch.
    """
    by_kind: dict[Kind, list[Input]] = {}
    for source in inputs:
        by_kind.setdefault(source.kind, []).append(source)
    for chosen in by_kind.values():
        chosen.sort(key=lambda source: (-len(source.ids), source.ids))
        start = 0
        while start < len(chosen):
            size = 1 if batching == "single" else max(1, budget // len(chosen[start].ids))
            rows = chosen[start : start + size]
            if batching == "equal-length":
                rows = [source for source in rows if len(source.ids) == len(rows[0].ids)]
            yield _batch([_plain_row(source) for source in rows], tree=False)
            start += len(rows)


def tree_batches(inputs: Sequence[Input], budget: int, row_size: int) -> Iterator[Batch]:
    """Yield batches whose rows are prefix trees, in which inputs share the nodes of their common prefixes.

    The answers are exact for a causal model if each node's position id is its depth and a node attends only to itself
    and its ancestors. A row contains up to `row_size` nodes, or one longer input; a batch contains up to `budget`
    nodes, including padding.
    """
    by_kind: dict[Kind, list[Input]] = {}
    for source in inputs:
        by_kind.setdefault(source.kind, []).append(source)
    for chosen in by_kind.values():
        chosen.sort(key=lambda source: source.ids)
        rows = list(_tree_rows(chosen, row_size))
        rows.sort(key=lambda row: -len(row.tokens))
        start = 0
        while start < len(rows):
            size = max(1, budget // len(rows[start].tokens))
            yield _batch(rows[start : start + size], tree=True)
            start += size


@dataclass(slots=True)
class _Row:
    """A row of a batch under construction: its nodes and, for each input, the index of each token's node."""

    tokens: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    placed: list[tuple[Input, list[int] | range]] = field(default_factory=list)


def _plain_row(source: Input) -> _Row:
    return _Row(list(source.ids), placed=[(source, range(len(source.ids)))])


def _tree_rows(inputs: Iterable[Input], row_size: int) -> Iterator[_Row]:
    """Yield rows of prefix trees; `inputs` must be sorted by ids, so that neighbours have long common prefixes."""
    row = _Row()
    path: list[int] = []
    before: tuple[int, ...] = ()
    for source in inputs:
        ids = source.ids
        shared = _common_prefix(before, ids)
        if row.tokens and len(row.tokens) + len(ids) - shared > row_size:
            yield _ended(row, path)
            row, path, shared = _Row(), [], 0
        _ended(row, path[shared:])
        path = [*path[:shared], *range(len(row.tokens), len(row.tokens) + len(ids) - shared)]
        row.tokens += ids[shared:]
        row.depths += range(shared, len(ids))
        row.ends += [0] * (len(ids) - shared)
        row.placed.append((source, path))
        before = ids
    if row.tokens:
        yield _ended(row, path)


def _ended(row: _Row, nodes: Iterable[int]) -> _Row:
    for node in nodes:
        row.ends[node] = len(row.tokens)
    return row


def _common_prefix(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    for count, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right:
            return count
    return min(len(a), len(b))


def _batch(rows: Sequence[_Row], *, tree: bool) -> Batch:
    width = max(len(row.tokens) for row in rows)
    tokens = np.zeros((len(rows), width), dtype=np.int64)
    inputs: list[Input] = []
    wants: list[tuple[int, int, int, int, int]] = []  # row, column, token, input, slot
    for r, row in enumerate(rows):
        tokens[r, : len(row.tokens)] = row.tokens
        for source, nodes in row.placed:
            i = len(inputs)
            inputs.append(source)
            wants.extend((r, nodes[at], token, i, slot) for (at, token), slot in source.slots.items())
    wants.sort()
    columns = np.array(wants, dtype=np.int64)
    new = np.ones(len(columns), dtype=bool)
    new[1:] = (columns[1:, :2] != columns[:-1, :2]).any(axis=1)
    return Batch(
        kind=inputs[0].kind,
        inputs=inputs,
        tokens=tokens,
        lengths=np.array([len(row.tokens) for row in rows], dtype=np.int64),
        trees=whole([row.depths for row in rows], [row.ends for row in rows]) if tree else None,
        rows=columns[new, 0],
        cols=columns[new, 1],
        outputs=np.cumsum(new) - 1,
        targets=columns[:, 2],
        want_input=columns[:, 3],
        want_slot=columns[:, 4],
    )
