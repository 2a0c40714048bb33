"""The properties proved of a network by running it, and the form in which they are remembered."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

Batching = Literal["padded", "equal-length", "single", "unstable"]
"""The rows that may share a batch with a row without changing its answer.

They are rows of any length, rows of its own length, or none; "unstable" if even equal batches give other answers.
"""


@dataclass(frozen=True, slots=True)
class Proofs:
    """The properties proved of the answers of one network.

    `packed` linear layers, a head on `gathers` states, a last layer that `shortens`, and rows that are trees (`packs`)
    give the answers of the plain forward pass. `looks_ahead`: the logits of a causal model change with later tokens.
    `layers` are the numbers of positions in each layer for a row of `SAMPLE` tokens, 0 the embeddings. `vocabulary` is
    the number of tokens it gives probabilities for, 0 without a head.
    """

    packed: bool = False
    gathers: bool = False
    shortens: bool = False
    packs: bool = False
    looks_ahead: bool = False
    batching: Batching = "padded"
    layers: tuple[int, ...] = ()
    vocabulary: int = 0

    @classmethod
    def read(cls, text: str | None) -> Proofs | None:
        """Return the proofs that `write` wrote; None for anything else."""
        try:
            fields: dict[str, Any] = json.loads(text or "")
            return cls(**{**fields, "layers": tuple(fields["layers"])})
        except (ValueError, TypeError, KeyError):
            return None

    def write(self) -> str:
        """Return the proofs as JSON."""
        return json.dumps(asdict(self))


def circumstances(model: Any, dtype: str, kind: str) -> str:
    """Describe in one line what the proofs of a model depend on besides its files."""
    import platform

    import torch
    import transformers

    from penchant._version import __version__
    from penchant.models.device_map import first_device, in_words

    here = torch.backends.cpu.get_cpu_capability() if first_device(model).type == "cpu" else platform.node()
    versions = f"penchant {__version__}, torch {torch.__version__}, transformers {transformers.__version__}"
    return f"{kind}, {dtype}, {in_words(model, first_device(model))}, {here}, {versions}"


SAMPLE = 12
"""The number of tokens in the longest row of a proof."""
