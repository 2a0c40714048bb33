"""The entry point of BEC-Pro and tables of its form."""

from penchant.instruments.bec_pro import charts, prose, section
from penchant.instruments.bec_pro.compare import compare
from penchant.instruments.bec_pro.data import TamRow
from penchant.instruments.bec_pro.probe import BecPro
from penchant.instruments.descriptor import Instrument
from penchant.report.sections import Section

BEC_PRO = Instrument(
    probe=BecPro,
    compare=compare,
    section=Section(
        "Persons and professions",
        "Does a profession make persons of one gender more probable than those of the other?",
        section.tables,
        section.compared,
        charts.figures,
        section.items,
        prose.methods,
        prose.limits,
        prose.finding,
    ),
    template="template",
    schemas={"bec-pro": {"table": TamRow}},
    formats={
        "BEC-Pro": "a table with Sent_TM (person masked), Sent_TAM (attribute masked too), Person, Gender, Profession, "
        "Prof_Gender, Template (penchant schema bec-pro)"
    },
    references="references.bib",
)
