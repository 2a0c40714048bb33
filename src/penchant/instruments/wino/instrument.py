"""The entry points of WinoBias and Winogender."""

from penchant.instruments.descriptor import Instrument
from penchant.instruments.wino import (
    bias_charts,
    bias_compare,
    bias_prose,
    bias_section,
    gender_charts,
    gender_compare,
    gender_prose,
    gender_section,
)
from penchant.instruments.wino.bias import WinoBias
from penchant.instruments.wino.gender import Winogender
from penchant.instruments.wino.gender_data import SentenceRow, TemplateRow
from penchant.report.sections import Section

WINOBIAS = Instrument(
    probe=WinoBias,
    compare=bias_compare.compare,
    section=Section(
        "WinoBias: stereotyped pronouns",
        "Does the model prefer the pronoun that agrees with the stereotype of an occupation, apart from a preference "
        "for one gender everywhere?",
        bias_section.tables,
        bias_section.compared,
        bias_charts.figures,
        bias_section.items,
        bias_prose.methods,
        bias_prose.limits,
        bias_prose.finding,
    ),
    template="winobias_template",
    formats={
        "WinoBias": "a folder with {pro,anti}_stereotyped_type{1,2}.txt.{dev,test}: '1 [The cook] … because [he] …', "
        "line k of pro and anti being one pair"
    },
    references="references.bib",
)
WINOGENDER = Instrument(
    probe=Winogender,
    compare=gender_compare.compare,
    section=Section(
        "Winogender: pronouns and the share of women",
        "Does the model prefer she to he where more women have the occupation, and more so where the pronoun refers "
        "to it?",
        gender_section.tables,
        gender_section.compared,
        gender_charts.figures,
        gender_section.items,
        gender_prose.methods,
        gender_prose.limits,
        gender_prose.finding,
    ),
    template="winogender_template",
    schemas={"winogender": {"sentences": SentenceRow, "templates": TemplateRow}},
    formats={
        "Winogender": "TSV: sentid, sentence (or templates), with a table of occupation and percentages of women "
        "(penchant schema winogender)"
    },
    references="references.bib",
)
