"""Quick reading of GGUF files.

transformers reads the fields of a file anew for the configuration, the tokenizer and the weights, and makes the map
between the names of weights anew for every module of the model. For a small model that takes most of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np


@contextmanager
def read_once() -> Iterator[None]:
    """Read every GGUF file once, and make every map of names once, until the end of the block; nothing is kept
    afterwards. Needs the package gguf."""
    import gguf
    from gguf.gguf_reader import GGUFReader
    from gguf.tensor_mapping import get_tensor_name_map

    class Reader(GGUFReader):  # type: ignore[misc]
        """Cuts its fields out of a plain array: each of some 100,000 slices of a memory map is a map of its own."""

        @property
        def data(self) -> Any:
            return self._data

        @data.setter
        def data(self, mapped: Any) -> None:
            self._data = np.asarray(mapped)

    gguf.GGUFReader, gguf.get_tensor_name_map = cache(Reader), cache(get_tensor_name_map)
    try:
        yield
    finally:
        gguf.GGUFReader, gguf.get_tensor_name_map = GGUFReader, get_tensor_name_map
