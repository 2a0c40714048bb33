"""Value statements put to a chat model as questions: items, ratings, and estimates of how steady the answers are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from penchant.errors import DataError
from penchant.instruments.answer_steadiness import steadiness
from penchant.instruments.elicit_settings import Phrases
from penchant.instruments.elicitation import ChoiceQuestion, elicitation_columns, elicited, phrases_of
from penchant.instruments.session import Session
from penchant.instruments.values.cells import number_alone, placed, without_unanswered
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW, AskedTemplate, ChatPart, Statement, ValuesSet
from penchant.instruments.values.settings import ValuesSettings
from penchant.records import Estimate
from penchant.stats.intervals import t_mean

RATING = "rating"


def chat_part(values_set: ValuesSet) -> tuple[ChatPart, Phrases]:
    """Return a set's questions and its phrases for instructions and replies. Raises DataError if it lacks either."""
    if values_set.chat is None:
        hint = "add chat with options and templates, or name a bundled set under like (penchant schema values)"
        raise DataError("the set has no questions for chat models", file=values_set.files[0], field="chat", hint=hint)
    phrases = values_set.chat.phrases or phrases_of(values_set.language)
    if phrases is None:
        message = f"penchant has no phrases for the language {values_set.language}"
        hint = "add phrases under chat (penchant schema values)"
        raise DataError(message, file=values_set.files[0], field="chat", hint=hint)
    return values_set.chat, phrases


def asked_clauses(values_set: ValuesSet) -> list[Statement]:
    """Return the clauses that are asked about: statements and negations."""
    return [*values_set.statements, *values_set.negations]


def questions(values_set: ValuesSet) -> Iterator[tuple[AskedTemplate, Statement, ChoiceQuestion]]:
    """Yield every question, with its template and clause."""
    part, _ = chat_part(values_set)
    for template in part.templates:
        for clause in asked_clauses(values_set):
            text = template.question.replace("{statement}", clause.text)
            yield template, clause, ChoiceQuestion(text, tuple(part.options), clause.place, template.system or "")


def asked_items(session: Session, values_set: ValuesSet, settings: ValuesSettings) -> pl.DataFrame:
    """Return one row per question: the probabilities of its options in each order shown, its replies, and its rating.

    The rating is on the scale from 1 to 5. If `elicit` is `chat`, it is the mean of the options weighted by their
    probabilities; if `answer`, the mean of the options that replies choose, or null if no reply chooses an option.
    """
    part, phrases = chat_part(values_set)
    listed = list(questions(values_set))
    scale = np.linspace(LOW, HIGH, len(part.options))
    rows = []
    found = list(elicited(session, [question for _, _, question in listed], settings, phrases))
    for (template, clause, question), each in zip(listed, found, strict=True):
        chosen = [scale[option] for option in each.chosen if option is not None]
        rating = float(np.mean(chosen)) if chosen else None
        if settings.elicit == "chat":
            rating = float(each.mean @ scale)
        rows.append(
            {
                **clause.labels(template),
                "system": question.system,
                "question": question.text,
                "options": list(question.options),
                "rating": rating,
                "towards": rating if rating is None or not clause.reversed else LOW + HIGH - rating,
            }
        )
    ratings = {"rating": pl.Float64, "towards": pl.Float64}
    table = pl.DataFrame(rows, schema_overrides=ratings, infer_schema_length=None)
    return table.with_columns(elicitation_columns(found))


def asked_estimates(items: pl.DataFrame, settings: ValuesSettings) -> Iterator[Estimate]:
    """Yield the rating of each statement, and how steady the answers are, for every wording and group."""
    stated = items.filter(kind="statement")
    for (variant, group), cell in stated.group_by(["variant", "group"], maintain_order=True):
        place = str(variant), str(group)
        for row in without_unanswered(cell).iter_rows(named=True):
            yield placed(_rating(row, settings), RATING, *place, row["value"], row["id"])
        scale = np.linspace(LOW, HIGH, len(cell["options"][0]))
        for estimate in steadiness(cell, scale, settings.level, "statements"):
            yield placed(estimate, estimate.measure, *place, EVERYTHING)


def _rating(row: dict[str, Any], settings: ValuesSettings) -> Estimate:
    """Return the rating of a statement; it has an interval, over sampled replies, only if `elicit` is `answer`."""
    values = np.linspace(LOW, HIGH, len(row["options"]))[[each for each in row["chosen"] if each is not None]]
    if settings.elicit == "answer":
        return t_mean(values, level=settings.level, noun="replies", bounds=(LOW, HIGH))
    orders = len(row["order_probabilities"])
    return Estimate("", row["rating"], orders, level=settings.level, method=number_alone("values.of-options"))
