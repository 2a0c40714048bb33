"""The entry points of minimal pairs and fair minimal pairs."""

from penchant.grammar.grammar_file import GrammarFile
from penchant.instruments.descriptor import Instrument
from penchant.instruments.minimal_pairs import charts, differences, fair_prose, fair_section, judging, prose, section
from penchant.instruments.minimal_pairs.compare import compare
from penchant.instruments.minimal_pairs.curve import curve
from penchant.instruments.minimal_pairs.curve_section import CURVES
from penchant.instruments.minimal_pairs.fair import FairPairs
from penchant.instruments.minimal_pairs.finding import fair_finding, finding
from penchant.instruments.minimal_pairs.human import JudgementRow
from penchant.instruments.minimal_pairs.probe import MinimalPairs
from penchant.report.sections import Section

MINIMAL_PAIRS = Instrument(
    probe=MinimalPairs,
    compare=compare,
    section=Section(
        "Minimal pairs",
        "Which sentence of each pair does the model prefer, and how much of that is token length?",
        section.tables,
        differences.compared,
        charts.figures,
        section.items,
        prose.methods,
        prose.limits,
        finding,
        CURVES,
    ),
    template="template",
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
    references="references.bib",
    judge=judging.task,
    curve=curve,
)
FAIR_PAIRS = Instrument(
    probe=FairPairs,
    compare=compare,
    section=Section(
        "Fair minimal pairs",
        "Does the order of models change when both sentences of every pair have equal numbers of tokens?",
        fair_section.tables,
        fair_section.compared,
        fair_section.figures,
        section.items,
        fair_prose.methods,
        fair_prose.limits,
        fair_finding,
    ),
    template="fair_template",
    schemas={"grammar": GrammarFile},
    references="references.bib",
)
