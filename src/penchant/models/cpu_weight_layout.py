"""Faster matrix products on a CPU, with unchanged arithmetic, by storing weights in oneDNN's own layout."""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor
from transformers.pytorch_utils import Conv1D

# By default torch caches compiled code for up to 1,024 shapes of input in each of two caches, 150 MiB in all.
for _capacity in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
    os.environ.setdefault(_capacity, "64")  # read by torch when the first packed layer runs

FORMATS = (torch.float32, torch.bfloat16, torch.float16)
WIDE = 1 << 13
"""Minimum number of outputs of a layer, such as a vocabulary head, that is packed on a processor without AVX-512.

For smaller layers, torch's own BLAS is as fast on such a processor, and closer to the exact product.
"""
_WIDENED = 1 << 22
"""Maximum number of 16-bit weights converted to float32 at once (16 MiB of float32)."""


class PackedLayers:
    """The packed linear layers of one model; no layer is packed if torch lacks oneDNN or torch's own BLAS is faster.

    On processors without instructions for a 16-bit format, each product is computed in float32 and rounded once. The
    torch operators are undocumented: if they are missing or fail, nothing is changed. The caller must check that the
    model's outputs are unchanged, and call `undo` if they are not. A packed layer's `weight` is an empty tensor, so
    that the weights are never in memory twice and code that reads `weight` fails.
    """

    def __init__(self, model: Any) -> None:
        self.layers: list[Any] = []
        self._weights: list[Tensor] = []
        if not _all_here(model) or model.dtype not in FORMATS or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
            return
        uses = Counter(id(weight) for module in model.modules() for weight in module._parameters.values())
        least = WIDE if torch.backends.cpu.get_cpu_capability() == "AVX2" else 0
        try:
            widens = _widens(model.dtype)
            if model.dtype == torch.float16 and not widens:
                return  # torch already uses the processor's float16 instructions
            for module in model.modules():
                # Exactly these classes: subclasses of the layer or of its weights may compute something else.
                if type(module) not in (torch.nn.Linear, Conv1D) or type(module.weight) is not torch.nn.Parameter:
                    continue
                if widens:
                    self._widen(module)
                elif len(_plain(module)) >= least:
                    self._pack(module, tied=uses[id(module.weight)] > 1)
        except (RuntimeError, AttributeError):
            self.undo()
        give_back()

    def _pack(self, module: Any, *, tied: bool) -> None:
        reordered = torch.ops.mkldnn._reorder_linear_weight(_plain(module).contiguous(), None)
        self._weights.append(module.weight if tied else reordered)
        self.layers.append(module)
        module.forward = _packed(reordered, module.bias)
        module.weight = torch.nn.Parameter(module.weight.new_empty(0), requires_grad=False)

    def _widen(self, module: Any) -> None:
        self._weights.append(module.weight)
        self.layers.append(module)
        module.forward = _widened(_plain(module), module.bias)

    def undo(self) -> None:
        """Restore the weights of every packed layer, including the tying of tied weights."""
        for layer, weight in zip(self.layers, self._weights, strict=True):
            del layer.forward
            if weight.is_mkldnn:
                dense = weight.to_dense(layer.weight.dtype)
                weight = torch.nn.Parameter(dense.t().contiguous() if isinstance(layer, Conv1D) else dense)
            layer.weight = weight
        self.layers, self._weights = [], []


def _all_here(model: Any) -> bool:
    """Return whether all weights are in CPU memory, and no layer is run on another device."""
    places = {parameter.device.type for parameter in model.parameters()}
    return places == {"cpu"} and not any(hasattr(module, "_hf_hook") for module in model.modules())


def give_back() -> None:
    """Return freed memory, which glibc would otherwise retain, to the system."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _plain(module: Any) -> Tensor:
    """Return the weights (out, in) of an `nn.Linear` or `Conv1D` layer."""
    weight: Tensor = module.weight.detach()
    return weight.t() if isinstance(module, Conv1D) else weight


def _widens(dtype: torch.dtype) -> bool:
    """Return whether products in a number format are computed in float32 because the CPU lacks instructions for it."""
    if dtype == torch.float32:
        return False
    known = "bf16" if dtype == torch.bfloat16 else "fp16"
    return not getattr(torch.ops.mkldnn, f"_is_mkldnn_{known}_supported")()


def _packed(reordered: Tensor, bias: Tensor | None) -> Callable[[Tensor], Tensor]:
    def forward(states: Tensor) -> Tensor:
        product: Tensor = torch.ops.mkldnn._linear_pointwise(states, reordered, bias, "none", [], "")
        return product

    return forward


def _widened(weight: Tensor, bias: Tensor | None) -> Callable[[Tensor], Tensor]:
    """Return a forward method that computes a linear layer with 16-bit weights (out, in) in float32, block by block."""
    step = max(1, _WIDENED // weight.shape[1])

    def forward(states: Tensor) -> Tensor:
        wide = states.float()
        product = states.new_empty((*states.shape[:-1], len(weight)))
        for start in range(0, len(weight), step):
            part = slice(start, start + step)
            added = None if bias is None else bias[part].float()
            product[..., part] = torch.nn.functional.linear(wide, weight[part].float(), added)
        return product

    return forward
