"""The entry points of WinoBias and Winogender."""

from penchant.instruments.descriptor import Instrument
from penchant.instruments.wino import bias_compare, bias_views, gender_compare, gender_views
from penchant.instruments.wino.bias import WinoBias
from penchant.instruments.wino.gender import Winogender
from penchant.instruments.wino.gender_data import SentenceRow, TemplateRow
from penchant.views.section import section
from penchant.wording.templates import Text

_TEXT = Text.of(WinoBias.folder())

WINOBIAS = Instrument(
    probe=WinoBias,
    compare=bias_compare.compare,
    section=section(bias_views.VIEWS, _TEXT.below("winobias")),
    template="winobias_template",
    formats={
        "WinoBias": "a folder with {pro,anti}_stereotyped_type{1,2}.txt.{dev,test}: '1 [The cook] … because [he] …', "
        "line k of pro and anti being one pair"
    },
)
WINOGENDER = Instrument(
    probe=Winogender,
    compare=gender_compare.compare,
    section=section(gender_views.VIEWS, _TEXT.below("winogender")),
    template="winogender_template",
    schemas={"winogender": {"sentences": SentenceRow, "templates": TemplateRow}},
    formats={
        "Winogender": "TSV: sentid, sentence (or templates), with a table of occupation and percentages of women "
        "(penchant schema winogender)"
    },
)
