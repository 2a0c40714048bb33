"""Sampling of tokens after a prompt, with noise that does not depend on the batch."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from penchant.models.torch_network import Network


@torch.inference_mode()
def sampled_tokens(
    network: Network,
    prompts: NDArray[np.int64],
    seeds: Sequence[int],
    temperature: float,
    most: int,
    ends: Collection[int],
) -> list[list[int]]:
    """Return at most `most` tokens sampled after each prompt, stopping before the first token that is in `ends`.

    `prompts`, of shape (B, L), have equal lengths. The next token is the one with the largest sum of log P/temperature
    and Gumbel noise, so that its probability is proportional to P^(1/temperature); each row draws its noise from a
    generator with its own seed. At temperature 0 the next token is the most probable one.
    """
    noise = [torch.Generator().manual_seed(seed) for seed in seeds]
    made: list[list[int]] = [[] for _ in seeds]
    rows = list(range(len(seeds)))  # the prompts whose reply has not ended
    ids = whole = torch.from_numpy(prompts).to(network.device)
    state: Any = None
    for _ in range(most):
        inputs = {"input_ids": ids, **({} if state is None else {"past_key_values": state})}
        out = network.run(network.model, inputs)
        chosen = _chosen(out.logits[:, -1].float().cpu(), [noise[row] for row in rows], temperature)
        left = [place for place, token in enumerate(chosen.tolist()) if token not in ends]
        for place in left:
            made[rows[place]].append(int(chosen[place]))
        if not left:
            break
        rows, kept = [rows[place] for place in left], torch.tensor(left, device=network.device)
        added = chosen[left][:, None].to(network.device)
        whole = torch.cat([whole[kept], added], dim=1)
        state = getattr(out, "past_key_values", None)
        if state is not None and len(left) < len(chosen):
            state.batch_select_indices(kept)
        ids = whole if state is None else added
    return made


def _chosen(logits: Tensor, noise: Sequence[torch.Generator], temperature: float) -> Tensor:
    if not temperature:
        return logits.argmax(-1)
    waits = torch.stack([torch.empty(logits.shape[1]).exponential_(generator=each) for each in noise])
    return (logits / temperature - waits.log()).argmax(-1)
