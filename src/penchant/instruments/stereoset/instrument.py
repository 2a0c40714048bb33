"""The entry point of StereoSet."""

from penchant.instruments.descriptor import Instrument
from penchant.instruments.stereoset.compare import compare
from penchant.instruments.stereoset.data import StereoSetFile
from penchant.instruments.stereoset.probe import StereoSet
from penchant.instruments.stereoset.views import VIEWS
from penchant.views.section import section
from penchant.wording.templates import Text

STEREOSET = Instrument(
    probe=StereoSet,
    compare=compare,
    section=section(VIEWS, Text.of(StereoSet.folder())),
    formats={
        "StereoSet": "JSON: data.intrasentence and data.intersentence, clusters with id, target, bias_type, context "
        "and three sentences with gold_label"
    },
    schemas={"stereoset": {"clusters": StereoSetFile}},
)
