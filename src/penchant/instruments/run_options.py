"""Options for running a probe or a study."""

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
"""A callable given the work done since the last call, and the total."""


@dataclass(slots=True, init=False, repr=False)
class Run:
    """Options for running a probe, or a study (`of_study`); none of them changes a number.

    `cache` is a file of earlier answers, `batch_tokens` the size of a batch, `progress` a callable given (number of
    items finished since the last call, number of items), `base` the directories in which relative data paths are
    searched for. `warn` is called with warnings for the user. `backend` runs the batches, by default in this process.
    `counts` is filled with the work done.
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
        """Set the options of a probe. Raises MethodError for invalid ones."""
        require_batch(batch_tokens, "Run()")
        self.cache = None if cache is None else Path(cache)
        self.batch_tokens, self.base, self.backend, self.counts = batch_tokens, base, backend, Counts()
        self.progress = progress or _ignore_progress
        self.warn = warn or _ignore_text
        self.resume = self.rerun = self.rehash = False
        self.place, self.say, self.bars = None, _ignore_text, _no_bars

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
        """Return the options of a study.

        `resume` goes on with what is in the directory; `rerun` also measures again what changed since. `rehash` reads
        the files of models to hash them, even if the cache remembers their hashes. `place` is a cluster that does the
        work, by default this process. `say` is called with the step that begins, and `bars` returns the progress of a
        piece of work by its label.
        """
        run = cls(cache, batch_tokens, base=base, warn=warn)
        run.resume, run.rerun, run.rehash, run.place = resume, rerun, rehash, place
        run.say, run.bars = say or _ignore_text, bars or _no_bars
        return run

    def of_probe(self, label: str) -> Run:
        """Return the options for one probe of the study with one model."""
        return Run(self.cache, self.batch_tokens, self.bars(label), self.base, self.warn)

    def __repr__(self) -> str:
        given = {"cache": self.cache and str(self.cache), "batch_tokens": self.batch_tokens, "backend": self.backend}
        return f"Run({', '.join(f'{name}={value!r}' for name, value in given.items() if value is not None)})"


def _ignore_progress(done: float, total: float) -> None:
    """Ignore progress."""


def _ignore_text(text: str) -> None:
    """Ignore a message."""


def _no_bars(label: str) -> Progress:
    """Return a progress callable that does nothing."""
    return _ignore_progress
