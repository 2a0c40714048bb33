"""The entry point of acceptability."""

from penchant.instruments.acceptability import charts, prose, section
from penchant.instruments.acceptability.compare import compare
from penchant.instruments.acceptability.data import SentenceRow
from penchant.instruments.acceptability.probe import Acceptability
from penchant.instruments.descriptor import Instrument
from penchant.report.sections import Section

ACCEPTABILITY = Instrument(
    probe=Acceptability,
    compare=compare,
    section=Section(
        "Acceptability",
        "Do the model's scores go with how acceptable people find sentences, and what do frequency and length do?",
        section.tables,
        section.compared,
        charts.figures,
        section.items,
        prose.methods,
        prose.limits,
        prose.finding,
    ),
    template="template",
    schemas={"acceptability": {"sentences": SentenceRow}},
    formats={
        "judged sentences": "for acceptability: a table of sentence, rating, and optionally rater and "
        "prefix (penchant schema acceptability)"
    },
    references="references.bib",
)
