"""Instrument for amplification, declared as an entry point."""

from penchant.instruments.amplification.data import SCHEMAS
from penchant.instruments.amplification.differences import differences
from penchant.instruments.amplification.estimates import SLOPE
from penchant.instruments.amplification.probe import Amplification
from penchant.instruments.amplification.settings import AmplificationSettings
from penchant.instruments.amplification.views import VIEWS
from penchant.instruments.comparison import Comparison, difference
from penchant.instruments.descriptor import Instrument
from penchant.views.headline import Headline
from penchant.views.row_selection import At
from penchant.views.section import section
from penchant.wording.templates import Text

AMPLIFICATION = Instrument(
    probe=Amplification,
    compare=Comparison(AmplificationSettings, ("id", "sentence"), differences, free=("text",)),
    section=section(VIEWS, Text.of(Amplification.folder())),
    headline=Headline(At(measure=SLOPE), At(measure=difference(SLOPE))),
    schemas={"amplification": SCHEMAS},
    formats={
        "contrasts of groups": "for amplification: a directory with set.yaml: groups, attributes, templates (penchant "
        "schema amplification)"
    },
)
