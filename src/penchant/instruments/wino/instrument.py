"""Instruments for WinoBias and Winogender, declared as entry points."""

from typing import Any

from penchant.instruments.descriptor import Instrument
from penchant.instruments.wino import bias_estimates, bias_views, gender_estimates, gender_views
from penchant.instruments.wino.bias_data import PairRow
from penchant.instruments.wino.gender_data import GenderSentenceRow, TemplateRow
from penchant.instruments.wino.gender_estimates import OCCUPATION, PEARSON, PEARSON_DIFFERENCE
from penchant.instruments.wino.probe import WinoBias, Winogender
from penchant.instruments.wino.pronoun_scores import WORDS
from penchant.instruments.wino.settings import PREFERS_PRO, PRO_DIFFERENCE
from penchant.views.headline import Headline
from penchant.views.row_selection import FIRST, At
from penchant.views.section import section

_WHOLE: dict[str, Any] = {"scope": "overall", "normalise": FIRST}
_EFFECT: dict[str, Any] = {"part": OCCUPATION, "share": FIRST, "normalise": FIRST}
WINOBIAS = Instrument(
    probe=WinoBias,
    compare=bias_estimates.compare,
    section=section(bias_views.VIEWS, WORDS.below("winobias")),
    headline=Headline(At(measure=PREFERS_PRO, **_WHOLE), At(measure=PRO_DIFFERENCE, **_WHOLE)),
    template="winobias_template",
    schemas={"winobias": PairRow},
    formats={
        "WinoBias": "a folder with {pro,anti}_stereotyped_type{1,2}.txt.{dev,test}: '1 [The cook] … because [he] …', "
        "line k of pro and anti being one pair; or a table: pro, anti, type (penchant schema winobias)"
    },
)
WINOGENDER = Instrument(
    probe=Winogender,
    compare=gender_estimates.compare,
    section=section(gender_views.VIEWS, WORDS.below("winogender")),
    headline=Headline(At(measure=PEARSON, **_EFFECT), At(measure=PEARSON_DIFFERENCE, **_EFFECT)),
    template="winogender_template",
    schemas={"winogender": {"sentences": GenderSentenceRow, "templates": TemplateRow}},
    formats={
        "Winogender": "TSV: sentid, sentence (or templates), with a table of occupation and percentages of women "
        "(penchant schema winogender)"
    },
)
