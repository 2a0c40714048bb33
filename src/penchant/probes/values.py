"""Value statements: does a model lean towards agreeing, compared with what it does with neutral statements?

Every clause is put into sentences of a group who agrees and who disagrees with it. Their log-probabilities, x of
disagreeing and y of agreeing, rise and fall together, so neither means anything alone; neutral statements say what y to
expect for an x, and a clause's rating (1 to 5) is how far its y lies above that. Ratings of the statements of one value
are averaged, turned round where agreeing speaks against it, and set beside people's answers.
Source: Al Ali & Libovický 2024, "How Gender Interacts with Political Values: A Case Study on Czech BERT Models".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import polars as pl
from pydantic import Field, PrivateAttr

from penchant.data.registry import find_data
from penchant.data.survey import Survey, read_survey
from penchant.data.values import Statement, Template, ValuesSet, read_values
from penchant.engine.methods import method_for
from penchant.engine.scorer import Scorer, SentenceScore, language_model
from penchant.errors import DataError, MethodError
from penchant.models.load import LanguageModel
from penchant.probes.base import Model, Probe, Run, beginning
from penchant.probes.values_cells import rated
from penchant.probes.values_summary import summarise
from penchant.records import Result, Signature

SPAN = "span"
LP = "lp"
STANCES = ("agree", "disagree")


class Values(Probe):
    """Agreement with value statements, calibrated on neutral ones and held against a survey.

    `run` gives items (one row a clause, group and wording: both sentences with every token's log-probability, agreement
    and rating) and a summary: calibration with its diagnostics, mean rating and spread by value and group, differences
    between groups, consistency, and representativeness among people's answers.
    """

    name: ClassVar[str] = "values"

    data: str
    """A set of statements: a bundled name, or a directory with set.yaml."""
    survey: str | None = None
    """A YAML file that describes people's answers (`penchant schema values`)."""
    method: Literal["span", "lp"] | None = None
    """`span` masks the stance's tokens all at once and sums their log-probabilities (masked models). `lp` takes the
    whole sentence of each stance (causal models)."""
    calibration: Literal["origin", "difference"] | None = None
    """What neutral statements fix: `origin` a slope, agree = a·disagree (the paper; default of span), `difference` an
    offset, agree = disagree + b (default of lp, whose size is mostly the statement's length)."""
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    resamples: Annotated[int, Field(ge=100)] = 10_000
    seed: int = 0

    _read: dict[Path, ValuesSet] = PrivateAttr(default_factory=dict)
    _asked: dict[Path, Survey] = PrivateAttr(default_factory=dict)

    def statements(self, base: Sequence[Path] = (Path(),)) -> ValuesSet:
        """The set, read once and checked. Raises DataError naming file, line and field."""
        place = find_data(self.data, base=base)
        if place not in self._read:
            self._read[place] = read_values(place)
        return self._read[place]

    def answers(self, base: Sequence[Path] = (Path(),)) -> Survey | None:
        """The survey, where one is named, read once and checked. Raises DataError naming file, line and field."""
        if self.survey is None:
            return None
        given = self.statements(base)
        place = find_data(self.survey, base=base)
        if place in self._asked:
            return self._asked[place]
        found = read_survey(place, [s.id for s in given.statements])
        groups = dict.fromkeys(template.group for template in given.templates)
        lost = [group for group in groups if not len(found.of(group))]
        if lost:
            raise DataError(
                f"no respondent belongs to group '{lost[0]}' of the templates",
                file=found.files[0],
                field="groups",
                hint=f"name the level of each of {', '.join(groups)}",
            )
        self._asked[place] = found
        return found

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Every sentence of every stance, with the place of its clause."""
        return [(text, place) for text, _, place in self._sentences(self.statements(base))]

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The set's files and the survey's."""
        survey = self.answers(base)
        return [*self.statements(base).files, *(survey.files if survey else ())]

    @staticmethod
    def _rows(given: ValuesSet) -> Iterator[tuple[Template, Statement]]:
        return ((template, clause) for template in given.templates for clause in given.clauses())

    def _sentences(self, given: ValuesSet) -> Iterator[tuple[str, tuple[int, int], str]]:
        for template, clause in self._rows(given):
            for stance in STANCES:
                yield *template.sentence(stance, clause.text), clause.place

    def run(self, model: Model, run: Run | None = None) -> Result:
        """Score every sentence with one model, calibrate and summarise."""
        run = run or Run()
        lm = language_model(model)
        method = self._method(lm)
        given = self.statements(run.base)
        survey = self.answers(run.base)
        sentences = list(self._sentences(given))
        scorer = Scorer(
            lm,
            cache=run.cache,
            batch_tokens=run.batch_tokens,
            progress=lambda done: run.progress(done, len(sentences)),
        )
        try:
            if method == SPAN:
                scores = list(scorer.spans(sentences))
            else:
                scores = list(scorer.score(((text, place) for text, _, place in sentences), LP))
        finally:
            run.counts = scorer.counts
            scorer.close()
        line = self.calibration or ("origin" if method == SPAN else "difference")
        signature = Signature.of(
            self.name,
            model=lm.name,
            data=f"{given.name}#{given.sha256[:6]}",
            survey=_cited(survey),
            method=method,
            calibration=line,
            **({"bos": beginning(lm)} if lm.kind == "causal" else {}),
            dtype=lm.dtype,
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
        )
        return self.result(_table(self._rows(given), scores), signature, survey)

    def result(self, items: pl.DataFrame, signature: Signature, survey: Survey | None = None) -> Result:
        """Ratings and summary of scored sentences; needs no model."""
        whole = rated(items, signature["calibration"])
        summary, cautions = summarise(whole, signature, survey)
        return Result(signature, whole, summary, cautions)

    def _method(self, lm: LanguageModel) -> str:
        method_for(None, lm)
        wanted = SPAN if lm.kind == "masked" else LP
        if self.method not in (None, wanted):
            raise MethodError(
                f"method '{self.method}' is not for {lm.kind} models and {lm.name} is {lm.kind}", hint=f"use {wanted}"
            )
        return wanted


def _cited(survey: Survey | None) -> str:
    if survey is None:
        return "none"
    return f"{'synthetic ' if survey.synthetic else ''}{survey.name}#{survey.sha256[:6]}"


def _table(rows: Iterator[tuple[Template, Statement]], scores: Sequence[SentenceScore]) -> pl.DataFrame:
    """One row a template and clause: what it is, both sentences, and the stance's log-probability in each."""
    found: list[dict[str, Any]] = []
    for (template, clause), agree, disagree in zip(rows, scores[::2], scores[1::2], strict=True):
        row: dict[str, Any] = {
            "id": clause.id,
            "kind": clause.kind,
            "value": clause.value,
            "reversed": clause.reversed,
            "text": clause.text,
            "variant": template.variant,
            "group": template.group,
        }
        for stance, score in (("agree", agree), ("disagree", disagree)):
            row |= {
                f"sentence_{stance}": score.text,
                stance: score.score,
                f"tokens_{stance}": score.n,
                f"pieces_{stance}": list(score.tokens),
                f"logprobs_{stance}": [None if v != v else v for v in score.token_logprobs.tolist()],
            }
        found.append(row)
    kinds = {f"logprobs_{stance}": pl.List(pl.Float32) for stance in STANCES}
    return pl.DataFrame(found, schema_overrides=kinds, infer_schema_length=None)
