"""The entry point of value statements, and their task for raters."""

from __future__ import annotations

from pathlib import Path

from penchant.instruments.comparison import Comparison
from penchant.instruments.descriptor import Instrument
from penchant.instruments.values.data import HIGH, LOW, SCHEMAS, SETS, TEXT, read_values
from penchant.instruments.values.estimates import MEAN, differences
from penchant.instruments.values.probe import Values
from penchant.instruments.values.settings import DIFFERENCE, ValuesSettings
from penchant.instruments.values.study_from_table import USER_TABLE
from penchant.instruments.values.survey_codebook import SurveyFile
from penchant.instruments.values.views import VIEWS
from penchant.rating.tasks import Point, Question, RatingTask, Wishes
from penchant.tables.data_lookup import SET_FILE, bundled
from penchant.views.headline import Headline
from penchant.views.row_selection import FIRST, At
from penchant.views.section import section


def task(target: str, wishes: Wishes) -> RatingTask | None:
    """Return the statements of the set `target` as a rating task; None if it is not a set of value statements.

    Raises DataError if the set is invalid.
    """
    path = Path(target)
    known = (path / SET_FILE).is_file() or path.name == SET_FILE
    if not known and target not in bundled(SETS, SET_FILE):
        return None
    words, read = TEXT.below("judging"), read_values(target)
    names = words.paragraphs("points")
    return RatingTask(
        words.get("title"),
        "scale",
        wishes.question or words.get("title"),
        tuple(Question({"id": each.id}, each.text) for each in read.statements),
        tuple(Point(float(n), name) for n, name in zip(range(LOW, HIGH + 1), names, strict=True)),
        layout="wide",
        value="answer",
        language=read.language,
        instructions=words.get("instructions"),
    )


VALUES = Instrument(
    probe=Values,
    compare=Comparison(
        ValuesSettings,
        ("id", "kind", "variant", "group", "sentence_agree", "sentence_disagree", "question"),
        differences,
        free=("bos", "template"),
    ),
    section=section(VIEWS, TEXT),
    headline=Headline(At(measure=MEAN, variant=FIRST, item=""), At(measure=DIFFERENCE, variant=FIRST)),
    schemas={"values": {**SCHEMAS, "survey": SurveyFile}},
    formats={
        "value statements": "a directory with set.yaml (penchant schema values)",
        "survey.yaml": "people's answers to value statements (penchant schema values)",
    },
    judge=task,
    from_table=USER_TABLE,
)
