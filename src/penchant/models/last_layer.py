"""The last layer of a model, computed only at the positions that are read."""

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
"""Names of linear layers that make the queries and nothing else; they are not run on positions that nobody reads."""

_ATTENTION = "penchant-read-positions"
"""The name under which the function that takes the place of attention is registered."""

_running: ContextVar[_Pass] = ContextVar("_running")


class UnlikeError(LookupError):
    """A model is not built as it would have to be."""


class LastLayer:
    """The last layer of `trunk`, a module that returns hidden states. `config` names the implementation of attention;
    `sample` is one input of the trunk, on which it is run to find the layer. Raises UnlikeError where there is none.

    Every position needs a key and a value, for others attend to it, but the rest only where somebody reads. So the
    layer's own forward pass runs twice. First it gets all states and is stopped where attention begins: keys, values
    and mask are kept. Then it gets the states of the read positions alone, as one row, whose queries meet those keys
    and values. A model that does not look attention up in `AttentionInterface`, such as DeBERTa, computes it for all
    positions, and only what follows is saved. The caller must check that the answers are those of the plain pass.
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
                raise UnlikeError("attention can neither be replaced nor be told from the rest of the layer")

    def states(self, inputs: dict[str, Any], rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Tensor:
        """Return the last states (r, d) at the positions (rows, cols) of the inputs of the trunk. Raises UnlikeError
        where the trunk does other things with these inputs than with the sample."""
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
            raise UnlikeError("the trunk does not hand on what its last layer gives")
        return states[0]


class _Reads:
    """The positions (rows, cols) of one batch, and `slots`: which of the reads of its row each is."""

    def __init__(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> None:
        order = np.argsort(rows, kind="stable")
        counts = np.bincount(rows)
        slots = np.empty_like(rows)
        slots[order] = np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows[order]]
        self._places = tuple(map(torch.from_numpy, (rows, cols, slots)))
        self._on: dict[torch.device, tuple[Tensor, ...]] = {}
        self.most = int(counts.max())

    def on(self, device: torch.device) -> tuple[Tensor, ...]:
        """Return rows, columns and slots, (r,) each, on a device; a model may be spread over several."""
        if device not in self._on:
            self._on[device] = tuple(place.to(device) for place in self._places)
        return self._on[device]

    def of(self, value: Any, shape: torch.Size) -> Any:
        """Return the read positions, as one row, of a value whose first two dimensions are the batch `shape` (or 1 and
        its length); anything else as it is."""
        if isinstance(value, tuple):
            return tuple(self.of(part, shape) for part in value)
        if not isinstance(value, Tensor) or value.dim() < 2 or value.shape[1] != shape[1]:
            return value
        rows, cols, _ = self.on(value.device)
        if value.shape[0] == shape[0]:
            return value[rows, cols][None]
        return value[0, cols][None] if value.shape[0] == 1 else value

    def padded(self, values: Tensor, batch: int) -> Tensor:
        """Return values (r, …) as (batch, most, …), 0 where a row has fewer reads than another."""
        result = values.new_zeros((batch, self.most, *values.shape[1:]))
        rows, _, slots = self.on(values.device)
        result[rows, slots] = values
        return result


class _Pass:
    """One pass through the trunk: functions that take the place of forward methods while it lasts. `turn` is 1 and 2
    while the last layer runs for the first and the second time."""

    def __init__(self, last: LastLayer, reads: _Reads) -> None:
        self.last = last
        self.reads = reads
        self.left = last.calls
        self.plain = last.layer.forward
        self.plain_attention: Any = last.whole_attention.forward if last.whole_attention is not None else None
        self.kept: Any = None
        self.turn = 0

    def layer(self, states: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Run the layer as it is, but at its last call only the read positions, as one row."""
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
                raise UnlikeError("the layer does not ask for attention")
            self.turn = 2
            read, *others = self.reads.of((states, *args), states.shape)
            return self.plain(read, *others, **{k: self.reads.of(v, states.shape) for k, v in kwargs.items()})
        finally:
            self.turn = 0
            config._attn_implementation = before

    def query(self, module: Any) -> Callable[[Tensor], Tensor]:
        """Return the layer that makes queries, but zeros where they are not looked at."""
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
        """Keep keys and values (B, H, L, D) in the first turn; then attention of the queries (1, H, r, D) to them."""
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
        """Keep the read positions of what a module of attention gives, (B, L, d), in the first turn; then give them."""
        if self.turn == 2:
            return self.kept, None
        output = self.plain_attention(states, *args, **kwargs)
        if self.turn == 1:
            self.kept = self.reads.of(output[0], states.shape)
            raise _ReachedError
        return output


class _ReachedError(Exception):
    """The last layer has come to its attention in the first turn; no error is meant."""


def _attention(module: Any, *args: Any, **options: Any) -> tuple[Tensor, None]:
    return _running.get().attention(module, *args, **options)


AttentionInterface.register(_ATTENTION, _attention)


def _last_called(trunk: Any, sample: dict[str, Any]) -> tuple[Any, int]:
    """Return the entry of a list of modules that a pass calls last, not counting those that hold lists themselves, and
    how often it is called. Raises UnlikeError."""
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
        raise UnlikeError("no list of layers")
    return called[-1], called.count(called[-1])


@contextmanager
def replaced(module: Any, forward: Callable[..., Any]) -> Iterator[None]:
    """Have a module run another function in place of its forward method."""
    before = vars(module).get("forward")
    module.forward = forward
    try:
        yield
    finally:
        if before is None:
            del module.forward
        else:
            module.forward = before
