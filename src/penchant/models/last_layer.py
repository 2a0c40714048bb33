"""Computation of a model's last layer at requested positions only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS, AttentionInterface

QUERIES = ("query", "q_lin", "q_proj")
"""Names of the linear layers that compute queries only; they are computed at requested positions only."""

_ATTENTION = "penchant-read-positions"
"""Name under which the replacement for the attention function is registered."""

_running: ContextVar[_Pass] = ContextVar("_running")


class UnlikeError(LookupError):
    """Raised if a shortcut does not support the architecture of a model."""


class LastLayer:
    """The last layer of `trunk`, a module that returns hidden states.

    `config` names the implementation of attention; `sample` is an input on which the trunk is run to find the last
    layer. Raises UnlikeError if no suitable layer is found.

    Every position needs a key and a value, since other positions attend to it; the rest of the layer is needed only at
    the requested positions. The layer's forward method is therefore run twice. The first run gets all states and is
    stopped when attention begins; its keys, values and mask are kept. The second run gets only the states at the
    requested positions, as one row, whose queries attend to the kept keys and values. In a model that does not look up
    attention in `AttentionInterface`, such as DeBERTa, attention is computed at all positions, and only the later steps
    are restricted. The caller must check that the resulting states equal the states of the unmodified forward pass.
    """

    def __init__(self, trunk: Any, config: Any, sample: dict[str, Any]) -> None:
        self.trunk = trunk
        self.config = config
        self.layer, self.calls = _last_called(trunk, sample)
        self.attention: Any = ALL_ATTENTION_FUNCTIONS.get(config._attn_implementation)
        self.queries: list[Any] = []
        self.whole_attention: Any = None
        if self.attention is not None:
            self.queries = [m for name, m in self.layer.named_modules() if name.rpartition(".")[2] in QUERIES]
        else:
            self.whole_attention = getattr(getattr(self.layer, "attention", None), "self", None)
            if self.whole_attention is None:
                raise UnlikeError("the attention function can be neither replaced nor separated from the layer")

    def states(self, inputs: dict[str, Any], rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Tensor:
        """Return the last layer's states (r, d) at the positions (rows, cols) of the trunk's inputs.

        Raises UnlikeError if the trunk processes these inputs differently from the sample.
        """
        with ExitStack() as stack:
            running = _Pass(self, _Reads(rows, cols))
            stack.callback(_running.reset, _running.set(running))
            stack.enter_context(replaced(self.layer, running.layer))
            for query in self.queries:
                stack.enter_context(replaced(query, running.query(query)))
            if self.whole_attention is not None:
                stack.enter_context(replaced(self.whole_attention, running.whole_attention))
            states: Tensor = self.trunk(**inputs).last_hidden_state
        if states.shape[:2] != (1, len(rows)):
            raise UnlikeError("the trunk does not return the states of its last layer")
        return states[0]


class _Reads:
    """The requested positions (rows, cols) of one batch; `slots` number the positions of each row from 0."""

    def __init__(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> None:
        order = np.argsort(rows, kind="stable")
        counts = np.bincount(rows)
        slots = np.empty_like(rows)
        slots[order] = np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows[order]]
        self._places = tuple(map(torch.from_numpy, (rows, cols, slots)))
        self._on: dict[torch.device, tuple[Tensor, ...]] = {}
        self.most = int(counts.max())

    def on(self, device: torch.device) -> tuple[Tensor, ...]:
        if device not in self._on:
            self._on[device] = tuple(place.to(device) for place in self._places)
        return self._on[device]

    def of(self, value: Any, shape: torch.Size) -> Any:
        """Return a tensor's values at the requested positions, as one row.

        The sizes of the tensor's first two axes must be the batch's `shape`, or (1, length). A tuple is processed
        element by element; any other value is returned unchanged.
        """
        if isinstance(value, tuple):
            return tuple(self.of(part, shape) for part in value)
        if not isinstance(value, Tensor) or value.dim() < 2 or value.shape[1] != shape[1]:
            return value
        rows, cols, _ = self.on(value.device)
        if value.shape[0] == shape[0]:
            return value[rows, cols][None]
        return value[0, cols][None] if value.shape[0] == 1 else value

    def padded(self, values: Tensor, batch: int) -> Tensor:
        """Return values (r, …) as (batch, most, …), zero-padded; `most` is the maximum number of positions per row."""
        result = values.new_zeros((batch, self.most, *values.shape[1:]))
        rows, _, slots = self.on(values.device)
        result[rows, slots] = values
        return result


class _Pass:
    """One forward pass through the trunk, with the functions that replace forward methods during the pass.

    `turn` is 1 during the first run of the last layer, 2 during the second run, and 0 otherwise.
    """

    def __init__(self, last: LastLayer, reads: _Reads) -> None:
        self.last = last
        self.reads = reads
        self.left = last.calls
        self.plain = last.layer.forward
        self.plain_attention: Any = last.whole_attention.forward if last.whole_attention is not None else None
        self.kept: Any = None
        self.turn = 0

    def layer(self, states: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Run the layer's forward method; in the last call of the pass, only at the requested positions, as one row."""
        self.left -= 1
        if self.left:
            return self.plain(states, *args, **kwargs)
        config = self.last.config
        before = config._attn_implementation
        if self.last.attention is not None:
            config._attn_implementation = _ATTENTION
        try:
            self.turn = 1
            with suppress(_ReachedError):
                self.plain(states, *args, **kwargs)
            if self.kept is None:
                raise UnlikeError("the layer does not call the attention function")
            self.turn = 2
            read, *others = self.reads.of((states, *args), states.shape)
            return self.plain(read, *others, **{k: self.reads.of(v, states.shape) for k, v in kwargs.items()})
        finally:
            self.turn = 0
            config._attn_implementation = before

    def query(self, module: Any) -> Callable[[Tensor], Tensor]:
        plain = module.forward

        def forward(states: Tensor) -> Tensor:
            if self.turn == 1:
                return states.new_zeros((*states.shape[:-1], module.out_features))
            queries: Tensor = plain(states)
            return queries

        return forward

    def attention(
        self, module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **options: Any
    ) -> tuple[Tensor, None]:
        """Store keys, values (B, H, L, D) and mask in the layer's first run; return the attention output in the second.

        In the second run the queries (1, H, r, D) of the requested positions attend to the stored keys and values.
        """
        if self.turn == 1:
            self.kept = key, value, mask
            raise _ReachedError
        key, value, mask = self.kept
        batch, _, length, _ = key.shape
        queries = self.reads.padded(query[0].transpose(0, 1), batch).transpose(1, 2)
        if mask is not None:
            whole = mask.expand(batch, -1, length, length).transpose(1, 2)
            rows, cols, _ = self.reads.on(mask.device)
            mask = self.reads.padded(whole[rows, cols], batch).transpose(1, 2)
        output = self.last.attention(module, queries, key, value, mask, **options)[0]
        rows, _, slots = self.reads.on(output.device)
        return output[rows, slots][None], None

    def whole_attention(self, states: Tensor, *args: Any, **kwargs: Any) -> Any:
        if self.turn == 2:
            return self.kept, None
        output = self.plain_attention(states, *args, **kwargs)
        if self.turn == 1:
            self.kept = self.reads.of(output[0], states.shape)
            raise _ReachedError
        return output


