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
    """All that the rest of penchant must know of an instrument; found through the entry points of the group
    `penchant.instruments`, under the name of its probe.

    `compare` gives the differences of two results, one row an estimate, and raises StudyError where they cannot be
    compared. `section` is what the report shows, `headline` its answer. `schemas` are the data files it reads, by topic
    of `penchant schema` and then by file; `formats` the kinds of data it reads, by name, in words. In the folder of the
    probe are `template`, a folder or files that `penchant init` copies; `references.bib`, what its prose cites; and `sets`,
    a folder of bundled data, each with a set.yaml. Instruments with the same `overview` share a section that comes
    before theirs. `judge` makes what people can be asked about a target into a task; None where that is not its own.
    `curve` gives what checkpoints of one training, named and each with its step, show over the steps, one row an
    estimate; None for an instrument without curves.
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
        """The name of its probe."""
        return self.probe.name

    @property
    def folder(self) -> Path:
        """The folder of its probe."""
        return self.probe.folder()
