"""The entry point of DisCo."""

from penchant.instruments.descriptor import Instrument
from penchant.instruments.disco import charts, prose, section
from penchant.instruments.disco.compare import compare
from penchant.instruments.disco.data import DiscoFile
from penchant.instruments.disco.probe import Disco
from penchant.report.sections import Section

DISCO = Instrument(
    probe=Disco,
    compare=compare,
    section=Section(
        "DisCo",
        "Does the model fill in other words after persons of one gender than after those of the other?",
        section.tables,
        section.compared,
        charts.figures,
        section.items,
        prose.methods,
        prose.limits,
        prose.finding,
    ),
    template="template",
    schemas={"disco": {"set.yaml": DiscoFile}},
    formats={
        "words and templates with a blank": "for disco: a directory with set.yaml: persons of two groups, templates "
        "with PERSON and BLANK (penchant schema disco)"
    },
    references="references.bib",
)
