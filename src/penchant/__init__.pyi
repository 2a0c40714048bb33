# The public names, each once: `penchant` imports them from here when they are first used, and `penchant.__all__` lists
# them.
from ._version import __version__ as __version__
from .corpus.occurrences import read_occurrences as read_occurrences
from .corpus.stimuli import read_stimuli as read_stimuli
from .engine.scorer import embed as embed
from .engine.scorer import fill as fill
from .engine.scorer import score as score
from .errors import CacheError as CacheError
from .errors import DataError as DataError
from .errors import MethodError as MethodError
from .errors import ModelError as ModelError
from .errors import OutputError as OutputError
from .errors import PenchantError as PenchantError
from .errors import StudyError as StudyError
from .instruments.associations.ceat import CEAT as CEAT
from .instruments.associations.logprob import LogProbBias as LogProbBias
from .instruments.associations.seat import SEAT as SEAT
from .instruments.associations.weat import WEAT as WEAT
from .instruments.base import Instrument as Instrument
from .instruments.base import Measured as Measured
from .instruments.base import Probe as Probe
from .instruments.base import Run as Run
from .instruments.cloze.data import read_cloze as read_cloze
from .instruments.cloze.probe import Cloze as Cloze
from .instruments.minimal_pairs.audit import audit as audit
from .instruments.minimal_pairs.data import read_pairs as read_pairs
from .instruments.minimal_pairs.fair import FairPairs as FairPairs
from .instruments.minimal_pairs.probe import MinimalPairs as MinimalPairs
from .instruments.registry import compare as compare
from .instruments.result import Result as Result
from .instruments.session import Session as Session
from .instruments.values.data import read_values as read_values
from .instruments.values.probe import Values as Values
from .instruments.values.survey import read_survey as read_survey
from .instruments.values.survey import synthetic_survey as synthetic_survey
from .models.load import LanguageModel as LanguageModel
from .models.load import load as load
from .models.load import load_tokenizer as load_tokenizer
from .records import Estimate as Estimate
from .records import Item as Item
from .records import Signature as Signature
from .report.sections import Section as Section
from .study.check import check as check
from .vectors.static import StaticVectors as StaticVectors

__all__: list[str]
