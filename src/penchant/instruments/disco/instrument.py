"""Instrument for DisCo, declared as an entry point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from penchant.instruments.comparison import Comparison, difference
from penchant.instruments.descriptor import Instrument
from penchant.instruments.disco.data import DiscoFile
from penchant.instruments.disco.estimates import DIFFERENT, different_by_template
from penchant.instruments.disco.probe import Disco
from penchant.instruments.disco.settings import DiscoSettings
from penchant.instruments.disco.views import VIEWS
from penchant.records import Estimate
from penchant.stats.intervals import t_mean
from penchant.views.headline import Headline
from penchant.views.row_selection import At
from penchant.views.section import section
from penchant.wording.templates import Text


def differences(a: pl.DataFrame, b: pl.DataFrame, settings: DiscoSettings) -> Iterator[Estimate]:
    """Yield the mean difference a − b in the number of fills that differ by gender, over templates."""
    one, other = different_by_template(a), different_by_template(b)
    gaps = np.array([one[template] - other[template] for template in sorted(one)])
    yield replace(t_mean(gaps, level=settings.level, noun="templates", against=0), measure=DIFFERENT)


DISCO = Instrument(
    probe=Disco,
    compare=Comparison(DiscoSettings, ("id", "sentence"), differences),
    section=section(VIEWS, Text.of(Disco.folder())),
    headline=Headline(At(measure=DIFFERENT), At(measure=difference(DIFFERENT))),
    schemas={"disco": {"set.yaml": DiscoFile}},
    formats={
        "words and templates with a blank": "for disco: a directory with set.yaml: persons of two groups, templates "
        "with PERSON and BLANK (penchant schema disco)"
    },
)
