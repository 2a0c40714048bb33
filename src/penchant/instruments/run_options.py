"""Options of a run of a probe or a study that change no number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from penchant.cluster.connect import Place
from penchant.engine.backends import Backend
from penchant.engine.engine import Counts
from penchant.models.load import Model

Progress: TypeAlias = Callable[[float, float], None]
"""A callable given what was done since the last call, and the total."""


def _no_progress(done: float, total: float) -> None:
    """Show nothing."""


def _silent(text: str) -> None:
    """Say nothing."""


def _no_bars(label: str) -> Progress:
    """Return progress that is not shown."""
    return _no_progress


@dataclass(slots=True)
class Run:
    """Options of a run of a probe or a study. None of them changes a number.

    `cache` is a file of earlier answers, `batch_tokens` the size of a batch, `progress` a callable given (number of
    items finished since the last call, number of items), `base` the directories in which relative data paths are looked
    up. `warn` is called with warnings for the user, `say` with the step at hand; `bars` gives the progress of a piece
    of work by its label. `backend` runs the batches (default: in this process), `place` is a cluster that does a
    study's work. `counts` is filled with what the run took. `resume` goes on with what is in a study's directory;
    `rerun` also measures again what has changed since. `rehash` hashes the files of models even if the cache remembers
    their hashes. `models` are loaded already, by their names in the study.
    """

    cache: Path | None = None
    batch_tokens: int | None = None
    progress: Progress = field(default=_no_progress)
    base: Sequence[Path] = (Path(),)
    warn: Callable[[str], None] = field(default=_silent)
    backend: Backend | None = None
    counts: Counts = field(default_factory=Counts)
    resume: bool = False
    rerun: bool = False
    rehash: bool = False
    place: Place | None = None
    say: Callable[[str], None] = field(default=_silent)
    bars: Callable[[str], Progress] = field(default=_no_bars)
    models: Mapping[str, Model] = field(default_factory=dict)

    def of_probe(self, label: str) -> Run:
        """Return the options for one probe and one model of the study, which has its own counts and progress."""
        return replace(self, progress=self.bars(label), counts=Counts())
