"""A torch model that returns logits, hidden vectors and attention weights."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

from penchant.models import shortcut_switch
from penchant.models.batch_dependence import Trial, equal, sample_tokens
from penchant.models.cpu_weight_layout import PackedLayers, give_back
from penchant.models.device_map import first_device, in_words
from penchant.models.last_layer import LastLayer, UnlikeError, replaced
from penchant.models.prefix_trees import Trees, whole
from penchant.models.verified_properties import Batching, Proofs

FEW = 0.5
"""Maximum fraction of requested positions in a batch for which the last layer is computed at these positions only."""

LOGIT_BLOCK = 3 << 21
"""Maximum number of logits in memory at once on a CPU (24 MiB of float32); 16 times as many on other devices.

glibc requests memory from the system for every array of 32 MiB or more, and slightly smaller arrays fragment its heap
(bench/README.md).
"""
KEPT = 1 << 28
"""Number of logits computed on a CPU before freed memory is returned to the system (1 GiB of float32)."""

KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Attention kernels used on a GPU: all but cuDNN's, which prepares for each new batch shape (bench/README.md)."""

_MISFITS = (TypeError, ValueError, RuntimeError, AttributeError, LookupError)
"""Exceptions that a shortcut may raise on an unsupported architecture."""


class Network:
    """A torch model in evaluation mode, with methods that return logits, hidden vectors and attention.

    `scores` is true if the model has a trained vocabulary head, `causal` if it predicts the next token. `proofs`
    records which shortcuts reproduce the plain forward pass and which rows may share a batch. If the argument `known`
    is not None, it is used as `proofs`; otherwise the model is run to determine them. `parameters` is the number of
    weights; shared weights are counted once.

    Few positions need the vocabulary projection. Therefore the trunk (the model without its head) is run on complete
    rows, and its states at the requested positions are gathered. The complete model is then run with its trunk's
    forward method replaced by a function that returns the gathered states, so that head, scaling and soft caps are
    unchanged. If few positions are requested, the trunk's last layer is also computed at these positions only.
    """

    def __init__(self, model: Any, *, scores: bool, causal: bool, known: Proofs | None = None) -> None:
        self.model = model.eval()
        self.trunk = model.base_model
        self.device: torch.device = first_device(model)
        self.dtype: torch.dtype = model.dtype
        self.config = model.config
        self.parameters = sum(weight.numel() for weight in model.parameters())  # before weights are packed
        self._logits_made = 0
        self._last: LastLayer | None = None
        self.proofs = Proofs()
        self.proofs = self._proved(scores, causal) if known is None else self._taken(known)

    def _taken(self, known: Proofs) -> Proofs:
        if known.packed:
            PackedLayers(self.model)
        if known.shortens:
            self._last = LastLayer(self.trunk, self.config, self.inputs(*self._sample(3)))
        return known

    def _proved(self, scores: bool, causal: bool) -> Proofs:
        plain = not shortcut_switch.allowed()
        packed = not plain and self._pack(scores)
        trial = Trial(self, scores)
        done = Proofs(
            packed=packed,
            batching=trial.batching(),
            layers=trial.layers,
            vocabulary=trial.vocabulary,
            looks_ahead=causal and trial.looks_ahead(),
        )
        if plain or not scores:
            return done
        self.proofs = done
        done = replace(done, gathers=self.trunk is not self.model and self._check_gathers())
        self.proofs = done
        if done.gathers and not causal:
            self._last = self._checked_last()
        packs = causal and done.batching == "padded" and not done.looks_ahead and self._check_packs()
        return replace(done, shortens=self._last is not None, packs=packs)

    @property
    def gathers(self) -> bool:
        """True if the head is applied to the states at the requested positions only."""
        return self.proofs.gathers

    @property
    def packs(self) -> int:
        """Maximum length of a sequence in a prefix tree; 0 if the network does not accept prefix trees."""
        # The mask of a tree replaces a layer's own sliding window, so trees are exact only within that window.
        return int(getattr(self.config, "sliding_window", None) or sys.maxsize) if self.proofs.packs else 0

    @property
    def vocabulary(self) -> int:
        """Number of tokens to which the head assigns probabilities."""
        return self.proofs.vocabulary

    @property
    def batching(self) -> Batching:
        """Constraint on the rows that may share a batch."""
        return self.proofs.batching

    def _pack(self, scores: bool) -> bool:
        """Pack linear layers unless this changes the logits; return True if they are packed.

        If `scores` is false, the states are compared instead of the logits.
        """

        def answer() -> Tensor:
            if scores:
                return self._whole(*self._sample(2)).float()
            with torch.inference_mode():
                states: Tensor = self.run(self.trunk, self.inputs(*self._sample(2))).last_hidden_state
            return states.float()

        before = answer()
        packed = PackedLayers(self.model)
        try:
            same = equal(answer(), before, self.dtype)
        except (RuntimeError, ValueError, IndexError, AttributeError):
            same = False
        if not same:
            packed.undo()
        return same

    @torch.inference_mode()
    def logits(
        self,
        tokens: NDArray[np.int64],
        lengths: NDArray[np.int64],
        trees: Trees | None,
        rows: NDArray[np.int64],
        cols: NDArray[np.int64],
    ) -> Iterator[tuple[slice, Tensor]]:
        """Yield each block of the positions (rows, cols), as a slice, with its float32 logits of shape (r, V)."""
        inputs = self.inputs(tokens, lengths, trees)
        if self.gathers:
            states = self._states(inputs, rows, cols)
            project = self._project
        else:
            states = self.run(self.model, inputs).logits[rows, cols]
            project = _same
        most = LOGIT_BLOCK * (1 if self.device.type == "cpu" else 16)
        blocks = max(1, -(-len(states) * self.vocabulary // most))
        step = max(1, -(-len(states) // blocks))
        for start in range(0, len(states), step):
            block = slice(start, min(start + step, len(states)))
            yield block, project(states[block]).float()
        self._logits_made += len(states) * self.vocabulary
        if self._logits_made >= KEPT and self.device.type == "cpu":
            give_back()
            self._logits_made = 0

    @torch.inference_mode()
    def vectors(
        self,
        tokens: NDArray[np.int64],
        lengths: NDArray[np.int64],
        rows: NDArray[np.int64],
        cols: NDArray[np.int64],
        layers: tuple[int, ...],
    ) -> NDArray[np.float32]:
        """Return the hidden vectors (r, layers, d) at the positions (rows, cols).

        Layer 0 is the embeddings, −1 the last layer.
        """
        inputs = {**self.inputs(tokens, lengths), "output_hidden_states": True}
        states = self.run(self.trunk, inputs).hidden_states
        return _array(torch.stack([states[layer][rows, cols].to(self.device) for layer in layers], dim=1))

    @torch.inference_mode()
    def logits_and_attention(
        self,
        tokens: NDArray[np.int64],
        lengths: NDArray[np.int64],
        rows: NDArray[np.int64],
        cols: NDArray[np.int64],
    ) -> tuple[Tensor, NDArray[np.float32]]:
        """Return float32 logits (r, V) and the attention received (r,) at the positions (rows, cols).

        Attention is averaged over layers, heads and all query positions in the row except padding (Kaneko & Bollegala
        2022).
        """
        with self._eager():
            out = self.model(**self.inputs(tokens, lengths), output_attentions=True)
        received = torch.stack([layer.float().mean(dim=1) for layer in out.attentions]).mean(dim=0)
        real = self._mask(tokens, lengths).to(received.dtype)
        received = (received * real[:, :, None]).sum(dim=1) / real.sum(dim=1, keepdim=True)
        return out.logits[rows, cols].float(), _array(received[rows, cols])

    @property
    def shortens(self) -> bool:
        """True if the network computes its last layer only at the requested positions, when these are few."""
        return self._last is not None

    @property
    def devices(self) -> str:
        """Names of the model's devices, such as "cuda:0 + cuda:1"."""
        return in_words(self.model, self.device)

    @property
    def width(self) -> int:
        """Number of dimensions of a hidden vector."""
        return int(self.config.hidden_size)

    @property
    def layers(self) -> int:
        """Number of layers above the embeddings."""
        return len(self.proofs.layers) - 1

    @property
    def readable(self) -> list[int]:
        """Indices of the layers that have one vector per token, unlike pooled layers."""
        return [layer for layer, positions in enumerate(self.proofs.layers) if positions == self.proofs.layers[0]]

    def inputs(
        self, tokens: NDArray[np.int64], lengths: NDArray[np.int64], trees: Trees | None = None
    ) -> dict[str, Any]:
        """Return the arguments of a forward pass over rows of tokens: padded sequences of given lengths, or `trees`."""
        inputs: dict[str, Any] = {"input_ids": torch.from_numpy(tokens).to(self.device)}
        if trees is None:
            inputs["attention_mask"] = self._mask(tokens, lengths)
        else:
            seen = trees.seen(self.device)
            mask = torch.zeros(seen.shape, dtype=self.dtype, device=self.device)
            mask.masked_fill_(~seen, torch.finfo(self.dtype).min)
            inputs["attention_mask"] = mask[:, None]
            inputs["position_ids"] = torch.from_numpy(trees.depths).to(self.device)
        if self._takes_use_cache:
            inputs["use_cache"] = False
        return inputs

    @cached_property
    def _takes_use_cache(self) -> bool:
        return "use_cache" in inspect.signature(self.trunk.forward).parameters

    def _mask(self, tokens: NDArray[np.int64], lengths: NDArray[np.int64]) -> Tensor:
        columns = np.arange(tokens.shape[1])
        return torch.from_numpy((columns < lengths[:, None]).astype(np.int64)).to(self.device)

    def _states(self, inputs: dict[str, Any], rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Tensor:
        """Return the trunk's last hidden states (r, d) at the positions (rows, cols)."""
        if self._last is not None and len(rows) <= FEW * inputs["input_ids"].numel():
            try:
                with self._attention():
                    return self._last.states(inputs, rows, cols)
            except UnlikeError:
                self._last = None  # the check passed, but with other inputs
        states: Tensor = self.run(self.trunk, inputs).last_hidden_state
        return states[torch.from_numpy(rows).to(states.device), torch.from_numpy(cols).to(states.device)]

    def _project(self, states: Tensor) -> Tensor:
        """Return the logits (r, V) of the model's head for states (r, d)."""
        output = BaseModelOutputWithPastAndCrossAttentions(last_hidden_state=states[None])

        def handed_over(*_: object, **__: object) -> Any:
            return output

        with replaced(self.trunk, handed_over):
            dummy = torch.zeros((1, len(states)), dtype=torch.long, device=self.device)
            logits: Tensor = self.model(input_ids=dummy).logits[0]
        return logits

    def _whole(self, tokens: NDArray[np.int64], lengths: NDArray[np.int64]) -> Tensor:
        with torch.inference_mode():
            logits: Tensor = self.run(self.model, self.inputs(tokens, lengths)).logits
        return logits

    def run(self, module: Any, inputs: dict[str, Any]) -> Any:
        """Return the output of `module`, the model or its trunk; on a GPU, only the attention `KERNELS` are used."""
        with self._attention():
            return module(**inputs)

    def _attention(self) -> AbstractContextManager[Any]:
        return sdpa_kernel(KERNELS) if self.device.type == "cuda" else nullcontext()

    def _sample(self, rows: int, length: int = 7) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return sample_tokens(self.config, rows, length), np.full(rows, length)

    def _check_gathers(self) -> bool:
        """Return whether the head, applied to gathered states, reproduces the model's logits."""
        tokens, lengths = self._sample(2)
        rows, cols = np.array([0, 0, 1, 1]), np.array([1, 6, 0, 4])
        self.proofs = replace(self.proofs, gathers=True)
        whole = self._whole(tokens, lengths)[rows, cols].float()
        try:
            gathered = torch.cat([block for _, block in self.logits(tokens, lengths, None, rows, cols)])
        except _MISFITS:
            return False
        return gathered.shape == whole.shape and equal(gathered, whole, self.dtype)

    @torch.inference_mode()
    def _checked_last(self) -> LastLayer | None:
        """Return a `LastLayer` if it reproduces the states of a complete forward pass, else None.

        Rows with one and with several requested positions are compared, with and without padding.
        """
        tokens, full = self._sample(3)
        rows = np.array([0, 0, 0, 1, 2, 2])
        cols = np.array([6, 0, 3, 2, 4, 1])
        try:
            last = LastLayer(self.trunk, self.config, self.inputs(tokens, full))
            for lengths, chosen in ((full, slice(None)), (np.array([7, 4, 6]), slice(None)), (full, slice(2, 5))):
                inputs = self.inputs(tokens, lengths)
                whole = self.run(self.trunk, inputs).last_hidden_state[rows[chosen], cols[chosen]].float()
                read = last.states(inputs, rows[chosen], cols[chosen]).float()
                if read.shape != whole.shape or not equal(read, whole, self.dtype):
                    return None
        except _MISFITS:
            return None
        return last

    def _check_packs(self) -> bool:
        """Return whether sequences packed into a prefix tree get the same logits as in separate rows."""
        tokens, lengths = self._sample(3)
        alone = torch.cat([self._whole(row[None], lengths[:1]) for row in tokens]).float()
        # The whole first row, then each other row without its first three tokens, which are the same.
        tree = np.concatenate([tokens[0], *tokens[1:, 3:]])
        depths = [*range(7), *[*range(3, 7)] * 2]
        ends = [15, 15, 15, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15]
        cols = np.array([*range(7), 0, 1, 2, *range(7, 11), 0, 1, 2, *range(11, 15)])
        packed_row = (tree[None], np.array([15]), whole([depths], [ends]))
        try:
            packed = torch.cat([x for _, x in self.logits(*packed_row, np.zeros_like(cols), cols)])
        except _MISFITS:
            return False
        return equal(packed.view(alone.shape), alone, self.dtype)

    @contextmanager
    def _eager(self) -> Iterator[None]:
        """Return a context with eager attention, the only implementation that returns attention weights."""
        before = self.config._attn_implementation
        self.model.set_attn_implementation("eager")
        try:
            yield
        finally:
            self.model.set_attn_implementation(before)


def _same(states: Tensor) -> Tensor:
    return states


def _array(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.float().cpu().numpy()
    return array
