"""penchant measures what a language model is inclined to say.

    import penchant as pc
    lm  = pc.load("bert-base-uncased")
    tab = pc.score(lm, ["The cats sleep."], method="pll")
    res = pc.MinimalPairs(data="blimp/inchoative.jsonl").run(lm)

Names are imported when they are first used, so that `import penchant` is quick and loads no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from penchant.data.cloze import read_cloze as read_cloze
    from penchant.data.occurrences import read_occurrences as read_occurrences
    from penchant.data.pairs import read_pairs as read_pairs
    from penchant.data.stimuli import read_stimuli as read_stimuli
    from penchant.data.survey import read_survey as read_survey
    from penchant.data.survey import synthetic_survey as synthetic_survey
    from penchant.data.values import read_values as read_values
    from penchant.engine.scorer import embed as embed
    from penchant.engine.scorer import fill as fill
    from penchant.engine.scorer import score as score
    from penchant.errors import CacheError as CacheError
    from penchant.errors import DataError as DataError
    from penchant.errors import MethodError as MethodError
    from penchant.errors import ModelError as ModelError
    from penchant.errors import OutputError as OutputError
    from penchant.errors import PenchantError as PenchantError
    from penchant.errors import StudyError as StudyError
    from penchant.models.load import LanguageModel as LanguageModel
    from penchant.models.load import load as load
    from penchant.models.load import load_tokenizer as load_tokenizer
    from penchant.models.static import StaticVectors as StaticVectors
    from penchant.probes.association import SEAT as SEAT
    from penchant.probes.association import WEAT as WEAT
    from penchant.probes.audit import audit as audit
    from penchant.probes.base import Run as Run
    from penchant.probes.ceat import CEAT as CEAT
    from penchant.probes.cloze import Cloze as Cloze
    from penchant.probes.compare import compare as compare
    from penchant.probes.fair_pairs import FairPairs as FairPairs
    from penchant.probes.logprob_bias import LogProbBias as LogProbBias
    from penchant.probes.minimal_pairs import MinimalPairs as MinimalPairs
    from penchant.probes.values import Values as Values
    from penchant.records import Estimate as Estimate
    from penchant.records import Item as Item
    from penchant.records import Result as Result
    from penchant.records import Signature as Signature
    from penchant.study.check import check as check

_HOMES = {
    "data.cloze": ("read_cloze",),
    "data.occurrences": ("read_occurrences",),
    "data.pairs": ("read_pairs",),
    "data.stimuli": ("read_stimuli",),
    "data.survey": ("read_survey", "synthetic_survey"),
    "data.values": ("read_values",),
    "engine.scorer": ("embed", "fill", "score"),
    "errors": (
        "CacheError",
        "DataError",
        "MethodError",
        "ModelError",
        "OutputError",
        "PenchantError",
        "StudyError",
    ),
    "models.load": ("LanguageModel", "load", "load_tokenizer"),
    "models.static": ("StaticVectors",),
    "probes.association": ("SEAT", "WEAT"),
    "probes.audit": ("audit",),
    "probes.base": ("Run",),
    "probes.ceat": ("CEAT",),
    "probes.cloze": ("Cloze",),
    "probes.compare": ("compare",),
    "probes.fair_pairs": ("FairPairs",),
    "probes.logprob_bias": ("LogProbBias",),
    "probes.minimal_pairs": ("MinimalPairs",),
    "probes.values": ("Values",),
    "records": ("Estimate", "Item", "Result", "Signature"),
    "study.check": ("check",),
}
_WHERE = {name: f"penchant.{module}" for module, names in _HOMES.items() for name in names}

__all__ = sorted(["__version__", *_WHERE])


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'penchant' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__


def _display() -> Any:
    return import_module("penchant.report.notebook")


import_module("penchant.records").show_with(_display)  # results are drawn by a layer above their own
