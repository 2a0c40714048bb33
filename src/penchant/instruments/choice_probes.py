"""Probes whose rows are questions with options, put to a model as sentences or in its chat template."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.engine.scorer import language_model
from penchant.errors import MethodError
from penchant.instruments.answer_steadiness import STEADINESS, steadiness, steadiness_cautions
from penchant.instruments.base_probe import Measured, Model
from penchant.instruments.elicit_settings import Elicited, Phrases
from penchant.instruments.elicitation import (
    ChoiceQuestion,
    elicitation_columns,
    elicited,
    phrases_of,
    require_chat,
    signed_elicitation,
    signed_phrases,
    spoken,
)
from penchant.instruments.measures import ALL
from penchant.instruments.row_probes import R, RowProbe
from penchant.instruments.session import Session
from penchant.instruments.unknown_tokens import signed_unknown
from penchant.records import Estimate
from penchant.wording.phrases import Note


class ChoiceProbe(Elicited, RowProbe[R], Generic[R]):
    """Base class for probes whose rows are questions, each with the same number of options.

    A subclass defines `row`, `question` and `measures`. `elicit: sentence` scores the question followed by each option.
    Items have the column `weights`, a list with the weight of each option: 1 for the likeliest (divided among equally
    likely ones), or with `elicit: answer` its share of the replies that choose an option; null if there are none.
    """

    options: ClassVar[int]
    """The number of options."""
    language: str = "en"
    """The language of the instruction to choose an option, `en` or `cs` (`elicit: chat` or `answer`)."""
    phrases: Phrases | None = None
    """Instructions in another language, and phrases for interpreting replies. Default: those of `language`."""

    @abstractmethod
    def question(self, row: R) -> tuple[str, Sequence[str]]:
        """Return the question of a row, including any context, and its options."""

    def sentences(self, row: R) -> Mapping[str, str]:
        """Return one text per option, the question followed by that option, keyed by `option_0`, `option_1`, …."""
        text, options = self.question(row)
        return {f"option_{number}": f"{text} {option}" for number, option in enumerate(options)}

    def asked_of(self, item: tuple[str, R]) -> ChoiceQuestion:
        """Return the question of a row with its location."""
        text, options = self.question(item[1])
        return ChoiceQuestion(text, tuple(options), item[0])

    def texts_of(self, item: tuple[str, R]) -> Sequence[str]:
        """Return the sentences of a row or, if it is put to a chat model, the texts of its question."""
        if not self.asks:
            return super().texts_of(item)
        return [text for text, _ in spoken([self.asked_of(item)], self._phrases())]

    def _phrases(self) -> Phrases:
        found = self.phrases or phrases_of(self.language)
        if found is None:
            raise MethodError(
                f"penchant has no phrases for the language '{self.language}'", hint="use en or cs, or give phrases"
            )
        return found

    def settle(self, model: Model) -> Self:
        """Return the probe with its method set.

        Raises MethodError if a parameter does not suit the model or another parameter, or ModelError if the model
        does not support the probe.
        """
        if not self.asks:
            return super().settle(model)
        if self.method is not None:
            message = f"method '{self.method}' is for sentences, but elicit is {self.elicit}"
            raise MethodError(message, hint="remove method, or use elicit: sentence")
        self._phrases()
        require_chat(self, language_model(model))
        return self.model_copy(update={"method": self.elicit})

    def own_fields(self) -> list[str]:
        """Return the names of the subclass's own parameters."""
        return [name for name in super().own_fields() if name not in (*Elicited.model_fields, "language", "phrases")]

    def scoring(self, model: Model) -> dict[str, object]:
        """Return the signature fields that describe the scoring or, for a chat model, the questions."""
        if not self.asks:
            return super().scoring(model)
        return {
            "method": self.elicit,
            **signed_elicitation(self, language_model(model)),
            **signed_phrases(self._phrases()),
            **signed_unknown(self.on_unknown),
        }

    def scored(self, session: Session, rows: Sequence[tuple[str, R]]) -> pl.DataFrame:
        """Return the items with the weights of their options."""
        if self.asks:
            items = pl.DataFrame([row.model_dump() for _, row in rows], infer_schema_length=None)
            session.expect(len(rows))
            found = list(elicited(session, [self.asked_of(item) for item in rows], self, self._phrases()))
            items = items.with_columns(elicitation_columns(found))
            if self.elicit == "answer":
                weights = [self._shares(each.chosen) for each in found]
            else:
                weights = [_likeliest(each.mean) for each in found]
        else:
            items = super().scored(session, rows)
            scores = items.select(f"score_option_{number}" for number in range(self.options)).to_numpy()
            weights = list(map(_likeliest, scores))
        return items.with_columns(pl.Series("weights", weights, dtype=pl.List(pl.Float64)))

    def _shares(self, chosen: Iterable[int | None]) -> list[float] | None:
        counts = np.bincount([option for option in chosen if option is not None], minlength=self.options)
        return (counts / counts.sum()).tolist() if counts.sum() else None

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return the estimates of the measures and, for a chat model, of the steadiness of its answers."""
        found = list(super().summarise(measured))
        by = dict.fromkeys(found[0].by, ALL)
        if self.asks:
            steady = steadiness(measured.items, None, self.level, self.noun)
            found += [replace(each, by=by) for each in steady]
        return found

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[Note | str]:
        """Yield cautions about answers that depend on the order of options, and about questions without an answer."""
        lost = measured.items["weights"].null_count()
        if lost:
            yield Note("items-without-option", lost=lost, of=len(measured.items), noun=self.noun)
        yield from steadiness_cautions([each for each in estimates if each.measure in STEADINESS], self.noun)


def _likeliest(values: NDArray[np.float64]) -> list[float]:
    best = values == values.max()
    return [float(share) for share in best / best.sum()]
