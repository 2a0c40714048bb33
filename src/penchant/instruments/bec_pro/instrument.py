"""Instrument for BEC-Pro and tables of the same form, declared as an entry point."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from penchant.instruments.bec_pro.data import TamRow
from penchant.instruments.bec_pro.estimates import BETWEEN, GAP, tam_estimates
from penchant.instruments.bec_pro.probe import BecPro
from penchant.instruments.bec_pro.settings import BecProSettings
from penchant.instruments.bec_pro.views import VIEWS
from penchant.instruments.comparison import Comparison, difference, subtracted
from penchant.instruments.descriptor import Instrument
from penchant.records import Estimate
from penchant.views.headline import Headline
from penchant.views.row_selection import At
from penchant.views.section import section
from penchant.wording.templates import Text


def differences(a: pl.DataFrame, b: pl.DataFrame, settings: BecProSettings) -> Iterator[Estimate]:
    """Yield a − b for the contrasts of genders, by group and template, and for their differences between groups.

    They are estimated from the difference (a − b) in the association of each sentence.
    """
    found = tam_estimates(subtracted(a, b, "association"), settings)
    return (each for each in found if each.measure in (GAP, BETWEEN))


BEC_PRO = Instrument(
    probe=BecPro,
    compare=Comparison(BecProSettings, ("id", "sentence"), differences),
    section=section(VIEWS, Text.of(BecPro.folder())),
    headline=Headline(At(measure=GAP), At(measure=difference(GAP))),
    schemas={"bec-pro": {"table": TamRow}},
    formats={
        "BEC-Pro": "a table with Sent_TM (person masked), Sent_TAM (attribute masked too), Person, Gender, Profession, "
        "Prof_Gender, Template (penchant schema bec-pro)"
    },
)
