"""Names needed to write a new instrument; see docs/new-instrument.md."""

from penchant.errors import DataError
from penchant.instruments.base_probe import Measured, Probe
from penchant.instruments.choice_probes import ChoiceProbe
from penchant.instruments.descriptor import Instrument
from penchant.instruments.measures import Contrast, Mean
from penchant.instruments.row_descriptor import instrument_of
from penchant.instruments.row_probes import Row, RowProbe
from penchant.instruments.session import Session
from penchant.instruments.settings import Settings
from penchant.records import Estimate

__all__ = [
    "ChoiceProbe",
    "Contrast",
    "DataError",
    "Estimate",
    "Instrument",
    "Mean",
    "Measured",
    "Probe",
    "Row",
    "RowProbe",
    "Session",
    "Settings",
    "instrument_of",
]