class _ReachedError(Exception):
    """Raised inside the last layer's attention to stop the first of the layer's two runs (see `LastLayer`)."""


def _attention(module: Any, *args: Any, **options: Any) -> tuple[Tensor, None]:
    return _running.get().attention(module, *args, **options)


AttentionInterface.register(_ATTENTION, _attention)


def _last_called(trunk: Any, sample: dict[str, Any]) -> tuple[Any, int]:
    """Return the module in a ModuleList that a forward pass calls last, and the number of calls to it.

    Modules that themselves contain a ModuleList are not considered. Raises UnlikeError if there is no such module.
    """
    lists = [module for module in trunk.modules() if isinstance(module, torch.nn.ModuleList)]
    called: list[Any] = []
    hooks = [
        entry.register_forward_pre_hook(lambda module, _: called.append(module))
        for entry in {entry for entries in lists for entry in entries}
        if not any(isinstance(part, torch.nn.ModuleList) for part in entry.modules())
    ]
    try:
        trunk(**sample)
    finally:
        for hook in hooks:
            hook.remove()
    if not called:
        raise UnlikeError("the model calls no layer in a ModuleList")
    return called[-1], called.count(called[-1])


@contextmanager
def replaced(module: Any, forward: Callable[..., Any]) -> Iterator[None]:
    """Return a context in which a module's forward method is replaced by `forward`."""
    before = vars(module).get("forward")
    module.forward = forward
    try:
        yield
    finally:
        if before is None:
            del module.forward
        else:
            module.forward = before
