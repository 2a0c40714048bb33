"""The descriptor of an instrument, for the rest of penchant.

An instrument is a folder with a `Probe`, which says what to ask a model and what the answers mean, and an `Instrument`,
which says everything else: how two results are compared, what the report shows, which files it starts from and cites.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
from pydantic import BaseModel

from penchant.instruments.base import Probe
from penchant.rating.tasks import Task, Wishes
from penchant.records import Result
from penchant.report.sections import Overview, Section
from penchant.views.headline import Headline

Schemas: TypeAlias = Mapping[str, type[BaseModel]] | type[BaseModel]


@dataclass(frozen=True, slots=True)
class Instrument:
    """An instrument, as the rest of penchant sees it.

    It is found through the entry points of the group `penchant.instruments`, under the name of its probe.

    `compare` returns the differences of two results, one row an estimate, and raises StudyError if they cannot be
    compared. `section` is its part of the report, `headline` its answer. `schemas` are the data files it reads, by
    topic of `penchant schema` and then by file; `formats` describes the kinds of data it reads, by name. In the folder
    of the probe are `template`, a folder or some files that `penchant init` copies; `references.bib`, the works that
    its prose cites; and `sets`, a folder of bundled data, each with a set.yaml. Instruments with the same `overview`
    share a section that comes before theirs. `judge` makes a task for raters from a target; None for a target of
    another instrument. `curve` returns the estimates over the steps of one training, from its name and its checkpoints
    with their steps, one row an estimate; None for an instrument without curves.
    """

    probe: type[Probe[Any]]
    compare: Callable[[Result, Result], pl.DataFrame]
    section: Section
    headline: Headline = field(default_factory=Headline)
    template: str | tuple[str, ...] = "template"
    schemas: Mapping[str, Schemas] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    overview: Overview | None = None
    judge: Callable[[str, Wishes], Task | None] | None = None
    curve: Callable[[str, Sequence[tuple[int, Result]]], pl.DataFrame] | None = None

    @property
    def name(self) -> str:
        """The name of the probe."""
        return self.probe.name

    @property
    def folder(self) -> Path:
        """The folder of the probe."""
        return self.probe.folder()
