"""How a probe or a study is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from penchant.call_checks import asked
from penchant.cluster.connect import Place
from penchant.engine.backends import Backend
from penchant.engine.base_scorer import require_batch
from penchant.engine.engine import Counts

Progress: TypeAlias = Callable[[float, float], None]
"""Called with what is done since the last call, and with how much there is."""


@dataclass(slots=True, init=False, repr=False)
class Run:
    """How a probe, or a study (`of_study`), is run; nothing here changes a number.

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
    resume: bool
    rerun: bool
    rehash: bool
    place: Place | None
    say: Callable[[str], None]
    bars: Callable[[str], Progress]

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
        self.resume = self.rerun = self.rehash = False
        self.place, self.say, self.bars = None, _unsaid, _no_bars

    @classmethod
    def of_study(
        cls,
        *,
        resume: bool = False,
        rerun: bool = False,
        cache: Path | None = None,
        rehash: bool = False,
        batch_tokens: int | None = None,
        base: Sequence[Path] = (Path(),),
        place: Place | None = None,
        say: Callable[[str], None] | None = None,
        warn: Callable[[str], None] | None = None,
        bars: Callable[[str], Progress] | None = None,
    ) -> Run:
        """Return how a study is run. `resume` goes on with what is in the directory; `rerun` also measures again what
        has changed since. `rehash` reads the files of models to hash them, even if the cache remembers their hashes.
        `place` is a cluster that does the work; by default it is done in this process. `say` is called with what is
        being done, and `bars` gives the progress of a piece of work by its label."""
        run = cls(cache, batch_tokens, base=base, warn=warn)
        run.resume, run.rerun, run.rehash, run.place = resume, rerun, rehash, place
        run.say, run.bars = say or _unsaid, bars or _no_bars
        return run

    def of_probe(self, label: str) -> Run:
        """Return how one probe of the study is run with one model."""
        return Run(self.cache, self.batch_tokens, self.bars(label), self.base, self.warn)

    def __repr__(self) -> str:
        given = {"cache": self.cache and str(self.cache), "batch_tokens": self.batch_tokens, "backend": self.backend}
        return f"Run({', '.join(f'{name}={value!r}' for name, value in given.items() if value is not None)})"


def _untold(done: float, total: float) -> None:
    """No progress."""


def _unsaid(text: str) -> None:
    """No warning."""


def _no_bars(label: str) -> Progress:
    """No progress of any piece of work."""
    return _untold
