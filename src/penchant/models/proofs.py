"""What was proved about a network by running it, and where that is remembered."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

Batching = Literal["padded", "equal-length", "single", "unstable"]
"""What a row of a batch may have beside it without its answer changing: rows of any length, rows of its own length, or
none; "unstable" where the answer changes even so."""


@dataclass(frozen=True, slots=True)
class Proofs:
    """The properties proved of the answers of one network.

    `packed` linear layers, a head on `gathers` states, a last layer that `shortens`, and rows that are trees (`packs`)
    give the answers of the plain forward pass. `looks_ahead`: what a causal model says of a token changes with the
    tokens behind it. `layers` are the positions that each layer has for a row of `SAMPLE` tokens: 0 the embeddings.
    `vocabulary` is the number of tokens it gives probabilities for, 0 without a head.
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
        """Return them as JSON."""
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
"""The tokens in the longest row of a proof."""
