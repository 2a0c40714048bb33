"""Run options of a probe or a study; none of them changes the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from penchant.cluster.connect import ClusterOptions
from penchant.engine.engine import EngineCounts
from penchant.engine.local_backend import Backend
from penchant.models.load import Model

Progress: TypeAlias = Callable[[float, float], None]
"""Type of a progress callback: called with the amount done since the last call, and the total."""


def _no_progress(done: float, total: float) -> None:
    """Ignore progress."""


def _silent(text: str) -> None:
    """Ignore a message."""


def _no_bars(label: str) -> Progress:
    """Return a progress callback that shows nothing."""
    return _no_progress


@dataclass(slots=True)
class Run:
    """Run options of a probe or a study. None of them changes the results.

    `cache` is a file of stored answers, `batch_tokens` the batch size in tokens, `progress` a callback that receives
    (number of items finished since the last call, number of items), `base` the directories in which relative data paths
    are looked up. `warn` is called with warnings for the user, `say` with the current step; `bars` returns the progress
    callback for a labelled task. `backend` runs the batches (default: in this process); `place` is the cluster on which
    a study runs. `counts` receives the resources used by the run. `resume` continues a study from the contents of its
    directory; `rerun` also repeats measurements whose parameters have changed. `rehash` hashes model files even if
    their hashes are cached. `models` are models already loaded, by their names in the study.
    """

    cache: Path | None = None
    batch_tokens: int | None = None
    progress: Progress = field(default=_no_progress)
    base: Sequence[Path] = (Path(),)
    warn: Callable[[str], None] = field(default=_silent)
    backend: Backend | None = None
    counts: EngineCounts = field(default_factory=EngineCounts)
    resume: bool = False
    rerun: bool = False
    rehash: bool = False
    place: ClusterOptions | None = None
    say: Callable[[str], None] = field(default=_silent)
    bars: Callable[[str], Progress] = field(default=_no_bars)
    models: Mapping[str, Model] = field(default_factory=dict)

    def of_probe(self, label: str) -> Run:
        """Return a copy of the options for one probe and model, with separate counts and progress shown as `label`."""
        return replace(self, progress=self.bars(label), counts=EngineCounts())
