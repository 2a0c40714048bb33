"""The entry point of acceptability."""

from penchant.instruments.acceptability.compare import compare
from penchant.instruments.acceptability.data import SentenceRow
from penchant.instruments.acceptability.probe import Acceptability
from penchant.instruments.acceptability.views import VIEWS
from penchant.instruments.descriptor import Instrument
from penchant.views.section import section
from penchant.wording.templates import Text

ACCEPTABILITY = Instrument(
    probe=Acceptability,
    compare=compare,
    section=section(VIEWS, Text.of(Acceptability.folder())),
    schemas={"acceptability": {"sentences": SentenceRow}},
    formats={
        "judged sentences": "for acceptability: a table of sentence, rating, and optionally rater and "
        "prefix (penchant schema acceptability)"
    },
)
