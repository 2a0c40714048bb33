"""The entry point of value statements."""

from penchant.instruments.descriptor import Instrument
from penchant.instruments.values import charts, judging, prose, section
from penchant.instruments.values.compare import compare
from penchant.instruments.values.data import SCHEMAS
from penchant.instruments.values.finding import finding
from penchant.instruments.values.probe import Values
from penchant.instruments.values.survey_description import SurveyFile
from penchant.report.sections import Section

VALUES = Instrument(
    probe=Values,
    compare=compare,
    section=Section(
        "Value statements",
        "Does the model lean towards agreeing with statements of a value, more than with neutral ones?",
        section.tables,
        section.compared,
        charts.figures,
        section.items,
        prose.methods,
        prose.limits,
        finding,
    ),
    template="template",
    schemas={"values": {**SCHEMAS, "survey": SurveyFile}},
    formats={
        "value statements": "a directory with set.yaml (penchant schema values)",
        "survey.yaml": "people's answers to value statements (penchant schema values)",
    },
    references="references.bib",
    judge=judging.task,
)
