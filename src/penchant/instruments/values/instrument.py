"""The entry point of value statements."""

from penchant.instruments.descriptor import Instrument
from penchant.instruments.values import judging
from penchant.instruments.values.compare import compare
from penchant.instruments.values.data import SCHEMAS
from penchant.instruments.values.probe import Values
from penchant.instruments.values.survey_description import SurveyFile
from penchant.instruments.values.views import VIEWS
from penchant.views.section import section
from penchant.wording.templates import Text

VALUES = Instrument(
    probe=Values,
    compare=compare,
    section=section(VIEWS, Text.of(Values.folder())),
    schemas={"values": {**SCHEMAS, "survey": SurveyFile}},
    formats={
        "value statements": "a directory with set.yaml (penchant schema values)",
        "survey.yaml": "people's answers to value statements (penchant schema values)",
    },
    judge=judging.task,
)
