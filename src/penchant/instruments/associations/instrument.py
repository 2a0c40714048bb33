"""The entry points of WEAT, SEAT, CEAT and the log-probability bias score."""

from typing import Any

from penchant.corpus.occurrences import OccurrenceRow
from penchant.corpus.stimuli_files import SCHEMAS
from penchant.instruments.associations import across, ceat, charts, items, logprob, prose, seat, section, weat
from penchant.instruments.associations.compare import compare
from penchant.instruments.associations.finding import finding, finding_across
from penchant.instruments.associations.probe import Association
from penchant.instruments.descriptor import Instrument
from penchant.report.sections import Overview, Section

ACROSS = Overview(
    "associations",
    Section(
        "Associations across measures",
        "Do measures of associations agree on the same categories?",
        across.tables,
        lambda comparison: [],
        across.figures,
        None,
        across.methods,
        across.limits,
        finding_across,
    ),
)


STIMULI = {
    "stimuli": "for association tests: a directory with set.yaml, SEAT's or CEAT's JSONL files, or a table with "
    "category, set, word (penchant schema stimuli)"
}
SENTENCES = {
    "sentences": "for ceat: plain text with one sentence a line, or a table with id, word, text, start, end "
    "(penchant schema occurrences)"
}


def _described(probe: type[Association[Any]], title: str, question: str, *files: str, **schemas: Any) -> Instrument:
    shown = Section(
        title,
        question,
        section.tables,
        section.compared,
        charts.figures,
        items.items,
        prose.methods,
        prose.limits,
        finding,
    )
    template = tuple(f"template/{file}" for file in (f"{probe.name}.yaml", "set.yaml", *files))
    return Instrument(
        probe=probe,
        compare=compare,
        section=shown,
        template=template,
        schemas=schemas,
        formats=STIMULI | (SENTENCES if probe is ceat.CEAT else {}),
        references="references.bib",
        overview=ACROSS,
    )


WEAT = _described(
    weat.WEAT,
    "Word embedding association test (WEAT)",
    "Are the vectors of some words nearer to one set of attributes than those of others?",
    "vectors.txt",
    stimuli=SCHEMAS,
)
SEAT = _described(
    seat.SEAT,
    "Sentence encoder association test (SEAT)",
    "Are sentences with some words nearer to sentences with one set of attributes than those with others?",
)
CEAT = _described(
    ceat.CEAT,
    "Contextualized embedding association test (CEAT)",
    "Are words in running text nearer to one set of attributes than others are, and does the length of the context "
    "matter?",
    "sentences.txt",
    occurrences={"occurrences": OccurrenceRow},
)
LOGPROB_BIAS = _described(
    logprob.LogProbBias,
    "Log-probability bias score",
    "Do some attributes make a model expect one set of targets more than others do?",
)
