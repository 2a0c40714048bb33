"""The entry point of vector-bias."""

from penchant.corpus.stimuli_files import SCHEMAS
from penchant.instruments.descriptor import Instrument
from penchant.instruments.vector_bias import charts, items, prose, section
from penchant.instruments.vector_bias.compare import compare
from penchant.instruments.vector_bias.finding import finding
from penchant.instruments.vector_bias.probe import VectorBias
from penchant.report.sections import Section

VECTOR_BIAS = Instrument(
    probe=VectorBias,
    compare=compare,
    section=Section(
        "Bias of word vectors by five measures",
        "Do RND, RNSB, MAC, ECT and RIPA find that word vectors treat two sets of words differently?",
        section.tables,
        section.compared,
        charts.figures,
        items.items,
        prose.methods,
        prose.limits,
        finding,
    ),
    template="template",
    schemas={"stimuli": SCHEMAS},
    formats={
        "stimuli": "for association tests: a directory with set.yaml, SEAT's or CEAT's JSONL files, or a table with "
        "category, set, word (penchant schema stimuli)"
    },
    references="references.bib",
)
