"""The entry point of cloze valence."""

from penchant.instruments.cloze import ratings
from penchant.instruments.cloze.data import SCHEMAS
from penchant.instruments.cloze.estimates import differences
from penchant.instruments.cloze.probe import Cloze
from penchant.instruments.cloze.settings import MEASURES, ClozeSettings
from penchant.instruments.cloze.study_from_table import USER_TABLE
from penchant.instruments.cloze.views import VIEWS, WORDS
from penchant.instruments.comparison import Comparison, difference
from penchant.instruments.descriptor import Instrument
from penchant.views.headline import Headline
from penchant.views.row_selection import At
from penchant.views.section import section

_MEANS = (MEASURES["beta"], MEASURES["delta"])
CLOZE = Instrument(
    probe=Cloze,
    compare=Comparison(ClozeSettings, ("id", "text", "expected"), differences, free=("bos",)),
    section=section(VIEWS, WORDS),
    headline=Headline(At(measure=_MEANS), At(measure=tuple(map(difference, _MEANS)))),
    schemas={"cloze": SCHEMAS},
    formats={
        "cloze test set": "a directory with set.yaml, or a table: id, text, expected, group (penchant schema cloze)"
    },
    judge=ratings.task,
    from_table=USER_TABLE,
)
