"""The properties of a network that are established by running it, and their storage format."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

Batching = Literal["padded", "equal-length", "single", "unstable"]
"""The kind of rows that may share a batch with a row without changing its answer.

"padded": rows of any length; "equal-length": rows of the same length; "single": no other row; "unstable": the answer
changes even between identical batches.
"""


@dataclass(frozen=True, slots=True)
class Proofs:
    """Properties of one network's answers, established by running the network.

    `packed`, `gathers`, `shortens` and `packs` say which shortcuts give the answers of the plain forward pass: packed
    linear layers, the head on gathered states, the last layer at read positions only, and prefix trees in rows.
    `looks_ahead` is true if a causal model's logits depend on later tokens. `layers` is the number of positions in each
    layer's output for a row of `SAMPLE` tokens; layer 0 is the embeddings. `vocabulary` is the number of tokens to
    which the network assigns probabilities, 0 without a head.
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
        """Return the proofs parsed from the output of `write`; None if the text is not such output."""
        try:
            fields: dict[str, Any] = json.loads(text or "")
            return cls(**{**fields, "layers": tuple(fields["layers"])})
        except (ValueError, TypeError, KeyError):
            return None

    def write(self) -> str:
        """Return the proofs as a JSON string."""
        return json.dumps(asdict(self))


def circumstances(model: Any, dtype: str, kind: str) -> str:
    """Return a one-line description of the circumstances that a model's proofs depend on, apart from its files.

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
"""Number of tokens in the longest sample row on which proofs are run."""
