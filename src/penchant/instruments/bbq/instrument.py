"""The instrument BBQ, declared as an entry point."""

from penchant.instruments.bbq.probe import BBQ
from penchant.instruments.row_instruments import instrument_of

INSTRUMENT = instrument_of(BBQ)
