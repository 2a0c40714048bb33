"""The entry point of StereoSet."""

from penchant.instruments.descriptor import Instrument
from penchant.instruments.stereoset import charts, prose, section
from penchant.instruments.stereoset.compare import compare
from penchant.instruments.stereoset.data import StereoSetFile
from penchant.instruments.stereoset.probe import StereoSet
from penchant.report.sections import Section

STEREOSET = Instrument(
    probe=StereoSet,
    compare=compare,
    section=Section(
        "StereoSet",
        "Does the model prefer stereotypes to their opposites, and either to what makes no sense?",
        section.tables,
        section.compared,
        charts.figures,
        section.items,
        prose.methods,
        prose.limits,
        prose.finding,
    ),
    template="template",
    formats={
        "StereoSet": "JSON: data.intrasentence and data.intersentence, clusters with id, target, bias_type, context "
        "and three sentences with gold_label"
    },
    schemas={"stereoset": {"clusters": StereoSetFile}},
    references="references.bib",
)
