"""Instrument for acceptability, declared as an entry point."""

from penchant.instruments.acceptability.compare import compare
from penchant.instruments.acceptability.data import JudgedSentenceRow
from penchant.instruments.acceptability.probe import Acceptability
from penchant.instruments.acceptability.settings import DIFFERENCE, PEARSON
from penchant.instruments.acceptability.views import VIEWS
from penchant.instruments.descriptor import Instrument
from penchant.views.headline import Headline
from penchant.views.row_selection import FIRST, At
from penchant.views.section import section
from penchant.wording.templates import Text

ACCEPTABILITY = Instrument(
    probe=Acceptability,
    compare=compare,
    section=section(VIEWS, Text.of(Acceptability.folder())),
    headline=Headline(At(measure=PEARSON, score=FIRST), At(measure=DIFFERENCE, score=FIRST)),
    schemas={"acceptability": {"sentences": JudgedSentenceRow}},
    formats={
        "judged sentences": "for acceptability: a table of sentence, rating, and optionally rater and "
        "prefix (penchant schema acceptability)"
    },
)
