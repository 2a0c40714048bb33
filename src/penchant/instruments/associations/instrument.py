"""The entry points of WEAT, SEAT, CEAT and the log-probability bias score."""

from typing import Any

from penchant.corpus.occurrences import OccurrenceRow
from penchant.corpus.stimulus_file_models import SCHEMAS
from penchant.instruments.associations.ceat import CEAT as CEAT_PROBE
from penchant.instruments.associations.compare import DIFFERENCE, compare
from penchant.instruments.associations.estimates import TEXT
from penchant.instruments.associations.logprob import LogProbBias
from penchant.instruments.associations.probe import Association
from penchant.instruments.associations.study_from_table import USER_TABLE
from penchant.instruments.associations.tests_side_by_side import across
from penchant.instruments.associations.view_rows import HEADLINE
from penchant.instruments.associations.views import LOGPROB_VIEWS, VIEWS
from penchant.instruments.associations.weat_seat import SEAT as SEAT_PROBE
from penchant.instruments.associations.weat_seat import WEAT as WEAT_PROBE
from penchant.instruments.descriptor import Instrument
from penchant.report.sections import Overview
from penchant.views.headline import Headline
from penchant.views.row_selection import FIRST, At
from penchant.views.section import Views, section

ACROSS = Overview("associations", across(TEXT.below("across")))


_CHOSEN: dict[str, Any] = dict.fromkeys(("layer",), FIRST)
_HEADLINE = Headline(At(measure=HEADLINE, **_CHOSEN), At(measure=DIFFERENCE, **_CHOSEN))
STIMULI = {
    "stimuli": "for association tests: a directory with set.yaml, SEAT's or CEAT's JSONL files, or a table with "
    "category, set, word (penchant schema stimuli)"
}
SENTENCES = {
    "sentences": "for ceat: plain text with one sentence a line, or a table with id, word, text, start, end "
    "(penchant schema occurrences)"
}


def _described(probe: type[Association[Any]], views: Views, *files: str, **schemas: Any) -> Instrument:
    template = tuple(f"template/{file}" for file in (f"{probe.name}.yaml", "set.yaml", *files))
    return Instrument(
        probe=probe,
        compare=compare,
        section=section(views, TEXT.below(probe.name)),
        headline=_HEADLINE,
        template=template,
        schemas=schemas,
        formats=STIMULI | (SENTENCES if probe is CEAT_PROBE else {}),
        overview=ACROSS,
        from_table=USER_TABLE if probe is WEAT_PROBE else None,
    )


WEAT = _described(WEAT_PROBE, VIEWS, "vectors.txt", stimuli=SCHEMAS)
SEAT = _described(SEAT_PROBE, VIEWS)
CEAT = _described(CEAT_PROBE, VIEWS, "sentences.txt", occurrences={"occurrences": OccurrenceRow})
LOGPROB_BIAS = _described(LogProbBias, LOGPROB_VIEWS)
