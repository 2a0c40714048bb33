"""Description of an instrument for the rest of penchant.

An instrument is a folder that defines a `Probe`, which measures a model and evaluates its answers, and an `Instrument`,
which describes everything else: how two results are compared, what the report shows, which template files studies start
from and which works are cited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
from pydantic import BaseModel

from penchant.instruments.base_probe import Probe
from penchant.instruments.study_from_table import TableReader
from penchant.rating.tasks import RatingTask, Wishes
from penchant.records import BaseResult
from penchant.report.sections import Overview, Section
from penchant.views.headline import Headline

Schemas: TypeAlias = Mapping[str, type[BaseModel]] | type[BaseModel]


@dataclass(frozen=True, slots=True)
class Instrument:
    """Description of an instrument for the rest of penchant.

    It is found through the entry points of the group `penchant.instruments`, under the name of its probe.

    `compare` returns the differences between two results, one row per estimate, and raises StudyError if they cannot be
    compared. `section` is the instrument's part of the report, `headline` its main result. `schemas` are the schemas of
    the data files, by topic of `penchant schema` and then by file; `formats` describes the supported kinds of data, by
    name. The probe's folder contains `template`, a folder or some files that `penchant init` copies; `references.bib`,
    the works that the prose cites; and `sets`, a folder of bundled data sets, each with a set.yaml. Instruments with
    the same `overview` share a section that precedes their own. `judge` creates a rating task from a target, such as a
    data set; it returns None if the target belongs to another instrument. `curve` returns the estimates over the steps
    of one training run, one row per estimate, from the run's name and its checkpoints with their steps; it is None for
    an instrument without curves. `from_table` makes a study from a user's own table for `penchant init --from`; it is
    None if the instrument does not support this.
    """

    probe: type[Probe[Any]]
    compare: Callable[[BaseResult, BaseResult], pl.DataFrame]
    section: Section
    headline: Headline = field(default_factory=Headline)
    template: str | tuple[str, ...] = "template"
    schemas: Mapping[str, Schemas] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    overview: Overview | None = None
    judge: Callable[[str, Wishes], RatingTask | None] | None = None
    curve: Callable[[str, Sequence[tuple[int, BaseResult]]], pl.DataFrame] | None = None
    from_table: TableReader | None = None

    @property
    def name(self) -> str:
        """The name of the probe."""
        return self.probe.name

    @property
    def folder(self) -> Path:
        """The folder of the probe."""
        return self.probe.folder()
