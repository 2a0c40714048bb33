"""Cards that do not exist: tensors that compute on the CPU, say that they lie on a card, and refuse to meet another's.

As on real cards, an operation on tensors of two of them is an error, but for numbers without dimensions and for
indices, which may come from the CPU. Inside `Cards()`, tensors go to a card by `.to("cuda:1")` or `device="cuda:1"`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map

_CPU = torch.device("cpu")
_INDEXED = (torch.Tensor.__getitem__, torch.Tensor.__setitem__)


def place_of(tensor: torch.Tensor) -> torch.device:
    """Return the device that a tensor claims to be on."""
    place: torch.device = getattr(tensor, "_place", _CPU)
    return place


def placed(tensor: torch.Tensor, place: torch.device) -> torch.Tensor:
    """The tensor, said to lie there; a new one, if it lies elsewhere."""
    if place_of(tensor) != place:
        moved = tensor.detach().clone()
        tensor = torch.nn.Parameter(moved, requires_grad=False) if isinstance(tensor, torch.nn.Parameter) else moved
        tensor._place = place  # type: ignore[attr-defined]
    return tensor


class Cards(TorchFunctionMode):
    """While it lasts, every call of torch is looked at. Raises RuntimeError where tensors of two places meet."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name == "__get__" and getattr(func, "__self__", None) is torch.Tensor.device:
            return place_of(args[0])
        if name == "to":
            return self._to(func, args, kwargs)
        if name in ("cpu", "numpy", "__get__", "__set__", "requires_grad_", "item", "tolist", "__repr__"):
            result = func(*args, **kwargs)
            return placed(result, _CPU) if name == "cpu" else result
        asked = kwargs.pop("device", None)
        here = self._meeting(func, args, kwargs)
        place = here if asked is None else torch.device(asked)
        result = func(*args, **kwargs)
        return tree_map(lambda x: self._marked(x, place), result)

    @staticmethod
    def _to(func: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
        asked = [x for x in (*args[1:], kwargs.get("device")) if isinstance(x, torch.device | str)]
        types = [x for x in (*args[1:], kwargs.get("dtype")) if isinstance(x, torch.dtype)]
        other = [place_of(x) for x in args[1:] if isinstance(x, torch.Tensor)]
        place = torch.device(asked[0]) if asked else other[0] if other else place_of(args[0])
        result: torch.Tensor = func(args[0], types[0]) if types else args[0]
        return placed(result, place)

    @staticmethod
    def _marked(value: Any, place: torch.device) -> Any:
        if isinstance(value, torch.Tensor):
            value._place = place  # type: ignore[attr-defined]
        return value

    @staticmethod
    def _meeting(func: Any, args: Any, kwargs: dict[str, Any]) -> torch.device:
        given: Iterable[Any] = tree_flatten((args, kwargs))[0]
        tensors = [x for x in given if isinstance(x, torch.Tensor)]
        places = [place_of(x) for x in tensors if x.dim()] or [place_of(x) for x in tensors] or [_CPU]
        if func in _INDEXED:
            places = [places[0], *(place for place in places[1:] if place != _CPU)]
        if len(set(places)) > 1:
            raise RuntimeError(
                f"{getattr(func, '__name__', func)}: tensors on {', '.join(sorted(map(str, set(places))))}"
            )
        return places[0]
