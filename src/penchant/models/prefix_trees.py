"""Prefix trees in the rows of a batch, with the position ids and attention mask that a causal model needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch


class Trees(NamedTuple):
    """Prefix trees of tokens, one per row of a batch: the `depths` of the nodes and the `ends` of their subtrees.

    Both arrays have shape (B, L). A node's depth is its position id. A node is visible to the nodes in the columns from
    its own to its end, exclusive. Padding has depth 0 and is visible to itself only.
    """

    depths: NDArray[np.int64]
    ends: NDArray[np.int64]

    def part(self, rows: slice, width: int) -> Trees:
        """Return the trees in a slice of rows, truncated to `width` columns."""
        return Trees(self.depths[rows, :width], self.ends[rows, :width])

    def seen(self, device: torch.device) -> torch.Tensor:
        """Return the Boolean attention mask (B, queries, keys) on a device."""
        import torch

        ends = torch.from_numpy(self.ends).to(device)
        node = torch.arange(ends.shape[1], device=device)
        return (node <= node[:, None]) & (node[:, None] < ends[:, None])


def whole(depths: list[list[int]], ends: list[list[int]]) -> Trees:
    """Return trees from lists of depths and ends, one list per row, padded to the longest row."""
    shape = len(depths), max(map(len, depths))
    columns = np.arange(shape[1], dtype=np.int64)
    trees = Trees(np.zeros(shape, dtype=np.int64), np.tile(columns + 1, (shape[0], 1)))
    for r, (deep, end) in enumerate(zip(depths, ends, strict=True)):
        trees.depths[r, : len(deep)] = deep
        trees.ends[r, : len(end)] = end
    return trees
