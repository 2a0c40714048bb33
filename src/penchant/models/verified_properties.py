"""Properties of a network that are verified by running it, and their storage format."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

Batching = Literal["padded", "equal-length", "single", "unstable"]
"""The rows that may share a batch without changing each other's outputs.

"padded": rows of any length; "equal-length": rows of the same length; "single": no other row; "unstable": the outputs
differ even between identical batches.
"""


@dataclass(frozen=True, slots=True)
class Proofs:
    """Properties of one network, verified by running it.

    `packed`, `gathers`, `shortens` and `packs` are each true if one shortcut reproduces the plain forward pass:
    respectively packed linear layers, the head on gathered states, the last layer at requested positions only, and
    prefix trees in rows. `looks_ahead` is true if a causal model's logits depend on later tokens. `layers` is the
    number of positions in each layer's output for a row of `SAMPLE` tokens; layer 0 is the embeddings. `vocabulary` is
    the number of tokens to which the network assigns probabilities, 0 without a head.
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
        """Parse the output of `write`; return None if the text is not valid."""
        try:
            fields: dict[str, Any] = json.loads(text or "")
            return cls(**{**fields, "layers": tuple(fields["layers"])})
        except (ValueError, TypeError, KeyError):
            return None

    def write(self) -> str:
        """Return the properties as a JSON string."""
        return json.dumps(asdict(self))


def circumstances(model: Any, dtype: str, kind: str) -> str:
    """Return a one-line description of the conditions under which the `Proofs` of a model are valid.

    They are the kind of model, the number format, the devices, the processor and the versions of packages.
    """
    import platform

    import torch
    import transformers

    from penchant._version import __version__
    from penchant.models.device_map import first_device, in_words

    here = torch.backends.cpu.get_cpu_capability() if first_device(model).type == "cpu" else platform.node()
    versions = f"penchant {__version__}, torch {torch.__version__}, transformers {transformers.__version__}"
    return f"{kind}, {dtype}, {in_words(model, first_device(model))}, {here}, {versions}"


SAMPLE = 12
"""Number of tokens in the longest sample row."""
