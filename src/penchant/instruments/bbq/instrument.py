"""The instrument BBQ, declared as an entry point."""

from penchant.instruments.bbq.probe import BBQ
from penchant.instruments.row_descriptor import instrument_of

INSTRUMENT = instrument_of(BBQ)
