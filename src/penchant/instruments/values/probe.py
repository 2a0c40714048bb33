"""Value statements: a model's agreement with them, compared with neutral statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl
from pydantic import PrivateAttr

from penchant.corpus.priority_sampling import spread
from penchant.engine.scorer import SentenceScore, language_model
from penchant.engine.scoring_methods import method_for
from penchant.errors import DataError, MethodError
from penchant.instruments.base_probe import Measured, Model, Probe, beginning
from penchant.instruments.elicitation import require_chat, signed_elicitation, spoken
from penchant.instruments.session import Session
from penchant.instruments.unknown_tokens import known_items, known_texts, signed_unknown
from penchant.instruments.values.cautions import value_cautions
from penchant.instruments.values.cells import rated
from penchant.instruments.values.chat_questions import asked_clauses, asked_items, chat_part, questions
from penchant.instruments.values.data import StanceTemplate, Statement, ValuesSet, read_values
from penchant.instruments.values.estimates import value_estimates
from penchant.instruments.values.settings import ValuesSettings
from penchant.instruments.values.survey import Survey, read_survey
from penchant.models.load import LanguageModel
from penchant.records import Estimate
from penchant.tables.data_cautions import name_cautions, repeated_rows
from penchant.tables.missing_values import missing_cautions
from penchant.wording.phrases import Note

SPAN = "span"
LP = "lp"
STANCES = ("agree", "disagree")


@dataclass(frozen=True)
class Rated(Measured):
    """Rated clauses, and the survey they are compared with."""

    survey: Survey | None = None


class Values(ValuesSettings, Probe[Rated]):
    """Agreement with value statements, calibrated on neutral ones and compared with a survey.

    `run` returns items (one row per clause, group and wording: both sentences with the log-probability of every token,
    agreement and rating) and a summary: calibration with its diagnostics, mean rating and spread by value and group,
    differences between groups, consistency, and representativeness among people's answers.
    """

    equivalents: ClassVar[bool] = True

    _read: dict[Path, ValuesSet] = PrivateAttr(default_factory=dict)
    _asked: dict[Path, Survey] = PrivateAttr(default_factory=dict)

    def statements(self, base: Sequence[Path] = (Path(),)) -> ValuesSet:
        """Return the checked and cached set, looked up in `base`. Raises DataError naming file, line and field."""
        place = self.find(self.data, base)
        if place not in self._read:
            self._read[place] = read_values(place)
        return self._read[place]

    def answers(self, base: Sequence[Path] = (Path(),)) -> Survey | None:
        """Return the survey, looked up in the directories `base`, or None if `survey` is not set.

        Raises DataError naming file, line and field.
        """
        if self.survey is None:
            return None
        values_set = self.statements(base)
        place = self.find(self.survey, base)
        if place in self._asked:
            return self._asked[place]
        survey = read_survey(place, {s.id: s.text for s in values_set.statements})
        groups = dict.fromkeys(template.group for template in values_set.templates)
        lost = [group for group in groups if not len(survey.of(group))]
        if lost:
            raise DataError(
                f"no respondent belongs to group '{lost[0]}' of the templates",
                file=survey.files[0],
                field="groups",
                hint="; ".join(filter(None, [f"name the level of each of {', '.join(groups)}", survey.levels])),
            )
        self._asked[place] = survey
        return survey

    def asked(self, base: Sequence[Path]) -> ValuesSet:
        """Return the set, reduced to a sample if `limit` is set.

        The sample has up to `limit` statements, spread over values, with their negations, and as many neutral ones.
        """
        values_set = self.statements(base)
        if self.limit is None:
            return values_set
        statements, calibration = (
            tuple(
                spread(
                    clauses,
                    self.limit,
                    seed=self.seed,
                    content=lambda clause: (clause.id, clause.text),
                    group=lambda clause: clause.value,
                )
            )
            for clauses in (values_set.statements, values_set.calibration)
        )
        kept = {statement.id for statement in statements}
        negations = tuple(clause for clause in values_set.negations if clause.id in kept)
        return replace(values_set, statements=statements, calibration=calibration, negations=negations)

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Return the sentences of both stances, or the questions, for every clause, with the location of the clause."""
        values_set = self.asked(base)
        if self.asks:
            phrases = chat_part(values_set)[1]
            return list(spoken((question for _, _, question in questions(values_set)), phrases))
        return [(text, place) for text, _, place in self._sentences(values_set)]

    def read_by(self, model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """Return the texts without those that are skipped as unknown to the tokenizer."""
        return known_texts(model, texts, self.on_unknown)

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the files of the set and of any survey, looked up in the directories `base`."""
        survey = self.answers(base)
        return [*self.statements(base).files, *(survey.files if survey else ())]

    @staticmethod
    def _rows(values_set: ValuesSet, clauses: Sequence[Statement]) -> Iterator[tuple[StanceTemplate, Statement]]:
        return ((template, clause) for template in values_set.templates for clause in clauses)

    def _sentences(
        self, values_set: ValuesSet, clauses: Sequence[Statement] | None = None
    ) -> Iterator[tuple[str, tuple[int, int], str]]:
        for template, clause in self._rows(values_set, list(values_set.clauses()) if clauses is None else clauses):
            for stance in STANCES:
                yield *template.sentence(stance, clause.text, values_set.language), clause.place

    def settle(self, model: Model) -> Self:
        """Return a copy with method and calibration set. Raises MethodError if the model does not support them."""
        if self.asks:
            return self._settled_chat(language_model(model))
        method = self._method(language_model(model))
        line = self.calibration or ("origin" if method == SPAN else "difference")
        return self.model_copy(update={"method": method, "calibration": line})

    def _settled_chat(self, lm: LanguageModel) -> Self:
        for name, value in (("method", self.method), ("calibration", self.calibration)):
            if value is not None:
                message = f"{name} '{value}' is for sentences, but elicit is {self.elicit}"
                raise MethodError(message, hint=f"remove {name}, or use elicit: sentence")
        require_chat(self, lm)
        return self

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the entries of the signature: set, survey, scoring method and calibration."""
        lm, values_set = language_model(model), self.statements(base)
        if self.asks:
            return {
                "data": f"{values_set.name}#{values_set.sha256[:6]}",
                "survey": _cited(self.answers(base)),
                "method": self.elicit,
                "calibration": "none",
                **signed_elicitation(self, lm),
                **signed_unknown(self.on_unknown),
            }
        return {
            "data": f"{values_set.name}#{values_set.sha256[:6]}",
            "survey": _cited(self.answers(base)),
            "method": self.method,
            "calibration": self.calibration,
            **({"bos": beginning(lm)} if lm.kind == "causal" else {}),
            **signed_unknown(self.on_unknown),
        }

    def measure(self, session: Session) -> Rated:
        """Score the sentences of both stances for every clause and calibrate the scores, or ask the questions."""
        values_set = self.asked(session.base)
        clauses, cautions = self._known(session.lm, values_set)
        if self.asks:
            kept = replace(values_set, statements=_of(clauses, "statement"), negations=_of(clauses, "negation"))
            return Rated(asked_items(session, kept, self), cautions, survey=self.answers(session.base))
        cautions += tuple(missing_cautions(((clause.text, clause.place) for clause in clauses), "clauses"))
        cautions += tuple(repeated_rows(((clause.text, clause.place) for clause in clauses), "clauses"))
        sentences = list(self._sentences(values_set, clauses))
        session.expect(len(sentences))
        if self.method == SPAN:
            scores = list(session.scorer.spans(sentences))
        else:
            scores = list(session.scorer.score(((text, place) for text, _, place in sentences), LP))
        items = rated(_items(self._rows(values_set, clauses), scores), self.line)
        return Rated(items, cautions, survey=self.answers(session.base))

    def _known(self, lm: LanguageModel, values_set: ValuesSet) -> tuple[list[Statement], tuple[Note | str, ...]]:
        """Return the clauses that the tokenizer knows in every template, and cautions on the others.

        A negation without its statement is left out. Raises DataError if no statement or no calibration clause is left,
        or if any clause has unknown text and `on_unknown` is "stop".
        """
        clauses, cautions = known_items(
            lm,
            asked_clauses(values_set) if self.asks else list(values_set.clauses()),
            lambda clause: [clause.text] if self.asks else [s[0] for s in self._sentences(values_set, [clause])],
            lambda clause: clause.place,
            self.on_unknown,
            "clauses",
        )
        statements = {clause.id for clause in clauses if clause.kind == "statement"}
        kept = [clause for clause in clauses if clause.kind != "negation" or clause.id in statements]
        if len(kept) < len(clauses):
            alone = [clause.id for clause in clauses if clause.kind == "negation" and clause.id not in statements]
            cautions += (Note("values.negations-alone", ids=alone),)
        lost = {"statement", *([] if self.asks else ["calibration"])} - {clause.kind for clause in kept}
        if lost:
            raise DataError(
                f"every {min(lost)} clause has text unknown to the tokenizer of {lm.name}",
                where=values_set.name,
                hint="use a model whose vocabulary covers the clauses",
            )
        return kept, cautions

    def summarise(self, measured: Rated) -> Iterable[Estimate]:
        """Return the estimates: calibration, ratings, differences, consistency, and the comparison with the survey."""
        return value_estimates(measured.items, self, measured.survey)

    def cautions(self, measured: Rated, estimates: Sequence[Estimate]) -> Iterable[Note | str]:
        """Return cautions about the calibration, the ratings and the survey."""
        values = measured.items.filter(kind="statement")["value"].unique(maintain_order=True).to_list()
        return [*value_cautions(measured.items, self, estimates, measured.survey), *name_cautions(values, "values")]

    def _method(self, lm: LanguageModel) -> str:
        method_for(None, lm)
        fitting = SPAN if lm.kind == "masked" else LP
        if self.method not in (None, fitting):
            raise MethodError(
                f"method '{self.method}' does not fit {lm.name}, which is a {lm.kind} model", hint=f"use {fitting}"
            )
        return fitting


def _of(clauses: Iterable[Statement], kind: str) -> tuple[Statement, ...]:
    return tuple(clause for clause in clauses if clause.kind == kind)


def _cited(survey: Survey | None) -> str:
    if survey is None:
        return "none"
    return f"{'synthetic ' if survey.synthetic else ''}{survey.name}#{survey.sha256[:6]}"


def _items(rows: Iterator[tuple[StanceTemplate, Statement]], scores: Sequence[SentenceScore]) -> pl.DataFrame:
    """Return one row per template and clause: its labels, both sentences, and the log-probability of each stance."""
    records: list[dict[str, Any]] = []
    for (template, clause), agree, disagree in zip(rows, scores[::2], scores[1::2], strict=True):
        row = clause.labels(template)
        for stance, score in (("agree", agree), ("disagree", disagree)):
            row |= {
                f"sentence_{stance}": score.text,
                stance: score.score,
                f"n_tokens_{stance}": score.n,
                f"tokens_{stance}": list(score.tokens),
                f"logprobs_{stance}": [None if v != v else v for v in score.token_logprobs.tolist()],
            }
        records.append(row)
    kinds = {f"logprobs_{stance}": pl.List(pl.Float32) for stance in STANCES}
    return pl.DataFrame(records, schema_overrides=kinds, infer_schema_length=None)
