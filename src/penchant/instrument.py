"""All that an instrument of your own needs, from one module: see docs/new-instrument.md."""

from penchant.errors import DataError as DataError
from penchant.instruments.base import Measured as Measured
from penchant.instruments.base import Probe as Probe
from penchant.instruments.declared import instrument_of as instrument_of
from penchant.instruments.descriptor import Instrument as Instrument
from penchant.instruments.measures import Contrast as Contrast
from penchant.instruments.measures import Mean as Mean
from penchant.instruments.rows import Row as Row
from penchant.instruments.rows import RowProbe as RowProbe
from penchant.instruments.session import Session as Session
from penchant.instruments.settings import Settings as Settings
from penchant.records import Estimate as Estimate
