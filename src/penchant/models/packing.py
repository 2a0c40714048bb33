"""Faster matrix products on a CPU, in the same arithmetic.

torch multiplies float32 matrices with the BLAS that it was built with, which on some processors is less than half as
fast as oneDNN, also part of torch, on the same products (measured: 2.3 to 3 times, up to 4 for the vocabulary
projection). So the weights of each linear layer are converted to oneDNN's own layout once, when the model is loaded.
Only the order of additions differs, as between any two BLAS libraries.

The operators are part of torch but not documented; where they are missing or fail, nothing is changed. The caller must
check that the model's answers stayed the same (`Network` does) and then call `release`, or else `undo`. In a packed
layer `weight` is an empty tensor: code that reads it fails in that check instead of computing nonsense.

For every shape of input, torch keeps what it compiled, up to 1,024 shapes in each of two caches. A long stream of
batches keeps bringing new shapes, so both caches fill up with entries that are never used again: about 150 MiB with a
small model, which looks like a leak. The layers of a batch share their shapes, so a cache of 64 is just as useful.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from transformers.pytorch_utils import Conv1D

for _capacity in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
    os.environ.setdefault(_capacity, "64")  # read by torch when the first packed layer runs

FORMATS = (torch.float32, torch.bfloat16)


class Packed:
    """The packed linear layers of one model."""

    def __init__(self, model: Any) -> None:
        self.layers: list[Any] = []
        self._weights: list[torch.nn.Parameter] = []
        if model.device.type != "cpu" or model.dtype not in FORMATS or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
            return
        try:
            for module in model.modules():
                # Exactly these classes: a subclass may compute something else.
                if type(module) in (torch.nn.Linear, Conv1D):
                    module.forward = _packed(module)
                    self.layers.append(module)
                    self._weights.append(module.weight)
                    module.weight = torch.nn.Parameter(module.weight.new_empty(0), requires_grad=False)
        except (RuntimeError, AttributeError):
            self.undo()

    def undo(self) -> None:
        """Restore every layer."""
        for layer, weight in zip(self.layers, self._weights, strict=True):
            del layer.forward
            layer.weight = weight
        self.layers = []

    def release(self) -> None:
        """Free the original weights; the packed ones stay."""
        self._weights = []


def _packed(module: Any) -> Callable[[Tensor], Tensor]:
    weight = module.weight.detach()
    if isinstance(module, Conv1D):
        weight = weight.t().contiguous()
    reordered = torch.ops.mkldnn._reorder_linear_weight(weight, None)
    bias = module.bias

    def forward(states: Tensor) -> Tensor:
        product: Tensor = torch.ops.mkldnn._linear_pointwise(states, reordered, bias, "none", [], "")
        return product

    return forward
