"""Tests of whether a model's outputs depend on the rest of the batch, on padding or on later tokens."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from penchant.models.verified_properties import SAMPLE, Batching

if TYPE_CHECKING:
    from penchant.models.torch_network import Network

_SHORTER = (8, 5)
"""Numbers of tokens in the shorter sample rows."""


class Trial:
    """Comparison of a network's outputs for sample rows run alone and run in a batch.

    The outputs are all hidden states and, if `scores` is true, the logits. Some encoders mix neighbouring positions
    regardless of the attention mask (MobileBERT, ConvBERT, FNet, YOSO), and some classes that are loaded as causal
    attend to later tokens (XLNet, a BERT without `is_decoder`), which their configurations do not show.
    """

    def __init__(self, network: Network, scores: bool) -> None:
        self.network, self.scores = network, scores
        positions = int(getattr(network.config, "max_position_embeddings", None) or 0) - 2
        most = positions if positions > 1 else SAMPLE  # 0 and -1 mean that there is no limit
        self.lengths = np.array([min(each, most) for each in (SAMPLE, *_SHORTER)])
        self.tokens = sample_tokens(network.config, len(self.lengths), int(self.lengths[0]))

    @property
    def layers(self) -> tuple[int, ...]:
        """Number of positions in each layer's output for the longest row; layer 0 is the embeddings."""
        return tuple(states.shape[1] for states in self._alone[0][1:])

    @property
    def vocabulary(self) -> int:
        """Number of tokens to which the model assigns probabilities; 0 without a vocabulary head."""
        return int(self._alone[0][0].shape[-1]) if self.scores else 0

    def batching(self) -> Batching:
        """Determine which rows may share a batch without changing each other's outputs."""
        if not self._agree(self._run(self.tokens[:1], self.lengths[:1]), [0]):
            return "unstable"
        if self._agree(self._run(self.tokens, self.lengths), [0, 1, 2]):
            return "padded"
        same = self.tokens[[0, 0, 1]].copy()
        same[1] = np.roll(same[1], 1)
        return "equal-length" if self._agree(self._run(same, self.lengths[[0, 0, 0]]), [0]) else "single"

    def looks_ahead(self) -> bool:
        """Return whether the logits at a position depend on later tokens."""
        other, length = self.tokens[:1].copy(), int(self.lengths[0])
        other[0, -1] = self.tokens[0, 0] if self.tokens[0, 0] != other[0, -1] else self.tokens[0, 1]
        changed = _finite(self._run(other, self.lengths[:1])[0][0, : length - 1])
        return not equal(changed, _finite(self._alone[0][0][0, : length - 1]), self.network.dtype)

    @cached_property
    def _alone(self) -> list[list[Tensor]]:
        """The outputs for each row run alone: logits (of width 0 without a head), then the states of each layer."""
        rows = zip(self.tokens, self.lengths, strict=True)
        return [self._run(row[None, :length], np.array([length])) for row, length in rows]

    def _agree(self, answers: list[Tensor], rows: list[int]) -> bool:
        """Return whether the given rows of `answers`, a batch's outputs, equal the outputs for the same rows run alone.

        Layers that pool positions return fewer positions than the input has; only the returned ones are compared.
        """
        for row in rows:
            for among, alone in zip(answers, self._alone[row], strict=True):
                ours, own = _finite(among[row, : alone.shape[1]]), _finite(alone[0])
                if ours.shape != own.shape or not self._same(ours, own):
                    return False
        return True

    def _same(self, ours: Tensor, own: Tensor) -> bool:
        """Return whether two arrays of outputs (positions, d) are equal up to rounding at each position.

        In 16-bit formats, where the error of a single position may be large, all positions are compared together.
        """
        if not own.numel():
            return True
        if torch.finfo(self.network.dtype).bits == 16:
            return equal(ours, own, self.network.dtype)
        off = (ours - own).square().mean(-1).sqrt()
        return bool((off <= 1e-4 * own.std(-1) + 1e-12).all())

    @torch.inference_mode()
    def _run(self, tokens: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[Tensor]:
        network = self.network
        inputs: dict[str, Any] = network.inputs(tokens[:, : int(lengths.max())], lengths)
        out = network.run(network.model if self.scores else network.trunk, {**inputs, "output_hidden_states": True})
        logits = out.logits if self.scores else torch.empty((len(tokens), 0, 0))
        return [logits, *(out.hidden_states or ())]


def _finite(answers: Tensor) -> Tensor:
    return torch.nan_to_num(answers.float(), 0.0, 0.0, 0.0)


def sample_tokens(config: Any, rows: int, length: int) -> NDArray[np.int64]:
    """Return arbitrary token ids (rows, length) without padding; the first three ids are the same in every row."""
    tokens = np.random.default_rng(0).integers(5, config.vocab_size, (rows, length))
    tokens[:, :3] = tokens[0, :3]
    padding = getattr(config, "pad_token_id", None)
    return np.where(tokens == padding, tokens[0, 0] if tokens[0, 0] != padding else 6, tokens)


def equal(a: Tensor, b: Tensor, dtype: torch.dtype) -> bool:
    """Return whether a and b are equal up to rounding in `dtype`, by the RMS of a − b relative to the SD of b."""
    tolerance = max(1e-4, 8 * torch.finfo(dtype).eps)
    return bool((a - b).square().mean().sqrt() <= tolerance * b.std())
