"""The entry point of vector-bias, the measures of bias in static word vectors."""

from penchant.corpus.stimulus_file_models import SCHEMAS
from penchant.instruments.comparison import Comparison
from penchant.instruments.descriptor import Instrument
from penchant.instruments.vector_bias.estimates import differences
from penchant.instruments.vector_bias.measures import AGAINST, UNION
from penchant.instruments.vector_bias.probe import VectorBias
from penchant.instruments.vector_bias.settings import VectorBiasSettings
from penchant.instruments.vector_bias.views import VIEWS
from penchant.views.headline import Headline
from penchant.views.row_selection import At
from penchant.views.section import section
from penchant.wording.templates import Text

_BOTH = (UNION, AGAINST)
VECTOR_BIAS = Instrument(
    probe=VectorBias,
    compare=Comparison(VectorBiasSettings, ("id",), differences, free=("case",)),
    section=section(VIEWS, Text.of(VectorBias.folder())),
    headline=Headline(At(attributes=_BOTH), At(attributes=_BOTH)),
    schemas={"stimuli": SCHEMAS},
    formats={
        "stimuli": "for association tests: a directory with set.yaml, SEAT's or CEAT's JSONL files, or a table with "
        "category, set, word (penchant schema stimuli)"
    },
)
