"""The entry point of amplification."""

from penchant.instruments.amplification import charts, prose, section
from penchant.instruments.amplification.compare import compare
from penchant.instruments.amplification.data import SCHEMAS
from penchant.instruments.amplification.finding import finding
from penchant.instruments.amplification.probe import Amplification
from penchant.instruments.descriptor import Instrument
from penchant.report.sections import Section

AMPLIFICATION = Instrument(
    probe=Amplification,
    compare=compare,
    section=Section(
        "Amplification",
        "Does the model say more of two groups than the text it was trained on?",
        section.tables,
        section.compared,
        charts.figures,
        section.items,
        prose.methods,
        prose.limits,
        finding,
    ),
    template="template",
    schemas={"amplification": SCHEMAS},
    formats={
        "contrasts of groups": "for amplification: a directory with set.yaml: groups, attributes, templates (penchant "
        "schema amplification)"
    },
    references="references.bib",
)
