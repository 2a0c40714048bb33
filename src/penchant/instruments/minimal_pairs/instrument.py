"""Instruments for minimal pairs and fair minimal pairs, declared as entry points."""

from dataclasses import replace
from typing import Any

from penchant.grammar.grammar_file import GrammarFile
from penchant.instruments.descriptor import Instrument
from penchant.instruments.minimal_pairs import fair_pair_views, judgement_task
from penchant.instruments.minimal_pairs.compare import compare
from penchant.instruments.minimal_pairs.curve_views import curves
from penchant.instruments.minimal_pairs.estimates import ACCURACY
from penchant.instruments.minimal_pairs.fair_versus_original import FairPairs
from penchant.instruments.minimal_pairs.fixed_group_estimates import for_these_groups
from penchant.instruments.minimal_pairs.human_judgements import JudgementRow
from penchant.instruments.minimal_pairs.probe import MinimalPairs
from penchant.instruments.minimal_pairs.settings import DIFFERENCE
from penchant.instruments.minimal_pairs.study_from_table import USER_TABLE
from penchant.instruments.minimal_pairs.training_curve import curve
from penchant.instruments.minimal_pairs.views import VIEWS
from penchant.views.headline import Headline
from penchant.views.row_selection import FIRST, At
from penchant.views.section import section
from penchant.wording.templates import Text

_TEXT = Text.of(MinimalPairs.folder())
_WHOLE: dict[str, Any] = {"scope": "overall", "split": "all", "normalise": FIRST}
_HEADLINE = Headline(At(measure=ACCURACY, **_WHOLE), At(measure=DIFFERENCE, **_WHOLE), for_these_groups)

MINIMAL_PAIRS = Instrument(
    probe=MinimalPairs,
    compare=compare,
    section=replace(section(VIEWS, _TEXT.below("pairs")), curves=curves(_TEXT.below("curve"))),
    headline=_HEADLINE,
    formats={
        "BLiMP": "JSON lines: sentence_good, sentence_bad, UID, linguistics_term",
        "CrowS-Pairs": "CSV: sent_more, sent_less, stereo_antistereo, bias_type",
        "RuBLiMP": "CSV: source_sentence, target_sentence, phenomenon, PID",
        "TurBLiMP": "CSV with semicolons: good_sentence, bad_sentence, phenomenon, and optionally subtype",
        "SLING": "JSON lines: sentence_good, sentence_bad, phenomenon or Phenomenon, paradigm or Paradigm",
        "MultiBLiMP": "TSV, one file a language: sen, wrong_sen, and optionally phenomenon or feature_vals",
        "COMPS": "JSON lines: prefix_acceptable, prefix_unacceptable, property_phrase",
        "plain table": "CSV, TSV, JSON lines or Parquet: good, bad, and optionally group, phenomenon, id",
    },
    schemas={"judgements": {"judgements": JudgementRow}},
    judge=judgement_task.task,
    curve=curve,
    from_table=USER_TABLE,
)
FAIR_PAIRS = Instrument(
    probe=FairPairs,
    compare=compare,
    section=section(fair_pair_views.VIEWS, _TEXT.below("fair")),
    headline=_HEADLINE,
    template="fair_template",
    schemas={"grammar": GrammarFile},
)
