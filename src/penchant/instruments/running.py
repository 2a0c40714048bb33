"""How a probe is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from penchant.arguments import asked
from penchant.engine.asking import require_batch
from penchant.engine.backends import Backend
from penchant.engine.engine import Counts


@dataclass(slots=True, init=False, repr=False)
class Run:
    """How a probe is run; nothing here changes a number.

    `cache` is a file of earlier answers, `batch_tokens` the size of a batch, `progress` a callable given (number of
    items finished since the last call, number of items), `base` the directories in which relative data paths are looked
    up. `warn` is called with what a user must be told. `backend` runs the batches, by default in this process. `counts`
    is filled with what the run took.
    """

    cache: Path | None
    batch_tokens: int | None
    progress: Callable[[float, int], None]
    base: Sequence[Path]
    warn: Callable[[str], None]
    backend: Backend | None
    counts: Counts

    @asked
    def __init__(
        self,
        cache: str | Path | None = None,
        batch_tokens: int | None = None,
        progress: Callable[[float, int], None] | None = None,
        base: Sequence[Path] = (Path(),),
        warn: Callable[[str], None] | None = None,
        backend: Backend | None = None,
    ) -> None:
        """Raises MethodError for what a run cannot have."""
        require_batch(batch_tokens, "Run()")
        self.cache = None if cache is None else Path(cache)
        self.batch_tokens, self.base, self.backend, self.counts = batch_tokens, base, backend, Counts()
        self.progress = progress or _untold
        self.warn = warn or _unsaid

    def __repr__(self) -> str:
        given = {"cache": self.cache and str(self.cache), "batch_tokens": self.batch_tokens, "backend": self.backend}
        return f"Run({', '.join(f'{name}={value!r}' for name, value in given.items() if value is not None)})"


def _untold(done: float, total: int) -> None:
    """No progress."""


def _unsaid(text: str) -> None:
    """No warning."""
