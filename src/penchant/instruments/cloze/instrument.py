"""The entry point of cloze valence."""

from penchant.instruments.cloze import charts, judging, prose, section
from penchant.instruments.cloze.compare import compare
from penchant.instruments.cloze.data import SCHEMAS
from penchant.instruments.cloze.finding import finding
from penchant.instruments.cloze.probe import Cloze
from penchant.instruments.descriptor import Instrument
from penchant.report.sections import Section

CLOZE = Instrument(
    probe=Cloze,
    compare=compare,
    section=Section(
        "Cloze valence",
        "Towards which of two varieties of a language does the model lean when it fills a gap?",
        section.tables,
        section.compared,
        charts.figures,
        section.items,
        prose.methods,
        prose.limits,
        finding,
    ),
    template="template",
    schemas={"cloze": SCHEMAS},
    formats={
        "cloze test set": "a directory with set.yaml, or a table: id, text, expected, group (penchant schema cloze)"
    },
    references="references.bib",
    judge=judging.task,
)
