"""Instrument for StereoSet, declared as an entry point."""

from typing import Any

from penchant.instruments.comparison import difference
from penchant.instruments.descriptor import Instrument
from penchant.instruments.stereoset.compare import compare
from penchant.instruments.stereoset.data import StereoSetFile
from penchant.instruments.stereoset.estimates import SS
from penchant.instruments.stereoset.probe import StereoSet
from penchant.instruments.stereoset.views import VIEWS
from penchant.views.headline import Headline
from penchant.views.row_selection import FIRST, At
from penchant.views.section import section
from penchant.wording.templates import Text

_WHOLE: dict[str, Any] = {"scope": "overall", "mean": FIRST, "normalise": FIRST}
STEREOSET = Instrument(
    probe=StereoSet,
    compare=compare,
    section=section(VIEWS, Text.of(StereoSet.folder())),
    headline=Headline(At(measure=SS, **_WHOLE), At(measure=difference(SS), **_WHOLE)),
    formats={
        "StereoSet": "JSON: data.intrasentence and data.intersentence, clusters with id, target, bias_type, context "
        "and three sentences with gold_label"
    },
    schemas={"stereoset": {"clusters": StereoSetFile}},
)
